//! Litmus tests with atomic variables of the standard library: each panics in the execution that its name stands for.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::thread::spawn;

static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);

macro_rules! litmus {
    ($($order:ident $store:ident $load:ident;)*) => {$(
        mod $order {
            use super::*;

            fn write(to: &AtomicU32, value: u32) {
                to.store(value, $store);
            }

            fn read(from: &AtomicU32) -> u32 {
                from.load($load)
            }

            #[test]
            fn sb() {
                let a = spawn(|| { write(&X, 1); read(&Y) });
                let b = spawn(|| { write(&Y, 1); read(&X) });
                assert_ne!((a.join().unwrap(), b.join().unwrap()), (0, 0));
            }

            #[test]
            fn mp() {
                let a = spawn(|| { write(&X, 1); write(&Y, 1) });
                let b = spawn(|| (read(&Y), read(&X)));
                a.join().unwrap();
                assert_ne!(b.join().unwrap(), (1, 0));
            }

            #[test]
            fn lb() {
                let a = spawn(|| { let value = read(&X); write(&Y, 1); value });
                let b = spawn(|| { let value = read(&Y); write(&X, 1); value });
                assert_ne!((a.join().unwrap(), b.join().unwrap()), (1, 1));
            }

            #[test]
            fn iriw() {
                let a = spawn(|| write(&X, 1));
                let b = spawn(|| write(&Y, 1));
                let c = spawn(|| (read(&X), read(&Y)));
                let d = spawn(|| (read(&Y), read(&X)));
                a.join().unwrap();
                b.join().unwrap();
                assert_ne!((c.join().unwrap(), d.join().unwrap()), ((1, 0), (1, 0)));
            }

            #[test]
            fn two_writes() {
                let a = spawn(|| { write(&X, 1); write(&Y, 2) });
                let b = spawn(|| { write(&Y, 1); write(&X, 2) });
                a.join().unwrap();
                b.join().unwrap();
                assert_ne!((X.load(Relaxed), Y.load(Relaxed)), (1, 1));
            }

            #[test]
            fn no_assertion() {
                let a = spawn(|| { write(&X, 1); read(&Y) });
                let b = spawn(|| { write(&Y, 1); read(&X) });
                a.join().unwrap();
                b.join().unwrap();
            }
        }
    )*};
}

litmus! {
    relaxed Relaxed Relaxed;
    acq_rel Release Acquire;
    seq_cst SeqCst SeqCst;
}
