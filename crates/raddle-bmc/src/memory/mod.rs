//! Encodings of shared memory under a memory model.
//!
//! The sequentialization visits the turns of a round-robin schedule, and in every turn the visible statements of a
//! thread. For each access it calls a [`MemoryEncoding`] with the condition under which the statement is executed in
//! this turn. Tomasco, Nguyen, Inverso, Fischer, La Torre, Parlato, FMCAD 2016, call this a shared memory abstraction
//! (SMA).
//!
//! | module | store buffers |
//! |---|---|
//! | `direct` | none: SC |
//! | `stamps` | per write, the round in which it reaches memory |
//! | `simple` | per thread, an array of writes: TSO-SMA |
//! | `etso` | per variable, a list of writes with time stamps: eTSO-SMA and PSO-SMA |

mod array;
mod cells;
mod direct;
mod etso;
mod interface;
mod simple;
mod stamps;

use raddle_core::model::orders::StoreBuffers;

use crate::options::{Abstraction, BmcOptions};
use crate::program::UnrolledProgram;

use direct::DirectMemory;
use etso::EtsoMemory;
use simple::SimpleMemory;
use stamps::StampsMemory;

pub(crate) use interface::{
    CellWrite, FormulaBuilder, MemoryEncoding, PendingWrite, ScheduleTurn, TurnStep,
};

/// Creates the encoding for the model and the abstraction of the options.
pub(crate) fn new_encoding(
    program: &UnrolledProgram,
    options: &BmcOptions,
    build: &mut FormulaBuilder<'_>,
) -> Box<dyn MemoryEncoding> {
    let bounds = (options.nodes, options.max_time);
    match (options.store_buffers(), options.abstraction) {
        (StoreBuffers::None, _) => Box::new(DirectMemory::new(program)),
        (StoreBuffers::PerThread, Abstraction::Simple) => {
            Box::new(SimpleMemory::new(program, options.nodes, build))
        }
        (buffers, Abstraction::Etso) => Box::new(EtsoMemory::new(program, buffers, bounds, build)),
        (buffers, _) => Box::new(StampsMemory::new(program, buffers, build)),
    }
}
