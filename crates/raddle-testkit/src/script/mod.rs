//! Scripts: a tiny language for programs in tests, examples and oracles.
//!
//! ```
//! # raddle_testkit::script::Script::parse("
//! x = 0; y = 0; o = 1               // memory, with initial values
//! cells = [0, 0, 7]                 // an array: cells[0], cells[r + 1], ...
//! lock m
//! thread a {
//!     r = load x acq
//!     if r == 1 { store y r + 1 rel } else { store y 5 }
//!     s = add x 1 ar                // swap, add, sub, and, nand, or, xor, max, min
//!     t = cas x 0 1 sc rlx          // t, ok = cas ... tells also whether it succeeded; casw: weak
//!     fence sc; storefence
//!     lock m; unlock m
//!     sync o > 0 sub 1              // waits for the guard: any, == v, < v, > v, nobits v
//!     repeat 3 { n = choose 2; if n == 1 { break } }
//!     assume r == 1
//!     assert s < 2
//! }
//! thread b { store x 1 }
//! # ").unwrap();
//! ```
//!
//! The first thread may be called `main`; it runs from the start and starts others (`spawn a`, waits
//! with `join a`). Without it there is a main thread that starts all others, in their order, and does
//! nothing else.
//!
//! Statements are separated by `;` or the end of a line. What has no memory order is relaxed, but a
//! fence is `sc`; the second order of a compare-exchange is by default the strongest one of a load
//! that the first one contains. Registers belong to their thread and are 0 in the beginning; numbers
//! are signed, have 64 bits and wrap around. `break` outside of a loop ends the thread.
//!
//! A thread that fails an assertion, leaves an array or releases a lock that it does not hold has
//! failed; one whose assumption does not hold has stopped. A lock is no memory, and what is accessed
//! with `sync` should be accessed so only.
//!
//! [`Script`] is the tree, [`Script::parse`] reads it, its `Display` prints what can be read again, and
//! [`build`] has functions to make one. [`ScriptProgram`] is the script as a
//! [`Program`](raddle_core::program::Program).

pub mod build;
mod compile;
mod expression;
mod lex;
mod parse;
mod parts;
mod print;
mod private;
mod program;

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::program::UpdateKind;

pub use expression::{Expression, Operator};
pub use parse::ParseError;
pub use program::ScriptProgram;

/// A program as a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    /// Memory and locks. A cell of a variable is a location; these are numbered in this order.
    pub variables: Vec<Variable>,
    /// The threads; the first one is `main` and runs from the start.
    pub threads: Vec<Thread>,
}

/// A variable, an array of variables, or locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The initial values of its cells, 0 for locks.
    pub cells: Vec<Value>,
    /// Whether it is an array, so that its accesses have an index. Otherwise it has one cell.
    pub is_array: bool,
    /// Whether it is a lock.
    pub is_lock: bool,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The variable.
    pub variable: String,
    /// Which cell of an array.
    pub index: Option<Expression>,
}

/// What a `sync` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "as in `Guard`")]
pub enum GuardKind {
    Always,
    Equal,
    Below,
    Above,
    NoBits,
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Statement {
    /// `r = 1 + s`
    Set { target: String, value: Expression },
    /// `r = load x acq`
    Load { target: Option<String>, at: Address, order: MemoryOrder },
    /// `store x 1 rel`
    Store { at: Address, value: Expression, order: MemoryOrder },
    /// `r = add x 1 ar`
    Update {
        target: Option<String>,
        at: Address,
        kind: UpdateKind,
        operand: Expression,
        order: MemoryOrder,
    },
    /// `r, ok = cas x 0 1 ar acq`
    CompareExchange {
        target: Option<String>,
        /// Whether it succeeded, as 0 or 1.
        succeeded: Option<String>,
        at: Address,
        expected: Expression,
        desired: Expression,
        success: MemoryOrder,
        failure: MemoryOrder,
        weak: bool,
    },
    /// `fence sc`
    Fence(MemoryOrder),
    /// `storefence`
    StoreFence,
    /// `lock m`
    Lock(Address),
    /// `unlock m`
    Unlock(Address),
    /// `sync s > 0 sub 1`
    Sync {
        at: Address,
        guard: GuardKind,
        /// What the guard compares with.
        bound: Expression,
        kind: UpdateKind,
        operand: Expression,
    },
    /// `spawn a`. A thread is started at most once.
    Spawn(String),
    /// `join a`
    Join(String),
    /// `r = choose 3`
    Choose { target: Option<String>, options: u32 },
    /// `assume r == 1`
    Assume(Expression),
    /// `assert r == 1`
    Assert(Expression),
    /// `if r == 1 { ... } else { ... }`
    If { condition: Expression, then: Vec<Statement>, otherwise: Vec<Statement> },
    /// `repeat 3 { ... }`
    Repeat { times: u32, body: Vec<Statement> },
    /// `break`
    Break,
}

/// The name of the first thread.
pub const MAIN: &str = "main";

impl Variable {
    /// A variable with this initial value.
    #[must_use]
    pub fn new(name: &str, initial: Value) -> Self {
        Variable { name: name.to_owned(), cells: vec![initial], is_array: false, is_lock: false }
    }

    /// An array with these initial values.
    #[must_use]
    pub fn array(name: &str, cells: Vec<Value>) -> Self {
        Variable { name: name.to_owned(), cells, is_array: true, is_lock: false }
    }

    /// A lock.
    #[must_use]
    pub fn lock(name: &str) -> Self {
        Variable { name: name.to_owned(), cells: vec![0], is_array: false, is_lock: true }
    }
}

impl Thread {
    /// A thread.
    #[must_use]
    pub fn new(name: &str, body: Vec<Statement>) -> Self {
        Thread { name: name.to_owned(), body }
    }
}

impl Script {
    /// The script whose main thread starts all these threads, in their order, and does nothing else.
    #[must_use]
    pub fn parallel(variables: Vec<Variable>, threads: Vec<Thread>) -> Self {
        let spawns = threads.iter().map(|thread| Statement::Spawn(thread.name.clone())).collect();
        let main = Thread::new(MAIN, spawns);
        Script { variables, threads: [main].into_iter().chain(threads).collect() }
    }

    /// Whether the main thread starts all others, in their order, and does nothing else.
    #[must_use]
    pub fn is_parallel(&self) -> bool {
        let Some((main, others)) = self.threads.split_first() else { return false };
        let spawns = |(statement, thread): (&Statement, &Thread)| matches!(statement, Statement::Spawn(name) if *name == thread.name);
        main.body.len() == others.len() && main.body.iter().zip(others).all(spawns)
    }

    /// Reads a script.
    ///
    /// # Errors
    /// With line and column, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::parse(text)
    }
}

/// The word for an update.
pub(crate) fn update_word(kind: UpdateKind) -> &'static str {
    match kind {
        UpdateKind::Swap => "swap",
        UpdateKind::Add => "add",
        UpdateKind::Sub => "sub",
        UpdateKind::And => "and",
        UpdateKind::Nand => "nand",
        UpdateKind::Or => "or",
        UpdateKind::Xor => "xor",
        UpdateKind::Max => "max",
        UpdateKind::Min => "min",
    }
}

/// All updates.
pub(crate) const UPDATES: [UpdateKind; 9] = [
    UpdateKind::Swap,
    UpdateKind::Add,
    UpdateKind::Sub,
    UpdateKind::And,
    UpdateKind::Nand,
    UpdateKind::Or,
    UpdateKind::Xor,
    UpdateKind::Max,
    UpdateKind::Min,
];

/// The strongest order of a load that the order of an update contains.
pub(crate) fn failure_order(success: MemoryOrder) -> MemoryOrder {
    match success {
        MemoryOrder::SeqCst => MemoryOrder::SeqCst,
        MemoryOrder::Acquire | MemoryOrder::AcqRel => MemoryOrder::Acquire,
        MemoryOrder::NonAtomic | MemoryOrder::Relaxed | MemoryOrder::Release => {
            MemoryOrder::Relaxed
        }
    }
}
