//! Stack overflows and wild pointers as findings.
//!
//! A fiber that runs over its stack, or follows a wild pointer, gets a signal. Its handler makes the
//! fiber return with that news (`corosensei`'s trap handler), and the tool goes on. Faults elsewhere go
//! to whoever handled them before.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Once;

use corosensei::trap::CoroutineTrapHandler;

use crate::fiber::Stop;

thread_local! {
    static ARMED: Cell<Option<CoroutineTrapHandler<Stop>>> = const { Cell::new(None) };
    /// The lowest address of the current fiber's stack; 0 if there is none.
    static LIMIT: Cell<usize> = const { Cell::new(0) };
}

/// How much stack the code of this crate and the system's allocator may need. They must not be
/// interrupted by an overflow, so it is provoked before they start.
const RESERVE: usize = 16 << 10;

/// Until this is dropped, faults on the fiber are findings.
pub(crate) struct Armed;

impl Drop for Armed {
    fn drop(&mut self) {
        ARMED.set(None);
        LIMIT.set(0);
    }
}

/// Makes faults on the fiber findings. `limit` is the lowest address of its stack.
pub(crate) fn arm(handler: CoroutineTrapHandler<Stop>, limit: usize) -> Armed {
    ARMED.set(Some(handler));
    LIMIT.set(limit);
    Armed
}

/// Whether the current fiber has little stack left.
#[inline]
pub(crate) fn is_stack_short() -> bool {
    let here = 0u8;
    (ptr::from_ref(&here) as usize).wrapping_sub(LIMIT.get()) < RESERVE
}

/// If the current fiber has little stack left: a fault, before locks are taken.
#[inline]
pub(crate) fn overflow_now_rather_than_later() {
    if is_stack_short() {
        // SAFETY: the lowest page of a stack is its guard page: this faults, as it should.
        unsafe { ptr::read_volatile(LIMIT.get() as *const u8) };
    }
}

/// The actions that were there before ours: for SIGSEGV and SIGBUS.
static mut BEFORE: [MaybeUninit<libc::sigaction>; 2] = [MaybeUninit::uninit(); 2];

/// Installs the handler, once for the process, and a stack for it, once for each thread.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (at, signal) in [libc::SIGSEGV, libc::SIGBUS].into_iter().enumerate() {
            // SAFETY: the action is initialised, the handler has the right signature, and nobody else
            // accesses BEFORE until the handler is there.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                let before = (&raw mut BEFORE).cast::<libc::sigaction>().add(at);
                libc::sigaction(signal, &raw const action, before);
            }
        }
    });
    give_the_handler_a_stack();
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

extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system hands in valid pointers; the registers are changed as corosensei asks for.
    let handled = unsafe { divert((*info).si_addr() as usize, context.cast()) };
    if !handled {
        // SAFETY: as above.
        unsafe { pass_on(signal, info, context) };
    }
}

/// Makes the interrupted fiber return, if there is one.
unsafe fn divert(address: usize, context: *mut libc::ucontext_t) -> bool {
    let Some(handler) = ARMED.take() else { return false };
    // SAFETY: the caller hands in the interrupted context.
    let registers = unsafe { &mut (*context).uc_mcontext };
    if !handler.stack_ptr_in_bounds(stack_pointer(registers)) {
        return false;
    }
    let overflow = address.wrapping_sub(LIMIT.get()) < RESERVE;
    // SAFETY: the stack pointer is in the fiber. The fiber is not resumed and its frames are not
    // looked at again.
    let new = unsafe { handler.setup_trap_handler(move || Stop::Trapped { overflow, address }) };
    set_registers(registers, new);
    true
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn stack_pointer(registers: &libc::mcontext_t) -> usize {
    registers.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn set_registers(registers: &mut libc::mcontext_t, new: corosensei::trap::TrapHandlerRegs) {
    registers.gregs[libc::REG_RIP as usize] = new.rip as i64;
    registers.gregs[libc::REG_RSP as usize] = new.rsp as i64;
    registers.gregs[libc::REG_RBP as usize] = new.rbp as i64;
    registers.gregs[libc::REG_RDI as usize] = new.rdi as i64;
    registers.gregs[libc::REG_RSI as usize] = new.rsi as i64;
}

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
fn stack_pointer(registers: &libc::mcontext_t) -> usize {
    registers.sp as usize
}

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
fn set_registers(registers: &mut libc::mcontext_t, new: corosensei::trap::TrapHandlerRegs) {
    registers.pc = new.pc;
    registers.sp = new.sp;
    registers.regs[0] = new.x0;
    registers.regs[1] = new.x1;
    registers.regs[29] = new.x29;
    registers.regs[30] = new.lr;
}

/// Calls whoever handled the signal before, or lets the system do what it does by default.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let at = usize::from(signal == libc::SIGBUS);
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
