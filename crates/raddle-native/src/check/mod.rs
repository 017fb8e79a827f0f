//! Exploring a program that was built, and what it shows.
//!
//! [`check_parallel`] loads the program and explores it: as a whole (`whole`), or divided into subtrees (`parallel`). `finding` turns
//! the first wrong execution into a finding.

mod call_stacks;
mod distinct;
mod finding;
mod follow;
mod function_name;
mod leaks;
mod meaning;
mod object_names;
mod object_states;
mod overlaps;
mod panics;
mod parallel;
mod plain_races;
mod printed;
mod private_events;
mod races_of_std;
mod recording;
mod replay;
mod request;
mod rust_tests;
mod stack;
mod suggest;
mod thread_names;
mod waits;
mod whole;

use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_core::outcome::{Counts, Estimate, Outcome};
use raddle_core::program::Program;
use raddle_core::trace::Counterexample;
use raddle_explore::{Summary, driver, rf_part_smc};

use crate::build::{Error, Object, build};
use crate::libc;
use crate::program::NativeProgram;
use leaks::CompleteExecutions;
pub use parallel::{Checkpoint, ParallelOptions, Progress};
pub use recording::{ModuleHash, content_hash};
pub use replay::{Recording, replay_built};
pub use request::Request;
pub use rust_tests::{RustTest, rust_tests};
use stack::on_large_stack;
pub use suggest::{is_clean_with, suggest};

/// Builds a program and explores it.
///
/// # Errors
/// If it cannot be built or loaded, or the model needs memory orders that are not known.
pub fn check(request: &Request) -> Result<Outcome, Error> {
    let start = Instant::now();
    let mut outcome = check_built(&build(&request.source)?, request)?;
    let Counts { seconds, start_up, .. } = &mut outcome.counts;
    *start_up += start.elapsed().as_secs_f64() - *seconds;
    *seconds = start.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Explores a program that was built. The source of the request is not used.
///
/// # Errors
/// If it cannot be loaded, or the model needs memory orders that are not known.
pub fn check_built(object: &Object, request: &Request) -> Result<Outcome, Error> {
    check_parallel(object, request, ParallelOptions::default())
}

/// As [`check_built`], with several workers. One worker explores what cannot be divided ([`Request::is_whole`]).
///
/// # Errors
/// As [`check_built`].
pub fn check_parallel(
    object: &Object,
    request: &Request,
    options: ParallelOptions<'_>,
) -> Result<Outcome, Error> {
    object.supports(request.model)?;
    request.refuse_races(object)?;
    on_large_stack(move || {
        let (start, mut options) = (Instant::now(), options);
        let mut program = load(object, request)?;
        let start_up = start.elapsed().as_secs_f64();
        let explored = driver::until_stable(&mut program, |program| {
            explore(program, request, &mut options, start)
        });
        let mut outcome = finding::outcome(&mut program, request, explored);
        if request.suggest && object.guide.is_none() {
            suggest::add_help(&mut program, request, &mut outcome, start);
        }
        outcome.counts.start_up = start_up;
        outcome.counts.seconds = start.elapsed().as_secs_f64();
        Ok(outcome)
    })
}

/// Estimates the number of execution classes of a program by random probes, for at most `time`. Returns `None` if it has too
/// many events.
///
/// # Errors
/// As [`check_built`].
pub fn estimate(
    object: &Object,
    request: &Request,
    probes: u64,
    time: Duration,
) -> Result<Option<Estimate>, Error> {
    object.supports(request.model)?;
    on_large_stack(|| {
        let mut program = load(object, request)?;
        Ok(driver::until_stable(&mut program, |program| {
            let end = Some(Instant::now() + time);
            rf_part_smc::estimate(program, request.model, probes, end)
        }))
    })
}

/// Loads a program and runs it to its entry.
fn load(object: &Object, request: &Request) -> Result<NativeProgram, Error> {
    let process = libc::start_file(&object.file, &request.process_options()?)?;
    let table = libc::table(&process);
    let mut program = NativeProgram::new(process, table, request.settings(object));
    program.guide = object.guide.as_ref().map(Arc::clone);
    Ok(program)
}

/// The result of one exploration.
struct Explored {
    summary: Summary,
    /// The executions that show bugs, the most important one first.
    found: Vec<Counterexample>,
    complete: CompleteExecutions,
}

fn explore(
    program: &mut NativeProgram,
    request: &Request,
    options: &mut ParallelOptions<'_>,
    start: Instant,
) -> Explored {
    let deadline = request.timeout.map(|timeout| start + timeout);
    let limits = request.limits(deadline);
    let parts = match request.is_whole() {
        true => None,
        false => parallel::explore(program, request, &limits, options),
    };
    let explored = match parts {
        Some((summary, found)) => {
            let found = found.into_iter().collect();
            Explored { summary, found, complete: CompleteExecutions::default() }
        }
        None => {
            if !request.is_whole() {
                program.restart();
            }
            whole::explore(program, request, &limits)
        }
    };
    races_of_std::learn(program, &explored.found);
    overlaps::learn(program, &explored.found);
    explored
}
