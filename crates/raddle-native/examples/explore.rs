//! Explores a program: `explore EXECUTABLE MODEL [EXPLORER]`. Prints the verdict, the numbers of classes, and the time.

use raddle_core::program::Naming;
use raddle_core::trace::Ending;
use raddle_cpu::Calls;
use raddle_explore::driver;
use raddle_explore::plan::{Explorer, Plan};
use raddle_explore::{Control, Leaf, Limits};
use raddle_native::libc;
use raddle_native::process::Options;
use raddle_native::program::{NativeProgram, ScalarCut, Settings};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let [_, executable, model, rest @ ..] = &args[..] else {
        eprintln!("usage: explore EXECUTABLE MODEL [EXPLORER]");
        return ExitCode::from(2);
    };
    let Ok(model) = model.parse() else { return ExitCode::from(2) };
    let explorer = rest.first().and_then(|name| name.parse().ok()).unwrap_or(Explorer::RfPartSmc);

    let start = Instant::now();
    let process = match libc::start(Path::new(executable), &Options::default()) {
        Ok(process) => process,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let loaded = start.elapsed();
    let table = libc::table(&process);
    let poison = std::env::var_os("POISON").is_some();
    let settings = Settings {
        updates_may_be_silent: true,
        ignores_dead_values: false,
        max_events: 10_000,
        scalars: ScalarCut::Cut,
        calls: Calls::SystemV,
        poison,
        unroll: None,
        symmetry: false,
        store_buffers: None,
        leaks: false,
        environment: raddle_native::Environment::default(),
    };
    let mut program = NativeProgram::new(process, table, settings);
    let mut found = None;
    let mut restarts = 0;
    let summary = driver::until_stable(&mut program, |program| {
        restarts += 1;
        found = None;
        let mut visitor = |leaf: &dyn Leaf| match leaf.ending() {
            ending if ending.is_bug() && !libc::has_exited(&leaf.trace()) => {
                found = Some(ending.clone());
                Control::Stop
            }
            _ => Control::Continue,
        };
        Plan { model, explorer }.explore(program, &Limits::default(), &mut visitor)
    });
    let total = start.elapsed();
    match &found {
        Some(Ending::Failed(thread, failure)) => println!(
            "bug: {:?}: {} ({}, {})",
            failure.kind,
            failure.message,
            program.thread_name(*thread),
            program.place(failure.place)
        ),
        Some(ending) => println!("bug: {ending:?}"),
        None => println!("{:?}", summary.extent),
    }
    println!("{} + {} classes, {} histories", summary.classes, summary.blocked, summary.histories);
    eprintln!("start {loaded:?}, exploration {:?}, {restarts} rounds", total - loaded);
    ExitCode::SUCCESS
}
