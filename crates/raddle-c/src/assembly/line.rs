//! Lines of assembly, as gcc and clang write them without optimisation (AT&T syntax).

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Control may come from elsewhere.
    Label(&'a str),
    /// Inline assembly begins, or ends.
    Inline(bool),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// Anything else.
    Other,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction<'a> {
    /// What comes before, `rep` say.
    pub(super) prefix: &'a str,
    pub(super) name: &'a str,
    pub(super) operands: Vec<&'a str>,
}

/// An operand in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory<'a> {
    /// As it is written.
    pub(super) text: &'a str,
    pub(super) symbol: Option<&'a str>,
    pub(super) offset: i64,
    /// Registers of 64 bits, without `%`.
    pub(super) base: Option<&'a str>,
    pub(super) index: Option<(&'a str, i64)>,
}

/// How an instruction accesses memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access<'a> {
    pub(super) memory: Memory<'a>,
    pub(super) size: usize,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// Reads a line.
pub(super) fn parse(line: &str) -> Line<'_> {
    match line.trim() {
        "#APP" => return Line::Inline(true),
        "#NO_APP" => return Line::Inline(false),
        _ => {}
    }
    let text = line.split('#').next().unwrap_or_default().trim();
    if let Some(label) = text.strip_suffix(':') {
        return Line::Label(label);
    }
    if text.is_empty() || text.starts_with(['.', '#']) || !line.starts_with(char::is_whitespace) {
        return Line::Other;
    }
    let is_end = |letter: char| letter.is_whitespace() || letter == ';';
    let (mut name, mut rest) = text.split_once(is_end).unwrap_or((text, ""));
    let mut prefix = "";
    while matches!(name, "rep" | "repz" | "repnz" | "lock" | "notrack" | "data16" | "rex64") {
        prefix = name;
        let next = rest.trim();
        (name, rest) = next.split_once(char::is_whitespace).unwrap_or((next, ""));
    }
    Line::Instruction(Instruction { prefix, name, operands: operands(rest.trim()) })
}

/// The operands, which commas outside of parentheses separate.
fn operands(text: &str) -> Vec<&str> {
    let (mut operands, mut depth, mut start) = (vec![], 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        operands.push(text[start..].trim());
    }
    operands
}

impl<'a> Memory<'a> {
    /// Reads an operand, if it is one in memory.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        if text.starts_with(['$', '%', '*']) || !text.contains('(') {
            return None;
        }
        let (displacement, registers) = text.strip_suffix(')')?.split_once('(')?;
        let mut registers = registers.split(',').map(str::trim);
        let register = |text: &'a str| text.strip_prefix('%');
        let base = registers.next().and_then(register);
        let index = registers.next().and_then(register);
        let scale = registers.next().and_then(|scale| scale.parse().ok()).unwrap_or(1);
        let (symbol, offset) = displacement_of(displacement);
        Some(Memory { text, symbol, offset, base, index: index.map(|index| (index, scale)) })
    }

    /// Whether this is the address of a variable in the table of addresses, or a constant.
    pub(super) fn is_constant(&self) -> bool {
        let symbol = self.symbol.unwrap_or_default();
        self.base == Some("rip") && (symbol.contains('@') || symbol.starts_with(".L"))
    }
}

/// The symbol and the number of `8+x`, `x+8`, `-8` or `x`.
fn displacement_of(text: &str) -> (Option<&str>, i64) {
    let number = |text: &str| text.parse::<i64>().ok();
    if let Some(offset) = number(text) {
        return (None, offset);
    }
    if let Some((a, b)) = text.split_once('+') {
        if let Some(offset) = number(a) {
            return (Some(b), offset);
        }
        if let Some(offset) = number(b) {
            return (Some(a), offset);
        }
    }
    if let Some((a, b)) = text.rsplit_once('-')
        && let Some(offset) = number(b)
        && !a.is_empty()
    {
        return (Some(a), -offset);
    }
    (if text.is_empty() { None } else { Some(text) }, 0)
}

impl<'a> Instruction<'a> {
    /// The function that is called, or `*` if it is not known.
    pub(super) fn callee(&self) -> Option<&'a str> {
        let target = self.operands.first().filter(|_| self.name.starts_with("call"))?;
        Some(target.split('@').next().unwrap_or(target))
    }

    /// Whether control does not simply go on to the next instruction.
    pub(super) fn is_jump(&self) -> bool {
        let is_end = self.name.starts_with("ret") || self.name.starts_with("leave");
        is_end || self.name.starts_with('j') || matches!(self.name, "ud2" | "hlt")
    }

    /// How it accesses memory, except by its implicit operands.
    pub(super) fn access(&self) -> Option<Access<'a>> {
        let name = self.name;
        if name.starts_with("lea")
            || name.starts_with("nop")
            || name.starts_with("call")
            || self.is_jump()
        {
            return None;
        }
        let at = self.operands.iter().position(|operand| Memory::parse(operand).is_some())?;
        let memory = Memory::parse(self.operands[at])?;
        let is_last = at + 1 == self.operands.len();
        let (reads, writes) = match name {
            _ if name.starts_with("push") => (true, false),
            _ if name.starts_with("pop") || name.starts_with("set") => (false, true),
            _ if name.starts_with("cmp")
                || name.starts_with("test")
                || name.starts_with("ucomis") =>
            {
                (true, false)
            }
            _ if name.starts_with("fst")
                || name.starts_with("fist")
                || name.starts_with("fnst") =>
            {
                (false, true)
            }
            _ if name.starts_with('f') || name.contains("div") => (true, false),
            _ if name.starts_with("xchg") => (true, true),
            _ if name.starts_with("mul") || name.starts_with("imul") => (true, false),
            _ if name.starts_with("mov") => (!is_last, is_last),
            _ => (true, is_last),
        };
        Some(Access { memory, size: size(name), reads, writes })
    }
}

/// How many bytes of memory an instruction accesses.
fn size(name: &str) -> usize {
    let suffix = |name: &str| match name.as_bytes().last() {
        Some(b'b') => 1,
        Some(b'w') => 2,
        Some(b'l' | b's') => 4,
        _ => 8,
    };
    let is = |names: &[&str]| names.contains(&name);
    if name.starts_with("movz") || (name.starts_with("movs") && name.len() > 5) {
        return suffix(&name[..5]);
    }
    if is(&["movslq"]) || name.ends_with("ss") || name.starts_with("cvtss2") || is(&["movd"]) {
        return 4;
    }
    if name.ends_with("sd") || name.starts_with("cvtsd2") || name.starts_with("cvttsd2") {
        return 8;
    }
    if name.starts_with('f') {
        let is_integer = name.contains("ild") || name.contains("ist");
        return match name.as_bytes().last() {
            Some(b't') => 16,
            Some(b's') if is_integer => 2,
            Some(b's') => 4,
            Some(b'l') if is_integer && !name.ends_with("ll") => 4,
            _ => 8,
        };
    }
    let wide = ["movaps", "movups", "movdqa", "movdqu", "movapd", "movupd", "pxor", "por", "pand"];
    if is(&wide) {
        return 16;
    }
    suffix(name)
}
