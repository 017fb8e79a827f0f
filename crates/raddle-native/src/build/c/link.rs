//! Linking an executable.

use std::path::PathBuf;

use super::compiler::{Compiler, run};
use super::scratch::Scratch;
use super::symbols;
use crate::build::Error;

/// All functions are bound at the start and their table is read-only then, so calls are no accesses to shared memory. The
/// dynamic linker decides about undefined symbols. A build id would depend on debug information, and so on the working directory.
const FLAGS: [&str; 6] = [
    "-rdynamic",
    "-pthread",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,--unresolved-symbols=ignore-all",
    "-Wl,--build-id=none",
];

/// Links objects to an executable and returns its bytes. Objects of the user's may have been compiled for fixed addresses.
pub(super) fn link(
    compiler: &Compiler,
    objects: &[PathBuf],
    flags: &[String],
    has_given: bool,
) -> Result<Vec<u8>, Error> {
    let bytes = match link_at(compiler, objects, flags, "-pie") {
        Err(error) if has_given => {
            link_at(compiler, objects, flags, "-no-pie").map_err(|_| error)?
        }
        result => result?,
    };
    if symbols::has_main(&bytes) { Ok(bytes) } else { Err(Error::NoMain) }
}

fn link_at(
    compiler: &Compiler,
    objects: &[PathBuf],
    flags: &[String],
    addresses: &str,
) -> Result<Vec<u8>, Error> {
    let out = Scratch::new()?;
    let mut command = compiler.start();
    command.arg(addresses).args(FLAGS).args(objects);
    let libraries = |flag: &&String| flag.starts_with("-l") || flag.starts_with("-L");
    command.args(flags.iter().filter(libraries)).arg("-lm");
    run(command.arg("-o").arg(out.path()), None)?;
    out.into_bytes()
}
