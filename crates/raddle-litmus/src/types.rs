//! C types that tests use.

use super::lex::{LitmusToken, ParseResult, Tokens};
use super::value::IntType;

/// C type: an integer type with a number of pointer stars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CType {
    base: IntType,
    /// Pointer depth.
    pub(super) stars: u8,
}

impl CType {
    pub(super) const INT: CType = CType { base: IntType::INT, stars: 0 };

    /// Returns the integer type that represents values of this type.
    pub(super) fn integer(self) -> IntType {
        if self.stars == 0 { self.base } else { IntType { bits: 64, signed: false } }
    }

    /// Returns the type it points to. An integer counts as a pointer to `int`.
    pub(super) fn pointee(self) -> CType {
        match self.stars {
            0 => CType::INT,
            stars => CType { stars: stars - 1, ..self },
        }
    }

    /// Returns the type of a pointer to it.
    pub(super) fn pointer(self) -> CType {
        CType { stars: self.stars.saturating_add(1), ..self }
    }

    /// Returns the integer type without pointer stars.
    pub(super) fn without_stars(self) -> CType {
        CType { stars: 0, ..self }
    }

    /// Creates a C type without pointer stars.
    pub(super) fn of(base: IntType) -> CType {
        CType { base, ..CType::INT }
    }
}

/// Word in a type.
enum TypeWord {
    Base(u8, bool),
    Signed(bool),
    Long,
    Atomic,
    Nothing,
}

fn part(word: &str) -> Option<TypeWord> {
    let (name, atomic) = match word.strip_prefix("atomic_") {
        Some(name) => (name, true),
        None => (word, false),
    };
    Some(match name {
        "int" => TypeWord::Base(32, true),
        "uint" if atomic => TypeWord::Base(32, false),
        "long" | "llong" => TypeWord::Long,
        "ulong" | "ullong" if atomic => TypeWord::Base(64, false),
        "short" => TypeWord::Base(16, true),
        "ushort" if atomic => TypeWord::Base(16, false),
        "char" => TypeWord::Base(8, true),
        "schar" if atomic => TypeWord::Base(8, true),
        "uchar" if atomic => TypeWord::Base(8, false),
        "bool" | "_Bool" => TypeWord::Base(1, false),
        "intptr_t" | "ptrdiff_t" => TypeWord::Base(64, true),
        "uintptr_t" | "size_t" => TypeWord::Base(64, false),
        "unsigned" => TypeWord::Signed(false),
        "signed" => TypeWord::Signed(true),
        "_Atomic" => TypeWord::Atomic,
        "volatile" | "const" => TypeWord::Nothing,
        _ => sized(name)?,
    })
}

/// Parses `int32_t` and similar names.
fn sized(name: &str) -> Option<TypeWord> {
    let (rest, signed) = match name.strip_prefix('u') {
        Some(rest) => (rest, false),
        None => (name, true),
    };
    match rest.strip_prefix("int")?.strip_suffix("_t")? {
        "8" => Some(TypeWord::Base(8, signed)),
        "16" => Some(TypeWord::Base(16, signed)),
        "32" => Some(TypeWord::Base(32, signed)),
        "64" => Some(TypeWord::Base(64, signed)),
        _ => None,
    }
}

/// Returns `true` if a type is next.
pub(super) fn is_next(tokens: &Tokens) -> bool {
    let mut ahead = 0;
    if matches!(tokens.peek(), LitmusToken::Word(std) if std == "std") {
        ahead = 2;
    }
    matches!(tokens.ahead(ahead), LitmusToken::Word(word) if part(word).is_some())
}

/// Parses a type with its stars, if one is next: `atomic_int *`, `_Atomic(int)`, `volatile unsigned long`.
pub(super) fn optional(tokens: &mut Tokens) -> ParseResult<Option<CType>> {
    if !is_next(tokens) {
        return Ok(None);
    }
    let (mut bits, mut signed) = (32, true);
    let mut closing = 0;
    while let LitmusToken::Word(word) = tokens.peek() {
        if word == "std" {
            tokens.skip();
            tokens.sign("::")?;
            continue;
        }
        let Some(part) = part(word) else { break };
        tokens.skip();
        match part {
            // `long int` and `short int` keep their width.
            TypeWord::Base(32, true) => {}
            TypeWord::Base(width, is_signed) => {
                bits = width;
                signed &= is_signed;
            }
            TypeWord::Signed(is_signed) => signed = is_signed,
            TypeWord::Long => bits = 64,
            TypeWord::Atomic => closing += u32::from(tokens.eat("(")),
            TypeWord::Nothing => {}
        }
        while closing > 0 && tokens.eat(")") {
            closing -= 1;
        }
    }
    if closing > 0 {
        return tokens.expected("')' after a type");
    }
    Ok(Some(stars(tokens, CType { base: IntType { bits, signed }, stars: 0 })))
}

/// Parses the stars after a type.
pub(super) fn stars(tokens: &mut Tokens, mut ty: CType) -> CType {
    loop {
        if tokens.eat("*") {
            ty = ty.pointer();
        } else if !(ty.stars > 0 && (tokens.eat_word("const") || tokens.eat_word("volatile"))) {
            return ty;
        }
    }
}
