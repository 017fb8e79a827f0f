//! RF-partSMC: every reads-from class once, in memory that does not grow.
//!
//! *Problem.* Visit every reads-from class of a program that a memory model allows, each exactly once.
//!
//! *Idea.* The explorer keeps one consistent execution to which all effects have been added, so that every live thread
//! waits with a question. It picks a thread, adds its read with each source that the model allows, and continues from
//! there. Then it does the same for the other threads, but the read of the first thread must not get the same sources
//! again: its *causal map* contains the writes that were tried there, and from then on it may observe only others. As
//! the indices of events grow with the stack, "the writes that were there" is one number
//! (`SearchThread::causal_floor`).
//!
//! *Dynamic skip.* Trying all threads at every node visits every cut of the reads. But the other threads matter only if
//! they write what the first one reads. So the first thread to be tried is one without a causal map, preferably one
//! that reads a location that no other thread has written; if in all the subtree no other thread wrote that location,
//! the others are skipped. For an update, an update of another thread that is only *pending* counts as well, since the
//! two compete for the same source. This reduces 438 nodes per class of `readers(15)` to 2. The writes of a thread that
//! has joined all others do not count: they come after the reads of the others in every execution.
//!
//! *Paper.* Bui, Chatterjee, Gautam, Pavlogiannis, Toman, *The Reads-From Equivalence for the TSO and PSO Memory
//! Models*, OOPSLA 2021, algorithm 4. Where we differ: the initial write is part of the causal map (otherwise classes
//! are visited twice); the skip; updates, locks, spawn, join, choices; and the model is asked incrementally through
//! [`IncrementalModel`], for any model.
//!
//! *Choices* of the program are made first, and joins of finished threads and accesses of cells at once: nothing
//! depends on when they happen.
//!
//! *Leaves.* A node without children need not be a leaf: the causal map may forbid all sources because the class was
//! visited elsewhere. An execution is maximal if no thread can continue whatever the causal map forbids.
//!
//! *Cost.* 50 to 500 ns per class, a few nodes each; memory for one execution, and the remembered histories of single
//! threads ([`LocalHistories`]).

use std::time::Instant;

mod by_value;
mod candidates;
mod cells;
mod corresponding_histories;
mod execution;
mod history_cache;
mod joint_accesses;
mod leaf;
mod node;
mod nodes;
mod open;
mod open_classes;
mod orbits;
mod permutations;
mod private_rounds;
mod probe;
mod quiet;
mod quiet_state;
mod quiet_table;
mod recognition;
mod round_state;
mod rounds;
mod route;
mod run_table;
mod runs;
mod search;
mod stamps;
mod state;
pub mod subtree;
mod subtrees;
mod symmetric_threads;
mod symmetry;
mod symmetry_state;
mod thread_set;

use crate::driver::{self, ModelStrength, Restart, SetWidth, Setup, TableSizes};
use crate::event_set::EventSet;
use crate::facts::{EventBound, ExplorationFacts, NewFact};
use crate::long_set::LongSet;
use crate::model::c11::{self, CheckerModel, CoherenceModel, Rules, WitnessModel};
use crate::model::joint::{JointPso, JointSc, JointTso};
use crate::model::{BoxedModel, IncrementalModel, NewModel, RvfOptions, store_buffer};
use crate::{Control, Extent, Leaf, Limits, Summary, Unsupported, Visitor};
use probe::TreeProbes;
use raddle_core::execution::LocationId;
use raddle_core::model::Model;
use raddle_core::model::orders::{OrderSemantics, StoreBuffers};
use raddle_core::outcome::Estimate;
use raddle_core::program::{LocalHistories, Program};
use recognition::Recognition;
use state::PartSearch;
use subtree::{Subtree, SubtreeReport};

/// Explores a program under a model.
pub fn explore<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
) -> Summary {
    explore_with(program, model, limits, visitor, RvfOptions::default())
}

/// As [`explore`], with options.
pub fn explore_with<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
    options: RvfOptions,
) -> Summary {
    explore_for(program, model, limits, LeafConsumer::Visitor(visitor), options)
}

/// Explores parts of the tree, one after the other. Results are passed to [`SubtreeSource::report`]; the summary is
/// that of the last part only.
#[cfg_attr(not(feature = "parallel"), expect(dead_code, reason = "workers explore parts"))]
pub(crate) fn explore_subtrees<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    subtrees: &'a mut (dyn SubtreeSource + 'a),
) -> Summary {
    explore_for(program, model, limits, LeafConsumer::Subtrees(subtrees), RvfOptions::default())
}

/// Estimates the number of classes by `probes` probes, or as many as fit in the time until `end`.
pub fn estimate<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    probes: u64,
    end: Option<Instant>,
) -> Option<Estimate> {
    let limits = Limits { deadline: end, ..Limits::default() };
    let mut exploration = PartExploration::new(program, &limits, None, RvfOptions::default());
    exploration.probes = Some(TreeProbes::new(probes, PROBE_SEED));
    driver::drive(|setup| exploration.learning(|it| it.attempt(model, setup)));
    exploration.probes.map(|probes| probes.estimate())
}

/// The seed of the random numbers of probes: an estimate is reproducible.
const PROBE_SEED: u64 = 1;

/// Hands out subtrees, visits their leaves, and receives the results.
pub(crate) trait SubtreeSource: Visitor {
    /// The next subtree, and the number of leaves after which it is suspended at the latest (0: never). `None` if all
    /// are explored.
    fn next_subtree(&mut self) -> Option<(Subtree, u64)>;
    /// The number of leaves after which the whole tree is suspended. Determines the shape of the tree.
    fn first_budget(&self) -> u64;
    /// Receives the result of the last subtree.
    fn report(&mut self, report: SubtreeReport);
    /// Returns `true` if the result of the current subtree is no longer needed.
    fn is_cancelled(&self) -> bool;
    /// Returns `true` if the current subtree is to be suspended, as others wait for work.
    fn wants_suspension(&self) -> bool;
    /// What is known about the program. Determines the shape of the tree.
    fn facts(&self) -> ExplorationFacts;
}

/// The client of an exploration.
enum LeafConsumer<'a> {
    Visitor(&'a mut dyn Visitor),
    Subtrees(&'a mut dyn SubtreeSource),
}

impl Visitor for LeafConsumer<'_> {
    #[inline]
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        match self {
            LeafConsumer::Visitor(visitor) => visitor.visit(leaf),
            LeafConsumer::Subtrees(subtrees) => subtrees.visit(leaf),
        }
    }
}

fn explore_for<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    consumer: LeafConsumer<'a>,
    options: RvfOptions,
) -> Summary {
    let mut exploration = PartExploration::new(program, limits, Some(consumer), options);
    if let Some(subtrees) = exploration.subtrees() {
        exploration.facts = subtrees.facts();
    }
    driver::drive(|setup| exploration.learning(|it| it.attempt(model, setup)))
}

/// Explores a program by values: with the models by value `N` (for few events) and `W` (for many), and with the models
/// by reads-from `C` and `D` if threads access memory that no op carries.
pub(super) fn explore_by_value<
    'a,
    N: IncrementalModel<u64> + NewModel,
    W: IncrementalModel<LongSet> + NewModel + 'static,
    C: IncrementalModel<u64> + NewModel,
    D: IncrementalModel<LongSet> + NewModel + 'static,
>(
    program: &'a mut (dyn Program + 'a),
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
    options: RvfOptions,
) -> Summary {
    let consumer = Some(LeafConsumer::Visitor(visitor));
    let mut exploration = PartExploration::new(program, limits, consumer, options);
    exploration.is_silent = options.quiet && !options.open;
    exploration.leaves_out_rounds = false;
    exploration.seeks_symmetry = false;
    driver::drive(|setup| {
        let explored = exploration.learning(|it| match setup.strength {
            // The other models visit other leaves: too late if a visitor has seen some.
            ModelStrength::Basic => match it.with_sets::<N, W>(setup) {
                Err(Restart::StrongerModel) if it.visited > 0 && !it.is_silent => {
                    Ok(it.summary_of_visited(Extent::Unsupported(Unsupported::Cells)))
                }
                explored => explored,
            },
            ModelStrength::Full => it.with_sets::<C, D>(setup),
        });
        if explored.is_err() && exploration.is_silent {
            exploration.visited = 0;
        }
        if explored.is_ok() && std::mem::take(&mut exploration.is_silent) {
            exploration.visited = 0;
            return Err(Restart::ExplorationFacts);
        }
        explored
    })
}

/// The state of an exploration that survives a [`Restart`].
struct PartExploration<'a> {
    program: &'a mut dyn Program,
    limits: &'a Limits,
    /// Taken while it visits a leaf. `None` if there is no client.
    consumer: Option<LeafConsumer<'a>>,
    /// Taken by the search while it runs.
    histories: LocalHistories,
    /// The number of leaves that the client has visited. All attempts visit leaves in the same order.
    visited: u64,
    /// The subtree that is being explored, and its budget.
    current: Option<(Subtree, u64)>,
    /// If the tree is only probed.
    probes: Option<TreeProbes>,
    options: RvfOptions,
    facts: ExplorationFacts,
    /// What the last attempt has learned.
    new_fact: Option<NewFact>,
    recognition: Recognition,
    /// Whether leaves are not shown. By value, the classes depend on which locations are quiet, so all leaves are
    /// visited once before the first one is shown; if no location is quiet, only the first one.
    is_silent: bool,
    /// Whether reads without effect are left out.
    leaves_out_rounds: bool,
    /// Whether symmetric threads are looked for.
    seeks_symmetry: bool,
    /// The names of those that the last attempt has found, by block.
    symmetric: Vec<Vec<String>>,
    /// Whether updates that write what they read are among them.
    updates_may_be_silent: bool,
    /// The model, if the order of blind updates is left open (`quiet_table.rs`).
    commuting: Option<OrderSemantics>,
}

/// An attempt to explore under a C11-style model. The table of [`c11`] has the reasons.
struct C11Attempt<'e, 'a> {
    exploration: &'e mut PartExploration<'a>,
    setup: Setup,
}

impl c11::Strategies for C11Attempt<'_, '_> {
    type Output = Result<Summary, Restart>;

    fn coherence<M: Rules>(self) -> Self::Output {
        self.exploration.with_coherence::<M>(self.setup)
    }

    /// Long executions always get a witness: they would rarely do without.
    fn coherence_then_witness<M: Rules>(self) -> Self::Output {
        match (self.setup.width, self.setup.strength) {
            (SetWidth::OneWord, ModelStrength::Basic) if !cfg!(unoptimized) => {
                self.exploration.run_with_words::<CoherenceModel<M, u64>>(self.setup)
            }
            _ => self.exploration.with_witness::<M>(self.setup),
        }
    }

    fn coherence_then_checker<M: Rules>(self) -> Self::Output {
        match self.setup.strength {
            ModelStrength::Basic => self.exploration.with_coherence::<M>(self.setup),
            ModelStrength::Full => self.exploration.with_checker::<M>(self.setup),
        }
    }

    fn witness_then_checker<M: Rules>(self) -> Self::Output {
        match self.setup.strength {
            ModelStrength::Basic => self.exploration.with_witness::<M>(self.setup),
            ModelStrength::Full => self.exploration.with_checker::<M>(self.setup),
        }
    }
}

impl<'a> PartExploration<'a> {
    fn new(
        program: &'a mut dyn Program,
        limits: &'a Limits,
        consumer: Option<LeafConsumer<'a>>,
        options: RvfOptions,
    ) -> Self {
        let most_cut_effects = limits.events.unwrap_or(EventBound::FIRST) as usize;
        let histories = LocalHistories::with_most_cut_effects(most_cut_effects);
        let (visited, current, probes) = (0, None, None);
        let leaves_out_rounds = limits.rounds && !program.goes_on_after_races();
        let seeks_symmetry =
            limits.symmetry && !program.shares_memory() && !program.goes_on_after_races();
        // Both look at threads between two questions, also between two of one joint access.
        let is_joint = program.has_joint_accesses();
        let (leaves_out_rounds, seeks_symmetry) =
            (leaves_out_rounds && !is_joint, seeks_symmetry && !is_joint);
        PartExploration {
            program,
            limits,
            consumer,
            histories,
            visited,
            current,
            probes,
            options,
            facts: ExplorationFacts::default(),
            new_fact: None,
            recognition: Recognition::default(),
            is_silent: false,
            leaves_out_rounds,
            seeks_symmetry,
            symmetric: vec![],
            updates_may_be_silent: false,
            commuting: None,
        }
    }

    /// Explores under the model, with what the setup says.
    fn attempt(&mut self, model: Model, setup: Setup) -> Result<Summary, Restart> {
        self.updates_may_be_silent = model.has_modification_order();
        self.commuting = self.leaves_out_rounds.then(|| model.orders());
        if self.program.has_joint_accesses() {
            return self.attempt_jointly(model, setup);
        }
        match model.orders() {
            OrderSemantics::StoreBuffer(StoreBuffers::None) => {
                self.with_words::<
                    store_buffer::Sc<u64>,
                    store_buffer::Sc<u128>,
                    store_buffer::Sc<LongSet>,
                >(setup)
            }
            OrderSemantics::StoreBuffer(StoreBuffers::PerThread) => {
                self.with_words::<
                    store_buffer::Tso<u64>,
                    store_buffer::Tso<u128>,
                    store_buffer::Tso<LongSet>,
                >(setup)
            }
            OrderSemantics::StoreBuffer(StoreBuffers::PerLocation) => {
                self.with_words::<
                    store_buffer::Pso<u64>,
                    store_buffer::Pso<u128>,
                    store_buffer::Pso<LongSet>,
                >(setup)
            }
            OrderSemantics::C11(_) => {
                let attempt = C11Attempt { exploration: self, setup };
                c11::with_strategy(model, attempt).expect("a C11-style model has a strategy")
            }
        }
    }

    /// As [`PartExploration::attempt`], if the program has joint accesses.
    fn attempt_jointly(&mut self, model: Model, setup: Setup) -> Result<Summary, Restart> {
        match model.orders() {
            OrderSemantics::StoreBuffer(StoreBuffers::None) => {
                self.with_long_sets::<JointSc<u128>, JointSc<LongSet>>(setup)
            }
            OrderSemantics::StoreBuffer(StoreBuffers::PerThread) => {
                self.with_long_sets::<JointTso<u128>, JointTso<LongSet>>(setup)
            }
            OrderSemantics::StoreBuffer(StoreBuffers::PerLocation) => {
                self.with_long_sets::<JointPso<u128>, JointPso<LongSet>>(setup)
            }
            OrderSemantics::C11(_) => {
                Ok(self.summary_of_visited(Extent::Unsupported(Unsupported::Overlaps)))
            }
        }
    }

    /// Explores with event sets of two words or without a bound.
    fn with_long_sets<
        D: IncrementalModel<u128> + NewModel + 'static,
        W: IncrementalModel<LongSet> + NewModel + 'static,
    >(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        if cfg!(unoptimized) {
            return self.run_boxed::<LongSet, W>(setup);
        }
        match setup.width {
            SetWidth::OneWord | SetWidth::TwoWords => self.run_boxed::<u128, D>(setup),
            SetWidth::Unbounded => self.run_boxed::<LongSet, W>(setup),
        }
    }

    /// Returns `true` if the location is assumed to be quiet.
    fn assumes_quiet(&self, location: LocationId) -> bool {
        let RvfOptions { quiet, open, .. } = self.options;
        let is_known = || self.facts.is_conflicting(&self.program.location_name(location));
        quiet && !open && (self.facts.has_no_conflicts() || !is_known())
    }

    /// Records that accesses of these locations conflict.
    fn note_conflicts(&mut self, locations: &[LocationId]) {
        let name = |&location: &LocationId| self.program.location_name(location);
        self.new_fact = Some(NewFact::Conflicts(locations.iter().map(name).collect()));
    }

    /// How many events an execution may have.
    fn bound(&self) -> EventBound {
        self.limits.events.map_or(self.facts.bound(), EventBound::fixed)
    }

    /// Runs an attempt. If that ends because a fact was learned, prepares the next one.
    fn learning(
        &mut self,
        attempt: impl Fn(&mut Self) -> Result<Summary, Restart>,
    ) -> Result<Summary, Restart> {
        let explored = attempt(self);
        if !matches!(explored, Err(Restart::ExplorationFacts)) {
            return explored;
        }
        let Some(fact) = self.new_fact.take() else { return explored };
        if self.has_subtrees() {
            // It may have been learned before the first subtree was begun.
            self.next_subtree();
            self.report(SubtreeReport { fact: Some(fact), ..SubtreeReport::default() });
            return Ok(self.summary_of_visited(Extent::Stopped));
        }
        let mut facts = self.facts.clone();
        let changes_order = matches!(fact, NewFact::Conflicts(_) | NewFact::Asymmetry(_));
        facts.add(fact);
        if changes_order || facts.bound().is_final {
            if self.visited > 0 {
                // Another class of each orbit would be shown.
                facts.add(NewFact::Asymmetry(self.symmetric.concat()));
            }
            self.forget_order(attempt);
        }
        self.facts = facts;
        explored
    }

    /// Prepares for leaves that come in another order than in the last attempt.
    fn forget_order(&mut self, attempt: impl Fn(&mut Self) -> Result<Summary, Restart>) {
        if self.visited > 0 && !self.is_silent {
            self.recognition.remember(std::mem::take(&mut self.visited));
            let _ = attempt(self);
            self.recognition.end_remembering();
            self.new_fact = None;
        }
        self.visited = 0;
    }

    /// Begins a probe. Returns `false` if there are enough.
    fn begin_probe(&mut self) -> bool {
        self.probes.as_mut().is_some_and(TreeProbes::begin)
    }

    fn has_subtrees(&self) -> bool {
        self.subtrees().is_some()
    }

    fn subtrees(&self) -> Option<&dyn SubtreeSource> {
        match &self.consumer {
            Some(LeafConsumer::Subtrees(subtrees)) => Some(&**subtrees),
            _ => None,
        }
    }

    /// The subtree of the last attempt, if it was not completed; otherwise the next one.
    fn next_subtree(&mut self) -> Option<(Subtree, u64)> {
        if let (None, Some(LeafConsumer::Subtrees(subtrees))) = (&self.current, &mut self.consumer)
        {
            self.current = subtrees.next_subtree();
        }
        self.current.clone()
    }

    /// Passes on the result of the current subtree.
    fn report(&mut self, mut report: SubtreeReport) {
        (self.current, self.visited) = (None, 0);
        report.learned = self.program.learned();
        if let Some(LeafConsumer::Subtrees(subtrees)) = &mut self.consumer {
            subtrees.report(report);
        }
    }

    /// The number of leaves after which the whole tree is suspended.
    fn first_budget(&self) -> u64 {
        self.subtrees().map_or(0, SubtreeSource::first_budget)
    }

    fn wants_suspension(&self) -> bool {
        self.subtrees().is_some_and(SubtreeSource::wants_suspension)
    }

    fn is_cancelled(&self) -> bool {
        self.subtrees().is_some_and(SubtreeSource::is_cancelled)
    }

    /// Explores with event sets of the width that the setup says. Builds without optimization have only the widest sets:
    /// the models with narrower ones are most of the code that this crate generates, and little faster there.
    fn with_words<
        N: IncrementalModel<u64> + NewModel,
        D: IncrementalModel<u128> + NewModel + 'static,
        W: IncrementalModel<LongSet> + NewModel + 'static,
    >(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        if cfg!(unoptimized) {
            return self.with_long_sets::<D, W>(setup);
        }
        match setup.width {
            SetWidth::OneWord => self.run_with_words::<N>(setup),
            SetWidth::TwoWords | SetWidth::Unbounded => self.with_long_sets::<D, W>(setup),
        }
    }

    /// As [`PartExploration::with_words`], without sets of two words.
    fn with_sets<
        N: IncrementalModel<u64> + NewModel,
        W: IncrementalModel<LongSet> + NewModel + 'static,
    >(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        if cfg!(unoptimized) {
            return self.run_boxed::<LongSet, W>(setup);
        }
        match setup.width {
            SetWidth::OneWord => self.run_with_words::<N>(setup),
            SetWidth::TwoWords | SetWidth::Unbounded => self.run_boxed::<LongSet, W>(setup),
        }
    }

    fn with_coherence<M: Rules>(&mut self, setup: Setup) -> Result<Summary, Restart> {
        self.with_words::<CoherenceModel<M, u64>, CoherenceModel<M, u128>, CoherenceModel<M, LongSet>>(setup)
    }

    fn with_witness<M: Rules>(&mut self, setup: Setup) -> Result<Summary, Restart> {
        self.with_words::<WitnessModel<M, u64>, WitnessModel<M, u128>, WitnessModel<M, LongSet>>(
            setup,
        )
    }

    fn with_checker<M: Rules>(&mut self, setup: Setup) -> Result<Summary, Restart> {
        self.run_boxed::<LongSet, CheckerModel<M, LongSet>>(setup)
    }

    /// Explores executions with few events. The search is compiled for each model.
    fn run_with_words<M: IncrementalModel<u64> + NewModel>(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        let TableSizes { threads, locations } = setup.tables;
        PartSearch::new(self, M::new(threads, locations), setup.tables).explore()
    }

    /// Explores executions with many events.
    fn run_boxed<R: EventSet, M: IncrementalModel<R> + NewModel + 'static>(
        &mut self,
        setup: Setup,
    ) -> Result<Summary, Restart> {
        let TableSizes { threads, locations } = setup.tables;
        let model = BoxedModel::of(M::new(threads, locations));
        PartSearch::new(self, model, setup.tables).explore()
    }

    /// The summary of an exploration that ends in the middle of an attempt.
    fn summary_of_visited(&self, extent: Extent) -> Summary {
        let histories = self.histories.len() as u64;
        Summary { extent, classes: self.visited, blocked: 0, histories, cut: None, symmetry: None }
    }
}
