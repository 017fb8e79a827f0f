//! The DPOR explorers visit exactly the Shasha-Snir traces that the oracle finds, and none twice.

use std::collections::BTreeSet;

use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_core::trace::Class;
use raddle_explore::{Control, Extent, Leaf, Limits, rf_part_smc};
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, cycle, random};
use raddle_testkit::programs::shrink;
use raddle_testkit::programs::transform::{Transformed, padded, permuted, renamed};
use raddle_testkit::script::{Script, ScriptProgram};

use crate::common::dpor::{OPTIMAL, SOURCE, classes, compare, script, visited};
use raddle_testkit::seeds::for_cases;

fn any_style(random: &mut Random) -> OrderStyle {
    *random.pick(&OrderStyle::ALL).expect("`ALL` is not empty")
}

/// Compares explorers and oracle. Panics with the smallest program on which they disagree.
fn assert_agreement(cases: u64, mut case: impl FnMut(&mut Random) -> Script) {
    let (mut programs, mut too_large, mut traces) = (0, 0, 0);
    for_cases(cases, |random| {
        let script = case(random);
        programs += 1;
        for model in Model::STORE_BUFFERS {
            match compare(&script, model) {
                Ok(Some(count)) => traces += count,
                Ok(None) => too_large += 1,
                Err(_) => {
                    let smallest = shrink(&script, &mut |script| compare(script, model).is_err());
                    panic!(
                        "{}",
                        compare(&smallest, model).expect_err("the smallest program fails, too")
                    );
                }
            }
        }
    });
    println!("{programs} programs, {traces} traces under all models, {too_large} too large");
    assert!(2 * too_large < 3 * programs, "{too_large} of {} too large", 3 * programs);
}

#[test]
fn explorers_and_oracle_agree_on_random_programs() {
    assert_agreement(100, |source| {
        let style = any_style(source);
        let features = ProgramFeatures::random(source);
        random(source, style, features)
    });
}

#[test]
fn explorers_and_oracle_agree_on_programs_with_all_features() {
    let everything = ProgramFeatures {
        updates: true,
        locks: true,
        syncs: true,
        choices: true,
        store_fences: true,
        spawns: true,
    };
    assert_agreement(100, |source| {
        let style = any_style(source);
        random(source, style, everything)
    });
}

#[test]
fn explorers_and_oracle_agree_on_critical_cycles() {
    assert_agreement(100, |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

/// Returns a random statement on one of few locations.
fn contended_statement(random: &mut Random, all_sc: bool) -> String {
    let [v, w] = [0; 2].map(|_: usize| random.below(3));
    let order = |random: &mut Random, orders: &[&'static str]| {
        if all_sc { "sc" } else { orders[random.below(orders.len())] }
    };
    let store = order(random, &["rlx", "rlx", "rel"]);
    let location = ["x", "x", "y"][random.below(3)];
    match random.below(13) {
        0 => "r = add x 1".to_owned(),
        1..3 => format!("r = cas x {v} {w}"),
        3..6 => format!("store {location} {v} {store}"),
        6..9 => format!("r = load {location}"),
        9 => format!("r = casw x {v} {w}"),
        10 => format!("lock m; store y {v} {store}; unlock m"),
        11 => format!("sync s > {v} sub 1"),
        _ => "sync s any add 1".to_owned(),
    }
}

/// Returns a random program of up to five threads with contended locations.
fn contended_program(random: &mut Random) -> Script {
    let count = 2 + random.below(4);
    let mut threads = vec![vec![]; count];
    let all_sc = random.chance(0.2);
    for _ in 0..3 + random.below(4) {
        let statement = contended_statement(random, all_sc);
        threads[random.below(count)].push(statement);
    }
    let thread = |(n, body): (usize, &Vec<String>)| format!("thread t{n} {{ {} }}", body.join(";"));
    let threads: Vec<String> = threads.iter().enumerate().map(thread).collect();
    script(&format!("x = 0; y = 0; s = 1; lock m; {}", threads.join("; ")))
}

#[test]
fn explorers_and_oracle_agree_on_contended_programs() {
    assert_agreement(1000, contended_program);
}

/// Returns the number of traces and the reads-from classes.
fn explored(script: &Script, model: Model) -> (usize, BTreeSet<Class>) {
    let (visits, summary) = visited(OPTIMAL, script, model);
    assert_eq!(summary.extent, Extent::All);
    (visits.len(), classes(&visits))
}

/// Asserts that a transformation of programs preserves the traces.
fn assert_traces_preserved(cases: u64, change: fn(&Script, &mut Random) -> Transformed) {
    for_cases(cases, |source| {
        let (style, features) = (any_style(source), ProgramFeatures::random(source));
        let script = random(source, style, features);
        let changed = change(&script, source);
        for model in Model::STORE_BUFFERS {
            let (count, expected) = explored(&script, model);
            let (changed_count, found) = explored(&changed.script, model);
            let found: BTreeSet<Class> =
                found.iter().map(|class| changed.translate(class)).collect();
            assert_eq!((count, expected), (changed_count, found), "{model}\n{script}");
        }
    });
}

#[test]
fn the_order_of_threads_does_not_matter() {
    assert_traces_preserved(40, permuted);
}

#[test]
fn the_order_of_locations_does_not_matter() {
    assert_traces_preserved(40, renamed);
}

#[test]
fn private_accesses_do_not_matter() {
    assert_traces_preserved(40, padded);
}

/// On programs that are too large for brute force, the classes of all traces are those of RF-partSMC, and both DPOR
/// explorers find equally many traces.
#[test]
fn classes_are_those_of_rf_part_smc() {
    for_cases(60, |source| {
        let (style, features) = (any_style(source), ProgramFeatures::random(source));
        let script = random(source, style, features);
        for model in Model::STORE_BUFFERS {
            let (count, found) = explored(&script, model);
            let mut expected = BTreeSet::new();
            let mut visit = |leaf: &dyn Leaf| {
                expected.insert(leaf.trace().class());
                Control::Continue
            };
            let mut program = ScriptProgram::new(&script);
            let limits = Limits::default();
            rf_part_smc::explore(&mut program, model, &limits, &mut visit);
            assert_eq!(found, expected, "{model}\n{script}");
            assert_eq!(visited(SOURCE, &script, model).0.len(), count, "{model}\n{script}");
        }
    });
}
