//! Registers of x86.

use crate::code::Register;
use crate::value::IntType;

use super::Syntax;

/// In the order of herd's output.
const NAMES: [&str; 8] = ["AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"];

/// Number of registers. Those with 32 bits are parts of them.
pub(super) const COUNT: usize = 16;

/// Register or its lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterRef {
    pub(super) slot: usize,
    pub(super) ty: IntType,
}

const WORD: IntType = IntType { bits: 32, signed: true };
const LONG: IntType = IntType { bits: 64, signed: true };

/// Returns the register of 32 or 64 bits with this name.
pub(super) fn find(name: &str) -> Option<RegisterRef> {
    let name = name.to_ascii_uppercase();
    let known = |rest: &str| NAMES.iter().position(|known| *known == rest);
    if let Some(slot) = name.strip_prefix('E').and_then(known) {
        return Some(RegisterRef { slot, ty: WORD });
    }
    if let Some(slot) = name.strip_prefix('R').and_then(known) {
        return Some(RegisterRef { slot, ty: LONG });
    }
    let number = name.strip_prefix('R')?;
    let (digits, ty) = match number.strip_suffix('D') {
        Some(digits) => (digits, WORD),
        None => (number, LONG),
    };
    let slot: usize = digits.parse().ok().filter(|slot| (8..COUNT).contains(slot))?;
    (digits == slot.to_string()).then_some(RegisterRef { slot, ty })
}

/// Returns `true` if it is the name of a register of 8 or 16 bits.
pub(super) fn is_narrow(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let base = name.trim_end_matches(['L', 'H', 'B', 'W']);
    NAMES.contains(&name.as_str())
        || ["A", "B", "C", "D"].contains(&base) && name.len() == 2
        || base.len() < name.len() && find(base).is_some_and(|register| register.slot >= 8)
}

/// Returns all named registers, in herd's order: upper case in Intel syntax.
pub(super) fn named(syntax: Syntax) -> Vec<Register> {
    let mut all = vec![];
    for slot in 0..COUNT {
        let (long, word) = match NAMES.get(slot) {
            Some(name) => (format!("R{name}"), format!("E{name}")),
            None => (format!("R{slot}"), format!("R{slot}D")),
        };
        match syntax {
            Syntax::Intel => all.push(Register { name: word, ty: WORD, slot }),
            Syntax::Att => {
                all.push(Register { name: long.to_lowercase(), ty: LONG, slot });
                all.push(Register { name: word.to_lowercase(), ty: WORD, slot });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_names_for_two_widths() {
        assert_eq!(find("eax"), Some(RegisterRef { slot: 0, ty: WORD }));
        assert_eq!(find("RSP"), Some(RegisterRef { slot: 7, ty: LONG }));
        assert_eq!(find("r10d"), Some(RegisterRef { slot: 10, ty: WORD }));
        for none in ["x", "EXX", "R7", "R16", "R08", "AL", "R8B"] {
            assert_eq!(find(none), None, "{none}");
        }
        for narrow in ["AL", "ah", "AX", "si", "R8B", "r9w"] {
            assert!(is_narrow(narrow), "{narrow}");
        }
        for wide in ["x", "EAX", "R8", "L", "B0"] {
            assert!(!is_narrow(wide), "{wide}");
        }
    }
}
