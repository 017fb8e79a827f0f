//! The reports under C11 models, word for word, on evidence made by hand.

use insta::assert_snapshot;
use raddle_consistency::explain::{self, Page};
use raddle_consistency::history;
use raddle_consistency::witness::{
    Axiom, CoreSize, CycleLink, MoFact, Relation, Violation, WhyMo, Witness,
};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::Model;

/// P1 sees the flag but not the data.
const MESSAGE: &str = "\
    P0: W.rlx data 42; W.rel flag 1\n\
    P1: R.acq flag 1; R.rlx data 0\n";

fn parse(text: &str) -> Execution {
    history::parse(text.as_bytes()).expect("a good history")
}

/// The event with this name.
fn event(execution: &Execution, name: &str) -> EventId {
    execution.events().find(|&event| execution.name(event) == name).expect("an event")
}

fn events(execution: &Execution, names: &[&str]) -> Vec<EventId> {
    names.iter().map(|name| event(execution, name)).collect()
}

fn relation(name: &str) -> Relation {
    match name {
        "po" => Relation::Po,
        "rf" => Relation::Rf,
        "inv" => Relation::RfInverse,
        "mo" => Relation::Mo,
        "fr" => Relation::Fr,
        "hb" => Relation::Hb,
        "asw" => Relation::Asw,
        _ => panic!("no relation: {name}"),
    }
}

/// A chain of links such as `P1.1 -fr-> P0.0 -hb-> P1.1`.
fn links(execution: &Execution, text: &str) -> Vec<CycleLink> {
    let mut parts = text.split(" -");
    let mut from = event(execution, parts.next().expect("an event"));
    let link = |part: &str| {
        let (name, to) = part.split_once("-> ").expect("an arrow");
        let to = event(execution, to);
        CycleLink { from: std::mem::replace(&mut from, to), to, relation: relation(name) }
    };
    parts.map(link).collect()
}

fn fact(execution: &Execution, from: &str, to: &str, why: WhyMo) -> MoFact {
    MoFact { from: event(execution, from), to: event(execution, to), why }
}

fn broken(execution: &Execution, axiom: Axiom, cycle: &str, derivation: &[MoFact]) -> Violation {
    let cycle = links(execution, cycle);
    Violation::Axiom { axiom, cycle, derivation: derivation.to_vec() }
}

/// The one sentence and the explanation of a violation.
fn explain(execution: &Execution, model: Model, violation: &Violation) -> String {
    let sentence = explain::sentence(execution, model, violation);
    format!("{sentence}\n---\n{}", explain::violation(execution, model, violation, Page::default()))
}

fn json(execution: &Execution, model: Model, violation: &Violation) -> String {
    let violation = explain::json::violation(execution, model, violation);
    serde_json::to_string(&violation).expect("JSON")
}

/// Sources as in the history, and modification orders such as `x: P0.0 P1.0`, initial writes
/// added.
fn coherence(execution: &Execution, mo: &[&[&str]], fences: &[&str]) -> Coherence {
    let rf = execution.events().map(|event| execution.sources(event).first().copied()).collect();
    let with_init = |(location, names): (_, &&[&str])| {
        let mut order = vec![execution.init_of(location)];
        order.extend(events(execution, names));
        order
    };
    let mo = execution.locations().zip(mo).map(with_init).collect();
    Coherence { rf, mo, fences: events(execution, fences) }
}

fn show(execution: &Execution, model: Model, coherence: Coherence) -> String {
    explain::witness(execution, model, &Witness::Coherence(coherence), Page::default())
}

#[test]
fn a_read_misses_a_write_that_happens_before_it() {
    let execution = parse(MESSAGE);
    let violation = broken(
        &execution,
        Axiom::ReadCoherence,
        "P1.1 -fr-> P0.0 -hb-> P1.1",
        &[fact(&execution, "init data", "P0.0", WhyMo::HappensBefore)],
    );
    assert_snapshot!(explain(&execution, Model::C20, &violation), @r#"
read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before the read
---
read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before the
  read.

c20 demands read-coherence: no read observes a value after a newer one was written or read, where
  "after" means happens-before and "newer" means later in the modification order.

  P1.1  R.rlx data 0
        -fr-> P0.0: P1.1 reads the initial value of data, which P0.0 overwrites
  P0.0  W.rlx data 42
        -hb-> P1.1: it happens before, by P0.0 -po-> P0.1 -sw-> P1.0 -po-> P1.1
          P0.1 synchronizes with P1.0: it releases flag, and P1.0 reads that and acquires
  P1.1  again: a cycle
"#);
    assert_snapshot!(json(&execution, Model::C20, &violation), @r#"{"kind":"axiom","message":"read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before the read","axiom":"read-coherence","cycle":[{"from":"P1.1","to":"P0.0","relation":"fr"},{"from":"P0.0","to":"P1.1","relation":"hb"}],"derivation":[{"from":"init data","to":"P0.0","why":"happens-before"}]}"#);
}

#[test]
fn explanations_mention_replaced_memory_orders() {
    let execution = parse("P0: W.rlx x 1\nP1: R.rlx x 1; R.rlx x 0\n");
    let violation =
        broken(&execution, Axiom::ReadCoherence, "P1.1 -fr-> P0.0 -rf-> P1.0 -hb-> P1.1", &[]);
    assert_snapshot!(explain(&execution, Model::Relaxed, &violation), @r#"
read-coherence: P1.1 reads x = 0 from init x, but P1.0, which happens before the read, has read the newer P0.0
---
read-coherence: P1.1 reads x = 0 from init x, but P1.0, which happens before the read, has read the
  newer P0.0.

relaxed demands read-coherence: no read observes a value after a newer one was written or read,
  where "after" means happens-before and "newer" means later in the modification order. Under
  relaxed, only locks, spawn and join order what different threads do.

  P1.1  R.rlx x 0
        -fr-> P0.0: P1.1 reads the initial value of x, which P0.0 overwrites
  P0.0  W.rlx x 1
        -rf-> P1.0: P1.0 reads x from P0.0
  P1.0  R.rlx x 1
        -hb-> P1.1: program order
  P1.1  again: a cycle
"#);
    let violation = broken(&execution, Axiom::ReadCoherence, "P1.1 -fr-> P0.0 -hb-> P1.1", &[]);
    assert_snapshot!(explain(&execution, Model::Ra, &violation), @r#"
read-coherence: P1.1 reads x = 0 from init x, but P0.0 overwrites it and happens before the read
---
read-coherence: P1.1 reads x = 0 from init x, but P0.0 overwrites it and happens before the read.

ra demands read-coherence: no read observes a value after a newer one was written or read, where
  "after" means happens-before and "newer" means later in the modification order. Under ra, every
  atomic read acquires and every atomic write releases.

  P1.1  R.rlx x 0
        -fr-> P0.0: P1.1 reads the initial value of x, which P0.0 overwrites
  P0.0  W.rlx x 1
        -hb-> P1.1: it happens before, by P0.0 -sw-> P1.0 -po-> P1.1
          P0.0 synchronizes with P1.0: it releases x, and P1.0 reads that and acquires
  P1.1  again: a cycle
"#);
}

#[test]
fn a_read_misses_a_write_without_modification_orders() {
    let execution = parse("P0: W.rlx x 1; W.rlx x 2; W.rlx y 1\nP1: R.rlx y 1; R.rlx x 1\n");
    let violation =
        broken(&execution, Axiom::WeakReadCoherence, "P0.0 -hb-> P0.1 -hb-> P1.1 -inv-> P0.0", &[]);
    assert_snapshot!(explain(&execution, Model::Wra, &violation), @r"
weak-read-coherence: P1.1 reads x = 1 from P0.0, but P0.1 overwrites it and happens before the read
---
weak-read-coherence: P1.1 reads x = 1 from P0.0, but P0.1 overwrites it and happens before the read.

wra demands weak-read-coherence: no read observes a write if another write of the location happens
  after that one and before the read. Under wra, every atomic read acquires and every atomic write
  releases.

  P0.0  W.rlx x 1
        -hb-> P0.1: program order
  P0.1  W.rlx x 2
        -hb-> P1.1: it happens before, by P0.1 -po-> P0.2 -sw-> P1.0 -po-> P1.1
          P0.2 synchronizes with P1.0: it releases y, and P1.0 reads that and acquires
  P1.1  R.rlx x 1
        -rf⁻¹-> P0.0: P1.1 reads x from P0.0
  P0.0  again: a cycle
");
    assert_snapshot!(json(&execution, Model::Wra, &violation), @r#"{"kind":"axiom","message":"weak-read-coherence: P1.1 reads x = 1 from P0.0, but P0.1 overwrites it and happens before the read","axiom":"weak-read-coherence","cycle":[{"from":"P0.0","to":"P0.1","relation":"hb"},{"from":"P0.1","to":"P1.1","relation":"hb"},{"from":"P1.1","to":"P0.0","relation":"rf⁻¹"}],"derivation":[]}"#);
}

#[test]
fn locks_that_are_taken_out_of_turn() {
    let execution = parse(
        "P0: LOCK m <- init; UNLOCK m; W.rel x 1\n\
         P1: LOCK m <- P0.1; UNLOCK m; W.rel y 1\n\
         P2: R.acq y 1; LOCK m\n",
    );
    let lock = |cycle| {
        let violation = broken(&execution, Axiom::ReadCoherence, cycle, &[]);
        explain(&execution, Model::C20, &violation)
    };
    assert_snapshot!(lock("P1.0 -fr-> P1.1 -hb-> P1.0"), @r#"
read-coherence: P1.0 takes m from P0.1, but P1.1 comes in between
---
read-coherence: P1.0 takes m from P0.1, but P1.1 comes in between.

c20 demands read-coherence: no read observes a value after a newer one was written or read, where
  "after" means happens-before and "newer" means later in the modification order.

  P1.0  LOCK m <- P0.1
        -fr-> P1.1: P1.0 takes m from P0.1, and P1.1 comes later
  P1.1  UNLOCK m
        -hb-> P1.0: P1.1 happens before P1.0
  P1.0  again: a cycle
"#);
    assert_snapshot!(lock("P0.0 -fr-> P1.1 -hb-> P0.0"), @r#"
read-coherence: P0.0 is the first to take m, but P1.1 comes before
---
read-coherence: P0.0 is the first to take m, but P1.1 comes before.

c20 demands read-coherence: no read observes a value after a newer one was written or read, where
  "after" means happens-before and "newer" means later in the modification order.

  P0.0  LOCK m <- init
        -fr-> P1.1: P0.0 is the first to take m, and P1.1 comes later
  P1.1  UNLOCK m
        -hb-> P0.0: P1.1 happens before P0.0
  P0.0  again: a cycle
"#);
}

#[test]
fn a_modification_order_against_happens_before() {
    let execution = parse("P0: W.rlx x 1; W.rlx x 2\nP1: R.rlx x 2; R.rlx x 1\n");
    let read = WhyMo::Read { read: event(&execution, "P1.1") };
    let facts = [fact(&execution, "P0.1", "P0.0", read)];
    let violation = broken(&execution, Axiom::WriteCoherence, "P0.1 -mo-> P0.0 -hb-> P0.1", &facts);
    assert_snapshot!(explain(&execution, Model::Rc20, &violation), @r"
write-coherence: P0.0 happens before P0.1, but must come after it in the modification order of x
---
write-coherence: P0.0 happens before P0.1, but must come after it in the modification order of x.

rc20 demands write-coherence: the writes of a location have one order, the modification order, in
  which a write comes before another if it happens before it, or is read before it.

  P0.1  W.rlx x 2
        -mo-> P0.0: it comes earlier in the modification order of x: P1.0 reads x from P0.1, P1.0
          comes before P1.1 in program order, and P1.1 reads x from P0.0: later than P0.0, P0.1
          would hide it
  P0.0  W.rlx x 1
        -hb-> P0.1: program order
  P0.1  again: a cycle
");
    assert_snapshot!(json(&execution, Model::Rc20, &violation), @r#"{"kind":"axiom","message":"write-coherence: P0.0 happens before P0.1, but must come after it in the modification order of x","axiom":"write-coherence","cycle":[{"from":"P0.1","to":"P0.0","relation":"mo"},{"from":"P0.0","to":"P0.1","relation":"hb"}],"derivation":[{"from":"P0.1","to":"P0.0","why":"read","read":"P1.1"}]}"#);
}

#[test]
fn every_fact_of_a_derivation() {
    let execution = parse(
        "P0: W.rlx x 1; W.rel y 1\n\
         P1: W.rlx x 2; RMW.rlx x 2 3; R.acq y 1; R.rlx x 3\n\
         P2: R.rlx x 1; R.rlx x 3; R.rlx x 2\n",
    );
    let read = |name| WhyMo::Read { read: event(&execution, name) };
    let facts = [
        fact(&execution, "init x", "P0.0", WhyMo::HappensBefore),
        fact(&execution, "P1.0", "P1.1", WhyMo::Update),
        fact(&execution, "P0.0", "P1.1", read("P1.3")),
        fact(&execution, "P0.0", "P1.1", read("P2.1")),
        fact(&execution, "P1.0", "P1.1", WhyMo::HappensBefore),
        fact(&execution, "P0.0", "P1.0", WhyMo::Chains),
        fact(&execution, "P1.1", "P1.0", read("P2.2")),
    ];
    let violation = broken(&execution, Axiom::StrongWriteCoherence, "P1.0 -mo-> P1.0", &facts);
    assert_snapshot!(explain(&execution, Model::Sra, &violation), @r"
strong-write-coherence: P1.0 must come before itself in the modification order of x
---
strong-write-coherence: P1.0 must come before itself in the modification order of x.

sra demands strong-write-coherence: happens-before and the modification orders of all locations
  together have no cycle. Under sra, every atomic read acquires and every atomic write releases.

  P1.0  W.rlx x 2
        -mo-> P1.0: it comes earlier in the modification order of x
  P1.0  again: a cycle

This rests on:

  P1.0 comes before P1.1 in the modification order of x: P1.1 reads x from P1.0 in an atomic update
  P0.0 comes before P1.1 in the modification order of x: P0.0 happens before P1.3 (P0.0 -po-> P0.1
    -sw-> P1.2 -po-> P1.3), and P1.3 reads x from P1.1: later than P1.1, P0.0 would hide it
  P0.0 comes before P1.1 in the modification order of x: P0.0 happens before P2.1 (P0.0 -sw-> P2.0
    -po-> P2.1), and P2.1 reads x from P1.1: later than P1.1, P0.0 would hide it
  P1.0 comes before P1.1 in the modification order of x: P1.0 comes before P1.1 in program order
  P0.0 comes before P1.0 in the modification order of x: their chains of updates come in this order,
    and no other write comes between a write and the update that reads it
  P1.1 comes before P1.0 in the modification order of x: P1.1 happens before P2.2 (P1.1 -sw-> P2.1
    -po-> P2.2), and P2.2 reads x from P1.0: later than P1.0, P1.1 would hide it
");
}

#[test]
fn the_other_short_cycles_of_writes() {
    let execution = parse("P0: W.rlx x 1; W.rlx x 2\nP1: R.rlx x 2; W.rlx x 3; RMW.rlx x 2 4\n");
    let short = |cycle| {
        let violation = broken(&execution, Axiom::WriteCoherence, cycle, &[]);
        explain::sentence(&execution, Model::Ra, &violation)
    };
    assert_snapshot!(short("P1.1 -mo-> P0.1 -rf-> P1.0 -hb-> P1.1"), @r"write-coherence: P1.0 reads x from P0.1 and happens before P1.1, but P0.1 must come after it in the modification order of x");
    assert_snapshot!(short("P1.2 -mo-> P0.1 -rf-> P1.2"), @r"write-coherence: P1.2 reads x from P0.1, which must come later in the modification order of x");
    assert_snapshot!(short("P0.0 -hb-> P0.1 -mo-> P0.0"), @r"write-coherence: P0.0 happens before P0.1, but must come after it in the modification order of x");
    assert_snapshot!(short("P0.0 -mo-> P0.1 -mo-> P0.0"), @r"write-coherence: P0.0 and P0.1 must each come before the other in the modification order of x");
    assert_snapshot!(short("P0.0 -mo-> P0.0"), @r"write-coherence: P0.0 must come before itself in the modification order of x");
}

#[test]
fn updates_that_are_not_atomic() {
    let execution = parse("P0: RMW.rlx x 0 1\nP1: RMW.rlx x 0 2\nP2: W.rlx x 3; R.rlx x 3\n");
    let violation = broken(&execution, Axiom::Atomicity, "P0.0 -fr-> P1.0 -mo-> P0.0", &[]);
    assert_snapshot!(explain(&execution, Model::Rc11, &violation), @r"
atomicity: P0.0 and P1.0 both update x from its initial value
---
atomicity: P0.0 and P1.0 both update x from its initial value.

rc11 demands atomicity: in the modification order, no write comes between an atomic update and the
  write that it reads.

  P0.0  RMW.rlx x 0 1
        -fr-> P1.0: P0.0 reads the initial value of x, which P1.0 overwrites
  P1.0  RMW.rlx x 0 2
        -mo-> P0.0: it comes earlier in the modification order of x
  P0.0  again: a cycle
");
    let violation = broken(&execution, Axiom::Atomicity, "P0.0 -fr-> P2.0 -mo-> P0.0", &[]);
    assert_snapshot!(explain::sentence(&execution, Model::Rc11, &violation), @r"atomicity: P0.0 reads x = 0 from init x in an atomic update, but P2.0 must come between them in the modification order of x");
    let mut cycle = links(&execution, "init x -rf-> P0.0");
    cycle.extend(links(&execution, "init x -rf-> P1.0"));
    let violation = Violation::Axiom { axiom: Axiom::WeakAtomicity, cycle, derivation: vec![] };
    let implied = explain::violation(&execution, Model::C20, &violation, Page::default());
    let implied = implied.lines().find(|line| line.contains("c20"));
    assert_snapshot!(implied.unwrap_or_default(), @r"The axioms of c20 imply weak-atomicity: no two atomic updates read the same write.");
    assert_snapshot!(explain(&execution, Model::Wra, &violation), @r"
weak-atomicity: P0.0 and P1.0 both update x from its initial value
---
weak-atomicity: P0.0 and P1.0 both update x from its initial value.

wra demands weak-atomicity: no two atomic updates read the same write. Under wra, every atomic read
  acquires and every atomic write releases.

  P0.0  RMW.rlx x 0 1
  P1.0  RMW.rlx x 0 2
");
}

#[test]
fn values_out_of_thin_air() {
    let execution =
        parse("P0: R.rlx x 1; W.rlx y 1\nP1: R.rlx y 1; W.rlx x 1; R.rlx z 2; W.rlx z 2\n");
    let violation =
        broken(&execution, Axiom::PoRf, "P0.0 -po-> P0.1 -rf-> P1.0 -po-> P1.1 -rf-> P0.0", &[]);
    assert_snapshot!(explain(&execution, Model::Relaxed, &violation), @r"
po-rf: a cycle P0.0 -po-> P0.1 -rf-> P1.0 -po-> P1.1 -rf-> P0.0
---
po-rf: a cycle P0.0 -po-> P0.1 -rf-> P1.0 -po-> P1.1 -rf-> P0.0.

relaxed demands po-rf: there is no cycle of program order and reads, in which a value would come out
  of thin air. Under relaxed, only locks, spawn and join order what different threads do.

  P0.0  R.rlx x 1
        -po-> P0.1: program order
  P0.1  W.rlx y 1
        -rf-> P1.0: P1.0 reads y from P0.1
  P1.0  R.rlx y 1
        -po-> P1.1: program order
  P1.1  W.rlx x 1
        -rf-> P0.0: P0.0 reads x from P1.1
  P0.0  again: a cycle
");
    let violation = broken(&execution, Axiom::PoRf, "P1.3 -rf-> P1.2 -po-> P1.3", &[]);
    assert_snapshot!(explain::sentence(&execution, Model::Relaxed, &violation), @r"po-rf: P1.2 reads z from P1.3, which comes later in the same thread");
    let violation = broken(&execution, Axiom::PoRf, "P0.0 -hb-> P1.1 -rf-> P0.0", &[]);
    assert_snapshot!(explain::sentence(&execution, Model::Relaxed, &violation), @r"po-rf: P0.0 reads x from P1.1, but happens before it");
}

#[test]
fn sequentially_consistent_accesses_in_a_cycle() {
    let execution = parse("P0: W.sc x 1; R.sc y 0\nP1: W.sc y 1; R.sc x 0\n");
    let violation =
        broken(&execution, Axiom::SeqCst, "P0.0 -po-> P0.1 -fr-> P1.0 -po-> P1.1 -fr-> P0.0", &[]);
    assert_snapshot!(explain(&execution, Model::C20, &violation), @r"
seq-cst: a cycle P0.0 -po-> P0.1 -fr-> P1.0 -po-> P1.1 -fr-> P0.0
---
seq-cst: a cycle P0.0 -po-> P0.1 -fr-> P1.0 -po-> P1.1 -fr-> P0.0.

c20 demands seq-cst: all sequentially consistent accesses and fences have one order, which agrees
  with happens-before, with the modification orders and with what is read.

  P0.0  W.sc x 1
        -po-> P0.1: program order
  P0.1  R.sc y 0
        -fr-> P1.0: P0.1 reads the initial value of y, which P1.0 overwrites
  P1.0  W.sc y 1
        -po-> P1.1: program order
  P1.1  R.sc x 0
        -fr-> P0.0: P1.1 reads the initial value of x, which P0.0 overwrites
  P0.0  again: a cycle
");
}

#[test]
fn where_fences_are_ordered_accesses_are_not() {
    let execution = parse("P0: W.sc x 1; F; R.sc y 0\nP1: W.sc y 1; F; R.sc x 0\n");
    let cycle = "P0.1 -po-> P0.2 -fr-> P1.0 -po-> P1.1 -po-> P1.2 -fr-> P0.0 -po-> P0.1";
    let violation = broken(&execution, Axiom::SeqCst, cycle, &[]);
    let text = explain::violation(&execution, Model::Rc20, &violation, Page::default());
    let demand =
        "The axioms of rc20 imply seq-cst: all sequentially consistent fences have one order,";
    assert!(text.lines().any(|line| line.starts_with(demand)), "{text}");
}

#[test]
fn a_long_cycle_is_cut_in_a_sentence() {
    let text: String =
        (0..10).map(|t| format!("P{t}: R.rlx x{t} 1; W.rlx x{} 1\n", (t + 1) % 10)).collect();
    let execution = parse(&text);
    let cycle: Vec<String> =
        (0..10).map(|t| format!("P{t}.0 -po-> P{t}.1 -rf-> ")).chain(["P0.0".to_owned()]).collect();
    let violation = broken(&execution, Axiom::PoRf, &cycle.concat(), &[]);
    assert_snapshot!(explain::sentence(&execution, Model::Ra, &violation), @r"po-rf: a cycle P0.0 -po-> P0.1 -rf-> P1.0 -po-> P1.1 -rf-> P2.0 -po-> P2.1 -rf-> ... 9 more events ... P7.1 -rf-> P8.0 -po-> P8.1 -rf-> P9.0 -po-> P9.1 -rf-> P0.0");
}

/// How P0.0 happens before the last event of a history.
fn path(model: Model, text: &str) -> String {
    let execution = parse(text);
    let last = execution.events().last().expect("an event");
    let cycle = format!("P0.0 -hb-> {} -mo-> P0.0", execution.name(last));
    let violation = broken(&execution, Axiom::StrongWriteCoherence, &cycle, &[]);
    let text = explain::violation(&execution, model, &violation, Page::default());
    let lines = text.lines().skip_while(|line| !line.starts_with("  P0.0"));
    lines
        .skip(1)
        .take_while(|line| line.starts_with("   "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn fences_synchronize() {
    let text = "P0: W.rlx x 1; F.rel; W.rlx y 1\nP1: R.rlx y 1; F.acq; W.rlx x 2\n";
    assert_snapshot!(path(Model::C20, text), @r"
-hb-> P1.2: it happens before, by P0.0 -po-> P0.1 -sw-> P1.1 -po-> P1.2
  P0.1 synchronizes with P1.1: P0.1 is a release fence before P0.2, P1.1 is an acquire fence
    after P1.0, and P1.0 reads y from P0.2
");
    assert_snapshot!(path(Model::Relaxed, text), @r"        -hb-> P1.2: P0.0 happens before P1.2");
}

#[test]
fn release_sequences() {
    let updates = "P0: W.rlx x 1; W.rel y 1\nP1: RMW.rlx y 1 2\nP2: R.acq y 2; W.rlx x 2\n";
    assert_snapshot!(path(Model::C20, updates), @r"
-hb-> P2.1: it happens before, by P0.0 -po-> P0.1 -sw-> P2.0 -po-> P2.1
  P0.1 synchronizes with P2.0: P0.1 releases, P2.0 acquires, and P2.0 reads y from P1.0, the
    end of a chain of updates that starts with P0.1
");
    let writes = "P0: W.rlx x 1; W.rel y 1; W.rlx y 2\nP1: R.acq y 2; W.rlx x 2\n";
    assert_snapshot!(path(Model::Rc11, writes), @r"
-hb-> P1.1: it happens before, by P0.0 -po-> P0.1 -sw-> P1.0 -po-> P1.1
  P0.1 synchronizes with P1.0: P0.1 releases, P0.2 is a later write of y there, P1.0
    acquires, and P1.0 reads y from P0.2
");
    assert_snapshot!(path(Model::C20, writes), @r"        -hb-> P1.1: P0.0 happens before P1.1");
}

#[test]
fn spawn_join_and_locks() {
    let threads = "P0: W x 1; SPAWN P1; JOIN P1\nP1: SPAWN P2; JOIN P2; W x 2\nP2: W y 1; W x 3\n";
    assert_snapshot!(path(Model::Relaxed, threads), @r"        -hb-> P2.1: it happens before, by P0.0 -po-> P0.1 -asw-> P1.0 -asw-> P2.0 -po-> P2.1");
    let spawn = "P0: SPAWN P1\nP1: W x 3\n";
    assert_snapshot!(path(Model::Relaxed, spawn), @r"        -hb-> P1.0: P0.0 starts P1");
    let locks = "P0: LOCK m <- init; W x 1; UNLOCK m\nP1: LOCK m <- P0.2; UNLOCK m\nP2: LOCK m <- P1.1; W x 2\n";
    assert_snapshot!(path(Model::Relaxed, locks), @r"
-hb-> P2.1: it happens before, by P0.0 -po-> P0.2 -sw-> P2.0 -po-> P2.1
  P0.2 synchronizes with P2.0, which takes m after its release
");
}

#[test]
fn plain_accesses_do_not_synchronize() {
    let text = "P0: W x 1; W y 1\nP1: R y 1; W x 2\n";
    assert_snapshot!(path(Model::Ra, text), @r"        -hb-> P1.1: P0.0 happens before P1.1");
}

#[test]
fn sources_that_are_open_do_not_synchronize() {
    let text = "P0: W.rlx x 1; W.rel y 1; W.rel y 1\nP1: R.acq y 1; W.rlx x 2\n";
    assert_snapshot!(path(Model::C20, text), @r"        -hb-> P1.1: P0.0 happens before P1.1");
}

#[test]
fn a_long_path_is_cut() {
    let middle: String =
        (1..30).map(|t| format!("P{t}: R.acq y{} 1; W.rel y{t} 1\n", t - 1)).collect();
    let text = format!("P0: W.rlx x 1; W.rel y0 1\n{middle}P30: R.acq y29 1; W.rlx x 2\n");
    assert_snapshot!(path(Model::C20, &text), @r"
-hb-> P30.1: it happens before, by P0.0 -po-> P0.1 -sw-> P1.0 -po-> P1.1 -sw-> P2.0 -po->
  P2.1 -sw-> ... 50 more steps ... P28.0 -po-> P28.1 -sw-> P29.0 -po-> P29.1 -sw-> P30.0
  -po-> P30.1
  P0.1 synchronizes with P1.0: it releases y0, and P1.0 reads that and acquires
  P1.1 synchronizes with P2.0: it releases y1, and P2.0 reads that and acquires
  P2.1 synchronizes with P3.0: it releases y2, and P3.0 reads that and acquires
  P3.1 synchronizes with P4.0: it releases y3, and P4.0 reads that and acquires
  P4.1 synchronizes with P5.0: it releases y4, and P5.0 reads that and acquires
  ... 20 more reasons ...
  P25.1 synchronizes with P26.0: it releases y25, and P26.0 reads that and acquires
  P26.1 synchronizes with P27.0: it releases y26, and P27.0 reads that and acquires
  P27.1 synchronizes with P28.0: it releases y27, and P28.0 reads that and acquires
  P28.1 synchronizes with P29.0: it releases y28, and P29.0 reads that and acquires
  P29.1 synchronizes with P30.0: it releases y29, and P30.0 reads that and acquires
");
}

#[test]
fn a_path_in_a_long_execution() {
    let mut text = String::from("P0: W.rlx x 1; W.rel y 1");
    text.push_str(&"; F.ar; W.rel z 1; R.acq z 1".repeat(30_000));
    text.push_str("\nP1: W.rlx c 0");
    for n in 0..50_000 {
        text.push_str(&format!("; RMW.ar c {n} {}", n + 1));
    }
    text.push_str("; R.acq y 1; W.rlx x 2\n");
    assert_snapshot!(path(Model::Rc11, &text), @r"
-hb-> P1.50002: it happens before, by P0.0 -po-> P0.1 -sw-> P1.50001 -po-> P1.50002
  P0.1 synchronizes with P1.50001: it releases y, and P1.50001 reads that and acquires
");
}

#[test]
fn a_race_of_a_plain_and_an_atomic_access() {
    let execution = parse("P0: W x 1\nP1: R.rlx x 1 <- P0.0\n");
    let violation = Violation::Race {
        first: event(&execution, "P0.0"),
        second: event(&execution, "P1.0"),
        coherence: coherence(&execution, &[&["P0.0"]], &[]),
    };
    assert_snapshot!(explain(&execution, Model::C20, &violation), @r"
P0.0 and P1.0 race on x: W x 1 and R.rlx x 1 are not ordered by happens-before, and W x 1 is not atomic
---
P0.0 and P1.0 race on x: W x 1 and R.rlx x 1 are not ordered by happens-before, and W x 1 is not
  atomic.

  P0.0  W x 1
  P1.0  R.rlx x 1 <- P0.0

The behaviour of a program with such a race is undefined in C, C++ and Rust, so c20 gives no meaning
to this execution.
To order them, hold one lock around each, or let one thread release after its access what the other
acquires before; or make both accesses atomic.
");
    assert_snapshot!(json(&execution, Model::C20, &violation), @r#"{"kind":"race","message":"P0.0 and P1.0 race on x: W x 1 and R.rlx x 1 are not ordered by happens-before, and W x 1 is not atomic","first":"P0.0","second":"P1.0","location":"x"}"#);
}

#[test]
fn a_race_of_plain_accesses() {
    let execution = parse("P0: R x 1 <- P1.0\nP1: W x 1\n");
    let violation = Violation::Race {
        first: event(&execution, "P0.0"),
        second: event(&execution, "P1.0"),
        coherence: coherence(&execution, &[&["P1.0"]], &[]),
    };
    assert_snapshot!(explain::sentence(&execution, Model::Ra, &violation), @r"P0.0 and P1.0 race on x: R x 1 and W x 1 are not ordered by happens-before, and neither is atomic");
}

#[test]
fn a_forbidden_part() {
    let execution = parse("P0: W.sc x 1; R.sc y 0; W.rlx z 1\nP1: W.sc y 1; R.sc x 0\n");
    let violation = Violation::Core { lens: vec![2, 2], size: CoreSize::Minimal };
    assert_snapshot!(explain(&execution, Model::C20, &violation), @r"
no choice of modification orders makes the first 2 events of P0 and all of P1 fit the axioms
---
c20 allows no choice of modification orders for these events, as an exhaustive search found. It does
allow every smaller part of them.

P0           P1
.0 W.sc x 1  .0 W.sc y 1
.1 R.sc y 0  .1 R.sc x 0
");
    let violation = Violation::Core { lens: vec![3, 2], size: CoreSize::Unknown };
    assert_snapshot!(explain::sentence(&execution, Model::Wra, &violation), @r"no choice of sources makes the whole execution fit the axioms");
}

#[test]
fn a_witness_shows_modification_orders() {
    let execution = parse(
        "init: z=5\n\
         P0: W.rlx x 1; F; LOCK m; UNLOCK m; R z 5\n\
         P1: RMW.rlx x 1 2; F; LOCK m; R.rlx x 2\n",
    );
    let orders = || {
        let mo: [&[&str]; 3] = [&[], &["P0.0", "P1.0"], &["P0.2", "P0.3", "P1.2"]];
        let mut orders = coherence(&execution, &mo, &["P0.1", "P1.1"]);
        orders.rf[event(&execution, "P0.3").index()] = Some(event(&execution, "P0.2"));
        orders
    };
    assert_snapshot!(show(&execution, Model::Ra, orders()), @r"
ra allows these reads with the modification orders below:

initially z = 5
P0                 P1
.0 W.rlx x 1       .0 RMW.rlx x 1 2 <- P0.0
.1 F               .1 F
.2 LOCK m <- init  .2 LOCK m <- init
.3 UNLOCK m        .3 R.rlx x 2 <- P1.0
.4 R z 5 <- init

The modification orders, in which all threads see the writes of a location:

  x: init x (0) -> P0.0 (1) -> P1.0 (2)
  m: init m -> P0.2 -> P0.3 -> P1.2

Under ra, each sc fence happens before the next:

  P0.1 -> P1.1
");
    let json = explain::json::witness(&execution, &Witness::Coherence(orders()));
    assert_snapshot!(serde_json::to_string(&json).expect("JSON"), @r#"{"rf":{"P0.2":"init m","P0.3":"P0.2","P0.4":"init z","P1.0":"P0.0","P1.2":"init m","P1.3":"P1.0"},"mo":{"z":["init z"],"x":["init x","P0.0","P1.0"],"m":["init m","P0.2","P0.3","P1.2"]},"fences":["P0.1","P1.1"]}"#);
}

#[test]
fn a_witness_without_modification_orders() {
    let execution = parse("P0: W.rlx x 1\nP1: R.rlx x 1\n");
    let orders = coherence(&execution, &[], &[]);
    let json = explain::json::witness(&execution, &Witness::Coherence(orders.clone()));
    assert_snapshot!(show(&execution, Model::Wra, orders), @r"
wra allows these reads:

P0            P1
.0 W.rlx x 1  .0 R.rlx x 1 <- P0.0
");
    assert_snapshot!(serde_json::to_string(&json).expect("JSON"), @r#"{"rf":{"P1.0":"P0.0"},"mo":{}}"#);
}

#[test]
fn a_long_modification_order_is_cut_in_the_middle() {
    let execution = parse(&format!("P0: W.rlx x 1{}\n", "; W.rlx x 1".repeat(99)));
    let names: Vec<String> = (0..100).map(|at| format!("P0.{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let orders = Witness::Coherence(coherence(&execution, &[&names], &[]));
    let page = Page { lines: 6, ..Page::default() };
    assert_snapshot!(explain::witness(&execution, Model::Ra, &orders, page), @r"
ra allows these reads with the modification orders below:

P0
.0 W.rlx x 1
.1 W.rlx x 1
.2 W.rlx x 1
.3 W.rlx x 1
... 94 more lines ...
.98 W.rlx x 1
.99 W.rlx x 1

The modification orders, in which all threads see the writes of a location:

  x: init x (0) -> P0.0 (1) -> P0.1 (1) -> P0.2 (1) -> ... 95 more writes ... -> P0.98 (1) -> P0.99
    (1)
");
}

#[test]
fn an_empty_execution_is_allowed() {
    let execution = parse("P0:\n");
    let orders = coherence(&execution, &[], &[]);
    assert_snapshot!(show(&execution, Model::C20, orders), @r"There is nothing to do: c20 allows the empty execution.");
}
