//! Counting classes, and what the programs of the literature are made of.

use raddle::sync::atomic::{AtomicI32, Ordering::Relaxed};
use raddle::{Checker, Equivalence, Model, Verdict, thread};
use raddle_explore::{Control, Extent, Leaf, Limits, driver, rf_smc};
use raddle_runtime::{Native, Settings, on_large_stack};

/// The models of the tables, in the order of their columns.
const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// A program with a size.
pub(crate) type Sized = fn(usize);

/// How many classes there are under SC, TSO and PSO. Those in which an assumption fails count, as in the
/// tables; nothing may be wrong.
pub(crate) fn counts(f: impl Fn()) -> [u64; 3] {
    MODELS.map(|model| count(model, &f))
}

fn count(model: Model, f: impl Fn()) -> u64 {
    count_by(Equivalence::ReadsFrom, model, f)
}

/// How many classes there are by values.
pub(crate) fn count_values(model: Model, f: impl Fn()) -> u64 {
    count_by(Equivalence::ReadsValueFrom, model, f)
}

fn count_by(equivalence: Equivalence, model: Model, f: impl Fn()) -> u64 {
    let outcome = Checker::new().model(model).by(equivalence).explore(f);
    assert_eq!(outcome.verdict, Verdict::Clean, "{model}: {outcome}");
    outcome.counts.classes + outcome.counts.blocked
}

/// The same by RF-SMC, which shares with the other explorer neither how it explores nor how it decides
/// what a model allows.
pub(crate) fn counts_by_schedules(f: impl Fn()) -> [u64; 3] {
    MODELS.map(|model| {
        let mut program = Native::new(&f, Settings::default());
        let summary = driver::until_stable(&mut program, |program| {
            let mut visitor = |_: &dyn Leaf| Control::Continue;
            let limits = Limits::default();
            on_large_stack(|| rf_smc::explore(program, model, &limits, &mut visitor))
        });
        assert_eq!(summary.extent, Extent::All, "{model}");
        summary.classes + summary.blocked
    })
}

/// How many Shasha-Snir traces there are under SC, TSO and PSO, counted as classes are.
pub(crate) fn trace_counts(f: impl Fn()) -> [u64; 3] {
    MODELS.map(|model| {
        let outcome = Checker::new().model(model).by(Equivalence::Trace).explore(&f);
        assert_eq!(outcome.verdict, Verdict::Clean, "{model}: {outcome}");
        outcome.counts.classes + outcome.counts.blocked
    })
}

/// The literature has these numbers of traces (the columns "Source" of the tables), and so have we.
#[track_caller]
pub(crate) fn published_traces(program: Sized, size: usize, expected: [u64; 3]) {
    assert_eq!(trace_counts(|| program(size)), expected, "traces of size {size}");
}

/// The same for what takes more than a moment: only if `RADDLE_LONG` is set.
#[track_caller]
pub(crate) fn published_traces_long(program: Sized, size: usize, expected: [u64; 3]) {
    if is_long() {
        published_traces(program, size, expected);
    }
}

/// The literature has these numbers, and so have we.
#[track_caller]
pub(crate) fn published(program: Sized, size: usize, expected: [u64; 3]) {
    assert_eq!(counts(|| program(size)), expected, "size {size}");
}

/// The same for what takes more than a moment: only if `RADDLE_LONG` is set.
#[track_caller]
pub(crate) fn published_long(program: Sized, size: usize, expected: [u64; 3]) {
    if is_long() {
        published(program, size, expected);
    }
}

/// Whether there is time.
pub(crate) fn is_long() -> bool {
    std::env::var_os("RADDLE_LONG").is_some()
}

/// The same for SC alone, where we do not have the fences of the program of the tables.
#[track_caller]
pub(crate) fn published_sc(program: Sized, size: usize, expected: u64) {
    assert_eq!(count(Model::Sc, || program(size)), expected, "size {size}");
}

/// These are the numbers of a formula that has those of the literature at its sizes.
#[track_caller]
pub(crate) fn by_formula(program: Sized, sizes: &[usize], formula: fn(u64) -> u64) {
    for &size in sizes {
        assert_eq!(counts(|| program(size)), [formula(size as u64); 3], "size {size}");
    }
}

/// The literature has no numbers for these sizes, but both explorers agree on these.
#[track_caller]
pub(crate) fn confirmed(program: Sized, size: usize, expected: [u64; 3]) {
    assert_eq!(counts(|| program(size)), expected, "size {size}");
    assert_eq!(counts_by_schedules(|| program(size)), expected, "by schedules, size {size}");
}

/// The literature has other numbers for what has this name. Ours are those of both explorers.
#[track_caller]
pub(crate) fn differs(program: Sized, size: usize, literature: [u64; 3], ours: [u64; 3]) {
    confirmed(program, size, ours);
    assert_ne!(ours, literature, "they agree: call `published`");
}

/// A plain variable of a C program.
pub(crate) struct Int(AtomicI32);

impl Int {
    pub(crate) const fn new(value: i32) -> Self {
        Int(AtomicI32::new(value))
    }

    #[track_caller]
    pub(crate) fn get(&self) -> i32 {
        self.0.load(Relaxed)
    }

    #[track_caller]
    pub(crate) fn set(&self, value: i32) {
        self.0.store(value, Relaxed);
    }

    /// `+=`: a load and a store.
    #[track_caller]
    pub(crate) fn add(&self, value: i32) {
        self.set(self.get() + value);
    }
}

/// An array of plain variables.
pub(crate) fn ints(length: usize) -> Vec<Int> {
    (0..length).map(|_| Int::new(0)).collect()
}

/// Starts `n` threads and waits for them.
pub(crate) fn threads(n: usize, body: impl Fn(usize) + Sync) {
    let body = &body;
    thread::scope(|s| {
        for i in 0..n {
            s.spawn(move || body(i));
        }
    });
}

/// Starts two threads and waits for them.
pub(crate) fn both(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    thread::scope(|s| {
        s.spawn(first);
        s.spawn(second);
    });
}
