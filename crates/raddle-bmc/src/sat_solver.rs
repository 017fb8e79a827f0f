//! The SAT solver `CaDiCaL`, with a count of clauses and an optional record of the formula.
//!
//! The crate compiles the solver from C++, so nothing has to be installed. A variable is fixed to true, so that
//! constants are literals like all others.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use cadical::{Callbacks, Solver as Cadical};

/// A literal in DIMACS notation: the number of a variable, negative if it is negated.
pub(crate) type Lit = i32;

/// The literal that is always true. Its negation is the constant false.
pub(crate) const TRUE_LIT: Lit = 1;

/// Stops the solver at a point in time.
struct Deadline(Option<Instant>);

impl Callbacks for Deadline {
    fn terminate(&mut self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// An incremental SAT solver.
pub(crate) struct SatSolver {
    cadical: Cadical<Deadline>,
    variables: Lit,
    clauses: usize,
    /// All clauses in DIMACS notation, if they are recorded.
    recorded: Option<String>,
}

impl SatSolver {
    /// A solver that gives up at `deadline`.
    pub(crate) fn new(deadline: Option<Instant>) -> Self {
        let mut cadical = Cadical::new();
        cadical.set_callbacks(Some(Deadline(deadline)));
        let mut solver = SatSolver { cadical, variables: TRUE_LIT, clauses: 0, recorded: None };
        solver.add_clause(&[TRUE_LIT]);
        solver
    }

    /// Records all clauses for [`SatSolver::write_dimacs`]. Must be called before clauses are added.
    pub(crate) fn record_clauses(&mut self) {
        self.recorded = Some(format!("{TRUE_LIT} 0\n"));
    }

    /// A new variable.
    pub(crate) fn new_variable(&mut self) -> Lit {
        self.variables += 1;
        self.variables
    }

    /// Adds the disjunction of these literals.
    pub(crate) fn add_clause(&mut self, clause: &[Lit]) {
        self.clauses += 1;
        if let Some(text) = &mut self.recorded {
            for lit in clause {
                let _ = write!(text, "{lit} ");
            }
            text.push_str("0\n");
        }
        self.cadical.add_clause(clause.iter().copied());
    }

    /// Decides whether the clauses are satisfiable if the assumptions are true. `None` if the deadline has passed.
    pub(crate) fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.cadical.solve_with(assumptions.iter().copied())
    }

    /// The value of a literal in the assignment that the last call of [`SatSolver::solve`] found.
    pub(crate) fn value(&self, lit: Lit) -> bool {
        self.cadical.value(lit) == Some(true)
    }

    /// The numbers of variables and clauses.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.variables as usize, self.clauses)
    }

    /// Writes the recorded clauses, and a unit clause for `goal`, in DIMACS format.
    pub(crate) fn write_dimacs(&self, path: &Path, goal: Lit) -> std::io::Result<()> {
        let clauses = self.recorded.as_deref().unwrap_or_default();
        let head = format!("p cnf {} {}", self.variables, self.clauses + 1);
        std::fs::write(path, format!("{head}\n{clauses}{goal} 0\n"))
    }
}
