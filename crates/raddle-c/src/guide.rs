//! A guide through a program: what its threads read in an execution that somebody else has found.
//!
//! *Problem.* An execution that is known in words of the source has to be found among all executions of the compiled
//! program. Exploring these may take too long.
//!
//! *Idea.* Every value that a thread is known to read is known by the thread, the line and the variable, and by how often
//! that was read before. A thread that reads another value there, or reads it once more than is known, stops. What
//! the guide does not mention is free. If some of the reads of a line are not known, those that are say less: in any order
//! ([`Guide::in_any_order`]), each value may be read as often as one likes.
//!
//! A thread that stops does so as if an assumption did not hold. So whatever goes wrong under a guide is an execution of the
//! program; but that nothing goes wrong means nothing.

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::{
    End, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, PlaceId,
};
use rustc_hash::FxHashMap;

use crate::layout::{Location, What};
use crate::native::Native;

/// A read of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRead {
    /// The thread, as it is called in reports.
    pub thread: String,
    /// File and line.
    pub place: String,
    /// The global variable, with the offset in bytes behind a `+` if it is a part of it.
    pub variable: String,
    /// What is read, if that is known.
    pub value: Option<u64>,
    /// How many bits of that count.
    pub bits: u8,
}

/// Thread, file and line, variable, offset.
type Key = (String, String, String, usize);

/// What threads read.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    reads: FxHashMap<Key, Vec<(Option<u64>, u8)>>,
    in_any_order: bool,
}

impl Guide {
    /// These reads, those of each thread in program order.
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

    /// The same, but every value may be read at any time and as often as one likes.
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

/// Whether a value is the one that is known. All pointers are alike: they differ from one program to the other.
fn is_same(value: Value, (known, bits): (Option<u64>, u8)) -> bool {
    let Some(known) = known else { return true };
    let mask = u64::MAX >> 64_u8.saturating_sub(bits.max(1));
    let value = value as u64 & mask;
    value == known & mask || bits == 64 && known >= LOWEST && value >= LOWEST
}

impl Native {
    /// Whether a thread leaves its guide with this answer.
    pub(crate) fn strays(
        &self,
        histories: &LocalHistories,
        step: HistoryStep,
        reply: Value,
    ) -> bool {
        let (Some(guide), HistoryStep::After(asked, _)) = (&self.module.guide, step) else {
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
        let Location { what, address, .. } = self.layout.all[location.index()];
        let What::Memory(_) = what else { return None };
        let symbol = self.module.variable(address)?;
        let thread = self.thread_name(histories.thread(node));
        let place = line(&Naming::place(self, place));
        Some((thread, place, symbol.name.clone(), address - symbol.start))
    }
}

/// Where and what a history that ends with a question reads.
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
    fn values_are_compared_by_the_bits_that_count() {
        assert!(is_same(4_294_967_295, (Some(u64::MAX), 32)));
        assert!(is_same(-1, (Some(0xff), 8)));
        assert!(!is_same(1, (Some(2), 32)));
        assert!(is_same(0x7f00_0000_1000, (Some(0x1010), 64)), "pointers are alike");
        assert!(!is_same(0, (Some(0x1010), 64)), "but for null");
        assert!(!is_same(0x2000, (Some(0x1010), 32)), "an int is none");
    }
}
