//! RVF-SMC: every reads-value-from class at most once, and every value that a thread can read.
//!
//! *Problem.* Two executions that differ only in which of several writes of the same value a read observes make no
//! difference to any thread. Explore them together.
//!
//! *Idea.* As [`rf_part_smc`](crate::rf_part_smc), but a read is expanded by *value*: all writes from which its thread
//! learns the same are tried together, as its *good-writes*, and the model decides whether some run lets every read
//! observe one of its good-writes (`store_buffer/good_writes`). The causal map forbids all writes that were there when
//! the read was expanded, whatever their values, so later only new writes are good. The explored classes consist of
//! executions with the same values whose causal order (program order and reads-from) agrees on the reads, or are unions
//! of such classes: every reads-from class belongs to exactly one leaf. The number of leaves depends on the order in
//! which threads are expanded; there are never more than reads-value-from classes.
//!
//! *Paper.* Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, *Stateless Model Checking under a Reads-Value-From
//! Equivalence*, CAV 2021, algorithm 2. Where we differ: the initial write is part of the causal map; backtrack signals
//! are the time stamps of [`rf_part_smc`](crate::rf_part_smc), also from pending updates and locks; TSO and PSO;
//! corrections of the closure and of the search (there, and in SOUNDNESS.md).
//!
//! *Where the answer must say which event* (a lock, a pointer that carries, a join), sources are not grouped. If
//! threads access memory that no op carries, happens-before decides what is observed, and that depends on which of the
//! good-writes it is: such programs are explored by reads-from.
//!
//! *Cost.* 50 ns to a few microseconds per class; memory for one execution, and the remembered histories of single
//! threads.

use crate::long_set::LongSet;
use crate::model::RvfOptions;
use crate::model::store_buffer::{self, good_writes};
use crate::rf_part_smc::explore_by_value;
use crate::{Limits, Summary, Visitor};
use raddle_core::model::Model;
use raddle_core::model::orders::{OrderSemantics, StoreBuffers};
use raddle_core::program::Program;

/// Explores a program under a model with store buffers.
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
    let run = match model.orders() {
        OrderSemantics::StoreBuffer(StoreBuffers::None) => {
            explore_by_value::<
                good_writes::Sc<u64>,
                good_writes::Sc<LongSet>,
                store_buffer::Sc<u64>,
                store_buffer::Sc<LongSet>,
            >
        }
        OrderSemantics::StoreBuffer(StoreBuffers::PerThread) => {
            explore_by_value::<
                good_writes::Tso<u64>,
                good_writes::Tso<LongSet>,
                store_buffer::Tso<u64>,
                store_buffer::Tso<LongSet>,
            >
        }
        OrderSemantics::StoreBuffer(StoreBuffers::PerLocation) => {
            explore_by_value::<
                good_writes::Pso<u64>,
                good_writes::Pso<LongSet>,
                store_buffer::Pso<u64>,
                store_buffer::Pso<LongSet>,
            >
        }
        OrderSemantics::C11(_) => return Summary::unsupported_model(),
    };
    run(program, limits, visitor, options)
}
