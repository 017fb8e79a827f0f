//! Relations over the events of an execution, as square bit matrices.
//!
//! The operators are those in which the axioms are written: union, intersection, difference,
//! composition, inverse, closures, and the tests for cycles, which return one.
//! Composition and closure cost O(n^3 / 64) for n events.

/// A binary relation over the numbers below its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    size: usize,
    /// Words for each row.
    width: usize,
    bits: Vec<u64>,
}

impl Matrix {
    /// The relation that holds nowhere.
    #[must_use]
    pub fn empty(size: usize) -> Self {
        let width = size.div_ceil(64);
        Matrix { size, width, bits: vec![0; size * width] }
    }

    /// The relation that holds for these pairs.
    #[must_use]
    pub fn of(size: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut matrix = Matrix::empty(size);
        pairs.into_iter().for_each(|(from, to)| matrix.insert(from, to));
        matrix
    }

    /// `[A]`: the identity on a set.
    #[must_use]
    pub fn diagonal(set: &[bool]) -> Self {
        Matrix::of(set.len(), (0..set.len()).filter(|&i| set[i]).map(|i| (i, i)))
    }

    /// The number of events.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns `true` if the relation holds for a pair.
    #[must_use]
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.row(from)[to / 64] >> (to % 64) & 1 == 1
    }

    /// Adds a pair.
    pub fn insert(&mut self, from: usize, to: usize) {
        self.bits[from * self.width + to / 64] |= 1 << (to % 64);
    }

    /// The successors of an event.
    pub fn successors(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        members(self.row(from))
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size).flat_map(|from| self.successors(from).map(move |to| (from, to)))
    }

    /// `r ∪ s`
    #[must_use]
    pub fn or(&self, other: &Matrix) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// `r ∩ s`
    #[must_use]
    pub fn and(&self, other: &Matrix) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// `r \ s`
    #[must_use]
    pub fn minus(&self, other: &Matrix) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// `r; s`
    #[must_use]
    pub fn compose(&self, other: &Matrix) -> Self {
        let mut result = Matrix::empty(self.size);
        for from in 0..self.size {
            let row = &mut result.bits[from * self.width..][..self.width];
            for middle in members(self.row(from)) {
                add(row, other.row(middle));
            }
        }
        result
    }

    /// `[A]; r; [B]`
    #[must_use]
    pub fn between(&self, from: &[bool], to: &[bool]) -> Self {
        let mut result = Matrix::empty(self.size);
        for i in (0..self.size).filter(|&i| from[i]) {
            for j in self.successors(i).filter(|&j| to[j]) {
                result.insert(i, j);
            }
        }
        result
    }

    /// `r⁻¹`
    #[must_use]
    pub fn inverse(&self) -> Self {
        Matrix::of(self.size, self.pairs().map(|(from, to)| (to, from)))
    }

    /// `r?`: the relation or equality.
    #[must_use]
    pub fn optional(&self) -> Self {
        let mut result = self.clone();
        (0..self.size).for_each(|i| result.insert(i, i));
        result
    }

    /// `r⁺`: one step or more (Warshall's algorithm).
    #[must_use]
    pub fn closure(&self) -> Self {
        let mut result = self.clone();
        for middle in 0..self.size {
            let after = result.row(middle).to_vec();
            for from in 0..self.size {
                if result.contains(from, middle) {
                    add(&mut result.bits[from * self.width..][..self.width], &after);
                }
            }
        }
        result
    }

    /// Adds a pair to a transitive relation and keeps it transitive.
    pub fn insert_closed(&mut self, from: usize, to: usize) {
        let mut after = self.row(to).to_vec();
        after[to / 64] |= 1 << (to % 64);
        for before in 0..self.size {
            if before == from || self.contains(before, from) {
                add(&mut self.bits[before * self.width..][..self.width], &after);
            }
        }
    }

    /// The events of a cycle, if the relation has one: each is related to the next, and the last to
    /// the first.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<usize>> {
        let mut state = vec![Visit::New; self.size];
        (0..self.size).find_map(|start| self.cycle_from(start, &mut state))
    }

    /// Depth-first search for an event that leads back to one on the path to it.
    fn cycle_from(&self, start: usize, state: &mut [Visit]) -> Option<Vec<usize>> {
        let mut path = vec![start];
        while let Some(&last) = path.last() {
            state[last] = Visit::OnPath;
            match self.successors(last).find(|&next| state[next] != Visit::Done) {
                Some(next) if state[next] == Visit::OnPath => {
                    let at = path.iter().position(|&event| event == next)?;
                    return Some(path.split_off(at));
                }
                Some(next) => path.push(next),
                None => {
                    state[last] = Visit::Done;
                    path.pop();
                }
            }
        }
        None
    }

    fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.width..][..self.width]
    }

    fn zip(&self, other: &Matrix, f: impl Fn(u64, u64) -> u64) -> Self {
        let bits = self.bits.iter().zip(&other.bits).map(|(&a, &b)| f(a, b)).collect();
        Matrix { bits, ..*self }
    }
}

/// The state of an event in a depth-first search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    OnPath,
    Done,
}

/// A pair that `r1; r2; ...; rk` relates to itself, if there is one: the k events at which the
/// relations start. The composition is irreflexive if there is none.
#[must_use]
pub fn round(parts: &[&Matrix]) -> Option<Vec<usize>> {
    let size = parts.first()?.size;
    (0..size).find_map(|start| round_from(start, parts))
}

/// The events reached from the start after each part; if it is reached again, the way back.
fn round_from(start: usize, parts: &[&Matrix]) -> Option<Vec<usize>> {
    let mut reached = vec![parts[0].row(start).to_vec()];
    for part in &parts[1..] {
        let last = &reached[reached.len() - 1];
        let mut next = vec![0; part.width];
        members(last).for_each(|event| add(&mut next, part.row(event)));
        reached.push(next);
    }
    let mut way = vec![];
    let mut at = start;
    if !members(&reached[parts.len() - 1]).any(|event| event == start) {
        return None;
    }
    for (i, part) in parts.iter().enumerate().skip(1).rev() {
        at = members(&reached[i - 1]).find(|&event| part.contains(event, at))?;
        way.push(at);
    }
    way.push(start);
    way.reverse();
    Some(way)
}

fn members(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    row.iter().enumerate().flat_map(|(word, &bits)| {
        let rests = std::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)));
        let rests = rests.take_while(|&bits| bits != 0);
        rests.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

fn add(row: &mut [u64], other: &[u64]) {
    row.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}

#[cfg(test)]
mod tests {
    use super::{Matrix, round};

    /// Larger than a word.
    const SIZE: usize = 70;

    fn matrix(pairs: &[(usize, usize)]) -> Matrix {
        Matrix::of(SIZE, pairs.iter().copied())
    }

    #[test]
    fn operators_are_those_of_relation_algebra() {
        let (r, s) = (matrix(&[(0, 1), (1, 65), (2, 2)]), matrix(&[(1, 65), (65, 3)]));
        assert_eq!(r.or(&s), matrix(&[(0, 1), (1, 65), (2, 2), (65, 3)]));
        assert_eq!(r.and(&s), matrix(&[(1, 65)]));
        assert_eq!(r.minus(&s), matrix(&[(0, 1), (2, 2)]));
        assert_eq!(r.compose(&s), matrix(&[(0, 65), (1, 3)]));
        assert_eq!(r.inverse(), matrix(&[(1, 0), (65, 1), (2, 2)]));
        assert_eq!(r.optional().minus(&r).pairs().count(), SIZE - 1);
        assert_eq!(r.or(&s).closure().successors(0).collect::<Vec<_>>(), [1, 3, 65]);
        let set: Vec<bool> = (0..SIZE).map(|i| i < 2).collect();
        assert_eq!(Matrix::diagonal(&set), matrix(&[(0, 0), (1, 1)]));
        assert_eq!(r.between(&set, &set), matrix(&[(0, 1)]));
    }

    #[test]
    fn a_transitive_relation_stays_so() {
        let mut relation = matrix(&[]);
        for (from, to) in [(3, 4), (1, 2), (4, 69), (2, 3)] {
            relation.insert_closed(from, to);
            assert_eq!(relation, relation.closure());
        }
        assert_eq!(relation.successors(1).collect::<Vec<_>>(), [2, 3, 4, 69]);
    }

    #[test]
    fn a_cycle_is_found_and_only_a_cycle() {
        assert_eq!(matrix(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 69)]).cycle(), None);
        assert_eq!(matrix(&[(0, 1), (1, 69), (69, 1), (69, 2)]).cycle(), Some(vec![1, 69]));
        assert_eq!(matrix(&[(5, 5)]).cycle(), Some(vec![5]));
    }

    #[test]
    fn a_round_visits_the_parts_in_order() {
        let (r, s) = (matrix(&[(0, 1), (0, 65), (2, 3)]), matrix(&[(65, 0), (1, 2)]));
        assert_eq!(round(&[&r, &s]), Some(vec![0, 65]));
        assert_eq!(round(&[&s, &r]), Some(vec![65, 0]));
        assert_eq!(round(&[&r, &r]), None);
        assert_eq!(round(&[&matrix(&[(7, 7)])]), Some(vec![7]));
    }
}
