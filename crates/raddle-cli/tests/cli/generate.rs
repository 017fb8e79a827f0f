//! `raddle history generate`.

use std::fs;

use insta::assert_snapshot;

use super::{raddle, run, run_with, scratch, stdout};

const SHAPE: &str = "history generate --model pso --threads 4 --events 9 --locations 3 --locks 2 \
                     --values distinct --rmw 0.2 --cas 0.1 --fences 0.05 --store-fences 0.1 \
                     --lock-share 0.2 --named-sources 0.7 --spawn-join --perturb 2";

#[test]
fn a_seed_determines_the_history() {
    assert_eq!(stdout(&format!("{SHAPE} --seed 5")), stdout(&format!("{SHAPE} --seed 5")));
    assert_ne!(stdout(&format!("{SHAPE} --seed 5")), stdout(&format!("{SHAPE} --seed 6")));
}

#[test]
fn the_first_line_is_the_command_that_generates_the_history() {
    let orders = format!("{SHAPE} --orders 0.3");
    for args in [SHAPE, &orders, "history generate", "history generate --writes 1 --seed 3"] {
        let text = stdout(args);
        let command = text.lines().next().and_then(|line| line.strip_prefix("# raddle "));
        assert_eq!(stdout(command.expect("a command")), text);
    }
}

#[test]
fn the_history_can_be_read_and_has_the_requested_shape() {
    let text = stdout("history generate --threads 5 --events 8 --locks 0 --fences 0.5");
    let stats = run_with("history stats -", &text);
    let row = stats.lines().nth(3).expect("a row");
    assert_eq!(row.split_whitespace().take(3).collect::<Vec<_>>(), ["-", "5", "40"], "{stats}");
}

#[test]
fn events_get_memory_orders_on_demand() {
    let with = |options: &str| stdout(&format!("history generate --seed 4 --locks 0 {options}"));
    assert_snapshot!(with("--model tso --orders 0.8 --cas 0.2 --fences 0.1"), @r"
# raddle history generate --model tso --seed 4 --perturb 0 --threads 3 --events 4 --locations 2 --locks 0 --values 3 --writes 0.5 --rmw 0.05 --cas 0.2 --fences 0.1 --store-fences 0.05 --lock-share 0.08 --named-sources 0.5 --flushes 0.1 --orders 0.8 --buffer 4
locations: x y
init: y=2
P0: F.ss; W.sc y 0; R y 0 <- P0.1; R y 0 <- P0.1
P1: RMW y 2 0 <- init; R.acq y 0; R.acq x 0; W x 0
P2: CAS y 2 0 failed 2; CAS y 0 2 <- P0.1; F.ss; R x 0 <- init
");
    let none = with("--orders 0");
    assert_eq!(none, with(""));
    assert!(!none.contains("--orders"), "{none}");
}

#[test]
fn both_formats_agree() {
    for options in ["", " --orders 0.5"] {
        assert_that_both_formats_agree(&format!("{SHAPE}{options}"));
    }
}

fn assert_that_both_formats_agree(shape: &str) {
    let text = stdout(shape);
    let json = stdout(&format!("{shape} --format jsonl"));
    assert!(json.starts_with('{'));
    let converted = run_with("history convert --format text -", &json);
    let history = text.split_once('\n').expect("a first line").1;
    assert_eq!(converted, format!("exit 0\n--- stdout\n{history}--- stderr\n"));
}

#[test]
fn several_histories_go_to_files_by_seed() {
    let directory = scratch("generate-several").join("new");
    let args = "history generate --seed 7 --count 3 --output";
    assert!(raddle(args).arg(&directory).status().expect("raddle runs").success());
    for seed in 7..10 {
        let written = fs::read_to_string(directory.join(format!("history-{seed}.txt")));
        let alone = stdout(&format!("history generate --seed {seed}"));
        assert_eq!(written.expect("a file for each seed"), alone);
    }
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 3);
}

#[test]
fn one_history_to_a_file() {
    let file = scratch("generate-one").join("one.txt");
    let args = "history generate --output";
    assert!(raddle(args).arg(&file).status().expect("raddle runs").success());
    assert_eq!(fs::read_to_string(&file).expect("a file"), stdout("history generate"));
}

/// The error messages for these options.
fn errors(options: &[&str]) -> String {
    let error = |option: &&str| {
        let text = run(&format!("history generate {option}"));
        assert!(text.starts_with("exit 2\n--- stdout\n--- stderr\n"), "{option}: {text}");
        text.lines().nth(3).unwrap_or_default().to_owned()
    };
    options.iter().map(error).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_out_of_range() {
    let options = [
        "--rmw 1.5",
        "--cas -1",
        "--fences nan",
        "--flushes 0",
        "--values 0",
        "--threads 0",
        "--orders 2",
    ];
    assert_snapshot!(errors(&options), @r"
error: invalid value '1.5' for '--rmw <SHARE>': expected a number from 0 to 1
error: unexpected argument '-1' found
error: invalid value 'nan' for '--fences <SHARE>': expected a number from 0 to 1
error: invalid value '0' for '--flushes <SHARE>': expected a number from 0.000001 to 1
error: invalid value '0' for '--values <N>': expected a number above 0, or distinct
error: invalid value '0' for '--threads <N>': expected a number from 1 to 1000000
error: invalid value '2' for '--orders <SHARE>': expected a number from 0 to 1
");
}

#[test]
fn numbers_too_large_for_memory() {
    let options = [
        "--threads 1000001",
        "--threads 18446744073709551616",
        "--events 4000000000",
        "--locations 4000000000",
        "--locks 4294967296",
        "--count 4000000000 --output target/nowhere",
        "--perturb 18446744073709551615",
        "--threads 1000000 --events 11",
        "--threads 1 --events 10000001",
    ];
    assert_snapshot!(errors(&options), @r"
error: invalid value '1000001' for '--threads <N>': expected a number from 1 to 1000000
error: invalid value '18446744073709551616' for '--threads <N>': expected a number from 1 to 1000000
error: invalid value '4000000000' for '--events <N>': expected a number from 0 to 10000000
error: invalid value '4000000000' for '--locations <N>': expected a number from 1 to 1000000
error: invalid value '4294967296' for '--locks <N>': expected a number from 0 to 1000000
error: invalid value '4000000000' for '--count <N>': expected a number from 1 to 1000000
error: invalid value '18446744073709551615' for '--perturb <N>': expected a number from 0 to 10000000
error: --threads times --events exceeds 10000000, the limit for a history: reduce one of them
error: invalid value '10000001' for '--events <N>': expected a number from 0 to 10000000
");
}

#[test]
fn the_largest_number_of_threads() {
    let text = stdout("history generate --threads 1000000 --events 0");
    assert!(text.lines().any(|line| line.starts_with("P999999:")));
}
