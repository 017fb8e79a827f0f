//! Small programs, from source to verdict.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Outcome, Verdict};
use raddle_core::program::OpKind;
use raddle_native::{Error, Object, Request, build, check, check_built};
use tempfile::NamedTempFile;

use crate::harness::is_installed;

/// A file with a text.
fn file(ending: &str, text: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("it can be written");
    file
}

/// A program with this text, compiled. It is compiled once for all models.
fn built_from(text: &str, ending: &str, compiler: &str) -> Object {
    type Key = (String, String, String);
    static BUILT: Mutex<BTreeMap<Key, Object>> = Mutex::new(BTreeMap::new());
    let key = (text.to_owned(), ending.to_owned(), compiler.to_owned());
    let known = BUILT.lock().expect("no panic").get(&key).cloned();
    known.unwrap_or_else(|| {
        let file = file(ending, text);
        let mut source = Request::new(&[file.path()]).source;
        source.compiler = Some(compiler.to_owned());
        let object = build(&source).unwrap_or_else(|error| panic!("{compiler}: {error}"));
        BUILT.lock().expect("no panic").insert(key, object.clone());
        object
    })
}

/// Explores a program under a model, compiled by gcc, and by clang where it is installed: the same must come out. (A thread
/// that waits in a loop may go round once more with clang, as it keeps more on the stack.)
fn explore_by(compilers: [&str; 2], ending: &str, text: &str, model: Model) -> Outcome {
    let request = Request { model, ..Request::new(&[]) };
    let by = |compiler: &str| {
        let outcome = check_built(&built_from(text, ending, compiler), &request);
        outcome.unwrap_or_else(|error| panic!("{compiler}: {error}"))
    };
    let outcome = by(compilers[0]);
    if is_installed(compilers[1]) {
        let told = |outcome: &Outcome| {
            let kind = outcome.kind();
            let classes = Some(outcome.counts.classes).filter(|_| outcome.counts.blocked == 0);
            (outcome.verdict, classes, kind)
        };
        assert_eq!(told(&outcome), told(&by(compilers[1])), "{compilers:?}, {model}");
    }
    outcome
}

/// Explores a C program under a model.
fn explore(text: &str, model: Model) -> Outcome {
    explore_by(["gcc", "clang"], ".c", text, model)
}

fn bug_of(text: &str, model: Model) -> (FindingKind, String) {
    let outcome = explore(text, model);
    let classes = outcome.counts.classes;
    let bug = outcome.into_finding().unwrap_or_else(|| panic!("no bug in {classes} classes"));
    (bug.kind, bug.message)
}

const STORE_BUFFERING: &str = "
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int x, y;
int a, b;
void *one(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    a = atomic_load_explicit(&y, memory_order_relaxed);
    return 0;
}
void *two(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    b = atomic_load_explicit(&x, memory_order_relaxed);
    return 0;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    CHECK;
    return 0;
}
";

#[test]
fn store_buffering_has_as_many_classes_as_the_model_allows() {
    let program = STORE_BUFFERING.replace("CHECK", "");
    for (model, classes) in [(Model::Sc, 3), (Model::Tso, 4), (Model::Pso, 4), (Model::C20, 4)] {
        let outcome = explore(&program, model);
        assert_eq!(
            (outcome.verdict, outcome.counts.classes),
            (Verdict::Clean, classes),
            "{model:?}"
        );
    }
}

#[test]
fn store_buffering_fails_only_under_weak_models() {
    let program = STORE_BUFFERING.replace("CHECK", "assert(a == 1 || b == 1)");
    assert_eq!(explore(&program, Model::Sc).verdict, Verdict::Clean);
    for model in [Model::Tso, Model::Pso, Model::C20] {
        let (kind, message) = bug_of(&program, model);
        assert_eq!(kind, FindingKind::Assertion);
        assert_eq!(message, "thread main: assertion failed: a == 1 || b == 1");
    }
}

/// A program with these variables, functions of threads (which get a number from 0) and a check in the end.
fn parallel(globals: &str, threads: &[&str], check: &str) -> String {
    let mut text =
        format!("#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n{globals}\n");
    for (at, body) in threads.iter().enumerate() {
        text += &format!("static void *run{at}(void *argument) {{ {body}; return 0; }}\n");
    }
    text += "int main(void) { pthread_t threads[8];\n";
    for at in 0..threads.len() {
        text += &format!("pthread_create(&threads[{at}], 0, run{at}, 0);\n");
    }
    for at in 0..threads.len() {
        text += &format!("pthread_join(threads[{at}], 0);\n");
    }
    text + check + "; return 0; }\n"
}

#[test]
fn plain_accesses_are_buffered_under_tso_and_race_under_c20() {
    let program = parallel("int x, y, a, b;", &["x = 1; a = y", "y = 1; b = x"], "assert(a || b)");
    assert_eq!(explore(&program, Model::Sc).counts.classes, 3);
    assert_eq!(bug_of(&program, Model::Tso).0, FindingKind::Assertion);
    assert_eq!(bug_of(&program, Model::Pso).0, FindingKind::Assertion);
    assert_eq!(bug_of(&program, Model::C20).0, FindingKind::Race);
}

/// The messages and lines of the places that take part in the first finding.
fn related_lines(text: &str, model: Model) -> Vec<(String, String)> {
    let finding = explore(text, model).into_finding().expect("a bug");
    let line = |place: &str| place.rsplit(':').next().unwrap_or_default().to_owned();
    let related = finding.related.into_iter();
    related.map(|related| (related.message, line(related.place.as_str()))).collect()
}

#[test]
fn findings_name_the_other_places_that_take_part() {
    let racy = "#include <pthread.h>\nint x;\nvoid *run(void *it) {\nx = 1;\nreturn it; }\nint main(void) {
        pthread_t t; pthread_create(&t, 0, run, 0);\nx = 2;\npthread_join(t, 0); return 0; }\n";
    let other = |message: &str, line: &str| vec![(String::from(message), String::from(line))];
    assert_eq!(related_lines(racy, Model::C20), other("main writes x", "8"));
    let stuck = "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nvoid *run(void *it) {
        pthread_mutex_lock(&m);\nreturn it; }\nint main(void) { pthread_t t;\npthread_mutex_lock(&m);
        pthread_create(&t, 0, run, 0);\npthread_join(t, 0); return 0; }\n";
    assert_eq!(related_lines(stuck, Model::Sc), other("run waits here", "4"));
}

#[test]
fn fences_in_inline_assembly_are_fences() {
    for fence in ["mfence", "lock; addl $0,0(%%rsp)"] {
        let fence = format!("__asm__ volatile(\"{fence}\" ::: \"memory\")");
        let threads = [format!("x = 1; {fence}; a = y"), format!("y = 1; {fence}; b = x")];
        let program = parallel("int x, y, a, b;", &[&threads[0], &threads[1]], "assert(a || b)");
        let outcome = explore(&program, Model::Tso);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 3));
    }
}

#[test]
fn locked_instructions_in_inline_assembly_are_atomic() {
    let add = "__asm__ volatile(\"lock; incl %0\" : \"+m\"(x))";
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let outcome = explore(&parallel("int x;", &[add, add], "assert(x == 2)"), model);
        // Nobody uses the flags. Under C20 the second instruction synchronizes with the first.
        let classes = if model == Model::C20 { 2 } else { 1 };
        let told = (outcome.verdict, outcome.counts.classes);
        assert_eq!(told, (Verdict::Clean, classes), "{outcome}");
    }
    let plain = "__asm__ volatile(\"incl %0\" : \"+m\"(x))";
    let program = parallel("int x;", &[plain, plain], "assert(x == 2)");
    assert_eq!(bug_of(&program, Model::Sc).0, FindingKind::Assertion);
    assert_eq!(bug_of(&program, Model::C20).0, FindingKind::Race);
}

#[test]
fn mutexes_exclude_and_each_order_is_a_class() {
    let body = "pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m)";
    let globals = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;";
    let program = parallel(globals, &[body, body, body], "assert(n == 3)");
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let outcome = explore(&program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 6), "{model:?}");
    }
}

#[test]
fn a_mutex_that_is_tried_may_be_taken_or_not() {
    let program = parallel(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;",
        &[
            "if (pthread_mutex_trylock(&m) == 0) { n++; pthread_mutex_unlock(&m); }",
            "pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m)",
        ],
        "assert(n == 1 || n == 2)",
    );
    let outcome = explore(&program, Model::C20);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 3));
}

#[test]
fn locks_in_two_orders_deadlock() {
    let lock = |a: char, b: char| {
        format!(
            "pthread_mutex_lock(&{a}); pthread_mutex_lock(&{b}); pthread_mutex_unlock(&{b}); pthread_mutex_unlock(&{a})"
        )
    };
    let globals = "pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;";
    let program = parallel(globals, &[&lock('a', 'b'), &lock('b', 'a')], "");
    let (kind, message) = bug_of(&program, Model::Sc);
    assert_eq!(
        (kind, &*message),
        (FindingKind::Deadlock, "deadlock: main, run0, run1 wait forever")
    );
    let program = parallel(globals, &[&lock('a', 'b'), &lock('a', 'b')], "");
    assert_eq!(explore(&program, Model::Sc).counts.classes, 2);
}

#[test]
fn unlocking_what_another_thread_holds_is_wrong() {
    let globals = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let program = parallel(globals, &["pthread_mutex_unlock(&m)"], "");
    assert_eq!(bug_of(&program, Model::C20).0, FindingKind::Misuse);
}

#[test]
fn arguments_and_results_of_threads_are_passed() {
    let program = "
#include <pthread.h>
#include <assert.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int sum;
static void *add(void *argument) {
    int *number = argument;
    pthread_mutex_lock(&m); sum += *number; pthread_mutex_unlock(&m);
    int *result = malloc(sizeof *result);
    *result = *number * 10;
    return result;
}
int main(void) {
    pthread_t threads[3]; int numbers[3], total = 0;
    for (int i = 0; i < 3; i++) { numbers[i] = i + 1; pthread_create(&threads[i], 0, add, &numbers[i]); }
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        total += *(int *)result;
        free(result);
    }
    assert(sum == 6 && total == 60);
    return 0;
}";
    for model in [Model::Sc, Model::Pso, Model::C20] {
        let outcome = explore(program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 6), "{model:?}");
    }
}

#[test]
fn thread_local_variables_are_each_threads_own() {
    let body = "v++; z--; assert(v == 8 && z == -1)";
    let globals = "__thread int v = 7; __thread int z;";
    let outcome =
        explore(&parallel(globals, &[body, body], "assert(v == 7 && z == 0)"), Model::C20);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1));
}

#[test]
fn a_thread_may_share_its_stack_and_its_locals() {
    let program = "
#include <pthread.h>
#include <assert.h>
static __thread int local = 4;
static void *child(void *argument) { int **all = argument; *all[0] += 1; *all[1] += 2; return 0; }
static void grandparent(int depth) {
    int here = depth; int *all[2] = { &here, &local };
    pthread_t thread;
    pthread_create(&thread, 0, child, all);
    pthread_join(thread, 0);
    assert(here == depth + 1);
    if (depth) grandparent(depth - 1);
}
int main(void) { grandparent(2); assert(local == 10); return 0; }";
    for model in [Model::Sc, Model::C20] {
        let outcome = explore(program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1), "{model:?}");
    }
}

#[test]
fn a_loop_that_waits_is_followed_to_its_end() {
    let globals = "atomic_int flag; int data;";
    let waits = "while (!atomic_load_explicit(&flag, memory_order_acquire)); assert(data == 42)";
    let sets = "data = 42; atomic_store_explicit(&flag, 1, memory_order_release)";
    let outcome = explore(&parallel(globals, &[waits, sets], ""), Model::C20);
    assert_eq!(outcome.verdict, Verdict::Clean);
    let relaxed = sets.replace("release", "relaxed");
    assert_eq!(bug_of(&parallel(globals, &[waits, &relaxed], ""), Model::C20).0, FindingKind::Race);
}

/// What such a thread reads it gets from a hook that we inserted, which puts all registers on the stack. What others leave
/// in them must not depend on how they were served.
#[test]
fn a_loop_that_waits_for_a_struct_comes_back() {
    let globals = "struct S { long c; } s;
        static void bump(int *p) { *p += 1; *p -= 1; }
        static long get(struct S x) { return x.c; }";
    for body in ["", "bump(&own)", "other.c = 0"] {
        let waits = format!(
            "int own = 0; struct S other = {{0}}, *p = &other; while (!get(s)) {{ {body}; }} own += p->c"
        );
        let outcome = explore(&parallel(globals, &[&waits, "s.c = 0; s.c = 1"], ""), Model::Sc);
        let counts = (outcome.verdict, outcome.counts.classes, outcome.counts.blocked);
        assert_eq!(counts, (Verdict::Clean, 3, 0), "{body}");
    }
}

#[test]
fn a_loop_that_waits_for_nobody_is_a_livelock() {
    let program = parallel("atomic_int flag;", &["while (!flag)"], "");
    assert_eq!(
        bug_of(&program, Model::Sc),
        (FindingKind::Livelock, String::from("livelock: run0 spins forever"))
    );
}

#[test]
fn peterson_needs_fences_under_tso() {
    let thread = |me: u32| {
        let other = 1 - me;
        format!(
            "flag[{me}] = 1; turn = {other}; FENCE; while (flag[{other}] && turn == {other}); \
             in++; assert(in == 1); in--; flag[{me}] = 0"
        )
    };
    let program = parallel("volatile int flag[2], turn; int in;", &[&thread(0), &thread(1)], "");
    let without = program.replace("FENCE", "");
    let with = program.replace("FENCE", "__sync_synchronize()");
    assert_eq!(explore(&without, Model::Sc).verdict, Verdict::Clean);
    assert_eq!(bug_of(&without, Model::Tso).0, FindingKind::Assertion);
    assert_eq!(explore(&with, Model::Tso).verdict, Verdict::Clean);
    assert_eq!(bug_of(&with, Model::Pso).0, FindingKind::Assertion);
}

/// What goes wrong in a program with this main function.
fn crash(globals: &str, body: &str) -> (FindingKind, String) {
    let program = format!(
        "#include <stdlib.h>\n#include <unistd.h>\n{globals}\nint main(void) {{\n{body}\nreturn 0; }}\n"
    );
    bug_of(&program, Model::C20)
}

#[test]
fn crashes_are_findings() {
    let cases = [
        ("int *p;", "return *p;", FindingKind::Crash, "a null pointer is followed"),
        ("int z;", "return 3 / z;", FindingKind::Crash, "division by zero, or overflow in one"),
        (
            "",
            "*(volatile int *)0x123456789000 = 1;",
            FindingKind::Crash,
            "access to invalid memory at 0x123456789000",
        ),
        (
            "void (*f)(void) = (void *)0x1234567;",
            "f();",
            FindingKind::Crash,
            "jump to an address that is no code at 0x1234567",
        ),
        (
            "int f(int n) { volatile char b[1000]; b[0] = n; return f(n + 1) + b[0]; }",
            "return f(0);",
            FindingKind::StackOverflow,
            "the stack overflowed",
        ),
        ("", "abort();", FindingKind::Abort, "the program calls abort"),
        (
            "",
            "for (;;);",
            FindingKind::EndlessLoop,
            "loops forever without waiting for another thread",
        ),
        (
            "static void know(int *p) { (void)p; }",
            "int own; know(&own); for (;;) own = 1;",
            FindingKind::EndlessLoop,
            "loops forever without waiting for another thread",
        ),
        ("", "return fork();", FindingKind::Unsupported, "calls fork, which Raddle does not model"),
        ("", "*(char *)\"constant\" = 1;", FindingKind::Crash, "write to read-only memory"),
    ];
    for (globals, body, kind, message) in cases {
        let (found, said) = crash(globals, body);
        assert_eq!(found, kind, "{body}: {said}");
        assert!(said.starts_with(&format!("thread main: {message}")), "{body}: {said}");
    }
}

/// The store is told, though between it and the crash there are only accesses that need no service.
#[test]
fn what_was_stored_before_a_crash_is_told() {
    let program = parallel(
        "static int x;
         static void know(int *p) { (void)p; }",
        &[
            "int y = x; (void)y;",
            "x = 7; int own[2]; know(own); own[0] = 1; own[1] = own[0] - 1; own[0] /= own[1];",
        ],
        "",
    );
    let outcome = explore(&program, Model::Sc);
    let bug = outcome.into_finding().expect("a crash");
    assert_eq!(bug.kind, FindingKind::Crash);
    let is_store = |kind: OpKind| matches!(kind, OpKind::Store { value: 7, .. });
    let events = &bug.trace.expect("an execution").trace.events;
    assert!(events.iter().any(|event| is_store(event.op.kind)), "{events:?}");
}

#[test]
fn wrong_uses_of_blocks_are_found() {
    let cases = [
        ("int *p = malloc(4); free(p); return *p;", FindingKind::UseAfterFree),
        ("int *p = malloc(4); free(p); *p = 1;", FindingKind::UseAfterFree),
        ("int *p = malloc(4); free(p); free(p);", FindingKind::DoubleFree),
        ("int x; free(&x);", FindingKind::DoubleFree),
        ("char *p = malloc(4); free(p + 1);", FindingKind::DoubleFree),
        ("int *p = malloc(4); p[1] = 3;", FindingKind::HeapOverflow),
        ("char *p = malloc(6); *(int *)(p + 4) = 3;", FindingKind::HeapOverflow),
        ("int *p = malloc(4); return p[-1];", FindingKind::HeapOverflow),
        ("int *p = calloc(2, 4); return p[2] + p[1];", FindingKind::HeapOverflow),
    ];
    for (body, kind) in cases {
        let (found, said) = crash("", body);
        assert_eq!(found, kind, "{body}: {said}");
    }
}

#[test]
fn a_block_that_is_freed_while_another_thread_uses_it() {
    let program = "
#include <pthread.h>
#include <stdlib.h>
int *p;
static void *use(void *unused) { return (void *)(long)*p; }
int main(void) {
    pthread_t thread;
    p = malloc(4);
    *p = 3;
    pthread_create(&thread, 0, use, 0);
    FREE;
    pthread_join(thread, 0);
    FREE_LATER;
    return 0;
}";
    let early = program.replace("FREE_LATER", "").replace("FREE", "free(p)");
    let late = program.replace("FREE_LATER", "free(p)").replace("FREE", "");
    for model in [Model::Sc, Model::C20] {
        assert_eq!(bug_of(&early, model).0, FindingKind::UseAfterFree, "{model:?}");
        assert_eq!(explore(&late, model).verdict, Verdict::Clean, "{model:?}");
    }
}

#[test]
fn a_store_to_a_block_that_was_freed_under_a_lock() {
    let globals = "#include <stdlib.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int *p; atomic_int *q;";
    let frees = "pthread_mutex_lock(&m); free(p); pthread_mutex_unlock(&m)";
    let stores = "pthread_mutex_lock(&m); STORE; pthread_mutex_unlock(&m)";
    for store in ["*p = 1", "atomic_store(q, 1)"] {
        let program = parallel(globals, &[frees, &stores.replace("STORE", store)], "");
        let program = program.replace(
            "pthread_t threads[8];",
            "pthread_t threads[8]; p = malloc(4); q = (atomic_int *)p;",
        );
        for model in [Model::Sc, Model::C20] {
            assert_eq!(bug_of(&program, model).0, FindingKind::UseAfterFree, "{store} {model:?}");
        }
    }
}

#[test]
fn the_time_stamp_counter_is_the_same_in_every_run() {
    let body =
        "atomic_store(&x, (int)__builtin_ia32_rdtsc()); atomic_load(&y); atomic_store(&y, 1)";
    let outcome = explore(&parallel("atomic_int x, y;", &[body, body], ""), Model::Sc);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 3), "{outcome}");
}

#[test]
fn parts_of_variables_have_names() {
    let globals = "typedef struct { int head; struct { short a, b; } slots[2][3]; } queue; static queue all[2]; ";
    let program = parallel(globals, &["all[1].slots[1][2].b = 1", "all[1].slots[1][2].b = 2"], "");
    let (kind, message) = bug_of(&program, Model::C20);
    assert_eq!(kind, FindingKind::Race);
    assert!(message.starts_with("data race on all[1].slots[1][2].b between"), "{message}");
}

#[test]
fn two_threads_that_free_the_same_block() {
    let program = parallel("#include <stdlib.h>\nint *p;", &["free(p)", "free(p)"], "");
    let program = program.replace("pthread_t threads[8];", "pthread_t threads[8]; p = malloc(4);");
    assert_eq!(bug_of(&program, Model::Sc).0, FindingKind::DoubleFree);
}

const BY_VALUE: &str = "
#include <pthread.h>
#include <assert.h>
struct s3 { char a, b, c; }; struct s4 { int a; }; struct s8 { int a, b; }; struct s16 { long a, b; };
struct s24 { long a, b, c; }; struct s40 { char c[40]; };
struct s3 g3, h3; struct s4 g4, h4; struct s8 g8, h8; struct s16 g16, h16; struct s24 g24, h24;
struct s40 g40, h40;
long double ld, le;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long of8(struct s8 s) { return s.a + s.b; }
static long of16(struct s16 s) { return s.a + s.b; }
static long of24(struct s24 s) { return s.a + s.b + s.c; }
static long of40(struct s40 s) { return s.c[0] + s.c[39]; }
static struct s8 get8(void) { return g8; }
static struct s24 get24(void) { return g24; }
static struct s40 get40(void) { return g40; }
static void *work(void *x) {
    struct s24 *out = x;
    pthread_mutex_lock(&m);
    h4 = g4; h4.a++; g4 = h4;
    struct s8 l8 = get8(); l8.a++; l8.b += 2; h8 = l8; g8 = h8;
    g16.a++; g16.b += 2; h16 = g16;
    g24.a++; g24.c += 2; h24 = get24();
    g3.b++; h3 = g3;
    g40.c[0]++; g40.c[39]++; h40 = get40();
    ld = ld + 1; le = ld;
    *out = h24;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t[2]; struct s24 outs[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, &outs[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(h4.a == 2 && g4.a == 2);
    assert(of8(h8) == 6); assert(of16(h16) == 6); assert(of24(h24) == 6); assert(h3.b == 2);
    assert(of40(h40) == 4);
    assert(le == 2);
    assert(of24(outs[0]) + of24(outs[1]) == 9);
    return 0;
}";

#[test]
fn structs_by_value_have_their_values() {
    for model in [Model::Sc, Model::Tso, Model::C20] {
        let outcome = explore(BY_VALUE, model);
        let bug = outcome.finding().map(|bug| bug.message.as_str());
        assert_eq!(
            (outcome.verdict, outcome.counts.classes, bug),
            (Verdict::Clean, 2, None),
            "{model:?}"
        );
    }
}

#[test]
fn bit_fields_keep_their_neighbours() {
    let body = "pthread_mutex_lock(&m); b.x++; b.y += 2; b.z = 5; pthread_mutex_unlock(&m)";
    let globals =
        "struct { unsigned z:3, x:5, y:20; } b; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let program = parallel(globals, &[body, body], "assert(b.x == 2 && b.y == 4 && b.z == 5)");
    let outcome = explore(&program, Model::C20);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2));
}

#[test]
fn two_bit_fields_of_one_unit_race() {
    let program = parallel("struct { unsigned x:4, y:4; } b;", &["b.x = 1", "b.y = 1"], "");
    assert_eq!(bug_of(&program, Model::C20).0, FindingKind::Race);
    let program = program.replace("; return 0; }\n", "; assert(b.x && b.y); return 0; }\n");
    let _ = explore(&program, Model::Sc);
}

#[test]
fn atomic_accesses_of_every_size_and_kind() {
    let globals = "atomic_uchar a; atomic_ushort b; atomic_uint c; atomic_ulong d; _Bool done;";
    let body = "atomic_fetch_add(&a, 200); atomic_fetch_sub(&b, 1); atomic_fetch_or(&c, 6); \
                atomic_fetch_and(&c, ~2u); atomic_fetch_xor(&d, ~0ul); atomic_exchange(&d, 7); \
                unsigned e = 4; atomic_compare_exchange_strong(&c, &e, 9)";
    let check = "assert(a == (unsigned char)400 && b == 65534 && d == 7 && (c == 9 || c == 13))";
    let outcome = explore(
        &parallel(globals, &[body], "assert(a == 200 && b == 65535 && c == 9 && d == 7)"),
        Model::C20,
    );
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1));
    let outcome = explore(&parallel(globals, &[body, body], check), Model::Sc);
    assert_eq!(outcome.finding().map(|bug| bug.message.as_str()), None);
    assert_eq!(outcome.verdict, Verdict::Clean);
}

#[test]
fn arithmetic_on_16_bytes_wraps_around() {
    let globals = "_Atomic unsigned __int128 x = -1;";
    let add = "x += 1; x -= (unsigned __int128)1 << 127; x ^= 5";
    let check = "assert(x == ((unsigned __int128)1 << 127) + 5)";
    for model in [Model::Tso, Model::C20] {
        let program = parallel(globals, &[add], check);
        let outcome = explore(&program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1), "{model}");
        let program = parallel(globals, &["x += 1", "x += 1"], "assert(x == 1)");
        let outcome = explore(&program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{model}");
    }
}

#[test]
fn accesses_of_different_sizes_are_cut() {
    let globals =
        "union { int whole; short half[2]; } u; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let halves = "pthread_mutex_lock(&m); u.half[1]++; pthread_mutex_unlock(&m)";
    let whole = "pthread_mutex_lock(&m); u.whole++; pthread_mutex_unlock(&m)";
    let program = parallel(globals, &[halves, whole], "assert(u.whole == 65537)");
    let outcome = explore(&program, Model::C20);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2));
    for model in [Model::Sc, Model::Tso] {
        let outcome = explore(&program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{model}");
    }
    let outcome = explore(&program, Model::Pso);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2));
    let atomic = "union { atomic_int whole; short half[2]; } u;";
    let program = parallel(atomic, &["u.half[1]++", "u.whole++"], "");
    assert_eq!(bug_of(&program, Model::C20).0, FindingKind::Race);
}

#[test]
fn accesses_of_different_sizes_need_no_order() {
    let globals = "union { int whole; short half[2]; } u;";
    let check = "assert(u.whole == 2 || u.whole == 65538)";
    let program = parallel(globals, &["u.half[1] = 1", "u.whole = 2"], check);
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let outcome = explore(&program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{model}");
    }
    assert_eq!(bug_of(&program, Model::C20).0, FindingKind::Race);
    let one =
        parallel(globals, &["u.half[0] = 1; u.half[1] = 1; u.whole++"], "assert(u.whole == 65538)");
    for model in [Model::Sc, Model::Tso, Model::C20] {
        let outcome = explore(&one, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1), "{model}");
    }
}

/// Only accesses of the same bytes must be ordered.
#[test]
fn pieces_that_do_not_overlap_need_no_order() {
    let globals = "union { int whole; short half[2]; } u;";
    let program =
        parallel(globals, &["u.half[0] = 1", "u.half[1] = 2"], "assert(u.whole == 131073)");
    for model in [Model::Sc, Model::Tso, Model::C20] {
        let outcome = explore(&program, model);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1), "{model}");
    }
}

#[test]
fn library_functions_read_and_write_shared_memory() {
    let globals =
        "#include <stdlib.h>\nchar text[8]; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let body = "pthread_mutex_lock(&m); text[0]++; if (!text[1]) text[0] += '0'; text[1] = '0'; \
                n = strtol(text, 0, 10); pthread_mutex_unlock(&m)";
    let check = "assert(n == 20)";
    let program = parallel(&format!("{globals} long n;"), &[body, body], check);
    let outcome = explore(&program, Model::C20);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{outcome}");
    let globals = "#include <stdio.h>\nint n, k; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let body = "int a, b, c, d; pthread_mutex_lock(&m); n++; k++; \
                sscanf(\"1 2 3 4 5\", \"%d%d%d%d%d\", &a, &b, &c, &d, &n); n += k; \
                pthread_mutex_unlock(&m)";
    let outcome = explore(&parallel(globals, &[body, body], "assert(n == 7)"), Model::C20);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{outcome}");
    let unlocked =
        body.replace("pthread_mutex_lock(&m);", "").replace("pthread_mutex_unlock(&m)", "");
    let program = parallel(globals, &[&unlocked, &unlocked], "");
    assert_eq!(bug_of(&program, Model::C20).0, FindingKind::Race);
}

#[test]
fn limits_make_a_run_incomplete() {
    let program = parallel("atomic_int x;", &["x++; x++; x++", "x++; x++; x++"], "");
    let mut file = tempfile::Builder::new().suffix(".c").tempfile().expect("a temporary file");
    file.write_all(program.as_bytes()).expect("it can be written");
    let all = check(&Request::new(&[file.path()])).expect("it compiles");
    assert_eq!((all.verdict, all.counts.classes), (Verdict::Clean, 20));
    let few = Request { max_executions: Some(5), ..Request::new(&[file.path()]) };
    let few = check(&few).expect("it compiles");
    assert_eq!((few.verdict, few.counts.classes), (Verdict::Incomplete, 5));
    let short = Request { max_events: 2, ..Request::new(&[file.path()]) };
    let short = check(&short).expect("it compiles");
    assert_eq!(short.verdict, Verdict::Incomplete);
}

/// Threads with more events than can be explored, before anybody asks anything.
#[test]
fn a_run_that_is_too_long_is_incomplete_and_its_bugs_are_found() {
    let verdict = |condition: &str, max_events: u32| {
        let stores = "for (unsigned i = 0; i < 600; i++) store(i)";
        let globals = "atomic_int x; static void store(int i) { atomic_store_explicit(&x, i, memory_order_relaxed); }";
        let program = parallel(globals, &[&format!("assert({condition})"), stores], "");
        let file = file(".c", &program);
        let request = Request { model: Model::Sc, max_events, ..Request::new(&[file.path()]) };
        check(&request).expect("it is explored").verdict
    };
    let default = Request::new(&[]).max_events;
    assert_eq!(verdict("atomic_load(&x) != 5", default), Verdict::Bug);
    assert_eq!(verdict("atomic_load(&x) != 5", 100), Verdict::Bug);
    assert_eq!(verdict("atomic_load(&x) >= 0", 100), Verdict::Incomplete);
}

#[test]
fn bad_input_is_told() {
    let file = |text: &str| {
        let mut file = tempfile::Builder::new().suffix(".c").tempfile().expect("a temporary file");
        file.write_all(text.as_bytes()).expect("it can be written");
        file
    };
    let error = |text: &str| check(&Request::new(&[file(text).path()])).expect_err("it is refused");
    assert_eq!(error("int f(void) { return 0; }"), Error::NoMain);
    assert!(matches!(error("this is not C"), Error::Compiler(said) if said.contains("error:")));
    let missing = std::path::Path::new("/nonexistent/prog.c");
    assert!(matches!(check(&Request::new(&[missing])), Err(Error::File { .. })));
    let good = file("int main(void) { return 0; }");
    let mut request = Request::new(&[good.path()]);
    request.source.compiler = Some(String::from("no-such-compiler"));
    assert_eq!(
        check(&request).expect_err("there is no such compiler"),
        Error::NoCompiler(String::from("no-such-compiler does not run"))
    );
}

/// The loads and stores that a thread does for some statements, in order. The main thread reads the variables
/// in this list as well, so that they are shared.
fn accesses(compiler: &str, globals: &str, shared: &str, statements: &str) -> String {
    let touch = |name: &str| format!("(void)*(volatile __typeof__({name}) *)&{name};");
    let touches: String = shared.split(' ').map(touch).collect();
    let globals = format!("#include <stdlib.h>\n{globals}");
    let program = parallel(&globals, &[statements], &format!("{touches} abort()"));
    let file = file(".c", &program);
    let mut request = Request::new(&[file.path()]);
    request.source.compiler = Some(compiler.to_owned());
    let bug = check(&request).expect("it compiles").into_finding().expect("it aborts");
    let events = &bug.trace.expect("an execution").trace.events;
    let of_thread = events.iter().filter(|event| event.thread.index() == 1);
    let told = of_thread.filter_map(|event| match event.op.kind {
        OpKind::Load { .. } => Some("load"),
        OpKind::Store { .. } => Some("store"),
        _ => None,
    });
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_access_is_one_op() {
    let add = "int n; static void add(int *p, int k) { *p += k; }";
    let pairs = "struct t { int x, y; } s[3], t; int i;";
    // gcc reads the left side of a compound assignment once more, and clang copies three bytes as one and two.
    let cases = [
        ("int a[4], i;", "a[3] i", "a[i]++", "load load store", ""),
        (
            "int a[4], i;",
            "a[3] i",
            "a[i] += a[3]",
            "load load load load store",
            "load load load store",
        ),
        ("struct { int x, y; } s, *p = &s;", "s.x p", "p->y = p->x", "load load load store", ""),
        ("struct t { long x, y; } s, t;", "s.x t.x", "s = t", "load load store store", ""),
        (pairs, "s[2].x t.x i", "s[i] = t", "load load load store", ""),
        (pairs, "s[2].x t.x i", "t = s[i + 1]", "load load store store", ""),
        ("double d; float f;", "d f", "d = f; d += 1", "load store load store", ""),
        (
            "int *p, n;",
            "p n",
            "p = &n; *p = 3; *p += 2",
            "store load store load load load store",
            "store load store load load store",
        ),
        (
            "struct t { char c[3]; } s, t;",
            "s.c[0] t.c[0]",
            "s = t",
            "load load store store load store",
            "load load store store",
        ),
        (add, "n", "int own = 1; add(&n, own); add(&own, n)", "load store load", ""),
        (
            "_Bool b; char c; short s;",
            "b c s",
            "b = c == s; c = s",
            "load load store load store",
            "",
        ),
        ("unsigned long n;", "n", "n <<= 3; n ^= n >> 1", "load store load load store", ""),
        ("int a[2][3], i, j;", "a[0][0] i j", "a[i][j] = i + j", "load load load load store", ""),
        ("long n; int i;", "n i", "n = i ? n : 3; if (n) i = 2", "load store load store", ""),
    ];
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| is_installed(compiler)) {
        let told = cases.map(|(globals, shared, statements, ..)| {
            format!("{statements}: {}", accesses(compiler, globals, shared, statements))
        });
        let expected = cases.map(|(_, _, statements, gcc, clang)| match (compiler, clang) {
            ("gcc", _) | (_, "") => format!("{statements}: {gcc}"),
            _ => format!("{statements}: {clang}"),
        });
        assert_eq!(told, expected, "{compiler}");
    }
}

/// Explores a C++ program under a model.
fn explore_cpp(text: &str, model: Model) -> Outcome {
    explore_by(["g++", "clang++"], ".cpp", text, model)
}

#[test]
fn members_behind_empty_base_classes_have_names() {
    let text = "#include <thread>
        struct empty {}; struct base : empty { int *start, *end; }; struct list { base links; } all;
        int main() {
            std::thread other([] { all.links.start = nullptr; });
            all.links.start = nullptr;
            other.join();
        }";
    let bug = explore_cpp(text, Model::C20).into_finding().expect("a race");
    assert!(bug.message.starts_with("data race on all.links.start between "), "{}", bug.message);
}

#[test]
fn a_string_that_threads_share_has_its_value() {
    let program = "
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
static std::mutex m; static std::string s = \"a\";
int main() {
    std::thread t([] { std::lock_guard<std::mutex> l(m); s += 'b'; });
    { std::lock_guard<std::mutex> l(m); s += 'c'; }
    t.join();
    assert(s == \"abc\" || s == \"acb\");
}";
    let outcome = explore_cpp(program, Model::C20);
    assert_eq!(outcome.finding().map(|bug| bug.message.as_str()), None);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2));
}

#[test]
fn a_thread_finds_its_stack_as_it_left_it() {
    // While main stands at the join in `later`, another history of `writes` writes to where `y` is.
    let numbers =
        |what: &str| (0..24).map(|at| what.replace('#', &at.to_string())).collect::<String>();
    let program = format!(
        "#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
void __VERIFIER_assume(int);
atomic_int a; pthread_t first, second, third;
static void *writes(void *p) {{ int v = atomic_load(&a); for (int i = 0; i < 8; i++) ((int *)p)[i] = v; return 0; }}
static void *blocks(void *p) {{ __VERIFIER_assume(atomic_load(&a) == 1); return 0; }}
static void *sets(void *p) {{ atomic_store(&a, 1); return 0; }}
static void earlier(void) {{
    int x[8];
    pthread_create(&first, 0, writes, x);
    pthread_join(first, 0);
}}
static void later(void) {{
    {}
    pthread_join(second, 0);
    {}
}}
int main(void) {{ ORDER return 0; }}",
        numbers("int y# = 5;"),
        numbers("assert(y# == 5);"),
    );
    let create = ["pthread_create(&second, 0, blocks, 0);", "pthread_create(&third, 0, sets, 0);"];
    for order in [[0, 1], [1, 0]] {
        let creates: String = order.map(|at| create[at]).concat();
        let program = program.replace("ORDER", &format!("{creates} earlier(); later();"));
        let outcome = explore(&program, Model::Sc);
        assert_eq!(outcome.finding().map(|bug| bug.message.as_str()), None);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2));
    }
}

#[test]
fn blocks_of_different_histories_do_not_overlap() {
    let program = parallel(
        "#include <stdlib.h>\natomic_int x; char *p, *other; int n;",
        &[
            "if (x) { p = malloc(100); p[60] = 1; n = 1; } \
             else { other = malloc(8); p = malloc(8); p[0] = 2; other[0] = 3; n = 2; }",
            "x = 1",
        ],
        "if (n == 1) assert(p[60] == 1); else { free(other); assert(p[0] == 2); } free(p)",
    );
    for model in [Model::Sc, Model::C20] {
        let outcome = explore(&program, model);
        assert_eq!(outcome.finding().map(|bug| bug.message.as_str()), None);
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{model:?}");
    }
}
