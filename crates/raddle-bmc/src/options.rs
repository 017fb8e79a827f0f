//! What to check, and how far.

use std::path::PathBuf;
use std::time::Duration;

/// A memory model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Sequential consistency.
    #[default]
    Sc,
    /// Stores wait in a buffer for each thread.
    Tso,
    /// Stores wait in a buffer for each thread and location.
    Pso,
}

impl Model {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }
}

/// How store buffers are represented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Abstraction {
    /// Every write has the round in which it reaches memory.
    #[default]
    Stamps,
    /// Arrays, as in TSO-SMA.
    Simple,
    /// Lists with time stamps, as in eTSO-SMA and PSO-SMA.
    Etso,
}

impl Abstraction {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Abstraction::Stamps => "stamps",
            Abstraction::Simple => "simple",
            Abstraction::Etso => "etso",
        }
    }
}

/// What to check, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program.
    pub file: PathBuf,
    /// Flags for the preprocessor.
    pub flags: Vec<String>,
    /// The compiler that expands macros.
    pub compiler: Option<String>,
    /// The memory model.
    pub model: Model,
    /// How store buffers are represented.
    pub abstraction: Abstraction,
    /// How often a loop is repeated, and how deep a function calls itself.
    pub unwind: usize,
    /// How many rounds of a round-robin schedule there are.
    pub rounds: usize,
    /// How many stores wait at a time: in a thread's buffer, or in a location's list.
    pub nodes: usize,
    /// The greatest time stamp.
    pub max_time: usize,
    /// How many bits shared integers and inputs have; executions that need more are cut off.
    pub bits: Option<u8>,
    /// How many blocks of memory are allocated.
    pub mallocs: usize,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Where to write the formula.
    pub dimacs: Option<PathBuf>,
    /// Where to write the sequentialised program, in C.
    pub emit: Option<PathBuf>,
}

impl Options {
    /// A file, with small bounds.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Options {
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
}
