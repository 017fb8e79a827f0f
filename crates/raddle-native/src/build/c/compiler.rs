//! The C or C++ compiler.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::input::Input;
use super::scratch::Scratch;
use super::{assembly, builtin, marks};
use crate::build::Error;

/// After the flags of the user. Library functions stay calls, so that modelled ones are intercepted, and variables of libraries
/// (`std::cout`) are not copied into the executable, so that they remain library data.
const COMMON: [&str; 12] = [
    "-O0",
    "-fPIC",
    "-fno-common",
    "-fno-builtin",
    "-fno-lto",
    "-fno-omit-frame-pointer",
    "-fcf-protection=none",
    "-U_FORTIFY_SOURCE",
    "-U__SANITIZE_THREAD__",
    "-w",
    "-S",
    "-fsanitize=thread",
];
const GCC: [&str; 5] = [
    "-fno-ipa-ra",
    "--param",
    "tsan-instrument-func-entry-exit=0",
    "--param",
    "tsan-distinguish-volatile=1",
];
const CLANG: [&str; 3] = ["-mcx16", "-mllvm", "-tsan-instrument-func-entry-exit=0"];

/// The C++ library checks how it is used, and does not access two atomic counters at once, as with the thread sanitizer. The language
/// is that of g++, unless the user chooses another one.
const CPP: [&str; 3] = ["-D_GLIBCXX_ASSERTIONS", "-D_GLIBCXX_TSAN=1", "-std=gnu++17"];

/// A compiler that runs.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    name: String,
    is_clang: bool,
    /// The first line of the output of `--version`.
    pub(super) version: String,
}

impl Compiler {
    /// The compiler of this name, or the first of the usual ones that runs.
    pub(super) fn choose(name: Option<&str>, is_cpp: bool) -> Result<Self, Error> {
        let usual = if is_cpp { ["g++", "clang++", "c++"] } else { ["gcc", "clang", "cc"] };
        let candidates = name.map_or_else(|| usual.to_vec(), |name| vec![name]);
        for name in &candidates {
            let output = Command::new(name).arg("--version").stdin(Stdio::null()).output();
            if let Ok(output) = output
                && output.status.success()
            {
                let text = String::from_utf8_lossy(&output.stdout);
                let version = text.lines().next().unwrap_or_default().to_owned();
                let is_clang = text.contains("clang");
                return Ok(Compiler { name: String::from(*name), is_clang, version });
            }
        }
        let verb = if candidates.len() == 1 { "does" } else { "do" };
        Err(Error::NoCompiler(format!("{} {verb} not run", candidates.join(", "))))
    }

    /// A command that runs the compiler.
    pub(super) fn start(&self) -> Command {
        Command::new(&self.name)
    }

    /// The assembly of a file, in which calls of hooks tell everything about atomic accesses.
    pub(super) fn assembly(&self, file: &Path, flags: &[String]) -> Result<String, Error> {
        let is_cpp = Input::of(file)? == Input::Cpp;
        let text = match self.is_clang {
            true => self.by_clang(file, flags, is_cpp)?,
            false => self.by_gcc(file, flags, is_cpp)?,
        };
        Ok(assembly::prepare(&text))
    }

    /// Assembles text to an object file.
    pub(super) fn assemble(&self, text: &str) -> Result<Scratch, Error> {
        let out = Scratch::new()?;
        let mut command = self.start();
        command.args(["-x", "assembler", "-c", "-", "-o"]).arg(out.path());
        run(&mut command, Some(text))?;
        Ok(out)
    }

    /// A command that compiles. The flags of the user come before those that Raddle needs.
    fn compile(&self, flags: &[String], is_cpp: bool) -> Command {
        let mut command = self.start();
        command.args(["-O0", "-g"]);
        if is_cpp {
            command.args(CPP);
        }
        command.args(flags).args(COMMON);
        command
    }

    fn by_gcc(&self, file: &Path, flags: &[String], is_cpp: bool) -> Result<String, Error> {
        let undeclared = if is_cpp { vec![] } else { self.undeclared(file, flags) };
        let completed = builtin::completed(file, &undeclared);
        let input = completed.as_ref().map(|(_, text)| text.as_str());
        let command = || {
            let mut command = self.compile(flags, is_cpp);
            command.args(GCC).args(["-o", "-"]);
            match &completed {
                Some((flags, _)) => command.args(flags),
                None => command.arg(file),
            };
            command
        };
        let text = run(&mut command(), input)?;
        if is_cpp || !text.contains("__tsan_atomic") {
            return Ok(text);
        }
        // If the file cannot be compiled in this way, nothing is known about it.
        let volatile = run(command().arg(marks::ATOMICS_ARE_VOLATILE), input);
        Ok(volatile.map_or(text.clone(), |volatile| marks::mark_atomic_reads(&text, &volatile)))
    }

    /// The functions of the C library that a file calls without a declaration. None if it cannot be compiled.
    fn undeclared(&self, file: &Path, flags: &[String]) -> Vec<&'static str> {
        if !builtin::may_be_undeclared(file) {
            return vec![];
        }
        let mut command = self.start();
        command.args(flags).args(["-fsyntax-only", "-fno-builtin"]).arg(builtin::WARNING).arg(file);
        let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
        output.map_or(vec![], |output| builtin::named(&String::from_utf8_lossy(&output.stderr)))
    }

    /// Hooks are inserted in a second step: they do not tell which compare-exchange operations are weak, atomic loads would
    /// stay beside their hooks, and the program must not see that there are any (`__has_feature(thread_sanitizer)`).
    fn by_clang(&self, file: &Path, flags: &[String], is_cpp: bool) -> Result<String, Error> {
        let mut command = self.compile(flags, is_cpp);
        command.args(["-fno-sanitize=thread", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]);
        let code = run(command.args(["-o", "-"]).arg(file), None)?;
        let code = marks::mark_operations(&marks::request_hooks(&code));
        let mut command = self.start();
        command.args(COMMON).args(CLANG).args(["-x", "ir", "-", "-o", "-"]);
        run(&mut command, Some(&code))
    }
}

/// Runs a command with this input and returns what it prints.
pub(super) fn run(command: &mut Command, input: Option<&str>) -> Result<String, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |error| Error::NoCompiler(format!("{name} does not run: {error}"));
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A compiler that does not read everything reports an error of its own.
            scope.spawn(move || stdin.write_all(input.as_bytes()));
        }
        child.wait_with_output().map_err(failed)
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::Compiler(String::from_utf8_lossy(&output.stderr).into_owned()))
}
