//! Which functions a program calls, and which of them are known.
//!
//! A function that is neither in the program, nor modelled, nor on the list of harmless ones, gets an
//! entry that ends the execution when it is called: nothing is silently wrong.

use std::collections::BTreeSet;
use std::path::PathBuf;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol};

use crate::error::Error;
use crate::{cpp_functions, hooks, libc_functions, shims};

/// The symbols that the object files of a program use and do not define.
pub(crate) fn needed(objects: &[PathBuf]) -> Result<BTreeSet<String>, Error> {
    let (used, defined) = symbols(objects)?;
    if !defined.contains("main") {
        return Err(Error::NoMain);
    }
    Ok(&used - &defined)
}

/// The symbols that object files use.
pub(crate) fn needed_by(objects: &[PathBuf]) -> Result<BTreeSet<String>, Error> {
    Ok(symbols(objects)?.0)
}

/// The symbols that object files use, and those that they define.
fn symbols(objects: &[PathBuf]) -> Result<(BTreeSet<String>, BTreeSet<String>), Error> {
    let (mut used, mut defined) = (BTreeSet::new(), BTreeSet::new());
    for path in objects {
        let bytes = std::fs::read(path).map_err(|error| Error::System(error.to_string()))?;
        let file: ElfFile64<'_> = ElfFile64::parse(&*bytes)
            .map_err(|error| Error::System(format!("{}: {error}", path.display())))?;
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if name.is_empty() || symbol.is_local() {
                continue;
            }
            let set = if symbol.is_undefined() { &mut used } else { &mut defined };
            set.insert(name.to_owned());
        }
    }
    Ok((used, defined))
}

/// The symbols that a shared object uses and does not define, and the libraries that it needs.
pub(crate) fn needed_by_shared(bytes: &[u8]) -> Result<BTreeSet<String>, Error> {
    let file: ElfFile64<'_> = ElfFile64::parse(bytes)
        .map_err(|error| Error::System(format!("not a shared object: {error}")))?;
    let symbols = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    let names = symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    Ok(names.filter(|name| !name.is_empty()).collect())
}

/// Those of the symbols that nobody knows.
pub(crate) fn refused(needed: &BTreeSet<String>) -> Vec<String> {
    let unknown = needed.iter().filter(|name| {
        !hooks::table().iter().any(|hook| hook.name == **name)
            && !shims::table().iter().any(|shim| shim.name == **name)
            && !shims::IN_C.contains(&name.as_str())
            && !libc_functions::GUARDED.contains(&name.as_str())
            && !libc_functions::is_harmless(name)
            && !cpp_functions::is_harmless(name)
    });
    unknown.cloned().collect()
}

/// The functions of the C library that are guarded, and that nobody models.
pub(crate) fn guarded() -> impl Iterator<Item = (usize, &'static str)> {
    let is_modelled = |name: &str| {
        shims::IN_C.contains(&name) || shims::table().iter().any(|shim| shim.name == name)
    };
    let guarded = libc_functions::GUARDED.iter().copied().enumerate();
    guarded.filter(move |&(_, name)| !is_modelled(name))
}
