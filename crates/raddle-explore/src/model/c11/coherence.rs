//! Coherence and happens-before of an execution that grows and shrinks.
//!
//! *Problem.* Which writes may the next read of a thread observe, so that modification orders exist that satisfy write
//! coherence, read coherence and atomicity?
//!
//! *Idea.* A thread *knows* a write if it wrote it, read it, or if such an event happened before. A write comes after
//! all writes that its thread knows ([`ForcedMo`] keeps that order). A read may observe exactly the writes that do
//! not precede one that its thread knows; then all other known writes precede the observed one. What a thread knows is
//! a set of events ([`ThreadView`]), and so is the *message* of a write: what a read of it learns if it acquires. A
//! releasing write sends what its thread knows, another write what the thread knew at its last release fence; an update
//! also sends the message of its source. Under RC11 a later write of the same thread to the location also sends what an
//! earlier releasing one did.
//!
//! *Paper.* Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis, *Optimal Reads-From Consistency Checking for
//! C11-Style Memory Models*, PLDI 2023. There sets are vector clocks; here they are bits, which for executions of some
//! dozens of events is a word instead of a vector, and the answer for all sources is a mask.
//!
//! *Cost.* A few set operations per event, and see [`ForcedMo`]. Allocates only to make room for more levels.
//! Everything can be undone, level by level.

use std::marker::PhantomData;

use raddle_core::execution::{LocationId, ThreadId};

use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{NewRead, NewUnlock, ReadEffect, ReadKind, RfSources};

use super::forced_mo::ForcedMo;
use super::models::{Rules, Strength, access};
use super::thread_table::{ThreadTable, ThreadViewState};
use super::thread_view::ThreadView;

/// State to restore when a level is undone.
#[derive(Clone, Copy, Debug)]
struct CoherenceLevel<R> {
    events: usize,
    forced: usize,
    threads: usize,
    taken: R,
    releases: R,
}

/// The location that an event writes, and what it read if it is an update ([`RfSource::NONE`] if not).
#[derive(Clone, Copy, Debug)]
struct WrittenLocation {
    location: LocationId,
    source: RfSource,
}

/// An execution under a model whose rules are `M`.
pub(super) struct CoherentExecution<M, R: EventSet, V: ThreadView<R>> {
    pub(super) forced: ForcedMo<R>,
    pub(super) threads: ThreadTable<R, V>,
    /// The number of events.
    events: usize,
    /// By event: what it writes, if it does.
    written: R::Map<Option<WrittenLocation>>,
    /// By write: what acquiring reads learn from it.
    message: R::Map<V>,
    /// By releasing write: what its thread knew. Meaningless unless later writes of the thread send that, too.
    sent: R::Map<V>,
    /// The releasing writes, under the same condition.
    releases: R,
    /// The writes that an update has read.
    taken: R,
    levels: Vec<CoherenceLevel<R>>,
    marker: PhantomData<M>,
}

/// A read with its source, and with what the model makes of its memory order.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoherentRead {
    pub(super) event: EventIndex,
    pub(super) thread: ThreadId,
    pub(super) location: LocationId,
    pub(super) source: RfSource,
    pub(super) effect: ReadEffect,
    pub(super) strength: Strength,
}

impl CoherentRead {
    /// The read under a model. Synchronization objects have the same strength in all models.
    #[inline]
    pub(super) fn new<M: Rules>(read: NewRead, source: RfSource) -> Self {
        let NewRead { event, thread, location, effect, order } = read;
        let strength = match effect {
            ReadEffect::Sync => Strength::OBJECT,
            _ => access::<M>(order),
        };
        CoherentRead { event, thread, location, source, effect, strength }
    }

    /// An unlock, which is an update that reads the thread's own acquire.
    #[inline]
    pub(super) fn unlock(unlock: NewUnlock) -> Self {
        let NewUnlock { event, thread, lock, acquire } = unlock;
        let (effect, strength) = (ReadEffect::Sync, Strength::OBJECT);
        CoherentRead { event, thread, location: lock, source: acquire.into(), effect, strength }
    }

    #[inline]
    pub(super) fn writes(&self) -> bool {
        self.effect.writes()
    }
}

/// A store, with what the model makes of its memory order.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoherentStore {
    pub(super) event: EventIndex,
    pub(super) thread: ThreadId,
    pub(super) location: LocationId,
    pub(super) strength: Strength,
}

impl<M: Rules, R: EventSet, V: ThreadView<R>> CoherentExecution<M, R, V> {
    pub(super) fn new(threads: usize, locations: usize) -> Self {
        CoherentExecution {
            forced: ForcedMo::new(locations),
            threads: ThreadTable::new(threads),
            events: 0,
            written: R::Map::filled(None),
            message: R::Map::filled(V::default()),
            sent: R::Map::filled(V::default()),
            releases: R::default(),
            taken: R::default(),
            levels: vec![],
            marker: PhantomData,
        }
    }

    #[inline]
    fn grow(&mut self, thread: ThreadId, location: LocationId) {
        self.threads.grow(thread);
        self.forced.grow(location);
    }

    /// The writes of a location that a thread knows.
    #[inline]
    pub(super) fn known(&self, thread: ThreadId, location: LocationId) -> R {
        let seen = self.threads.get(thread).map_or(R::default(), |thread| thread.now.seen());
        seen.and(&self.forced.writes(location))
    }

    /// Adds a store. Calls `enter` when all that happened before it is known.
    #[inline]
    pub(super) fn store(
        &mut self,
        store: CoherentStore,
        enter: impl FnOnce(&mut ThreadViewState<R, V>),
    ) {
        let CoherentStore { event, thread, location, .. } = store;
        self.grow(thread, location);
        let known = self.known(thread, location);
        if M::MODIFICATION_ORDER {
            self.forced.store(event, location, known);
        } else {
            self.forced.add_unordered(event, location, false, known);
        }
        self.happen(event, thread, enter);
        self.send(store, V::default());
        self.written[event] = Some(WrittenLocation { location, source: RfSource::NONE });
    }

    /// Adds an event to its thread.
    #[inline]
    fn happen(
        &mut self,
        event: EventIndex,
        thread: ThreadId,
        enter: impl FnOnce(&mut ThreadViewState<R, V>),
    ) {
        debug_assert!(event.index() < R::BITS, "the sets have no room for {event:?}");
        self.events = event.index() + 1;
        self.written[event] = None;
        let thread = self.threads.change(thread);
        enter(thread);
        thread.own.insert(event);
        thread.now.happen(event);
    }

    /// Adds an access of memory that no op carries: it only happens.
    pub(super) fn cell_access(&mut self, event: EventIndex, thread: ThreadId) {
        self.threads.grow(thread);
        self.events = event.index() + 1;
        self.written[event] = None;
        self.threads.change(thread).now.happen(event);
    }

    /// Makes a write known to its thread, and computes its message; `message` is what it sends anyway.
    #[inline]
    fn send(&mut self, write: CoherentStore, mut message: V) {
        let CoherentStore { event, thread, location, strength } = write;
        let thread = self.threads.change(thread);
        thread.now.see(event);
        if strength.releases {
            message.join(&thread.now);
        } else if M::FENCES && strength.atomic {
            message.join(&thread.fence);
        }
        if M::LONG_RELEASE_SEQUENCES && strength.releases {
            self.sent[event] = thread.now.clone();
            self.releases.insert(event);
        } else if M::LONG_RELEASE_SEQUENCES && strength.atomic {
            let earlier = self.releases.and(&thread.own).and(&self.forced.writes(location));
            if let Some(earlier) = earlier.last() {
                message.join(&self.sent[earlier]);
            }
        }
        self.message[event] = message;
    }

    /// The writes that a read may observe according to coherence. Exact.
    #[inline]
    pub(super) fn sources(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        kind: ReadKind,
    ) -> RfSources<R> {
        self.forced.grow(location);
        let known = self.known(thread, location);
        let mut writes =
            self.forced.writes(location).minus(&self.forced.overwritten(known.clone()));
        let mut initial = known.is_empty();
        if kind == ReadKind::Update {
            writes = writes.minus(&self.taken);
            initial &= !self.forced.initial_is_taken(location);
        }
        RfSources { writes, initial }
    }

    /// Returns `true` if coherence admits the read.
    #[inline]
    pub(super) fn admits(&mut self, read: &CoherentRead) -> bool {
        self.grow(read.thread, read.location);
        let is_taken = read.writes()
            && match read.source.event() {
                Some(source) => self.taken.has(source),
                None => self.forced.initial_is_taken(read.location),
            };
        !is_taken && self.forced.admits(read.source, &self.known(read.thread, read.location))
    }

    #[inline]
    fn message_of(&self, source: RfSource) -> V {
        source.event().map_or(V::default(), |source| self.message[source].clone())
    }

    /// Adds a read that coherence admits. Calls `enter` when all that happened before it is known.
    #[inline]
    pub(super) fn read(
        &mut self,
        read: &CoherentRead,
        enter: impl FnOnce(&mut ThreadViewState<R, V>),
    ) {
        let CoherentRead { event, thread, location, source, strength, .. } = *read;
        let message = self.message_of(source);
        if M::MODIFICATION_ORDER
            && let Some(source) = source.event()
        {
            self.forced.observe(location, source, &self.known(thread, location));
        }
        self.events = event.index() + 1;
        self.written[event] = None;
        let thread = self.threads.change(thread);
        // The thread learns the message now if the read acquires, otherwise at its next acquire fence.
        if strength.acquires {
            thread.now.join(&message);
        } else if M::FENCES && strength.atomic {
            thread.heard.join(&message);
        }
        enter(thread);
        thread.own.insert(event);
        thread.now.happen(event);
        if M::MODIFICATION_ORDER
            && let Some(source) = source.event()
        {
            thread.now.see(source);
        }
        if read.writes() {
            self.update(read, message);
        }
    }

    /// Adds the write of an update; `message` is that of its source.
    #[inline]
    fn update(&mut self, read: &CoherentRead, message: V) {
        let CoherentRead { event, thread, location, source, strength, .. } = *read;
        if M::MODIFICATION_ORDER {
            self.forced.update(event, location, source);
        } else {
            let known = self.known(thread, location);
            self.forced.add_unordered(event, location, source.is_initial(), known);
        }
        source.event().into_iter().for_each(|source| self.taken.insert(source));
        self.send(CoherentStore { event, thread, location, strength }, message);
        self.written[event] = Some(WrittenLocation { location, source });
    }

    /// Adds an unlock. Calls `enter` when all that happened before it is known.
    #[inline]
    pub(super) fn unlock(
        &mut self,
        unlock: &CoherentRead,
        enter: impl FnOnce(&mut ThreadViewState<R, V>),
    ) {
        self.grow(unlock.thread, unlock.location);
        self.happen(unlock.event, unlock.thread, enter);
        self.update(unlock, self.message_of(unlock.source));
    }

    /// Adds a fence, which is an event or not. Calls `enter` if it is one.
    #[inline]
    pub(super) fn fence(
        &mut self,
        event: Option<EventIndex>,
        thread: ThreadId,
        strength: Strength,
        enter: impl FnOnce(&mut ThreadViewState<R, V>),
    ) {
        self.threads.grow(thread);
        if M::FENCES && strength.acquires {
            let thread = self.threads.change(thread);
            let heard = &thread.heard;
            thread.now.join(heard);
        }
        if let Some(event) = event {
            self.happen(event, thread, enter);
        }
        if M::FENCES && strength.releases {
            let thread = self.threads.change(thread);
            thread.fence = thread.now.clone();
        }
    }

    /// Lets all that a thread did and knows happen before the next event of another one.
    #[inline]
    pub(super) fn synchronize(&mut self, from: ThreadId, to: ThreadId) {
        self.threads.grow(from.max(to));
        let now = self.threads.get(from).map_or(V::default(), |thread| thread.now.clone());
        self.threads.change(to).now.join(&now);
    }

    /// The number of events.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.events
    }

    /// Begins a level.
    #[inline]
    pub(super) fn push_level(&mut self) {
        let (forced, threads) = (self.forced.mark(), self.threads.enter());
        let (events, taken, releases) = (self.events, self.taken.clone(), self.releases.clone());
        self.levels.push(CoherenceLevel { events, forced, threads, taken, releases });
    }

    /// Undoes the last level.
    #[inline]
    pub(super) fn pop(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        for event in (level.events..self.events).rev().map(EventIndex::new) {
            if let Some(WrittenLocation { location, source }) = self.written[event] {
                self.forced.remove(event, location, source);
            }
        }
        self.forced.undo_to(level.forced);
        self.threads.leave(level.threads);
        (self.events, self.taken, self.releases) = (level.events, level.taken, level.releases);
    }

    /// The events of a thread, without accesses of cells.
    pub(super) fn events_of(&self, thread: ThreadId) -> R {
        self.threads.get(thread).map_or(R::default(), |thread| thread.own.clone())
    }

    /// The events that happened before the next one of a thread.
    pub(super) fn happened_before(&self, thread: ThreadId) -> R {
        self.threads.get(thread).map_or(R::default(), |thread| thread.now.happened())
    }
}
