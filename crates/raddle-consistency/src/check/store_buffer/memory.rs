//! The contents of memory during a search, and the reads that still wait for them.
//!
//! The papers' *held* variables, generalised to sets of sources: a location is held while some read that has not run has all
//! its sources already in memory, so that it must observe the one that is there now. Counting, for each source set, the
//! pending readers and the absent members makes "is x held?" and "is w live?" questions of O(1), and every step undoable.

use super::instance::{Instance, NONE};

/// The state of memory.
pub(super) struct SearchMemory<'i> {
    instance: &'i Instance,
    /// By location: the write in memory.
    active: Vec<u32>,
    /// By set: how many of its readers have not run.
    pending: Vec<u32>,
    /// By set: how many of its members have not reached memory.
    absent: Vec<u32>,
    /// By location: how many sets have pending readers and no absent member.
    held: Vec<u32>,
}

impl<'i> SearchMemory<'i> {
    /// Memory at the start: the initial writes are there.
    pub(super) fn new(instance: &'i Instance) -> Self {
        let sets = instance.set_location.len();
        let mut memory = SearchMemory {
            instance,
            active: vec![NONE; instance.locations],
            pending: instance.readers.clone(),
            absent: (0..sets as u32).map(|set| instance.sets.get(set).len() as u32).collect(),
            held: vec![0; instance.locations],
        };
        for init in 0..instance.locations as u32 {
            memory.write(init);
        }
        memory
    }

    /// The write of a location that is in memory.
    #[inline]
    pub(super) fn active(&self, location: u32) -> u32 {
        self.active[location as usize]
    }

    /// Returns `true` if overwriting the location would take the last source away from some read.
    #[inline]
    pub(super) fn is_held(&self, location: u32) -> bool {
        self.held[location as usize] != 0
    }

    /// Returns `true` if the location would be held if one reader of `set` had run.
    #[inline]
    pub(super) fn is_held_without(&self, location: u32, set: u32) -> bool {
        self.held[location as usize] != u32::from(self.released_by_last_reader(set))
    }

    fn released_by_last_reader(&self, set: u32) -> bool {
        self.pending[set as usize] == 1 && self.absent[set as usize] == 0
    }

    /// Returns `true` if all members of a set have reached memory.
    #[inline]
    pub(super) fn all_present(&self, set: u32) -> bool {
        self.absent[set as usize] == 0
    }

    /// Returns `true` if some read that has not run may still read from a write.
    #[inline]
    pub(super) fn is_live(&self, write: u32) -> bool {
        self.instance.sets_of.get(write).iter().any(|&set| self.pending[set as usize] != 0)
    }

    /// Returns `true` if some read other than one reader of `set` may still read from a write.
    pub(super) fn is_live_without(&self, write: u32, set: u32) -> bool {
        let mut sets = self.instance.sets_of.get(write).iter();
        sets.any(|&other| self.pending[other as usize] > u32::from(other == set))
    }

    /// A write reaches memory. Returns what it overwrites, for [`SearchMemory::unwrite`].
    pub(super) fn write(&mut self, write: u32) -> u32 {
        let location = self.instance.ops[write as usize].location as usize;
        for &set in self.instance.sets_of.get(write) {
            self.absent[set as usize] -= 1;
            if self.absent[set as usize] == 0 && self.pending[set as usize] != 0 {
                self.held[location] += 1;
            }
        }
        std::mem::replace(&mut self.active[location], write)
    }

    /// Undoes [`SearchMemory::write`].
    pub(super) fn unwrite(&mut self, write: u32, overwritten: u32) {
        let location = self.instance.ops[write as usize].location as usize;
        self.active[location] = overwritten;
        for &set in self.instance.sets_of.get(write) {
            if self.absent[set as usize] == 0 && self.pending[set as usize] != 0 {
                self.held[location] -= 1;
            }
            self.absent[set as usize] += 1;
        }
    }

    /// A reader of a set runs.
    pub(super) fn read(&mut self, set: u32) {
        if self.released_by_last_reader(set) {
            self.held[self.instance.set_location[set as usize] as usize] -= 1;
        }
        self.pending[set as usize] -= 1;
    }

    /// Undoes [`SearchMemory::read`].
    pub(super) fn unread(&mut self, set: u32) {
        self.pending[set as usize] += 1;
        if self.released_by_last_reader(set) {
            self.held[self.instance.set_location[set as usize] as usize] += 1;
        }
    }
}
