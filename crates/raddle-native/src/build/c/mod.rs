//! C and C++: compiles each file and links an executable with the system's libraries as shared objects.
//!
//! Files are compiled with the hooks of the thread sanitizer and linked without its library. Hooks of atomic operations tell
//! their memory orders; they are host functions (`libc::atomics`). The CPU sees plain accesses itself, so hooks of these are
//! removed from the assembly (`assembly`). At `-O0`: an optimizing compiler merges, forwards and deletes plain
//! accesses.
//!
//! Functions that nothing defines are left undefined. They are host functions if Raddle models them (`__VERIFIER_*`);
//! a call of any other is refused when it is executed.
//!
//! *Cost.* A compiler process and an assembler process per file, files in parallel, and one linker process: no file with
//! hooks is compiled, as they are appended to the assembly of the first file.

mod assembly;
mod builtin;
mod compiler;
mod flags;
mod hooks;
mod input;
mod link;
mod marks;
mod parallel;
mod scratch;
mod symbols;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Error, MemoryOrders, Object, Source};
use crate::load::Elf;
use crate::openmp;
use compiler::Compiler;
pub use flags::first_harmful_flag;
pub(super) use hooks::assembly as hooks;
use input::{Input, argument};
use link::link;
use scratch::Scratch;
use symbols::ObjectSymbols;

/// Builds a program. The files exist.
pub(super) fn build(source: &Source) -> Result<Object, Error> {
    let inputs: Vec<Input> =
        source.files.iter().map(|file| Input::of(file)).collect::<Result<_, _>>()?;
    if let Some(at) = inputs.iter().position(|input| *input == Input::Executable) {
        return executable(&source.files, at);
    }
    let given = given_objects(source, &inputs)?;
    let is_cpp = inputs.contains(&Input::Cpp) || given.iter().any(|(_, it)| it.needs_cpp);
    let compiler = Compiler::choose(source.compiler.as_deref(), is_cpp)?;
    let compiled = compile(&compiler, source, &inputs)?;
    let objects: Vec<PathBuf> = compiled.iter().map(|object| object.path(&source.files)).collect();
    let data = link(&compiler, &objects, &source.flags, !given.is_empty())?;
    refuse_openmp(&data)?;
    let is_ours = given.is_empty();
    let unknown = given.into_iter().find(|(_, symbols)| !symbols.has_hooks);
    let orders = match unknown {
        None => MemoryOrders::Known,
        Some((file, _)) => MemoryOrders::Unknown { file: file.display().to_string() },
    };
    let name = source.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    let file = Elf::parse(name.as_str().into(), &Arc::new(data))?;
    Ok(Object { file, orders, is_ours, compiler: compiler.version.as_str().into(), guide: None })
}

/// The object files that the user has compiled.
fn given_objects<'a>(
    source: &'a Source,
    inputs: &[Input],
) -> Result<Vec<(&'a Path, ObjectSymbols)>, Error> {
    let files = source.files.iter().zip(inputs);
    let given = files.filter(|(_, input)| **input == Input::Object);
    given.map(|(file, _)| Ok((file.as_path(), ObjectSymbols::read(file)?))).collect()
}

/// An object file of the program.
enum Compiled {
    /// One that was compiled here.
    Here(Scratch),
    /// One of the user's, by index.
    Given(usize),
}

impl Compiled {
    fn path(&self, files: &[PathBuf]) -> PathBuf {
        match self {
            Compiled::Here(scratch) => scratch.path(),
            Compiled::Given(index) => argument(&files[*index]),
        }
    }
}

/// Compiles all files that are not compiled yet. One of the objects contains the hooks.
fn compile(compiler: &Compiler, source: &Source, inputs: &[Input]) -> Result<Vec<Compiled>, Error> {
    let first = inputs.iter().position(|input| *input != Input::Object);
    let one = |index: usize| match inputs[index] {
        Input::Object => Ok(Compiled::Given(index)),
        _ => {
            let mut text = compiler.assembly(&argument(&source.files[index]), &source.flags)?;
            if first == Some(index) {
                text += &hooks::assembly();
            }
            compiler.assemble(&text).map(Compiled::Here)
        }
    };
    let mut objects = parallel::map(inputs.len(), &one)?;
    if first.is_none() {
        objects.push(Compiled::Here(compiler.assemble(&hooks::assembly())?));
    }
    Ok(objects)
}

/// An executable of the user's.
fn executable(files: &[PathBuf], at: usize) -> Result<Object, Error> {
    let name = files[at].display().to_string();
    if files.len() > 1 {
        let what = String::from("an executable is a whole program: pass it alone");
        return Err(Error::Refused { place: name, what });
    }
    let data = std::fs::read(&files[at])
        .map_err(|error| Error::File { file: name.clone(), why: error.to_string() })?;
    let is_rust = symbols::is_rust(&data);
    if !is_rust && symbols::has_sanitizer_runtime(&data) {
        let what = String::from(
            "it contains the runtime library of the thread sanitizer: pass its source or object files instead",
        );
        return Err(Error::Refused { place: name, what });
    }
    refuse_openmp(&data)?;
    symbols::refuse_atomic_functions(&data, &name)?;
    let file = Elf::parse(name.as_str().into(), &Arc::new(data))?;
    if file.entry == 0 {
        let what =
            String::from("it is a shared library: link an executable, or pass the object files");
        return Err(Error::Refused { place: name, what });
    }
    let orders = match is_rust {
        true => MemoryOrders::Known,
        false => MemoryOrders::Unknown { file: name },
    };
    Ok(Object { file, orders, is_ours: false, compiler: "".into(), guide: None })
}

/// Refuses a program that is linked with a library of OpenMP: the library would be refused when it starts.
fn refuse_openmp(program: &[u8]) -> Result<(), Error> {
    match symbols::openmp_library(program) {
        Some(place) => Err(Error::Refused { place, what: String::from(openmp::REASON) }),
        None => Ok(()),
    }
}
