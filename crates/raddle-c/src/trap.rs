//! Crashes as findings.
//!
//! A thread that follows a wild pointer, divides by zero or runs over its stack gets a signal. The handler
//! makes it stop with that news, as if it had called a hook, and the tool goes on. Faults elsewhere go to
//! whoever handled them before.
//!
//! A loop without hooks would run forever: a timer looks once in a while whether the thread is still at
//! the same step.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Once;

use crate::error::Error;
use crate::switch::{self, Caller};

/// The registers of a [`Caller`].
const SAVED: [i32; 6] =
    [libc::REG_RBX, libc::REG_RBP, libc::REG_R12, libc::REG_R13, libc::REG_R14, libc::REG_R15];
/// The signals of faults.
const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
/// The signal of the timer.
pub(crate) const TIMER: i32 = libc::SIGVTALRM;
/// A thread may run for so many seconds of processor time without calling a hook, and up to twice as long.
const PATIENCE: i64 = 1;

thread_local! {
    /// How many steps were done.
    static STEPS: Cell<u64> = const { Cell::new(0) };
    /// How many there were when the timer last looked.
    static SEEN: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The actions that were there before ours.
static mut BEFORE: [MaybeUninit<libc::sigaction>; 4] = [MaybeUninit::uninit(); 4];

/// A step begins: the timer may look.
#[inline]
pub(crate) fn note_step() {
    STEPS.set(STEPS.get() + 1);
}

/// Installs the handlers, once for the process, and a stack for them, once for each thread.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (at, signal) in SIGNALS.into_iter().enumerate() {
            // SAFETY: nobody else accesses BEFORE until the handler is there.
            unsafe { set_handler(signal, (&raw mut BEFORE).cast::<libc::sigaction>().add(at)) };
        }
        // SAFETY: the action is not kept.
        unsafe { set_handler(TIMER, ptr::null_mut()) };
    });
    give_the_handler_a_stack();
}

unsafe fn set_handler(signal: i32, before: *mut libc::sigaction) {
    // SAFETY: the action is initialised, and the handler has the right signature.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, before);
    }
}

fn give_the_handler_a_stack() {
    const SIZE: usize = 64 << 10;
    // SAFETY: plain system calls with initialised arguments; the new stack is never freed.
    unsafe {
        let mut current: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(ptr::null(), &raw mut current);
        if current.ss_flags & libc::SS_DISABLE == 0 {
            return;
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let memory = libc::mmap(ptr::null_mut(), SIZE, access, kind, -1, 0);
        if memory != libc::MAP_FAILED {
            let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: SIZE };
            libc::sigaltstack(&raw const stack, ptr::null_mut());
        }
    }
}

/// A timer of this thread of the system, while it lives.
pub(crate) struct Watchdog(libc::timer_t);

impl Watchdog {
    /// Starts the timer.
    pub(crate) fn start() -> Result<Self, Error> {
        // SAFETY: plain system calls with initialised arguments.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = TIMER;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer: libc::timer_t = ptr::null_mut();
            let clock = libc::CLOCK_THREAD_CPUTIME_ID;
            if libc::timer_create(clock, &raw mut event, &raw mut timer) != 0 {
                return Err(Error::system("no timer"));
            }
            let period = libc::timespec { tv_sec: PATIENCE, tv_nsec: 0 };
            let when = libc::itimerspec { it_interval: period, it_value: period };
            libc::timer_settime(timer, 0, &raw const when, ptr::null_mut());
            Ok(Watchdog(timer))
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // SAFETY: the timer is ours.
        unsafe { libc::timer_delete(self.0) };
    }
}

extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if signal == TIMER && SEEN.replace(STEPS.get()) != STEPS.get() {
        return;
    }
    // SAFETY: the system hands in valid pointers.
    let handled = unsafe { divert(signal, (*info).si_addr() as usize, context.cast()) };
    if !handled && signal != TIMER {
        // SAFETY: as above.
        unsafe { pass_on(signal, info, context) };
    }
}

/// Stops the thread of the program that runs, if there is one.
unsafe fn divert(signal: i32, address: usize, context: *mut libc::ucontext_t) -> bool {
    let frame = switch::running();
    if frame.is_null() {
        return false;
    }
    // SAFETY: the caller hands in the interrupted context, and the frame is that of the thread that runs.
    unsafe {
        let registers = &mut (*context).uc_mcontext.gregs;
        let value = |register: i32| registers[register as usize] as usize;
        let at = Caller {
            // Behind the instruction, as if it were a call.
            address: value(libc::REG_RIP).wrapping_add(1),
            stack: value(libc::REG_RSP),
            registers: SAVED.map(value),
        };
        let arguments = [signal as usize, address, 0, 0, 0, 0];
        let (instruction, stack) = switch::trap(frame, at, arguments);
        registers[libc::REG_RIP as usize] = instruction as i64;
        registers[libc::REG_RSP as usize] = stack as i64;
    }
    true
}

/// Calls whoever handled the signal before, or lets the system do what it does by default.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let at = SIGNALS.iter().position(|&known| known == signal).unwrap_or(0);
    // SAFETY: `install` has filled it in; an action with SA_SIGINFO has three arguments.
    unsafe {
        let before = *(&raw const BEFORE).cast::<libc::sigaction>().add(at);
        if before.sa_sigaction == libc::SIG_DFL || before.sa_sigaction == libc::SIG_IGN {
            libc::signal(signal, libc::SIG_DFL);
        } else if before.sa_flags & libc::SA_SIGINFO != 0 {
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(before.sa_sigaction);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(i32) = std::mem::transmute(before.sa_sigaction);
            handler(signal);
        }
    }
}

/// Whether there is memory at an address.
pub(crate) fn is_mapped(address: usize) -> bool {
    let page = address & !4095;
    let mut present = 0u8;
    // SAFETY: this asks about a page without touching it.
    unsafe { libc::mincore(page as *mut _, 1, &raw mut present) == 0 }
}
