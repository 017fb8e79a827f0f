//! Places in the source.

use std::cell::OnceCell;
use std::rc::Rc;

use addr2line::Context;
use gimli::{Dwarf, EndianRcSlice, LittleEndian};
use object::{Object, ObjectSection};
use raddle_core::program::PlaceId;
use rustc_hash::FxHashMap;

use crate::types::Types;

type Reader = EndianRcSlice<LittleEndian>;

/// The addresses of calls, and where they are in the source; the names of variables and their parts.
pub(crate) struct Places {
    addresses: Vec<usize>,
    known: FxHashMap<usize, PlaceId>,
    bytes: Vec<u8>,
    base: usize,
    /// The debug information, which is read when it is first needed.
    lines: OnceCell<Option<Box<Context<Reader>>>>,
    types: OnceCell<Option<Types<Reader>>>,
}

impl Places {
    /// The places of a program that is loaded at `base`.
    pub(crate) fn new(bytes: Vec<u8>, base: usize) -> Self {
        let (addresses, known) = (vec![0], FxHashMap::default());
        Places { addresses, known, bytes, base, lines: OnceCell::new(), types: OnceCell::new() }
    }

    /// The place of the call that returns to this address.
    pub(crate) fn place(&mut self, address: usize) -> PlaceId {
        let next = PlaceId(self.addresses.len() as u32);
        let place = *self.known.entry(address).or_insert(next);
        if place == next {
            self.addresses.push(address);
        }
        place
    }

    /// The address of a place.
    pub(crate) fn address(&self, place: PlaceId) -> usize {
        self.addresses.get(place.0 as usize).copied().unwrap_or(0)
    }

    /// Where it is: file and line.
    pub(crate) fn name(&self, place: PlaceId) -> String {
        match self.address(place) {
            0 => String::from("the start"),
            address => self.line(address).unwrap_or_else(|| format!("{address:#x}")),
        }
    }

    fn line(&self, address: usize) -> Option<String> {
        let read = || Context::from_dwarf(dwarf(&self.bytes)?).ok().map(Box::new);
        let context = self.lines.get_or_init(read).as_ref()?;
        // The address is behind the call.
        let location = context.find_location(address.checked_sub(self.base + 1)? as u64).ok()??;
        Some(format!("{}:{}", location.file?, location.line?))
    }

    /// The name of the part of a variable that is at an offset: `[1].head`.
    pub(crate) fn part(&self, variable: usize, offset: usize) -> Option<String> {
        let types = self.types.get_or_init(|| Some(Types::new(dwarf(&self.bytes)?)));
        types.as_ref()?.part(variable.checked_sub(self.base)? as u64, offset as u64)
    }
}

/// The debug information of a file.
fn dwarf(bytes: &[u8]) -> Option<Dwarf<Reader>> {
    let file = object::read::elf::ElfFile64::<object::LittleEndian>::parse(bytes).ok()?;
    let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok(EndianRcSlice::new(Rc::from(data.unwrap_or_default()), LittleEndian))
    };
    Dwarf::load(section).ok()
}
