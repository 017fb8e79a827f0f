//! Modules: ELF files at their place in guest memory.

use super::elf::{Elf, Header, LoadError};
use super::frames::{FrameRow, functions_with_landing_pads, row_at};
use super::lines::{CodeFrame, Line, Lines};
use super::symbols::{SymbolKind, Symbols};
use super::types::Types;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Object, ObjectSection};
use raddle_cpu::memory::{Memory, PAGE, RegionKind, State, Thread};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// A section with the addresses of instructions that copy parts of objects, relative to the base, 8 bytes each.
pub(crate) const COPIES: &str = ".raddle.copies";

/// A section as [`COPIES`], with the addresses of instructions that access volatile objects.
pub(crate) const VOLATILES: &str = ".raddle.volatiles";

/// An ELF file that is mapped into guest memory.
#[derive(Debug)]
pub struct Module {
    /// The file.
    pub file: Elf,
    /// What its addresses are relative to; 0 for executables with fixed addresses.
    pub base: u64,
    symbols: OnceLock<Symbols>,
    /// Line tables are filled as they are used.
    lines: Mutex<Option<Lines>>,
    types: OnceLock<Option<Types>>,
    copies: OnceLock<FxHashSet<u64>>,
    volatiles: OnceLock<FxHashSet<u64>>,
    frame_rows: Mutex<FxHashMap<u64, Option<Arc<FrameRow>>>>,
}

impl Module {
    /// Maps `file` at `base`: text and constants read-only, data private to the main thread, which runs alone until the program
    /// creates threads. The dynamic linker makes relocated tables read-only by `mprotect`.
    pub fn map(file: Elf, base: u64, memory: &mut Memory) -> Result<Module, LoadError> {
        let mut mapped_until = 0;
        for segment in &file.segments {
            let start = (base + segment.range.start) / PAGE * PAGE;
            let end = (base + segment.range.end).next_multiple_of(PAGE);
            let (kind, state) = match (segment.is_executable, segment.is_writable) {
                (true, _) => (RegionKind::Text, State::ReadOnly),
                (false, true) => (RegionKind::Data, State::Private(Thread::MAIN)),
                (false, false) => (RegionKind::ReadOnlyData, State::ReadOnly),
            };
            // Small segments may share a page; the earlier one determines its kind.
            let start = start.max(mapped_until);
            if start < end {
                let result = memory.map(start..end, kind, state, &file.name);
                result.map_err(|error| LoadError::Map(file.name.clone(), error))?;
                mapped_until = end;
            }
            let bytes = &file.data[segment.file.clone()];
            memory.write_initial(base + segment.range.start, bytes).map_err(|_| {
                let reason = String::from("a segment is not part of its mapping");
                LoadError::Damaged(file.name.clone(), reason)
            })?;
        }
        Ok(Module {
            file,
            base,
            symbols: OnceLock::new(),
            lines: Mutex::new(None),
            types: OnceLock::new(),
            copies: OnceLock::new(),
            volatiles: OnceLock::new(),
            frame_rows: Mutex::default(),
        })
    }

    /// Whether an address belongs to the module.
    pub fn contains(&self, address: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        self.file.segments.iter().any(|segment| segment.range.contains(&offset))
    }

    /// The symbols of the module; read from the file when they are first asked for.
    pub fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::read(&self.file.data))
    }

    /// The source line of an address, from the debug information of the file.
    pub fn line(&self, address: u64) -> Option<Line> {
        let mut lines = self.lines.lock().ok()?;
        let lines = lines.get_or_insert_with(|| Lines::read(&self.file.data));
        lines.at(address.wrapping_sub(self.base))
    }

    /// The source lines of an address: of inlined code, then of the calls of it, innermost first.
    pub(crate) fn inlined_lines(&self, address: u64) -> Vec<Line> {
        let Ok(mut lines) = self.lines.lock() else { return vec![] };
        let lines = lines.get_or_insert_with(|| Lines::read(&self.file.data));
        lines.inlined_at(address.wrapping_sub(self.base))
    }

    /// The functions of an address, innermost first; inlined ones have frames of their own.
    pub(crate) fn code_frames(&self, address: u64) -> Vec<CodeFrame> {
        let Ok(mut lines) = self.lines.lock() else { return vec![] };
        let lines = lines.get_or_insert_with(|| Lines::read(&self.file.data));
        lines.frames_at(address.wrapping_sub(self.base))
    }

    /// The name in the source of the variable at an address relative to the base.
    pub fn variable_name(&self, address: u64) -> Option<String> {
        Some(self.types()?.name(address)?.to_owned())
    }

    /// The part at an offset in the variable at an address relative to the base: `[1].head`.
    pub fn variable_part(&self, address: u64, offset: u64) -> Option<String> {
        let types = self.types()?;
        Some(types.part(types.variable(address)?, offset)?.0)
    }

    /// The types that the debug information of the file describes.
    pub(crate) fn types(&self) -> Option<&Types> {
        self.types.get_or_init(|| Types::read(&self.file.data)).as_ref()
    }

    /// The functions that have symbols, in order. They do not overlap: of several names, one is enough.
    pub(crate) fn functions(&self) -> Vec<Range<u64>> {
        let mut functions: Vec<Range<u64>> = vec![];
        for symbol in self.symbols().iter() {
            let start = self.base + symbol.address;
            let is_new = functions.last().is_none_or(|last| last.end <= start);
            if symbol.kind == SymbolKind::Function && symbol.size > 0 && is_new {
                functions.push(start..start + symbol.size);
            }
        }
        functions
    }

    /// Returns `true` if the section [`COPIES`] lists the instruction at an address.
    pub(crate) fn is_copy(&self, address: u64) -> bool {
        let copies = self.copies.get_or_init(|| listed(&self.file.data, COPIES));
        copies.contains(&address.wrapping_sub(self.base))
    }

    /// Returns `true` if the section [`VOLATILES`] lists the instruction at an address.
    pub(crate) fn is_volatile(&self, address: u64) -> bool {
        let volatiles = self.volatiles.get_or_init(|| listed(&self.file.data, VOLATILES));
        volatiles.contains(&address.wrapping_sub(self.base))
    }

    /// How to get from an instruction to its caller, by the address of the instruction. `None` where the file does not
    /// describe the frame. Rows are read once.
    pub(crate) fn frame_row(&self, address: u64) -> Option<Arc<FrameRow>> {
        let address = address.wrapping_sub(self.base);
        let mut rows = self.frame_rows.lock().ok()?;
        let read = || row_at(&self.file.data, address).map(Arc::new);
        rows.entry(address).or_insert_with(read).clone()
    }

    /// By address of a function: the bytes of its variables in its frame, relative to the end of the frame.
    pub(crate) fn locals(&self) -> FxHashMap<u64, Vec<Range<i64>>> {
        let locals = self.types().map(Types::locals).unwrap_or_default();
        locals.into_iter().map(|(address, it)| (self.base.wrapping_add(address), it)).collect()
    }

    /// Addresses of the functions that exceptions may enter elsewhere than at their start, relative to the base.
    /// `None` if the file does not tell.
    pub(crate) fn functions_with_landing_pads(&self) -> Option<FxHashSet<u64>> {
        functions_with_landing_pads(&self.file.data)
    }

    /// Name of the file without its directory.
    pub fn short_name(&self) -> &str {
        self.file.name.rsplit('/').next().unwrap_or_default()
    }

    /// The address of a defined symbol. Of several versions the default one counts.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        Some(self.base.wrapping_add(self.symbols().by_name(name)?.address))
    }

    /// Addresses of the table of functions in other modules (`.got.plt`): three words and one per function.
    pub fn jump_table(&self) -> Option<Range<u64>> {
        const WORD: u64 = 8;
        const RELOCATION: u64 = 24;
        let start = self.dynamic(object::elf::DT_PLTGOT)?;
        let functions = self.dynamic(object::elf::DT_PLTRELSZ)? / RELOCATION;
        let end = start.checked_add(functions.checked_add(3)?.checked_mul(WORD)?)?;
        let mut segments = self.file.segments.iter();
        segments.find(|segment| segment.range.start <= start && end <= segment.range.end)?;
        Some(self.base + start..self.base + end)
    }

    /// Addresses of the table of destructors (`.fini_array`), which are called from the last to the first.
    pub fn destructors(&self) -> Option<Range<u64>> {
        let start = self.base.checked_add(self.dynamic(object::elf::DT_FINI_ARRAY)?)?;
        Some(start..start.checked_add(self.dynamic(object::elf::DT_FINI_ARRAYSZ)?)?)
    }

    /// A value of the dynamic section.
    fn dynamic(&self, tag: object::elf::DynamicTag) -> Option<u64> {
        let data = &**self.file.data;
        let header = Header::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let headers = header.program_headers(endian, data).ok()?;
        let mut tables = headers.iter().filter_map(|header| header.dynamic(endian, data).ok()?);
        let entries = tables.next()?;
        let entry = entries.iter().find(|entry| entry.d_tag(endian) == tag)?;
        Some(entry.d_val(endian))
    }

    /// Path of the file.
    pub fn path(&self) -> &Arc<str> {
        &self.file.name
    }
}

/// The addresses in a section.
fn listed(data: &[u8], name: &str) -> FxHashSet<u64> {
    let file = object::read::elf::ElfFile64::<object::LittleEndian>::parse(data).ok();
    let section = file.as_ref().and_then(|file| file.section_by_name(name));
    let bytes = section.and_then(|section| section.data().ok()).unwrap_or_default();
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
