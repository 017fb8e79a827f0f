//! Consistency checking: does a memory model allow an execution?
//!
//! [`check`] answers with evidence. The way there:
//!
//! 1. a read without any source settles the matter;
//! 2. the closure (`closure`) infers what must come before what, and finds most inconsistencies, with a
//!    cycle to show for it;
//! 3. otherwise a search looks for a run: `verify_sc`, `verify_tso` or `verify_pso`, one
//!    algorithm a file, all walking over partial runs (`run`);
//! 4. if there is none, `core` finds a small part of the execution that is inconsistent already.
//!
//! `naive` has the baselines that the benchmarks compare with.

mod buffers;
mod closure;
mod core;
mod derivation;
mod eager;
mod instance;
mod memory;
mod naive;
mod preserved;
mod run;
mod search;
mod verify_pso;
mod verify_sc;
mod verify_tso;

use rustc_hash::FxHashMap;

use crate::execution::{EventId, Execution};
use crate::model::Model;
use crate::witness::{CoreSize, Verdict, Violation, Witness};

use buffers::Buffers;
use closure::close;
use instance::Instance;
use preserved::Preserved;
use run::{Question, own_stores_first};
use search::{Effort, Outcome};

/// Clocks of the closure take at most this many entries (4 bytes each); beyond, it is left out.
const MOST_CLOCK_ENTRIES: usize = 1 << 26;

/// Which algorithm searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The best one for the model.
    Best,
    /// The lower-set enumeration that the benchmarks compare with. Exact for reads-from maps; with
    /// several sources for a read it is not used.
    Naive,
}

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to infer an order of the events before searching. It finds most inconsistencies
    /// quickly, and explains them; on consistent executions it costs more than it saves now and
    /// then.
    pub closure: bool,
    /// Give up after this many search states.
    pub budget: u64,
    /// Which algorithm searches.
    pub algorithm: Algorithm,
    /// If the search finds no run, whether to look for a small part of the execution that has none
    /// either. Otherwise the whole execution is given.
    pub shrink: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { closure: true, budget: 10_000_000, algorithm: Algorithm::Best, shrink: true }
    }
}

/// Whether a model allows an execution, with evidence.
#[must_use]
pub fn check(execution: &Execution, model: Model, options: &Options) -> Verdict {
    let mut effort = Effort { budget: options.budget, steps: 0 };
    match decide(execution, model, options, &mut effort) {
        Decision::Allowed(witness) => Verdict::Consistent(witness),
        Decision::Refuted(violation) => Verdict::Inconsistent(violation),
        Decision::OutOfBudget => Verdict::Unknown { steps: effort.steps },
        Decision::NoRun if options.shrink => {
            Verdict::Inconsistent(core::shrink(execution, |part| forbids(part, model, options)))
        }
        Decision::NoRun => Verdict::Inconsistent(Violation::Core {
            lens: core::whole(execution),
            size: CoreSize::Unknown,
        }),
    }
}

/// Whether a model forbids an execution, if that can be told within the budget.
fn forbids(execution: &Execution, model: Model, options: &Options) -> Option<bool> {
    let mut effort = Effort { budget: options.budget, steps: 0 };
    match decide(execution, model, options, &mut effort) {
        Decision::Allowed(_) => Some(false),
        Decision::Refuted(_) | Decision::NoRun => Some(true),
        Decision::OutOfBudget => None,
    }
}

enum Decision {
    Allowed(Witness),
    /// With a proof.
    Refuted(Violation),
    /// By exhaustive search.
    NoRun,
    OutOfBudget,
}

fn decide(execution: &Execution, model: Model, options: &Options, effort: &mut Effort) -> Decision {
    let without_source = |&event: &EventId| {
        execution.action(event).has_source() && execution.sources(event).is_empty()
    };
    if let Some(read) = execution.events().find(without_source) {
        return Decision::Refuted(Violation::UnwrittenValue { read });
    }
    let mut instance = Instance::new(execution, &FxHashMap::default());
    let buffers = Buffers::new(&instance, model);
    let mut order = None;
    let preserved = options.closure.then(|| Preserved::new(&instance, &buffers, model));
    if let Some(preserved) = preserved.filter(|p| p.chains * p.at.len() <= MOST_CLOCK_ENTRIES) {
        match close(&instance, &buffers, &preserved) {
            Err(violation) => return Decision::Refuted(violation),
            Ok(closed) => {
                order = Some(closed.order);
                if !closed.sources.is_empty() {
                    instance = Instance::new(execution, &closed.sources);
                }
            }
        }
    }
    let own_first = own_stores_first(&instance);
    let guide = execution.recorded_order().map(ranks);
    let question = Question {
        instance: &instance,
        buffers: &buffers,
        own_first: &own_first,
        order: order.as_ref(),
        guide: guide.as_deref(),
    };
    let (outcome, witness) = search_for_run(question, model, options, effort);
    match outcome {
        Outcome::Found => Decision::Allowed(witness),
        Outcome::Exhausted => Decision::NoRun,
        Outcome::OutOfBudget => Decision::OutOfBudget,
    }
}

fn search_for_run(
    question: Question<'_>,
    model: Model,
    options: &Options,
    effort: &mut Effort,
) -> (Outcome, Witness) {
    let has_reads_from_map = question.instance.has_reads_from_map();
    match model {
        _ if options.algorithm == Algorithm::Naive && has_reads_from_map => {
            naive::verify_naively(question, effort)
        }
        Model::Sc => verify_sc::verify_sc(question, effort),
        Model::Pso if has_reads_from_map => verify_pso::verify_pso(question, effort),
        Model::Tso | Model::Pso => verify_tso::verify_tso(question, effort),
    }
}

/// By event: its rank in a recorded order.
fn ranks(order: &[EventId]) -> Vec<u32> {
    let events = order.iter().map(|event| event.index() + 1).max().unwrap_or(0);
    let mut ranks = vec![0; events];
    for (rank, event) in order.iter().enumerate() {
        ranks[event.index()] = rank as u32;
    }
    ranks
}
