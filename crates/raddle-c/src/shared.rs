//! The locations of shared memory, and what is in memory there.
//!
//! What hooks leave in shared memory is remembered: if something else is found there later, then code without
//! hooks has written it, and the program is refused.
//!
//! The stack of another thread is only borrowed: that thread stands somewhere, in some other history, and
//! finds its bytes as it left them.

use raddle_core::execution::{LocationId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, Naming, PlaceId};

use crate::layout::{Cut, Location, Locations, Trouble, What};
use crate::native::Native;
use crate::serve::Flow;
use crate::slots::Part;
use crate::threads::Borrowed;

impl Native {
    /// The locations of an access to shared memory.
    pub(crate) fn locate(
        &mut self,
        address: usize,
        size: usize,
        cut: Cut,
    ) -> Result<Locations, End> {
        if let Some(location) = self.layout.known(address, size, cut) {
            self.check_shadow(location)?;
            return Ok(Locations::from_buf([location]));
        }
        let place = self.place();
        let known = self.layout.all.len();
        let slots = &self.slots;
        let shadow = |at, size| {
            let part = slots.find(at).map(|(_, part)| part);
            (!matches!(part, Some(Part::Stack | Part::Locals))).then(|| read_memory(at, size))
        };
        let located = self.layout.locate(address, size, cut, place, shadow);
        let locations = match located {
            Ok(locations) => locations,
            Err(Trouble::Again) => return Err(self.again()),
            Err(Trouble::Mixed(other)) => return Err(self.mixed_at(address, size, other)),
        };
        for &location in &locations {
            self.check_shadow(location)?;
        }
        self.note_new_locations(known)?;
        Ok(locations)
    }

    /// An atomic access of a piece that is accessed in pieces of different sizes.
    pub(crate) fn mixed(&mut self, address: usize, size: usize, piece: usize) -> End {
        let other = self.layout.place_of_cut(piece);
        self.mixed_at(address, size, other)
    }

    fn mixed_at(&mut self, address: usize, size: usize, other: PlaceId) -> End {
        let (name, at) = (self.memory_name(address), self.places.name(other));
        let message = format!(
            "accesses the {size} bytes of {name}, of which {at} accesses a part, or more: Raddle does not \
             model accesses of different sizes that are atomic, or may race"
        );
        self.failure(FindingKind::Unsupported, &message)
    }

    fn name_of(&self, location: LocationId) -> String {
        self.location_name(location)
    }

    /// Whether a location is in a block of memory.
    pub(crate) fn is_in_block(&self, location: LocationId) -> bool {
        let address = self.layout.all[location.index()].address;
        matches!(self.slots.find(address), Some((_, Part::Heap { .. })))
    }

    /// Locations of blocks and of threads are remembered. If the block was freed already, or the thread has ended, that
    /// must be done again; as it must if others do not know the location.
    fn note_new_locations(&mut self, known: usize) -> Flow {
        for index in known..self.layout.all.len() {
            let address = self.layout.all[index].address;
            if self.slots.find(address).is_none() {
                continue;
            }
            let is_new = self.layout.note_of_block(LocationId::new(index));
            let freed = self.freed_blocks.range(..=address).next_back();
            let is_freed = freed.is_some_and(|(_, &end)| address < end);
            if is_new && (is_freed || self.layout.is_settled) {
                return Err(self.again());
            }
        }
        Ok(())
    }

    fn check_shadow(&mut self, location: LocationId) -> Flow {
        let shadow = self.layout.all[location.index()].shadow;
        if shadow.is_none_or(|shadow| shadow == self.memory(location)) {
            return Ok(());
        }
        let name = self.name_of(location);
        let message = format!("memory of {name} was changed by code that Raddle does not see");
        Err(self.failure(FindingKind::Unsupported, &message))
    }

    pub(crate) fn set_shadow(&mut self, location: LocationId, value: Value) {
        if let Some(shadow) = &mut self.layout.all[location.index()].shadow {
            *shadow = value;
        }
    }

    /// What is in memory.
    pub(crate) fn memory(&self, location: LocationId) -> Value {
        let Location { what, address, .. } = self.layout.all[location.index()];
        match what {
            What::Memory(size) => read_memory(address, size),
            _ => 0,
        }
    }

    /// The bytes of another thread's stack that an access will change.
    pub(crate) fn borrow(&self, location: LocationId) -> Option<Borrowed> {
        let Location { what: What::Memory(size), address, .. } = self.layout.all[location.index()]
        else {
            return None;
        };
        let (thread, part) = self.slots.find(address)?;
        let is_foreign = thread != self.current && matches!(part, Part::Stack | Part::Locals);
        is_foreign.then(|| Borrowed { address, size, bytes: read_memory(address, size) as u128 })
    }

    /// Puts a value into memory.
    pub(crate) fn poke(&mut self, location: LocationId, value: Value) {
        let borrowed = self.borrow(location);
        self.thread_mut().borrowed.extend(borrowed);
        let Location { what, address, .. } = self.layout.all[location.index()];
        if let What::Memory(size) = what {
            write_memory(address, size, value);
            self.set_shadow(location, value);
        }
    }
}

pub(crate) fn give_back(Borrowed { address, size, bytes }: Borrowed) {
    write_memory(address, size, bytes as Value);
}

/// At most 16 bytes of memory, as a number.
pub(crate) fn read_memory(address: usize, size: usize) -> Value {
    let mut bytes = [0u8; 16];
    // SAFETY: the program is about to access this memory itself.
    unsafe { std::ptr::copy(address as *const u8, bytes.as_mut_ptr(), size.min(16)) };
    u128::from_le_bytes(bytes) as Value
}

/// Writes at most 16 bytes of memory.
pub(crate) fn write_memory(address: usize, size: usize, value: Value) {
    let bytes = (value as u128).to_le_bytes();
    // SAFETY: as for reading.
    unsafe { std::ptr::copy(bytes.as_ptr(), address as *mut u8, size.min(16)) };
}
