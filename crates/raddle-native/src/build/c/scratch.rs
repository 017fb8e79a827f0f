//! Files without names, for what compilers write.
//!
//! A compiler opens such a file through `/proc`. The kernel removes it with the last process that uses it, so nothing is left
//! behind when Raddle is interrupted or killed. Rejected: a temporary directory that is removed at the end, which stays
//! when a signal ends the process.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use crate::build::Error;

/// A file without a name.
#[derive(Debug)]
pub(super) struct Scratch {
    file: File,
}

impl Scratch {
    pub(super) fn new() -> Result<Self, Error> {
        let error = |error| Error::System(format!("cannot create a temporary file: {error}"));
        Ok(Scratch { file: tempfile::tempfile().map_err(error)? })
    }

    /// The path by which child processes open the file. It is valid as long as this value lives.
    pub(super) fn path(&self) -> PathBuf {
        let (process, file) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{file}"))
    }

    /// The contents of the file.
    pub(super) fn into_bytes(mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![];
        self.file.rewind()?;
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
