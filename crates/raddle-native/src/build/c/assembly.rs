//! The assembly that compilers write.
//!
//! Three changes are made to it, and functions are made atomic.
//!
//! - *Calls of hooks of plain accesses are removed, with their arguments.* The CPU sees these accesses itself. Code does not rely
//!   on registers that a call changes, so instructions before it that only compute these registers are removed too.
//!   Otherwise the address of every local variable would be taken, and no stack slot would ever be dead
//!   (`raddle_cpu::Liveness`).
//! - *Copies of objects are listed.* Compilers copy a struct with instructions of any size, and without a hook for each. No
//!   member is accessed as a whole then, so such an access may be divided like the struct. Accesses without a hook before
//!   them are listed in a section of their own ([`COPIES`](crate::load::COPIES)), which is not loaded. Slots of the stack
//!   are left out: compilers use them for temporaries.
//! - *Volatile accesses are listed* in another section ([`VOLATILES`](crate::load::VOLATILES)): the hook before them tells. Code
//!   may load a pointer from the stack between the hook and the access. Such a slot has no hook of its own, so no other thread
//!   uses it, and it does no harm to list that load as well.
//!
//! *Functions are made atomic.* A function whose name begins with `__VERIFIER_atomic_` is an atomic section of SV-COMP. It calls
//! `__VERIFIER_atomic_begin` before its first instruction, and `__VERIFIER_atomic_end` before each return. Both leave all
//! registers as they are.

use crate::load::{COPIES, VOLATILES};

/// Prepares the assembly of a file.
pub(super) fn prepare(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let (mut copies, mut volatiles) = (List::new(COPIES), List::new(VOLATILES));
    let mut is_hooked = false;
    let mut is_volatile = false;
    let mut section = Section::default();
    for line in text.lines() {
        out.push_str(section.call_before(line));
        if let Some((access, kind)) = hook(line).and_then(plain) {
            is_hooked = access == Access::Scalar;
            is_volatile = kind == Kind::Volatile;
            remove_arguments(&mut out);
            continue;
        }
        if is_label(line) {
            (is_hooked, is_volatile) = (false, false);
        } else {
            if is_volatile && base_of_access(line).is_some() {
                volatiles.add(&mut out);
                is_volatile = !is_memory_access(line);
            }
            if is_copy(line) || is_memory_access(line) && !std::mem::take(&mut is_hooked) {
                copies.add(&mut out);
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    copies.finish(&mut out);
    volatiles.finish(&mut out);
    out
}

/// The instructions that a section of the program lists.
struct List {
    section: &'static str,
    count: usize,
}

impl List {
    fn new(section: &'static str) -> Self {
        List { section, count: 0 }
    }

    /// Lists the instruction that follows.
    fn add(&mut self, out: &mut String) {
        out.push_str(&format!(".L{}{}:\n", self.section, self.count));
        self.count += 1;
    }

    fn finish(&self, out: &mut String) {
        if self.count > 0 {
            out.push_str(&format!("\t.section\t{},\"\",@progbits\n", self.section));
        }
        for index in 0..self.count {
            out.push_str(&format!("\t.quad\t.L{}{index}\n", self.section));
        }
    }
}

/// The prefix of functions that are atomic sections.
pub(super) const ATOMIC: &str = "__VERIFIER_atomic_";

/// Returns `true` for the name of a function that is an atomic section as a whole, in C or C++.
pub(super) fn is_atomic_function(name: &str) -> bool {
    let mangled =
        name.strip_prefix("_Z").map(|name| name.trim_start_matches(|c: char| c.is_ascii_digit()));
    let name = mangled.unwrap_or(name);
    name.starts_with(ATOMIC) && !matches!(&name[ATOMIC.len()..], "begin" | "end")
}

/// Whether the current line belongs to a function that is an atomic section.
#[derive(Default)]
struct Section {
    is_inside: bool,
    /// The first instruction was not seen yet.
    is_at_start: bool,
}

impl Section {
    /// The call to insert before a line.
    fn call_before(&mut self, line: &str) -> &'static str {
        if let Some(label) = line.strip_suffix(':')
            && !label.starts_with(".L")
        {
            self.is_inside = is_atomic_function(label);
            self.is_at_start = self.is_inside;
        }
        let is_instruction =
            line.starts_with('\t') && !line.starts_with("\t.") && !line.starts_with("\t#");
        if !self.is_inside || !is_instruction {
            return "";
        }
        if std::mem::take(&mut self.is_at_start) {
            return "\tcall\t__VERIFIER_atomic_begin@PLT\n";
        }
        match line.trim() {
            "ret" | "retq" => "\tcall\t__VERIFIER_atomic_end@PLT\n",
            _ => "",
        }
    }
}

/// Removes the instructions at the end that only compute registers that a call changes.
fn remove_arguments(out: &mut String) {
    while let Some(start) =
        out.strip_suffix('\n').map(|text| text.rfind('\n').map_or(0, |at| at + 1))
        && computes_argument(&out[start..])
    {
        out.truncate(start);
    }
}

/// Registers that a call changes.
const CALLER_SAVED: [&str; 18] = [
    "%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11", "%eax", "%ecx", "%edx",
    "%esi", "%edi", "%r8d", "%r9d", "%r10d", "%r11d",
];

/// Returns `true` for an instruction that only computes a register that a call changes, and reads no memory but the stack and
/// constants of the linker.
fn computes_argument(line: &str) -> bool {
    let Some(instruction) = line.strip_prefix('\t') else { return false };
    let (name, operands) =
        instruction.trim_end().split_once('\t').unwrap_or((instruction.trim_end(), ""));
    if name == "cltq" {
        return true;
    }
    let is_pure = matches!(name, "movq" | "movl" | "movslq" | "leaq" | "addq" | "salq");
    let target = operands.rsplit([',', ' ']).next().unwrap_or(operands);
    is_pure && CALLER_SAVED.contains(&target) && (name == "leaq" || !is_memory_access(line))
}

/// The hook that a line calls, without `__tsan_`.
pub(super) fn hook(line: &str) -> Option<&str> {
    let callee = line.trim_start().strip_prefix("call")?;
    let callee = callee.strip_prefix('q').unwrap_or(callee).trim_start();
    let name = callee.strip_prefix("__tsan_")?;
    Some(name.split(['@', ' ', '\t', '#']).next().unwrap_or(name))
}

/// What the hook of a plain access announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// One access.
    Scalar,
    /// Any number of accesses, or none.
    Other,
}

/// Whether an access is volatile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Usual,
    Volatile,
}

/// What a hook announces; `None` if it is not that of a plain or volatile access, or of the start or end of a function.
fn plain(hook: &str) -> Option<(Access, Kind)> {
    match hook {
        "func_entry" | "func_exit" | "read_range" | "write_range" => {
            return Some((Access::Other, Kind::Usual));
        }
        "vptr_read" | "vptr_update" => return Some((Access::Scalar, Kind::Usual)),
        _ => {}
    }
    let hook = hook.strip_prefix("unaligned_").unwrap_or(hook);
    let (hook, kind) = match hook.strip_prefix("volatile_") {
        Some(hook) => (hook, Kind::Volatile),
        None => (hook, Kind::Usual),
    };
    let size = ["read_write", "read", "write"].iter().find_map(|name| hook.strip_prefix(name))?;
    size.bytes().all(|byte| byte.is_ascii_digit()).then_some((Access::Scalar, kind))
}

/// Returns `true` for a label to which code may jump.
fn is_label(line: &str) -> bool {
    let Some(label) = line.trim_end().strip_suffix(':') else { return false };
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    label.strip_prefix(".L").is_none_or(|rest| rest.starts_with("BB") || is_number(rest))
}

/// Returns `true` for an instruction that copies or fills memory of any size.
fn is_copy(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("rep") || line.starts_with("movs") && !line.contains('%')
}

/// Returns `true` for an instruction with a memory operand that is neither on the stack nor a constant of the linker.
fn is_memory_access(line: &str) -> bool {
    let base = base_of_access(line);
    base.is_some_and(|base| !base.starts_with("%rbp") && !base.starts_with("%rsp"))
}

/// The base of the memory operand of an instruction, with what follows it, if the operand is no constant of the linker.
fn base_of_access(line: &str) -> Option<&str> {
    let instruction = line.strip_prefix('\t')?;
    let (name, operands) = instruction.split_once(['\t', ' ']).unwrap_or((instruction, ""));
    let is_no_access = ["lea", "call", "jmp", "nop", "prefetch", ".", "#"];
    if is_no_access.iter().any(|prefix| name.starts_with(prefix)) || operands.contains("@GOT") {
        return None;
    }
    let operands = operands.split('#').next().unwrap_or(operands);
    operands.split_once('(').map(|(_, base)| base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_hooks_of_plain_accesses_are_removed() {
        let text = "f:\n\tcall\t__tsan_read4@PLT\n\tcallq\t__tsan_unaligned_volatile_write8@PLT\n\
                    \tcall\t__tsan_atomic32_load@PLT\n\tcall\tg@PLT\n\tcall\t__tsan_func_exit@PLT\n\
                    \tcall\t__tsan_read_range@PLT\n\tcall\t__tsan_read_write4@PLT\n";
        let kept = "f:\n\tcall\t__tsan_atomic32_load@PLT\n\tcall\tg@PLT\n";
        assert_eq!(prepare(text), kept);
    }

    #[test]
    fn functions_of_sv_comp_are_atomic() {
        let text = "__VERIFIER_atomic_inc:\n.LFB0:\n\t.cfi_startproc\n\tpushq\t%rbp\n.L2:\n\tret\n\t.cfi_endproc\n\
                    f:\n\tpushq\t%rbp\n\tret\n";
        let made = "__VERIFIER_atomic_inc:\n.LFB0:\n\t.cfi_startproc\n\tcall\t__VERIFIER_atomic_begin@PLT\n\tpushq\t%rbp\n\
                    .L2:\n\tcall\t__VERIFIER_atomic_end@PLT\n\tret\n\t.cfi_endproc\nf:\n\tpushq\t%rbp\n\tret\n";
        assert_eq!(prepare(text), made);
        assert!(is_atomic_function("_Z20__VERIFIER_atomic_f0v"));
        assert!(!is_atomic_function("__VERIFIER_atomic_begin"));
    }

    #[test]
    fn arguments_of_hooks_are_removed() {
        let text = "\tmovl\t%eax, %ebx\n\tleaq\t-44(%rbp), %rax\n\tmovq\t%rax, %rdi\n\tcall\t__tsan_write4@PLT\n\
                    \tmovl\t%ebx, -44(%rbp)\n\tmovq\t-32(%rbp), %rax\n\tcltq\n\taddq\t$8, %rax\n\
                    \tmovq\t%rax, %rdi\n\tcall\t__tsan_read4@PLT\n\tmovq\t-32(%rbp), %rax\n";
        let kept = "\tmovl\t%eax, %ebx\n\tmovl\t%ebx, -44(%rbp)\n\tmovq\t-32(%rbp), %rax\n";
        assert_eq!(prepare(text), kept);
        let loads = "\tmovq\t(%rbx), %rdi\n\tcall\t__tsan_read4@PLT\n";
        assert!(prepare(loads).contains("(%rbx), %rdi"), "the load may race");
        let labelled = "\tmovq\t%rax, %rdi\n.L3:\n\tcall\t__tsan_read4@PLT\n";
        assert_eq!(prepare(labelled), "\tmovq\t%rax, %rdi\n.L3:\n");
    }

    #[test]
    fn accesses_without_a_hook_are_listed() {
        let text = "\tcall\t__tsan_read8@PLT\n\tmovq\t-8(%rbp), %rax\n\tmovq\t(%rax), %rdx\n\
                    \tmovq\t8(%rax), %rdx\n\tmovq\tx@GOTPCREL(%rip), %rcx\n\tleaq\t(%rcx), %rcx\n";
        let prepared = "\tmovq\t-8(%rbp), %rax\n\tmovq\t(%rax), %rdx\n.L.raddle.copies0:\n\
                        \tmovq\t8(%rax), %rdx\n\tmovq\tx@GOTPCREL(%rip), %rcx\n\tleaq\t(%rcx), %rcx\n\
                        \t.section\t.raddle.copies,\"\",@progbits\n\t.quad\t.L.raddle.copies0\n";
        assert_eq!(prepare(text), prepared);
        let repeated = "\trep movsq\n";
        assert!(prepare(repeated).starts_with(".L.raddle.copies0:\n\trep movsq\n"));
    }

    #[test]
    fn volatile_accesses_are_listed() {
        let text = "\tcall\t__tsan_volatile_read4@PLT\n\tmovq\t-8(%rbp), %rax\n\tmovl\t(%rax), %edx\n\
                    \tmovl\t%edx, -12(%rbp)\n\tcall\t__tsan_read4@PLT\n\tmovl\ty(%rip), %eax\n";
        let prepared = ".L.raddle.volatiles0:\n\tmovq\t-8(%rbp), %rax\n.L.raddle.volatiles1:\n\tmovl\t(%rax), %edx\n\
                        \tmovl\t%edx, -12(%rbp)\n\tmovl\ty(%rip), %eax\n\
                        \t.section\t.raddle.volatiles,\"\",@progbits\n\t.quad\t.L.raddle.volatiles0\n\t.quad\t.L.raddle.volatiles1\n";
        assert_eq!(prepare(text), prepared);
    }

    #[test]
    fn a_hook_ends_at_a_label() {
        let text = "\tcall\t__tsan_read8@PLT\n.L5:\n\tmovq\t(%rax), %rdx\n";
        assert!(prepare(text).contains(".L5:\n.L.raddle.copies0:\n"));
        let inner = "\tcall\t__tsan_read8@PLT\n.LVL5:\n\tmovq\t(%rax), %rdx\n";
        assert!(!prepare(inner).contains("raddle.copies"));
    }
}
