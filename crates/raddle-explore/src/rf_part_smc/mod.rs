//! RF-partSMC: every reads-from class once, in memory that does not grow.
//!
//! *Problem.* Visit every reads-from class of a program that a memory model allows, each exactly once.
//!
//! *Idea.* The explorer keeps one consistent execution to which all effects have been added, so that
//! every live thread waits with a question. It picks a thread, adds its read with each source that the
//! model allows, and goes on from there. Then it does the same for the other threads, but the read of the
//! first thread must not get the same sources again: its *causal map* says which writes it has already
//! tried there, and from then on it may observe only others. As ids grow with the stack, "the writes
//! that were there" is one number (`Thread::floor`).
//!
//! *Dynamic skip.* Trying all threads at every node visits every cut of the reads. But the other threads
//! matter only if they write what the first one reads. So the first thread to be tried is one without a
//! causal map, preferably one that reads a location that nobody else has written; if in all the subtree
//! no other thread wrote that location, the others are skipped. For an update, an update of another
//! thread that is only *pending* counts as well, since the two compete for the same source. This turns
//! 438 nodes for each class of `readers(15)` into 2. What a thread writes that has joined all others does not count: it comes
//! after their reads in every execution.
//!
//! *Paper.* Bui, Chatterjee, Gautam, Pavlogiannis, Toman, *The Reads-From Equivalence for the TSO and PSO
//! Memory Models*, OOPSLA 2021, algorithm 4. Where we differ: the initial write is part of the causal map
//! (otherwise classes are visited twice); the skip; updates, locks, spawn, join, choices; and the model
//! is asked incrementally through [`IncrementalModel`], for any model.
//!
//! *Choices* of the program are made first, and joins of finished threads and accesses of cells at once:
//! nothing depends on when they happen.
//!
//! *Leaves.* "No children" is not the end: the causal map may forbid all sources because the class was
//! visited elsewhere. An execution is maximal if no thread can go on whatever the causal map says.
//!
//! *Cost.* 50 to 500 ns for each class, a few nodes each; memory for one execution, and the remembered
//! histories of single threads ([`LocalHistories`]).

use std::time::Instant;

mod by_value;
mod cells;
mod leaf;
mod memo;
mod open;
mod open_classes;
mod probe;
mod route;
mod search;
mod stamps;
mod state;
pub mod subtree;
mod subtrees;

use super::driver::{self, ModelStrength, Restart, SetWidth, Setup};
use super::event_set::{EventSet, WideSet};
use super::model::IncrementalModel;
use super::model::RvfOptions;
use super::model::c11::{self, Checked, Rules, Views, Witnessed};
use super::model::store_buffer;
use super::{Control, Extent, Leaf, Limits, Summary, Unsupported, Visitor};
use probe::Probes;
use raddle_core::model::Model;
use raddle_core::model::orders::{OrderSemantics, StoreBuffers};
use raddle_core::outcome::Estimate;
use raddle_core::program::{LocalHistories, Program};
use state::Explorer;
use subtree::{Report, Subtree};

/// Explores a program under a model.
pub fn explore<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
) -> Summary {
    explore_for(program, model, limits, Audience::Visitor(visitor))
}

/// Explores parts of the tree, one after the other. The summary tells about the last one; what counts are the
/// reports.
pub(crate) fn explore_subtrees<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    subtrees: &'a mut (dyn Subtrees + 'a),
) -> Summary {
    explore_for(program, model, limits, Audience::Subtrees(subtrees))
}

/// Estimates how many classes there are, by so many probes, or until the time is up.
pub fn estimate<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    probes: u64,
    end: Option<Instant>,
) -> Option<Estimate> {
    let limits = Limits { classes: None, deadline: end };
    let mut outer = Exploration::new(program, &limits, None, RvfOptions::default());
    outer.probes = Some(Probes::new(probes, SEED));
    driver::drive(|setup| outer.attempt(model, setup));
    outer.probes.map(|probes| probes.estimate())
}

/// Where the random numbers of probes start.
const SEED: u64 = 1;

/// Parts of the tree to be explored, and who looks at their leaves.
pub(crate) trait Subtrees: Visitor {
    /// The next one, and after how many leaves it is suspended at the latest; 0: never.
    fn next(&mut self) -> Option<(Subtree, u64)>;
    /// After how many leaves the whole tree is suspended.
    fn first(&self) -> u64;
    /// What came of the last one.
    fn explored(&mut self, report: Report);
    /// Whether nobody is interested any more.
    fn is_cancelled(&self) -> bool;
    /// Whether the current one is to be suspended, as others wait for work.
    fn is_enough(&self) -> bool;
}

/// Whom an exploration works for.
enum Audience<'a> {
    Visitor(&'a mut dyn Visitor),
    Subtrees(&'a mut dyn Subtrees),
}

impl Visitor for Audience<'_> {
    #[inline]
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        match self {
            Audience::Visitor(visitor) => visitor.visit(leaf),
            Audience::Subtrees(subtrees) => subtrees.visit(leaf),
        }
    }
}

fn explore_for<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    audience: Audience<'a>,
) -> Summary {
    let mut outer = Exploration::new(program, limits, Some(audience), RvfOptions::default());
    driver::drive(|setup| outer.attempt(model, setup))
}

/// Explores a program by values: with models by value for few and for many events (`N` and `W`), and where
/// threads access memory that no op carries with models by reads-from (`C` and `D`).
pub(super) fn explore_by_value<
    'a,
    N: IncrementalModel<u64>,
    W: IncrementalModel<WideSet>,
    C: IncrementalModel<u64>,
    D: IncrementalModel<WideSet>,
>(
    program: &'a mut (dyn Program + 'a),
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
    options: RvfOptions,
) -> Summary {
    let mut outer = Exploration::new(program, limits, Some(Audience::Visitor(visitor)), options);
    driver::drive(|setup| match setup.strength {
        // The other models visit other leaves: too late if a visitor has seen some.
        ModelStrength::Basic => match outer.with_sets::<N, W>(setup) {
            Err(Restart::StrongerModel) if outer.visited > 0 => {
                Ok(outer.gave_up(Extent::Unsupported(Unsupported::Cells)))
            }
            explored => explored,
        },
        ModelStrength::Full => outer.with_sets::<C, D>(setup),
    })
}

/// An exploration that may have to start again with larger tables.
struct Exploration<'a> {
    program: &'a mut dyn Program,
    limits: &'a Limits,
    /// Taken while it looks at a leaf.
    audience: Option<Audience<'a>>,
    /// Taken by the exploration while it runs.
    histories: LocalHistories,
    /// How many leaves the visitor has seen. Explorations of any width visit them in the same order.
    visited: u64,
    /// The subtree that is being explored.
    current: Option<(Subtree, u64)>,
    /// Only probes are sent out.
    probes: Option<Probes>,
    /// What is left out.
    options: RvfOptions,
}

/// An attempt to explore under a C11-style model.
struct C11Attempt<'e, 'a> {
    exploration: &'e mut Exploration<'a>,
    setup: Setup,
}

impl c11::Strategies for C11Attempt<'_, '_> {
    type Output = Result<Summary, Restart>;

    fn views<M: Rules>(self) -> Self::Output {
        self.exploration.with_sets::<Views<M, u64>, Views<M, WideSet>>(self.setup)
    }

    fn views_then_witness<M: Rules>(self) -> Self::Output {
        self.exploration.with_witness::<M>(self.setup)
    }

    fn views_then_checks<M: Rules>(self) -> Self::Output {
        self.exploration.with_checker::<M, Views<M, u64>, Views<M, WideSet>>(self.setup)
    }

    fn witness_then_checks<M: Rules>(self) -> Self::Output {
        self.exploration.with_checker::<M, Witnessed<M, u64>, Witnessed<M, WideSet>>(self.setup)
    }
}

impl<'a> Exploration<'a> {
    fn new(
        program: &'a mut dyn Program,
        limits: &'a Limits,
        audience: Option<Audience<'a>>,
        options: RvfOptions,
    ) -> Self {
        let histories = LocalHistories::new();
        let (visited, current, probes) = (0, None, None);
        Exploration { program, limits, audience, histories, visited, current, probes, options }
    }

    /// Explores under the model, with what the setup says.
    fn attempt(&mut self, model: Model, setup: Setup) -> Result<Summary, Restart> {
        match model.orders() {
            OrderSemantics::StoreBuffer(StoreBuffers::None) => {
                self.with_sets::<store_buffer::Sc<u64>, store_buffer::Sc<WideSet>>(setup)
            }
            OrderSemantics::StoreBuffer(StoreBuffers::PerThread) => {
                self.with_sets::<store_buffer::Tso<u64>, store_buffer::Tso<WideSet>>(setup)
            }
            OrderSemantics::StoreBuffer(StoreBuffers::PerLocation) => {
                self.with_sets::<store_buffer::Pso<u64>, store_buffer::Pso<WideSet>>(setup)
            }
            OrderSemantics::C11(_) => {
                let attempt = C11Attempt { exploration: self, setup };
                c11::with_strategy(model, attempt).expect("a C11-style model has a strategy")
            }
        }
    }

    fn starts_probe(&mut self) -> bool {
        self.probes.as_mut().is_some_and(Probes::starts)
    }

    fn has_subtrees(&self) -> bool {
        matches!(self.audience, Some(Audience::Subtrees(_)))
    }

    /// The subtree that is to be explored again, or else the next one.
    fn next_subtree(&mut self) -> Option<(Subtree, u64)> {
        if let (None, Some(Audience::Subtrees(subtrees))) = (&self.current, &mut self.audience) {
            self.current = subtrees.next();
        }
        self.current.clone()
    }

    fn explored(&mut self, mut report: Report) {
        (self.current, self.visited) = (None, 0);
        report.learned = self.program.learned();
        if let Some(Audience::Subtrees(subtrees)) = &mut self.audience {
            subtrees.explored(report);
        }
    }

    /// The whole tree, which is explored again to learn what was learned there, until it is suspended.
    fn first_subtree(&self) -> (Subtree, u64) {
        let first = match &self.audience {
            Some(Audience::Subtrees(subtrees)) => subtrees.first(),
            _ => 0,
        };
        (Subtree::default(), first)
    }

    fn is_enough(&self) -> bool {
        match &self.audience {
            Some(Audience::Subtrees(subtrees)) => subtrees.is_enough(),
            _ => false,
        }
    }

    fn is_cancelled(&self) -> bool {
        match &self.audience {
            Some(Audience::Subtrees(subtrees)) => subtrees.is_cancelled(),
            _ => false,
        }
    }

    /// Explores with event sets of the width that the setup says.
    fn with_sets<N: IncrementalModel<u64>, W: IncrementalModel<WideSet>>(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        match setup.width {
            SetWidth::Narrow => self.run::<u64, N>(setup),
            SetWidth::Wide => self.run::<WideSet, W>(setup),
        }
    }

    /// Explores with [`Views`], or with [`Witnessed`] if something is sequentially consistent. Long executions
    /// always get a witness: views would save little there.
    fn with_witness<M: Rules>(&mut self, setup: Setup) -> Result<Summary, Restart> {
        match (setup.width, setup.strength) {
            (SetWidth::Narrow, ModelStrength::Basic) => self.run::<u64, Views<M, u64>>(setup),
            (SetWidth::Narrow, ModelStrength::Full) => self.run::<u64, Witnessed<M, u64>>(setup),
            (SetWidth::Wide, _) => self.run::<WideSet, Witnessed<M, WideSet>>(setup),
        }
    }

    /// Explores with an incremental model, or by asking the checker about whole executions.
    fn with_checker<M: Rules, N: IncrementalModel<u64>, W: IncrementalModel<WideSet>>(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        match setup.strength {
            ModelStrength::Basic => self.with_sets::<N, W>(setup),
            ModelStrength::Full => self.run::<WideSet, Checked<M, WideSet>>(setup),
        }
    }

    /// Explores with these event sets and this model.
    fn run<R: EventSet, F: IncrementalModel<R>>(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        Explorer::<R, F>::new(self, setup.tables).explore()
    }

    fn gave_up(&self, extent: Extent) -> Summary {
        let histories = self.histories.len() as u64;
        Summary { extent, classes: self.visited, blocked: 0, histories }
    }
}
