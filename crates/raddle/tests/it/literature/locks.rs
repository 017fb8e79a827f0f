//! Programs with locks.

use raddle::sync::Mutex;
use raddle::thread;

use super::harness::{
    Int, both, by_formula, confirmed, ints, published, published_long, published_traces,
    published_traces_long, threads,
};
use super::synthetic::choose;

fn locks(n: usize) -> Vec<Mutex<()>> {
    (0..n).map(|_| Mutex::new(())).collect()
}

fn locked<T>(lock: &Mutex<()>, section: impl FnOnce() -> T) -> T {
    let _guard = lock.lock().unwrap();
    section()
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// A thread that sends and one that receives, each `n` times if it is its turn.
fn circular_buffer(n: usize) {
    let (lock, buffer, turn) = (Mutex::new(()), ints(n), Int::new(0));
    let (next, first) = (Int::new(0), Int::new(0));
    let step = |who: i32, at: &Int, access: &dyn Fn(&Int)| {
        for _ in 0..n {
            locked(&lock, || {
                if turn.get() == who {
                    access(&buffer[at.get() as usize]);
                    at.add(1);
                    turn.set(1 - who);
                }
            });
        }
    };
    both(|| step(0, &next, &|cell| cell.set(1)), || step(1, &first, &|cell| _ = cell.get()));
}

/// All orders of the sections of two threads.
#[test]
fn circular_buffer_of_the_tables() {
    by_formula(circular_buffer, &[1, 2, 6], |n| choose(2 * n, n));
    published_long(circular_buffer, 10, [184_756; 3]);
    published_traces_long(circular_buffer, 10, [184_756; 3]);
}

/// A thread that pushes and one that pops, `n` times.
fn stack(n: usize) {
    let (lock, cells, top) = (Mutex::new(()), ints(n), Int::new(0));
    let push = || {
        cells[top.get() as usize].set(1);
        top.add(1);
    };
    let pop = || {
        if top.get() > 0 {
            top.add(-1);
            cells[top.get() as usize].get();
        }
    };
    both(|| (0..n).for_each(|_| locked(&lock, push)), || (0..n).for_each(|_| locked(&lock, pop)));
}

#[test]
fn stack_of_the_tables() {
    by_formula(stack, &[1, 2, 6], |n| choose(2 * n, n));
    published_long(stack, 10, [184_756; 3]);
    published_traces_long(stack, 10, [184_756; 3]);
}

/// `n` threads that fill a queue and one that empties it, if it is their turn.
fn queue_ok(n: usize) {
    let (lock, fill, queue) = (Mutex::new(()), Int::new(1), ints(4));
    threads(n + 1, |i| {
        locked(&lock, || {
            if i == n && fill.get() == 0 {
                queue.iter().for_each(|cell| assert_ne!(cell.get(), 0));
                fill.set(1);
            } else if i < n && fill.get() == 1 {
                queue.iter().for_each(|cell| cell.set(i as i32 + 1));
                fill.set(0);
            }
        });
    });
}

#[test]
fn queue_ok_of_the_tables() {
    by_formula(queue_ok, &[1, 4], |n| factorial(n + 1));
    published_long(queue_ok, 6, [5040; 3]);
    published_traces(queue_ok, 6, [5040; 3]);
    published_long(queue_ok, 7, [40320; 3]);
}

/// `n` threads take what is next, and work on it.
fn sssc12(n: usize) {
    let (lock, data, next) = (Mutex::new(()), ints(n), Int::new(0));
    threads(n, |_| {
        let mine = locked(&lock, || {
            let mine = next.get();
            next.set(mine + 1);
            mine
        });
        data[mine as usize].set(1);
        assert_eq!(data[mine as usize].get(), 1);
    });
}

#[test]
fn sssc12_of_the_tables() {
    by_formula(sssc12, &[1, 5], factorial);
    published_long(sssc12, 7, [5040; 3]);
    published_traces(sssc12, 7, [5040; 3]);
}

/// `n` threads write in turn; one reads `n` times and does not wait.
fn function_pointer(n: usize) {
    let (lock, result) = (Mutex::new(()), Int::new(0));
    threads(n + 1, |i| {
        if i == 0 {
            (0..n).for_each(|_| assert!(result.get() < 10));
        } else {
            locked(&lock, || result.set(8));
        }
    });
}

/// Program `30_Function_Pointer`. All orders of the writers, and for each all ways to read `n` times.
#[test]
fn function_pointer_of_the_tables() {
    by_formula(function_pointer, &[1, 2, 4], |n| (n + 1..=2 * n).product());
    published(function_pointer, 5, [30240; 3]);
    published_traces(function_pointer, 5, [30240; 3]);
    published_long(function_pointer, 6, [665_280; 3]);
}

/// Producers build a number together and give work to one worker each; workers look twice.
fn multiprodcon(n: usize) {
    let (line, number) = (Mutex::new(()), Int::new(0));
    let (desks, wanted, done) = (locks(n), ints(n), ints(n));
    threads(2 * n, |i| {
        if i < n {
            for _ in 0..2 {
                let work = locked(&desks[i], || {
                    let work = wanted[i].get() > 0;
                    if work {
                        wanted[i].add(-1);
                    }
                    work
                });
                if work {
                    done[i].add(1);
                }
            }
        } else {
            let mine = locked(&line, || {
                number.set(number.get() * n as i32 + (i - n) as i32);
                number.get()
            });
            let worker = mine as usize % n;
            locked(&desks[worker], || wanted[worker].add(1));
        }
    });
}

/// All orders of the producers; and work comes before, between or after the two looks of its worker.
#[test]
fn multiprodcon_of_the_tables() {
    by_formula(multiprodcon, &[2, 3], |n| factorial(n) * 3u64.pow(n as u32));
    published_long(multiprodcon, 4, [1944; 3]);
    published_traces(multiprodcon, 4, [1944; 3]);
}

/// Every thread takes an inode and looks for a block that is not busy.
fn filesystem(n: usize) {
    let (inode_locks, inodes) = (locks(32), ints(32));
    let (block_locks, busy) = (locks(26), ints(26));
    threads(n, |i| {
        locked(&inode_locks[i], || {
            if inodes[i].get() != 0 {
                return;
            }
            for block in (0..10).map(|step| (2 * i + step) % 26) {
                let found = locked(&block_locks[block], || {
                    let free = busy[block].get() == 0;
                    if free {
                        busy[block].set(1);
                        inodes[i].set(block as i32 + 1);
                    }
                    free
                });
                if found {
                    break;
                }
            }
        });
    });
}

/// From the fourteenth on every thread wants the block of another one.
#[test]
fn filesystem_of_the_tables() {
    by_formula(filesystem, &[13, 14, 18], |n| 1 << (n - 13));
    published_long(filesystem, 24, [2048; 3]);
    published_traces_long(filesystem, 24, [2048; 3]);
    published_long(filesystem, 26, [8192; 3]);
}

/// Every thread puts four words into a hash table.
fn indexer(n: usize) {
    let (cell_locks, table) = (locks(128), ints(128));
    threads(n, |i| {
        for word in (1..=4).map(|k| 11 * k + i) {
            let mut at = word * 7 % 128;
            let put = |at: usize| {
                locked(&cell_locks[at], || {
                    let free = table[at].get() == 0;
                    if free {
                        table[at].set(word as i32);
                    }
                    free
                })
            };
            while !put(at) {
                at = (at + 1) % 128;
            }
        }
    });
}

/// From the twelfth on every thread puts three words where another one does.
#[test]
fn indexer_of_the_tables() {
    by_formula(indexer, &[11, 12, 13], |n| 8u64.pow(n as u32 - 11));
    published_long(indexer, 15, [4096; 3]);
    published_traces_long(indexer, 15, [4096; 3]);
}

/// Requests are sent to servers that another thread picks.
fn dispatcher(n: usize) {
    let (picking, picked) = (Mutex::new(()), Int::new(0));
    let (servers, requests, answers) = (locks(n), ints(n), ints(n));
    thread::scope(|s| {
        let (servers, requests, answers) = (&servers, &requests, &answers);
        let (picking, picked) = (&picking, &picked);
        for i in 0..n {
            s.spawn(move || {
                locked(&servers[i], || {
                    if requests[i].get() > 0 {
                        answers[i].set(requests[i].get());
                    }
                });
            });
        }
        for _ in 0..n {
            let picker = s.spawn(move || {
                (0..n).for_each(|i| locked(picking, || picked.set(i as i32)));
            });
            let server = locked(picking, || picked.get()) as usize;
            locked(&servers[server], || requests[server].add(1));
            picker.join().unwrap();
        }
    });
}

#[test]
fn dispatcher_of_the_tables() {
    confirmed(dispatcher, 2, [32; 3]);
    confirmed(dispatcher, 3, [398; 3]);
    published_long(dispatcher, 4, [6854; 3]);
    published_traces_long(dispatcher, 4, [6854; 3]);
}

/// `n` threads add to a variable under a lock, and look at it once more without.
pub(crate) fn inc(n: usize) {
    let (lock, value) = (Mutex::new(()), Int::new(0));
    threads(n, |_| {
        let before = locked(&lock, || {
            let before = value.get();
            value.set(before + 1);
            before
        });
        assert!(value.get() > before);
    });
}

/// Program `01_inc`: all orders of the sections, and in each the `k`-th thread sees its own addition or one of
/// the `n - k` later ones.
#[test]
fn inc_of_the_tables() {
    by_formula(inc, &[1, 2, 4], |n| factorial(n).pow(2));
    published_long(inc, 5, [14400; 3]);
    published_traces(inc, 5, [14400; 3]);
    published_long(inc, 6, [518_400; 3]);
}

/// Threads add to a variable or subtract from it under a lock, in turns. Each says so in a flag, and looks
/// whether the others did and what became of the variable.
fn incdec(n: usize) {
    let (lock, value) = (Mutex::new(()), Int::new(0));
    let flags = ints(2);
    threads(n, |i| {
        let (mine, other) = (&flags[i % 2], &flags[1 - i % 2]);
        let by = if i % 2 == 0 { 1 } else { -1 };
        let before = locked(&lock, || {
            let before = value.get();
            if before + by < 0 {
                return None;
            }
            mine.set(1);
            value.set(before + by);
            Some(before)
        });
        if let Some(before) = before {
            let _ = (value.get() - before) * by > 0 || other.get() == 1;
        }
    });
}

/// Program `03_incdec`. The number in the table cannot be read; these are ours.
#[test]
fn incdec_of_the_tables() {
    confirmed(incdec, 2, [3, 3, 4]);
    confirmed(incdec, 3, [28, 28, 46]);
}
