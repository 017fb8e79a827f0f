//! Help, and command lines that make no sense.

use insta::assert_snapshot;

use super::{run, stdout};

#[test]
fn version() {
    assert_eq!(stdout("--version"), concat!("raddle ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn help() {
    assert_snapshot!(run("--help"), @r"
exit 0
--- stdout
Raddle: does a concurrent execution fit a memory model?

Usage: raddle <COMMAND>

Commands:
  verify  Check whether memory models allow recorded executions
  help    Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help
  -V, --version  Print version

Example: does a recorded execution fit sequential consistency, and why not?
  raddle verify examples/store-buffering.txt --model sc --explain
--- stderr
");
}

#[test]
fn help_of_verify() {
    assert_snapshot!(run("verify -h"), @r"
exit 0
--- stdout
Check whether memory models allow recorded executions

Usage: raddle verify [OPTIONS] [HISTORY]...

Arguments:
  [HISTORY]...  Histories to read, as text or JSON Lines; `-` is standard input

Options:
      --model <MODELS>  Memory models: sc, tso, pso, several with commas, or all [default: all]
      --explain         Explain every verdict: the run that the model allows, or why there is none
      --witness <FILE>  Write the runs of all consistent verdicts to this file, as JSON Lines
      --recheck         Check every witness and every violation again with slow, independent code
      --json            Print one JSON object on a line for each history and model
      --jobs <N>        Number of checks at the same time [default: the number of processors]
      --budget <N>      Give up a check after this many search steps [default: 10000000]
      --no-closure      Search without inferring orders of events first (slow; to compare)
  -h, --help            Print help (see more with '--help')

Other things to do with histories:
      --convert <FORMAT>  Write the history in this format: text or jsonl
      --stats             Count what is in the histories
      --output <FILE>     Where to write instead of standard output

Random histories:
      --generate               Print a random history that --model allows (one model; default: sc)
      --seed <S>               The seed: the same one gives the same history [default: 0]
      --count <N>              How many, with the seeds S, S+1, ...; --output names a directory [default: 1]
      --format <FORMAT>        Write text or jsonl [default: text]
      --perturb <N>            Let N reads observe another write; the model may forbid that [default: 0]
      --threads <N>            Number of threads, up to 1000000 [default: 3]
      --events <N>             Number of events of each thread; of all together, up to 10000000 [default: 4]
      --locations <N>          Number of memory locations, up to 1000000 [default: 2]
      --locks <N>              Number of locks, up to 1000000 [default: 1]
      --values <N>             Number of values, or distinct: another one with each write [default: 3]
      --spawn-join             Let threads spawn and join threads
      --buffer <N>             Most stores that wait in a buffer (tso, pso) [default: 4]
      --keep-order             Tell the order in which the events ran (jsonl)
      --writes <SHARE>         Of loads and stores, the share of stores [default: 0.5]
      --rmw <SHARE>            Share of read-modify-writes [default: 0.05]
      --cas <SHARE>            Share of compare-exchanges; about half of them fail [default: 0.04]
      --fences <SHARE>         Share of full fences [default: 0.03]
      --store-fences <SHARE>   Share of store-store fences [default: 0.05]
      --lock-share <SHARE>     Share of acquires and releases, if there are locks [default: 0.08]
      --named-sources <SHARE>  Share of reads that name what they observed [default: 0.5]
      --flushes <SHARE>        How likely a store leaves its buffer early (tso, pso) [default: 0.1]

Exit status: 0 everything is consistent, 1 something is inconsistent, 2 bad input or usage,
3 something is unknown because the search was given up. Of several, the first of 2, 1, 3, 0 counts.

Examples:
  raddle verify examples/*.txt
  raddle verify --model sc,tso --explain examples/store-buffering.txt
  raddle verify --generate --threads 4 --events 50 --seed 7 | raddle verify --json -
  raddle verify --convert jsonl examples/iriw.txt --output iriw.jsonl
  raddle verify --stats examples/*.txt
--- stderr
");
}

#[test]
fn nothing_to_verify() {
    assert_snapshot!(run("verify"), @r"
exit 2
--- stdout
--- stderr
error: the following required arguments were not provided:
  <HISTORY>...

Usage: raddle verify <HISTORY>...

For more information, try '--help'.
");
}

#[test]
fn an_unknown_model() {
    assert_snapshot!(run("verify --model sc,x86 examples/iriw.txt"), @r"
exit 2
--- stdout
--- stderr
error: invalid value 'x86' for '--model <MODELS>': unknown memory model 'x86': expected sc, tso, pso or all

For more information, try '--help'.
");
}

#[test]
fn an_unknown_format() {
    assert_snapshot!(run("verify --convert xml examples/iriw.txt"), @r"
exit 2
--- stdout
--- stderr
error: invalid value 'xml' for '--convert <FORMAT>': there is no format 'xml': expected text or jsonl

For more information, try '--help'.
");
}

#[test]
fn options_that_do_not_go_together() {
    let lines = [
        "verify --explain --json examples/iriw.txt",
        "verify --stats --json examples/iriw.txt",
        "verify --stats --convert text examples/iriw.txt",
        "verify --stats --model sc examples/iriw.txt",
        "verify --convert text examples/iriw.txt examples/lock.txt",
        "verify --output out.txt examples/iriw.txt",
        "verify --generate examples/iriw.txt",
        "verify --generate --recheck",
        "verify --generate --model sc,tso",
        "verify --generate --count 2",
        "verify --threads 2 examples/iriw.txt",
        "verify - -",
    ];
    let first_lines: Vec<String> = lines
        .iter()
        .map(|line| {
            let text = run(line);
            assert!(text.starts_with("exit 2\n--- stdout\n--- stderr\n"), "{line}: {text}");
            format!("{line}\n  {}", text.lines().nth(3).unwrap_or_default())
        })
        .collect();
    assert_snapshot!(first_lines.join("\n"), @r"
verify --explain --json examples/iriw.txt
  error: the argument '--explain' cannot be used with '--json'
verify --stats --json examples/iriw.txt
  error: the argument '--stats' cannot be used with '--json'
verify --stats --convert text examples/iriw.txt
  error: the argument '--stats' cannot be used with '--convert <FORMAT>'
verify --stats --model sc examples/iriw.txt
  error: the argument '--stats' cannot be used with '--model <MODELS>'
verify --convert text examples/iriw.txt examples/lock.txt
  error: --convert takes one history
verify --output out.txt examples/iriw.txt
  error: --output goes with --generate or --convert
verify --generate examples/iriw.txt
  error: the argument '--generate' cannot be used with '[HISTORY]...'
verify --generate --recheck
  error: the argument '--generate' cannot be used with '--recheck'
verify --generate --model sc,tso
  error: --generate takes one model
verify --generate --count 2
  error: --count needs --output with a directory for the histories
verify --threads 2 examples/iriw.txt
  error: the argument '--threads <N>' cannot be used with '[HISTORY]...'
verify - -
  error: standard input can be read only once
");
}
