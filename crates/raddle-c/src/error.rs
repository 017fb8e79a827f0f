//! What can go wrong before a program runs.

use std::fmt;

/// Why a program cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file does not exist, or cannot be read.
    File {
        /// The file.
        file: String,
        /// What the system says.
        why: String,
    },
    /// No compiler was found, or not the one that was asked for.
    NoCompiler(String),
    /// The compiler refused the program. This is what it said.
    Compiler(String),
    /// The program has no function `main`.
    NoMain,
    /// The program does something in its code that cannot be modelled.
    Refused {
        /// Where: file and line.
        place: String,
        /// What.
        what: String,
    },
    /// The system does not let us do what we must.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File { file, why } => write!(f, "cannot read {file}: {why}"),
            Error::NoCompiler(tried) => {
                write!(f, "no C compiler: {tried} (choose one with --cc, or install gcc or clang)")
            }
            Error::Compiler(said) => {
                write!(f, "the compiler refuses the program:\n{}", said.trim_end())
            }
            Error::NoMain => write!(f, "the program has no function main"),
            Error::Refused { place, what } => write!(f, "{place}: {what}"),
            Error::System(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// The system refused something.
    pub(crate) fn system(doing: &str) -> Self {
        Error::System(format!("{doing}: {}", std::io::Error::last_os_error()))
    }
}
