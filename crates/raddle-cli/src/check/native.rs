//! C and C++ programs.

use std::path::Path;

use super::front_end::{FrontEnd, LoadError};

/// Reads a C or C++ program, or a shared object.
pub(super) fn load(_path: &Path) -> Result<Box<dyn FrontEnd>, LoadError> {
    Err(LoadError::new("C and C++ programs cannot be checked yet: expected a .litmus file"))
}
