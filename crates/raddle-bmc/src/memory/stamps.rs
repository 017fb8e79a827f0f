//! TSO and PSO with a round for every write: the one in which it reaches memory.
//!
//! A buffer is a queue of writes, and a queue of statements that are known is no data structure: whether a write has
//! left it by the end of a round is one truth value. For TSO they are ordered as the writes of the thread are, for PSO as
//! those to the same cell. This is the time stamp of eTSO-SMA (Tomasco et al., FMCAD 2016), with rounds as the clock;
//! there are no lists, and nothing bounds how many writes wait.
//!
//! Writes reach memory at the end of a turn, or at a fence. Nobody else can tell the difference to any other time in the
//! turn, and the thread itself reads what waits. A write costs one multiplexer in each round, a read two.

use super::cells::Cells;
use super::{Builder, Memory, Step, Turn};
use crate::options::Model;
use crate::program::{Action, CellId, Program, Targets};
use crate::term::{FALSE, TRUE, Term};

/// A write, and when it reaches memory.
struct Write {
    event: usize,
    guard: Term,
    at: Targets,
    value: Term,
    /// For every round, whether it has reached memory at the end of the thread's turn.
    left: Vec<Term>,
    /// Whether a fence in this turn has brought it there.
    early: Term,
}

/// A fence.
#[derive(Clone, Copy)]
struct Fence {
    event: usize,
    guard: Term,
    is_full: bool,
}

/// Memory with stamps.
pub(crate) struct Stamps {
    cells: Cells,
    /// Of every thread.
    writes: Vec<Vec<Write>>,
    fences: Vec<Vec<Fence>>,
    /// What the thread whose turn it is wrote last to each cell, and whether it waits.
    own: Vec<Option<(Term, Term)>>,
}

impl Stamps {
    pub(crate) fn new(program: &Program, model: Model, build: &mut Builder<'_>) -> Self {
        let cells = Cells::new(program);
        let mut memory =
            Stamps { own: vec![None; cells.len()], cells, writes: vec![], fences: vec![] };
        for (thread, body) in program.threads.iter().enumerate() {
            let (mut writes, mut fences) = (vec![], vec![]);
            for (event, statement) in body.events.iter().enumerate() {
                let guard = statement.guard;
                match &statement.action {
                    Action::Write { at, value, releases } => {
                        if *releases {
                            fences.push(Fence { event, guard, is_full: false });
                        }
                        let left = build.done[thread][event]
                            .clone()
                            .into_iter()
                            .map(|done| if done == FALSE { FALSE } else { build.terms.var(1) })
                            .collect();
                        let at = at.clone();
                        writes.push(Write { event, guard, at, value: *value, left, early: FALSE });
                    }
                    Action::StoreFence => fences.push(Fence { event, guard, is_full: false }),
                    Action::Update { .. } | Action::Fence => {
                        fences.push(Fence { event, guard, is_full: true });
                    }
                    Action::Read { .. } | Action::Join(_) => {}
                }
            }
            order(build, thread, &writes, &fences, model);
            memory.writes.push(writes);
            memory.fences.push(fences);
        }
        memory
    }

    /// Brings a write to memory if this is true.
    fn apply(&mut self, build: &mut Builder<'_>, thread: usize, write: usize, when: Term) {
        let Write { guard, at, value, .. } = &self.writes[thread][write];
        let when = build.terms.and(when, *guard);
        for &(cell, condition) in at {
            let now = build.terms.and(when, condition);
            self.cells.set(build.terms, cell, now, *value);
        }
    }

    /// Whether a write reaches memory in this turn.
    fn leaves(&self, build: &mut Builder<'_>, turn: Turn, write: usize) -> Term {
        let Write { left, early, .. } = &self.writes[turn.thread][write];
        let before = before(left, turn.round);
        let not = build.terms.or(before, *early);
        let not = build.terms.not(not);
        build.terms.and(left[turn.round], not)
    }

    /// Whether every write before this event has certainly left at an earlier fence, if it is executed.
    fn first_waiting(
        &self,
        build: &mut Builder<'_>,
        thread: usize,
        event: usize,
        guard: Term,
    ) -> usize {
        let mut earlier =
            self.fences[thread].iter().rev().filter(|fence| fence.is_full && fence.event < event);
        let covers = |fence: &&Fence| {
            let not = build.terms.not(fence.guard);
            build.terms.and(guard, not) == FALSE
        };
        let last = earlier.find(covers).map_or(0, |fence| fence.event);
        self.writes[thread].partition_point(|write| write.event < last)
    }
}

/// Whether a write had left before the round.
fn before(left: &[Term], round: usize) -> Term {
    round.checked_sub(1).map_or(FALSE, |round| left[round])
}

/// In which order writes reach memory.
fn order(build: &mut Builder<'_>, thread: usize, writes: &[Write], fences: &[Fence], model: Model) {
    for (j, write) in writes.iter().enumerate() {
        for round in 0..write.left.len() {
            let done = build.done[thread][write.event][round];
            build.imply(write.left[round], done);
            build.imply(before(&write.left, round), write.left[round]);
            build.happens(round, before(&write.left, round), write.left[round]);
        }
        if model == Model::Tso {
            if let Some(earlier) = j.checked_sub(1).map(|i| &writes[i]) {
                follow(build, earlier, write, TRUE);
            }
            continue;
        }
        for earlier in &writes[..j] {
            let when = reason(build, earlier, write, fences);
            follow(build, earlier, write, when);
        }
    }
}

/// The second write does not reach memory before the first, if this is true.
fn follow(build: &mut Builder<'_>, first: &Write, second: &Write, when: Term) {
    if when == FALSE {
        return;
    }
    for round in 0..second.left.len() {
        let both = build.terms.and(when, second.left[round]);
        build.imply(both, first.left[round]);
    }
}

/// When two writes are ordered under PSO: they are to the same cell, or a fence is between them.
fn reason(build: &mut Builder<'_>, first: &Write, second: &Write, fences: &[Fence]) -> Term {
    let mut any = FALSE;
    for &(cell, a) in &first.at {
        for &(_, b) in second.at.iter().filter(|other| other.0 == cell) {
            let same = build.terms.and(a, b);
            any = build.terms.or(any, same);
        }
    }
    let between = |fence: &&Fence| first.event < fence.event && fence.event <= second.event;
    for fence in fences.iter().filter(between).filter(|fence| !fence.is_full) {
        any = build.terms.or(any, fence.guard);
    }
    any
}

impl Memory for Stamps {
    fn begin(&mut self, _: &mut Builder<'_>, turn: Turn) {
        self.own.fill(None);
        for write in &mut self.writes[turn.thread] {
            write.early = FALSE;
        }
    }

    fn end(&mut self, build: &mut Builder<'_>, turn: Turn) {
        for write in 0..self.writes[turn.thread].len() {
            let leaves = self.leaves(build, turn, write);
            self.apply(build, turn.thread, write, leaves);
        }
    }

    fn read(&mut self, build: &mut Builder<'_>, _: Step, cell: CellId) -> Term {
        match self.own[cell] {
            Some((value, waits)) => build.terms.ite(waits, value, self.cells.get(cell)),
            None => self.cells.get(cell),
        }
    }

    fn write(
        &mut self,
        build: &mut Builder<'_>,
        step: Step,
        cell: CellId,
        when: Term,
        value: Term,
    ) {
        let Turn { round, thread } = step.turn;
        let writes = &self.writes[thread];
        let write = &writes[writes.partition_point(|write| write.event < step.event)];
        let when = build.terms.and(write.guard, when);
        let left = before(&write.left, round);
        let waits = build.terms.not(left);
        self.own[cell] = Some(match self.own[cell] {
            Some((old, waited)) => {
                (build.terms.ite(when, value, old), build.terms.ite(when, waits, waited))
            }
            None => (value, build.terms.and(when, waits)),
        });
    }

    fn fence(&mut self, build: &mut Builder<'_>, step: Step) {
        let Turn { round, thread } = step.turn;
        let guard = self.fences[thread].iter().find(|fence| fence.event == step.event);
        let guard = guard.map_or(TRUE, |fence| fence.guard);
        let first = self.first_waiting(build, thread, step.event, guard);
        let last = self.writes[thread].partition_point(|write| write.event < step.event);
        for write in first..last {
            let leaves = self.leaves(build, step.turn, write);
            build.imply(step.active, self.writes[thread][write].left[round]);
            let now = build.terms.and(step.active, leaves);
            self.apply(build, thread, write, now);
            let early = self.writes[thread][write].early;
            self.writes[thread][write].early = build.terms.or(early, step.active);
        }
        let not = build.terms.not(step.active);
        for (_, waits) in self.own.iter_mut().flatten() {
            *waits = build.terms.and(*waits, not);
        }
    }

    fn store_fence(&mut self, _: &mut Builder<'_>, _: Step) {}

    fn fetch(&mut self, _: &mut Builder<'_>, _: Step, cell: CellId) -> Term {
        self.cells.get(cell)
    }

    fn put(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId, when: Term, value: Term) {
        self.cells.put(build, step, cell, when, value);
    }

    fn drained(&mut self, build: &mut Builder<'_>, Turn { round, thread }: Turn) -> Term {
        let mut all = TRUE;
        for write in &self.writes[thread] {
            let not = build.terms.not(build.done[thread][write.event][round]);
            let gone = build.terms.or(write.left[round], not);
            all = build.terms.and(all, gone);
        }
        all
    }

    fn left(&self) -> Vec<(usize, usize, Vec<Term>)> {
        let of = |(thread, writes): (usize, &Vec<Write>)| {
            writes
                .iter()
                .map(move |write| (thread, write.event, write.left.clone()))
                .collect::<Vec<_>>()
        };
        self.writes.iter().enumerate().flat_map(of).collect()
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}
