//! C types, with sizes and conversions of the System V ABI for x86-64.

use std::rc::Rc;

/// A C type without qualifiers other than `_Atomic`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AbiType {
    Void,
    Bool,
    Int {
        width: u8,
        signed: bool,
    },
    Pointer(Rc<AbiType>),
    /// Element type and length. The length of an incomplete type is `None`.
    Array(Rc<AbiType>, Option<u64>),
    /// A structure or union, by index of its [`RecordLayout`].
    Record(usize),
    /// A function, by its result type.
    Function(Rc<AbiType>),
    Atomic(Rc<AbiType>),
    /// Any floating-point type. Declarations are accepted, values are not supported.
    Float,
}

/// A structure or union.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordLayout {
    /// The tag, or empty.
    pub(crate) name: String,
    /// `None` if the type is incomplete.
    pub(crate) fields: Option<Vec<FieldLayout>>,
    /// The size in bytes.
    pub(crate) size: u64,
    /// The alignment in bytes.
    pub(crate) align: u64,
}

/// A field of a structure or union.
#[derive(Clone, Debug)]
pub(crate) struct FieldLayout {
    /// `None` for an anonymous structure or union, whose fields count as fields of the outer one.
    pub(crate) name: Option<String>,
    pub(crate) ty: AbiType,
    /// The offset in bytes.
    pub(crate) offset: u64,
}

pub(crate) const INT: AbiType = AbiType::Int { width: 32, signed: true };
pub(crate) const UINT: AbiType = AbiType::Int { width: 32, signed: false };
pub(crate) const LONG: AbiType = AbiType::Int { width: 64, signed: true };
pub(crate) const ULONG: AbiType = AbiType::Int { width: 64, signed: false };
pub(crate) const CHAR: AbiType = AbiType::Int { width: 8, signed: true };

impl AbiType {
    pub(crate) fn pointer_to(to: AbiType) -> AbiType {
        AbiType::Pointer(Rc::new(to))
    }

    /// The type without `_Atomic`.
    pub(crate) fn unqualified(&self) -> &AbiType {
        match self {
            AbiType::Atomic(inner) => inner.unqualified(),
            other => other,
        }
    }

    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self, AbiType::Atomic(_))
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.unqualified(), AbiType::Bool | AbiType::Int { .. })
    }

    pub(crate) fn is_pointer(&self) -> bool {
        matches!(self.unqualified(), AbiType::Pointer(_))
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.is_integer() || self.is_pointer()
    }

    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.unqualified(), AbiType::Int { signed: true, .. })
    }

    /// The type that a pointer points to, or the element type of an array.
    pub(crate) fn target(&self) -> Option<&AbiType> {
        match self.unqualified() {
            AbiType::Pointer(to) => Some(to),
            AbiType::Array(of, _) => Some(of),
            _ => None,
        }
    }

    /// The width in bits of a scalar in memory. `None` for all other types.
    pub(crate) fn width(&self) -> Option<u8> {
        match self.unqualified() {
            AbiType::Bool => Some(8),
            AbiType::Int { width, .. } => Some(*width),
            AbiType::Pointer(_) => Some(64),
            _ => None,
        }
    }

    /// The type after integer promotion.
    pub(crate) fn promoted(&self) -> AbiType {
        match self.unqualified() {
            AbiType::Bool => INT,
            AbiType::Int { width, .. } if *width < 32 => INT,
            other => other.clone(),
        }
    }
}

/// The common type of two operands after the usual arithmetic conversions.
pub(crate) fn common_type(a: &AbiType, b: &AbiType) -> AbiType {
    match (a.promoted(), b.promoted()) {
        (AbiType::Int { width: x, signed: s }, AbiType::Int { width: y, signed: t }) => {
            let signed = if x == y {
                s && t
            } else if x > y {
                s
            } else {
                t
            };
            AbiType::Int { width: x.max(y), signed }
        }
        (AbiType::Int { .. }, b) => b,
        (a, _) => a,
    }
}
