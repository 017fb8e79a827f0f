//! The programs: 23 locks and queues.

/// A program of `corpus/c` with the flags that choose its size.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) flags: &'static [&'static str],
}

impl Program {
    /// The name and the size.
    pub(super) fn title(&self) -> String {
        let sizes: Vec<&str> =
            self.flags.iter().map(|flag| flag.trim_start_matches("-D")).collect();
        format!("{} {}", self.name, sizes.join(" ")).trim_end().to_owned()
    }
}

const fn program(
    name: &'static str,
    file: &'static str,
    flags: &'static [&'static str],
) -> Program {
    Program { name, file, flags }
}

/// One of them has nothing to leave out: chase-lev has no loop, as its steals give up after one try.
pub(super) const PROGRAMS: [Program; 23] = [
    program("tas", "locks/spinlock.c", &["-DTHREADS=7"]),
    program("ttas", "locks/ttas.c", &["-DTHREADS=5"]),
    program("ttas-backoff", "locks/ttas_backoff.c", &["-DTHREADS=4"]),
    program("backoff", "locks/backoff.c", &["-DTHREADS=6"]),
    program("spin-yield", "locks/spin_yield.c", &["-DTHREADS=5"]),
    program("ticket", "locks/ticket.c", &["-DTHREADS=7"]),
    program("mcs", "locks/mcs.c", &["-DTHREADS=5"]),
    program("clh", "locks/clh.c", &["-DTHREADS=8"]),
    program("rw-spin", "locks/rw_spin.c", &["-DTHREADS=3"]),
    program("linux-rwlock", "locks/linuxrwlocks.c", &["-DWRITERS=2", "-DREADERS=2"]),
    program("seqlock", "locks/seqlock_retry.c", &["-DWRITERS=2", "-DREADERS=3"]),
    program("futex-mutex", "locks/futex_mutex.c", &["-DTHREADS=3"]),
    program("sense-barrier", "locks/sense_barrier.c", &["-DTHREADS=7", "-DROUNDS=1"]),
    program("waits", "locks/waits.c", &["-DK=8"]),
    program("rcu", "containers/rcu.c", &["-DREADERS=7"]),
    program("treiber", "containers/treiber.c", &["-DPUSHERS=4"]),
    program("treiber-weak", "cpp/treiber.cpp", &[]),
    program("treiber-hazard", "containers/treiber_hazard.c", &[]),
    program("msqueue", "containers/msqueue.c", &["-DPRODUCERS=3", "-DCONSUMERS=2"]),
    program("mpmc", "containers/mpmc.c", &["-DCONSUMERS=4"]),
    program("mpmc-ticket", "containers/mpmc_ticket.c", &["-DPAIRS=4"]),
    program("spsc-cached", "containers/spsc_cached.c", &["-DN=12"]),
    program("chase-lev", "containers/chase_lev.c", &["-DTHIEVES=2"]),
];
