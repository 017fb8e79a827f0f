//! Values of litmus tests: integers of some width, and addresses of locations.

use raddle_core::execution::Value;

/// Address of location 0. The address of location `n` is larger by `n`; all are larger than any integer.
const ADDRESS: Value = 1 << 80;

/// Returns the address of a location.
pub(super) fn address(location: usize) -> Value {
    ADDRESS + location as Value
}

/// Returns the location whose address the value is, if it is one.
pub(super) fn location(value: Value) -> Option<usize> {
    usize::try_from(value.checked_sub(ADDRESS)?).ok()
}

/// Integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntType {
    /// Width: 8, 16, 32 or 64; 1 for `bool`.
    pub(super) bits: u8,
    pub(super) signed: bool,
}

impl IntType {
    pub(super) const INT: IntType = IntType { bits: 32, signed: true };

    /// `bool`. Conversion makes everything but 0 to 1.
    pub(super) const BOOL: IntType = IntType { bits: 1, signed: false };

    /// Converts a value to this type, keeping its low bits. Addresses are unchanged.
    pub(super) fn wrap(self, value: Value) -> Value {
        if self == IntType::BOOL {
            return Value::from(value != 0);
        }
        if location(value).is_some() {
            return value;
        }
        let low = value & ((1 << self.bits) - 1);
        let negative = self.signed && low >> (self.bits - 1) & 1 == 1;
        if negative { low - (1 << self.bits) } else { low }
    }

    /// Returns `true` if a literal denotes a value of this type, signed or unsigned.
    pub(super) fn fits(self, value: Value) -> bool {
        [true, false].into_iter().any(|signed| IntType { signed, ..self }.wrap(value) == value)
    }

    /// Returns the unsigned type of the same width.
    pub(super) fn unsigned(self) -> IntType {
        IntType { signed: false, ..self }
    }

    /// Returns the type after integer promotion.
    pub(super) fn promoted(self) -> IntType {
        if self.bits < 32 { IntType::INT } else { self }
    }

    /// Returns the common type of two operands, by the usual arithmetic conversions of C.
    pub(super) fn common(self, other: IntType) -> IntType {
        let (one, two) = (self.promoted(), other.promoted());
        let bits = one.bits.max(two.bits);
        let unsigned = |it: IntType| it.bits == bits && !it.signed;
        IntType { bits, signed: !unsigned(one) && !unsigned(two) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_addresses_do_not() {
        assert_eq!(IntType::INT.wrap(1 << 31), -(1 << 31));
        assert_eq!(IntType::INT.unsigned().wrap(-1), (1 << 32) - 1);
        assert_eq!(IntType { bits: 8, signed: true }.wrap(200), -56);
        assert_eq!(IntType { bits: 64, signed: false }.wrap(-1), (1 << 64) - 1);
        assert_eq!([0, 2, 256, address(3)].map(|value| IntType::BOOL.wrap(value)), [0, 1, 1, 1]);
        assert_eq!(IntType::INT.wrap(address(3)), address(3));
        assert_eq!(location(address(3)), Some(3));
        assert_eq!(location(Value::from(u64::MAX)), None);
    }

    #[test]
    fn literals_fit_signed_or_unsigned() {
        for fits in [-(1 << 31), -1, (1 << 32) - 1, address(3)] {
            assert!(IntType::INT.fits(fits) && IntType::INT.unsigned().fits(fits), "{fits}");
        }
        assert!(!IntType::INT.fits(1 << 32) && !IntType::INT.fits(-(1 << 31) - 1));
        assert!(IntType::BOOL.fits(1) && !IntType::BOOL.fits(2));
    }

    #[test]
    fn operands_are_converted_as_in_c() {
        let (int, unsigned) = (IntType::INT, IntType::INT.unsigned());
        let (long, char) = (IntType { bits: 64, signed: true }, IntType { bits: 8, signed: false });
        assert_eq!(int.common(unsigned), unsigned);
        assert_eq!(unsigned.common(long), long);
        assert_eq!(char.common(char), int);
        assert_eq!(long.common(long.unsigned()), long.unsigned());
    }
}
