//! Functions that format text: `printf`, `snprintf` and their relatives.
//!
//! The library's own `vsnprintf` formats into a buffer on the stack of the thread, so strings that threads share are read as the
//! program would, and threads that print share no buffer of the library. The text is then printed or stored. A text that does not fit
//! is formatted again into a larger buffer.

use raddle_core::outcome::FindingKind;

use super::arguments::{List, REGISTERS, check_fields};
use super::errors::ENOMEM;
use super::{FAILED, Names, output};
use crate::program::call::{Call, Step};

/// Size of the first buffer, and the longest text.
const FIRST_ROOM: u64 = 1 << 10;
const LONGEST: u64 = 1 << 20;

/// What happens with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// It is printed.
    Print,
    /// It is stored in a buffer of a size, with a terminating zero.
    Buffer { to: u64, size: u64 },
    /// It is stored in a new block, whose address is stored.
    Block { to: u64 },
}

/// A text that is being formatted. Kept on the stack of the thread.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// The stack pointer of the call.
    stack: u64,
    target: Target,
    format: u64,
    list: List,
}

/// On the stack are the words of the job, the list that `vsnprintf` uses up, the buffer, and saved registers.
const JOB: u64 = 8 * 8;
/// Offset of the buffer.
const BUFFER: u64 = JOB + 32;

/// Address of saved registers, below this stack pointer.
fn registers_below(stack: u64) -> u64 {
    (stack - REGISTERS) & !15
}

impl Job {
    fn store(self, call: &mut Call<'_>, frame: u64) -> Step<()> {
        let (tag, to, size) = match self.target {
            Target::Print => (0, 0, 0),
            Target::Buffer { to, size } => (1, to, size),
            Target::Block { to } => (2, to, 0),
        };
        let [offsets, overflow, registers] = self.list.words();
        let words = [self.stack, tag, to, size, self.format, offsets, overflow, registers];
        call.store_bytes(frame, &words.map(u64::to_le_bytes).concat())
    }

    fn load(call: &mut Call<'_>, frame: u64) -> Step<Job> {
        let mut words = [0; 8];
        for (word, index) in words.iter_mut().zip(0..) {
            *word = call.load(frame + 8 * index, 8)?;
        }
        let [stack, tag, to, size, format, offsets, overflow, registers] = words;
        let target = match tag {
            0 => Target::Print,
            1 => Target::Buffer { to, size },
            _ => Target::Block { to },
        };
        let list = List::from_words([offsets, overflow, registers]);
        Ok(Job { stack, target, format, list })
    }

    /// Formats into a buffer with room for this many bytes, a multiple of 16.
    fn run(self, call: &mut Call<'_>, room: u64) -> Step<u64> {
        let frame = registers_below(self.stack) - room - BUFFER;
        let list = frame + JOB;
        self.store(call, frame)?;
        call.store_bytes(list, &self.list.words().map(u64::to_le_bytes).concat())?;
        call.set_stack(frame);
        let arguments = [frame + BUFFER, room, self.format, list];
        Err(call.call_library("vsnprintf", &arguments, "raddle_formatted", frame))
    }
}

/// `vsnprintf` has returned.
fn formatted(call: &mut Call<'_>) -> Step<u64> {
    let length = call.guest_result() as i32;
    let frame = call.pop_data()?;
    let job = Job::load(call, frame)?;
    let room = registers_below(job.stack) - frame - BUFFER;
    call.set_stack(job.stack);
    let Ok(length) = u64::try_from(length) else { return Ok(FAILED) };
    if length > LONGEST {
        let message = format!("formats a text of {length} bytes; Raddle models at most {LONGEST}");
        return Err(call.refuse(&message));
    }
    if length >= room {
        return job.run(call, (length + 1).next_multiple_of(16));
    }
    let mut text = vec![0; length as usize];
    call.load_bytes(frame + BUFFER, &mut text)?;
    deliver(call, job.target, text)
}

fn deliver(call: &mut Call<'_>, target: Target, mut text: Vec<u8>) -> Step<u64> {
    let length = text.len() as u64;
    match target {
        Target::Print => output::print(call, &text),
        Target::Buffer { size: 0, .. } => {}
        Target::Buffer { to, size } => {
            text.truncate((size - 1).min(length) as usize);
            text.push(0);
            call.store_bytes(to, &text)?;
        }
        Target::Block { to } => {
            let block = call.allocate(length + 1, 16, false)?;
            if block == 0 {
                call.set_errno(ENOMEM)?;
                return Ok(FAILED);
            }
            text.push(0);
            call.store_bytes(block, &text)?;
            call.store(to, 8, block)?;
        }
    }
    Ok(length)
}

/// Formats with the argument `format`. The other arguments follow it, or a list of them does.
fn begin(call: &mut Call<'_>, target: Target, format: usize, has_list: bool) -> Step<u64> {
    let stack = call.stack();
    let list = if has_list {
        let list = call.argument(format + 1)?;
        List::load(call, list)?
    } else {
        List::save(call, registers_below(stack), format as u64 + 1)?
    };
    let format = call.argument(format)?;
    check_fields(call, format, list, LONGEST)?;
    Job { stack, target, format, list }.run(call, FIRST_ROOM)
}

fn print(call: &mut Call<'_>, format: usize, has_list: bool) -> Step<u64> {
    begin(call, Target::Print, format, has_list)
}

/// Prints to a stream; the library prints to those that are not standard ones.
fn print_to(call: &mut Call<'_>, format: usize, has_list: bool) -> Step<u64> {
    let stream = call.argument(0)?;
    if !output::is_standard(call, stream) {
        return Err(call.run_library_code());
    }
    print(call, format, has_list)
}

/// Prints to a file descriptor.
fn print_to_descriptor(call: &mut Call<'_>, format: usize, has_list: bool) -> Step<u64> {
    if !output::is_standard_descriptor(call.argument(0)?) {
        return Err(call.run_library_code());
    }
    print(call, format, has_list)
}

/// Stores in a buffer, whose size is an argument if it is known.
fn store(call: &mut Call<'_>, size: Option<usize>, format: usize, has_list: bool) -> Step<u64> {
    let to = call.argument(0)?;
    let size = match size {
        Some(size) => call.argument(size)?,
        None => u64::MAX,
    };
    begin(call, Target::Buffer { to, size }, format, has_list)
}

/// As [`store`]. The room, argument `room`, must not be smaller than the size.
fn store_checked(
    call: &mut Call<'_>,
    size: Option<usize>,
    room: usize,
    format: usize,
    has_list: bool,
) -> Step<u64> {
    let room = call.argument(room)?;
    if let Some(size) = size
        && call.argument(size)? > room
    {
        return Err(call.fail(FindingKind::Crash, "a function overflows a buffer"));
    }
    store(call, size, format, has_list)
}

fn allocate(call: &mut Call<'_>, format: usize, has_list: bool) -> Step<u64> {
    let to = call.argument(0)?;
    begin(call, Target::Block { to }, format, has_list)
}

pub(super) const TABLE: Names = &[
    ("raddle_formatted", formatted),
    ("printf", |call| print(call, 0, false)),
    ("vprintf", |call| print(call, 0, true)),
    ("__printf_chk", |call| print(call, 1, false)),
    ("__vprintf_chk", |call| print(call, 1, true)),
    ("fprintf", |call| print_to(call, 1, false)),
    ("vfprintf", |call| print_to(call, 1, true)),
    ("__fprintf_chk", |call| print_to(call, 2, false)),
    ("__vfprintf_chk", |call| print_to(call, 2, true)),
    ("dprintf", |call| print_to_descriptor(call, 1, false)),
    ("vdprintf", |call| print_to_descriptor(call, 1, true)),
    ("__dprintf_chk", |call| print_to_descriptor(call, 2, false)),
    ("__vdprintf_chk", |call| print_to_descriptor(call, 2, true)),
    ("sprintf", |call| store(call, None, 1, false)),
    ("vsprintf", |call| store(call, None, 1, true)),
    ("__sprintf_chk", |call| store_checked(call, None, 2, 3, false)),
    ("__vsprintf_chk", |call| store_checked(call, None, 2, 3, true)),
    ("snprintf", |call| store(call, Some(1), 2, false)),
    ("vsnprintf", |call| store(call, Some(1), 2, true)),
    ("__snprintf_chk", |call| store_checked(call, Some(1), 3, 4, false)),
    ("__vsnprintf_chk", |call| store_checked(call, Some(1), 3, 4, true)),
    ("asprintf", |call| allocate(call, 1, false)),
    ("vasprintf", |call| allocate(call, 1, true)),
    ("__asprintf_chk", |call| allocate(call, 2, false)),
    ("__vasprintf_chk", |call| allocate(call, 2, true)),
];
