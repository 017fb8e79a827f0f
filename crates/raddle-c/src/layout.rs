//! Which memory is shared, and how it is cut into locations.
//!
//! *Problem.* An access to memory that only one thread uses is no op. But whether another thread will
//! use it is not known when it is first accessed. And a location of the explorer has a size, but programs
//! access the same memory in pieces of different sizes.
//!
//! *Idea.* Everything is private until a second thread touches it. Then its object (a variable, a block,
//! eight bytes of a stack) is shared for good and the exploration starts again. In the same way, where
//! accesses of different sizes overlap, the memory is cut at their ends, and the exploration starts
//! again. What is known here survives that; it only grows, and most of it is found in the first
//! executions.
//!
//! An atomic access cannot be cut: that program is refused. A plain one can if races are errors. Otherwise it is one
//! access, of which nobody may see a half: under SC and TSO it is cut nevertheless, and all accesses of that region of
//! memory are also accesses of cells that stand for its pieces (`OpKind::ReadCell`). The explorer tells if two of
//! these are not ordered, and the program is refused. Under PSO accesses that are ordered by an atomic variable may still reach
//! memory one by one, so they are not cut.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::PlaceId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::ops::Kind;
use crate::shared::read_memory;

/// What a location is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum What {
    /// Memory: so many bytes.
    Memory(usize),
    /// A synchronization object.
    Object(Kind),
    /// Whether a block was freed.
    Block,
    /// A piece of memory that is accessed in pieces of different sizes.
    Piece,
    /// What a thread returned. The address is the number of the thread.
    Result,
    /// What is left of a thread's memory. The address is its number.
    Remains,
}

/// A location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) what: What,
    pub(crate) address: usize,
    /// How it may be cut, as far as is known.
    pub(crate) cut: Cut,
    /// Where it was accessed first.
    pub(crate) place: PlaceId,
    /// What hooks left in memory there, if that is to be checked.
    pub(crate) shadow: Option<Value>,
}

/// Why an access has no locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The memory was cut: the exploration must start again.
    Again,
    /// The access overlaps one at this place, and one of the two cannot be cut.
    Mixed(PlaceId),
}

/// Whether plain accesses of scalars may be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scalars {
    /// Where races are errors.
    #[default]
    Cut,
    /// If it is told where they are not ordered.
    Watched,
    /// No.
    Whole,
}

/// How an access may be cut. Those that may be cut less are less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    /// Not at all: it is atomic.
    Never,
    /// As [`Scalars`] says.
    Scalar,
    /// Everywhere.
    Range,
}

/// The locations of an access; most have one.
pub(crate) type Locations = SmallVec<[LocationId; 1]>;

/// What is known of a program's memory. It only grows, and survives when the exploration starts again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Learned {
    /// Shared ranges of memory: from and to. They do not overlap.
    pub(crate) shared: BTreeMap<usize, usize>,
    /// Where locations are cut, and because of which access.
    #[serde(skip)]
    pub(crate) cuts: BTreeMap<usize, PlaceId>,
    /// The locations of blocks and of threads, by address, with their sizes. They are cleared when the block is freed, or
    /// the thread ends.
    pub(crate) of_blocks: BTreeMap<usize, usize>,
    /// Variables that somebody writes, of those that are mostly written by nobody.
    pub(crate) written_settings: BTreeSet<usize>,
    /// The blocks that are freed by ops in some execution: from and to.
    pub(crate) freed: BTreeMap<usize, usize>,
    /// Regions of memory where scalars were cut and are watched: from and to. They do not overlap.
    pub(crate) regions: BTreeMap<usize, usize>,
}

/// Shared memory and its locations.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) learned: Learned,
    /// Whether what is learned must not change without a new start, as others explore other parts.
    pub(crate) is_settled: bool,
    /// Where variables were read as if nobody wrote them.
    settings: BTreeSet<usize>,
    scalars: Scalars,
    exact: FxHashMap<(usize, usize), LocationId>,
    by_address: BTreeMap<usize, LocationId>,
    others: FxHashMap<(What, usize), LocationId>,
    pub(crate) all: Vec<Location>,
}

/// Adds a range to ranges that do not overlap. Those that would become one.
fn unite(ranges: &mut BTreeMap<usize, usize>, from: usize, to: usize) {
    let (mut from, mut to) = (from, to);
    while let Some((&start, &end)) = ranges.range(..to).next_back()
        && end > from
    {
        ranges.remove(&start);
        (from, to) = (from.min(start), to.max(end));
    }
    ranges.insert(from, to);
}

impl Layout {
    /// Nothing is shared.
    pub(crate) fn new(scalars: Scalars) -> Self {
        Layout { scalars, ..Layout::default() }
    }

    /// Forgets the locations, but not what is shared and where it is cut.
    pub(crate) fn restart(&mut self) {
        self.exact.clear();
        self.by_address.clear();
        self.others.clear();
        self.all.clear();
        self.settings.clear();
    }

    /// Others will explore parts of the program. Says whether that is new.
    ///
    /// From now on, what is an op must depend on nothing but what is learned: not on what was explored before here.
    pub(crate) fn settle(&mut self) -> bool {
        if self.is_settled {
            return false;
        }
        self.is_settled = true;
        self.learned.written_settings.extend(self.by_address.keys());
        true
    }

    /// Whether a shared variable can be read as if nobody wrote it.
    pub(crate) fn is_setting(&mut self, address: usize, size: usize) -> Result<bool, Trouble> {
        if self.learned.written_settings.contains(&address) {
            return Ok(false);
        }
        if self.exact.contains_key(&(address, size)) {
            let is_known = !self.is_settled || !self.learned.written_settings.insert(address);
            return if is_known { Ok(false) } else { Err(Trouble::Again) };
        }
        self.settings.insert(address);
        Ok(true)
    }

    /// Somebody writes this memory. Says whether it was read as if nobody did: the exploration must start again.
    #[inline]
    pub(crate) fn writes_setting(&mut self, address: usize, size: usize) -> bool {
        if self.settings.is_empty() {
            return false;
        }
        let written: Vec<usize> = self.settings.range(address..address + size).copied().collect();
        self.learned.written_settings.extend(&written);
        !written.is_empty()
    }

    /// Makes a range shared.
    pub(crate) fn share(&mut self, from: usize, to: usize) {
        unite(&mut self.learned.shared, from, to);
    }

    /// Whether an access touches shared memory.
    pub(crate) fn is_shared(&self, address: usize, size: usize) -> bool {
        let before = self.learned.shared.range(..address + size).next_back();
        before.is_some_and(|(_, &to)| to > address)
    }

    /// The first address of a range that is shared; where it ends if none is.
    pub(crate) fn first_shared(&self, from: usize, to: usize) -> usize {
        self.shared_in(from, to).next().map_or(to, |(shared, _)| shared)
    }

    /// The pieces of watched regions that an access touches: where they start, the last one first.
    #[inline]
    pub(crate) fn watched(&self, address: usize, size: usize) -> impl Iterator<Item = usize> + '_ {
        let end = address + size;
        let touched =
            self.learned.regions.range(..end).rev().take_while(move |&(_, &to)| to > address);
        touched.flat_map(move |(&from, &to)| {
            let first = self.learned.cuts.range(from..=from.max(address)).next_back();
            let first = first.map_or(from, |(&at, _)| at);
            self.learned.cuts.range(first..to.min(end)).rev().map(|(&at, _)| at)
        })
    }

    /// The shared ranges that begin in a range.
    pub(crate) fn shared_in(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.learned.shared.range(from..to).map(|(&from, &to)| (from, to))
    }

    /// The only location of an access, if it is known and no memory is cut.
    #[inline]
    pub(crate) fn known(&mut self, address: usize, size: usize, cut: Cut) -> Option<LocationId> {
        if !self.learned.cuts.is_empty() || size > 8 {
            return None;
        }
        let location = *self.exact.get(&(address, size))?;
        self.note_cut(location, cut);
        Some(location)
    }

    /// An access to a location may be cut so.
    #[inline]
    fn note_cut(&mut self, location: LocationId, cut: Cut) {
        let known = &mut self.all[location.index()].cut;
        *known = cut.min(*known);
    }

    /// The locations of an access to shared memory. New ones are made with `shadow`.
    pub(crate) fn locate(
        &mut self,
        address: usize,
        size: usize,
        cut: Cut,
        place: PlaceId,
        shadow: impl Fn(usize, usize) -> Option<Value>,
    ) -> Result<Locations, Trouble> {
        let mut locations = Locations::new();
        for (from, size) in self.pieces(address, size, cut)? {
            let location = match self.exact.get(&(from, size)) {
                Some(&location) => location,
                None => {
                    self.make_room(from, size, cut, place)?;
                    let location = Location {
                        what: What::Memory(size),
                        address: from,
                        cut,
                        place,
                        shadow: shadow(from, size),
                    };
                    self.add(location)
                }
            };
            self.note_cut(location, cut);
            locations.push(location);
        }
        Ok(locations)
    }

    fn add(&mut self, location: Location) -> LocationId {
        let id = LocationId::new(self.all.len());
        match location.what {
            What::Memory(size) => {
                self.exact.insert((location.address, size), id);
                self.by_address.insert(location.address, id);
            }
            what => {
                self.others.insert((what, location.address), id);
            }
        }
        self.all.push(location);
        id
    }

    /// The location that is no memory.
    pub(crate) fn locate_other(
        &mut self,
        what: What,
        address: usize,
        place: PlaceId,
    ) -> LocationId {
        match self.others.get(&(what, address)) {
            Some(&location) => location,
            None => self.add(Location { what, address, cut: Cut::Never, place, shadow: None }),
        }
    }

    /// The pieces of an access: addresses and sizes.
    fn pieces(
        &self,
        address: usize,
        size: usize,
        cut: Cut,
    ) -> Result<SmallVec<[(usize, usize); 1]>, Trouble> {
        let end = address + size;
        if self.learned.cuts.is_empty() && size <= 8 {
            return Ok(SmallVec::from_buf([(address, size)]));
        }
        let known = self.learned.cuts.range(address + 1..end);
        if let Some((_, &place)) = known.clone().next()
            && !self.allows(cut)
        {
            return Err(Trouble::Mixed(place));
        }
        let mut cuts: Vec<usize> = known.map(|(&at, _)| at).collect();
        if cut == Cut::Range && size > 8 {
            cuts.extend((address + 1..end).filter(|at| at % 8 == 0));
            cuts.sort_unstable();
            cuts.dedup();
        }
        let ends = cuts.iter().copied().chain([end]);
        let starts = [address].into_iter().chain(cuts.iter().copied());
        Ok(starts.zip(ends).map(|(from, to)| (from, to - from)).collect())
    }

    /// The access because of which memory is cut at an address.
    pub(crate) fn place_of_cut(&self, at: usize) -> PlaceId {
        self.learned.cuts.get(&at).copied().unwrap_or_default()
    }

    fn allows(&self, cut: Cut) -> bool {
        cut == Cut::Range || (cut == Cut::Scalar && self.scalars != Scalars::Whole)
    }

    fn overlapping(&self, address: usize, size: usize) -> impl Iterator<Item = LocationId> + '_ {
        let near = self.by_address.range(address.saturating_sub(16)..address + size);
        near.map(|(_, &location)| location).filter(move |location| {
            let Location { what, address: other, .. } = self.all[location.index()];
            matches!(what, What::Memory(length) if other + length > address)
        })
    }

    /// Sees to it that a new location overlaps no other one.
    fn make_room(
        &mut self,
        address: usize,
        size: usize,
        cut: Cut,
        place: PlaceId,
    ) -> Result<(), Trouble> {
        let overlapping: Vec<LocationId> = self.overlapping(address, size).collect();
        let end = address + size;
        for &other in &overlapping {
            let Location { what, address: start, cut: of_other, place: at, .. } =
                self.all[other.index()];
            let What::Memory(length) = what else { continue };
            let is_cut = start > address || start + length < end;
            let cuts_other = start < address || start + length > end;
            if is_cut && !self.allows(cut) || cuts_other && !self.allows(of_other) {
                return Err(Trouble::Mixed(at));
            }
            self.learned.cuts.extend([
                (start, at),
                (start + length, at),
                (address, place),
                (end, place),
            ]);
            if self.scalars == Scalars::Watched && cut.min(of_other) == Cut::Scalar {
                unite(&mut self.learned.regions, start.min(address), end.max(start + length));
            }
        }
        if overlapping.is_empty() { Ok(()) } else { Err(Trouble::Again) }
    }

    /// Memory from one address to another was filled by us.
    pub(crate) fn refresh_shadows(&mut self, from: usize, to: usize) {
        for (&address, &location) in self.by_address.range(from..to) {
            let Location { what: What::Memory(size), shadow, .. } = &mut self.all[location.index()]
            else {
                continue;
            };
            *shadow = shadow.map(|_| read_memory(address, *size));
        }
    }

    /// Notes that a block is freed by ops. Says whether that is new.
    pub(crate) fn note_freed(&mut self, from: usize, to: usize) -> bool {
        self.learned.freed.insert(from, to) != Some(to)
    }

    /// The block that has an address, if it is one that may be freed by ops.
    pub(crate) fn freed_block(&self, address: usize) -> Option<usize> {
        let mut blocks = self.learned.freed.range(..=address).rev();
        blocks.find(|&(_, &to)| address < to).map(|(&from, _)| from)
    }

    /// Notes a location of a block. Says whether it is new.
    pub(crate) fn note_of_block(&mut self, location: LocationId) -> bool {
        let Location { what: What::Memory(size), address, .. } = self.all[location.index()] else {
            return false;
        };
        self.learned.of_blocks.insert(address, size) != Some(size)
    }

    /// The known locations of a block: addresses and sizes.
    pub(crate) fn of_block(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        self.learned.of_blocks.range(from..to).map(|(&address, &size)| (address, size)).collect()
    }
}
