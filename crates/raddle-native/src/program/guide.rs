//! A guide: what threads read in an execution that is known from elsewhere.
//!
//! *Problem.* An execution that is known in terms of the source must be found among all executions of the compiled program.
//! Exploring these may take too long.
//!
//! *Idea.* A value that a thread is known to read is identified by the thread, the line and the variable, and by how often
//! that was read before. A thread that reads another value there, or reads more often than is known, stops. What the guide
//! does not mention is free. If some of the reads of a line are not known, the order of the others means less
//! ([`Guide::in_any_order`]).
//!
//! A thread stops as if an assumption did not hold. So a bug under a guide is a bug of the program; that there is none means
//! nothing.

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::{
    End, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, PlaceId,
};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::NativeProgram;
use super::layout::{Location, LocationKind};

/// A read of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRead {
    /// The name of the thread, as in reports.
    pub thread: String,
    /// File and line.
    pub place: String,
    /// The global variable, with the offset in bytes after a `+` if a part of it is read.
    pub variable: String,
    /// The value, if it is known.
    pub value: Option<u64>,
    /// The number of low bits of the value that are compared.
    pub bits: u8,
}

/// Thread, file and line, variable, offset.
type Key = (String, String, String, u64);

/// What threads read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Guide {
    reads: FxHashMap<Key, Vec<(Option<u64>, u8)>>,
    in_any_order: bool,
}

impl Guide {
    /// A guide of these reads; those of each thread are in program order.
    #[must_use]
    pub fn new(reads: impl IntoIterator<Item = KnownRead>) -> Self {
        let mut guide = Guide::default();
        for KnownRead { thread, place, variable, value, bits } in reads {
            let (name, offset) = match variable.rsplit_once('+') {
                Some((name, offset)) => (name.to_owned(), offset.parse().unwrap_or(0)),
                None => (variable, 0),
            };
            let key = (thread, line(&place), name, offset);
            guide.reads.entry(key).or_default().push((value, bits));
        }
        guide
    }

    /// The same guide, but each value may be read at any time and any number of times.
    #[must_use]
    pub fn in_any_order(self) -> Self {
        Guide { in_any_order: true, ..self }
    }
}

/// File and line without directories.
fn line(place: &str) -> String {
    place.rsplit('/').next().unwrap_or(place).to_owned()
}

/// No object is below this address, neither here nor where the guide comes from.
const LOWEST: u64 = 0x1000;

/// Returns `true` if a value is the known one. Pointers differ from one program to the other, so all of them are equal.
fn is_same(value: Value, (known, bits): (Option<u64>, u8)) -> bool {
    let Some(known) = known else { return true };
    let mask = u64::MAX >> 64_u8.saturating_sub(bits.max(1));
    let value = value as u64 & mask;
    value == known & mask || bits == 64 && known >= LOWEST && value >= LOWEST
}

impl NativeProgram {
    /// Returns `true` if a thread leaves its guide with this reply.
    pub(super) fn strays(
        &self,
        histories: &LocalHistories,
        step: HistoryStep,
        reply: Value,
    ) -> bool {
        let (Some(guide), HistoryStep::After(asked, _)) = (&self.guide, step) else {
            return false;
        };
        let Some((location, place)) = read(histories, asked) else { return false };
        let Some(key) = self.key(histories, asked, location, place) else { return false };
        let Some(known) = guide.reads.get(&key) else { return false };
        if guide.in_any_order {
            return !known.iter().any(|&known| is_same(reply, known));
        }
        let before = self.reads_before(histories, asked, location, &key.1);
        known.get(before).is_none_or(|&known| !is_same(reply, known))
    }

    /// How often a thread has read a location in a line before.
    fn reads_before(
        &self,
        histories: &LocalHistories,
        mut node: HistoryId,
        location: LocationId,
        at: &str,
    ) -> usize {
        let mut count = 0;
        while let HistoryStep::After(earlier, _) = histories.step(node) {
            node = earlier;
            let same = read(histories, node).filter(|&(other, _)| other == location);
            let is_there = same.is_some_and(|(_, place)| line(&Naming::place(self, place)) == at);
            count += usize::from(is_there);
        }
        count
    }

    fn key(
        &self,
        histories: &LocalHistories,
        node: HistoryId,
        location: LocationId,
        place: PlaceId,
    ) -> Option<Key> {
        let Location { kind: LocationKind::Memory(_), address, .. } =
            self.layout.all[location.index()]
        else {
            return None;
        };
        let (_, variable) = self.variable_of(address)?;
        let thread = self.thread_name(histories.thread(node));
        let place = line(&Naming::place(self, place));
        Some((thread, place, variable.name.to_string(), address - variable.start))
    }
}

/// Location and place of the read with which a history ends.
fn read(histories: &LocalHistories, node: HistoryId) -> Option<(LocationId, PlaceId)> {
    let End::Question(Op { kind, place }) = *histories.end(node) else { return None };
    match kind {
        OpKind::Load { location, .. }
        | OpKind::Rmw { location, .. }
        | OpKind::CompareExchange { location, .. } => Some((location, place)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_their_known_bits() {
        assert!(is_same(4_294_967_295, (Some(u64::MAX), 32)));
        assert!(is_same(-1, (Some(0xff), 8)));
        assert!(!is_same(1, (Some(2), 32)));
        assert!(is_same(0x7f00_0000_1000, (Some(0x1010), 64)), "pointers are equal");
        assert!(!is_same(0, (Some(0x1010), 64)), "null is not");
        assert!(!is_same(0x2000, (Some(0x1010), 32)), "an int is no pointer");
    }
}
