//! Lazy sequentialization: all round-robin schedules of a program as one formula.
//!
//! Inverso, Tomasco, Fischer, La Torre, Parlato, CAV 2014: the threads are simulated in a fixed order, round after
//! round. In each turn a thread continues where it stopped before, and stops before a guessed visible statement.
//! Program counters are unary: one truth value per statement and round tells whether the thread has passed the
//! statement. So "executed in this turn" is a single gate.
//!
//! Differences to the paper: only visible statements are repeated for each round, not the local code between them (see
//! `exec`), and `main` has an additional last turn, in which it executes everything after joining all threads.
//!
//! A thread may stop anywhere forever: at a lock, at an assumption that fails, or at the end of the last round. So all
//! prefixes of executions within the bounds are explored, and a failing assertion depends only on the statements that
//! lead to it.

use raddle_core::model::orders::StoreBuffers;
use raddle_core::outcome::FindingKind;
use rustc_hash::FxHashSet;

use crate::memory::{
    self, CellWrite, FormulaBuilder, MemoryEncoding, PendingWrite, ScheduleTurn, TurnStep,
};
use crate::options::BmcOptions;
use crate::program::{
    BlockedForever, Check, UnrolledProgram, UnrolledThread, VisibleAction, VisibleStatement,
};
use crate::term::{FALSE, TRUE, Term, TermNode, TermStore};

/// A point at which a thread may be blocked at the end of an execution.
pub(crate) struct BlockedPoint {
    pub(crate) thread: usize,
    /// `file:line`.
    pub(crate) place: String,
    /// Whether the thread is blocked there.
    pub(crate) when: Term,
}

/// The executions of a program within the bounds, as a formula.
pub(crate) struct SequentializedProgram {
    /// Terms that must be true.
    pub(crate) constraints: Vec<Term>,
    /// For every check of the program, whether it fails.
    pub(crate) bugs: Vec<Term>,
    /// For every cut of the program, whether the execution is cut off there.
    pub(crate) cuts: Vec<Term>,
    /// The turns in the order of the schedule, each with the conditions under which its statements are executed in it.
    pub(crate) turns: Vec<(ScheduleTurn, Vec<Term>)>,
    /// `passed[thread][statement][round]`: whether the thread has passed the statement by the end of its turn.
    pub(crate) passed: Vec<Vec<Vec<Term>>>,
    pub(crate) pending_writes: Vec<PendingWrite>,
    /// For every round, whether anything happens in it.
    pub(crate) active: Vec<Term>,
    pub(crate) blocked: Vec<BlockedPoint>,
    /// Terms that the formula depends on. Values that are read into other variables are not constrained.
    pub(crate) used: FxHashSet<Term>,
    /// The number of accesses to shared cells in all turns.
    pub(crate) accesses: usize,
    /// A number of rounds that suffices for every execution.
    pub(crate) sufficient_rounds: usize,
    /// Whether the bounds of the memory encoding exclude no execution.
    pub(crate) memory_is_exhaustive: bool,
}

/// Builds the formula of a program. If a deadlock is possible, a check for it is added to the program.
pub(crate) fn sequentialize(
    program: &mut UnrolledProgram,
    options: &BmcOptions,
) -> SequentializedProgram {
    let rounds = options.rounds.max(1);
    let alone_from = main_alone_from(program);
    let used = used_terms(program);
    let mut terms = std::mem::take(&mut program.terms);
    let passed = program_counters(&mut terms, program, rounds, alone_from);
    let active: Vec<Term> = (0..rounds).map(|_| terms.var(1)).collect();
    let mut build = FormulaBuilder { terms: &mut terms, constraints: vec![], passed, active };
    constrain_program_order(&mut build, program);
    let memory = memory::new_encoding(program, options, &mut build);
    let (turns, blocked, accesses) = (vec![], vec![], 0);
    let mut sequentializer =
        Sequentializer { program, memory, used, rounds, turns, blocked, accesses };
    for round in 0..rounds {
        for thread in 0..sequentializer.program.threads.len() {
            sequentializer.add_turn(&mut build, ScheduleTurn { round, thread });
        }
    }
    sequentializer.add_turn(&mut build, ScheduleTurn { round: rounds, thread: 0 });
    let mut bugs = sequentializer.failures(&mut build, &sequentializer.program.checks);
    let deadlock = sequentializer.deadlock(&mut build);
    let cuts = sequentializer.failures(&mut build, &sequentializer.program.cuts);
    let Sequentializer { memory, turns, blocked, used, accesses, .. } = sequentializer;
    let FormulaBuilder { constraints, passed, active, .. } = build;
    program.terms = terms;
    if deadlock != FALSE {
        bugs.push(deadlock);
        program.checks.push(deadlock_check(deadlock));
    }
    SequentializedProgram {
        constraints,
        bugs,
        cuts,
        turns,
        passed,
        pending_writes: memory.pending_writes(),
        active,
        blocked,
        used,
        accesses,
        sufficient_rounds: sufficient_rounds(program, options.store_buffers(), alone_from),
        memory_is_exhaustive: memory.is_exhaustive(),
    }
}

fn deadlock_check(fails: Term) -> Check {
    Check {
        thread: 0,
        after: 0,
        fails,
        kind: Some(FindingKind::Deadlock),
        message: String::from("deadlock"),
        place: String::new(),
    }
}

/// The index of the first statement of `main` from which on it runs alone: it joins all other threads there and then
/// continues to the end.
fn main_alone_from(program: &mut UnrolledProgram) -> usize {
    let statements = &program.threads[0].statements;
    let mut joined: FxHashSet<usize> = FxHashSet::default();
    let mut first_join = None;
    for (index, statement) in statements.iter().enumerate() {
        let VisibleAction::Join(threads) = &statement.action else {
            first_join = None;
            continue;
        };
        first_join = first_join.or(Some(index));
        if let &[(thread, TRUE)] = &threads[..]
            && is_implied_by_all(&mut program.terms, statement.guard, &statements[index..])
        {
            joined.insert(thread);
        }
        if joined.len() + 1 == program.threads.len() {
            return first_join.unwrap_or(index);
        }
    }
    statements.len()
}

/// Returns `true` if the guards of all these statements imply `guard`.
fn is_implied_by_all(terms: &mut TermStore, guard: Term, statements: &[VisibleStatement]) -> bool {
    let not = terms.not(guard);
    statements.iter().all(|statement| terms.and(statement.guard, not) == FALSE)
}

/// All terms that guards, actions and checks depend on.
fn used_terms(program: &UnrolledProgram) -> FxHashSet<Term> {
    let mut roots: Vec<Term> = vec![];
    for thread in &program.threads {
        roots.extend([thread.end, thread.left]);
        roots.extend(thread.blocked_forever.iter().map(|blocked| blocked.guard));
        roots.extend(thread.creation.map(|creation| creation.guard));
        for statement in &thread.statements {
            roots.push(statement.guard);
            roots.extend(statement.action.terms());
        }
    }
    roots.extend(program.checks.iter().chain(&program.cuts).map(|check| check.fails));
    let mut seen = FxHashSet::default();
    program.terms.reach(roots, &mut seen);
    seen
}

/// Returns `true` if the term is a variable or a sign-extended variable, as opposed to a value that the thread knows.
pub(crate) fn is_variable(terms: &TermStore, out: Term) -> bool {
    match terms.node(out) {
        TermNode::Sext(inner) => matches!(terms.node(inner), TermNode::Var(_)),
        node => matches!(node, TermNode::Var(_)),
    }
}

/// The unary program counters: `[thread][statement][round]`. Statements that `main` executes alone are not passed
/// before its last turn.
fn program_counters(
    terms: &mut TermStore,
    program: &UnrolledProgram,
    rounds: usize,
    alone_from: usize,
) -> Vec<Vec<Vec<Term>>> {
    let counters = |(thread, body): (usize, &UnrolledThread)| {
        let turns = if thread == 0 { rounds + 1 } else { rounds };
        let mut counter = |statement: usize| {
            let is_postponed =
                |round: usize| thread == 0 && statement >= alone_from && round < rounds;
            (0..turns).map(|round| if is_postponed(round) { FALSE } else { terms.var(1) }).collect()
        };
        (0..body.statements.len()).map(&mut counter).collect()
    };
    program.threads.iter().enumerate().map(counters).collect()
}

/// Requires that a thread passes its statements one after the other, after its creation, and never returns.
fn constrain_program_order(build: &mut FormulaBuilder<'_>, program: &UnrolledProgram) {
    for thread in 0..build.passed.len() {
        for statement in 0..build.passed[thread].len() {
            for round in 0..build.passed[thread][statement].len() {
                let now = build.passed[thread][statement][round];
                if let Some(&later) = build.passed[thread][statement].get(round + 1) {
                    build.imply(now, later);
                }
                let before = passed_before(build, thread, statement, round);
                build.require_active(round, before, now);
                let predecessor = match statement {
                    0 => is_created(build, program, thread, round),
                    _ => build.passed[thread][statement - 1][round],
                };
                build.imply(now, predecessor);
            }
        }
    }
}

/// Whether the thread had passed the statement before the round.
fn passed_before(
    build: &FormulaBuilder<'_>,
    thread: usize,
    statement: usize,
    round: usize,
) -> Term {
    round.checked_sub(1).map_or(FALSE, |round| build.passed[thread][statement][round])
}

/// Whether a thread is created by the end of the round.
fn is_created(
    build: &mut FormulaBuilder<'_>,
    program: &UnrolledProgram,
    thread: usize,
    round: usize,
) -> Term {
    let Some(creation) = program.threads[thread].creation else { return TRUE };
    let reached = has_passed(build, program, creation.parent, creation.after, round);
    build.terms.and(creation.guard, reached)
}

/// Whether a thread has passed its first `count` statements by the end of the round.
fn has_passed(
    build: &mut FormulaBuilder<'_>,
    program: &UnrolledProgram,
    thread: usize,
    count: usize,
    round: usize,
) -> Term {
    match count {
        0 => is_created(build, program, thread, round),
        _ => {
            let rounds = &build.passed[thread][count - 1];
            rounds[round.min(rounds.len() - 1)]
        }
    }
}

/// A number of rounds that suffices for every execution.
///
/// A new round is needed only if a thread with a smaller number continues after one with a greater number. So an
/// execution has at most as many rounds as all threads except the first have statements, or all except the last, plus
/// one. With store buffers a write counts twice: it is executed, and it reaches memory.
fn sufficient_rounds(program: &UnrolledProgram, buffers: StoreBuffers, alone_from: usize) -> usize {
    let weight = |(thread, body): (usize, &UnrolledThread)| {
        let statements =
            if thread == 0 { &body.statements[..alone_from] } else { &body.statements[..] };
        let is_write =
            |statement: &&VisibleStatement| matches!(statement.action, VisibleAction::Write { .. });
        let writes = statements.iter().filter(is_write).count();
        statements.len() + if buffers == StoreBuffers::None { 0 } else { writes }
    };
    let weights: Vec<usize> =
        program.threads.iter().enumerate().map(weight).filter(|&n| n > 0).collect();
    let total: usize = weights.iter().sum();
    let largest_end = weights.first().max(weights.last()).copied().unwrap_or(0);
    1 + total - largest_end
}

struct Sequentializer<'p> {
    program: &'p UnrolledProgram,
    memory: Box<dyn MemoryEncoding>,
    used: FxHashSet<Term>,
    rounds: usize,
    turns: Vec<(ScheduleTurn, Vec<Term>)>,
    blocked: Vec<BlockedPoint>,
    accesses: usize,
}

impl Sequentializer<'_> {
    fn add_turn(&mut self, build: &mut FormulaBuilder<'_>, turn: ScheduleTurn) {
        let ScheduleTurn { round, thread } = turn;
        let mut active = vec![];
        self.memory.begin_turn(build, turn);
        for (index, statement) in self.program.threads[thread].statements.iter().enumerate() {
            let now = build.passed[thread][index][round];
            if now == FALSE {
                break;
            }
            let before = passed_before(build, thread, index, round);
            let not_before = build.terms.not(before);
            let in_turn = build.terms.and(now, not_before);
            let condition = build.terms.and(in_turn, statement.guard);
            active.push(condition);
            self.add_step(build, TurnStep { turn, statement: index, active: condition });
        }
        self.memory.end_turn(build, turn);
        self.turns.push((turn, active));
    }

    fn add_step(&mut self, build: &mut FormulaBuilder<'_>, step: TurnStep) {
        let program = self.program;
        let statement = &program.threads[step.turn.thread].statements[step.statement];
        self.accesses += statement.action.targets().len();
        match &statement.action {
            VisibleAction::Read { at, out } => {
                for &(cell, condition) in at {
                    let value = self.memory.read(build, step, cell);
                    self.constrain_read(build, step, condition, *out, value);
                }
            }
            VisibleAction::Write { at, value, releases } => {
                if *releases {
                    self.memory.store_fence(build, step);
                }
                for &(cell, when) in at {
                    self.memory.write(build, step, CellWrite { cell, when, value: *value });
                }
            }
            VisibleAction::Update { at, out, new, writes, ready } => {
                self.memory.fence(build, step);
                for &(cell, condition) in at {
                    let value = self.memory.read_memory(build, step, cell);
                    if let Some(out) = *out {
                        self.constrain_read(build, step, condition, out, value);
                    }
                    let when = build.terms.and(condition, *writes);
                    self.memory.write_memory(build, step, CellWrite { cell, when, value: *new });
                }
                build.imply(step.active, *ready);
            }
            VisibleAction::Fence => self.memory.fence(build, step),
            VisibleAction::StoreFence => self.memory.store_fence(build, step),
            VisibleAction::Join(threads) => {
                for &(thread, condition) in threads {
                    let has_ended = self.has_ended(build, thread, step.turn);
                    let when = build.terms.and(step.active, condition);
                    build.imply(when, has_ended);
                }
            }
        }
    }

    /// Requires that `out`, the term for what the statement reads, equals the value in memory.
    fn constrain_read(
        &self,
        build: &mut FormulaBuilder<'_>,
        step: TurnStep,
        condition: Term,
        out: Term,
        value: Term,
    ) {
        // A term that is not a variable is a value that only this thread writes.
        if !is_variable(build.terms, out) || !self.used.contains(&out) {
            return;
        }
        let when = build.terms.and(step.active, condition);
        let equal = build.terms.eq(out, value);
        build.imply(when, equal);
    }

    /// Whether a thread has ended, with empty store buffers, before the given turn.
    fn has_ended(
        &mut self,
        build: &mut FormulaBuilder<'_>,
        thread: usize,
        before: ScheduleTurn,
    ) -> Term {
        let body = &self.program.threads[thread];
        let last_round =
            if thread < before.thread { Some(before.round) } else { before.round.checked_sub(1) };
        let Some(round) = last_round else {
            return if body.statements.is_empty() { body.end } else { FALSE };
        };
        let passed = has_passed(build, self.program, thread, body.statements.len(), round);
        let is_drained = self.memory.is_drained(build, ScheduleTurn { round, thread });
        build.terms.all([passed, is_drained, body.end])
    }

    /// Whether `main` is blocked at the end, or has left by `pthread_exit` while another thread is blocked, and every other
    /// thread that was created has ended or is blocked, too.
    fn deadlock(&mut self, build: &mut FormulaBuilder<'_>) -> Term {
        let mut all = self.is_blocked(build, 0);
        let left = self.program.threads[0].left;
        if left != FALSE {
            let end = ScheduleTurn { round: self.rounds + 1, thread: 0 };
            let has_ended = self.has_ended(build, 0, end);
            let others = 1..self.program.threads.len();
            let blocked: Vec<Term> = others.map(|it| self.is_blocked(build, it)).collect();
            let any = build.terms.any(blocked);
            let has_left = build.terms.all([has_ended, left, any]);
            all = build.terms.or(all, has_left);
        }
        for thread in 1..self.program.threads.len() {
            if all == FALSE {
                break;
            }
            let is_created = is_created(build, self.program, thread, self.rounds);
            let is_absent = build.terms.not(is_created);
            let end = ScheduleTurn { round: self.rounds, thread: 0 };
            let has_ended = self.has_ended(build, thread, end);
            let is_blocked = self.is_blocked(build, thread);
            let cannot_continue = build.terms.any([is_absent, has_ended, is_blocked]);
            all = build.terms.and(all, cannot_continue);
        }
        all
    }

    fn last_turn(&self, thread: usize) -> ScheduleTurn {
        ScheduleTurn { round: if thread == 0 { self.rounds } else { self.rounds - 1 }, thread }
    }

    /// Whether a thread is blocked after its last turn, with empty store buffers.
    fn is_blocked(&mut self, build: &mut FormulaBuilder<'_>, thread: usize) -> Term {
        let program = self.program;
        let last = self.last_turn(thread);
        let mut any = FALSE;
        for (index, statement) in program.threads[thread].statements.iter().enumerate() {
            let Some(cannot_execute) = self.cannot_execute(build, &statement.action) else {
                continue;
            };
            let reached = has_passed(build, program, thread, index, last.round);
            let not_passed = build.terms.not(build.passed[thread][index][last.round]);
            let when = build.terms.all([reached, not_passed, statement.guard, cannot_execute]);
            self.blocked.push(BlockedPoint { thread, place: statement.place.clone(), when });
            any = build.terms.or(any, when);
        }
        for BlockedForever { after, guard, place } in &program.threads[thread].blocked_forever {
            let reached = has_passed(build, program, thread, *after, last.round);
            let when = build.terms.and(reached, *guard);
            self.blocked.push(BlockedPoint { thread, place: place.clone(), when });
            any = build.terms.or(any, when);
        }
        let is_drained = self.memory.is_drained(build, last);
        build.terms.and(any, is_drained)
    }

    /// The condition under which a statement that may block cannot be executed at the end of the schedule, when all
    /// buffered writes have reached memory. `None` for statements that never block.
    fn cannot_execute(
        &self,
        build: &mut FormulaBuilder<'_>,
        action: &VisibleAction,
    ) -> Option<Term> {
        let program = self.program;
        match action {
            VisibleAction::Update { at, out: Some(out), ready, .. } if *ready != TRUE => {
                let mut all = build.terms.not(*ready);
                for &(cell, condition) in at {
                    let value = self.memory.final_content(build, cell);
                    let equal = build.terms.eq(*out, value);
                    let is_read = build.terms.implies(condition, equal);
                    all = build.terms.and(all, is_read);
                }
                Some(all)
            }
            VisibleAction::Join(threads) => {
                let mut any = FALSE;
                for &(thread, condition) in threads {
                    // Buffered writes of the thread reach memory eventually: only its statements matter.
                    let body = &program.threads[thread];
                    let count = body.statements.len();
                    let passed = has_passed(build, program, thread, count, self.rounds - 1);
                    let has_ended = build.terms.and(passed, body.end);
                    let is_running = build.terms.not(has_ended);
                    let waits = build.terms.and(condition, is_running);
                    any = build.terms.or(any, waits);
                }
                Some(any)
            }
            _ => None,
        }
    }

    /// For each check, whether it fails in an execution.
    fn failures(&self, build: &mut FormulaBuilder<'_>, checks: &[Check]) -> Vec<Term> {
        let failure = |check: &Check| {
            let round = self.last_turn(check.thread).round;
            let reached = has_passed(build, self.program, check.thread, check.after, round);
            build.terms.and(reached, check.fails)
        };
        checks.iter().map(failure).collect()
    }
}
