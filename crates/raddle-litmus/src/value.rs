//! Values: integers of some width, and addresses of locations.

use raddle_core::execution::Value;

/// The address of the location 0; that of location `n` is `n` more. No integer is that large.
const ADDRESS: Value = 1 << 80;

/// The address of a location.
pub(super) fn address(location: usize) -> Value {
    ADDRESS + location as Value
}

/// The location whose address the value is.
pub(super) fn location(value: Value) -> Option<usize> {
    usize::try_from(value.checked_sub(ADDRESS)?).ok()
}

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// Its width, 8 to 64, or 1 for truth.
    pub(super) bits: u8,
    pub(super) signed: bool,
}

impl Type {
    pub(super) const INT: Type = Type { bits: 32, signed: true };

    /// `bool`: everything but 0 becomes 1.
    pub(super) const BOOL: Type = Type { bits: 1, signed: false };

    /// The value of this type that has the same low bits. Addresses stay what they are.
    pub(super) fn wrap(self, value: Value) -> Value {
        if self == Type::BOOL {
            return Value::from(value != 0);
        }
        if location(value).is_some() {
            return value;
        }
        let low = value & ((1 << self.bits) - 1);
        let negative = self.signed && low >> (self.bits - 1) & 1 == 1;
        if negative { low - (1 << self.bits) } else { low }
    }

    /// Whether a number can be meant as a value of this type, with or without a sign.
    pub(super) fn fits(self, value: Value) -> bool {
        [true, false].into_iter().any(|signed| Type { signed, ..self }.wrap(value) == value)
    }

    /// The type of the same width without a sign.
    pub(super) fn unsigned(self) -> Type {
        Type { signed: false, ..self }
    }

    /// What an operand of arithmetic becomes: nothing narrower than `int`.
    pub(super) fn promoted(self) -> Type {
        if self.bits < 32 { Type::INT } else { self }
    }

    /// The type of the result of arithmetic on two operands, as C has it.
    pub(super) fn common(self, other: Type) -> Type {
        let (one, two) = (self.promoted(), other.promoted());
        let bits = one.bits.max(two.bits);
        let unsigned = |it: Type| it.bits == bits && !it.signed;
        Type { bits, signed: !unsigned(one) && !unsigned(two) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_around_and_addresses_do_not() {
        assert_eq!(Type::INT.wrap(1 << 31), -(1 << 31));
        assert_eq!(Type::INT.unsigned().wrap(-1), (1 << 32) - 1);
        assert_eq!(Type { bits: 8, signed: true }.wrap(200), -56);
        assert_eq!(Type { bits: 64, signed: false }.wrap(-1), (1 << 64) - 1);
        assert_eq!([0, 2, 256, address(3)].map(|value| Type::BOOL.wrap(value)), [0, 1, 1, 1]);
        assert_eq!(Type::INT.wrap(address(3)), address(3));
        assert_eq!(location(address(3)), Some(3));
        assert_eq!(location(Value::from(u64::MAX)), None);
    }

    #[test]
    fn numbers_fit_with_or_without_a_sign() {
        for fits in [-(1 << 31), -1, (1 << 32) - 1, address(3)] {
            assert!(Type::INT.fits(fits) && Type::INT.unsigned().fits(fits), "{fits}");
        }
        assert!(!Type::INT.fits(1 << 32) && !Type::INT.fits(-(1 << 31) - 1));
        assert!(Type::BOOL.fits(1) && !Type::BOOL.fits(2));
    }

    #[test]
    fn operands_are_converted_as_in_c() {
        let (int, unsigned) = (Type::INT, Type::INT.unsigned());
        let (long, char) = (Type { bits: 64, signed: true }, Type { bits: 8, signed: false });
        assert_eq!(int.common(unsigned), unsigned);
        assert_eq!(unsigned.common(long), long);
        assert_eq!(char.common(char), int);
        assert_eq!(long.common(long.unsigned()), long.unsigned());
    }
}
