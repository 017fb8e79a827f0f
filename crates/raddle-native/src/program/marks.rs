//! Marks: calls by which compiled code tells that the load after them is atomic.
//!
//! The call is the atomic load; the plain load after it, if the compiler has not removed it, takes its value. A mark holds
//! for the instructions that follow its call in the same stretch of code, so it needs no end: when the code runs again, it
//! sets the mark again.

use raddle_core::execution::{MemoryOrder, Value};

use super::NativeProgram;
use super::bookkeeping::AtomicLoadMark;
use super::call::{Call, Step};
use super::layout::Cut;

/// The most bytes of code between a mark and its load.
const REACH: u64 = 64;

impl NativeProgram {
    /// Returns `true` if an instruction of the program accesses a volatile object.
    pub(crate) fn is_volatile(&self, address: u64) -> bool {
        let program = self.process.modules().first();
        program.is_some_and(|program| program.contains(address) && program.is_volatile(address))
    }
}

impl Call<'_> {
    /// Performs an atomic load for the plain load after the return of the function that is called.
    pub(crate) fn mark_atomic_load(&mut self, address: u64, size: u64) -> Step<()> {
        let value = self.atomic_load(address, size, MemoryOrder::SeqCst)?;
        let after = self.program.return_address();
        let code = after..after.saturating_add(REACH);
        let mark = AtomicLoadMark { address, size, value, code };
        self.program.thread_mut().own_mut().mark = Some(mark);
        Ok(())
    }

    /// The value of the load of the current instruction, if a mark holds for it.
    pub(super) fn marked_value(&self, address: u64, size: u64) -> Option<Value> {
        let mark = self.program.thread().own.mark.as_ref()?;
        let is_same = (mark.address, mark.size) == (address, size);
        (is_same && mark.code.contains(&self.program.cpu().ip())).then_some(mark.value)
    }

    /// How a plain access of the current instruction may be cut. Copies of objects, and library code, access memory with
    /// instructions of any size.
    pub(super) fn cut_of_instruction(&self) -> Cut {
        let ip = self.program.cpu().ip();
        let is_range = match self.program.process.modules().first() {
            Some(program) if program.contains(ip) => {
                program.is_copy(ip) || self.program.is_std_code(ip)
            }
            _ => true,
        };
        if is_range { Cut::Range } else { Cut::Scalar }
    }
}
