//! Source lines of addresses, from DWARF.

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian};
use object::{Object, ObjectSection};
use raddle_core::trace::SourcePosition;
use std::fmt;
use std::sync::Arc;

pub(super) type Reader = EndianArcSlice<LittleEndian>;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Path of the file as the compiler recorded it.
    pub file: Arc<str>,
    /// Number of the line, from 1.
    pub line: u32,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A function whose code an address belongs to, inlined or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeFrame {
    /// The function, demangled, with its parameters.
    pub(crate) function: Option<String>,
    /// The position of the instruction, or of the call of the inlined function.
    pub(crate) position: Option<SourcePosition>,
}

/// The line tables of a file.
pub(crate) struct Lines(Option<Box<Context<Reader>>>);

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lines").field(&self.0.is_some()).finish()
    }
}

impl Lines {
    /// Reads the debug information of a file. A file without any has no lines.
    pub(crate) fn read(data: &[u8]) -> Lines {
        Lines(dwarf(data).and_then(|dwarf| Context::from_dwarf(dwarf).ok()).map(Box::new))
    }

    /// The line of an address relative to the base of the module; of inlined code the innermost one.
    pub(crate) fn at(&self, address: u64) -> Option<Line> {
        of_location(&self.0.as_ref()?.find_location(address).ok()??)
    }

    /// The lines of an address relative to the base of the module: of inlined code, then of the calls of it, innermost first.
    pub(crate) fn inlined_at(&self, address: u64) -> Vec<Line> {
        let Some(context) = &self.0 else { return vec![] };
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return vec![] };
        let mut lines = vec![];
        while let Ok(Some(frame)) = frames.next() {
            lines.extend(frame.location.as_ref().and_then(of_location));
        }
        lines
    }

    /// The functions of an address relative to the base of the module: of inlined code, then of the calls of it, innermost first.
    /// Empty without debug information.
    pub(crate) fn frames_at(&self, address: u64) -> Vec<CodeFrame> {
        let Some(context) = &self.0 else { return vec![] };
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return vec![] };
        let mut functions = vec![];
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|name| name.demangle().ok());
            let position = frame.location.as_ref().and_then(position);
            functions
                .push(CodeFrame { function: name.map(std::borrow::Cow::into_owned), position });
        }
        functions
    }
}

fn position(location: &addr2line::Location<'_>) -> Option<SourcePosition> {
    let (file, line) = (location.file?.to_owned(), location.line?);
    Some(SourcePosition { file, line, column: location.column.unwrap_or(0) })
}

fn of_location(location: &addr2line::Location<'_>) -> Option<Line> {
    Some(Line { file: location.file?.into(), line: location.line? })
}

/// The debug information of a file, if it has any.
pub(super) fn dwarf(data: &[u8]) -> Option<Dwarf<Reader>> {
    let file = object::read::elf::ElfFile64::<object::LittleEndian>::parse(data).ok()?;
    file.section_by_name(".debug_line")?;
    let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok(EndianArcSlice::new(Arc::from(data.unwrap_or_default()), LittleEndian))
    };
    Dwarf::load(section).ok()
}
