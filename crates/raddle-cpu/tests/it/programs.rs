//! The programs of the bench: results equal to those of the real processor.

use crate::guest::{DONE, Guest};
use crate::random::Random;
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

/// Runs a program in slices; takes snapshots at their ends and goes back to random ones.
fn run_with_returns(guest: &mut Guest, name: &str, size: u64, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let function = guest.symbol(name);
    guest.memory.close_snapshots(guest.cpu.thread());
    guest.call(function, &[size]);
    let mut open = Vec::new();
    let mut returns = 0;
    loop {
        // Long slices copy pages instead of logging words.
        let slice = if random.below(4) == 0 { 100_000 } else { 1 + random.below(2000) };
        guest.cpu.set_budget(slice);
        match guest.run() {
            Stop::Budget => {}
            stop => {
                assert_eq!(stop, Stop::HostCall(DONE));
                if returns >= 20 || open.is_empty() {
                    return guest.cpu.register(Register::Rax);
                }
            }
        }
        guest.cpu.set_budget(0);
        if returns < 20 && random.below(3) == 0 && !open.is_empty() {
            returns += 1;
            open.truncate(1 + random.below(open.len() as u64) as usize);
            guest.cpu.restore(&mut guest.memory, open.last().unwrap());
        } else if guest.cpu.ip() != raddle_cpu::memory::layout::host_function(DONE) {
            open.push(guest.cpu.snapshot(&mut guest.memory));
        } else {
            returns += 1;
            guest.cpu.restore(&mut guest.memory, open.last().unwrap());
        }
    }
}

#[test]
fn random_returns_do_not_change_results() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs.c");
    for optimisation in ["-O0", "-O2"] {
        let mut guest = Guest::compile(&source, &[optimisation]);
        for (name, size) in [("loop", 3000), ("quicksort", 1500), ("sha256", 20), ("doubles", 3000)]
        {
            let function = guest.symbol(name);
            guest.call(function, &[size]);
            assert_eq!(guest.run(), Stop::HostCall(DONE));
            let expected = guest.cpu.register(Register::Rax);
            for seed in 0..8 {
                assert_eq!(
                    run_with_returns(&mut guest, name, size, seed),
                    expected,
                    "{name} {seed}"
                );
                guest.cpu.set_budget(u64::MAX);
            }
        }
    }
}
