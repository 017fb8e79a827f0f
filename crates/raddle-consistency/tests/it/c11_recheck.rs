//! Rechecking evidence under the C11 models: proofs by hand pass, and each flaw in one is named.

use raddle_consistency::history::parse;
use raddle_consistency::recheck::{RecheckError, Rechecked, recheck_coherence, recheck_violation};
use raddle_consistency::reference::enumerate;
use raddle_consistency::witness::{CoreSize, CycleLink, MoFact, Relation, Violation, WhyMo};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::{Axiom, Model};

const PLENTY: usize = 1_000_000;

/// Threads are separated by `|`.
fn execution(history: &str) -> Execution {
    let mut text = "init: x=0 y=0\n".to_owned();
    for (t, events) in history.split('|').enumerate() {
        text += &format!("P{t}: {}\n", events.trim());
    }
    parse(text.as_bytes()).expect("well-formed")
}

fn event(execution: &Execution, name: &str) -> EventId {
    let named = |&event: &EventId| execution.name(event).replace(' ', ".") == name;
    execution.events().find(named).expect("the event exists")
}

/// Links such as `P0.0 po P0.1`, separated by commas; an initial write is `init.x`.
fn links(execution: &Execution, text: &str) -> Vec<CycleLink> {
    let link = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let relation = match words[1] {
            "po" => Relation::Po,
            "asw" => Relation::Asw,
            "rf" => Relation::Rf,
            "rf⁻¹" => Relation::RfInverse,
            "mo" => Relation::Mo,
            "fr" => Relation::Fr,
            "hb" => Relation::Hb,
            other => panic!("no relation: {other}"),
        };
        CycleLink { from: event(execution, words[0]), to: event(execution, words[2]), relation }
    };
    text.split(',').map(link).collect()
}

/// Facts such as `init.x P0.0 hb`, `P0.0 P1.0 read P2.1`, `P0.0 P1.0 update` and
/// `P0.0 P1.0 chains`, separated by commas.
fn facts(execution: &Execution, text: &str) -> Vec<MoFact> {
    let fact = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let why = match words[2] {
            "hb" => WhyMo::HappensBefore,
            "update" => WhyMo::Update,
            "read" => WhyMo::Read { read: event(execution, words[3]) },
            "chains" => WhyMo::Chains,
            other => panic!("no reason: {other}"),
        };
        MoFact { from: event(execution, words[0]), to: event(execution, words[1]), why }
    };
    text.split(',').filter(|text| !text.trim().is_empty()).map(fact).collect()
}

fn recheck(
    history: &str,
    model: Model,
    axiom: Axiom,
    cycle: &str,
    derivation: &str,
) -> Result<Rechecked, RecheckError> {
    let execution = execution(history);
    let (cycle, derivation) = (links(&execution, cycle), facts(&execution, derivation));
    let violation = Violation::Axiom { axiom, cycle, derivation };
    recheck_violation(&execution, model, &violation, PLENTY)
}

/// The proof passes, and the model forbids the execution indeed.
#[track_caller]
fn proves(history: &str, model: Model, axiom: Axiom, cycle: &str, derivation: &str) {
    assert_eq!(recheck(history, model, axiom, cycle, derivation), Ok(Rechecked::Proved));
    assert_eq!(enumerate::allows(&execution(history), model), None);
}

#[track_caller]
fn fails(history: &str, model: Model, axiom: Axiom, cycle: &str, facts: &str, why: &'static str) {
    let expected = Err(RecheckError::Conclusion { why });
    assert_eq!(recheck(history, model, axiom, cycle, facts), expected);
}

#[track_caller]
fn no_fact(history: &str, model: Model, facts: &str, index: usize, why: &'static str) {
    let found = recheck(history, model, Axiom::PoRf, "init.x po P0.0", facts);
    assert_eq!(found, Err(RecheckError::Fact { index, why }));
}

const LB: &str = "R.rlx x 1; W.rlx y 1 | R.rlx y 1; W.rlx x 1";
const LB_CYCLE: &str = "P0.0 po P0.1, P0.1 rf P1.0, P1.0 po P1.1, P1.1 rf P0.0";
const MP: &str = "W.rlx x 1; W.rel y 1 | R.acq y 1; R.rlx x 0";
const CORR: &str = "W.rlx x 1 | R.rlx x 1; R.rlx x 0";
const S: &str = "W.rlx x 2; W.rel y 1 | R.acq y 1; W.rlx x 1 | R.rlx x 1; R.rlx x 2";
const LOST: &str = "RMW.rlx x 0 1 | W.rlx x 2 | R.rlx x 2; R.rlx x 1";
const SB: &str = "W.sc x 1; R.sc y 0 | W.sc y 1; R.sc x 0";
const TWO_UPDATES: &str = "RMW.rlx x 0 1 | RMW.rlx x 0 2";
const TWO_TWO: &str = "W.rlx x 1; W.rlx y 2 | W.rlx y 1; W.rlx x 2 | R.rlx x 2; R.rlx x 1 | \
                       R.rlx y 2; R.rlx y 1";

#[test]
fn cycles_that_the_axioms_forbid_are_proofs() {
    for model in Model::C11 {
        proves(LB, model, Axiom::PoRf, LB_CYCLE, "");
    }
    let happens = "init.x P0.0 hb";
    proves(MP, Model::Rc20, Axiom::ReadCoherence, "P1.1 fr P0.0, P0.0 hb P1.1", happens);
    let seen = "P1.1 fr P0.0, P0.0 rf P1.0, P1.0 hb P1.1";
    proves(CORR, Model::Relaxed, Axiom::ReadCoherence, seen, happens);
    let seen_from_elsewhere = "P0.0 rf P1.0, P1.0 hb P1.1, P1.1 fr P0.0";
    proves(CORR, Model::Relaxed, Axiom::ReadCoherence, seen_from_elsewhere, happens);
    let order = "P1.1 P0.0 read P2.1";
    proves(S, Model::C20, Axiom::WriteCoherence, "P1.1 mo P0.0, P0.0 hb P1.1", order);
    let lost = "init.x P1.0 hb, P1.0 P0.0 read P2.1";
    proves(LOST, Model::Ra, Axiom::Atomicity, "P0.0 fr P1.0, P1.0 mo P0.0", lost);
    let two = "P1.1 P0.0 read P2.1, P0.1 P1.0 read P3.1";
    let common = "P0.0 hb P0.1, P0.1 mo P1.0, P1.0 hb P1.1, P1.1 mo P0.0";
    proves(TWO_TWO, Model::Sra, Axiom::StrongWriteCoherence, common, two);
    let causal = "init.x hb P0.0, P0.0 hb P1.1, P1.1 rf⁻¹ init.x";
    proves(MP, Model::Wra, Axiom::WeakReadCoherence, causal, "");
    let shared = "init.x rf P0.0, init.x rf P1.0";
    proves(TWO_UPDATES, Model::Wra, Axiom::WeakAtomicity, shared, "");
}

#[test]
fn sequentially_consistent_events_in_a_cycle_are_a_proof() {
    let cycle = "P0.0 po P0.1, P0.1 fr P1.0, P1.0 po P1.1, P1.1 fr P0.0";
    let derivation = "init.x P0.0 hb, init.y P1.0 hb";
    for model in [Model::Rc11, Model::C20] {
        proves(SB, model, Axiom::SeqCst, cycle, derivation);
    }
    let fences = "W.rlx x 1; F.sc; R.rlx y 0 | W.rlx y 1; F.sc; R.rlx x 0";
    let cycle =
        "P0.1 hb P0.2, P0.2 fr P1.0, P1.0 hb P1.1, P1.1 hb P1.2, P1.2 fr P0.0, P0.0 hb P0.1";
    proves(fences, Model::C20, Axiom::SeqCst, cycle, derivation);
}

#[test]
fn no_write_comes_between_the_writes_of_a_chain() {
    // 3 before 1, so before its update 2, so before the update 4 of that.
    let history = "W.rlx x 1 | RMW.rlx x 1 2; RMW.rlx x 2 4 | W.rlx x 3 | R.rlx x 3; R.rlx x 1 | \
                   R.rlx x 4; R.rlx x 3";
    let derivation = "P2.0 P0.0 read P3.1, P2.0 P1.1 chains, P1.1 P2.0 read P4.1";
    proves(history, Model::Relaxed, Axiom::WriteCoherence, "P2.0 mo P2.0", derivation);
    proves(
        history,
        Model::Relaxed,
        Axiom::WriteCoherence,
        "P2.0 mo P1.1, P1.1 mo P2.0",
        derivation,
    );
    // Of two updates of one write each comes before the other.
    let derivation = "init.x P0.0 update, init.x P1.0 update, P0.0 P1.0 chains";
    let cycle = "P1.0 fr P0.0, P0.0 mo P1.0";
    proves(TWO_UPDATES, Model::Ra, Axiom::Atomicity, cycle, derivation);
}

#[test]
fn a_cycle_must_hold_and_close_and_be_forbidden() {
    let link = "a link of the cycle does not hold";
    let happens = "init.x P0.0 hb";
    fails(LB, Model::Ra, Axiom::PoRf, &LB_CYCLE.replace("P1.1 rf P0.0", "P1.1 rf P1.0"), "", link);
    fails(MP, Model::Rc20, Axiom::ReadCoherence, "P1.1 fr P0.0, P0.0 hb P1.1", "", link);
    fails(MP, Model::Relaxed, Axiom::ReadCoherence, "P1.1 fr P0.0, P0.0 hb P1.1", happens, link);
    fails(MP, Model::Rc20, Axiom::PoRf, "P0.0 asw P0.1, P0.1 po P0.0", "", link);
    fails(MP, Model::Wra, Axiom::PoRf, "P1.0 rf⁻¹ P1.1, P1.1 po P1.0", "", link);
    let open = "the cycle does not close";
    fails(LB, Model::Ra, Axiom::PoRf, "P0.0 po P0.1, P0.1 rf P1.0, P1.0 po P1.1", "", open);
    let other = "the axiom does not forbid such a cycle";
    fails(MP, Model::Rc20, Axiom::WriteCoherence, "P1.1 fr P0.0, P0.0 hb P1.1", happens, other);
    fails(MP, Model::Rc20, Axiom::PoRf, "P1.1 fr P0.0, P0.0 hb P1.1", happens, other);
    fails(MP, Model::C20, Axiom::SeqCst, "P1.1 fr P0.0, P0.0 hb P1.1", happens, other);
    let twice = "init.x rf P0.0, init.x rf P0.0";
    fails(TWO_UPDATES, Model::Wra, Axiom::WeakAtomicity, twice, "", other);
    let elsewhere = "init.x hb P0.1, P0.1 hb P1.1, P1.1 rf⁻¹ init.x";
    fails(MP, Model::Wra, Axiom::WeakReadCoherence, elsewhere, "", other);
    let read = "init.x hb P0.1, P0.1 hb P0.2, P0.2 rf⁻¹ init.x";
    fails("W.rlx y 1; R.rlx x 0; R.rlx x 0", Model::Wra, Axiom::WeakReadCoherence, read, "", other);
    let missing = "the model has no such axiom";
    fails(SB, Model::Relaxed, Axiom::SeqCst, "P0.0 po P0.1", "", missing);
    fails(MP, Model::Ra, Axiom::WeakReadCoherence, "P0.0 po P0.1", "", missing);
    // A read with several possible sources counts for none of them.
    let either = "P0.0 rf P2.0, P2.0 po P2.1, P2.1 rf P0.0";
    fails("W x 1 | W x 1 | R x 1; W y 1", Model::Ra, Axiom::PoRf, either, "", link);
}

#[test]
fn facts_follow_by_their_rules() {
    let not_two = "it is not about two writes of one location";
    no_fact(S, Model::Ra, "P0.0 P0.1 hb", 0, not_two);
    no_fact(S, Model::Ra, "P0.0 P2.0 hb", 0, not_two);
    no_fact(S, Model::Ra, "P0.0 P0.0 hb", 0, not_two);
    no_fact(MP, Model::Wra, "init.x P0.0 hb", 0, "the model has no modification orders");
    no_fact(S, Model::Ra, "init.x P0.0 hb, P1.1 P0.0 hb", 1, "it does not happen before");
    no_fact(LOST, Model::Ra, "P1.0 P0.0 update", 0, "it is not observed by the update");
    no_fact(LOST, Model::Ra, "init.x P1.0 update", 0, "it is not observed by the update");
    no_fact(LOST, Model::Ra, "P0.0 P1.0 read P2.1", 0, "the read does not see both");
    no_fact(LOST, Model::Ra, "P0.0 P1.0 read P2.0", 0, "the read does not see both");
    no_fact(LOST, Model::Ra, "P1.0 P0.0 chains", 0, "no earlier fact orders the chains");
    let chain = "RMW.rlx x 0 1; RMW.rlx x 1 2";
    let backwards = "init.x P0.0 update, P0.1 P0.0 chains";
    no_fact(chain, Model::Ra, backwards, 1, "no earlier fact orders the chains");
    // An update is no read of another write before itself.
    let early = "R.rlx x 1; RMW.rlx x 0 1";
    no_fact(early, Model::Ra, "P0.1 init.x read P0.1", 0, "the read does not see both");
    no_fact(LOST, Model::Ra, "P0.0 init.x read P0.0", 0, "the read does not see both");
}

#[test]
fn the_order_of_fences_proves_nothing() {
    let fences = "W.rlx x 1; F.sc; R.rlx y 0 | W.rlx y 1; F.sc; R.rlx x 0";
    let cycle = "P1.2 fr P0.0, P0.0 hb P1.2";
    let reason = "a link of the cycle does not hold";
    fails(fences, Model::Ra, Axiom::ReadCoherence, cycle, "init.x P0.0 hb", reason);
}

#[test]
fn a_race_needs_a_consistent_execution_and_unordered_accesses() {
    let racy = execution("W.na x 1; W.rlx y 1 | R.rlx y 1; R.na x 1");
    let coherence = enumerate::allows(&racy, Model::C20).expect("consistent");
    let race = |first: &str, second: &str, coherence: &Coherence| {
        let (first, second) = (event(&racy, first), event(&racy, second));
        let violation = Violation::Race { first, second, coherence: coherence.clone() };
        recheck_violation(&racy, Model::C20, &violation, PLENTY)
    };
    let no_race = Err(RecheckError::Conclusion { why: "the two events do not race" });
    assert_eq!(race("P0.0", "P1.1", &coherence), Ok(Rechecked::Proved));
    assert_eq!(race("P1.1", "P0.0", &coherence), no_race);
    assert_eq!(race("P0.1", "P1.0", &coherence), no_race);
    assert_eq!(race("P0.0", "P1.0", &coherence), no_race);
    assert_eq!(race("init.x", "P1.1", &coherence), no_race);
    let empty = Coherence { rf: vec![], mo: vec![], fences: vec![] };
    assert!(matches!(race("P0.0", "P1.1", &empty), Err(RecheckError::Malformed { .. })));
}

#[test]
fn a_core_is_searched_under_its_model() {
    let lb = execution(LB);
    let core = |lens: &[usize], budget| {
        let violation = Violation::Core { lens: lens.to_vec(), size: CoreSize::Unknown };
        recheck_violation(&lb, Model::Relaxed, &violation, budget)
    };
    assert_eq!(core(&[2, 2], PLENTY), Ok(Rechecked::Proved));
    assert_eq!(core(&[2, 2], 0), Ok(Rechecked::TooLarge));
    let allowed = RecheckError::Conclusion { why: "the core is allowed" };
    assert_eq!(core(&[0, 0], PLENTY), Err(allowed));
}

#[test]
fn evidence_of_machines_is_not_for_axioms_nor_the_other_way_round() {
    let lb = execution(LB);
    let (cycle, derivation) = (links(&lb, LB_CYCLE), vec![]);
    let violation = Violation::Axiom { axiom: Axiom::PoRf, cycle, derivation };
    let found = recheck_violation(&lb, Model::Tso, &violation, PLENTY);
    assert_eq!(found, Err(RecheckError::OtherModel));
    let machine = Violation::Cycle { cycle: vec![], derivation: vec![] };
    let found = recheck_violation(&lb, Model::Ra, &machine, PLENTY);
    assert_eq!(found, Err(RecheckError::OtherModel));
    let coherence = Coherence { rf: vec![], mo: vec![], fences: vec![] };
    assert_eq!(recheck_coherence(&lb, Model::Pso, &coherence), Err(RecheckError::OtherModel));
}

#[test]
fn a_witness_that_breaks_an_axiom_is_refused_with_the_cycle() {
    let execution = execution("W.rlx x 1; W.rlx x 2 | R.rlx x 2");
    let mut coherence = enumerate::allows(&execution, Model::Ra).expect("consistent");
    coherence.mo[0].swap(1, 2);
    let error = recheck_coherence(&execution, Model::Ra, &coherence).expect_err("broken");
    assert_eq!(error.to_string(), "the witness breaks write-coherence: P0.1 -> P0.0 -> P0.0");
    coherence.mo[0].pop();
    let error = recheck_coherence(&execution, Model::Ra, &coherence).expect_err("malformed");
    let why = "a modification order is not one of the location's writes, initial write first";
    assert_eq!(error.to_string(), format!("the witness is malformed: {why}"));
}
