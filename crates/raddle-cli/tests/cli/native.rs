//! `raddle check` and `raddle replay` for C and C++ programs.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use super::limits::write;
use super::{raddle, run, scratch};

/// The output of a check with gcc, without times. It must leave no file in the temporary directory.
fn check(args: &str) -> String {
    let temporary =
        scratch(&format!("native-{}", args.replace(|c: char| !c.is_alphanumeric(), "-")));
    let printed = output(raddle(&format!("check {args}")).env("TMPDIR", &temporary));
    let left: Vec<_> = std::fs::read_dir(&temporary).expect("it is there").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    printed
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("raddle runs");
    let text = format!(
        "exit {}\n{}{}",
        output.status.code().expect("an exit status"),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let lines = text.lines().map(|line| match line.rsplit_once(", ") {
        Some((before, _)) if before.contains(" thread run") => before.to_owned(),
        _ => line.trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes a program to a file and returns its path.
fn program(name: &str, text: &str) -> String {
    let path = scratch(&format!("program-{name}")).join(name);
    std::fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

#[test]
fn peterson_is_right_without_store_buffers() {
    assert_snapshot!(check("examples/peterson.c --model sc --cc gcc"));
}

#[test]
fn peterson_is_wrong_with_store_buffers() {
    assert_snapshot!(check("examples/peterson.c --model tso --cc gcc"));
}

/// In other executions, the cell on the stack of the owner is shared.
#[test]
fn private_accesses_are_not_shown() {
    let text = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
_Atomic(atomic_int *) box;
atomic_int go;
void *owner(void *arg) {
    atomic_int cell = 1;
    if (atomic_load(&go) == 0) {
        atomic_store(&box, &cell);
        while (atomic_load(&go) == 0)
            ;
        return arg;
    }
    assert(0);
    return arg;
}
void *guest(void *arg) {
    atomic_int *cell = atomic_load(&box);
    if (cell)
        assert(atomic_load(cell) == 1);
    atomic_store(&go, 1);
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, guest, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}";
    let file = program("private.c", text);
    let answer = check(&format!("{file} --model sc --cc gcc"));
    let told = |line: &str| {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let (event, place) = line.split_once("  ")?;
        place.contains("private.c:").then(|| event.to_owned())
    };
    let told: Vec<String> = answer.lines().filter_map(told).collect();
    assert_snapshot!(told.join("\n"), @r"
    spawn owner
    spawn guest
    load box = null (initial)
    store go = 1
    load go = 1 (step 4)
    ! assertion failed: 0
    ");
}

#[test]
fn flags_are_passed_to_the_compiler() {
    let answer = check("examples/peterson.c --model tso --cc gcc -- -DFENCE");
    assert!(answer.contains("clean: all executions were explored"), "{answer}");
}

#[test]
fn several_models_make_a_table() {
    assert_snapshot!(check("examples/peterson.c --model sc,tso,pso,c20 --cc gcc"));
}

#[test]
fn arguments_are_passed_to_the_program() {
    let text = "#include <assert.h>\n#include <string.h>\n\
                int main(int count, char **values) { assert(count == 2 && !strcmp(values[1], \"no\")); }\n";
    let file = program("arguments.c", text);
    let answer = check(&format!("{file} --cc gcc -- -DN -- no"));
    assert!(answer.starts_with("exit 0"), "{answer}");
    let answer = check(&format!("{file} --cc gcc -- -- yes"));
    assert!(answer.contains("assertion failed: count == 2"), "{answer}");
}

#[test]
fn several_files_are_one_program() {
    let one = program("one.c", "int two(void);\nint main(void) { return two(); }\n");
    let two = program("two.c", "int two(void) { return 0; }\n");
    let answer = check(&format!("{one} {two} --cc gcc"));
    assert!(answer.starts_with("exit 0"), "{answer}");
}

#[test]
fn a_counterexample_is_replayed() {
    let trace = scratch("native-replay").join("trace.json");
    let path = trace.display();
    let found = check(&format!("examples/peterson.c --model tso --cc gcc --trace {path}"));
    let again = output(&mut raddle(&format!("replay {path}")));
    assert!(
        again.starts_with("exit 1\nerror[assertion]: thread run#2: assertion failed: others == 0"),
        "{again}"
    );
    assert!(found.contains(again.trim_start_matches("exit 1\n").trim_end()), "{found}\n{again}");
}

/// A trace is for one program: the replay says what has changed.
#[test]
fn a_replay_of_another_program_says_what_has_changed() {
    let directory = scratch("native-replay-changed");
    let (file, trace) = (directory.join("changed.c"), directory.join("trace.json"));
    let text = std::fs::read_to_string("examples/peterson.c")
        .or_else(|_| std::fs::read_to_string("../../examples/peterson.c"));
    let text = text.expect("an example");
    std::fs::write(&file, &text).expect("it can be written");
    let (program, path) = (file.display(), trace.display());
    check(&format!("{program} --model tso --cc gcc --trace {path}"));
    let replay = || output(&mut raddle(&format!("replay {path} --cc gcc")));
    assert!(replay().starts_with("exit 1\n"));
    let refusal = |why: &str| {
        let again = "Explore it again with `raddle check`";
        format!(
            "exit 2\n{path}: the program has changed since the trace was recorded: {why}. {again}"
        )
    };
    std::fs::write(&file, format!("// A comment changes nothing.\n{text}")).expect("written");
    assert_eq!(replay(), refusal(&format!("{program} has changed")));
    std::fs::write(&file, text).expect("it can be written");
    let recorded = std::fs::read_to_string(&trace).expect("a trace");
    let other = recorded.replace("\"flags\": []", "\"flags\": [\"-DFENCE\"]");
    std::fs::write(&trace, other).expect("it can be written");
    assert_eq!(replay(), refusal("a flag or a header has changed"));
    let former = recorded.replace("\"version\": 2", "\"version\": 1");
    std::fs::write(&trace, former).expect("it can be written");
    let record = "record it again with `raddle check --trace`";
    let expected = format!("exit 2\n{path}: the trace has version 1, not 2: {record}");
    assert_eq!(replay(), expected);
    std::fs::write(&trace, recorded).expect("it can be written");
    std::fs::remove_file(&file).expect("it is there");
    assert!(replay().starts_with("exit 2\n"));
}

/// A trace may come from somebody else.
#[test]
fn flags_of_a_trace_run_no_programs_and_write_no_files() {
    let directory = scratch("native-replay-flags");
    let (trace, written) = (directory.join("trace.json"), directory.join("written"));
    let (path, written_path) = (trace.display(), written.display());
    check(&format!("examples/peterson.c --model tso --cc gcc --trace {path}"));
    let recorded = std::fs::read_to_string(&trace).expect("a trace");
    let mut fields: serde_json::Value = serde_json::from_str(&recorded).expect("JSON");
    let mut replay = |flag: &str, options: &str| {
        fields["flags"] = vec!["-DN=2", flag].into();
        std::fs::write(&trace, fields.to_string()).expect("it can be written");
        output(&mut raddle(&format!("replay {path} --cc gcc{options}")))
    };
    let listing = format!("-Wa,-a={written_path}");
    for flag in [&listing, "-fplugin=./evil.so", "-wrapper", "-B.", "-specs=evil", "@options", "-o"]
    {
        let expected = format!(
            "{path}: the trace contains the compiler flag '{flag}', which may run programs or write files, and the \
             trace may come from somebody else: remove it from \"flags\" in the trace, or pass --trust-flags if you \
             trust the trace"
        );
        assert_eq!(replay(flag, ""), format!("exit 2\n{expected}"));
    }
    assert!(!written.exists());
    let profile = format!("-fopt-info-all={written_path}");
    assert!(replay(&profile, " --trust-flags").contains("the program has changed since the trace"));
    assert!(written.exists(), "the compiler gets the flag");
}

/// The address of the block differs from process to process.
#[test]
fn replays_compare_kinds_but_not_messages() {
    let text = "#include <stdlib.h>\nint main(void) {\nchar *p = malloc(8);\nfree(p + 4);\n}\n";
    let file = program("replayed.c", text);
    let trace = scratch("native-replay-message").join("trace.json");
    let path = trace.display();
    check(&format!("{file} --model sc --cc gcc --trace {path}"));
    let recorded = std::fs::read_to_string(&trace).expect("a trace");
    let mut fields: serde_json::Value = serde_json::from_str(&recorded).expect("JSON");
    assert_eq!(fields["kind"], "double-free");
    let mut replay = |field: &str, value: &str| {
        fields[field] = value.into();
        std::fs::write(&trace, fields.to_string()).expect("it can be written");
        let printed = output(&mut raddle(&format!("replay {path}")));
        printed.split([':', '\n']).next().expect("a status").to_owned()
    };
    assert_eq!(replay("message", "a former wording"), "exit 1");
    assert_eq!(replay("kind", "leak"), "exit 2");
}

/// The line is executed five times in the execution, and so in its replay.
#[test]
fn a_replay_runs_one_execution() {
    let text = "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n#include <stdio.h>\n\
        atomic_int x[20], y;\n\
        void *reader(void *p) { for (int i = 0; i < 20; i++) x[i]; return p; }\n\
        void *writer(void *p) { for (int i = 0; i < 20; i++) x[i] = 1; return p; }\n\
        int main(void) {\n    pthread_t a, b;\n\
        for (int i = 0; i < 5; i++)\n        puts(\"tick\"), y++;\n\
        pthread_create(&a, 0, reader, 0);\n    pthread_create(&b, 0, writer, 0);\n\
        pthread_join(a, 0);\n    pthread_join(b, 0);\n    assert(y == 4);\n}\n";
    let file = program("many.c", text);
    let trace = scratch("native-replay-one").join("trace.json");
    let path = trace.display();
    let found = check(&format!("{file} --model sc --cc gcc --trace {path}"));
    assert!(found.contains("assertion failed: y == 4"), "{found}");
    let again = output(&mut raddle(&format!("replay {path}")));
    assert!(
        again.starts_with("exit 1\nerror[assertion]: thread main: assertion failed: y == 4"),
        "{again}"
    );
    assert_eq!(again.matches("tick").count(), 5, "{again}");
}

/// The execution of a litmus test is a history and a schedule.
#[test]
fn executions_of_litmus_tests_are_replayed() {
    let trace = scratch("litmus-replay").join("trace.txt");
    let path = trace.display();
    let found =
        check(&format!("examples/store-buffering.litmus --model tso --explain --trace {path}"));
    let again = output(&mut raddle(&format!("replay {path}")));
    let head = "exit 0\ntso allows this execution of exists ";
    assert!(again.starts_with(head), "{again}");
    let execution = again.split("\n\n").nth(1).expect("an execution");
    assert!(found.contains(execution.trim_end()), "{found}\n{again}");
    let verified = output(&mut raddle(&format!("verify {path} --model sc,tso")));
    assert!(verified.contains("inconsistent  consistent"), "{verified}");
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let under_sc = text.replacen("\"tso\"", "\"sc\"", 1);
    std::fs::write(&trace, under_sc).expect("it can be written");
    let again = output(&mut raddle(&format!("replay {path}")));
    let expected = "sc does not allow the recorded execution";
    assert_eq!(again, format!("exit 2\n{path}: {expected}"));
}

#[test]
fn files_that_are_no_traces_are_rejected() {
    let again = output(&mut raddle("replay examples/peterson.c"));
    assert!(
        again.starts_with(
            "exit 2\nexamples/peterson.c: not a trace that `raddle check --trace` writes"
        ),
        "{again}"
    );
    let again = output(&mut raddle("replay examples/nothing"));
    let expected = "examples/nothing: cannot read: No such file or directory (os error 2)";
    assert_eq!(again, format!("exit 2\n{expected}"));
}

#[test]
fn json_has_the_bug_and_its_trace() {
    let answer = check("corpus/c/errors/race.c --json --cc gcc");
    let object: serde_json::Value = serde_json::from_str(answer.trim_start_matches("exit 1\n"))
        .unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert_eq!(object["verdict"], "bug");
    assert_eq!(object["bug"]["kind"], "race");
    assert_eq!(object["bug"]["place"], "corpus/c/errors/race.c:7");
}

#[test]
fn a_missing_file() {
    assert_snapshot!(check("nothing.c --cc gcc"), @r"
    exit 2
    nothing.c: cannot read: No such file or directory (os error 2)
    ");
}

#[test]
fn a_file_that_is_not_c() {
    let file = program("text.c", "This is no program.\n");
    let answer = check(&format!("{file} --cc gcc"));
    assert!(answer.starts_with("exit 2\n"), "{answer}");
    assert!(answer.contains("the compiler refuses the program:"), "{answer}");
    assert!(answer.contains("text.c:1:1: error: unknown type name"), "{answer}");
}

#[test]
fn a_program_without_main() {
    let file = program("nomain.c", "int x;\n");
    let answer = check(&format!("{file} --cc gcc"));
    assert_eq!(answer, format!("exit 2\n{file}: the program has no function main"));
}

#[test]
fn a_program_that_does_not_link() {
    let file = program("twice.c", "int x = 1;\nint main(void) { return x; }\n");
    let other = program("other.c", "int x = 2;\n");
    let answer = check(&format!("{file} {other} --cc gcc"));
    assert!(answer.starts_with("exit 2\n"), "{answer}");
    assert!(answer.contains("multiple definition of `x'"), "{answer}");
}

#[test]
fn a_missing_compiler() {
    assert_snapshot!(check("examples/peterson.c --cc no-such-compiler"), @r"
    exit 2
    examples/peterson.c: no C compiler: no-such-compiler does not run (choose one with --cc, or install gcc or clang)
    ");
}

#[test]
fn compiled_programs() {
    let file = program("program.so", "");
    let answer = check(&file);
    let expected = format!("exit 2\n{file}: {file}: neither C or C++");
    assert!(answer.starts_with(&expected), "{answer}");
    let source = program("compiled.c", "int n;\nint main(void) { return n; }\n");
    let object = scratch("program-compiled").join("compiled.o").display().to_string();
    let compile = |flags: &[&str]| {
        let mut command = Command::new("gcc");
        command.args(flags).args(["-c", &source, "-o", &object]);
        assert!(command.status().expect("there is gcc").success());
        check(&format!("{object} --cc gcc"))
    };
    let flags = ["-O0", "-g", "-fPIC", "-fno-builtin", "-fsanitize=thread", "-fcf-protection=none"];
    let answer = compile(&flags);
    assert!(answer.starts_with("exit 0\n"), "{answer}");
    let answer = compile(&["-O2"]);
    assert!(answer.starts_with(&format!("exit 0\n{object}, tso: clean")), "{answer}");
    let answer = check(&format!("{object} --cc gcc --model c20"));
    let expected = "x86 instructions have no memory orders, which c20 requires: use sc, tso or pso";
    assert_eq!(answer, format!("exit 2\n{object}: {expected}"));
    let answer = check(&format!("{object} --cc gcc --model pso"));
    let note = format!(
        "note: {object} is machine code: under pso its stores by plain mov instructions are unordered"
    );
    assert!(answer.contains(&note), "{answer}");
}

#[test]
fn a_leak_is_found_with_the_option() {
    assert!(check("corpus/c/errors/leak.c --cc gcc").starts_with("exit 0\n"));
    assert_snapshot!(check("corpus/c/errors/leak.c --cc gcc --leaks"), @r#"
    exit 1
    corpus/c/errors/leak.c, c20:
    error[leak]: leak: nothing points to a block of 4 bytes at the end, which was allocated at corpus/c/errors/leak.c:5
     --> corpus/c/errors/leak.c:5:5
      |
    5 |     int *block = malloc(sizeof *block);
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    To replay this execution: raddle check --trace FILE ..., then raddle replay FILE

    1 execution class explored, 1 thread run
    "#);
}

#[test]
fn a_crash_is_a_finding() {
    assert_snapshot!(check("corpus/c/errors/null.c --cc gcc"));
}

#[test]
fn unsupported_calls_are_rejected_with_their_place() {
    assert_snapshot!(check("corpus/c/errors/fork.c --cc gcc"));
}

#[test]
fn an_endless_loop_is_found() {
    assert_snapshot!(check("corpus/c/errors/endless.c --cc gcc"));
}

#[test]
fn output_is_shown_for_the_execution_that_fails() {
    assert_snapshot!(check("corpus/c/pthreads/output.c --cc gcc"));
}

#[test]
fn a_bounded_exploration_says_so() {
    let answer = check("corpus/c/tables/readers.c --cc gcc --max-executions 2");
    assert!(answer.starts_with("exit 3\n"), "{answer}");
    assert!(answer.contains("incomplete: the limit on executions was reached"), "{answer}");
}

#[test]
fn a_program_whose_executions_are_all_blocked_is_not_clean() {
    let text = "void __VERIFIER_assume(int);\nint main(void) { __VERIFIER_assume(0); }\n";
    let file = program("blocked.c", text);
    let expected = "incomplete: nothing was checked, as every execution is blocked";
    assert_eq!(
        check(&format!("{file} --cc gcc")),
        format!(
            "exit 3\n{file}, c20: {expected}\n0 execution classes explored, 1 more blocked, 1 thread run"
        )
    );
}

#[test]
fn states_of_semaphores_and_barriers_are_shown_in_words() {
    let text = r"
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static pthread_barrier_t b;
static void *run(void *a) { pthread_barrier_wait(&b); return a; }
int main(void) {
    pthread_t t;
    sem_init(&s, 0, 1);
    pthread_barrier_init(&b, 0, 3);
    pthread_create(&t, 0, run, 0);
    sem_wait(&s);
    sem_wait(&s);
}";
    let file = program("objects.c", text);
    let printed = check(&format!("{file} --model sc --cc gcc"));
    let without_place = |line: &str| {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let text = line.split("  ").map(str::trim).find(|part| !part.is_empty())?;
        match text.rsplit_once(" (") {
            Some((before, place)) if place.contains("objects.c:") => Some(before.to_owned()),
            _ => Some(text.to_owned()),
        }
    };
    let lines: Vec<String> = printed.lines().filter_map(without_place).collect();
    assert_eq!(
        lines.iter().filter(|line| line.contains("(Semaphore)")).collect::<Vec<_>>(),
        [
            "s (Semaphore): 0 -> 1 (initial)",
            "s (Semaphore): 1 -> 0 (step 1)",
            "main waits for s (Semaphore): the semaphore is 0 since step 4",
        ]
    );
    assert_eq!(
        lines.iter().filter(|line| line.contains("(Barrier)")).collect::<Vec<_>>(),
        [
            "b (Barrier): 0 -> 0 of 3 (initial)",
            "b (Barrier): 0 of 3 -> 1 of 3 (step 2)",
            "run waits for b (Barrier): 1 of 3 threads has arrived since step 5",
        ]
    );
}

#[test]
fn the_corpus_exists() {
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/oracle.tsv").exists());
}

#[test]
fn a_loop_that_does_not_end_is_named_with_a_remedy() {
    let directory = scratch("unroll");
    let text = "#include <stdatomic.h>
#include <threads.h>
atomic_int n, stop;
int up(void *unused) { while (!stop) n++; return n; }
int main(void) {
    thrd_t thread;
    thrd_create(&thread, up, 0);
    return n == 7 || (stop = 1);
}
";
    let program = write(&directory, "up.c", text);
    let check = |options: &str| {
        run(&format!("check {program} --model sc {options}")).replace(&program, "up.c")
    };
    let printed = check("--unroll 2");
    let reason =
        "a loop has more rounds than it may have: thread main/0 was stopped at up.c:4 in up";
    assert!(printed.starts_with("exit 3\n") && printed.contains(reason), "{printed}");
    let printed = check("--max-events 100");
    let reason = " rounds of the loop at up.c:4 in up: bound its rounds with --unroll, or test with --explorer random\n";
    assert!(printed.starts_with("exit 3\n") && printed.contains(reason), "{printed}");
}
