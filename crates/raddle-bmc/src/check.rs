//! Checks a program within given bounds.

use std::time::{Duration, Instant};

use crate::bitblast::BitBlaster;
use crate::emit;
use crate::error::BmcError;
use crate::fixpoint;
use crate::options::{Abstraction, BmcOptions, Model};
use crate::parse;
use crate::program::UnrolledProgram;
use crate::sat_solver::{Lit, SatSolver};
use crate::sequentialize::{self, SequentializedProgram};
use crate::slice;
use crate::trace::{self, BmcCounterexample};

/// The verdict of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BmcVerdict {
    /// The program has a bug.
    Bug(Box<BmcCounterexample>),
    /// The program has no bug, and the bounds exclude no execution.
    Safe,
    /// No execution within the bounds has a bug. The bounds may exclude executions, for these reasons.
    Bounded(Vec<String>),
    /// The time limit was reached.
    Timeout,
}

/// The size of a program and its formula, and the duration of the check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BmcStatistics {
    /// Threads, with the main thread.
    pub threads: usize,
    /// Visible statements of all threads, after slicing.
    pub statements: usize,
    /// Cells of shared memory.
    pub cells: usize,
    /// Accesses to shared cells in all turns of the schedule.
    pub accesses: usize,
    /// Variables of the formula.
    pub variables: usize,
    /// Clauses of the formula.
    pub clauses: usize,
    /// A number of rounds that suffices for every execution.
    pub sufficient_rounds: usize,
    /// Duration of the check in seconds.
    pub seconds: f64,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct BmcReport {
    /// The verdict.
    pub verdict: BmcVerdict,
    /// Sizes and duration.
    pub statistics: BmcStatistics,
}

/// The stack size in bytes. Recursion over terms may be deep.
const STACK_SIZE: usize = 1 << 29;

/// Checks a program within the bounds of the options.
///
/// # Errors
/// If the file cannot be read or parsed, if the program uses an unsupported construct, if the abstraction does not
/// support the model, or if an output file cannot be written.
pub fn check(options: &BmcOptions) -> Result<BmcReport, BmcError> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_SIZE);
        let thread = builder.spawn_scoped(scope, || check_on_this_thread(options));
        let thread = thread.expect("the system has address space for a large stack");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn check_on_this_thread(options: &BmcOptions) -> Result<BmcReport, BmcError> {
    if options.model == Model::Pso && options.abstraction == Abstraction::Simple {
        let message = "the abstraction `simple` supports TSO only: use `stamps` or `etso` for PSO";
        return Err(BmcError::new(options.file.display(), message));
    }
    let start = Instant::now();
    let source = parse::parse(&options.file, &options.flags, options.compiler.as_deref())?;
    let mut program = fixpoint::execute_to_fixpoint(&source, options)?;
    slice::slice(&mut program, options.model);
    if let Some(path) = &options.emit {
        std::fs::write(path, emit::emit(&program, options))
            .map_err(|error| BmcError::new(path.display(), format!("cannot write: {error}")))?;
    }
    let sequentialized = sequentialize::sequentialize(&mut program, options);
    let deadline = options.timeout.and_then(|timeout: Duration| start.checked_add(timeout));
    let mut solver = SatSolver::new(deadline);
    if options.dimacs.is_some() {
        solver.record_clauses();
    }
    let mut blaster = BitBlaster::new(solver);
    let verdict = decide(&mut program, &sequentialized, &mut blaster, options)?;
    let (variables, clauses) = blaster.solver.size();
    let statistics = BmcStatistics {
        threads: program.threads.len(),
        statements: program.threads.iter().map(|thread| thread.statements.len()).sum(),
        cells: program.cells.len(),
        accesses: sequentialized.accesses,
        variables,
        clauses,
        sufficient_rounds: sequentialized.sufficient_rounds,
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok(BmcReport { verdict, statistics })
}

fn decide(
    program: &mut UnrolledProgram,
    sequentialized: &SequentializedProgram,
    blaster: &mut BitBlaster,
    options: &BmcOptions,
) -> Result<BmcVerdict, BmcError> {
    for &constraint in &sequentialized.constraints {
        blaster.require(&mut program.terms, constraint);
    }
    let bug = program.terms.any(sequentialized.bugs.iter().copied());
    let bug = blaster.lit(&mut program.terms, bug);
    if let Some(path) = &options.dimacs {
        let written = blaster.solver.write_dimacs(path, bug);
        written.map_err(|error| BmcError::new(path.display(), format!("cannot write: {error}")))?;
    }
    let active: Vec<Lit> =
        sequentialized.active.iter().map(|&term| blaster.lit(&mut program.terms, term)).collect();
    // Most bugs need few rounds, and the solver reuses learned clauses for more rounds.
    for rounds in 1..=active.len() {
        let idle = active[rounds..].iter().map(|lit| -lit);
        let assumptions: Vec<Lit> = idle.chain([bug]).collect();
        match blaster.solver.solve(&assumptions) {
            None => return Ok(BmcVerdict::Timeout),
            Some(true) => {
                let found = trace::counterexample(program, sequentialized, blaster);
                return Ok(
                    found.map_or(BmcVerdict::Timeout, |found| BmcVerdict::Bug(Box::new(found)))
                );
            }
            Some(false) => {}
        }
    }
    let reasons = incompleteness_reasons(program, sequentialized, blaster, options);
    Ok(if reasons.is_empty() { BmcVerdict::Safe } else { BmcVerdict::Bounded(reasons) })
}

/// The reasons why the bounds may exclude executions.
fn incompleteness_reasons(
    program: &mut UnrolledProgram,
    sequentialized: &SequentializedProgram,
    blaster: &mut BitBlaster,
    options: &BmcOptions,
) -> Vec<String> {
    let mut reasons = vec![];
    let sufficient = sequentialized.sufficient_rounds;
    if options.rounds < sufficient {
        reasons.push(format!("some executions may need {sufficient} rounds: raise --rounds"));
    }
    if !sequentialized.memory_is_exhaustive {
        reasons.push(String::from(
            "some executions may need more nodes or time stamps: raise --nodes or --max-time",
        ));
    }
    reasons.extend(reachable_cuts(program, sequentialized, blaster));
    reasons
}

/// The cuts that one execution reaches, if any execution reaches a cut.
fn reachable_cuts(
    program: &mut UnrolledProgram,
    sequentialized: &SequentializedProgram,
    blaster: &mut BitBlaster,
) -> Vec<String> {
    let any = program.terms.any(sequentialized.cuts.iter().copied());
    let any = blaster.lit(&mut program.terms, any);
    match blaster.solver.solve(&[any]) {
        Some(false) => vec![],
        None => vec![String::from(
            "the time limit was reached before it was known whether the bounds exclude executions",
        )],
        Some(true) => {
            let cuts = program.cuts.iter().zip(&sequentialized.cuts);
            let reached = cuts.filter(|&(_, &term)| blaster.value(&program.terms, term) == 1);
            let mut reasons: Vec<String> =
                reached.map(|(cut, _)| format!("{}: {}", cut.place, cut.message)).collect();
            reasons.dedup();
            reasons
        }
    }
}
