//! Litmus tests with atomic variables of the standard library, as a plain program. The arguments are the name of the test, the memory
//! orders, and whether the outcome is reported: then the exit status is 1 + its values as the digits of a number to the base 3.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::thread::spawn;

static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy)]
struct Orders {
    store: Ordering,
    load: Ordering,
    update: Ordering,
}

impl Orders {
    fn write(self, to: &AtomicU32, value: u32) {
        to.store(value, self.store);
    }

    fn read(self, from: &AtomicU32) -> u32 {
        from.load(self.load)
    }

    /// Counts once, unless another thread comes first.
    fn count(self, to: &AtomicU32) -> u32 {
        let value = self.read(to);
        to.compare_exchange(value, value + 1, self.update, self.load).is_ok().into()
    }
}

/// Runs two threads.
fn both<A: Send + 'static, B: Send + 'static>(
    a: impl FnOnce() -> A + Send + 'static,
    b: impl FnOnce() -> B + Send + 'static,
) -> (A, B) {
    let (a, b) = (spawn(a), spawn(b));
    (a.join().unwrap(), b.join().unwrap())
}

fn outcome(test: &str, o: Orders) -> Vec<u32> {
    match test {
        "sb" => {
            let a = move || { o.write(&X, 1); o.read(&Y) };
            let (a, b) = both(a, move || { o.write(&Y, 1); o.read(&X) });
            vec![a, b]
        }
        "mp" => {
            let a = move || { o.write(&X, 1); o.write(&Y, 1) };
            let (_, (a, b)) = both(a, move || (o.read(&Y), o.read(&X)));
            vec![a, b]
        }
        "lb" => {
            let a = move || { let value = o.read(&X); o.write(&Y, 1); value };
            let (a, b) = both(a, move || { let value = o.read(&Y); o.write(&X, 1); value });
            vec![a, b]
        }
        "iriw" => {
            let writers = (spawn(move || o.write(&X, 1)), spawn(move || o.write(&Y, 1)));
            let (a, b) = both(move || (o.read(&X), o.read(&Y)), move || (o.read(&Y), o.read(&X)));
            writers.0.join().unwrap();
            writers.1.join().unwrap();
            vec![a.0, a.1, b.0, b.1]
        }
        "2+2w" => {
            let a = move || { o.write(&X, 1); o.write(&Y, 2) };
            both(a, move || { o.write(&Y, 1); o.write(&X, 2) });
            vec![X.load(Relaxed), Y.load(Relaxed)]
        }
        "cas" => {
            let (a, b) = both(move || o.count(&X), move || o.count(&X));
            vec![a, b, X.load(Relaxed)]
        }
        _ => panic!("no test is called {test}"),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let orders = match args[2].as_str() {
        "relaxed" => Orders { store: Relaxed, load: Relaxed, update: Relaxed },
        "acq_rel" => Orders { store: Release, load: Acquire, update: AcqRel },
        _ => Orders { store: SeqCst, load: SeqCst, update: SeqCst },
    };
    let outcome = outcome(&args[1], orders);
    if args[3] == "tell" {
        let number = outcome.iter().fold(0, |number, value| 3 * number + value);
        std::process::exit(1 + number as i32);
    }
}
