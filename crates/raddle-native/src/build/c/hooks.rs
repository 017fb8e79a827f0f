//! The functions that `-fsanitize=thread` calls, as assembly: it is written without the user's headers and linked with the
//! program.
//!
//! Hooks of plain accesses return at once. Our own compilation removes their calls; object files of the user have them. Hooks of atomic
//! operations and marks are intercepted by address and never run. All are weak: the same hook may be in several files.

use std::fmt::Write;

/// Hooks without a size that return at once.
const OTHERS: [&str; 10] = [
    "init",
    "func_entry",
    "func_exit",
    "read_range",
    "write_range",
    "vptr_read",
    "vptr_update",
    "atomic_signal_fence",
    "ignore_thread_begin",
    "ignore_thread_end",
];

/// Operations of atomic hooks.
const ATOMIC: [&str; 12] = [
    "load",
    "store",
    "exchange",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
    "fetch_nand",
    "compare_exchange_strong",
    "compare_exchange_weak",
    "compare_exchange_val",
];

/// Functions of the C library that hooks stand for.
const COPIES: [&str; 3] = ["memcpy", "memmove", "memset"];

/// The assembly of all hooks, to be appended to that of a file.
pub(in crate::build) fn assembly() -> String {
    let mut text = String::from("\t.text\n");
    for name in OTHERS {
        define(&mut text, name, "ret");
    }
    for size in [1, 2, 4, 8, 16] {
        for prefix in ["", "unaligned_", "volatile_", "unaligned_volatile_"] {
            for access in ["read", "write", "read_write"] {
                define(&mut text, &format!("{prefix}{access}{size}"), "ret");
            }
        }
        define(&mut text, &format!("{}{size}", super::marks::ATOMIC_READ), "ud2");
        define(&mut text, &format!("{}{}", super::marks::WEAK, 8 * size), "ud2");
        for operation in ATOMIC {
            define(&mut text, &format!("atomic{}_{operation}", 8 * size), "ud2");
        }
    }
    define(&mut text, "atomic_thread_fence", "ud2");
    for name in COPIES {
        define(&mut text, name, &format!("jmp {name}@PLT"));
    }
    text += "\t.section .note.GNU-stack,\"\",@progbits\n";
    text
}

fn define(text: &mut String, name: &str, code: &str) {
    let name = format!("__tsan_{name}");
    let _ = writeln!(
        text,
        "\t.weak {name}\n\t.hidden {name}\n\t.type {name},@function\n{name}: .cfi_startproc\n\t{code}\n\t.cfi_endproc\n\t.size {name},.-{name}"
    );
}
