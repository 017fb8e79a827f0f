//! Runs code on the real processor: registers, flags, vectors, x87 state and memory are given and compared.
//!
//! Guest addresses are host addresses here: text and data are mapped at the same fixed addresses on both sides, so that every address
//! that an instruction computes is the same. Signals end a run; their number is part of the result.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Where code is, in the guest and on the host.
pub(crate) const TEXT: u64 = 0x1234_0000_0000;
/// Where data is.
pub(crate) const DATA: u64 = TEXT + 0x10_0000;
/// Bytes of text.
pub(crate) const TEXT_SIZE: u64 = 4096;
/// Bytes of data.
pub(crate) const DATA_SIZE: u64 = 8192;

/// The state of a processor. The layout is known to the assembly below.
#[repr(C, align(64))]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) registers: [u64; 16],
    pub(crate) flags: u64,
    pub(crate) padding: [u64; 7],
    pub(crate) vectors: [[u64; 4]; 16],
    /// In the format of `fxsave`; mxcsr is in word 3.
    pub(crate) fpu: [u64; 64],
}

core::arch::global_asm!(
    r#"
.data
.balign 64
.globl raddle_native_state
raddle_native_state: .space 1216
raddle_native_stack: .quad 0
raddle_native_mxcsr: .long 0x1f80
.text
.globl raddle_native_run
raddle_native_run:
 push rbx
 push rbp
 push r12
 push r13
 push r14
 push r15
 mov [rip+raddle_native_stack], rsp
 fxrstor64 [rip+raddle_native_state+704]
 .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
 vmovups ymm\i, [rip+raddle_native_state+192+32*\i]
 .endr
 push qword ptr [rip+raddle_native_state+128]
 popfq
 mov rax,[rip+raddle_native_state+0]
 mov rcx,[rip+raddle_native_state+8]
 mov rdx,[rip+raddle_native_state+16]
 mov rbx,[rip+raddle_native_state+24]
 mov rbp,[rip+raddle_native_state+40]
 mov rsi,[rip+raddle_native_state+48]
 mov rdi,[rip+raddle_native_state+56]
 mov r8,[rip+raddle_native_state+64]
 mov r9,[rip+raddle_native_state+72]
 mov r10,[rip+raddle_native_state+80]
 mov r11,[rip+raddle_native_state+88]
 mov r12,[rip+raddle_native_state+96]
 mov r13,[rip+raddle_native_state+104]
 mov r14,[rip+raddle_native_state+112]
 mov r15,[rip+raddle_native_state+120]
 mov rsp,[rip+raddle_native_state+32]
 jmp [rip+raddle_native_entry]
.globl raddle_native_back
raddle_native_back:
 mov [rip+raddle_native_state+32], rsp
 mov rsp,[rip+raddle_native_stack]
 mov [rip+raddle_native_state+0],rax
 mov [rip+raddle_native_state+8],rcx
 mov [rip+raddle_native_state+16],rdx
 mov [rip+raddle_native_state+24],rbx
 mov [rip+raddle_native_state+40],rbp
 mov [rip+raddle_native_state+48],rsi
 mov [rip+raddle_native_state+56],rdi
 mov [rip+raddle_native_state+64],r8
 mov [rip+raddle_native_state+72],r9
 mov [rip+raddle_native_state+80],r10
 mov [rip+raddle_native_state+88],r11
 mov [rip+raddle_native_state+96],r12
 mov [rip+raddle_native_state+104],r13
 mov [rip+raddle_native_state+112],r14
 mov [rip+raddle_native_state+120],r15
 pushfq
 pop qword ptr [rip+raddle_native_state+128]
 cld
 .irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
 vmovups [rip+raddle_native_state+192+32*\i], ymm\i
 .endr
 fxsave64 [rip+raddle_native_state+704]
 fninit
 ldmxcsr [rip+raddle_native_mxcsr]
 vzeroupper
 pop r15
 pop r14
 pop r13
 pop r12
 pop rbp
 pop rbx
 ret
.data
.globl raddle_native_entry
raddle_native_entry: .quad 0x123400000000
.text
"#
);

unsafe extern "C" {
    static mut raddle_native_state: State;
    fn raddle_native_run();
    fn raddle_native_back();
}

/// The number of the signal that ended the run, or 0.
static mut SIGNAL: i32 = 0;

/// The thread that runs code on the real processor.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// The real processor. Only one thread uses it at a time.
pub(crate) struct Native(#[allow(dead_code)] MutexGuard<'static, ()>);

extern "C" fn on_signal(number: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: signals come only from the code that is run; the run then continues with saving its state.
    unsafe {
        if RUNNING.load(Ordering::SeqCst) != libc::gettid() {
            // A crash of something else: let it happen.
            libc::signal(number, libc::SIG_DFL);
            return;
        }
        SIGNAL = number;
        let context = &mut *context.cast::<libc::ucontext_t>();
        context.uc_mcontext.gregs[libc::REG_RIP as usize] =
            raddle_native_back as *const () as usize as i64;
        // A trap leaves its bit set.
        context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !0x100;
    }
}

impl Native {
    pub(crate) fn get() -> Native {
        static LOCK: Mutex<()> = Mutex::new(());
        static MAPPED: OnceLock<()> = OnceLock::new();
        let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        MAPPED.get_or_init(map);
        handle_signals();
        Native(guard)
    }

    /// Runs `code` on `state` and `data`, both of which are changed. Returns the signal that ended it, or 0.
    pub(crate) fn run(&mut self, code: &[u8], state: &mut State, data: &mut [u8]) -> i32 {
        assert!(code.len() + 14 < TEXT_SIZE as usize);
        assert_eq!(data.len(), DATA_SIZE as usize);
        // SAFETY: text and data are mapped; the code accesses nothing but data, as the virtual CPU has found first.
        unsafe {
            let text = TEXT as *mut u8;
            std::ptr::copy_nonoverlapping(code.as_ptr(), text, code.len());
            // jmp [rip+0]
            let back = raddle_native_back as *const () as u64;
            std::ptr::copy_nonoverlapping(
                [0xff, 0x25, 0, 0, 0, 0].as_ptr(),
                text.add(code.len()),
                6,
            );
            text.add(code.len() + 6).cast::<u64>().write_unaligned(back);
            std::ptr::copy_nonoverlapping(data.as_ptr(), DATA as *mut u8, data.len());
            let place = &raw mut raddle_native_state;
            place.write(state.clone());
            SIGNAL = 0;
            RUNNING.store(libc::gettid(), Ordering::SeqCst);
            raddle_native_run();
            RUNNING.store(0, Ordering::SeqCst);
            *state = place.read();
            std::ptr::copy_nonoverlapping(DATA as *const u8, data.as_mut_ptr(), data.len());
            SIGNAL
        }
    }
}

fn map() {
    // SAFETY: new mappings at addresses that are free; `MAP_FIXED_NOREPLACE` fails otherwise.
    unsafe {
        for (start, len) in [(TEXT, TEXT_SIZE), (DATA - 4096, DATA_SIZE + 4096)] {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            let place = libc::mmap(start as *mut _, len as usize, 7, flags, -1, 0);
            assert_eq!(place as u64, start);
        }
    }
}

fn handle_signals() {
    // SAFETY: installs a handler that only redirects the code that is run, on a stack of its own.
    unsafe {
        let stack = libc::stack_t {
            ss_sp: Box::leak(vec![0u8; 1 << 16].into_boxed_slice()).as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: 1 << 16,
        };
        assert_eq!(libc::sigaltstack(&stack, std::ptr::null_mut()), 0);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in [libc::SIGFPE, libc::SIGSEGV, libc::SIGILL, libc::SIGTRAP, libc::SIGBUS] {
            assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
        }
    }
}
