//! The reports, word for word, on witnesses and violations made by hand.

use insta::assert_snapshot;
use raddle_consistency::explain::{self, Page};
use raddle_consistency::history;
use raddle_consistency::witness::{
    CoreSize, Fact, MachineRun, MachineStep, NotFrom, OrderEdge, Violation, Why, Witness,
};
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::Model;

const STORE_BUFFERING: &str = "\
    P0: W x 1; R y 0 <- init\n\
    P1: W y 1; R x 0 <- init\n";

fn parse(text: &str) -> Execution {
    history::parse(text.as_bytes()).expect("a good history")
}

/// The event with this name.
fn event(execution: &Execution, name: &str) -> EventId {
    execution.events().find(|&event| execution.name(event) == name).expect("an event")
}

/// A witness such as `P0.0 P1.0 !P0.0`, where `!` stands for a flush.
fn witness(execution: &Execution, steps: &str) -> Witness {
    let step = |name: &str| match name.strip_prefix('!') {
        Some(name) => MachineStep::Flush(event(execution, name)),
        None => MachineStep::Run(event(execution, name)),
    };
    Witness::Run(MachineRun { steps: steps.split_whitespace().map(step).collect() })
}

fn edge(execution: &Execution, from: &str, to: &str, why: Why) -> OrderEdge {
    OrderEdge { from: event(execution, from), to: event(execution, to), why }
}

fn order(execution: &Execution, from: &str, to: &str, why: Why) -> Fact {
    Fact::Order(edge(execution, from, to, why))
}

fn excluded(execution: &Execution, read: &str, source: &str, why: NotFrom) -> Fact {
    Fact::Excluded { read: event(execution, read), source: event(execution, source), why }
}

/// The one sentence and the explanation of a violation.
fn explain(execution: &Execution, model: Model, violation: &Violation) -> String {
    let sentence = explain::sentence(execution, model, violation);
    format!("{sentence}\n---\n{}", explain::violation(execution, model, violation, Page::default()))
}

/// The cycle of store buffering under sc.
fn store_buffering_cycle(execution: &Execution) -> Violation {
    let overwrite = |location: &str| Why::BeforeOverwrite { source: event(execution, location) };
    Violation::Cycle {
        cycle: vec![
            edge(execution, "P0.0", "P0.1", Why::Program),
            edge(execution, "P0.1", "P1.0", overwrite("init y")),
            edge(execution, "P1.0", "P1.1", Why::Program),
            edge(execution, "P1.1", "P0.0", overwrite("init x")),
        ],
        derivation: vec![
            order(execution, "P0.1", "P1.0", overwrite("init y")),
            order(execution, "P1.1", "P0.0", overwrite("init x")),
        ],
    }
}

#[test]
fn a_run_under_tso_shows_when_stores_reach_memory() {
    let execution = parse(STORE_BUFFERING);
    let run = witness(&execution, "P0.0 P0.1 P1.0 P1.1 !P0.0 !P1.0");
    assert_snapshot!(explain::witness(&execution, Model::Tso, &run, Page::default()), @r"
A run that tso allows, with the moment when each store reaches memory:

step  P0                P1                memory
   1  .0 W x 1
   2  .1 R y 0 <- init
   3                    .0 W y 1
   4                    .1 R x 0 <- init
   5                                      x = 1 (P0.0)
   6                                      y = 1 (P1.0)
");
}

#[test]
fn a_sequentially_consistent_store_is_in_memory_when_it_runs() {
    let execution = parse("P0: W x 1; W.sc x 2; R x 2\nP1: W.rel y 1; R x 0\n");
    let run = witness(&execution, "P0.0 P1.0 P1.1 !P0.0 P0.1 P0.2 !P1.0");
    assert_snapshot!(explain::witness(&execution, Model::Tso, &run, Page::default()), @r"
A run that tso allows, with the moment when each store reaches memory:

step  P0                P1                memory
   1  .0 W x 1
   2                    .0 W.rel y 1
   3                    .1 R x 0 <- init
   4                                      x = 1 (P0.0)
   5  .1 W.sc x 2                         x = 2 (P0.1)
   6  .2 R x 2 <- P0.1
   7                                      y = 1 (P1.0)
");
}

#[test]
fn a_run_under_sc_has_no_memory_column() {
    let execution = parse("P0: W x 1; RMW x 1 2\nP1: R x 2; R x 2\n");
    let run = witness(&execution, "P0.0 P0.1 P1.0 P1.1");
    assert_snapshot!(explain::witness(&execution, Model::Sc, &run, Page::default()), @r"
A run that sc allows:

step  P0                    P1
   1  .0 W x 1
   2  .1 RMW x 1 2 <- P0.0
   3                        .0 R x 2 <- P0.1
   4                        .1 R x 2 <- P0.1
");
}

#[test]
fn runs_show_the_sources_that_the_history_does_not_name() {
    let execution = parse("P0: W x 1; R x 1; LOCK m; UNLOCK m; F\nP1: W x 1; LOCK m; R x 1\n");
    let run = witness(&execution, "P0.0 P1.0 !P1.0 P0.1 !P0.0 P0.2 P0.3 P0.4 P1.1 P1.2");
    assert_snapshot!(explain::witness(&execution, Model::Pso, &run, Page::default()), @r"
A run that pso allows, with the moment when each store reaches memory:

step  P0                 P1                 memory
   1  .0 W x 1
   2                     .0 W x 1
   3                                        x = 1 (P1.0)
   4  .1 R x 1 <- P0.0
   5                                        x = 1 (P0.0)
   6  .2 LOCK m <- init
   7  .3 UNLOCK m
   8  .4 F
   9                     .1 LOCK m <- P0.3
  10                     .2 R x 1 <- P0.0
");
}

#[test]
fn a_run_of_many_threads_has_one_step_on_each_line() {
    let text: String = (0..12).map(|t| format!("P{t}: W x 1; RMW x 1 1{t}000\n")).collect();
    let execution = parse(&text);
    let run = witness(&execution, "P0.0 !P0.0 P0.1 P11.0 !P11.0 P11.1");
    assert_snapshot!(explain::witness(&execution, Model::Tso, &run, Page::default()), @r"
A run that tso allows, with the moment when each store reaches memory:

   1  P0.0  W x 1
   2  memory: x = 1 (P0.0)
   3  P0.1  RMW x 1 10000 <- P0.0; memory: x = 10000 (P0.1)
   4  P11.0  W x 1
   5  memory: x = 1 (P11.0)
   6  P11.1  RMW x 1 111000 <- P11.0; memory: x = 111000 (P11.1)
");
}

#[test]
fn a_long_run_is_cut_in_the_middle() {
    let execution = parse(&format!("P0: {}W x 1\nP1: R x 1\n", "R x 0; ".repeat(100)));
    let run: Vec<String> =
        (0..101).map(|at| format!("P0.{at}")).chain(["P1.0".to_owned()]).collect();
    let run = witness(&execution, &run.join(" "));
    let page = Page { lines: 6, ..Page::default() };
    assert_snapshot!(explain::witness(&execution, Model::Sc, &run, page), @r"
A run that sc allows:

step  P0                P1
   1  .0 R x 0 <- init
   2  .1 R x 0 <- init
   3  .2 R x 0 <- init
   4  .3 R x 0 <- init
... 96 more steps ...
 101  .100 W x 1
 102                    .0 R x 1 <- P0.100
");
}

#[test]
fn an_empty_run_is_allowed() {
    let run = Witness::Run(MachineRun { steps: vec![] });
    assert_snapshot!(explain::witness(&parse("P0:\n"), Model::Sc, &run, Page::default()), @r"There is nothing to do: sc allows the empty run.");
}

#[test]
fn cycles_explain_why_each_event_precedes_the_next() {
    let execution = parse(STORE_BUFFERING);
    let violation = store_buffering_cycle(&execution);
    assert_snapshot!(explain(&execution, Model::Sc, &violation), @r"
P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
---
P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next:

  P0.0  W x 1
        comes before P0.1: sc keeps this program order of P0
  P0.1  R y 0 <- init
        comes before P1.0: P0.1 reads the initial value of y, which P1.0 overwrites
  P1.0  W y 1
        comes before P1.1: sc keeps this program order of P1
  P1.1  R x 0 <- init
        comes before P0.0: P1.1 reads the initial value of x, which P0.0 overwrites
  P0.0  again: a cycle
");
}

#[test]
fn cycles_under_tso_mention_when_stores_reach_memory() {
    let execution = parse("P0: W x 1; W y 1\nP1: R y 1 <- P0.1; R x 0 <- init\n");
    let init = event(&execution, "init x");
    let violation = Violation::Cycle {
        cycle: vec![
            edge(&execution, "P0.0", "P0.1", Why::Program),
            edge(&execution, "P0.1", "P1.0", Why::ReadsFrom),
            edge(&execution, "P1.0", "P1.1", Why::Program),
            edge(&execution, "P1.1", "P0.0", Why::BeforeOverwrite { source: init }),
        ],
        derivation: vec![order(&execution, "P0.1", "P1.0", Why::ReadsFrom)],
    };
    assert_snapshot!(explain(&execution, Model::Tso, &violation), @r"
P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
---
P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next:

  P0.0  W x 1
        reaches memory before P0.1 does: tso keeps this program order of P0
  P0.1  W y 1
        reaches memory before P1.0 runs: P1.0 reads y from P0.1
  P1.0  R y 1 <- P0.1
        comes before P1.1: tso keeps this program order of P1
  P1.1  R x 0 <- init
        comes before P0.0 reaches memory: P1.1 reads the initial value of x, which P0.0 overwrites
  P0.0  again: a cycle
");
}

#[test]
fn a_sequentially_consistent_store_comes_when_it_runs() {
    let execution = parse("P0: W.sc x 1; R y 0\nP1: W.sc y 1; R x 0\n");
    let violation = store_buffering_cycle(&execution);
    assert_snapshot!(explain(&execution, Model::Tso, &violation), @r"
P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
---
P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next:

  P0.0  W.sc x 1
        comes before P0.1: tso keeps this program order of P0
  P0.1  R y 0
        comes before P1.0: P0.1 reads the initial value of y, which P1.0 overwrites
  P1.0  W.sc y 1
        comes before P1.1: tso keeps this program order of P1
  P1.1  R x 0
        comes before P0.0: P1.1 reads the initial value of x, which P0.0 overwrites
  P0.0  again: a cycle
");
}

#[test]
fn cycles_list_the_facts_that_they_rest_on() {
    let execution = parse(
        "P0: W x 1; R x 2 <- P1.0; SPAWN P2; JOIN P2\n\
         P1: W x 2; R x 1; LOCK m <- init; UNLOCK m\n\
         P2: W x 1; R x 2; LOCK m <- P1.3; R x 1\n",
    );
    let id = |name| event(&execution, name);
    let violation = Violation::Cycle {
        cycle: vec![
            edge(&execution, "init x", "P0.0", Why::Program),
            edge(&execution, "P0.0", "P1.0", Why::OwnStoreFirst { read: id("P0.1") }),
            edge(&execution, "P1.0", "P2.0", Why::BeforeSource { read: id("P2.3") }),
            edge(&execution, "P2.0", "P0.3", Why::Program),
            edge(&execution, "P0.3", "init x", Why::BeforeSource { read: id("P2.3") }),
        ],
        derivation: vec![
            order(&execution, "P0.0", "P1.0", Why::OwnStoreFirst { read: id("P0.1") }),
            order(&execution, "P0.2", "P2.0", Why::Program),
            excluded(&execution, "P1.1", "P0.0", NotFrom::Hidden { by: id("P1.0") }),
            order(&execution, "P2.0", "P1.1", Why::ReadsFrom),
            order(&execution, "P1.0", "P2.3", Why::FirstSource),
            order(&execution, "P1.2", "P2.2", Why::BeforeOverwrite { source: id("init m") }),
            order(&execution, "P1.3", "P2.2", Why::BeforeOverwrite { source: id("P1.2") }),
            order(&execution, "P2.2", "P0.2", Why::BeforeOverwrite { source: id("P1.3") }),
            order(&execution, "P2.2", "P1.2", Why::BeforeSource { read: id("P1.3") }),
            order(&execution, "P2.3", "P1.0", Why::BeforeOverwrite { source: id("P2.0") }),
        ],
    };
    assert_snapshot!(explain(&execution, Model::Pso, &violation), @r"
init x -> P0.0 -> P1.0 -> P2.0 -> P0.3 -> init x must each come before the next
---
init x -> P0.0 -> P1.0 -> P2.0 -> P0.3 -> init x must each come before the next:

  init x  the initial value 0
          comes before P0.0 reaches memory: initial values are there from the start
  P0.0  W x 1
        reaches memory before P1.0 does: P0.1 reads x from P1.0 and not what its own thread stored
          there last (P0.0), so P1.0 has overwritten that
  P1.0  W x 2
        reaches memory before P2.0 does: P1.0 comes before P2.3, and P2.3 observes P2.0 or a write
          before it (no other source is left): later than P2.0, P1.0 would hide it
  P2.0  W x 1
        reaches memory before P0.3 runs: P0.3 waits for the end of P2
  P0.3  JOIN P2
        comes before init x: P0.3 comes before P2.3, and P2.3 has no source left but init x: later
          than init x, P0.3 would hide it
  init x  again: a cycle

This rests on:

  P1.1 does not observe P0.0: P1.0 comes after P0.0 and before P1.1
  P2.0 reaches memory before P1.1 runs: P1.1 reads x from P2.0, the only source left to it
  P1.0 reaches memory before P2.3 runs: every source left to P2.3 comes after P1.0 or is P1.0
  P1.2 comes before P2.2: P1.2 is the first to take m, so P2.2 comes later
  P1.3 comes before P2.2: P1.3 releases m, held since P1.2, and P2.2 comes later than P1.2: it has
    to wait
  P2.2 comes before P0.2: P2.2 takes m from P1.3, and P0.2 comes later than P1.3: it has to wait
  P2.2 comes before P1.2: P2.2 comes before P1.3, and P1.3 releases m, held since P1.2: P2.2 cannot
    come in between
  P2.3 comes before P1.0 reaches memory: P2.3 observes P2.0 or a write before it (no other source is
    left), and P1.0 overwrites P2.0
");
}

/// The sentence about the cycle of `source` and `missed`, which `read` missed.
fn missed(text: &str, read: &str, source: &str, missed: &str) -> String {
    let execution = parse(text);
    let before_source = Why::BeforeSource { read: event(&execution, read) };
    let cycle = vec![
        edge(&execution, source, missed, Why::Program),
        edge(&execution, missed, source, before_source),
    ];
    explain::sentence(&execution, Model::Sc, &Violation::Cycle { cycle, derivation: vec![] })
}

#[test]
fn a_cycle_of_two_has_plain_words() {
    let locks = "P0: LOCK m <- init; UNLOCK m\nP1: LOCK m <- P0.1; UNLOCK m\nP2: LOCK m\n";
    let sentences = [
        missed("P0: RMW x 0 1\nP1: RMW x 0 1\n", "P0.0", "init x", "P1.0"),
        missed("P0: W x 1; RMW x 1 2\nP1: CAS x 1 3\n", "P1.0", "P0.0", "P0.1"),
        missed("P0: RMW x 0 1\nP1: R x 0\n", "P1.0", "init x", "P0.0"),
        missed("P0: W x 1; W x 2; R x 1\n", "P0.2", "P0.0", "P0.1"),
        missed("P0: W x 1; R x 0\nP1: W x 0\n", "P0.1", "init x", "P0.0"),
        missed("P0: W x 1; W x 2; R x 1\nP1: W x 1\n", "P0.2", "P0.0", "P0.1"),
        missed("P0: LOCK m\nP1: LOCK m\n", "P0.0", "init m", "P1.0"),
        missed(locks, "P0.0", "init m", "P2.0"),
        missed(locks, "P1.0", "P0.1", "P2.0"),
    ];
    assert_snapshot!(sentences.join("\n"), @r"
P0.0 and P1.0 both update x from its initial value
P0.1 and P1.0 both update x from P0.0
P1.0 reads the initial value of x after P0.0 has overwritten it
P0.2 reads x from P0.0 after P0.1 has overwritten it
P0.1 can only read the initial value of x, but P0.0 has overwritten it before
P0.0 and P0.1 must each come before the other
P0.0 and P1.0 are both the first to take m
P0.0 is the first to take m, but P2.0 comes before
P1.0 takes m from P0.1, but P2.0 comes in between
");
}

#[test]
fn a_cycle_of_a_read_and_a_write_has_plain_words() {
    let execution = parse("P0: R x 1; W x 1; W x 2; R x 0\nP1: W x 0; R x 0\n");
    let overwrite = Why::BeforeOverwrite { source: event(&execution, "init x") };
    let sentence = |read: &str, write: &str, there: Why, back: Why| {
        let cycle = vec![edge(&execution, read, write, there), edge(&execution, write, read, back)];
        explain::sentence(&execution, Model::Sc, &Violation::Cycle { cycle, derivation: vec![] })
    };
    let sentences = [
        sentence("P0.0", "P0.1", Why::Program, Why::ReadsFrom),
        sentence("P0.3", "P0.2", overwrite, Why::Program),
        sentence("P1.1", "P0.1", Why::Program, Why::ReadsFrom),
    ];
    assert_snapshot!(sentences.join("\n"), @r"
P0.0 reads x from P0.1, which comes later
P0.3 can only read the initial value of x, but P0.2 has overwritten it before
P1.1 and P0.1 must each come before the other
");
}

#[test]
fn a_lost_update_is_explained() {
    let execution = parse("P0: RMW x 5 6\nP1: RMW x 5 7\ninit: x=5\n");
    let before_source = Why::BeforeSource { read: event(&execution, "P0.0") };
    let overwrite = Why::BeforeOverwrite { source: event(&execution, "init x") };
    let violation = Violation::Cycle {
        cycle: vec![
            edge(&execution, "init x", "P1.0", Why::Program),
            edge(&execution, "P1.0", "init x", before_source),
        ],
        derivation: vec![order(&execution, "P1.0", "P0.0", overwrite)],
    };
    assert_snapshot!(explain(&execution, Model::Tso, &violation), @r"
P0.0 and P1.0 both update x from its initial value
---
P0.0 and P1.0 both update x from its initial value.

So these two must each come before the other:

  init x  the initial value 5
          comes before P1.0: initial values are there from the start
  P1.0  RMW x 5 7
        comes before init x: P1.0 comes before P0.0, and P0.0 reads the initial value of x: later
          than init x, P1.0 would hide it
  init x  again: a cycle

This rests on:

  P1.0 comes before P0.0: P1.0 reads the initial value of x, which P0.0 overwrites
");
}

#[test]
fn facts_about_locks_mention_locks() {
    let execution = parse("P0: LOCK m; UNLOCK m\nP1: LOCK m; UNLOCK m\n");
    let id = |name| event(&execution, name);
    let violation = Violation::Cycle {
        cycle: vec![
            edge(&execution, "init m", "P0.0", Why::Program),
            edge(&execution, "P0.0", "P1.0", Why::BeforeOverwrite { source: id("init m") }),
            edge(&execution, "P1.0", "init m", Why::BeforeSource { read: id("P0.1") }),
        ],
        derivation: vec![
            excluded(&execution, "P0.0", "P1.1", NotFrom::Later),
            excluded(&execution, "P1.0", "init m", NotFrom::OwnStore { by: id("P1.1") }),
            order(&execution, "P0.1", "P1.1", Why::OwnStoreFirst { read: id("P0.0") }),
            order(&execution, "P1.0", "P0.0", Why::BeforeOverwrite { source: id("P0.1") }),
        ],
    };
    assert_snapshot!(explain(&execution, Model::Sc, &violation), @r"
init m -> P0.0 -> P1.0 -> init m must each come before the next
---
init m -> P0.0 -> P1.0 -> init m must each come before the next:

  init m  the lock is free
          comes before P0.0: initial values are there from the start
  P0.0  LOCK m
        comes before P1.0: P0.0 has no source left but init m, so P1.0 comes later
  P1.0  LOCK m
        comes before init m: P1.0 comes before P0.1, and P0.1 releases m, held since init m: P1.0
          cannot come in between
  init m  again: a cycle

This rests on:

  P0.0 does not take m from P1.1: P1.1 comes later than P0.0
  P1.0 does not take m from init m: P1.1, a release of its own thread, comes after init m
  P0.1 comes before P1.1: P0.0 takes m from P1.1 and not from P0.1, where its own thread released it
    last, so P1.1 comes later
  P1.0 comes before P0.0: P1.0 takes m from P0.1 or a release before it (no other is left), and P0.0
    comes later than P0.1: it has to wait
");
}

#[test]
fn a_long_cycle_is_cut_in_the_sentence() {
    let execution = parse(&format!("P0: {}W x 1\n", "R x 0; ".repeat(30)));
    let cycle = (0..30)
        .map(|at| edge(&execution, &format!("P0.{at}"), &format!("P0.{}", at + 1), Why::Program))
        .collect();
    let violation = Violation::Cycle { cycle, derivation: vec![] };
    assert_snapshot!(explain::sentence(&execution, Model::Sc, &violation), @r"P0.0 -> P0.1 -> P0.2 -> P0.3 -> P0.4 -> P0.5 -> ... 20 more events ... -> P0.26 -> P0.27 -> P0.28 -> P0.29 -> P0.30 must each come before the next");
}

#[test]
fn unwritten_values_are_explained() {
    let execution = parse("P0: W x 1; R x 7\n");
    let violation = Violation::UnwrittenValue { read: event(&execution, "P0.1") };
    assert_snapshot!(explain(&execution, Model::Sc, &violation), @r"
P0.1 reads x = 7, a value that no other event writes there
---
P0.1 reads x = 7, a value that no other event writes there:

  P0.1  R x 7
");
}

#[test]
fn reads_without_a_source_explain_why_each_source_is_excluded() {
    let execution = parse("P0: W x 1; W x 2; R x 1; W x 1\n");
    let by = event(&execution, "P0.1");
    let violation = Violation::NoSource {
        read: event(&execution, "P0.2"),
        derivation: vec![
            excluded(&execution, "P0.2", "P0.0", NotFrom::OwnStore { by }),
            excluded(&execution, "P0.2", "P0.3", NotFrom::Later),
        ],
    };
    assert_snapshot!(explain(&execution, Model::Tso, &violation), @r"
P0.2 reads x = 1, but each of its possible sources is ruled out
---
P0.2 reads x = 1, but each of its possible sources is ruled out:

  P0.2  R x 1
    not from P0.0: P0.1, a store of its own thread, comes after P0.0
    not from P0.3: P0.3 comes later than P0.2
");
}

#[test]
fn a_core_stands_in_columns() {
    let execution = parse(
        "init: y=5\n\
         P0: W x 1; R y 5 <- init; F\n\
         P1: F\n\
         P2: W y 1; F.ss; R x 0 <- init; W z 1\n",
    );
    let violation = Violation::Core { lens: vec![2, 0, 3], size: CoreSize::Smallest };
    assert_snapshot!(explain(&execution, Model::Sc, &violation), @r"
sc has no order for the first 2 events of P0 and the first 3 events of P2
---
sc allows no order of these events, as an exhaustive search found. It does allow every part of the
execution with fewer events.

initially y = 5
P0                P2
.0 W x 1          .0 W y 1
.1 R y 5 <- init  .1 F.ss
                  .2 R x 0 <- init
");
}

#[test]
fn a_core_of_many_threads_has_one_event_on_each_line() {
    let text: String = (0..20).map(|t| format!("P{t}: W x {t}; R x 19\n")).collect();
    let violation = Violation::Core { lens: vec![1; 20], size: CoreSize::Minimal };
    let execution = parse(&text);
    let page = Page { lines: 6, ..Page::default() };
    assert_snapshot!(explain::violation(&execution, Model::Pso, &violation, page), @r"
pso allows no order of these events, as an exhaustive search found. It does allow every smaller part
of them.

  P0.0  W x 0
  P1.0  W x 1
  P2.0  W x 2
  P3.0  W x 3
  ... 14 more events ...
  P18.0  W x 18
  P19.0  W x 19
");
}

#[test]
fn json_names_the_events() {
    let execution = parse(STORE_BUFFERING);
    let violation = store_buffering_cycle(&execution);
    let json = explain::json::violation(&execution, Model::Sc, &violation);
    assert_snapshot!(serde_json::to_string_pretty(&json).expect("JSON"), @r#"
{
  "kind": "cycle",
  "message": "P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next",
  "cycle": [
    {
      "from": "P0.0",
      "to": "P0.1",
      "why": "program"
    },
    {
      "from": "P0.1",
      "to": "P1.0",
      "why": "before-overwrite",
      "source": "init y"
    },
    {
      "from": "P1.0",
      "to": "P1.1",
      "why": "program"
    },
    {
      "from": "P1.1",
      "to": "P0.0",
      "why": "before-overwrite",
      "source": "init x"
    }
  ],
  "derivation": [
    {
      "from": "P0.1",
      "to": "P1.0",
      "why": "before-overwrite",
      "source": "init y"
    },
    {
      "from": "P1.1",
      "to": "P0.0",
      "why": "before-overwrite",
      "source": "init x"
    }
  ]
}
"#);
    let run = witness(&execution, "P0.0 P0.1 !P0.0");
    let json = explain::json::witness(&execution, &run);
    assert_snapshot!(serde_json::to_string(&json).expect("JSON"), @r#"[{"run":"P0.0","does":"W x 1"},{"run":"P0.1","does":"R y 0 <- init"},{"flush":"P0.0"}]"#);
}

#[test]
fn json_of_the_other_violations() {
    let execution = parse("P0: W x 1; W x 2; R x 1; W x 1\n");
    let id = |name| event(&execution, name);
    let violations = [
        Violation::UnwrittenValue { read: id("P0.2") },
        Violation::NoSource {
            read: id("P0.2"),
            derivation: vec![
                order(&execution, "P0.0", "P0.1", Why::BeforeSource { read: id("P0.2") }),
                excluded(&execution, "P0.2", "P0.0", NotFrom::Hidden { by: id("P0.1") }),
                excluded(&execution, "P0.2", "P0.3", NotFrom::Later),
            ],
        },
        Violation::Core { lens: vec![3], size: CoreSize::Smallest },
    ];
    let lines: Vec<String> = violations
        .iter()
        .map(|violation| explain::json::violation(&execution, Model::Sc, violation))
        .map(|json| serde_json::to_string(&json).expect("JSON"))
        .collect();
    assert_snapshot!(lines.join("\n"), @r#"
{"kind":"unwritten-value","message":"P0.2 reads x = 1, a value that no other event writes there","read":"P0.2"}
{"kind":"no-source","message":"P0.2 reads x = 1, but each of its possible sources is ruled out","read":"P0.2","derivation":[{"from":"P0.0","to":"P0.1","why":"before-source","read":"P0.2"},{"read":"P0.2","not_from":"P0.0","why":"hidden","by":"P0.1"},{"read":"P0.2","not_from":"P0.3","why":"later"}]}
{"kind":"core","message":"sc has no order for the first 3 events of P0","events":["P0.0","P0.1","P0.2"],"size":"smallest"}
"#);
}
