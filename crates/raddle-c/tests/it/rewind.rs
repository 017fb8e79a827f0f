//! Threads that go back to earlier questions instead of starting again.

use std::io::Write;
use std::path::{Path, PathBuf};

use raddle_c::{Request, build, check_built};
use raddle_core::model::Model;
use raddle_core::outcome::{Outcome, Verdict};

fn explored(file: &Path, flags: &[&str]) -> Outcome {
    let mut request = Request::new(&[file]);
    request.model = Model::Sc;
    request.source.flags = flags.iter().map(ToString::to_string).collect();
    let object = build(&request.source).expect("it can be compiled");
    check_built(&object, &request).expect("it can be loaded")
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c").join(name)
}

#[test]
fn most_histories_are_reached_without_starting_again() {
    for name in ["tables/writer_reader.c", "pthreads/own_memory.c"] {
        let outcome = explored(&corpus(name), &["-DN=7"]);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 3432), "{name}");
        assert!(outcome.counts.executions < 300, "{name}: {}", outcome.counts.executions);
    }
}

/// The clock is read only after many questions, so that threads that go back would not read it again.
#[test]
fn a_program_that_depends_on_something_else_is_found() {
    let mut file = tempfile::Builder::new().suffix(".c").tempfile().expect("a file");
    let text = r"
        #include <pthread.h>
        #include <stdatomic.h>
        atomic_long x, y;
        static void *reader(void *arg) {
            for (int i = 0; i < 4; i++)
                atomic_load(&x);
            atomic_store(&y, (long)__builtin_ia32_rdtsc());
            for (int i = 0; i < 3; i++)
                atomic_load(&x);
            return arg;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, reader, 0);
            for (int i = 1; i < 5; i++)
                x = i;
            pthread_join(thread, 0);
        }";
    file.write_all(text.as_bytes()).expect("it can be written");
    let outcome = explored(file.path(), &[]);
    let bug = outcome.into_finding().expect("it is found");
    assert!(bug.message.contains("with the same history"), "{}", bug.message);
}
