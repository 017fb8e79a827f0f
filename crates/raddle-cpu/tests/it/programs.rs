//! The programs of the bench: results equal to those of the real processor.

use crate::guest::{DONE, Guest};
use raddle_cpu::{Register, Stop};
use std::path::Path;
use std::process::Command;

/// Compiles the programs with a `main` that prints their results.
fn native(optimisation: &str, source: &Path) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.c");
    let text = "#include <stdint.h>\n#include <stdio.h>\n\
        uint64_t loop(uint64_t), quicksort(uint64_t), sha256(uint64_t), doubles(uint64_t);\n\
        int main(void) { printf(\"%lu %lu %lu %lu\\n\", loop(1000), quicksort(1000), sha256(20), \
        doubles(1000)); }\n";
    std::fs::write(&main, text).unwrap();
    let binary = folder.path().join("native");
    let status = Command::new("gcc")
        .args([optimisation, "-o"])
        .args([binary.as_path(), &main, source])
        .status()
        .unwrap();
    assert!(status.success());
    let output = Command::new(&binary).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn compiled_programs_compute_what_they_compute_natively() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs.c");
    for optimisation in ["-O0", "-O2", "-O3"] {
        let mut guest = Guest::compile(&source, &[optimisation]);
        let results = [("loop", 1000), ("quicksort", 1000), ("sha256", 20), ("doubles", 1000)].map(
            |(name, size)| {
                let function = guest.symbol(name);
                guest.call(function, &[size]);
                assert_eq!(guest.run(), Stop::HostCall(DONE));
                guest.cpu.register(Register::Rax)
            },
        );
        assert_eq!(results.to_vec(), native(optimisation, &source), "{optimisation}");
    }
}
