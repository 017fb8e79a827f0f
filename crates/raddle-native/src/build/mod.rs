//! From files to a program that can be loaded.
//!
//! This module is the only one that knows programming languages: [`build`] turns a [`Source`] into an [`Object`], an
//! ELF executable in memory. No temporary file has a name (`c::scratch`), so nothing is left behind however the process
//! ends.

mod c;
mod error;
mod object;
mod rust;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use c::first_harmful_flag;
pub use error::Error;
pub use object::{MemoryOrders, Object};
pub use rust::rust_hooks;

/// What to build, and how.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Source {
    /// C and C++ files, object files (`.o`), or one executable.
    pub files: Vec<PathBuf>,
    /// More flags for the compiler.
    pub flags: Vec<String>,
    /// The compiler; by default gcc if there is one, otherwise clang.
    pub compiler: Option<String>,
}

/// Builds a program, to be explored any number of times.
///
/// # Errors
/// If a file cannot be read, there is no compiler, or the compiler or linker refuses the program.
pub fn build(source: &Source) -> Result<Object, Error> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let what = "compiled programs can be explored on Linux on x86-64 only";
        return Err(Error::System(String::from(what)));
    }
    for file in &source.files {
        if let Err(error) = std::fs::File::open(file) {
            return Err(Error::File { file: file.display().to_string(), why: error.to_string() });
        }
    }
    c::build(source)
}
