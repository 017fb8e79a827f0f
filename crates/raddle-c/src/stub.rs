//! The stub: what the program's calls of hooks and library functions are linked with.
//!
//! An entry is two instructions: it puts its number into a register and jumps to the code in `switch`,
//! through variables that are set after loading. Hooks are served on the explorer's stack, unless they can
//! return at once (`quick`); functions of libraries are written in Rust and run on the program's; functions
//! with a variable number of arguments are written in C ([`FUNCTIONS`]).

use std::fmt::Write;

use crate::libc_functions::GUARDED;
use crate::{hooks, quick, shims, switch, symbols};

/// Library functions in C.
pub(crate) const FUNCTIONS: &str = include_str!("../stub/functions.c");
/// Functions of the C++ library, which are compiled like the program.
pub(crate) const RUNTIME: &str = include_str!("../stub/runtime.cpp");

const COMMON: &str = "
    .text
raddle_hook:
    movq raddle_current(%rip), %r10
    jmp *raddle_to_host(%rip)
raddle_shim:
    movq raddle_current(%rip), %r10
    jmp *raddle_to_shim(%rip)

    .data
    .balign 8
    .globl raddle_current, raddle_to_host, raddle_to_shim, raddle_real
raddle_current: .quad 0
raddle_to_host: .quad 0
raddle_to_shim: .quad 0
    .globl __dso_handle
    .hidden __dso_handle
__dso_handle: .quad 0
    .bss
    .balign 16
    .globl raddle_threads, raddle_exits
raddle_threads: .skip 4096
raddle_exits: .skip 2064
    .section .note.GNU-stack,\"\",@progbits
";

/// Where the caller's return address is above the stack pointer of a guarded function's hook.
pub(crate) const ABOVE_SAVED: usize = 344;

/// The body of hooks that preserve all registers. Above the stack pointer are the number of the hook and the
/// return address.
fn saved() -> String {
    let general = ["rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11"];
    let mut out = String::from("raddle_saved:\n    pushfq\n");
    general.iter().for_each(|name| _ = writeln!(out, "    pushq %{name}"));
    out += "    subq $256, %rsp\n";
    (0..16).for_each(|at| _ = writeln!(out, "    movups %xmm{at}, {}(%rsp)", 16 * at));
    let _ = writeln!(
        out,
        "    movl 328(%rsp), %r11d\n    movq raddle_current(%rip), %r10\n    movq 336(%rsp), %rax\n    \
         movq %rax, {}(%r10)\n    call *raddle_to_host(%rip)",
        switch::SITE
    );
    (0..16).for_each(|at| _ = writeln!(out, "    movups {}(%rsp), %xmm{at}", 16 * at));
    out += "    addq $256, %rsp\n";
    general.iter().rev().for_each(|name| _ = writeln!(out, "    popq %{name}"));
    out + "    popfq\n    leaq 8(%rsp), %rsp\n    ret\n"
}

/// The entries of all hooks and library functions, and of those that are refused when they are called.
pub(crate) fn entries(refused: &[String]) -> String {
    let mut out = String::from("    .text\n");
    for (number, hook) in hooks::table().iter().enumerate() {
        if hook.is_inserted {
            let name = &hook.name;
            let _ = writeln!(
                out,
                "    .globl {name}\n    .hidden {name}\n{name}:\n    pushq ${number}\n    \
                 jmp {}",
                quick::target(hook)
            );
        } else {
            entry(&mut out, &hook.name, number, quick::target(hook));
        }
    }
    for (number, name) in refused.iter().enumerate() {
        // Not weak: it counts even if a library that is linked with the program has the function.
        let _ = writeln!(out, "    .globl {name}");
        code(&mut out, name, hooks::table().len() + number, "raddle_hook");
    }
    for (number, name) in symbols::guarded() {
        guard(&mut out, name, number);
    }
    let _ = writeln!(out, "    .bss\n    .balign 8\nraddle_real: .skip {}", 8 * GUARDED.len());
    out += "    .text\n";
    for (number, shim) in shims::table().iter().enumerate() {
        entry(&mut out, shim.name, number, "raddle_shim");
    }
    out + &saved() + &quick::code() + COMMON
}

/// A function of the C library that is called if the explorer does not mind.
fn guard(out: &mut String, name: &str, number: usize) {
    let (hook, offset) = (hooks::FIRST_GUARDED + number, 8 * number);
    let _ = writeln!(
        out,
        "    .weak {name}\n    .hidden {name}\n    .type {name}, @function\n\
         {name}:\n    call 1f\n    jmp *raddle_real+{offset}(%rip)\n1:  pushq ${hook}\n    jmp raddle_saved"
    );
}

/// An entry that counts unless the program has such a function itself.
fn entry(out: &mut String, name: &str, number: usize, target: &str) {
    let _ = writeln!(out, "    .weak {name}");
    code(out, name, number, target);
}

fn code(out: &mut String, name: &str, number: usize, target: &str) {
    let _ = writeln!(
        out,
        "    .hidden {name}\n    .type {name}, @function\n\
         {name}:\n    movl ${number}, %r11d\n    jmp {target}"
    );
}
