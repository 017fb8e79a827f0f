//! Helpers shared by all tests: paths, programs given as text, and random numbers.

use std::path::{Path, PathBuf};

use raddle_bmc::{BmcError, BmcOptions, BmcReport, check};
use raddle_core::outcome::Verdict;

/// A path below the directory `corpus` of the workspace.
pub(crate) fn corpus(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(path)
}

/// Checks a program given as text. `configure` sets bounds and model; the defaults are those of [`BmcOptions::new`].
pub(crate) fn check_text(
    text: &str,
    configure: impl Fn(&mut BmcOptions),
) -> Result<BmcReport, BmcError> {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be created");
    let file = directory.path().join("program.c");
    std::fs::write(&file, text).expect("the program can be written");
    let mut options = BmcOptions::new(file);
    configure(&mut options);
    check(&options)
}

/// Returns `true` if the check found a bug.
pub(crate) fn is_bug(report: &BmcReport) -> bool {
    report.outcome.verdict == Verdict::Bug
}

/// The xorshift generator of random numbers. The seed must not be 0.
pub(crate) struct XorShift(pub(crate) u64);

impl XorShift {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number in `0..limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 20) as usize % limit
    }
}
