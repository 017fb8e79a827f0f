//! What was once wrong.

use std::process::Command;
use std::time::Duration;

use raddle::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicUsize};
use raddle::sync::{Arc, Mutex, RwLock};
use raddle::{Checker, FindingKind, Outcome, Verdict, cell, thread};

fn explore(f: impl Fn()) -> Outcome {
    Checker::new().timeout(Duration::from_secs(60)).explore(f)
}

#[track_caller]
fn clean(f: impl Fn()) {
    let outcome = explore(f);
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}

#[test]
fn a_weak_compare_exchange_does_not_fail_for_ever() {
    clean(|| {
        let x = AtomicUsize::new(0);
        while x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {}
    });
}

/// Something that a thread publishes by raising a flag, and that another one then owns.
struct Slot {
    flag: AtomicBool,
    cell: cell::UnsafeCell<u32>,
    mutex: Mutex<u32>,
    lock: RwLock<u32>,
}

#[derive(Clone, Copy)]
struct Shared(*mut Slot);

// SAFETY: what the slot holds may be sent, and the flag says whose it is.
unsafe impl Send for Shared {}

fn published(f: impl Fn(Box<Slot>)) {
    let slot = Shared(Box::into_raw(Box::new(Slot {
        flag: AtomicBool::new(false),
        cell: cell::UnsafeCell::new(0),
        mutex: Mutex::new(0),
        lock: RwLock::new(0),
    })));
    thread::spawn(move || {
        let Shared(slot) = { slot };
        // SAFETY: the slot lives until the flag is seen.
        let slot = unsafe { &*slot };
        // SAFETY: nobody else accesses the cell before the flag is raised.
        slot.cell.with_mut(|cell| unsafe { *cell = 42 });
        *slot.mutex.lock().unwrap() = 42;
        *slot.lock.write().unwrap() = 42;
        slot.flag.store(true, Release);
    });
    // SAFETY: the slot lives until this thread owns it.
    if unsafe { &*slot.0 }.flag.load(Acquire) {
        // SAFETY: the other thread does not use it any more.
        f(unsafe { Box::from_raw(slot.0) });
    }
}

#[test]
fn an_owner_sees_what_others_left() {
    // SAFETY: the closure owns the slot.
    clean(|| published(|slot| slot.cell.with(|cell| assert_eq!(unsafe { *cell }, 42))));
    clean(|| published(|mut slot| assert_eq!(*slot.mutex.get_mut().unwrap(), 42)));
    clean(|| published(|mut slot| assert_eq!(*slot.lock.get_mut().unwrap(), 42)));
}

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(self.0 || thread::panicking(), "not defused");
    }
}

#[test]
fn a_run_that_ends_early_is_like_a_panic_to_destructors() {
    clean(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || {
                    x.fetch_add(1, SeqCst);
                    x.load(SeqCst);
                })
            })
            .collect();
        let mut bomb = Bomb(false);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        bomb.0 = true;
    });
}

#[test]
#[should_panic(expected = "needs an object that nobody else has")]
fn an_arc_of_the_standard_library_is_taken_over_alone() {
    let name = std::sync::Arc::new(String::from("hello"));
    let _ = Arc::from_std(name.clone());
}

#[test]
fn an_execution_that_is_too_long_is_cut() {
    let outcome = explore(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let other = x.clone();
        thread::spawn(move || other.store(1, SeqCst));
        assert_eq!(x.load(SeqCst), 0);
        for i in 0..600 {
            y.store(i, Relaxed);
        }
    });
    assert_eq!(outcome.verdict, Verdict::Bug, "{outcome}");
}

#[test]
fn a_bound_is_named() {
    let outcome = Checker::new().max_events(50).explore(|| {
        let x = AtomicUsize::new(0);
        loop {
            x.fetch_add(1, SeqCst);
        }
    });
    assert_eq!(outcome.verdict, Verdict::Incomplete);
    let expected = "most of them of thread main, which was stopped after 50 rounds of the loop at ";
    assert!(outcome.to_string().contains(expected), "{outcome}");
}

#[test]
fn a_loop_after_many_reads_is_recognised() {
    clean(|| {
        let (x, flag) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let raise = flag.clone();
        thread::spawn(move || raise.store(true, Release));
        for _ in 0..40 {
            std::hint::black_box(x.load(Relaxed));
        }
        while !flag.load(Acquire) {}
    });
}

/// Store buffering, which goes wrong.
fn store_buffering() {
    let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (x2, y2) = (x.clone(), y.clone());
    let other = thread::spawn(move || {
        x2.store(1, Relaxed);
        y2.load(Relaxed)
    });
    y.store(1, Relaxed);
    let here = x.load(Relaxed);
    let there = other.join().unwrap();
    assert!(here == 1 || there == 1, "both read 0");
}

/// The test calls its own binary again, which finds the trace in a file.
#[test]
fn a_trace_file_is_replayed_in_another_process() {
    const FILE: &str = "RADDLE_TEST_TRACE";
    if let Ok(path) = std::env::var(FILE) {
        let trace = std::fs::read_to_string(path).expect("the trace was written");
        let outcome = raddle::replay(&trace, store_buffering);
        assert_eq!(outcome.verdict, Verdict::Bug);
        assert!(outcome.to_string().contains("both read 0"), "{outcome}");
        return;
    }
    let path = std::env::temp_dir().join(format!("raddle-{}.trace", std::process::id()));
    let outcome = Checker::new().trace_file(&path).explore(store_buffering);
    assert_eq!(outcome.verdict, Verdict::Bug);
    let again = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "regressions::a_trace_file_is_replayed_in_another_process"])
        .env(FILE, &path)
        .output()
        .expect("it runs");
    std::fs::remove_file(&path).expect("it was written");
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
}

/// Who had a variable for himself, once, does not see what others make of it later.
#[test]
fn two_threads_borrow_a_variable_in_turn() {
    clean(|| {
        let mut x = AtomicUsize::new(0);
        let other = AtomicUsize::new(0);
        *x.get_mut() += 1;
        thread::scope(|s| {
            let x = &mut x;
            s.spawn(|| other.store(1, SeqCst));
            s.spawn(move || *x.get_mut() += 10);
        });
        other.load(SeqCst);
        assert_eq!(*x.get_mut(), 11);
        assert_eq!(x.load(SeqCst), 11);
    });
}

#[test]
fn a_variable_is_moved_after_a_change_through_a_borrow() {
    clean(|| {
        let mut slots = [const { Some(AtomicUsize::new(0)) }; 2];
        *slots[0].as_mut().unwrap().get_mut() = 7;
        let moved = slots[0].take().unwrap();
        slots[0] = Some(AtomicUsize::new(1));
        slots[0].as_ref().unwrap().fetch_add(1, SeqCst);
        let boxed = Box::new(moved);
        let reader = thread::spawn(move || boxed.load(SeqCst) as u32);
        assert_eq!(reader.join().unwrap(), 7);
        let mut x = AtomicUsize::new(0);
        *x.get_mut() = 5;
        assert_eq!(x.into_inner(), 5);
    });
}

#[track_caller]
fn misuse(words: &str, f: impl Fn()) {
    let outcome = explore(f);
    let bug = outcome.into_finding().expect("it is refused");
    assert_eq!(bug.kind, FindingKind::Misuse, "{bug}");
    assert!(bug.message.contains(words), "{bug}");
    assert!(bug.place_text().starts_with(file!()), "{bug}");
}

#[test]
fn updates_that_make_or_unmake_pointers_are_refused() {
    let refused = |update: fn(&AtomicUsize, usize)| {
        misuse("this is not supported", move || {
            let block = Box::into_raw(Box::new([0u64; 4])) as usize;
            let x = Arc::new(AtomicUsize::new(block));
            update(&x, block);
        });
    };
    refused(|x, _| _ = x.fetch_and(0xfff, SeqCst));
    refused(|x, _| _ = x.fetch_and(0, SeqCst));
    refused(|x, block| _ = x.fetch_sub(block, SeqCst));
    refused(|x, block| _ = x.fetch_xor(block, SeqCst));
    refused(|x, _| _ = x.fetch_max(1, SeqCst));
    refused(|x, block| {
        x.store(0, SeqCst);
        x.fetch_or(block, SeqCst);
    });
    clean(|| {
        let block = Box::into_raw(Box::new([0u64; 4])) as usize;
        let x = Arc::new(AtomicUsize::new(block));
        assert_eq!(x.fetch_or(1, SeqCst), block);
        assert_eq!(x.fetch_and(!1, SeqCst), block | 1);
        assert_eq!(x.fetch_add(8, SeqCst), block);
        assert_eq!(x.fetch_or(1 << 63, SeqCst), block + 8);
        assert_eq!(x.swap(3, SeqCst), (block + 8) | 1 << 63);
        assert_eq!(x.fetch_max(1 << 40, SeqCst), 3);
    });
}

#[test]
fn a_pointer_that_was_shifted_is_refused() {
    for by in [1, 8, 16] {
        misuse("shifted", move || {
            let block = Box::into_raw(Box::new(0u64)) as usize;
            let x = Arc::new(AtomicUsize::new(0));
            x.store(block << by | 1, SeqCst);
        });
    }
}

#[test]
fn atomics_survive_a_panic() {
    fn survives<T: std::panic::RefUnwindSafe + std::panic::UnwindSafe>() {}
    survives::<AtomicUsize>();
    survives::<AtomicBool>();
    survives::<raddle::sync::atomic::AtomicPtr<std::cell::Cell<u8>>>();
    survives::<raddle::sync::Condvar>();
}

#[test]
fn ops_outside_of_an_exploration_say_where() {
    use std::sync::Mutex;
    static PLACE: Mutex<Option<(String, u32)>> = Mutex::new(None);
    let (me, before) = (std::thread::current().id(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != me {
            return before(info);
        }
        let at = info.location().map(|at| (at.file().to_owned(), at.line()));
        *PLACE.lock().unwrap() = at;
    }));
    let says_where = |op: fn(&AtomicUsize), line: u32| {
        let x = std::mem::ManuallyDrop::new(AtomicUsize::new(0));
        assert!(std::panic::catch_unwind(|| op(&x)).is_err());
        assert_eq!(PLACE.lock().unwrap().take(), Some((file!().to_owned(), line)));
    };
    says_where(|x| x.store(1, SeqCst), line!());
    says_where(|x| _ = x.load(SeqCst), line!());
    says_where(|x| _ = x.fetch_add(1, SeqCst), line!());
    says_where(|x| _ = x.compare_exchange(1, 2, SeqCst, SeqCst), line!());
}

/// The place of a deadlock is where the first of the threads waits.
#[test]
fn a_deadlock_has_a_place() {
    let line = line!() + 6;
    let outcome = explore(|| {
        let (a, b) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                let _a = a.lock().unwrap();
                drop(b.lock().unwrap());
            });
            let _b = b.lock().unwrap();
            drop(a.lock().unwrap());
        });
    });
    let bug = outcome.into_finding().expect("they wait for each other");
    assert_eq!(bug.kind, FindingKind::Deadlock, "{bug}");
    let places = [line, line + 3].map(|line| format!("{}:{line}", file!()));
    assert!(places.iter().any(|place| place == bug.place_text()), "{bug}");
}

#[test]
fn a_thread_that_polls_a_lock_waits() {
    let checker = Checker::new().max_events(200).timeout(Duration::from_secs(20));
    let outcome = checker.explore(|| {
        let lock = Mutex::new(0);
        thread::scope(|s| {
            s.spawn(|| *lock.lock().unwrap() += 1);
            while lock.try_lock().is_err() {}
        });
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}
