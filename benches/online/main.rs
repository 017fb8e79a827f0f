//! How fast runs by chance are: `cargo bench -p raddle-benches --bench online -- [--quick] [--once] [NAME...]`.
//!
//! Programs that go on for long, cut at 10^7 events, and at twice as many: the time must at most double, and memory stay
//! as it is. As scripts, in Rust, and in C. `--quick`: a tenth of all that. `--once`: not with twice
//! as many.
//! A name is that of a program (`dekker`), of a language (`script`, `rust`, `c`), of a model or of a strategy (`random`,
//! `pct`); only what has all the names that are given of its kind is run.
//!
//! The time is that of the processor, in user mode and in the system: a run has one thread, and what others do meanwhile
//! does not matter much. The best of some rounds counts, as a processor that others use has slow moments.

mod native;
mod scripts;

use std::fmt::Write as _;
use std::time::Instant;

use raddle_core::model::Model;
use raddle_explore::plan::Explorer;
use raddle_explore::sampling::{Sampling, Strategy, explore};
use raddle_explore::{Control, Leaf, Limits};
use raddle_testkit::script::{Script, ScriptProgram};

use native::{IN_C, IN_RUST, build_c, run_c, run_rust};
use scripts::PROGRAMS;

const LANGUAGES: [&str; 3] = ["script", "rust", "c"];
const STRATEGIES: [(&str, Strategy); 2] = [("random", Strategy::Random), ("pct", Strategy::Pct)];

/// How often both are measured in turn.
const ROUNDS: usize = 3;

/// What is asked for.
struct Arguments(Vec<String>);

impl Arguments {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|it| it == name)
    }

    /// Whether this one is to be run of those of its kind.
    fn wants<'a>(&self, name: &str, kind: impl IntoIterator<Item = &'a str>) -> bool {
        self.has(name) || !kind.into_iter().any(|other| self.has(other))
    }

    fn wants_program(&self, language: &str, name: &str) -> bool {
        self.wants(language, LANGUAGES) && self.wants(name, PROGRAMS.map(|(name, _)| name))
    }

    fn events(&self) -> u32 {
        if self.has("--quick") { 1_000_000 } else { 10_000_000 }
    }
}

/// The processor time of this process so far, in seconds; on other systems than Linux, the time.
fn time(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which is in parentheses: user mode and system in hundredths of a second.
    let fields = text.rsplit(')').next().into_iter().flat_map(str::split_whitespace);
    let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|it| it.parse().ok()).collect();
    if ticks.is_empty() { start.elapsed().as_secs_f64() } else { ticks.iter().sum::<f64>() / 100.0 }
}

/// The most memory that this process has taken so far, in kilobytes; of Linux only.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Runs a script.
fn run_script(script: &Script, model: Model, strategy: Strategy, sampling: &Sampling) {
    let mut program = ScriptProgram::new(script);
    let mut visitor = |leaf: &dyn Leaf| -> Control { panic!("{:?}", leaf.ending()) };
    explore(&mut program, model, strategy, sampling, &Limits::default(), &mut visitor);
}

/// Measures a program under all models: `run` runs it once.
fn measure(
    arguments: &Arguments,
    (language, name): (&str, &str),
    run: &dyn Fn(Model, Strategy, &Sampling),
) {
    let (events, start) = (arguments.events(), Instant::now());
    let seconds = |model, strategy, events| {
        let sampling =
            Sampling { iterations: 1, seed: 1, max_events: events, ..Sampling::default() };
        let before = time(start);
        run(model, strategy, &sampling);
        time(start) - before
    };
    for model in Model::ALL {
        if !arguments.wants(model.name(), Model::ALL.map(Model::name)) {
            continue;
        }
        let mut line = format!("{language:6} {name:8} {model:8}");
        for (name, strategy) in STRATEGIES {
            if !arguments.wants(name, STRATEGIES.map(|(name, _)| name)) {
                continue;
            }
            let mut once = seconds(model, strategy, events);
            let (before, mut twice) = (peak(), f64::INFINITY);
            if !arguments.has("--once") {
                for _ in 0..ROUNDS {
                    twice = seconds(model, strategy, 2 * events).min(twice);
                    once = seconds(model, strategy, events).min(once);
                }
            }
            let _ = write!(line, "  {name} {:6.2}", f64::from(events) / once / 1e6);
            if twice.is_finite() {
                let _ = write!(line, " x{:4.2} {} +{}", twice / once, peak(), peak() - before);
            }
        }
        println!("{line}");
    }
}

fn explorer(strategy: Strategy, sampling: &Sampling) -> Explorer {
    match strategy {
        Strategy::Random => Explorer::Random(*sampling),
        Strategy::Pct => Explorer::Pct(*sampling),
    }
}

fn main() {
    let arguments = Arguments(std::env::args().skip(1).collect());
    println!("million events per second, time of twice as many, peak memory in kB");
    for (name, text) in PROGRAMS {
        if arguments.wants_program("script", name) {
            let script = Script::parse(text).expect("the programs are right");
            measure(&arguments, ("script", name), &|model, strategy, sampling| {
                run_script(&script, model, strategy, sampling);
            });
        }
    }
    for (name, threads, body) in IN_RUST {
        if arguments.wants_program("rust", name) {
            measure(&arguments, ("rust", name), &|model, strategy, sampling| {
                run_rust(threads, body, model, explorer(strategy, sampling));
            });
        }
    }
    for (name, threads, body) in IN_C {
        if arguments.wants_program("c", name) {
            let object = build_c(threads, body);
            measure(&arguments, ("c", name), &|model, strategy, sampling| {
                run_c(&object, model, explorer(strategy, sampling));
            });
        }
    }
}
