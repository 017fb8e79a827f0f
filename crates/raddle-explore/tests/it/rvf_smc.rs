//! RVF-SMC against brute force: every value that a thread can read, and no other; every reads-from class
//! belongs to exactly one leaf; no two leaves have the same reads-value-from class.

use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_explore::model::RvfOptions;
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, cycle, random};
use raddle_testkit::programs::{handover, shrink};
use raddle_testkit::script::Script;

use crate::common::rvf_smc::{by_reads_from, fault, fault_with, open_fault, script};
use raddle_testkit::seeds::for_cases;

/// The explorer without one of its parts each.
fn ablations() -> [RvfOptions; 5] {
    let all = RvfOptions::default();
    [
        RvfOptions { signals: false, ..all },
        RvfOptions { closure: false, ..all },
        RvfOptions { guidance: false, ..all },
        RvfOptions { order: false, ..all },
        RvfOptions { signals: false, closure: false, guidance: false, order: false, ..all },
    ]
}

/// A fault is told with the smallest program that has one.
fn check(script: &Script, mut fault: impl FnMut(&Script) -> Option<String>) {
    if fault(script).is_some() {
        let smallest = shrink(script, &mut |smaller| fault(smaller).is_some());
        panic!("{}\n{smallest}", fault(&smallest).expect("it still fails"));
    }
}

/// Everything, and without one of the parts.
fn some_options(numbers: &mut Random) -> [RvfOptions; 2] {
    let ablations = ablations();
    [RvfOptions::default(), ablations[numbers.below(ablations.len())]]
}

fn check_all(cases: u64, mut case: impl FnMut(&mut Random) -> Script) {
    for_cases(cases, |numbers| {
        let script = case(numbers);
        for model in Model::STORE_BUFFERS {
            let options = some_options(numbers);
            check(&script, |script| fault(script, model, &options));
            let open = options.map(|options| RvfOptions { open: true, ..options });
            check(&script, |script| open_fault(script, model, &open));
        }
    });
}

fn any_style(random: &mut Random) -> OrderStyle {
    OrderStyle::ALL[random.below(OrderStyle::ALL.len())]
}

#[test]
fn programs_that_hand_data_over() {
    check_all(60, |numbers| {
        let style = any_style(numbers);
        handover(numbers, style)
    });
}

#[test]
fn random_programs() {
    check_all(200, |numbers| {
        let (style, features) = (any_style(numbers), ProgramFeatures::random(numbers));
        random(numbers, style, features)
    });
}

#[test]
fn loads_and_stores() {
    check_all(200, |numbers| random(numbers, OrderStyle::Relaxed, ProgramFeatures::NONE));
}

#[test]
fn critical_cycles() {
    check_all(150, |numbers| {
        let style = any_style(numbers);
        cycle(numbers, style)
    });
}

/// Something that is done to one of few locations, with few values.
fn access(random: &mut Random) -> String {
    let location = ["x", "y", "z"][random.below(3)];
    let [v, w] = [0; 2].map(|_: usize| random.below(3));
    match random.below(16) {
        0..6 => format!("r{} = load {location}", random.below(2)),
        6..11 => format!("store {location} {v}"),
        11 => format!("store {location} r0 + 1"),
        12 => format!("r1 = add {location} {v}"),
        13 => format!("r0 = cas {location} {v} {w}"),
        14 => format!("if r0 == {v} {{ store {location} {w} }}"),
        _ => format!("lock m; store {location} {v}; unlock m"),
    }
}

/// Programs that are too large for brute force, with few values.
fn large(random: &mut Random) -> Script {
    let threads = 2 + random.below(4);
    let body = |random: &mut Random| {
        let accesses: Vec<String> = (0..12 / threads + 1).map(|_| access(random)).collect();
        accesses.join("; ")
    };
    let all: Vec<String> =
        (0..threads).map(|t| format!("thread t{t} {{ {} }}", body(random))).collect();
    script(&format!("x = 0; y = 0; z = 0; lock m; {}", all.join("; ")))
}

/// As against brute force, but against the classes of RF-partSMC.
#[test]
fn large_programs() {
    for_cases(80, |numbers| {
        let script = large(numbers);
        for model in Model::STORE_BUFFERS {
            let options = some_options(numbers);
            check(&script, |script| {
                let expected = by_reads_from(script, model, 400)?;
                options.iter().find_map(|&it| fault_with(script, model, it, &expected))
            });
        }
    });
}
