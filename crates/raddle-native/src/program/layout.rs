//! Which memory is shared, and how it is divided into locations.
//!
//! *Problem.* An access to memory that only one thread uses is not an op. But when memory is first accessed, it is not known
//! whether another thread will use it. And a location of the explorer has a fixed size, but programs access the same memory in
//! parts of different sizes.
//!
//! *Idea.* Memory is private until a second thread touches it. Then its object (a variable, a block, eight bytes of a stack)
//! is shared for good, and the exploration starts again. Likewise, if accesses of different sizes overlap, the memory is cut at
//! their ends, and the exploration starts again. What is learned survives the restart; it only grows, and the first executions
//! find most of it.
//!
//! An atomic access cannot be cut. A plain access can be cut if races are errors. Otherwise it is
//! one access, of which no thread may see a part. Under SC and TSO it is cut nevertheless, and all accesses to that region also
//! access cells that represent its pieces (`OpKind::ReadCell`). Under PSO, accesses that an atomic variable orders may
//! still reach memory one by one, so they are not cut.
//!
//! If an access that cannot be cut overlaps others, or two accesses of pieces are unordered, the exploration starts again,
//! under SC, TSO and PSO: then every access of several locations is a joint one (`joint.rs`). Under other models an atomic variable
//! stays whole, and a plain access of a part of it is a plain access of all of it (`parts.rs`); two atomic variables that
//! overlap are refused.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::LocationId;
use raddle_core::program::PlaceId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::kinds::ObjectKind;

/// What a location represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum LocationKind {
    /// Memory of this size in bytes.
    Memory(u64),
    /// A synchronization object.
    Object(ObjectKind),
    /// Whether a block was freed.
    Block,
    /// A piece of memory that is accessed in pieces of different sizes.
    Piece,
    /// The result of a thread. The address is the number of the thread.
    Result,
    /// What a thread leaves on its heap. The address is the number of the thread.
    Remains,
}

impl LocationKind {
    /// Returns `true` if the address of such a location is one of memory.
    pub(crate) fn is_memory(self) -> bool {
        !matches!(self, LocationKind::Result | LocationKind::Remains)
    }
}

/// A location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) kind: LocationKind,
    pub(crate) address: u64,
    /// How the accesses so far may be cut.
    pub(crate) cut: Cut,
    /// The place of the first access.
    pub(crate) place: PlaceId,
}

/// Why an access has no locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// The memory was cut: the exploration must start again.
    Again,
    /// The access overlaps one at this place, and one of the two cannot be cut.
    Mixed(PlaceId),
}

/// Whether plain accesses of scalars may be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScalarCut {
    /// They may, because races are errors.
    #[default]
    Cut,
    /// They may, and unordered accesses to the parts are reported.
    Watched,
    /// They must not.
    Whole,
}

/// How an access may be cut, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    /// Not at all: it is atomic.
    Never,
    /// As [`ScalarCut`] says.
    Scalar,
    /// Everywhere.
    Range,
}

/// The locations of an access; most have one.
pub(crate) type Locations = SmallVec<[LocationId; 1]>;

/// What is known about the memory of a program. It only grows, and survives restarts of the exploration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Learned {
    /// Shared ranges, by start, with their ends. They do not overlap.
    pub(crate) shared: BTreeMap<u64, u64>,
    /// Where locations are cut, and the place of the access that required it.
    #[serde(skip)]
    pub(crate) cuts: BTreeMap<u64, PlaceId>,
    /// The locations of blocks and of threads, by address, with their sizes. They are cleared when the block is freed, or
    /// the thread ends.
    pub(crate) of_blocks: BTreeMap<u64, u64>,
    /// Atomic variables that Rust's standard library also accesses by plain instructions: addresses and sizes.
    pub(crate) atomics: BTreeSet<(u64, u64)>,
    /// Variables at which threads of a Rust program wait for a wake.
    pub(crate) futexes: BTreeSet<u64>,
    /// A thread of a Rust program parks while it has a scope.
    pub(crate) parks_in_scope: bool,
    /// Settings that some thread writes.
    pub(crate) written_settings: BTreeSet<u64>,
    /// Blocks that some execution frees by ops, by start, with their ends.
    pub(crate) freed: BTreeMap<u64, u64>,
    /// Memory that atomic sections access, by start, with its end and whether they write it.
    pub(crate) sections: BTreeMap<u64, (u64, bool)>,
    /// Regions where scalars are cut and watched, by start, with their ends. They do not overlap.
    pub(crate) regions: BTreeMap<u64, u64>,
    /// Accesses of several locations are joint ones.
    #[serde(default)]
    pub(crate) is_joint: bool,
    /// Atomic variables of which plain accesses use parts, by start, with their ends. They do not overlap.
    #[serde(default)]
    pub(crate) variables: BTreeMap<u64, u64>,
    /// Those of them of which unordered accesses use disjoint parts.
    #[serde(default)]
    pub(crate) divided: BTreeSet<u64>,
}

/// Shared memory and its locations.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) learned: Learned,
    /// Other workers explore other parts, so new facts require a restart.
    pub(crate) is_settled: bool,
    /// Addresses of settings: variables that were read as constants.
    settings: BTreeSet<u64>,
    /// Variables that Rust's standard library has accessed by plain instructions, not as atomic ones.
    plain_of_std: BTreeSet<(u64, u64)>,
    pub(super) scalars: ScalarCut,
    /// Whether the explorer supports joint accesses.
    can_be_joint: bool,
    /// By variable and instruction: which parts plain accesses use.
    pub(super) used: FxHashMap<(LocationId, PlaceId), BTreeSet<(u64, u64)>>,
    exact: FxHashMap<(u64, u64), LocationId>,
    by_address: BTreeMap<u64, LocationId>,
    others: FxHashMap<(LocationKind, u64), LocationId>,
    pub(crate) all: Vec<Location>,
}

/// Adds a range to ranges that do not overlap. Ranges that overlap the new one are merged with it.
fn unite(ranges: &mut BTreeMap<u64, u64>, from: u64, to: u64) {
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
    /// A layout without shared memory, under a model that has joint accesses or not.
    pub(crate) fn new(scalars: ScalarCut, can_be_joint: bool) -> Self {
        Layout { scalars, can_be_joint, ..Layout::default() }
    }

    /// From now on accesses of several locations are joint ones, if the model has these. Returns `true` if that is new.
    pub(crate) fn learn_joint(&mut self) -> bool {
        self.learned.regions.clear();
        self.can_be_joint && !std::mem::replace(&mut self.learned.is_joint, true)
    }

    /// An access overlaps one at this place, and one of them cannot be cut.
    fn mixed(&mut self, other: PlaceId) -> Conflict {
        if self.learn_joint() { Conflict::Again } else { Conflict::Mixed(other) }
    }

    /// Removes the locations. Keeps what is learned.
    pub(crate) fn restart(&mut self) {
        self.exact.clear();
        self.by_address.clear();
        self.others.clear();
        self.all.clear();
        self.settings.clear();
        self.plain_of_std.clear();
        self.used.clear();
    }

    /// Other workers will explore parts of the program: from now on, ops must depend only on what is learned, not on what was
    /// explored here before. Returns `true` if that is new.
    pub(crate) fn settle(&mut self) -> bool {
        if self.is_settled {
            return false;
        }
        self.is_settled = true;
        self.learned.written_settings.extend(self.by_address.keys());
        let atomics = self.all.iter().filter_map(|location| match location.kind {
            LocationKind::Memory(size) if location.cut == Cut::Never => {
                Some((location.address, size))
            }
            _ => None,
        });
        self.learned.atomics.extend(atomics);
        true
    }

    /// Returns `true` if a variable that code of Rust's standard library accesses by a plain instruction is an atomic one.
    pub(crate) fn is_atomic(&mut self, address: u64, size: u64) -> Result<bool, Conflict> {
        let variable = (address, size);
        if self.learned.atomics.contains(&variable) {
            return Ok(true);
        }
        let location = self.exact.get(&variable);
        if location.is_some_and(|location| self.all[location.index()].cut == Cut::Never) {
            let is_known = !self.is_settled || !self.learned.atomics.insert(variable);
            return if is_known { Ok(true) } else { Err(Conflict::Again) };
        }
        self.plain_of_std.insert(variable);
        Ok(false)
    }

    /// Learns that a location of memory is an atomic variable. Returns `true` if that is new.
    pub(crate) fn learn_atomic(&mut self, location: LocationId) -> bool {
        match self.all[location.index()] {
            Location { kind: LocationKind::Memory(size), address, .. } => {
                self.learned.atomics.insert((address, size))
            }
            _ => false,
        }
    }

    /// Notes an atomic access. Returns `true` if the variable was taken for one that is not atomic: the exploration must start
    /// again.
    #[inline]
    pub(crate) fn note_atomic(&mut self, address: u64, size: u64) -> bool {
        !self.plain_of_std.is_empty()
            && self.plain_of_std.contains(&(address, size))
            && self.learned.atomics.insert((address, size))
    }

    /// Returns `true` if a shared variable can be read as a constant.
    pub(crate) fn is_setting(&mut self, address: u64, size: u64) -> Result<bool, Conflict> {
        if self.learned.written_settings.contains(&address) {
            return Ok(false);
        }
        if self.exact.contains_key(&(address, size)) {
            let is_known = !self.is_settled || !self.learned.written_settings.insert(address);
            return if is_known { Ok(false) } else { Err(Conflict::Again) };
        }
        self.settings.insert(address);
        Ok(true)
    }

    /// Notes a write. Returns `true` if the memory was read as a constant: the exploration must start again.
    #[inline]
    pub(crate) fn writes_setting(&mut self, address: u64, size: u64) -> bool {
        if self.settings.is_empty() {
            return false;
        }
        let written: Vec<u64> = self.settings.range(address..address + size).copied().collect();
        self.learned.written_settings.extend(&written);
        !written.is_empty()
    }

    /// Makes a range shared.
    pub(crate) fn share(&mut self, from: u64, to: u64) {
        unite(&mut self.learned.shared, from, to);
    }

    /// Returns `true` if an access touches shared memory.
    pub(crate) fn is_shared(&self, address: u64, size: u64) -> bool {
        let before = self.learned.shared.range(..address + size).next_back();
        before.is_some_and(|(_, &to)| to > address)
    }

    /// Returns `true` if a whole range is shared.
    pub(crate) fn is_all_shared(&self, from: u64, to: u64) -> bool {
        let before = self.learned.shared.range(..=from).next_back();
        before.is_some_and(|(_, &end)| end >= to)
    }

    /// The starts of the pieces of watched regions that an access touches, the last one first.
    #[inline]
    pub(crate) fn watched(&self, address: u64, size: u64) -> impl Iterator<Item = u64> + '_ {
        let end = address + size;
        let touched =
            self.learned.regions.range(..end).rev().take_while(move |&(_, &to)| to > address);
        touched.flat_map(move |(&from, &to)| {
            let first = self.learned.cuts.range(from..=from.max(address)).next_back();
            let first = first.map_or(from, |(&at, _)| at);
            self.learned.cuts.range(first..to.min(end)).rev().map(|(&at, _)| at)
        })
    }

    /// The only location of an access, if it is known and no memory is cut.
    #[inline]
    pub(crate) fn known(&mut self, address: u64, size: u64, cut: Cut) -> Option<LocationId> {
        let is_simple = self.learned.cuts.is_empty() && self.learned.variables.is_empty();
        if !is_simple || size > 8 {
            return None;
        }
        let location = *self.exact.get(&(address, size))?;
        self.note_cut(location, cut);
        Some(location)
    }

    /// Notes how an access to a location may be cut.
    #[inline]
    fn note_cut(&mut self, location: LocationId, cut: Cut) {
        let known = &mut self.all[location.index()].cut;
        *known = cut.min(*known);
    }

    /// The locations of an access to shared memory, which happens at one moment or has a [unit](Layout::units).
    pub(crate) fn locate(
        &mut self,
        address: u64,
        size: u64,
        cut: Cut,
        place: PlaceId,
    ) -> Result<Locations, Conflict> {
        let mut locations = Locations::new();
        for (from, size) in self.pieces(address, size, cut)? {
            let location = match self.exact.get(&(from, size)) {
                Some(&location) => location,
                None => {
                    self.make_room(from, size, cut, place)?;
                    let location =
                        Location { kind: LocationKind::Memory(size), address: from, cut, place };
                    self.add(location)
                }
            };
            self.note_cut(location, cut);
            locations.push(location);
        }
        Ok(locations)
    }

    pub(super) fn add(&mut self, location: Location) -> LocationId {
        let id = LocationId::new(self.all.len());
        match location.kind {
            LocationKind::Memory(size) => {
                self.exact.insert((location.address, size), id);
                self.by_address.insert(location.address, id);
            }
            kind => {
                self.others.insert((kind, location.address), id);
            }
        }
        self.all.push(location);
        id
    }

    /// The location of this kind at an address, if there is one.
    pub(crate) fn find(&self, kind: LocationKind, address: u64) -> Option<LocationId> {
        match kind {
            LocationKind::Memory(size) => self.exact.get(&(address, size)).copied(),
            kind => self.others.get(&(kind, address)).copied(),
        }
    }

    /// Adds a region where scalars are cut and watched.
    pub(crate) fn add_region(&mut self, from: u64, to: u64) {
        unite(&mut self.learned.regions, from, to);
    }

    /// The location of something other than memory.
    pub(crate) fn locate_object(
        &mut self,
        kind: LocationKind,
        address: u64,
        place: PlaceId,
    ) -> LocationId {
        match self.others.get(&(kind, address)) {
            Some(&location) => location,
            None => self.add(Location { kind, address, cut: Cut::Never, place }),
        }
    }

    /// The parts of an access that happen at one moment each, if the whole does not: addresses and sizes.
    pub(crate) fn units(&self, address: u64, size: u64, cut: Cut) -> SmallVec<[(u64, u64); 1]> {
        let end = address + size;
        if !self.learned.is_joint || cut != Cut::Range || size <= 8 {
            return SmallVec::from_buf([(address, size)]);
        }
        let starts = [address].into_iter().chain((address + 1..end).filter(|at| at % 8 == 0));
        let unit = |from: u64| (from, end.min((from / 8 + 1) * 8) - from);
        starts.map(unit).collect()
    }

    /// The pieces of an access: addresses and sizes.
    fn pieces(
        &mut self,
        address: u64,
        size: u64,
        cut: Cut,
    ) -> Result<SmallVec<[(u64, u64); 1]>, Conflict> {
        let end = address + size;
        if let Some((from, to)) = self.variable_in(address, end) {
            let is_whole = (from, to) == (address, end);
            let place = self.place_of_cut(from);
            return if is_whole {
                Ok(SmallVec::from_buf([(address, size)]))
            } else {
                Err(Conflict::Mixed(place))
            };
        }
        if self.learned.cuts.is_empty() && size <= 8 {
            return Ok(SmallVec::from_buf([(address, size)]));
        }
        let first = self.learned.cuts.range(address + 1..end).next();
        if let Some(place) = first.map(|(_, &place)| place)
            && !self.allows(cut)
        {
            return Err(match self.scalars {
                ScalarCut::Cut => self.learn_variable((address, end), place),
                _ => self.mixed(place),
            });
        }
        let known = self.learned.cuts.range(address + 1..end);
        let mut cuts: Vec<u64> = known.map(|(&at, _)| at).collect();
        if cut == Cut::Range && size > 8 {
            cuts.extend((address + 1..end).filter(|at| at % 8 == 0));
            cuts.sort_unstable();
            cuts.dedup();
        }
        let ends = cuts.iter().copied().chain([end]);
        let starts = [address].into_iter().chain(cuts.iter().copied());
        Ok(starts.zip(ends).map(|(from, to)| (from, to - from)).collect())
    }

    /// Returns `true` if a location may be only a part of what some access accesses at one moment.
    pub(crate) fn is_part(&self, address: u64, size: u64) -> bool {
        let cuts = &self.learned.cuts;
        self.learned.is_joint
            && (cuts.contains_key(&address) || cuts.contains_key(&(address + size)))
    }

    /// The place of the access that required the cut at an address.
    pub(crate) fn place_of_cut(&self, at: u64) -> PlaceId {
        self.learned.cuts.get(&at).copied().unwrap_or_default()
    }

    fn allows(&self, cut: Cut) -> bool {
        self.learned.is_joint
            || cut == Cut::Range
            || (cut == Cut::Scalar && self.scalars != ScalarCut::Whole)
    }

    fn overlapping(&self, address: u64, size: u64) -> impl Iterator<Item = LocationId> + '_ {
        let near = self.by_address.range(address.saturating_sub(16)..address + size);
        near.map(|(_, &location)| location).filter(move |location| {
            let Location { kind, address: other, .. } = self.all[location.index()];
            matches!(kind, LocationKind::Memory(length) if other + length > address)
        })
    }

    /// Ensures that a new location overlaps no other one.
    fn make_room(
        &mut self,
        address: u64,
        size: u64,
        cut: Cut,
        place: PlaceId,
    ) -> Result<(), Conflict> {
        let overlapping: Vec<LocationId> = self.overlapping(address, size).collect();
        let end = address + size;
        for &other in &overlapping {
            let Location { kind, address: start, cut: of_other, place: at, .. } =
                self.all[other.index()];
            let LocationKind::Memory(length) = kind else { continue };
            let is_cut = start > address || start + length < end;
            let cuts_other = start < address || start + length > end;
            if is_cut && !self.allows(cut) || cuts_other && !self.allows(of_other) {
                let variable = match (cut, of_other) {
                    (Cut::Never, Cut::Never) => None,
                    (Cut::Never, _) => Some((address, end)),
                    _ => Some((start, start + length)),
                };
                return Err(match variable.filter(|_| self.scalars == ScalarCut::Cut) {
                    Some(variable) => self.learn_variable(variable, at),
                    None => self.mixed(at),
                });
            }
            self.learned.cuts.extend([
                (start, at),
                (start + length, at),
                (address, place),
                (end, place),
            ]);
            let is_watched = self.scalars == ScalarCut::Watched && !self.learned.is_joint;
            if is_watched && cut.min(of_other) == Cut::Scalar {
                unite(&mut self.learned.regions, start.min(address), end.max(start + length));
            }
        }
        if overlapping.is_empty() { Ok(()) } else { Err(Conflict::Again) }
    }

    /// Notes that a block is freed by ops. Returns `true` if that is new.
    pub(crate) fn note_freed(&mut self, from: u64, to: u64) -> bool {
        self.learned.freed.insert(from, to) != Some(to)
    }

    /// The start of the block at an address, if ops may free it.
    pub(crate) fn freed_block(&self, address: u64) -> Option<u64> {
        let mut blocks = self.learned.freed.range(..=address).rev();
        blocks.find(|&(_, &to)| address < to).map(|(&from, _)| from)
    }

    /// Notes a location of a block. Returns `true` if it is new.
    pub(crate) fn note_of_block(&mut self, location: LocationId) -> bool {
        let Location { kind: LocationKind::Memory(size), address, .. } = self.all[location.index()]
        else {
            return false;
        };
        self.learned.of_blocks.insert(address, size) != Some(size)
    }

    /// The known locations of a block: addresses and sizes.
    pub(crate) fn of_block(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        self.learned.of_blocks.range(from..to).map(|(&address, &size)| (address, size)).collect()
    }
}
