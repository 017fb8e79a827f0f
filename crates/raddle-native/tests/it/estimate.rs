//! Estimates of how many classes the programs of the corpus have: within a factor of two for at least four of five.

use std::path::Path;
use std::time::Duration;

use raddle_core::model::Model;
use raddle_native::{Request, estimate};

use crate::corpus::{built, compiler};

/// The rows of the table with a thousand classes or more: program, flags, models, and how many there are.
fn rows() -> Vec<(String, String, Vec<Model>, u64)> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/oracle.tsv");
    let text = std::fs::read_to_string(table).expect("there is a table");
    let row = |line: &str| {
        let [program, flags, models, "clean", classes, _] =
            line.split('\t').collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let classes = classes.split('+').next()?.parse().ok()?;
        let models = models.split(',').map(|model| model.parse().expect("a model")).collect();
        Some((program.to_owned(), flags.to_owned(), models, classes))
    };
    text.lines().filter_map(row).filter(|row| (1_000..=1_000_000).contains(&row.3)).collect()
}

#[test]
fn most_estimates_are_within_a_factor_of_two() {
    let (mut near, mut all) = (0, 0);
    for (program, flags, models, classes) in rows() {
        let request = Request { exact: true, model: models[0], ..Request::new(&[]) };
        let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
        let object = built(&program, &flags, compiler(&program));
        let size = estimate(&object, &request, 5_000, Duration::from_secs(60));
        let ratio = size.expect("it can be loaded").expect("few events").classes / classes as f64;
        println!(
            "{program} {flags:?} {}: {classes} classes, estimated {ratio:.2} times",
            models[0]
        );
        near += u32::from((0.5..=2.0).contains(&ratio));
        all += 1;
    }
    assert!(all >= 15 && near * 5 >= all * 4, "{near} of {all}");
}
