//! What it costs to run a program again from its beginning, and how often that is done.
//!
//! `cargo bench -p raddle --bench native -- [NAME...]`. The first table has programs that wait for their threads and look at
//! the result, beside the same programs as scripts: the difference is what native code costs.

mod beside;

#[path = "../../tests/it/common/naive.rs"]
mod naive;

use std::hint::black_box;
use std::time::Instant;

use naive::Naive;
use raddle::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};
use raddle::sync::atomic::{AtomicPtr, AtomicUsize};
use raddle::sync::{Arc, Mutex};
use raddle::{Checker, Model, Verdict, thread};
use raddle_core::execution::ThreadId;
use raddle_core::program::{End, HistoryId, Program};
use raddle_runtime::{Native, Settings};

const RUNS: u64 = 200_000;

/// Runs an execution until the thread ends, from the beginning, again and again.
fn measure(name: &str, thread: usize, body: impl Fn()) {
    let mut program = Native::new(body, Settings::default());
    let mut naive = Naive::default();
    naive.explore(&mut program);
    let histories = &naive.histories;
    let nodes: Vec<HistoryId> = (0..histories.len() as u32).map(HistoryId).collect();
    let is_end = |node: &HistoryId| {
        histories.thread(*node) == ThreadId::new(thread) && *histories.end(*node) == End::Finished
    };
    let last = *nodes.iter().rfind(|node| is_end(node)).expect("it ends");
    let past: Vec<HistoryId> = nodes.iter().copied().filter(|&node| node < last).collect();
    let next = HistoryId(nodes.len() as u32);
    let before = program.executions();
    let start = Instant::now();
    for _ in 0..RUNS {
        black_box(program.run(histories, &past, histories.step(last), next));
    }
    let seconds = start.elapsed().as_secs_f64();
    let runs = program.executions() - before;
    assert_eq!(runs, RUNS, "every step starts from the beginning");
    println!(
        "{name:32} {:8.0} ns a run, {:6.0} runs/ms",
        seconds / runs as f64 * 1e9,
        runs as f64 / seconds / 1e3
    );
}

/// Explores a program once.
fn explore(name: &str, model: Model, body: impl Fn()) {
    let outcome = Checker::new().model(model).explore(body);
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    let each =
        outcome.counts.seconds * 1e9 / (outcome.counts.classes + outcome.counts.blocked) as f64;
    println!(
        "{name:32} {:8} classes, {:6} blocked, {:7} runs, {:7.3} s, {each:6.0} ns a class",
        outcome.counts.classes,
        outcome.counts.blocked,
        outcome.counts.executions,
        outcome.counts.seconds
    );
}

/// Threads that each push a box on a list, and take one off.
fn list(threads: usize) {
    struct Node {
        value: usize,
        next: *mut Node,
    }
    let head = Arc::new(AtomicPtr::new(std::ptr::null_mut::<Node>()));
    let work = |value, head: &AtomicPtr<Node>| {
        let node = Box::into_raw(Box::new(Node { value, next: std::ptr::null_mut() }));
        let _ = head.fetch_update(AcqRel, Acquire, |first| {
            // SAFETY: nobody else has the node yet.
            unsafe { (*node).next = first };
            Some(node)
        });
        let next = |first: *mut Node| {
            // SAFETY: nothing is freed.
            (!first.is_null()).then(|| unsafe { (*first).next })
        };
        let taken = head.fetch_update(AcqRel, Acquire, next);
        // SAFETY: nothing is freed.
        black_box(unsafe { (*taken.expect("it is not empty")).value });
    };
    let handles: Vec<_> = (0..threads)
        .map(|n| {
            let head = head.clone();
            thread::spawn(move || work(n, &head))
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

fn counter(threads: usize) {
    let count = Arc::new(Mutex::new(0));
    let add = |count: &Mutex<usize>| *count.lock().unwrap() += 1;
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || add(&count))
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    assert_eq!(*count.lock().unwrap(), threads);
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    beside::print(&names);
    if !names.is_empty() {
        return;
    }
    explore("mutex, 6 threads, c20", Model::C20, || counter(6));
    explore("list, 2 threads, c20", Model::C20, || list(2));
    explore("list, 3 threads, c20", Model::C20, || list(3));

    let store_buffering = || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = Arc::new(AtomicUsize::new(0));
        let (x2, y2) = (x.clone(), y.clone());
        let a = thread::spawn(move || {
            x2.store(1, SeqCst);
            y2.load(SeqCst)
        });
        let b = thread::spawn(move || {
            y.store(1, SeqCst);
            x.load(SeqCst)
        });
        black_box((a.join().unwrap(), b.join().unwrap()));
    };
    measure("store buffering, 3 threads", 0, store_buffering);
    measure("the same, until a thread ends", 1, store_buffering);
    measure("store buffering, scoped", 0, || {
        let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                x.store(1, SeqCst);
                y.load(SeqCst)
            });
            y.store(1, SeqCst);
            black_box(x.load(SeqCst));
        });
    });
    measure("mutex, 2 threads", 0, || {
        let m = Arc::new(Mutex::new(0));
        let m2 = m.clone();
        let t = thread::spawn(move || *m2.lock().unwrap() += 1);
        *m.lock().unwrap() += 1;
        t.join().unwrap();
    });
}
