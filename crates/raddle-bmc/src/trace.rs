//! From an assignment to an execution that people can read.

use crate::blast::Blaster;
use crate::memory::Turn;
use crate::program::{Action, Check, Event, Input, Program};
use crate::sequence::{DEADLOCK, Sequenced, is_variable};
use crate::term::{Term, signed};

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// What kind of thing: a word.
    pub kind: String,
    /// What it is, in a sentence.
    pub message: String,
    /// File and line.
    pub place: String,
    /// The thread.
    pub thread: String,
    /// What led to it, in order.
    pub steps: Vec<TraceStep>,
    /// Values from outside.
    pub inputs: Vec<InputValue>,
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The round of the schedule.
    pub round: usize,
    /// The thread.
    pub thread: String,
    /// File and line.
    pub place: String,
    /// What it does.
    pub text: String,
    /// What it reads.
    pub read: Option<ReadValue>,
    /// Whether it accesses a part of a structure that is copied.
    pub is_part: bool,
}

/// A value that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadValue {
    /// The variable, with the offset in bytes behind a `+` if it is a part of one.
    pub cell: String,
    /// The value, if anything depends on it.
    pub value: Option<u64>,
    /// How many bits it has.
    pub bits: u8,
}

/// A value from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputValue {
    /// The thread that got it.
    pub thread: String,
    /// The function that it came from.
    pub function: String,
    /// The value.
    pub value: i128,
    /// File and line.
    pub place: String,
}

/// Where something happens in a schedule: round, thread, statement.
type Moment = (usize, usize, usize);

struct Teller<'a> {
    program: &'a Program,
    sequenced: &'a Sequenced,
    blaster: &'a Blaster,
}

/// The bug that an assignment shows: the first one in its execution.
pub(crate) fn tell(program: &Program, sequenced: &Sequenced, blaster: &Blaster) -> Option<Bug> {
    let teller = Teller { program, sequenced, blaster };
    let failing = program.checks.iter().zip(&sequenced.bugs).filter(|(_, bug)| teller.holds(**bug));
    let moments = failing.map(|(check, _)| (teller.end(check), check));
    let (end, check) = moments.min_by_key(|(moment, _)| *moment)?;
    Some(teller.bug(end, check))
}

impl Teller<'_> {
    fn holds(&self, term: Term) -> bool {
        self.value(term) == 1
    }

    fn value(&self, term: Term) -> u64 {
        self.blaster.value(&self.program.terms, term)
    }

    /// Whether what is read is in the formula.
    fn is_known(&self, out: Term) -> bool {
        !is_variable(&self.program.terms, out) || self.sequenced.used.contains(&out)
    }

    /// When a check fails.
    fn end(&self, check: &Check) -> Moment {
        match check.kind {
            DEADLOCK => (usize::MAX, 0, 0),
            _ => self.moment(check.thread, check.after),
        }
    }

    /// When a thread has executed so many statements.
    fn moment(&self, thread: usize, after: usize) -> Moment {
        let Some(last) = after.checked_sub(1) else {
            return match self.program.threads[thread].created {
                Some((parent, after, _)) => self.moment(parent, after),
                None => (0, 0, 0),
            };
        };
        let done = self.sequenced.done[thread][last].iter().position(|&done| self.holds(done));
        (done.unwrap_or(usize::MAX), thread, after)
    }

    fn bug(&self, end: Moment, check: &Check) -> Bug {
        let mut steps = vec![];
        for (turn, active) in &self.sequenced.turns {
            let &Turn { round, thread } = turn;
            for (at, &active) in active.iter().enumerate() {
                if (round, thread, at + 1) <= end && self.holds(active) {
                    steps.push(self.step(*turn, at));
                }
            }
            if (round, thread) < (end.0, end.1) {
                self.arrivals(*turn, &mut steps);
            }
        }
        let reached = |input: &&Input| {
            self.moment(input.thread, input.after) <= end && self.holds(input.guard)
        };
        let inputs =
            self.program.inputs.iter().filter(reached).map(|input| self.input(input)).collect();
        let waits = self.sequenced.waiting.iter().filter(|(_, _, when)| self.holds(*when));
        let waits: Vec<(String, &str)> = waits
            .map(|(thread, place, _)| (self.program.threads[*thread].name.clone(), place.as_str()))
            .collect();
        let (message, place) = match check.kind {
            DEADLOCK => {
                let told: Vec<String> =
                    waits.iter().map(|(name, place)| format!("{name} waits at {place}")).collect();
                (
                    format!("deadlock: {}", told.join(", ")),
                    waits.first().map_or("", |(_, place)| *place).to_owned(),
                )
            }
            _ => (check.message.clone(), check.place.clone()),
        };
        Bug {
            kind: check.kind.to_owned(),
            message,
            place,
            thread: self.program.threads[check.thread].name.clone(),
            steps,
            inputs,
        }
    }

    fn input(&self, input: &Input) -> InputValue {
        let value = self.value(input.value);
        let width = self.program.terms.width(input.value);
        let value = if input.signed { i128::from(signed(value, width)) } else { i128::from(value) };
        InputValue {
            thread: self.program.threads[input.thread].name.clone(),
            function: input.function.clone(),
            value,
            place: input.place.clone(),
        }
    }

    /// Writes of the thread that reach memory at the end of its turn.
    fn arrivals(&self, turn: Turn, steps: &mut Vec<TraceStep>) {
        for (thread, at, left) in &self.sequenced.left {
            let before = turn.round.checked_sub(1).is_some_and(|round| self.holds(left[round]));
            let done_before = turn
                .round
                .checked_sub(1)
                .is_some_and(|round| self.holds(self.sequenced.done[*thread][*at][round]));
            if *thread != turn.thread || before || !self.holds(left[turn.round]) {
                continue;
            }
            let event = &self.program.threads[*thread].events[*at];
            if done_before && self.holds(event.guard) {
                let text = format!("the write of {} reaches memory", self.target(event));
                steps.push(self.tell(turn, event, text, None));
            }
        }
    }

    fn step(&self, turn: Turn, at: usize) -> TraceStep {
        let event = &self.program.threads[turn.thread].events[at];
        let out = match event.action {
            Action::Read { out, .. } => Some(out),
            Action::Update { out, .. } => out,
            _ => None,
        };
        let number = |term: Term| signed(self.value(term), self.program.terms.width(term));
        let text = match &event.action {
            Action::Read { out, .. } => format!("reads {} = {}", self.target(event), number(*out)),
            Action::Write { value, .. } => {
                format!("writes {} = {}", self.target(event), number(*value))
            }
            Action::Update { new, writes, .. } => {
                let was = out.filter(|&out| self.is_known(out));
                let was = was.map_or(String::new(), |out| format!(", was {}", number(out)));
                match self.holds(*writes) {
                    true => format!("sets {} = {}{was}", self.target(event), number(*new)),
                    false => format!("leaves {} as it is{was}", self.target(event)),
                }
            }
            Action::Fence | Action::StoreFence => String::from("fence"),
            Action::Join(threads) => {
                let joined = threads.iter().find(|(_, condition)| self.holds(*condition));
                let name =
                    joined.map_or("a thread", |(thread, _)| &self.program.threads[*thread].name);
                format!("joins {name}")
            }
        };
        let read = out.map(|out| ReadValue {
            cell: self.target(event).to_owned(),
            value: self.is_known(out).then(|| self.value(out)),
            bits: self.program.terms.width(out),
        });
        self.tell(turn, event, text, read)
    }

    fn tell(&self, turn: Turn, event: &Event, text: String, read: Option<ReadValue>) -> TraceStep {
        TraceStep {
            read,
            is_part: event.is_part,
            round: turn.round,
            thread: self.program.threads[turn.thread].name.clone(),
            place: event.place.clone(),
            text,
        }
    }

    /// The name of the cell that an event accesses.
    fn target(&self, event: &Event) -> &str {
        let cell = event.action.targets().iter().find(|(_, condition)| self.holds(*condition));
        cell.map_or("?", |&(cell, _)| &self.program.cells[cell].name)
    }
}
