//! Instructions per second, and nanoseconds per question, snapshot and return.
//!
//! `cargo bench -p raddle-cpu -- [programs] [questions] [snapshots]`; the default is everything. Times are CPU time of the
//! thread, best of three.

#[path = "../tests/it/guest.rs"]
#[allow(dead_code)]
mod guest;

use guest::{DONE, Guest};
use raddle_cpu::memory::State;
use raddle_cpu::{Register, Stop};
use std::path::Path;
use std::time::Duration;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|other| other == name);
    for optimisation in ["-O0", "-O2"] {
        if is_chosen("programs") {
            programs(optimisation);
        }
        if is_chosen("questions") {
            questions(optimisation);
        }
    }
    if is_chosen("snapshots") {
        snapshots();
    }
}

/// CPU time that this thread has used.
fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn best(mut run: impl FnMut()) -> f64 {
    (0..3)
        .map(|_| {
            let start = now();
            run();
            (now() - start).as_secs_f64()
        })
        .fold(f64::MAX, f64::min)
}

fn load(optimisation: &str) -> Guest {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs.c");
    Guest::compile(&source, &[optimisation])
}

fn programs(optimisation: &str) {
    for (name, size) in [
        ("loop", 5_000_000),
        ("quicksort", 300_000),
        ("sha256", 5_000),
        ("doubles", 2_000_000),
        ("extended", 200_000),
    ] {
        for logged in [false, true] {
            let mut guest = load(optimisation);
            let function = guest.symbol(name);
            let mut count = 0;
            let time = best(|| {
                guest.call(function, &[size]);
                if logged {
                    guest.cpu.snapshot(&mut guest.memory);
                }
                guest.cpu.set_budget(u64::MAX);
                assert_eq!(guest.run(), Stop::HostCall(DONE));
                count = i64::MAX - guest.cpu.budget();
            });
            let label = if logged { "with an open snapshot" } else { "" };
            println!("{name:<10} {optimisation} {:>6.0} MIPS {label}", count as f64 / time / 1e6);
        }
    }
}

fn questions(optimisation: &str) {
    const SIZE: u64 = 1_000_000;
    for kind in ["answered", "with a snapshot each", "answered twice"] {
        let mut guest = load(optimisation);
        let counter = guest.symbol("counter");
        guest.memory.set_state(counter..counter + 8, State::Shared);
        let function = guest.symbol("questions");
        let mut asked = 0u64;
        let time = best(|| {
            guest.memory.close_snapshots(guest.cpu.thread());
            guest.call(function, &[SIZE]);
            guest.cpu.set_budget(u64::MAX);
            let mut value = 0;
            asked = 0;
            loop {
                let stop = guest.run();
                if let Stop::HostCall(_) = stop {
                    break;
                }
                asked += 1;
                if kind != "answered" {
                    if asked.is_multiple_of(64) {
                        guest.memory.close_snapshots(guest.cpu.thread());
                    }
                    let snapshot = guest.cpu.snapshot(&mut guest.memory);
                    if kind == "answered twice" {
                        guest.cpu.answer(value);
                        guest.run();
                        guest.cpu.restore(&mut guest.memory, &snapshot);
                    }
                }
                if let Stop::Store { value: stored, .. } = stop {
                    value = stored;
                }
                guest.cpu.answer(value);
            }
        });
        let per_question = time * 1e9 / asked as f64;
        let instructions = (i64::MAX - guest.cpu.budget()) as f64 / asked as f64;
        println!(
            "question   {optimisation} {per_question:>6.1} ns, {instructions:.1} instructions, {kind}"
        );
    }
}

fn snapshots() {
    const ROUNDS: u64 = 1_000_000;
    for writes in [0, 4, 16, 64] {
        let mut guest = Guest::empty();
        let thread = guest.cpu.thread();
        let base = guest.cpu.register(Register::Rsp) - 1024;
        let time = best(|| {
            for round in 0..ROUNDS {
                let snapshot = guest.cpu.snapshot(&mut guest.memory);
                for index in 0..writes {
                    let address = base + 1024 + 8 * (index % 4);
                    guest.memory.store(thread, address, &round.to_le_bytes()).unwrap();
                }
                guest.cpu.restore(&mut guest.memory, &snapshot);
            }
        });
        println!("snapshot, {writes:>2} writes, return: {:>6.1} ns", time * 1e9 / ROUNDS as f64);
    }
}
