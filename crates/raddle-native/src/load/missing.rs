//! A shared object, made in memory, that defines what no library defines.
//!
//! The dynamic linker refuses to start a program with undefined symbols. This object is preloaded and defines them at addresses
//! that stand for host functions: a call reaches the host, which implements the function or refuses it by name, and an access
//! as to a variable is a fault. The symbols are absolute, so the addresses are those given here (glibc 2.28 and later).

use object::elf::{
    DT_HASH, DT_SONAME, DT_STRSZ, DT_STRTAB, DT_SYMENT, DT_SYMTAB, PT_DYNAMIC, PT_GNU_STACK,
    PT_LOAD, SHN_ABS,
};
use std::sync::Arc;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const PROGRAM_HEADERS: usize = 4;
const SYMBOL: usize = 24;
const PAGE: usize = 4096;
const READ: u32 = 4;
const WRITE: u32 = 2;

/// Makes a shared object named `name` that defines each symbol at its absolute address.
pub(crate) fn object_with_symbols(name: &str, symbols: &[(Arc<str>, u64)]) -> Vec<u8> {
    let mut strings = vec![0];
    let add_string = |strings: &mut Vec<u8>, text: &str| {
        let offset = strings.len() as u32;
        strings.extend(text.bytes().chain([0]));
        offset
    };
    let soname = add_string(&mut strings, name);
    let mut table = vec![0; SYMBOL];
    for (name, address) in symbols {
        /// `STB_GLOBAL` and `STT_FUNC`.
        const INFO: u8 = 1 << 4 | 2;
        let offset = add_string(&mut strings, name);
        table.extend(offset.to_le_bytes());
        table.extend([INFO, 0]);
        table.extend(SHN_ABS.0.to_le_bytes());
        table.extend(address.to_le_bytes());
        table.extend(1_u64.to_le_bytes());
    }
    let hash = hash_table(symbols);
    let symbols_at = HEADER + PROGRAM_HEADERS * PROGRAM_HEADER;
    let hash_at = symbols_at + table.len();
    let strings_at = hash_at + hash.len();
    let dynamic_at = (strings_at + strings.len()).next_multiple_of(PAGE);
    let dynamic: Vec<u8> = [
        (DT_SONAME.0, soname.into()),
        (DT_HASH.0, hash_at as i64),
        (DT_SYMTAB.0, symbols_at as i64),
        (DT_SYMENT.0, SYMBOL as i64),
        (DT_STRTAB.0, strings_at as i64),
        (DT_STRSZ.0, strings.len() as i64),
        (0, 0),
    ]
    .iter()
    .flat_map(|(tag, value)| [*tag, *value])
    .flat_map(i64::to_le_bytes)
    .collect();
    let mut file = file_header();
    file.extend(program_header(PT_LOAD.0, READ, 0, strings_at + strings.len(), PAGE));
    file.extend(program_header(PT_LOAD.0, READ | WRITE, dynamic_at, dynamic.len(), PAGE));
    file.extend(program_header(PT_DYNAMIC.0, READ | WRITE, dynamic_at, dynamic.len(), 8));
    file.extend(program_header(PT_GNU_STACK.0, READ | WRITE, 0, 0, 16));
    file.extend(table);
    file.extend(hash);
    file.extend(strings);
    file.resize(dynamic_at, 0);
    file.extend(dynamic);
    file
}

fn file_header() -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    // ET_DYN, EM_X86_64.
    bytes.extend([3, 0, 62, 0]);
    bytes.extend(1_u32.to_le_bytes());
    // Entry, program headers, section headers.
    for word in [0, HEADER as u64, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(0_u32.to_le_bytes());
    for half in [HEADER as u16, PROGRAM_HEADER as u16, PROGRAM_HEADERS as u16, 64, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
    bytes
}

fn program_header(kind: u32, flags: u32, at: usize, len: usize, alignment: usize) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(flags.to_le_bytes());
    let (at, len) = (at as u64, len as u64);
    for word in [at, at, at, len, len, alignment as u64] {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

/// The System V hash table of the symbols, whose indices start at 1.
fn hash_table(symbols: &[(Arc<str>, u64)]) -> Vec<u8> {
    let buckets = symbols.len().max(1);
    let mut heads = vec![0_u32; buckets];
    let mut chains = vec![0_u32; symbols.len() + 1];
    for (index, (name, _)) in symbols.iter().enumerate() {
        let head = &mut heads[object::elf::hash(name.as_bytes()) as usize % buckets];
        chains[index + 1] = *head;
        *head = index as u32 + 1;
    }
    let counts = [buckets as u32, chains.len() as u32];
    counts.iter().chain(&heads).chain(&chains).flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Elf;

    #[test]
    fn the_object_is_a_valid_shared_object() {
        let symbols = [("first".into(), 0x7f80_0000_0000), ("second".into(), 0x7f80_0000_0010)];
        let data = object_with_symbols("missing.so", &symbols);
        let elf = Elf::parse("missing.so".into(), &Arc::new(data)).expect("valid");
        assert!(elf.is_relocatable);
        assert_eq!(elf.segments.len(), 2);
        assert!(elf.segments[1].is_writable);
    }
}
