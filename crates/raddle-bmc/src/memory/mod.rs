//! Shared memory behind one interface: what a thread reads and writes under a memory model.
//!
//! The sequentialization goes through the turns of a round-robin schedule, and in every turn through the visible
//! statements of a thread; it tells the memory what the thread does, and under which condition it does it in this very
//! turn. Tomasco, Nguyen, Inverso, Fischer, La Torre, Parlato, FMCAD 2016, call this a shared memory abstraction.
//!
//! | | store buffers are |
//! |---|---|
//! | `direct` | not there: SC |
//! | `stamps` | a round for every write, in which it reaches memory |
//! | `simple` | arrays: TSO-SMA |
//! | `etso` | lists with time stamps for every variable: eTSO-SMA and PSO-SMA |

mod array;
mod cells;
mod direct;
mod etso;
mod simple;
mod stamps;

use crate::options::{Abstraction, Model, Options};
use crate::program::{CellId, Program};
use crate::term::{TRUE, Term, TermStore};

use direct::Direct;
use etso::Etso;
use simple::Simple;
use stamps::Stamps;

/// A turn of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) round: usize,
    pub(crate) thread: usize,
}

/// A visible statement in a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) turn: Turn,
    /// The how manieth statement of the thread.
    pub(crate) event: usize,
    /// When it is executed in this turn.
    pub(crate) active: Term,
}

/// Where formulas are built.
pub(crate) struct Builder<'a> {
    pub(crate) terms: &'a mut TermStore,
    /// What must hold.
    pub(crate) constraints: Vec<Term>,
    /// For every thread, statement and round: whether it is behind the statement at the end of its turn.
    pub(crate) done: Vec<Vec<Vec<Term>>>,
    /// For every round, whether anything happens in it: so a solver can be asked about fewer rounds.
    pub(crate) active: Vec<Term>,
    /// Executions that are cut off as a bound of the memory is reached.
    pub(crate) cuts: Vec<Term>,
}

impl Builder<'_> {
    pub(crate) fn require(&mut self, term: Term) {
        if term != TRUE {
            self.constraints.push(term);
        }
    }

    /// What becomes true in a round happens in it.
    pub(crate) fn happens(&mut self, round: usize, before: Term, after: Term) {
        if let Some(&active) = self.active.get(round) {
            let not = self.terms.not(before);
            let here = self.terms.and(after, not);
            self.imply(here, active);
        }
    }

    /// One implies the other.
    pub(crate) fn imply(&mut self, a: Term, b: Term) {
        let term = self.terms.implies(a, b);
        self.require(term);
    }
}

/// Shared memory.
pub(crate) trait Memory {
    /// A turn begins.
    fn begin(&mut self, build: &mut Builder<'_>, turn: Turn);

    /// A turn ends.
    fn end(&mut self, build: &mut Builder<'_>, turn: Turn);

    /// What a thread sees in a cell.
    fn read(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId) -> Term;

    /// A thread writes a cell, if `when` is true; `value` reaches memory at some time.
    fn write(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId, when: Term, value: Term);

    /// All writes of the thread so far reach memory.
    fn fence(&mut self, build: &mut Builder<'_>, step: Step);

    /// No write behind this overtakes one before it.
    fn store_fence(&mut self, build: &mut Builder<'_>, step: Step);

    /// What is in memory, for what reads and writes it at once; behind a fence.
    fn fetch(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId) -> Term;

    /// Writes memory at once, if `when` is true and the step is executed; behind a fence.
    fn put(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId, when: Term, value: Term);

    /// Whether nothing of a thread waits at the end of its turn in this round.
    fn drained(&mut self, build: &mut Builder<'_>, turn: Turn) -> Term;

    /// Writes that wait: thread, statement, and for every round whether it has reached memory; if that is known.
    fn left(&self) -> Vec<(usize, usize, Vec<Term>)> {
        vec![]
    }

    /// Whether its bounds cover every execution.
    fn is_exhaustive(&self) -> bool;
}

/// The memory that the options ask for.
pub(crate) fn memory(
    program: &Program,
    options: &Options,
    build: &mut Builder<'_>,
) -> Box<dyn Memory> {
    let bounds = (options.nodes, options.max_time);
    match (options.model, options.abstraction) {
        (Model::Sc, _) => Box::new(Direct::new(program)),
        (Model::Tso, Abstraction::Simple) => Box::new(Simple::new(program, options.nodes, build)),
        (model, Abstraction::Etso) => Box::new(Etso::new(program, model, bounds, build)),
        (model, _) => Box::new(Stamps::new(program, model, build)),
    }
}
