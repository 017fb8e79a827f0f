//! The switch between the program's threads and whoever explores.
//!
//! *Problem.* A thread of the program must stop inside a hook and go on later; and while a hook works,
//! nothing may be left on the program's stack: its bytes are compared in order to find loops that only
//! wait (`spin`), and what a program finds in variables that it has not initialised must not change from
//! run to run.
//!
//! *Idea.* A hook does no work on the program's stack. It puts the registers into the thread's [`Frame`]
//! and continues whoever called [`resume`]: for the explorer a thread is a function call that returns
//! when the thread calls a hook. The hook is served there, on the explorer's stack, and the next
//! `resume` returns from the hook. So the explorer holds no borrow across a switch that anybody else
//! could see, the stack of a thread may overflow without harm to us, and a thread that is given up needs
//! no cleaning.
//!
//! Functions of the libraries that need several ops (`pthread_cond_wait`) are written in Rust and do run
//! on the program's stack: their entry notes who called them ([`to_shim`]), and each of their ops is an
//! [`ask`].
//!
//! *Cost.* A hook that has nothing to do takes some nanoseconds: about 25 instructions there and back.
//!
//! *Rejected.* A library of coroutines: its switch leaves the frames of the hook on the program's stack,
//! and the hook would have to share mutable state with its caller.
//!
//! This file has all the assembly except the entries of the stub. x86-64 only.

use std::arch::naked_asm;
use std::cell::Cell;
use std::mem::offset_of;
use std::ptr;

use crate::quick::Quick;

/// What identifies the caller of a library function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Caller {
    /// The return address.
    pub(crate) address: usize,
    /// The stack pointer after the return.
    pub(crate) stack: usize,
    /// The registers that a call preserves: rbx, rbp, r12 to r15.
    pub(crate) registers: [usize; 6],
}

/// A thread that stands still: its registers, and what it asks for.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Frame {
    /// Where it goes on.
    pub(crate) caller: Caller,
    /// Which hook it called; see [`crate::hooks`].
    pub(crate) number: usize,
    /// The arguments: rdi, rsi, rdx, rcx, r8, r9.
    pub(crate) arguments: [usize; 6],
    /// What the hook returns: rax and rdx.
    pub(crate) result: [u64; 2],
    /// The explorer's stack while the thread runs.
    host: usize,
    /// Who called the library function that is written in Rust, if it is in one; or where it got a signal.
    pub(crate) noted: Caller,
    /// Whether that was called since the explorer last looked.
    pub(crate) is_fresh: usize,
    /// The functions that are written in Rust.
    pub(crate) shims: usize,
    /// Where a hook that we inserted was called; otherwise 0.
    pub(crate) site: usize,
    /// For hooks that may return at once.
    pub(crate) quick: Quick,
}

/// Where [`Frame::site`] is, for the stub.
pub(crate) const SITE: usize = offset_of!(Frame, site);

/// The number of an [`ask`].
pub(crate) const ASKED: usize = usize::MAX;
/// The number with which a function returns that was started by [`Frame::start`].
pub(crate) const RETURNED: usize = usize::MAX - 1;
/// The number of a thread that got a signal: its arguments are the signal and the address; where it was is noted.
pub(crate) const TRAPPED: usize = usize::MAX - 2;

thread_local! {
    /// The thread of the program that runs on this thread of the system.
    static RUNNING: Cell<*mut Frame> = const { Cell::new(ptr::null_mut()) };
}

/// The frame of the thread that runs; null if none does.
pub(crate) fn running() -> *mut Frame {
    RUNNING.get()
}

impl Frame {
    /// A thread that has not started. These are the addresses of the functions that are written in Rust.
    pub(crate) fn new(shims: usize) -> Self {
        Frame { shims, ..Frame::default() }
    }

    /// Lets the thread begin with a function, on a stack that ends at `top`, which is aligned to 16.
    ///
    /// # Safety
    /// The stack is mapped and nobody uses it.
    pub(crate) unsafe fn start(&mut self, function: usize, arguments: [usize; 6], top: usize) {
        let stack = top - 24;
        // SAFETY: the caller says that the memory is ours. The function returns to `leave`, which finds
        // the frame above.
        unsafe {
            *(stack as *mut usize) = leave as *const () as usize;
            *((stack + 8) as *mut usize) = ptr::from_mut(self) as usize;
        }
        self.caller = Caller { address: function, stack, registers: [0; 6] };
        self.arguments = arguments;
        self.result = [0, arguments[2] as u64];
    }

    /// Lets the thread run until it calls a hook.
    ///
    /// # Safety
    /// The frame is one at which a thread stands, and `current` is the stub's variable for it.
    pub(crate) unsafe fn run(this: *mut Frame, current: *mut *mut Frame) {
        RUNNING.set(this);
        // SAFETY: as the caller says. The thread's code may do what it likes to its own memory; it has no
        // reference to ours but `this`, to which there is none while it runs.
        unsafe {
            *current = this;
            resume(this);
        }
        RUNNING.set(ptr::null_mut());
    }
}

/// Loads the registers of a frame and goes on there. Returns when the thread calls a hook.
///
/// What a call does not preserve is the same whatever we did meanwhile: hooks that preserve everything put it on the stack, where
/// `spin` compares it. `quick` leaves the same.
#[unsafe(naked)]
unsafe extern "C" fn resume(frame: *mut Frame) {
    naked_asm!(
        "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
        "mov [rdi + {host}], rsp",
        "mov rax, [rdi + {result}]",
        "mov rdx, [rdi + {result} + 8]",
        "mov rbx, [rdi + {registers}]",
        "mov rbp, [rdi + {registers} + 8]",
        "mov r12, [rdi + {registers} + 16]",
        "mov r13, [rdi + {registers} + 24]",
        "mov r14, [rdi + {registers} + 32]",
        "mov r15, [rdi + {registers} + 40]",
        "mov rsp, [rdi + {stack}]",
        "mov r11, [rdi + {address}]",
        "mov rsi, [rdi + {arguments} + 8]",
        "mov rcx, [rdi + {arguments} + 24]",
        "mov r8, [rdi + {arguments} + 32]",
        "mov r9, [rdi + {arguments} + 40]",
        "mov rdi, [rdi + {arguments}]",
        "pxor xmm0, xmm0", "pxor xmm1, xmm1", "pxor xmm2, xmm2", "pxor xmm3, xmm3",
        "pxor xmm4, xmm4", "pxor xmm5, xmm5", "pxor xmm6, xmm6", "pxor xmm7, xmm7",
        "pxor xmm8, xmm8", "pxor xmm9, xmm9", "pxor xmm10, xmm10", "pxor xmm11, xmm11",
        "pxor xmm12, xmm12", "pxor xmm13, xmm13", "pxor xmm14, xmm14", "pxor xmm15, xmm15",
        "xor r10d, r10d",
        "jmp r11",
        host = const offset_of!(Frame, host),
        result = const offset_of!(Frame, result),
        registers = const offset_of!(Frame, caller.registers),
        stack = const offset_of!(Frame, caller.stack),
        address = const offset_of!(Frame, caller.address),
        arguments = const offset_of!(Frame, arguments),
    )
}

/// What a hook of the stub jumps to, with the frame in r10 and its number in r11.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn to_host() {
    naked_asm!(
        "mov rax, [rsp]",
        "mov [r10 + {address}], rax",
        "lea rax, [rsp + 8]",
        "mov [r10 + {stack}], rax",
        "mov [r10 + {registers}], rbx",
        "mov [r10 + {registers} + 8], rbp",
        "mov [r10 + {registers} + 16], r12",
        "mov [r10 + {registers} + 24], r13",
        "mov [r10 + {registers} + 32], r14",
        "mov [r10 + {registers} + 40], r15",
        "mov [r10 + {number}], r11",
        "mov [r10 + {arguments}], rdi",
        "mov [r10 + {arguments} + 8], rsi",
        "mov [r10 + {arguments} + 16], rdx",
        "mov [r10 + {arguments} + 24], rcx",
        "mov [r10 + {arguments} + 32], r8",
        "mov [r10 + {arguments} + 40], r9",
        "mov rsp, [r10 + {host}]",
        // Not a jump: processors predict where the program's call of the hook returns to. This takes it off their list, so
        // that all that returns after this is predicted.
        "lea rax, [rip + {back}]",
        "push rax",
        "ret",
        address = const offset_of!(Frame, caller.address),
        stack = const offset_of!(Frame, caller.stack),
        registers = const offset_of!(Frame, caller.registers),
        number = const offset_of!(Frame, number),
        arguments = const offset_of!(Frame, arguments),
        host = const offset_of!(Frame, host),
        back = sym back,
    )
}

/// The end of [`resume`], on the explorer's stack.
#[unsafe(naked)]
unsafe extern "C" fn back() {
    naked_asm!("pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx", "ret")
}

/// What a library function of the stub jumps to that is written in Rust, with the frame in r10 and its
/// number in r11: notes the caller and goes on there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn to_shim() {
    naked_asm!(
        "mov rax, [rsp]",
        "mov [r10 + {noted}], rax",
        "lea rax, [rsp + 8]",
        "mov [r10 + {noted} + 8], rax",
        "mov [r10 + {noted} + 16], rbx",
        "mov [r10 + {noted} + 24], rbp",
        "mov [r10 + {noted} + 32], r12",
        "mov [r10 + {noted} + 40], r13",
        "mov [r10 + {noted} + 48], r14",
        "mov [r10 + {noted} + 56], r15",
        "mov qword ptr [r10 + {fresh}], 1",
        "mov rax, [r10 + {shims}]",
        "jmp [rax + 8 * r11]",
        noted = const offset_of!(Frame, noted),
        fresh = const offset_of!(Frame, is_fresh),
        shims = const offset_of!(Frame, shims),
    )
}

/// Asks the explorer for something, on the stack of a thread. Returns when it has answered.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn ask(frame: *mut Frame, request: *mut ()) {
    naked_asm!(
        "mov r10, rdi",
        "mov r11, {asked}",
        "jmp {to_host}",
        asked = const ASKED,
        to_host = sym to_host,
    )
}

/// Where the function returns to with which a thread started.
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "mov r10, [rsp]",
        "mov r11, {returned}",
        "mov rdi, rax",
        "jmp {to_host}",
        returned = const RETURNED,
        to_host = sym to_host,
    )
}

/// Makes a thread that got a signal stop, with [`TRAPPED`]. Returns where the system must go on: the
/// instruction and the stack.
///
/// # Safety
/// The frame is that of the thread that runs.
pub(crate) unsafe fn trap(frame: *mut Frame, at: Caller, arguments: [usize; 6]) -> (usize, usize) {
    // SAFETY: the thread is interrupted, and the explorer waits in `resume`.
    let frame = unsafe { &mut *frame };
    frame.number = TRAPPED;
    frame.noted = at;
    frame.arguments = arguments;
    (back as *const () as usize, frame.host)
}
