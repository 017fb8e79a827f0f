//! Each primitive, under sequential consistency.

use crate::common::clean;
use raddle::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicI8, AtomicPtr, AtomicU8, AtomicUsize, fence};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

#[test]
fn store_buffering() {
    let (seen, classes) = clean(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = Arc::new(AtomicUsize::new(0));
        let a = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || {
                x.store(1, SeqCst);
                y.load(SeqCst)
            }
        });
        let b = thread::spawn(move || {
            y.store(1, SeqCst);
            x.load(SeqCst)
        });
        (a.join().unwrap(), b.join().unwrap())
    });
    assert_eq!(seen, [(0, 1), (1, 0), (1, 1)]);
    assert_eq!(classes, 3);
}

#[test]
fn one_thread() {
    let (seen, classes) = clean(|| {
        let mut x = AtomicI8::new(-3);
        assert_eq!(x.load(Relaxed), -3);
        x.store(127, Release);
        assert_eq!(x.fetch_add(2, AcqRel), 127);
        assert_eq!(x.load(Acquire), -127);
        assert_eq!(x.fetch_max(5, Relaxed), -127);
        assert_eq!(x.fetch_min(-1, Relaxed), 5);
        assert_eq!(x.compare_exchange(0, 1, SeqCst, SeqCst), Err(-1));
        assert_eq!(x.compare_exchange(-1, 1, SeqCst, SeqCst), Ok(-1));
        *x.get_mut() += 5;
        fence(SeqCst);
        assert_eq!(x.fetch_update(SeqCst, SeqCst, |x| Some(x * 2)), Ok(6));
        let moved = Box::new(x);
        assert_eq!(moved.swap(3, SeqCst), 12);
        let b = AtomicBool::new(true);
        assert!(b.fetch_nand(true, SeqCst));
        assert!(!b.fetch_not(SeqCst));
        assert!(b.into_inner());
        let bits = AtomicU8::new(0b1100);
        assert_eq!(bits.fetch_nand(0b0110, SeqCst), 0b1100);
        assert_eq!(bits.into_inner(), !0b0100);
        moved.load(SeqCst)
    });
    assert_eq!((seen, classes), (vec![3], 1));
}

#[test]
fn mutex() {
    let (seen, _) = clean(|| {
        let m = Arc::new(Mutex::new(vec![]));
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let m = m.clone();
                thread::spawn(move || m.lock().unwrap().push(n))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        m.lock().unwrap().clone()
    });
    assert_eq!(seen.len(), 6);
}

#[test]
fn scoped_threads_share_the_stack() {
    let (seen, classes) = clean(|| {
        let x = AtomicUsize::new(1);
        thread::scope(|s| {
            s.spawn(|| x.fetch_add(1, SeqCst));
            s.spawn(|| x.store(5, SeqCst));
        });
        x.load(SeqCst)
    });
    assert_eq!((seen, classes), (vec![5, 6], 2));
}

#[test]
fn pointers_carry_what_they_point_to() {
    let (seen, _) = clean(|| {
        let p = AtomicPtr::new(std::ptr::null_mut::<usize>());
        thread::scope(|s| {
            s.spawn(|| p.store(Box::into_raw(Box::new(7)), SeqCst));
            s.spawn(|| p.store(Box::into_raw(Box::new(8)), SeqCst));
            let reader = s.spawn(|| {
                let p = p.load(SeqCst);
                // SAFETY: it is null or points to a box that nobody frees.
                if p.is_null() { 0 } else { unsafe { *p } }
            });
            reader.join().unwrap()
        })
    });
    assert_eq!(seen, [0, 7, 8]);
}
