//! The program to check, the memory model and the bounds.

use std::path::PathBuf;
use std::time::Duration;

use raddle_core::model::Model;
use raddle_core::model::orders::StoreBuffers;

/// The encoding of store buffers (shared memory abstraction, SMA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Abstraction {
    /// Per write, the round in which it reaches memory. The number of buffered writes is not bounded.
    #[default]
    Stamps,
    /// Per thread, an array of writes (TSO-SMA). Supports TSO only. Bounded by [`BmcOptions::nodes`].
    Simple,
    /// Per variable, a list of writes with time stamps (eTSO-SMA and PSO-SMA). Bounded by [`BmcOptions::nodes`] and
    /// [`BmcOptions::max_time`].
    Etso,
}

impl Abstraction {
    /// The name in options and output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Abstraction::Stamps => "stamps",
            Abstraction::Simple => "simple",
            Abstraction::Etso => "etso",
        }
    }
}

/// The program to check, the memory model and the bounds.
#[derive(Clone, Debug)]
pub struct BmcOptions {
    /// The C file.
    pub file: PathBuf,
    /// Flags for the preprocessor.
    pub flags: Vec<String>,
    /// The C compiler that runs the preprocessor. By default the first of `cc`, `gcc` and `clang` that exists.
    pub compiler: Option<String>,
    /// The memory model: SC, TSO or PSO.
    pub model: Model,
    /// The encoding of store buffers. Ignored under SC.
    pub abstraction: Abstraction,
    /// Bound on loop iterations whose execution depends on inputs or shared memory, and on recursion.
    pub unwind: usize,
    /// The number of rounds of the round-robin schedule.
    pub rounds: usize,
    /// Bound on buffered stores: per thread with [`Abstraction::Simple`], per location plus one with
    /// [`Abstraction::Etso`].
    pub nodes: usize,
    /// The largest time stamp of [`Abstraction::Etso`].
    pub max_time: usize,
    /// The width of shared integers and inputs. Executions that need more bits are cut off. By default the width of
    /// their types.
    pub bits: Option<u8>,
    /// Bound on heap blocks.
    pub mallocs: usize,
    /// Time limit of the whole check.
    pub timeout: Option<Duration>,
    /// File to which the formula is written, in DIMACS format.
    pub dimacs: Option<PathBuf>,
    /// File to which the sequentialized program is written, in C.
    pub emit: Option<PathBuf>,
}

impl BmcOptions {
    /// Options for a file, under SC, with small bounds and no time limit.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Self {
        BmcOptions {
            file: file.into(),
            flags: vec![],
            compiler: None,
            model: Model::Sc,
            abstraction: Abstraction::Stamps,
            unwind: 2,
            rounds: 3,
            nodes: 3,
            max_time: 7,
            bits: None,
            mallocs: 16,
            timeout: None,
            dimacs: None,
            emit: None,
        }
    }

    /// The store buffers of the model.
    ///
    /// # Panics
    /// If a machine with store buffers does not define the model. [`check`](crate::check()) refuses such models.
    pub(crate) fn store_buffers(&self) -> StoreBuffers {
        self.model.store_buffers().expect("`check` refuses models without a store-buffer machine")
    }
}
