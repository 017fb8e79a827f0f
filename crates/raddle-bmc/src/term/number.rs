//! Numbers of a width, and what operations give for them.

use super::Op;

/// The bits of a width.
#[must_use]
pub fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A number with so many bits, with its sign.
#[must_use]
pub fn signed(value: u64, width: u8) -> i64 {
    let shift = 64 - u32::from(width);
    ((value << shift) as i64) >> shift
}

/// What an operation gives for numbers of this width.
#[must_use]
pub fn evaluate(op: Op, a: u64, b: u64, width: u8) -> u64 {
    let too_far = b >= u64::from(width);
    let result = match op {
        Op::And => a & b,
        Op::Xor => a ^ b,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Udiv => a.checked_div(b).unwrap_or(u64::MAX),
        Op::Urem => a.checked_rem(b).unwrap_or(a),
        Op::Shl | Op::Lshr if too_far => 0,
        Op::Shl => a << b,
        Op::Lshr => a >> b,
        Op::Ashr => (signed(a, width) >> b.min(u64::from(width) - 1)) as u64,
        Op::Eq => return u64::from(a == b),
        Op::Ult => return u64::from(a < b),
        Op::Slt => return u64::from(signed(a, width) < signed(b, width)),
    };
    result & mask(width)
}
