//! What modelled functions keep for a thread belongs to its state: loops that wait, and the end of the thread.

use crate::explored::{Explored, explore_c, explore_cpp};

fn failure(message: &str) -> Explored {
    Explored::Failure(String::from(message))
}

/// A program that counts the rounds of a loop which ends when another thread sets a flag, or after three rounds.
fn counting_loop(code: &str, check: &str) -> String {
    format!(
        "#include <assert.h>
         #include <pthread.h>
         #include <signal.h>
         #include <stdatomic.h>
         #include <stdlib.h>
         #include <time.h>
         #include <unistd.h>
         static atomic_int flag;
         static void *set(void *arg) {{ atomic_store(&flag, 1); return arg; }}
         int main(void) {{
             pthread_t id;
             pthread_create(&id, 0, set, 0);
             {code}
             {check}
             pthread_join(id, 0);
         }}"
    )
}

/// Explores a loop that has 0 to 3 rounds and reads the flag up to `reads` times: one of them observes that it is set, or none.
fn has_all_numbers_of_rounds(code: &str, reads: u64) {
    let clean = counting_loop(code, "assert(n >= 0 && n <= 3);");
    assert_eq!(explore_c(&clean), Explored::Clean(reads + 1), "{code}");
    for n in 0..=3 {
        let check = format!("assert(n != {n});");
        let found = explore_c(&counting_loop(code, &check));
        assert_eq!(found, failure(&format!("assertion failed: n != {n}")), "{code}");
    }
}

#[test]
fn rounds_that_are_counted_by_the_value_of_a_key_differ() {
    has_all_numbers_of_rounds(
        "pthread_key_t key;
         pthread_key_create(&key, 0);
         while (!atomic_load(&flag) && (long)pthread_getspecific(key) < 3)
             pthread_setspecific(key, (void *)((long)pthread_getspecific(key) + 1));
         long n = (long)pthread_getspecific(key);",
        4,
    );
}

#[test]
fn rounds_that_are_counted_by_the_clock_differ() {
    has_all_numbers_of_rounds(
        "time_t start = time(0);
         while (!atomic_load(&flag) && time(0) - start < 3)
             sleep(1);
         long n = time(0) - start;",
        4,
    );
}

#[test]
fn rounds_that_are_counted_by_random_numbers_differ() {
    has_all_numbers_of_rounds(
        "int numbers[4], n = 0;
         srand(5);
         for (int i = 0; i < 4; i++)
             numbers[i] = rand();
         srand(5);
         while (!atomic_load(&flag) && rand() != numbers[2])
             ;
         for (int next = rand(); n < 3 && numbers[n] != next;)
             n++;",
        3,
    );
}

#[test]
fn rounds_that_only_sleep_are_the_same() {
    let code = counting_loop("while (!atomic_load(&flag)) usleep(100);", "");
    assert_eq!(explore_c(&code), Explored::Clean(1));
}

#[test]
fn destructors_of_keys_are_called_four_times_at_most() {
    let code = "#include <assert.h>
        #include <pthread.h>
        static pthread_key_t key;
        static int n;
        static void destroy(void *value) { n++; pthread_setspecific(key, value); }
        static void *run(void *arg) { pthread_setspecific(key, &n); return arg; }
        int main(void) {
            pthread_t id;
            pthread_key_create(&key, destroy);
            pthread_create(&id, 0, run, 0);
            pthread_join(id, 0);
            assert(n == 4);
        }";
    assert_eq!(explore_c(code), Explored::Clean(1));
}

#[test]
fn destructors_of_keys_are_not_called_by_exit_or_for_deleted_keys() {
    let code = "#include <pthread.h>
        #include <stdlib.h>
        static void *run(void *arg) {
            pthread_key_t key;
            pthread_key_create(&key, free);
            void *block = malloc(4);
            pthread_setspecific(key, block);
            if (arg)
                pthread_key_delete(key);
            free(block);
            return 0;
        }
        int main(int argc, char **argv) {
            pthread_t id;
            pthread_create(&id, 0, run, argv);
            pthread_join(id, 0);
            run(0);
        }";
    assert_eq!(explore_c(code), Explored::Clean(1));
}

#[test]
fn thread_local_variables_are_destroyed_before_values_of_keys() {
    let code = "#include <cassert>
        #include <pthread.h>
        #include <thread>
        static pthread_key_t key;
        static int value;
        struct Last { int n = 0; ~Last() { assert(pthread_getspecific(key) == &value); } };
        thread_local Last last;
        int main() {
            pthread_key_create(&key, [](void *) {});
            std::thread([] { last.n = 1; pthread_setspecific(key, &value); }).join();
        }";
    assert_eq!(explore_cpp(code), Explored::Clean(1));
}

#[test]
fn threads_that_end_with_a_robust_mutex_are_refused() {
    let code = |unlock: &str| {
        format!(
            "#include <assert.h>
             #include <errno.h>
             #include <pthread.h>
             static pthread_mutex_t lock;
             static void *run(void *arg) {{
                 assert(pthread_mutex_unlock(&lock) == EPERM);
                 pthread_mutex_lock(&lock);
                 {unlock}
                 return arg;
             }}
             int main(void) {{
                 pthread_t id;
                 pthread_mutexattr_t kind;
                 pthread_mutexattr_init(&kind);
                 pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
                 pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
                 int robust;
                 pthread_mutexattr_getrobust(&kind, &robust);
                 assert(robust == PTHREAD_MUTEX_ROBUST);
                 pthread_mutex_init(&lock, &kind);
                 pthread_create(&id, 0, run, 0);
                 pthread_join(id, 0);
                 assert(pthread_mutex_lock(&lock) == 0);
                 assert(pthread_mutex_consistent(&lock) == EINVAL);
                 pthread_mutex_unlock(&lock);
             }}"
        )
    };
    assert_eq!(explore_c(&code("pthread_mutex_unlock(&lock);")), Explored::Clean(1));
    let refused = "ends a thread that holds a robust mutex, which Raddle does not model";
    assert_eq!(explore_c(&code("")), failure(refused));
}

#[test]
fn actions_of_signals_go_back_with_the_thread() {
    let code = counting_loop(
        "atomic_load(&flag);
         int is_ignored = signal(SIGUSR1, SIG_IGN) == SIG_IGN;",
        "assert(!is_ignored);",
    );
    assert_eq!(explore_c(&code), Explored::Clean(2));
}

#[test]
fn loading_a_library_at_run_time_is_no_heap_overflow() {
    let code = "#include <dlfcn.h>
        int main(void) { return dlopen(\"libm.so.6\", RTLD_NOW) == 0; }";
    let refused = "loads a library at run time, which Raddle does not model";
    assert_eq!(explore_c(code), failure(refused));
}
