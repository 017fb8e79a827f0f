//! What a program prints. It is kept with the execution and shown only if that fails. Functions with a variable number
//! of arguments are in `stub/functions.c`.

use std::ffi::{c_char, c_int};

use super::{errno, strings};
use crate::ops;

fn print(text: usize, length: usize) {
    ops::read_bytes(text, length);
    // SAFETY: the program, or the stub, has so many bytes there.
    let bytes = unsafe { std::slice::from_raw_parts(text as *const u8, length) };
    print_bytes(bytes);
}

fn print_bytes(bytes: &[u8]) {
    ops::print(&String::from_utf8_lossy(bytes));
}

/// What `stub/functions.c` has formatted.
pub(super) extern "C" fn raddle_print(text: usize, length: usize) {
    print(text, length);
}

/// What was read is used until this is called again.
pub(super) extern "C" fn raddle_hold(holds: c_int) {
    ops::hold(holds != 0);
}

/// The program is about to read this string.
pub(super) extern "C" fn raddle_read_string(text: usize, most: usize) {
    if text != 0 {
        let length = strings::strnlen(text, most);
        ops::read_bytes(text, length.saturating_add(1).min(most));
    }
}

/// The program is about to write these bytes.
pub(super) extern "C" fn raddle_write_bytes(to: usize, size: usize) {
    ops::write_bytes(to, size);
}

/// What the stub refuses.
pub(super) extern "C" fn raddle_refuse(message: *const c_char) -> ! {
    // SAFETY: the stub hands in a string.
    let message = unsafe { std::ffi::CStr::from_ptr(message) };
    ops::refuse(message.to_str().unwrap_or("does what Raddle does not model"))
}

pub(super) extern "C" fn puts(text: usize) -> c_int {
    print(text, strings::strlen(text));
    putchar('\n' as c_int)
}

pub(super) extern "C" fn putchar(character: c_int) -> c_int {
    print_bytes(&[character as u8]);
    character
}

pub(super) extern "C" fn fflush(_stream: usize) -> c_int {
    0
}

pub(super) extern "C" fn perror(text: usize) {
    print(text, strings::strlen(text));
    print_bytes(b": error\n");
}

/// The file descriptors of what is printed.
pub(super) extern "C" fn write(file: c_int, text: usize, length: usize) -> i64 {
    if !matches!(file, 1 | 2) {
        return errno::fail(libc::EBADF).into();
    }
    print(text, length);
    length as i64
}
