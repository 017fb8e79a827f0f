//! The same algorithm in Rust and in C has the same number of classes under every model.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicI32, Ordering::Relaxed};
use raddle::{Checker, thread};
use raddle_core::model::Model;
use raddle_native::{Request, check_built};

use crate::corpus::built;

/// A variable of the C program: relaxed, as `GET`, `SET` and `ADD` of `tables.h`.
struct Int(AtomicI32);

impl Int {
    fn get(&self) -> i32 {
        self.0.load(Relaxed)
    }

    fn set(&self, value: i32) {
        self.0.store(value, Relaxed);
    }

    fn add(&self, value: i32) {
        self.set(self.get() + value);
    }
}

fn ints<const N: usize>(values: [i32; N]) -> [Int; N] {
    values.map(|value| Int(AtomicI32::new(value)))
}

fn threads(n: usize, body: impl Fn(usize) + Sync) {
    let body = &body;
    thread::scope(|scope| {
        for i in 0..n {
            scope.spawn(move || body(i));
        }
    });
}

/// Compares a C program of the tables with a test in Rust, under all models.
fn same(program: &str, flags: &[&str], test: impl Fn()) {
    let mut request = Request { exact: true, ..Request::new(&[]) };
    let flags: Vec<String> = flags.iter().copied().map(String::from).collect();
    let object = built(&format!("tables/{program}"), &flags, "gcc");
    for model in Model::ALL {
        request.model = model;
        let in_c = check_built(&object, &request).unwrap_or_else(|error| panic!("{error}"));
        let in_rust = Checker::new().model(model).explore(&test);
        let counts = [
            (in_c.counts.classes, in_c.counts.blocked),
            (in_rust.counts.classes, in_rust.counts.blocked),
        ];
        assert_eq!(counts[0], counts[1], "{program}, {model}");
        assert!(in_c.findings.is_empty() && in_rust.findings.is_empty(), "{program}, {model}");
    }
}

#[test]
fn readers() {
    same("readers.c", &["-DN=4"], || {
        let [x] = ints([0]);
        threads(5, |i| if i == 0 { x.set(1) } else { _ = x.get() });
    });
}

#[test]
fn lastzero() {
    same("lastzero.c", &["-DN=4"], || {
        let cells = ints([0; 5]);
        threads(5, |i| {
            if i > 0 {
                return cells[i].set(cells[i - 1].get() + 1);
            }
            let mut last = 4;
            while cells[last].get() != 0 {
                last -= 1;
            }
        });
    });
}

#[test]
fn redundant_co() {
    same("redundant_co.c", &["-DN=3"], || {
        let [x] = ints([0]);
        threads(3, |i| match i {
            2 => _ = (x.get(), x.get()),
            _ => (1..=3).for_each(|k| x.set(k)),
        });
    });
}

#[test]
fn spammer() {
    same("spammer.c", &["-DN=3"], || {
        let inbox = ints([0; 3]);
        threads(3, |i| {
            (0..3).filter(|&other| other != i).for_each(|other| inbox[other].set(i as i32 + 1));
            inbox[i].get();
        });
    });
}

#[test]
fn account() {
    same("account.c", &["-DN=2"], || {
        let [balance] = ints([1000]);
        threads(3, |i| balance.add(if i == 2 { -10 } else { 100 }));
        balance.get();
    });
}

#[test]
fn fib_bench() {
    same("fib_bench.c", &["-DN=2"], || {
        let [i, j] = ints([1, 1]);
        threads(2, |me| {
            for _ in 0..2 {
                let (mine, other) = if me == 0 { (&i, &j) } else { (&j, &i) };
                let value = other.get();
                mine.add(value);
            }
        });
        assert!(i.get() > 0 && j.get() > 0);
    });
}

#[test]
fn race_parametric() {
    same("race_parametric.c", &["-DN=2"], || {
        let [x] = ints([0]);
        threads(2, |i| {
            for _ in 0..2 {
                x.set(i as i32);
                x.get();
            }
        });
    });
}

#[test]
fn reorder_5() {
    same("reorder_5.c", &["-DN=2"], || {
        let [a, b] = ints([0, 0]);
        threads(3, |i| {
            if i < 2 {
                a.set(1);
                b.set(-1);
            } else {
                let _ = (a.get() == 0 && b.get() == 0) || (a.get() == 1 && b.get() == -1);
            }
        });
    });
}

#[test]
fn eratosthenes() {
    same("eratosthenes.c", &["-DN=9"], || {
        let crossed = ints([0; 9]);
        threads(2, |_| {
            for i in 2..9 {
                if crossed[i].get() == 0 {
                    (2 * i..9).step_by(i).for_each(|multiple| crossed[multiple].set(1));
                }
            }
        });
    });
}

#[test]
fn seqlock() {
    same("seqlock.c", &["-DN=3"], || {
        let [sequence] = ints([0]);
        threads(4, |i| {
            if i == 3 {
                _ = (sequence.get(), sequence.get());
            } else {
                sequence.0.fetch_add(2, Relaxed);
            }
        });
    });
}

#[test]
fn cas_counter() {
    same("cas_counter.c", &["-DN=3"], || {
        let [x] = ints([0]);
        threads(3, |_| {
            let mut old = x.get();
            while let Err(now) = x.0.compare_exchange(old, old + 1, Relaxed, Relaxed) {
                old = now;
            }
        });
    });
}

#[test]
fn stack() {
    same("stack.c", &["-DN=3"], || {
        let (mutex, cells, [top]) = (Mutex::new(()), ints([0; 3]), ints([0]));
        threads(2, |i| {
            for _ in 0..3 {
                let _guard = mutex.lock().expect("nobody panics");
                if i == 0 {
                    cells[top.get() as usize].set(1);
                    top.add(1);
                } else if top.get() > 0 {
                    top.add(-1);
                    cells[top.get() as usize].get();
                }
            }
        });
    });
}

#[test]
fn peterson() {
    same("peterson.c", &["-DN=2"], || {
        let (flags, [turn]) = (ints([0, 0]), ints([0]));
        threads(2, |i| {
            for _ in 0..2 {
                flags[i].set(1);
                turn.set(1 - i as i32);
                if flags[1 - i].get() == 1 && turn.get() != i as i32 {
                    break;
                }
                flags[i].set(0);
            }
        });
    });
}

#[test]
fn bakery() {
    same("bakery.c", &["-DN=1"], || {
        let (tickets, choosing) = (ints([0, 0]), ints([0, 0]));
        threads(2, |i| {
            choosing[i].set(1);
            let mine = 1 + tickets[0].get().max(tickets[1].get());
            tickets[i].set(mine);
            choosing[i].set(0);
            if choosing[1 - i].get() != 0 {
                return;
            }
            let other = tickets[1 - i].get();
            if other == 0 || (other, 1 - i) >= (mine, i) {
                tickets[i].set(0);
            }
        });
    });
}
