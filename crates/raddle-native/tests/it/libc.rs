//! Modelled functions of the C library, in programs with threads.

use crate::explored::{Explored, explore, explore_c, explore_cpp};

fn failure(message: &str) -> Explored {
    Explored::Failure(String::from(message))
}

/// Includes, and a `main` that runs `run` in two threads with the arguments 0 and 1.
fn two_threads(code: &str, check: &str) -> String {
    format!(
        "#define _GNU_SOURCE
         #include <assert.h>
         #include <errno.h>
         #include <pthread.h>
         #include <semaphore.h>
         #include <stdarg.h>
         #include <stdatomic.h>
         #include <stdio.h>
         #include <stdlib.h>
         #include <string.h>
         #include <time.h>
         {code}
         int main(void) {{
             pthread_t ids[2];
             for (long i = 0; i < 2; i++)
                 pthread_create(&ids[i], 0, run, (void *)i);
             for (int i = 0; i < 2; i++)
                 pthread_join(ids[i], 0);
             {check}
         }}"
    )
}

#[test]
fn mutexes_exclude_threads() {
    let code = two_threads(
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
         static int n;
         static void *run(void *arg) {
             pthread_mutex_lock(&lock);
             n++;
             pthread_mutex_unlock(&lock);
             return arg;
         }",
        "assert(n == 2);",
    );
    for model in ["sc", "tso", "pso", "c20"] {
        assert_eq!(explore(&code, "gcc", model), Explored::Clean(2), "{model}");
    }
}

#[test]
fn recursive_mutexes_are_counted_and_others_deadlock() {
    let code = |kind: &str| {
        two_threads(
            &format!(
                "static pthread_mutex_t lock = {kind};
                 static void *run(void *arg) {{
                     assert(pthread_mutex_lock(&lock) == 0);
                     assert(pthread_mutex_lock(&lock) == 0);
                     pthread_mutex_unlock(&lock);
                     pthread_mutex_unlock(&lock);
                     return arg;
                 }}"
            ),
            "",
        )
    };
    assert_eq!(explore_c(&code("PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP")), Explored::Clean(2));
    assert_eq!(
        explore_c(&code("PTHREAD_MUTEX_INITIALIZER")),
        failure("deadlock: a thread locks a mutex that it holds already")
    );
}

#[test]
fn a_failed_try_of_a_semaphore_sets_errno() {
    let code = two_threads(
        "static sem_t semaphore;
         static atomic_int taken;
         __attribute__((constructor)) static void init(void) { sem_init(&semaphore, 0, 1); }
         static void *run(void *arg) {
             errno = 0;
             if (sem_trywait(&semaphore) == 0)
                 atomic_fetch_add(&taken, 1);
             else
                 assert(errno == EAGAIN);
             return arg;
         }",
        "assert(taken == 1);",
    );
    assert_eq!(explore_c(&code), Explored::Clean(2));
}

#[test]
fn a_thread_is_joined_at_most_once() {
    let code = "#include <pthread.h>
        static void *run(void *arg) { return arg; }
        int main(void) {
            pthread_t id;
            pthread_create(&id, 0, run, 0);
            pthread_join(id, 0);
            pthread_join(id, 0);
        }";
    assert_eq!(explore_c(code), failure("a thread is joined twice"));
}

#[test]
fn destructors_of_keys_run_at_the_end_of_threads() {
    let code = two_threads(
        "static pthread_key_t key;
         static atomic_int sum;
         static void destroy(void *value) { atomic_fetch_add(&sum, (int)(long)value); }
         __attribute__((constructor)) static void init(void) { pthread_key_create(&key, destroy); }
         static void *run(void *arg) {
             pthread_setspecific(key, (char *)arg + 1);
             return arg;
         }",
        "assert(sum == 3);",
    );
    assert_eq!(explore_c(&code), Explored::Clean(2));
}

#[test]
fn functions_for_the_end_of_the_program_run_in_reverse_order() {
    let code = "#include <assert.h>
        #include <stdlib.h>
        static int n;
        static void first(void) { assert(++n == 2); }
        static void second(void) { assert(++n == 1); }
        __attribute__((destructor)) static void last(void) { assert(++n == 4); }
        int main(void) {
            atexit(first);
            atexit(second);
        }";
    assert_eq!(explore_c(code), failure("assertion failed: ++n == 4"));
}

#[test]
fn a_thread_that_calls_exit_ends_the_program() {
    let code = |condition: &str| {
        format!(
            "#include <assert.h>
             #include <pthread.h>
             #include <stdatomic.h>
             #include <stdlib.h>
             static atomic_int x;
             static int done;
             static void first(void) {{ done++; }}
             static void second(void) {{ assert({condition}); }}
             static void *run(void *unused) {{
                 atexit(first);
                 exit(0);
             }}
             int main(void) {{
                 pthread_t id;
                 atexit(second);
                 pthread_create(&id, 0, run, 0);
                 x = 1;
                 x = 2;
                 pthread_join(id, 0);
                 abort();
             }}"
        )
    };
    assert_eq!(explore_c(&code("done == 1")), Explored::Clean(1));
    assert_eq!(explore_c(&code("x != 1")), failure("assertion failed: x != 1"));
}

#[test]
fn a_spin_lock_is_initialised_and_excludes_threads() {
    let code = two_threads(
        "static pthread_spinlock_t lock;
         static int n;
         __attribute__((constructor)) static void init(void) { pthread_spin_init(&lock, 0); }
         static void *run(void *arg) {
             pthread_spin_lock(&lock);
             n++;
             pthread_spin_unlock(&lock);
             return arg;
         }",
        "assert(n == 2);",
    );
    assert_eq!(explore_c(&code), Explored::Clean(2));
    let code = code.replace("pthread_spin_lock(&lock);", "");
    let message = "a mutex is unlocked by a thread that does not hold it";
    assert_eq!(explore_c(&code), failure(message));
}

#[test]
fn futexes_wake_threads_and_report_changed_values() {
    let code = "#define _GNU_SOURCE
        #include <assert.h>
        #include <errno.h>
        #include <linux/futex.h>
        #include <pthread.h>
        #include <stdatomic.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static atomic_int x;
        static void *run(void *arg) {
            while (atomic_load(&x) == 0) {
                long result = syscall(SYS_futex, &x, FUTEX_WAIT_PRIVATE, 0, 0);
                assert(result == 0 || errno == EAGAIN);
            }
            return arg;
        }
        int main(void) {
            pthread_t id;
            pthread_create(&id, 0, run, 0);
            atomic_store(&x, 1);
            WAKE;
            pthread_join(id, 0);
        }";
    let wakes = code.replace("WAKE;", "syscall(SYS_futex, &x, FUTEX_WAKE_PRIVATE, 1);");
    assert_eq!(explore_c(&wakes), Explored::Clean(3));
    match explore_c(&code.replace("WAKE;", "")) {
        Explored::Bug(message) => assert!(message.starts_with("Deadlock"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn printing_threads_share_nothing() {
    let code = two_threads(
        r#"static void *run(void *arg) {
               printf("%ld %s %5.2f %c\n", (long)arg, "text", 1.5, 'c');
               fprintf(stderr, "%d%d%d%d%d%d%d%d\n", 1, 2, 3, 4, 5, 6, 7, 8);
               puts("end");
               return arg;
           }"#,
        "",
    );
    assert_eq!(explore_c(&code), Explored::Clean(1));
}

#[test]
fn text_is_formatted_as_the_library_does() {
    let code = r#"
        #include <assert.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static int list(char *to, const char *format, ...) {
            va_list list;
            va_start(list, format);
            int length = vsprintf(to, format, list);
            va_end(list);
            return length;
        }
        int main(void) {
            char text[64], *block, large[3000];
            assert(snprintf(text, sizeof text, "%d %s %.3f %Lg %x", 7, "ab", 2.5, 1.25L, 255) == 18);
            assert(strcmp(text, "7 ab 2.500 1.25 ff") == 0);
            assert(snprintf(text, 4, "%s", "abcdef") == 6 && strcmp(text, "abc") == 0);
            assert(list(text, "%d%d%d%d%d%d%d %g", 1, 2, 3, 4, 5, 6, 7, 0.5) == 11);
            assert(strcmp(text, "1234567 0.5") == 0);
            memset(large, 'x', sizeof large);
            large[sizeof large - 1] = 0;
            assert(asprintf(&block, "<%s>", large) == 3001);
            assert(block[0] == '<' && block[3000] == '>' && strlen(block) == 3001);
            free(block);
            return snprintf(0, 0, "%*d", 100, 1) == 100 ? 0 : 1;
        }"#;
    assert_eq!(explore_c(code), Explored::Clean(1));
}

#[test]
fn a_very_wide_field_is_refused() {
    let code = r#"#include <stdio.h>
        int main(void) { printf("%2000000000d", 1); }"#;
    let message = "formats a field of 2000000000 bytes; Raddle models at most 1048576";
    assert_eq!(explore_c(code), failure(message));
    let code = r#"#include <stdio.h>
        int main(void) { printf("%s %*d", "a", 2000000000, 1); }"#;
    assert_eq!(explore_c(code), failure(message));
}

#[test]
fn copies_of_shared_blocks_race() {
    let code = two_threads(
        "static char block[24];
         static void *run(void *arg) {
             char own[24] = { 0 };
             memcpy(block, own, sizeof own);
             return arg;
         }",
        "",
    );
    match explore(&code, "gcc", "c20") {
        Explored::Bug(message) => assert!(message.contains("Race"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn condition_variables_lose_no_signal_that_is_waited_for() {
    let code = two_threads(
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
         static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
         static int ready;
         static void *run(void *arg) {
             pthread_mutex_lock(&lock);
             if (arg) {
                 ready = 1;
                 pthread_cond_signal(&changed);
             }
             while (!ready)
                 pthread_cond_wait(&changed, &lock);
             pthread_mutex_unlock(&lock);
             return arg;
         }",
        "",
    );
    assert_eq!(explore_c(&code), Explored::Clean(2));
}

#[test]
fn exceptions_pass_through_call_once() {
    let code = "#include <cassert>
        #include <mutex>
        #include <thread>
        std::once_flag once;
        int tried, made;
        int main() {
            auto use = [](bool fails) {
                try {
                    std::call_once(once, [fails] {
                        tried++;
                        if (fails)
                            throw 7;
                        made++;
                    });
                } catch (int thrown) {
                    assert(fails && thrown == 7);
                }
            };
            std::thread first(use, true), second(use, false);
            first.join();
            second.join();
            assert(made == 1 && (tried == 1 || tried == 2));
        }";
    assert_eq!(explore_cpp(code), Explored::Clean(2));
}

#[test]
fn static_variables_of_functions_are_initialised_once() {
    let code = "#include <cassert>
        #include <thread>
        int made;
        struct Value { int n; Value() : n(++made) {} ~Value() { n = 0; } };
        int get() { static Value value; return value.n; }
        int main() {
            std::thread first([] { assert(get() == 1); }), second([] { assert(get() == 1); });
            first.join();
            second.join();
            assert(made == 1);
        }";
    for model in ["sc", "c20"] {
        match explore(code, "g++", model) {
            Explored::Clean(_) => {}
            other => panic!("{model}: {other:?}"),
        }
    }
}

#[test]
fn destructors_of_thread_local_objects_run() {
    let code = "#include <atomic>
        #include <cassert>
        #include <thread>
        std::atomic<int> destroyed;
        struct Value { int n = 0; ~Value() { destroyed += n; } };
        thread_local Value value;
        int main() {
            std::thread first([] { value.n = 1; }), second([] { value.n = 2; });
            first.join();
            second.join();
            assert(destroyed == 3);
        }";
    assert_eq!(explore_cpp(code), Explored::Clean(2));
}
