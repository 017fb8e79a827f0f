//! Data races under SC, TSO and PSO: a program has one if and only if it has one under C20, if all its atomic accesses are
//! sequentially consistent.

use std::fmt::Write;

use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::random::Random;
use raddle_explore::plan::Explorer;
use raddle_native::{Environment, Object, Request, Source, build, check_built};

const CASES: u64 = 24;

/// A few statements on plain and atomic variables and a lock.
fn statements(random: &mut Random, most: usize, is_inner: bool) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(most) {
        let (plain, atomic) = (["a", "b"][random.below(2)], ["x", "y"][random.below(2)]);
        let _ = match random.below(if is_inner { 5 } else { 8 }) {
            0 => write!(text, "r = {plain};"),
            1 => write!(text, "{plain} = 1;"),
            2 => write!(text, "r = {atomic};"),
            3 => write!(text, "{atomic} = 2;"),
            4 => write!(text, "r = {atomic}++;"),
            5 => write!(text, "lock(); {plain}++; unlock();"),
            6 => write!(text, "if (r) {{ {} }}", statements(random, 1, true)),
            _ => write!(text, "if ({atomic}) {{ {} }}", statements(random, 1, true)),
        };
    }
    text
}

fn program() -> Object {
    let mut random = Random::new(24);
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         static int a, b, chosen;\nstatic atomic_int x, y;\n\
         static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         static void lock(void) { pthread_mutex_lock(&m); }\n\
         static void unlock(void) { pthread_mutex_unlock(&m); }\n",
    );
    for thread in 0..3 {
        let _ = writeln!(
            text,
            "static void *thread{thread}(void *unused) {{ int r = 0; switch (chosen) {{"
        );
        for case in 0..CASES {
            let _ = writeln!(text, "case {case}: {} break;", statements(&mut random, 3, false));
        }
        text += "} return 0; }\n";
    }
    text += "int main(int argc, char **argv) {\nchosen = atoi(argv[1]);\npthread_t ids[3];\n\
             pthread_create(ids, 0, thread0, 0);\npthread_create(ids + 1, 0, thread1, 0);\n\
             if (chosen % 2) pthread_create(ids + 2, 0, thread2, 0);\n\
             for (int i = 0; i < 2 + chosen % 2; i++) pthread_join(ids[i], 0);\nreturn a + b;\n}\n";
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("races.c");
    std::fs::write(&path, text).expect("it is written");
    build(&Source { files: vec![path], ..Source::default() }).expect("it compiles")
}

#[test]
fn plain_accesses_race_as_under_c20() {
    let object = program();
    let mut counts = [0, 0];
    let mut wrong = vec![];
    for case in 0..CASES {
        let has_race = |model, explorer| {
            let environment = Environment { races: model != Model::C20, ..Environment::default() };
            let arguments = vec![case.to_string()];
            let request = Request { model, explorer, environment, arguments, ..Request::new(&[]) };
            let outcome = check_built(&object, &request).expect("it loads");
            outcome.kind() == Some(FindingKind::Race)
        };
        let expected = has_race(Model::C20, Explorer::RfPartSmc);
        counts[usize::from(expected)] += 1;
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            for explorer in [Explorer::RfPartSmc, Explorer::SourceDpor, Explorer::RfSmc] {
                if has_race(model, explorer) != expected {
                    wrong
                        .push(format!("case {case} under {model} by {explorer:?}: not {expected}"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(counts.iter().all(|count| *count >= CASES / 6), "{counts:?}");
}

#[test]
fn races_are_refused_where_plain_accesses_are_not_known() {
    let environment = Environment { races: true, ..Environment::default() };
    let request = |explorer| {
        let arguments = vec![String::from("0")];
        Request { model: Model::Sc, explorer, environment, arguments, ..Request::new(&[]) }
    };
    let refused = check_built(&program(), &request(Explorer::RvfSmc)).expect_err("it is refused");
    assert_eq!(refused.to_string(), "--races: requires --by rf or --by trace");
}
