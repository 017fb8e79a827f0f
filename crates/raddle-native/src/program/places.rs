//! Places in the source.
//!
//! The place of an op in library code is the innermost line of the user's sources that led there.

use std::sync::Arc;

use raddle_core::program::PlaceId;
use raddle_core::trace::Library;
use rustc_hash::FxHashMap;

use super::NativeProgram;
use super::thread::Activity;
use crate::load::{Line, Module, Place};

/// Sources below are not the user's.
const LIBRARIES: [&str; 4] = ["/usr/include/", "/usr/lib/", "/usr/local/include/", "/rustc/"];

/// The library to which a source file belongs; `None` if it is the user's.
pub(crate) fn library_of(file: &str) -> Option<Library> {
    if file.starts_with("/rustc/") || file.contains(RUST_SOURCE) {
        return Some(Library::Rust);
    }
    let is_of_library = LIBRARIES.iter().any(|library| file.starts_with(library));
    is_of_library.then(|| if file.contains("/c++/") { Library::Cpp } else { Library::C })
}

/// Where the source of Rust's standard library is installed.
const RUST_SOURCE: &str = "/lib/rustlib/src/rust/";

/// The addresses of instructions that reports can name.
#[derive(Debug)]
pub(crate) struct Places {
    addresses: Vec<u64>,
    /// The number of each address, and whether it is in the user's sources.
    known: FxHashMap<u64, (PlaceId, bool)>,
}

impl Places {
    pub(crate) fn new() -> Self {
        Places { addresses: vec![0], known: FxHashMap::default() }
    }

    /// The address of a place; 0 for the start of the program.
    pub(crate) fn address(&self, place: PlaceId) -> u64 {
        self.addresses.get(place.0 as usize).copied().unwrap_or(0)
    }

    /// The place of the instruction at an address, or the start of the program for 0.
    pub(crate) fn place_at(&mut self, modules: &[Arc<Module>], address: u64) -> PlaceId {
        if address == 0 { PlaceId::default() } else { self.look_up(modules, address).0 }
    }

    /// Returns `true` if a place is in the user's sources.
    pub(crate) fn is_users(&self, place: PlaceId) -> bool {
        self.known.get(&self.address(place)).is_some_and(|&(_, is_users)| is_users)
    }

    /// The place of the instruction at an address, and whether it is in the user's sources.
    fn look_up(&mut self, modules: &[Arc<Module>], address: u64) -> (PlaceId, bool) {
        if let Some(&known) = self.known.get(&address) {
            return known;
        }
        let place = PlaceId(self.addresses.len() as u32);
        self.addresses.push(address);
        let is_users = line(modules, address).is_some_and(|line| is_users(&line));
        self.known.insert(address, (place, is_users));
        (place, is_users)
    }

    /// File and line of a place.
    pub(crate) fn name(&self, modules: &[Arc<Module>], place: PlaceId) -> String {
        match self.address(place) {
            0 => String::from("the start"),
            address => match line(modules, address) {
                Some(line) => line.to_string(),
                None => String::from("a library"),
            },
        }
    }

    /// The function that contains a place, as in the source; `None` if it has no symbol.
    pub(crate) fn function(&self, modules: &[Arc<Module>], place: PlaceId) -> Option<String> {
        let (symbol, _) = Place::find(modules, self.address(place)).symbol?;
        Some(demangled(&symbol))
    }
}

/// A symbol as in the source.
pub(super) fn demangled(symbol: &str) -> String {
    match symbol.starts_with("_Z") || symbol.starts_with("_R") {
        true => addr2line::demangle_auto(symbol.into(), None).into_owned(),
        false => symbol.to_owned(),
    }
}

fn is_users(line: &Line) -> bool {
    library_of(&line.file).is_none()
}

/// The line of an instruction. Of library code that is inlined, the user's line that calls it.
fn line(modules: &[Arc<Module>], address: u64) -> Option<Line> {
    let module = modules.iter().find(|module| module.contains(address))?;
    let innermost = module.line(address)?;
    if is_users(&innermost) {
        return Some(innermost);
    }
    Some(module.inlined_lines(address).into_iter().find(is_users).unwrap_or(innermost))
}

impl NativeProgram {
    /// Returns `true` if the call at a place, or one that it leads to, is in a loop, or if that cannot be decided.
    pub(crate) fn waits_in_loop(&self, place: PlaceId) -> bool {
        let (memory, users) = (self.process.memory(), self.places.address(place));
        let innermost = self.return_address().wrapping_sub(1);
        let calls = self.process.call_addresses(self.thread().guest);
        for address in [innermost].into_iter().chain(calls) {
            let is_last = address == users;
            match self.liveness.is_in_loop(memory, address) {
                Some(false) => {}
                // Functions of libraries are not analysed.
                None if !is_last => {}
                _ => return true,
            }
            if is_last {
                return false;
            }
        }
        true
    }

    /// The place of the current thread in the user's sources: the innermost one on its call stack.
    pub(crate) fn place(&mut self) -> PlaceId {
        let guest = self.thread().guest;
        let is_call = matches!(
            self.thread().active.as_ref().map(|active| &active.activity),
            Some(Activity::Function(_))
        );
        let address = if is_call { self.return_address().wrapping_sub(1) } else { self.cpu().ip() };
        let (place, is_users) = self.places.look_up(self.process.modules(), address);
        if is_users {
            return place;
        }
        let modules = self.process.modules();
        let users = self.process.call_addresses(guest).find_map(|address| {
            let (place, is_users) = self.places.look_up(modules, address);
            is_users.then_some(place)
        });
        users.unwrap_or(place)
    }
}
