//! Names and types of variables on the stack, from DWARF.

use gimli::DebuggingInformationEntry;

use super::lines::Reader;
use super::locals::frame_offset;
use super::types::{TypeId, Types, name_of, type_of};

type Entry = DebuggingInformationEntry<Reader>;

/// A local variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) name: String,
    /// Its offset from the end of the frame; negative.
    pub(crate) offset: i64,
    pub(crate) of: TypeId,
}

/// A function with its variables on the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionLocals {
    /// The name of the function without scopes.
    pub(crate) name: Option<String>,
    pub(crate) locals: Vec<Local>,
}

impl Types {
    /// The function at an address relative to the base, with those of its variables that stay at one place of its frame. Code that is
    /// inlined is a part of the function.
    pub(crate) fn function_at(&self, address: u64) -> Option<FunctionLocals> {
        (0..self.units.len()).find_map(|unit| self.function_of_unit(unit, address))
    }

    fn function_of_unit(&self, index: usize, address: u64) -> Option<FunctionLocals> {
        let unit = &self.units[index];
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs().ok()? {
            if entry.tag() != gimli::DW_TAG_subprogram || !self.covers(index, entry, address) {
                continue;
            }
            let offset = entry.offset();
            let frame = self.frame_end(index, entry);
            let name = self.name_or_declared(index, entry);
            let mut function = FunctionLocals { name, locals: vec![] };
            if let Some(frame) = frame {
                self.add_locals(TypeId { unit: index, offset }, frame, &mut function.locals);
            }
            return Some(function);
        }
        None
    }

    fn covers(&self, unit: usize, entry: &Entry, address: u64) -> bool {
        let unit = &self.units[unit];
        let Ok(mut ranges) = self.dwarf.die_ranges(unit, entry) else { return false };
        while let Ok(Some(range)) = ranges.next() {
            if (range.begin..range.end).contains(&address) {
                return true;
            }
        }
        false
    }

    /// What to add to the offset of a variable to get that from the end of the frame.
    fn frame_end(&self, unit: usize, entry: &Entry) -> Option<i64> {
        /// The number of the register `rbp`, which points below the return address and its own old value.
        const FRAME_POINTER: gimli::Register = gimli::Register(6);
        let base = entry.attr_value(gimli::DW_AT_frame_base)?.exprloc_value()?;
        match base.operations(self.units[unit].encoding()).next().ok()?? {
            gimli::Operation::CallFrameCFA => Some(0),
            gimli::Operation::Register { register: FRAME_POINTER } => Some(-16),
            _ => None,
        }
    }

    /// Adds the variables of a function or block.
    fn add_locals(&self, at: TypeId, frame: i64, locals: &mut Vec<Local>) {
        let unit = &self.units[at.unit];
        let Ok(mut tree) = unit.entries_tree(Some(at.offset)) else { return };
        let Ok(root) = tree.root() else { return };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            match entry.tag() {
                gimli::DW_TAG_lexical_block => {
                    self.add_locals(TypeId { offset: entry.offset(), ..at }, frame, locals);
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    locals.extend(self.local(at.unit, entry, frame));
                }
                _ => {}
            }
        }
    }

    fn local(&self, unit: usize, entry: &Entry, frame: i64) -> Option<Local> {
        let offset = frame_offset(&self.units[unit], entry)?;
        let (name, of) = (self.name_or_declared(unit, entry)?, type_of(entry)?);
        Some(Local { name, offset: offset + frame, of: TypeId { unit, offset: of } })
    }

    /// The name of an entry or of what it is an instance of.
    fn name_or_declared(&self, unit: usize, entry: &Entry) -> Option<String> {
        let unit = &self.units[unit];
        let mut entry = entry.clone();
        // An instance of an inlined function refers to it, and that to its declaration.
        for _ in 0..4 {
            if let Some(name) = name_of(&self.dwarf, unit, &entry) {
                return Some(name);
            }
            let references = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin];
            let reference = references.into_iter().find_map(|name| entry.attr_value(name));
            let Some(gimli::AttributeValue::UnitRef(offset)) = reference else { return None };
            entry = unit.entry(offset).ok()?;
        }
        None
    }
}
