//! What corresponds to what if two threads with the same function and argument exchange their roles.
//!
//! Everything that belongs to a thread lies at a base that depends on its number (`raddle_cpu::memory::layout`), and its blocks are
//! numbered by its own history. So an address in the memory of one thread corresponds to the address with the same offset in
//! that of the other. Whether threads really behave alike is none of our business: explorers run all of them and compare.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault};

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::ThreadExchange;
use raddle_cpu::memory::{MAX_THREADS, layout as guest};
use rustc_hash::FxHasher;

use super::NativeProgram;
use super::given::GivenMemory;
use super::kinds::ObjectKind;
use super::layout::{Layout, Location, LocationKind};
use super::names::Start;

/// The areas of threads: base and stride.
const AREAS: [(u64, u64); 4] = [
    (guest::HEAPS, guest::HEAP_STRIDE),
    (guest::MAPPINGS, guest::MAPPING_STRIDE),
    (guest::STACKS, guest::STACK_STRIDE),
    (guest::TLS, guest::TLS_STRIDE),
];

/// The thread in whose memory an address is, and the base and the stride of that area.
fn owner(areas: &[(u64, u64)], address: u64) -> Option<(ThreadId, u64, u64)> {
    areas.iter().find_map(|&(base, stride)| {
        let index = (address.checked_sub(base)? / stride) as usize;
        (index < MAX_THREADS).then(|| (ThreadId::new(index), base, stride))
    })
}

/// The address that corresponds to an address.
fn exchanged(areas: &[(u64, u64)], threads: ThreadExchange, address: u64) -> u64 {
    match owner(areas, address) {
        Some((thread, _, stride)) => {
            let (from, to) = (thread.index() as u64, threads.of(thread).index() as u64);
            address.wrapping_sub(from.wrapping_mul(stride)).wrapping_add(to * stride)
        }
        None => address,
    }
}

impl NativeProgram {
    /// Threads with the same function, argument and library data have the same kind.
    pub(super) fn kind_of_thread(&self, thread: ThreadId) -> Option<u64> {
        let Start { function, argument, library, .. } = self.names.start(thread)?;
        let hasher = BuildHasherDefault::<FxHasher>::default();
        self.settings.symmetry.then(|| hasher.hash_one((function, argument, library)))
    }

    /// The address that corresponds to an address.
    fn exchanged_address(
        &self,
        areas: &[(u64, u64)],
        threads: ThreadExchange,
        address: u64,
    ) -> u64 {
        let given = || self.given.exchanged(threads, address);
        given().unwrap_or_else(|| exchanged(areas, threads, address))
    }

    /// The areas of threads, those of modelled functions included.
    fn areas(&self) -> [(u64, u64); 6] {
        let [a, b, c, d] = AREAS;
        let [e, f] = self.table.thread_areas;
        [a, b, c, d, e, f]
    }

    /// The thread whose result or state a location is.
    pub(super) fn owner_of_location(&self, location: LocationId) -> Option<ThreadId> {
        let Location { kind, address, .. } = self.layout.all[location.index()];
        match kind {
            LocationKind::Result | LocationKind::Remains => Some(ThreadId::new(address as usize)),
            LocationKind::Memory(_) => {
                owner(&self.table.thread_areas, address).map(|(thread, ..)| thread)
            }
            _ => None,
        }
    }

    /// The location that corresponds to a location.
    pub(super) fn corresponding_location(
        &self,
        threads: ThreadExchange,
        location: LocationId,
    ) -> Option<LocationId> {
        let Location { kind, address, .. } = self.layout.all[location.index()];
        let of = |index: u64| threads.of(ThreadId::new(index as usize)).index() as u64;
        let (other_kind, other) = match kind {
            LocationKind::Result | LocationKind::Remains => (kind, of(address)),
            LocationKind::Object(ObjectKind::Token { from, to }) => {
                let (from, to) = (of(from.into()) as u32, of(to.into()) as u32);
                (LocationKind::Object(ObjectKind::Token { from, to }), address)
            }
            _ => (kind, self.exchanged_address(&self.areas(), threads, address)),
        };
        match (other_kind, other) == (kind, address) {
            true => Some(location),
            false => self.layout.find(other_kind, other),
        }
    }

    /// The value that corresponds to a value, of one or two words.
    pub(super) fn corresponding_value(&self, threads: ThreadExchange, value: Value) -> Value {
        if value < guest::HEAPS.into() {
            return value;
        }
        let word = |word: u64| Value::from(self.exchanged_address(&AREAS, threads, word));
        word((value >> 64) as u64) << 64 | word(value as u64)
    }

    /// As [`NativeProgram::corresponding_value`], for the value of an object: those of condition variables and futexes have a bit
    /// for each thread that waits.
    pub(super) fn corresponding_state(
        &self,
        threads: ThreadExchange,
        object: LocationId,
        value: Value,
    ) -> Value {
        let kind = self.layout.all[object.index()].kind;
        let has_bits = LocationKind::Object(ObjectKind::Condition) == kind
            || LocationKind::Object(ObjectKind::Futex) == kind;
        let (first, second) = (threads.first.index(), threads.second.index());
        if !has_bits || first.max(second) >= Value::BITS as usize {
            return self.corresponding_value(threads, value);
        }
        match (value >> first ^ value >> second) & 1 {
            0 => value,
            _ => value ^ (1 << first | 1 << second),
        }
    }

    /// Learns about the memory of each thread what is known about that of other threads of its kind: otherwise those would not behave
    /// alike.
    pub(super) fn share_what_corresponds(&mut self) {
        if !self.settings.symmetry {
            return;
        }
        let kinds = self.names.starts.iter().enumerate().map(|(index, start)| {
            let thread = ThreadId::new(index + 1);
            let Start { parent, function, argument, library, .. } = *start;
            let shape = self.shape_of_thread(thread);
            let argument = if shape.is_none() { argument } else { 0 };
            (thread, (parent, function, argument, library, shape))
        });
        let kinds: Vec<_> = kinds.collect();
        for &(first, kind) in &kinds {
            for &(second, _) in kinds.iter().filter(|(it, other)| *it != first && *other == kind) {
                let given = GivenMemory::of_pair(self, first, second);
                share_in(&mut self.layout, &given, ThreadExchange { first, second });
            }
        }
    }
}

/// Adds what corresponds to the known facts about memory of the first of two threads.
fn share_in(layout: &mut Layout, given: &GivenMemory, threads: ThreadExchange) {
    let is_area_of_first =
        |address: u64| owner(&AREAS, address).is_some_and(|(thread, ..)| thread == threads.first);
    let is_of_first =
        |address: u64| is_area_of_first(address) || given.receiver(address) == Some(threads.first);
    let image = |address: u64| {
        let given = given.exchanged(threads, address);
        given.unwrap_or_else(|| exchanged(&AREAS, threads, address))
    };
    // Of a range of several blocks, only the parts in those of the first thread have an image: blocks of both may be neighbours.
    let images = |ranges: &BTreeMap<u64, u64>| -> Vec<(u64, u64)> {
        let mut images = vec![];
        for (&from, &to) in ranges {
            if is_area_of_first(from) {
                images.push((image(from), image(from) + (to - from)));
                continue;
            }
            for (start, end) in given.blocks_of(threads.first) {
                let (from, to) = (from.max(start), to.min(end));
                if from < to {
                    images.push((image(from), image(from) + (to - from)));
                }
            }
        }
        images
    };
    let learned = layout.learned.clone();
    for (from, to) in images(&learned.shared) {
        layout.share(from, to);
    }
    for (at, place) in learned.cuts.iter().filter(|&(&at, _)| is_of_first(at)) {
        layout.learned.cuts.entry(image(*at)).or_insert(*place);
    }
    for (at, size) in learned.of_blocks.iter().filter(|&(&at, _)| is_of_first(at)) {
        layout.learned.of_blocks.entry(image(*at)).or_insert(*size);
    }
    for at in learned.written_settings.iter().filter(|&&at| is_of_first(at)) {
        layout.learned.written_settings.insert(image(*at));
    }
    for (from, to) in images(&learned.freed) {
        layout.note_freed(from, to);
    }
    for (from, to) in images(&learned.regions) {
        layout.add_region(from, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_two_threads_are_exchanged() {
        let threads = ThreadExchange { first: ThreadId::new(1), second: ThreadId::new(3) };
        for (base, stride) in AREAS {
            let [zero, one, three] = [0, 1, 3].map(|thread| base + thread * stride + 0x1234);
            assert_eq!(exchanged(&AREAS, threads, one), three);
            assert_eq!(exchanged(&AREAS, threads, three), one);
            assert_eq!(exchanged(&AREAS, threads, zero), zero);
        }
        assert_eq!(exchanged(&AREAS, threads, 3), 3);
    }

    /// What is known about both threads is not exchanged. Otherwise facts changed with each exploration, and none was the last one.
    #[test]
    fn known_sizes_of_locations_are_kept() {
        let [first, second] = [1, 2].map(|thread| guest::HEAPS + thread * guest::HEAP_STRIDE + 16);
        let mut layout = Layout::default();
        layout.learned.of_blocks.extend([(first, 4), (second, 8), (first + 8, 8)]);
        let (one, two) = (ThreadId::new(1), ThreadId::new(2));
        for (first, second) in [(one, two), (two, one)] {
            let threads = ThreadExchange { first, second };
            share_in(&mut layout, &GivenMemory::default(), threads);
        }
        let expected = BTreeMap::from([(first, 4), (second, 8), (first + 8, 8), (second + 8, 8)]);
        assert_eq!(layout.learned.of_blocks, expected);
    }
}
