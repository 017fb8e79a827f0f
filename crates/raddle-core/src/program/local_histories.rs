//! A cache of what the threads of a program do.
//!
//! A thread is a function of what it reads, so its next ops are a function of its history. They are cached as a tree for
//! each thread, with one branch for each answer. A program runs only where the tree has no branch yet: once for every
//! history of *one* thread instead of once for every execution.
//!
//! *Cost.* A cached step compares the answers that its question has had so far, or looks up a hash if these are many. A
//! history takes 80 bytes and no allocation: the children of a history are a linked list through their records, and equal
//! segments are shared (`segments.rs`).

use rustc_hash::FxHashMap;

use crate::execution::{ThreadId, Value};

use super::ids::{HistoryId, Origin};
use super::segments::{SegmentId, Segments};
use super::{Answer, End, HistoryStep, Op, OpKind, Program, Segment};

/// Up to this many answers of a question are searched linearly.
const FEW: u32 = 6;

struct HistoryNode {
    thread: ThreadId,
    step: HistoryStep,
    segment: SegmentId,
    /// The number of events of the thread up to the end of this segment.
    events: u32,
    /// The number of children, the newest child, and the next older child of the same parent.
    children: u32,
    last_child: HistoryId,
    sibling: HistoryId,
}

/// The cached histories of all threads of a program.
pub struct LocalHistories {
    /// The largest number of effects that are kept of a segment that ends with [`End::Limit`].
    most_cut_effects: usize,
    nodes: Vec<HistoryNode>,
    segments: Segments,
    /// The first histories of all threads.
    roots: FxHashMap<(ThreadId, Option<Origin>), HistoryId>,
    /// The children of questions with many answers.
    many: FxHashMap<(HistoryId, Answer), HistoryId>,
    /// Join result, if the joiner observes only a value.
    results: FxHashMap<HistoryId, Value>,
    /// One more than the largest thread and location ids in the ops.
    threads: usize,
    locations: usize,
}

impl Default for LocalHistories {
    fn default() -> Self {
        LocalHistories::with_most_cut_effects(Segment::LONGEST)
    }
}

impl LocalHistories {
    /// An empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty cache that keeps at most so many effects of a segment that ends with [`End::Limit`]. The thread seems to
    /// go on forever without a question, and every effect that is kept is one more source for the reads of others.
    #[must_use]
    pub fn with_most_cut_effects(most_cut_effects: usize) -> Self {
        LocalHistories {
            most_cut_effects,
            nodes: vec![],
            segments: Segments::default(),
            roots: FxHashMap::default(),
            many: FxHashMap::default(),
            results: FxHashMap::default(),
            threads: 0,
            locations: 0,
        }
    }

    /// The number of histories, which is the number of runs of the program.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if there are no histories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The first history of a thread. Runs the program if it is not cached.
    pub fn start(
        &mut self,
        program: &mut dyn Program,
        past: &[HistoryId],
        thread: ThreadId,
        spawned_by: Option<Origin>,
    ) -> HistoryId {
        match self.roots.get(&(thread, spawned_by)) {
            Some(&node) => node,
            None => self.grow(program, past, HistoryStep::Start(thread, spawned_by)),
        }
    }

    /// The continuation of a history after an answer. Runs the program if it is not cached.
    #[inline]
    pub fn after(
        &mut self,
        program: &mut dyn Program,
        past: &[HistoryId],
        node: HistoryId,
        answer: Answer,
    ) -> HistoryId {
        match self.known(node, answer) {
            Some(child) => child,
            None => self.grow(program, past, HistoryStep::After(node, answer)),
        }
    }

    /// The continuation of a history after an answer, if it is cached.
    #[inline]
    #[must_use]
    pub fn known(&self, node: HistoryId, answer: Answer) -> Option<HistoryId> {
        if self.nodes[node.0 as usize].children > FEW {
            return self.many.get(&(node, answer)).copied();
        }
        self.children(node).find(|&child| self.step(child) == HistoryStep::After(node, answer))
    }

    /// The children of a history, newest first.
    fn children(&self, node: HistoryId) -> impl Iterator<Item = HistoryId> + '_ {
        let HistoryNode { children, last_child, .. } = self.nodes[node.0 as usize];
        let next = |child: &HistoryId| Some(self.nodes[child.0 as usize].sibling);
        std::iter::successors(Some(last_child), next).take(children as usize)
    }

    #[cold]
    fn grow(
        &mut self,
        program: &mut dyn Program,
        past: &[HistoryId],
        step: HistoryStep,
    ) -> HistoryId {
        let id = HistoryId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 histories"));
        let mut segment = program.run(self, past, step, id);
        if segment.end == End::Limit {
            segment.effects.truncate(self.most_cut_effects);
        }
        let (thread, before) = match step {
            HistoryStep::Start(thread, spawned_by) => {
                self.roots.insert((thread, spawned_by), id);
                (thread, 0)
            }
            HistoryStep::After(parent, _) => (self.thread(parent), self.events(parent) + 1),
        };
        self.threads = self.threads.max(thread.index() + 1);
        if let Some(result) = program.result(id).filter(|_| segment.end == End::Finished) {
            self.results.insert(id, result);
        }
        let events = before + segment.effects.len() as u32;
        let segment = self.keep(segment);
        let (children, last_child, sibling) = (0, id, id);
        self.nodes.push(HistoryNode {
            thread,
            step,
            segment,
            events,
            children,
            last_child,
            sibling,
        });
        if let HistoryStep::After(parent, answer) = step {
            self.add_child(parent, answer, id);
        }
        id
    }

    /// The id of a segment.
    fn keep(&mut self, segment: Segment) -> SegmentId {
        let known = self.segments.len();
        let id = self.segments.id(segment);
        if self.segments.len() > known {
            self.note_sizes(id);
        }
        id
    }

    fn note_sizes(&mut self, segment: SegmentId) {
        let Segment { effects, end } = self.segments.get(segment);
        let question = match end {
            End::Question(op) => Some(op),
            _ => None,
        };
        for op in effects.iter().chain(question) {
            if let Some(location) = op.kind.location() {
                self.locations = self.locations.max(location.index() + 1);
            }
            if let OpKind::Spawn { thread } | OpKind::Join { thread } = op.kind {
                self.threads = self.threads.max(thread.index() + 1);
            }
        }
    }

    /// Lets the last segment of a history end in another way, for instance because it repeats an earlier history. Returns
    /// its former segment.
    pub fn end_with(&mut self, node: HistoryId, end: End) -> SegmentId {
        let effects = self.effects(node).to_vec();
        let segment = self.keep(Segment { effects, end });
        std::mem::replace(&mut self.nodes[node.0 as usize].segment, segment)
    }

    /// Undoes [`LocalHistories::end_with`].
    pub fn restore_segment(&mut self, node: HistoryId, former: SegmentId) {
        self.nodes[node.0 as usize].segment = former;
    }

    /// One more than the largest thread and location ids seen so far.
    #[inline]
    #[must_use]
    pub fn sizes(&self) -> (usize, usize) {
        (self.threads, self.locations)
    }

    fn add_child(&mut self, parent: HistoryId, answer: Answer, child: HistoryId) {
        let node = &mut self.nodes[parent.0 as usize];
        node.children += 1;
        let sibling = std::mem::replace(&mut node.last_child, child);
        let children = node.children;
        self.nodes[child.0 as usize].sibling = sibling;
        if children == FEW + 1 {
            let all: Vec<HistoryId> = self.children(parent).collect();
            for child in all {
                if let HistoryStep::After(_, answer) = self.step(child) {
                    self.many.insert((parent, answer), child);
                }
            }
        } else if children > FEW {
            self.many.insert((parent, answer), child);
        }
    }

    /// The thread whose history this is.
    #[must_use]
    pub fn thread(&self, node: HistoryId) -> ThreadId {
        self.nodes[node.0 as usize].thread
    }

    /// The last step of a history.
    #[must_use]
    pub fn step(&self, node: HistoryId) -> HistoryStep {
        self.nodes[node.0 as usize].step
    }

    /// The histories on the way to a history, itself included, oldest first, with the answers to their questions; `None` for the
    /// last one.
    #[must_use]
    pub fn path_to(&self, node: HistoryId) -> Vec<(HistoryId, Option<Answer>)> {
        let mut path = vec![(node, None)];
        let mut at = node;
        while let HistoryStep::After(parent, answer) = self.step(at) {
            path.push((parent, Some(answer)));
            at = parent;
        }
        path.reverse();
        path
    }

    /// The id of the last segment of a history. Ids are dense and grow.
    #[inline]
    #[must_use]
    pub fn segment_of(&self, node: HistoryId) -> SegmentId {
        self.nodes[node.0 as usize].segment
    }

    /// The segment with an id.
    #[must_use]
    pub fn segment(&self, segment: SegmentId) -> &Segment {
        self.segments.get(segment)
    }

    /// The effects of the last segment of a history.
    #[inline]
    #[must_use]
    pub fn effects(&self, node: HistoryId) -> &[Op] {
        &self.segments.get(self.segment_of(node)).effects
    }

    /// The end of the last segment of a history.
    #[inline]
    #[must_use]
    pub fn end(&self, node: HistoryId) -> &End {
        &self.segments.get(self.segment_of(node)).end
    }

    /// The answer to a join of a thread that has finished with this history.
    #[must_use]
    pub fn joined(&self, node: HistoryId) -> Answer {
        match self.results.get(&node) {
            Some(&value) => Answer::Value(value),
            None => Answer::From(Origin { node, index: self.effects(node).len() as u32 }),
        }
    }

    /// Returns `true` if the last segment of a history has as many effects as are kept, because it seems to be endless.
    #[must_use]
    pub fn is_cut(&self, node: HistoryId) -> bool {
        *self.end(node) == End::Limit && self.effects(node).len() >= self.most_cut_effects
    }

    /// The number of events of the thread, this segment included, its last question excluded.
    #[must_use]
    pub fn events(&self, node: HistoryId) -> u32 {
        self.nodes[node.0 as usize].events
    }
}
