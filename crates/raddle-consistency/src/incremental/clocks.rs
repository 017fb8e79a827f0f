//! Vector clocks of one width, all in one arena. The width is a multiple of [`LANES`], so that loops
//! over a clock consist of whole vector instructions.

/// The width of clocks is a multiple of this number.
pub(super) const LANES: usize = 4;

/// Rows of `width` entries, one for each thread.
#[derive(Clone, Debug)]
pub(super) struct ClockTable {
    width: usize,
    entries: Vec<u32>,
}

impl ClockTable {
    /// No rows.
    pub(super) fn new(width: usize) -> ClockTable {
        ClockTable { width, entries: vec![] }
    }

    #[inline]
    pub(super) fn row(&self, row: usize) -> &[u32] {
        &self.entries[row * self.width..][..self.width]
    }

    #[inline]
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [u32] {
        &mut self.entries[row * self.width..][..self.width]
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.entries.len() / self.width
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: &[u32]) {
        debug_assert_eq!(row.len(), self.width);
        self.entries.extend_from_slice(row);
    }

    /// Adds a row of zeros.
    pub(super) fn push_zeros(&mut self) {
        self.entries.resize(self.entries.len() + self.width, 0);
    }

    /// Adds a copy of a row.
    pub(super) fn push_copy(&mut self, row: usize) {
        self.entries.extend_from_within(row * self.width..(row + 1) * self.width);
    }

    /// Drops the last row.
    pub(super) fn pop(&mut self) {
        self.entries.truncate(self.entries.len() - self.width);
    }

    /// Joins another clock into a row. Reports each changed entry with its old value.
    #[inline]
    pub(super) fn join(&mut self, row: usize, other: &[u32], mut changed: impl FnMut(usize, u32)) {
        let (mine, theirs) = (lanes_mut(self.row_mut(row)), lanes(other));
        for (at, (mine, theirs)) in mine.iter_mut().zip(theirs).enumerate() {
            if covers(mine, theirs) {
                continue;
            }
            for (lane, (mine, &theirs)) in mine.iter_mut().zip(theirs).enumerate() {
                if *mine < theirs {
                    changed(LANES * at + lane, *mine);
                    *mine = theirs;
                }
            }
        }
    }

    /// Joins another row into a row, as [`ClockTable::join`].
    pub(super) fn join_row(
        &mut self,
        row: usize,
        other: usize,
        mut changed: impl FnMut(usize, u32),
    ) {
        for entry in 0..self.width {
            let theirs = self.row(other)[entry];
            let mine = &mut self.row_mut(row)[entry];
            if *mine < theirs {
                changed(entry, *mine);
                *mine = theirs;
            }
        }
    }

    /// Adds entries of 0 to every row.
    pub(super) fn widen(&mut self, width: usize) {
        let mut wider = Vec::with_capacity(self.len() * width);
        for row in self.entries.chunks_exact(self.width) {
            wider.extend_from_slice(row);
            wider.resize(wider.len() + width - self.width, 0);
        }
        *self = ClockTable { width, entries: wider };
    }
}

/// Joins another clock into a clock.
#[inline]
pub(super) fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in lanes_mut(clock).iter_mut().zip(lanes(other)) {
        for lane in 0..LANES {
            mine[lane] = mine[lane].max(theirs[lane]);
        }
    }
}

/// Returns `true` if every entry of a clock is at least that of another one.
#[inline]
pub(super) fn includes(clock: &[u32], other: &[u32]) -> bool {
    lanes(clock).iter().zip(lanes(other)).all(|(mine, theirs)| covers(mine, theirs))
}

#[inline]
fn covers(mine: &[u32; LANES], theirs: &[u32; LANES]) -> bool {
    (0..LANES).fold(true, |all, lane| all & (mine[lane] >= theirs[lane]))
}

#[inline]
fn lanes(clock: &[u32]) -> &[[u32; LANES]] {
    clock.as_chunks().0
}

#[inline]
fn lanes_mut(clock: &mut [u32]) -> &mut [[u32; LANES]] {
    clock.as_chunks_mut().0
}

#[cfg(test)]
mod tests {
    use super::{ClockTable, includes};

    #[test]
    fn rows_survive_widening_and_tell_what_changed() {
        let mut clocks = ClockTable::new(4);
        clocks.push(&[1, 2, 0, 0]);
        clocks.push_copy(0);
        clocks.widen(8);
        let mut changed = vec![];
        clocks.join(1, &[3, 1, 0, 0, 0, 4, 0, 0], |entry, old| changed.push((entry, old)));
        assert_eq!(changed, [(0, 1), (5, 0)]);
        assert_eq!(clocks.row(0), [1, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(clocks.row(1), [3, 2, 0, 0, 0, 4, 0, 0]);
        assert!(includes(clocks.row(1), clocks.row(0)) && !includes(clocks.row(0), clocks.row(1)));
        clocks.push_zeros();
        clocks.join_row(2, 1, |_, _| {});
        assert_eq!(clocks.row(2), clocks.row(1));
        clocks.pop();
        assert_eq!(clocks.len(), 2);
    }
}
