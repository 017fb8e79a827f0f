//! What the search needs to know of local histories, in a compact form: it looks this up a million times a second.
//!
//! [`LocalHistories`] remembers everything, for everybody. The search needs little of it, but all the time: which op a
//! thread performs next, its effects before that, and which history follows which value. So it keeps its own tables:
//! one entry per segment, which many histories share and which stays in the cache; and 40 bytes per history, for its
//! segment and the histories that follow. Values have 32 bits instead of 128: every distinct value has a number.
//!
//! *Rejected.* Looking all this up in [`LocalHistories`], which has a record of several cache lines for each history
//! and a list of answers elsewhere: programs with many histories waited for memory. Storing the information about its
//! segment with each history: a cache line, and every history was examined again.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::model::ReadKind;
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::orders::OrderSemantics;
use raddle_core::program::{
    Answer, End, HistoryId, JointStep, LocalHistories, Op, OpKind, Segment, SegmentId,
};

/// The number of a value in a [`ValueTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueId(u32);

impl ValueId {
    /// No value: what a thread reads that learns nothing, or what an event writes that does not write.
    pub(super) const NONE: ValueId = ValueId(u32::MAX);
    /// The number of 0.
    pub(super) const ZERO: ValueId = ValueId(0);
    /// The number of 1.
    pub(super) const ONE: ValueId = ValueId(1);
}

/// All values that were met, by their numbers.
pub(super) struct ValueTable {
    values: Vec<Value>,
    ids: FxHashMap<Value, ValueId>,
}

impl Default for ValueTable {
    fn default() -> Self {
        let mut values = ValueTable { values: vec![], ids: FxHashMap::default() };
        values.id(0);
        values.id(1);
        values
    }
}

impl ValueTable {
    /// The number of a value, which may be new.
    pub(super) fn id(&mut self, value: Value) -> ValueId {
        let next = ValueId(self.values.len() as u32);
        let id = *self.ids.entry(value).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        id
    }

    pub(super) fn get(&self, id: ValueId) -> Value {
        self.values[id.0 as usize]
    }
}

/// The kind of the op that a thread waits to perform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingKind {
    /// None: the thread was not started.
    NotStarted,
    /// A load.
    Load,
    /// A compare-exchange.
    CompareExchange,
    /// A read-modify-write that always writes.
    Update,
    /// A lock.
    Lock,
    /// An op of another synchronization object.
    Sync,
    /// A join.
    Join,
    /// A choice of the program.
    Choose,
    /// A read of memory that no op carries.
    Cell,
    /// A question about a quiet location, which is answered at once.
    Quiet,
    /// None: the thread has ended.
    Ended,
}

impl PendingKind {
    /// How it reads memory.
    #[inline]
    pub(super) fn read_kind(self) -> ReadKind {
        match self {
            PendingKind::Update => ReadKind::Update,
            PendingKind::CompareExchange => ReadKind::CompareExchange,
            _ => ReadKind::Load,
        }
    }

    /// Returns `true` if two of them compete for the write that they observe.
    #[inline]
    pub(super) fn competes(self) -> bool {
        matches!(
            self,
            PendingKind::CompareExchange
                | PendingKind::Update
                | PendingKind::Lock
                | PendingKind::Sync
        )
    }

    /// Returns `true` if it may have to wait, is a choice, or needs no decision of the model.
    #[inline]
    pub(super) fn is_special(self) -> bool {
        matches!(
            self,
            PendingKind::Lock
                | PendingKind::Sync
                | PendingKind::Join
                | PendingKind::Choose
                | PendingKind::Cell
        )
    }
}

/// The location of a pending op, or the thread that a pending join joins. The [`PendingKind`] tells which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingTarget(u32);

impl PendingTarget {
    /// Of an op that has neither.
    pub(super) const NONE: PendingTarget = PendingTarget(0);

    fn of_location(location: LocationId) -> Self {
        PendingTarget(location.index() as u32)
    }

    fn of_thread(thread: ThreadId) -> Self {
        PendingTarget(thread.index() as u32)
    }

    #[inline]
    pub(super) fn location(self) -> LocationId {
        LocationId::new(self.0 as usize)
    }

    #[inline]
    pub(super) fn thread(self) -> ThreadId {
        ThreadId::new(self.0 as usize)
    }
}

/// What the search needs to know of a segment.
pub(super) struct SegmentInfo {
    /// The kind of the op at its end.
    pub(super) pending: PendingKind,
    /// As `pending`, but for a question about a quiet location its kind.
    pub(super) asked: PendingKind,
    /// The memory order of the op; for a compare-exchange that of success.
    pub(super) order: MemoryOrder,
    /// The memory order of a compare-exchange that fails.
    pub(super) failure_order: MemoryOrder,
    /// Whether the compare-exchange may fail spuriously.
    pub(super) is_weak: bool,
    /// Whether the op is an update whose place among others of its kind no thread can tell, as long as its location is
    /// quiet.
    pub(super) is_blind: bool,
    /// Whether the value that the op writes is a pointer, unless it keeps one.
    pub(super) carries: bool,
    /// Whether one of its effects is a spawn.
    pub(super) spawns: bool,
    /// Whether it ends otherwise than with an op or the regular end of the thread.
    pub(super) is_unfinished: bool,
    /// Whether it accesses a quiet location and spawns no thread, so that a run may begin with it.
    pub(super) begins_run: bool,
    /// Whether it accesses no quiet location, so that what follows needs a decision.
    pub(super) is_decided: bool,
    /// Whether all its effects are fences, and atomic stores and unlocks of locations that are not quiet.
    pub(super) only_writes: bool,
    /// The most that one of its effects changes.
    pub(super) change: MemoryChange,
    /// How many of its effects are events at most.
    pub(super) events: u32,
    pub(super) target: PendingTarget,
    /// The value that a compare-exchange expects.
    pub(super) expected: ValueId,
    /// The range of its effects in [`HistoryCache::effects`].
    pub(super) effects: (u32, u32),
}

/// Whether histories that end in a state can do without the last read of this one (`rounds.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domination {
    /// That was not decided yet.
    Unknown,
    /// They cannot.
    None,
    /// The thread was in the same state before, and has only read since.
    Repeat,
    /// An earlier question of the thread with the same answer leads to the same state.
    Shortcut,
    /// They can, if the read before observed another write.
    Confirmation,
}

/// What the search needs to know of a history.
struct HistoryInfo {
    segment: u32,
    domination: Domination,
    /// Whether the question before its last segment changed no memory.
    is_silent_answer: bool,
    /// Whether its end was compared with those of the histories that it extends (`private_rounds`).
    is_compared: bool,
    /// Whether it was found to repeat one of them.
    is_ended: bool,
    /// The join result, if the joiner observes only a value; otherwise [`ValueId::NONE`].
    result: ValueId,
    /// The histories that follow, ascending by the value read.
    edges: SmallVec<[HistoryEdge; 2]>,
}

/// How a history continues after a value.
#[derive(Clone, Copy)]
pub(super) struct HistoryEdge {
    read: ValueId,
    /// The value that the op writes then, if it does.
    pub(super) written: ValueId,
    pub(super) next: HistoryId,
}

/// Up to so many edges are searched linearly.
const MAX_LINEAR_EDGES: usize = 8;

impl HistoryInfo {
    /// How the history continues after a value, if that is known.
    #[inline]
    fn after(&self, read: ValueId) -> Option<HistoryEdge> {
        let edges = self.edges.as_slice();
        if edges.len() > MAX_LINEAR_EDGES {
            let at = edges.binary_search_by_key(&read, |edge| edge.read).ok()?;
            return Some(edges[at]);
        }
        edges.iter().find(|edge| edge.read == read).copied()
    }
}

/// What effects change in memory; later ones include earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryChange {
    /// Nothing.
    None,
    /// Quiet locations, by plain and relaxed stores.
    Private,
    /// Locks that are released.
    Unlock,
    /// Anything.
    Visible,
}

/// An effect in compact form.
#[derive(Clone, Copy)]
pub(super) enum CompactEffect {
    Store {
        location: LocationId,
        order: MemoryOrder,
        carries: bool,
        value: ValueId,
    },
    Unlock {
        lock: LocationId,
    },
    Fence {
        order: MemoryOrder,
    },
    StoreFence,
    Init {
        location: LocationId,
        value: ValueId,
    },
    Spawn {
        child: ThreadId,
    },
    WriteCell {
        location: LocationId,
    },
    Joint {
        step: JointStep,
    },
    /// A store of a quiet location.
    QuietStore {
        location: LocationId,
        order: MemoryOrder,
        carries: bool,
        value: ValueId,
    },
    /// Releases a quiet lock.
    QuietUnlock {
        lock: LocationId,
    },
    /// Writes a quiet cell.
    QuietCell {
        location: LocationId,
    },
}

impl CompactEffect {
    /// Returns `true` if the effect may be an event.
    pub(super) fn is_event(self) -> bool {
        match self {
            CompactEffect::Store { .. }
            | CompactEffect::Unlock { .. }
            | CompactEffect::Fence { .. }
            | CompactEffect::StoreFence
            | CompactEffect::WriteCell { .. } => true,
            CompactEffect::Init { .. }
            | CompactEffect::Spawn { .. }
            | CompactEffect::Joint { .. }
            | CompactEffect::QuietStore { .. }
            | CompactEffect::QuietUnlock { .. }
            | CompactEffect::QuietCell { .. } => false,
        }
    }

    /// What it changes.
    pub(super) fn change(self) -> MemoryChange {
        match self {
            CompactEffect::Fence { .. }
            | CompactEffect::StoreFence
            | CompactEffect::Joint { .. }
            | CompactEffect::Init { .. } => MemoryChange::None,
            CompactEffect::QuietStore { order, carries: false, .. }
                if order <= MemoryOrder::Relaxed =>
            {
                MemoryChange::Private
            }
            CompactEffect::Unlock { .. } => MemoryChange::Unlock,
            _ => MemoryChange::Visible,
        }
    }

    /// Returns `true` if it is a fence, an atomic store or an unlock, of a location that is not quiet.
    fn only_writes(self) -> bool {
        match self {
            CompactEffect::Store { order, .. } => order.is_atomic(),
            CompactEffect::Unlock { .. }
            | CompactEffect::Fence { .. }
            | CompactEffect::StoreFence => true,
            _ => false,
        }
    }
}

/// Everything that the search knows of histories.
#[derive(Default)]
pub(super) struct HistoryCache {
    histories: Vec<HistoryInfo>,
    /// By segment.
    segments: Vec<SegmentInfo>,
    /// The effects of all segments.
    pub(super) effects: Vec<CompactEffect>,
    pub(super) values: ValueTable,
    /// By location: whether it is quiet.
    quiet: Vec<bool>,
    /// The model, if the order of blind updates is left open.
    commuting: Option<OrderSemantics>,
}

impl HistoryCache {
    /// Creates an empty cache. The order of blind updates is left open if `commuting` is the model.
    pub(super) fn new(commuting: Option<OrderSemantics>) -> Self {
        HistoryCache { commuting, ..HistoryCache::default() }
    }

    /// Adds the next location.
    pub(super) fn add_location(&mut self, is_quiet: bool) {
        self.quiet.push(is_quiet);
    }

    /// The number of locations.
    pub(super) fn locations(&self) -> usize {
        self.quiet.len()
    }

    /// Returns `true` if the location is quiet.
    #[inline]
    pub(super) fn is_quiet_location(&self, location: LocationId) -> bool {
        self.quiet[location.index()]
    }

    /// The number of histories.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.histories.len()
    }

    /// The last segment of a history.
    #[inline]
    pub(super) fn segment(&self, history: HistoryId) -> &SegmentInfo {
        &self.segments[self.histories[history.0 as usize].segment as usize]
    }

    /// How a history continues after a value, if that is known.
    #[inline]
    pub(super) fn after(&self, history: HistoryId, read: ValueId) -> Option<HistoryEdge> {
        self.histories[history.0 as usize].after(read)
    }

    /// Whether the last read of a history can be left out.
    #[inline]
    pub(super) fn domination(&self, history: HistoryId) -> Domination {
        self.histories[history.0 as usize].domination
    }

    pub(super) fn set_domination(&mut self, history: HistoryId, domination: Domination) {
        self.histories[history.0 as usize].domination = domination;
    }

    /// Returns `true` if the last step of a history is known to change no memory.
    pub(super) fn is_silent(&self, history: HistoryId) -> bool {
        self.histories[history.0 as usize].is_silent_answer
            && self.segment(history).change == MemoryChange::None
    }

    /// As [`HistoryCache::is_silent`], but the step may contain plain and relaxed stores of quiet locations.
    pub(super) fn is_private(&self, history: HistoryId) -> bool {
        self.histories[history.0 as usize].is_silent_answer
            && self.segment(history).change <= MemoryChange::Private
    }

    /// Returns `true` if the question before the last segment of a history is known to have changed no memory.
    pub(super) fn is_silent_answer(&self, history: HistoryId) -> bool {
        self.histories[history.0 as usize].is_silent_answer
    }

    /// Returns `true` if a history was [ended](HistoryCache::end_history).
    pub(super) fn is_ended(&self, history: HistoryId) -> bool {
        self.histories[history.0 as usize].is_ended
    }

    /// Records that the question before a history has changed no memory.
    pub(super) fn note_silent_answer(&mut self, history: HistoryId) {
        self.histories[history.0 as usize].is_silent_answer = true;
    }

    /// Records that the end of a history was compared with earlier ones. Returns `false` if it was known.
    pub(super) fn note_compared(&mut self, history: HistoryId) -> bool {
        !std::mem::replace(&mut self.histories[history.0 as usize].is_compared, true)
    }

    /// Returns `true` if the end of a history was compared with earlier ones.
    pub(super) fn was_compared(&self, history: HistoryId) -> bool {
        self.histories[history.0 as usize].is_compared
    }

    /// The effects of the last segment of a history.
    pub(super) fn effects_of(&self, history: HistoryId) -> &[CompactEffect] {
        let (first, last) = self.segment(history).effects;
        &self.effects[first as usize..last as usize]
    }

    /// The join result of a thread that has ended with this history, if the joiner observes only a value.
    #[inline]
    pub(super) fn result(&self, history: HistoryId) -> Option<ValueId> {
        let result = self.histories[history.0 as usize].result;
        (result != ValueId::NONE).then_some(result)
    }

    /// Adds the histories and the segments that are new. Their locations must be [added](Self::add_location) before.
    pub(super) fn update(&mut self, histories: &LocalHistories) {
        for history in self.histories.len()..histories.len() {
            let history = HistoryId(history as u32);
            let segment = histories.segment_of(history);
            self.add_segments(histories, segment);
            let result = match histories.joined(history) {
                Answer::Value(value) => self.values.id(value),
                _ => ValueId::NONE,
            };
            let edges = SmallVec::new();
            self.histories.push(HistoryInfo {
                segment: segment.0,
                domination: Domination::Unknown,
                is_silent_answer: false,
                is_compared: false,
                is_ended: false,
                result,
                edges,
            });
        }
    }

    /// Records that a history has another last segment, because it repeats an earlier one.
    pub(super) fn end_history(&mut self, histories: &LocalHistories, history: HistoryId) {
        let segment = histories.segment_of(history);
        self.add_segments(histories, segment);
        let info = &mut self.histories[history.0 as usize];
        (info.segment, info.is_ended) = (segment.0, true);
    }

    /// Adds the segments that are new, up to this one.
    fn add_segments(&mut self, histories: &LocalHistories, last: SegmentId) {
        for new in self.segments.len()..=last.0 as usize {
            let info = self.segment_info(histories.segment(SegmentId(new as u32)));
            self.segments.push(info);
        }
    }

    fn segment_info(&mut self, segment: &Segment) -> SegmentInfo {
        let Segment { effects, end } = segment;
        let first = self.effects.len() as u32;
        for op in effects {
            let effect = self.compact_effect(op);
            self.effects.push(effect);
        }
        let mut info = SegmentInfo {
            pending: PendingKind::Ended,
            asked: PendingKind::Ended,
            order: MemoryOrder::Relaxed,
            failure_order: MemoryOrder::Relaxed,
            is_weak: false,
            is_blind: false,
            carries: false,
            spawns: effects.iter().any(|op| matches!(op.kind, OpKind::Spawn { .. })),
            is_unfinished: !matches!(end, End::Question(_) | End::Finished),
            begins_run: false,
            is_decided: true,
            only_writes: self.effects[first as usize..].iter().all(|it| it.only_writes()),
            change: self.effects[first as usize..]
                .iter()
                .map(|it| it.change())
                .max()
                .unwrap_or(MemoryChange::None),
            events: self.effects[first as usize..].iter().filter(|it| it.is_event()).count() as u32,
            target: PendingTarget::NONE,
            expected: ValueId::NONE,
            effects: (first, self.effects.len() as u32),
        };
        if let End::Question(op) = end {
            self.set_pending_op(op, &mut info);
        }
        let is_quiet = |effect: &CompactEffect| {
            matches!(
                effect,
                CompactEffect::QuietStore { .. }
                    | CompactEffect::QuietUnlock { .. }
                    | CompactEffect::QuietCell { .. }
            )
        };
        let has_quiet = self.effects[first as usize..].iter().any(is_quiet);
        info.is_decided = !has_quiet && info.pending != PendingKind::Quiet;
        info.begins_run = !info.is_decided && !info.spawns;
        info
    }

    fn set_pending_op(&mut self, op: &Op, info: &mut SegmentInfo) {
        info.target = op.kind.location().map_or(PendingTarget::NONE, PendingTarget::of_location);
        info.carries = op.carries();
        info.pending = match op.kind {
            OpKind::Load { order, .. } => {
                info.order = order;
                PendingKind::Load
            }
            OpKind::Rmw { order, update, is_blind, .. } => {
                info.order = order;
                info.is_blind = is_blind
                    && update.commutes_with(&update)
                    && self.commuting.is_some_and(|model| model.blind_updates_commute(order));
                PendingKind::Update
            }
            OpKind::CompareExchange { expected, success, failure, weak, .. } => {
                info.expected = self.values.id(expected);
                (info.order, info.failure_order, info.is_weak) = (success, failure, weak);
                PendingKind::CompareExchange
            }
            OpKind::Lock { .. } => {
                info.order = MemoryOrder::AcqRel;
                PendingKind::Lock
            }
            OpKind::Sync { .. } => {
                info.order = MemoryOrder::AcqRel;
                PendingKind::Sync
            }
            OpKind::Join { thread, .. } => {
                info.target = PendingTarget::of_thread(thread);
                PendingKind::Join
            }
            OpKind::Choose { .. } => PendingKind::Choose,
            OpKind::ReadCell { .. } => PendingKind::Cell,
            _ => unreachable!("an effect is not a question: {op:?}"),
        };
        info.asked = info.pending;
        if op.kind.location().is_some_and(|location| self.is_quiet_location(location)) {
            info.pending = PendingKind::Quiet;
        }
    }

    fn compact_effect(&mut self, op: &Op) -> CompactEffect {
        let is_quiet = op.kind.location().is_some_and(|location| self.is_quiet_location(location));
        match op.kind {
            OpKind::Store { location, value, order, carries } => {
                let value = self.values.id(value);
                if is_quiet {
                    return CompactEffect::QuietStore { location, order, carries, value };
                }
                CompactEffect::Store { location, order, carries, value }
            }
            OpKind::Unlock { lock } if is_quiet => CompactEffect::QuietUnlock { lock },
            OpKind::Unlock { lock } => CompactEffect::Unlock { lock },
            OpKind::WriteCell { location } if is_quiet => CompactEffect::QuietCell { location },
            OpKind::Fence { order } => CompactEffect::Fence { order },
            OpKind::StoreFence => CompactEffect::StoreFence,
            OpKind::Init { location, value } => {
                CompactEffect::Init { location, value: self.values.id(value) }
            }
            OpKind::Spawn { thread } => CompactEffect::Spawn { child: thread },
            OpKind::WriteCell { location } => CompactEffect::WriteCell { location },
            OpKind::Joint(step) => CompactEffect::Joint { step },
            _ => unreachable!("a question is not an effect: {op:?}"),
        }
    }

    /// Records that a history continues with another one after a value.
    pub(super) fn connect(
        &mut self,
        history: HistoryId,
        read: ValueId,
        written: ValueId,
        next: HistoryId,
    ) {
        let edges = &mut self.histories[history.0 as usize].edges;
        let at = edges.partition_point(|edge| edge.read < read);
        edges.insert(at, HistoryEdge { read, written, next });
    }

    /// The answer that tells a thread a value, or nothing.
    pub(super) fn answer(&self, read: ValueId) -> Answer {
        match read {
            ValueId::NONE => Answer::Initial,
            value => Answer::Value(self.values.get(value)),
        }
    }
}
