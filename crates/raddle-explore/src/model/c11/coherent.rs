//! Coherence and happens-before of an execution that grows and shrinks.
//!
//! *Problem.* Which writes may the next read of a thread observe, so that modification orders exist
//! which satisfy write coherence, read coherence and atomicity?
//!
//! *Idea.* A thread *knows* a write if it did it, read it, or if such an event happened before. A write
//! comes after all that its thread knows ([`Forced`] keeps that order). A read may observe exactly the
//! writes that are not before one that its thread knows, and then all the others known are before it.
//! What a thread knows is a row of bits ([`View`]); so is what a write tells those who acquire it. A
//! write hands on what its thread knows if it releases, or else what the thread knew at its last release
//! fence; an update hands on as well what its source does. Under RC11 a later write of the same thread
//! to the location also hands on what an earlier one that releases did.
//!
//! *Paper.* Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis, *Optimal Reads-From Consistency
//! Checking for C11-Style Memory Models*, PLDI 2023. There sets are vector clocks; here they are rows of
//! bits, which for executions of some dozens of events is a word instead of a vector, and the answer for
//! all sources is a mask.
//!
//! *Cost.* A few operations on rows for each event, and see [`Forced`]. Nothing is allocated but room
//! for more levels. Everything can be undone, level by level.

use std::marker::PhantomData;

use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{Effect, Reads, Sources};
use raddle_core::execution::MemoryOrder;

use super::forced::{Forced, NONE};
use super::models::{Rules, Strength, access};
use super::threads::{Thread, Threads};
use super::view::View;

/// What there was before a level.
#[derive(Clone, Copy, Debug)]
struct Level<R> {
    events: usize,
    forced: usize,
    threads: usize,
    taken: R,
    releases: R,
}

/// Where an event writes, and what it read as an update; [`NONE`] if it does not.
#[derive(Clone, Copy, Debug)]
struct Write {
    location: u32,
    source: u32,
}

const NO_WRITE: Write = Write { location: NONE, source: NONE };

/// An execution.
pub(super) struct Coherent<M, R: EventSet, V: View<R>> {
    pub(super) forced: Forced<R>,
    pub(super) threads: Threads<R, V>,
    /// The number of events.
    events: usize,
    /// By event.
    written: R::Map<Write>,
    /// By write: what acquires learn from it.
    message: R::Map<V>,
    /// By write that releases: what was known there. Only where that is inherited in a thread.
    sent: Vec<V>,
    /// The writes that release, if the same.
    releases: R,
    /// The writes that an update has read.
    taken: R,
    levels: Vec<Level<R>>,
    marker: PhantomData<M>,
}

/// A read to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) event: usize,
    pub(super) thread: usize,
    pub(super) location: usize,
    pub(super) source: Option<usize>,
    pub(super) effect: Effect,
    pub(super) strength: Strength,
}

impl Read {
    /// A read of a model. A synchronization object has the same strength in all of them.
    #[inline]
    pub(super) fn new<M: Rules>(
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> Self {
        let strength = if effect == Effect::Sync { Strength::OBJECT } else { access::<M>(order) };
        Read { event, thread, location, source, effect, strength }
    }

    #[inline]
    pub(super) fn writes(&self) -> bool {
        matches!(self.effect, Effect::Update | Effect::Sync)
    }
}

impl<M: Rules, R: EventSet, V: View<R>> Coherent<M, R, V> {
    pub(super) fn new(threads: usize, locations: usize) -> Self {
        Coherent {
            forced: Forced::new(locations),
            threads: Threads::new(threads),
            events: 0,
            written: R::Map::filled(NO_WRITE),
            message: R::Map::filled(V::default()),
            sent: vec![V::default(); if M::LONG_RELEASE_SEQUENCES { R::BITS } else { 0 }],
            releases: R::default(),
            taken: R::default(),
            levels: vec![],
            marker: PhantomData,
        }
    }

    #[inline]
    fn grow(&mut self, thread: usize, location: usize) {
        self.threads.grow(thread);
        self.forced.grow(location);
    }

    /// The writes of a location that a thread knows.
    #[inline]
    pub(super) fn known(&self, thread: usize, location: usize) -> R {
        let seen = self.threads.get(thread).map_or(R::default(), |thread| thread.now.seen());
        seen.and(self.forced.writes(location))
    }

    /// Adds a store. `enter` is told of it when what was before it is known.
    #[inline]
    pub(super) fn store(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        strength: Strength,
        enter: impl FnOnce(&mut Thread<R, V>),
    ) {
        self.grow(thread, location);
        let known = self.known(thread, location);
        if M::MODIFICATION_ORDER {
            self.forced.store(event, location, known);
        } else {
            self.forced.add_unordered(event, location, false, known);
        }
        self.happen(event, thread, enter);
        self.send(event, thread, location, strength, V::default());
        self.written[event] = Write { location: location as u32, source: NONE };
    }

    /// Adds an event to its thread.
    #[inline]
    pub(super) fn happen(
        &mut self,
        event: usize,
        thread: usize,
        enter: impl FnOnce(&mut Thread<R, V>),
    ) {
        debug_assert!(event < R::BITS, "an event has a bit");
        self.events = event + 1;
        self.written[event] = NO_WRITE;
        let thread = self.threads.change(thread);
        enter(thread);
        thread.own.insert(event);
        thread.now.happen(event);
    }

    /// Adds an access that coherence does not know: it only happens.
    pub(super) fn access(&mut self, event: usize, thread: usize) {
        self.threads.grow(thread);
        self.events = event + 1;
        self.written[event] = NO_WRITE;
        self.threads.change(thread).now.happen(event);
    }

    /// The write of an event: from now on its thread knows it, and others can learn from it.
    #[inline]
    fn send(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        strength: Strength,
        mut message: V,
    ) {
        let thread = self.threads.change(thread);
        thread.now.see(event);
        if strength.releases {
            message.join(&thread.now);
        } else if M::FENCES && strength.atomic {
            message.join(&thread.fence);
        }
        if M::LONG_RELEASE_SEQUENCES && strength.releases {
            self.sent[event] = thread.now;
            self.releases.insert(event);
        } else if M::LONG_RELEASE_SEQUENCES && strength.atomic {
            let earlier = self.releases.and(thread.own).and(self.forced.writes(location));
            if let Some(earlier) = earlier.last() {
                message.join(&self.sent[earlier]);
            }
        }
        self.message[event] = message;
    }

    /// The writes that a read may observe: exactly, as far as coherence goes.
    #[inline]
    pub(super) fn sources(&mut self, thread: usize, location: usize, reads: Reads) -> Sources<R> {
        self.forced.grow(location);
        let known = self.known(thread, location);
        let mut writes = self.forced.writes(location).minus(self.forced.overwritten(known));
        let mut initial = known.is_empty();
        if reads == Reads::Update {
            writes = writes.minus(self.taken);
            initial &= !self.forced.initial_is_taken(location);
        }
        Sources { writes, initial }
    }

    /// Whether coherence admits a read.
    #[inline]
    pub(super) fn admits(&mut self, read: &Read) -> bool {
        self.grow(read.thread, read.location);
        let is_taken = read.writes()
            && match read.source {
                Some(source) => self.taken.has(source),
                None => self.forced.initial_is_taken(read.location),
            };
        !is_taken && self.forced.admits(read.source, self.known(read.thread, read.location))
    }

    /// Adds a read that coherence admits.
    #[inline]
    pub(super) fn read(&mut self, read: &Read, enter: impl FnOnce(&mut Thread<R, V>)) {
        let Read { event, thread, location, source, strength, .. } = *read;
        let message = source.map_or(V::default(), |source| self.message[source]);
        if M::MODIFICATION_ORDER
            && let Some(source) = source
        {
            self.forced.observe(location, source, self.known(thread, location));
        }
        self.events = event + 1;
        self.written[event] = NO_WRITE;
        let thread = self.threads.change(thread);
        // It learns what the write tells: now if it acquires, and else at its next acquire fence.
        if strength.acquires {
            thread.now.join(&message);
        } else if M::FENCES && strength.atomic {
            thread.heard.join(&message);
        }
        enter(thread);
        thread.own.insert(event);
        thread.now.happen(event);
        if M::MODIFICATION_ORDER
            && let Some(source) = source
        {
            thread.now.see(source);
        }
        if read.writes() {
            self.update(read, message);
        }
    }

    /// The write of an update. `message` is what its source tells.
    #[inline]
    fn update(&mut self, read: &Read, message: V) {
        let Read { event, thread, location, source, strength, .. } = *read;
        if M::MODIFICATION_ORDER {
            self.forced.update(event, location, source);
        } else {
            let known = self.known(thread, location);
            self.forced.add_unordered(event, location, source.is_none(), known);
        }
        source.into_iter().for_each(|source| self.taken.insert(source));
        self.send(event, thread, location, strength, message);
        let source = source.map_or(NONE, |source| source as u32);
        self.written[event] = Write { location: location as u32, source };
    }

    /// Adds the release of a lock: an update of the thread's own acquire.
    #[inline]
    pub(super) fn unlock(&mut self, read: &Read, enter: impl FnOnce(&mut Thread<R, V>)) {
        self.grow(read.thread, read.location);
        self.happen(read.event, read.thread, enter);
        let message = read.source.map_or(V::default(), |source| self.message[source]);
        self.update(read, message);
    }

    /// Adds a fence, which may be an event.
    #[inline]
    pub(super) fn fence(
        &mut self,
        event: Option<usize>,
        thread: usize,
        strength: Strength,
        enter: impl FnOnce(&mut Thread<R, V>),
    ) {
        self.threads.grow(thread);
        if M::FENCES && strength.acquires {
            let thread = self.threads.change(thread);
            let heard = thread.heard;
            thread.now.join(&heard);
        }
        if let Some(event) = event {
            self.happen(event, thread, enter);
        }
        if M::FENCES && strength.releases {
            let thread = self.threads.change(thread);
            thread.fence = thread.now;
        }
    }

    /// All that a thread did and knows happens before what another one does next.
    #[inline]
    pub(super) fn synchronize(&mut self, from: usize, to: usize) {
        self.threads.grow(from.max(to));
        let now = self.threads.get(from).map_or(V::default(), |thread| thread.now);
        self.threads.change(to).now.join(&now);
    }

    /// The number of events.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.events
    }

    /// Starts a level.
    #[inline]
    pub(super) fn push_level(&mut self) {
        let (forced, threads) = (self.forced.mark(), self.threads.enter());
        let (events, taken, releases) = (self.events, self.taken, self.releases);
        self.levels.push(Level { events, forced, threads, taken, releases });
    }

    /// Takes the last level back.
    #[inline]
    pub(super) fn pop(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        for event in (level.events..self.events).rev() {
            let Write { location, source } = self.written[event];
            if location != NONE {
                self.forced.remove(event, location as usize, source);
            }
        }
        self.forced.undo_to(level.forced);
        self.threads.leave(level.threads);
        (self.events, self.taken, self.releases) = (level.events, level.taken, level.releases);
    }

    /// The events that happened before the next one of a thread.
    pub(super) fn happened_before(&self, thread: usize) -> R {
        self.threads.get(thread).map_or(R::default(), |thread| thread.now.happened())
    }
}
