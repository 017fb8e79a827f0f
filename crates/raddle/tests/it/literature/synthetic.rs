//! Programs made up to show what an algorithm does.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::harness::{
    Int, both, by_formula, confirmed, ints, published, published_long, published_traces,
    published_traces_long, threads,
};

/// One writer, and `n` threads that read its variable once.
fn readers(n: usize) {
    let x = Int::new(0);
    threads(n + 1, |i| {
        if i == 0 {
            x.set(1);
        } else {
            x.get();
        }
    });
}

#[test]
fn readers_see_the_write_or_not() {
    by_formula(readers, &[1, 2, 10], |n| 1 << n);
    published_long(readers, 14, [16384; 3]);
    published_traces_long(readers, 14, [16384; 3]);
    published_long(readers, 15, [32768; 3]);
}

/// Thread `i` adds one to what is before its cell; one thread looks for the last cell that is zero.
fn lastzero(n: usize) {
    let cells = ints(n + 1);
    threads(n + 1, |i| {
        if i == 0 {
            let mut last = n;
            while cells[last].get() != 0 {
                last -= 1;
            }
        } else {
            cells[i].set(cells[i - 1].get() + 1);
        }
    });
}

#[test]
fn lastzero_of_the_tables() {
    by_formula(lastzero, &[2, 3, 8], |n| (n + 3) << (n - 2));
    published_long(lastzero, 14, [69632; 3]);
    published_traces_long(lastzero, 14, [69632; 3]);
    published_long(lastzero, 15, [147_456; 3]);
}

/// `n` threads write a variable and one reads it.
fn floating_read(n: usize) {
    let x = Int::new(0);
    threads(n + 1, |i| {
        if i == n {
            x.get();
        } else {
            x.set(i as i32 + 1);
        }
    });
}

#[test]
fn floating_read_of_the_tables() {
    published(floating_read, 7, [8; 3]);
    published(floating_read, 8, [9; 3]);
    published_traces(floating_read, 7, [40320; 3]);
}

/// `n` threads write a variable; it is read when all are done.
fn lastwrite(n: usize) {
    let x = Int::new(0);
    threads(n, |i| x.set(i as i32 + 1));
    x.get();
}

#[test]
fn lastwrite_of_the_tables() {
    published(lastwrite, 9, [9; 3]);
    published(lastwrite, 10, [10; 3]);
    published_traces_long(lastwrite, 9, [362_880; 3]);
}

/// Two threads write a variable `n` times each; a third one reads it twice.
fn redundant_co(n: usize) {
    let x = Int::new(0);
    threads(3, |i| {
        if i == 2 {
            x.get();
            x.get();
        } else {
            (0..n).for_each(|k| x.set(k as i32 + 1));
        }
    });
}

/// `3n^2 + 3n + 1`.
#[test]
fn redundant_co_of_the_tables() {
    published(redundant_co, 5, [91; 3]);
    published(redundant_co, 40, [4921; 3]);
    published_traces(redundant_co, 5, [16632; 3]);
}

/// `n` readers of `x`, `n` writers of `y`, and two threads in which a write depends on what was read.
fn control_flow(n: usize) {
    let (x, y, z) = (Int::new(0), Int::new(0), Int::new(0));
    threads(2 * n + 2, |i| match i.checked_sub(2 * n) {
        None if i % 2 == 0 => _ = x.get(),
        None => y.set(1),
        Some(0) => {
            if y.get() == 0 {
                z.set(1);
            }
        }
        Some(_) => {
            if z.get() == 1 && y.get() == 0 {
                x.set(1);
            }
        }
    });
}

/// `2^n + 2n + 1`.
#[test]
fn control_flow_of_the_tables() {
    published(control_flow, 7, [143; 3]);
    published_long(control_flow, 14, [16413; 3]);
    published_traces_long(control_flow, 7, [720_720; 3]);
}

/// Two threads write a variable and read it, `n` times.
fn race_parametric(n: usize) {
    let x = Int::new(0);
    threads(2, |i| {
        for _ in 0..n {
            x.set(i as i32);
            x.get();
        }
    });
}

#[test]
fn race_parametric_of_the_tables() {
    confirmed(race_parametric, 3, [141; 3]);
    published(race_parametric, 6, [73789; 3]);
    published_traces_long(race_parametric, 6, [372_436; 3]);
}

/// One thread writes a variable `n` times, one reads it `n` times.
fn writer_reader(n: usize) {
    let x = Int::new(0);
    both(|| (1..=n).for_each(|k| x.set(k as i32)), || (0..n).for_each(|_| _ = x.get()));
}

/// How many ways there are to choose `k` of `n`.
pub(crate) fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |ways, i| ways * (n - i) / (i + 1))
}

#[test]
fn writer_reader_of_the_tables() {
    by_formula(writer_reader, &[1, 4, 7], |n| choose(2 * n, n));
    published_long(writer_reader, 11, [705_432; 3]);
    published_traces_long(writer_reader, 11, [705_432; 3]);
}

/// Every thread writes to all others, and then looks what was written to it.
fn spammer(n: usize) {
    let inbox = ints(n);
    threads(n, |i| {
        for other in (0..n).filter(|&other| other != i) {
            inbox[other].set(i as i32 + 1);
        }
        inbox[i].get();
    });
}

/// With store buffers every thread can read what it likes: `n^n`.
#[test]
fn spammer_of_the_tables() {
    published(spammer, 4, [178, 256, 256]);
    published_traces_long(spammer, 4, [19448, 331_776, 331_776]);
}

/// `n` writers count a sequence number; a reader reads it before and after it reads.
fn seqlock(n: usize) {
    let sequence = AtomicI32::new(0);
    threads(n + 1, |i| {
        if i == n {
            sequence.load(Relaxed);
            sequence.load(Relaxed);
        } else {
            sequence.fetch_add(2, Relaxed);
        }
    });
}

/// All orders of the writers, and for each all pairs of positions in which the second read is not before the
/// first: `(n + 2)! / 2`. The tables have that too, but their writers may do more.
#[test]
fn seqlock_of_the_tables() {
    by_formula(seqlock, &[2, 5], |n| (3..=n + 2).product());
    published_long(seqlock, 7, [181_440; 3]);
    published_traces_long(seqlock, 7, [181_440; 3]);
}

/// Two sections write `x` and, `n` times, `y`; the others look at both.
fn exponential_bug(n: usize) {
    let (x, y, lock) = (Int::new(0), Int::new(0), Mutex::new(()));
    threads(3, |i| {
        for _ in 0..2 {
            match i {
                0 => {
                    let _guard = lock.lock().unwrap();
                    x.set(1);
                    (0..n).for_each(|_| y.set(1));
                }
                1 => {
                    drop({
                        let guard = lock.lock().unwrap();
                        x.set(0);
                        guard
                    });
                    if x.get() > 0 {
                        y.add(1);
                        x.set(2);
                    }
                }
                _ => {
                    if x.get() > 1 {
                        if y.get() == 3 {
                            return;
                        }
                        y.set(2);
                    }
                }
            }
        }
    });
}

#[test]
fn exponential_bug_of_the_tables() {
    confirmed(exponential_bug, 1, [867, 879, 1203]);
    published_long(exponential_bug, 20, [502_771, 503_714, 581_482]);
}
