//! Places in the guest's code and data, for reports.

use super::{Line, Module};
use std::fmt;
use std::sync::Arc;

/// What is known about an address: module, symbol, source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address.
    pub address: u64,
    /// Name of the module's file without its directory, and the offset in it.
    pub module: Option<(Arc<str>, u64)>,
    /// The symbol that covers the address, and the offset from it.
    pub symbol: Option<(Arc<str>, u64)>,
    /// The source line.
    pub line: Option<Line>,
}

impl Place {
    /// Looks an address up in the modules of a process.
    pub fn find(modules: &[Arc<Module>], address: u64) -> Place {
        let nowhere = Place { address, module: None, symbol: None, line: None };
        let Some(module) = modules.iter().find(|module| module.contains(address)) else {
            return nowhere;
        };
        let offset = address - module.base;
        let symbol = module.symbols().at(offset);
        Place {
            module: Some((module.short_name().into(), offset)),
            symbol: symbol.map(|symbol| (symbol.name.clone(), offset - symbol.address)),
            line: module.line(address),
            ..nowhere
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.symbol, &self.module) {
            (Some((name, offset)), Some((module, _))) => {
                write!(f, "{name}+{offset:#x} in {module}")?;
            }
            (None, Some((module, offset))) => write!(f, "{module}+{offset:#x}")?,
            (_, None) => write!(f, "{:#x}", self.address)?,
        }
        if let Some(line) = &self.line {
            write!(f, " ({line})")?;
        }
        Ok(())
    }
}
