//! The result of an exploration, for all front ends.
//!
//! A front end returns an [`Outcome`]; renderers turn it into text, JSON or other formats. It contains no text
//! except the message and the place of a finding.

mod bound;
mod finding;

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use crate::finding_kind::{FindingKind, KindSet, UnknownFindingKind};
pub use bound::{Bound, CutLimit, CutThread, Phase, Unsupported};
pub use finding::{Finding, Place, Related, SampledRun};

/// The answer of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Verdict {
    /// All executions were explored, and none shows an error.
    Clean,
    /// Some execution shows an error.
    Bug,
    /// No error was found, but a bound left executions out.
    Incomplete,
}

impl Verdict {
    /// The name in JSON: `clean`, `bug` or `incomplete`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Bug => "bug",
            Verdict::Incomplete => "incomplete",
        }
    }
}

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The errors, the most important one first. If the verdict is [`Verdict::Incomplete`] these can only be of the
    /// kind [`FindingKind::Unsupported`].
    pub findings: Vec<Finding>,
    /// What was explored.
    pub counts: Counts,
    /// Why executions were left out, if they were.
    pub bound: Option<Bound>,
    /// The estimated size of the whole exploration, if it was asked for.
    pub estimate: Option<Estimate>,
    /// Which threads were symmetric, if any were. Then the counts are up to renaming of these.
    pub symmetry: Option<Symmetry>,
    /// Sentences on what the answer does not cover.
    pub remarks: Vec<String>,
}

impl Outcome {
    /// An outcome with the verdict that follows from its findings and its bound.
    #[must_use]
    pub fn new(findings: Vec<Finding>, counts: Counts, bound: Option<Bound>) -> Self {
        let is_bug = |finding: &Finding| finding.kind != FindingKind::Unsupported;
        let verdict = if findings.iter().any(is_bug) {
            Verdict::Bug
        } else if findings.is_empty() && bound.is_none() {
            Verdict::Clean
        } else {
            Verdict::Incomplete
        };
        let (estimate, symmetry, remarks) = (None, None, vec![]);
        Outcome { verdict, findings, counts, bound, estimate, symmetry, remarks }
    }

    /// The most important finding.
    #[must_use]
    pub fn finding(&self) -> Option<&Finding> {
        self.findings.first()
    }

    /// The most important finding, by value.
    #[must_use]
    pub fn into_finding(self) -> Option<Finding> {
        self.findings.into_iter().next()
    }

    /// The kind of the most important finding.
    #[must_use]
    pub fn kind(&self) -> Option<FindingKind> {
        self.finding().map(|finding| finding.kind)
    }

    /// The counts as text. It counts runs instead of execution classes if runs were sampled.
    #[must_use]
    pub fn counts_text(&self) -> String {
        let is_sampled = matches!(self.bound, Some(Bound::Sampled { .. }))
            || self.finding().is_some_and(|finding| finding.sample.is_some());
        if is_sampled {
            return SampledCounts(self.counts).to_string();
        }
        match &self.symmetry {
            Some(symmetry) => format!("{}\n{}", self.counts, self.as_in_report(symmetry)),
            None => self.counts.to_string(),
        }
    }

    /// Symmetric threads with the names that they have in the report on the first finding.
    fn as_in_report(&self, symmetry: &Symmetry) -> Symmetry {
        let mut symmetry = symmetry.clone();
        let Some(trace) = self.finding().and_then(|finding| finding.trace.as_ref()) else {
            return symmetry;
        };
        for name in symmetry.threads.iter_mut().flatten() {
            let note = trace.threads.iter().find(|note| note.path == *name);
            if let Some(known) = note.and_then(|note| trace.names.thread(note.thread)) {
                known.clone_into(name);
            }
        }
        symmetry
    }

    /// How long the whole exploration would take at the rate measured so far, in seconds.
    #[must_use]
    pub fn estimated_seconds(&self) -> Option<f64> {
        let Counts { classes, seconds, start_up, .. } = self.counts;
        let rate = classes as f64 / (seconds - start_up).max(0.001);
        self.estimate.map(|estimate| estimate.classes / rate.max(0.001))
    }
}

/// What an exploration did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Counts {
    /// Classes of executions that ended, with or without an error.
    pub classes: u64,
    /// Classes of executions that did not end: an assumption failed, or a thread waits in a loop.
    pub blocked: u64,
    /// How often code of a thread was run from its beginning.
    pub executions: u64,
    /// Distinct histories of single threads.
    pub histories: u64,
    /// Wall-clock time in seconds, including `start_up`.
    pub seconds: f64,
    /// Time to compile and load the program, in seconds.
    pub start_up: f64,
}

impl Counts {
    /// The number of classes, blocked ones included. If runs are sampled, this is the number of runs.
    #[must_use]
    pub fn all_classes(&self) -> u64 {
        self.classes + self.blocked
    }
}

/// An estimate of the number of classes, from random probes (Knuth 1975).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Estimate {
    /// The estimated number of classes.
    pub classes: f64,
    /// Its standard error.
    pub error: f64,
    /// The number of probes.
    pub probes: u64,
}

/// Symmetric threads. One class was explored of those that differ only in the names of such threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Symmetry {
    /// The names of the threads, in groups whose threads can exchange their names.
    pub threads: Vec<Vec<String>>,
    /// The number of classes of executions that ended, if renamed ones count.
    pub classes: u64,
    /// The number of classes of executions that did not end, if renamed ones count.
    pub blocked: u64,
}

impl Symmetry {
    /// Adds the counts of another part of the exploration.
    pub fn add(&mut self, other: &Symmetry) {
        self.classes = self.classes.saturating_add(other.classes);
        self.blocked = self.blocked.saturating_add(other.blocked);
    }
}

/// `up to renaming of {main/0, main/1}; 6 classes with renamed threads, 2 more blocked`
impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Symmetry { threads, classes, blocked } = self;
        let blocks: Vec<String> =
            threads.iter().map(|block| format!("{{{}}}", block.join(", "))).collect();
        let count = plural(*classes, "es");
        write!(f, "up to renaming of {}; ", blocks.join(" and "))?;
        write!(f, "{classes} class{count} with renamed threads")?;
        if *blocked > 0 {
            write!(f, ", {blocked} more blocked")?;
        }
        Ok(())
    }
}

/// `3 execution classes explored, 1 more blocked, 10 thread runs, 0.001 s`
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { classes, blocked, executions, seconds, .. } = *self;
        write!(f, "{classes} execution class{} explored", plural(classes, "es"))?;
        if blocked > 0 {
            write!(f, ", {blocked} more blocked")?;
        }
        write!(f, ", {executions} thread run{}, {seconds:.3} s", plural(executions, "s"))
    }
}

/// The counts of sampled runs: `10 runs, 1 of them blocked, 20 thread runs, 0.001 s`
struct SampledCounts(Counts);

impl fmt::Display for SampledCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { blocked, executions, seconds, .. } = self.0;
        let runs = self.0.all_classes();
        write!(f, "{runs} run{}", plural(runs, "s"))?;
        if blocked > 0 {
            write!(f, ", {blocked} of them blocked")?;
        }
        write!(f, ", {executions} thread run{}, {seconds:.3} s", plural(executions, "s"))
    }
}

fn plural(count: u64, suffix: &'static str) -> &'static str {
    if count == 1 { "" } else { suffix }
}

/// The findings, the bound and the counts, without executions.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        if let Some(bound) = &self.bound {
            write!(f, "{bound}: ")?;
        }
        f.write_str(&self.counts_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_printed_in_singular_and_plural() {
        let counts = Counts { classes: 1, executions: 1, seconds: 0.0014, ..Counts::default() };
        let text = "1 execution class explored, 1 thread run, 0.001 s";
        assert_eq!(counts.to_string(), text);
        let counts = Counts { classes: 2, blocked: 7, executions: 10, ..Counts::default() };
        let text = "2 execution classes explored, 7 more blocked, 10 thread runs, 0.000 s";
        assert_eq!(counts.to_string(), text);
        let counts = Counts { classes: 1, blocked: 1, executions: 2, ..Counts::default() };
        let text = "1 execution class explored, 1 more blocked, 2 thread runs, 0.000 s";
        assert_eq!(counts.to_string(), text);
    }

    #[test]
    fn counts_of_random_testing_are_runs() {
        let text = |classes: u64, blocked: u64| {
            let counts = Counts { classes, blocked, executions: 3, ..Counts::default() };
            let bound =
                Bound::Sampled { runs: classes + blocked, explorer: "random".into(), seed: 0 };
            Outcome::new(vec![], counts, Some(bound)).counts_text()
        };
        assert_eq!(text(9, 1), "10 runs, 1 of them blocked, 3 thread runs, 0.000 s");
        assert_eq!(text(1, 0), "1 run, 3 thread runs, 0.000 s");
        let sample = SampledRun { explorer: "pct".into(), number: 2, seed: 1 };
        let finding = Finding { sample: Some(sample), ..Finding::new(FindingKind::Race, "race") };
        let counts = Counts { classes: 2, executions: 4, ..Counts::default() };
        let text = Outcome::new(vec![finding], counts, None).counts_text();
        assert_eq!(text, "2 runs, 4 thread runs, 0.000 s");
    }

    #[test]
    fn the_verdict_follows_from_findings_and_bound() {
        let verdict = |kind: Option<FindingKind>, bound: Option<Bound>| {
            let finding = kind.map(|kind| Finding::new(kind, "message"));
            Outcome::new(finding.into_iter().collect(), Counts::default(), bound).verdict
        };
        assert_eq!(verdict(None, None), Verdict::Clean);
        assert_eq!(verdict(None, Some(Bound::Deadline)), Verdict::Incomplete);
        assert_eq!(verdict(Some(FindingKind::Race), Some(Bound::Deadline)), Verdict::Bug);
        assert_eq!(verdict(Some(FindingKind::Unsupported), None), Verdict::Incomplete);
    }
}
