//! Litmus tests, in the format of herd (Alglave, Maranget, Tautschnig, TOPLAS 2014): small programs and
//! a question about their final states.
//!
//! [`Test::parse`] reads a test. A [`LitmusProgram`] is a [`Program`](raddle_core::program::Program), so every
//! explorer and every model works on it. [`explore`] collects the final states.
//!
//! **Final values.** Which write of a location is the last one is not part of a reads-from class. So
//! there is one more thread, which starts the threads of the test, waits for their ends, and then loads
//! every location that is asked for. These loads observe what the model leaves: after the joins all store
//! buffers are empty, and under the C11 models coherence admits the last write of the modification order
//! only. The classes that differ in these loads alone are the choices that the model leaves open, and no
//! model needs code for that. (WRA has no modification orders. There a final load may observe each write
//! that does not happen before another one, which is what the model says of any later reader.)
//!
//! **Memory orders.** Instructions of x86 have none: they go with SC, TSO and PSO only, and under PSO the
//! stores of a thread to different locations are not ordered, unless SFENCE is between. Tests in C go with
//! every model; under TSO and PSO their atomics are what compilers make of them.
//!
//! **Counting.** Herd counts candidate executions, with their coherence orders; here `Positive` and
//! `Negative` count reads-from classes, the final loads included.
//!
//! **Loops** run a number of times at most. An execution that would go on is not followed, and the
//! outcome is incomplete.
//!
//! [`Cycle`] makes tests from cycles of relaxations, in the vocabulary of diy.

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
mod run;
mod types;
mod value;
mod x86;

use std::fmt;

use code::Body;
pub use condition::{Item, Proposition, Quantifier};
pub use cycle::{Cycle, CycleError};
pub use program::LitmusProgram;
use raddle_core::execution::Value;
use raddle_explore::plan::Language;
pub use run::{
    FinalStates, LitmusOutcome, Options, State, check_robustness, explore, failure, has_race,
};
use value::Type;

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// What its threads are written in.
    pub language: Language,
    /// What is claimed about its condition.
    pub quantifier: Quantifier,
    /// The condition.
    pub condition: Proposition,
    /// Executions that do not satisfy this do not count.
    pub filter: Option<Proposition>,
    locations: Vec<Location>,
    threads: Vec<Body>,
    /// What a state has values of: registers first, then locations, in herd's order.
    shown: Vec<Item>,
    text: String,
}

/// A location in memory.
#[derive(Clone, Debug)]
struct Location {
    name: String,
    /// Its type, if one is declared.
    ty: Option<Type>,
    /// Its initial value, if one is given.
    initial: Option<Value>,
}

impl Location {
    /// How its values are kept.
    fn kept(&self) -> Type {
        self.ty.unwrap_or(Type::INT)
    }
}

/// Why some bytes are no litmus test, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there and what was expected.
    pub message: String,
}

impl fmt::Display for LitmusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for LitmusError {}

impl Test {
    /// Reads a test.
    ///
    /// ```
    /// use raddle_litmus::Test;
    ///
    /// let test = Test::parse(b"X86 SB
    /// {}
    ///  P0          | P1          ;
    ///  MOV [x],$1  | MOV [y],$1  ;
    ///  MOV EAX,[y] | MOV EAX,[x] ;
    /// exists (0:EAX=0 /\\ 1:EAX=0)").unwrap();
    /// assert_eq!(test.name, "SB");
    ///
    /// let error = Test::parse(b"X86 SB\n{}\n P0 ;\n MOV [x] ;").unwrap_err();
    /// assert_eq!(error.to_string(), "4:10: found ';': expected ','");
    /// ```
    ///
    /// # Errors
    /// If the bytes are no test.
    pub fn parse(bytes: &[u8]) -> Result<Self, LitmusError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let message = format!("the byte {:#04x} is not UTF-8: expected UTF-8 text", bytes[at]);
            locate(&String::from_utf8_lossy(&bytes[..at]), lex::Fault::new(at, message))
        })?;
        parse::parse(text).map_err(|fault| locate(text, fault))
    }

    /// How many threads it has.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// How many locations it has.
    #[must_use]
    pub fn location_count(&self) -> usize {
        self.locations.len()
    }

    /// The names of what a state has values of, as herd writes them.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.shown.iter().map(|&item| self.item_name(item))
    }

    fn item_name(&self, item: Item) -> String {
        match item {
            Item::Register(thread, register) => {
                format!("{thread}:{}", self.threads[thread].named[register].name)
            }
            Item::Location(location) => format!("[{}]", self.locations[location].name),
        }
    }

    /// A value of something: a number, or the name of a location if it is an address.
    fn value_name(&self, value: Value) -> String {
        match value::location(value).and_then(|location| self.locations.get(location)) {
            Some(location) => location.name.clone(),
            None => value.to_string(),
        }
    }

    /// Lets states have the values of these, in herd's order.
    fn show(&mut self, mut items: Vec<Item>) {
        let by_name = self.language == Language::C;
        items.sort_by_cached_key(|&item| match item {
            Item::Register(thread, register) if by_name => {
                (thread, 0, self.threads[thread].named[register].name.clone())
            }
            Item::Register(thread, register) => (thread, register, String::new()),
            Item::Location(location) => (usize::MAX, 0, self.locations[location].name.clone()),
        });
        items.dedup();
        self.shown = items;
    }

    /// The locations whose final values matter: what is shown, and what the filter asks for.
    fn final_locations(&self) -> Vec<usize> {
        let mut items = self.shown.clone();
        if let Some(filter) = &self.filter {
            filter.for_each(&mut |&(item, _)| items.push(item));
        }
        let mut locations: Vec<usize> = (items.iter())
            .filter_map(|item| match item {
                Item::Location(location) => Some(*location),
                Item::Register(..) => None,
            })
            .collect();
        locations.sort_unstable();
        locations.dedup();
        locations
    }

    /// The line of an offset, and what is there.
    fn describe_place(&self, at: usize) -> String {
        let line = self.text[..at].matches('\n').count() + 1;
        let rest = self.text[at..].split(['\n', '|', ';', '{']).next().unwrap_or_default();
        format!("line {line}: {}", rest.trim())
    }
}

/// Where a fault is.
fn locate(text: &str, fault: lex::Fault) -> LitmusError {
    let before = &text[..fault.at.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    LitmusError {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: fault.message,
    }
}
