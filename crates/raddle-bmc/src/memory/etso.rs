//! eTSO-SMA and PSO-SMA: for every variable a list of its writes, with time stamps.
//!
//! Tomasco et al., FMCAD 2016. There is a clock, which may go on at any access. A write guesses the time at which it
//! reaches memory, and goes to its place in the list of its variable; until then only its own thread sees it. Memory
//! is not kept at all: it is what the last write has written whose time has come. The lists are circular and doubly
//! linked (T-CDLL): nodes whose time has come are used again, the oldest first, and a sentinel with the greatest time
//! stamp separates the newest from the oldest. Under TSO a thread's time stamps never decrease, under PSO those of each
//! variable.
//!
//! The slides have slips, which were put right: the node that is written is `node` (they have the thread's number
//! there), and under PSO, too, the successor is one whose time has not come.
//!
//! An access costs selections from the nodes of one list and comparisons of time stamps, whatever waits elsewhere; a
//! longer delay (`K`) costs a bit of a time stamp only. Executions that need more nodes or time are left out.

use super::array::{Array, at_most, bits};
use super::{Builder, Memory, Step, Turn};
use crate::options::Model;
use crate::program::{Action, CellId, Program};
use crate::term::{Op, Term};

/// The writes of a variable. The last node is the sentinel.
struct List {
    value: Array,
    stamp: Array,
    previous: Array,
    next: Array,
    /// What each thread wrote last, and when that reaches memory.
    last: Vec<(Term, Term)>,
}

/// Memory with lists.
pub(crate) struct Etso {
    model: Model,
    nodes: usize,
    max_time: usize,
    node_bits: u8,
    stamp_bits: u8,
    clock: Term,
    lists: Vec<List>,
    /// For every thread: its greatest time stamp, and what later ones must not be less than.
    greatest: Vec<Term>,
    floor: Vec<Term>,
    is_exhaustive: bool,
}

impl Etso {
    pub(crate) fn new(
        program: &Program,
        model: Model,
        (nodes, max_time): (usize, usize),
        build: &mut Builder<'_>,
    ) -> Self {
        // One node holds what is in memory, and one must be free for the next write.
        let nodes = nodes.max(2);
        let (node_bits, stamp_bits) = (bits(nodes), bits(max_time + 1));
        let threads = program.threads.len();
        let zero = build.terms.constant(0, stamp_bits);
        let mut memory = Etso {
            model,
            nodes,
            max_time,
            node_bits,
            stamp_bits,
            clock: zero,
            lists: vec![],
            greatest: vec![zero; threads],
            floor: vec![zero; threads],
            is_exhaustive: is_exhaustive(program, nodes, max_time),
        };
        for cell in &program.cells {
            let list = memory.list(build, cell.initial, threads);
            memory.lists.push(list);
        }
        memory
    }

    /// A list in which the newest node holds what memory starts with.
    fn list(&self, build: &mut Builder<'_>, initial: Term, threads: usize) -> List {
        let Etso { nodes, node_bits, stamp_bits, .. } = *self;
        let mut node = |i: usize| build.terms.constant(i as u64, node_bits);
        let next = (0..=nodes).map(|i| node((i + 1) % (nodes + 1))).collect();
        let previous = (0..=nodes).map(|i| node((i + nodes) % (nodes + 1))).collect();
        let zero = build.terms.constant(0, stamp_bits);
        let end = build.terms.constant(self.max_time as u64 + 1, stamp_bits);
        let stamp = (0..=nodes).map(|i| if i < nodes { zero } else { end }).collect();
        List {
            value: Array(vec![initial; nodes + 1]),
            stamp: Array(stamp),
            previous: Array(previous),
            next: Array(next),
            last: vec![(initial, zero); threads],
        }
    }

    /// Time may go on.
    fn tick(&mut self, build: &mut Builder<'_>) {
        let later = build.terms.var(self.stamp_bits);
        let most = build.terms.constant(self.max_time as u64, self.stamp_bits);
        let forward = at_most(build.terms, self.clock, later);
        let within = at_most(build.terms, later, most);
        build.require(forward);
        build.require(within);
        self.clock = later;
    }

    /// What is in memory: the value of a node whose time has come, and of whose successor it has not.
    fn memory(&self, build: &mut Builder<'_>, active: Term, cell: CellId) -> Term {
        let list = &self.lists[cell];
        let node = build.terms.var(self.node_bits);
        let stamp = list.stamp.get(build.terms, node);
        let next = list.next.get(build.terms, node);
        let next_stamp = list.stamp.get(build.terms, next);
        let come = at_most(build.terms, stamp, self.clock);
        let not_come = build.terms.binary(Op::Ult, self.clock, next_stamp);
        let most = build.terms.constant(self.nodes as u64, self.node_bits);
        let is_node = build.terms.binary(Op::Ult, node, most);
        let right = build.terms.all([come, not_come, is_node]);
        build.imply(active, right);
        list.value.get(build.terms, node)
    }

    /// Puts a write into its list, if this is true; the function says which time stamps it may have.
    fn insert(
        &mut self,
        build: &mut Builder<'_>,
        thread: usize,
        cell: CellId,
        now: Term,
        value: Term,
        at_once: bool,
    ) {
        let (clock, floor) = (self.clock, self.floor[thread]);
        let List { value: values, stamp: stamps, previous, next, last } = &mut self.lists[cell];
        let sentinel = build.terms.constant(self.nodes as u64, self.node_bits);
        // The oldest node, which is not the newest whose time has come.
        let node = next.get(build.terms, sentinel);
        let second = next.get(build.terms, node);
        let second_stamp = stamps.get(build.terms, second);
        let is_free = at_most(build.terms, second_stamp, clock);
        build.imply(now, is_free);
        next.set(build.terms, sentinel, now, second);
        previous.set(build.terms, second, now, sentinel);
        // Its place: before a node whose time has not come.
        let after = build.terms.var(self.node_bits);
        let after_stamp = stamps.get(build.terms, after);
        let before = previous.get(build.terms, after);
        let before_stamp = stamps.get(build.terms, before);
        let stamp = if at_once { clock } else { build.terms.var(self.stamp_bits) };
        let least = match self.model {
            Model::Pso => last[thread].1,
            _ => self.greatest[thread],
        };
        let conditions = [
            at_most(build.terms, after, sentinel),
            build.terms.binary(Op::Ult, clock, after_stamp),
            at_most(build.terms, clock, stamp),
            at_most(build.terms, least, stamp),
            at_most(build.terms, floor, stamp),
            at_most(build.terms, before_stamp, stamp),
            build.terms.binary(Op::Ult, stamp, after_stamp),
        ];
        let right = build.terms.all(conditions);
        build.imply(now, right);
        values.set(build.terms, node, now, value);
        stamps.set(build.terms, node, now, stamp);
        next.set(build.terms, before, now, node);
        previous.set(build.terms, node, now, before);
        next.set(build.terms, node, now, after);
        previous.set(build.terms, after, now, node);
        let (last_value, last_stamp) = last[thread];
        last[thread] =
            (build.terms.ite(now, value, last_value), build.terms.ite(now, stamp, last_stamp));
        let greatest = self.greatest[thread];
        let grows = build.terms.binary(Op::Ult, greatest, stamp);
        let grows = build.terms.and(now, grows);
        self.greatest[thread] = build.terms.ite(grows, stamp, greatest);
    }
}

/// Whether there are nodes and time for all writes.
fn is_exhaustive(program: &Program, nodes: usize, max_time: usize) -> bool {
    let writes = |event: &&crate::program::Event| {
        matches!(event.action, Action::Write { .. } | Action::Update { .. })
    };
    let events = || program.threads.iter().flat_map(|thread| &thread.events).filter(writes);
    let to = |cell: CellId| {
        events().filter(|event| event.action.targets().iter().any(|&(at, _)| at == cell)).count()
    };
    let most = (0..program.cells.len()).map(to).max().unwrap_or(0);
    most < nodes && events().count() <= max_time
}

impl Memory for Etso {
    fn begin(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn end(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn read(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId) -> Term {
        self.tick(build);
        let memory = self.memory(build, step.active, cell);
        let (value, stamp) = self.lists[cell].last[step.turn.thread];
        let waits = build.terms.binary(Op::Ult, self.clock, stamp);
        build.terms.ite(waits, value, memory)
    }

    fn write(
        &mut self,
        build: &mut Builder<'_>,
        step: Step,
        cell: CellId,
        when: Term,
        value: Term,
    ) {
        self.tick(build);
        let now = build.terms.and(step.active, when);
        self.insert(build, step.turn.thread, cell, now, value, false);
    }

    fn fence(&mut self, build: &mut Builder<'_>, step: Step) {
        self.tick(build);
        let come = at_most(build.terms, self.greatest[step.turn.thread], self.clock);
        build.imply(step.active, come);
    }

    fn store_fence(&mut self, build: &mut Builder<'_>, step: Step) {
        let thread = step.turn.thread;
        self.floor[thread] =
            build.terms.ite(step.active, self.greatest[thread], self.floor[thread]);
    }

    fn fetch(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId) -> Term {
        self.memory(build, step.active, cell)
    }

    fn put(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId, when: Term, value: Term) {
        let now = build.terms.and(step.active, when);
        self.insert(build, step.turn.thread, cell, now, value, true);
    }

    fn drained(&mut self, build: &mut Builder<'_>, turn: Turn) -> Term {
        self.tick(build);
        at_most(build.terms, self.greatest[turn.thread], self.clock)
    }

    fn is_exhaustive(&self) -> bool {
        self.is_exhaustive
    }
}
