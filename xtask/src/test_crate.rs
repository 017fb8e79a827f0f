//! Small crates on disk for tests.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::source::ModuleTree;

/// Writes `files` (path and text) to a temporary directory.
pub(crate) fn write(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Loads the crate with these files; the root is `lib.rs`.
pub(crate) fn load(files: &[(&str, &str)]) -> Result<ModuleTree, String> {
    let dir = write(files);
    load_from(dir.path())
}

fn load_from(dir: &Path) -> Result<ModuleTree, String> {
    ModuleTree::load(&dir.join("lib.rs"), dir)
}
