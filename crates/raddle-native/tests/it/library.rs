//! Library functions: what they return, print and refuse.

use std::io::Write;

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, FindingKind, Outcome, Verdict};
use raddle_native::{Request, check};

const HEADERS: &str = "
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
";

/// Explores a program, of which this comes after the headers.
fn explore(text: &str) -> Outcome {
    let mut file = tempfile::Builder::new().suffix(".c").tempfile().expect("a temporary file");
    file.write_all(format!("{HEADERS}{text}").as_bytes()).expect("it can be written");
    let request = Request { model: Model::Sc, ..Request::new(&[file.path()]) };
    check(&request).unwrap_or_else(|error| panic!("{error}"))
}

/// Explores what `main` does, in which nothing may be wrong.
fn fine(body: &str) {
    let outcome = explore(&format!("int main(void) {{ {body} }}"));
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}

/// The output of the program in the execution that shows the finding.
fn printed_in(outcome: Outcome) -> String {
    outcome.into_finding().expect("a finding").trace.expect("an execution").printed
}

/// The output before `main` aborts.
fn printed(body: &str) -> String {
    let outcome = explore(&format!("int main(void) {{ {body}; abort(); }}"));
    printed_in(outcome)
}

#[test]
fn strings() {
    fine(
        r#"char text[32] = "hello";
        assert(strlen(text) == 5 && strnlen(text, 3) == 3);
        assert(strcmp(strcat(text, " world"), "hello world") == 0);
        assert(strncmp(text, "help", 3) == 0 && strcmp("a", "b") < 0 && strcasecmp("A", "a") == 0);
        assert(strchr(text, 'w') == text + 6 && strrchr(text, 'o') == text + 7 && !strchr(text, 'x'));
        assert(strstr(text, "lo w") == text + 3 && !strstr(text, "low") && strstr(text, "") == text);
        assert(strspn(text, "hel") == 4 && strcspn(text, " ") == 5 && strpbrk(text, "wo") == text + 4);
        assert(memcmp(text, "hello", 5) == 0 && memchr(text, 'l', 5) == text + 2);
        memmove(text + 1, text, 5); assert(memcmp(text, "hhello", 6) == 0);
        strncpy(text, "ab", 4); assert(text[2] == 0 && text[3] == 0 && text[4] == 'l');
        char *copy = strdup("copy"); assert(strcmp(copy, "copy") == 0); free(copy);"#,
    );
}

#[test]
fn memory() {
    fine(
        r#"int *cells = calloc(4, sizeof *cells);
        assert(cells[3] == 0);
        cells[0] = 7; cells = realloc(cells, 64 * sizeof *cells); assert(cells[0] == 7); free(cells);
        void *aligned; assert(posix_memalign(&aligned, 256, 8) == 0 && (long)aligned % 256 == 0);
        free(aligned); free(0); assert(calloc((size_t)-1, 2) == 0);"#,
    );
}

#[test]
fn output() {
    let text =
        printed(r#"printf("%d %5.2f %-4s| %c %lx%%\n", 1, 2.5, "ab", 'c', 255L); puts("end")"#);
    assert_eq!(text, "1  2.50 ab  | c ff%\nend\n");
    let text = printed(
        r#"char t[8]; int n = snprintf(t, sizeof t, "%s-%d", "longer", 12);
        fprintf(stderr, "%d %s ", n, t); fputs("x", stdout); fputc('y', stdout); putchar('z');
        char *made; asprintf(&made, "%03d", 7); fwrite(made, 1, 3, stdout); write(1, "!", 1)"#,
    );
    assert_eq!(text, "9 longer- xyz007!");
}

#[test]
fn files_are_refused() {
    for mode in ["r", "r+", "w+", "wx"] {
        let open = format!("int main(void) {{ FILE *file = fopen(\"x\", \"{mode}\"); }}");
        let bug = explore(&open).into_finding().expect("it is refused");
        assert_eq!(bug.kind, FindingKind::Unsupported, "{mode}: {}", bug.message);
    }
    let outcome = explore("int main(void) { FILE *file = 0; fputs(\"x\", file); }");
    assert_eq!(outcome.kind(), Some(FindingKind::Crash));
}

#[test]
fn time_passes_only_for_who_sleeps() {
    fine(
        "struct timespec a, b, nap = {2, 5};
        clock_gettime(CLOCK_REALTIME, &a); clock_gettime(CLOCK_REALTIME, &b);
        assert(a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec && time(0) == a.tv_sec);
        nanosleep(&nap, 0); clock_gettime(CLOCK_REALTIME, &b);
        assert(b.tv_sec == a.tv_sec + 2 && b.tv_nsec == a.tv_nsec + 5);",
    );
}

#[test]
fn errors_are_in_errno() {
    fine(
        "sem_t s; sem_init(&s, 0, 1);
        assert(sem_trywait(&s) == 0 && sem_trywait(&s) == -1 && errno == EAGAIN);
        sem_post(&s); assert(sem_wait(&s) == 0);",
    );
}

#[test]
fn an_uninitialised_semaphore_is_misused() {
    let bug = explore("int main(void) { sem_t s; sem_post(&s); }").into_finding().expect("a bug");
    assert_eq!(bug.kind, FindingKind::Misuse);
    assert_eq!(bug.message, "thread main: a semaphore is used that was never initialised");
}

#[test]
fn few_numbers_of_many_make_an_exploration_incomplete() {
    let outcome =
        explore("int __VERIFIER_nondet_int(void); int main(void) { __VERIFIER_nondet_int(); }");
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Incomplete, 5));
    let bound = "numbers of __VERIFIER_nondet_int and the like are chosen from -1 to 3 only \
                 (--nondet chooses others, raddle bmc all)";
    assert_eq!(outcome.bound, Some(Bound::Other(bound.to_owned())));
}

/// Where the leak is that is looked for, and its size.
fn leak(text: &str) -> Option<String> {
    let mut file = tempfile::Builder::new().suffix(".c").tempfile().expect("a temporary file");
    file.write_all(format!("{HEADERS}#line 1\n{text}").as_bytes()).expect("it can be written");
    let request = Request { model: Model::Sc, leaks: true, ..Request::new(&[file.path()]) };
    let outcome = check(&request).unwrap_or_else(|error| panic!("{error}"));
    let bug = outcome.into_finding()?;
    assert_eq!(bug.kind, FindingKind::Leak, "{}", bug.message);
    let line = bug.place_text().rsplit_once(':').map(|(_, line)| line);
    Some(format!("line {}: {}", line.unwrap_or("?"), bug.message.split(',').next().unwrap_or("?")))
}

/// What a leak of so many bytes is called.
fn lost(line: u32, size: usize) -> Option<String> {
    Some(format!("line {line}: leak: nothing points to a block of {size} bytes at the end"))
}

#[test]
fn memory_that_nothing_points_to_leaks() {
    let one = |body: &str| leak(&format!("int *g;\nint main(void) {{ {body} }}"));
    assert_eq!(one("int *p = malloc(4); *p = 1;"), lost(2, 4));
    assert_eq!(one("int *p = malloc(4); free(p);"), None);
    assert_eq!(one("g = malloc(4);"), None);
    assert_eq!(one("g = malloc(4); g = malloc(8);"), lost(2, 4));
    assert_eq!(one("int **p = malloc(8); *p = malloc(4); g = (int *)p;"), None);
    assert_eq!(one("int **p = malloc(8); *p = malloc(4); free(p);"), lost(2, 4));
    assert_eq!(one("exit(malloc(3) == 0);"), lost(2, 3));
}

const BETWEEN_THREADS: &str = "
int *g; atomic_int x;
static void *run(void *own) { g = malloc(4); if (x) TAKE; free(own); return 0; }
int main(void) {
    pthread_t id;
    pthread_create(&id, 0, run, malloc(16));
    x = 1;
    pthread_join(id, 0);
    FREE;
}";

#[test]
fn memory_leaks_in_some_executions() {
    let program =
        |take: &str, free: &str| BETWEEN_THREADS.replace("TAKE", take).replace("FREE", free);
    assert_eq!(leak(&program("", "free(g)")), None);
    assert_eq!(leak(&program("", "")), None);
    assert_eq!(leak(&program("", "g = 0")), lost(3, 4));
    assert_eq!(leak(&program("g = 0", "")), lost(3, 4));
    assert_eq!(leak(&program("{ free(g); g = malloc(8); }", "free(g)")), None);
}

const WAITER: &str = "
static sem_t never;
static void *run(void *unused) { sem_wait(&never); return 0; }
int main(void) {
    pthread_t id;
    sem_init(&never, 0, 0);
    pthread_create(&id, 0, run, 0);
    LEAVE;
}";

#[test]
fn the_program_ends_with_main() {
    let outcome = explore(&WAITER.replace("LEAVE", "return 0"));
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    let outcome = explore(&WAITER.replace("LEAVE", "exit(3)"));
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
}

#[test]
fn the_program_goes_on_without_main() {
    let outcome = explore(&WAITER.replace("LEAVE", "pthread_exit(0)"));
    assert_eq!(outcome.kind(), Some(FindingKind::Deadlock));
}

#[test]
fn a_thread_that_exits_ends_the_program() {
    let outcome = explore(
        "static void *run(void *unused) { exit(0); }
        int main(void) { pthread_t id; pthread_create(&id, 0, run, 0); pthread_join(id, 0); abort(); }",
    );
    assert_eq!(
        (outcome.verdict, outcome.counts.classes, outcome.counts.blocked),
        (Verdict::Clean, 1, 0)
    );
}

#[test]
fn strings_that_threads_share_are_read_and_written_by_ops() {
    let outcome = explore(
        "static char text[4] = \"aa\";
        static void *run(void *unused) { memcpy(text, \"bb\", 3); return 0; }
        int main(void) {
            pthread_t id; char seen[4];
            pthread_create(&id, 0, run, 0);
            memcpy(seen, text, 3);
            pthread_join(id, 0);
            assert(strcmp(text, \"bb\") == 0);
        }",
    );
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    assert!(outcome.counts.classes > 1, "{outcome}");
}

#[test]
fn destructors_run_when_threads_end() {
    let outcome = explore(
        "static pthread_key_t key;
        static void destroy(void *value) { printf(\"%s\", (char *)value); }
        static void last(void) { printf(\"last\"); abort(); }
        static void *run(void *value) { pthread_setspecific(key, value); return 0; }
        int main(void) {
            pthread_t id;
            atexit(last);
            pthread_key_create(&key, destroy);
            pthread_create(&id, 0, run, \"first \");
            pthread_join(id, 0);
        }",
    );
    assert_eq!(printed_in(outcome), "first last");
}
