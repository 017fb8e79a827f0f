//! Places in the source.
//!
//! The place of what code of a library does, or a template of one, is the line of the user's sources that led there:
//! the innermost one on the stack.

use std::cell::OnceCell;
use std::rc::Rc;

use addr2line::{Context, Location};
use gimli::{Dwarf, EndianRcSlice, LittleEndian};
use object::{Object, ObjectSection};
use raddle_core::program::PlaceId;
use rustc_hash::FxHashMap;

use crate::frames::{Frames, Range};
use crate::switch::Caller;
use crate::types::Types;

type Reader = EndianRcSlice<LittleEndian>;

/// What is below is not the user's.
const LIBRARIES: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];
/// At most so many callers are looked at.
const DEPTH: usize = 64;

/// The addresses of calls, and where they are in the source; the names of variables and their parts.
pub(crate) struct Places {
    addresses: Vec<usize>,
    /// Their numbers, and whether they are in the user's sources.
    known: FxHashMap<usize, (PlaceId, bool)>,
    frames: Frames,
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
        let (lines, types) = (OnceCell::new(), OnceCell::new());
        Places { addresses, known, frames: Frames::new(base), bytes, base, lines, types }
    }

    /// The stub is an object of its own, at these addresses.
    pub(crate) fn add_stub(&mut self, bytes: Vec<u8>, range: Range) {
        self.frames.stub = Some((bytes, range));
    }

    /// The place of the call that returns to this address.
    pub(crate) fn place(&mut self, address: usize) -> PlaceId {
        self.look_up(address).0
    }

    /// The place of a call, and whether it is in the user's sources.
    #[inline]
    fn look_up(&mut self, address: usize) -> (PlaceId, bool) {
        match self.known.get(&address) {
            Some(&known) => known,
            None => self.add(address),
        }
    }

    #[cold]
    fn add(&mut self, address: usize) -> (PlaceId, bool) {
        let place = PlaceId(self.addresses.len() as u32);
        self.addresses.push(address);
        let is_users = self.line(address).is_some_and(|(_, is_users)| is_users);
        self.known.insert(address, (place, is_users));
        (place, is_users)
    }

    /// The place in the user's sources that led to where a thread stands, with its stack.
    #[inline]
    pub(crate) fn place_of_user(&mut self, at: Caller, stack: Range) -> PlaceId {
        match self.look_up(at.address) {
            (place, true) => place,
            (place, false) => self.outer_place(at, stack).unwrap_or(place),
        }
    }

    fn outer_place(&mut self, at: Caller, stack: Range) -> Option<PlaceId> {
        let mut at = at;
        for _ in 0..DEPTH {
            at = self.frames.caller(&self.bytes, at, stack)?;
            if let (place, true) = self.look_up(at.address) {
                return Some(place);
            }
        }
        None
    }

    /// The first of some places that is in the user's sources, or else the first.
    pub(crate) fn first_of_user(&mut self, addresses: &[usize]) -> Option<PlaceId> {
        let users = addresses.iter().copied().find(|&at| self.look_up(at).1);
        users.or(addresses.first().copied()).map(|at| self.place(at))
    }

    /// Whether a place is in the user's sources.
    pub(crate) fn is_users(&self, place: PlaceId) -> bool {
        self.known.get(&self.address(place)).is_some_and(|&(_, is_users)| is_users)
    }

    /// Whether code without debug information is at this address, as in libraries.
    pub(crate) fn is_in_library(&self, address: usize) -> bool {
        self.line(address).is_none()
    }

    /// The address of a place.
    pub(crate) fn address(&self, place: PlaceId) -> usize {
        self.addresses.get(place.0 as usize).copied().unwrap_or(0)
    }

    /// Where it is: file and line.
    pub(crate) fn name(&self, place: PlaceId) -> String {
        match self.address(place) {
            0 => String::from("the start"),
            address => match self.line(address) {
                Some((line, _)) => line,
                None => String::from("a library"),
            },
        }
    }

    /// The line of a call, and whether it is in the user's sources.
    fn line(&self, address: usize) -> Option<(String, bool)> {
        let read = || Context::from_dwarf(dwarf(&self.bytes)?).ok().map(Box::new);
        let context = self.lines.get_or_init(read).as_ref()?;
        // The address is behind the call.
        let address = address.checked_sub(self.base + 1)? as u64;
        let mut frames = context.find_frames(address).skip_all_loads().ok()?;
        let mut first = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(Location { file: Some(file), line: Some(line), .. }) = frame.location else {
                continue;
            };
            let is_users = !LIBRARIES.iter().any(|library| file.starts_with(library));
            if is_users || first.is_none() {
                first = Some((format!("{file}:{line}"), is_users));
            }
            if is_users {
                break;
            }
        }
        first
    }

    /// The name of the part of a variable that is at an offset: `[1].head`.
    pub(crate) fn part(&self, variable: usize, offset: usize) -> Option<String> {
        self.types()?.part(variable.checked_sub(self.base)? as u64, offset as u64)
    }

    /// The name of a variable in the source.
    pub(crate) fn variable(&self, variable: usize) -> Option<&str> {
        self.types()?.name(variable.checked_sub(self.base)? as u64)
    }

    fn types(&self) -> Option<&Types<Reader>> {
        self.types.get_or_init(|| Some(Types::new(dwarf(&self.bytes)?))).as_ref()
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
