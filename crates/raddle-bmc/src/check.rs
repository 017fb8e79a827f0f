//! Checks a program within given bounds.

use std::time::{Duration, Instant};

use raddle_core::model::orders::StoreBuffers;
use raddle_core::outcome::{Bound, Counts, Finding, Outcome};

use crate::bitblast::BitBlaster;
use crate::emit;
use crate::error::BmcError;
use crate::fixpoint;
use crate::options::{Abstraction, BmcOptions};
use crate::parse;
use crate::program::UnrolledProgram;
use crate::sat_solver::{Lit, SatSolver};
use crate::sequentialize::{self, SequentializedProgram};
use crate::slice;
use crate::trace::{self, BmcCounterexample};

/// The size of a program and its formula.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct BmcReport {
    /// The verdict, the finding, the duration, and why the bounds may exclude executions.
    pub outcome: Outcome,
    /// The execution that leads to the finding.
    pub counterexample: Option<BmcCounterexample>,
    /// Sizes.
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
    let Some(buffers) = options.model.store_buffers() else {
        let message =
            format!("bounded checking does not support {}: use sc, tso or pso", options.model);
        return Err(BmcError::new(options.file.display(), message));
    };
    if buffers == StoreBuffers::PerLocation && options.abstraction == Abstraction::Simple {
        let message = "the abstraction `simple` supports TSO only: use `stamps` or `etso` for PSO";
        return Err(BmcError::new(options.file.display(), message));
    }
    let start = Instant::now();
    let source = parse::parse(&options.file, &options.flags, options.compiler.as_deref())?;
    let mut program = fixpoint::execute_to_fixpoint(&source, options)?;
    slice::slice(&mut program, buffers);
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
    let Decision { found, bound } = decide(&mut program, &sequentialized, &mut blaster, options)?;
    let (variables, clauses) = blaster.solver.size();
    let statistics = BmcStatistics {
        threads: program.threads.len(),
        statements: program.threads.iter().map(|thread| thread.statements.len()).sum(),
        cells: program.cells.len(),
        accesses: sequentialized.accesses,
        variables,
        clauses,
        sufficient_rounds: sequentialized.sufficient_rounds,
    };
    let (finding, counterexample) = found.unzip();
    let counts = Counts { seconds: start.elapsed().as_secs_f64(), ..Counts::default() };
    let outcome = Outcome::new(finding.into_iter().collect(), counts, bound);
    Ok(BmcReport { outcome, counterexample, statistics })
}

/// The answer of the solver.
#[derive(Default)]
struct Decision {
    found: Option<(Finding, BmcCounterexample)>,
    bound: Option<Bound>,
}

fn decide(
    program: &mut UnrolledProgram,
    sequentialized: &SequentializedProgram,
    blaster: &mut BitBlaster,
    options: &BmcOptions,
) -> Result<Decision, BmcError> {
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
            None => return Ok(Decision { bound: Some(Bound::Deadline), ..Decision::default() }),
            Some(true) => {
                let found = trace::counterexample(program, sequentialized, blaster);
                let bound = found.is_none().then_some(Bound::Deadline);
                return Ok(Decision { found, bound });
            }
            Some(false) => {}
        }
    }
    let reasons = incompleteness_reasons(program, sequentialized, blaster, options);
    let bound = (!reasons.is_empty()).then_some(Bound::Excluded(reasons));
    Ok(Decision { found: None, bound })
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
