//! Counterexamples: from an assignment of the solver to an execution.

use raddle_core::outcome::{Finding, FindingKind, Place};

use crate::bitblast::BitBlaster;
use crate::memory::ScheduleTurn;
use crate::program::{Check, NondetInput, UnrolledProgram, VisibleAction, VisibleStatement};
use crate::sequentialize::{SequentializedProgram, is_variable};
use crate::term::{Term, signed};

/// The execution that leads to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BmcCounterexample {
    /// The visible statements before the bug, in the order of their execution.
    pub steps: Vec<TraceStep>,
    /// The nondeterministic values that the program gets before the bug.
    pub inputs: Vec<InputValue>,
}

/// A step of a counterexample: a visible statement, or a buffered write that reaches memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The round of the schedule, counted from 0.
    pub round: usize,
    /// The name of the thread.
    pub thread: String,
    /// `file:line`.
    pub place: String,
    /// A description, such as `writes x = 1`.
    pub text: String,
    /// The value that the statement reads, if it reads one.
    pub read: Option<ReadValue>,
    /// Whether the statement accesses a part of a structure that is copied. Compiled code may copy the structure at
    /// once.
    pub is_part: bool,
}

/// A value that a statement reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadValue {
    /// The name of the variable, followed by `+` and an offset in bytes if a part of it is read.
    pub cell: String,
    /// The value. `None` if the bug does not depend on it.
    pub value: Option<u64>,
    /// The width of the value.
    pub bits: u8,
}

/// A value that a `__VERIFIER_nondet_*` function returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputValue {
    /// The name of the thread that calls the function.
    pub thread: String,
    /// The name of the function.
    pub function: String,
    /// The value.
    pub value: i128,
    /// `file:line`.
    pub place: String,
}

/// A point in a schedule: round, thread, and number of statements that the thread has passed.
type SchedulePoint = (usize, usize, usize);

/// Reads an execution from the assignment that the solver found.
struct TraceReader<'a> {
    program: &'a UnrolledProgram,
    sequentialized: &'a SequentializedProgram,
    blaster: &'a BitBlaster,
}

/// The first failure in the execution that the solver found. `None` if no check fails in it.
pub(crate) fn counterexample(
    program: &UnrolledProgram,
    sequentialized: &SequentializedProgram,
    blaster: &BitBlaster,
) -> Option<(Finding, BmcCounterexample)> {
    let reader = TraceReader { program, sequentialized, blaster };
    let checks = program.checks.iter().zip(&sequentialized.bugs);
    let failing = checks.filter(|(_, bug)| reader.holds(**bug));
    let points = failing.map(|(check, _)| (reader.failure_point(check), check));
    let (end, check) = points.min_by_key(|(point, _)| *point)?;
    Some((reader.finding(check), reader.counterexample(end)))
}

impl TraceReader<'_> {
    fn holds(&self, term: Term) -> bool {
        self.value(term) == 1
    }

    fn value(&self, term: Term) -> u64 {
        self.blaster.value(&self.program.terms, term)
    }

    /// The value of a term, as a signed number.
    fn signed_value(&self, term: Term) -> i64 {
        signed(self.value(term), self.program.terms.width(term))
    }

    fn thread_name(&self, thread: usize) -> String {
        self.program.threads[thread].name.clone()
    }

    /// Returns `true` if the formula constrains the value that is read.
    fn is_constrained(&self, out: Term) -> bool {
        !is_variable(&self.program.terms, out) || self.sequentialized.used.contains(&out)
    }

    /// The point at which a check fails.
    fn failure_point(&self, check: &Check) -> SchedulePoint {
        match check.kind {
            Some(FindingKind::Deadlock) => (usize::MAX, 0, 0),
            _ => self.point(check.thread, check.after),
        }
    }

    /// The point at which a thread has passed its first `count` statements.
    fn point(&self, thread: usize, count: usize) -> SchedulePoint {
        let Some(last) = count.checked_sub(1) else {
            return match self.program.threads[thread].creation {
                Some(creation) => self.point(creation.parent, creation.after),
                None => (0, 0, 0),
            };
        };
        let passed = &self.sequentialized.passed[thread][last];
        let round = passed.iter().position(|&passed| self.holds(passed));
        (round.unwrap_or(usize::MAX), thread, count)
    }

    fn finding(&self, check: &Check) -> Finding {
        let (message, place) = match check.kind {
            Some(FindingKind::Deadlock) => self.describe_deadlock(),
            _ => (check.message.clone(), check.place.clone()),
        };
        let kind = check.kind.unwrap_or(FindingKind::Failure);
        let message = format!("thread {}: {message}", self.thread_name(check.thread));
        Finding { place: Some(Place::new(place)), ..Finding::new(kind, message) }
    }

    fn counterexample(&self, end: SchedulePoint) -> BmcCounterexample {
        let is_reached = |input: &&NondetInput| {
            self.point(input.thread, input.after) <= end && self.holds(input.guard)
        };
        let inputs = self.program.inputs.iter().filter(is_reached);
        BmcCounterexample {
            steps: self.steps(end),
            inputs: inputs.map(|input| self.input(input)).collect(),
        }
    }

    /// All steps up to a point.
    fn steps(&self, end: SchedulePoint) -> Vec<TraceStep> {
        let mut steps = vec![];
        for (turn, active) in &self.sequentialized.turns {
            let &ScheduleTurn { round, thread } = turn;
            for (statement, &active) in active.iter().enumerate() {
                if (round, thread, statement + 1) <= end && self.holds(active) {
                    steps.push(self.statement_step(*turn, statement));
                }
            }
            if (round, thread) < (end.0, end.1) {
                self.flush_steps(*turn, &mut steps);
            }
        }
        steps
    }

    /// Message and place of a deadlock.
    fn describe_deadlock(&self) -> (String, String) {
        let blocked = self.sequentialized.blocked.iter();
        let blocked: Vec<_> = blocked.filter(|point| self.holds(point.when)).collect();
        let waits: Vec<String> = blocked
            .iter()
            .map(|point| format!("{} waits at {}", self.thread_name(point.thread), point.place))
            .collect();
        let place = blocked.first().map_or(String::new(), |point| point.place.clone());
        (format!("deadlock: {}", waits.join(", ")), place)
    }

    fn input(&self, input: &NondetInput) -> InputValue {
        let value = match input.signed {
            true => i128::from(self.signed_value(input.value)),
            false => i128::from(self.value(input.value)),
        };
        InputValue {
            thread: self.thread_name(input.thread),
            function: input.function.clone(),
            value,
            place: input.place.clone(),
        }
    }

    /// Adds the buffered writes of earlier turns that reach memory at the end of the turn.
    fn flush_steps(&self, turn: ScheduleTurn, steps: &mut Vec<TraceStep>) {
        let Some(previous_round) = turn.round.checked_sub(1) else { return };
        for write in &self.sequentialized.pending_writes {
            if write.thread != turn.thread
                || self.holds(write.flushed[previous_round])
                || !self.holds(write.flushed[turn.round])
            {
                continue;
            }
            let passed = &self.sequentialized.passed[write.thread][write.statement];
            let statement = &self.program.threads[write.thread].statements[write.statement];
            if self.holds(passed[previous_round]) && self.holds(statement.guard) {
                let text = format!("the write of {} reaches memory", self.target(statement));
                steps.push(self.step(turn, statement, text, None));
            }
        }
    }

    fn statement_step(&self, turn: ScheduleTurn, index: usize) -> TraceStep {
        let statement = &self.program.threads[turn.thread].statements[index];
        let out = statement.action.out();
        let target = self.target(statement);
        let text = match &statement.action {
            VisibleAction::Read { out, .. } => {
                format!("reads {target} = {}", self.signed_value(*out))
            }
            VisibleAction::Write { value, .. } => {
                format!("writes {target} = {}", self.signed_value(*value))
            }
            VisibleAction::Update { new, writes, .. } => {
                let old = out.filter(|&out| self.is_constrained(out));
                let old =
                    old.map_or(String::new(), |old| format!(", was {}", self.signed_value(old)));
                match self.holds(*writes) {
                    true => format!("sets {target} = {}{old}", self.signed_value(*new)),
                    false => format!("leaves {target} as it is{old}"),
                }
            }
            VisibleAction::Fence | VisibleAction::StoreFence => String::from("fence"),
            VisibleAction::Join(threads) => {
                let joined = threads.iter().find(|(_, condition)| self.holds(*condition));
                let name =
                    joined.map_or("a thread", |(thread, _)| &self.program.threads[*thread].name);
                format!("joins {name}")
            }
        };
        let read = out.map(|out| ReadValue {
            cell: target.to_owned(),
            value: self.is_constrained(out).then(|| self.value(out)),
            bits: self.program.terms.width(out),
        });
        self.step(turn, statement, text, read)
    }

    fn step(
        &self,
        turn: ScheduleTurn,
        statement: &VisibleStatement,
        text: String,
        read: Option<ReadValue>,
    ) -> TraceStep {
        TraceStep {
            round: turn.round,
            thread: self.thread_name(turn.thread),
            place: statement.place.clone(),
            text,
            read,
            is_part: statement.is_part,
        }
    }

    /// The name of the cell that a statement accesses.
    fn target(&self, statement: &VisibleStatement) -> &str {
        let mut targets = statement.action.targets().iter();
        let cell = targets.find(|(_, condition)| self.holds(*condition));
        cell.map_or("?", |&(cell, _)| &self.program.cells[cell].name)
    }
}
