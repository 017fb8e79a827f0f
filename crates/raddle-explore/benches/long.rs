//! What an event costs that decides nothing, and what one more undecided event costs.
//!
//! The program is a ring: each of three threads writes its own variable and reads that of the next one, four times.
//! Between these steps each thread loads and stores a private location, some number of times. The tables have
//! microseconds of CPU time per class, the best of three explorations, and the ratio of two columns. Limits: 1,000 quiet
//! events cost at most 1.5 times as much as 100, and 64 undecided ones at most 3 times as much as 38.
//!
//! `cargo bench -p raddle-explore --bench long`
//!
//! *Measured*, ratio of instructions per class (callgrind) under sc, tso, pso and c20: 1,000 to 100 quiet events, relaxed
//! 1.16, 1.36, 1.36, 1.39, sequentially consistent 1.16, 1.22, 1.22, 1.40; 64 to 38 undecided ones 2.43, 2.26, 2.22,
//! 2.89. An exploration under tso executes 2,784 instructions per class with 100 quiet events.

use raddle_core::model::Model;
use raddle_explore::model::RvfOptions;
use raddle_explore::{Control, Leaf, Limits, rf_part_smc};
use raddle_testkit::script::{Script, ScriptProgram};

const MODELS: [Model; 4] = [Model::Sc, Model::Tso, Model::Pso, Model::C20];
const STEPS: usize = 12;
/// Enough to make the start of an exploration invisible. Under SC the ring has 146,455 classes.
const CLASSES: u64 = 100_000;

/// The ring with so many pairs of private accesses, spread over its steps.
fn ring(pairs: usize, order: &str) -> Script {
    let thread = |thread: usize| -> String {
        let step = |step: usize| {
            let at = 3 * step + thread;
            let pairs = pairs * (at + 1) / STEPS - pairs * at / STEPS;
            let pair = format!("p = load p{thread} {order}; store p{thread} p + 1 {order}; ");
            let next = (thread + 1) % 3;
            format!("{} store x{thread} {}; r = load x{next}; ", pair.repeat(pairs), step + 1)
        };
        format!("thread t{thread} {{ {} }}\n", (0..4).map(step).collect::<String>())
    };
    let threads: String = (0..3).map(thread).collect();
    let text = format!("x0 = 0; x1 = 0; x2 = 0; p0 = 0; p1 = 0; p2 = 0\n{threads}");
    Script::parse(&text).expect("the program is valid")
}

/// The CPU time of this thread in nanoseconds.
fn cpu_time() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split_whitespace().next().and_then(|it| it.parse().ok());
    nanoseconds.expect("this benchmark needs Linux, whose /proc tells the CPU time of a thread")
}

/// Microseconds per class.
fn cost(script: &Script, model: Model, quiet: bool) -> f64 {
    let options = RvfOptions { quiet, ..RvfOptions::default() };
    let limits = Limits { classes: Some(CLASSES), ..Limits::default() };
    let explore = || {
        let mut visit = |_: &dyn Leaf| Control::Continue;
        let (mut program, start) = (ScriptProgram::new(script), cpu_time());
        let summary = rf_part_smc::explore_with(&mut program, model, &limits, &mut visit, options);
        (cpu_time() - start) / 1e3 / summary.classes as f64
    };
    (0..3).map(|_| explore()).fold(f64::MAX, f64::min)
}

/// Prints a row for each model; the ratio is that of the columns `compared`.
fn table(title: &str, pairs: &[usize], order: &str, quiet: bool, compared: (usize, usize)) {
    print!("\n{title}\n{:6}", "events");
    pairs.iter().for_each(|pairs| print!("{:>9}", 2 * (STEPS + pairs)));
    println!("{:>9}", "ratio");
    for model in MODELS {
        let costs = pairs.iter().map(|&pairs| cost(&ring(pairs, order), model, quiet));
        let costs: Vec<f64> = costs.collect();
        print!("{:6}", model.to_string());
        costs.iter().for_each(|cost| print!("{cost:9.3}"));
        println!("{:9.2}", costs[compared.1] / costs[compared.0]);
    }
}

fn main() {
    let quiet = [0, 9, 38, 488];
    table("private locations are quiet, relaxed", &quiet, "rlx", true, (2, 3));
    table("private locations are quiet, sequentially consistent", &quiet, "sc", true, (2, 3));
    table("all events are undecided", &[0, 7, 20, 50, 60, 120], "rlx", false, (1, 2));
}
