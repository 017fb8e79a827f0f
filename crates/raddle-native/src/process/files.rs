//! The files that a guest sees: three standard streams, shared objects for the dynamic linker, and what the user provides.
//!
//! The guest has no file system. It may open what the dynamic linker needs: `ld.so.cache` and ELF shared objects. A fixed list of
//! optional configuration (locales, time zones, character sets, preloaded libraries) is absent for every guest, so that its
//! behaviour does not depend on the host. Provided files have the contents that they had when the program was loaded. Any other
//! path is refused for reading. What is written to a file is collected as output.
//!
//! In an exploration each thread has descriptors of its own ([`Files::of_thread`]), as it goes back without the others. A
//! descriptor of another thread is refused.

use super::errno::Errno;
use crate::load::Elf;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
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

/// A file that a program may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadableFile {
    /// Its path from the root.
    pub path: String,
    /// What it contains.
    pub contents: Arc<Vec<u8>>,
}

impl ReadableFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no file.
    pub fn read(path: &Path) -> std::io::Result<ReadableFile> {
        let contents = Arc::new(std::fs::read(path)?);
        Ok(ReadableFile { path: absolute(&path.to_string_lossy()), contents })
    }
}

/// What an open file descriptor refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum File {
    /// Standard input: always at its end.
    Input,
    /// Standard output (1) and standard error (2): collected.
    Output(Stream),
    /// Read-only contents: a shared object, the cache of the dynamic linker, or a provided file.
    Contents(Contents),
    /// A file that is only written, by this path: collected with standard output.
    Written(Arc<str>),
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A path with the contents of its file.
type Known = (Arc<str>, Arc<Vec<u8>>);

/// Open file descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    open: BTreeMap<u64, File>,
    /// The first descriptor that is given to a file.
    first: u64,
    /// Paths that were opened, by inode number.
    known: Vec<Known>,
    /// Files that exist for the guest only, and those that the user provides.
    provided: Vec<Known>,
}

/// The number of descriptors that a thread may have.
const PER_THREAD: u64 = 256;

impl Files {
    pub(crate) fn new() -> Files {
        let streams = [File::Input, File::Output(Stream::Stdout), File::Output(Stream::Stderr)];
        let open = (0..).zip(streams).collect();
        Files { open, first: 0, known: Vec::new(), provided: Vec::new() }
    }

    /// The descriptors of a thread that has opened nothing, if these are those of the process.
    pub(crate) fn of_thread(&self, thread: usize) -> Files {
        Files { first: thread as u64 * PER_THREAD, ..self.clone() }
    }

    /// Adds a file that exists for the guest only.
    pub(crate) fn provide(&mut self, path: &str, data: Arc<Vec<u8>>) {
        self.provided.push((path.into(), data));
    }

    pub(crate) fn get(&mut self, descriptor: u64) -> Result<&mut File, Errno> {
        self.open.get_mut(&descriptor).ok_or(Errno::EBADF)
    }

    /// Returns `true` if only another thread can have opened a descriptor.
    pub(crate) fn is_of_other(&self, descriptor: u64) -> bool {
        let own = self.first..self.first + PER_THREAD;
        !own.contains(&descriptor) && descriptor > 2 && descriptor < 1 << 20
    }

    pub(crate) fn close(&mut self, descriptor: u64) -> Result<(), Errno> {
        self.open.remove(&descriptor).map(|_| ()).ok_or(Errno::EBADF)
    }

    /// Duplicates a descriptor. Returns the new one.
    pub(crate) fn duplicate(&mut self, descriptor: u64) -> Result<u64, Errno> {
        let file = self.get(descriptor)?.clone();
        self.add(file)
    }

    /// Gives a file the smallest free descriptor.
    fn add(&mut self, file: File) -> Result<u64, Errno> {
        let mut own = self.first..self.first + PER_THREAD;
        let descriptor = own.find(|it| !self.open.contains_key(it)).ok_or(Errno::EMFILE)?;
        self.open.insert(descriptor, file);
        Ok(descriptor)
    }

    /// Opens a file for writing. One that is provided for reading is refused.
    pub(crate) fn write(&mut self, path: &str) -> Result<u64, OpenError> {
        match self.provided(path) {
            Some(_) => Err(OpenError::NoFiles),
            None => self.add(File::Written(path.into())).map_err(OpenError::Errno),
        }
    }

    /// The contents of a provided file.
    pub(crate) fn provided(&self, path: &str) -> Option<&Arc<Vec<u8>>> {
        let path = absolute(path);
        let provided = self.provided.iter().find(|(provided, _)| **provided == *path);
        provided.map(|(_, data)| data)
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
        self.add(File::Contents(contents)).map_err(OpenError::Errno)
    }

    fn contents(&self, path: &str) -> Result<Arc<Vec<u8>>, OpenError> {
        if let Some(provided) = self.provided(path) {
            return Ok(provided.clone());
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

/// A path from the root, without `.` and `..`.
pub(crate) fn absolute(path: &str) -> String {
    let directory = std::env::current_dir().unwrap_or_default();
    let mut parts: Vec<Component<'_>> = vec![];
    let joined = directory.join(path);
    for part in joined.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.iter().collect::<PathBuf>().to_string_lossy().into_owned()
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
    fn provided_files_are_read_and_others_written() {
        let mut files = Files::new();
        files.provide(&absolute("a/b.txt"), Arc::new(vec![1]));
        assert_eq!(files.open("a/./c/../b.txt"), Ok(3));
        assert_eq!(files.write("a/b.txt"), Err(OpenError::NoFiles));
        assert_eq!(files.write("a/c.txt"), Ok(4));
        let mut of_thread = files.of_thread(2);
        assert_eq!(of_thread.write("d"), Ok(512));
        assert!(of_thread.is_of_other(5) && files.is_of_other(512) && !files.is_of_other(5));
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
