//! RF-SMC visits exactly the classes that the oracle finds, and none twice.

use std::collections::BTreeSet;

use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_core::trace::Class;
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, cycle, random};
use raddle_testkit::programs::shrink;
use raddle_testkit::programs::transform::{Transformed, padded, permuted, renamed};
use raddle_testkit::script::Script;

use crate::common::rf_smc::{compare, script, visited};
use raddle_testkit::seeds::for_cases;

fn any_style(random: &mut Random) -> OrderStyle {
    *random.pick(&OrderStyle::ALL).expect("there are styles")
}

/// Explorer and oracle agree under all models. A disagreement is told with the smallest program.
fn agree_on(cases: u64, mut case: impl FnMut(&mut Random) -> Script) {
    let (mut programs, mut too_large, mut classes) = (0, 0, 0);
    for_cases(cases, |random| {
        let script = case(random);
        programs += 1;
        for model in Model::ALL {
            match compare(&script, model) {
                Ok(Some(count)) => classes += count,
                Ok(None) => too_large += 1,
                Err(_) => {
                    let smallest = shrink(&script, &mut |script| compare(script, model).is_err());
                    panic!("{}", compare(&smallest, model).expect_err("it still fails"));
                }
            }
        }
    });
    println!("{programs} programs, {classes} classes under all models, {too_large} too large");
    assert!(too_large < 5 * programs, "{too_large} of {} too large", 10 * programs);
}

#[test]
fn random_programs() {
    agree_on(70, |source| {
        let style = any_style(source);
        let features = ProgramFeatures::random(source);
        random(source, style, features)
    });
}

#[test]
fn programs_with_everything() {
    let everything = ProgramFeatures {
        updates: true,
        locks: true,
        syncs: true,
        choices: true,
        store_fences: true,
        spawns: true,
    };
    agree_on(40, |source| {
        let style = any_style(source);
        random(source, style, everything)
    });
}

#[test]
fn critical_cycles() {
    agree_on(100, |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

/// Something that is done to one of few locations.
fn contended(random: &mut Random, all_sc: bool) -> String {
    let [v, w] = [0; 2].map(|_: usize| random.below(3));
    let order = |random: &mut Random, orders: &[&'static str]| {
        if all_sc { "sc" } else { orders[random.below(orders.len())] }
    };
    let update = order(random, &["rlx", "acq", "rel", "ar", "sc"]);
    let (load, store) = (order(random, &["rlx", "acq"]), order(random, &["rlx", "rel"]));
    match random.below(11) {
        0..3 => format!("r = add x 1 {update}"),
        3..5 => format!("r = cas x {v} {w} {update}"),
        5 => format!("store x {v} {store}"),
        6 => format!("r = load x {load}"),
        7 => format!("r = casw x {v} {w} {update}"),
        8 => format!("lock m; store y {v} {store}; unlock m"),
        9 => format!("sync s > {v} sub 1"),
        _ => "sync s any add 1".to_owned(),
    }
}

/// Up to six threads that get into each other's way.
fn crowd(random: &mut Random) -> Script {
    let count = 2 + random.below(5);
    let mut threads = vec![vec![]; count];
    let all_sc = random.chance(0.2);
    for _ in 0..3 + random.below(4) {
        let statement = contended(random, all_sc);
        threads[random.below(count)].push(statement);
    }
    let thread = |(n, body): (usize, &Vec<String>)| format!("thread t{n} {{ {} }}", body.join(";"));
    let threads: Vec<String> = threads.iter().enumerate().map(thread).collect();
    script(&format!("x = 0; y = 0; s = 1; lock m; {}", threads.join("; ")))
}

#[test]
fn crowds() {
    agree_on(60, crowd);
}

fn classes(script: &Script, model: Model) -> BTreeSet<Class> {
    visited(script, model).0.into_iter().map(|(class, _)| class).collect()
}

/// A class is the same whatever the change is, under these models.
fn does_not_matter(cases: u64, change: fn(&Script, &mut Random) -> Transformed, models: &[Model]) {
    for_cases(cases, |source| {
        let (style, features) = (any_style(source), ProgramFeatures::random(source));
        let script = random(source, style, features);
        let changed = change(&script, source);
        for &model in models {
            let translated: BTreeSet<Class> = classes(&changed.script, model)
                .iter()
                .map(|class| changed.translate(class))
                .collect();
            assert_eq!(classes(&script, model), translated, "{model}\n{script}");
        }
    });
}

#[test]
fn the_order_of_threads_does_not_matter() {
    does_not_matter(40, permuted, &[Model::Pso, Model::C20]);
}

#[test]
fn the_order_of_locations_does_not_matter() {
    does_not_matter(40, renamed, &[Model::Pso, Model::C20]);
}

/// Under RC11 and C20 they do: `a_private_access_matters_between_sequentially_consistent_ones`.
#[test]
fn private_accesses_do_not_matter() {
    does_not_matter(40, padded, &[Model::Pso, Model::Ra, Model::Rc20]);
}
