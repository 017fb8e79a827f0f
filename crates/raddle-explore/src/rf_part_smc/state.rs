//! The execution that the search extends and shrinks.

use std::time::Instant;

use super::PartExploration;
use super::corresponding_histories::CorrespondingHistories;
use super::execution::{
    EventRole, SearchEvent, SearchLocation, SearchThread, SearchUndo, ThreadAnswer,
};
use super::history_cache::{
    CompactEffect, HistoryCache, HistoryEdge, PendingKind, PendingTarget, SegmentInfo, ValueId,
};
use super::node::{OpenChild, SearchNode};
use super::open_classes::{OpenAttempt, OpenClasses};
use super::quiet_state::QuietState;
use super::quiet_table::QuietWrite;
use super::round_state::RoundState;
use super::route::Route;
use super::run_table::{KnownValues, RunTable};
use super::stamps::Stamp;
use super::symmetry_state::SymmetryState;
use super::thread_set::ThreadSet;
use crate::driver::{Restart, TableSizes};
use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::facts::{EventBound, MOST_CUT_EXECUTIONS, MOST_ROUNDS, NewFact};
use crate::model::{IncrementalModel, NewStore, NewUnlock};
use crate::{CutLimit, CutThread, Extent, Summary};
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::orders::{StoreBuffers, StoreEffect};
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Op, OpKind, Origin, PlaceId,
};
use rustc_hash::FxHashMap;

/// RF-partSMC over event sets `R` and the incremental model `M`.
///
/// Other files of this module extend it: `nodes.rs` and `search.rs` the search, `cells.rs` memory that no op carries and races,
/// `leaf.rs` maximal executions, `by_value.rs` and `open.rs` reads that observe sets of writes, `subtrees.rs` and
/// `probe.rs` other ways through the tree.
pub(super) struct PartSearch<'s, 'a, R: EventSet, M> {
    pub(super) exploration: &'s mut PartExploration<'a>,
    pub(super) histories: LocalHistories,
    pub(super) cache: HistoryCache,
    pub(super) runs: RunTable,
    pub(super) model: M,
    pub(super) threads: Vec<SearchThread>,
    pub(super) locations: Vec<SearchLocation<R>>,
    /// How many of the locations have their initial values.
    known_locations: usize,
    pub(super) events: R::Map<SearchEvent>,
    /// The number of events.
    pub(super) len: usize,
    /// Writes that an update has read.
    pub(super) taken: R,
    /// Threads with a pending op.
    pub(super) waiting: ThreadSet<R>,
    /// Those of them whose op [is special](PendingKind::is_special).
    pub(super) special: ThreadSet<R>,
    /// Whether a thread has ended or begun to wait for a join or a cell since the last forced step: otherwise there is
    /// none.
    pub(super) has_forced_steps: bool,
    /// Threads that were joined.
    pub(super) joined: ThreadSet<R>,
    /// How many threads ended without finishing.
    pub(super) unfinished: u32,
    /// The histories of the execution in the order in which they were reached.
    pub(super) past: Vec<HistoryId>,
    /// For each history of `past`: how many events there were before it.
    pub(super) first_events: Vec<u32>,
    pub(super) undo: Vec<SearchUndo>,
    /// The nodes from the root to the current one.
    pub(super) nodes: Vec<SearchNode<R>>,
    /// By node at which threads are tried, if classes are open: how many values were forbidden before, and the attempt
    /// to try its thread.
    pub(super) open_nodes: Vec<(usize, OpenAttempt)>,
    /// The children that lead from each of them to the next, and after the first `depth` older ones.
    pub(super) children: Vec<OpenChild<R>>,
    /// The number of children.
    pub(super) depth: usize,
    /// The earlier causal floors, of all nodes on the stack.
    pub(super) floors: Vec<(ThreadId, u32)>,
    pub(super) open: OpenClasses,
    pub(super) quiet: QuietState<R>,
    /// What a thread knows at the end of the run that was made last.
    pub(super) last_known: Option<(HistoryId, KnownValues)>,
    /// Logical time of stamps.
    pub(super) clock: u64,
    /// When a subtree was last left unexplored, so that its stamps are incomplete.
    pub(super) unexplored: u64,
    /// Whether there ever was an access that may race.
    pub(super) has_plain: bool,
    /// Two racing events of the current execution, which ends with them.
    pub(super) race: Option<(EventIndex, EventIndex)>,
    /// The first two racing events of the current execution, if it continues nevertheless.
    pub(super) survived_race: Option<(EventIndex, EventIndex)>,
    pub(super) survives_races: bool,
    /// How many events an execution may have.
    bound: EventBound,
    /// The number of ops up to which no bound is exceeded.
    unbounded_ops: u32,
    /// The number of ops that were performed, accesses of quiet locations included.
    pub(super) ops: u32,
    /// A thread of the current execution that was stopped because there were too many.
    pub(super) cut: Option<ThreadId>,
    /// The first thread that ever was.
    pub(super) cut_thread: Option<CutThread>,
    /// The number of events of an execution when it exceeded a bound that is not final.
    exceeded: Option<usize>,
    /// A loop whose thread exceeded one that is final.
    endless: Option<PlaceId>,
    /// The number of executions in which a thread was stopped.
    pub(super) cut_executions: u64,
    /// By place: whether its loop is known to be endless. Filled on demand.
    endless_places: FxHashMap<PlaceId, bool>,
    pub(super) shares_memory: bool,
    /// When threads last began joint updates.
    pub(super) joint_updates: Stamp,
    pub(super) rounds: RoundState<R>,
    pub(super) symmetry: SymmetryState,
    pub(super) twins: CorrespondingHistories,
    pub(super) classes: u64,
    pub(super) blocked: u64,
    /// The number of leaves that were reached.
    pub(super) leaves: u64,
    /// Whether `SearchLocation::writers`, which decide which thread is tried first, still change.
    pub(super) learns_writers: bool,
    pub(super) hit_limit: bool,
    /// Whether the limit was hit before the first question.
    pub(super) began_at_limit: bool,
    /// Why the search ends early.
    pub(super) stop: Option<SearchStop>,
    /// Which part of the tree is explored.
    pub(super) route: Route,
}

/// The end of a segment.
#[derive(Clone, Copy)]
struct PendingOp {
    pending: PendingKind,
    target: PendingTarget,
    is_unfinished: bool,
}

/// Why a search ends early.
#[derive(Clone, Copy)]
pub(super) enum SearchStop {
    Extent(Extent),
    Restart(Restart),
    /// The budget of a subtree is spent: what is left becomes other subtrees.
    Suspended,
}

impl<'s, 'a, R: EventSet, M: IncrementalModel<R>> PartSearch<'s, 'a, R, M> {
    pub(super) fn new(
        exploration: &'s mut PartExploration<'a>,
        mut model: M,
        sizes: TableSizes,
    ) -> Self {
        let (none, bound) = (R::default(), exploration.bound());
        let unbounded_ops = if exploration.facts.all_loops_end() { bound.events } else { 0 };
        let thread = SearchThread {
            history: HistoryId(0),
            pending: PendingKind::NotStarted,
            target: PendingTarget::NONE,
            causal_floor: 0,
            observed: RfSource::NONE,
            joins: 0,
        };
        let location = SearchLocation {
            writes: none.clone(),
            reads: none.clone(),
            plain: none.clone(),
            init_taken: false,
            last_update: RfSource::INITIAL,
            initial: ValueId::ZERO,
            written: Stamp::default(),
            pending: Stamp::default(),
            writers: ThreadSet::default(),
        };
        let event = SearchEvent {
            location: LocationId::new(0),
            source: RfSource::INITIAL,
            role: EventRole::Fence,
            carries: false,
            value: ValueId::NONE,
            origin: Origin { node: HistoryId(0), index: 0 },
        };
        model.configure(&exploration.options);
        PartSearch {
            histories: std::mem::take(&mut exploration.histories),
            cache: HistoryCache::new(exploration.commuting),
            runs: RunTable::default(),
            model,
            threads: vec![thread; sizes.threads],
            locations: vec![location; sizes.locations],
            known_locations: 0,
            events: R::Map::filled(event),
            len: 0,
            taken: none,
            waiting: ThreadSet::default(),
            special: ThreadSet::default(),
            has_forced_steps: false,
            joined: ThreadSet::default(),
            unfinished: 0,
            past: vec![],
            first_events: vec![],
            undo: vec![],
            nodes: vec![],
            open_nodes: vec![],
            children: vec![],
            depth: 0,
            floors: vec![],
            open: OpenClasses::default(),
            quiet: QuietState::new(sizes),
            last_known: None,
            clock: 1,
            unexplored: 0,
            has_plain: false,
            race: None,
            survived_race: None,
            survives_races: exploration.program.goes_on_after_races(),
            bound,
            unbounded_ops,
            ops: 0,
            cut: None,
            cut_thread: None,
            exceeded: None,
            endless: None,
            cut_executions: 0,
            endless_places: FxHashMap::default(),
            shares_memory: exploration.program.shares_memory(),
            joint_updates: Stamp::default(),
            rounds: RoundState::new(exploration),
            symmetry: SymmetryState::default(),
            twins: CorrespondingHistories::default(),
            classes: 0,
            blocked: 0,
            leaves: 0,
            learns_writers: true,
            hit_limit: false,
            began_at_limit: false,
            stop: None,
            route: Route::default(),
            exploration,
        }
    }

    /// Explores everything, or stops early.
    pub(super) fn explore(&mut self) -> Result<Summary, Restart> {
        let main = ThreadId::new(0);
        let history = self.histories.start(self.exploration.program, &[], main, None);
        self.enter(main, history);
        self.began_at_limit = self.hit_limit;
        let explored = if self.stop.is_some() {
            Ok(())
        } else if self.exploration.probes.is_some() {
            self.probe()
        } else if self.exploration.has_subtrees() {
            self.explore_subtrees()
        } else {
            self.explore_extensions();
            Ok(())
        };
        self.learn_pending_facts();
        let histories = self.histories.len() as u64;
        self.restore_ended_histories();
        self.exploration.histories = std::mem::take(&mut self.histories);
        explored?;
        let extent = match self.stop {
            Some(SearchStop::Restart(why)) => return Err(why),
            Some(SearchStop::Extent(extent)) => extent,
            _ if self.hit_limit => Extent::Events,
            _ => Extent::All,
        };
        let cut = self.cut_thread.take().filter(|_| extent == Extent::Events);
        let symmetry = self.symmetry_of_classes();
        Ok(Summary {
            extent,
            classes: self.classes,
            blocked: self.blocked,
            histories,
            cut,
            symmetry,
        })
    }

    /// The event that is added next.
    #[inline]
    pub(super) fn next_event(&self) -> EventIndex {
        EventIndex::new(self.len)
    }

    #[inline]
    pub(super) fn thread(&self, thread: ThreadId) -> &SearchThread {
        &self.threads[thread.index()]
    }

    #[inline]
    pub(super) fn location(&self, location: LocationId) -> &SearchLocation<R> {
        &self.locations[location.index()]
    }

    #[inline]
    pub(super) fn location_mut(&mut self, location: LocationId) -> &mut SearchLocation<R> {
        &mut self.locations[location.index()]
    }

    /// Adds new histories to the cache, and makes sure that the tables have room for their threads and locations.
    #[cold]
    pub(super) fn learn_histories(&mut self) {
        let (threads, locations) = self.histories.sizes();
        self.learn_locations(locations);
        self.cache.update(&self.histories);
        if threads > self.threads.len() || locations > self.locations.len() {
            let threads = threads.max(self.threads.len()) * 2;
            let locations = locations.max(self.locations.len()) * 2;
            let restart = Restart::LargerTables(TableSizes { threads, locations });
            self.stop = Some(SearchStop::Restart(restart));
            return;
        }
        for location in self.known_locations..locations {
            let initial = self.exploration.program.initial_value(LocationId::new(location));
            self.locations[location].initial = self.cache.values.id(initial);
        }
        self.known_locations = locations;
    }

    /// Adds new locations to the cache. They are quiet unless facts say otherwise.
    fn learn_locations(&mut self, locations: usize) {
        let first = self.cache.locations();
        for location in first..locations {
            let is_quiet = self.exploration.assumes_quiet(LocationId::new(location));
            if is_quiet {
                self.quiet.activate();
            }
            self.cache.add_location(is_quiet);
        }
        if self.symmetry.is_active && !self.symmetry.is_open {
            self.compare_locations(first);
        }
    }

    /// Starts a spawned thread with a history.
    fn start(&mut self, thread: ThreadId, history: HistoryId) {
        self.threads[thread.index()].joins = 0;
        self.model.push_thread_boundary(thread);
        self.enter(thread, history);
    }

    /// Extends the history of a thread up to its next question that needs a decision.
    #[inline(always)]
    pub(super) fn enter(&mut self, thread: ThreadId, history: HistoryId) {
        self.quiet.forget_known();
        if !self.enter_segment(thread, history, true) {
            self.enter_runs(thread, history);
        }
    }

    /// Extends the history of a thread by segments and runs, as far as these need no decision.
    fn enter_runs(&mut self, thread: ThreadId, history: HistoryId) {
        let mut next = Some(history);
        while let Some(history) = next {
            next = self.enter_run_or_segment(thread, history);
        }
    }

    /// Extends the history of a thread by a segment, or by a run of several. Returns the history that follows, if that
    /// needs no decision.
    fn enter_run_or_segment(&mut self, thread: ThreadId, history: HistoryId) -> Option<HistoryId> {
        if self.cache.len() <= history.0 as usize {
            self.learn_histories();
        }
        if self.cache.segment(history).begins_run && self.stop.is_none() {
            if let Some(next) = self.enter_run(thread, history) {
                return (self.thread(thread).pending != PendingKind::Ended).then_some(next);
            }
        } else {
            self.enter_segment(thread, history, false);
        }
        match self.thread(thread).pending {
            PendingKind::Quiet => self.answer_quietly(thread),
            _ => None,
        }
    }

    /// Extends the history of a thread by one segment: performs its effects, starts the threads that it spawns. Returns
    /// `false` and does nothing if the segment has quiet accesses and must not have any (`only_decided`).
    #[inline(never)]
    fn enter_segment(&mut self, thread: ThreadId, history: HistoryId, only_decided: bool) -> bool {
        if self.cache.len() <= history.0 as usize {
            self.learn_histories();
        }
        let segment = self.cache.segment(history);
        if only_decided && !segment.is_decided {
            return false;
        }
        let &SegmentInfo { pending, target, is_unfinished, .. } = segment;
        let ((first, last), events, spawns) = (segment.effects, segment.events, segment.spawns);
        if !self.has_room(thread, events) {
            self.no_room();
            return true;
        }
        self.past.push(history);
        self.first_events.push(self.len as u32);
        if first < last {
            self.perform_effects(thread, Origin { node: history, index: 1 }, (first, last));
        }
        self.wait_for(thread, history, PendingOp { pending, target, is_unfinished });
        if spawns {
            self.start_children(history);
            self.quiet.forget_known();
        }
        self.count_ops(thread, last - first + 1);
        true
    }

    /// Counts ops of a thread, which waits for its next answer or has ended.
    #[inline]
    pub(super) fn count_ops(&mut self, thread: ThreadId, ops: u32) {
        self.ops += ops;
        if self.ops > self.unbounded_ops {
            self.check_bounds(thread);
        }
    }

    /// Stops a thread that exceeds a bound: on the ops of an execution, or on the rounds of a loop that does not seem to end.
    #[cold]
    fn check_bounds(&mut self, thread: ThreadId) {
        let SearchThread { pending, history, .. } = *self.thread(thread);
        if pending == PendingKind::Ended || self.stop.is_some() {
            return;
        }
        if let Some(place) = self.endless_loop(history) {
            self.cut = Some(thread);
            self.hit_limit = true;
            self.stop_thread(thread);
            return self.note_cut_thread(thread, place, CutLimit::Endless { rounds: MOST_ROUNDS });
        }
        if self.ops > self.bound.events {
            self.exceed_bound(thread);
        }
    }

    /// The place of a loop that does not seem to end, if a history ends there after [`MOST_ROUNDS`] rounds.
    fn endless_loop(&mut self, history: HistoryId) -> Option<PlaceId> {
        let End::Question(Op { place, .. }) = *self.histories.end(history) else { return None };
        let PartExploration { facts, program, .. } = &*self.exploration;
        let is_endless = || !facts.all_loops_end() && facts.is_endless(&program.place(place));
        let is_endless = *self.endless_places.entry(place).or_insert_with(is_endless);
        (is_endless && self.times_asked(history, place) > MOST_ROUNDS).then_some(place)
    }

    /// There are more ops than the bound. The thread stops if it has performed more than its share of them; the others go
    /// on. If the bound is not final, that shows which locations have conflicting accesses, before the exploration starts
    /// over with a larger one.
    fn exceed_bound(&mut self, thread: ThreadId) {
        let history = self.thread(thread).history;
        if !self.quiet.conflicts.is_empty() {
            return self.learn_conflicts();
        }
        let EventBound { events, is_final } = self.bound;
        if self.ops_of(thread) < u64::from(events) / self.quiet.started as u64 {
            return;
        }
        self.cut = Some(thread);
        self.stop_thread(thread);
        if is_final {
            self.hit_limit = true;
            let (place, rounds) = self.most_asked(history);
            self.note_cut_thread(thread, place, CutLimit::Events { events, rounds });
            if rounds > MOST_ROUNDS && self.exploration.limits.events.is_none() {
                self.endless.get_or_insert(place);
            }
        } else {
            self.exceeded.get_or_insert(self.len);
        }
    }

    /// Starts over with a larger bound if the execution that has ended exceeds one that is not final, or with fewer rounds of a
    /// loop if many have exceeded the final one because of that. Returns `false` if it does neither.
    pub(super) fn learn_long_execution(&mut self) -> bool {
        if self.stop.is_some() {
            return false;
        }
        self.exploration.new_fact = match (self.exceeded, self.endless) {
            (Some(conflicting), _) => Some(NewFact::LongExecution { conflicting }),
            (None, Some(place)) if self.cut_executions > MOST_CUT_EXECUTIONS => {
                Some(NewFact::EndlessLoop { place: self.exploration.program.place(place) })
            }
            _ => return false,
        };
        self.stop = Some(SearchStop::Restart(Restart::ExplorationFacts));
        true
    }

    /// Starts over if the executions so far have shown a fact, none of them was followed to its end, and nothing else has
    /// been learned.
    pub(super) fn learn_pending_facts(&mut self) {
        if self.exploration.new_fact.is_some() {
            return;
        }
        if self.stop.is_none() && !self.quiet.conflicts.is_empty() {
            self.learn_conflicts();
        }
        self.learn_long_execution();
    }

    /// The place at which a history has most questions, and their number; of several such places the last one.
    fn most_asked(&self, mut history: HistoryId) -> (PlaceId, u32) {
        let mut times = FxHashMap::default();
        let mut most = (PlaceId::default(), 0);
        loop {
            if let End::Question(Op { place, .. }) = *self.histories.end(history) {
                let times = times.entry(place).or_insert(0);
                *times += 1;
                if *times > most.1 {
                    most = (place, *times);
                }
            }
            match self.histories.step(history) {
                HistoryStep::After(parent, _) => history = parent,
                HistoryStep::Start(..) => return most,
            }
        }
    }

    /// The number of questions of a history at a place.
    fn times_asked(&self, mut history: HistoryId, place: PlaceId) -> u32 {
        let mut times = 0;
        loop {
            times += match self.histories.end(history) {
                End::Question(op) => u32::from(op.place == place),
                _ => 0,
            };
            match self.histories.step(history) {
                HistoryStep::After(parent, _) => history = parent,
                HistoryStep::Start(..) => return times,
            }
        }
    }

    /// Records that a thread was stopped at a place.
    fn note_cut_thread(&mut self, thread: ThreadId, place: PlaceId, limit: CutLimit) {
        if self.cut_thread.is_none() {
            let program = &self.exploration.program;
            let function = program.function(place);
            let (thread, place) = (program.thread_name(thread), program.place(place));
            self.cut_thread = Some(CutThread { thread, place, function, limit });
        }
    }

    /// Records that a thread has ended at the limit of its program: of a loop, or of stores without a question.
    #[cold]
    fn note_limit(&mut self, thread: ThreadId, history: HistoryId) {
        self.hit_limit = true;
        if let End::Unrolled(place) = *self.histories.end(history) {
            self.note_cut_thread(thread, place, CutLimit::Rounds);
        } else if let Some((place, rounds)) = self.loop_at_limit(history) {
            let events = self.bound.events;
            self.note_cut_thread(thread, place, CutLimit::Events { events, rounds });
        }
    }

    /// The place that a history has been at most often, and how often, if it has ended because of the events of its thread.
    fn loop_at_limit(&self, history: HistoryId) -> Option<(PlaceId, u32)> {
        let effects = self.histories.effects(history);
        match effects.last() {
            Some(&Op { place, .. }) if self.histories.is_cut(history) => {
                Some((place, effects.iter().filter(|op| op.place == place).count() as u32))
            }
            _ if self.histories.events(history) >= self.bound.events => {
                Some(self.most_asked(history))
            }
            _ => None,
        }
    }

    /// The number of ops that a thread has performed.
    fn ops_of(&self, thread: ThreadId) -> u64 {
        let own = self.past.iter().filter(|&&history| self.histories.thread(history) == thread);
        let ops = |&history: &HistoryId| {
            let (first, last) = self.cache.segment(history).effects;
            u64::from(last - first + 1)
        };
        own.map(ops).sum()
    }

    /// Returns `true` if the sets have room for so many more events, and the search goes on.
    #[inline]
    pub(super) fn has_room(&self, thread: ThreadId, events: u32) -> bool {
        let has_room = self.len + (events as usize) + 2 < R::BITS && thread.index() < R::BITS;
        has_room && self.stop.is_none()
    }

    /// There are more events than the sets have room for.
    #[cold]
    pub(super) fn no_room(&mut self) {
        self.stop.get_or_insert(SearchStop::Restart(Restart::WiderSets));
    }

    #[cold]
    fn start_children(&mut self, history: HistoryId) {
        for index in 0..self.histories.effects(history).len() {
            let op = self.histories.effects(history)[index];
            let OpKind::Spawn { thread } = op.kind else { continue };
            let origin = Origin { node: history, index: index as u32 + 1 };
            let spawned_by = self.shares_memory.then_some(origin);
            let program = &mut *self.exploration.program;
            let child = self.histories.start(program, &self.past, thread, spawned_by);
            if self.symmetry.is_active {
                self.add_corresponding_histories();
            }
            self.start(thread, child);
        }
        if self.exploration.seeks_symmetry {
            self.find_symmetric_threads(history);
        }
    }

    /// Lets the thread wait to perform the op at the end of its history, or end.
    pub(super) fn wait(&mut self, thread: ThreadId, history: HistoryId) {
        let &SegmentInfo { pending, target, is_unfinished, .. } = self.cache.segment(history);
        self.wait_for(thread, history, PendingOp { pending, target, is_unfinished });
    }

    /// As [`PartSearch::wait`], if the op was looked up.
    #[inline(always)]
    fn wait_for(&mut self, thread: ThreadId, history: HistoryId, op: PendingOp) {
        let PendingOp { pending, target, is_unfinished } = op;
        let state = &mut self.threads[thread.index()];
        *state = SearchThread { history, pending, target, causal_floor: 0, ..*state };
        if pending == PendingKind::Ended {
            return self.end(thread, history, is_unfinished);
        }
        if pending == PendingKind::Quiet {
            return;
        }
        if pending.is_special() {
            self.has_forced_steps = true;
            self.special.insert(thread);
        } else {
            self.special.remove(thread);
        }
        self.waiting.insert(thread);
        if pending.competes() {
            self.clock += 1;
            let now = self.clock;
            self.location_mut(target.location()).pending.set(thread, now);
        }
    }

    #[inline]
    fn end(&mut self, thread: ThreadId, history: HistoryId, is_unfinished: bool) {
        self.waiting.remove(thread);
        self.special.remove(thread);
        self.has_forced_steps = true;
        if !is_unfinished {
            self.model.push_thread_boundary(thread);
        } else {
            self.unfinished += 1;
            if matches!(self.histories.end(history), End::Limit | End::Unrolled(_)) {
                self.note_limit(thread, history);
            }
        }
    }

    /// Performs a range of [`HistoryCache::effects`], of which the first one has this origin. Not inlined, as many
    /// segments have none.
    #[inline(never)]
    pub(super) fn perform_effects(
        &mut self,
        thread: ThreadId,
        origin: Origin,
        (first, last): (u32, u32),
    ) {
        for at in first..last {
            let origin = Origin { node: origin.node, index: origin.index + (at - first) };
            self.perform_effect(thread, self.cache.effects[at as usize], origin);
        }
    }

    #[inline(always)]
    fn perform_effect(&mut self, thread: ThreadId, effect: CompactEffect, origin: Origin) {
        let event = self.next_event();
        match effect {
            CompactEffect::Store { location, order, carries, value } => {
                self.check_race(thread, location, true, order);
                self.model.push_store(NewStore { event, thread, location, order });
                self.add_write(thread, location, value, carries, origin);
                let flushes = self.model.reorders_stores()
                    && StoreBuffers::PerLocation.store(order) != StoreEffect::Buffered;
                self.publish(event, thread, flushes);
            }
            CompactEffect::Unlock { lock } => self.unlock(thread, lock, origin),
            CompactEffect::Fence { order } => {
                self.model.push_fence(event, thread, order);
                self.note_fence(thread, order);
                self.add_fence(thread, origin);
            }
            CompactEffect::StoreFence => {
                self.model.push_store_fence(event, thread);
                self.note_fence(thread, MemoryOrder::Release);
                self.add_fence(thread, origin);
            }
            CompactEffect::Init { location, value } => self.location_mut(location).initial = value,
            CompactEffect::Spawn { child } => {
                self.model.push_spawn(thread, child);
                self.note_spawn(thread, child);
            }
            CompactEffect::WriteCell { location } => self.write_cell(thread, location, origin),
            CompactEffect::Joint { step } => self.perform_joint(thread, step),
            CompactEffect::QuietStore { location, order, carries, value } => {
                let write = QuietWrite { value, carries, origin };
                self.quiet_store(thread, location, order, write);
            }
            CompactEffect::QuietUnlock { lock } => {
                let write = QuietWrite { value: ValueId::ZERO, carries: false, origin };
                self.quiet_update(thread, lock, write);
            }
            CompactEffect::QuietCell { location } => self.quiet_cell(thread, location, origin),
        }
    }

    fn unlock(&mut self, thread: ThreadId, lock: LocationId, origin: Origin) {
        let event = self.next_event();
        let source = self.location(lock).last_update;
        let acquire = source.event().expect("a lock that is released was acquired");
        self.model.push_unlock(NewUnlock { event, thread, lock, acquire });
        self.taken.insert(acquire);
        self.add_write(thread, lock, ValueId::ZERO, false, origin);
        self.events[event].source = source;
        self.set_last_update(lock, event);
        self.publish(event, thread, true);
    }

    fn add_fence(&mut self, thread: ThreadId, origin: Origin) {
        if self.model.fences_are_events() {
            self.publish(self.next_event(), thread, true);
            self.add_event(LocationId::new(0), RfSource::INITIAL, EventRole::Fence, origin);
        }
    }

    /// Adds an event to the table of events. Its value is set by the caller, if it has one.
    #[inline]
    pub(super) fn add_event(
        &mut self,
        location: LocationId,
        source: RfSource,
        role: EventRole,
        origin: Origin,
    ) {
        let (carries, value, event) = (false, ValueId::NONE, self.next_event());
        self.events[event] = SearchEvent { location, source, role, carries, value, origin };
        self.len += 1;
    }

    #[inline]
    fn add_write(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        value: ValueId,
        carries: bool,
        origin: Origin,
    ) {
        let event = self.next_event();
        self.add_event(location, RfSource::INITIAL, EventRole::Write, origin);
        self.events[event].value = value;
        self.events[event].carries = carries;
        self.note_write(event, thread, location);
    }

    /// Records that the event writes the location.
    #[inline]
    pub(super) fn note_write(&mut self, event: EventIndex, thread: ThreadId, location: LocationId) {
        self.location_mut(location).writes.insert(event);
        self.note_writer(thread, location);
        if self.is_open() {
            self.open_write(event, thread, location);
        }
    }

    /// Records that the thread writes the location now. That matters to reads of others, unless all of these are over:
    /// a thread that has joined all others writes after their reads in every execution.
    #[inline]
    pub(super) fn note_writer(&mut self, thread: ThreadId, location: LocationId) {
        if self.thread(thread).joins > 0 && self.has_joined_all(thread) {
            return;
        }
        self.clock += 1;
        let (now, learns_writers) = (self.clock, self.learns_writers);
        let location = self.location_mut(location);
        location.written.set(thread, now);
        if learns_writers {
            location.writers.insert(thread);
        }
    }

    #[cold]
    fn has_joined_all(&self, thread: ThreadId) -> bool {
        let is_started = |it: &&SearchThread| it.pending != PendingKind::NotStarted;
        let started = self.threads.iter().filter(is_started).count();
        self.thread(thread).joins as usize + 1 == started
    }

    /// Records that the thread writes now what it writes in the last segment of a history.
    #[inline]
    pub(super) fn note_writers(&mut self, thread: ThreadId, history: HistoryId) {
        let (first, last) = self.cache.segment(history).effects;
        for at in first..last {
            match self.cache.effects[at as usize] {
                CompactEffect::Store { location, .. }
                | CompactEffect::Unlock { lock: location } => {
                    self.note_writer(thread, location);
                }
                _ => {}
            }
        }
    }

    /// Returns `true` if a known history ends its thread, without anything that concerns other threads.
    #[inline]
    pub(super) fn only_writes_to_end(&self, history: HistoryId) -> bool {
        let segment = self.cache.segment(history);
        segment.pending == PendingKind::Ended && !segment.is_unfinished && segment.only_writes
    }

    /// Sets the last update of a synchronization object.
    pub(super) fn set_last_update(&mut self, location: LocationId, event: EventIndex) {
        let old = std::mem::replace(&mut self.location_mut(location).last_update, event.into());
        self.undo.push(SearchUndo::LastUpdate(location, old));
    }

    /// The value of a write.
    #[inline]
    pub(super) fn value(&self, location: LocationId, source: RfSource) -> ValueId {
        match source.event() {
            None => self.location(location).initial,
            Some(event) => self.events[event].value,
        }
    }

    /// What a thread is answered that observes this write.
    #[inline]
    pub(super) fn answer_of(&self, location: LocationId, source: RfSource) -> ThreadAnswer {
        match source.event() {
            None => ThreadAnswer::Value(self.location(location).initial),
            Some(event) => {
                let SearchEvent { carries, value, origin, .. } = self.events[event];
                match carries {
                    true => ThreadAnswer::Full(Answer::From(origin)),
                    false => ThreadAnswer::Value(value),
                }
            }
        }
    }

    /// What a thread is answered that takes over memory from the event.
    #[inline]
    pub(super) fn identity_of(&self, source: RfSource) -> ThreadAnswer {
        match source.event().filter(|_| self.shares_memory) {
            None => ThreadAnswer::Value(ValueId::NONE),
            Some(event) => ThreadAnswer::Full(Answer::From(self.events[event].origin)),
        }
    }

    /// The question at the end of a history.
    pub(super) fn question(&self, history: HistoryId) -> Op {
        match self.histories.end(history) {
            End::Question(op) => *op,
            end => unreachable!("a waiting thread has a question, not {end:?}"),
        }
    }

    /// Performs steps that need no decision: joins of finished threads and reads of cells. What a thread does of it in
    /// a row is one level of the model.
    pub(super) fn run_forced_steps(&mut self) {
        let mut level_of = None;
        while self.continues() && !self.special.is_empty() {
            let is_ready = |&thread: &ThreadId| match self.thread(thread).pending {
                PendingKind::Join => self.is_finished(self.thread(thread).target.thread()),
                PendingKind::Cell => true,
                _ => false,
            };
            let Some(thread) = self.special.iter().find(is_ready) else {
                self.has_forced_steps = false;
                return;
            };
            if level_of != Some(thread) {
                level_of = Some(thread);
                self.undo.push(SearchUndo::Step(thread, *self.thread(thread)));
                self.quiet.save(thread);
                self.model.push_level(thread);
            }
            match self.thread(thread).pending {
                PendingKind::Join => self.join(thread),
                _ => self.read_cell(thread),
            }
        }
    }

    /// Returns `true` if the current execution is explored further.
    #[inline]
    pub(super) fn continues(&self) -> bool {
        self.stop.is_none() && self.race.is_none()
    }

    fn join(&mut self, thread: ThreadId) {
        let SearchThread { history, target, .. } = *self.thread(thread);
        let child = target.thread();
        self.model.push_join(thread, child);
        if !self.joined.has(child) {
            self.joined.insert(child);
            self.threads[thread.index()].joins += 1;
        }
        self.note_join(thread, child);
        let last = self.thread(child).history;
        let answer = match self.cache.result(last) {
            _ if !self.shares_memory => ThreadAnswer::Value(ValueId::NONE),
            Some(value) => ThreadAnswer::Value(value),
            None => ThreadAnswer::Full(self.histories.joined(last)),
        };
        self.follow(thread, history, answer);
    }

    /// How a history continues, if that is known.
    #[inline]
    pub(super) fn after(&self, history: HistoryId, answer: ThreadAnswer) -> Option<HistoryId> {
        match answer {
            ThreadAnswer::Value(value) => {
                self.cache.after(history, value).map(|HistoryEdge { next, .. }| next)
            }
            ThreadAnswer::Full(answer) => {
                let next = self.histories.known(history, answer);
                next.filter(|next| self.cache.len() > next.0 as usize)
            }
        }
    }

    /// Answers the pending op of a thread, which writes nothing.
    #[inline(always)]
    pub(super) fn follow(&mut self, thread: ThreadId, history: HistoryId, answer: ThreadAnswer) {
        let next = self.after(history, answer);
        let next = next.unwrap_or_else(|| self.grow(history, answer, ValueId::NONE));
        self.enter(thread, next);
    }

    /// Runs the program to find out how a history continues; its op writes this value.
    #[cold]
    pub(super) fn grow(
        &mut self,
        history: HistoryId,
        answer: ThreadAnswer,
        written: ValueId,
    ) -> HistoryId {
        let full = match answer {
            ThreadAnswer::Value(value) => self.cache.answer(value),
            ThreadAnswer::Full(answer) => answer,
        };
        let next = self.histories.after(self.exploration.program, &self.past, history, full);
        if self.symmetry.is_active {
            self.add_corresponding_histories();
        }
        if let ThreadAnswer::Value(read) = answer {
            self.cache.connect(history, read, written, next);
        }
        next
    }

    fn is_finished(&self, thread: ThreadId) -> bool {
        let SearchThread { pending, history, .. } = *self.thread(thread);
        pending == PendingKind::Ended && matches!(self.histories.end(history), End::Finished)
    }

    /// Returns `true` if a thread that waits for a synchronization object can have it now.
    #[inline]
    pub(super) fn is_free(&self, thread: ThreadId) -> bool {
        let SearchThread { pending, target, history, .. } = *self.thread(thread);
        let location = target.location();
        let value = self.value(location, self.location(location).last_update);
        if pending == PendingKind::Lock {
            return value == ValueId::ZERO;
        }
        let OpKind::Sync { guard, .. } = self.question(history).kind else {
            unreachable!("an op of a synchronization object has a guard")
        };
        guard.admits(self.cache.values.get(value))
    }

    /// Removes all events from `first` on.
    #[inline]
    pub(super) fn remove_events(&mut self, first: usize) {
        for event in (first..self.len).map(EventIndex::new) {
            let SearchEvent { location, role, source, .. } = self.events[event];
            let took_init = source.is_initial() && self.is_only_source(event, source);
            let location = self.location_mut(location);
            match role {
                EventRole::Read | EventRole::ReadCell => location.reads.remove(event),
                EventRole::Write | EventRole::WriteCell => location.writes.remove(event),
                EventRole::Update => {
                    location.writes.remove(event);
                    location.init_taken &= !took_init;
                }
                EventRole::Fence => {}
            }
            location.plain.remove(event);
        }
        self.len = first;
        if self.symmetry.is_active {
            self.symmetry.remove_events(first);
        }
    }

    /// Undoes the recorded changes since the mark.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            match self.undo.pop().expect("there are more entries than the mark") {
                SearchUndo::Step(thread, old) => {
                    self.model.pop();
                    self.threads[thread.index()] = old;
                }
                SearchUndo::LastUpdate(location, old) => {
                    self.location_mut(location).last_update = old;
                }
            }
        }
    }

    /// Stops at a leaf if the time is up, the limit of classes is reached, or the subtree is to be suspended.
    pub(super) fn check_limits(&mut self) {
        let limits = self.exploration.limits;
        if limits.classes.is_some_and(|most| self.classes >= most) {
            self.stop = Some(SearchStop::Extent(Extent::Classes));
        }
        if self.leaves.is_multiple_of(256) {
            let visited = self.exploration.visited;
            if limits.deadline.is_some_and(|end| Instant::now() >= end) {
                self.stop = Some(SearchStop::Extent(Extent::Deadline));
            } else if self.exploration.is_cancelled() {
                self.stop = Some(SearchStop::Extent(Extent::Stopped));
            } else if !self.learns_writers
                && self.leaves >= visited
                && self.exploration.wants_suspension()
            {
                self.stop = Some(SearchStop::Suspended);
            }
        }
        if self.leaves == self.route.budget && self.stop.is_none() {
            self.stop = Some(SearchStop::Suspended);
        }
    }
}
