//! The same programs in Rust and in C.

use raddle::sync::Arc;
use raddle::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicUsize, fence};
use raddle::{Checker, thread};
use raddle_core::model::Model;
use raddle_explore::plan::Explorer;
use raddle_native::{Object, Request, build, check_built};

/// How often a thread iterates: forever, as the run is cut.
const ROUNDS: usize = 100_000_000;

type Shared = Arc<[AtomicUsize; 5]>;

/// What a thread does, by its number.
type Body = fn(&Shared, usize);

/// What a program is called, how many threads it has, and what a thread does.
pub(super) const IN_RUST: [(&str, usize, Body); 3] =
    [("dekker", 2, dekker), ("lamport", 3, lamport), ("mutex", 2, mutex)];

fn dekker(shared: &Shared, me: usize) {
    let (own, other, count) = (&shared[me], &shared[1 - me], &shared[2]);
    for _ in 0..ROUNDS {
        own.store(1, SeqCst);
        if other.load(SeqCst) == 0 {
            count.store(count.load(Relaxed) + 1, Relaxed);
        }
        own.store(0, Release);
    }
}

fn lamport(shared: &Shared, me: usize) {
    let ([x, y, ..], own) = (&**shared, &shared[2 + me]);
    for _ in 0..ROUNDS {
        own.store(1, Release);
        x.store(me + 1, Release);
        fence(SeqCst);
        if y.load(Acquire) == 0 {
            y.store(me + 1, Release);
            fence(SeqCst);
            if x.load(Acquire) == me + 1 {
                y.store(0, Release);
            }
        }
        own.store(0, Release);
    }
}

fn mutex(shared: &Shared, _: usize) {
    let [lock, count, ..] = &**shared;
    for _ in 0..ROUNDS {
        if lock.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            count.store(count.load(Relaxed) + 1, Relaxed);
            lock.store(0, Release);
        }
    }
}

/// Runs a program in Rust.
pub(super) fn run_rust(threads: usize, body: fn(&Shared, usize), model: Model, explorer: Explorer) {
    let checker = Checker::new().model(model).explorer(explorer).max_events(u32::MAX - 1);
    let outcome = checker.explore(|| {
        let shared: Shared = Arc::new([0; 5].map(AtomicUsize::new));
        let start = |me| {
            let shared = shared.clone();
            thread::spawn(move || body(&shared, me))
        };
        let others: Vec<_> = (1..threads).map(start).collect();
        body(&shared, 0);
        others.into_iter().for_each(|it| drop(it.join()));
    });
    assert_eq!(outcome.counts.classes, 1, "{outcome}");
}

/// What a program is called, how many threads it has, and what a thread does.
pub(super) const IN_C: [(&str, usize, &str); 3] = [
    (
        "dekker",
        2,
        "atomic_store(&s[me], 1);
         if (atomic_load(&s[1 - me]) == 0) store(&s[2], load(&s[2], relaxed) + 1, relaxed);
         store(&s[me], 0, release);",
    ),
    (
        "lamport",
        3,
        "store(&s[2 + me], 1, release); store(&s[0], me + 1, release);
         atomic_thread_fence(memory_order_seq_cst);
         if (load(&s[1], acquire) == 0) {
             store(&s[1], me + 1, release);
             atomic_thread_fence(memory_order_seq_cst);
             if (load(&s[0], acquire) == me + 1) store(&s[1], 0, release);
         }
         store(&s[2 + me], 0, release);",
    ),
    (
        "mutex",
        2,
        "int free = 0;
         if (atomic_compare_exchange_strong_explicit(
                 &s[0], &free, 1, memory_order_acquire, memory_order_relaxed)) {
             store(&s[1], load(&s[1], relaxed) + 1, relaxed);
             store(&s[0], 0, release);
         }",
    ),
];

/// Compiles a program in C.
pub(super) fn build_c(threads: usize, body: &str) -> Object {
    let text = format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>
         #define load(p, o) atomic_load_explicit(p, memory_order_##o)
         #define store(p, v, o) atomic_store_explicit(p, v, memory_order_##o)
         atomic_int s[5];
         void *run(void *p) {{
             int me = (intptr_t)p;
             for (int round = 0; round < {ROUNDS}; round++) {{ {body} }}
             return 0;
         }}
         int main(void) {{
             pthread_t others[{threads}];
             for (int i = 1; i < {threads}; i++) pthread_create(&others[i], 0, run, (void *)(intptr_t)i);
             run(0);
             for (int i = 1; i < {threads}; i++) pthread_join(others[i], 0);
             return 0;
         }}"
    );
    let directory = tempfile::tempdir().expect("there is room for a file");
    let file = directory.path().join("program.c");
    std::fs::write(&file, text).expect("there is room for a file");
    build(&Request::new(&[&file]).source).expect("the programs are right")
}

/// Runs a program in C.
pub(super) fn run_c(object: &Object, model: Model, explorer: Explorer) {
    let max_events = u32::MAX - 1;
    let request = Request { model, explorer, max_events, ..Request::new(&[]) };
    let outcome = check_built(object, &request).expect("the programs can be loaded");
    assert!(outcome.counts.classes == 1 && outcome.findings.is_empty(), "{outcome}");
}
