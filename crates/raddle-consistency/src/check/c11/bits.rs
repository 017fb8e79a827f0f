//! Bit matrices.

/// Rows of bits.
#[derive(Clone)]
pub(super) struct BitMatrix {
    words: usize,
    rows: Vec<u64>,
}

impl BitMatrix {
    /// An empty matrix.
    pub(super) fn new(rows: usize, bits: usize) -> BitMatrix {
        let words = bits.div_ceil(64);
        BitMatrix { words, rows: vec![0; rows * words] }
    }

    /// The number of rows. The rows must have bits.
    pub(super) fn rows(&self) -> usize {
        self.rows.len() / self.words.max(1)
    }

    pub(super) fn set(&mut self, row: usize, bit: usize) {
        self.rows[row * self.words + bit / 64] |= 1 << (bit % 64);
    }

    pub(super) fn has(&self, row: usize, bit: usize) -> bool {
        self.rows[row * self.words + bit / 64] >> (bit % 64) & 1 != 0
    }

    pub(super) fn row(&self, row: usize) -> &[u64] {
        &self.rows[row * self.words..][..self.words]
    }

    /// Adds the bits of another row of this matrix.
    pub(super) fn add_row(&mut self, into: usize, from: usize) {
        for word in 0..self.words {
            self.rows[into * self.words + word] |= self.rows[from * self.words + word];
        }
    }

    /// Adds bits to a row.
    pub(super) fn add(&mut self, into: usize, bits: &[u64]) {
        for (word, bits) in self.rows[into * self.words..].iter_mut().zip(bits) {
            *word |= bits;
        }
    }

    /// Makes a square matrix transitive.
    pub(super) fn close(&mut self) {
        let count = self.rows();
        for middle in 0..count {
            for row in 0..count {
                if row != middle && self.has(row, middle) {
                    self.add_row(row, middle);
                }
            }
        }
    }
}

/// The indices of the bits that are set.
pub(super) fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(index, &word)| {
        std::iter::successors(Some(word), |&rest| Some(rest & (rest.wrapping_sub(1))))
            .take_while(|&rest| rest != 0)
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
    })
}

/// Returns `true` if a row has all bits of another.
pub(super) fn covers(large: &[u64], small: &[u64]) -> bool {
    large.iter().zip(small).all(|(large, small)| small & !large == 0)
}

/// Returns `true` if two rows have a bit in common.
pub(super) fn meet(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).any(|(one, other)| one & other != 0)
}

/// Adds the bits of one row to another.
pub(super) fn add(into: &mut [u64], bits: &[u64]) {
    for (into, bits) in into.iter_mut().zip(bits) {
        *into |= bits;
    }
}
