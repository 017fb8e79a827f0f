//! A shared object of the user's, beside the stub.
//!
//! A program that we link ourselves has its hooks and library functions in the same object. A shared object that the user has
//! linked looks for them elsewhere, and would find the system's. So it is loaded with all its wishes made optional, and then
//! every word of it that holds the address of something that the stub has is set to the stub's, by its own list of
//! relocations. What it has itself it gets from itself, whatever the system has under the same name.
//!
//! Its variables and the stub's are two ranges of memory with a hole between them.

use std::collections::HashMap;

use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags,
    RelocationTarget, elf,
};

use crate::error::Error;
use crate::frames::Range;
use crate::load::{self, File, Module};

/// The variables of both are at most so far apart.
const APART: usize = 64 << 20;

/// Loads the user's object beside the stub, which then is one program with it.
pub(crate) fn join(stub: Module, bytes: Vec<u8>) -> Result<Module, Error> {
    let mut bytes = bytes;
    let plan = load::plan(&bytes)?;
    make_optional(&mut bytes)?;
    load::remove_constructors(&mut bytes)?;
    let handle = load::open(&bytes)?;
    let file = load::parse(&bytes)?;
    let main = file.dynamic_symbols().find(|symbol| symbol.name() == Ok("main"));
    let main = main.filter(|main| !main.is_undefined()).ok_or(Error::NoMain)?.address() as usize;
    let base = load::find(handle, c"main") - main;
    bind(&file, base, &stub)?;
    let mut module = Module::at(handle, base, plan, &file, main, stub)?;
    module.bytes = bytes;
    Ok(module)
}

/// Lets the object be loaded although nobody has what it wants, and lets its table of addresses be written.
fn make_optional(bytes: &mut [u8]) -> Result<(), Error> {
    let file = load::parse(bytes)?;
    let (mut symbols, mut headers) = (vec![], vec![]);
    if let Some(section) = file.section_by_name(".dynsym")
        && let Some((from, size)) = section.file_range()
    {
        symbols.extend((from..from + size).step_by(24).map(|at| at as usize));
    }
    let first = file.elf_header().e_phoff.get(LittleEndian) as usize;
    headers.extend((0..file.elf_program_headers().len()).map(|at| first + at * 56));
    for at in symbols {
        let is_undefined = bytes[at + 6..at + 8] == [0, 0];
        if is_undefined && bytes[at + 4] >> 4 == elf::STB_GLOBAL.0 {
            bytes[at + 4] = elf::STB_WEAK.0 << 4 | bytes[at + 4] & 0xf;
        }
    }
    for at in headers {
        if bytes[at..at + 4] == elf::PT_GNU_RELRO.0.to_le_bytes() {
            bytes[at..at + 4].fill(0);
        }
    }
    Ok(())
}

/// Sets all words of the object that hold addresses of the stub's functions, or of its own symbols.
fn bind(file: &File<'_>, base: usize, stub: &Module) -> Result<(), Error> {
    let of_stub = load::parse(&stub.bytes)?;
    let defined = of_stub.symbols().filter(|symbol| !symbol.is_undefined());
    let known: HashMap<&str, usize> = defined
        .filter_map(|symbol| Some((symbol.name().ok()?, stub.base + symbol.address() as usize)))
        .collect();
    let Some(table) = file.dynamic_symbol_table() else { return Ok(()) };
    for (offset, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        if matches!(r_type, elf::R_X86_64_TPOFF64 | elf::R_X86_64_TLSDESC) {
            let what =
                "its thread-local variables are not in the usual model: compile it with -fPIC";
            return Err(Error::System(String::from(what)));
        }
        let is_address =
            matches!(r_type, elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT);
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        let (true, Ok(symbol)) = (is_address, table.symbol_by_index(index)) else { continue };
        let address = match symbol.name() {
            _ if !symbol.is_undefined() => Some(base + symbol.address() as usize),
            Ok(name) => known.get(name).copied(),
            Err(_) => None,
        };
        let addend = if r_type == elf::R_X86_64_64 { relocation.addend() } else { 0 };
        if let Some(address) = address {
            // SAFETY: the word is one that the system has just filled in; nobody runs the object's code.
            unsafe {
                *((base + offset as usize) as *mut usize) =
                    address.wrapping_add_signed(addend as isize);
            };
        }
    }
    Ok(())
}

/// The range that has both, and the hole between them, unless they are too far apart.
pub(crate) fn both(one: Range, other: Range) -> Result<(Range, Range), Error> {
    let (low, high) = if one.0 < other.0 { (one, other) } else { (other, one) };
    if high.1 - low.0 > APART {
        let what = "the program cannot be loaded: there is no room beside its library functions";
        return Err(Error::System(String::from(what)));
    }
    Ok(((low.0, high.1), (low.1, high.0)))
}
