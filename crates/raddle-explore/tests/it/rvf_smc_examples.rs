//! Programs that say something about RVF-SMC: each of the corrections of the printed algorithm has one that
//! breaks without it, and there are counts of the literature.

use std::collections::BTreeSet;

use raddle_core::model::Model;
use raddle_core::trace::Ending;
use raddle_explore::model::RvfOptions;
use raddle_explore::{Control, Extent, Leaf, Limits, rf_part_smc, rvf_smc};
use raddle_testkit::programs::values::value_class;
use raddle_testkit::script::{Script, ScriptProgram};

use crate::common::rvf_smc::{fault, open_fault, script, visits};

/// Brute force agrees under all models, and without each of the parts.
#[track_caller]
fn holds(text: &str) {
    let all = RvfOptions::default();
    let options = [
        all,
        RvfOptions { signals: false, ..all },
        RvfOptions { closure: false, ..all },
        RvfOptions { guidance: false, ..all },
        RvfOptions { order: false, ..all },
    ];
    for model in Model::STORE_BUFFERS {
        assert_eq!(fault(&script(text), model, &options), None);
    }
}

/// How many leaves there are.
fn leaves(script: &Script, model: Model) -> u64 {
    let mut count = 0;
    let mut visit = |_: &dyn Leaf| {
        count += 1;
        Control::Continue
    };
    let mut program = ScriptProgram::new(script);
    let summary = rvf_smc::explore(&mut program, model, &Limits::default(), &mut visit);
    assert_eq!(summary.extent, Extent::All);
    assert_eq!(summary.classes + summary.blocked, count);
    count
}

/// How many reads-from classes there are.
fn classes(script: &Script, model: Model) -> u64 {
    let mut program = ScriptProgram::new(script);
    let mut nothing = |_: &dyn Leaf| Control::Continue;
    let limits = Limits::default();
    let summary = rf_part_smc::explore(&mut program, model, &limits, &mut nothing);
    summary.classes + summary.blocked
}

#[test]
fn writes_that_are_not_good_come_before_the_last_good_one_or_after_the_read() {
    holds(
        "x = 0; y = 0; thread a { store y 1; r = load x }; thread b { r = load x; store y 0; s = load y }",
    );
}

#[test]
fn the_initial_write_belongs_into_the_causal_map() {
    holds("x = 0; y = 0; thread a { r = load x }; thread b { r = load y; store x 1 }");
}

#[test]
fn pending_updates_of_others_signal_to_updates() {
    holds("x = 0; thread a { r = cas x 0 1 }; thread b { r = cas x 0 2 }");
    holds("x = 0; thread a { r = add x 1 }; thread b { r = cas x 0 1 }");
    holds("x = 0; thread a { r = add x 1 }; thread b { r = add x 1 }");
}

#[test]
fn pending_acquires_of_others_signal_to_acquires() {
    holds("lock m; thread a { lock m }; thread b { lock m }");
    holds("lock m; y = 0; thread a { lock m }; thread b { r = load y; lock m }");
    holds("o = 1; thread a { sync o > 0 sub 1 }; thread b { sync o > 0 sub 1 }");
}

#[test]
fn nothing_is_skipped_at_a_read_with_a_causal_map() {
    holds(
        "x = 0; z = 0; thread a { r = load x }; thread b { r = load z; store x r };
         thread c { r = load x; store z 1 }",
    );
}

#[test]
fn updates_are_not_placed_eagerly() {
    holds("x = 0; thread a { store x 0; r = cas x 0 1 }; thread b { r = cas x 1 0; s = add x 1 }");
}

/// Same-valued writes that come later are other sources.
#[test]
fn new_writes_of_the_same_value_matter() {
    holds(
        "x = 0; z = 0; thread a { store x 1; r = load z }; thread b { r = load z; store z 0; s = load x }",
    );
    holds(
        "x = 0; thread a { store x 1; r = load x }; thread b { r = load x }; thread c { store x 0; r = load x; store x 0 }",
    );
}

/// The newest own write may be observed in the buffer or in memory, or be overwritten there.
#[test]
fn a_buffered_write_is_a_good_write() {
    holds(
        "x = 0; y = 0; thread a { store x 1; r = load x; s = load y }; thread b { store y 1; store x 1; r = load x }",
    );
    holds(
        "x = 0; y = 0; thread a { store x 1; store y 1; r = load x }; thread b { store x 1; r = load y; store x 2 }",
    );
}

/// Both threads read their own store before it is in memory.
#[test]
fn a_read_of_the_own_buffer_comes_before_the_write() {
    holds(
        "x = 0; y = 0; thread a { store x 1; r = load x; s = load y };
         thread b { store y 1; r = load y; s = load x }",
    );
}

#[test]
fn updates_take_different_writes_of_the_same_value() {
    holds(
        "x = 0; thread a { store x 0; r = add x 1 }; thread b { store x 0; r = add x 1 }; thread c { r = load x }",
    );
    holds(
        "x = 0; thread a { r = casw x 0 0 }; thread b { r = casw x 0 1; s = load x }; thread c { store x 0 }",
    );
}

#[test]
fn threads_that_are_started_and_joined() {
    holds(
        "x = 0; y = 0; thread main { spawn a; store x 1; spawn b; r = load y; join a; s = load x };
         thread a { r = load x; store y 1 }; thread b { store x 1; store y 1 }",
    );
}

/// Agarwal et al., CAV 2021, figure 1: 98 Mazurkiewicz traces, 9 reads-from classes, one by value.
#[test]
fn figure_1() {
    let figure = script(
        "x = 0; y = 0; thread a { store x 1; store y 1 }; thread b { store x 1; store y 1; r = load x };
         thread c { store x 1; store y 1; r = load y }",
    );
    assert_eq!((classes(&figure, Model::Sc), leaves(&figure, Model::Sc)), (9, 1));
    for model in Model::STORE_BUFFERS {
        assert_eq!(leaves(&figure, model), 1, "{model}");
    }
}

/// After figure 13, which has programs with one class by value and exponentially many by all else.
#[test]
fn figure_13() {
    for n in 1..=5 {
        let repeated = script(&format!(
            "x = 0; thread a {{ repeat {n} {{ store x 1 }} }}
             thread b {{ repeat {n} {{ store x 1; r = load x }} }}"
        ));
        let cells = vec!["0"; n].join(", ");
        let stores: Vec<String> = (0..n).map(|cell| format!("store a[{cell}] 1")).collect();
        let loads: Vec<String> = (0..n).map(|cell| format!("r = load a[{cell}]")).collect();
        let (stores, loads) = (stores.join("; "), loads.join("; "));
        let many = script(&format!(
            "a = [{cells}]; thread a {{ {stores} }}; thread b {{ {stores}; {loads} }}"
        ));
        for model in Model::STORE_BUFFERS {
            assert_eq!(leaves(&repeated, model), 1, "{model}");
            assert_eq!(leaves(&many, model), 1, "{model}");
        }
        assert!(classes(&repeated, Model::Sc) >= 1 << n);
        assert!(classes(&many, Model::Sc) >= 1 << n);
    }
}

fn parallel(memory: &str, body: &str, threads: usize) -> Script {
    let bodies: Vec<String> = (0..threads).map(|t| format!("thread t{t} {{ {body} }}")).collect();
    script(&format!("{memory}; {}", bodies.join("; ")))
}

/// Every reads-from class has the values of some leaf, and there are at most so many leaves.
#[track_caller]
fn at_most(script: &Script, model: Model, most: usize) {
    let leaves = covering(script, model, RvfOptions::default());
    assert!(leaves <= most, "{model}: {leaves} leaves\n{script}");
}

/// How many leaves there are. Every reads-from class has the values of some of them.
#[track_caller]
fn covering(script: &Script, model: Model, options: RvfOptions) -> usize {
    let values = |trace: raddle_core::trace::Trace| value_class(&trace).histories;
    let (visits, _) = visits(script, model, options);
    let leaves = visits.len();
    let reached: BTreeSet<_> = visits.into_iter().map(|visit| values(visit.trace)).collect();
    let mut reachable = BTreeSet::new();
    let mut visit = |leaf: &dyn Leaf| {
        reachable.insert(values(leaf.trace()));
        Control::Continue
    };
    let mut program = ScriptProgram::new(script);
    rf_part_smc::explore(&mut program, model, &Limits::default(), &mut visit);
    assert!(reached == reachable, "{model}: {} of {}", reached.len(), reachable.len());
    leaves
}

/// Every reads-from class has the values of some leaf of open classes, and there are so many leaves.
#[track_caller]
fn open(script: &Script, expected: usize) {
    let options = RvfOptions { open: true, ..RvfOptions::default() };
    for model in Model::STORE_BUFFERS {
        let leaves = covering(script, model, options);
        assert_eq!(leaves, expected, "{model}\n{script}");
    }
}

/// The numbers of an experiment with another implementation.
#[test]
fn open_classes() {
    let inc = |threads| parallel("x = 0", "r = load x; store x r + 1", threads);
    open(&inc(4), 75);
    open(&inc(5), 541);
    let same = |threads| parallel("x = 0", "r = load x; store x 1", threads);
    open(&same(4), 15);
    open(&same(6), 63);
}

/// A rejected value makes the reads before it unclean: otherwise 6 of 8 combinations are found.
#[test]
fn open_classes_need_uncleanness() {
    let options = [RvfOptions { open: true, ..RvfOptions::default() }];
    let text = "x = 0; thread a { store x 1; r = load x }; thread b { r = load x };
                thread c { store x 0; r = load x; store x 0 }";
    for model in Model::STORE_BUFFERS {
        assert_eq!(open_fault(&script(text), model, &options), None);
    }
}

/// How many leaves there are depends on the order in which reads are expanded; these are the numbers of an
/// experiment with another implementation.
#[test]
fn how_many_classes_there_are() {
    for model in Model::STORE_BUFFERS {
        let inc = |threads| parallel("x = 0", "r = load x; store x r + 1", threads);
        at_most(&inc(4), model, 91);
        at_most(&inc(5), model, 772);
        let same = |threads| parallel("x = 0", "r = load x; store x 1", threads);
        at_most(&same(4), model, 48);
        at_most(&same(6), model, 1504);
        at_most(&parallel("x = 0", "r = add x 1", 5), model, 120);
        let section = "lock m; r = load x; store x r + 1; unlock m";
        at_most(&parallel("lock m; x = 0", &format!("repeat 2 {{ {section} }}"), 3), model, 90);
        let critical = "s = load c; store c s + 1; store x 0; break";
        let spin = format!("repeat 2 {{ r = cas x 0 1 sc; if r == 0 {{ {critical} }} }}");
        let lock = parallel("x = 0; c = 0", &spin, 4);
        if model == Model::Sc {
            at_most(&lock, model, 874);
        }
    }
}

/// `n` readers of one variable, which is written once: all of them see it or not.
#[test]
fn readers() {
    let mut text = String::from("x = 0; thread w { store x 1 }");
    (0..10).for_each(|n| text.push_str(&format!("; thread t{n} {{ r = load x }}")));
    for model in Model::STORE_BUFFERS {
        assert_eq!(leaves(&script(&text), model), 1 << 10);
    }
}

/// The programs `45_monabsex1`, `reorder_5` and `singleton` of table 1: 1, 4 and 2 at every size.
#[test]
fn what_stays_the_same_at_every_size() {
    for n in [8, 30] {
        let monabsex = parallel("x = 0", "store x 4; r = load x", n);
        let check = "r = load a; if r == 0 { s = load b; if s == 0 { break } };
                     t = load a; if t == 1 { u = load b }";
        let setters: Vec<String> =
            (0..n).map(|t| format!("thread t{t} {{ store a 1; store b 0 - 1 }}")).collect();
        let reorder =
            script(&format!("a = 0; b = 0; {}; thread c {{ {check} }}", setters.join("; ")));
        for model in [Model::Sc, Model::Tso] {
            assert_eq!(leaves(&monabsex, model), 1, "{model}");
            assert_eq!(leaves(&reorder, model), 4, "{model}");
        }
    }
}

#[test]
fn deadlocks_failures_and_blocked_executions() {
    let endings = |text: &str| -> Vec<Ending> {
        let (visits, _) = visits(&script(text), Model::Sc, RvfOptions::default());
        visits.into_iter().map(|visit| visit.ending).collect()
    };
    let deadlock = "lock m; lock n; thread a { lock m; lock n; unlock n; unlock m };
                    thread b { lock n; lock m; unlock m; unlock n }";
    let deadlocks = endings(deadlock).iter().filter(|it| matches!(it, Ending::Deadlock(_))).count();
    assert_eq!(deadlocks, 1);
    let failing = "x = 0; thread a { store x 1 }; thread b { store x 1 };
                   thread c { r = load x; assert r == 0 }";
    let failures = endings(failing).iter().filter(|it| matches!(it, Ending::Failed(..))).count();
    assert_eq!(failures, 1);
    let assuming = "x = 0; thread a { store x 1 }; thread b { store x 1 };
                    thread c { r = load x; assume r == 0 }";
    let blocked = endings(assuming).iter().filter(|&it| *it == Ending::Blocked).count();
    assert_eq!(blocked, 1);
}

/// More than 64 events take wider rows: the leaves are the same.
#[test]
fn many_events() {
    let body = |own: &str| format!("{own} r = load x; store x 1");
    let own = "store y 1; ".repeat(40);
    let narrow = parallel("x = 0; y = 0", &body(""), 4);
    let wide = parallel("x = 0; y = 0", &body(&own), 4);
    assert_eq!(leaves(&wide, Model::Sc), leaves(&narrow, Model::Sc));
}
