//! Library functions that Raddle models.
//!
//! They are called by the program as C functions, on its own stacks, and made of [`crate::ops`]. Each file has those
//! of one kind, under their own names; functions that do the same have several names. A function that is in
//! no table here, and not known to be harmless, is refused when the program calls it.

mod at_end;
mod barrier;
mod c11;
mod clock;
mod compare;
mod condition;
mod errno;
mod failing;
mod futex;
mod keys;
mod memory;
mod mutex;
mod once;
mod output;
mod random;
mod rwlock;
mod semaphore;
mod strings;
mod threads;
mod verifier;
mod waiters;

use std::sync::OnceLock;

pub(crate) use at_end::{EXITS, end_main, is_needed as has_destructors, run_destructors};
pub(crate) use barrier::barrier_arrivals;
pub(crate) use clock::AHEAD as CLOCK;
pub(crate) use compare::{Compare, function as compare_function};
pub(crate) use semaphore::semaphore_units;

/// So many bytes beyond its thread-local variables belong to each thread.
pub(crate) const OWN_BLOCK: usize = 4096 + 64;

/// Functions that are written in C: `stub/functions.c`.
pub(crate) const IN_C: &[&str] = &[
    "__libc_single_threaded",
    "asprintf",
    "fprintf",
    "fputc",
    "fputs",
    "fwrite",
    "printf",
    "putc",
    "snprintf",
    "sprintf",
    "vasprintf",
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
];

/// A library function.
pub(crate) struct Shim {
    pub(crate) name: &'static str,
    pub(crate) address: usize,
}

/// Makes a table of functions, each under its own name.
macro_rules! shims {
    ($($module:ident: $($name:ident)*;)*) => {
        vec![$($(Shim { name: stringify!($name), address: $module::$name as *const () as usize }),*),*]
    };
}

/// All library functions. Their numbers are their positions.
pub(crate) fn table() -> &'static [Shim] {
    static TABLE: OnceLock<Vec<Shim>> = OnceLock::new();
    TABLE.get_or_init(all)
}

#[rustfmt::skip]
fn all() -> Vec<Shim> {
    shims! {
        threads: pthread_create pthread_join pthread_self pthread_equal pthread_exit pthread_detach
            pthread_setname_np pthread_setcancelstate pthread_testcancel pthread_attr_init
            pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_getdetachstate
            pthread_attr_setstacksize pthread_attr_setguardsize pthread_attr_setinheritsched
            pthread_attr_setschedparam pthread_attr_setschedpolicy pthread_attr_setscope
            pthread_setconcurrency;
        mutex: pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock
            pthread_mutex_timedlock pthread_mutex_clocklock pthread_mutex_unlock
            pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype
            pthread_mutexattr_gettype pthread_mutexattr_setprotocol pthread_mutexattr_setpshared
            pthread_spin_init pthread_spin_destroy pthread_spin_lock pthread_spin_trylock
            pthread_spin_unlock;
        condition: pthread_cond_init pthread_cond_destroy pthread_cond_wait pthread_cond_timedwait
            pthread_cond_clockwait pthread_cond_signal pthread_cond_broadcast pthread_condattr_init
            pthread_condattr_destroy pthread_condattr_setclock pthread_condattr_setpshared;
        rwlock: pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_rdlock
            pthread_rwlock_wrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock
            pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_clockrdlock
            pthread_rwlock_clockwrlock pthread_rwlock_unlock pthread_rwlockattr_init
            pthread_rwlockattr_destroy pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared;
        semaphore: sem_init sem_destroy sem_wait sem_post sem_trywait sem_timedwait sem_clockwait
            sem_getvalue;
        barrier: pthread_barrier_init pthread_barrier_destroy pthread_barrier_wait;
        once: pthread_once call_once raddle_once_begin raddle_once_end __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort;
        keys: pthread_key_create pthread_key_delete pthread_setspecific pthread_getspecific
            tss_create tss_delete tss_set tss_get;
        c11: thrd_create thrd_join thrd_exit thrd_detach thrd_equal thrd_current mtx_init
            mtx_destroy mtx_lock mtx_trylock mtx_timedlock mtx_unlock cnd_init cnd_destroy cnd_wait
            cnd_timedwait cnd_signal cnd_broadcast;
        at_end: atexit exit _exit _Exit quick_exit __cxa_atexit __cxa_thread_atexit;
        failing: __assert_fail abort __cxa_pure_virtual __stack_chk_fail reach_error
            __VERIFIER_error __VERIFIER_assert;
        memory: malloc calloc realloc reallocarray aligned_alloc memalign posix_memalign
            malloc_usable_size free strdup strndup;
        strings: memcpy memmove mempcpy memset bzero memcmp bcmp memchr strlen strnlen strcpy stpcpy
            strncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strchr strrchr strstr
            strspn strcspn strpbrk;
        output: raddle_hold raddle_print raddle_read_string raddle_write_bytes raddle_refuse puts putchar fflush
            perror write;
        clock: clock_gettime clock_getres timespec_get gettimeofday time clock usleep sleep
            nanosleep thrd_sleep clock_nanosleep sched_yield pthread_yield thrd_yield sched_getcpu
            get_nprocs sysconf;
        random: rand random srand srandom rand_r;
        errno: __errno_location;
        futex: syscall;
        verifier: __VERIFIER_assume assume_abort_if_not __VERIFIER_nondet_bool
            __VERIFIER_nondet_char __VERIFIER_nondet_uchar __VERIFIER_nondet_int
            __VERIFIER_nondet_uint __VERIFIER_nondet_long __VERIFIER_nondet_longlong
            __VERIFIER_nondet_short __VERIFIER_nondet_size_t __VERIFIER_nondet_uint32_t
            __VERIFIER_nondet_ulong __VERIFIER_nondet_ulonglong __VERIFIER_nondet_unsigned
            __VERIFIER_nondet_unsigned_int __VERIFIER_nondet_ushort __VERIFIER_atomic_begin
            __VERIFIER_atomic_end;
    }
}

/// The addresses of all library functions.
pub(crate) fn addresses() -> &'static [usize] {
    static ADDRESSES: OnceLock<Vec<usize>> = OnceLock::new();
    ADDRESSES.get_or_init(|| table().iter().map(|shim| shim.address).collect())
}
