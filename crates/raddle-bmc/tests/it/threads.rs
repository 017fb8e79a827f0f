//! Joining and detaching threads, lifetimes of variables, weak exchanges, and fences in local code.

use raddle_bmc::{Abstraction, BmcReport};
use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Verdict};

use super::support::{check_text, is_bug};

const HEADERS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n";

fn checked(text: &str, unwind: usize, rounds: usize) -> BmcReport {
    checked_under(Model::Sc, text, unwind, rounds)
}

fn checked_under(model: Model, text: &str, unwind: usize, rounds: usize) -> BmcReport {
    let report = check_text(&format!("{HEADERS}{text}"), |options| {
        (options.model, options.unwind, options.rounds) = (model, unwind, rounds);
    });
    report.expect("the program is supported")
}

/// Line (not counting the headers), kind and message of the bug, without its thread.
fn bug(text: &str) -> String {
    let outcome = checked(text, 2, 3).outcome;
    let Some(bug) = outcome.finding() else { panic!("no bug found: {outcome}") };
    let line = bug.place_text().rsplit(':').next().and_then(|line| line.parse().ok());
    let line: usize = line.unwrap_or(0);
    let message = bug.message.split_once(": ").map_or("", |(_, message)| message);
    format!("{}:{}: {message}", line.saturating_sub(3), bug.kind)
}

fn assert_safe(text: &str, rounds: usize) {
    assert_eq!(checked(text, 2, rounds).outcome.verdict, Verdict::Clean, "{text}");
}

const RUN: &str = "static void *run(void *a) { return a; }\n";

#[test]
fn joining_or_detaching_a_thread_twice_is_misuse() {
    let join = |body: &str| bug(&format!("{RUN}int main(void) {{\npthread_t t;\n{body}\n}}"));
    let create = "pthread_create(&t, 0, run, 0);";
    assert_eq!(
        join(&format!("{create}\npthread_join(t, 0);\npthread_join(t, 0);")),
        "6:misuse: a thread is joined twice"
    );
    assert_eq!(
        join(&format!("{create}\npthread_detach(t);\npthread_join(t, 0);")),
        "6:misuse: a detached thread is joined"
    );
    assert_eq!(
        join(&format!("{create}\npthread_detach(t);\npthread_detach(t);")),
        "6:misuse: a thread is detached twice"
    );
    assert_eq!(
        join(&format!("{create}\npthread_join(t, 0);\npthread_detach(t);")),
        "6:misuse: a joined thread is detached"
    );
    assert_eq!(join("pthread_join(t, 0);"), "4:misuse: the joined id is not the id of a thread");
    assert_eq!(
        join(&format!(
            "pthread_attr_t a;\npthread_attr_init(&a);\npthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);\n\
             {}\npthread_join(t, 0);",
            create.replace("(&t, 0", "(&t, &a")
        )),
        "8:misuse: a detached thread is joined"
    );
}

#[test]
fn concurrent_joins_of_one_thread_are_misuse() {
    let text = "static pthread_t t;\nstatic void *run(void *a) { return a; }\n\
                static void *join(void *a) {\npthread_join(t, 0);\nreturn a; }\n\
                int main(void) {\npthread_create(&t, 0, run, 0);\npthread_t u, v;\n\
                pthread_create(&u, 0, join, 0);\npthread_create(&v, 0, join, 0);\n}";
    assert_eq!(bug(text), "4:misuse: a thread is joined twice");
}

#[test]
fn uses_of_variables_after_their_block_are_reported() {
    assert_eq!(
        bug("static int *f(void) { int x = 1; return &x; }\nint main(void) {\nreturn *f();\n}"),
        "3:use-after-return: a variable is used after the end of its block"
    );
    assert_eq!(
        bug("int main(void) {\nint *p;\n{ int x = 1; p = &x; }\n*p = 2;\n}"),
        "4:use-after-return: a variable is used after the end of its block"
    );
    assert_safe(
        "int main(void) { int x = 1, *p = &x; for (int i = 0; i < 2; i++) *p += 1; assert(x == 3); }",
        2,
    );
    assert_safe(
        "static int add(int *p) { return *p += 1; }\nint main(void) { int x = 1; assert(add(&x) + add(&x) == 5); }",
        2,
    );
    assert_safe(
        "int main(void) { int n = 0; { int x = 0, *p = &x; again: *p += 1; if (++n < 2) goto again; assert(x == 2); } }",
        2,
    );
}

#[test]
fn other_threads_must_not_use_variables_of_returned_functions() {
    let set = "static void *set(void *p) {\n*(int *)p = 1;\nreturn 0; }\n";
    let start =
        "static pthread_t t;\nstatic void start(void) { int x = 0; pthread_create(&t, 0, set, &x);";
    let main = "}\nint main(void) { start();";
    assert_eq!(
        bug(&format!("{set}{start}{main} pthread_join(t, 0); }}")),
        "2:use-after-return: a variable is used after the end of its block"
    );
    assert_safe(&format!("{set}{start} pthread_join(t, 0); assert(x == 1); {main} }}"), 4);
    assert_safe(
        &format!(
            "{set}int main(void) {{ pthread_t t; int x = 0; pthread_create(&t, 0, set, &x); }}"
        ),
        4,
    );
}

#[test]
fn other_threads_must_not_use_variables_of_left_blocks() {
    let set = "static void *set(void *p) {\n*(int *)p = 1;\nreturn 0; }\n";
    let main = |in_block: &str, behind: &str| {
        format!(
            "{set}int main(void) {{ pthread_t t; {{ int x = 0; pthread_create(&t, 0, set, &x); {in_block} }} {behind} }}"
        )
    };
    let join = "pthread_join(t, 0);";
    let expected = "2:use-after-return: a variable is used after the end of its block";
    assert_eq!(bug(&main("", join)), expected);
    assert_safe(&main("pthread_join(t, 0); assert(x == 1);", ""), 4);
    let repeated = |join: &str| {
        format!(
            "{set}int main(void) {{ pthread_t t; for (int i = 0; i < 2; i++) {{ int x = 0; pthread_create(&t, 0, set, &x); {join} }} }}"
        )
    };
    assert_eq!(bug(&repeated("")), expected);
    assert_safe(&repeated(join), 6);
}

#[test]
fn variables_of_ended_threads_must_not_be_used() {
    let thread = |end: &str| {
        format!(
            "static int *_Atomic p;\nstatic void *run(void *a) {{ int x = 1; p = &x; {end} }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, run, 0);\nint *q = p;\nif (q) *q = 2;\n}}"
        )
    };
    let expected = "5:use-after-return: a variable is used after the end of its block";
    assert_eq!(bug(&thread("return a;")), expected);
    assert_eq!(bug(&thread("pthread_exit(0);")), expected);
}

/// With `etso` the content of the lock at the end was arbitrary, so that a free lock could block.
#[test]
fn free_locks_do_not_block_with_any_encoding() {
    let text = format!(
        "{HEADERS}static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int n;\n\
         static void *add(void *a) {{ pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); return a; }}\n\
         int main(void) {{ pthread_t t, u; pthread_create(&t, 0, add, 0); pthread_create(&u, 0, add, 0);\n\
         pthread_join(t, 0); pthread_join(u, 0); assert(n == 2); }}"
    );
    let (tso, pso) = (Model::Tso, Model::Pso);
    let encodings = [
        (tso, Abstraction::Stamps),
        (tso, Abstraction::Simple),
        (tso, Abstraction::Etso),
        (pso, Abstraction::Stamps),
        (pso, Abstraction::Etso),
    ];
    for (model, abstraction) in encodings {
        for rounds in [1, 2, 4] {
            let report = check_text(&text, |options| {
                (options.model, options.abstraction, options.rounds) = (model, abstraction, rounds);
            });
            let outcome = report.expect("the program is supported").outcome;
            let found = outcome.finding().map(ToString::to_string);
            assert_eq!(found, None, "{model}, {abstraction:?}, {rounds} rounds");
            assert_eq!(outcome.verdict, Verdict::Incomplete, "{rounds} rounds");
        }
    }
}

/// Slicing removes the reads of `x`, which nothing depends on.
#[test]
fn threads_may_block_after_statements_that_are_sliced_away() {
    let text = "static int x;\nstatic void *run(void *a) {\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
                int s = x; s += x; s += x;\npthread_mutex_lock(&m);\npthread_mutex_lock(&m);\nreturn 0; }\n\
                int main(void) {\npthread_t t;\npthread_create(&t, 0, run, 0);\nx = 1;\npthread_join(t, 0);\n}";
    let found = bug(text);
    assert!(found.contains("deadlock: main waits at "), "{found}");
    assert!(found.contains("program.c:9"), "{found}");
}

/// The iteration with unknown values that decides whether a loop is a spin loop is undone, with the points where it
/// blocks.
#[test]
fn exploratory_iterations_of_loops_do_not_deadlock() {
    let text = "#include <semaphore.h>\nstatic atomic_int x;\nstatic void *run(void *a) {\nsem_t s;\n\
                sem_init(&s, 0, 1000);\nint v;\ndo { sem_wait(&s); v = x; } while (!v);\nreturn 0; }\n\
                int main(void) {\npthread_t t;\npthread_create(&t, 0, run, 0);\nx = 1;\npthread_join(t, 0);\n}";
    let bound = checked(text, 2, 3).outcome.bound;
    assert!(matches!(bound, Some(Bound::Excluded(_))), "{bound:?}");
}

#[test]
fn weak_exchanges_may_fail_spuriously() {
    let once = |strength: &str| {
        format!(
            "static atomic_int x;\nint main(void) {{\nint e = 0;\n\
             assert(atomic_compare_exchange_{strength}(&x, &e, 1) || e);\n}}"
        )
    };
    assert_eq!(
        bug(&once("weak")),
        "4:assertion: assertion failed: atomic_compare_exchange_weak(&x, &e, 1) || e"
    );
    assert_safe(&once("strong"), 2);
    let counted = "static atomic_int x;\nint main(void) {\nint e = 0, n = 0;\n\
                   while (!atomic_compare_exchange_weak(&x, &e, 1)) n++;\nassert(n < 2);\n}";
    assert_eq!(bug(counted), "5:assertion: assertion failed: n < 2");
}

#[test]
fn loops_around_weak_and_strong_exchanges_need_the_same_bound() {
    for strength in ["weak", "strong"] {
        let text = format!(
            "static atomic_int x;\nstatic void *add(void *a) {{\nint e = atomic_load(&x);\n\
             while (!atomic_compare_exchange_{strength}(&x, &e, e + 1));\nreturn 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, add, 0); add(0); pthread_join(t, 0); assert(x == 2); }}"
        );
        assert_safe(&text, 8);
    }
}

#[test]
fn the_width_of_a_variable_with_few_values_costs_nothing() {
    let size = |ty: &str| {
        let text = format!(
            "static _Atomic {ty} link;\nstatic void *run(void *a) {{ atomic_exchange(&link, -1); atomic_exchange(&link, 2);\n\
             return 0; }}\nint main(void) {{ pthread_t t, u; pthread_create(&t, 0, run, 0); pthread_create(&u, 0, run, 0);\n\
             assert(atomic_load(&link) >= 0); }}"
        );
        let report = checked(&text, 2, 3);
        assert!(is_bug(&report));
        (report.statistics.variables, report.statistics.clauses)
    };
    assert_eq!(size("short"), size("long"));
}

/// Store buffering, with a statement between store and load that accesses memory of one thread only.
#[test]
fn local_atomic_updates_flush_the_buffer() {
    let is_safe = |between: [&str; 2]| {
        let thread = |name: &str, mine: &str, other: &str, between: &str| {
            format!(
                "static void *{name}(void *a) {{ int e = 5; atomic_store_explicit(&{mine}, 1, memory_order_relaxed);\n\
                 {between}; return atomic_load_explicit(&{other}, memory_order_relaxed) ? a : 0; }}\n"
            )
        };
        let text = format!(
            "static atomic_int x, y, z, w;\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;\n\
             {}{}int main(void) {{ pthread_t t, u; void *r, *s; pthread_create(&t, 0, f, &x);\n\
             pthread_create(&u, 0, g, &x); pthread_join(t, &r); pthread_join(u, &s); assert(r || s); }}",
            thread("f", "x", "y", between[0]),
            thread("g", "y", "x", between[1])
        );
        let bugs = [Model::Tso, Model::Pso].map(|model| is_bug(&checked_under(model, &text, 2, 3)));
        assert_eq!(bugs[0], bugs[1], "{text}");
        !bugs[0]
    };
    assert!(is_safe(["atomic_exchange(&z, 1)", "atomic_exchange(&w, 1)"]));
    assert!(is_safe(["z = 1", "w = 1"]));
    assert!(is_safe([
        "atomic_compare_exchange_strong(&z, &e, 1)",
        "atomic_compare_exchange_strong(&w, &e, 1)"
    ]));
    assert!(is_safe([
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m)",
        "pthread_mutex_lock(&n); pthread_mutex_unlock(&n)"
    ]));
    assert!(!is_safe([
        "atomic_store_explicit(&z, 1, memory_order_release)",
        "atomic_store_explicit(&w, 1, memory_order_release)"
    ]));
}

/// Under PSO a release store is preceded by a store-store fence, even if no other thread accesses its location.
#[test]
fn local_release_stores_order_stores() {
    let between = |statement: &str| {
        let text = format!(
            "static atomic_int x, y, z;\nstatic void *f(void *a) {{ atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
             {statement}; atomic_store_explicit(&y, 1, memory_order_relaxed); return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); if (y) assert(x); }}"
        );
        is_bug(&checked_under(Model::Pso, &text, 2, 3))
    };
    assert!(between("atomic_store_explicit(&z, 1, memory_order_relaxed)"));
    assert!(!between("atomic_store_explicit(&z, 1, memory_order_release)"));
}

#[test]
fn threads_wait_forever_for_a_main_thread_that_has_left() {
    let program = |unlock: &str| {
        format!(
            "pthread_mutex_t m;\n\
             static void *run(void *a) {{ pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return a; }}\n\
             int main(void) {{\npthread_t t;\npthread_mutex_lock(&m);\n\
             pthread_create(&t, 0, run, 0);\n{unlock}\npthread_exit(0);\n}}"
        )
    };
    let found = bug(&program(""));
    assert!(found.contains("deadlock"), "{found}");
    assert_safe(&program("pthread_mutex_unlock(&m);"), 3);
    let returns = program("").replace("pthread_exit(0)", "return 0");
    assert_safe(&returns, 3);
}

#[test]
fn atomic_sections_nest() {
    let program = |first: &str, last: &str| {
        format!(
            "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\nint x;\n\
             static void add(void) {{ __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); }}\n\
             static void *run(void *a) {{ {first} add(); add(); {last} return a; }}\n\
             int main(void) {{\npthread_t t;\npthread_create(&t, 0, run, 0);\n\
             __VERIFIER_atomic_begin();\nint y = x;\n__VERIFIER_atomic_end();\n\
             pthread_join(t, 0);\nassert(y != 1);\n}}"
        )
    };
    let nested = program("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();");
    assert!(checked(&nested, 2, 3).outcome.finding().is_none());
    let found = bug(&program("", ""));
    assert!(found.contains("assertion"), "{found}");
}
