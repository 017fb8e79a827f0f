//! Kinds of files that a program is made of.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::build::Error;

/// What a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Machine code that is not linked.
    Object,
    /// A linked program.
    Executable,
}

/// Offset and values of the type of an ELF file.
const TYPE: usize = 16;
const RELOCATABLE: u8 = 1;

impl Input {
    /// The kind of a file: machine code by its contents, everything else by its extension.
    pub(super) fn of(file: &Path) -> Result<Self, Error> {
        let extension = file.extension().and_then(|extension| extension.to_str());
        let extension = extension.unwrap_or_default();
        if matches!(extension, "cc" | "cpp" | "cxx" | "C" | "c++") {
            return Ok(Input::Cpp);
        }
        if matches!(extension, "c" | "i") {
            return Ok(Input::C);
        }
        let mut start = [0; TYPE + 1];
        let is_long = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start));
        if is_long.is_err() || !start.starts_with(b"\x7fELF") {
            let what = String::from("neither C or C++ (.c, .i, .cc, .cpp, .cxx) nor an ELF file");
            return Err(Error::Refused { place: file.display().to_string(), what });
        }
        Ok(if start[TYPE] == RELOCATABLE { Input::Object } else { Input::Executable })
    }
}

/// The path of a file as a compiler takes it: never as an option, or as a file with options.
pub(super) fn argument(file: &Path) -> PathBuf {
    let is_option = matches!(file.as_os_str().as_encoded_bytes().first(), Some(b'-' | b'@'));
    if is_option { Path::new(".").join(file) } else { file.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_an_option() {
        let argument = |file| argument(Path::new(file)).display().to_string();
        assert_eq!(argument("-fplugin=evil.so/a.c"), "./-fplugin=evil.so/a.c");
        assert_eq!(argument("@options.c"), "./@options.c");
        assert_eq!(argument("a.c"), "a.c");
    }
}
