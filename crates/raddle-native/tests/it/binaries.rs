//! Object files that the user has compiled.

use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_core::model::Model;
use raddle_core::outcome::{Outcome, Verdict};
use raddle_native::{Error, Request, check};
use tempfile::TempDir;

/// What the documentation tells people to compile with.
const FLAGS: [&str; 9] = [
    "-O0",
    "-g",
    "-fPIC",
    "-fno-common",
    "-fno-builtin",
    "-fsanitize=thread",
    "-fno-omit-frame-pointer",
    "-fcf-protection=none",
    "-mno-avx",
];

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c").join(name)
}

/// Compiles a file as a user would do.
fn compiled(compiler: &str, flags: &[&str], source: &Path, directory: &TempDir) -> PathBuf {
    let object = directory.path().join("compiled.o");
    let mut command = Command::new(compiler);
    command.args(flags).arg("-c").arg(source).arg("-o").arg(&object);
    assert!(command.status().expect("there is a compiler").success());
    object
}

fn text(directory: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, text).expect("it can be written");
    path
}

fn explore(files: &[&Path], model: Model) -> Result<Outcome, Error> {
    check(&Request { model, ..Request::new(files) })
}

#[test]
fn a_file_that_was_compiled_is_explored_like_its_source() {
    let programs = [
        "tables/lastzero.c",
        "exclusion/peterson.c",
        "pthreads/bounded_buffer.c",
        "containers/treiber.c",
        "litmus/mp.c",
        "errors/use_after_free.c",
    ];
    for program in programs {
        let directory = TempDir::new().expect("a temporary directory");
        let source = corpus(program);
        let object = compiled("gcc", &FLAGS, &source, &directory);
        for model in [Model::Tso, Model::C20] {
            let told = |file: &Path| {
                let mut request = Request { model, ..Request::new(&[file]) };
                request.source.compiler = Some(String::from("gcc"));
                let outcome = check(&request).unwrap_or_else(|error| panic!("{error}"));
                let kind = outcome.kind();
                (outcome.verdict, kind, outcome.counts.classes, outcome.counts.blocked)
            };
            assert_eq!(told(&object), told(&source), "{program}, {model}");
        }
    }
}

/// Links a file as a user would do.
fn linked(object: &Path, directory: &TempDir) -> PathBuf {
    let shared = directory.path().join("linked.so");
    let mut command = Command::new("gcc");
    command.arg("-shared").arg(object).arg("-o").arg(&shared);
    assert!(command.status().expect("there is a compiler").success());
    shared
}

#[test]
fn a_shared_object_is_explored_like_its_source() {
    let programs = [
        "exclusion/peterson.c",
        "pthreads/bounded_buffer.c",
        "pthreads/output.c",
        "errors/use_after_free.c",
        "errors/fork.c",
    ];
    for program in programs {
        let directory = TempDir::new().expect("a temporary directory");
        let source = corpus(program);
        let shared = linked(&compiled("gcc", &FLAGS, &source, &directory), &directory);
        for model in [Model::Tso, Model::C20] {
            let told = |file: &Path| {
                let outcome = explore(&[file], model).unwrap_or_else(|error| panic!("{error}"));
                let bug = outcome.finding().map(|bug| (bug.kind, bug.place.clone()));
                (outcome.verdict, bug, outcome.counts.classes, outcome.counts.blocked)
            };
            assert_eq!(told(&shared), told(&source), "{program}, {model}");
        }
    }
}

#[test]
fn compiled_files_and_sources_go_together() {
    let directory = TempDir::new().expect("a temporary directory");
    let half = "extern int n; void add(void); void add(void) { n++; }";
    let object = compiled("gcc", &FLAGS, &text(&directory, "half.c", half), &directory);
    let main = "#include <pthread.h>\n#include <assert.h>\nint n; void add(void);
        static void *run(void *unused) { add(); return 0; }
        int main(void) { pthread_t id; pthread_create(&id, 0, run, 0); pthread_join(id, 0); add(); assert(n == 2); }";
    let main = text(&directory, "main.c", main);
    let outcome = explore(&[&main, &object], Model::C20).expect("it can be explored");
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1));
}

/// Why a file that was compiled from this text with these flags is refused.
fn refused(flags: &[&str], source: &str) -> String {
    let directory = TempDir::new().expect("a temporary directory");
    let object = compiled("gcc", flags, &text(&directory, "half.c", source), &directory);
    let Err(Error::Refused { place, what }) = explore(&[&object], Model::Sc) else {
        panic!("it is not refused: {source}");
    };
    let name = Path::new(&place).file_name().expect("a file").to_string_lossy().into_owned();
    let (what, _) = what.split_once([':', ',']).expect("an advice follows");
    format!("{name}: {what}")
}

#[test]
fn what_cannot_be_mended_is_refused_with_its_line() {
    let plain = "int n;\nint main(void) { return n; }";
    assert_eq!(refused(&["-g", "-fPIC"], plain), "compiled.o: its code has no hooks");
    let without_lines: Vec<&str> = FLAGS.iter().copied().filter(|&flag| flag != "-g").collect();
    assert_eq!(refused(&without_lines, plain), "compiled.o: it has no debug information");
    let copies = "struct s { int a[2]; } a, b;\nint main(void) {\na = b;\nreturn 0; }";
    assert_eq!(
        refused(&FLAGS, copies),
        "half.c:3: the hook of a store comes before that of its load"
    );
    let by_value =
        "struct s { long a[3]; } a;\nvoid f(struct s);\nint main(void) {\nf(a);\nreturn 0; }";
    assert_eq!(refused(&FLAGS, by_value), "half.c:4: an access");
    let inline = "int a;\nint main(void) {\n__asm__(\"lock; incl %0\" : \"+m\"(a));\nreturn a; }";
    assert_eq!(refused(&FLAGS, inline), "half.c:3: inline assembly is not modelled");
    let fence = "int a;\nint main(void) {\n__builtin_ia32_mfence();\nreturn a; }";
    assert_eq!(refused(&FLAGS, fence), "half.c:3: an access");
}
