//! Who called whom, by the tables that exceptions are unwound with.
//!
//! *Problem.* An access inside a library, or inside a template of one, has a place that says nothing to people: they
//! want the line of theirs that led there.
//!
//! *Idea.* The tables in `.eh_frame` say for every instruction where its caller's registers are. All registers that
//! they speak of are known where a thread stands still ([`Caller`]). A row is read once for each
//! instruction and kept.
//!
//! *Cost.* A look-up and a few loads for each frame, and only where code of a library is at work.
//!
//! *Rejected.* Frame pointers: libraries are compiled without.

use gimli::{BaseAddresses, CfaRule, EhFrame, EhFrameHdr, LittleEndian, Register, RegisterRule};
use gimli::{UnwindContext, UnwindSection, X86_64};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};
use rustc_hash::FxHashMap;

use crate::switch::Caller;

/// The registers of a [`Caller`], in its order.
const SAVED: [Register; 6] =
    [X86_64::RBX, X86_64::RBP, X86_64::R12, X86_64::R13, X86_64::R14, X86_64::R15];

/// Where a stack is: from and to.
pub(crate) type Range = (usize, usize);

/// How to get from an instruction to its caller.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// The register that the frame is addressed by, if not the stack pointer.
    base: Option<usize>,
    offset: i64,
    /// For each register where it is in the frame, if it is there.
    saved: [Option<i64>; 6],
}

/// The frames of a program.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Where the program is in memory.
    base: usize,
    /// The stub, if it is an object of its own: its file, and where it is.
    pub(crate) stub: Option<(Vec<u8>, Range)>,
    rows: FxHashMap<usize, Option<Row>>,
}

impl Frames {
    /// The frames of a program that is loaded at `base`.
    pub(crate) fn new(base: usize) -> Self {
        Frames { base, stub: None, rows: FxHashMap::default() }
    }

    /// The caller of the function that is at work here. The stack can be read; `bytes` is the file.
    pub(crate) fn caller(&mut self, bytes: &[u8], at: Caller, stack: Range) -> Option<Caller> {
        let (bytes, base) = match &self.stub {
            Some((stub, (from, to))) if (*from..*to).contains(&at.address) => (&stub[..], *from),
            _ => (bytes, self.base),
        };
        let row = self.rows.entry(at.address);
        let row = (*row.or_insert_with(|| row_at(bytes, at.address.checked_sub(base + 1)?)))?;
        let start = row.base.map_or(at.stack, |register| at.registers[register]);
        let frame = start.checked_add_signed(row.offset as isize)?;
        let load = |offset: i64| {
            let address = frame.checked_add_signed(offset as isize)?;
            let is_ours = address % 8 == 0 && address >= stack.0 && address + 8 <= stack.1;
            // SAFETY: this is on a stack whose thread stands still.
            is_ours.then(|| unsafe { *(address as *const usize) })
        };
        let mut registers = at.registers;
        for (register, saved) in registers.iter_mut().zip(row.saved) {
            if let Some(offset) = saved {
                *register = load(offset)?;
            }
        }
        Some(Caller { address: load(-8)?, stack: frame, registers })
    }
}

/// The row of an instruction, by its address in the file.
fn row_at(bytes: &[u8], address: usize) -> Option<Row> {
    let file = ElfFile64::<object::LittleEndian>::parse(bytes).ok()?;
    let section = |name: &str| {
        let section = file.section_by_name(name)?;
        Some((section.address(), section.data().ok()?))
    };
    let (header_at, header) = section(".eh_frame_hdr")?;
    let (table_at, table) = section(".eh_frame")?;
    let (text, _) = section(".text")?;
    let bases = BaseAddresses::default().set_eh_frame_hdr(header_at).set_eh_frame(table_at);
    let bases = bases.set_text(text);
    let header = EhFrameHdr::new(header, LittleEndian).parse(&bases, 8).ok()?;
    let frames = EhFrame::new(table, LittleEndian);
    let mut context = UnwindContext::new();
    let get = EhFrame::cie_from_offset;
    let found = header.table()?;
    let found =
        found.unwind_info_for_address(&frames, &bases, &mut context, address as u64, get).ok()?;
    let &CfaRule::RegisterAndOffset { register, offset } = found.cfa() else { return None };
    let base = SAVED.iter().position(|&known| known == register);
    if base.is_none() && register != X86_64::RSP {
        return None;
    }
    let mut row = Row { base, offset, ..Row::default() };
    for (saved, register) in row.saved.iter_mut().zip(SAVED) {
        *saved = match found.register(register) {
            None | Some(RegisterRule::SameValue | RegisterRule::Undefined) => None,
            Some(RegisterRule::Offset(offset)) => Some(offset),
            Some(_) => return None,
        };
    }
    Some(row)
}
