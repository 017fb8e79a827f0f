//! The switch from the program to whoever runs it.
//!
//! Everything that the program has at this point is on its stack or in registers that a call
//! preserves. These are put on the stack first, so that the bytes from there on are all of the thread's
//! private state: `spin` compares them.

use crate::fiber::{self, Stop};
use crate::state;

/// Stops the fiber with the question that the context holds. Returns when there is a reply.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(crate) extern "C" fn ask() {
    std::arch::naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rdi, rsp",
        "sub rsp, 8",
        "call {switch}",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        switch = sym switch,
    )
}

/// Stops the fiber with the question that the context holds. Returns when there is a reply.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(crate) extern "C" fn ask() {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x0, sp",
        "bl {switch}",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x29, x30, [sp], #160",
        "ret",
        switch = sym switch,
    )
}

/// `stack` is where the program's own bytes begin.
extern "C" fn switch(stack: usize) {
    let question = state::current().question.take().expect("a fiber asks a question");
    fiber::stop(Stop::Question(question, stack));
}
