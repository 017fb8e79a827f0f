//! An audit of the searches: what they prune and merge.
//!
//! **Problem.** A search is wrong if a free step makes a run incompletable, if it leaves out a move, or if only one of two
//! states with the same key is completable. Comparing answers with brute force finds this only if the wrong state matters
//! for the answer and is visited first.
//!
//! **Idea.** Walk over the whole space of a strategy without merging states by their keys (`walk`),
//! compute by plain enumeration which states can be completed (`truth`), and assert for each that
//!
//! 1. its steps are possible on the machine;
//! 2. taking the free steps leaves it as completable as it was;
//! 3. if it can be completed, then after one of its moves as well;
//! 4. states with the same key can be completed alike.
//!
//! **Programs** (`program`). In most random executions no two states share a key. So programs
//! evolve: those in whose spaces states are merged are kept, changed a little, and run again.

mod program;
mod truth;
mod walk;

use rustc_hash::FxHashMap;

use self::program::{AuditProgram, Habits, run};
use self::truth::Truth;
use self::walk::audit;
use super::closure::{ClosureOrder, close};
use super::eager::Eager;
use super::instance::{Instance, Lists};
use super::preserved::Preserved;
use super::queues::StoreQueues;
use super::run::{Question, own_stores_first};
use super::verify_pso::Lazy;
use crate::history::{Format, write};
use crate::reference::generate::perturb;
use raddle_core::execution::Execution;
use raddle_core::model::Model;
use raddle_core::model::orders::StoreBuffers;
use raddle_core::random::Random;

/// Longer programs are not run.
const MOST_INSTRUCTIONS: usize = 16;
/// More programs are not kept.
const MOST_KEPT: usize = 1_000;

/// Why an audit ends early.
#[derive(Debug)]
enum AuditStop {
    /// There are too many states to try them all.
    TooLarge,
    /// The search is wrong.
    Fault(String),
}

/// The parameters of an evolution.
struct Subject {
    /// The models whose searches are audited.
    models: &'static [Model],
    store_fences: bool,
    /// Whether reads may have several sources.
    several_sources: bool,
}

/// Audits the search for an execution under a model, without the closure and with it, as
/// [`decide`](super::decide) does. Returns how many states were merged.
fn audit_execution(execution: &Execution, kind: StoreBuffers) -> Result<usize, AuditStop> {
    let instance = Instance::new(execution, kind, &FxHashMap::default());
    let buffers = StoreQueues::new(&instance, kind);
    let nothing = Lists::group(instance.ops.len(), &[]);
    let mut truth = Truth::new(question(&instance, &buffers, &nothing, None));
    let merged = audit_question(&instance, &buffers, kind, None, &mut truth)?;
    let Ok(closed) = close(&instance, &buffers, &Preserved::new(&instance, &buffers)) else {
        return match truth.can_complete()? {
            true => Err(AuditStop::Fault("the closure refutes what can be run".to_owned())),
            false => Ok(merged),
        };
    };
    let narrowed = Instance::new(execution, kind, &closed.sources);
    Ok(merged + audit_question(&narrowed, &buffers, kind, Some(&closed.order), &mut truth)?)
}

fn audit_question(
    instance: &Instance,
    buffers: &StoreQueues,
    kind: StoreBuffers,
    order: Option<&ClosureOrder>,
    truth: &mut Truth<'_>,
) -> Result<usize, AuditStop> {
    let own_first = own_stores_first(instance);
    let question = question(instance, buffers, &own_first, order);
    if kind == StoreBuffers::PerLocation && instance.has_reads_from_map() {
        audit(Lazy::new(question), truth)
    } else {
        audit(Eager::new(question), truth)
    }
}

fn question<'i>(
    instance: &'i Instance,
    buffers: &'i StoreQueues,
    own_first: &'i Lists,
    order: Option<&'i ClosureOrder>,
) -> Question<'i> {
    Question { instance, buffers, own_first, order, guide: None }
}

/// Audits the searches for the runs of many programs, which evolve towards merged states.
fn evolve(subject: &Subject, programs: u64) {
    let mut random = Random::new(variable("RADDLE_SEED"));
    let mut kept: Vec<AuditProgram> = vec![];
    let mut audited = 0;
    while audited < programs * variable("RADDLE_CASES") {
        let mut program = match random.pick(&kept) {
            Some(parent) if random.chance(0.95) => parent.clone(),
            _ => AuditProgram::new(subject.store_fences, &mut random),
        };
        program.mutate(&mut random);
        if program.len() > MOST_INSTRUCTIONS {
            continue;
        }
        let Some(execution) = execute(&program, subject, &mut random) else { continue };
        audited += 1;
        let merged = subject.models.iter().filter(|&&model| merges(&execution, model, audited));
        if merged.count() > 0 {
            keep(program, &mut kept, &mut random);
        }
    }
}

/// Runs a program, and sometimes changes what a read observes.
fn execute(program: &AuditProgram, subject: &Subject, random: &mut Random) -> Option<Execution> {
    let habits = Habits {
        model: Model::STORE_BUFFERS[random.below(Model::STORE_BUFFERS.len())],
        flushes: *random.pick(&[0.03, 0.1, 0.3, 0.6])?,
        named: if subject.several_sources { *random.pick(&[0.0, 0.4, 0.8])? } else { 1.0 },
    };
    let execution = run(program, &habits, random)?;
    let changes = usize::from(random.chance(0.15));
    Some(perturb(&execution, random.bits(), changes))
}

/// Returns `true` if the search for an execution merges states.
///
/// # Panics
/// If it should not.
fn merges(execution: &Execution, model: Model, number: u64) -> bool {
    let kind = model.store_buffers().expect("a model with store buffers");
    match audit_execution(execution, kind) {
        Ok(merged) => merged > 0,
        Err(AuditStop::TooLarge) => false,
        Err(AuditStop::Fault(what)) => {
            let history = write(execution, Format::Text);
            panic!("program {number}, {model}: {what}\n{history}");
        }
    }
}

/// Keeps a program, if need be instead of another one.
fn keep(program: AuditProgram, kept: &mut Vec<AuditProgram>, random: &mut Random) {
    if kept.len() < MOST_KEPT {
        kept.push(program);
    } else {
        kept[random.below(MOST_KEPT)] = program;
    }
}

/// A number from the environment: the seed, or the factor for the number of programs.
fn variable(name: &str) -> u64 {
    std::env::var(name).map_or(1, |number| number.parse().expect("it is a number, such as 100"))
}

#[test]
fn pso_without_store_fences() {
    let models = &[Model::Pso];
    evolve(&Subject { models, store_fences: false, several_sources: false }, 9_000);
}

#[test]
fn pso_with_store_fences() {
    let models = &[Model::Pso];
    evolve(&Subject { models, store_fences: true, several_sources: false }, 9_000);
}

#[test]
fn sc_and_tso() {
    let models = &[Model::Sc, Model::Tso];
    evolve(&Subject { models, store_fences: false, several_sources: false }, 9_000);
}

#[test]
fn several_sources() {
    let models = &Model::STORE_BUFFERS;
    evolve(&Subject { models, store_fences: true, several_sources: true }, 5_000);
}
