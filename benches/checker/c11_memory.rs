//! The memory that the C11 checkers need beyond the execution itself, for each event.
//!
//! Measured in a process of its own: the growth of the peak of resident memory from when the
//! execution is there until the check has ended, evidence included. Were tables put where generating
//! has left holes, the peak would not grow; so another thread generates, which for the allocator (that
//! of glibc) means another part of memory.

use std::process::Command;

use raddle_consistency::check::CheckOptions;
use raddle_core::model::Model;

use crate::memory::{forget_peak, peak};
use crate::report::Report;
use crate::table::{Cell, Table, row, seconds};
use crate::timing::{Answer, time};
use crate::traffic::Traffic;

const THREADS: usize = 8;
const EVENTS: usize = 10_000_000;
const MOST_BYTES: f64 = 150.0;

/// The argument that makes this program measure one execution.
pub(crate) const CHILD: &str = "--c11-memory-of";

/// Checks the execution that the arguments describe; prints seconds and bytes for each event.
pub(crate) fn child(arguments: &[String]) {
    let [model, threads, events] = arguments else { panic!("the parent writes three words") };
    let model: Model = model.parse().expect("the parent writes a model");
    let number = |word: &String| word.parse::<usize>().expect("the parent writes a number");
    let (threads, events) = (number(threads), number(events));
    let generate = move || Traffic::new(model, threads, events).generate(1);
    let execution = std::thread::spawn(generate).join().expect("the execution is well-formed");
    forget_peak();
    let before = peak();
    let timed = time(&execution, model, &CheckOptions::default());
    assert_eq!(timed.answer, Answer::Consistent);
    println!("{} {}", timed.seconds, (peak() - before) / events as f64);
}

/// Seconds, and bytes for each event, of an execution in a process of its own.
pub(crate) fn measure(model: Model, threads: usize, events: usize) -> Option<[f64; 2]> {
    let program = std::env::current_exe().ok()?;
    let arguments = [CHILD, model.name(), &threads.to_string(), &events.to_string()];
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    numbers.try_into().ok()
}

/// Measures all models.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let events = if quick { EVENTS / 10 } else { EVENTS };
    let mut table = Table::new(&["model", "threads", "events", "seconds", "bytes per event"]);
    for model in [Model::Wra, Model::Rc20, Model::Relaxed, Model::Sra] {
        let [time, bytes] = measure(model, THREADS, events).unwrap_or([f64::INFINITY; 2]);
        if model == Model::Rc20 {
            let claim = format!(
                "{model}, {events} events, {THREADS} threads: {bytes:.0} bytes of memory for each \
                 event beyond the execution (at most {MOST_BYTES})"
            );
            report.claim(bytes <= MOST_BYTES, claim);
        }
        let bytes = Cell::number(format!("{bytes:.1}"), bytes);
        table.row(row![model.name(), THREADS, events, seconds(time), bytes]);
    }
    report.table("C11: memory beyond the execution", &table);
}
