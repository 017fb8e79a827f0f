//! Help texts and invalid command lines.

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
Stateless model checking of concurrent programs under memory models

Usage: raddle <COMMAND>

Commands:
  check    Explore all behaviours of programs that memory models allow
  replay   Run a recorded execution again, and no other one
  bmc      Check a C program symbolically, for all inputs and within bounds
  verify   Check whether memory models allow recorded executions
  history  Generate, convert and count recorded executions
  litmus   Generate litmus tests from cycles of relaxations, like diy
  models   Print the memory models, their axioms, the cost of checking, and the explorers
  help     Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help
  -V, --version  Print version

Examples:
  raddle check examples/peterson.c --model tso
  raddle check examples/store-buffering.litmus
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

Usage: raddle verify [OPTIONS] <HISTORY>...

Arguments:
  <HISTORY>...  The histories to read, as text or JSON Lines; `-` is standard input

Options:
      --model <MODELS>   Memory models, separated by commas: sc, tso, pso, C11 models (see `raddle models`), or all [default: sc,tso,pso]
      --explain          Explain every verdict: the run or the orders that the model allows, or why none exist
      --witness <FILE>   Write the witnesses of all consistent verdicts to this file, as JSON Lines
      --recheck          Check every witness and every violation again with slow, independent code
      --format <FORMAT>  The format of the output [possible values: text, json, sarif, junit, dot, html, herd]
      --output <FILE>    Write the output to this file instead of standard output
      --json             The same as --format json: one JSON object per line for each history and model
      --jobs <N>         Number of parallel checks [default: the number of processors]
      --budget <N>       Give up a check after this many search steps [default: 10000000]
      --no-closure       Search without inferring orders of events first (slow; for comparison)
  -h, --help             Print help (see more with '--help')

Exit status: 0 if all histories are consistent, 1 if one is inconsistent, 2 for invalid input or usage,
3 if a search was given up. If several apply, the first of 2, 1, 3, 0 counts.

Examples:
  raddle verify examples/*.txt
  raddle verify --model sc,tso --explain examples/store-buffering.txt
  raddle verify --model all examples/release-acquire.txt
  raddle history generate --threads 4 --events 50 --seed 7 | raddle verify --json -
--- stderr
");
}

#[test]
fn help_of_history() {
    assert_snapshot!(run("history -h"), @r"
exit 0
--- stdout
Generate, convert and count recorded executions

Usage: raddle history <COMMAND>

Commands:
  generate  Generate random histories that a model allows
  convert   Convert a history between text and JSON Lines
  stats     Count the threads, events and possible sources of histories
  help      Print this message or the help of the given subcommand(s)

Options:
  -h, --help  Print help

Examples:
  raddle history generate --threads 4 --events 50 --seed 7 | raddle verify --json -
  raddle history convert --format jsonl examples/iriw.txt --output iriw.jsonl
  raddle history stats examples/*.txt
--- stderr
");
    assert_snapshot!(run("history generate -h"), @r"
exit 0
--- stdout
Generate random histories that a model allows

Usage: raddle history generate [OPTIONS]

Options:
      --model <MODEL>    The model whose machine runs the random program: sc, tso or pso [default: sc]
      --seed <S>         The seed; the same options and seed give the same history [default: 0]
      --count <N>        Number of histories, with the seeds S, S+1, ...; more than one requires --output [default: 1]
      --format <FORMAT>  The format to write: text or jsonl [default: text]
      --perturb <N>      Change the source of N reads; the model may not allow the result [default: 0]
      --threads <N>      Number of threads, at most 1000000 [default: 3]
      --events <N>       Number of events of each thread; at most 10000000 in total [default: 4]
      --locations <N>    Number of memory locations, at most 1000000 [default: 2]
      --locks <N>        Number of locks, at most 1000000 [default: 1]
      --values <N>       Number of values, or distinct: each write has its own value [default: 3]
      --spawn-join       Let threads spawn and join threads
      --buffer <N>       Capacity of a store buffer (tso, pso) [default: 4]
      --keep-order       Record the order in which the events ran (jsonl)
      --output <PATH>    Write to this file instead of standard output; with --count, the directory for the histories
  -h, --help             Print help

Shares, from 0 to 1:
      --writes <SHARE>         Share of stores among loads and stores [default: 0.5]
      --rmw <SHARE>            Share of read-modify-writes [default: 0.05]
      --cas <SHARE>            Share of compare-exchanges; about half of them fail [default: 0.04]
      --fences <SHARE>         Share of full fences [default: 0.03]
      --store-fences <SHARE>   Share of store-store fences [default: 0.05]
      --lock-share <SHARE>     Share of lock acquires and releases, if there are locks [default: 0.08]
      --orders <SHARE>         Share of accesses and fences with a random memory order [default: 0]
      --named-sources <SHARE>  Share of reads that name their source [default: 0.5]
      --flushes <SHARE>        Probability that a store leaves its buffer early (tso, pso) [default: 0.1]

Examples:
  raddle history generate --threads 4 --events 50 --seed 7 | raddle verify --json -
  raddle history generate --model tso --perturb 1 --count 100 --output histories
--- stderr
");
    assert_snapshot!(run("history convert -h"), @r"
exit 0
--- stdout
Convert a history between text and JSON Lines

Usage: raddle history convert [OPTIONS] --format <FORMAT> <HISTORY>

Arguments:
  <HISTORY>  The history to read, as text or JSON Lines; `-` is standard input

Options:
      --format <FORMAT>  The format to write: text or jsonl
      --output <FILE>    Write to this file instead of standard output
  -h, --help             Print help
--- stderr
");
    assert_snapshot!(run("history stats -h"), @r"
exit 0
--- stdout
Count the threads, events and possible sources of histories

Usage: raddle history stats [OPTIONS] <HISTORY>...

Arguments:
  <HISTORY>...  The histories to read, as text or JSON Lines; `-` is standard input

Options:
      --jobs <N>  Number of files to read in parallel [default: the number of processors]
  -h, --help      Print help
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
error: invalid value 'x86' for '--model <MODELS>': unknown memory model 'x86': expected sc, tso, pso, sra, ra, wra, rc20, relaxed, rc11, c20 or all

For more information, try '--help'.
");
}

#[test]
fn an_unknown_format() {
    assert_snapshot!(run("history convert --format xml examples/iriw.txt"), @r"
exit 2
--- stdout
--- stderr
error: invalid value 'xml' for '--format <FORMAT>': there is no format 'xml': expected text or jsonl

For more information, try '--help'.
");
}

#[test]
fn invalid_combinations_of_options() {
    let lines = [
        "verify --explain --json examples/iriw.txt",
        "verify --threads 2 examples/iriw.txt",
        "verify --format sarif --json examples/iriw.txt",
        "verify - -",
        "history stats - -",
        "history stats --json examples/iriw.txt",
        "history convert --format text examples/iriw.txt examples/lock.txt",
        "history convert examples/iriw.txt",
        "history generate examples/iriw.txt",
        "history generate --recheck",
        "history generate --model sc,tso",
        "history generate --model ra",
        "history generate --count 2",
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
verify --threads 2 examples/iriw.txt
  error: unexpected argument '--threads' found
verify --format sarif --json examples/iriw.txt
  error: the argument '--format <FORMAT>' cannot be used with '--json'
verify - -
  error: standard input can be read only once: name '-' once
history stats - -
  error: standard input can be read only once: name '-' once
history stats --json examples/iriw.txt
  error: unexpected argument '--json' found
history convert --format text examples/iriw.txt examples/lock.txt
  error: unexpected argument 'examples/lock.txt' found
history convert examples/iriw.txt
  error: the following required arguments were not provided:
history generate examples/iriw.txt
  error: unexpected argument 'examples/iriw.txt' found
history generate --recheck
  error: unexpected argument '--recheck' found
history generate --model sc,tso
  error: invalid value 'sc,tso' for '--model <MODEL>': unknown memory model 'sc,tso': expected sc, tso, pso, sra, ra, wra, rc20, relaxed, rc11, c20
history generate --model ra
  error: invalid value 'ra' for '--model <MODEL>': no machine is defined for ra, so it generates no histories: use sc, tso or pso
history generate --count 2
  error: --count requires --output with a directory for the histories
");
}

#[test]
fn former_spellings_are_accepted() {
    let pairs = [
        ("verify --generate --model tso --seed 3", "history generate --model tso --seed 3"),
        (
            "verify --convert jsonl examples/iriw.txt",
            "history convert --format jsonl examples/iriw.txt",
        ),
        ("verify --stats --jobs 1 examples/iriw.txt", "history stats --jobs 1 examples/iriw.txt"),
        (
            "verify --stats --convert text examples/iriw.txt",
            "history stats --convert text examples/iriw.txt",
        ),
        ("verify --generate --model all", "history generate --model all"),
        ("verify --generate --count 2", "history generate --count 2"),
    ];
    for (former, current) in pairs {
        assert_eq!(run(former), run(current));
    }
    for name in ["compact", "reads-from", "source", "optimal", "reads-value-from", "open"] {
        let line = "check examples/store-buffering.litmus --json --model sc --explorer";
        let text = stdout(&format!("{line} {name}"));
        assert!(!text.contains(&format!("\"explorer\":\"{name}\"")), "{text}");
    }
}

#[test]
fn the_models() {
    assert_snapshot!(run("models"), @r"
exit 0
--- stdout
The models:

  sc       One interleaving of all threads, every store visible at once.
  tso      Every thread has a FIFO store buffer, as on x86.
  pso      Every thread has a FIFO store buffer for each location, as on SPARC.
  sra      Release/acquire, where all modification orders and happens-before have one common order.
  ra       Release/acquire: a read sees what its source had seen.
  wra      Release/acquire without modification orders: causal consistency.
  rc20     C++20 without sequentially consistent accesses: relaxed, release and acquire accesses, and fences.
  relaxed  Coherence per location, nothing else.
  rc11     C11 as repaired by Lahav et al., with its long release sequences.
  c20      C++20 and Rust: RC20 with the sequentially consistent accesses and fences of RC11.

Every execution that a model allows is allowed by the models after it (except for races):

  sc, tso, pso
  sc, sra, ra, wra
  sc, sra, ra, rc20, relaxed
  sc, rc11, c20, rc20, relaxed

The axioms of each model (tso and pso are defined by a machine):

  sc       sequential-consistency
  sra      po-rf, write-coherence, strong-write-coherence, read-coherence, atomicity
  ra       po-rf, write-coherence, read-coherence, atomicity
  wra      po-rf, weak-read-coherence, weak-atomicity
  rc20     po-rf, write-coherence, read-coherence, atomicity
  relaxed  po-rf, write-coherence, read-coherence, atomicity
  rc11     po-rf, write-coherence, read-coherence, atomicity, seq-cst
  c20      po-rf, write-coherence, read-coherence, atomicity, seq-cst

The formulas of the axioms:

  sequential-consistency  acyclic(po ∪ asw ∪ rf ∪ mo ∪ fr)
  po-rf                   acyclic(po ∪ asw ∪ rf) ∧ irreflexive(rf?; hb)
  write-coherence         irreflexive(mo; rf?; hb?)
  strong-write-coherence  acyclic(hb ∪ mo)
  read-coherence          irreflexive(fr; rf?; hb)
  atomicity               irreflexive(fr; mo)
  weak-read-coherence     irreflexive(hbloc; [W]; hb; rf⁻¹)
  weak-atomicity          irreflexive(rf; [RMW]; ≠; [RMW]; rf⁻¹)
  seq-cst                 acyclic(psc_base ∪ psc_F)

The axioms use these relations between events:

  po    program order; initial values precede all events
  asw   from a spawn to the first event of the thread, and from its last event to the join
  rf    from a write to a read that observes it
  mo    modification order: a total order of the writes of each location
  fr    from a read to every write that follows the observed write in mo
  sw    synchronizes-with: from a release to an acquire that observes it
  hb    happens-before: the transitive closure of po, asw and sw; hbloc: within one location
  psc   partial SC order of sequentially consistent accesses and fences (Lahav et al., PLDI 2017)

Memory orders (sc ignores them; under tso and pso they may restrict the store buffer):

  rc11, c20     as specified; an access without one, such as R x 1, is non-atomic
  rc20          the same, but an sc access is only acquire and release
  sra, ra, wra  every atomic read acquires, every atomic write releases
  relaxed       atomic accesses and fences do not synchronize; locks, spawn and join do

Under sra, ra, wra and rc20, the sc fences are totally ordered, and each happens before the next.

The witness that `raddle verify` prints, whether data races are errors, whether `raddle history generate`
supports the model, and the cost of checking an execution of n events and k threads in which every read
has one source (NP-hard if a read has several):

  model    witness              races  generate  cost
  sc       run                  no     yes       O(k n^k)
  tso      run                  no     yes       O(k n^(k+1))
  pso      run                  no     yes       O(k n^(k+1)) without fences; with full fences times min(n^(k(k-1)), 2^(k d)) for d locations; with store-store fences exponential
  sra      modification orders  yes    no        O(k n^(k+1)), O(n k) without updates; a search over the order of SeqCst fences
  ra       modification orders  yes    no        O(n k); a search over the order of SeqCst fences
  wra      sources              yes    no        O(n k); a search over the order of SeqCst fences
  rc20     modification orders  yes    no        O(n k); a search over the order of SeqCst fences
  relaxed  modification orders  yes    no        O(n)
  rc11     modification orders  yes    no        NP-hard: a search over what SeqCst leaves open
  c20      modification orders  yes    no        NP-hard: a search over what SeqCst leaves open

The explorers (`raddle check --explorer`): their equivalence, whether they are exhaustive, whether they
support parallel exploration (--jobs) and checkpoints (--checkpoint), and the models they support:

  explorer      --by   exhaustive  parallel  models
  rf-part-smc   rf     yes         yes       all
  rf-smc        rf     yes         no        all
  source-dpor   trace  yes         no        sc, tso, pso
  optimal-dpor  trace  yes         no        sc, tso, pso
  rvf-smc       rvf    yes         no        sc, tso, pso
  rvf-open      rvf    yes         no        sc, tso, pso
  random        rf     no          no        all
  pct           rf     no          no        all
--- stderr
");
}

#[test]
fn the_models_in_json() {
    let text = stdout("models --json");
    assert_eq!(text.lines().count(), 10);
    let wra = text.lines().find(|line| line.contains("wra")).expect("a line for each model");
    assert_snapshot!(wra, @r#"{"model":"wra","summary":"Release/acquire without modification orders: causal consistency.","axioms":[{"name":"po-rf","formula":"acyclic(po ∪ asw ∪ rf) ∧ irreflexive(rf?; hb)"},{"name":"weak-read-coherence","formula":"irreflexive(hbloc; [W]; hb; rf⁻¹)"},{"name":"weak-atomicity","formula":"irreflexive(rf; [RMW]; ≠; [RMW]; rf⁻¹)"}],"cost":"O(n k); a search over the order of SeqCst fences","witness":"sources","races":true,"generate":false}"#);
}
