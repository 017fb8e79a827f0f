//! Callers of functions, from `.eh_frame`.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, RegisterRule,
    UnwindContext, UnwindSection,
};
use object::{Object, ObjectSection};
use rustc_hash::FxHashSet;

/// The numbers that DWARF gives to the stack pointer and to the return address.
const STACK_POINTER: usize = 7;
const RETURN_ADDRESS: usize = 16;

/// Registers of a frame by their DWARF numbers: `rax`, `rdx`, `rcx`, `rbx`, `rsi`, `rdi`, `rbp`, `rsp`, `r8` to `r15`, and
/// the address of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame(pub(crate) [u64; 17]);

impl Frame {
    /// Address of the instruction.
    pub(crate) fn address(&self) -> u64 {
        self.0[RETURN_ADDRESS]
    }

    /// The stack pointer.
    pub(crate) fn stack(&self) -> u64 {
        self.0[STACK_POINTER]
    }

    /// The frame of the caller if the function has not touched its stack: the return address is on top.
    pub(crate) fn caller_of_leaf(&self, read: &dyn Fn(u64) -> Option<u64>) -> Option<Frame> {
        let mut caller = *self;
        let pointer = self.0[STACK_POINTER];
        caller.0[RETURN_ADDRESS] = read(pointer)?;
        caller.0[STACK_POINTER] = pointer.checked_add(8)?;
        Some(caller)
    }
}

/// How to get from an instruction to its caller.
#[derive(Clone, Debug)]
pub(crate) struct FrameRow {
    /// Number of the register from which the frame is addressed, and the offset of the frame's end.
    base: (usize, i64),
    saved: Vec<(usize, Saved)>,
}

/// Where a register of the caller is.
#[derive(Clone, Copy, Debug)]
enum Saved {
    /// In memory, at this offset from the end of the frame.
    At(i64),
    /// Its value is the end of the frame plus this offset.
    Value(i64),
}

impl FrameRow {
    /// The frame of the caller. `None` at the outermost frame.
    pub(crate) fn caller(&self, frame: &Frame, read: &dyn Fn(u64) -> Option<u64>) -> Option<Frame> {
        let (register, offset) = self.base;
        let end = frame.0.get(register)?.wrapping_add_signed(offset);
        let mut caller = *frame;
        caller.0[STACK_POINTER] = end;
        for &(register, saved) in &self.saved {
            *caller.0.get_mut(register)? = match saved {
                Saved::At(offset) => read(end.wrapping_add_signed(offset))?,
                Saved::Value(offset) => end.wrapping_add_signed(offset),
            };
        }
        (caller.address() != frame.address()).then_some(caller)
    }
}

/// The row of an instruction, by its address in the file.
pub(super) fn row_at(data: &[u8], address: u64) -> Option<FrameRow> {
    let file = object::read::elf::ElfFile64::<object::LittleEndian>::parse(data).ok()?;
    let frames = file.section_by_name(".eh_frame")?;
    let index = file.section_by_name(".eh_frame_hdr");
    let bases = BaseAddresses::default()
        .set_eh_frame_hdr(index.as_ref().map_or(0, ObjectSection::address))
        .set_eh_frame(frames.address())
        .set_text(file.section_by_name(".text").map_or(0, |text| text.address()));
    let frames = EhFrame::new(frames.data().ok()?, LittleEndian);
    let get_cie = EhFrame::<EndianSlice<'_, LittleEndian>>::cie_from_offset;
    let entry = match index.and_then(|index| index.data().ok()) {
        Some(index) => {
            let index = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8).ok()?;
            index.table()?.fde_for_address(&frames, &bases, address, get_cie)
        }
        // Static executables have no index.
        None => frames.fde_for_address(&bases, address, get_cie),
    };
    let mut context = UnwindContext::new();
    let entry = entry.ok()?;
    let row = entry.unwind_info_for_address(&frames, &bases, &mut context, address).ok()?;
    let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
    let base = (usize::from(register.0), offset);
    let mut saved = vec![];
    for (register, rule) in row.registers() {
        let register = usize::from(register.0);
        saved.push(match rule {
            RegisterRule::Offset(offset) => (register, Saved::At(*offset)),
            RegisterRule::ValOffset(offset) => (register, Saved::Value(*offset)),
            // The outermost frame has no return address.
            rule if register == RETURN_ADDRESS && *rule != RegisterRule::SameValue => return None,
            _ => continue,
        });
    }
    Some(FrameRow { base, saved })
}

/// Addresses in the file of the functions that have landing pads.
pub(super) fn functions_with_landing_pads(data: &[u8]) -> Option<FxHashSet<u64>> {
    let file = object::read::elf::ElfFile64::<object::LittleEndian>::parse(data).ok()?;
    let section = file.section_by_name(".eh_frame")?;
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let frames = EhFrame::new(section.data().ok()?, LittleEndian);
    let mut functions = FxHashSet::default();
    let mut entries = frames.entries(&bases);
    while let Some(entry) = entries.next().ok()? {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        let entry = partial.parse(EhFrame::cie_from_offset).ok()?;
        if entry.lsda().is_some() {
            functions.insert(entry.initial_address());
        }
    }
    Some(functions)
}
