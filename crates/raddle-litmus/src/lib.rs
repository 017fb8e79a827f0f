//! Litmus tests in the format of herd (Alglave, Maranget, Tautschnig, TOPLAS 2014): small programs with a question
//! about their final states.
//!
//! [`LitmusTest::parse`] parses a test. [`LitmusProgram`] is a [`Program`](raddle_core::program::Program), so every
//! explorer and every model supports it. [`explore`] collects the final states.
//!
//! **Final values.** A reads-from class does not say which write of a location is the last one. So an additional thread
//! starts the threads of the test, joins them, and then loads every location that the test asks for. These loads
//! observe what the model admits: after the joins all store buffers are empty, and under the C11-style models coherence
//! admits only the last write in modification order. Classes that differ only in these loads are the choices that the
//! model leaves open; no model needs special code. (WRA has no modification orders. There a final load may observe
//! every write that does not happen before another one, as the model says of any later reader.)
//!
//! **Memory orders.** x86 instructions have none. They support SC, TSO and PSO only; under PSO the stores of a thread
//! to different locations are unordered unless an SFENCE separates them. Tests in C support every model; under TSO and
//! PSO their atomics behave as compilers translate them.
//!
//! **Counting.** herd counts candidate executions, including their coherence orders. Here `Positive` and `Negative`
//! count reads-from classes, including the final loads.
//!
//! **Loops** are unrolled a bounded number of times. An execution that exceeds the bound is not explored further, and
//! the outcome is incomplete.
//!
//! [`Cycle`] generates tests from cycles of relaxations, in the vocabulary of diy.

mod c;
mod code;
mod condition;
mod cycle;
mod draft;
mod expression;
#[doc(hidden)]
pub mod fuzz;
mod herd;
mod lex;
mod parse;
mod program;
mod replay;
mod run;
mod types;
mod value;
mod x86;

use std::fmt;

use code::ThreadCode;
pub use condition::{Proposition, Quantifier, StateItem};
pub use cycle::{Cycle, CycleError};
pub use program::LitmusProgram;
use raddle_core::execution::Value;
use raddle_explore::plan::Language;
pub use replay::{LitmusReplay, replay};
pub use run::{
    FinalState, FinalStates, LitmusOptions, LitmusOutcome, check_robustness, explore, failure,
    has_race,
};
use value::IntType;

/// Litmus test.
#[derive(Clone, Debug)]
pub struct LitmusTest {
    /// Name in the first line.
    pub name: String,
    /// Language of the threads.
    pub language: Language,
    /// Claim about the condition.
    pub quantifier: Quantifier,
    /// Condition on final states.
    pub condition: Proposition,
    /// Only final states that satisfy the filter count.
    pub filter: Option<Proposition>,
    locations: Vec<LitmusLocation>,
    threads: Vec<ThreadCode>,
    /// Items of a final state: registers first, then locations, in herd's order.
    shown: Vec<StateItem>,
    text: String,
}

/// Shared location of a test.
#[derive(Clone, Debug)]
struct LitmusLocation {
    name: String,
    /// Declared type, or that of the first access.
    ty: Option<IntType>,
    /// Initial value, if the initial state has one.
    initial: Option<Value>,
}

impl LitmusLocation {
    /// Type of its values; `int` if none is known.
    fn value_type(&self) -> IntType {
        self.ty.unwrap_or(IntType::INT)
    }
}

/// Error in the text of a litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found there, and what was expected.
    pub message: String,
}

impl fmt::Display for LitmusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for LitmusError {}

impl LitmusTest {
    /// Parses a test.
    ///
    /// ```
    /// use raddle_litmus::LitmusTest;
    ///
    /// let test = LitmusTest::parse(b"X86 SB
    /// {}
    ///  P0          | P1          ;
    ///  MOV [x],$1  | MOV [y],$1  ;
    ///  MOV EAX,[y] | MOV EAX,[x] ;
    /// exists (0:EAX=0 /\\ 1:EAX=0)").unwrap();
    /// assert_eq!(test.name, "SB");
    ///
    /// let error = LitmusTest::parse(b"X86 SB\n{}\n P0 ;\n MOV [x] ;").unwrap_err();
    /// assert_eq!(error.to_string(), "4:10: found ';': expected ','");
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a litmus test.
    pub fn parse(bytes: &[u8]) -> Result<Self, LitmusError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let message = format!("the byte {:#04x} is not UTF-8: expected UTF-8 text", bytes[at]);
            locate(&String::from_utf8_lossy(&bytes[..at]), lex::SyntaxError::new(at, message))
        })?;
        parse::parse(text).map_err(|error| locate(text, error))
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns the number of locations.
    #[must_use]
    pub fn location_count(&self) -> usize {
        self.locations.len()
    }

    /// Returns the names of the items of a final state, as herd writes them.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.shown.iter().map(|&item| self.item_name(item))
    }

    fn item_name(&self, item: StateItem) -> String {
        match item {
            StateItem::Register(thread, register) => {
                format!("{thread}:{}", self.threads[thread].named[register].name)
            }
            StateItem::Location(location) => format!("[{}]", self.locations[location].name),
        }
    }

    /// Returns a value as text: a number, or the name of a location if it is an address.
    fn value_name(&self, value: Value) -> String {
        match value::location(value).and_then(|location| self.locations.get(location)) {
            Some(location) => location.name.clone(),
            None => value.to_string(),
        }
    }

    /// Sets the items of final states, and sorts them in herd's order.
    fn show(&mut self, mut items: Vec<StateItem>) {
        let by_name = self.language == Language::C;
        items.sort_by_cached_key(|&item| match item {
            StateItem::Register(thread, register) if by_name => {
                (thread, 0, self.threads[thread].named[register].name.clone())
            }
            StateItem::Register(thread, register) => (thread, register, String::new()),
            StateItem::Location(location) => (usize::MAX, 0, self.locations[location].name.clone()),
        });
        items.dedup();
        self.shown = items;
    }

    /// Returns the locations whose final values matter: those in a final state, and those in the filter.
    fn final_locations(&self) -> Vec<usize> {
        let mut items = self.shown.clone();
        if let Some(filter) = &self.filter {
            filter.for_each(&mut |&(item, _)| items.push(item));
        }
        let mut locations: Vec<usize> = (items.iter())
            .filter_map(|item| match item {
                StateItem::Location(location) => Some(*location),
                StateItem::Register(..) => None,
            })
            .collect();
        locations.sort_unstable();
        locations.dedup();
        locations
    }

    /// Returns the line of a byte offset and the text from there on, for reports.
    fn describe_place(&self, at: usize) -> String {
        let line = self.text[..at].matches('\n').count() + 1;
        let rest = self.text[at..].split(['\n', '|', ';', '{']).next().unwrap_or_default();
        format!("line {line}: {}", rest.trim())
    }
}

/// Translates a byte offset into line and column.
fn locate(text: &str, error: lex::SyntaxError) -> LitmusError {
    let before = &text[..error.at.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    LitmusError {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: error.message,
    }
}
