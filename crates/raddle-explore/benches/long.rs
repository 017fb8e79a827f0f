//! What an event costs that decides nothing, and what one more undecided event costs.
//!
//! The program is a ring: each of three threads writes its own variable and reads that of the next one, four times.
//! Between these steps each thread accesses private memory, some number of times: one location, one lock, or other
//! locations each time. The tables have microseconds of CPU time per class, the best of three explorations, and the ratio
//! of two columns. Limits: 1,000 quiet events cost at most 1.5 times as much as 100, and 64 undecided ones at most 3 times
//! as much as 38.
//!
//! `cargo bench -p raddle-explore --bench long`
//!
//! *Measured*, ratio of instructions per class (callgrind) under sc, tso, pso and c20: 1,000 to 100 quiet events, relaxed
//! 1.16, 1.36, 1.36, 1.39, sequentially consistent 1.16, 1.22, 1.22, 1.40; 64 to 38 undecided ones 2.43, 2.26, 2.22,
//! 2.89. An exploration under tso executes 2,784 instructions per class with 100 quiet events. CPU time: locks 1.16, 1.16,
//! 1.25, 1.16; distinct locations 4.7, 6.8, 7.0, 6.9, which misses the limit: a run accesses each of them once.

use raddle_core::model::Model;
use raddle_explore::model::RvfOptions;
use raddle_explore::{Control, Leaf, Limits, rf_part_smc};
use raddle_testkit::script::{Script, ScriptProgram};

const MODELS: [Model; 4] = [Model::Sc, Model::Tso, Model::Pso, Model::C20];
const STEPS: usize = 12;
/// Enough to make the start of an exploration invisible. Under SC the ring has 146,455 classes.
const CLASSES: u64 = 100_000;

/// What a thread does between two steps, again and again.
#[derive(Clone, Copy)]
enum Pair {
    /// It loads and stores a private location.
    Access(&'static str),
    /// It takes and releases a private lock.
    Lock,
    /// It loads and stores another private location each time.
    Distinct,
}

impl Pair {
    /// Declares what a thread accesses.
    fn variables(self, thread: usize, pairs: usize) -> String {
        match self {
            Pair::Access(_) => format!("p{thread} = 0"),
            Pair::Lock => format!("lock m{thread}"),
            Pair::Distinct => format!("q{thread} = [0{}]", ", 0".repeat(pairs)),
        }
    }

    /// The accesses of a thread, the `at`th time.
    fn text(self, thread: usize, at: usize) -> String {
        match self {
            Pair::Access(order) => {
                format!("p = load p{thread} {order}; store p{thread} p + 1 {order}; ")
            }
            Pair::Lock => format!("lock m{thread}; unlock m{thread}; "),
            Pair::Distinct => format!("p = load q{thread}[{at}]; store q{thread}[{at}] p + 1; "),
        }
    }
}

/// The ring with so many pairs of private accesses, spread over its steps.
fn ring(pairs: usize, pair: Pair) -> Script {
    let thread = |thread: usize| -> String {
        let step = |step: usize| {
            let at = 3 * step + thread;
            let pairs = pairs * at / STEPS..pairs * (at + 1) / STEPS;
            let pairs: String = pairs.map(|at| pair.text(thread, at)).collect();
            let next = (thread + 1) % 3;
            format!("{pairs} store x{thread} {}; r = load x{next}; ", step + 1)
        };
        format!("thread t{thread} {{ {} }}\n", (0..4).map(step).collect::<String>())
    };
    let threads: String = (0..3).map(thread).collect();
    let variables = |thread| format!("x{thread} = 0; {}\n", pair.variables(thread, pairs));
    let text = (0..3).map(variables).collect::<String>() + &threads;
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
fn table(title: &str, pairs: &[usize], pair: Pair, quiet: bool, compared: (usize, usize)) {
    print!("\n{title}\n{:6}", "events");
    pairs.iter().for_each(|pairs| print!("{:>9}", 2 * (STEPS + pairs)));
    println!("{:>9}", "ratio");
    for model in MODELS {
        let costs = pairs.iter().map(|&pairs| cost(&ring(pairs, pair), model, quiet));
        let costs: Vec<f64> = costs.collect();
        print!("{:6}", model.to_string());
        costs.iter().for_each(|cost| print!("{cost:9.3}"));
        println!("{:9.2}", costs[compared.1] / costs[compared.0]);
    }
}

fn main() {
    let quiet = [0, 9, 38, 488];
    let (relaxed, strong) = (Pair::Access("rlx"), Pair::Access("sc"));
    table("private locations are quiet, relaxed", &quiet, relaxed, true, (2, 3));
    table("private locations are quiet, sequentially consistent", &quiet, strong, true, (2, 3));
    table("private locks are quiet", &quiet, Pair::Lock, true, (2, 3));
    table("distinct private locations are quiet", &quiet, Pair::Distinct, true, (2, 3));
    table("all events are undecided", &[0, 7, 20, 50, 60, 120], relaxed, false, (1, 2));
}
