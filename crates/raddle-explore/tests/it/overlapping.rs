//! Accesses of different sizes that overlap, against brute force over bytes.

use std::collections::BTreeMap;

use raddle_core::model::Model;
use raddle_explore::plan::{Explorer, Plan};
use raddle_explore::{Control, Extent, Leaf, Limits, Unsupported, rf_part_smc};
use raddle_testkit::overlapping::{
    ByteClass, ByteOp, Bytes, Operand, Overlapping, OverlappingProgram, class_of, classes, random,
    shrink,
};
use raddle_testkit::seeds::for_cases;

/// How many states brute force may visit.
const BUDGET: usize = 20_000;

/// How often the explorer visits each class.
fn explored(program: &Overlapping, model: Model) -> BTreeMap<ByteClass, usize> {
    let names = OverlappingProgram::new(program);
    let mut seen = BTreeMap::new();
    let mut visit = |leaf: &dyn Leaf| {
        *seen.entry(class_of(&names, &leaf.trace())).or_insert(0) += 1;
        Control::Continue
    };
    let limits = Limits { rounds: true, symmetry: true, ..Limits::default() };
    let summary = rf_part_smc::explore(&mut names.clone(), model, &limits, &mut visit);
    assert_eq!((summary.extent, summary.blocked), (Extent::All, 0), "{program}");
    seen
}

/// What is wrong with the exploration of a program, if brute force can tell.
fn fault(program: &Overlapping, model: Model) -> Option<String> {
    let expected = classes(program, model, BUDGET).ok()?;
    let seen = explored(program, model);
    let missing = expected.iter().find(|&class| !seen.contains_key(class));
    let extra = seen.keys().find(|&class| !expected.contains(class));
    let twice = seen.iter().find(|&(_, &times)| times > 1);
    let counts = format!("{} classes, visited {}", expected.len(), seen.len());
    missing
        .map(|class| format!("{counts}: missing {class:?}"))
        .or(extra.map(|class| format!("{counts}: not allowed {class:?}")))
        .or(twice.map(|(class, times)| format!("{counts}: {times} times {class:?}")))
}

/// Checks the exploration of a program. Returns `false` if brute force cannot tell.
fn check(program: &Overlapping, model: Model) -> bool {
    if fault(program, model).is_some() {
        let smallest = shrink(program, &mut |smaller| fault(smaller, model).is_some());
        panic!("{model}: {}\n{smallest}", fault(&smallest, model).expect("it still fails"));
    }
    classes(program, model, BUDGET).is_ok()
}

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

#[test]
fn random_programs_have_the_classes_of_brute_force() {
    let mut compared = 0;
    for_cases(300, |numbers| {
        let program = random(numbers);
        compared += MODELS.into_iter().filter(|&model| check(&program, model)).count();
    });
    assert!(compared > 800, "brute force was possible for only {compared} programs");
}

const WORD: Bytes = Bytes { at: 0, size: 2 };
const LOW: Bytes = Bytes { at: 0, size: 1 };
const HIGH: Bytes = Bytes { at: 1, size: 1 };

fn load(bytes: Bytes) -> ByteOp {
    ByteOp::Load { register: 0, bytes }
}

fn store(bytes: Bytes, value: u64) -> ByteOp {
    ByteOp::Store { bytes, value: Operand::Constant(value) }
}

fn add(bytes: Bytes) -> ByteOp {
    ByteOp::Add { register: 0, bytes, value: Operand::Constant(1) }
}

fn exchange(bytes: Bytes) -> ByteOp {
    let desired = Operand::Constant(0x101);
    ByteOp::CompareExchange { register: 0, bytes, expected: 0, desired }
}

/// The number of classes, which are those of brute force.
fn count(program: &Overlapping, model: Model) -> usize {
    assert!(check(program, model), "a small program");
    explored(program, model).len()
}

/// Reading `lo` first lets the exchange fail, so the other thread must not be skipped.
#[test]
fn a_read_does_not_hide_an_exchange_of_more_than_it_reads() {
    let program = Overlapping::of([&[store(HIGH, 1), load(LOW)], &[exchange(WORD)]]);
    assert_eq!(MODELS.map(|model| count(&program, model)), [2, 3, 3]);
}

#[test]
fn one_new_source_of_several_is_enough() {
    let program = Overlapping::of([&[load(LOW), add(LOW)], &[load(WORD)]]);
    assert_eq!(count(&program, Model::Sc), 2);
    let program = Overlapping::of([&[add(WORD), load(LOW)], &[load(WORD)]]);
    assert_eq!(count(&program, Model::Sc), 2);
}

#[test]
fn what_another_thread_writes_matters_to_every_part() {
    let program = Overlapping::of([&[load(HIGH), add(LOW)], &[load(WORD)]]);
    assert_eq!(count(&program, Model::Sc), 2);
    let program = Overlapping::of([&[add(WORD)], &[exchange(LOW)]]);
    assert_eq!(count(&program, Model::Sc), 2);
}

/// A store follows all own stores that it overlaps, not only the newest one.
#[test]
fn a_store_waits_for_all_stores_that_it_overlaps() {
    let stores = [store(HIGH, 1), store(LOW, 1), store(WORD, 0x202)];
    let program = Overlapping::of([&stores, &[load(WORD)]]);
    assert_eq!(MODELS.map(|model| count(&program, model)), [4, 4, 5]);
}

#[test]
fn a_load_combines_the_store_buffer_and_memory_or_waits() {
    let program = Overlapping::of([&[store(LOW, 1), load(WORD)], &[exchange(WORD)]]);
    assert_eq!(MODELS.map(|model| count(&program, model)), [2, 3, 3]);
    let waiting = Overlapping { waits: true, ..program };
    assert_eq!(MODELS.map(|model| count(&waiting, model)), [2, 2, 2]);
}

/// The smallest known program for which the order that every witness must obey does not show that there is none.
#[test]
fn four_readers_of_a_word_see_one_order_of_its_halves() {
    let halves = [Bytes { at: 0, size: 4 }, Bytes { at: 4, size: 4 }];
    let whole = load(Bytes { at: 0, size: 8 });
    let stores = [0, 1, 2, 3].map(|number| vec![store(halves[number % 2], number as u64 + 1)]);
    let loads = [vec![whole], vec![whole], vec![whole], vec![whole]];
    let threads = [&stores[..], &loads[..]].concat();
    let program = Overlapping { threads, ..Overlapping::default() };
    let seen = explored(&program, Model::Sc);
    assert_eq!((seen.len(), seen.values().all(|&times| times == 1)), (3961, true));
}

#[test]
fn other_explorers_and_models_refuse_accesses_that_overlap() {
    let program = Overlapping::of([&[store(LOW, 1)], &[load(WORD)]]);
    let limits = Limits::default();
    let refused = Extent::Unsupported(Unsupported::Overlaps);
    let explore = |explorer: Explorer, model: Model| {
        let mut program = OverlappingProgram::new(&program);
        let plan = Plan { model, explorer };
        plan.explore(&mut program, &limits, &mut |_: &dyn Leaf| Control::Continue).extent
    };
    for explorer in Explorer::any().filter(|&explorer| explorer != Explorer::RfPartSmc) {
        assert_eq!(explore(explorer, Model::Sc), refused, "{explorer:?}");
    }
    assert_eq!(explore(Explorer::RfPartSmc, Model::C20), refused);
    assert_eq!(explore(Explorer::RfPartSmc, Model::Pso), Extent::All);
}
