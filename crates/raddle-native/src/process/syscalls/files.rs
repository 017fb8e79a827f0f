//! Calls about files: the standard streams, and shared objects for the dynamic linker.

use super::super::errno::Errno;
use super::super::files::{self, Contents, File, OpenError, Stream};
use super::super::refusal::Refused;
use super::{Answer, Call, Effect, Failure, success};

/// `AT_FDCWD` as the 32-bit value that libraries pass.
const CURRENT_DIRECTORY: u32 = -100_i32 as u32;
const AT_EMPTY_PATH: u64 = 0x1000;
/// The access mode of `open`, and a flag.
const O_ACCMODE: u64 = 3;
const O_RDONLY: u64 = 0;
const O_WRONLY: u64 = 1;
const O_CREAT: u64 = 0o100;
const O_EXCL: u64 = 0o200;
const TOO_MUCH: &str = "the program writes more than 64 MiB";
const S_IFIFO: u32 = 0o010_600;
const S_IFDIR: u32 = 0o040_755;
const S_IFREG: u32 = 0o100_755;

pub(super) fn read(call: &mut Call<'_>) -> Answer {
    let [descriptor, buffer, len, ..] = call.args;
    let bytes = match call.file(descriptor)? {
        File::Input => return success(),
        File::Output(_) | File::Written(_) => return Err(Errno::EBADF.into()),
        File::Contents(file) => {
            let bytes = part(file, file.position, len).to_vec();
            file.position += bytes.len() as u64;
            bytes
        }
    };
    call.store(buffer, &bytes)?;
    Ok(Effect::Return(bytes.len() as u64))
}

pub(super) fn pread64(call: &mut Call<'_>) -> Answer {
    let [descriptor, buffer, len, offset, ..] = call.args;
    let bytes = match call.file(descriptor)? {
        File::Contents(file) => part(file, offset, len).to_vec(),
        _ => return Err(Errno::ESPIPE.into()),
    };
    call.store(buffer, &bytes)?;
    Ok(Effect::Return(bytes.len() as u64))
}

fn part(file: &Contents, offset: u64, len: u64) -> &[u8] {
    let size = file.data.len() as u64;
    let start = offset.min(size);
    let end = start.saturating_add(len).min(size);
    &file.data[start as usize..end as usize]
}

pub(super) fn write(call: &mut Call<'_>) -> Answer {
    let [descriptor, buffer, len, ..] = call.args;
    let file = call.file(descriptor)?.clone();
    let bytes = call.load(buffer, len)?;
    write_bytes(call, &file, &bytes)
}

/// Adds bytes to what was written to a file. Those to another file than a standard stream begin with its path.
fn write_bytes(call: &mut Call<'_>, file: &File, bytes: &[u8]) -> Answer {
    let has_room = match file {
        File::Output(stream) => call.kernel.write(*stream, bytes),
        File::Written(path) => {
            let line_end: &[u8] = if bytes.ends_with(b"\n") { b"" } else { b"\n" };
            let text = [path.as_bytes(), b": ", bytes, line_end].concat();
            call.kernel.write(Stream::Stdout, &text)
        }
        File::Input | File::Contents(_) => return Err(Errno::EBADF.into()),
    };
    match has_room {
        true => Ok(Effect::Return(bytes.len() as u64)),
        false => call.refuse(TOO_MUCH),
    }
}

pub(super) fn writev(call: &mut Call<'_>) -> Answer {
    let [descriptor, vector, count, ..] = call.args;
    let file = call.file(descriptor)?.clone();
    if count > 1024 {
        return Err(Errno::EINVAL.into());
    }
    let mut bytes = Vec::new();
    for index in 0..count {
        let at = vector.wrapping_add(index * 16);
        let (start, len) = (call.load_word(at)?, call.load_word(at.wrapping_add(8))?);
        bytes.extend(call.load(start, len)?);
    }
    write_bytes(call, &file, &bytes)
}

pub(super) fn close(call: &mut Call<'_>) -> Answer {
    call.file(call.args[0])?;
    call.kernel.files(call.thread).close(call.args[0])?;
    success()
}

/// Advice about a pipe.
pub(super) fn fadvise64(call: &mut Call<'_>) -> Answer {
    call.file(call.args[0])?;
    Err(Errno::ESPIPE.into())
}

pub(super) fn dup(call: &mut Call<'_>) -> Answer {
    Ok(Effect::Return(call.kernel.files(call.thread).duplicate(call.args[0])?))
}

pub(super) fn lseek(call: &mut Call<'_>) -> Answer {
    let [descriptor, offset, whence, ..] = call.args;
    let File::Contents(file) = call.file(descriptor)? else { return Err(Errno::ESPIPE.into()) };
    let base = match whence {
        0 => 0,
        1 => file.position,
        2 => file.data.len() as u64,
        _ => return Err(Errno::EINVAL.into()),
    };
    let position = base.checked_add_signed(offset as i64).ok_or(Errno::EINVAL)?;
    file.position = position;
    Ok(Effect::Return(position))
}

pub(super) fn ioctl(call: &mut Call<'_>) -> Answer {
    /// `TCGETS` and `TIOCGWINSZ`: whether a descriptor is a terminal.
    const TERMINAL: [u64; 2] = [0x5401, 0x5413];
    call.file(call.args[0])?;
    if TERMINAL.contains(&call.args[1]) {
        return Err(Errno::ENOTTY.into());
    }
    call.refuse("only questions about terminals are modelled")
}

pub(super) fn fcntl(call: &mut Call<'_>) -> Answer {
    call.file(call.args[0])?;
    match call.args[1] {
        // F_GETFD, F_SETFD.
        1 => Ok(Effect::Return(0)),
        2 => success(),
        // F_GETFL: the standard streams are read or written.
        3 => Ok(Effect::Return(u64::from(call.args[0] != 0))),
        _ => call.refuse("only flags are modelled"),
    }
}

/// Nothing ever happens on the standard streams, and they are never closed by the other side.
fn poll_nothing(call: &mut Call<'_>, is_immediate: bool) -> Answer {
    let [descriptors, count, ..] = call.args;
    if !is_immediate {
        return call.refuse("waiting for descriptors is not modelled");
    }
    for index in 0..count {
        let at = descriptors.wrapping_add(index * 8);
        let entry = call.load_word(at)?;
        if call.kernel.files(call.thread).get(entry & 0xffff_ffff).is_err()
            || entry >> 32 & 0xffff != 0
        {
            return call.refuse("only questions about errors of the standard streams are modelled");
        }
        call.store(at.wrapping_add(6), &[0, 0])?;
    }
    success()
}

pub(super) fn poll(call: &mut Call<'_>) -> Answer {
    poll_nothing(call, call.args[2] as u32 == 0)
}

pub(super) fn ppoll(call: &mut Call<'_>) -> Answer {
    let timeout = call.args[2];
    let is_immediate = timeout != 0 && call.load(timeout, 16)?.iter().all(|byte| *byte == 0);
    poll_nothing(call, is_immediate)
}

pub(super) fn pselect(call: &mut Call<'_>) -> Answer {
    call.refuse("waiting for descriptors is not modelled")
}

fn refuse_path(call: &Call<'_>, path: String) -> Failure {
    Failure::Refused(Refused::Path { call: call.name(), path })
}

fn open_failure(call: &Call<'_>, path: String, error: OpenError) -> Failure {
    match error {
        OpenError::Errno(errno) => Failure::Errno(errno),
        OpenError::NoFiles => refuse_path(call, path),
    }
}

fn open_path(call: &mut Call<'_>, path: String, flags: u64) -> Answer {
    let files = call.kernel.files(call.thread);
    let opened = match flags & O_ACCMODE {
        O_RDONLY if flags & O_CREAT == 0 => files.open(&path),
        // A file that must be new is a lock between processes or threads.
        O_WRONLY if flags & O_EXCL == 0 && call.kernel.is_explored => {
            call.kernel.files(call.thread).write(&path)
        }
        _ => Err(OpenError::NoFiles),
    };
    match opened {
        Ok(descriptor) => Ok(Effect::Return(descriptor)),
        Err(error) => Err(open_failure(call, path, error)),
    }
}

pub(super) fn open(call: &mut Call<'_>) -> Answer {
    let path = call.load_string(call.args[0])?;
    open_path(call, path, call.args[1])
}

pub(super) fn openat(call: &mut Call<'_>) -> Answer {
    let [directory, path, flags, ..] = call.args;
    let path = call.load_string(path)?;
    if !path.starts_with('/') && directory as u32 != CURRENT_DIRECTORY {
        return Err(refuse_path(call, path));
    }
    open_path(call, path, flags)
}

/// Whether a path exists: answered for shared objects, and for directories while the dynamic linker searches.
fn mode_of(call: &mut Call<'_>, path: &str) -> Result<u32, Failure> {
    if call.kernel.files(call.thread).provided(path).is_some() {
        return Ok(S_IFREG);
    }
    if let Ok(metadata) = std::fs::metadata(path) {
        if metadata.is_dir() && !call.kernel.is_started {
            return Ok(S_IFDIR);
        }
        if metadata.is_file() && files::is_visible(path) {
            return Ok(S_IFREG);
        }
    } else if files::is_visible(path) || !call.kernel.is_started {
        return Err(Errno::ENOENT.into());
    }
    Err(open_failure(call, path.to_owned(), files::absence(path)))
}

fn accessible(call: &mut Call<'_>, path: u64) -> Answer {
    let path = call.load_string(path)?;
    mode_of(call, &path)?;
    success()
}

pub(super) fn access(call: &mut Call<'_>) -> Answer {
    accessible(call, call.args[0])
}

pub(super) fn faccessat(call: &mut Call<'_>) -> Answer {
    accessible(call, call.args[1])
}

/// What `stat` tells: mode, size and inode number.
struct Stat {
    mode: u32,
    size: u64,
    inode: u64,
}

impl Stat {
    /// The layout of `struct stat` on x86-64.
    fn bytes(&self) -> [u8; 144] {
        let mut bytes = [0; 144];
        let mut put = |offset: usize, value: u64, len: usize| {
            bytes[offset..offset + len].copy_from_slice(&value.to_le_bytes()[..len]);
        };
        put(0, 1, 8);
        put(8, self.inode, 8);
        put(16, 1, 8);
        put(24, self.mode.into(), 4);
        put(28, 1000, 4);
        put(32, 1000, 4);
        put(48, self.size, 8);
        put(56, 4096, 8);
        put(64, self.size.div_ceil(512), 8);
        bytes
    }
}

fn stat_descriptor(call: &mut Call<'_>, descriptor: u64, buffer: u64) -> Answer {
    let stat = match call.file(descriptor)? {
        File::Contents(file) => {
            Stat { mode: S_IFREG, size: file.data.len() as u64, inode: 100 + file.inode }
        }
        _ => Stat { mode: S_IFIFO, size: 0, inode: 1 + descriptor },
    };
    call.store(buffer, &stat.bytes())?;
    success()
}

pub(super) fn fstat(call: &mut Call<'_>) -> Answer {
    stat_descriptor(call, call.args[0], call.args[1])
}

pub(super) fn newfstatat(call: &mut Call<'_>) -> Answer {
    let [descriptor, path, buffer, flags, ..] = call.args;
    let path = call.load_string(path)?;
    if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
        return stat_descriptor(call, descriptor, buffer);
    }
    stat_path(call, &path, buffer)
}

fn stat_path(call: &mut Call<'_>, path: &str, buffer: u64) -> Answer {
    let mode = mode_of(call, path)?;
    let provided = call.kernel.files(call.thread).provided(path);
    let size = provided.map_or(0, |data| data.len() as u64);
    call.store(buffer, &Stat { mode, size, inode: 10 }.bytes())?;
    success()
}

pub(super) fn stat(call: &mut Call<'_>) -> Answer {
    let path = call.load_string(call.args[0])?;
    stat_path(call, &path, call.args[1])
}

pub(super) fn statx(call: &mut Call<'_>) -> Answer {
    // Old kernels do not have it; libraries then use `newfstatat`.
    let path = call.load_string(call.args[1])?;
    if path.is_empty() { Err(Errno::ENOSYS.into()) } else { Err(refuse_path(call, path)) }
}

fn link(call: &mut Call<'_>, path: u64, buffer: u64, size: u64) -> Answer {
    let path = call.load_string(path)?;
    if path != "/proc/self/exe" {
        return Err(open_failure(call, path.clone(), files::absence(&path)));
    }
    let name = call.kernel.executable.clone();
    let len = name.len().min(size as usize);
    call.store(buffer, &name.as_bytes()[..len])?;
    Ok(Effect::Return(len as u64))
}

/// The working directory is the root.
pub(super) fn getcwd(call: &mut Call<'_>) -> Answer {
    const ROOT: &[u8] = b"/\0";
    if call.args[1] < ROOT.len() as u64 {
        return Err(Errno::ERANGE.into());
    }
    call.store(call.args[0], ROOT)?;
    Ok(Effect::Return(ROOT.len() as u64))
}

pub(super) fn readlink(call: &mut Call<'_>) -> Answer {
    link(call, call.args[0], call.args[1], call.args[2])
}

pub(super) fn readlinkat(call: &mut Call<'_>) -> Answer {
    link(call, call.args[1], call.args[2], call.args[3])
}
