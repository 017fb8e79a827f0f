//! Symbol tables: names of addresses, addresses of names, and what is not defined.
//!
//! Names come from `.dynsym` and, unless the file is stripped, from `.symtab`. Where a name has several versions
//! (`memcpy@GLIBC_2.2.5` and `memcpy@@GLIBC_2.14`) only the default one, without the hidden bit, is found by name: this
//! is the one to which a program that is linked today is bound. All of them are found by address.

use super::elf::Header;
use object::LittleEndian;
use object::elf::{
    SHN_ABS, SHN_UNDEF, SHT_DYNSYM, SHT_SYMTAB, STB_GLOBAL, STB_LOCAL, STB_WEAK, STT_FUNC,
    STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT, STT_TLS, Sym64,
};
use object::read::elf::{FileHeader, Sym};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A function whose address is chosen when the program starts; the symbol's address is that of the code that chooses.
    IndirectFunction,
    /// A variable or a table.
    Object,
    /// An offset into the thread-local storage of the module.
    ThreadLocal,
    /// A label, as assembly code has them.
    Label,
}

/// A symbol that is defined in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, mangled as in the file, without a version.
    pub name: Arc<str>,
    /// Its address relative to the base of the module.
    pub address: u64,
    /// Its size in bytes; 0 if not known.
    pub size: u64,
    /// What it stands for.
    pub kind: SymbolKind,
}

/// The symbols of one ELF file.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Functions, objects and labels by address.
    defined: Vec<Symbol>,
    /// Index in `defined` of the default version of each name.
    names: FxHashMap<Arc<str>, usize>,
    /// Names that other modules can use, of any version.
    exported: FxHashSet<Arc<str>>,
    /// Strong symbols that the module needs from others.
    undefined: Vec<Arc<str>>,
}

impl Symbols {
    /// Reads the symbols of a file. Tables that are damaged count as empty.
    pub fn read(data: &[u8]) -> Symbols {
        let mut reader = TableReader::default();
        reader.read(data);
        let TableReader { mut found, exported, undefined } = reader;
        found.sort_by(|(a, rank), (b, other)| {
            (a.address, other, &a.name).cmp(&(b.address, rank, &b.name))
        });
        found.dedup_by(|a, b| a.0 == b.0);
        let mut names: FxHashMap<Arc<str>, usize> = FxHashMap::default();
        for (index, (symbol, rank)) in found.iter().enumerate().filter(|entry| entry.1.1 > 0) {
            let best = names.entry(symbol.name.clone()).or_insert(index);
            if found[*best].1 < *rank {
                *best = index;
            }
        }
        let defined = found.into_iter().map(|entry| entry.0).collect();
        Symbols { defined, names, exported, undefined }
    }

    /// The default version of the symbol `name`.
    pub fn by_name(&self, name: &str) -> Option<&Symbol> {
        Some(&self.defined[*self.names.get(name)?])
    }

    /// The symbol that covers an address relative to the base: the innermost one whose size covers it, otherwise the nearest
    /// symbol of unknown size before it.
    pub fn at(&self, address: u64) -> Option<&Symbol> {
        let end = self.defined.partition_point(|symbol| symbol.address <= address);
        let before = self.defined[..end].iter().rev().filter(|s| s.kind != SymbolKind::ThreadLocal);
        // Symbols nest rarely; a covering one is among the nearest.
        before.take(16).find(|symbol| symbol.size == 0 || address - symbol.address < symbol.size)
    }

    /// All defined symbols by address.
    pub fn iter(&self) -> impl Iterator<Item = &Symbol> {
        self.defined.iter()
    }

    /// Whether other modules can use a symbol of this name.
    pub fn exports(&self, name: &str) -> bool {
        self.exported.contains(name)
    }

    /// Names of strong symbols that the module does not define itself.
    pub fn undefined(&self) -> &[Arc<str>] {
        &self.undefined
    }
}

/// What the tables of a file contain.
#[derive(Default)]
struct TableReader {
    /// Symbols with their rank: lookups by name prefer the highest one and never find 0.
    found: Vec<(Symbol, u8)>,
    exported: FxHashSet<Arc<str>>,
    undefined: Vec<Arc<str>>,
}

impl TableReader {
    fn read(&mut self, data: &[u8]) -> Option<()> {
        let header = Header::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, data).ok()?;
        let versions = sections.versions(endian, data).ok()?.unwrap_or_default();
        if let Ok(table) = sections.symbols(endian, data, SHT_DYNSYM) {
            for (index, symbol) in table.enumerate() {
                let Ok(name) = table.symbol_name(endian, symbol) else { continue };
                let name = String::from_utf8_lossy(name);
                let is_default = !versions.version_index(endian, index).is_hidden();
                self.add_dynamic(&name, symbol, endian);
                self.add(&name, is_default, symbol, endian);
            }
        }
        let table = sections.symbols(endian, data, SHT_SYMTAB).ok()?;
        for symbol in table.iter() {
            let Ok(name) = table.symbol_name(endian, symbol) else { continue };
            // Here versions are part of the name: `f@V` and `f@@V`.
            let name = String::from_utf8_lossy(name);
            let (plain, version) = name.split_once('@').unwrap_or((&name, ""));
            let is_default = version.is_empty() || version.starts_with('@');
            self.add(plain, is_default, symbol, endian);
        }
        Some(())
    }

    fn add_dynamic(&mut self, name: &str, symbol: &Sym64<LittleEndian>, endian: LittleEndian) {
        match (symbol.st_shndx(endian), symbol.st_bind()) {
            (_, STB_LOCAL) => {}
            (SHN_UNDEF, STB_GLOBAL) => self.undefined.push(name.into()),
            (SHN_UNDEF, _) => {}
            _ => {
                self.exported.insert(name.into());
            }
        }
    }

    fn add(
        &mut self,
        name: &str,
        is_default: bool,
        symbol: &Sym64<LittleEndian>,
        endian: LittleEndian,
    ) {
        // Names of versions and the like are absolute and no addresses.
        if name.is_empty() || [SHN_UNDEF, SHN_ABS].contains(&symbol.st_shndx(endian)) {
            return;
        }
        let Some(kind) = symbol_kind(symbol) else { return };
        let rank = match symbol.st_bind() {
            STB_LOCAL => 1,
            _ if !is_default => 0,
            STB_WEAK => 2,
            _ => 3,
        };
        let (address, size) = (symbol.st_value(endian), symbol.st_size(endian));
        self.found.push((Symbol { name: name.into(), address, size, kind }, rank));
    }
}

fn symbol_kind(symbol: &Sym64<LittleEndian>) -> Option<SymbolKind> {
    match symbol.st_type() {
        STT_FUNC => Some(SymbolKind::Function),
        STT_GNU_IFUNC => Some(SymbolKind::IndirectFunction),
        STT_OBJECT => Some(SymbolKind::Object),
        STT_TLS => Some(SymbolKind::ThreadLocal),
        STT_NOTYPE => Some(SymbolKind::Label),
        _ => None,
    }
}
