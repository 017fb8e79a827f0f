//! Where functions keep their variables, from DWARF.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::types::{DEPTH, Types, type_of};

impl Types {
    /// By address of a function relative to the base: the bytes of its variables and parameters in its frame, relative to the end of
    /// the frame, which is just behind the return address. Variables of unknown size are left out.
    pub(super) fn locals(&self) -> FxHashMap<u64, Vec<Range<i64>>> {
        let mut locals = FxHashMap::default();
        for unit in &self.units {
            let _ = self.read_locals(unit, &mut locals);
        }
        locals
    }

    fn read_locals(
        &self,
        unit: &gimli::Unit<super::lines::Reader>,
        locals: &mut FxHashMap<u64, Vec<Range<i64>>>,
    ) -> gimli::Result<()> {
        // The function that contains the entry: its address and its depth in the tree.
        let mut function = None;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            function = function.filter(|&(_, depth)| entry.depth() > depth);
            match entry.tag() {
                gimli::DW_TAG_subprogram => {
                    function = self.frame_start(unit, entry).map(|it| (it, entry.depth()));
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let (Some((function, _)), Some(start)) = (function, frame_offset(unit, entry))
                    else {
                        continue;
                    };
                    let size = type_of(entry).and_then(|of| self.size(unit, of, DEPTH));
                    let Some(size) = size.and_then(|size| i64::try_from(size).ok()) else {
                        continue;
                    };
                    let variables: &mut Vec<_> = locals.entry(function).or_default();
                    variables.push(start..start.saturating_add(size));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The address of a function whose variables have offsets from the end of its frame.
    fn frame_start(
        &self,
        unit: &gimli::Unit<super::lines::Reader>,
        entry: &gimli::DebuggingInformationEntry<super::lines::Reader>,
    ) -> Option<u64> {
        let base = entry.attr_value(gimli::DW_AT_frame_base)?.exprloc_value()?;
        let first = base.operations(unit.encoding()).next().ok()??;
        let address =
            self.dwarf.attr_address(unit, entry.attr_value(gimli::DW_AT_low_pc)?).ok()??;
        matches!(first, gimli::Operation::CallFrameCFA).then_some(address)
    }
}

/// The offset of a variable from the base of its frame, if it is always there.
pub(super) fn frame_offset(
    unit: &gimli::Unit<super::lines::Reader>,
    entry: &gimli::DebuggingInformationEntry<super::lines::Reader>,
) -> Option<i64> {
    let location = entry.attr_value(gimli::DW_AT_location)?.exprloc_value()?;
    let mut operations = location.operations(unit.encoding());
    match (operations.next().ok()??, operations.next().ok()?) {
        (gimli::Operation::FrameOffset { offset }, None) => Some(offset),
        _ => None,
    }
}
