//! Checkpoint files: which exploration they belong to, and who may use them.

use std::fs::{self, File, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use raddle_explore::parallel::checkpoint::new_file;
use raddle_native::{Environment, Object, Request};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::args::CheckArgs;
use crate::input;

/// A line that identifies an exploration: the version of Raddle, the model, whether it is exact, the environment, the files, flags and arguments, the compiler, and a
/// hash of the linked program, which includes every header, and of each file that the program may read.
pub(super) fn fingerprint(object: &Object, request: &Request) -> String {
    let source = &request.source;
    let names = source.files.iter().map(|file| file.display().to_string());
    let words = names.chain(source.flags.iter().cloned()).chain(source.compiler.iter().cloned());
    let words = words.chain([String::from("--")]).chain(request.arguments.iter().cloned());
    let words: Vec<String> = words.collect();
    let (version, model, built) = (env!("CARGO_PKG_VERSION"), request.model, object.fingerprint());
    let exact = if request.exact { ", exact" } else { "" };
    let environment = match request.environment {
        it if it == Environment::default() => String::new(),
        it => format!(", {it:?}"),
    };
    let read: String = request.readable.iter().map(|file| contents(file)).collect();
    format!("raddle {version}, {model}{exact}{environment}{read}: {}, {built}", words.join(" "))
}

/// What identifies a file that the program may read.
fn contents(file: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    fs::read(file).ok().hash(&mut hasher);
    format!(", {} {:x}", file.display(), hasher.finish())
}

/// The file that is locked while a run uses a checkpoint. The checkpoint itself is replaced as a whole, so a lock on it would be
/// lost.
pub(super) fn lock_file(checkpoint: &Path) -> PathBuf {
    let mut file = checkpoint.to_owned().into_os_string();
    file.push(".lock");
    PathBuf::from(file)
}

/// Keeps other runs from using the same checkpoint. The operating system removes the lock when this process ends, however that
/// happens.
pub(super) struct CheckpointLock {
    path: PathBuf,
    checkpoint: PathBuf,
    _file: File,
}

impl CheckpointLock {
    /// Locks the file of `--checkpoint`, if there is one, and refuses a file of `--resume` that another run uses.
    pub(super) fn acquire(args: &CheckArgs) -> Result<Option<Self>, String> {
        let resolve = |file: &PathBuf| input::resolve(file).unwrap_or_else(|_| file.clone());
        let written = args.checkpoint.as_ref().map(resolve);
        let read = args.resume.as_ref().map(resolve).filter(|file| written.as_ref() != Some(file));
        if let Some(file) = read
            && let Ok(lock) = File::open(lock_file(&file))
        {
            try_lock(&lock, FlockOperation::NonBlockingLockShared, &file)?;
        }
        written.as_deref().map(CheckpointLock::new).transpose()
    }

    fn new(checkpoint: &Path) -> Result<Self, String> {
        let path = lock_file(checkpoint);
        let error = |error: io::Error| format!("{}: cannot write: {error}", checkpoint.display());
        let identity = |file: &Metadata| (file.dev(), file.ino());
        loop {
            let file = File::options().create(true).truncate(false).write(true).open(&path);
            let file = file.map_err(error)?;
            try_lock(&file, FlockOperation::NonBlockingLockExclusive, checkpoint)?;
            // The run that had the lock may have removed the file after it was opened here.
            let here = file.metadata().map_err(error)?;
            match fs::metadata(&path) {
                Ok(there) if identity(&there) == identity(&here) => {
                    let checkpoint = checkpoint.to_owned();
                    return Ok(CheckpointLock { path, checkpoint, _file: file });
                }
                Err(why) if why.kind() != ErrorKind::NotFound => return Err(error(why)),
                _ => {}
            }
        }
    }
}

fn try_lock(file: &File, operation: FlockOperation, checkpoint: &Path) -> Result<(), String> {
    flock(file, operation).map_err(|error| match error {
        Errno::WOULDBLOCK => {
            format!("{}: another run of Raddle uses this checkpoint", checkpoint.display())
        }
        error => format!("{}: cannot be locked: {error}", checkpoint.display()),
    })
}

impl Drop for CheckpointLock {
    fn drop(&mut self) {
        // While it is locked, and after the processes that write it have ended: one may have been killed before it replaced the
        // checkpoint. If that fails, the files stay, which does no harm.
        let _ = fs::remove_file(new_file(&self.checkpoint));
        let _ = fs::remove_file(&self.path);
    }
}
