//! From source files to a shared object.
//!
//! The user's files are compiled with the hooks of the thread sanitizer before every access, and linked
//! without its library, together with a stub (`stub`) that has an entry for every hook and every
//! function of the libraries that is modelled. So nothing is interposed: the tool itself, its libraries,
//! and other explorations in the same process keep their own `malloc` and `pthread_create`.
//!
//! At `-O0`: a compiler that optimises merges, forwards and deletes plain accesses before it puts hooks
//! there. The runtime of C++ is linked statically, so that it calls the stub as well.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use tempfile::TempDir;

use crate::assembly;
use crate::audit;
use crate::cpp_functions;
use crate::error::Error;
use crate::guide::Guide;
use crate::stub;
use crate::symbols;

/// What to compile, and how.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The files, in C or C++, or compiled (`.o`), as their endings say.
    pub files: Vec<PathBuf>,
    /// More flags for the compiler.
    pub flags: Vec<String>,
    /// The compiler; by default gcc if there is one, otherwise clang.
    pub compiler: Option<String>,
}

/// A program that is ready to be loaded.
#[derive(Clone, Debug)]
pub struct Object {
    /// The shared object.
    pub(crate) bytes: Vec<u8>,
    /// The functions that its code calls and nobody models.
    pub(crate) refused: Vec<String>,
    /// The user's own shared object. Then the first one is only the stub.
    pub(crate) user: Option<Vec<u8>>,
    pub(crate) guide: Option<Guide>,
}

impl Object {
    /// The program, of which only what a guide says is explored.
    #[must_use]
    pub fn led_by(self, guide: Guide) -> Self {
        Object { guide: Some(guide), ..self }
    }
}

/// Without builtin functions: a call of `strcpy` must stay one, as stores in its place have no hooks.
const COMMON: &[&str] = &["-O0", "-fPIC", "-fno-common", "-fno-builtin", "-fsanitize=thread", "-w"];
/// What the mending of assembly relies on, and what saves only some registers.
const GCC: &[&str] = &[
    "-fno-omit-frame-pointer",
    "-fno-lto",
    "-mno-avx",
    "-fcf-protection=none",
    "-U_FORTIFY_SOURCE",
    "--param",
    "tsan-instrument-func-entry-exit=0",
    "--param",
    "tsan-distinguish-volatile=1",
];
const CLANG: &[&str] = &[
    "-mcx16",
    "-fno-lto",
    "-mno-avx",
    "-fcf-protection=none",
    "-U_FORTIFY_SOURCE",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
    "-mllvm",
    "-tsan-distinguish-volatile=1",
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
];

/// The C++ library checks how it is used. The language is that of g++, unless the user says otherwise.
const CPP: &[&str] = &["-D_GLIBCXX_ASSERTIONS", "-std=gnu++17"];

/// Compiles and links.
pub(crate) fn compile(source: &Source) -> Result<Object, Error> {
    for file in &source.files {
        if let Err(error) = std::fs::File::open(file) {
            return Err(Error::File { file: file.display().to_string(), why: error.to_string() });
        }
    }
    let compiler = Compiler::choose(source)?;
    let directory = TempDir::with_prefix("raddle-")
        .map_err(|error| Error::System(format!("no temporary directory: {error}")))?;
    if let [file] = &source.files[..]
        && has_ending(file, "so")
    {
        return with_stub(&compiler, file, directory.path());
    }
    if let Some(file) = source.files.iter().find(|file| has_ending(file, "so")) {
        let what = String::from("a shared object is a whole program: hand it in alone");
        return Err(Error::Refused { place: file.display().to_string(), what });
    }
    let object = |(index, file): (usize, &PathBuf)| {
        compiler.object(file, &source.flags, directory.path(), &index.to_string())
    };
    thread::scope(|scope| {
        let stub = scope.spawn(|| compiler.stub(directory.path()));
        let objects = source.files.iter().enumerate().map(object);
        let objects = objects.collect::<Result<Vec<PathBuf>, Error>>()?;
        let stub = stub.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let refused = symbols::refused(&symbols::needed(&objects)?);
        link(&compiler, &objects, &stub, refused, directory.path())
    })
}

/// A shared object of the user's, and a stub for it.
fn with_stub(compiler: &Compiler, file: &Path, directory: &Path) -> Result<Object, Error> {
    let bytes = std::fs::read(file).map_err(|error| Error::System(error.to_string()))?;
    let needed = symbols::needed_by_shared(&bytes)?;
    let refused = |what: &str| {
        let place = file.display().to_string();
        Err(Error::Refused { place, what: what.to_owned() })
    };
    if needed.iter().any(|name| name.starts_with("_Z") || name.starts_with("__gxx")) {
        return refused(
            "a shared object in C++ is bound to its library: link the same files with -r to a .o",
        );
    }
    audit::audit_shared(file, file)?;
    let stub = compiler.stub(directory)?;
    let stub = link(compiler, &[], &stub, symbols::refused(&needed), directory)?;
    Ok(Object { user: Some(bytes), ..stub })
}

fn link(
    compiler: &Compiler,
    objects: &[PathBuf],
    stub: &[PathBuf],
    refused: Vec<String>,
    directory: &Path,
) -> Result<Object, Error> {
    let entries = directory.join("entries.s");
    write(&entries, &stub::entries(&refused))?;
    let exports = directory.join("exports");
    write(&exports, "{ global: raddle_*; local: *; };")?;
    let out = directory.join("program.so");
    let mut command = Command::new(&compiler.name);
    command.args(["-shared", "-nostartfiles", "-Wl,-Bsymbolic", "-Wl,-z,noexecstack"]);
    command.arg("-static-libgcc");
    if compiler.is_cpp {
        // What is refused comes first, whatever the library has.
        command.args(["-static-libstdc++", "-Wl,-z,muldefs"]);
        let replaced = cpp_functions::STREAMS.iter().chain([&START_THREAD]);
        command.args(replaced.map(|name| format!("-Wl,--wrap={name}")));
    }
    command.arg(format!("-Wl,--version-script={}", exports.display()));
    command.args(stub).args(objects).arg(&entries).args(["-lm", "-o"]).arg(&out);
    run(&mut command)?;
    let bytes = std::fs::read(&out).map_err(|error| Error::System(error.to_string()))?;
    Ok(Object { bytes, refused: cpp_functions::readable(refused), user: None, guide: None })
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text)
        .map_err(|error| Error::System(format!("cannot write {}: {error}", path.display())))
}

/// The function of the C++ library that starts a thread; its object file has others that are needed.
const START_THREAD: &str =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";

/// Object files that are the same for every program, by compiler and name: they are compiled once.
static COMPILED: Mutex<BTreeMap<(String, &str), Vec<u8>>> = Mutex::new(BTreeMap::new());

struct Compiler {
    name: String,
    is_clang: bool,
    is_cpp: bool,
}

/// Whether a file is C++.
fn is_cpp(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    matches!(ending, "cc" | "cpp" | "cxx" | "C" | "c++")
}

/// Whether a file is compiled already.
fn is_compiled(file: &Path) -> bool {
    has_ending(file, "o")
}

fn has_ending(file: &Path, wanted: &str) -> bool {
    file.extension().is_some_and(|ending| ending == wanted)
}

/// Whether a file needs the C++ library, as its symbols say.
fn uses_cpp(file: &Path) -> bool {
    let symbols = symbols::needed_by(&[file.to_owned()]);
    symbols.is_ok_and(|needed| {
        needed.iter().any(|name| name.starts_with("_Z") || name.starts_with("__gxx"))
    })
}

impl Compiler {
    fn choose(source: &Source) -> Result<Self, Error> {
        let is_cpp =
            source.files.iter().any(|file| is_cpp(file) || is_compiled(file) && uses_cpp(file));
        let candidates: Vec<String> = match &source.compiler {
            Some(name) => vec![name.clone()],
            None if is_cpp => ["g++", "clang++", "c++"].map(String::from).to_vec(),
            None => ["gcc", "clang", "cc"].map(String::from).to_vec(),
        };
        for name in &candidates {
            let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
            if let Ok(output) = version
                && output.status.success()
            {
                let is_clang = String::from_utf8_lossy(&output.stdout).contains("clang");
                return Ok(Compiler { name: name.clone(), is_clang, is_cpp });
            }
        }
        let plural = if candidates.len() == 1 { "does" } else { "do" };
        Err(Error::NoCompiler(format!("{} {plural} not run", candidates.join(", "))))
    }

    /// The parts of the stub that must be compiled.
    fn stub(&self, directory: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut stub = vec![self.functions(directory)?];
        if self.is_cpp {
            stub.push(self.runtime(directory)?);
        }
        Ok(stub)
    }

    /// The stub's functions in C.
    fn functions(&self, directory: &Path) -> Result<PathBuf, Error> {
        self.once("functions.o", directory, |object| {
            let source = directory.join("functions.c");
            write(&source, stub::FUNCTIONS)?;
            let mut command = Command::new(&self.name);
            command.args(["-O1", "-fPIC", "-w", "-fcf-protection=none", "-fno-builtin", "-c"]);
            run(command.args(["-x", "c"]).arg(&source).arg("-o").arg(object))
        })
    }

    /// The stub's functions in C++, with hooks, but without lines: their places are those of their callers.
    fn runtime(&self, directory: &Path) -> Result<PathBuf, Error> {
        self.once("runtime.o", directory, |object| {
            let source = directory.join("runtime.cpp");
            write(&source, stub::RUNTIME)?;
            let flags = [String::from("-g0")];
            let made = self.object(&source, &flags, directory, "runtime")?;
            std::fs::rename(made, object).map_err(|error| Error::System(error.to_string()))
        })
    }

    /// An object file that is compiled once for all programs.
    fn once(
        &self,
        name: &'static str,
        directory: &Path,
        make: impl FnOnce(&Path) -> Result<(), Error>,
    ) -> Result<PathBuf, Error> {
        let system = |error: std::io::Error| Error::System(error.to_string());
        let object = directory.join(name);
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.name.clone(), name);
        if let Some(bytes) = compiled.get(&key) {
            std::fs::write(&object, bytes).map_err(system)?;
        } else {
            make(&object)?;
            compiled.insert(key, std::fs::read(&object).map_err(system)?);
        }
        Ok(object)
    }

    /// Compiles a file to an object file of this name.
    fn object(
        &self,
        file: &Path,
        flags: &[String],
        directory: &Path,
        name: &str,
    ) -> Result<PathBuf, Error> {
        if is_compiled(file) {
            audit::audit(&self.name, file, directory)?;
            return Ok(file.to_owned());
        }
        let path = |ending: &str| directory.join(format!("{name}.{ending}"));
        let (assembly, object) = (path("s"), path("o"));
        let text = if self.is_clang {
            self.by_clang(file, flags, &path("ll"), &assembly)?
        } else {
            self.by_gcc(file, flags, &assembly)?
        };
        write(&assembly, &text)?;
        run(Command::new(&self.name).arg("-c").arg(&assembly).arg("-o").arg(&object))?;
        Ok(object)
    }

    /// The command that compiles a file. The user's flags come before those that must be.
    fn command(&self, file: &Path, flags: &[String]) -> Command {
        let mut command = Command::new(&self.name);
        command.args(["-O0", "-g"]);
        if is_cpp(file) {
            command.args(CPP);
        }
        command.args(flags).args(COMMON).args(if self.is_clang { CLANG } else { GCC });
        command.arg("-S");
        command
    }

    fn by_gcc(&self, file: &Path, flags: &[String], out: &Path) -> Result<String, Error> {
        run(self.command(file, flags).arg(file).arg("-o").arg(out))?;
        let mut text = read(out)?;
        if !is_cpp(file) && text.contains("__tsan_atomic") {
            let mut command = self.command(file, flags);
            command.arg(assembly::ATOMICS_ARE_VOLATILE).arg(file).arg("-o").arg(out);
            // If that is no program any more, nothing can be told.
            if run(&mut command).is_ok() {
                text = assembly::mark_atomic_loads(&text, &read(out)?);
            }
        }
        assembly::mend(&text)
    }

    /// Hooks are inserted in a second step, as they do not say which compare-exchanges are weak.
    fn by_clang(
        &self,
        file: &Path,
        flags: &[String],
        between: &Path,
        out: &Path,
    ) -> Result<String, Error> {
        let mut command = self.command(file, flags);
        command.args(["-emit-llvm", "-Xclang", "-disable-llvm-passes"]);
        run(command.arg(file).arg("-o").arg(between))?;
        write(between, &assembly::mark_weak(&read(between)?))?;
        run(self.command(between, &[]).arg(between).arg("-o").arg(out))?;
        assembly::mend(&read(out)?)
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::System(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = (command.stdin(Stdio::null()).output())
        .map_err(|error| Error::NoCompiler(format!("{name} does not run: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Compiler(String::from_utf8_lossy(&output.stderr).into_owned()))
}
