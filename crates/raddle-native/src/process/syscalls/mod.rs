//! System calls, by a table.
//!
//! A call returns a value, changes the guest process, or is handed to whoever runs the guest ([`Effect`]). What is not
//! in the table is refused by name. A call reads and writes guest memory on behalf of its thread: checked, and undone
//! when the thread goes back. Everything that a real kernel would take from the world (time, random numbers,
//! identifiers, limits) is fixed.

mod files;
mod memory;
mod names;
mod process;
mod time;

use super::errno::Errno;
use super::files::File;
use super::kernel::Kernel;
use super::refusal::Refused;
use super::status::Status;
use raddle_cpu::memory::{Denied, Memory, Thread};

/// A futex operation, to be decided by whoever runs the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutexCall {
    /// Address of the 32-bit word.
    pub address: u64,
    /// Operation without the flags `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`: 0 waits, 1 wakes, as in `linux/futex.h`.
    pub operation: u32,
    /// Expected value, or number of threads to wake.
    pub value: u32,
    /// Address of the timeout; 0 for none. For some operations a second number of threads.
    pub timeout: u64,
    /// Address of the second word, for operations that have one.
    pub second: u64,
    /// Third value: a bit set for operations 9 and 10.
    pub third: u32,
}

/// What a system call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The call returns this value in `rax`.
    Return(u64),
    /// The call sets the base of `fs` and returns 0.
    SetFsBase(u64),
    /// The calling thread ends.
    ExitThread(i32),
    /// The process ends.
    ExitProcess(Status),
    /// A futex operation is handed out.
    Futex(FutexCall),
    /// Other threads should run first; the call returns 0.
    Yield,
}

/// Why a call does not return a value of its own.
#[derive(Debug)]
pub(crate) enum Failure {
    Errno(Errno),
    Refused(Refused),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Failure {
        Failure::Errno(errno)
    }
}

type Answer = Result<Effect, Failure>;
type Handler = fn(&mut Call<'_>) -> Answer;

/// A system call that is being made.
pub(crate) struct Call<'a> {
    pub(crate) kernel: &'a mut Kernel,
    pub(crate) memory: &'a mut Memory,
    pub(crate) thread: Thread,
    pub(crate) number: u64,
    /// Arguments in the order of the manual pages.
    pub(crate) args: [u64; 6],
}

/// The calls that are modelled.
#[rustfmt::skip]
const TABLE: [(u64, Handler); 72] = [
    (0, files::read), (1, files::write), (2, files::open), (3, files::close), (4, files::stat), (5, files::fstat),
    (6, files::stat), (7, files::poll), (8, files::lseek),
    (9, memory::mmap), (10, memory::mprotect), (11, memory::munmap), (12, memory::brk),
    (13, process::rt_sigaction), (14, process::rt_sigprocmask), (16, files::ioctl), (17, files::pread64),
    (20, files::writev), (21, files::access), (24, process::sched_yield), (25, memory::mremap), (28, memory::madvise),
    (32, files::dup), (35, time::nanosleep), (39, process::getpid), (60, process::exit), (63, process::uname), (72, files::fcntl),
    (79, files::getcwd),
    (89, files::readlink), (96, time::gettimeofday), (97, process::getrlimit), (98, process::getrusage),
    (99, process::sysinfo), (102, process::user), (104, process::user), (107, process::user), (108, process::user),
    (100, process::times), (110, process::getppid), (131, process::sigaltstack), (157, process::prctl),
    (158, process::arch_prctl), (186, process::gettid), (200, process::tkill), (201, time::time), (202, process::futex),
    (203, process::sched_setaffinity), (204, process::sched_getaffinity), (218, process::set_tid_address), (221, files::fadvise64),
    (228, time::clock_gettime), (229, time::clock_getres), (230, time::clock_nanosleep), (231, process::exit_group),
    (234, process::tgkill), (257, files::openat), (262, files::newfstatat), (267, files::readlinkat),
    (269, files::faccessat), (270, files::pselect), (271, files::ppoll), (273, process::set_robust_list),
    (302, process::prlimit64), (318, process::getrandom), (324, process::membarrier), (332, files::statx),
    (334, process::rseq), (435, process::clone3), (439, files::faccessat), (56, process::clone), (62, process::kill),
];

impl Call<'_> {
    /// Makes the call. An error number becomes the value that the call returns.
    pub(crate) fn run(&mut self) -> Result<Effect, Refused> {
        let entry = TABLE.iter().find(|entry| entry.0 == self.number);
        let Some((_, handler)) = entry else {
            return Err(Refused::SystemCall { number: self.number, name: self.name() });
        };
        match handler(self) {
            Ok(effect) => Ok(effect),
            Err(Failure::Errno(errno)) => Ok(Effect::Return(errno.value())),
            Err(Failure::Refused(refused)) => Err(refused),
        }
    }

    fn name(&self) -> &'static str {
        names::name(self.number)
    }

    /// The refusal of a variant of the call.
    fn refuse(&self, what: &'static str) -> Answer {
        Err(Failure::Refused(Refused::Argument { call: self.name(), what }))
    }

    fn denied(&self, address: u64, denied: &Denied) -> Failure {
        match denied {
            Denied::Fault(_) => Failure::Errno(Errno::EFAULT),
            Denied::Shared | Denied::Owned(..) => {
                Failure::Refused(Refused::SharedBuffer { call: self.name(), address })
            }
        }
    }

    /// What a descriptor refers to.
    fn file(&mut self, descriptor: u64) -> Result<&mut File, Failure> {
        let call = self.name();
        let files = self.kernel.files(self.thread);
        if files.is_of_other(descriptor) {
            let what = "the descriptor belongs to another thread, or was never opened";
            return Err(Failure::Refused(Refused::Argument { call, what }));
        }
        files.get(descriptor).map_err(Failure::Errno)
    }

    fn load(&mut self, address: u64, len: u64) -> Result<Vec<u8>, Failure> {
        // The kernel copies what is readable before it notices an error; nobody asks for more than this.
        let len = usize::try_from(len).ok().filter(|len| *len <= 1 << 28).ok_or(Errno::EFAULT)?;
        let mut bytes = vec![0; len];
        match self.memory.load(self.thread, address, &mut bytes) {
            Ok(()) => Ok(bytes),
            Err(denied) => Err(self.denied(address, &denied)),
        }
    }

    fn load_word(&mut self, address: u64) -> Result<u64, Failure> {
        let mut bytes = [0; 8];
        match self.memory.load(self.thread, address, &mut bytes) {
            Ok(()) => Ok(u64::from_le_bytes(bytes)),
            Err(denied) => Err(self.denied(address, &denied)),
        }
    }

    fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), Failure> {
        let result = self.memory.store(self.thread, address, bytes);
        result.map_err(|denied| self.denied(address, &denied))
    }

    fn store_words(&mut self, address: u64, words: &[u64]) -> Result<(), Failure> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.store(address, &bytes)
    }

    /// Loads a string that ends with a zero byte.
    fn load_string(&mut self, address: u64) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        for at in address..address.saturating_add(4096) {
            let mut byte = [0];
            let result = self.memory.load(self.thread, at, &mut byte);
            result.map_err(|denied| self.denied(at, &denied))?;
            if byte == [0] {
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
            bytes.extend(byte);
        }
        Err(Failure::Errno(Errno::EINVAL))
    }
}

/// A successful call.
fn success() -> Answer {
    Ok(Effect::Return(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_the_table_at_most_once() {
        let mut numbers = TABLE.map(|entry| entry.0);
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
