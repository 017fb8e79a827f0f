//! Calls about the process, its threads, signals and limits.

use super::super::errno::Errno;
use super::super::kernel::Disposition;
use super::super::status::Status;
use super::{Answer, Call, Effect, FutexCall, success};
use raddle_cpu::memory::Thread;

pub(super) fn exit(call: &mut Call<'_>) -> Answer {
    Ok(Effect::ExitThread(call.args[0] as i32))
}

pub(super) fn exit_group(call: &mut Call<'_>) -> Answer {
    Ok(Effect::ExitProcess(Status::Exited(call.args[0] as u8)))
}

pub(super) fn getpid(call: &mut Call<'_>) -> Answer {
    Ok(Effect::Return(call.kernel.pid()))
}

pub(super) fn getppid(_: &mut Call<'_>) -> Answer {
    Ok(Effect::Return(1))
}

pub(super) fn gettid(call: &mut Call<'_>) -> Answer {
    Ok(Effect::Return(call.kernel.tid(call.thread)))
}

/// Real and effective user and group.
pub(super) fn user(_: &mut Call<'_>) -> Answer {
    Ok(Effect::Return(1000))
}

pub(super) fn sched_yield(_: &mut Call<'_>) -> Answer {
    Ok(Effect::Yield)
}

pub(super) fn clone(call: &mut Call<'_>) -> Answer {
    call.refuse("threads are created by modelled functions, processes are not modelled")
}

pub(super) fn clone3(call: &mut Call<'_>) -> Answer {
    clone(call)
}

pub(super) fn arch_prctl(call: &mut Call<'_>) -> Answer {
    /// `ARCH_SET_FS`.
    const SET_FS: u64 = 0x1002;
    match call.args[0] {
        SET_FS => Ok(Effect::SetFsBase(call.args[1])),
        // Shadow stacks and the like, which the processor does not have.
        _ => Err(Errno::EINVAL.into()),
    }
}

pub(super) fn prctl(call: &mut Call<'_>) -> Answer {
    /// Names of threads and of memory, which nobody reads.
    const NAMES: [u64; 2] = [15, 0x5356_4d41];
    if NAMES.contains(&call.args[0]) {
        return success();
    }
    call.refuse("only names are modelled")
}

pub(super) fn set_tid_address(call: &mut Call<'_>) -> Answer {
    call.kernel.thread(call.thread).clear_tid = call.args[0];
    Ok(Effect::Return(call.kernel.tid(call.thread)))
}

pub(super) fn set_robust_list(_: &mut Call<'_>) -> Answer {
    success()
}

/// Restartable sequences need a kernel that interrupts threads; libraries do without.
pub(super) fn rseq(_: &mut Call<'_>) -> Answer {
    Err(Errno::ENOSYS.into())
}

pub(super) fn membarrier(_: &mut Call<'_>) -> Answer {
    Err(Errno::ENOSYS.into())
}

pub(super) fn futex(call: &mut Call<'_>) -> Answer {
    /// `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`.
    const FLAGS: u32 = 128 | 256;
    let [address, operation, value, timeout, second, third] = call.args;
    Ok(Effect::Futex(FutexCall {
        address,
        operation: operation as u32 & !FLAGS,
        value: value as u32,
        timeout,
        second,
        third: third as u32,
    }))
}

pub(super) fn getrandom(call: &mut Call<'_>) -> Answer {
    let [buffer, len, ..] = call.args;
    let mut bytes = vec![0; len.min(1 << 20) as usize];
    call.kernel.random(call.thread, &mut bytes);
    call.store(buffer, &bytes)?;
    Ok(Effect::Return(bytes.len() as u64))
}

const RLIMIT_STACK: u64 = 3;
const RLIMIT_NOFILE: u64 = 7;
const STACK: u64 = 8 << 20;

fn limit(resource: u64) -> [u64; 2] {
    match resource {
        RLIMIT_STACK => [STACK, u64::MAX],
        RLIMIT_NOFILE => [1024, 1024],
        _ => [u64::MAX; 2],
    }
}

pub(super) fn prlimit64(call: &mut Call<'_>) -> Answer {
    let [_, resource, new, old, ..] = call.args;
    if new != 0 {
        return call.refuse("limits cannot be changed");
    }
    call.store_words(old, &limit(resource))?;
    success()
}

pub(super) fn getrlimit(call: &mut Call<'_>) -> Answer {
    let [resource, buffer, ..] = call.args;
    call.store_words(buffer, &limit(resource))?;
    success()
}

pub(super) fn getrusage(call: &mut Call<'_>) -> Answer {
    call.store_words(call.args[1], &[0; 18])?;
    success()
}

pub(super) fn times(call: &mut Call<'_>) -> Answer {
    let ticks = call.kernel.clock(call.thread, false) / 10_000_000;
    if call.args[0] != 0 {
        call.store_words(call.args[0], &[0; 4])?;
    }
    Ok(Effect::Return(ticks))
}

/// A machine with 4 GiB of memory.
pub(super) fn sysinfo(call: &mut Call<'_>) -> Answer {
    let mut words = [0; 14];
    words[0] = 1000;
    words[4] = 4 << 30;
    words[5] = 2 << 30;
    // Number of processes, and after the sizes of high memory the unit of memory.
    words[10] = 1;
    words[13] = 1;
    call.store_words(call.args[0], &words)?;
    success()
}

pub(super) fn uname(call: &mut Call<'_>) -> Answer {
    let mut bytes = [0; 6 * 65];
    let fields = ["Linux", "guest", "6.1.0", "#1", "x86_64", "(none)"];
    for (place, field) in bytes.chunks_mut(65).zip(fields) {
        place[..field.len()].copy_from_slice(field.as_bytes());
    }
    call.store(call.args[0], &bytes)?;
    success()
}

/// One processor.
pub(super) fn sched_getaffinity(call: &mut Call<'_>) -> Answer {
    call.store_words(call.args[2], &[1])?;
    Ok(Effect::Return(8))
}

pub(super) fn sched_setaffinity(_: &mut Call<'_>) -> Answer {
    success()
}

/// Signals are never delivered, except for their default action; a fault ends the execution before any handler.
pub(super) fn rt_sigaction(call: &mut Call<'_>) -> Answer {
    let [signal, new, old, ..] = call.args;
    let index = usize::try_from(signal).ok().filter(|index| (1..65).contains(index));
    let index = index.ok_or(Errno::EINVAL)?;
    if old != 0 {
        let action = u64::from(call.kernel.signals[index] == Disposition::Ignored);
        if call.kernel.signals[index] == Disposition::Handled {
            return call.refuse("reading the handler of a signal is not modelled");
        }
        call.store_words(old, &[action, 0, 0, 0])?;
    }
    if new != 0 && call.kernel.is_explored && call.thread != Thread::MAIN {
        return call.refuse("only the main thread may change what a signal does");
    }
    if new != 0 {
        call.kernel.signals[index] = match call.load_word(new)? {
            0 => Disposition::Default,
            1 => Disposition::Ignored,
            _ => Disposition::Handled,
        };
    }
    success()
}

pub(super) fn rt_sigprocmask(call: &mut Call<'_>) -> Answer {
    let [_, _, old, size, ..] = call.args;
    if old != 0 {
        call.store(old, &vec![0; size.min(128) as usize])?;
    }
    success()
}

pub(super) fn sigaltstack(call: &mut Call<'_>) -> Answer {
    /// No alternate stack is in use.
    const SS_DISABLE: u64 = 2;
    let old = call.args[1];
    if old != 0 {
        call.store_words(old, &[0, SS_DISABLE, 0])?;
    }
    success()
}

/// A signal to the process itself: its default action, or nothing.
fn raise(call: &mut Call<'_>, target: u64, signal: u64) -> Answer {
    /// Signals whose default action is to do nothing or to stop: SIGCHLD, SIGCONT to SIGTTOU, SIGURG, SIGWINCH.
    const HARMLESS: [u64; 8] = [17, 18, 19, 20, 21, 22, 23, 28];
    let is_own = target as u32 == call.kernel.pid() as u32
        || target as u32 == call.kernel.tid(call.thread) as u32;
    if !is_own {
        return call.refuse("signals to others are not modelled");
    }
    match signal {
        0 => return success(),
        65.. => return Err(Errno::EINVAL.into()),
        _ => {}
    }
    match call.kernel.signals[signal as usize] {
        Disposition::Ignored => success(),
        Disposition::Handled => call.refuse("handlers of signals are not modelled"),
        Disposition::Default if HARMLESS.contains(&signal) => {
            call.refuse("stopping and continuing a process is not modelled")
        }
        Disposition::Default => Ok(Effect::ExitProcess(Status::Signalled(signal as u8))),
    }
}

pub(super) fn kill(call: &mut Call<'_>) -> Answer {
    raise(call, call.args[0], call.args[1])
}

pub(super) fn tkill(call: &mut Call<'_>) -> Answer {
    raise(call, call.args[0], call.args[1])
}

pub(super) fn tgkill(call: &mut Call<'_>) -> Answer {
    raise(call, call.args[1], call.args[2])
}
