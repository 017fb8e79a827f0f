//! Refusals: what a guest may not do, or what is not modelled.

use crate::openmp;
use raddle_cpu::Refusal;
use std::fmt;
use std::sync::Arc;

/// What a guest did that is refused. Nothing is refused before it is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A system call that is not modelled.
    SystemCall {
        /// Its number.
        number: u64,
        /// Its name.
        name: &'static str,
    },
    /// A system call with an argument that is not modelled.
    Argument {
        /// Name of the system call.
        call: &'static str,
        /// What is not modelled.
        what: &'static str,
    },
    /// A system call that would access the file system.
    Path {
        /// Name of the system call.
        call: &'static str,
        /// The path.
        path: String,
    },
    /// A system call whose buffer is shared by threads or belongs to another one.
    SharedBuffer {
        /// Name of the system call.
        call: &'static str,
        /// Address of the buffer.
        address: u64,
    },
    /// A function that no module defines.
    MissingFunction(Arc<str>),
    /// An instruction that the CPU does not implement.
    Instruction(Box<Refusal>),
    /// A jump to the address of a host function that does not exist.
    NoHostFunction(u32),
    /// A call of a guest function by the host while the guest's stack cannot be written.
    CallWithoutStack,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::SystemCall { number, name } => {
                write!(f, "system call `{name}` ({number}) is not modelled")
            }
            Refused::Argument { call, what } => write!(f, "system call `{call}`: {what}"),
            Refused::Path { call, path } => {
                write!(
                    f,
                    "system call `{call}` on {path:?}: files are only written, or read if --allow-read names them"
                )
            }
            Refused::SharedBuffer { call, address } => {
                write!(f, "system call `{call}`: its buffer at {address:#x} is shared by threads")
            }
            Refused::MissingFunction(name) if openmp::is_function(name) => {
                write!(f, "function `{name}`: {}", openmp::REASON)
            }
            Refused::MissingFunction(name) => {
                write!(f, "function `{name}` is defined in no object: link the library that has it")
            }
            Refused::Instruction(refusal) => refusal.fmt(f),
            Refused::NoHostFunction(id) => write!(f, "there is no host function {id}"),
            Refused::CallWithoutStack => f.write_str("a guest function cannot be called: no stack"),
        }
    }
}
