//! What the compilers' hooks lack, mended in their assembly.
//!
//! *Problem.* Compilers call hooks for all accesses that they see as such in the middle of their work. Some are not
//! among them. With gcc: structs that are passed and returned by value, the load that belongs to the store of a
//! bit-field, parts of struct copies; and for a struct copy the hook of the store comes before that of the
//! load, when the value is not yet known. With clang (14): large structs that are passed by value, numbers of unusual sizes
//! (`long double`), elements and members of variables on the stack. A value that is taken, or left, without a hook is
//! silently wrong.
//!
//! *Idea.* Without optimisation the assembly is plain: an access follows its hook in straight code, with
//! an address that is computed in the same way. So each instruction that accesses memory is compared with
//! the hook before it (`forms`), and where no hook covers it, one is inserted right there, which preserves
//! all registers. The hook of a store that is followed by another hook before the store is
//! dropped, and the store gets one of its own.
//!
//! Slots of the stack are left alone unless the function takes the address of one at or below.
//!
//! *Inline assembly* (`inline`): fences become fences, everything else is refused with file and line.
//!
//! *Cost.* A few milliseconds for ten thousand lines. An inserted hook saves and restores all registers, some
//! ten nanoseconds.
//!
//! *Rejected.* Taking the value of a late store one hook later: in between may be more than one. Refusing
//! structs by value: too many programs have them. Trusting clang: see above.

mod disassembly;
mod forms;
mod inline;
mod line;
mod marks;
mod source;

use std::fmt::Write;

use crate::error::Error;
pub(crate) use disassembly::{Target, listing};
use forms::{Form, Forms};
use inline::Inline;
use line::{Access, Instruction, Line, Memory};
pub(crate) use marks::{ATOMICS_ARE_VOLATILE, WEAK, mark_atomic_loads, mark_weak};
use source::Source;

/// The assembly of a C or C++ file with hooks for all that happens.
pub(crate) fn mend(text: &str) -> Result<String, Error> {
    let lines: Vec<&str> = text.lines().collect();
    Ok(Mender::new(&lines).look()?.out.join("\n") + "\n")
}

/// The first line of assembly where hooks do not tell all, and what they lack.
pub(crate) fn first_lack(text: &str) -> Result<Option<(usize, &'static str)>, Error> {
    let lines: Vec<&str> = text.lines().collect();
    let is_compiled = true;
    Ok(Mender { is_compiled, ..Mender::new(&lines) }.look()?.lack)
}

/// A hook that covers the accesses after it.
struct Covers {
    address: Form,
    size: i64,
}

#[derive(Default)]
struct Mender<'a> {
    lines: &'a [&'a str],
    out: Vec<String>,
    forms: Forms,
    loads: Option<Covers>,
    stores: Option<Covers>,
    /// Where the hook of a store is of which nothing has been stored yet.
    unused: Option<usize>,
    /// Whether clang wrote this, and of how many bytes the load is that it leaves behind the last hook of an atomic one.
    is_clang: bool,
    left_behind: Option<usize>,
    source: Source<'a>,
    /// Whether this is code that was compiled. Then slots of the stack that have no hooks anywhere in the function, and whose
    /// addresses are not taken, are private, wherever they are.
    is_compiled: bool,
    /// The line that is looked at.
    at: usize,
    /// The first one where something had to be changed, and why.
    lack: Option<(usize, &'static str)>,
}

impl<'a> Mender<'a> {
    fn new(lines: &'a [&'a str]) -> Self {
        let is_clang = |line: &&str| line.contains(".ident") && line.contains("clang");
        let is_clang = lines.iter().any(is_clang);
        Mender { lines, out: Vec::with_capacity(lines.len()), is_clang, ..Mender::default() }
    }

    /// Looks at all lines.
    fn look(mut self) -> Result<Self, Error> {
        while self.at < self.lines.len() {
            let at = self.at;
            match line::parse(self.lines[at]) {
                Line::Inline(true) => self.at = self.inline(at)?,
                line => self.line(at, &line),
            }
            self.at += 1;
        }
        Ok(self)
    }

    /// A piece of inline assembly. Returns its last line.
    fn inline(&mut self, at: usize) -> Result<usize, Error> {
        let end = self.lines[at..].iter().position(|line| line.trim() == "#NO_APP");
        let end = at + end.unwrap_or(self.lines.len() - at - 1);
        let place = self.source.place().unwrap_or_else(|| String::from("inline assembly"));
        match inline::recognise(&self.lines[at + 1..end], place)? {
            Inline::Nothing => {}
            Inline::Fence => self.insert("movl $5, %edi", "fence"),
            Inline::StoreFence => self.insert("nop", "store_fence"),
        }
        self.out.extend(self.lines[at..=end].iter().map(|&line| line.to_owned()));
        self.new_block();
        Ok(end)
    }

    fn line(&mut self, at: usize, line: &Line<'a>) {
        match line {
            Line::Label(label) => self.label(at, label),
            Line::Instruction(instruction) => {
                self.instruction(instruction);
                self.out.push(self.lines[at].to_owned());
                self.forms.follow(instruction);
                self.call_or_jump(instruction);
                return;
            }
            Line::Inline(_) => {}
            Line::Other => self.source.follow(self.lines[at]),
        }
        self.out.push(self.lines[at].to_owned());
    }

    fn label(&mut self, at: usize, label: &str) {
        if !label.starts_with(".L") {
            self.forms.lowest = lowest_address(&self.lines[at..]);
            self.forms.taken = self.is_compiled.then(|| taken(&self.lines[at..]));
        }
        let is_target = label.starts_with(".LBB")
            || label.strip_prefix(".L").is_some_and(|rest| rest.parse::<u64>().is_ok());
        if is_target || !label.starts_with(".L") {
            self.new_block();
        }
    }

    fn new_block(&mut self) {
        self.forms.forget();
        self.drop_unused();
        self.left_behind = None;
        self.loads = None;
        self.stores = None;
    }

    /// Notes hooks, and what ends straight code.
    fn call_or_jump(&mut self, instruction: &Instruction<'a>) {
        if instruction.is_jump() {
            return self.new_block();
        }
        let Some(callee) = instruction.callee() else { return };
        if hooked(callee).is_none() && atomic_load(callee).is_none() {
            self.drop_unused();
            self.loads = None;
            self.stores = None;
        }
    }

    /// Looks at an instruction before it is written.
    fn instruction(&mut self, instruction: &Instruction<'a>) {
        if let Some((writes, size)) = instruction.callee().and_then(hooked) {
            return self.hook(writes, size);
        }
        if let Some(size) = instruction.callee().and_then(atomic_load) {
            self.hook(false, Some(size));
            self.left_behind = self.is_clang.then_some(size);
            return;
        }
        if instruction.prefix == "lock" || instruction.name == "syscall" {
            self.lack.get_or_insert((self.at, "inline assembly is not modelled"));
        }
        match (instruction.prefix, instruction.name) {
            (_, "mfence" | "sfence") => self.fence(instruction),
            ("rep", name) if name.starts_with("movs") => self.repeated(name, true),
            ("rep", name) if name.starts_with("stos") => self.repeated(name, false),
            _ => {
                if let Some(access) = instruction.access() {
                    self.access(&access);
                }
            }
        }
    }

    /// The compiler's hook.
    fn hook(&mut self, writes: bool, size: Option<usize>) {
        let address = self.forms.argument("rdi");
        let size = match size {
            Some(size) => size as i64,
            None => self.forms.number("rsi").unwrap_or(i64::MAX),
        };
        self.drop_unused();
        self.left_behind = None;
        let covers = Some(Covers { address, size });
        if writes {
            self.stores = covers;
            self.loads = None;
            self.unused = Some(self.out.len());
        } else {
            self.loads = covers;
            self.stores = None;
        }
    }

    /// A hook of a store, before which comes another hook, is dropped: it becomes one that does nothing.
    fn drop_unused(&mut self) {
        if let Some(at) = self.unused.take() {
            self.out[at] = String::from("\tcall\t__tsan_func_exit@PLT");
            self.stores = None;
            self.lack.get_or_insert((self.at, "the hook of a store comes before that of its load"));
        }
    }

    fn access(&mut self, access: &Access<'a>) {
        let Access { memory, size, reads, writes } = access;
        if memory.is_constant() || memory.base == Some("rsp") {
            return;
        }
        let address = self.forms.address(memory);
        if address.is_constant() {
            return;
        }
        let is_covered = |covers: &Option<Covers>| {
            let covers = covers.as_ref();
            let offset =
                covers.and_then(|covers| Some((address.minus(&covers.address)?, covers.size)));
            // A bit-field may be accessed with its neighbours.
            offset.is_some_and(|(offset, length)| offset > -8 && offset < length)
        };
        let is_private = self.forms.is_private(memory, *size);
        if *reads && !is_private && self.left_behind.take_if(|left| left == size).is_some() {
            return;
        }
        if *reads && !is_covered(&self.loads) && !is_private {
            self.drop_unused();
            self.insert_access(memory, *size, false);
        }
        if *writes {
            if is_covered(&self.stores) {
                self.unused = None;
            } else if !is_private {
                self.insert_access(memory, *size, true);
            }
        }
    }

    /// Instructions that copy, or fill, as many units as rcx says.
    fn repeated(&mut self, name: &str, copies: bool) {
        let unit = match name.as_bytes().last() {
            Some(b'b') => 1,
            Some(b'w') => 2,
            Some(b'l') => 4,
            _ => 8,
        };
        let prepare = |from: &str| format!("movq {from}, %rdi\n\tleaq (,%rcx,{unit}), %rsi");
        if copies && self.loads.is_none() {
            self.drop_unused();
            self.insert(&prepare("%rsi"), "read_range");
        }
        if self.stores.is_none() {
            self.insert(&prepare("%rdi"), "write_range");
        }
        self.unused = None;
    }

    fn insert_access(&mut self, memory: &Memory<'_>, size: usize, writes: bool) {
        let what = if writes { "write" } else { "read" };
        self.insert(&format!("leaq {}, %rdi", memory.text), &format!("{what}{size}"));
    }

    /// A fence that is neither inline assembly nor a hook: the compiler has a function for it.
    fn fence(&mut self, instruction: &Instruction<'a>) {
        match instruction.name {
            "mfence" => self.insert("movl $5, %edi", "fence"),
            "sfence" => self.insert("nop", "store_fence"),
            _ => {}
        }
    }

    /// Inserts a hook that preserves all registers. Functions may use 128 bytes below their stack pointers.
    fn insert(&mut self, prepare: &str, hook: &str) {
        let mut text = String::from("\tleaq -128(%rsp), %rsp\n\tpushq %rdi\n\tpushq %rsi\n");
        let _ = writeln!(text, "\t{prepare}\n\tcall raddle_saved_{hook}");
        text += "\tpopq %rsi\n\tpopq %rdi\n\tleaq 128(%rsp), %rsp";
        self.out.push(text);
        self.lack.get_or_insert((self.at, "an access, or a fence, has no hook"));
    }
}

/// Whether a function is the compiler's hook of a plain access: whether it writes, and how many bytes.
fn hooked(name: &str) -> Option<(bool, Option<usize>)> {
    let name = name.strip_prefix("__tsan_")?;
    let name = name.trim_start_matches("sc_").trim_start_matches("unaligned_");
    let name = name.trim_start_matches("volatile_");
    if name == "vptr_update" {
        return Some((true, Some(8)));
    }
    let (writes, rest) = match name.strip_prefix("read") {
        Some(rest) => (false, rest),
        None => (true, name.strip_prefix("write")?),
    };
    match rest {
        "_range" => Some((writes, None)),
        size => Some((writes, Some(size.parse().ok()?))),
    }
}

/// Whether a function is the compiler's hook of an atomic load, and of how many bytes. clang leaves the load behind it, whose
/// value nobody uses.
fn atomic_load(name: &str) -> Option<usize> {
    let bits = name.strip_prefix("__tsan_atomic")?.strip_suffix("_load")?;
    bits.parse().ok().map(|bits: usize| bits / 8)
}

/// What of the frame of the function that begins here is taken, or has hooks: from and to.
fn taken(lines: &[&str]) -> Vec<(i64, i64)> {
    let (mut forms, mut taken) = (Forms::default(), vec![]);
    for line in lines.iter().take_while(|line| line.trim() != ".cfi_endproc") {
        let Line::Instruction(instruction) = line::parse(line) else { continue };
        if let Some((_, size)) = instruction.callee().and_then(hooked)
            && let Some(at) = forms.argument("rdi").in_frame()
        {
            taken.push((at, at + size.unwrap_or(1) as i64));
        }
        forms.follow(&instruction);
        if instruction.is_jump() {
            forms.forget();
        }
    }
    taken.extend(addresses(lines).map(|at| (at, at + 1)));
    taken
}

/// The lowest slot whose address the function takes that begins here.
fn lowest_address(lines: &[&str]) -> Option<i64> {
    addresses(lines).min()
}

/// The slots whose addresses the function takes that begins here.
fn addresses(lines: &[&str]) -> impl Iterator<Item = i64> {
    let body = lines.iter().take_while(|line| line.trim() != ".cfi_endproc");
    body.filter_map(|line| match line::parse(line) {
        Line::Instruction(Instruction { name: "leaq", operands, .. }) => {
            let memory = Memory::parse(operands.first()?)?;
            (memory.base == Some("rbp")).then_some(memory.offset)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::mend;
    use crate::error::Error;

    /// The hooks of a function in order: those of the compiler, and those that were inserted.
    fn hooks(body: &[&str]) -> Vec<String> {
        let text = format!("f:\n\t{}\n\t.cfi_endproc\n", body.join("\n\t"));
        let mended = mend(&text).expect("nothing is refused");
        let calls = mended.lines().filter_map(|line| line.trim().strip_prefix("call"));
        let names = calls.map(|name| name.trim().trim_end_matches("@PLT"));
        names.map(|name| name.replace("__tsan_", "").replace("raddle_saved_", "+")).collect()
    }

    const ADDRESS: [&str; 2] = ["movq x@GOTPCREL(%rip), %rax", "movq %rax, %rdi"];

    #[test]
    fn an_access_after_its_hook_is_left_alone() {
        let [load, move_] = ADDRESS;
        let body = [load, move_, "call __tsan_read4@PLT", load, "movl (%rax), %eax", "ret"];
        assert_eq!(hooks(&body), ["read4"]);
        let body = [load, move_, "call __tsan_write4@PLT", load, "movl $1, (%rax)", "ret"];
        assert_eq!(hooks(&body), ["write4"]);
    }

    #[test]
    fn an_access_elsewhere_than_its_hook_gets_one() {
        let [load, move_] = ADDRESS;
        let body = [load, move_, "call __tsan_read4@PLT", load, "movq 8(%rax), %rax", "ret"];
        assert_eq!(hooks(&body), ["read4", "+read8"]);
        assert_eq!(hooks(&[load, "movq (%rax), %rdi", "call g@PLT"]), ["+read8", "g"]);
        assert_eq!(hooks(&["call g@PLT", "movq %rax, x(%rip)"]), ["g", "+write8"]);
    }

    #[test]
    fn a_hook_of_a_store_before_that_of_its_load_is_moved() {
        let [load, move_] = ADDRESS;
        let source = "movq y@GOTPCREL(%rip), %rdx";
        let body = [
            load,
            move_,
            "call __tsan_write4@PLT",
            source,
            "movq %rdx, %rdi",
            "call __tsan_read4@PLT",
            load,
            source,
            "movl (%rdx), %edx",
            "movl %edx, (%rax)",
        ];
        assert_eq!(hooks(&body), ["func_exit", "read4", "+write4"]);
    }

    #[test]
    fn the_load_of_a_bit_field_store_gets_a_hook() {
        let [load, move_] = ADDRESS;
        let body = [
            load,
            move_,
            "call __tsan_write4@PLT",
            load,
            "movzbl (%rax), %edx",
            "orl $24, %edx",
            "movb %dl, (%rax)",
        ];
        assert_eq!(hooks(&body), ["func_exit", "+read1", "+write1"]);
    }

    #[test]
    fn slots_below_all_addresses_that_are_taken_are_private() {
        let body = ["leaq -24(%rbp), %rax", "movl -20(%rbp), %edx", "movl -28(%rbp), %edx"];
        assert_eq!(hooks(&body), ["+read4"]);
        assert_eq!(hooks(&["movl -20(%rbp), %edx", "movl %edx, -4(%rbp)"]), [""; 0]);
    }

    #[test]
    fn repeated_copies_get_hooks_for_what_they_copy() {
        assert_eq!(hooks(&["rep movsq"]), ["+read_range", "+write_range"]);
        assert_eq!(hooks(&["rep stosq"]), ["+write_range"]);
    }

    #[test]
    fn an_address_that_is_kept_on_the_stack_is_the_same() {
        let body = [
            "movq (%rax), %rcx",
            "movq %rcx, -40(%rbp)",
            "movq %rcx, %rdi",
            "callq __tsan_read4@PLT",
            "movq -40(%rbp), %rax # 8-byte Reload",
            "movl (%rax), %eax",
            "movl (%rax), %eax",
        ];
        assert_eq!(hooks(&body), ["+read8", "q read4", "+read4"]);
        let other = [&body[..2], &["movq %rdx, -40(%rbp)"], &body[2..6]].concat();
        assert_eq!(hooks(&other), ["+read8", "q read4", "+read4"]);
    }

    #[test]
    fn inline_assembly_without_lines_has_the_place_of_the_code_before() {
        let text = "\t.file\t1 \"/d\" \"a.c\" md5 0x0\n\t.loc\t1 7 2\n\t#APP\n\tcpuid\n\t#NO_APP\n";
        let Err(Error::Refused { place, .. }) = mend(text) else { panic!("it is refused") };
        assert_eq!(place, "/d/a.c:7");
        assert!(mend("\t#APP\n\tlock\n\taddl\t$0, (%rsp)\n\t#NO_APP\n").is_ok());
    }

    #[test]
    fn inline_assembly_is_a_fence_or_refused() {
        let inline =
            |text: &str| mend(&format!("#APP\n# 7 \"a.c\" 1\n\t{text}\n# 0 \"\" 2\n#NO_APP\n"));
        assert!(inline("mfence").is_ok_and(|text| text.contains("raddle_saved_fence")));
        assert!(inline("sfence").is_ok_and(|text| text.contains("raddle_saved_store_fence")));
        assert!(inline("pause").is_ok_and(|text| !text.contains("raddle_saved")));
        let what = "inline assembly that Raddle does not model: `xchgl %eax, x` (use C11 atomics)";
        let refused = Error::Refused { place: String::from("a.c:7"), what: String::from(what) };
        assert_eq!(inline("xchgl %eax, x"), Err(refused));
    }
}
