//! The files that a guest sees: three standard streams, and shared objects for the dynamic linker.
//!
//! The guest has no file system. It may open what the dynamic linker needs: `ld.so.cache` and ELF shared objects. A fixed list of
//! optional configuration (locales, time zones, character sets, preloaded libraries) is absent for every guest, so that its
//! behaviour does not depend on the host. Any other path is refused.

use super::errno::Errno;
use crate::load::Elf;
use std::path::Path;
use std::sync::Arc;

/// Where optional configuration would be that no guest has.
const ABSENT: [&str; 9] = [
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/usr/lib/locale",
    "/usr/share/locale",
    "/usr/lib/x86_64-linux-gnu/gconv",
    "/etc/suid-debug",
    "/proc/self/maps",
    "/sys/fs/cgroup",
];

/// Configuration of the dynamic linker, which says where libraries are.
const CACHE: &str = "/etc/ld.so.cache";

/// What an open file descriptor refers to.
#[derive(Clone, Debug)]
pub(crate) enum File {
    /// Standard input: always at its end.
    Input,
    /// Standard output (1) and standard error (2): collected.
    Output(Stream),
    /// Read-only contents: a shared object, or the cache of the dynamic linker.
    Contents(Contents),
}

/// A standard stream that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// File descriptor 1.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

/// An open file with contents.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub(crate) path: Arc<str>,
    pub(crate) data: Arc<Vec<u8>>,
    pub(crate) position: u64,
    /// Index in order of opening: the inode number.
    pub(crate) inode: u64,
}

/// Why a path cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenError {
    /// The guest gets an error number.
    Errno(Errno),
    /// The guest has no access to files; the execution ends.
    NoFiles,
}

/// Open file descriptors.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    open: Vec<Option<File>>,
    /// Paths that were opened, by inode number.
    known: Vec<(Arc<str>, Arc<Vec<u8>>)>,
    /// Files that exist for the guest only.
    provided: Vec<(Arc<str>, Arc<Vec<u8>>)>,
}

impl Files {
    pub(crate) fn new() -> Files {
        let streams = [File::Input, File::Output(Stream::Stdout), File::Output(Stream::Stderr)];
        Files { open: streams.map(Some).into(), known: Vec::new(), provided: Vec::new() }
    }

    /// Adds a file that exists for the guest only.
    pub(crate) fn provide(&mut self, path: &str, data: Arc<Vec<u8>>) {
        self.provided.push((path.into(), data));
    }

    pub(crate) fn get(&mut self, descriptor: u64) -> Result<&mut File, Errno> {
        let index = usize::try_from(descriptor).map_err(|_| Errno::EBADF)?;
        self.open.get_mut(index).and_then(Option::as_mut).ok_or(Errno::EBADF)
    }

    pub(crate) fn close(&mut self, descriptor: u64) -> Result<(), Errno> {
        self.get(descriptor)?;
        self.open[descriptor as usize] = None;
        Ok(())
    }

    /// Duplicates a descriptor. Returns the new one.
    pub(crate) fn duplicate(&mut self, descriptor: u64) -> Result<u64, Errno> {
        let file = self.get(descriptor)?.clone();
        Ok(self.add(file))
    }

    /// Gives a file the smallest free descriptor.
    fn add(&mut self, file: File) -> u64 {
        let free = self.open.iter().position(Option::is_none);
        let descriptor = free.unwrap_or(self.open.len());
        if free.is_none() {
            self.open.push(None);
        }
        self.open[descriptor] = Some(file);
        descriptor as u64
    }

    /// Opens a file for reading.
    pub(crate) fn open(&mut self, path: &str) -> Result<u64, OpenError> {
        let inode = match self.known.iter().position(|known| &*known.0 == path) {
            Some(inode) => inode,
            None => {
                let data = self.contents(path)?;
                self.known.push((path.into(), data));
                self.known.len() - 1
            }
        };
        let (path, data) = self.known[inode].clone();
        let contents = Contents { path, data, position: 0, inode: inode as u64 + 1 };
        Ok(self.add(File::Contents(contents)))
    }

    fn contents(&self, path: &str) -> Result<Arc<Vec<u8>>, OpenError> {
        if let Some(provided) = self.provided.iter().find(|provided| &*provided.0 == path) {
            return Ok(provided.1.clone());
        }
        if !is_visible(path) {
            return Err(absence(path));
        }
        let data = std::fs::read(path).map_err(|_| OpenError::Errno(Errno::ENOENT))?;
        let data = Arc::new(data);
        if path != CACHE && Elf::parse(path.into(), &data).is_err() {
            return Err(OpenError::NoFiles);
        }
        Ok(data)
    }
}

/// Whether the guest may learn whether a path exists.
pub(crate) fn is_visible(path: &str) -> bool {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    path == CACHE || name.ends_with(".so") || name.contains(".so.")
}

/// What the guest learns about a path that is not visible.
pub(crate) fn absence(path: &str) -> OpenError {
    let is_absent = ABSENT.iter().any(|absent| {
        path.strip_prefix(absent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if is_absent { OpenError::Errno(Errno::ENOENT) } else { OpenError::NoFiles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_objects_and_the_cache_are_opened() {
        let mut files = Files::new();
        assert_eq!(files.open("/etc/passwd"), Err(OpenError::NoFiles));
        assert_eq!(files.open("/etc/localtime"), Err(OpenError::Errno(Errno::ENOENT)));
        assert_eq!(
            files.open("/usr/lib/locale/C.utf8/LC_CTYPE"),
            Err(OpenError::Errno(Errno::ENOENT))
        );
        assert_eq!(files.open("/no/such/library.so.6"), Err(OpenError::Errno(Errno::ENOENT)));
        let text = tempfile::Builder::new().suffix(".so").tempfile().expect("a temporary file");
        let path = text.path().to_string_lossy().into_owned();
        assert_eq!(files.open(&path), Err(OpenError::NoFiles));
    }

    #[test]
    fn descriptors_are_reused_from_the_smallest() {
        let mut files = Files::new();
        files.provide("/guest/a.so", Arc::new(vec![1, 2]));
        assert_eq!(files.open("/guest/a.so"), Ok(3));
        assert_eq!(files.open("/guest/a.so"), Ok(4));
        assert_eq!(files.close(3), Ok(()));
        assert_eq!(files.close(3), Err(Errno::EBADF));
        assert_eq!(files.open("/guest/a.so"), Ok(3));
    }
}
