//! Sets of events without a bound on their number.
//!
//! *Problem.* An execution may have any number of events. The models represent what precedes an event, what a thread
//! knows and the like as sets of events, and copy, unite and intersect them all the time.
//!
//! *Idea.* A set is a row of blocks of some words, from the first block with an event to the last. A set whose events
//! are in one block, such as that of one event, is stored in place; so are all sets of an execution with at most
//! 256 events. A longer row is shared between its copies until one of them changes, and between an operation's
//! operand and its result if these are equal: what precedes an event is mostly what precedes its predecessor.
//!
//! *Cost.* An operation on rows in place is a few instructions. On longer rows it takes time linear in the number of
//! blocks, and allocates if the result is a new row.
//!
//! *Measured.* 146,455 classes of a ring of three threads under SC, all events undecided, user time with the start of the
//! process: 147 events 1.2 s, 267 events 3.1 s. Rows of eight words, with the models called directly, took 0.61 and
//! 1.2 s. Up to 126 events there is a variant of two words ([`u128`]). Without it 63 events took 3.3 times as long as 39;
//! with it, 64 take 2.2 to 2.9 times as many instructions per class as 38, and 84 events under SRA 239 instead of 610
//! million.
//!
//! *Rejected.* Rows of a fixed number of words, for up to 512 events: faster, but a larger execution was cut, and the
//! search was compiled again for each model. Vector clocks, one number per thread instead of a row, are smaller for the order of
//! events under SC, but the stores of a thread are no chain under TSO and PSO, and the sets of the C11 models (writes
//! that an update has read, fences, accesses of a location) are none under any model.

use std::rc::Rc;

use crate::event_index::EventIndex;
use crate::event_map::LongMap;
use crate::event_set::EventSet;

/// Words of a block.
const WORDS: usize = 4;

/// Events of a block.
const BLOCK: usize = 64 * WORDS;

type Block = [u64; WORDS];

/// A row of blocks; all others are empty.
#[derive(Clone, Debug)]
struct Row {
    /// The number of the first block.
    first: usize,
    blocks: Vec<Block>,
}

/// A set of events whose indices may be any.
#[derive(Clone, Debug)]
pub struct LongSet(Repr);

#[derive(Clone, Debug)]
enum Repr {
    /// One block with its number.
    Short(u32, Block),
    Long(Rc<Row>),
}

/// The number of the block of an event, the word in it and the bit in that.
#[inline]
fn place(event: EventIndex) -> (usize, usize, u64) {
    let index = event.index();
    (index / BLOCK, index % BLOCK / 64, 1 << (index % 64))
}

#[inline]
fn zip(a: &Block, b: &Block, f: impl Fn(u64, u64) -> u64) -> Block {
    std::array::from_fn(|at| f(a[at], b[at]))
}

#[inline]
fn is_zero(block: &Block) -> bool {
    block.iter().all(|&word| word == 0)
}

/// The first event of a block with this number that is not empty.
fn first_of(number: usize, block: &Block) -> Option<EventIndex> {
    let word = block.iter().position(|&word| word != 0)?;
    Some(EventIndex::new(number * BLOCK + 64 * word + block[word].trailing_zeros() as usize))
}

/// The last event of a block with this number that is not empty.
fn last_of(number: usize, block: &Block) -> Option<EventIndex> {
    let word = block.iter().rposition(|&word| word != 0)?;
    let bit = 63 - block[word].leading_zeros() as usize;
    Some(EventIndex::new(number * BLOCK + 64 * word + bit))
}

impl LongSet {
    /// The number of the first block, and the blocks.
    #[inline]
    fn row(&self) -> (usize, &[Block]) {
        match &self.0 {
            Repr::Short(number, block) => (*number as usize, std::slice::from_ref(block)),
            Repr::Long(row) => (row.first, &row.blocks),
        }
    }

    /// The block with a number.
    #[inline]
    fn block(&self, number: usize) -> Block {
        let (first, blocks) = self.row();
        let at = number.wrapping_sub(first);
        blocks.get(at).copied().unwrap_or_default()
    }

    /// The set with these blocks, in place if one suffices. `blocks` gives the block with each number of the range.
    fn collect(range: std::ops::Range<usize>, block: impl Fn(usize) -> Block) -> Self {
        let is_used = |&number: &usize| !is_zero(&block(number));
        let Some(first) = range.clone().find(is_used) else { return LongSet::default() };
        let last = range.rev().find(is_used).unwrap_or(first);
        if first == last {
            return LongSet(Repr::Short(first as u32, block(first)));
        }
        let blocks = (first..=last).map(block).collect();
        LongSet(Repr::Long(Rc::new(Row { first, blocks })))
    }

    /// Returns `true` if all events of the other set are in this one.
    fn includes(&self, other: &Self) -> bool {
        let (first, blocks) = other.row();
        let mut others = blocks.iter().zip(first..);
        others.all(|(block, number)| is_zero(&zip(block, &self.block(number), |a, b| a & !b)))
    }

    #[cold]
    fn meets_rows(&self, other: &Self) -> bool {
        let (first, blocks) = self.row();
        let mut blocks = blocks.iter().zip(first..);
        blocks.any(|(block, number)| !is_zero(&zip(block, &other.block(number), |a, b| a & b)))
    }

    #[cold]
    fn or_rows(&self, other: &Self) -> Self {
        if self.includes(other) {
            return self.clone();
        }
        if other.includes(self) {
            return other.clone();
        }
        let ((first, blocks), (other_first, other_blocks)) = (self.row(), other.row());
        let end = (first + blocks.len()).max(other_first + other_blocks.len());
        let union = |number| zip(&self.block(number), &other.block(number), |a, b| a | b);
        LongSet::collect(first.min(other_first)..end, union)
    }

    #[cold]
    fn and_rows(&self, other: &Self) -> Self {
        let ((first, blocks), (other_first, other_blocks)) = (self.row(), other.row());
        let end = (first + blocks.len()).min(other_first + other_blocks.len());
        let common = |number| zip(&self.block(number), &other.block(number), |a, b| a & b);
        LongSet::collect(first.max(other_first)..end, common)
    }

    #[cold]
    fn minus_rows(&self, other: &Self) -> Self {
        if !self.meets(other) {
            return self.clone();
        }
        let (first, blocks) = self.row();
        let left = |number| zip(&self.block(number), &other.block(number), |a, b| a & !b);
        LongSet::collect(first..first + blocks.len(), left)
    }

    /// Adds an event that is not in the blocks of the set.
    #[cold]
    fn insert_outside(&mut self, event: EventIndex) {
        let (number, word, bit) = place(event);
        if self.is_empty() {
            let mut block = Block::default();
            block[word] = bit;
            self.0 = Repr::Short(number as u32, block);
            return;
        }
        let (first, blocks) = self.row();
        let start = first.min(number);
        let end = (first + blocks.len()).max(number + 1);
        let mut row =
            Row { first: start, blocks: (start..end).map(|number| self.block(number)).collect() };
        row.blocks[number - start][word] |= bit;
        self.0 = Repr::Long(Rc::new(row));
    }
}

impl Default for LongSet {
    #[inline]
    fn default() -> Self {
        LongSet(Repr::Short(0, Block::default()))
    }
}

impl PartialEq for LongSet {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Short(number, block), Repr::Short(other_number, other)) => {
                block == other && (number == other_number || is_zero(block))
            }
            _ => self.includes(other) && other.includes(self),
        }
    }
}

impl Eq for LongSet {}

impl EventSet for LongSet {
    const BITS: usize = u32::MAX as usize - 2;
    type Map<T: Clone> = LongMap<T>;
    type Position = u32;
    type Iter = LongSetIter;

    #[inline]
    fn one(event: EventIndex) -> Self {
        let (number, word, bit) = place(event);
        let mut block = Block::default();
        block[word] = bit;
        LongSet(Repr::Short(number as u32, block))
    }

    fn below(event: EventIndex) -> Self {
        let (last, word, bit) = place(event);
        LongSet::collect(0..last + 1, |number| match number == last {
            false => [!0; WORDS],
            true => std::array::from_fn(|at| match at.cmp(&word) {
                std::cmp::Ordering::Less => !0,
                std::cmp::Ordering::Equal => bit - 1,
                std::cmp::Ordering::Greater => 0,
            }),
        })
    }

    #[inline]
    fn has(&self, event: EventIndex) -> bool {
        let (number, word, bit) = place(event);
        match &self.0 {
            Repr::Short(own, block) => *own as usize == number && block[word] & bit != 0,
            Repr::Long(row) => {
                let block = row.blocks.get(number.wrapping_sub(row.first));
                block.is_some_and(|block| block[word] & bit != 0)
            }
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        match &self.0 {
            Repr::Short(_, block) => is_zero(block),
            Repr::Long(row) => row.blocks.iter().all(is_zero),
        }
    }

    #[inline]
    fn meets(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Short(number, a), Repr::Short(other, b)) => {
                number == other && !is_zero(&zip(a, b, |a, b| a & b))
            }
            _ => self.meets_rows(other),
        }
    }

    #[inline]
    fn or(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Repr::Short(number, a), Repr::Short(other, b)) if number == other => {
                LongSet(Repr::Short(*number, zip(a, b, |a, b| a | b)))
            }
            _ => self.or_rows(other),
        }
    }

    #[inline]
    fn and(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Repr::Short(number, a), Repr::Short(other, b)) if number == other => {
                LongSet(Repr::Short(*number, zip(a, b, |a, b| a & b)))
            }
            _ => self.and_rows(other),
        }
    }

    #[inline]
    fn minus(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Repr::Short(number, a), Repr::Short(other, b)) if number == other => {
                LongSet(Repr::Short(*number, zip(a, b, |a, b| a & !b)))
            }
            _ => self.minus_rows(other),
        }
    }

    #[inline]
    fn insert(&mut self, event: EventIndex) {
        let (number, word, bit) = place(event);
        match &mut self.0 {
            Repr::Short(own, block) if *own as usize == number => block[word] |= bit,
            Repr::Long(row) if number.wrapping_sub(row.first) < row.blocks.len() => {
                let at = number - row.first;
                Rc::make_mut(row).blocks[at][word] |= bit;
            }
            Repr::Long(row) if number == row.first + row.blocks.len() => {
                let mut block = Block::default();
                block[word] = bit;
                Rc::make_mut(row).blocks.push(block);
            }
            _ => self.insert_outside(event),
        }
    }

    #[inline]
    fn remove(&mut self, event: EventIndex) {
        let (number, word, bit) = place(event);
        match &mut self.0 {
            Repr::Short(own, block) if *own as usize == number => block[word] &= !bit,
            Repr::Long(row) => {
                let at = number.wrapping_sub(row.first);
                if row.blocks.get(at).is_some_and(|block| block[word] & bit != 0) {
                    Rc::make_mut(row).blocks[at][word] &= !bit;
                }
            }
            Repr::Short(..) => {}
        }
    }

    #[inline]
    fn first(&self) -> Option<EventIndex> {
        let (first, blocks) = self.row();
        (first..).zip(blocks).find_map(|(number, block)| first_of(number, block))
    }

    #[inline]
    fn last(&self) -> Option<EventIndex> {
        let (first, blocks) = self.row();
        (first..first + blocks.len())
            .zip(blocks)
            .rev()
            .find_map(|(number, block)| last_of(number, block))
    }

    #[inline]
    fn count(&self) -> usize {
        let words = self.row().1.iter().flatten();
        words.map(|word| word.count_ones() as usize).sum()
    }

    #[inline]
    fn iter(&self) -> LongSetIter {
        match &self.0 {
            Repr::Short(number, block) => {
                LongSetIter { number: *number as usize, word: 0, block: *block, row: None }
            }
            Repr::Long(row) => LongSetIter {
                number: row.first,
                word: 0,
                block: row.blocks.first().copied().unwrap_or_default(),
                row: Some(row.clone()),
            },
        }
    }
}

/// Iterator over the events of a set, in ascending order.
pub struct LongSetIter {
    /// The number of the current block, the current word of it, and what is left of it.
    number: usize,
    word: usize,
    block: Block,
    /// The other blocks.
    row: Option<Rc<Row>>,
}

impl Iterator for LongSetIter {
    type Item = EventIndex;

    #[inline]
    fn next(&mut self) -> Option<EventIndex> {
        loop {
            while let Some(word) = self.block.get_mut(self.word) {
                if *word != 0 {
                    let bit = word.trailing_zeros() as usize;
                    *word &= *word - 1;
                    return Some(EventIndex::new(self.number * BLOCK + 64 * self.word + bit));
                }
                self.word += 1;
            }
            let row = self.row.as_ref()?;
            (self.number, self.word) = (self.number + 1, 0);
            self.block = *row.blocks.get(self.number - row.first)?;
        }
    }
}
