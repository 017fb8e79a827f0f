//! The path of the search as symmetric threads need it, and the comparison of a renamed class with it.

use std::cmp::Ordering;

use super::permutations::{Block, Permutation, group_order, permutations, uses_all};
use crate::event_index::{EventIndex, RfSource};
use raddle_core::execution::ThreadId;

/// What the search knows of symmetric threads.
#[derive(Default)]
pub(super) struct SymmetryState {
    /// Whether there are any. Otherwise nothing is recorded.
    pub(super) is_active: bool,
    /// Whether there ever were any.
    pub(super) was_active: bool,
    /// Nothing was decided since they have started, so more of them may start.
    pub(super) is_open: bool,
    /// The thread that has started them.
    pub(super) creator: Option<ThreadId>,
    /// The depth of the child in which they start. Before that, a permutation changes nothing.
    pub(super) depth: usize,
    /// The threads that are symmetric to each other.
    pub(super) blocks: Vec<Block>,
    pub(super) permutations: Vec<Permutation>,
    /// Whether these are all permutations of the blocks.
    pub(super) has_all: bool,
    /// The number of all permutations.
    pub(super) order: u128,
    /// The number of classes that were not explored because they are renamed ones: of those that ended, and of those that did
    /// not.
    pub(super) classes: u64,
    pub(super) blocked: u64,
    /// By thread: its events, oldest first.
    events_of: Vec<Vec<u32>>,
    /// By event.
    events: Vec<NamedEvent>,
    /// The steps from the root to the current node.
    levels: Vec<Level>,
    /// By level and thread: how many events the thread had at the node.
    counts: Vec<u32>,
    /// The number of threads by which `counts` is divided.
    stride: usize,
    /// The permutations that are open after each level.
    open: Vec<OpenPermutation>,
}

/// An event, and what it observes.
#[derive(Clone, Copy)]
pub(super) struct NamedEvent {
    pub(super) thread: ThreadId,
    /// How many events its thread had before.
    pub(super) index: u32,
    pub(super) source: RfSource,
    /// Whether it is a compare-exchange that failed spuriously.
    pub(super) is_spurious: bool,
}

/// The step from a node to a child.
pub(super) struct Level {
    /// The depth of the child.
    depth: u32,
    pub(super) pick: Pick,
    /// The threads that were tried at the node before: a range of the floors of the search.
    pub(super) tried: (u32, u32),
    /// The number of events at the node.
    pub(super) events: u32,
    /// The number of [`SymmetryState::open`] permutations before this level.
    open: u32,
}

/// What is picked at a node.
#[derive(Clone, Copy)]
pub(super) enum Pick {
    /// A thread observes a source.
    Read { thread: ThreadId, source: RfSource, is_spurious: bool },
    /// A thread makes a choice.
    Choice { thread: ThreadId, option: u32 },
}

/// A permutation that may lead to an earlier class, and the first level that does not tell.
#[derive(Clone, Copy)]
struct OpenPermutation {
    permutation: u32,
    level: u32,
}

/// Where a renamed class is in the search tree, seen from the current path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Earlier,
    Later,
    /// The path does not tell, from this level on.
    Open(u32),
    /// It is the same class.
    Same,
}

/// What a thread observes in a renamed class.
enum Renamed {
    /// It has not read yet.
    NotDone,
    /// A source that is not present at the node.
    Absent,
    /// A source that is present.
    Present(RfSource, bool),
}

/// The position of a source among those that are tried at a node.
pub(super) fn rank(source: RfSource, is_spurious: bool) -> (usize, bool) {
    (source.event().map_or(0, |event| event.index() + 1), is_spurious)
}

impl SymmetryState {
    /// These threads, which a creator has started, are symmetric. There are at most so many threads.
    pub(super) fn begin(
        &mut self,
        creator: ThreadId,
        blocks: Vec<Block>,
        threads: usize,
        depth: usize,
    ) {
        (self.is_active, self.was_active, self.is_open) = (true, true, true);
        self.creator = Some(creator);
        (self.stride, self.depth) = (threads, depth);
        self.order = group_order(&blocks);
        self.has_all = uses_all(&blocks);
        self.permutations = permutations(&blocks);
        self.blocks = blocks;
    }

    /// Counts the other classes of an orbit, of which so many classes and blocked ones were explored.
    pub(super) fn count(&mut self, orbit: u64, classes: u64, blocked: u64) {
        let others = orbit.saturating_sub(1);
        self.classes = self.classes.saturating_add(others.saturating_mul(classes));
        self.blocked = self.blocked.saturating_add(others.saturating_mul(blocked));
    }

    /// The number of events that are recorded.
    pub(super) fn recorded(&self) -> usize {
        self.events.len()
    }

    /// Records the next event.
    pub(super) fn add_event(&mut self, thread: ThreadId, source: RfSource) {
        if self.events_of.len() <= thread.index() {
            self.events_of.resize_with(thread.index() + 1, Vec::new);
        }
        let own = &mut self.events_of[thread.index()];
        let index = own.len() as u32;
        own.push(self.events.len() as u32);
        self.events.push(NamedEvent { thread, index, source, is_spurious: false });
    }

    /// Forgets all events but the first ones.
    #[inline]
    pub(super) fn remove_events(&mut self, left: usize) {
        while self.events.len() > left {
            if let Some(event) = self.events.pop() {
                self.events_of[event.thread.index()].pop();
            }
        }
    }

    /// The child at a depth ends.
    #[inline]
    pub(super) fn end_child(&mut self, depth: usize) {
        if depth <= self.depth {
            self.end();
        }
        while self.levels.last().is_some_and(|level| level.depth as usize >= depth) {
            let Some(level) = self.levels.pop() else { return };
            self.counts.truncate(self.levels.len() * self.stride);
            self.open.truncate(level.open as usize);
        }
    }

    /// There are no symmetric threads any longer.
    fn end(&mut self) {
        (self.is_active, self.is_open) = (false, false);
        self.levels.clear();
        self.counts.clear();
        self.open.clear();
        self.events.clear();
        self.events_of.clear();
    }

    /// Returns `true` if every step to the node at this depth is recorded. (Those of livelocks are not.)
    pub(super) fn is_complete(&self, depth: usize) -> bool {
        let last = self.levels.last().map_or(self.depth, |level| level.depth as usize);
        last == depth && self.levels.len() + self.depth == depth
    }

    /// Records the step to the child at a depth, whose node had so many events.
    pub(super) fn add_level(&mut self, depth: usize, pick: Pick, tried: (u32, u32), events: u32) {
        if let Pick::Read { is_spurious: true, .. } = pick
            && let Some(event) = self.events.get_mut(events as usize)
        {
            event.is_spurious = true;
        }
        for thread in 0..self.stride {
            let own = self.events_of.get(thread).map_or(&[][..], Vec::as_slice);
            self.counts.push(own.partition_point(|&event| event < events) as u32);
        }
        let (depth, open) = (depth as u32, self.open.len() as u32);
        self.levels.push(Level { depth, pick, tried, events, open });
    }

    /// Returns `true` if a renamed class lies earlier in the tree than all classes of the last level's child.
    pub(super) fn is_redundant(&mut self, tried: &[(ThreadId, u32)]) -> bool {
        let Some((last, earlier)) = self.levels.split_last() else { return false };
        let end = last.open as usize;
        let first = earlier.last().map_or(0, |level| level.open as usize);
        let count = if earlier.is_empty() { self.permutations.len() } else { end - first };
        for at in 0..count {
            let candidate = match self.levels.len() {
                1 => OpenPermutation { permutation: at as u32, level: 0 },
                _ => self.open[first + at],
            };
            match self.place(
                &self.permutations[candidate.permutation as usize],
                candidate.level,
                false,
                tried,
            ) {
                Place::Earlier => return true,
                Place::Later => {}
                Place::Open(level) => self.open.push(OpenPermutation { level, ..candidate }),
                Place::Same => unreachable!("only leaves are the same"),
            }
        }
        false
    }

    /// The number of permutations, of those that the search uses, that lead from a leaf to itself; `None` if one leads to an
    /// earlier class.
    pub(super) fn automorphisms(&self, tried: &[(ThreadId, u32)]) -> Option<Vec<u32>> {
        let first = self.levels.last().map_or(0, |level| level.open as usize);
        let all: Vec<OpenPermutation> = match self.levels.is_empty() {
            true => (0..self.permutations.len() as u32)
                .map(|permutation| OpenPermutation { permutation, level: 0 })
                .collect(),
            false => self.open[first..].to_vec(),
        };
        let mut same = vec![];
        for OpenPermutation { permutation, level } in all {
            match self.place(&self.permutations[permutation as usize], level, true, tried) {
                Place::Earlier => return None,
                Place::Same => same.push(permutation),
                Place::Later | Place::Open(_) => {}
            }
        }
        Some(same)
    }

    /// Where the renamed class is. Levels before `from` are known to be the same. Of a leaf, reads that are not done never
    /// happen.
    fn place(
        &self,
        by: &Permutation,
        from: u32,
        is_leaf: bool,
        tried: &[(ThreadId, u32)],
    ) -> Place {
        let mut unknown = None;
        for (at, level) in self.levels.iter().enumerate().skip(from as usize) {
            let (at, stuck) =
                (at as u32, |unknown: Option<u32>| Place::Open(unknown.unwrap_or(at as u32)));
            let order = match level.pick {
                Pick::Read { .. } => self.place_in_read(by, (at, level), &mut unknown, tried),
                Pick::Choice { thread, option } => self.place_in_choice(by, at, thread, option),
            };
            match order {
                Some(Ordering::Equal) => {}
                Some(Ordering::Less) => return Place::Earlier,
                Some(Ordering::Greater) if unknown.is_none() || is_leaf => return Place::Later,
                None if is_leaf => return Place::Later,
                _ => return stuck(unknown),
            }
        }
        match is_leaf {
            true => Place::Same,
            false => Place::Open(unknown.unwrap_or(self.levels.len() as u32)),
        }
    }

    /// Whether the renamed class leaves the path at this read for an earlier or a later child, or not at all; `None` if that is
    /// not known.
    fn place_in_read(
        &self,
        by: &Permutation,
        (at, level): (u32, &Level),
        unknown: &mut Option<u32>,
        tried: &[(ThreadId, u32)],
    ) -> Option<Ordering> {
        let Pick::Read { thread, source, is_spurious } = level.pick else { return None };
        for &(thread, _) in &tried[level.tried.0 as usize..level.tried.1 as usize] {
            match self.renamed(by, thread, (at, level)) {
                Renamed::Present(..) => return Some(Ordering::Less),
                Renamed::Absent => {}
                Renamed::NotDone => *unknown = unknown.or(Some(at)),
            }
        }
        match self.renamed(by, thread, (at, level)) {
            Renamed::Present(other, fails) => {
                Some(rank(other, fails).cmp(&rank(source, is_spurious)))
            }
            Renamed::Absent => Some(Ordering::Greater),
            Renamed::NotDone => None,
        }
    }

    fn place_in_choice(
        &self,
        by: &Permutation,
        at: u32,
        thread: ThreadId,
        option: u32,
    ) -> Option<Ordering> {
        let other = self.choice_of(at as usize, thread, by.named(thread))?;
        Some(other.cmp(&option))
    }

    /// What the thread `named` chooses, if it has already chosen as often as a thread had before the node of a level.
    pub(super) fn choice_of(&self, level: usize, thread: ThreadId, named: ThreadId) -> Option<u32> {
        let choice = |of: ThreadId| {
            move |level: &Level| match level.pick {
                Pick::Choice { thread, option } if thread == of => Some(option),
                _ => None,
            }
        };
        let before = self.levels[..level].iter().filter_map(choice(thread)).count();
        self.levels.iter().filter_map(choice(named)).nth(before)
    }

    /// What the pending read of a thread at a node observes in the renamed class.
    fn renamed(&self, by: &Permutation, thread: ThreadId, (at, level): (u32, &Level)) -> Renamed {
        let named = by.named(thread);
        let Some(read) = self.read_of(at as usize, thread, named) else { return Renamed::NotDone };
        let NamedEvent { source, is_spurious, .. } = read;
        let Some(write) = source.event() else { return Renamed::Present(source, is_spurious) };
        let NamedEvent { thread, index, .. } = self.event(write);
        match self.write_at(level, by.renamed(thread), index) {
            Some(write) => Renamed::Present(write.into(), is_spurious),
            None => Renamed::Absent,
        }
    }

    /// The event of the thread `named` with the index that the pending read of a thread has at the node of a level.
    #[inline]
    pub(super) fn read_of(
        &self,
        level: usize,
        thread: ThreadId,
        named: ThreadId,
    ) -> Option<NamedEvent> {
        let index = self.counts[level * self.stride + thread.index()];
        let &event = self.events_of.get(named.index())?.get(index as usize)?;
        Some(self.events[event as usize])
    }

    #[inline]
    pub(super) fn event(&self, event: EventIndex) -> NamedEvent {
        self.events[event.index()]
    }

    /// The event of a thread with an index, if it is present at the node of a level.
    #[inline]
    pub(super) fn write_at(
        &self,
        level: &Level,
        writer: ThreadId,
        index: u32,
    ) -> Option<EventIndex> {
        let &write = self.events_of.get(writer.index())?.get(index as usize)?;
        (write < level.events).then(|| EventIndex::new(write as usize))
    }

    /// The steps from the root to the current node.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }
}
