//! What an explorer asks a memory model while an execution grows and shrinks.
//!
//! An explorer extends a consistent execution event by event and takes the last events back. Events
//! have dense ids in the order in which they were added, so ids are positions of a stack, and sets of
//! events are rows of bits ([`EventSet`]). Stores, fences, releases, spawns and joins can always be added; a
//! read can be added with some sources and not with others, and that is what the model decides.
//!
//! The execution must be closed under prefixes for this to work: what remains after the last events are
//! taken back is consistent, and a po-last store or fence, and a read of the last write of a
//! modification order, can always be added. All our models are so.

use raddle_core::execution::MemoryOrder;

use crate::event_set::EventSet;

/// How an event reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// A load.
    Load,
    /// A compare-exchange. It waits for an empty store buffer; as it may fail, it may observe a write
    /// that an update has read.
    Compare,
    /// An update (or an acquire, which updates its lock): no two of them observe the same write.
    Update,
}

/// What a read does in all, once its source is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It only reads: a load.
    Load,
    /// It only reads, but is a failed compare-exchange: it waits for an empty store buffer.
    Failed,
    /// It also writes: an update or a successful compare-exchange.
    Update,
    /// It acquires a lock, or synchronizes by an object: as an update, and it acquires and releases in
    /// every model.
    Sync,
}

/// The writes that a read may observe: a superset of those with which [`IncrementalModel::try_read`] succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sources<R> {
    /// Writes that are events.
    pub writes: R,
    /// Whether the initial write is among them.
    pub initial: bool,
}

/// What to use. Everything, unless the use of something is to be measured: the same is found without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RvfOptions {
    /// Backtrack signals: other threads are skipped where nothing new can come from them.
    pub signals: bool,
    /// Closure: what every witness must obey is derived before one is searched for.
    pub closure: bool,
    /// Guidance: a witness is made from the last one.
    pub guidance: bool,
    /// Open classes: a read may also observe what others write later, if that has the value that it has read. Every
    /// combination of local histories is found, but executions may be found more than once.
    pub open: bool,
    /// Order: a thread whose location the fewest others write is expanded first.
    pub order: bool,
}

impl Default for RvfOptions {
    fn default() -> Self {
        RvfOptions { signals: true, closure: true, guidance: true, open: false, order: true }
    }
}

/// A memory model that follows an execution.
///
/// Threads and locations are small dense numbers. `event` is always the next free id, one more than
/// the last one that was handed in; ids grow with the stack. All orders are as the program has them;
/// the model replaces what it lacks.
pub trait IncrementalModel<R: EventSet> {
    /// Whether fences are events, with ids; otherwise `push_fence` gets none.
    const FENCES_ARE_EVENTS: bool;

    /// Whether a race with a non-atomic access is an error; otherwise such an access is like any other.
    const RACES: bool;

    /// Whether a read observes any of several writes that have the same value: those that it was
    /// [offered](IncrementalModel::offer). Otherwise it observes one.
    const BY_VALUE: bool = false;

    /// Nothing has happened yet.
    fn new(threads: usize, locations: usize) -> Self;

    /// Leaves out what is not wanted, before anything happens.
    fn configure(&mut self, _options: &RvfOptions) {}

    /// The thread stores to the location.
    fn push_store(&mut self, event: usize, thread: usize, location: usize, order: MemoryOrder);

    /// The thread releases a lock that it holds: an update of its own acquire, `acquire`.
    fn push_unlock(&mut self, event: usize, thread: usize, lock: usize, acquire: usize);

    /// The thread does a fence. `event` is meaningless unless fences are events.
    fn push_fence(&mut self, event: usize, thread: usize, order: MemoryOrder);

    /// The thread does a store-store fence: under the C11 models a release fence. Never an event of
    /// its own unless fences are events.
    fn push_store_fence(&mut self, event: usize, thread: usize);

    /// The thread starts another one, which has no events yet. Drains the store buffer.
    fn push_spawn(&mut self, parent: usize, child: usize);

    /// The thread has waited for the end of another one, whose store buffer is empty now.
    fn push_join(&mut self, parent: usize, child: usize);

    /// The thread starts, or has come to its end: a step of it that is no event and has no location. The
    /// order of sequentially consistent accesses respects it.
    #[inline]
    fn push_mark(&mut self, _thread: usize) {}

    /// The thread accesses memory that the model knows nothing of: an event that has a place in
    /// happens-before, and nothing else.
    fn push_access(&mut self, event: usize, thread: usize);

    /// Which writes the next event of the thread, a read of the location, may observe.
    fn sources(
        &mut self,
        thread: usize,
        location: usize,
        reads: Reads,
        order: MemoryOrder,
    ) -> Sources<R>;

    /// The read that is added next may observe any of these writes. Matters to faces by value only; what
    /// is then given as the source is one of them.
    #[inline]
    fn offer(&mut self, _event: usize, _good: Sources<R>) {}

    /// The read may observe the write as well, which is the last event. Matters to faces by value only.
    fn extend_good(&mut self, _read: usize, _write: usize) {}

    /// Adds a read of the location that observes `source` (`None`: the initial write), if the
    /// execution stays consistent; otherwise nothing changes. A success starts a new level: [`IncrementalModel::pop`]
    /// takes back the read and all that was pushed after it.
    fn try_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> bool;

    /// Whether [`IncrementalModel::try_read`] would succeed. Nothing changes.
    #[inline]
    fn admits(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> bool {
        if self.admits_at_once(event, thread, location, source, effect) {
            return true;
        }
        let admitted = self.try_read(event, thread, location, source, effect, order);
        if admitted {
            self.pop();
        }
        admitted
    }

    /// Whether the read is seen to be admitted without adding it. False says nothing.
    #[inline]
    fn admits_at_once(
        &mut self,
        _event: usize,
        _thread: usize,
        _location: usize,
        _source: Option<usize>,
        _effect: Effect,
    ) -> bool {
        false
    }

    /// Starts a new level without a read, for what the thread does after a choice or a join.
    fn push_level(&mut self, thread: usize);

    /// Takes back the last successful read, or the last level, and all that was pushed after it.
    fn pop(&mut self);

    /// Whether some consistent order of the execution has all these writes (`None`: the initial one)
    /// last in their locations. Asked where threads wait for values that they cannot see.
    fn can_be_last(&mut self, last: &[(usize, Option<usize>)]) -> bool;

    /// As [`IncrementalModel::can_be_last`], with one of several writes last in each location.
    fn can_be_last_of(&mut self, last: &[(usize, Sources<R>)]) -> bool {
        let only = |&(location, good): &(usize, Sources<R>)| (location, good.writes.first());
        let last: Vec<(usize, Option<usize>)> = last.iter().map(only).collect();
        self.can_be_last(&last)
    }

    /// What a read observes in some run of the execution, if that was added with this source.
    fn observed(&self, _event: usize, source: Option<usize>) -> Option<usize> {
        source
    }

    /// All that a read may observe which was added with this source.
    fn good_writes(&self, _event: usize, source: Option<usize>) -> Sources<R> {
        Sources { writes: source.map_or(R::default(), R::one), initial: source.is_none() }
    }

    /// The events that happen before the next event of the thread, for races.
    fn happened_before(&self, thread: usize) -> R;

    /// Whether something happened that this face cannot follow, so that its answers since then mean
    /// nothing. Its makers say which face can. Once lost, it stays so.
    fn needs_stronger_model(&self) -> bool {
        false
    }
}
