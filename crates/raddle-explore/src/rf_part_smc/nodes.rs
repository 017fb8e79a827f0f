//! The nodes of the search and the loop over them.
//!
//! A node is an execution to which all effects have been added. The nodes from the root to the current one are a stack,
//! each with what is still to be tried there; between two of them is the child that leads from one to the other
//! ([`OpenChild`]). The loop takes the next step of the last node, which either begins a child or ends the node.
//!
//! *Rejected.* A recursive function per node: an execution with 12,000 reads needs more than 8 MB of stack. Chains of
//! forced reads without nodes of their own: the stack is as deep for reads that have a choice.

use super::execution::ThreadAnswer;
use super::node::{NodeKind, OpenChild, SearchNode};
use super::open_classes::OpenAttempt;
use super::round_state::NodeRounds;
use super::state::{PartSearch, SearchStop};
use super::symmetry_state::Pick;
use super::thread_set::ThreadSet;
use crate::event_index::RfSource;
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, RfSources};
use raddle_core::execution::ThreadId;
use raddle_core::program::{Answer, OpKind};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Explores all classes that extend the current execution and obey the causal maps.
    pub(super) fn explore_extensions(&mut self) {
        self.has_forced_steps = true;
        self.descend();
        while let Some(node) = self.nodes.last() {
            match node.kind {
                NodeKind::Threads => self.step_threads(),
                NodeKind::Choice { next, options } => self.step_choice(next, options),
                NodeKind::Route { at, has_child: false } => self.follow_step(at),
                NodeKind::Route { at, has_child: true } => self.end_step(at),
                NodeKind::Probe { has_child: false } => {
                    self.last_node().kind = NodeKind::Probe { has_child: true };
                    self.probe_node();
                }
                NodeKind::Probe { has_child: true } => self.end_node(),
            }
        }
    }

    #[inline]
    pub(super) fn last_node(&mut self) -> &mut SearchNode<R> {
        self.nodes.last_mut().expect("the search is at a node")
    }

    /// Begins the node of the current execution, or counts it if it is maximal.
    #[inline]
    pub(super) fn begin_node(&mut self) {
        if self.route.is_ahead {
            return self.begin_route_node();
        }
        let (enabled, choice) = self.enabled();
        if enabled.is_empty() || !self.continues() {
            return self.leaf();
        }
        if let Some(thread) = choice {
            return self.begin_choice(thread);
        }
        if let Some(first) = self.first_thread(&enabled) {
            self.begin_threads(first, enabled, self.floors.len());
        }
    }

    /// Begins a node at which the first thread is tried, then the rest unless they do not matter. The floors of the
    /// threads that were tried there before are recorded from `base` on, and so are those that are tried now.
    #[inline(always)]
    pub(super) fn begin_threads(&mut self, first: ThreadId, mut rest: ThreadSet<R>, base: usize) {
        if self.is_open() {
            self.open_nodes.push((self.open.forbidden(), OpenAttempt::default()));
        }
        let can_skip = self.thread(first).causal_floor == 0;
        let (left, start) = (self.candidates(first), self.clock);
        let (kind, failure, base) = (NodeKind::Threads, RfSource::NONE, base as u32);
        rest.remove(first);
        let (thread, rounds) = (first, NodeRounds::default());
        self.nodes.push(SearchNode {
            kind,
            thread,
            rest,
            left,
            failure,
            can_skip,
            rounds,
            base,
            start,
        });
        self.begin_open_attempt();
        if self.rounds.has_left_out {
            self.find_tried_races(first);
            self.find_tried_rounds(first);
        }
    }

    /// Begins to try a thread at the last node.
    #[inline]
    fn begin_thread(&mut self, thread: ThreadId) {
        let can_skip = self.thread(thread).causal_floor == 0;
        let (left, start) = (self.candidates(thread), self.clock);
        let node = self.last_node();
        node.rest.remove(thread);
        (node.thread, node.start, node.can_skip, node.left) = (thread, start, can_skip, left);
        node.rounds.left_out = false;
        self.begin_open_attempt();
        if self.rounds.has_left_out {
            self.find_tried_races(thread);
        }
    }

    /// Records that the thread of the last node is tried, if classes are open.
    #[inline]
    fn begin_open_attempt(&mut self) {
        if self.is_open()
            && let Some((_, attempt)) = self.open_nodes.last_mut()
        {
            *attempt = self.open.begin();
        }
    }

    /// Tries sources of the current thread until one of them leads to another node, then other threads.
    #[inline]
    fn step_threads(&mut self) {
        loop {
            if self.try_sources() {
                return;
            }
            if self.stop.is_some() {
                return self.leave_threads();
            }
            let &mut SearchNode { thread, start, can_skip, rounds, .. } = self.last_node();
            let nothing_new = self.is_open() && self.ends_with_nothing_new(thread, start);
            if can_skip && !rounds.left_out && self.others_do_not_matter(thread, start, nothing_new)
            {
                return self.end_node();
            }
            let Some(SearchNode { rest, .. }) = self.nodes.last() else { return };
            let by_value = self.model.observes_by_value();
            let next = if by_value { self.first_thread(rest) } else { rest.first() };
            let Some(next) = next else {
                self.end_stuck_node();
                return self.end_node();
            };
            self.raise_floor(thread);
            self.begin_thread(next);
        }
    }

    /// Ends the attempt to try the thread of the last node.
    fn ends_with_nothing_new(&mut self, thread: ThreadId, start: u64) -> bool {
        let attempt = self.open_nodes.last().map_or_else(OpenAttempt::default, |&(_, it)| it);
        self.open_end(thread, start, &attempt)
    }

    /// Tries the sources that are left for the thread of the last node. Returns `true` as soon as there is a new node.
    #[inline]
    fn try_sources(&mut self) -> bool {
        let depth = self.nodes.len();
        while self.stop.is_none() {
            let node = self.last_node();
            let thread = node.thread;
            let is_spurious = node.failure != RfSource::NONE;
            let source = if is_spurious {
                std::mem::replace(&mut node.failure, RfSource::NONE)
            } else {
                let Some(source) = node.next_source() else { return false };
                if self.model.observes_by_value() && !self.offer_same(thread, source) {
                    continue;
                }
                if self.may_fail_spuriously(thread, source) {
                    self.last_node().failure = source;
                }
                source
            };
            self.observe(thread, source, is_spurious);
            if self.nodes.len() > depth {
                return true;
            }
        }
        false
    }

    /// Offers the model all sources that are left from which the thread learns the same as from this one. Returns
    /// `false` if it must not learn that.
    fn offer_same(&mut self, thread: ThreadId, source: RfSource) -> bool {
        let mut left = self.last_node().left.clone();
        match source.event() {
            None => left.initial = true,
            Some(write) => left.writes.insert(write),
        }
        let location = self.thread(thread).target.location();
        let good = self.same_among(location, source, &left);
        let rest = RfSources {
            writes: left.writes.minus(&good.writes),
            initial: left.initial && !good.initial,
        };
        self.last_node().left = rest;
        if self.is_open() && self.is_forbidden(thread, source) {
            return false;
        }
        self.model.offer_sources(self.next_event(), good);
        true
    }

    /// Ends the last node, and with it the child that led there.
    #[inline]
    fn end_node(&mut self) {
        let Some(SearchNode { kind, base, .. }) = self.nodes.pop() else { return };
        self.restore_floors(base as usize);
        if self.is_open()
            && kind == NodeKind::Threads
            && let Some((forbidden, _)) = self.open_nodes.pop()
        {
            self.open.restore_forbidden(forbidden);
        }
        if self.depth > 0 {
            self.end_child();
        }
    }

    /// Ends the last node, whose thread is being tried, because the search stops.
    #[cold]
    fn leave_threads(&mut self) {
        if matches!(self.stop, Some(SearchStop::Suspended)) {
            let SearchNode { thread, rest, base, start, left, failure, .. } =
                self.last_node().clone();
            if failure != RfSource::NONE {
                self.leave_failure(failure);
            }
            self.leave_sources(thread, &left);
            self.leave_node(thread, &rest, base as usize, start);
        }
        self.end_node();
    }

    /// Explores what follows an answer, which was given since the last child was begun.
    #[inline(always)]
    pub(super) fn explore_child(&mut self) {
        let nodes = self.nodes.len();
        self.descend();
        if self.nodes.len() == nodes {
            self.end_child();
        }
    }

    /// Undoes the last child.
    #[inline]
    pub(super) fn end_child(&mut self) {
        self.undo_child();
        self.model.pop();
        self.depth -= 1;
        if self.is_open() || self.stop.is_some() {
            self.note_end_of_child();
        }
    }

    #[cold]
    fn note_end_of_child(&mut self) {
        let OpenChild { source, is_spurious, .. } = self.children[self.depth];
        if source == RfSource::NONE {
            return;
        }
        if self.is_open() {
            self.open.note_return();
        }
        if matches!(self.stop, Some(SearchStop::Suspended)) {
            self.leave_child(source, is_spurious);
        }
    }

    /// Begins a node at which a thread makes a choice.
    fn begin_choice(&mut self, thread: ThreadId) {
        let OpKind::Choose { options } = self.question(self.thread(thread).history).kind else {
            unreachable!("the pending op is a choice")
        };
        self.push_node(NodeKind::Choice { next: 0, options }, thread);
    }

    fn push_node(&mut self, kind: NodeKind, thread: ThreadId) {
        self.nodes.push(SearchNode::new(kind, thread, self.floors.len()));
    }

    /// Tries the next option of a choice.
    fn step_choice(&mut self, next: u32, options: u32) {
        let thread = self.last_node().thread;
        if self.stop.is_none() && next < options {
            self.last_node().kind = NodeKind::Choice { next: next + 1, options };
            return self.make_choice(thread, next);
        }
        if matches!(self.stop, Some(SearchStop::Suspended)) {
            self.leave_choices(thread, next - 1, options);
        }
        self.end_node();
    }

    /// Explores everything that follows one option of a choice.
    pub(super) fn make_choice(&mut self, thread: ThreadId, choice: u32) {
        let history = self.thread(thread).history;
        self.begin_child(thread, RfSource::NONE, false);
        self.model.push_level(thread);
        self.follow(thread, history, ThreadAnswer::Full(Answer::Choice(choice)));
        if self.symmetry.is_active && self.is_renamed(Pick::Choice { thread, option: choice }) {
            return self.end_child();
        }
        self.explore_child();
    }

    /// Begins a node on the path to a subtree, or on the way of a probe.
    #[cold]
    fn begin_route_node(&mut self) {
        let main = ThreadId::new(0);
        if self.exploration.probes.is_some() {
            return self.push_node(NodeKind::Probe { has_child: false }, main);
        }
        let at = self.route.done;
        if at < self.route.path.len() {
            self.push_node(NodeKind::Route { at: at as u32, has_child: false }, main);
        } else {
            self.begin_remaining_threads();
        }
    }

    /// Takes a step of the path to a subtree.
    fn follow_step(&mut self, at: u32) {
        let start = self.clock;
        let (thread, floors) = self.prepare_step(at as usize);
        let node = self.last_node();
        node.kind = NodeKind::Route { at, has_child: true };
        (node.thread, node.start, node.base) = (thread, start, floors as u32);
        self.take_step(at as usize, thread);
    }

    /// Ends the node after a step of the path to a subtree.
    fn end_step(&mut self, at: u32) {
        let &mut SearchNode { thread, start, .. } = self.last_node();
        self.note_step(at as usize, thread, start);
        self.end_node();
    }
}
