//! Random programs over bytes.

use raddle_core::random::Random;

use super::ops::{ByteOp, Bytes, Operand, Overlapping};

/// A range of bytes: of one word or two, in halves or smaller pieces, or anywhere.
fn bytes(random: &mut Random, style: usize) -> Bytes {
    let aligned = |random: &mut Random, word: u8, smallest: u8| {
        let sizes = (word / smallest).trailing_zeros() as usize + 1;
        let size = smallest << random.below(sizes);
        Bytes { at: random.below(usize::from(word / size)) as u8 * size, size }
    };
    match style {
        0 => aligned(random, 2, 1),
        1 => aligned(random, 4, 1),
        2 => aligned(random, 8, 4),
        3 if random.below(3) == 0 => Bytes { at: 4, size: 1 },
        3 => aligned(random, 2, 1),
        4 => aligned(random, 8, 1),
        _ => {
            let size = 1 + random.below(3) as u8;
            Bytes { at: random.below(4 - usize::from(size)) as u8, size }
        }
    }
}

fn operand(random: &mut Random) -> Operand {
    match random.below(4) {
        0 => Operand::Constant(0x0101_0101_0101_0101 * (1 + random.below(2) as u64)),
        1 => Operand::Register(random.below(2) as u8, 1),
        2 => Operand::Register(random.below(2) as u8, 0),
        _ => Operand::Constant(1 + random.below(2) as u64),
    }
}

fn op(random: &mut Random, style: usize, has_updates: bool) -> ByteOp {
    let (bytes, value, register) = (bytes(random, style), operand(random), random.below(2) as u8);
    match random.below(13) {
        0..=4 => ByteOp::Load { register, bytes },
        5..=8 => ByteOp::Store { bytes, value },
        9 if has_updates => ByteOp::Add { register, bytes, value },
        10 if has_updates => {
            let expected = [0, 0, 1, 0x0101_0101_0101_0101, 0x100][random.below(5)];
            ByteOp::CompareExchange { register, bytes, expected, desired: value }
        }
        11 => match random.below(3) {
            0 => ByteOp::StoreFence,
            1 => ByteOp::Fence,
            _ => ByteOp::SkipIf { register, value: random.below(2) as u64 },
        },
        _ => ByteOp::Load { register, bytes },
    }
}

/// A random program of two to four threads.
pub fn random(random: &mut Random) -> Overlapping {
    let (style, has_updates) = (random.below(6), random.below(3) != 0);
    let threads = 2 + random.below(3);
    let longest = 6 - threads;
    let mut ops = |most: usize| {
        let count = random.below(most + 1);
        (0..count).map(|_| op(random, style, has_updates)).collect::<Vec<ByteOp>>()
    };
    let threads = (0..threads).map(|_| ops(longest)).collect();
    let (mut before, after) = (ops(1), ops(1));
    // The main thread must not skip the start of the others.
    before.retain(|op| !matches!(op, ByteOp::SkipIf { .. }));
    let waits = random.below(2) == 0;
    Overlapping { before, threads, after, waits }
}
