//! Hooks of accesses to the thread's own stack, which return at once.
//!
//! *Problem.* Without optimisation most accesses are to variables on the stack, and compilers call hooks for many of them: two
//! or three for every atomic operation of C, whose operands they put there. Switching to the explorer for each
//! takes most of the time of a program.
//!
//! *Idea.* Of an access to a part of the stack that nobody shares the explorer only counts that it was there. So the hook
//! counts, and returns, if the address is in a range that is told to it, and nothing is to be done at the next hook: no value
//! of a store has to be taken from memory, and nothing was put there to be loaded. What `loops` counts is the same as
//! if there were no such hooks. When `loops` begins to look, all are served, and so the timer of `trap` sees that the thread
//! goes on.
//!
//! The range ends below the lowest part of the stack that is shared. What is shared is known when a thread begins: when
//! something new is learned, the exploration starts again. A stack pointer below all that were seen is noted by the explorer.
//!
//! *Cost.* About ten instructions instead of two hundred; hooks that we inserted, which preserve all registers, take twenty.

use std::fmt::Write;
use std::mem::offset_of;

use crate::hooks::{Hook, HookKind};
use crate::native::Native;
use crate::switch::Frame;
use crate::threads::Thread;

/// The largest access.
const LARGEST: usize = 16;

/// What hooks need to know in order to return at once.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Quick {
    /// Where accesses begin that are the thread's own business: from an address on so many bytes.
    from: usize,
    room: usize,
    /// The stack pointer at the hook is not below this.
    lowest: usize,
    /// How many hooks may return at once, and how many more; less than none if one was one too many.
    most: i64,
    left: i64,
}

/// Where the entry of a hook goes on.
pub(crate) fn target(hook: &Hook) -> &'static str {
    match (hook.kind, hook.is_inserted) {
        (HookKind::Read(_) | HookKind::Write(_), _) => "raddle_quick_access",
        (HookKind::ReadPart(_) | HookKind::WritePart(_), _) => "raddle_quick_saved",
        (HookKind::Nothing, _) => "raddle_quick_nothing",
        (_, false) => "raddle_hook",
        (_, true) => "raddle_saved",
    }
}

/// The code of these hooks. The address is in rdi, the number of the hook in r11, or on the stack if all registers
/// are preserved.
pub(crate) fn code() -> String {
    let from = offset_of!(Frame, quick) + offset_of!(Quick, from);
    let own_stack = tests(&format!("    movq %rdi, %rax\n    subq {from}(%r10), %rax\n"));
    let nothing = tests("    xorl %eax, %eax\n");
    let returns = returns();
    // The flags are in ah and, as 0 or 1, in al: that of overflow, which 127 more makes overflow.
    let save = "    pushq %rax\n    lahf\n    seto %al\n    pushq %rax\n    pushq %r10\n";
    let restore = "    popq %r10\n    popq %rax\n    addb $127, %al\n    sahf\n    popq %rax\n";
    format!(
        "raddle_quick_access:\n{own_stack}{returns}raddle_quick_nothing:\n{nothing}{returns}\
         raddle_quick_saved:\n{save}{own_stack}{restore}    leaq 8(%rsp), %rsp\n    ret\n\
         1:\n{restore}    jmp raddle_saved\n"
    )
}

/// Goes to the label 1 if the hook must not return at once; otherwise counts it. Leaves the frame in r10.
fn tests(offset: &str) -> String {
    let field = |offset: usize| offset_of!(Frame, quick) + offset;
    let [room, lowest, left] =
        [offset_of!(Quick, room), offset_of!(Quick, lowest), offset_of!(Quick, left)].map(field);
    format!(
        "    movq raddle_current(%rip), %r10\n{offset}    cmpq {room}(%r10), %rax\n    jae 1f\n    \
         cmpq {lowest}(%r10), %rsp\n    jb 1f\n    decq {left}(%r10)\n    js 1f\n"
    )
}

/// Returns with the same in registers that calls do not preserve as after a switch to the explorer (see `switch`), to
/// which the label 1 goes.
fn returns() -> String {
    let result = offset_of!(Frame, result);
    let mut out = format!("    movq {result}(%r10), %rax\n    movq {}(%r10), %rdx\n", result + 8);
    (0..16).for_each(|at| _ = writeln!(out, "    pxor %xmm{at}, %xmm{at}"));
    out + "    movq (%rsp), %r11\n    xorl %r10d, %r10d\n    ret\n1:  jmp *raddle_to_host(%rip)\n"
}

impl Thread {
    /// Tells hooks what they need to know until the next one is served.
    #[inline]
    pub(crate) fn allow_quick_hooks(&mut self) {
        let is_settled = self.stores.is_empty()
            && self.loaded.is_empty()
            && self.borrowed.is_empty()
            && !self.holds;
        let room = if is_settled { self.own_stack } else { 0 };
        let left = self.private.hooks_left() as i64;
        let from = self.slot.stack_limit();
        // The return address is below what counts as the caller's stack.
        let lowest = self.lowest - size_of::<usize>();
        self.frame.quick = Quick { from, room, lowest, most: left, left };
    }

    /// Counts the hooks that returned at once.
    #[inline]
    pub(crate) fn count_quick_hooks(&mut self) {
        let Quick { most, left, .. } = self.frame.quick;
        self.private.count((most - left.max(0)) as u64);
    }
}

impl Native {
    /// Notes what of its stack the current thread, which begins, does not share.
    pub(crate) fn note_own_stack(&mut self) {
        let (from, to) = self.thread().slot.stack();
        let shared = self.layout.first_shared(from, to);
        self.thread_mut().own_stack = (shared - from).saturating_sub(LARGEST);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Calls a hook with an address and all combinations of flags, and looks at what is left of registers and flags, and
    /// whether it was served.
    const CALLER: &str = r#"
    #include <stdint.h>
    #include <stdio.h>
    static struct { uint64_t from, room, lowest; int64_t most, left; } *quick;
    static char frame[FRAME];
    void *raddle_current = frame;
    int served;
    __asm__(".globl raddle_to_host, raddle_saved\n.data\nraddle_to_host: .quad host\n.text\nhost: incl served(%rip)\nret\n"
            "raddle_saved: pushfq\nincl served(%rip)\npopfq\nleaq 8(%rsp), %rsp\nret\n"
            "hook: pushq $7\njmp raddle_quick_saved\n");
    static int changes(uint64_t address, uint64_t flags) {
        uint64_t a = 0x1122334455667788, b = 0x99aabbccddeeff00, c = 3, after;
        __asm__ volatile("movq %0, %%rax\nmovq %1, %%r10\nmovq %2, %%r11\npushq %4\npopfq\ncall hook\n"
            "pushfq\npopq %3\nmovq %%rax, %0\nmovq %%r10, %1\nmovq %%r11, %2"
            : "+m"(a), "+m"(b), "+m"(c), "=r"(after) : "r"(flags), "D"(address)
            : "rax", "r10", "r11", "cc", "memory");
        return a != 0x1122334455667788 || b != 0x99aabbccddeeff00 || c != 3 || (after ^ flags) & 0x8d5;
    }
    int main(void) {
        int changed = 0;
        quick = (void *)(frame + QUICK);
        for (int bits = 0; bits < 64; bits++) {
            uint64_t flags = 0x202;
            int at[] = {0, 2, 4, 6, 7, 11};
            for (int bit = 0; bit < 6; bit++)
                flags |= (uint64_t)(bits >> bit & 1) << at[bit];
            quick->from = 1000, quick->room = 100, quick->lowest = 0, quick->left = 2, served = 0;
            changed += changes(1099, flags) + changes(1000, flags);
            changed += served != 0 || quick->left != 0;
            changed += changes(1000, flags); // None are left.
            quick->left = 2;
            changed += changes(999, flags) + changes(1100, flags);
            quick->room = 0;
            changed += changes(1000, flags);
            quick->room = 100, quick->lowest = UINT64_MAX;
            changed += changes(1000, flags);
            changed += served != 5 || quick->left != 2;
        }
        printf("%d", changed);
    }
    "#;

    #[test]
    fn inserted_hooks_preserve_registers_and_flags() {
        let directory = tempfile::tempdir().expect("there is room for a file");
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("caller.c"), CALLER).expect("there is room for a file");
        let globals = "    .globl raddle_quick_saved\n    \
                       .section .note.GNU-stack,\"\",@progbits\n    .text\n";
        std::fs::write(path("quick.s"), globals.to_owned() + &code()).expect("there is room");
        let compiled = Command::new("gcc")
            .args(["-no-pie", "-mno-red-zone", "-w"])
            .arg(format!("-DFRAME={}", size_of::<Frame>()))
            .arg(format!("-DQUICK={}", offset_of!(Frame, quick)))
            .args([path("caller.c"), path("quick.s")])
            .arg("-o")
            .arg(path("caller"))
            .status();
        assert!(compiled.expect("gcc runs").success());
        let output = Command::new(path("caller")).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0");
    }
}
