//! Object files and executables that the user has built.

use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_core::model::Model;
use raddle_core::outcome::{Outcome, Verdict};
use raddle_native::{Error, Request, check, check_built};
use tempfile::TempDir;

use crate::corpus::built;

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
                // Hooks of plain accesses get addresses of variables, so fewer retries are known to repeat a state.
                let mut request = Request { model, exact: true, ..Request::new(&[file]) };
                request.source.compiler = Some(String::from("gcc"));
                let outcome = check(&request).unwrap_or_else(|error| panic!("{error}"));
                let kind = outcome.kind();
                (outcome.verdict, kind, outcome.counts.classes, outcome.counts.blocked)
            };
            assert_eq!(told(&object), told(&source), "{program}, {model}");
        }
    }
}

/// Compiles and links a file as a user would do.
fn executable(flags: &[&str], source: &Path, directory: &TempDir) -> PathBuf {
    let program = directory.path().join("program");
    let mut command = Command::new("gcc");
    command.args(flags).args(["-w", "-pthread"]).arg(source).arg("-o").arg(&program);
    assert!(command.status().expect("there is a compiler").success());
    program
}

/// Locks and queues whose assertions an optimising compiler cannot decide.
const PROGRAMS: [&str; 12] = [
    "../../examples/peterson.c",
    "litmus/sb.c",
    "exclusion/fenced.c",
    "locks/ticket.c",
    "locks/ttas.c",
    "locks/clh.c",
    "locks/spinlock.c",
    "containers/treiber.c",
    "containers/msqueue.c",
    "containers/spsc.c",
    "containers/mpmc.c",
    "pthreads/bounded_buffer.c",
];

#[test]
fn an_optimised_executable_has_the_verdict_of_its_source() {
    for program in PROGRAMS {
        let directory = TempDir::new().expect("a temporary directory");
        let optimised = executable(&["-O2"], &corpus(program), &directory);
        for model in [Model::Sc, Model::Tso] {
            let outcome = explore(&[&optimised], model).unwrap_or_else(|error| panic!("{error}"));
            let source = built(program, &[], "gcc");
            let expected = check_built(&source, &Request { model, ..Request::new(&[]) });
            let expected = expected.unwrap_or_else(|error| panic!("{error}"));
            let verdicts = [outcome, expected].map(|it| (it.verdict, it.kind()));
            assert_eq!(verdicts[0], verdicts[1], "{program}");
        }
    }
}

#[test]
fn executables_of_all_kinds_are_explored() {
    let source = corpus("exclusion/peterson.c");
    for flags in [&["-O1", "-no-pie"][..], &["-O0", "-g"], &["-Os", "-s"]] {
        let directory = TempDir::new().expect("a temporary directory");
        let outcome = explore(&[&executable(flags, &source, &directory)], Model::Sc);
        let outcome = outcome.unwrap_or_else(|error| panic!("{flags:?}: {error}"));
        assert_eq!((outcome.verdict, outcome.kind()), (Verdict::Clean, None), "{flags:?}");
    }
}

#[test]
fn machine_code_is_refused_under_models_with_memory_orders() {
    let directory = TempDir::new().expect("a temporary directory");
    let source = text(&directory, "plain.c", "int n;\nint main(void) { return n; }");
    let built = executable(&["-O2"], &source, &directory);
    let object = compiled("gcc", &["-O2"], &source, &directory);
    for file in [built, object] {
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let outcome = explore(&[&file], model).expect("it has a meaning");
            assert_eq!(outcome.verdict, Verdict::Clean);
        }
        let error = explore(&[&file], Model::C20).expect_err("it has no memory orders");
        let name = file.display().to_string();
        assert_eq!(error, Error::NoMemoryOrders { file: name, model: Model::C20 });
    }
}

#[test]
fn what_is_no_program_is_refused() {
    let directory = TempDir::new().expect("a temporary directory");
    let refused = |file: &Path| match explore(&[file], Model::Sc) {
        Err(Error::Refused { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let source = text(&directory, "half.c", "int f(void) { return 0; }");
    let library = executable(&["-shared", "-fPIC"], &source, &directory);
    assert!(refused(&library).starts_with("it is a shared library"));
    let main = text(&directory, "main.c", "int main(void) { return 0; }");
    let sanitized = executable(&["-fsanitize=thread"], &main, &directory);
    assert!(refused(&sanitized).starts_with("it contains the runtime library"));
    assert!(refused(&text(&directory, "notes.txt", "no program")).starts_with("neither C or C++"));
}

const OPENMP: &str = "OpenMP is not modelled: compile without -fopenmp and link without its library, or use the \
                      threads of POSIX, C11 or C++";

/// `main` calls the library.
const WITH_OPENMP: &str = "int n;\nint main(void) {\n#pragma omp parallel\n{ n++; }\n}";

#[test]
fn programs_that_are_linked_with_openmp_are_refused() {
    let directory = TempDir::new().expect("a temporary directory");
    let source = text(&directory, "openmp.c", WITH_OPENMP);
    let built = executable(&["-O2", "-fopenmp"], &source, &directory);
    let mut with_library = Request::new(&[&source]);
    with_library.source.flags = vec![String::from("-fopenmp"), String::from("-lgomp")];
    with_library.source.compiler = Some(String::from("gcc"));
    for error in [explore(&[&built], Model::Tso), check(&with_library)] {
        let error = error.expect_err("it is refused").to_string();
        assert_eq!(error, format!("libgomp.so.1: {OPENMP}"));
    }
}

#[test]
fn a_call_of_openmp_is_refused() {
    let directory = TempDir::new().expect("a temporary directory");
    let source = text(&directory, "openmp.c", WITH_OPENMP);
    let mut request = Request::new(&[&source]);
    request.source.compiler = Some(String::from("gcc"));
    let outcome = check(&request).expect("without the flag, it has one thread");
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1));
    request.source.flags = vec![String::from("-fopenmp")];
    let outcome = check(&request).expect("it can be compiled");
    let finding = outcome.finding().expect("the call is refused");
    assert_eq!(finding.message, format!("thread main: function `GOMP_parallel`: {OPENMP}"));
    assert_eq!(finding.place_text(), format!("{}:2", source.display()));
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

#[test]
fn locked_instructions_whose_result_is_dead_are_left_unordered() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds/counters.c");
    let directory = TempDir::new().expect("a temporary directory");
    let optimised = executable(&["-O2"], &source, &directory);
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let outcome = explore(&[&optimised], model).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1), "{model}");
    }
}
