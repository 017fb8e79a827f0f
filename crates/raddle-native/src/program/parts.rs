//! Plain accesses of parts of atomic variables, under models where races are errors.
//!
//! *Problem.* `u.low = 5; u.high = 1` before threads start that update the atomic word `u.word`. Under the C11 models an atomic access
//! must not be cut: what different parts of it read would not belong together.
//!
//! *Idea.* The variable stays whole. A plain load of a part loads all of it. A plain store of a part loads all of it, and stores
//! it with that part changed. If no two accesses race, of which one is plain, then every write that happens before is known
//! when the part is stored, and none comes in between, so the other parts keep their values.
//!
//! *Races.* Two unordered accesses of a variable, of which one is plain and one writes, race if they use a common byte. So
//! does every plain access with every atomic one, as that uses all bytes. Two plain accesses of disjoint parts do not: if the
//! explorer reports these, the exploration starts again and refuses accesses of parts of that variable.
//!
//! *Refused.* Two atomic variables that overlap.

use raddle_core::execution::LocationId;
use raddle_core::program::PlaceId;
use smallvec::SmallVec;

use super::layout::{Conflict, Cut, Layout, Location, LocationKind};

/// A part of a plain access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// The atomic variable that contains it: its start and its end.
    pub(crate) variable: Option<(u64, u64)>,
}

impl Layout {
    /// The parts of a plain access that are within one atomic variable, or outside of those of which parts are used.
    pub(crate) fn chunks(&self, address: u64, size: u64) -> SmallVec<[Chunk; 1]> {
        let (mut at, end) = (address, address + size);
        let mut chunks = SmallVec::new();
        while at < end {
            let variable = self.variable_in(at, end);
            let (to, variable) = match variable {
                Some((from, to)) if from <= at => (to, variable),
                Some((from, _)) => (from, None),
                None => (end, None),
            };
            let to = to.min(end);
            chunks.push(Chunk { address: at, size: to - at, variable });
            at = to;
        }
        chunks
    }

    /// The first atomic variable in a range of which plain accesses use parts.
    pub(super) fn variable_in(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let variables = &self.learned.variables;
        let before = variables.range(..=from).next_back().filter(|&(_, &end)| end > from);
        let found = before.or_else(|| variables.range(from..to).next());
        found.map(|(&start, &end)| (start, end))
    }

    /// Plain accesses use parts of an atomic variable: the exploration starts again, unless it overlaps another one.
    pub(super) fn learn_variable(&mut self, (from, to): (u64, u64), place: PlaceId) -> Conflict {
        if self.variable_in(from, to).is_some() {
            return Conflict::Mixed(place);
        }
        self.learned.variables.insert(from, to);
        self.learned.of_blocks.retain(|at, _| !(from..to).contains(at));
        self.learned.cuts.insert(from, place);
        self.learned.cuts.insert(to, place);
        Conflict::Again
    }

    /// The location of the variable that contains a part of a plain access.
    pub(crate) fn locate_variable(
        &mut self,
        chunk: Chunk,
        (from, to): (u64, u64),
        place: PlaceId,
    ) -> Result<LocationId, Conflict> {
        let is_part = (chunk.address, chunk.size) != (from, to - from);
        if is_part && self.learned.divided.contains(&from) {
            return Err(Conflict::Mixed(self.place_of_cut(from)));
        }
        let kind = LocationKind::Memory(to - from);
        let location = self
            .find(kind, from)
            .unwrap_or_else(|| self.add(Location { kind, address: from, cut: Cut::Scalar, place }));
        let range = (chunk.address, chunk.address + chunk.size);
        self.used.entry((location, place)).or_default().insert(range);
        Ok(location)
    }

    /// Learns from a race of two plain accesses of a variable at these places. Returns `true` if they may have used disjoint
    /// parts: then it was none.
    pub(crate) fn learn_divided(
        &mut self,
        location: LocationId,
        [first, second]: [PlaceId; 2],
    ) -> bool {
        let address = self.all[location.index()].address;
        if !self.learned.variables.contains_key(&address) {
            return false;
        }
        let of = |place| self.used.get(&(location, place));
        let is_disjoint = |one: (u64, u64), other: (u64, u64)| one.1 <= other.0 || other.1 <= one.0;
        let may_be = match (of(first), of(second)) {
            (Some(first), Some(second)) => {
                first.iter().any(|&one| second.iter().any(|&other| is_disjoint(one, other)))
            }
            // They were seen elsewhere.
            _ => true,
        };
        may_be && self.learned.divided.insert(address)
    }
}
