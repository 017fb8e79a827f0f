//! What the symbols of object files tell about how they were compiled.

use std::borrow::Cow;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{LittleEndian, Object as _, ObjectSection, ObjectSymbol};

use super::assembly::is_atomic_function;
use crate::build::Error;
use crate::openmp;
use crate::program::std_code::MARKER;

/// Called by a constructor of every file that was compiled with `-fsanitize=thread`.
const INIT_HOOK: &str = "__tsan_init";

/// What the symbols of an object file tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectSymbols {
    /// It was compiled with the hooks of `-fsanitize=thread`, so memory orders are known.
    pub(super) has_hooks: bool,
    /// It must be linked with the C++ library.
    pub(super) needs_cpp: bool,
}

impl ObjectSymbols {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|error| Error::File { file: file.clone(), why: error.to_string() })?;
        let elf: ElfFile64<'_, LittleEndian> = ElfFile64::parse(&*bytes)
            .map_err(|error| Error::Refused { place: file, what: error.to_string() })?;
        let undefined = || elf.symbols().filter(ObjectSymbol::is_undefined);
        let names = || undefined().filter_map(|symbol| symbol.name().ok());
        refuse_atomic_function(&elf, &path.display().to_string())?;
        Ok(ObjectSymbols {
            has_hooks: names().any(|name| name == INIT_HOOK),
            needs_cpp: names().any(|name| name.starts_with("_Z") || name.starts_with("__gxx")),
        })
    }
}

/// Refuses machine code that defines functions which are atomic sections: only source becomes atomic.
pub(super) fn refuse_atomic_functions(bytes: &[u8], file: &str) -> Result<(), Error> {
    match ElfFile64::<LittleEndian>::parse(bytes) {
        Ok(elf) => refuse_atomic_function(&elf, file),
        Err(_) => Ok(()),
    }
}

fn refuse_atomic_function(elf: &ElfFile64<'_, LittleEndian>, file: &str) -> Result<(), Error> {
    let mut defined = elf.symbols().filter(|symbol| !symbol.is_undefined());
    let atomic = defined.find_map(|symbol| symbol.name().ok().filter(|it| is_atomic_function(it)));
    match atomic {
        Some(name) => Err(Error::Refused {
            place: file.to_owned(),
            what: format!("{name} is atomic only if Raddle compiles it: pass its source"),
        }),
        None => Ok(()),
    }
}

/// Returns `true` if an executable uses the runtime library of the thread sanitizer.
pub(super) fn has_sanitizer_runtime(bytes: &[u8]) -> bool {
    let Ok(elf) = ElfFile64::<LittleEndian>::parse(bytes) else { return false };
    let mut symbols = elf.symbols().chain(elf.dynamic_symbols());
    symbols.any(|symbol| symbol.name() == Ok(INIT_HOOK))
}

/// Returns `true` if an executable is a Rust program whose own code tells memory orders.
pub(super) fn is_rust(bytes: &[u8]) -> bool {
    let Ok(elf) = ElfFile64::<LittleEndian>::parse(bytes) else { return false };
    elf.symbols().any(|symbol| symbol.name() == Ok(MARKER))
}

/// Returns `true` if an executable defines `main`, or has no symbols that would tell.
pub(super) fn has_main(bytes: &[u8]) -> bool {
    let Ok(elf) = ElfFile64::<LittleEndian>::parse(bytes) else { return true };
    let mut defined = elf.symbols().filter(|symbol| !symbol.is_undefined());
    defined.any(|symbol| symbol.name() == Ok("main"))
}

/// The library of OpenMP that an executable is linked with.
pub(super) fn openmp_library(bytes: &[u8]) -> Option<String> {
    let elf = ElfFile64::<LittleEndian>::parse(bytes).ok()?;
    let strings = elf.section_by_name(".dynstr")?.data().ok()?;
    let mut names = strings.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    names.find(|name| openmp::is_library(name)).map(Cow::into_owned)
}
