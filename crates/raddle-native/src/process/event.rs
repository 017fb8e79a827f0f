//! Why a guest thread of a process stops.

use super::HostFunction;
use super::refusal::Refused;
use super::status::Status;
use super::syscalls::FutexCall;
use crate::load::Place;
use raddle_cpu::Stop;
use raddle_cpu::memory::Fault;
use std::fmt;

/// Why [`Process::run`](super::Process::run) returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A question of the CPU: an access to shared memory, a fence, `pause`, an access that makes memory shared, or the end of the
    /// budget. See [`Stop`] for what to do before the thread runs on.
    Cpu(Stop),
    /// The guest called a host function. Its arguments are in registers, the return address is on the stack.
    HostCall(HostFunction),
    /// A futex operation. [`Process::return_from_syscall`](super::Process::return_from_syscall) gives its result.
    Futex(FutexCall),
    /// The thread lets others run first. It can run on.
    Yield,
    /// The thread ended by the system call `exit`.
    ThreadExited(i32),
    /// The process ended.
    Exited(Status),
    /// The thread made a fault.
    Fault(Place, Box<Fault>),
    /// The thread did something that is not modelled.
    Refused(Place, Refused),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Cpu(stop) => write!(f, "{stop:?}"),
            Event::HostCall(function) => write!(f, "host function {}", function.0),
            Event::Futex(call) => write!(f, "futex operation {}", call.operation),
            Event::Yield => f.write_str("yield"),
            Event::ThreadExited(status) => write!(f, "end of the thread with status {status}"),
            Event::Exited(status) => write!(f, "end of the process with {status}"),
            Event::Fault(place, fault) => write!(f, "{place}: {fault}"),
            Event::Refused(place, refused) => write!(f, "{place}: {refused}"),
        }
    }
}
