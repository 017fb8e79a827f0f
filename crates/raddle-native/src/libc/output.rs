//! What a program prints. It is kept with the execution and shown only if that fails.

use super::Names;
use crate::program::call::{Call, Step};

/// The longest text that is printed at once.
const LONGEST: u64 = 1 << 20;

/// Prints a text that was loaded. Must come after the last question of a function.
pub(super) fn print(call: &mut Call<'_>, text: &[u8]) {
    call.print(&String::from_utf8_lossy(text));
}

/// Returns `true` if a stream is the standard output or the standard error.
pub(super) fn is_standard(call: &Call<'_>, stream: u64) -> bool {
    let process = &call.program.process;
    ["_IO_2_1_stdout_", "_IO_2_1_stderr_"]
        .iter()
        .any(|name| process.address_of(name) == Some(stream))
}

/// Returns `true` if a file descriptor is that of the standard output or the standard error.
pub(super) fn is_standard_descriptor(descriptor: u64) -> bool {
    matches!(descriptor as u32, 1 | 2)
}

/// Loads a text that is printed.
fn load(call: &mut Call<'_>, from: u64, size: u64) -> Step<Vec<u8>> {
    if size > LONGEST {
        let message = format!("prints {size} bytes at once; Raddle models at most {LONGEST}");
        return Err(call.refuse(&message));
    }
    let mut text = vec![0; size as usize];
    call.load_bytes(from, &mut text)?;
    Ok(text)
}

fn load_string(call: &mut Call<'_>, from: u64) -> Step<Vec<u8>> {
    let length = call.string_length(from, u64::MAX)?;
    load(call, from, length)
}

fn puts(call: &mut Call<'_>) -> Step<u64> {
    let text = call.argument(0)?;
    let mut text = load_string(call, text)?;
    text.push(b'\n');
    print(call, &text);
    Ok(text.len() as u64)
}

fn putchar(call: &mut Call<'_>) -> Step<u64> {
    let character = call.argument(0)? as u8;
    print(call, &[character]);
    Ok(character.into())
}

/// `fputs(text, stream)`.
fn fputs(call: &mut Call<'_>) -> Step<u64> {
    let (text, stream) = (call.argument(0)?, call.argument(1)?);
    if !is_standard(call, stream) {
        return Err(call.run_library_code());
    }
    let text = load_string(call, text)?;
    print(call, &text);
    Ok(1)
}

/// `fputc(character, stream)`.
fn fputc(call: &mut Call<'_>) -> Step<u64> {
    let stream = call.argument(1)?;
    if !is_standard(call, stream) {
        return Err(call.run_library_code());
    }
    putchar(call)
}

/// `fwrite(from, size, count, stream)`.
fn fwrite(call: &mut Call<'_>) -> Step<u64> {
    let (from, size) = (call.argument(0)?, call.argument(1)?);
    let (count, stream) = (call.argument(2)?, call.argument(3)?);
    if !is_standard(call, stream) {
        return Err(call.run_library_code());
    }
    let text = load(call, from, size.saturating_mul(count))?;
    print(call, &text);
    Ok(count)
}

fn fflush(call: &mut Call<'_>) -> Step<u64> {
    let stream = call.argument(0)?;
    if stream == 0 || is_standard(call, stream) {
        return Ok(0);
    }
    Err(call.run_library_code())
}

fn perror(call: &mut Call<'_>) -> Step<u64> {
    let text = call.argument(0)?;
    let mut text = if text == 0 { vec![] } else { load_string(call, text)? };
    text.extend(b": error\n");
    print(call, &text);
    Ok(0)
}

/// `write(descriptor, text, size)`.
pub(super) fn write(call: &mut Call<'_>) -> Step<u64> {
    let (descriptor, text, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    if !is_standard_descriptor(descriptor) {
        return Err(call.run_library_code());
    }
    let text = load(call, text, size)?;
    print(call, &text);
    Ok(size)
}

pub(super) const TABLE: Names = &[
    ("puts", puts),
    ("putchar", putchar),
    ("putchar_unlocked", putchar),
    ("fputs", fputs),
    ("fputs_unlocked", fputs),
    ("fputc", fputc),
    ("fputc_unlocked", fputc),
    ("putc", fputc),
    ("putc_unlocked", fputc),
    ("_IO_putc", fputc),
    ("fwrite", fwrite),
    ("fwrite_unlocked", fwrite),
    ("fflush", fflush),
    ("fflush_unlocked", fflush),
    ("perror", perror),
];
