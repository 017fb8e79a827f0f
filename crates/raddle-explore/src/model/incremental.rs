//! The interface between an explorer and a memory model while an execution grows and shrinks.
//!
//! An explorer extends a consistent execution event by event and removes the last events again. Events form a stack
//! ([`EventIndex`]), and sets of events are bits ([`EventSet`]). Stores, fences, unlocks, spawns and joins can always
//! be added; a read can be added with some sources and not with others, which is what the model decides.
//!
//! This works for models whose executions are closed under prefixes: what remains after the last events are removed is
//! consistent, and a po-last store or fence, and a read of the last write of a modification order, can always be added.
//! All our models have this property.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::JointStep;

use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;

/// How a pending read reads, before its source and hence its effect is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadKind {
    /// A load.
    Load,
    /// A compare-exchange. It waits for an empty store buffer. As it may fail, it may observe a write that an update
    /// has read.
    CompareExchange,
    /// An update (or a lock, which updates its location): no two of them observe the same write.
    Update,
}

/// What a read does besides reading, once its source is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadEffect {
    /// Nothing: it is a load.
    Load,
    /// Nothing, but it is a failed compare-exchange: it waits for an empty store buffer.
    FailedCompareExchange,
    /// It writes: an update or a successful compare-exchange.
    Update,
    /// It locks a mutex, or synchronizes by another object: an update that acquires and releases in every model.
    Sync,
}

impl ReadEffect {
    /// Returns `true` if the read also writes.
    #[inline]
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, ReadEffect::Update | ReadEffect::Sync)
    }

    /// Returns `true` if it waits for an empty store buffer.
    #[inline]
    #[must_use]
    pub fn drains(self) -> bool {
        self != ReadEffect::Load
    }
}

/// A read that a thread waits to perform.
#[derive(Clone, Copy, Debug)]
pub struct PendingRead {
    /// The thread, whose next event it is.
    pub thread: ThreadId,
    /// The location that it reads.
    pub location: LocationId,
    /// How it reads.
    pub kind: ReadKind,
    /// Memory order, for a compare-exchange that of success.
    pub order: MemoryOrder,
}

/// An access of a location about which nothing is to be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuietStep {
    /// A load.
    Load,
    /// A store with this memory order.
    Store(MemoryOrder),
    /// An update, a compare-exchange, or an op of a lock or another synchronization object.
    Update,
}

/// A read to be added, all but its source.
#[derive(Clone, Copy, Debug)]
pub struct NewRead {
    /// The event that it becomes.
    pub event: EventIndex,
    /// The thread, whose next event it is.
    pub thread: ThreadId,
    /// The location that it reads.
    pub location: LocationId,
    /// What it does besides reading.
    pub effect: ReadEffect,
    /// Memory order.
    pub order: MemoryOrder,
}

/// A store to be added.
#[derive(Clone, Copy, Debug)]
pub struct NewStore {
    /// The event that it becomes.
    pub event: EventIndex,
    /// The thread, whose next event it is.
    pub thread: ThreadId,
    /// The location that it writes.
    pub location: LocationId,
    /// Memory order.
    pub order: MemoryOrder,
}

/// An unlock to be added: an update of the lock that observes the thread's own acquire.
#[derive(Clone, Copy, Debug)]
pub struct NewUnlock {
    /// The event that it becomes.
    pub event: EventIndex,
    /// The thread, which holds the lock.
    pub thread: ThreadId,
    /// The lock.
    pub lock: LocationId,
    /// The event with which the thread acquired it.
    pub acquire: EventIndex,
}

/// A set of writes of one location that a read may observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RfSources<R> {
    /// Those that are events.
    pub writes: R,
    /// Whether the initial write is among them.
    pub initial: bool,
}

impl<R: EventSet> RfSources<R> {
    /// The set of one source.
    #[inline]
    #[must_use]
    pub fn only(source: RfSource) -> Self {
        let writes = source.event().map_or(R::default(), R::one);
        RfSources { writes, initial: source.is_initial() }
    }

    /// The sources, the initial write first.
    pub fn iter(&self) -> impl Iterator<Item = RfSource> + use<R> {
        let initial = self.initial.then_some(RfSource::INITIAL);
        initial.into_iter().chain(self.writes.iter().map(RfSource::from))
    }

    /// Returns `true` if the source is in the set.
    #[inline]
    #[must_use]
    pub fn has(&self, source: RfSource) -> bool {
        source.event().map_or(self.initial, |event| self.writes.has(event))
    }
}

/// Optimisations of RF-partSMC and RVF-SMC. All of them but [`open`](RvfOptions::open) are on unless their effect is measured; the
/// result is the same without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RvfOptions {
    /// Backtrack signals: the other threads of a node are skipped if nothing new can come from them.
    pub signals: bool,
    /// Closure: derive what every witness must obey before searching for one.
    pub closure: bool,
    /// Guidance: search near the last witness.
    pub guidance: bool,
    /// Open classes: a read may also observe writes that are added later if they have the value that it has read. Every
    /// combination of local histories is found, but executions may be found more than once.
    pub open: bool,
    /// Order: expand a thread first whose location the fewest other threads write.
    pub order: bool,
    /// Quiet locations: accesses that are ordered by happens-before are not events. Never with
    /// [`open`](RvfOptions::open).
    pub quiet: bool,
}

impl Default for RvfOptions {
    fn default() -> Self {
        RvfOptions {
            signals: true,
            closure: true,
            guidance: true,
            open: false,
            order: true,
            quiet: true,
        }
    }
}

/// A memory model that follows an execution.
///
/// The event of a new read, store or unlock is always the next free position on the stack. Memory orders are those of
/// the program; the model decides what they mean.
///
/// Adding and removing is organised in *levels*: a successful [`try_read`](IncrementalModel::try_read) or a
/// [`push_level`](IncrementalModel::push_level) begins one, and [`pop`](IncrementalModel::pop) removes the last one
/// with everything that was added since.
pub trait IncrementalModel<R: EventSet> {
    /// Returns `true` if fences are events; otherwise the event of [`push_fence`](IncrementalModel::push_fence) is
    /// meaningless. This and the next three are constants of the model.
    fn fences_are_events(&self) -> bool;

    /// Returns `true` if a race with a non-atomic access is an error; otherwise such an access is like any other.
    fn races_are_errors(&self) -> bool;

    /// Returns `true` if a read observes any of several writes that have the same value, those that it was
    /// [offered](IncrementalModel::offer_sources); otherwise it observes one.
    #[inline]
    fn observes_by_value(&self) -> bool {
        false
    }

    /// Returns `true` if a store may reach memory before earlier ones of its thread, so that who observes it does not
    /// know these.
    #[inline]
    fn reorders_stores(&self) -> bool {
        false
    }

    /// Sets options, before anything is added.
    fn configure(&mut self, _options: &RvfOptions) {}

    /// Begins, describes or ends a joint access of a thread. Ignored by models of programs that have none.
    #[inline]
    fn push_joint(&mut self, _thread: ThreadId, _step: JointStep) {}

    /// Returns `true` if a thread is in the middle of a joint update.
    #[inline]
    fn updates_jointly(&self) -> bool {
        false
    }

    /// Adds a store.
    fn push_store(&mut self, store: NewStore);

    /// Adds an unlock.
    fn push_unlock(&mut self, unlock: NewUnlock);

    /// Adds a fence.
    fn push_fence(&mut self, event: EventIndex, thread: ThreadId, order: MemoryOrder);

    /// Adds a store-store fence: under the C11 models a release fence.
    fn push_store_fence(&mut self, event: EventIndex, thread: ThreadId);

    /// Adds a spawn of a thread that has no events yet. Drains the store buffer. Not an event.
    fn push_spawn(&mut self, parent: ThreadId, child: ThreadId);

    /// Adds a join of a thread that has ended; its store buffer is empty now. Not an event.
    fn push_join(&mut self, parent: ThreadId, child: ThreadId);

    /// Adds the begin or the end of a thread: a step that is not an event and has no location, but that the order of
    /// sequentially consistent accesses respects.
    #[inline]
    fn push_thread_boundary(&mut self, _thread: ThreadId) {}

    /// Adds an access of a location about which nothing is to be decided: a step that is not an event and has no
    /// location. It may empty the store buffer of its thread.
    #[inline]
    fn push_quiet_access(&mut self, _thread: ThreadId, _step: QuietStep) {}

    /// Adds an access of memory that no op carries: an event that only has a place in happens-before.
    fn push_cell_access(&mut self, event: EventIndex, thread: ThreadId);

    /// The writes that a pending read may observe: a superset of those with which [`IncrementalModel::try_read`]
    /// succeeds.
    fn sources(&mut self, read: PendingRead) -> RfSources<R>;

    /// Sets the good-writes of the read that is added next. Its source is then one of them. Ignored unless
    /// [`IncrementalModel::observes_by_value`].
    #[inline]
    fn offer_sources(&mut self, _event: EventIndex, _good: RfSources<R>) {}

    /// Adds a write, which is the last event, to the good-writes of a read. Ignored unless
    /// [`IncrementalModel::observes_by_value`].
    fn add_good_write(&mut self, _read: EventIndex, _write: EventIndex) {}

    /// Adds a read with this source and returns `true`, if the execution stays consistent; otherwise changes nothing. A
    /// success begins a level.
    fn try_read(&mut self, read: NewRead, source: RfSource) -> bool;

    /// Returns `true` if [`IncrementalModel::try_read`] would succeed. Changes nothing.
    #[inline(always)]
    fn admits(&mut self, read: NewRead, source: RfSource) -> bool {
        if self.admits_cheaply(read, source) {
            return true;
        }
        let admitted = self.try_read(read, source);
        if admitted {
            self.pop();
        }
        admitted
    }

    /// Returns `true` only if [`IncrementalModel::try_read`] would succeed, and only if that is cheap to see.
    #[inline]
    fn admits_cheaply(&mut self, _read: NewRead, _source: RfSource) -> bool {
        false
    }

    /// Begins a level without a read, for what the thread does after a choice or a join.
    fn push_level(&mut self, thread: ThreadId);

    /// Removes the last level with everything that was added since it began.
    fn pop(&mut self);

    /// Returns `true` if some consistent order of the execution has all these writes last in their locations. Asked if
    /// threads wait forever for other values.
    fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool;

    /// As [`IncrementalModel::can_be_last`], with any of several writes last in each location.
    fn can_be_last_of(&mut self, last: &[(LocationId, RfSources<R>)]) -> bool {
        let only = |(location, good): &(LocationId, RfSources<R>)| {
            (*location, RfSource::from(good.writes.first()))
        };
        let last: Vec<(LocationId, RfSource)> = last.iter().map(only).collect();
        self.can_be_last(&last)
    }

    /// The write that a read, which was added with this source, observes in some run of the execution.
    fn observed(&self, _read: EventIndex, source: RfSource) -> RfSource {
        source
    }

    /// The writes that a read, which was added with this source, may observe.
    fn good_writes(&self, _read: EventIndex, source: RfSource) -> RfSources<R> {
        RfSources::only(source)
    }

    /// The events that happen before the next event of the thread, to find races.
    fn happened_before(&self, thread: ThreadId) -> R;

    /// The events of a thread, as far as they can happen before those of others.
    fn events_of(&self, thread: ThreadId) -> R;

    /// Returns `true` if something was added that this model cannot represent, so that its answers since then are
    /// meaningless. Never becomes `false` again, whatever is removed. The explorer then
    /// [restarts](crate::driver::Restart::StrongerModel) with a model that can.
    fn needs_stronger_model(&self) -> bool {
        false
    }
}

/// A model that begins with an execution without events.
pub trait NewModel: Sized {
    /// The model of an execution without events, with room for some threads and locations.
    fn new(threads: usize, locations: usize) -> Self;
}
