//! RVF-SMC: every reads-value-from class at most once, and every value that a thread can read.
//!
//! *Problem.* Two executions that differ only in which of several writes of the same value a read observes
//! make no difference to any thread. Explore them together.
//!
//! *Idea.* As [`reads_from_compact`](super::reads_from_compact), but a read is expanded by *value*: all writes that tell its thread
//! the same are tried together, as its *good-writes*, and the model is asked whether some run lets every
//! read observe one of its good-writes (`linear/good`). The causal map forbids all writes that were there
//! when the read was expanded, whatever their values, so later only new writes are good.
//! What is explored are classes of executions with the same values whose causal order (program order and
//! reads-from) agrees on the reads, or unions of such classes: every reads-from class belongs to exactly one
//! leaf. How many leaves there are depends on the order in which threads are expanded; there are never more
//! than reads-value-from classes.
//!
//! *Paper.* Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, *Stateless Model Checking under a
//! Reads-Value-From Equivalence*, CAV 2021, algorithm 2. Where we differ: the initial write is part of the
//! causal map; backtrack signals are the time stamps of [`reads_from_compact`](super::reads_from_compact), also from pending updates and
//! locks; TSO and PSO; corrections of the closure and of the search (there, and in SOUNDNESS.md).
//!
//! *Where the answer must say which event* (a lock, a pointer that carries, a join), sources are not
//! grouped. Where threads access memory that no op carries, happens-before decides what is observed, and
//! that depends on which of the good-writes it is: such programs are explored by reads-from.
//!
//! *Cost.* 50 ns to a few microseconds for each class; memory for one execution, and the remembered
//! histories of single threads.

use super::linear::{self, good};
use super::reads_from_compact::{Wide, explore_by_value};
use super::{Extent, Limits, Summary, Unsupported, Visitor};
use crate::model::Model;
use crate::program::Program;

/// What to use. Everything, unless the use of something is to be measured: the same is found without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Backtrack signals: other threads are skipped where nothing new can come from them.
    pub signals: bool,
    /// Closure: what every witness must obey is derived before one is searched for.
    pub closure: bool,
    /// Guidance: a witness is made from the last one.
    pub guidance: bool,
    /// Open classes: a read may also observe what others write later, if that has the value that it has read. Every
    /// combination of local histories is found, but executions may be found more than once.
    pub open: bool,
    /// Order: a thread whose location the fewest others write is expanded first.
    pub order: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { signals: true, closure: true, guidance: true, open: false, order: true }
    }
}

/// Explores a program under a model with store buffers.
pub fn explore<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
) -> Summary {
    explore_with(program, model, limits, visitor, Options::default())
}

/// As [`explore`], with options.
pub fn explore_with<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
    options: Options,
) -> Summary {
    let run = match model {
        Model::Sc => {
            explore_by_value::<good::Sc<u64>, good::Sc<Wide>, linear::Sc<u64>, linear::Sc<Wide>>
        }
        Model::Tso => {
            explore_by_value::<good::Tso<u64>, good::Tso<Wide>, linear::Tso<u64>, linear::Tso<Wide>>
        }
        Model::Pso => {
            explore_by_value::<good::Pso<u64>, good::Pso<Wide>, linear::Pso<u64>, linear::Pso<Wide>>
        }
        _ => {
            let extent = Extent::Unsupported(Unsupported::Model);
            return Summary { extent, classes: 0, blocked: 0, histories: 0 };
        }
    };
    run(program, limits, visitor, options)
}
