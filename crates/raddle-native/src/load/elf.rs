//! Reading of ELF files: what a kernel needs to map an executable or a shared object.

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub(crate) type Header = FileHeader64<LittleEndian>;

/// More thread-local storage than any program has; protects from damaged files.
const MAX_TLS: u64 = 1 << 24;

/// Largest address relative to the base: whatever the base is, the address is one of the guest's.
const MAX_ADDRESS: u64 = 1 << 45;

/// Why a file cannot be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Read(Arc<str>, std::io::Error),
    /// The file is no ELF file, or a damaged one.
    Damaged(Arc<str>, String),
    /// A valid ELF file for which there is no support: name and reason.
    Unsupported(Arc<str>, &'static str),
    /// The segments do not fit into guest memory.
    Map(Arc<str>, raddle_cpu::memory::MapError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Read(name, error) => write!(f, "cannot read {name}: {error}"),
            LoadError::Damaged(name, reason) => {
                write!(f, "{name} is not a valid ELF file: {reason}")
            }
            LoadError::Unsupported(name, reason) => write!(f, "cannot run {name}: {reason}"),
            LoadError::Map(name, error) => write!(f, "cannot load {name}: {error}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// A part of the file that is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Addresses relative to the base of the module.
    pub range: Range<u64>,
    /// Bytes of the file at the start of `range`; the rest is zeros.
    pub file: Range<usize>,
    /// Whether the guest may write.
    pub is_writable: bool,
    /// Whether it contains code.
    pub is_executable: bool,
}

/// Where a table of program headers is: file offset, size of an entry, number of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderTable {
    /// Offset in the file.
    pub offset: u64,
    /// Bytes per entry.
    pub entry_size: u64,
    /// Number of entries.
    pub count: u64,
}

/// The initial thread-local storage of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsSegment {
    /// Address of the image relative to the base.
    pub address: u64,
    /// Bytes of the image; the rest is zeros.
    pub file_size: u64,
    /// Bytes of a thread's block.
    pub size: u64,
}

/// An executable or shared object for x86-64.
#[derive(Clone, Debug)]
pub struct Elf {
    /// Path of the file.
    pub name: Arc<str>,
    /// Contents of the file.
    pub data: Arc<Vec<u8>>,
    /// Whether it can be loaded at any base (PIE or shared object).
    pub is_relocatable: bool,
    /// Entry point relative to the base.
    pub entry: u64,
    /// Loadable segments by address.
    pub segments: Vec<Segment>,
    /// The dynamic linker that it asks for; `None` for static executables.
    pub interpreter: Option<String>,
    /// Initial thread-local storage.
    pub tls: Option<TlsSegment>,
    /// The program headers.
    pub headers: HeaderTable,
    /// Whether it asks for an executable stack.
    pub has_executable_stack: bool,
}

impl Elf {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Elf, LoadError> {
        let name: Arc<str> = path.to_string_lossy().into();
        match std::fs::read(path) {
            Ok(data) => Elf::parse(name, &Arc::new(data)),
            Err(error) => Err(LoadError::Read(name, error)),
        }
    }

    /// Parses the contents of a file.
    pub fn parse(name: Arc<str>, data: &Arc<Vec<u8>>) -> Result<Elf, LoadError> {
        let damaged = |error: object::Error| LoadError::Damaged(name.clone(), error.to_string());
        let is_elf = data.starts_with(&elf::ELFMAG);
        if is_elf && data.get(4).is_some_and(|class| *class != elf::ELFCLASS64.0) {
            return Err(LoadError::Unsupported(name, "it is not for a 64-bit processor"));
        }
        let header = Header::parse(&***data).map_err(damaged)?;
        let endian = header.endian().map_err(damaged)?;
        if header.e_machine(endian) != elf::EM_X86_64 {
            return Err(LoadError::Unsupported(name, "it is not for x86-64"));
        }
        let is_relocatable = match header.e_type(endian) {
            elf::ET_DYN => true,
            elf::ET_EXEC => false,
            _ => return Err(LoadError::Unsupported(name, "it is not linked: link it first")),
        };
        let headers = header.program_headers(endian, &***data).map_err(damaged)?;
        let mut file = Elf {
            name: name.clone(),
            data: data.clone(),
            is_relocatable,
            entry: header.e_entry(endian).min(MAX_ADDRESS),
            segments: Vec::new(),
            interpreter: None,
            tls: None,
            headers: HeaderTable {
                offset: header.e_phoff(endian),
                entry_size: header.e_phentsize(endian).into(),
                count: headers.len() as u64,
            },
            has_executable_stack: false,
        };
        for header in headers {
            file.add_header(header, endian)?;
        }
        file.segments.sort_by_key(|segment| segment.range.start);
        if file.segments.is_empty() {
            return Err(LoadError::Damaged(name, String::from("it has no loadable segment")));
        }
        Ok(file)
    }

    fn add_header(
        &mut self,
        header: &elf::ProgramHeader64<LittleEndian>,
        endian: LittleEndian,
    ) -> Result<(), LoadError> {
        let flags = header.p_flags(endian);
        match header.p_type(endian) {
            elf::PT_LOAD => self.segments.push(self.segment(header, endian)?),
            elf::PT_INTERP => {
                let name = header.interpreter(endian, &**self.data);
                let name = name.map_err(|error| self.damaged(&error.to_string()))?;
                self.interpreter = name.map(|name| String::from_utf8_lossy(name).into_owned());
            }
            elf::PT_TLS => {
                self.tls = Some(TlsSegment {
                    address: header.p_vaddr(endian).min(MAX_ADDRESS),
                    file_size: header.p_filesz(endian).min(header.p_memsz(endian)).min(MAX_TLS),
                    size: header.p_memsz(endian).min(MAX_TLS),
                });
            }
            elf::PT_GNU_STACK => self.has_executable_stack = flags.0 & elf::PF_X.0 != 0,
            _ => {}
        }
        Ok(())
    }

    fn segment(
        &self,
        header: &elf::ProgramHeader64<LittleEndian>,
        endian: LittleEndian,
    ) -> Result<Segment, LoadError> {
        let (address, size) = (header.p_vaddr(endian), header.p_memsz(endian));
        let (offset, len) = header.file_range(endian);
        let end = address.checked_add(size).filter(|end| *end <= MAX_ADDRESS);
        let range = address..end.ok_or_else(|| self.damaged("a segment is out of range"))?;
        let file = offset as usize..offset.saturating_add(len) as usize;
        if len > size || self.data.get(file.clone()).is_none() {
            return Err(self.damaged("a segment lies outside of the file"));
        }
        let flags = header.p_flags(endian).0;
        let (is_writable, is_executable) = (flags & elf::PF_W.0 != 0, flags & elf::PF_X.0 != 0);
        if is_writable && is_executable {
            return Err(LoadError::Unsupported(
                self.name.clone(),
                "a segment is writable and executable; self-modifying code is not supported",
            ));
        }
        Ok(Segment { range, file, is_writable, is_executable })
    }

    fn damaged(&self, reason: &str) -> LoadError {
        LoadError::Damaged(self.name.clone(), reason.to_owned())
    }

    /// First address after the last segment, relative to the base.
    pub fn end(&self) -> u64 {
        self.segments.iter().map(|segment| segment.range.end).max().unwrap_or(0)
    }

    /// Address of the program headers in memory, relative to the base.
    pub fn headers_address(&self) -> u64 {
        let offset = self.headers.offset as usize;
        let holder = self.segments.iter().find(|segment| segment.file.contains(&offset));
        holder.map_or(0, |segment| segment.range.start + (offset - segment.file.start) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(data: &[u8]) -> Result<Elf, LoadError> {
        Elf::parse("file".into(), &Arc::new(data.to_vec()))
    }

    #[test]
    fn files_that_are_no_elf_are_refused_with_the_reason() {
        for data in [&b""[..], b"\x7fELF", b"#!/bin/sh\nexit 0\n"] {
            assert!(matches!(
                parse(data),
                Err(LoadError::Damaged(..) | LoadError::Unsupported(..))
            ));
        }
        let error = parse(b"\x7fELF\x01\x01\x01").err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("cannot run file: it is not for a 64-bit processor"));
    }

    #[test]
    fn every_prefix_and_every_damaged_byte_of_the_headers_is_handled() {
        let own = std::env::current_exe().expect("the test has a file");
        let data = std::fs::read(own).expect("the file is readable");
        for len in 0..1024 {
            let _ = parse(&data[..len]);
        }
        for index in 0..512 {
            let mut copy = data[..1 << 16].to_vec();
            copy[index] ^= 0xff;
            let _ = parse(&copy);
        }
    }
}
