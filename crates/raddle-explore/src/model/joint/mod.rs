//! SC, TSO and PSO with joint accesses: accesses of several locations at one moment.
//!
//! *Problem.* As for [`store_buffer`](super::store_buffer), but an access may consist of several locations, because other
//! accesses overlap a part of it. Its parts are added one after the other, each with a source of its own, and events of
//! other threads may be added in between. Is there a run in which all parts have one moment?
//!
//! *Idea.* All parts of a joint access are one *node*, and so is every other access. A witness is a linear order of nodes;
//! the writes of a node reach memory together. A part that is added later gives an old node more to obey. That node is the
//! last one of its thread, and nobody has read from it, so no other node changes.
//!
//! What every witness must obey is derived first (`saturate.rs`): rows of predecessors, kept from node to node of the search. A
//! cycle means no. Then a search (`linearize.rs`) that respects these rows and prefers the last witness makes the answer
//! exact. With single accesses it never has to try twice; with joint ones it does: four stores of halves of a word and four
//! loads of the word suffice.
//!
//! *Rejected.* Inserting a read into the witness, as for single accesses: it was not needed yet.
//!
//! *Cost.* O(n²) operations on sets for each source that is tried.

mod linearize;
mod saturate;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::orders::{FenceEffect, StoreBuffers, StoreEffect};
use raddle_core::program::{JointKind, JointStep, StoreForwarding};
use smallvec::SmallVec;

use super::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, QuietStep, ReadEffect,
    ReadKind, RfSources,
};
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;

/// Which store buffers there are.
const SC: u8 = 0;
const TSO: u8 = 1;
const PSO: u8 = 2;

/// Sequential consistency.
pub(crate) type JointSc<R> = JointModel<R, SC>;
/// Total store order.
pub(crate) type JointTso<R> = JointModel<R, TSO>;
/// Partial store order.
pub(crate) type JointPso<R> = JointModel<R, PSO>;

/// A node. Sets of nodes are sets of events by type.
type NodeIndex = EventIndex;

/// The locations of an access.
type Parts = SmallVec<[LocationId; 2]>;

/// The nodes that read a write, by location if it writes several.
#[derive(Clone)]
struct WrittenPart<R> {
    location: LocationId,
    /// The event that wrote it. `None` until it was added.
    event: Option<EventIndex>,
    readers: R,
}

/// A location that a node reads.
#[derive(Clone)]
struct ReadPart<R> {
    location: LocationId,
    /// `None`: the initial write.
    source: Option<NodeIndex>,
    /// The source was in the own store buffer, so that the read may precede it.
    is_forwarded: bool,
    /// The own writes of the location before it.
    own: R,
}

/// An access at one moment.
#[derive(Clone)]
struct Node<R> {
    parts: Parts,
    reads: SmallVec<[ReadPart<R>; 1]>,
    /// All parts, or none.
    writes: SmallVec<[WrittenPart<R>; 1]>,
}

/// A joint access that has begun.
#[derive(Clone)]
struct OpenAccess {
    kind: JointKind,
    parts: Parts,
    /// `None` if no part was added.
    node: Option<NodeIndex>,
}

/// State of a thread.
#[derive(Clone, Default)]
struct JointThread<R> {
    /// Its nodes.
    nodes: R,
    /// Those of its writes that may still be in its store buffer: none under SC.
    buffered: R,
    /// The nodes directly before its next read.
    front: R,
    /// Those of `buffered` that must precede its next write because of a store-store fence (PSO).
    fenced: R,
    /// Its events, and everything that happens before its next one: only for races.
    events: R,
    past: R,
    open: Option<OpenAccess>,
}

/// State to restore when a level is undone.
struct JointLevel<R> {
    nodes: usize,
    events: usize,
    thread: ThreadId,
    saved: JointThread<R>,
    rows: Vec<R>,
    dirty: R,
    witness: Vec<NodeIndex>,
    /// The node that the read of the level was added to, if it is an older one.
    extended: Option<NodeIndex>,
}

/// A model with store buffers and joint accesses that follows an execution.
pub(crate) struct JointModel<R: EventSet, const BUFFERS: u8> {
    threads: Vec<JointThread<R>>,
    nodes: Vec<Node<R>>,
    /// By node: the nodes that precede it in every witness, as far as that is known. Transitive.
    rows: Vec<R>,
    /// Nodes whose rules were not applied since they, their rows or their readers changed.
    dirty: R,
    /// By event: its node, and everything that happened before it; accesses of cells have no node.
    events: Vec<(Option<NodeIndex>, R)>,
    /// By location: the nodes that write it.
    writers: Vec<R>,
    /// By location: the nodes that read its initial write.
    initial_readers: Vec<R>,
    /// An order of the nodes. Those that were added since it was made are missing at its end.
    witness: Vec<NodeIndex>,
    levels: Vec<JointLevel<R>>,
}

impl<R: EventSet, const BUFFERS: u8> JointModel<R, BUFFERS> {
    /// The store buffers, as the table of orders names them.
    const KIND: StoreBuffers = match BUFFERS {
        SC => StoreBuffers::None,
        TSO => StoreBuffers::PerThread,
        PSO => StoreBuffers::PerLocation,
        _ => panic!("there are three kinds of store buffers"),
    };

    fn thread(&self, thread: ThreadId) -> &JointThread<R> {
        &self.threads[thread.index()]
    }

    /// The nodes that write one of the locations.
    fn writers_of(&self, parts: &[LocationId]) -> R {
        parts.iter().fold(R::default(), |all, part| all.or(&self.writers[part.index()]))
    }

    /// These nodes and everything before them.
    fn closed(&self, nodes: &R) -> R {
        nodes.iter().fold(nodes.clone(), |all, node| all.or(&self.rows[node.index()]))
    }

    /// The nodes directly before the next read of a thread.
    fn front_of_read(&self, thread: ThreadId, drains: bool, parts: &[LocationId]) -> R {
        let JointThread { front, buffered, .. } = self.thread(thread);
        if drains {
            return front.or(buffered);
        }
        match &self.thread(thread).open {
            Some(OpenAccess { kind: JointKind::Load(StoreForwarding::Wait), .. }) => {
                front.or(&self.overlapping(thread, parts))
            }
            _ => front.clone(),
        }
    }

    /// The stores in the own buffer that overlap these locations, unless the newest of them covers these.
    fn overlapping(&self, thread: ThreadId, parts: &[LocationId]) -> R {
        let overlapping = self.thread(thread).buffered.and(&self.writers_of(parts));
        let covers = |newest: NodeIndex| {
            parts.iter().all(|part| self.nodes[newest.index()].parts.contains(part))
        };
        match overlapping.last() {
            Some(newest) if !covers(newest) => overlapping,
            _ => R::default(),
        }
    }

    /// The nodes directly before the next store of a thread, which goes through the buffer.
    fn front_of_store(&self, thread: ThreadId, parts: &[LocationId]) -> R {
        let JointThread { front, buffered, fenced, .. } = self.thread(thread);
        match BUFFERS {
            TSO => front.or(buffered),
            _ => front.or(&buffered.and(&self.writers_of(parts))).or(fenced),
        }
    }

    /// Adds a node behind these.
    fn add_node(&mut self, thread: ThreadId, parts: Parts, front: &R) -> NodeIndex {
        let node = NodeIndex::new(self.nodes.len());
        self.rows.push(self.closed(front));
        self.nodes.push(Node { parts, reads: SmallVec::new(), writes: SmallVec::new() });
        let known = &mut self.threads[thread.index()];
        known.nodes.insert(node);
        if let Some(open) = &mut known.open {
            open.node = Some(node);
        }
        node
    }

    /// Adds an event.
    fn add_event(
        &mut self,
        thread: ThreadId,
        node: Option<NodeIndex>,
        observed: Option<EventIndex>,
    ) {
        let event = EventIndex::new(self.events.len());
        let observed = observed.map(|source| self.events[source.index()].1.clone());
        let known = &mut self.threads[thread.index()];
        known.events.insert(event);
        known.past.insert(event);
        if let Some(observed) = observed {
            known.past = known.past.or(&observed);
        }
        let past = known.past.clone();
        self.events.push((node, past));
    }

    /// Lets a node write its parts. Who reads before it what it overwrites must precede it.
    fn add_writes(&mut self, node: NodeIndex) {
        let parts = self.nodes[node.index()].parts.clone();
        for &location in &parts {
            self.writers[location.index()].insert(node);
            let part = WrittenPart { location, event: None, readers: R::default() };
            self.nodes[node.index()].writes.push(part);
        }
        self.dirty.insert(node);
    }

    /// Records that the event writes a part of the node.
    fn name_write(&mut self, node: NodeIndex, location: LocationId, event: EventIndex) {
        let mut parts = self.nodes[node.index()].writes.iter_mut();
        if let Some(part) = parts.find(|part| part.location == location) {
            part.event = Some(event);
        }
    }

    /// Adds a write that reaches memory at once, or through the buffer.
    fn add_write(
        &mut self,
        event: EventIndex,
        thread: ThreadId,
        location: LocationId,
        at_once: bool,
    ) {
        let at_once = BUFFERS == SC || at_once;
        let open = self.thread(thread).open.clone();
        let node = match open {
            Some(OpenAccess { node: Some(node), .. }) => node,
            open => {
                let parts = open.map_or_else(|| Parts::from_slice(&[location]), |it| it.parts);
                self.add_stored_node(thread, parts, at_once)
            }
        };
        self.name_write(node, location, event);
        self.add_event(thread, Some(node), None);
    }

    fn add_stored_node(&mut self, thread: ThreadId, parts: Parts, at_once: bool) -> NodeIndex {
        let front = match at_once {
            true => self.front_of_read(thread, true, &[]),
            false => self.front_of_store(thread, &parts),
        };
        let node = self.add_node(thread, parts, &front);
        self.add_writes(node);
        if at_once {
            self.set_front(thread, node, true);
        } else {
            self.threads[thread.index()].buffered.insert(node);
        }
        node
    }

    /// The node is the last one of its thread; it has emptied the buffer or not.
    fn set_front(&mut self, thread: ThreadId, node: NodeIndex, drains: bool) {
        let known = &mut self.threads[thread.index()];
        known.front = R::one(node);
        if drains {
            (known.buffered, known.fenced) = (R::default(), R::default());
        }
    }

    /// Empties the buffer of the thread, without an event.
    fn drain(&mut self, thread: ThreadId) {
        let known = &mut self.threads[thread.index()];
        known.front = known.front.or(&known.buffered);
        (known.buffered, known.fenced) = (R::default(), R::default());
    }

    /// The nodes that read a write.
    fn readers_mut(&mut self, source: Option<NodeIndex>, location: LocationId) -> Option<&mut R> {
        let Some(source) = source else {
            return Some(&mut self.initial_readers[location.index()]);
        };
        let mut parts = self.nodes[source.index()].writes.iter_mut();
        parts.find(|part| part.location == location).map(|part| &mut part.readers)
    }

    /// Adds a read to the node of its thread's joint access, or to a new one. Returns `false` if it is inconsistent because of
    /// the thread's own writes.
    fn add_read(&mut self, read: NewRead, source: RfSource) -> bool {
        let NewRead { thread, location, effect, .. } = read;
        let node = self.node_of_read(thread, location, effect);
        let source_node = source.event().and_then(|event| self.events[event.index()].0);
        let mut own = self.thread(thread).nodes.and(&self.writers[location.index()]);
        own.remove(node);
        let is_own = source_node.is_some_and(|source| own.has(source));
        let is_forwarded = source_node.is_some_and(|source| {
            self.thread(thread).buffered.has(source) && !self.rows[node.index()].has(source)
        });
        let agrees = if is_own {
            own.last() == source_node
        } else {
            own.is_empty() || source_node.is_some()
        };
        if let Some(source) = source_node {
            if !is_forwarded {
                let before = self.rows[source.index()].or(&R::one(source));
                self.order(&before, node);
            }
            if !is_own && !own.is_empty() {
                let before = self.closed(&own);
                self.order(&before, source);
            }
        }
        if let Some(readers) = self.readers_mut(source_node, location) {
            readers.insert(node);
        }
        let part = ReadPart { location, source: source_node, is_forwarded, own };
        self.nodes[node.index()].reads.push(part);
        self.dirty = self.dirty.or(&self.writers[location.index()]);
        self.dirty.insert(node);
        if effect.writes() {
            self.add_writes(node);
            self.name_write(node, location, read.event);
        }
        self.add_event(thread, Some(node), source.event());
        agrees
    }

    /// The node that a read belongs to.
    fn node_of_read(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        effect: ReadEffect,
    ) -> NodeIndex {
        let (drains, parts) = match &self.thread(thread).open {
            Some(OpenAccess { node: Some(node), .. }) => return *node,
            Some(open) => (open.kind == JointKind::Update, open.parts.clone()),
            None => (effect.drains(), Parts::from_slice(&[location])),
        };
        let front = self.front_of_read(thread, drains, &parts);
        let node = self.add_node(thread, parts, &front);
        self.set_front(thread, node, drains);
        node
    }

    fn push_checkpoint(&mut self, thread: ThreadId, is_read: bool) {
        let extended = self.thread(thread).open.as_ref().and_then(|open| open.node);
        self.levels.push(JointLevel {
            nodes: self.nodes.len(),
            events: self.events.len(),
            thread,
            saved: self.thread(thread).clone(),
            rows: self.rows.clone(),
            dirty: self.dirty.clone(),
            witness: self.witness.clone(),
            extended: extended.filter(|_| is_read),
        });
    }

    /// Removes the last read of a node.
    fn remove_read(&mut self, node: NodeIndex) {
        if let Some(ReadPart { location, source, .. }) = self.nodes[node.index()].reads.pop()
            && let Some(readers) = self.readers_mut(source, location)
        {
            readers.remove(node);
        }
    }

    fn remove_writes(&mut self, node: NodeIndex) {
        for part in std::mem::take(&mut self.nodes[node.index()].writes) {
            self.writers[part.location.index()].remove(node);
        }
    }

    /// Returns `true` if the execution has a witness, and keeps it.
    fn has_witness(&mut self) -> bool {
        if !self.saturate() {
            return false;
        }
        match self.linearize() {
            Some(witness) => {
                self.witness = witness;
                true
            }
            None => false,
        }
    }
}

impl<R: EventSet, const BUFFERS: u8> NewModel for JointModel<R, BUFFERS> {
    fn new(threads: usize, locations: usize) -> Self {
        let none = R::default();
        JointModel {
            threads: vec![JointThread::default(); threads],
            nodes: vec![],
            rows: vec![],
            dirty: none.clone(),
            events: vec![],
            writers: vec![none.clone(); locations],
            initial_readers: vec![none; locations],
            witness: vec![],
            levels: vec![],
        }
    }
}

impl<R: EventSet, const BUFFERS: u8> IncrementalModel<R> for JointModel<R, BUFFERS> {
    fn fences_are_events(&self) -> bool {
        false
    }

    fn races_are_errors(&self) -> bool {
        false
    }

    fn reorders_stores(&self) -> bool {
        BUFFERS == PSO
    }

    fn push_joint(&mut self, thread: ThreadId, step: JointStep) {
        let known = &mut self.threads[thread.index()];
        match step {
            JointStep::Begin(kind) => {
                known.open = Some(OpenAccess { kind, parts: Parts::new(), node: None });
            }
            JointStep::Part { location } => {
                if let Some(open) = &mut known.open {
                    open.parts.push(location);
                }
            }
            JointStep::End => known.open = None,
        }
    }

    fn updates_jointly(&self) -> bool {
        let is_update = |open: &OpenAccess| open.kind == JointKind::Update;
        self.threads.iter().any(|thread| thread.open.as_ref().is_some_and(is_update))
    }

    fn push_store(&mut self, store: NewStore) {
        let NewStore { event, thread, location, order } = store;
        let effect = Self::KIND.store(order);
        let has_begun = matches!(self.thread(thread).open, Some(OpenAccess { node: Some(_), .. }));
        if effect == StoreEffect::BufferedBehindFence && !has_begun {
            self.push_store_fence(event, thread);
        }
        self.add_write(event, thread, location, effect == StoreEffect::AtOnce);
    }

    fn push_unlock(&mut self, unlock: NewUnlock) {
        self.add_write(unlock.event, unlock.thread, unlock.lock, true);
    }

    fn push_fence(&mut self, event: EventIndex, thread: ThreadId, order: MemoryOrder) {
        match Self::KIND.fence(order) {
            FenceEffect::Drain => self.drain(thread),
            FenceEffect::StoreStore => self.push_store_fence(event, thread),
            FenceEffect::Nothing => {}
        }
    }

    fn push_store_fence(&mut self, _event: EventIndex, thread: ThreadId) {
        let known = &mut self.threads[thread.index()];
        known.fenced = known.buffered.clone();
    }

    fn push_spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.drain(parent);
        let JointThread { front, past, .. } = self.thread(parent).clone();
        self.threads[child.index()] = JointThread { front, past, ..JointThread::default() };
    }

    /// The state of the joined thread, which has ended, is not needed any more.
    fn push_join(&mut self, parent: ThreadId, child: ThreadId) {
        self.drain(parent);
        let JointThread { front, buffered, past, .. } = self.thread(child).clone();
        let known = &mut self.threads[parent.index()];
        known.front = known.front.or(&front).or(&buffered);
        known.past = known.past.or(&past);
    }

    fn push_quiet_access(&mut self, thread: ThreadId, step: QuietStep) {
        let effect = match step {
            QuietStep::Load => return,
            QuietStep::Store(order) => Self::KIND.store(order),
            QuietStep::Update => StoreEffect::AtOnce,
        };
        match effect {
            StoreEffect::Buffered => {}
            StoreEffect::AtOnce => self.drain(thread),
            StoreEffect::BufferedBehindFence => {
                let known = &mut self.threads[thread.index()];
                known.fenced = known.buffered.clone();
            }
        }
    }

    fn push_cell_access(&mut self, _event: EventIndex, thread: ThreadId) {
        self.add_event(thread, None, None);
    }

    fn sources(&mut self, read: PendingRead) -> RfSources<R> {
        let PendingRead { thread, location, kind, .. } = read;
        let writers = &self.writers[location.index()];
        let own = self.thread(thread).nodes.and(writers);
        let before = match &self.thread(thread).open {
            Some(OpenAccess { node: Some(node), .. }) => self.rows[node.index()].clone(),
            Some(open) => {
                let drains = open.kind == JointKind::Update;
                self.closed(&self.front_of_read(thread, drains, &open.parts))
            }
            None => self.closed(&self.front_of_read(thread, kind != ReadKind::Load, &[location])),
        };
        let older = |nodes: &R| {
            nodes.iter().fold(R::default(), |all, node| all.or(&self.rows[node.index()]))
        };
        let seen = before.and(writers);
        let hidden = older(&seen);
        let foreign = writers.minus(&own).minus(&hidden).minus(&older(&own));
        let newest = own.last().map_or(R::default(), R::one).minus(&hidden);
        let mut sources =
            RfSources { writes: R::default(), initial: seen.is_empty() && own.is_empty() };
        for node in foreign.or(&newest).iter() {
            let mut parts = self.nodes[node.index()].writes.iter();
            let part = parts.find(|part| part.location == location);
            if let Some(event) = part.and_then(|part| part.event) {
                sources.writes.insert(event);
            }
        }
        sources
    }

    fn try_read(&mut self, read: NewRead, source: RfSource) -> bool {
        self.push_checkpoint(read.thread, true);
        let is_consistent = self.add_read(read, source) && self.has_witness();
        if !is_consistent {
            self.pop();
        }
        is_consistent
    }

    fn push_level(&mut self, thread: ThreadId) {
        self.push_checkpoint(thread, false);
    }

    fn pop(&mut self) {
        let level = self.levels.pop().expect("every level is popped once");
        let JointLevel { nodes, events, thread, saved, rows, dirty, witness, extended } = level;
        if let Some(node) = extended {
            self.remove_read(node);
            self.remove_writes(node);
        }
        while self.nodes.len() > nodes {
            let node = NodeIndex::new(self.nodes.len() - 1);
            while !self.nodes[node.index()].reads.is_empty() {
                self.remove_read(node);
            }
            self.remove_writes(node);
            self.nodes.pop();
        }
        self.events.truncate(events);
        self.threads[thread.index()] = saved;
        (self.rows, self.dirty, self.witness) = (rows, dirty, witness);
    }

    fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        let (rows, dirty) = (self.rows.clone(), self.dirty.clone());
        let can_be = self.order_last(last) && self.saturate() && self.linearize().is_some();
        (self.rows, self.dirty) = (rows, dirty);
        can_be
    }

    fn happened_before(&self, thread: ThreadId) -> R {
        self.thread(thread).past.clone()
    }

    fn events_of(&self, thread: ThreadId) -> R {
        self.thread(thread).events.clone()
    }
}
