//! Code that is already compiled, as assembly: what `objdump` prints, in the words of a compiler.

use std::collections::BTreeSet;
use std::fmt::Write;

/// What is at an address that an instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Variables.
    Variable,
    /// The table of addresses.
    Table,
    /// Constants and code.
    Constant,
}

/// Functions that the compiler puts into every shared object.
const OF_THE_COMPILER: [&str; 6] = [
    "__do_global_dtors_aux",
    "_fini",
    "_init",
    "deregister_tm_clones",
    "frame_dummy",
    "register_tm_clones",
];

/// Assembly, and for each line the address of the instruction.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) text: String,
    pub(crate) addresses: Vec<u64>,
}

impl Listing {
    fn push(&mut self, line: &str, address: u64) {
        let _ = writeln!(self.text, "{line}");
        self.addresses.push(address);
    }
}

/// Makes assembly of what `objdump -d --no-show-raw-insn -M suffix` prints, without the table of library functions.
pub(crate) fn listing(printed: &str, target: impl Fn(u64) -> Target) -> Listing {
    let jumps = jump_targets(printed);
    let (mut listing, mut is_code, mut is_users) = (Listing::default(), false, true);
    for line in printed.lines() {
        if let Some(section) = line.strip_prefix("Disassembly of section ") {
            is_code = !section.starts_with(".plt");
        } else if !is_code {
            continue;
        } else if let Some((address, name)) = function(line) {
            is_users = !OF_THE_COMPILER.contains(&name);
            listing.push("\t.cfi_endproc", address);
            listing.push(&format!("{name}:"), address);
        } else if let Some((address, code)) = instruction(line).filter(|_| is_users) {
            if jumps.contains(&address) {
                listing.push(&format!(".L{address}:"), address);
            }
            listing.push(&format!("\t{}", translated(code, &target)), address);
        }
    }
    listing
}

/// `0000000000001139 <main>:`
fn function(line: &str) -> Option<(u64, &str)> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    Some((u64::from_str_radix(address, 16).ok()?, name))
}

/// An address, and the instruction there.
fn instruction(line: &str) -> Option<(u64, &str)> {
    let (address, code) = line.strip_prefix("  ")?.split_once(":\t")?;
    Some((u64::from_str_radix(address.trim(), 16).ok()?, code))
}

fn jump_targets(printed: &str) -> BTreeSet<u64> {
    let target = |code: &str| {
        let (name, operand) = code.split_once(char::is_whitespace)?;
        let address = operand.trim().split_once(" <").filter(|_| name.starts_with('j'))?.0;
        u64::from_str_radix(address, 16).ok()
    };
    printed.lines().filter_map(instruction).filter_map(|(_, code)| target(code)).collect()
}

/// An instruction with decimal numbers, and symbols for what it names.
fn translated(code: &str, target: impl Fn(u64) -> Target) -> String {
    let (code, comment) = code.split_once('#').unwrap_or((code, ""));
    let named = comment.split_whitespace().next().and_then(|it| u64::from_str_radix(it, 16).ok());
    let (name, operands) = code.trim().split_once(char::is_whitespace).unwrap_or((code.trim(), ""));
    if let Some((_, callee)) = operands.split_once('<').filter(|_| name.starts_with("call")) {
        return format!("call {}", callee.trim_end_matches('>'));
    }
    let operands = decimal(operands.trim());
    let Some(address) = named else { return format!("{name} {operands}") };
    let symbol = match target(address) {
        Target::Variable => format!("A{address}"),
        Target::Table => format!("A{address}@GOTPCREL"),
        Target::Constant => format!(".LA{address}"),
    };
    let parts = operands.split(',').map(|part| match part.strip_suffix("(%rip)") {
        Some(_) => format!("{symbol}(%rip)"),
        None => part.to_owned(),
    });
    format!("{name} {}", parts.collect::<Vec<_>>().join(","))
}

/// The text with decimal numbers in place of hexadecimal ones.
fn decimal(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let length = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        let number = u64::from_str_radix(&part[..length], 16).unwrap_or(0);
        let _ = write!(out, "{}{}", number as i64, &part[length..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_becomes_assembly() {
        let printed = "\
Disassembly of section .plt:
0000000000001010 <f@plt>:
    1010:\tjmpq   *0x2fea(%rip)        # 4000 <f>
Disassembly of section .text:
00000000000010a0 <run>:
    10a0:\tmovq   0x2f3e(%rip),%rax        # 3fd8 <x@@Base-0x18>
    10a7:\tmovl   $0xffffffff,-0x14(%rbp)
    10aa:\tcallq  1050 <__tsan_read4@plt>
    10b0:\tjne    10a7 <run+0x7>
    10b2:\tmovsd  0x1(%rip),%xmm0        # 2008 <y>
";
        let target = |at| if at == 0x3fd8 { Target::Table } else { Target::Constant };
        let expected = "\t.cfi_endproc\nrun:\n\tmovq A16344@GOTPCREL(%rip),%rax\n.L4263:\n\
                        \tmovl $4294967295,-20(%rbp)\n\tcall __tsan_read4@plt\n\tjne 10a7 <run+7>\n\
                        \tmovsd .LA8200(%rip),%xmm0\n";
        assert_eq!(listing(printed, target).text, expected);
    }
}
