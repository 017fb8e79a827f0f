//! Native execution of single instructions: the only module of this crate with `unsafe` code.
//!
//! **Problem.** x86-64 has thousands of instruction forms; writing the semantics of each by hand is long and wrong.
//! **Idea.** An instruction without a micro-operation of its own runs natively and alone: a generated stub loads the registers that it
//! uses from a [`Context`], executes it with its memory operand replaced by the scratch buffer of the context, and saves the
//! registers. This gives SSE to AVX2, x87, BMI and others with the exact results of the host's processor.
//!
//! **Soundness.** A stub reads and writes nothing but the context and the stack of the host below the stack pointer, and always
//! returns: [`build`] accepts only instructions that compute ([`allowed`] is a list of what is allowed, not of what is forbidden),
//! whose only memory operand is explicit, and that neither use the stack pointer nor raise exceptions: division, instructions that the
//! host lacks, and x87 control words that unmask exceptions never get here. Stubs are in pages that are mapped twice, once
//! writable and once executable, so no page is both. They are never freed: a [`Stub`] stays valid forever, and equal instructions
//! share a stub.
//!
//! **Cost.** A few ns per instruction: the floating-point program of the bench, about half of which are stubs, averages 4 ns. About
//! 95 ns with x87 registers, whose state is loaded and saved around each instruction so that the host's state stays clean
//! whatever thread runs next. **Rejected.** Keeping that state in the host's registers during a run: the calling convention wants
//! the x87 stack empty at calls. `fninit` after each instruction instead of `emms` and `fldcw`: 125 ns.

mod allowed;
mod build;
pub(crate) mod properties;

pub(crate) use build::build;

use crate::registers::{Context, MXCSR};
use rustc_hash::FxHashMap;
use std::arch::asm;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Generated code for one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stub(unsafe extern "sysv64" fn(*mut Context));

impl Stub {
    /// Executes the instruction on the state in `context`.
    #[inline(always)]
    pub(crate) fn call(self, context: &mut Context) {
        // SAFETY: `install` made the function from code that `build` generated; the module docs say what it does.
        unsafe { (self.0)(context) }
    }
}

/// Bytes per mapping of generated code.
const CHUNK: usize = 1 << 20;

/// A range of pages, mapped writable at one address and executable at another.
struct Chunk {
    writable: &'static mut [u8],
    executable: usize,
    used: usize,
    /// The process that may write. A forked process shares the pages, so it executes them but maps new ones for its own code.
    process: u32,
}

impl Chunk {
    fn map() -> std::io::Result<Chunk> {
        // SAFETY: a new file and two new mappings of it, which nothing else refers to. They are never unmapped, so the slice
        // lives forever; the executable mapping is only executed.
        unsafe {
            let file = libc::memfd_create(c"raddle-stubs".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 || libc::ftruncate(file, CHUNK as libc::off_t) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            let map = |protection| {
                libc::mmap(std::ptr::null_mut(), CHUNK, protection, libc::MAP_SHARED, file, 0)
            };
            let writable = map(libc::PROT_READ | libc::PROT_WRITE);
            let executable = map(libc::PROT_READ | libc::PROT_EXEC);
            let error = std::io::Error::last_os_error();
            libc::close(file);
            if writable == libc::MAP_FAILED || executable == libc::MAP_FAILED {
                return Err(error);
            }
            let writable = std::slice::from_raw_parts_mut(writable.cast::<u8>(), CHUNK);
            Ok(Chunk {
                writable,
                executable: executable as usize,
                used: 0,
                process: std::process::id(),
            })
        }
    }
}

/// All generated code of the process.
#[derive(Default)]
struct Stubs {
    chunk: Option<Chunk>,
    /// By code.
    known: FxHashMap<Vec<u8>, Stub>,
}

static STUBS: LazyLock<Mutex<Stubs>> = LazyLock::new(Mutex::default);

/// Makes generated, position-independent code executable. `None` if the system refuses executable memory.
fn install(code: Vec<u8>) -> Option<Stub> {
    let mut stubs = STUBS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stub) = stubs.known.get(&code) {
        return Some(*stub);
    }
    let process = std::process::id();
    let is_unusable = |chunk: &Chunk| chunk.used + code.len() > CHUNK || chunk.process != process;
    if stubs.chunk.as_ref().is_none_or(is_unusable) {
        stubs.chunk = Some(Chunk::map().ok()?);
    }
    let chunk = stubs.chunk.as_mut()?;
    let start = chunk.used;
    chunk.writable.get_mut(start..start + code.len())?.copy_from_slice(&code);
    chunk.used = (start + code.len()).next_multiple_of(16);
    let address = (chunk.executable + start) as *const ();
    // SAFETY: the code at this address was just written and follows the calling convention; it is never changed or unmapped.
    let stub = Stub(unsafe {
        std::mem::transmute::<*const (), unsafe extern "sysv64" fn(*mut Context)>(address)
    });
    stubs.known.insert(code, stub);
    Some(stub)
}

/// Puts the guest's mxcsr into the host's register. `value` masks all exceptions.
pub(crate) fn load_mxcsr(value: u32) {
    let value = value & 0xffff | MXCSR;
    // SAFETY: all exceptions are masked. Rounding and denormal modes concern floating-point instructions only, and none but those of
    // the guest run until `unload_mxcsr`: the interpreter computes with integers.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, readonly, preserves_flags)) }
}

/// Takes the guest's mxcsr from the host's register, which gets its default back.
pub(crate) fn unload_mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: writes a local variable and restores the state that Rust expects.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags));
        asm!("ldmxcsr [{}]", in(reg) &MXCSR, options(nostack, readonly, preserves_flags));
    }
    value
}
