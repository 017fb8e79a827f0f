//! Tests from cycles of relaxations, as diy makes them (Alglave, Maranget, Sarkar, Sewell, *Fences in
//! Weak Memory Models*, CAV 2010).
//!
//! A cycle such as `PodWR Fre PodWR Fre` describes an execution in which events are ordered in a circle:
//! program order says one thing, and what reads observe says another. The test asks whether that
//! execution exists. A model allows it only if it relaxes some of the program order.
//!
//! A cycle is turned so that it starts as diy's does (`normal`), is named by its shape (`name`), and
//! becomes accesses of threads and locations (`events`) and text (`x86`, `c`). [`Cycle::all`] makes whole
//! families.
//!
//! Where we differ from diy: x86 has dependencies, which order nothing there. Where a location has more
//! than two writes, only the last one is asked for; diy can add observers. Names are those of diy before
//! it began to tell directions in them (`po-po`, not `poW-po`).

mod c;
mod edge;
mod events;
mod family;
mod name;
mod normal;
mod x86;

use std::fmt;

use raddle_consistency::history::quote;
use raddle_explore::plan::Language;

use edge::Edge;
use events::events;

/// The longest cycle.
const LONGEST: usize = 16;

/// A cycle of relaxations that makes a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle {
    /// It starts with the first event of a thread.
    edges: Vec<Edge>,
}

/// Why some words are no cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleError(String);

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CycleError {}

impl Cycle {
    /// Reads a cycle, with blanks between its relaxations.
    ///
    /// ```
    /// use raddle_litmus::Cycle;
    /// use raddle_explore::plan::Language;
    ///
    /// let cycle = Cycle::parse("Fre PodWR Fre MFencedWR").unwrap();
    /// assert_eq!(cycle.name(), "SB+mfence+po");
    /// assert_eq!(cycle.to_string(), "MFencedWR Fre PodWR Fre");
    /// assert!(cycle.test(Language::X86).unwrap().contains("MFENCE"));
    /// ```
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, CycleError> {
        let edge = |word| {
            let expected = edge::EXPECTED;
            Edge::parse(word)
                .ok_or_else(|| CycleError(format!("found {}: expected {expected}", quote(word))))
        };
        let edges: Vec<Edge> = text.split_whitespace().map(edge).collect::<Result<_, _>>()?;
        Self::new(&edges)
    }

    /// The cycle of these relaxations, if they are one.
    fn new(edges: &[Edge]) -> Result<Self, CycleError> {
        let fail = |message: String| Err(CycleError(message));
        if edges.len() > LONGEST {
            return fail(format!("{} relaxations: expected at most {LONGEST}", edges.len()));
        }
        for (at, edge) in edges.iter().enumerate() {
            let next = edges[(at + 1) % edges.len()];
            if edge.target != next.source {
                let (one, two) = (edge.target.letter(), next.source.letter());
                return fail(format!("{edge} ends with {one}, and {next} begins with {two}"));
            }
        }
        let count = |has: fn(&Edge) -> bool| edges.iter().filter(|edge| has(edge)).count();
        if count(|edge| edge.external) < 2 {
            return fail(
                "expected at least two of Rfe, Fre and Wse, which lead to other threads".into(),
            );
        }
        if count(|edge| edge.different) == 1 {
            return fail(
                "one relaxation leads to another location: expected none, or one that leads back"
                    .into(),
            );
        }
        if !edges.iter().any(|edge| events::is_program_order(*edge)) {
            return fail("expected some program order, such as PodWR".into());
        }
        Ok(Cycle { edges: normal::normal(edges) })
    }

    /// The name, as diy gives it.
    #[must_use]
    pub fn name(&self) -> String {
        name::name(&self.edges)
    }

    /// The text of the test in a language.
    ///
    /// # Errors
    /// If the test has more of something than the language has.
    pub fn test(&self, language: Language) -> Result<String, CycleError> {
        let threads = events(&self.edges);
        let head = format!("{}\n\"{self}\"\n", self.name());
        Ok(match language {
            Language::X86 => format!("X86 {head}{}", x86::body(&threads)?),
            Language::C => format!("C {head}{}", c::body(&threads)),
        })
    }

    /// All cycles of this many of the given relaxations, each once.
    ///
    /// # Errors
    /// If some word is no relaxation, or there would be too many cycles.
    pub fn all(length: usize, relaxations: &str) -> Result<Vec<Self>, CycleError> {
        family::all(length, relaxations)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.edges.iter().map(Edge::to_string).collect();
        f.write_str(&words.join(" "))
    }
}
