//! What can go wrong before a program runs.

use std::fmt;

use crate::load::LoadError;
use crate::process::StartError;
use raddle_core::model::Model;

/// Why a program cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A file does not exist or cannot be read.
    File {
        /// The file.
        file: String,
        /// What the system says.
        why: String,
    },
    /// No compiler was found, or not the requested one. Contains the compilers that were tried.
    NoCompiler(String),
    /// The compiler or the linker refused the program. Contains its messages.
    Compiler(String),
    /// The program has no function `main`.
    NoMain,
    /// The files cannot be explored together, or not at all.
    Refused {
        /// The file.
        place: String,
        /// The reason and the remedy.
        what: String,
    },
    /// The model needs memory orders, which machine code does not contain.
    NoMemoryOrders {
        /// The file whose memory orders are unknown.
        file: String,
        /// The model.
        model: Model,
    },
    /// These files are not those of the recorded execution; the program itself has an empty name.
    Changed(Vec<String>),
    /// The operating system refused something that Raddle needs.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File { file, why } => write!(f, "cannot read {file}: {why}"),
            Error::NoCompiler(tried) => {
                write!(f, "no C compiler: {tried} (choose one with --cc, or install gcc or clang)")
            }
            Error::Compiler(messages) => {
                write!(f, "the compiler refuses the program:\n{}", messages.trim_end())
            }
            Error::NoMain => write!(f, "the program has no function main"),
            Error::Refused { place, what } => write!(f, "{place}: {what}"),
            Error::NoMemoryOrders { file, model } => write!(
                f,
                "{file} is machine code, which does not contain the memory orders that {model} needs: \
                 pass the source, compile with -fsanitize=thread, or choose sc, tso or pso"
            ),
            Error::Changed(files) => {
                let name = |file: &String| match file.as_str() {
                    "" => String::from("the program"),
                    file => file.to_owned(),
                };
                let names: Vec<String> = files.iter().map(name).collect();
                write!(f, "not the files of the recorded execution: {}", names.join(", "))
            }
            Error::System(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::System(error.to_string())
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        Error::System(error.to_string())
    }
}

impl From<StartError> for Error {
    fn from(error: StartError) -> Self {
        Error::System(error.to_string())
    }
}
