//! Test generation from cycles of relaxations, as in diy (Alglave, Maranget, Sarkar, Sewell, *Fences in Weak Memory
//! Models*, CAV 2010).
//!
//! A cycle such as `PodWR Fre PodWR Fre` describes an execution in which program order and communication between
//! threads form a cycle. The test asks whether that execution exists. A model allows it only if it relaxes some of the
//! program order.
//!
//! A cycle is rotated to diy's starting point (`normal`), named by its shape (`name`), and translated to accesses of
//! threads and locations (`events`) and to text (`x86`, `c`). [`Cycle::all`] generates families.
//!
//! *Difference to diy:* x86 tests may have dependencies, which order nothing there. If a location has more than two
//! writes, the condition only mentions the last one; diy can add observers. Names are those of diy before it included
//! directions (`po-po`, not `poW-po`).

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

use edge::CycleEdge;
use events::events;

/// Maximal length of a cycle.
const MAX_LENGTH: usize = 16;

/// Cycle of relaxations, which determines a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle {
    /// Starts with the first access of a thread, in the normal form of `normal`.
    edges: Vec<CycleEdge>,
}

/// Error in the description of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleError(String);

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CycleError {}

impl Cycle {
    /// Parses a cycle: relaxations separated by blanks.
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
    /// If a word is not a relaxation, or the relaxations do not form a cycle.
    pub fn parse(text: &str) -> Result<Self, CycleError> {
        let edge = |word| {
            let expected = edge::EXPECTED;
            CycleEdge::parse(word)
                .ok_or_else(|| CycleError(format!("found {}: expected {expected}", quote(word))))
        };
        let edges: Vec<CycleEdge> = text.split_whitespace().map(edge).collect::<Result<_, _>>()?;
        Self::new(&edges)
    }

    /// Creates the cycle of these relaxations.
    fn new(edges: &[CycleEdge]) -> Result<Self, CycleError> {
        let fail = |message: String| Err(CycleError(message));
        if edges.len() > MAX_LENGTH {
            return fail(format!("{} relaxations: expected at most {MAX_LENGTH}", edges.len()));
        }
        for (at, edge) in edges.iter().enumerate() {
            let next = edges[(at + 1) % edges.len()];
            if edge.target != next.source {
                let (one, two) = (edge.target.letter(), next.source.letter());
                return fail(format!(
                    "{edge} ends with {one}, but {next} begins with {two}: expected the same direction"
                ));
            }
        }
        let count = |has: fn(&CycleEdge) -> bool| edges.iter().filter(|edge| has(edge)).count();
        if count(|edge| edge.external) < 2 {
            return fail(
                "the cycle has fewer than two threads: expected at least two of Rfe, Fre and Wse"
                    .into(),
            );
        }
        if count(|edge| edge.different) == 1 {
            return fail(
                "only one relaxation leads to another location: expected none, or another one that leads back"
                    .into(),
            );
        }
        if !edges.iter().any(|edge| events::is_program_order(*edge)) {
            return fail(
                "the cycle has no program order: expected a relaxation such as PodWR".into(),
            );
        }
        Ok(Cycle { edges: normal::normal(edges) })
    }

    /// Returns the name that diy gives the cycle.
    #[must_use]
    pub fn name(&self) -> String {
        name::name(&self.edges)
    }

    /// Returns the text of the test in a language.
    ///
    /// # Errors
    /// If a thread needs more registers than the language has.
    pub fn test(&self, language: Language) -> Result<String, CycleError> {
        let threads = events(&self.edges);
        let head = format!("{}\n\"{self}\"\n", self.name());
        Ok(match language {
            Language::X86 => format!("X86 {head}{}", x86::body(&threads)?),
            Language::C => format!("C {head}{}", c::body(&threads)),
        })
    }

    /// Returns all cycles of `length` of the given relaxations, up to rotation.
    ///
    /// # Errors
    /// If a word is not a relaxation, or there are too many candidates.
    pub fn all(length: usize, relaxations: &str) -> Result<Vec<Self>, CycleError> {
        family::all(length, relaxations)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.edges.iter().map(CycleEdge::to_string).collect();
        f.write_str(&words.join(" "))
    }
}
