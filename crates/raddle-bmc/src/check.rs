//! Checks a program within bounds.

use std::time::{Duration, Instant};

use crate::blast::Blaster;
use crate::emit;
use crate::options::{Abstraction, Model, Options};
use crate::parse;
use crate::program::Program;
use crate::refuse::Refusal;
use crate::sequence::{self, Sequenced};
use crate::settle;
use crate::slice;
use crate::solve::Solver;
use crate::trace::{self, Bug};

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Something goes wrong.
    Bug(Box<Bug>),
    /// Nothing goes wrong, and the bounds leave no execution out.
    Safe,
    /// Nothing goes wrong within the bounds; these leave executions out.
    Bounded(Vec<String>),
    /// The time was up.
    Timeout,
}

/// How large it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Threads.
    pub threads: usize,
    /// Visible statements.
    pub statements: usize,
    /// Cells of shared memory.
    pub cells: usize,
    /// How often these are accessed, in all turns together.
    pub accesses: usize,
    /// Variables of the formula.
    pub variables: usize,
    /// Clauses of the formula.
    pub clauses: usize,
    /// So many rounds are enough for every execution.
    pub enough_rounds: usize,
    /// How long it took.
    pub seconds: f64,
}

/// What came of a check, and how large it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The answer.
    pub answer: Answer,
    /// How large it was.
    pub statistics: Statistics,
}

/// TermStore may be deep.
const STACK: usize = 1 << 29;

/// Checks a program.
///
/// # Errors
/// If it cannot be read, or does what is not modelled.
pub fn check(options: &Options) -> Result<Report, Refusal> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, || check_here(options));
        let thread = thread.expect("the system has memory for a large stack");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn check_here(options: &Options) -> Result<Report, Refusal> {
    if options.model == Model::Pso && options.abstraction == Abstraction::Simple {
        let what = "TSO-SMA knows one buffer for each thread: expected stamps or etso for pso";
        return Err(Refusal::new(options.file.display(), what));
    }
    let start = Instant::now();
    let source = parse::parse(&options.file, &options.flags, options.compiler.as_deref())?;
    let mut program = settle::settle(&source, options)?;
    slice::slice(&mut program, options.model);
    if let Some(path) = &options.emit {
        std::fs::write(path, emit::emit(&program, options))
            .map_err(|error| Refusal::new(path.display(), format!("cannot write: {error}")))?;
    }
    let sequenced = sequence::sequence(&mut program, options);
    let deadline = options.timeout.and_then(|timeout: Duration| start.checked_add(timeout));
    let mut solver = Solver::new(deadline);
    if options.dimacs.is_some() {
        solver.keep_text();
    }
    let mut blaster = Blaster::new(solver);
    let answer = solve(&mut program, &sequenced, &mut blaster, options)?;
    let (variables, clauses) = blaster.solver.size();
    let statistics = Statistics {
        threads: program.threads.len(),
        statements: program.threads.iter().map(|thread| thread.events.len()).sum(),
        cells: program.cells.len(),
        accesses: sequenced.accesses,
        variables,
        clauses,
        enough_rounds: sequenced.enough,
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok(Report { answer, statistics })
}

fn solve(
    program: &mut Program,
    sequenced: &Sequenced,
    blaster: &mut Blaster,
    options: &Options,
) -> Result<Answer, Refusal> {
    for &constraint in &sequenced.constraints {
        blaster.require(&mut program.terms, constraint);
    }
    let bug = program.terms.any(sequenced.bugs.iter().copied());
    let bug = blaster.lit(&mut program.terms, bug);
    if let Some(path) = &options.dimacs {
        write_formula(blaster, bug, path)?;
    }
    let active: Vec<i32> =
        sequenced.active.iter().map(|&term| blaster.lit(&mut program.terms, term)).collect();
    // With few rounds first: most bugs need few, and what is learned there helps with more.
    for rounds in 1..=active.len() {
        let idle = active[rounds..].iter().map(|lit| -lit);
        let assumptions: Vec<i32> = idle.chain([bug]).collect();
        match blaster.solver.solve(&assumptions) {
            None => return Ok(Answer::Timeout),
            Some(true) => {
                let bug = trace::tell(program, sequenced, blaster);
                return Ok(bug.map_or(Answer::Timeout, |bug| Answer::Bug(Box::new(bug))));
            }
            Some(false) => {}
        }
    }
    let mut reasons = vec![];
    if options.rounds < sequenced.enough {
        reasons.push(format!("some executions may need {} rounds", sequenced.enough));
    }
    if !sequenced.memory_is_exhaustive {
        reasons.push(String::from("some executions may need more nodes or time stamps"));
    }
    reasons.extend(cut_off(program, sequenced, blaster));
    Ok(if reasons.is_empty() { Answer::Safe } else { Answer::Bounded(reasons) })
}

/// The formula that is satisfiable if there is a bug.
fn write_formula(blaster: &mut Blaster, bug: i32, path: &std::path::Path) -> Result<(), Refusal> {
    let refuse = |error: String| Refusal::new(path.display(), error);
    blaster.solver.write_dimacs(path, bug).map_err(refuse)
}

/// Where executions are cut off.
fn cut_off(program: &mut Program, sequenced: &Sequenced, blaster: &mut Blaster) -> Vec<String> {
    let any = program.terms.any(sequenced.cuts.iter().copied());
    let any = blaster.lit(&mut program.terms, any);
    let mut reasons = vec![];
    match blaster.solver.solve(&[any]) {
        Some(false) => {}
        None => reasons.push(String::from("the time was up before the bounds were tested")),
        Some(true) => {
            let cut = program.cuts.iter().zip(&sequenced.cuts);
            let holds = |term| blaster.value(&program.terms, term) == 1;
            reasons.extend(
                cut.filter(|&(_, &term)| holds(term))
                    .map(|(cut, _)| format!("{}: {}", cut.place, cut.message)),
            );
            reasons.dedup();
            if reasons.is_empty() {
                reasons.push(String::from("a bound of the memory is reached"));
            }
        }
    }
    reasons
}
