//! Types of C, as far as tests use them.

use super::lex::{Parsed, Token, Tokens};
use super::value::Type;

/// A type of C: an integer, or a pointer to a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CType {
    base: Type,
    /// How many stars it has.
    pub(super) stars: u8,
}

impl CType {
    pub(super) const INT: CType = CType { base: Type::INT, stars: 0 };

    /// How values of the type are kept.
    pub(super) fn integer(self) -> Type {
        if self.stars == 0 { self.base } else { Type { bits: 64, signed: false } }
    }

    /// What it points to; an integer is taken for a pointer to `int`.
    pub(super) fn pointee(self) -> CType {
        match self.stars {
            0 => CType::INT,
            stars => CType { stars: stars - 1, ..self },
        }
    }

    /// The type of its address.
    pub(super) fn pointer(self) -> CType {
        CType { stars: self.stars.saturating_add(1), ..self }
    }

    /// The integer that it is, or points to in the end.
    pub(super) fn without_stars(self) -> CType {
        CType { stars: 0, ..self }
    }

    /// An integer of this type.
    pub(super) fn of(base: Type) -> CType {
        CType { base, ..CType::INT }
    }
}

/// What a word adds to a type.
enum Part {
    Base(u8, bool),
    Signed(bool),
    Long,
    Atomic,
    Nothing,
}

fn part(word: &str) -> Option<Part> {
    let (name, atomic) = match word.strip_prefix("atomic_") {
        Some(name) => (name, true),
        None => (word, false),
    };
    Some(match name {
        "int" => Part::Base(32, true),
        "uint" if atomic => Part::Base(32, false),
        "long" | "llong" => Part::Long,
        "ulong" | "ullong" if atomic => Part::Base(64, false),
        "short" => Part::Base(16, true),
        "ushort" if atomic => Part::Base(16, false),
        "char" => Part::Base(8, true),
        "schar" if atomic => Part::Base(8, true),
        "uchar" if atomic => Part::Base(8, false),
        "bool" | "_Bool" => Part::Base(1, false),
        "intptr_t" | "ptrdiff_t" => Part::Base(64, true),
        "uintptr_t" | "size_t" => Part::Base(64, false),
        "unsigned" => Part::Signed(false),
        "signed" => Part::Signed(true),
        "_Atomic" => Part::Atomic,
        "volatile" | "const" => Part::Nothing,
        _ => sized(name)?,
    })
}

/// `int32_t` and the like.
fn sized(name: &str) -> Option<Part> {
    let (rest, signed) = match name.strip_prefix('u') {
        Some(rest) => (rest, false),
        None => (name, true),
    };
    match rest.strip_prefix("int")?.strip_suffix("_t")? {
        "8" => Some(Part::Base(8, signed)),
        "16" => Some(Part::Base(16, signed)),
        "32" => Some(Part::Base(32, signed)),
        "64" => Some(Part::Base(64, signed)),
        _ => None,
    }
}

/// Whether a type is next.
pub(super) fn is_next(tokens: &Tokens) -> bool {
    let mut ahead = 0;
    if matches!(tokens.peek(), Token::Word(std) if std == "std") {
        ahead = 2;
    }
    matches!(tokens.ahead(ahead), Token::Word(word) if part(word).is_some())
}

/// A type with its stars, if one is next: `atomic_int *`, `_Atomic(int)`, `volatile unsigned long`.
pub(super) fn optional(tokens: &mut Tokens) -> Parsed<Option<CType>> {
    if !is_next(tokens) {
        return Ok(None);
    }
    let (mut bits, mut signed) = (32, true);
    let mut closing = 0;
    while let Token::Word(word) = tokens.peek() {
        if word == "std" {
            tokens.skip();
            tokens.sign("::")?;
            continue;
        }
        let Some(part) = part(word) else { break };
        tokens.skip();
        match part {
            // `long int` and `short int` keep their width.
            Part::Base(32, true) => {}
            Part::Base(width, is_signed) => {
                bits = width;
                signed &= is_signed;
            }
            Part::Signed(is_signed) => signed = is_signed,
            Part::Long => bits = 64,
            Part::Atomic => closing += u32::from(tokens.eat("(")),
            Part::Nothing => {}
        }
        while closing > 0 && tokens.eat(")") {
            closing -= 1;
        }
    }
    if closing > 0 {
        return tokens.expected("')' after a type");
    }
    Ok(Some(stars(tokens, CType { base: Type { bits, signed }, stars: 0 })))
}

/// The stars after a type.
pub(super) fn stars(tokens: &mut Tokens, mut ty: CType) -> CType {
    loop {
        if tokens.eat("*") {
            ty = ty.pointer();
        } else if !(ty.stars > 0 && (tokens.eat_word("const") || tokens.eat_word("volatile"))) {
            return ty;
        }
    }
}
