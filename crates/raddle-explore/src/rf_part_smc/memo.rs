//! What the search knows of histories, in the form in which it is looked up a million times a second.
//!
//! [`LocalHistories`] remembers everything, for everybody. The search needs little of it, and that all the
//! time: what a thread asks next, what it does before, and which history follows which value. So it
//! keeps its own notes: what it has to know of a segment, which many histories share and which stays in the
//! cache; and for each history its segment and the histories that follow, 40 bytes. Values have 32 bits
//! instead of 128: every distinct value has a number.
//!
//! *Tried and rejected:* looking all this up in [`LocalHistories`], which has a record of several lines for
//! each history and a list of answers elsewhere: programs with many histories waited for memory. What is
//! known of its segment with each history: a cache line, and each history looked at anew.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::model::Reads;
use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::program::{
    Answer, End, HistoryId, LocalHistories, Op, OpKind, Segment, SegmentId,
};

/// The number of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueId(u32);

impl ValueId {
    /// No value: what a thread reads that learns nothing, or what is written by who does not write.
    pub(super) const NONE: ValueId = ValueId(u32::MAX);
    /// The number of 0.
    pub(super) const ZERO: ValueId = ValueId(0);
    /// The number of 1.
    pub(super) const ONE: ValueId = ValueId(1);
}

/// The values that were met, by their numbers.
pub(super) struct Values {
    values: Vec<Value>,
    ids: FxHashMap<Value, ValueId>,
}

impl Default for Values {
    fn default() -> Self {
        let mut values = Values { values: vec![], ids: FxHashMap::default() };
        values.id(0);
        values.id(1);
        values
    }
}

impl Values {
    /// The number of a value.
    pub(super) fn id(&mut self, value: Value) -> ValueId {
        let next = ValueId(self.values.len() as u32);
        let id = *self.ids.entry(value).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        id
    }

    /// The value with a number.
    pub(super) fn get(&self, id: ValueId) -> Value {
        self.values[id.0 as usize]
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// It was not started.
    Absent,
    /// A load.
    Load,
    /// A compare-exchange.
    Compare,
    /// An update.
    Update,
    /// A lock.
    Lock,
    /// Another synchronization object.
    Sync,
    /// The end of a thread.
    Join,
    /// A choice.
    Choose,
    /// A cell.
    Cell,
    /// Nothing: its history has ended.
    Ended,
}

impl Ask {
    /// How it reads memory.
    #[inline]
    pub(super) fn reads(self) -> Reads {
        match self {
            Ask::Update => Reads::Update,
            Ask::Compare => Reads::Compare,
            _ => Reads::Load,
        }
    }

    /// Whether two of them compete for what they observe.
    #[inline]
    pub(super) fn competes(self) -> bool {
        matches!(self, Ask::Compare | Ask::Update | Ask::Lock | Ask::Sync)
    }

    /// Whether it may have to wait, or needs no decision of the model.
    #[inline]
    pub(super) fn is_special(self) -> bool {
        matches!(self, Ask::Lock | Ask::Sync | Ask::Join | Ask::Choose | Ask::Cell)
    }
}

/// What the search has to know of a segment.
pub(super) struct Known {
    /// What the thread asks at its end.
    pub(super) ask: Ask,
    /// The order of the question, if a compare-exchange succeeds and if it fails.
    pub(super) order: MemoryOrder,
    pub(super) failure: MemoryOrder,
    /// Whether the compare-exchange may fail for no reason.
    pub(super) weak: bool,
    /// Whether what the question writes is a pointer, unless it keeps one.
    pub(super) carries: bool,
    /// Whether one of its effects is a spawn.
    pub(super) spawns: bool,
    /// Whether it ends otherwise than with a question or the end of the thread.
    pub(super) is_unfinished: bool,
    /// Whether all its effects are atomic stores, fences and releases.
    pub(super) is_quiet: bool,
    /// The location of the question; for a join the thread.
    pub(super) location: u32,
    /// What a compare-exchange expects.
    pub(super) expected: ValueId,
    /// Where its effects are in the steps.
    pub(super) effects: (u32, u32),
}

/// A history.
struct History {
    segment: u32,
    /// What whoever joins the thread learns that has finished so, if that is a value and nothing else.
    result: ValueId,
    /// How it goes on, ascending by what is read.
    edges: SmallVec<[Edge; 2]>,
}

/// How a history goes on after a value.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    read: ValueId,
    /// What the question writes then, if it does.
    pub(super) written: ValueId,
    pub(super) next: HistoryId,
}

/// So many edges are searched one by one.
const FEW: usize = 8;

impl History {
    /// How it goes on after a value, if that is known.
    #[inline]
    fn after(&self, read: ValueId) -> Option<Edge> {
        let edges = self.edges.as_slice();
        if edges.len() > FEW {
            let at = edges.binary_search_by_key(&read, |edge| edge.read).ok()?;
            return Some(edges[at]);
        }
        edges.iter().find(|edge| edge.read == read).copied()
    }
}

/// An effect, in the form in which it is carried out often.
#[derive(Clone, Copy)]
pub(super) enum Effected {
    Store { location: u32, order: MemoryOrder, carries: bool, value: ValueId },
    Unlock { lock: u32 },
    Fence { order: MemoryOrder },
    StoreFence,
    Init { location: u32, value: ValueId },
    Spawn { child: u32 },
    WriteCell { location: u32 },
}

/// All that is known of histories.
#[derive(Default)]
pub(super) struct Memo {
    histories: Vec<History>,
    /// By segment.
    known: Vec<Known>,
    /// The effects of all of them.
    pub(super) steps: Vec<Effected>,
    pub(super) values: Values,
}

impl Memo {
    /// How many histories are known.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.histories.len()
    }

    /// What is known of the segment at the end of a history.
    #[inline]
    pub(super) fn get(&self, node: HistoryId) -> &Known {
        &self.known[self.histories[node.0 as usize].segment as usize]
    }

    /// How a history goes on after a value, if that is known.
    #[inline]
    pub(super) fn after(&self, node: HistoryId, read: ValueId) -> Option<Edge> {
        self.histories[node.0 as usize].after(read)
    }

    /// What whoever joins the thread learns that has finished so, if that is a value and nothing else.
    #[inline]
    pub(super) fn result(&self, node: HistoryId) -> Option<ValueId> {
        let result = self.histories[node.0 as usize].result;
        (result != ValueId::NONE).then_some(result)
    }

    /// Looks at the histories that are new, and at the segments that are.
    pub(super) fn learn(&mut self, histories: &LocalHistories) {
        for node in self.histories.len()..histories.len() {
            let node = HistoryId(node as u32);
            let segment = histories.segment_of(node);
            for new in self.known.len()..=segment.0 as usize {
                let known = self.look_at(histories.segment(SegmentId(new as u32)));
                self.known.push(known);
            }
            let result = match histories.joined(node) {
                Answer::Value(value) => self.values.id(value),
                _ => ValueId::NONE,
            };
            self.histories.push(History { segment: segment.0, result, edges: SmallVec::new() });
        }
    }

    fn look_at(&mut self, segment: &Segment) -> Known {
        let Segment { effects, end } = segment;
        let first = self.steps.len() as u32;
        for op in effects {
            let effected = self.effected(op);
            self.steps.push(effected);
        }
        let mut known = Known {
            ask: Ask::Ended,
            order: MemoryOrder::Relaxed,
            failure: MemoryOrder::Relaxed,
            weak: false,
            carries: false,
            spawns: effects.iter().any(|op| matches!(op.kind, OpKind::Spawn { .. })),
            is_unfinished: !matches!(end, End::Question(_) | End::Finished),
            is_quiet: effects.iter().all(is_quiet),
            location: 0,
            expected: ValueId::NONE,
            effects: (first, self.steps.len() as u32),
        };
        if let End::Question(op) = end {
            self.look_at_question(op, &mut known);
        }
        known
    }

    fn look_at_question(&mut self, op: &Op, known: &mut Known) {
        known.location = op.kind.location().map_or(0, index);
        known.carries = op.carries();
        known.ask = match op.kind {
            OpKind::Load { order, .. } => {
                known.order = order;
                Ask::Load
            }
            OpKind::Rmw { order, .. } => {
                known.order = order;
                Ask::Update
            }
            OpKind::CompareExchange { expected, success, failure, weak, .. } => {
                known.expected = self.values.id(expected);
                (known.order, known.failure, known.weak) = (success, failure, weak);
                Ask::Compare
            }
            OpKind::Lock { .. } => {
                known.order = MemoryOrder::AcqRel;
                Ask::Lock
            }
            OpKind::Sync { .. } => {
                known.order = MemoryOrder::AcqRel;
                Ask::Sync
            }
            OpKind::Join { thread, .. } => {
                known.location = thread.index() as u32;
                Ask::Join
            }
            OpKind::Choose { .. } => Ask::Choose,
            OpKind::ReadCell { .. } => Ask::Cell,
            _ => unreachable!("an effect is not a question: {op:?}"),
        };
    }

    fn effected(&mut self, op: &Op) -> Effected {
        match op.kind {
            OpKind::Store { location, value, order, carries } => {
                let value = self.values.id(value);
                Effected::Store { location: index(location), order, carries, value }
            }
            OpKind::Unlock { lock } => Effected::Unlock { lock: index(lock) },
            OpKind::Fence { order } => Effected::Fence { order },
            OpKind::StoreFence => Effected::StoreFence,
            OpKind::Init { location, value } => {
                Effected::Init { location: index(location), value: self.values.id(value) }
            }
            OpKind::Spawn { thread } => Effected::Spawn { child: thread.index() as u32 },
            OpKind::WriteCell { location } => Effected::WriteCell { location: index(location) },
            _ => unreachable!("a question is not an effect: {op:?}"),
        }
    }

    /// A history goes on with another one after a value.
    pub(super) fn connect(
        &mut self,
        node: HistoryId,
        read: ValueId,
        written: ValueId,
        next: HistoryId,
    ) {
        let edges = &mut self.histories[node.0 as usize].edges;
        let at = edges.partition_point(|edge| edge.read < read);
        edges.insert(at, Edge { read, written, next });
    }

    /// The answer that tells a value.
    pub(super) fn answer(&self, read: ValueId) -> Answer {
        match read {
            ValueId::NONE => Answer::Initial,
            value => Answer::Value(self.values.get(value)),
        }
    }
}

fn index(location: LocationId) -> u32 {
    location.index() as u32
}

/// Whether an effect is an atomic store, a fence or a release.
fn is_quiet(op: &Op) -> bool {
    match op.kind {
        OpKind::Store { order, .. } => order.is_atomic(),
        kind => matches!(kind, OpKind::Fence { .. } | OpKind::StoreFence | OpKind::Unlock { .. }),
    }
}
