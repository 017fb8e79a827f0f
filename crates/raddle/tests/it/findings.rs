//! What goes wrong is found, and said.

use raddle::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{
    Bound, Checker, Counts, Finding, FindingKind, Model, Outcome, Schedule, Verdict, cell, thread,
};

fn explore(f: impl Fn()) -> Outcome {
    Checker::new().model(Model::Sc).explore(f)
}

/// The schedule of a finding, as text.
fn schedule(finding: &Finding) -> String {
    finding.schedule.as_ref().expect("a schedule").to_string()
}

/// The finding of a test. A replay must find it again.
#[track_caller]
fn bug(f: impl Fn()) -> Finding {
    let outcome = explore(&f);
    assert_eq!(outcome.verdict, Verdict::Bug, "{outcome}");
    let bug = outcome.into_finding().unwrap();
    if bug.kind != FindingKind::Nondeterminism {
        let again = raddle::replay(&schedule(&bug), f).into_finding().unwrap();
        assert_eq!((again.kind, &again.message), (bug.kind, &bug.message), "{again}");
        assert_eq!((&again.place, &again.schedule), (&bug.place, &bug.schedule));
        let text = serde_json::to_string(&bug.schedule).unwrap();
        assert_eq!(serde_json::from_str::<Option<Schedule>>(&text).unwrap(), bug.schedule);
    }
    bug
}

#[test]
fn a_failed_assertion() {
    let line = line!() + 5;
    let bug = bug(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            assert_eq!(x.load(SeqCst), 0, "x was written");
        });
    });
    assert_eq!(bug.kind, FindingKind::Panic);
    assert!(bug.message.contains("x was written"), "{bug}");
    assert_eq!(bug.place_text(), format!("{}:{line}", file!()));
}

#[test]
fn a_panic_in_another_thread() {
    let bug = bug(|| {
        let thread = thread::spawn(|| panic!("the child dies"));
        thread.join().unwrap();
    });
    assert_eq!(bug.kind, FindingKind::Panic);
    assert_eq!(bug.message, "thread main/0: the child dies");
}

#[test]
fn a_panic_that_is_caught_is_none() {
    let outcome = explore(|| {
        let x = AtomicUsize::new(0);
        let m = Mutex::new(0);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = m.lock().unwrap();
            x.store(1, SeqCst);
            panic!("caught");
        }));
        assert!(result.is_err());
        assert!(m.lock().is_err(), "the mutex is poisoned");
        assert_eq!(x.load(SeqCst), 1);
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}

#[test]
fn a_stack_overflow() {
    #[allow(unconditional_recursion)]
    fn deep(n: usize) -> usize {
        let big = std::hint::black_box([n; 100]);
        deep(n + 1) + big[n % 100]
    }
    let bug = bug(|| {
        let x = AtomicUsize::new(0);
        deep(x.load(SeqCst));
    });
    assert_eq!(bug.kind, FindingKind::StackOverflow, "{bug}");
}

#[test]
fn a_stack_overflow_while_allocating_and_in_ops() {
    fn deep(x: &AtomicUsize, n: usize) -> usize {
        let big = Box::new(std::hint::black_box([n; 300]));
        std::hint::black_box([n; 300]);
        x.store(n, Relaxed);
        if n == usize::MAX { 0 } else { deep(x, n + 1) + big[n % 300] }
    }
    let checker = Checker::new().model(Model::Sc).max_events(10_000_000);
    let outcome = checker.explore(|| {
        let x = AtomicUsize::new(0);
        deep(&x, 0);
    });
    assert_eq!(outcome.into_finding().unwrap().kind, FindingKind::StackOverflow);
}

#[test]
fn a_wild_pointer() {
    let bug = bug(|| {
        let p = AtomicPtr::new(std::ptr::null_mut::<usize>());
        let p = p.load(SeqCst);
        // SAFETY: none, that is the point.
        std::hint::black_box(unsafe { std::ptr::read_volatile(p) });
    });
    assert_eq!(bug.kind, FindingKind::Panic);
    assert!(bug.message.contains("invalid memory at 0x0"), "{bug}");
}

#[test]
fn a_deadlock() {
    let bug = bug(|| {
        let (a, b) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|s| {
            s.spawn(|| {
                let _a = a.lock().unwrap();
                let _b = b.lock().unwrap();
            });
            let _b = b.lock().unwrap();
            let _a = a.lock().unwrap();
        });
    });
    assert_eq!(bug.kind, FindingKind::Deadlock, "{bug}");
}

#[test]
fn a_lost_wake_up() {
    let bug = bug(|| {
        let (m, c) = (Mutex::new(()), Condvar::new());
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                ready.store(true, SeqCst);
                c.notify_one();
            });
            let guard = m.lock().unwrap();
            if !ready.load(SeqCst) {
                drop(c.wait(guard));
            }
        });
    });
    assert_eq!(bug.kind, FindingKind::Deadlock, "{bug}");
}

#[test]
fn nondeterminism() {
    let calls = std::cell::Cell::new(0);
    let bug = bug(|| {
        let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
        calls.set(calls.get() + 1);
        thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            s.spawn(|| y.store(1, SeqCst));
            if calls.get() % 2 == 0 {
                x.load(SeqCst);
            }
            y.load(SeqCst);
            x.load(SeqCst);
        });
    });
    assert_eq!(bug.kind, FindingKind::Nondeterminism, "{bug}");
    assert_eq!(bug.message.matches(file!()).count(), 2, "both places are named: {bug}");
}

#[test]
fn an_atomic_in_a_freed_box() {
    let bug = bug(|| {
        let p = AtomicPtr::new(Box::into_raw(Box::new(AtomicUsize::new(1))));
        thread::scope(|s| {
            s.spawn(|| {
                let p = p.swap(std::ptr::null_mut(), SeqCst);
                // SAFETY: wrong: somebody else may still use it.
                drop(unsafe { Box::from_raw(p) });
            });
            let p = p.load(SeqCst);
            if !p.is_null() {
                // SAFETY: wrong: it may be freed meanwhile.
                unsafe { (*p).load(SeqCst) };
            }
        });
    });
    assert!(matches!(bug.kind, FindingKind::UseAfterDrop | FindingKind::Race), "{bug}");
}

#[test]
fn a_race_on_a_cell() {
    struct Shared(cell::UnsafeCell<usize>);
    // SAFETY: wrong, that is the point.
    unsafe impl Sync for Shared {}
    let bug = bug(|| {
        let shared = Arc::new(Shared(cell::UnsafeCell::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            // SAFETY: wrong.
            other.0.with_mut(|p| unsafe { *p += 1 });
        });
        // SAFETY: wrong.
        shared.0.with(|p| unsafe { *p });
        thread.join().unwrap();
    });
    assert_eq!(bug.kind, FindingKind::Race, "{bug}");
}

#[test]
fn a_cell_that_is_published_does_not_race() {
    struct Shared(cell::UnsafeCell<usize>, AtomicBool);
    // SAFETY: the flag says who may access the cell.
    unsafe impl Sync for Shared {}
    let outcome = explore(|| {
        let shared = Arc::new(Shared(cell::UnsafeCell::new(0), AtomicBool::new(false)));
        let other = shared.clone();
        thread::spawn(move || {
            // SAFETY: the flag is not set.
            other.0.with_mut(|p| unsafe { *p = 42 });
            other.1.store(true, Release);
        });
        if shared.1.load(Acquire) {
            // SAFETY: the flag is set.
            assert_eq!(shared.0.with(|p| unsafe { *p }), 42);
        }
    });
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{outcome}");
}

#[test]
fn a_loop_that_waits_is_explored_completely() {
    let outcome = explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    });
    let Outcome { verdict, counts: Counts { classes, blocked, .. }, .. } = outcome;
    assert_eq!((verdict, classes, blocked), (Verdict::Clean, 1, 1), "{outcome}");
}

/// Exact only if optimised, as in this workspace: otherwise the result of the first exchange stays in the
/// frame, and the loop goes round once more.
#[test]
fn a_loop_that_waits_by_compare_exchange() {
    let outcome = explore(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = flag.clone();
        thread::spawn(move || other.store(1, SeqCst));
        while flag.compare_exchange(1, 2, SeqCst, SeqCst).is_err() {
            raddle::hint::spin_loop();
        }
    });
    let Outcome { verdict, counts: Counts { classes, blocked, .. }, .. } = outcome;
    assert_eq!((verdict, classes, blocked), (Verdict::Clean, 1, 1), "{outcome}");
}

#[test]
fn a_spin_lock_by_swap() {
    let outcome = explore(|| {
        let (lock, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        let add = || {
            while lock.swap(true, Acquire) {}
            count.store(count.load(Relaxed) + 1, Relaxed);
            lock.store(false, Release);
        };
        thread::scope(|s| {
            s.spawn(add);
            s.spawn(add);
        });
        assert_eq!(count.load(Relaxed), 2);
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}

#[test]
fn a_lock_that_is_not_released_is_waited_for_for_ever() {
    let bug = bug(|| {
        let lock = AtomicBool::new(false);
        let take = || while lock.swap(true, Acquire) {};
        thread::scope(|s| {
            s.spawn(take);
            s.spawn(take);
            s.spawn(take);
        });
    });
    assert_eq!(bug.kind, FindingKind::Livelock, "{bug}");
}

#[test]
fn a_loop_that_waits_for_nobody_is_a_livelock() {
    let bug = bug(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {}
    });
    assert_eq!(bug.kind, FindingKind::Livelock, "{bug}");
}

#[test]
fn a_loop_that_counts_does_not_spin() {
    let outcome = explore(|| {
        let flag = AtomicBool::new(false);
        let mut count = 0;
        while !flag.load(SeqCst) && count < 10 {
            count += 1;
        }
        assert_eq!(count, 10);
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}

#[test]
fn a_loop_that_counts_elsewhere_does_not_spin() {
    let outcome = explore(|| {
        let flag = AtomicBool::new(false);
        let mut count = 0;
        thread::scope(|s| {
            s.spawn(|| {
                while !flag.load(SeqCst) && count < 10 {
                    count += 1;
                }
            });
        });
        let mut boxed = Box::new(0);
        while !flag.load(SeqCst) && *std::hint::black_box(&mut boxed) < Box::new(10) {
            *boxed += 1;
        }
        assert_eq!(count + *boxed, 20);
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}

#[test]
fn a_thread_without_end_is_incomplete() {
    let checker = Checker::new().model(Model::Sc).max_events(100);
    let outcome = checker.explore(|| {
        let x = AtomicUsize::new(0);
        loop {
            x.fetch_add(1, SeqCst);
        }
    });
    assert_eq!(outcome.verdict, Verdict::Incomplete, "{outcome}");
}

#[test]
#[should_panic(expected = "incomplete")]
fn a_bound_is_no_success() {
    let checker = Checker::new().model(Model::Sc).max_executions(1);
    checker.check(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            x.load(SeqCst);
        });
    });
}

#[test]
#[should_panic(expected = "outside of an exploration")]
fn an_op_outside_of_an_exploration() {
    AtomicUsize::new(0).load(SeqCst);
}

#[test]
fn a_schedule_of_another_test_is_said_to_be_one() {
    let outcome = raddle::replay("fail m:1=i m:2=m/0:0", || {
        let x = AtomicUsize::new(0);
        assert_eq!(x.load(SeqCst), 0);
    });
    assert_eq!(outcome.verdict, Verdict::Incomplete);
    let why = "the test does not match the schedule: thread main has performed another number of operations";
    assert_eq!(outcome.bound, Some(Bound::Other(why.to_owned())));
}

/// Two accesses that are not there, or that are no race, are none.
#[test]
fn a_race_of_another_test_is_none() {
    for schedule in ["race=m:0,m:0", "race=m:0,m/0:0", "race=m:7,m/3:0", "deadlock", "livelock"] {
        let outcome = raddle::replay(schedule, || _ = thread::spawn(|| ()));
        assert_eq!(outcome.verdict, Verdict::Incomplete, "{schedule}: {outcome}");
        let why = "the scheduled execution shows no error";
        assert_eq!(outcome.bound, Some(Bound::Other(why.to_owned())));
    }
}

#[test]
fn a_bug_that_is_fixed_is_none() {
    let test = |expected: usize| {
        move || {
            let x = AtomicUsize::new(0);
            thread::scope(|s| {
                s.spawn(|| x.store(1, SeqCst));
                assert!(x.load(SeqCst) <= expected);
            });
        }
    };
    let schedule = schedule(&bug(test(0)));
    let outcome = raddle::replay(&schedule, test(1));
    assert_eq!(
        (outcome.verdict, outcome.finding().is_some()),
        (Verdict::Incomplete, false),
        "{outcome}"
    );
    assert_eq!(raddle::replay(&schedule, test(0)).verdict, Verdict::Bug);
}

/// The model and the limits of the exploration are part of the schedule.
#[test]
fn a_schedule_knows_its_model() {
    let test = || {
        let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            let t = s.spawn(|| {
                x.store(1, Relaxed);
                y.load(Relaxed)
            });
            y.store(1, Relaxed);
            assert!(x.load(Relaxed) + t.join().unwrap() > 0, "both stores were late");
        });
    };
    let outcome = Checker::new().model(Model::Tso).max_events(77).explore(test);
    let bug = outcome.into_finding().unwrap();
    let schedule = schedule(&bug);
    assert!(schedule.starts_with("fail model=tso events=77 "), "{schedule}");
    let again = raddle::replay(&schedule, test).into_finding().unwrap();
    assert_eq!(raddle::report_finding(&again), raddle::report_finding(&bug));
}

#[test]
fn a_test_that_is_always_given_up_is_not_clean() {
    let outcome = explore(|| {
        let x = AtomicUsize::new(0);
        raddle::assume(x.load(SeqCst) == 1);
    });
    assert_eq!(
        (outcome.verdict, outcome.counts.classes, outcome.counts.blocked),
        (Verdict::Incomplete, 0, 1)
    );
    let text = "nothing was checked, as every execution is blocked: 0 execution classes explored, 1 more blocked";
    assert!(outcome.to_string().starts_with(text), "{outcome}");
}

#[test]
fn executions_that_are_given_up_count() {
    let outcome = Checker::new().max_executions(100).explore(|| {
        let n = raddle::any_of(1000);
        raddle::assume(n == 999);
    });
    assert_eq!(outcome.verdict, Verdict::Incomplete, "{outcome}");
    assert!(outcome.counts.classes + outcome.counts.blocked <= 101, "{outcome}");
    assert_eq!(outcome.bound, Some(Bound::Classes));
}

#[test]
fn schedules_that_are_not_of_rust_tests_are_refused() {
    for text in ["", "panic", "m:1=i", "fail limit=3", "fail tried=3", "fail m=i"] {
        let refused = std::panic::catch_unwind(|| raddle::replay(text, || ()));
        assert!(refused.is_err(), "{text}");
    }
}

#[test]
fn the_report() {
    let line = line!() + 5;
    let outcome = explore(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| x.fetch_add(1, SeqCst));
            assert_eq!(x.load(SeqCst), 0);
        });
    });
    let place = |offset: u32| format!("findings.rs:{}", line - 1 + offset);
    let expected = format!(
        "The execution:

   main                                main/0
1  spawn main/0                                                   {spawn}
2                                      atomic0: 0 -> 1 (initial)  {spawn}
3  load atomic0 = 1 (step 2)                                      {at}
4  join main/0                                                    {scope}
5  store atomic0 = dropped                                        {scope}
   ! assertion `left == right` failed                             {at}

to replay it: raddle::replay(\"fail model=sc m/0:0=i m:1=m/0:0 m:2=m/0:0\", || ...)
",
        scope = place(0).replace(&format!(":{}", line - 1), &format!(":{}", line - 2)),
        spawn = place(0),
        at = place(1),
    );
    let report = raddle::report_finding(outcome.finding().unwrap());
    let head = "error[panic]: thread main: assertion `left == right` failed
                left: 1
               right: 0\n";
    assert!(report.starts_with(head), "{report}");
    assert!(report.contains(&format!("--> {}:{line}:13\n", file!())), "{report}");
    let start = report.find("The execution:").expect("an execution");
    assert_eq!(report[start..], expected, "{report}");
}

/// Counts down when it is dropped, and says what was there before.
struct Held<'a>(&'a AtomicUsize);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        assert!(self.0.fetch_sub(1, SeqCst) > 0, "it was not held");
    }
}

#[test]
fn a_panic_while_something_is_held() {
    let bug = bug(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| count.fetch_add(1, SeqCst));
            count.fetch_add(1, SeqCst);
            let _held = Held(&count);
            assert_eq!(count.load(SeqCst), 1, "there is another one");
        });
    });
    assert_eq!(bug.kind, FindingKind::Panic, "{bug}");
    assert!(bug.message.contains("there is another one"), "{bug}");
}

#[test]
fn destructors_that_ask_do_not_disturb_the_end_of_a_run() {
    let outcome = explore(|| {
        let count = Arc::new(AtomicUsize::new(1));
        let _held = Held(&count);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let count = count.clone();
                thread::spawn(move || {
                    count.fetch_add(1, SeqCst);
                    let _held = Held(&count);
                    count.load(SeqCst)
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap() > 1));
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    assert!(!std::thread::panicking());
}

#[test]
fn a_test_cannot_explore_another() {
    let bug = bug(|| raddle::check(|| ()));
    assert!(bug.message.contains("cannot explore another"), "{bug}");
}

#[test]
fn a_static_lock_with_contents_that_cannot_be_restored() {
    static LIST: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let bug = bug(|| LIST.lock().unwrap().push(1));
    assert_eq!(bug.kind, FindingKind::Misuse, "{bug}");
}

#[test]
fn an_arc_that_is_never_dropped_is_a_leak() {
    let test = || {
        let x = AtomicUsize::new(0);
        let line = line!() + 1;
        let shared = Arc::new(line);
        thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            if x.load(SeqCst) == 1 {
                std::mem::forget(shared);
            }
        });
    };
    assert_eq!(explore(test).verdict, Verdict::Clean);
    let outcome = Checker::new().leaks(true).explore(test);
    let bug = outcome.into_finding().expect("it leaks");
    assert_eq!(bug.kind, FindingKind::Leak, "{bug}");
    let sentence = "leak: an Arc still has 1 owner when all threads have finished";
    assert_eq!(bug.message, format!("thread main: {sentence}"));
    let again = raddle::replay(&schedule(&bug), test).into_finding().unwrap();
    assert_eq!((again.kind, again.place), (bug.kind, bug.place));
}

#[test]
fn a_cycle_is_a_leak_and_a_chain_is_none() {
    struct Node(Mutex<Option<Arc<Node>>>);
    let test = |closed: bool| {
        move || {
            let last = Arc::new(Node(Mutex::new(None)));
            let first = Arc::new(Node(Mutex::new(Some(last.clone()))));
            let handle = thread::spawn({
                let first = first.clone();
                move || {
                    if closed {
                        *last.0.lock().unwrap() = Some(first);
                    }
                }
            });
            handle.join().unwrap();
        }
    };
    let explore = |closed| Checker::new().leaks(true).explore(test(closed));
    assert_eq!(explore(false).verdict, Verdict::Clean);
    assert_eq!(explore(true).into_finding().unwrap().kind, FindingKind::Leak);
}

#[test]
fn memory_is_freed_twice() {
    let bug = bug(|| {
        let block = std::hint::black_box(Box::into_raw(Box::new(5)));
        // SAFETY: none: the second box is one too many.
        unsafe {
            drop(Box::from_raw(block));
            drop(Box::from_raw(block));
        }
    });
    assert_eq!(bug.kind, FindingKind::UseAfterDrop, "{bug}");
    assert!(bug.message.contains("freed before"), "{bug}");
}

#[test]
fn a_static_lock_in_two_explorations_at_once() {
    static COUNT: Mutex<usize> = Mutex::new(0);
    static INSIDE: std::sync::Barrier = std::sync::Barrier::new(2);
    let add = || *COUNT.lock().unwrap() += 1;
    let first = std::thread::spawn(move || {
        Checker::new().explore(move || {
            add();
            INSIDE.wait();
            INSIDE.wait();
        })
    });
    INSIDE.wait();
    let second = Checker::new().explore(add);
    INSIDE.wait();
    assert_eq!(first.join().unwrap().verdict, Verdict::Clean);
    let bug = second.into_finding().expect("it is refused");
    assert_eq!(bug.kind, FindingKind::Misuse, "{bug}");
    assert!(bug.message.contains("two explorations at the same time"), "{bug}");
    assert_eq!(explore(add).verdict, Verdict::Clean);
}

#[test]
fn nondeterminism_is_told_in_words() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let bug = bug(|| {
        let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let n = calls.fetch_add(1, SeqCst);
        thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            if n.is_multiple_of(2) {
                x.load(SeqCst)
            } else {
                y.swap(3, SeqCst)
            };
            x.load(SeqCst);
        });
    });
    assert_eq!(bug.kind, FindingKind::Nondeterminism, "{bug}");
    assert!(bug.message.contains("thread main first did `load atomic0 = ?` at "), "{bug}");
}
