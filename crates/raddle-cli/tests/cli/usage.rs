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
Raddle: what can concurrent programs do under a memory model?

Usage: raddle <COMMAND>

Commands:
  verify  Check whether memory models allow recorded executions
  check   Explore programs: all behaviours that memory models allow
  bmc     Check a C program within bounds, symbolically: inputs may be anything
  litmus  Make litmus tests from cycles of relaxations, as diy does
  replay  Run a counterexample of a C or C++ program again
  models  Print the memory models, their axioms, and what checking costs
  help    Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help
  -V, --version  Print version

Examples: does a recorded execution fit sequential consistency, and why not? And what can a program do?
  raddle verify examples/store-buffering.txt --model sc --explain
  raddle check examples/store-buffering.litmus
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
  [HISTORY]...  LocalHistories to read, as text or JSON Lines; `-` is standard input

Options:
      --model <MODELS>  Memory models, with commas: sc, tso, pso, C11 models (see `raddle models`), or all [default: sc,tso,pso]
      --explain         Explain every verdict: the run or the orders that the model allows, or why there are none
      --witness <FILE>  Write the witnesses of all consistent verdicts to this file, as JSON Lines
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
      --generate               Print a random history that --model allows: sc (the default), tso or pso
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
      --orders <SHARE>         Of accesses and fences, the share with a random memory order [default: 0]
      --named-sources <SHARE>  Share of reads that name what they observed [default: 0.5]
      --flushes <SHARE>        How likely a store leaves its buffer early (tso, pso) [default: 0.1]

Exit status: 0 everything is consistent, 1 something is inconsistent, 2 bad input or usage,
3 something is unknown because the search was given up. Of several, the first of 2, 1, 3, 0 counts.

Examples:
  raddle verify examples/*.txt
  raddle verify --model sc,tso --explain examples/store-buffering.txt
  raddle verify --model all examples/release-acquire.txt
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
error: invalid value 'x86' for '--model <MODELS>': unknown memory model 'x86': expected sc, tso, pso, sra, ra, wra, rc20, relaxed, rc11, c20 or all

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
        "verify --generate --model ra",
        "verify --generate --model all",
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
verify --generate --model ra
  error: --generate runs a machine, which only sc, tso and pso have
verify --generate --model all
  error: --generate takes one model
verify --generate --count 2
  error: --count needs --output with a directory for the histories
verify --threads 2 examples/iriw.txt
  error: the argument '--threads <N>' cannot be used with '[HISTORY]...'
verify - -
  error: standard input can be read only once
");
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
  relaxed  Every location is coherent by itself, and that is all.
  rc11     C11 as repaired by Lahav et al., with its long release sequences.
  c20      C++20 and Rust: RC20 with the sequentially consistent accesses and fences of RC11.

What a model allows, the models after it allow as well (races apart):

  sc, tso, pso
  sc, sra, ra, wra
  sc, sra, ra, rc20, relaxed
  sc, rc11, c20, rc20, relaxed

Their axioms (tso and pso are defined by a machine):

  sc       sequential-consistency
  sra      po-rf, write-coherence, strong-write-coherence, read-coherence, atomicity
  ra       po-rf, write-coherence, read-coherence, atomicity
  wra      po-rf, weak-read-coherence, weak-atomicity
  rc20     po-rf, write-coherence, read-coherence, atomicity
  relaxed  po-rf, write-coherence, read-coherence, atomicity
  rc11     po-rf, write-coherence, read-coherence, atomicity, seq-cst
  c20      po-rf, write-coherence, read-coherence, atomicity, seq-cst

In formulas:

  sequential-consistency  acyclic(po ∪ asw ∪ rf ∪ mo ∪ fr)
  po-rf                   acyclic(po ∪ asw ∪ rf) ∧ irreflexive(rf?; hb)
  write-coherence         irreflexive(mo; rf?; hb?)
  strong-write-coherence  acyclic(hb ∪ mo)
  read-coherence          irreflexive(fr; rf?; hb)
  atomicity               irreflexive(fr; mo)
  weak-read-coherence     irreflexive(hbloc; [W]; hb; rf⁻¹)
  weak-atomicity          irreflexive(rf; [RMW]; ≠; [RMW]; rf⁻¹)
  seq-cst                 acyclic(psc_base ∪ psc_F)

The axioms speak of these relations between events:

  po    program order; initial values come before everything
  asw   from a spawn to the thread, and from its end to the join
  rf    from a write to a read that observes it
  mo    the order of the writes of a location, which all threads agree on
  fr    from a read to a write that comes later in mo than what it observes
  sw    from a release to an acquire that observes it
  hb    happens before: po, asw and sw, one after the other; hbloc within one location
  psc   what sequentially consistent accesses and fences must respect (Lahav et al., PLDI 2017)

Memory orders (sc ignores them; under tso and pso they can keep stores in order):

  rc11, c20     as they stand; an access without one, such as R x 1, is non-atomic
  rc20          the same, but an sc access only acquires and releases
  sra, ra, wra  every atomic read acquires, every atomic write releases
  relaxed       no atomic access and no fence orders anything; locks, spawn and join do

Under sra, ra, wra and rc20, all sc fences have one order, and each happens before the next.

What goes with what, and what it costs to check an execution of n events and k threads if every
read has one source (if some have several, that is NP-hard):

  model    witness              races  --generate  cost
  sc       run                  no     yes         O(k n^k)
  tso      run                  no     yes         O(k n^(k+1))
  pso      run                  no     yes         O(k n^(k+1)) without fences; with full fences times min(n^(k(k-1)), 2^(k d)) for d locations; with store-store fences exponential
  sra      modification orders  yes    no          O(k n^(k+1)), O(n k) without updates; a search over the order of SeqCst fences
  ra       modification orders  yes    no          O(n k); a search over the order of SeqCst fences
  wra      sources              yes    no          O(n k); a search over the order of SeqCst fences
  rc20     modification orders  yes    no          O(n k); a search over the order of SeqCst fences
  relaxed  modification orders  yes    no          O(n)
  rc11     modification orders  yes    no          NP-hard: a search over what SeqCst leaves open
  c20      modification orders  yes    no          NP-hard: a search over what SeqCst leaves open

What explores programs (`raddle check --explorer`): by which equivalence, under which models, whether
everything, and whether it can be divided (--jobs) and kept (--checkpoint):

  explorer          --by   everything  divided  models
  compact           rf     yes         yes      all
  reads-from        rf     yes         no       all
  source            trace  yes         no       sc, tso, pso
  optimal           trace  yes         no       sc, tso, pso
  reads-value-from  rvf    yes         no       sc, tso, pso
  open              rvf    yes         no       sc, tso, pso
  random            rf     no          no       all
  pct               rf     no          no       all
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
