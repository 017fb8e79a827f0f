//! Addresses as sums, so that two of them can be compared.
//!
//! Without optimisation gcc computes an address for a hook, and then the same address again for the access; clang keeps it
//! in a slot of the stack meanwhile. Registers, and slots that nobody else can write, are followed through straight
//! code: each holds a sum of things with factors, where a thing is a symbol, what a slot of the stack holds, or something
//! that is not known but has a name.

use std::collections::BTreeMap;

use super::line::{Instruction, Memory};

/// A sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    terms: BTreeMap<String, i64>,
    pub(super) constant: i64,
}

impl Form {
    fn of(thing: String) -> Self {
        Form { terms: BTreeMap::from([(thing, 1)]), constant: 0 }
    }

    fn plus(mut self, other: &Form, factor: i64) -> Self {
        self.constant += factor * other.constant;
        for (thing, count) in &other.terms {
            let sum = self.terms.entry(thing.clone()).or_insert(0);
            *sum += factor * count;
            if *sum == 0 {
                self.terms.remove(thing);
            }
        }
        self
    }

    /// Where in the frame of its function this is, if it is there.
    pub(super) fn in_frame(&self) -> Option<i64> {
        let is_frame = self.terms.len() == 1 && self.terms.get("rbp") == Some(&1);
        is_frame.then_some(self.constant)
    }

    /// Whether this is in a constant, a table of jumps say.
    pub(super) fn is_constant(&self) -> bool {
        self.terms.keys().any(|thing| thing.starts_with(".L"))
    }

    /// The difference to another sum, if it is a number.
    pub(super) fn minus(&self, other: &Form) -> Option<i64> {
        (self.terms == other.terms).then_some(self.constant - other.constant)
    }
}

/// What registers and stack slots hold.
#[derive(Debug, Default)]
pub(super) struct Forms {
    registers: BTreeMap<&'static str, Form>,
    /// How often each slot was written.
    versions: BTreeMap<i64, usize>,
    /// What is in slots below [`Forms::lowest`].
    slots: BTreeMap<i64, Form>,
    /// The lowest slot of the function whose address is taken.
    pub(super) lowest: Option<i64>,
    /// If it is trusted that what has hooks has them everywhere: what of the frame is taken, or has them.
    pub(super) taken: Option<Vec<(i64, i64)>>,
    unknown: usize,
}

const REGISTERS: [[&str; 4]; 16] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsp", "esp", "sp", "spl"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
    ["r12", "r12d", "r12w", "r12b"],
    ["r13", "r13d", "r13w", "r13b"],
    ["r14", "r14d", "r14w", "r14b"],
    ["r15", "r15d", "r15w", "r15b"],
];

const LOST_BY_CALLS: [&str; 9] = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"];

/// The whole register that a name is part of, and whether it is all of it.
fn whole(name: &str) -> Option<(&'static str, bool)> {
    let name = name.strip_prefix('%').unwrap_or(name);
    let names = REGISTERS.iter().find(|names| names.contains(&name))?;
    Some((names[0], names[0] == name))
}

impl Forms {
    /// Control may have come from elsewhere: nothing is known.
    pub(super) fn forget(&mut self) {
        self.registers.clear();
        self.slots.clear();
    }

    /// Whether nobody but the instructions that name it can access a slot of the stack.
    pub(super) fn is_private(&self, memory: &Memory<'_>, size: usize) -> bool {
        const RETURN_ADDRESS: i64 = 8;
        let Memory { base, index, offset, .. } = *memory;
        let is_slot = base == Some("rbp") && index.is_none();
        let is_taken = |&(from, to): &(i64, i64)| from < offset + size as i64 && offset < to;
        match &self.taken {
            _ if is_slot && offset == RETURN_ADDRESS => true,
            Some(taken) => is_slot && !taken.iter().any(is_taken),
            None => base == Some("rbp") && self.lowest.is_none_or(|lowest| offset < lowest),
        }
    }

    fn fresh(&mut self) -> Form {
        self.unknown += 1;
        Form::of(format!("?{}", self.unknown))
    }

    fn register(&mut self, name: &str) -> Form {
        let Some((name, _)) = whole(name) else { return self.fresh() };
        if matches!(name, "rbp" | "rsp") {
            return Form::of(name.to_owned());
        }
        if let Some(form) = self.registers.get(name) {
            return form.clone();
        }
        let form = self.fresh();
        self.registers.insert(name, form.clone());
        form
    }

    /// The address of an operand.
    pub(super) fn address(&mut self, memory: &Memory<'_>) -> Form {
        let mut form = Form { constant: memory.offset, ..Form::default() };
        if let Some(symbol) = memory.symbol {
            form = form.plus(&Form::of(symbol.to_owned()), 1);
        }
        if let Some(base) = memory.base.filter(|&base| base != "rip") {
            form = form.plus(&self.register(base), 1);
        }
        if let Some((index, scale)) = memory.index {
            form = form.plus(&self.register(index), scale);
        }
        form
    }

    /// What an operand that is read has as its value.
    fn value(&mut self, operand: &str) -> Form {
        if let Some(number) = operand.strip_prefix('$').and_then(|number| number.parse().ok()) {
            return Form { constant: number, ..Form::default() };
        }
        if operand.starts_with('%') {
            return match whole(operand) {
                Some((_, true)) => self.register(operand),
                Some((name, false)) => {
                    let form = self.register(name);
                    Form::of(format!("part of {form:?}"))
                }
                None => self.fresh(),
            };
        }
        let Some(memory) = Memory::parse(operand) else { return self.fresh() };
        match memory.symbol.and_then(|symbol| symbol.strip_suffix("@GOTPCREL")) {
            Some(symbol) => Form::of(symbol.to_owned()),
            None if memory.base == Some("rbp") && memory.index.is_none() => {
                if let Some(form) = self.slots.get(&memory.offset) {
                    return form.clone();
                }
                let version = self.versions.get(&memory.offset).copied().unwrap_or(0);
                Form::of(format!("[{}]#{version}", memory.offset))
            }
            None => self.fresh(),
        }
    }

    /// Follows an instruction.
    pub(super) fn follow(&mut self, instruction: &Instruction<'_>) {
        let Instruction { name, operands, prefix } = instruction;
        if name.starts_with("call") {
            let is_local = instruction.callee() == Some("__tls_get_addr");
            let local = is_local.then(|| Form::of(format!("local {:?}", self.register("rdi"))));
            LOST_BY_CALLS.iter().for_each(|name| drop(self.registers.remove(name)));
            self.registers.extend(local.map(|address| ("rax", address)));
            return;
        }
        let lost: &[&str] = match *name {
            _ if !prefix.is_empty() => &["rsi", "rdi", "rcx", "rax"],
            "cltd" | "cqto" | "cwtd" => &["rdx"],
            _ if name.contains("div") || name.contains("mul") && operands.len() == 1 => {
                &["rax", "rdx"]
            }
            _ if name.starts_with("xchg") || name.starts_with("cmpxchg") => return self.forget(),
            _ => &[],
        };
        lost.iter().for_each(|name| drop(self.registers.remove(name)));
        if *name == "cltq" {
            let form = Form::of(format!("part of {:?}", self.register("rax")));
            self.registers.insert("rax", Form::of(format!("signed {form:?}")));
            return;
        }
        let Some(&last) = operands.last() else { return };
        if name.starts_with("cmp") || name.starts_with("test") || name.starts_with("push") {
            return;
        }
        let result = self.result(name, operands);
        if let Some((register, _)) = whole(last).filter(|_| last.starts_with('%')) {
            self.registers.insert(register, result);
        } else if let Some(memory) = Memory::parse(last)
            && memory.base == Some("rbp")
        {
            *self.versions.entry(memory.offset).or_insert(0) += 1;
            self.slots.retain(|&slot, _| (slot - memory.offset).abs() >= 16);
            if *name == "movq" && memory.index.is_none() && self.is_private(&memory, 8) {
                self.slots.insert(memory.offset, result);
            }
        }
    }

    fn result(&mut self, name: &str, operands: &[&str]) -> Form {
        match (name, operands) {
            ("movq" | "movl" | "movabsq", [from, _]) => self.value(from),
            ("movslq", [from, _]) => {
                let form = self.value(from);
                Form::of(format!("signed {form:?}"))
            }
            ("leaq", [from, _]) => match Memory::parse(from) {
                Some(memory) => self.address(&memory),
                None => self.fresh(),
            },
            ("addq", [from, to]) => {
                let form = self.value(from);
                self.value(to).plus(&form, 1)
            }
            ("subq", [from, to]) => {
                let form = self.value(from);
                self.value(to).plus(&form, -1)
            }
            ("salq" | "shlq", [count, to]) if count.starts_with('$') => {
                let count: u32 = count[1..].parse().unwrap_or(0);
                let form = self.value(to);
                Form::default().plus(&form, 1 << count.min(8))
            }
            _ => self.fresh(),
        }
    }

    /// What a register holds.
    pub(super) fn argument(&mut self, name: &str) -> Form {
        self.register(name)
    }

    /// The number that a register holds, if that is known.
    pub(super) fn number(&mut self, name: &str) -> Option<i64> {
        let form = self.register(name);
        form.terms.is_empty().then_some(form.constant)
    }
}
