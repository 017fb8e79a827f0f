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
//! *Cost.* The paper calls `read` and `write` constant: they have no loops. TSO-SMA looks through the whole buffer of the
//! thread, so its formula is proportional to how many writes may wait there. Here nothing bounds how many writes of a thread
//! wait: an access looks into the list of its variable only, whatever waits elsewhere (`corpus/bmc/spread.c`: the same formula
//! for any bound). The two bounds that there are cost the following, as `cargo bench -p raddle-bmc -- sizes` shows.
//!
//! - `K`, the greatest time stamp, is how many writes can reach memory one after the other. When it doubles, every stamp
//!   gets a bit: a constant for each access. More than there are writes cost nothing.
//! - `N`, the nodes of a list, is how many writes to *one* variable wait, and one. In C an element of an array is one
//!   expression; in clauses it is a selection among all nodes, as the index is known to the solver only, and no circuit
//!   selects from `N` values without a gate for each. So `N` costs every access to the variable a constant for each node, up
//!   to as many nodes as the variable has writes, and one: from there on nothing. To the back end of the paper it is the same.
//!   Its experiments have `N` of 2 or 3.
//!
//! Rejected: what an array holds as a chain of its updates (the cost is the number of writes so far, not `N`, which is
//! more), and lemmas on demand (Brummayer, Biere, 2009), whose first formula does not depend on `N` but needs one for each read and
//! update in the end. What does get rid of `N` and `K` is to let each write have the round in which it reaches
//! memory: that is `stamps`.
//!
//! Executions that need more nodes or time are left out.

use super::array::{Array, at_most, bits};
use super::{Builder, Memory, Step, Turn};
use crate::options::Model;
use crate::program::{Action, CellId, Event, Program};
use crate::term::{BinaryOp, Term};

/// The writes of a variable. The last node is the sentinel.
struct List {
    nodes: usize,
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
    max_time: usize,
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
        // More time than there are writes is of no use, nor are more nodes than those to the variable, and what is there.
        let max_time = max_time.min(writes(program, None)).max(1);
        let stamp_bits = bits(max_time + 1);
        let threads = program.threads.len();
        let zero = build.terms.constant(0, stamp_bits);
        let mut memory = Etso {
            model,
            max_time,
            stamp_bits,
            clock: zero,
            lists: vec![],
            greatest: vec![zero; threads],
            floor: vec![zero; threads],
            is_exhaustive: max_time >= writes(program, None),
        };
        for (id, cell) in program.cells.iter().enumerate() {
            let enough = writes(program, Some(id)) + 1;
            memory.is_exhaustive &= nodes >= enough;
            // One node holds what is in memory, and one must be free for the next write.
            let list = memory.list(build, nodes.min(enough).max(2), cell.initial, threads);
            memory.lists.push(list);
        }
        memory
    }

    /// A list in which the newest node holds what memory starts with.
    fn list(&self, build: &mut Builder<'_>, nodes: usize, initial: Term, threads: usize) -> List {
        let node_bits = bits(nodes);
        let mut node = |i: usize| build.terms.constant(i as u64, node_bits);
        let next = (0..=nodes).map(|i| node((i + 1) % (nodes + 1))).collect();
        let previous = (0..=nodes).map(|i| node((i + nodes) % (nodes + 1))).collect();
        let zero = build.terms.constant(0, self.stamp_bits);
        let end = build.terms.constant(self.max_time as u64 + 1, self.stamp_bits);
        let stamp = (0..=nodes).map(|i| if i < nodes { zero } else { end }).collect();
        List {
            nodes,
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
        let node = build.terms.var(bits(list.nodes));
        let stamp = list.stamp.get(build.terms, node);
        let next = list.next.get(build.terms, node);
        let next_stamp = list.stamp.get(build.terms, next);
        let come = at_most(build.terms, stamp, self.clock);
        let not_come = build.terms.binary(BinaryOp::Ult, self.clock, next_stamp);
        let most = build.terms.constant(list.nodes as u64, bits(list.nodes));
        let is_node = build.terms.binary(BinaryOp::Ult, node, most);
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
        let List { nodes, value: values, stamp: stamps, previous, next, last } =
            &mut self.lists[cell];
        let node_bits = bits(*nodes);
        let sentinel = build.terms.constant(*nodes as u64, node_bits);
        // The oldest node, which is not the newest whose time has come.
        let node = next.get(build.terms, sentinel);
        let second = next.get(build.terms, node);
        let second_stamp = stamps.get(build.terms, second);
        let is_free = at_most(build.terms, second_stamp, clock);
        build.imply(now, is_free);
        next.set(build.terms, sentinel, now, second);
        previous.set(build.terms, second, now, sentinel);
        // Its place: before a node whose time has not come.
        let after = build.terms.var(node_bits);
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
            build.terms.binary(BinaryOp::Ult, clock, after_stamp),
            at_most(build.terms, clock, stamp),
            at_most(build.terms, least, stamp),
            at_most(build.terms, floor, stamp),
            at_most(build.terms, before_stamp, stamp),
            build.terms.binary(BinaryOp::Ult, stamp, after_stamp),
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
        let grows = build.terms.binary(BinaryOp::Ult, greatest, stamp);
        let grows = build.terms.and(now, grows);
        self.greatest[thread] = build.terms.ite(grows, stamp, greatest);
    }
}

/// How many statements write a cell, or any.
fn writes(program: &Program, cell: Option<CellId>) -> usize {
    let is_write = |event: &&Event| {
        let to_it =
            event.action.targets().iter().any(|&(at, _)| cell.is_none_or(|cell| at == cell));
        to_it && matches!(event.action, Action::Write { .. } | Action::Update { .. })
    };
    program.threads.iter().flat_map(|thread| &thread.events).filter(is_write).count()
}

impl Memory for Etso {
    fn begin(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn end(&mut self, _: &mut Builder<'_>, _: Turn) {}

    fn read(&mut self, build: &mut Builder<'_>, step: Step, cell: CellId) -> Term {
        self.tick(build);
        let memory = self.memory(build, step.active, cell);
        let (value, stamp) = self.lists[cell].last[step.turn.thread];
        let waits = build.terms.binary(BinaryOp::Ult, self.clock, stamp);
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
