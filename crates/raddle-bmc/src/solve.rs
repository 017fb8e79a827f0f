//! The SAT solver, with what is asked of it counted.
//!
//! `CaDiCaL` in C++, as its crate brings it: nothing has to be installed. Truth is a variable, so that constants are
//! literals like all others.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use cadical::{Callbacks, Solver as Cadical};

/// A literal: a variable, negated if it is negative.
pub(crate) type Lit = i32;

/// The literal that is always true.
pub(crate) const YES: Lit = 1;

struct Deadline(Option<Instant>);

impl Callbacks for Deadline {
    fn terminate(&mut self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// A solver.
pub(crate) struct Solver {
    cadical: Cadical<Deadline>,
    variables: Lit,
    clauses: usize,
    /// The clauses as text, if they are asked for.
    text: String,
    keeps_text: bool,
}

impl Solver {
    /// One that gives up at this time.
    pub(crate) fn new(deadline: Option<Instant>) -> Self {
        let mut cadical = Cadical::new();
        cadical.set_callbacks(Some(Deadline(deadline)));
        let mut solver =
            Solver { cadical, variables: YES, clauses: 0, text: String::new(), keeps_text: false };
        solver.add(&[YES]);
        solver
    }

    /// Keeps all clauses, from the first on, to be written.
    pub(crate) fn keep_text(&mut self) {
        self.keeps_text = true;
        self.text = format!("{YES} 0\n");
    }

    /// A new variable.
    pub(crate) fn fresh(&mut self) -> Lit {
        self.variables += 1;
        self.variables
    }

    /// One of these literals is true.
    pub(crate) fn add(&mut self, clause: &[Lit]) {
        self.clauses += 1;
        if self.keeps_text {
            for lit in clause {
                let _ = write!(self.text, "{lit} ");
            }
            self.text.push_str("0\n");
        }
        self.cadical.add_clause(clause.iter().copied());
    }

    /// Whether there is an assignment in which these are true; `None` if the time was up.
    pub(crate) fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.cadical.solve_with(assumptions.iter().copied())
    }

    /// The value in the assignment that was found.
    pub(crate) fn value(&self, lit: Lit) -> bool {
        self.cadical.value(lit) == Some(true)
    }

    /// How large the formula is: variables and clauses.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.variables as usize, self.clauses)
    }

    /// Writes the formula, with this literal true.
    pub(crate) fn write_dimacs(&mut self, path: &Path, goal: Lit) -> Result<(), String> {
        let text =
            format!("p cnf {} {}\n{}{goal} 0\n", self.variables, self.clauses + 1, self.text);
        std::fs::write(path, text).map_err(|error| format!("cannot write: {error}"))
    }
}
