//! How fast runs by chance are: `cargo bench -p raddle-benches --bench online -- [--quick] [MODEL...]`.
//!
//! Programs that go on for long, cut at 10^7 events, and at twice as many: the time must at most double, and memory stay
//! as it is. `--quick`: a tenth of that. Beside it a program in Rust, with a tenth of the events.

use std::fmt::Write as _;
use std::time::Instant;

use raddle::sync::Arc;
use raddle::sync::atomic::AtomicUsize;
use raddle::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use raddle::{Checker, thread};
use raddle_core::explore::online::{Sampling, Strategy, explore};
use raddle_core::explore::{Control, Leaf, Limits};
use raddle_core::model::Model;
use raddle_core::script::{Script, ScriptProgram};

/// What a program is called, and what it is.
const PROGRAMS: [(&str, &str); 3] = [
    (
        "dekker",
        "x = 0; y = 0; c = 0
         thread a { repeat 10000 { repeat 10000 {
             store x 1 sc; r = load y sc
             if r == 0 { s = load c rlx; store c s + 1 rlx }
             store x 0 rel } } }
         thread b { repeat 10000 { repeat 10000 {
             store y 1 sc; r = load x sc
             if r == 0 { s = load c rlx; store c s + 1 rlx }
             store y 0 rel } } }",
    ),
    (
        "lamport",
        "x = 0; y = 0; b = [0, 0, 0]
         thread t0 { repeat 10000 { repeat 10000 {
             store b[0] 1 rel; store x 1 rel; fence sc; r = load y acq
             if r == 0 { store y 1 rel; fence sc; s = load x acq
                 if s == 1 { store y 0 rel } }
             store b[0] 0 rel } } }
         thread t1 { repeat 10000 { repeat 10000 {
             store b[1] 1 rel; store x 2 rel; fence sc; r = load y acq
             if r == 0 { store y 2 rel; fence sc; s = load x acq
                 if s == 2 { store y 0 rel } }
             store b[1] 0 rel } } }
         thread t2 { repeat 10000 { repeat 10000 {
             store b[2] 1 rel; store x 3 rel; fence sc; r = load y acq
             if r == 0 { store y 3 rel; fence sc; s = load x acq
                 if s == 3 { store y 0 rel } }
             store b[2] 0 rel } } }",
    ),
    (
        "mutex",
        "l = 0; c = 0
         thread a { repeat 10000 { repeat 10000 {
             r, ok = cas l 0 1 acq rlx
             if ok == 1 { s = load c rlx; store c s + 1 rlx; store l 0 rel } } } }
         thread b { repeat 10000 { repeat 10000 {
             r, ok = cas l 0 1 acq rlx
             if ok == 1 { s = load c rlx; store c s + 1 rlx; store l 0 rel } } } }",
    ),
];

/// How long a run takes with so many events.
fn seconds(script: &Script, model: Model, strategy: Strategy, events: u32) -> f64 {
    let mut program = ScriptProgram::new(script);
    let sampling = Sampling { iterations: 1, seed: 1, events, ..Sampling::default() };
    let mut visitor = |leaf: &dyn Leaf| -> Control { panic!("{:?}", leaf.ending()) };
    let start = Instant::now();
    explore(&mut program, model, strategy, &sampling, &Limits::default(), &mut visitor);
    start.elapsed().as_secs_f64()
}

/// The most memory that this process has taken so far, in kilobytes; of Linux only.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// One side of Dekker's algorithm, so many times: four events each.
fn side(own: &AtomicUsize, other: &AtomicUsize, times: usize) {
    for _ in 0..times {
        own.store(1, SeqCst);
        if other.load(Acquire) == 0 {
            own.load(SeqCst);
        } else {
            other.load(SeqCst);
        }
        own.store(0, Release);
    }
}

/// How many million events a second native code has.
fn native(model: Model, events: u32) -> f64 {
    let times = events as usize / 8;
    let start = Instant::now();
    let outcome = Checker::new().model(model).random(1, 1).explore(|| {
        let [x, y] = [0, 0].map(AtomicUsize::new).map(Arc::new);
        let t = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || side(&x, &y, times)
        });
        side(&y, &x, times);
        let _ = t.join();
    });
    assert_eq!(outcome.classes, 1, "{outcome}");
    f64::from(events) / start.elapsed().as_secs_f64() / 1e6
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = arguments.iter().any(|it| it == "--quick");
    let events = if is_quick { 1_000_000 } else { 10_000_000 };
    let named = |model: &Model| arguments.iter().any(|it| it == model.name());
    let any_named = Model::ALL.iter().any(named);
    println!(
        "{events} events; million events per second, time of twice as many, peak memory in kB"
    );
    for (name, text) in PROGRAMS {
        let script = Script::parse(text).expect("the programs are right");
        for model in Model::ALL.into_iter().filter(|model| named(model) || !any_named) {
            let mut line = format!("{name:8} {model:8}");
            for strategy in [Strategy::Random, Strategy::Pct] {
                let once = seconds(&script, model, strategy, events);
                let before = peak();
                let twice = seconds(&script, model, strategy, 2 * events);
                let rate = f64::from(events) / once / 1e6;
                let (ratio, more) = (twice / once, peak() - before);
                let _ = write!(line, "  {strategy:?} {rate:6.2} x{ratio:4.2} {} +{more}", peak());
            }
            println!("{line}");
        }
    }
    for model in Model::ALL.into_iter().filter(|model| named(model) || !any_named) {
        println!("in Rust  {model:8}  Random {:6.2}", native(model, events / 10));
    }
}
