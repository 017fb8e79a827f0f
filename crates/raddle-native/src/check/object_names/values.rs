//! Values as the source would write them.

use raddle_core::execution::Value;
use raddle_core::program::Naming;
use raddle_core::trace::{NamedTrace, Observed, TraceNames};

use super::ObjectNames;
use crate::load::{Scalar, SymbolKind};
use crate::program::{FRESH, LocationKind, NativeProgram};

impl ObjectNames {
    /// Adds the texts of the values of an execution that are not plain numbers.
    pub(super) fn add_values(&self, program: &NativeProgram, trace: &mut NamedTrace) {
        for event in &trace.trace.events {
            let Some(id) = event.op.kind.location() else { continue };
            let Some(location) = self.locations.get(&id) else { continue };
            let size = match location.kind {
                LocationKind::Memory(size) => size,
                LocationKind::Block => {
                    let states = [(0, "allocated"), (1, "freed")];
                    let states = states.map(|(value, word)| ((id, value), word.to_owned()));
                    trace.names.values.extend(states);
                    continue;
                }
                _ => continue,
            };
            let is_initial = event.observed == Some(Observed::Initial);
            let scalar = self.part_at(program, location.address).and_then(|it| it.1.scalar());
            for value in event.read.into_iter().chain(event.written) {
                let is_fresh = is_initial && self.is_fresh(location.address, size, value);
                let text = match is_fresh {
                    true => Some(String::from("uninitialized")),
                    false => self.value(program, &trace.names, scalar.as_ref(), size, value),
                };
                if let Some(text) = text {
                    trace.names.values.insert((id, value), text);
                }
            }
        }
    }

    /// Returns `true` if a block has this value before somebody writes it.
    fn is_fresh(&self, address: u64, size: u64, value: Value) -> bool {
        let is_in_block = self.blocks.range(..=address).next_back();
        let is_in_block = is_in_block.is_some_and(|(start, block)| address - start < block.size);
        let fresh = u128::from_le_bytes([FRESH; 16]) >> (128 - 8 * size.clamp(1, 16));
        is_in_block && value as u128 == fresh
    }

    /// A value as the source would write it; `None` if it is a plain number.
    fn value(
        &self,
        program: &NativeProgram,
        names: &TraceNames,
        scalar: Option<&Scalar>,
        size: u64,
        value: Value,
    ) -> Option<String> {
        if value < 0 || value > Value::from(u64::MAX) {
            return None;
        }
        let bits = value as u64;
        let address = |bits| self.address(program, names, bits);
        match scalar {
            Some(Scalar::Bool) if bits < 2 => Some((bits == 1).to_string()),
            Some(Scalar::Signed(bytes)) if (1..=8).contains(bytes) && *bytes == size => {
                let shift = 64 - 8 * *bytes as u32;
                Some((((bits << shift) as i64) >> shift).to_string())
            }
            Some(Scalar::Character) => {
                let character = u8::try_from(bits).ok().filter(u8::is_ascii_graphic)?;
                Some(format!("'{}'", char::from(character)))
            }
            Some(Scalar::Float(4)) => Some(format!("{:?}", f32::from_bits(bits as u32))),
            Some(Scalar::Float(8)) => Some(format!("{:?}", f64::from_bits(bits))),
            Some(Scalar::Enumeration(names)) => {
                let name = names.iter().find(|(number, _)| *number as u64 == bits);
                name.map(|(_, name)| name.clone())
            }
            Some(Scalar::Pointer(_)) if bits == 0 => Some(String::from("null")),
            Some(Scalar::Pointer(_)) => Some(address(bits).unwrap_or_else(|| no_address(bits))),
            _ if size == 8 && bits > SMALL => address(bits).or_else(|| {
                let is_mapped = program.process.memory().region(bits).is_some();
                is_mapped.then(|| no_address(bits))
            }),
            _ => None,
        }
    }

    /// `&x`: the name of an address; of a function, its name.
    fn address(&self, program: &NativeProgram, names: &TraceNames, address: u64) -> Option<String> {
        if let Some(block) = self.blocks.get(&address).filter(|block| !block.name.is_empty()) {
            return Some(format!("&{}", block.name));
        }
        if let Some(name) = self.memory_name(program, address, false) {
            return Some(format!("&{name}"));
        }
        if let Some((_, variable)) = program.variable_of(address) {
            let vtable = variable.name.starts_with("_ZTV").then(|| demangled(&variable.name));
            let name = vtable.unwrap_or_else(|| format!("&{}", program.memory_name(address)));
            return Some(name);
        }
        if let Some(owner) = program.stack_owner(address) {
            let thread =
                names.thread(owner).map_or_else(|| program.thread_name(owner), str::to_owned);
            return Some(format!("&stack of {thread}"));
        }
        let module = program.process.modules().iter().find(|module| module.contains(address))?;
        let symbol = module.symbols().at(address - module.base)?;
        (symbol.kind == SymbolKind::Function).then(|| demangled(&symbol.name))
    }
}

/// Numbers up to this one are no addresses.
const SMALL: u64 = 1 << 16;

/// Words for a pointer to nothing that is known. Reports have no addresses.
fn no_address(bits: u64) -> String {
    if bits <= SMALL { bits.to_string() } else { String::from("an address") }
}

/// The name of a function in the source, without its parameters.
fn demangled(symbol: &str) -> String {
    let name = addr2line::demangle_auto(symbol.into(), None);
    name.split('(').next().unwrap_or_default().to_owned()
}
