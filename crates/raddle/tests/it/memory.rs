//! Names of memory: whatever the addresses are, histories are the same.

use crate::common::clean;
use raddle::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use raddle::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize};
use raddle::sync::{Arc, Mutex, RwLock};
use raddle::{Checker, Model, Verdict, thread};

#[test]
fn many_blocks() {
    let (seen, _) = clean(|| {
        let boxes: Vec<_> = (0..40).map(|n| Box::new(AtomicUsize::new(n))).collect();
        let slot = AtomicPtr::new(std::ptr::null_mut());
        thread::scope(|s| {
            s.spawn(|| slot.store(std::ptr::from_ref(&*boxes[17]).cast_mut(), SeqCst));
            s.spawn(|| slot.store(std::ptr::from_ref(&*boxes[39]).cast_mut(), SeqCst));
            let found = slot.load(SeqCst);
            // SAFETY: it is null or points into one of the boxes.
            if found.is_null() { 0 } else { unsafe { (*found).fetch_add(1, SeqCst) } }
        })
    });
    assert_eq!(seen, [0, 17, 39]);
}

#[test]
fn variables_that_move_with_their_list() {
    let (seen, _) = clean(|| {
        let list = Mutex::new(vec![AtomicUsize::new(1)]);
        thread::scope(|s| {
            s.spawn(|| {
                let mut list = list.lock().unwrap();
                for n in 0..5 {
                    list.push(AtomicUsize::new(10 * n));
                }
                list[0].fetch_add(1, Relaxed);
            });
            s.spawn(|| list.lock().unwrap()[0].fetch_add(2, Relaxed));
            let list = list.lock().unwrap();
            (list.len(), list[0].load(Relaxed), list.last().unwrap().load(Relaxed))
        })
    });
    let expected = [(1, 1, 1), (1, 3, 3), (6, 2, 40), (6, 4, 40)];
    assert_eq!(seen, expected);
}

#[test]
fn variables_that_are_lent_and_moved() {
    let (seen, _) = clean(|| {
        let mut first = AtomicU8::new(1);
        let mut second = AtomicU8::new(2);
        let (a, b) = (first.get_mut(), second.get_mut());
        *a += 10;
        *b += 20;
        *a += 100;
        let first = Box::new(first);
        let sum = thread::scope(|s| s.spawn(|| first.load(SeqCst)).join().unwrap());
        let mut moved = *first;
        *moved.get_mut() -= 1;
        (sum, moved.into_inner(), second.into_inner())
    });
    assert_eq!(seen, [(111, 110, 22)]);
}

#[test]
fn slots_of_a_list_that_are_used_again() {
    let (seen, _) = clean(|| {
        let mut list = Vec::with_capacity(2);
        let mut sum = 0;
        for n in 1..4 {
            list.push(AtomicUsize::new(n));
            let x = &list[0];
            thread::scope(|s| {
                s.spawn(|| x.fetch_add(10, SeqCst));
                s.spawn(|| x.fetch_add(20, SeqCst));
            });
            sum += list.pop().unwrap().into_inner();
        }
        sum
    });
    assert_eq!(seen, [96]);
}

#[test]
fn results_may_grow_in_between() {
    // The collection allocates in the threads of the test, and not always the same.
    let strings = std::sync::Mutex::new(std::collections::HashSet::new());
    let outcome = Checker::new().model(Model::Sc).explore(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let x = x.clone();
                thread::spawn(move || x.swap(n + 1, SeqCst))
            })
            .collect();
        let order: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        strings.lock().unwrap().insert(format!("{order:?}"));
        let after = Box::new(AtomicUsize::new(7));
        assert_eq!(after.fetch_add(x.load(SeqCst), SeqCst), 7);
    });
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 6), "{outcome}");
    assert_eq!(strings.into_inner().unwrap().len(), 6);
}

#[test]
fn more_events_than_bits_in_a_word() {
    let (seen, classes) = clean(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| (0..100).for_each(|n| x.store(n, Relaxed)));
        });
        x.load(Relaxed)
    });
    assert_eq!((seen, classes), (vec![99], 1));
}

#[test]
fn a_poisoned_lock() {
    let (seen, _) = clean(|| {
        let lock = RwLock::new(1);
        let panics = || {
            let mut value = lock.write().unwrap();
            *value = 2;
            panic!("while it is held");
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        let value = lock.read().map_or_else(|poisoned| **poisoned.get_ref(), |_| 0);
        lock.clear_poison();
        (value, lock.read().is_ok())
    });
    assert_eq!(seen, [(2, true)]);
}

/// A message of a queue with one sender and one receiver, which frees what it has passed on.
struct Message {
    next: AtomicPtr<Message>,
    value: Option<String>,
}

fn message(value: Option<String>) -> *mut Message {
    Box::into_raw(Box::new(Message { next: AtomicPtr::new(std::ptr::null_mut()), value }))
}

struct Sender(*mut Message);
struct Receiver(*mut Message);
// SAFETY: one side of a channel may be anywhere.
unsafe impl Send for Sender {}
// SAFETY: as above.
unsafe impl Send for Receiver {}

fn channel() -> (Sender, Receiver) {
    let first = message(None);
    (Sender(first), Receiver(first))
}

impl Sender {
    fn send(&mut self, value: String) {
        let next = message(Some(value));
        // SAFETY: the receiver does not free the last message.
        unsafe { (*self.0).next.swap(next, AcqRel) };
        self.0 = next;
    }
}

impl Receiver {
    fn receive(&mut self) -> Option<String> {
        // SAFETY: the message is ours until we free it.
        let next = unsafe { (*self.0).next.load(Acquire) };
        if next.is_null() {
            return None;
        }
        // SAFETY: the sender has gone on to the next message.
        drop(unsafe { Box::from_raw(self.0) });
        self.0 = next;
        // SAFETY: the message is ours.
        unsafe { (*next).value.take() }
    }
}

#[test]
fn boxes_that_are_passed_on_and_freed() {
    let (seen, _) = clean(|| {
        let (mut sender, mut receiver) = channel();
        let thread = thread::spawn(move || {
            sender.send(String::from("one"));
            sender.send(String::from("two"));
        });
        let first = receiver.receive();
        let second = receiver.receive();
        thread.join().unwrap();
        let rest: Vec<_> = std::iter::from_fn(|| receiver.receive()).collect();
        assert_eq!(first.iter().chain(&second).chain(&rest).count(), 2);
        (first, second)
    });
    let (one, two) = (Some(String::from("one")), Some(String::from("two")));
    assert_eq!(seen, [(None, None), (None, one.clone()), (one.clone(), None), (one, two)]);
}
