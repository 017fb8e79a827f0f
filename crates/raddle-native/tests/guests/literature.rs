//! Programs of the literature, as plain Rust programs: those of `crates/raddle/tests/it/literature`, with types of the standard
//! library. The arguments are the name of the program and its size.

use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Mutex;
use std::thread;

/// A number that threads access with relaxed order.
struct Int(AtomicI32);

impl Int {
    fn new(value: i32) -> Self {
        Int(AtomicI32::new(value))
    }

    fn get(&self) -> i32 {
        self.0.load(Relaxed)
    }

    fn set(&self, value: i32) {
        self.0.store(value, Relaxed);
    }

    /// Adds in two steps.
    fn add(&self, value: i32) {
        self.set(self.get() + value);
    }
}

fn ints(n: usize) -> Vec<Int> {
    (0..n).map(|_| Int::new(0)).collect()
}

fn threads(n: usize, f: impl Fn(usize) + Sync) {
    thread::scope(|s| {
        for i in 0..n {
            let f = &f;
            s.spawn(move || f(i));
        }
    });
}

fn both(f: impl FnOnce() + Send, g: impl FnOnce() + Send) {
    thread::scope(|s| {
        s.spawn(f);
        s.spawn(g);
    });
}

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

/// `n` threads write a variable; it is read when all are done.
fn lastwrite(n: usize) {
    let x = Int::new(0);
    threads(n, |i| x.set(i as i32 + 1));
    x.get();
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

/// One thread writes a variable `n` times, one reads it `n` times.
fn writer_reader(n: usize) {
    let x = Int::new(0);
    both(|| (1..=n).for_each(|k| x.set(k as i32)), || (0..n).for_each(|_| _ = x.get()));
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

/// `n` deposits and a withdrawal; the balance is read when all are done.
fn account(n: usize) {
    let balance = Int::new(1000);
    threads(n + 1, |i| balance.add(if i == n { -10 } else { 100 }));
    balance.get();
}

/// `n` threads sell `n - 1` seats.
fn airline(n: usize) {
    let (sold, stop) = (Int::new(0), Int::new(0));
    threads(n, |_| {
        if stop.get() == 0 {
            let seats = sold.get();
            if seats >= n as i32 - 1 {
                stop.set(1);
            } else {
                sold.set(seats + 1);
            }
        }
    });
    sold.get();
}

/// `n` threads add to a variable.
fn ra(n: usize) {
    let x = Int::new(0);
    threads(n, |_| x.add(1));
}

/// `n` threads add to a variable, and one reads it.
fn fkp2013(n: usize) {
    let x = Int::new(0);
    threads(n + 1, |i| if i == 0 { _ = x.get() } else { x.add(1) });
}

/// `n` threads write a variable and read it.
fn monabsex(n: usize) {
    let x = Int::new(0);
    threads(n, |_| {
        x.set(4);
        x.get();
    });
}

/// Each thread writes where the index points, which goes on meanwhile. Then the array is summed up.
fn sigma(n: usize) {
    let (cells, index) = (ints(n), Int::new(-1));
    thread::scope(|s| {
        let (cells, index) = (&cells, &index);
        for _ in 0..n {
            index.add(1);
            s.spawn(|| cells[index.get() as usize].set(1));
        }
    });
    let _: i32 = cells.iter().map(Int::get).sum();
}

/// A thread makes an object; then `n` threads write to it.
fn singleton(n: usize) {
    let (object, cells) = (Int::new(-1), ints(1));
    threads(1, |_| object.set(0));
    threads(n, |i| cells[object.get() as usize].set(if i == 0 { 'X' } else { 'Y' } as i32));
    cells[object.get() as usize].get();
}

/// Two threads add to each other's variable, `n` times.
fn fib_bench(n: usize) {
    let (i, j) = (Int::new(1), Int::new(1));
    both(|| (0..n).for_each(|_| i.add(j.get())), || (0..n).for_each(|_| j.add(i.get())));
    assert!(i.get() > 0 && j.get() > 0);
}

/// Two threads add to a variable, `n` times; it is read when they are done.
fn pthread_datarace(n: usize) {
    let x = Int::new(0);
    threads(2, |_| (0..n).for_each(|_| x.add(1)));
    x.get();
}

/// `n` threads set two variables; one checks that both are set or none.
fn reorder_5(n: usize) {
    let (a, b) = (Int::new(0), Int::new(0));
    threads(n + 1, |i| {
        if i < n {
            a.set(1);
            b.set(-1);
        } else {
            let _ = (a.get() == 0 && b.get() == 0) || (a.get() == 1 && b.get() == -1);
        }
    });
}

/// `n` threads run through an array once and exchange neighbours that are in the wrong order.
fn bubblesort(n: usize) {
    let cells: Vec<Int> = (0..n).map(|i| Int::new((n - i) as i32)).collect();
    threads(n, |_| {
        for i in 0..n - 1 {
            let (left, right) = (cells[i].get(), cells[i + 1].get());
            if left > right {
                cells[i].set(right);
                cells[i + 1].set(left);
            }
        }
    });
    for i in 0..n - 1 {
        let _ = (cells[i + 1].get(), cells[i].get());
    }
}

/// Two threads cross out multiples of the numbers below `n` that are not crossed out.
fn eratosthenes(n: usize) {
    let crossed = ints(n);
    threads(2, |_| {
        for i in 2..n {
            if crossed[i].get() == 0 {
                (2 * i..n).step_by(i).for_each(|multiple| crossed[multiple].set(1));
            }
        }
    });
}

/// `n` threads count with a compare-exchange, and look that it went on.
fn inc_cas(n: usize) {
    let x = AtomicI32::new(0);
    threads(n, |_| {
        loop {
            let old = x.load(Relaxed);
            if x.compare_exchange(old, old + 1, Relaxed, Relaxed).is_ok() {
                assert!(x.load(Relaxed) > old);
                return;
            }
        }
    });
}

fn locks(n: usize) -> Vec<Mutex<()>> {
    (0..n).map(|_| Mutex::new(())).collect()
}

fn locked<T>(lock: &Mutex<()>, section: impl FnOnce() -> T) -> T {
    let _guard = lock.lock().unwrap();
    section()
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

/// `n` threads add to a variable under a lock, and look at it once more without.
fn inc(n: usize) {
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

/// Peterson's algorithm, `n` times.
fn peterson(n: usize) {
    let (flags, turn) = (ints(2), Int::new(0));
    threads(2, |i| {
        for _ in 0..n {
            flags[i].set(1);
            turn.set(1 - i as i32);
            if flags[1 - i].get() == 1 && turn.get() != i as i32 {
                return;
            }
            flags[i].set(0);
        }
    });
}

/// Lamport's fast algorithm, `n` times.
fn lamport(n: usize) {
    let (x, y, flags) = (Int::new(0), Int::new(0), ints(2));
    let enter = |i: usize| {
        let me = i as i32 + 1;
        loop {
            flags[i].set(1);
            x.set(me);
            if y.get() != 0 {
                flags[i].set(0);
                if y.get() != 0 {
                    return false;
                }
                continue;
            }
            y.set(me);
            if x.get() == me {
                return true;
            }
            flags[i].set(0);
            if flags[1 - i].get() != 0 {
                return false;
            }
            if y.get() == me {
                return true;
            }
            if y.get() != 0 {
                return false;
            }
        }
    };
    threads(2, |i| {
        for _ in 0..n {
            if !enter(i) {
                return;
            }
            y.set(0);
            flags[i].set(0);
        }
    });
}

/// Kessels' algorithm, `n` times. Both bits of a thread are in one variable, which is read at once: the
/// tables have the same numbers for TSO and PSO, so threads write one variable each.
fn kessels(n: usize) {
    let bits = ints(2);
    threads(2, |i| {
        let turn = |bits: i32| (bits + i as i32) % 2;
        let mut mine = 0;
        for _ in 0..n {
            bits[i].set(2 + mine);
            mine = turn(bits[1 - i].get());
            bits[i].set(2 + mine);
            let other = bits[1 - i].get();
            if other >= 2 && mine == turn(other) {
                return;
            }
            bits[i].set(mine);
        }
    });
}

/// Two threads hand a flag to each other `n` times, with latches. A thread looks at its latch `n + 2`
/// times and then gives up.
fn pgsql(n: usize) {
    let latch = [Int::new(1), Int::new(0)];
    let flag = [Int::new(1), Int::new(0)];
    threads(2, |i| {
        for _ in 0..n {
            if !(0..n + 2).any(|_| latch[i].get() == 1) {
                return;
            }
            let _ = latch[i].get() == 0 || flag[i].get() == 1;
            latch[i].set(0);
            if flag[i].get() == 1 {
                flag[i].set(0);
                flag[1 - i].set(1);
                latch[1 - i].set(1);
            }
        }
    });
}

/// Szymanski's algorithm, `n` times.
fn szymanski(n: usize) {
    let flags = ints(2);
    let enter = |mine: &Int, other: &Int| {
        mine.set(1);
        if other.get() >= 3 {
            return false;
        }
        mine.set(3);
        if other.get() == 1 {
            mine.set(2);
            if other.get() != 4 {
                return false;
            }
        }
        mine.set(4);
        other.get() < 2
    };
    threads(2, |i| {
        let (mine, other) = (&flags[i], &flags[1 - i]);
        for _ in 0..n {
            if !enter(mine, other) || (other.get() >= 2 && other.get() <= 3) {
                return;
            }
            mine.set(0);
        }
    });
}

/// Burns' algorithm, `n` times.
fn burns(n: usize) {
    let flags = ints(2);
    threads(2, |i| {
        let down = |k: usize| flags[k].get() == 0;
        for _ in 0..n {
            flags[i].set(0);
            if i == 1 && !down(0) {
                return;
            }
            flags[i].set(1);
            if !down(1 - i) {
                return;
            }
            flags[i].set(0);
        }
    });
}

/// Dekker's algorithm, `n` times.
fn dekker(n: usize) {
    let (flags, turn) = (ints(2), Int::new(0));
    threads(2, |i| {
        let busy = || flags[1 - i].get() != 0;
        let mine = || turn.get() == i as i32;
        for _ in 0..n {
            flags[i].set(1);
            if busy() {
                if mine() {
                    return;
                }
                flags[i].set(0);
                if !mine() {
                    return;
                }
                flags[i].set(1);
                if busy() {
                    return;
                }
            }
            turn.set(1 - i as i32);
            flags[i].set(0);
        }
    });
}

/// Lamport's bakery, `n` times.
fn bakery(n: usize) {
    let (tickets, choosing) = (ints(2), ints(2));
    threads(2, |i| {
        for _ in 0..n {
            choosing[i].set(1);
            let mine = 1 + tickets[0].get().max(tickets[1].get());
            tickets[i].set(mine);
            choosing[i].set(0);
            if choosing[1 - i].get() != 0 {
                return;
            }
            let other = tickets[1 - i].get();
            if other != 0 && (other, 1 - i) < (mine, i) {
                return;
            }
            tickets[i].set(0);
        }
    });
}

/// Dijkstra's algorithm, `n` times. A thread looks twice whether it is its turn: under PSO there is no bound,
/// because both may take the turn from each other forever before they see that the other is interested.
fn dijkstra(n: usize) {
    let (interested, passed, turn) = (ints(2), ints(2), Int::new(0));
    threads(2, |i| {
        for _ in 0..n {
            interested[i].set(1);
            let mine = || {
                let mine = turn.get() == i as i32;
                if !mine && interested[1 - i].get() == 0 {
                    turn.set(i as i32);
                }
                mine
            };
            if !mine() && !mine() {
                return;
            }
            passed[i].set(1);
            if passed[1 - i].get() != 0 {
                return;
            }
            passed[i].set(0);
            interested[i].set(0);
        }
    });
}

/// `n` threads count `times` by compare-exchange; who fails tries again with what it has seen.
fn cas_counter(n: usize, times: usize) {
    let x = AtomicI32::new(0);
    threads(n, |_| {
        for _ in 0..times {
            let mut old = x.load(Relaxed);
            while let Err(now) = x.compare_exchange(old, old + 1, Relaxed, Relaxed) {
                old = now;
            }
        }
    });
}

fn run(name: &str, size: usize) {
    match name {
        "readers" => readers(size),
        "lastzero" => lastzero(size),
        "floating_read" => floating_read(size),
        "lastwrite" => lastwrite(size),
        "redundant_co" => redundant_co(size),
        "control_flow" => control_flow(size),
        "race_parametric" => race_parametric(size),
        "writer_reader" => writer_reader(size),
        "spammer" => spammer(size),
        "seqlock" => seqlock(size),
        "exponential_bug" => exponential_bug(size),
        "account" => account(size),
        "airline" => airline(size),
        "ra" => ra(size),
        "fkp2013" => fkp2013(size),
        "monabsex" => monabsex(size),
        "sigma" => sigma(size),
        "singleton" => singleton(size),
        "fib_bench" => fib_bench(size),
        "pthread_datarace" => pthread_datarace(size),
        "reorder_5" => reorder_5(size),
        "bubblesort" => bubblesort(size),
        "eratosthenes" => eratosthenes(size),
        "inc_cas" => inc_cas(size),
        "circular_buffer" => circular_buffer(size),
        "stack" => stack(size),
        "queue_ok" => queue_ok(size),
        "sssc12" => sssc12(size),
        "function_pointer" => function_pointer(size),
        "multiprodcon" => multiprodcon(size),
        "filesystem" => filesystem(size),
        "indexer" => indexer(size),
        "dispatcher" => dispatcher(size),
        "inc" => inc(size),
        "incdec" => incdec(size),
        "peterson" => peterson(size),
        "lamport" => lamport(size),
        "kessels" => kessels(size),
        "pgsql" => pgsql(size),
        "szymanski" => szymanski(size),
        "burns" => burns(size),
        "dekker" => dekker(size),
        "bakery" => bakery(size),
        "dijkstra" => dijkstra(size),
        "cas_counter" => cas_counter(size, 1),
        other => panic!("no program is called {other}"),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let size = args[2].parse().unwrap();
    run(&args[1], size);
}
