//! Scripts: a small language for programs in tests, examples and oracles.
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
//!     t = cas x 0 1 sc rlx          // t, ok = cas ... also gives the success; casw: weak
//!     fence sc; storefence
//!     lock m; unlock m
//!     sync o > 0 sub 1              // waits for the guard: any, == v, < v, > v, nobits v
//!     repeat 3 { n = choose 2; if n == 1 { break } }
//!     loop { n = load y acq; if n != 0 { break } }
//!     assume r == 1
//!     assert s < 2
//! }
//! thread b { store x 1 }
//! # ").unwrap();
//! ```
//!
//! The first thread may be called `main`. It runs from the start and starts others (`spawn a`, waits with `join a`).
//! Otherwise there is an implicit main thread that starts all others in their order and does nothing else.
//!
//! Statements are separated by `;` or the end of a line. The default memory order is relaxed, for fences `sc`. The
//! default failure order of a compare-exchange is the strongest load order that its success order contains. Registers
//! are local to their thread and initially 0. Numbers are signed 64-bit integers that wrap. `break` leaves the innermost
//! `repeat` or `loop`; outside of a loop it ends the thread.
//!
//! A thread fails if an assertion does not hold, if an index is out of bounds, or if it releases a lock that it does
//! not hold. A thread whose assumption does not hold stops, and so does one that goes around loops very often
//! without a question ([`MAX_ROUNDS`]). A lock is not memory, and a variable that is accessed with
//! `sync` should only be accessed with `sync`.
//!
//! [`Script`] is the syntax tree. [`Script::parse`] parses it, its `Display` prints a text that parses to the same
//! tree, and [`build`] has constructors. [`ScriptProgram`] is the script as a
//! [`Program`](raddle_core::program::Program).

pub mod build;
mod compile;
mod error;
mod expression;
mod interpret;
mod lex;
mod liveness;
mod parse;
mod parts;
mod print;
mod private;
mod program;
mod rounds;
mod thread_state;

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::program::UpdateKind;

pub use error::ScriptError;
pub use expression::{ScriptExpression, ScriptOperator};
pub use interpret::MAX_ROUNDS;
pub use program::ScriptProgram;
pub use thread_state::ThreadState;

/// Syntax tree of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    /// Memory and locks. Each cell of a variable is a location; locations are numbered in this order.
    pub variables: Vec<Variable>,
    /// Threads. The first one is `main` and runs from the start.
    pub threads: Vec<ScriptThread>,
}

/// Variable, array, lock, or array of locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Initial values of its cells; 0 for locks.
    pub cells: Vec<Value>,
    /// Whether it is an array, so that accesses have an index. Otherwise it has one cell.
    pub is_array: bool,
    /// Whether it is a lock.
    pub is_lock: bool,
}

/// Thread of a script.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScriptThread {
    /// Name.
    pub name: String,
    /// Statements.
    pub body: Vec<Statement>,
}

/// Reference to a cell of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// Name of the variable.
    pub variable: String,
    /// Index into an array; `None` for other variables.
    pub index: Option<ScriptExpression>,
}

/// Kind of condition that a `sync` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "as in `Guard`")]
pub enum GuardKind {
    Always,
    Equal,
    Below,
    Above,
    NoBits,
}

/// Statement of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Statement {
    /// `r = 1 + s`
    Set { target: String, value: ScriptExpression },
    /// `r = load x acq`
    Load { target: Option<String>, at: Address, order: MemoryOrder },
    /// `store x 1 rel`
    Store { at: Address, value: ScriptExpression, order: MemoryOrder },
    /// `r = add x 1 ar`
    Update {
        target: Option<String>,
        at: Address,
        kind: UpdateKind,
        operand: ScriptExpression,
        order: MemoryOrder,
    },
    /// `r, ok = cas x 0 1 ar acq`
    CompareExchange {
        target: Option<String>,
        /// Register that gets 1 if it succeeds, 0 otherwise.
        succeeded: Option<String>,
        at: Address,
        expected: ScriptExpression,
        desired: ScriptExpression,
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
        /// Operand of the guard.
        bound: ScriptExpression,
        kind: UpdateKind,
        operand: ScriptExpression,
    },
    /// `spawn a`. A thread may be started only once.
    Spawn(String),
    /// `join a`
    Join(String),
    /// `r = choose 3`
    Choose { target: Option<String>, options: u32 },
    /// `assume r == 1`
    Assume(ScriptExpression),
    /// `assert r == 1`
    Assert(ScriptExpression),
    /// `if r == 1 { ... } else { ... }`
    If { condition: ScriptExpression, then: Vec<Statement>, otherwise: Vec<Statement> },
    /// `repeat 3 { ... }`
    Repeat { times: u32, body: Vec<Statement> },
    /// `loop { ... }`, which only `break` leaves
    Loop { body: Vec<Statement> },
    /// `break`
    Break,
}

/// Name of the first thread.
pub const MAIN: &str = "main";

impl Variable {
    /// Creates a variable with one cell.
    #[must_use]
    pub fn new(name: &str, initial: Value) -> Self {
        Variable { name: name.to_owned(), cells: vec![initial], is_array: false, is_lock: false }
    }

    /// Creates an array.
    #[must_use]
    pub fn array(name: &str, cells: Vec<Value>) -> Self {
        Variable { name: name.to_owned(), cells, is_array: true, is_lock: false }
    }

    /// Creates a lock.
    #[must_use]
    pub fn lock(name: &str) -> Self {
        Variable { name: name.to_owned(), cells: vec![0], is_array: false, is_lock: true }
    }
}

impl ScriptThread {
    /// Creates a thread.
    #[must_use]
    pub fn new(name: &str, body: Vec<Statement>) -> Self {
        ScriptThread { name: name.to_owned(), body }
    }
}

impl Script {
    /// Creates a script whose main thread starts all these threads in their order and does nothing else.
    #[must_use]
    pub fn parallel(variables: Vec<Variable>, threads: Vec<ScriptThread>) -> Self {
        let spawns = threads.iter().map(|thread| Statement::Spawn(thread.name.clone())).collect();
        let main = ScriptThread::new(MAIN, spawns);
        Script { variables, threads: [main].into_iter().chain(threads).collect() }
    }

    /// Returns `true` if the main thread starts all others in their order and does nothing else.
    #[must_use]
    pub fn is_parallel(&self) -> bool {
        let Some((main, others)) = self.threads.split_first() else { return false };
        let spawns = |(statement, thread): (&Statement, &ScriptThread)| match statement {
            Statement::Spawn(name) => *name == thread.name,
            _ => false,
        };
        main.body.len() == others.len() && main.body.iter().zip(others).all(spawns)
    }

    /// Parses a script.
    ///
    /// # Errors
    /// If the text is not a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        parse::parse(text)
    }
}

/// Returns the keyword of an update.
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

/// All kinds of updates.
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

/// Returns the strongest load order that the order of a read-modify-write contains.
pub(crate) fn failure_order(success: MemoryOrder) -> MemoryOrder {
    match success {
        MemoryOrder::SeqCst => MemoryOrder::SeqCst,
        MemoryOrder::Acquire | MemoryOrder::AcqRel => MemoryOrder::Acquire,
        MemoryOrder::NonAtomic | MemoryOrder::Relaxed | MemoryOrder::Release => {
            MemoryOrder::Relaxed
        }
    }
}
