//! Plain Rust programs, with atomic variables and threads of the standard library: litmus tests, and data structures.

use std::collections::BTreeSet;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Outcome, Verdict};
use raddle_explore::plan::{Explorer, plan};
use raddle_litmus::{LitmusOptions, LitmusOutcome, LitmusTest};
use raddle_native::{Object, Request, check_built};

use crate::rust_guests::{compile, explore as explore_test};

const DEBUG: &[&str] = &["-g"];
const RELEASE: &[&str] = &["-Copt-level=3"];

fn is_long() -> bool {
    std::env::var_os("RADDLE_LONG").is_some()
}

fn explore(object: &Object, arguments: &[&str], request: Request) -> Outcome {
    let arguments: Vec<String> = arguments.iter().map(|&it| String::from(it)).collect();
    let request = Request { arguments, exact: true, ..request };
    check_built(object, &request).unwrap_or_else(|error| panic!("{:?}: {error}", request.arguments))
}

/// The bodies of the threads of a litmus test, and what its outcome consists of. `W` and `R` stand for stores and loads, `C` for a
/// compare-exchange.
const SHAPES: [(&str, &[&str], &[&str]); 6] = [
    ("sb", &["W(x, 1); int a = R(y);", "W(y, 1); int a = R(x);"], &["0:a", "1:a"]),
    ("mp", &["W(x, 1); W(y, 1);", "int a = R(y); int b = R(x);"], &["1:a", "1:b"]),
    ("lb", &["int a = R(x); W(y, 1);", "int a = R(y); W(x, 1);"], &["0:a", "1:a"]),
    (
        "iriw",
        &["W(x, 1);", "W(y, 1);", "int a = R(x); int b = R(y);", "int a = R(y); int b = R(x);"],
        &["2:a", "2:b", "3:a", "3:b"],
    ),
    ("2+2w", &["W(x, 1); W(y, 2);", "W(y, 1); W(x, 2);"], &["x", "y"]),
    (
        "cas",
        &["int e = R(x); int a = C(x, e);", "int e = R(x); int a = C(x, e);"],
        &["0:a", "1:a", "x"],
    ),
];

/// Their name, and those of stores, loads and updates.
const ORDERS: [(&str, &str, &str, &str); 3] = [
    ("relaxed", "relaxed", "relaxed", "relaxed"),
    ("acq_rel", "release", "acquire", "acq_rel"),
    ("seq_cst", "seq_cst", "seq_cst", "seq_cst"),
];

/// The litmus test with a body for each thread, and a condition on all parts of its outcome.
fn litmus_text(
    threads: &[&str],
    parts: &[&str],
    (_, store, load, update): (&str, &str, &str, &str),
) -> String {
    let mut text = String::from("C generated\n{}\n");
    for (index, body) in threads.iter().enumerate() {
        let mut body = (*body).to_owned();
        for variable in ["x", "y"] {
            for value in [1, 2] {
                let from = format!("W({variable}, {value})");
                let to =
                    format!("atomic_store_explicit({variable}, {value}, memory_order_{store})");
                body = body.replace(&from, &to);
            }
            let to = format!("atomic_load_explicit({variable}, memory_order_{load})");
            body = body.replace(&format!("R({variable})"), &to);
        }
        let count = format!(
            "atomic_compare_exchange_strong_explicit(x, &e, e + 1, memory_order_{update}, memory_order_{load})"
        );
        body = body.replace("C(x, e)", &count);
        text += &format!("P{index} (atomic_int* x, atomic_int* y) {{ {body} }}\n");
    }
    let condition: Vec<String> = parts.iter().map(|part| format!("{part}=0")).collect();
    text + &format!("exists ({})\n", condition.join(" /\\ "))
}

fn explore_litmus(test: &LitmusTest, model: Model) -> LitmusOutcome {
    let plan = plan(test.language, model, Explorer::default()).expect("it is supported");
    raddle_litmus::explore(test, plan, &LitmusOptions::default())
}

/// The exit statuses of the guest for the final states of a litmus test.
fn expected(test: &LitmusTest, parts: &[&str], outcome: &LitmusOutcome) -> BTreeSet<String> {
    // Variables have brackets around their names.
    let name = |name: String| name.trim_matches(['[', ']']).to_owned();
    let names: Vec<String> = test.names().map(name).collect();
    let status = |state: &Vec<i128>| {
        let value =
            |part: &&str| state[names.iter().position(|name| name == part).expect("it is a part")];
        let number = parts.iter().map(value).fold(0, |number, value| 3 * number + value);
        format!("thread main: the program ends with exit status {}", 1 + number)
    };
    outcome.finals.states.iter().map(status).collect()
}

/// All outcomes that a guest tells.
fn reported(object: &Object, shape: &str, order: &str, model: Model) -> BTreeSet<String> {
    let request = Request { model, keep_going: true, ..Request::new(&[]) };
    let outcome = explore(object, &[shape, order, "tell"], request);
    assert_eq!(outcome.bound, None, "{shape} {order} {model}: {outcome:?}");
    outcome.findings.into_iter().map(|finding| finding.message).collect()
}

/// The models under which litmus tests are compared: two, or all.
fn models() -> Vec<Model> {
    if is_long() { Model::ALL.to_vec() } else { vec![Model::Sc, Model::C20] }
}

#[test]
fn litmus_tests_have_the_outcomes_of_every_model() {
    let profiles = if is_long() { vec![DEBUG, RELEASE] } else { vec![DEBUG] };
    for profile in profiles {
        let Some(object) = compile("litmus.rs", profile) else { return };
        for orders in ORDERS {
            for (shape, threads, parts) in SHAPES {
                let text = litmus_text(threads, parts, orders);
                let test = LitmusTest::parse(text.as_bytes()).expect("the text is a litmus test");
                let is_short = orders == ORDERS[0] && shape != "iriw";
                for model in models().into_iter().filter(|_| is_long() || is_short) {
                    let expected = expected(&test, parts, &explore_litmus(&test, model));
                    assert!(!expected.is_empty());
                    let found = reported(&object, shape, orders.0, model);
                    assert_eq!(found, expected, "{shape} {orders:?} {model} {profile:?}");
                }
            }
        }
    }
}

#[test]
fn what_the_library_does_itself_adds_no_classes() {
    for profile in [DEBUG, RELEASE] {
        let Some(object) = compile("litmus.rs", profile) else { return };
        for (shape, threads, parts) in SHAPES.into_iter().filter(|shape| shape.0 != "2+2w") {
            for model in models().into_iter().filter(|model| is_long() || *model == Model::C20) {
                let test = litmus_text(threads, parts, ORDERS[0]);
                let test = LitmusTest::parse(test.as_bytes()).expect("the text is a litmus test");
                let request = Request { model, ..Request::new(&[]) };
                let outcome = explore(&object, &[shape, "relaxed", ""], request);
                assert_eq!(outcome.verdict, Verdict::Clean, "{shape} {model}: {outcome:?}");
                let expected = explore_litmus(&test, model).outcome.counts.classes;
                assert_eq!(outcome.counts.classes, expected, "{shape} {model} {profile:?}");
            }
        }
    }
}

/// The data structures of `corpus/rust/structures`: the number of classes of the right one, and the error of the other.
const STRUCTURES: [(&str, u64, FindingKind); 9] = [
    ("arc_swap", 67, FindingKind::Race),
    ("arena", 6, FindingKind::Race),
    ("deque", 16, FindingKind::Panic),
    ("michael_scott", 36, FindingKind::Panic),
    ("mpsc_ring", 35, FindingKind::Race),
    ("seqlock", 39, FindingKind::Panic),
    ("spin_lock", 14, FindingKind::Race),
    ("spsc_ring", 20, FindingKind::Race),
    ("treiber", 45, FindingKind::Race),
];

#[test]
fn data_structures_are_right_or_have_their_bug() {
    let Some(object) = compile("../../../../corpus/rust/structures/src/lib.rs", &["--test", "-g"])
    else {
        return;
    };
    for (name, classes, kind) in STRUCTURES {
        let right = explore_test(&object, &format!("{name}::tests::right"), Model::C20, false);
        assert_eq!(right.verdict, Verdict::Clean, "{name}: {right:?}");
        assert_eq!(right.counts.classes, classes, "{name}: {right:?}");
        let broken = explore_test(&object, &format!("{name}::tests::broken"), Model::C20, false);
        assert_eq!(broken.kind(), Some(kind), "{name}: {broken:?}");
    }
}
