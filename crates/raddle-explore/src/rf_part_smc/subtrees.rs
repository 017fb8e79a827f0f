//! Exploring one subtree after the other: going there, and leaving the rest behind when the budget is spent.
//!
//! What the tree looks like depends on which thread is tried first at a node, and that on who is known to write what. So that is
//! learned in the first part of the whole tree, up to a fixed number of leaves, and never after: wherever the tree is cut,
//! and whoever explores which part of it, it is the same tree. Who gets another part explores the first one silently
//! before. (Learning it in every part, from nothing, made the tree depend on where it was cut, so that all had to cut at
//! the same numbers of leaves, whether these were slow or fast, and whether anybody waited. It was not faster.)

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use rustc_hash::FxHasher;

use super::super::Extent;
use super::memo::Ask;
use super::route::Route;
use super::state::{Explorer, INIT, MAIN, Role, Stop, Told};
use super::subtree::{Frame, Pick, Rank, Report, Rest, Seen, Step, Subtree};
use crate::driver::Restart;
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::program::{Answer, End, OpKind, Origin};

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// Explores what there is to explore, one subtree after the other.
    pub(super) fn explore_subtrees(&mut self) -> Result<(), Restart> {
        while let Some((subtree, budget)) = self.outer.next_subtree() {
            let mut ends = None;
            if self.learns && subtree != Subtree::default() {
                ends = self.learn_writers()?;
            }
            if ends.is_none() {
                ends = self.explore_subtree(subtree, budget)?;
            }
            self.learns = false;
            let report = self.report(ends);
            self.outer.explored(report);
        }
        Ok(())
    }

    /// Explores the first part of the tree, which others have seen.
    fn learn_writers(&mut self) -> Result<Option<Extent>, Restart> {
        let (tree, first) = self.outer.first_subtree();
        let visited = std::mem::replace(&mut self.outer.visited, u64::MAX);
        let ends = self.explore_subtree(tree, first);
        self.outer.visited = visited;
        self.learns = false;
        // Nothing of it is reported.
        (self.route, self.classes, self.blocked) = (Route::default(), 0, 0);
        ends
    }

    /// Explores a subtree. Why the exploration as a whole is to end, if it is.
    fn explore_subtree(
        &mut self,
        subtree: Subtree,
        budget: u64,
    ) -> Result<Option<Extent>, Restart> {
        self.route = Route::to(subtree, budget);
        (self.classes, self.blocked, self.leaves) = (0, 0, 0);
        self.hit_limit = self.began_at_limit;
        let mark = self.begin(MAIN);
        self.descend();
        self.take_back(&mark);
        match self.stop.take() {
            Some(Stop::Restart(why)) => Err(why),
            Some(Stop::Extent(extent)) => Ok(Some(extent)),
            Some(Stop::Suspended) | None => Ok(None),
        }
    }

    fn report(&mut self, ends: Option<Extent>) -> Report {
        let Route { matters, mut frames, .. } = std::mem::take(&mut self.route);
        frames.reverse();
        let Self { classes, blocked, hit_limit, .. } = *self;
        let learned = String::new();
        Report { classes, blocked, hit_limit, matters, frames, ends, learned }
    }

    /// Goes on to the subtree, from a node on the way to it.
    #[cold]
    pub(super) fn follow_route(&mut self) {
        if self.outer.probes.is_some() {
            return self.probe_node();
        }
        let at = self.route.done;
        let Some(step) = self.route.path.get(at).cloned() else { return self.try_rest() };
        self.expect(step.seen);
        self.route.done += 1;
        self.route.is_ahead = self.route.done < self.route.path.len() || self.route.rest.is_some();
        let thread = self.with_rank(step.thread);
        let base = self.forbid(&step.tried);
        let start = self.clock;
        match step.pick {
            Pick::Choice(choice) => self.make_choice(thread, choice),
            Pick::Initial { spurious: false } => self.observe(thread, INIT),
            Pick::Initial { spurious: true } => self.fail_spuriously(thread, INIT),
            Pick::Event { history, index, spurious } => {
                let source = self.event_at(history, index);
                match spurious {
                    false => self.observe(thread, source),
                    true => self.fail_spuriously(thread, source),
                }
            }
        }
        let is_read = !matches!(step.pick, Pick::Choice(_));
        self.route.matters[at] = is_read && !self.others_do_not_matter(thread, start, false);
        self.permit(base);
    }

    /// At the node of the subtree: tries the threads that are left.
    fn try_rest(&mut self) {
        self.route.is_ahead = false;
        let Some(Rest { tried, threads, seen }) = self.route.rest.take() else { return };
        self.expect(seen);
        let base = self.forbid(&tried);
        let mut rest = R::default();
        for rank in threads {
            rest.insert(self.with_rank(rank));
        }
        self.try_threads(rest.first(), rest, base);
        self.permit(base);
    }

    /// What the threads have done so far, as far as it does not depend on who explores.
    fn seen(&self) -> Seen {
        let (mut hasher, started) = (FxHasher::default(), self.started());
        for &node in &self.past {
            let thread = self.histories.thread(node).index();
            started.iter().position(|&other| other == thread).hash(&mut hasher);
            self.histories.effects(node).len().hash(&mut hasher);
            let end = self.histories.end(node);
            discriminant(end).hash(&mut hasher);
            if let End::Question(op) = end {
                discriminant(&op.kind).hash(&mut hasher);
            }
        }
        (hasher.finish() >> 32) as Seen
    }

    fn expect(&self, seen: Seen) {
        if self.seen() != seen {
            wrong_way();
        }
    }

    /// Sets the causal maps of threads that were tried before; returns what [`Explorer::permit`] needs.
    fn forbid(&mut self, tried: &[Rank]) -> usize {
        let base = self.floors.len();
        for &rank in tried {
            let thread = self.with_rank(rank);
            self.was_tried(thread);
        }
        base
    }

    /// The threads in the order in which they started.
    fn started(&self) -> Vec<usize> {
        let mut threads = vec![];
        for &node in &self.past {
            let thread = self.histories.thread(node).index();
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        threads
    }

    fn with_rank(&self, rank: Rank) -> usize {
        let thread = self.started().get(rank as usize).copied();
        thread.unwrap_or_else(|| wrong_way())
    }

    fn ranks(&self, threads: impl Iterator<Item = usize>) -> Vec<Rank> {
        let started = self.started();
        let rank = |thread| started.iter().position(|&other| other == thread);
        threads.map(|thread| rank(thread).unwrap_or_else(|| wrong_way()) as Rank).collect()
    }

    /// The write that is this event of the history that was reached so late.
    fn event_at(&self, history: u32, index: u32) -> u32 {
        let Some(&node) = self.past.get(history as usize) else { wrong_way() };
        let origin = Origin { node, index };
        let mut events = self.events.first(self.len).iter();
        let is_it = |event: &super::state::Event| {
            event.origin == origin && matches!(event.role, Role::Write | Role::Update)
        };
        events.position(is_it).unwrap_or_else(|| wrong_way()) as u32
    }

    /// The source as what a subtree knows.
    fn pick(&self, source: u32, spurious: bool) -> Pick {
        if source == INIT {
            return Pick::Initial { spurious };
        }
        let Origin { node, index } = self.events[source as usize].origin;
        let history = self.past.iter().position(|&past| past == node);
        let history = history.unwrap_or_else(|| wrong_way()) as u32;
        Pick::Event { history, index, spurious }
    }

    /// Notes the answer on which the stack goes on.
    #[cold]
    pub(super) fn leave_child(&mut self, source: u32, told: Told) {
        let spurious = matches!(told, Told::Other(Answer::Spurious(_) | Answer::SpuriousFrom(_)));
        self.route.pick = Some(self.pick(source, spurious));
    }

    /// Notes sources that are not tried.
    #[cold]
    pub(super) fn leave_sources(&mut self, thread: usize, sources: R) {
        if !matches!(self.stop, Some(Stop::Suspended)) {
            return;
        }
        for source in sources.iter() {
            let source = source as u32;
            let pick = self.pick(source, false);
            self.route.left.push(pick);
            if self.may_fail(thread, source) {
                self.leave_failure(source);
            }
        }
    }

    /// Notes that a compare-exchange was not tried that fails although it observes what it expects.
    #[cold]
    pub(super) fn leave_failure(&mut self, source: u32) {
        let pick = self.pick(source, true);
        self.route.left.push(pick);
    }

    /// Leaves a choice behind, with the options that were not tried.
    #[cold]
    pub(super) fn leave_choices(&mut self, thread: usize, chosen: u32, options: u32) {
        self.route.left = (chosen + 1..options).map(Pick::Choice).collect();
        self.route.pick = Some(Pick::Choice(chosen));
        let base = self.floors.len();
        self.leave_node(thread, R::default(), base, 0);
    }

    /// How many answers there are for the question of a thread.
    fn answers(&mut self, thread: usize) -> u32 {
        if let OpKind::Choose { options } = self.question(self.threads[thread].node).kind {
            return options;
        }
        let sources = self.candidates(thread);
        u32::from(sources.initial) + sources.writes.count() as u32
    }

    /// Leaves a node behind whose thread was being tried since `start`; `rest` was not tried. What was tried before
    /// is noted from `base` on.
    #[cold]
    pub(super) fn leave_node(&mut self, thread: usize, rest: R, base: usize, start: u64) {
        let tried = self.ranks(self.floors[base..].iter().map(|&(thread, _)| thread as usize));
        let rank = self.ranks(std::iter::once(thread))[0];
        let left = std::mem::take(&mut self.route.left);
        let pick = self.route.pick.take().unwrap_or(Pick::Initial { spurious: false });
        let is_choice = self.threads[thread].ask == Ask::Choose;
        let answers = self.answers(thread);
        let frame = Frame {
            step: Step { tried, thread: rank, pick, seen: self.seen() },
            left,
            answers,
            rest: self.ranks(rest.iter()),
            can_skip: self.threads[thread].floor == 0,
            matters: !is_choice && !self.others_do_not_matter(thread, start, false),
        };
        self.route.frames.push(frame);
    }
}

/// Who follows the way to a subtree comes there, if the program is the same and does the same.
fn wrong_way() -> ! {
    panic!(
        "raddle: internal error: the way to a subtree cannot be followed; either the program differs from the one \
         that it was made for, or this is a bug in Raddle: please report it"
    )
}
