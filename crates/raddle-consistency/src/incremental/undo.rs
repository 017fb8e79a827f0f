//! Undo: a log of changes that is reverted from the end.
//!
//! The log contains only what cannot be derived: old values of clock entries, ends of chains and fences. An added access
//! is one entry, because everything that it added is at the end of some table. Undoing an operation costs as much as the
//! operation did.

use super::Incremental;
use super::ids::{Index, Message};

/// The old value of an entry of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UndoEntry {
    row: u32,
    entry: u32,
    old: u32,
}

/// One change of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UndoStep {
    /// An operation begins.
    Start,
    /// An entry of the clock of a thread.
    Cur(UndoEntry),
    /// An entry of what a thread would learn at an acquire fence.
    Acq(UndoEntry),
    /// An entry of the writes before a chain.
    Before(UndoEntry),
    /// A message was added.
    Message,
    /// A thread did a release fence.
    ReleaseFence { thread: u32, old: Message },
    /// A sequentially consistent fence.
    ScFence { old: Message },
    /// A chain became longer.
    Last { top: Index, old: Index },
    /// The chain of an initial write became longer.
    InitLast { location: u32, old: Index },
    /// A thread read something new.
    Seen { location: u32, thread: u32 },
    /// A write was added.
    Write,
}

/// All changes since the beginning; empty if `recording` is off.
#[derive(Clone, Debug)]
pub(super) struct UndoLog {
    recording: bool,
    changes: Vec<UndoStep>,
}

impl UndoLog {
    pub(super) fn new(recording: bool) -> UndoLog {
        UndoLog { recording, changes: vec![] }
    }

    pub(super) fn push(&mut self, change: UndoStep) {
        if self.recording {
            self.changes.push(change);
        }
    }

    /// A callback that records the changes of one clock.
    pub(super) fn clock(
        &mut self,
        change: fn(UndoEntry) -> UndoStep,
        row: usize,
    ) -> impl FnMut(usize, u32) {
        move |entry, old| self.push(change(UndoEntry { row: row as u32, entry: entry as u32, old }))
    }
}

/// A state to go back to: [`Incremental::mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UndoMark(usize);

impl Incremental {
    /// The current state, for [`Incremental::undo_to`].
    #[must_use]
    pub fn mark(&self) -> UndoMark {
        UndoMark(self.log.changes.len())
    }

    /// Undoes the last operation. Returns `false` if there is none.
    pub fn undo(&mut self) -> bool {
        self.question = None;
        while let Some(change) = self.log.changes.pop() {
            if change == UndoStep::Start {
                return true;
            }
            self.revert(change);
        }
        false
    }

    /// Undoes all operations since a mark. Marks of states that were themselves undone are invalid.
    pub fn undo_to(&mut self, mark: UndoMark) {
        self.question = None;
        while self.log.changes.len() > mark.0
            && let Some(change) = self.log.changes.pop()
        {
            self.revert(change);
        }
    }

    fn revert(&mut self, change: UndoStep) {
        let views = &mut self.views;
        match change {
            UndoStep::Start => {}
            UndoStep::Cur(UndoEntry { row, entry, old }) => {
                views.cur.row_mut(row as usize)[entry as usize] = old;
            }
            UndoStep::Acq(UndoEntry { row, entry, old }) => {
                views.acq.row_mut(row as usize)[entry as usize] = old;
            }
            UndoStep::Before(UndoEntry { row, entry, old }) => {
                self.writes.before.row_mut(row as usize)[entry as usize] = old;
            }
            UndoStep::Message => views.messages.pop(),
            UndoStep::ReleaseFence { thread, old } => views.release_fence[thread as usize] = old,
            UndoStep::ScFence { old } => views.sc_fence = old,
            UndoStep::Last { top, old } => self.writes.records[top as usize].last = old,
            UndoStep::InitLast { location, old } => {
                self.locations[location as usize].init_last = old;
            }
            UndoStep::Seen { location, thread } => self.forget(location as usize, thread as usize),
            UndoStep::Write => {
                if let Some(write) = self.writes.pop() {
                    let (location, thread) = (write.location as usize, write.thread as usize);
                    self.locations[location].threads[thread].writes.pop();
                    self.forget(location, thread);
                }
            }
        }
    }

    /// Removes the last access of a thread, which was to this location.
    fn forget(&mut self, location: usize, thread: usize) {
        self.locations[location].threads[thread].pop_seen();
        self.views.retreat(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AccessKind, WriteId};
    use super::Incremental;
    use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
    use raddle_core::model::Model;
    use raddle_core::random::Random;

    /// All tables except search hints and unused capacity.
    fn state(checker: &Incremental) -> String {
        let mut accesses = vec![];
        for (x, location) in checker.locations.iter().enumerate() {
            let used = location.threads.iter().enumerate().filter(|(_, a)| a.last().is_some());
            accesses.extend(used.map(|(t, a)| (x, t, &a.writes, &a.seen)));
        }
        let init: Vec<_> = checker.locations.iter().map(|location| location.init_last).collect();
        format!("{:?} {:?} {accesses:?} {init:?}", checker.views, checker.writes)
    }

    fn step(checker: &mut Incremental, random: &mut Random, sources: &mut Vec<WriteId>) {
        let (thread, other) = (ThreadId::new(random.below(5)), ThreadId::new(random.below(5)));
        let location = LocationId::new(random.below(3));
        let order = MemoryOrder::ALL[random.below(6)];
        let access = if random.chance(0.5) { AccessKind::Read } else { AccessKind::Update };
        match random.below(8) {
            0 => checker.fence(thread, order),
            1 => checker.spawn(thread, other),
            2 => checker.join(thread, other),
            3 | 4 => drop(checker.write(thread, location, order)),
            _ => {
                checker.sources(thread, location, access, sources);
                let Some(&source) = random.pick(sources) else { return };
                let done = match access {
                    AccessKind::Read => checker.read(thread, location, source, order),
                    AccessKind::Update => checker.update(thread, location, source, order).map(drop),
                };
                assert_eq!(done, Ok(()));
            }
        }
    }

    #[test]
    fn undo_restores_every_table() {
        for model in [Model::Wra, Model::Ra, Model::Rc20, Model::Relaxed] {
            let (mut checker, mut random) = (Incremental::new(model).unwrap(), Random::new(1));
            let (mut states, mut sources) = (vec![], vec![]);
            // Undo does not remove threads: create all of them first.
            checker.begin(ThreadId::new(4), LocationId::new(2));
            for _ in 0..2000 {
                states.push((checker.mark(), state(&checker)));
                step(&mut checker, &mut random, &mut sources);
                if random.chance(0.02) {
                    states.truncate(1 + random.below(states.len()));
                    let (mark, old) = states.pop().unwrap();
                    checker.undo_to(mark);
                    assert_eq!(state(&checker), old);
                }
            }
        }
    }
}
