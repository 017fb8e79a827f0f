//! Rust: what programs are linked with, and how they are recognised.
//!
//! Cargo compiles Rust with the hooks of the thread sanitizer, as the C front end compiles C. The standard library is precompiled
//! without hooks: `program::std_code` says what its instructions mean.

use super::c;
use crate::program::std_code::MARKER;

/// The functions that rustc calls with `-Zsanitizer=thread -Zexternal-clangrt`, as assembly to link a program with.
#[must_use]
pub fn rust_hooks() -> String {
    // In the section of the hooks, so that the linker keeps it.
    format!("{}\t.text\n\t.globl {MARKER}\n\t.type {MARKER},@function\n{MARKER}: ret\n", c::hooks())
}
