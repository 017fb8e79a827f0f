//! Litmus tests under SC and the C11 models: exact verdicts, known from the literature.
//!
//! A shape is a history with `|` between threads and `?` for memory orders; a row fills in the
//! orders, with `-` for a fence that is not there, and names the models that allow it. SRA, RA and
//! WRA take every atomic access for a release or an acquire, `relaxed` takes it for relaxed.

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::history::parse;
use raddle_consistency::recheck::{Rechecked, recheck_coherence};
use raddle_consistency::reference::enumerate;
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::execution::Execution;
use raddle_core::model::{Model, race};

use raddle_testkit::axiomatic::MODELS;

const ALL: &str = "sc sra ra wra rc20 relaxed rc11 c20";
const NONE: &str = "";
const RELAXED: &str = "relaxed";
/// Weak under every model but SC.
const WEAK: &str = "sra ra wra rc20 relaxed rc11 c20";
/// The same without SRA.
const NO_COMMON_ORDER: &str = "ra wra rc20 relaxed rc11 c20";
/// Not synchronized, where orders count.
const UNSYNCHRONIZED: &str = "rc20 relaxed rc11 c20";
/// Only the order of sequentially consistent accesses forbids it.
const SEQ_CST: &str = "sra ra wra rc20 relaxed";
/// The same without SRA.
const SEQ_CST_OR_SRA: &str = "ra wra rc20 relaxed";

/// The history of a shape with these orders.
fn execution(shape: &str, orders: &str) -> Execution {
    let mut orders = orders.split_whitespace();
    let mut text = "init: x=0 y=0 z=0\n".to_owned();
    for (t, thread) in shape.split('|').enumerate() {
        let events: Vec<String> =
            thread.split(';').filter_map(|event| fill(event.trim(), &mut orders)).collect();
        text += &format!("P{t}: {}\n", events.join("; "));
    }
    assert_eq!(orders.next(), None, "{shape} has fewer orders");
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error:?} in\n{text}"))
}

/// The event with its order, if it is there.
fn fill<'a>(event: &str, orders: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    if !event.contains('?') {
        return Some(event.to_owned());
    }
    let order = orders.next().expect("an order for every ?");
    (order != "-").then(|| event.replacen('?', order, 1))
}

#[track_caller]
fn rows(shape: &str, rows: &[(&str, &str)]) {
    for (orders, allowed) in rows {
        let execution = execution(shape, orders);
        let allowing: Vec<&str> = MODELS
            .into_iter()
            .filter(|&model| verdict(&execution, model))
            .map(Model::name)
            .collect();
        assert_eq!(allowing.join(" "), *allowed, "who allows {shape} with {orders}");
    }
}

/// Whether the model allows the execution, as everybody says who can tell.
fn verdict(execution: &Execution, model: Model) -> bool {
    let found = enumerate::allows(execution, model);
    if let Some(coherence) = &found {
        assert_eq!(recheck_coherence(execution, model, coherence), Ok(Rechecked::Proved));
    }
    let checked = match check(execution, model, &CheckOptions::default()) {
        ConsistencyVerdict::Consistent(_) => true,
        ConsistencyVerdict::Inconsistent(violation) => matches!(violation, Violation::Race { .. }),
        ConsistencyVerdict::Unknown { steps } => panic!("{model} was given up after {steps} steps"),
    };
    assert_eq!(checked, found.is_some(), "the checker of {model}");
    found.is_some()
}

#[test]
fn store_buffering() {
    rows(
        "W.? x 1; F.?; R.? y 0 | W.? y 1; F.?; R.? x 0",
        &[
            ("rlx - rlx rlx - rlx", WEAK),
            ("rel - acq rel - acq", WEAK),
            ("na - na na - na", WEAK),
            ("sc - sc sc - sc", SEQ_CST),
            ("sc - sc sc - acq", WEAK),
            ("sc - sc rlx - sc", WEAK),
            ("sc - rlx sc - rlx", WEAK),
            ("rlx - sc rlx - sc", WEAK),
            ("rlx sc rlx rlx sc rlx", RELAXED),
            ("rel sc acq rel sc acq", RELAXED),
            ("na sc na na sc na", RELAXED),
            ("rlx sc rlx rlx - rlx", WEAK),
            ("rlx sc rlx rlx ar rlx", WEAK),
            ("rlx ar rlx rlx ar rlx", WEAK),
            ("rlx rel rlx rlx acq rlx", WEAK),
            ("sc - sc rlx sc rlx", SEQ_CST),
            ("sc - sc rlx ar rlx", WEAK),
            ("sc - acq rlx sc rlx", WEAK),
            ("rel - sc rlx sc rlx", WEAK),
        ],
    );
    rows(
        "RMW.? x 0 1; R.? y 0 | RMW.? y 0 1; R.? x 0",
        &[
            ("rlx rlx rlx rlx", WEAK),
            ("ar acq ar acq", WEAK),
            ("sc sc sc sc", SEQ_CST),
            ("sc acq sc acq", WEAK),
        ],
    );
    // The updates come before the stores that they do not see.
    rows(
        "W.? x 1; RMW.? y 0 2 | W.? y 1; RMW.? x 0 2",
        &[
            ("rlx rlx rlx rlx", NO_COMMON_ORDER),
            ("rel ar rel ar", NO_COMMON_ORDER),
            ("sc sc sc sc", SEQ_CST_OR_SRA),
        ],
    );
    rows(
        "W.? x 1; R.? y 0 | W.? y 1; R.? z 0 | W.? z 1; R.? x 0",
        &[("rlx rlx rlx rlx rlx rlx", WEAK), ("sc sc sc sc sc sc", SEQ_CST)],
    );
}

#[test]
fn message_passing() {
    rows(
        "W.? x 1; F.?; W.? y 1 | R.? y 1; F.?; R.? x 0",
        &[
            ("rlx - rlx rlx - rlx", UNSYNCHRONIZED),
            ("rlx - rel acq - rlx", RELAXED),
            ("rlx - rel rlx - rlx", UNSYNCHRONIZED),
            ("rlx - rlx acq - rlx", UNSYNCHRONIZED),
            ("rel - rlx acq - acq", UNSYNCHRONIZED),
            ("rlx - rel rlx - acq", UNSYNCHRONIZED),
            ("rlx - sc sc - rlx", RELAXED),
            ("rlx - sc acq - rlx", RELAXED),
            ("rlx - rel sc - rlx", RELAXED),
            ("sc - rlx rlx - sc", UNSYNCHRONIZED),
            ("sc - sc sc - sc", RELAXED),
            ("rlx rel rlx acq - rlx", RELAXED),
            ("rlx - rel rlx acq rlx", RELAXED),
            ("rlx rel rlx rlx acq rlx", RELAXED),
            ("rlx ar rlx rlx ar rlx", RELAXED),
            ("rlx sc rlx rlx sc rlx", RELAXED),
            ("rlx sc rlx acq - rlx", RELAXED),
            ("rlx - rel rlx sc rlx", RELAXED),
            ("rlx sc rlx rlx - rlx", UNSYNCHRONIZED),
            ("rlx - rlx rlx sc rlx", UNSYNCHRONIZED),
            ("rlx acq rlx rlx acq rlx", UNSYNCHRONIZED),
            ("rlx rel rlx rlx rel rlx", UNSYNCHRONIZED),
            ("rlx acq rlx acq - rlx", UNSYNCHRONIZED),
            ("rlx ss rlx acq - rlx", RELAXED),
            ("rlx ss rlx rlx ss rlx", UNSYNCHRONIZED),
            ("na - rel acq - na", RELAXED),
            ("na - rlx rlx - na", UNSYNCHRONIZED),
            ("na rel rlx acq - na", RELAXED),
            // Non-atomic accesses do not synchronize, not even with fences around them.
            ("na - na na - na", WEAK),
            ("rlx - na acq - rlx", WEAK),
            ("rlx - rel na - rlx", WEAK),
            ("na rel na na acq na", WEAK),
            ("na sc na na sc na", RELAXED),
        ],
    );
    // The update that sees the flag acquires, too.
    rows(
        "W.? x 1; W.? y 1 | RMW.? y 1 2; R.? x 0",
        &[
            ("rlx rel acq rlx", RELAXED),
            ("rlx rel ar rlx", RELAXED),
            ("rlx rel rel rlx", UNSYNCHRONIZED),
            ("rlx rel rlx rlx", UNSYNCHRONIZED),
        ],
    );
    rows(
        "W.? x 1; W.? y 1 | CAS.? y 0 2 failed 1; R.? x 0",
        &[("rlx rel acq rlx", RELAXED), ("rlx rel rlx rlx", UNSYNCHRONIZED)],
    );
}

#[test]
fn release_sequences() {
    let after_update = "W.rlx x 1; W.? y 1 | RMW.? y 1 2 | R.? y 2; R.rlx x 0";
    rows(
        after_update,
        &[
            ("rel rlx acq", RELAXED),
            ("rel rel acq", RELAXED),
            ("rlx ar acq", UNSYNCHRONIZED),
            ("rel rlx rlx", UNSYNCHRONIZED),
            ("rel acq acq", RELAXED),
        ],
    );
    rows(
        "W.rlx x 1; W.rel y 1 | RMW.rlx y 1 2 | RMW.rlx y 2 3 | R.acq y 3; R.rlx x 0",
        &[("", RELAXED)],
    );
    rows(
        "W.rlx x 1; W.rel y 1 | R.rlx y 1; W.rlx y 2 | R.acq y 2; R.rlx x 0",
        &[("", UNSYNCHRONIZED)],
    );
    // A later store of the same thread continues the release sequence of C11, not that of C++20.
    rows(
        "W.rlx x 1; W.? y 1; W.? y 2 | R.? y 2; R.rlx x 0",
        &[
            ("rel rlx acq", "rc20 relaxed c20"),
            ("sc rlx acq", "rc20 relaxed c20"),
            ("rel rlx rlx", UNSYNCHRONIZED),
            ("rlx rlx acq", UNSYNCHRONIZED),
            ("rlx rel acq", RELAXED),
            ("rel na acq", WEAK),
        ],
    );
    rows(
        "W.rlx x 1; W.rel y 1; W.rlx y 2 | RMW.rlx y 2 3 | R.acq y 3; R.rlx x 0",
        &[("", "rc20 relaxed c20")],
    );
    rows(
        "W.rlx x 1; RMW.? y 0 1; W.rlx y 2 | R.acq y 2; R.rlx x 0",
        &[("rel", "rc20 relaxed c20"), ("rlx", UNSYNCHRONIZED)],
    );
    rows(
        "W.rlx x 1; F.?; W.rlx z 1; W.rlx y 1; W.rlx y 2 | R.acq y 2; R.rlx x 0",
        &[("rel", RELAXED), ("acq", UNSYNCHRONIZED)],
    );
}

#[test]
fn load_buffering() {
    rows(
        "R.? x 1; W.? y 1 | R.? y 1; W.? x 1",
        &[
            ("rlx rlx rlx rlx", NONE),
            ("acq rel acq rel", NONE),
            ("sc sc sc sc", NONE),
            ("na na na na", NONE),
        ],
    );
    rows("RMW.rlx x 1 2; W.rlx y 1 | RMW.rlx y 1 2; W.rlx x 1", &[("", NONE)]);
    rows("R.rlx x 1; W.rlx y 1 | R.rlx y 1; W.rlx x 2", &[("", NONE)]);
    rows("R.rlx x 0; W.rlx y 1 | R.rlx y 1; W.rlx x 1", &[("", ALL)]);
}

#[test]
fn independent_reads_of_independent_writes() {
    rows(
        "W.? x 1 | W.? y 1 | R.? x 1; F.?; R.? y 0 | R.? y 1; F.?; R.? x 0",
        &[
            ("rlx rlx rlx - rlx rlx - rlx", WEAK),
            ("rel rel acq - acq acq - acq", WEAK),
            ("sc sc sc - sc sc - sc", SEQ_CST),
            ("sc sc acq - sc acq - sc", WEAK),
            ("sc sc sc - acq sc - acq", WEAK),
            ("rel rel sc - sc sc - sc", WEAK),
            ("sc rel sc - sc sc - sc", WEAK),
            ("rlx rlx rlx sc rlx rlx sc rlx", RELAXED),
            ("rlx rlx rlx sc rlx rlx - rlx", WEAK),
            ("rlx rlx rlx ar rlx rlx ar rlx", WEAK),
            ("rlx rlx rlx sc rlx rlx ar rlx", WEAK),
            ("sc sc sc sc sc sc - sc", SEQ_CST),
            ("sc sc sc - sc rlx sc rlx", SEQ_CST),
        ],
    );
}

#[test]
fn two_plus_two_writes() {
    rows(
        "W.? x 1; F.?; W.? y 2 | W.? y 1; F.?; W.? x 2 | R.rlx x 2; R.rlx x 1 | R.rlx y 2; R.rlx y 1",
        &[
            ("rlx - rlx rlx - rlx", NO_COMMON_ORDER),
            ("rel - rel rel - rel", NO_COMMON_ORDER),
            ("rlx rel rlx rlx rel rlx", NO_COMMON_ORDER),
            ("rlx ar rlx rlx ar rlx", NO_COMMON_ORDER),
            ("sc - sc sc - sc", SEQ_CST_OR_SRA),
            ("sc - sc sc - rlx", NO_COMMON_ORDER),
            ("rlx sc rlx rlx sc rlx", RELAXED),
            ("rlx sc rlx rlx - rlx", NO_COMMON_ORDER),
            ("sc - sc rlx sc rlx", SEQ_CST_OR_SRA),
            ("sc - rel rlx sc rlx", NO_COMMON_ORDER),
        ],
    );
}

#[test]
fn a_store_after_message_passing() {
    rows(
        "W.? x 2; F.?; W.? y 1 | R.? y 1; F.?; W.? x 1 | R.rlx x 1; R.rlx x 2",
        &[
            ("rlx - rlx rlx - rlx", UNSYNCHRONIZED),
            ("rlx - rel acq - rlx", RELAXED),
            ("rlx - rel rlx - rlx", UNSYNCHRONIZED),
            ("rlx - rlx acq - rel", UNSYNCHRONIZED),
            ("rlx rel rlx rlx acq rlx", RELAXED),
            ("rlx rel rlx acq - rlx", RELAXED),
            ("rlx sc rlx rlx sc rlx", RELAXED),
            ("sc - sc sc - sc", RELAXED),
        ],
    );
}

#[test]
fn a_read_after_two_writes() {
    rows(
        "W.? x 1; F.?; W.? y 1 | W.? y 2; F.?; R.? x 0 | R.rlx y 1; R.rlx y 2",
        &[
            ("rlx - rlx rlx - rlx", WEAK),
            ("rel - rel rel - acq", WEAK),
            ("sc - sc sc - sc", SEQ_CST),
            ("rlx - sc sc - sc", WEAK),
            ("rlx sc rlx rlx sc rlx", RELAXED),
            ("rlx sc rlx rlx - rlx", WEAK),
            ("rlx ar rlx rlx ar rlx", WEAK),
            ("rlx sc rlx sc - sc", SEQ_CST),
            ("sc - sc rlx sc rlx", SEQ_CST),
            ("sc - rlx rlx sc rlx", WEAK),
        ],
    );
}

#[test]
fn write_to_read_causality() {
    rows(
        "W.? x 1 | R.? x 1; F.?; W.? y 1 | R.? y 1; F.?; R.? x 0",
        &[
            ("rlx rlx - rlx rlx - rlx", UNSYNCHRONIZED),
            ("rel acq - rel acq - acq", RELAXED),
            ("rlx rlx - rel acq - rlx", RELAXED),
            ("rel acq - rlx acq - rlx", UNSYNCHRONIZED),
            ("rel acq - rel rlx - rlx", UNSYNCHRONIZED),
            ("rlx rlx rel rlx rlx acq rlx", RELAXED),
            ("rlx rlx sc rlx rlx sc rlx", RELAXED),
            ("sc sc - sc sc - sc", RELAXED),
            // Without modification orders nothing orders the non-atomic store.
            ("na na - rel acq - na", "wra relaxed"),
        ],
    );
    rows(
        "W.? x 1; W.? y 1 | R.? y 1; W.? z 1 | R.? z 1; R.? x 0",
        &[
            ("rlx rlx rlx rlx rlx rlx", UNSYNCHRONIZED),
            ("rlx rel acq rel acq rlx", RELAXED),
            ("rlx rlx acq rel acq rlx", UNSYNCHRONIZED),
            ("rlx rel rlx rel acq rlx", UNSYNCHRONIZED),
            ("rlx rel acq rlx acq rlx", UNSYNCHRONIZED),
            ("rlx rel acq rel rlx rlx", UNSYNCHRONIZED),
            ("sc sc sc sc sc sc", RELAXED),
        ],
    );
}

#[test]
fn read_to_write_causality() {
    rows(
        "W.? x 1 | R.? x 1; F.?; R.? y 0 | W.? y 1; F.?; R.? x 0",
        &[
            ("rlx rlx - rlx rlx - rlx", WEAK),
            ("rel acq - acq rel - acq", WEAK),
            ("sc sc - sc sc - sc", SEQ_CST),
            ("rel acq - sc sc - sc", WEAK),
            ("sc acq - sc sc - sc", WEAK),
            ("rlx rlx sc rlx rlx sc rlx", RELAXED),
            ("rlx rlx sc rlx rlx - rlx", WEAK),
            ("rlx rlx - rlx rlx sc rlx", WEAK),
        ],
    );
    rows(
        "W.? x 1; W.? y 1 | R.? y 1; F.?; R.? z 0 | W.? z 1; F.?; R.? x 0",
        &[
            ("rlx rlx rlx - rlx rlx - rlx", WEAK),
            ("rlx rel acq - acq rel - acq", WEAK),
            ("sc sc sc - sc sc - sc", SEQ_CST),
            ("sc rel acq - sc sc - sc", SEQ_CST),
            ("sc rlx acq - sc sc - sc", WEAK),
            ("rlx rel acq sc rlx rlx sc rlx", RELAXED),
            ("rlx rel rlx sc rlx rlx sc rlx", RELAXED),
            ("rlx rlx rlx sc rlx rlx sc rlx", UNSYNCHRONIZED),
            ("rlx rel acq - rlx rlx sc rlx", WEAK),
        ],
    );
}

/// Non-atomic reads do not synchronize, but nothing happens before what it observes.
#[test]
fn non_atomic_reads_order_fences() {
    rows(
        "R.na a 1; F.sc; R.rlx x 0 | W.rlx x 1; F.sc; W.na b 1 | R.na b 1; F.sc; R.rlx z 0 | \
         W.rlx z 1; F.sc; W.na a 1",
        &[("", RELAXED)],
    );
}

/// What `psc` counts, and what it does not.
#[test]
fn sequentially_consistent_accesses_and_fences_in_between() {
    rows(
        "W.sc x 1 | R.? x 1; F.sc; R.rlx y 0 | W.sc y 1; R.sc x 0",
        &[("acq", SEQ_CST), ("rlx", SEQ_CST)],
    );
    rows(
        "W.rlx z 1; F.sc; W.? x 1 | R.sc x 1; R.sc y 0 | W.sc y 1; R.sc z 0",
        &[("rel", SEQ_CST), ("rlx", SEQ_CST)],
    );
    // Happens-before counts only if it leaves the location at both ends.
    rows(
        "W.sc x 1; W.? x 2; W.? z 1 | R.? x 2; R.? z 1; R.sc y 0 | W.sc y 1; R.sc x 0",
        &[("rel - acq -", WEAK), ("rlx rel - acq", SEQ_CST)],
    );
    rows(
        "W.sc y 1; R.sc x 0 | W.sc x 1; W.? z 1; W.? y 2 | R.? z 1; R.? y 2; R.sc y 2; R.sc w 0 | W.sc w 1; R.sc y 0",
        &[("rel rlx acq rlx", SEQ_CST)],
    );
    rows(
        "W.sc y 1; W.? x 1 | R.? x 1; R.sc x 1 | W.sc x 2; R.sc y 0 | R.rlx x 1; R.rlx x 2",
        &[("rel acq", WEAK), ("sc acq", SEQ_CST)],
    );
    // From a fence over two writes of a chain to a read of the second.
    rows(
        "W.rlx y 1; F.sc; W.rel z 1 | R.acq z 1; W.rlx x 1 | RMW.rlx x 1 2 | R.rlx x 2; F.?; R.rlx y 0",
        &[("sc", RELAXED), ("acq", UNSYNCHRONIZED)],
    );
}

#[test]
fn cycles_of_all_three_edges() {
    rows(
        "W.? x 1; W.? y 1 | R.? y 1; W.? z 1 | W.? z 2; F.?; R.? x 0 | R.rlx z 1; R.rlx z 2",
        &[
            ("rlx rlx rlx rlx rlx - rlx", WEAK),
            ("rlx rel acq rel rel - acq", WEAK),
            ("sc sc sc sc sc - sc", SEQ_CST),
            ("sc rel acq sc sc - sc", SEQ_CST),
            ("sc rlx acq sc sc - sc", WEAK),
            ("sc rel acq sc rlx sc rlx", SEQ_CST),
        ],
    );
    // A detour by hb counts only if it starts and ends at another location.
    rows(
        "W.? x 1; W.? x 2 | R.? x 2; R.? z 0 | W.? z 1; R.? x 0",
        &[("sc rel acq sc sc sc", WEAK), ("sc sc sc sc sc sc", SEQ_CST)],
    );
    // Z6.U, which the compilation to Power made RC11 allow.
    rows(
        "W.? x 1; W.? y 1 | RMW.? y 1 2; R.rlx y 3 | W.? y 3; R.? x 0",
        &[("sc rel sc sc sc", WEAK), ("sc sc sc sc sc", SEQ_CST), ("rlx rlx rlx rlx rlx", WEAK)],
    );
}

#[test]
fn coherence() {
    rows(
        "W.? x 1 | R.? x 1; R.? x 0",
        &[("rlx rlx rlx", NONE), ("sc sc sc", NONE), ("na na na", "wra")],
    );
    rows(
        "W.? x 1 | W.? x 2 | R.? x 1; R.? x 2 | R.? x 2; R.? x 1",
        &[("rlx rlx rlx rlx rlx rlx", "wra"), ("rel rel acq acq acq acq", "wra")],
    );
    rows(
        "W.? x 1; W.? x 2 | R.? x 2; R.? x 1",
        &[("rlx rlx rlx rlx", NONE), ("na na na na", "wra")],
    );
    rows("W.? x 1; R.? x 0", &[("rlx rlx", NONE), ("na na", NONE)]);
    rows("W.rlx x 1; R.rlx x 2 | W.rlx x 2 | R.rlx x 2; R.rlx x 1", &[("", "wra")]);
    rows("W.rlx x 1; R.rlx x 2; R.rlx x 1 | W.rlx x 2", &[("", "wra")]);
    rows("R.rlx x 1; W.rlx x 1", &[("", NONE)]);
    rows("R.rlx x 2; W.rlx x 1 | W.rlx x 2 | R.rlx x 1; R.rlx x 2", &[("", NONE)]);
    rows("W.rlx x 1; W.rlx x 2; R.rlx x 1", &[("", NONE)]);
    rows("W.rlx x 1 | R.rlx x 2", &[("", NONE)]);
}

#[test]
fn updates_are_atomic() {
    rows("RMW.? x 0 1 | RMW.? x 0 2", &[("rlx rlx", NONE), ("sc sc", NONE)]);
    rows("RMW.rlx x 0 1 | RMW.rlx x 1 2", &[("", ALL)]);
    rows("RMW.rlx x 0 1 | W.rlx x 2", &[("", ALL)]);
    rows("RMW.rlx x 0 1 | W.rlx x 2 | R.rlx x 2; R.rlx x 1", &[("", "wra")]);
    rows("RMW.rlx x 0 1 | W.rlx x 2 | R.rlx x 1; R.rlx x 2", &[("", ALL)]);
    rows("W.rlx x 1; RMW.rlx x 0 2", &[("", NONE)]);
    rows("RMW.rlx x 0 1; R.rlx x 0", &[("", NONE)]);
    rows("CAS.rlx x 0 1 | CAS.rlx x 0 2 failed 1", &[("", ALL)]);
    rows("CAS.rlx x 0 1 | CAS.rlx x 0 2 failed 0", &[("", ALL)]);
    rows("RMW.rlx x 0 1 | RMW.rlx x 1 2 | R.rlx x 2; R.rlx x 0", &[("", NONE)]);
    rows("RMW.rlx x 0 1; R.rlx x 1 | RMW.rlx x 1 1", &[("", ALL)]);
    // Two updates in a cycle, and one that could only observe itself.
    rows("RMW.rlx x 2 1 | RMW.rlx x 1 2", &[("", NONE)]);
    rows("RMW.rlx x 7 7", &[("", NONE)]);
}

#[test]
fn locks_synchronize_under_every_model() {
    let data = "LOCK m; W.na x 1; UNLOCK m | LOCK m <- P0.2; R.na x 0; UNLOCK m";
    rows(data, &[("", NONE)]);
    rows("LOCK m; W.na x 1; UNLOCK m | LOCK m; R.na x 0; UNLOCK m", &[("", ALL)]);
    rows("LOCK m; W.na x 1; UNLOCK m | LOCK m <- P0.2; R.na x 1; UNLOCK m", &[("", ALL)]);
    rows(
        "LOCK m; W.na x 1; R.na y 0; UNLOCK m | LOCK m; W.na y 1; R.na x 0; UNLOCK m",
        &[("", NONE)],
    );
    rows("LOCK m | LOCK m", &[("", NONE)]);
    rows("LOCK m; UNLOCK m | LOCK m", &[("", ALL)]);
    rows("LOCK m | LOCK m; UNLOCK m | LOCK m; UNLOCK m", &[("", ALL)]);
    // The critical section of P2 is between those of P0, whose data it does not see.
    rows(
        "LOCK m; W.na x 1; UNLOCK m | LOCK m <- P0.2; UNLOCK m | LOCK m <- P1.1; R.na x 0",
        &[("", NONE)],
    );
}

#[test]
fn spawn_and_join_synchronize_under_every_model() {
    rows("W.na x 1; SPAWN P1 | R.na x 0", &[("", NONE)]);
    rows("W.na x 1; SPAWN P1 | R.na x 1", &[("", ALL)]);
    rows("SPAWN P1; W.rlx x 1 | R.rlx x 0", &[("", ALL)]);
    rows("SPAWN P1; JOIN P1; R.na x 0 | W.na x 1", &[("", NONE)]);
    rows("SPAWN P1; R.rlx x 0; JOIN P1 | W.rlx x 1", &[("", ALL)]);
    rows("R.rlx x 1; SPAWN P1 | W.rlx x 1", &[("", NONE)]);
    rows("JOIN P1; W.rlx x 1 | R.rlx x 1", &[("", NONE)]);
    rows("W.na x 1; SPAWN P1; JOIN P2; R.na y 0 | SPAWN P2 | R.na x 1; W.na y 1", &[("", NONE)]);
}

/// What relaxed reads observe does not order fences, neither by `psc` nor as updates of a hidden
/// location.
#[test]
fn relaxed_reads_do_not_order_fences() {
    rows(
        "W.rlx z 1; F.?; W.rlx x 1 | R.rlx x 1; W.rlx y 1 | R.rlx y 1; F.?; R.rlx z 0",
        &[("sc sc", UNSYNCHRONIZED), ("sc ar", UNSYNCHRONIZED), ("ar sc", UNSYNCHRONIZED)],
    );
}

/// That fences must come in some order does not prevent a race, whatever they are.
#[test]
fn an_order_of_fences_prevents_no_race() {
    let shape = "W.na x 1; F.sc; R.rlx z 0 | W.rlx z 1; F.sc; R.na x 1";
    let execution = execution(shape, "");
    let race_free = |model: &Model| {
        matches!(
            check(&execution, *model, &CheckOptions::default()),
            ConsistencyVerdict::Consistent(_)
        )
    };
    let names: Vec<&str> = MODELS.into_iter().filter(race_free).map(Model::name).collect();
    assert_eq!(names.join(" "), "sc");
}

#[test]
fn races_are_of_unordered_accesses_one_of_them_non_atomic() {
    let races = |shape: &str, orders: &str| {
        let execution = execution(shape, orders);
        let racy = |&model: &Model| {
            let coherence = enumerate::allows(&execution, model).expect("it is consistent");
            race(&execution, model, &coherence)
                .map(|(a, b)| format!("{model} {} {}", execution.name(a), execution.name(b)))
        };
        MODELS.iter().filter_map(racy).collect::<Vec<_>>().join(", ")
    };
    let passing = "W.? x 1; W.? y 1 | R.? y 1; R.? x 1";
    assert_eq!(races(passing, "na rel acq na"), "relaxed P0.0 P1.1");
    let unsynchronized = "rc20 P0.0 P1.1, relaxed P0.0 P1.1, rc11 P0.0 P1.1, c20 P0.0 P1.1";
    assert_eq!(races(passing, "na rlx rlx na"), unsynchronized);
    assert_eq!(races(passing, "rlx rlx rlx na"), unsynchronized);
    assert_eq!(races(passing, "rlx rlx rlx rlx"), "");
    let two = |pair: &str| {
        MODELS[1..].iter().map(|m| format!("{m} {pair}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(races("W.na x 1 | W.rlx x 2", ""), two("P0.0 P1.0"));
    assert_eq!(races("R.na x 0 | R.na x 0", ""), "");
    assert_eq!(races("R.na x 0 | RMW.rlx x 0 1", ""), two("P0.0 P1.0"));
    assert_eq!(races("W.na x 1 | W.na y 1", ""), "");
    assert_eq!(races("LOCK m; W.na x 1; UNLOCK m | LOCK m; W.na x 2; UNLOCK m", ""), "");
    assert_eq!(races("W.na x 1; SPAWN P1; R.na y 1 | W.na x 2; W.na y 1", ""), two("P0.2 P1.1"));
}
