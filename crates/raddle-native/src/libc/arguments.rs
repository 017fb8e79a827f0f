//! Variable arguments (`va_list`, System V ABI, 3.5.7), and what a format does with them.

use crate::program::call::{Call, Step};

/// Bytes of saved registers: six integers and eight vectors.
pub(super) const REGISTERS: u64 = INTEGERS + 8 * 16;
const INTEGERS: u64 = 6 * 8;

/// A `va_list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    /// Offset of the next integer, and of the next vector, in the saved registers.
    integers: u32,
    vectors: u32,
    /// Address of the next argument on the stack.
    overflow: u64,
    /// Address of the saved registers.
    registers: u64,
}

impl List {
    /// The contents in memory.
    pub(super) fn words(self) -> [u64; 3] {
        [u64::from(self.vectors) << 32 | u64::from(self.integers), self.overflow, self.registers]
    }

    pub(super) fn from_words([offsets, overflow, registers]: [u64; 3]) -> List {
        let (integers, vectors) = (offsets as u32, (offsets >> 32) as u32);
        List { integers, vectors, overflow, registers }
    }

    /// Loads a list of the program.
    pub(super) fn load(call: &mut Call<'_>, address: u64) -> Step<List> {
        let words =
            [call.load(address, 8)?, call.load(address + 8, 8)?, call.load(address + 16, 8)?];
        Ok(List::from_words(words))
    }

    /// The arguments of the modelled function behind its `named` ones, whose registers are saved at an address.
    pub(super) fn save(call: &mut Call<'_>, registers: u64, named: u64) -> Step<List> {
        let mut words = vec![];
        for index in 0..6 {
            words.push(call.argument(index)?);
        }
        for index in 0..8 {
            words.extend(call.vector(index));
        }
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        call.store_bytes(registers, &bytes)?;
        let overflow = call.stack() + 8 + 8 * named.saturating_sub(6);
        let integers = (8 * named).min(INTEGERS) as u32;
        Ok(List { integers, vectors: INTEGERS as u32, overflow, registers })
    }

    /// Address of the next integer argument.
    fn integer(&mut self) -> u64 {
        if u64::from(self.integers) < INTEGERS {
            self.integers += 8;
            return self.registers + u64::from(self.integers) - 8;
        }
        self.overflow += 8;
        self.overflow - 8
    }

    fn skip_float(&mut self) {
        if u64::from(self.vectors) < REGISTERS {
            self.vectors += 16;
        } else {
            self.overflow += 8;
        }
    }

    fn skip_long_double(&mut self) {
        self.overflow = self.overflow.next_multiple_of(16) + 16;
    }
}

/// Refuses a format whose fields are longer than `longest`: the library would take very long to fill them.
pub(super) fn check_fields(call: &mut Call<'_>, format: u64, list: List, longest: u64) -> Step<()> {
    let text = call.load_string(format)?;
    let mut fields = Fields { text: &text, at: 0, list };
    while fields.find() {
        let widest = fields.field(call)?;
        if widest > longest {
            let message =
                format!("formats a field of {widest} bytes; Raddle models at most {longest}");
            return Err(call.refuse(&message));
        }
    }
    Ok(())
}

/// The fields of a format.
struct Fields<'t> {
    text: &'t [u8],
    at: usize,
    list: List,
}

impl Fields<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn skip(&mut self, bytes: &[u8]) {
        while self.peek() != 0 && bytes.contains(&self.peek()) {
            self.at += 1;
        }
    }

    /// Goes behind the next `%`.
    fn find(&mut self) -> bool {
        let next = self.text[self.at..].iter().position(|byte| *byte == b'%');
        self.at = next.map_or(self.text.len(), |next| self.at + next + 1);
        next.is_some()
    }

    /// Takes the arguments of one field. Returns the larger one of width and precision.
    fn field(&mut self, call: &mut Call<'_>) -> Step<u64> {
        self.skip(b"-+ #0'I");
        let mut widest = self.number(call)?;
        if self.peek() == b'$' {
            self.at += 1;
            self.skip(b"-+ #0'I");
            widest = self.number(call)?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            widest = widest.max(self.number(call)?);
        }
        let start = self.at;
        self.skip(b"hljztLq");
        let is_long_double = self.text[start..self.at].contains(&b'L');
        match self.peek() {
            0 => return Ok(widest),
            b'%' | b'm' => {}
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' if is_long_double => {
                self.list.skip_long_double();
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => self.list.skip_float(),
            _ => {
                self.list.integer();
            }
        }
        self.at += 1;
        Ok(widest)
    }

    /// A number of the format, or of an argument.
    fn number(&mut self, call: &mut Call<'_>) -> Step<u64> {
        if self.peek() == b'*' {
            self.at += 1;
            let at = self.list.integer();
            return Ok(u64::from((call.load(at, 4)? as i32).unsigned_abs()));
        }
        let mut number = 0_u64;
        while self.peek().is_ascii_digit() {
            number = number.saturating_mul(10).saturating_add((self.peek() - b'0').into());
            self.at += 1;
        }
        Ok(number)
    }
}
