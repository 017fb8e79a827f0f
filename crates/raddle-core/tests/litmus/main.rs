//! Litmus tests: those of the literature against what is known of them.

mod oracle;

use std::path::{Path, PathBuf};

/// Where tests are that are not part of this project, if they are there.
fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("RADDLE_LITMUS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus");
    let directory = given.unwrap_or(beside);
    directory.join("oracle.tsv").is_file().then_some(directory)
}

fn agree_with_table(directory: &Path) {
    let tests = oracle::tests(directory);
    let rows = oracle::rows(directory);
    let unknown: Vec<&String> =
        tests.keys().filter(|name| rows.iter().all(|row| row.file != **name)).collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
    let differences: Vec<String> =
        rows.iter().flat_map(|row| oracle::differences(&tests[&row.file], row)).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn the_shared_tests_agree_with_herd() {
    let Some(directory) = shared() else {
        println!("skipped: there is no ../shared/litmus, and RADDLE_LITMUS names no other");
        return;
    };
    agree_with_table(&directory);
}
