//! The types of C, with sizes and conversions as on x86-64.

use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    Bool,
    Int {
        width: u8,
        signed: bool,
    },
    Pointer(Rc<Type>),
    Array(Rc<Type>, Option<u64>),
    /// A structure or union, by number.
    Record(usize),
    Function(Rc<Type>),
    Atomic(Rc<Type>),
    /// Known by name, but no value of it can be had.
    Float,
}

/// A structure or union.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) fields: Option<Vec<Field>>,
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// A field; one without a name is a structure whose fields count as fields.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Option<String>,
    pub(crate) ty: Type,
    pub(crate) offset: u64,
}

pub(crate) const INT: Type = Type::Int { width: 32, signed: true };
pub(crate) const UINT: Type = Type::Int { width: 32, signed: false };
pub(crate) const LONG: Type = Type::Int { width: 64, signed: true };
pub(crate) const ULONG: Type = Type::Int { width: 64, signed: false };
pub(crate) const CHAR: Type = Type::Int { width: 8, signed: true };

impl Type {
    pub(crate) fn pointer(to: Type) -> Type {
        Type::Pointer(Rc::new(to))
    }

    /// Without `_Atomic`.
    pub(crate) fn plain(&self) -> &Type {
        match self {
            Type::Atomic(inner) => inner.plain(),
            other => other,
        }
    }

    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self, Type::Atomic(_))
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.plain(), Type::Bool | Type::Int { .. })
    }

    pub(crate) fn is_pointer(&self) -> bool {
        matches!(self.plain(), Type::Pointer(_))
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.is_integer() || self.is_pointer()
    }

    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.plain(), Type::Int { signed: true, .. })
    }

    /// What a pointer points to.
    pub(crate) fn target(&self) -> Option<&Type> {
        match self.plain() {
            Type::Pointer(to) => Some(to),
            Type::Array(of, _) => Some(of),
            _ => None,
        }
    }

    /// The bits of a scalar in memory.
    pub(crate) fn width(&self) -> Option<u8> {
        match self.plain() {
            Type::Bool => Some(8),
            Type::Int { width, .. } => Some(*width),
            Type::Pointer(_) => Some(64),
            _ => None,
        }
    }

    /// As operand: what is smaller than an `int` becomes one.
    pub(crate) fn promoted(&self) -> Type {
        match self.plain() {
            Type::Bool => INT,
            Type::Int { width, .. } if *width < 32 => INT,
            other => other.clone(),
        }
    }
}

/// The type in which an operation on these two is done.
pub(crate) fn usual(a: &Type, b: &Type) -> Type {
    match (a.promoted(), b.promoted()) {
        (Type::Int { width: x, signed: s }, Type::Int { width: y, signed: t }) => {
            let signed = if x == y {
                s && t
            } else if x > y {
                s
            } else {
                t
            };
            Type::Int { width: x.max(y), signed }
        }
        (Type::Int { .. }, b) => b,
        (a, _) => a,
    }
}
