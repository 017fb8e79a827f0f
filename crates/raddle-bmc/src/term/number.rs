//! Constants: fixed-width integers, represented as `u64` whose bits beyond the width are 0.

use super::node::BinaryOp;

/// The number whose lowest `width` bits are 1.
pub(crate) fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Interprets the lowest `width` bits as a number in two's complement.
pub(crate) fn signed(value: u64, width: u8) -> i64 {
    let shift = 64 - u32::from(width);
    ((value << shift) as i64) >> shift
}

/// The result of an operation on two constants of the given width.
pub(crate) fn evaluate(op: BinaryOp, a: u64, b: u64, width: u8) -> u64 {
    use BinaryOp as B;
    let exceeds_width = b >= u64::from(width);
    let result = match op {
        B::And => a & b,
        B::Xor => a ^ b,
        B::Add => a.wrapping_add(b),
        B::Sub => a.wrapping_sub(b),
        B::Mul => a.wrapping_mul(b),
        B::Udiv => a.checked_div(b).unwrap_or(u64::MAX),
        B::Urem => a.checked_rem(b).unwrap_or(a),
        B::Shl | B::Lshr if exceeds_width => 0,
        B::Shl => a << b,
        B::Lshr => a >> b,
        B::Ashr => (signed(a, width) >> b.min(u64::from(width) - 1)) as u64,
        B::Eq => return u64::from(a == b),
        B::Ult => return u64::from(a < b),
        B::Slt => return u64::from(signed(a, width) < signed(b, width)),
    };
    result & mask(width)
}
