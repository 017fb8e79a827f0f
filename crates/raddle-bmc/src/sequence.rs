//! Lazy sequentialization: threads in turns, as one formula.
//!
//! The idea is that of Inverso, Tomasco, Fischer, La Torre, Parlato, CAV 2014: threads are simulated in a fixed order,
//! round after round; in every turn a thread goes on from where it was, and stops before some visible statement. How far
//! it comes is guessed. Program counters are kept in unary: for every statement and round, whether the thread is behind
//! it. So "executed in this turn" is one gate.
//!
//! We differ from the paper in that only visible statements are repeated for each round, not the local code between them
//! (`exec`), and in that `main` has a turn more at the end, in which alone it does what it does when it has joined all
//! threads.
//!
//! A thread may stop for ever anywhere: a lock that is taken, an assumption that fails, or just the end of the last
//! round. So everything before a bound is explored, and a failing assertion needs only what leads to it.

use rustc_hash::FxHashSet;

use crate::memory::{self, Builder, Memory, Step, Turn};
use crate::options::{Model, Options};
use crate::program::{Action, Check, Event, Program};
use crate::term::{FALSE, TRUE, Term, TermNode, TermStore};

/// The kind of a bug in which no thread can go on.
pub(crate) const DEADLOCK: &str = "deadlock";

/// A program as a formula.
pub(crate) struct Sequenced {
    /// What must hold.
    pub(crate) constraints: Vec<Term>,
    /// When each check fails.
    pub(crate) bugs: Vec<Term>,
    /// When an execution is cut off.
    pub(crate) cuts: Vec<Term>,
    /// For every turn, which statements are executed in it.
    pub(crate) turns: Vec<(Turn, Vec<Term>)>,
    /// For every thread, statement and round, whether the thread is behind the statement.
    pub(crate) done: Vec<Vec<Vec<Term>>>,
    /// Writes that wait: thread, statement, and for every round whether it has reached memory.
    pub(crate) left: Vec<(usize, usize, Vec<Term>)>,
    /// For every round, whether anything happens in it.
    pub(crate) active: Vec<Term>,
    /// Who may wait for ever, where, and when it does.
    pub(crate) waiting: Vec<(usize, String, Term)>,
    /// Variables that something depends on. What others are read is not in the formula.
    pub(crate) used: FxHashSet<Term>,
    /// How often cells are accessed, in all turns together.
    pub(crate) accesses: usize,
    /// So many rounds are enough for every execution.
    pub(crate) enough: usize,
    pub(crate) memory_is_exhaustive: bool,
}

/// Makes a formula of a program.
pub(crate) fn sequence(program: &mut Program, options: &Options) -> Sequenced {
    let rounds = options.rounds.max(1);
    let alone = alone(program);
    let used = used(program);
    let mut terms = std::mem::take(&mut program.terms);
    let done = counters(&mut terms, program, rounds, alone);
    let active: Vec<Term> = (0..rounds).map(|_| terms.var(1)).collect();
    let mut build = Builder { terms: &mut terms, constraints: vec![], done, active, cuts: vec![] };
    order(&mut build, program);
    let memory = memory::memory(program, options, &mut build);
    let (turns, waiting, accesses) = (vec![], vec![], 0);
    let mut sequencer = Sequencer { program, memory, used, rounds, turns, waiting, accesses };
    for round in 0..rounds {
        for thread in 0..sequencer.program.threads.len() {
            sequencer.turn(&mut build, Turn { round, thread });
        }
    }
    sequencer.turn(&mut build, Turn { round: rounds, thread: 0 });
    let mut bugs = sequencer.failures(&mut build, &sequencer.program.checks);
    let deadlock = sequencer.deadlock(&mut build);
    let mut cuts = sequencer.failures(&mut build, &sequencer.program.cuts);
    cuts.append(&mut build.cuts);
    let Sequencer { memory, turns, waiting, used, accesses, .. } = sequencer;
    let constraints = std::mem::take(&mut build.constraints);
    let (memory_is_exhaustive, left) = (memory.is_exhaustive(), memory.left());
    let done = std::mem::take(&mut build.done);
    let active = std::mem::take(&mut build.active);
    program.terms = terms;
    if deadlock != FALSE {
        bugs.push(deadlock);
        program.checks.push(Check {
            thread: 0,
            after: 0,
            fails: deadlock,
            kind: DEADLOCK,
            message: String::from("deadlock"),
            place: String::new(),
        });
    }
    let enough = enough(program, options.model, alone);
    Sequenced {
        waiting,
        active,
        constraints,
        bugs,
        cuts,
        turns,
        done,
        left,
        used,
        accesses,
        enough,
        memory_is_exhaustive,
    }
}

/// From which statement on `main` is alone: it has joined all threads, and goes on to the end.
fn alone(program: &mut Program) -> usize {
    let events = &program.threads[0].events;
    let mut joined: FxHashSet<usize> = FxHashSet::default();
    let mut begin = None;
    for (at, event) in events.iter().enumerate() {
        let Action::Join(threads) = &event.action else {
            begin = None;
            continue;
        };
        begin = begin.or(Some(at));
        if let &[(thread, TRUE)] = &threads[..]
            && always_before(&mut program.terms, event.guard, &events[at..])
        {
            joined.insert(thread);
        }
        if joined.len() + 1 == program.threads.len() {
            return begin.unwrap_or(at);
        }
    }
    events.len()
}

/// Whether none of these events happens without this condition.
fn always_before(terms: &mut TermStore, guard: Term, events: &[Event]) -> bool {
    let not = terms.not(guard);
    events.iter().all(|event| terms.and(event.guard, not) == FALSE)
}

/// Variables that something depends on.
fn used(program: &Program) -> FxHashSet<Term> {
    let mut open: Vec<Term> = vec![];
    for thread in &program.threads {
        open.push(thread.end);
        open.extend(thread.stuck.iter().map(|&(_, stuck, _)| stuck));
        open.extend(thread.created.map(|(_, _, guard)| guard));
        for event in &thread.events {
            open.push(event.guard);
            open.extend(event.action.terms());
        }
    }
    open.extend(program.checks.iter().chain(&program.cuts).map(|check| check.fails));
    let mut seen = FxHashSet::default();
    program.terms.reach(open, &mut seen);
    seen
}

/// Whether what is read is a variable.
pub(crate) fn is_variable(terms: &TermStore, out: Term) -> bool {
    match terms.node(out) {
        TermNode::Sext(inner) => matches!(terms.node(inner), TermNode::Var(_)),
        node => matches!(node, TermNode::Var(_)),
    }
}

/// For every thread, statement and round, whether the thread is behind the statement.
fn counters(
    terms: &mut TermStore,
    program: &Program,
    rounds: usize,
    alone: usize,
) -> Vec<Vec<Vec<Term>>> {
    let counters = |(thread, body): (usize, &crate::program::Thread)| {
        let turns = if thread == 0 { rounds + 1 } else { rounds };
        let mut statement = |at: usize| {
            let late = |round: usize| thread == 0 && at >= alone && round < rounds;
            (0..turns).map(|round| if late(round) { FALSE } else { terms.var(1) }).collect()
        };
        (0..body.events.len()).map(&mut statement).collect()
    };
    program.threads.iter().enumerate().map(counters).collect()
}

/// Statements are executed one after the other, and never undone.
fn order(build: &mut Builder<'_>, program: &Program) {
    for thread in 0..build.done.len() {
        for at in 0..build.done[thread].len() {
            for round in 0..build.done[thread][at].len() {
                let this = build.done[thread][at][round];
                if let Some(&later) = build.done[thread][at].get(round + 1) {
                    build.imply(this, later);
                }
                let before =
                    round.checked_sub(1).map_or(FALSE, |round| build.done[thread][at][round]);
                build.happens(round, before, this);
                let earlier = match at {
                    0 => created(build, program, thread, round),
                    _ => build.done[thread][at - 1][round],
                };
                build.imply(this, earlier);
            }
        }
    }
}

/// Whether a thread is there in a round.
fn created(build: &mut Builder<'_>, program: &Program, thread: usize, round: usize) -> Term {
    let Some((parent, after, guard)) = program.threads[thread].created else { return TRUE };
    let reached = reached(build, program, parent, after, round);
    build.terms.and(guard, reached)
}

/// Whether a thread has executed so many statements by the end of a round.
fn reached(
    build: &mut Builder<'_>,
    program: &Program,
    thread: usize,
    after: usize,
    round: usize,
) -> Term {
    match after {
        0 => created(build, program, thread, round),
        _ => {
            let rounds = &build.done[thread][after - 1];
            rounds[round.min(rounds.len() - 1)]
        }
    }
}

/// How many rounds are enough. A round ends only where a thread with a smaller number goes on behind one with a greater
/// one; so there are no more rounds than statements of all threads but the last, or of all but the first, and one more.
/// Under a weak model, a write counts twice: it is executed, and it reaches memory.
fn enough(program: &Program, model: Model, alone: usize) -> usize {
    let weight = |(thread, body): (usize, &crate::program::Thread)| {
        let events = if thread == 0 { &body.events[..alone] } else { &body.events[..] };
        let writes =
            events.iter().filter(|event| matches!(event.action, Action::Write { .. })).count();
        events.len() + if model == Model::Sc { 0 } else { writes }
    };
    let weights: Vec<usize> =
        program.threads.iter().enumerate().map(weight).filter(|&n| n > 0).collect();
    let total: usize = weights.iter().sum();
    let most = weights.first().max(weights.last()).copied().unwrap_or(0);
    1 + total - most
}

struct Sequencer<'p> {
    program: &'p Program,
    memory: Box<dyn Memory>,
    used: FxHashSet<Term>,
    rounds: usize,
    turns: Vec<(Turn, Vec<Term>)>,
    waiting: Vec<(usize, String, Term)>,
    accesses: usize,
}

impl Sequencer<'_> {
    fn turn(&mut self, build: &mut Builder<'_>, turn: Turn) {
        let Turn { round, thread } = turn;
        let count = self.program.threads[thread].events.len();
        let mut active = vec![];
        self.memory.begin(build, turn);
        for event in 0..count {
            let now = build.done[thread][event][round];
            if now == FALSE {
                break;
            }
            let before =
                round.checked_sub(1).map_or(FALSE, |round| build.done[thread][event][round]);
            let not = build.terms.not(before);
            let here = build.terms.and(now, not);
            let guard = self.program.threads[thread].events[event].guard;
            let step = Step { turn, event, active: build.terms.and(here, guard) };
            active.push(step.active);
            self.step(build, step);
        }
        self.memory.end(build, turn);
        self.turns.push((turn, active));
    }

    fn step(&mut self, build: &mut Builder<'_>, step: Step) {
        let program = self.program;
        let event = &program.threads[step.turn.thread].events[step.event];
        self.accesses += event.action.targets().len();
        match &event.action {
            Action::Read { at, out } => {
                for &(cell, condition) in at {
                    let value = self.memory.read(build, step, cell);
                    self.observe(build, step, condition, *out, value);
                }
            }
            Action::Write { at, value, releases } => {
                if *releases {
                    self.memory.store_fence(build, step);
                }
                for &(cell, condition) in at {
                    self.memory.write(build, step, cell, condition, *value);
                }
            }
            Action::Update { at, out, new, writes, ready } => {
                self.memory.fence(build, step);
                for &(cell, condition) in at {
                    let value = self.memory.fetch(build, step, cell);
                    if let Some(out) = *out {
                        self.observe(build, step, condition, out, value);
                    }
                    let when = build.terms.and(condition, *writes);
                    self.memory.put(build, step, cell, when, *new);
                }
                build.imply(step.active, *ready);
            }
            Action::Fence => self.memory.fence(build, step),
            Action::StoreFence => self.memory.store_fence(build, step),
            Action::Join(threads) => {
                for &(thread, condition) in threads {
                    let ended = self.ended(build, thread, step.turn);
                    let when = build.terms.and(step.active, condition);
                    build.imply(when, ended);
                }
            }
        }
    }

    /// What is read is what is there.
    fn observe(
        &self,
        build: &mut Builder<'_>,
        step: Step,
        condition: Term,
        out: Term,
        value: Term,
    ) {
        // What is no variable is known to the thread anyway.
        if !is_variable(build.terms, out) || !self.used.contains(&out) {
            return;
        }
        let when = build.terms.and(step.active, condition);
        let equal = build.terms.eq(out, value);
        build.imply(when, equal);
    }

    /// Whether a thread has come to its end, and to its buffers', before this turn.
    fn ended(&mut self, build: &mut Builder<'_>, thread: usize, turn: Turn) -> Term {
        let round = if thread < turn.thread { Some(turn.round) } else { turn.round.checked_sub(1) };
        let Some(round) = round else {
            let body = &self.program.threads[thread];
            return if body.events.is_empty() { body.end } else { FALSE };
        };
        let body = &self.program.threads[thread];
        let reached = reached(build, self.program, thread, body.events.len(), round);
        let drained = self.memory.drained(build, Turn { round, thread });
        build.terms.all([reached, drained, body.end])
    }

    /// When `main` waits for ever, and every other thread that was created has ended or waits for ever, too.
    fn deadlock(&mut self, build: &mut Builder<'_>) -> Term {
        let mut all = self.waits(build, 0);
        for thread in 1..self.program.threads.len() {
            if all == FALSE {
                break;
            }
            let there = created(build, self.program, thread, self.rounds);
            let absent = build.terms.not(there);
            let ended = self.ended(build, thread, Turn { round: self.rounds, thread: 0 });
            let waits = self.waits(build, thread);
            let quiet = build.terms.any([absent, ended, waits]);
            all = build.terms.and(all, quiet);
        }
        all
    }

    /// The last turn of a thread.
    fn last(&self, thread: usize) -> Turn {
        Turn { round: if thread == 0 { self.rounds } else { self.rounds - 1 }, thread }
    }

    /// When a thread waits for ever at the end, with nothing left in its buffers.
    fn waits(&mut self, build: &mut Builder<'_>, thread: usize) -> Term {
        let program = self.program;
        let last = self.last(thread);
        let mut any = FALSE;
        for (event, statement) in program.threads[thread].events.iter().enumerate() {
            let step = Step { turn: last, event, active: FALSE };
            let Some(blocked) = self.blocked(build, step) else { continue };
            let before = reached(build, program, thread, event, last.round);
            let not = build.terms.not(build.done[thread][event][last.round]);
            let here = build.terms.all([before, not, statement.guard, blocked]);
            self.waiting.push((thread, statement.place.clone(), here));
            any = build.terms.or(any, here);
        }
        for (after, stuck, place) in &program.threads[thread].stuck {
            let reached = reached(build, program, thread, *after, last.round);
            let here = build.terms.and(reached, *stuck);
            self.waiting.push((thread, place.clone(), here));
            any = build.terms.or(any, here);
        }
        let drained = self.memory.drained(build, last);
        build.terms.and(any, drained)
    }

    /// When a statement that waits cannot go on with memory as it is at the end.
    fn blocked(&mut self, build: &mut Builder<'_>, step: Step) -> Option<Term> {
        let program = self.program;
        match &program.threads[step.turn.thread].events[step.event].action {
            Action::Update { at, out: Some(out), ready, .. } if *ready != TRUE => {
                let not = build.terms.not(*ready);
                let mut all = not;
                for &(cell, condition) in at {
                    let value = self.memory.fetch(build, step, cell);
                    let equal = build.terms.eq(*out, value);
                    let seen = build.terms.implies(condition, equal);
                    all = build.terms.and(all, seen);
                }
                Some(all)
            }
            Action::Join(threads) => {
                let mut any = FALSE;
                for &(thread, condition) in threads {
                    // What is in its buffers reaches memory some time.
                    let body = &program.threads[thread];
                    let all = body.events.len();
                    let reached = reached(build, program, thread, all, self.rounds - 1);
                    let ended = build.terms.and(reached, body.end);
                    let not = build.terms.not(ended);
                    let waits = build.terms.and(condition, not);
                    any = build.terms.or(any, waits);
                }
                Some(any)
            }
            _ => None,
        }
    }

    /// When each of these happens.
    fn failures(&self, build: &mut Builder<'_>, checks: &[Check]) -> Vec<Term> {
        let failure = |check: &Check| {
            let round = if check.thread == 0 { self.rounds } else { self.rounds - 1 };
            let reached = reached(build, self.program, check.thread, check.after, round);
            build.terms.and(reached, check.fails)
        };
        checks.iter().map(failure).collect()
    }
}
