//! Locks, condition variables, parking, shared objects, pointers: all outcomes, and no others.

use std::time::Duration;

use crate::common::clean;
use raddle::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};
use raddle::sync::{Arc, Condvar, Mutex, RwLock, Weak};
use raddle::{any_of, assume, cell, thread};

#[test]
fn a_read_write_lock_lets_readers_in_together() {
    let (seen, _) = clean(|| {
        let lock = RwLock::new(0);
        let inside = AtomicUsize::new(0);
        thread::scope(|s| {
            let read = || {
                let value = lock.read().unwrap();
                let before = inside.fetch_add(1, SeqCst);
                inside.fetch_sub(1, SeqCst);
                (*value, before)
            };
            let (a, b) = (s.spawn(read), s.spawn(read));
            s.spawn(|| {
                let mut value = lock.write().unwrap();
                *value += 1;
                assert_eq!(inside.load(Relaxed), 0);
            });
            let (a, b) = (a.join().unwrap(), b.join().unwrap());
            assert_eq!(*lock.read().unwrap() | 1, 1);
            (a.0, b.0, a.1 + b.1)
        })
    });
    let expected = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)];
    assert_eq!(seen, expected);
}

#[test]
fn a_writer_is_alone() {
    let (seen, _) = clean(|| {
        let lock = RwLock::new(vec![]);
        thread::scope(|s| {
            for n in 0..2 {
                let lock = &lock;
                s.spawn(move || {
                    let mut list = lock.write().unwrap();
                    let length = list.len();
                    list.push(n);
                    assert_eq!(list.len(), length + 1);
                });
            }
        });
        lock.into_inner().unwrap()
    });
    assert_eq!(seen, [vec![0, 1], vec![1, 0]]);
}

#[test]
fn a_lock_can_be_tried() {
    let (seen, _) = clean(|| {
        let mutex = Mutex::new(0);
        thread::scope(|s| {
            s.spawn(|| *mutex.lock().unwrap() = 1);
            mutex.try_lock().map_or(-1, |value| *value)
        })
    });
    assert_eq!(seen, [-1, 0, 1]);
    let (seen, _) = clean(|| {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| drop(lock.read().unwrap()));
            let write = lock.try_write().map_or(-1, |value| *value);
            let read = lock.try_read().map_or(-1, |value| *value);
            (write, read)
        })
    });
    assert_eq!(seen, [(-1, 0), (0, 0)]);
}

#[test]
fn a_condition_variable_wakes_who_waits() {
    let (seen, _) = clean(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pair = pair.clone();
                thread::spawn(move || {
                    let (mutex, condvar) = &*pair;
                    let mut left =
                        condvar.wait_while(mutex.lock().unwrap(), |left| *left == 0).unwrap();
                    *left -= 1;
                    *left
                })
            })
            .collect();
        *pair.0.lock().unwrap() = 2;
        pair.1.notify_all();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(seen, [[0, 1], [1, 0]]);
}

#[test]
fn notify_one_wakes_any_one() {
    let (seen, _) = clean(|| {
        let pair = Arc::new((Mutex::new((0, vec![])), Condvar::new()));
        let threads: Vec<_> = (0..2)
            .map(|n| {
                let pair = pair.clone();
                thread::spawn(move || {
                    let (mutex, condvar) = &*pair;
                    let mut guard = mutex.lock().unwrap();
                    guard.0 += 1;
                    let mut guard = condvar.wait(guard).unwrap();
                    guard.1.push(n);
                })
            })
            .collect();
        let (mutex, condvar) = &*pair;
        let waiting = mutex.lock().unwrap().0;
        assume(waiting == 2);
        condvar.notify_one();
        assert!(mutex.lock().unwrap().1.len() < 2);
        condvar.notify_one();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        mutex.lock().unwrap().1.clone()
    });
    assert_eq!(seen, [[0, 1], [1, 0]]);
}

#[test]
fn a_wait_may_time_out() {
    let (seen, _) = clean(|| {
        let (mutex, condvar) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *mutex.lock().unwrap() = true;
                condvar.notify_one();
            });
            let guard = mutex.lock().unwrap();
            let set_before = *guard;
            let (guard, result) = condvar.wait_timeout(guard, Duration::from_secs(1)).unwrap();
            (set_before, *guard, result.timed_out())
        })
    });
    let expected = [
        (false, false, true),
        (false, true, false),
        (false, true, true),
        (true, true, false),
        (true, true, true),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_parked_thread_waits_for_its_token() {
    let (seen, _) = clean(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let parked = thread::spawn({
            let flag = flag.clone();
            move || {
                thread::park();
                flag.load(SeqCst)
            }
        });
        flag.store(true, SeqCst);
        parked.thread().unpark();
        parked.join().unwrap()
    });
    assert_eq!(seen, [true]);
    let (seen, _) = clean(|| {
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        thread::park_timeout(Duration::ZERO);
        thread::current().name().map(str::to_owned)
    });
    assert_eq!(seen, [Some(String::from("main"))]);
}

#[test]
fn owners_are_counted_if_somebody_asks() {
    let (seen, _) = clean(|| {
        let shared = Arc::new(5);
        let other = shared.clone();
        let thread = thread::spawn(move || drop(other));
        let count = Arc::strong_count(&shared);
        thread.join().unwrap();
        assert_eq!(Arc::strong_count(&shared), 1);
        (count, Arc::try_unwrap(shared).unwrap())
    });
    assert_eq!(seen, [(1, 5), (2, 5)]);
}

#[test]
fn a_weak_owner_may_be_late() {
    let (seen, _) = clean(|| {
        let shared = Arc::new(String::from("shared"));
        let weak: Weak<String> = Arc::downgrade(&shared);
        let thread = thread::spawn(move || weak.upgrade().map(|shared| shared.len()));
        drop(shared);
        thread.join().unwrap()
    });
    assert_eq!(seen, [None, Some(6)]);
    let (seen, _) = clean(|| {
        let mut shared = Arc::new(1);
        *Arc::get_mut(&mut shared).unwrap() += 1;
        let weak = Arc::downgrade(&shared);
        assert!(Arc::get_mut(&mut shared).is_none());
        drop(weak);
        *Arc::make_mut(&mut shared) += 1;
        let second = shared.clone();
        *Arc::make_mut(&mut shared) += 1;
        (*shared, *second, Arc::into_inner(shared), Arc::into_inner(second))
    });
    assert_eq!(seen, [(4, 3, Some(4), Some(3))]);
}

#[test]
fn shared_trait_objects() {
    trait Shape: Send + Sync {
        fn area(&self) -> usize;
    }
    struct Square(AtomicUsize);
    impl Shape for Square {
        fn area(&self) -> usize {
            self.0.load(SeqCst).pow(2)
        }
    }
    let (seen, _) = clean(|| {
        let square = std::sync::Arc::new(Square(AtomicUsize::new(3)));
        let shape: Arc<dyn Shape> = Arc::from_std(square);
        let other = shape.clone();
        thread::spawn(move || other.area()).join().unwrap() + shape.area()
    });
    assert_eq!(seen, [18]);
}

struct Node {
    value: usize,
    next: *mut Node,
}

/// A stack without locks that frees nothing before it is dropped.
struct Treiber {
    head: AtomicPtr<Node>,
    popped: AtomicPtr<Node>,
}

impl Treiber {
    fn push(&self, value: usize) {
        let node = Box::into_raw(Box::new(Node { value, next: std::ptr::null_mut() }));
        self.link(&self.head, node);
    }

    fn link(&self, head: &AtomicPtr<Node>, node: *mut Node) {
        let mut first = head.load(Relaxed);
        loop {
            // SAFETY: nobody else has the node yet.
            unsafe { (*node).next = first };
            match head.compare_exchange(first, node, Release, Relaxed) {
                Ok(_) => return,
                Err(other) => first = other,
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        let mut first = self.head.load(Acquire);
        loop {
            if first.is_null() {
                return None;
            }
            // SAFETY: nothing is freed.
            let (value, next) = unsafe { ((*first).value, (*first).next) };
            match self.head.compare_exchange(first, next, Acquire, Acquire) {
                Ok(_) => return Some(value),
                Err(other) => first = other,
            }
        }
    }
}

impl Drop for Treiber {
    fn drop(&mut self) {
        for list in [&mut self.head, &mut self.popped] {
            let mut node = *list.get_mut();
            while !node.is_null() {
                // SAFETY: nobody else has it any more.
                node = unsafe { Box::from_raw(node) }.next;
            }
        }
    }
}

fn treiber() -> Treiber {
    let null = std::ptr::null_mut();
    Treiber { head: AtomicPtr::new(null), popped: AtomicPtr::new(null) }
}

#[test]
fn a_stack_of_boxes() {
    let (seen, _) = clean(|| {
        let stack = treiber();
        thread::scope(|s| {
            s.spawn(|| stack.push(1));
            s.spawn(|| stack.push(2));
            let popped = s.spawn(|| stack.pop());
            let first = popped.join().unwrap();
            (first, stack.pop())
        })
    });
    let expected = [
        (None, None),
        (None, Some(1)),
        (None, Some(2)),
        (Some(1), None),
        (Some(1), Some(2)),
        (Some(2), None),
        (Some(2), Some(1)),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_shared_stack_of_boxes() {
    let (seen, classes) = clean(|| {
        let stack = Arc::new(treiber());
        let other = stack.clone();
        let thread = thread::spawn(move || {
            other.push(1);
            other.pop()
        });
        stack.push(2);
        (thread.join().unwrap(), stack.pop())
    });
    assert_eq!(seen, [(Some(1), Some(2)), (Some(2), Some(1))]);
    assert!(classes >= 3);
}

#[test]
fn pointers_with_tags() {
    let (seen, _) = clean(|| {
        let x = Box::into_raw(Box::new(7u64)) as usize;
        let tagged = AtomicUsize::new(x);
        let seen = thread::scope(|s| {
            s.spawn(|| tagged.fetch_or(1, SeqCst));
            s.spawn(|| tagged.fetch_add(2, SeqCst));
            let value = tagged.load(SeqCst);
            assert_eq!(value & !7, x, "the address is the same");
            assert_eq!(tagged.fetch_and(!0, SeqCst) & !7, x);
            // SAFETY: it points to the box.
            (value & 7, unsafe { *((value & !7) as *const u64) })
        });
        let high = AtomicUsize::new(x | 0xAB << 56);
        assert_eq!(high.load(SeqCst) >> 56, 0xAB);
        assert_eq!(high.compare_exchange(x, 0, SeqCst, SeqCst), Err(x | 0xAB << 56));
        // SAFETY: nobody else has it any more.
        drop(unsafe { Box::from_raw(x as *mut u64) });
        seen
    });
    assert_eq!(seen, [(0, 7), (1, 7), (2, 7), (3, 7)]);
}

#[test]
fn pointers_to_the_stacks_of_others() {
    let (seen, _) = clean(|| {
        let slot = AtomicPtr::new(std::ptr::null_mut::<AtomicU32>());
        let done = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                let mut mine = AtomicU32::new(1);
                slot.store(&raw mut mine, SeqCst);
                while !done.load(SeqCst) {}
                *mine.get_mut() += 0;
            });
            let theirs = slot.load(SeqCst);
            let value = if theirs.is_null() {
                0
            } else {
                // SAFETY: the other thread waits.
                unsafe { (*theirs).fetch_add(5, SeqCst) + (*theirs).load(SeqCst) }
            };
            done.store(true, SeqCst);
            value
        })
    });
    assert_eq!(seen, [0, 7]);
}

#[test]
fn slots_of_the_stack_that_are_used_again() {
    let (seen, _) = clean(|| {
        let mut sum = 0;
        for n in 0..3 {
            let x = AtomicUsize::new(n);
            thread::scope(|s| {
                s.spawn(|| x.fetch_add(10, SeqCst));
            });
            sum += x.load(SeqCst);
        }
        sum
    });
    assert_eq!(seen, [33]);
}

#[test]
fn statics_are_new_in_every_run() {
    static COUNT: AtomicUsize = AtomicUsize::new(3);
    static LIST: Mutex<[usize; 2]> = Mutex::new([0; 2]);
    let (seen, _) = clean(|| {
        thread::scope(|s| {
            s.spawn(|| COUNT.fetch_add(1, SeqCst));
            s.spawn(|| LIST.lock().unwrap()[0] += 1);
            LIST.lock().unwrap()[1] += 1;
            COUNT.fetch_add(1, SeqCst);
        });
        (COUNT.load(SeqCst), *LIST.lock().unwrap())
    });
    assert_eq!(seen, [(5, [1, 1])]);
    assert_eq!(*LIST.lock_outside(), [0, 0]);
}

trait Outside<T> {
    fn lock_outside(&self) -> Box<T>;
}

impl<T: Copy + Send + Default> Outside<T> for Mutex<T> {
    /// What the mutex holds, as a run that only looks sees it.
    fn lock_outside(&self) -> Box<T> {
        let found = std::cell::Cell::new(T::default());
        let checker = raddle::Checker::new().model(raddle::Model::Sc);
        checker.check(|| found.set(*self.lock().unwrap()));
        Box::new(found.get())
    }
}

#[test]
fn choices() {
    let (seen, classes) = clean(|| {
        let number = any_of(3) + 10 * any_of(2);
        assume(number != 11);
        number
    });
    assert_eq!((seen, classes), (vec![0, 1, 2, 10, 12], 5));
}

#[test]
fn cells_hold_what_happened_before() {
    struct Slot(cell::UnsafeCell<Vec<usize>>);
    // SAFETY: the mutex below says who may access it.
    unsafe impl Sync for Slot {}
    let (seen, _) = clean(|| {
        let (lock, slot) = (Mutex::new(()), Slot(cell::UnsafeCell::new(vec![])));
        let (lock, slot) = (&lock, &slot);
        thread::scope(|s| {
            for n in 0..2 {
                s.spawn(move || {
                    let _held = lock.lock().unwrap();
                    // SAFETY: the lock is held.
                    slot.0.with_mut(|list| unsafe { (*list).push(n) });
                });
            }
        });
        // SAFETY: the threads have ended.
        slot.0.with(|list| unsafe { (*list).clone() })
    });
    assert_eq!(seen, [vec![0, 1], vec![1, 0]]);
}

#[test]
fn threads_of_threads_in_a_scope() {
    let (seen, _) = clean(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                s.spawn(|| x.fetch_add(1, SeqCst));
                x.fetch_add(2, SeqCst);
            });
            s.spawn(|| x.fetch_add(4, SeqCst));
        });
        x.load(SeqCst)
    });
    assert_eq!(seen, [7]);
}

#[test]
fn explorations_at_the_same_time() {
    let explore = || {
        for _ in 0..20 {
            a_stack_of_boxes_once();
        }
    };
    std::thread::scope(|s| {
        s.spawn(explore);
        s.spawn(explore);
    });
}

fn a_stack_of_boxes_once() {
    static SHARED: AtomicUsize = AtomicUsize::new(0);
    let (seen, _) = clean(|| {
        let stack = treiber();
        thread::scope(|s| {
            s.spawn(|| {
                stack.push(1);
                SHARED.fetch_add(1, SeqCst);
            });
            stack.push(2);
            SHARED.fetch_add(1, SeqCst);
        });
        (stack.pop(), SHARED.load(SeqCst))
    });
    assert_eq!(seen, [(Some(1), 2), (Some(2), 2)]);
}
