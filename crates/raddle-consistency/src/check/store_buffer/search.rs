//! Depth-first search for a complete run, shared by all verifiers.
//!
//! The papers keep a worklist of whole traces. Here one partial run is extended and undone in place, so a state costs only
//! its key in the table of visited states. When the search succeeds, the run is the witness.
//!
//! The table is a hash table of indices into one flat vector of keys: no allocation per state.

use crate::check::effort::Effort;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

use super::run::PartialRun;
use crate::witness::Witness;

/// A search space: the steps from a partial run, and which runs are identified.
pub(super) trait Space<'i> {
    /// The partial run.
    fn run(&self) -> &PartialRun<'i>;
    /// The partial run, to be extended and undone.
    fn run_mut(&mut self) -> &mut PartialRun<'i>;
    /// Takes steps that keep the run completable if it was.
    fn run_free_steps(&mut self) {
        self.run_mut().run_free_steps();
    }
    /// The steps to try next, most promising first.
    fn moves(&self, out: &mut Vec<u32>);
    /// Takes a step, if it turns out to be possible.
    fn apply(&mut self, step: u32) -> bool;
    /// Identifies the state after [`Space::run_free_steps`]: two runs with the same key are either both completable or not.
    fn key(&self, out: &mut Vec<u32>);
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchOutcome {
    /// The run of the space is complete.
    Found,
    /// There is no complete run.
    Exhausted,
    /// More states than the budget allows.
    OutOfBudget,
}

/// The keys of visited states take at most this many words (4 bytes each).
const MOST_KEY_WORDS: usize = 1 << 27;

/// A set of keys, stored flat.
#[derive(Default)]
struct KeySet {
    keys: Vec<u32>,
    /// By key: where it ends.
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl KeySet {
    /// Adds a key; false if it was there. A full table takes no more keys: the search goes on, and
    /// may visit states again.
    fn insert(&mut self, key: &[u32]) -> bool {
        let (keys, ends) = (&self.keys, &self.ends);
        let at = |index: u32| {
            let start = (index as usize).checked_sub(1).map_or(0, |previous| ends[previous]);
            &keys[start..ends[index as usize]]
        };
        let hash = hash(key);
        if self.table.find(hash, |&index| at(index) == key).is_some() {
            return false;
        }
        if self.keys.len() + key.len() > MOST_KEY_WORDS {
            return true;
        }
        self.table.insert_unique(hash, ends.len() as u32, |&index| self::hash(at(index)));
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        true
    }
}

fn hash(key: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

struct SearchFrame {
    /// The mark to return to before the next move.
    mark: usize,
    /// The moves left are `moves[next..end]` of the shared stack.
    next: usize,
    end: usize,
}

/// Searches for a complete run, and returns it as a witness.
pub(super) fn search<'i>(
    mut space: impl Space<'i>,
    effort: &mut Effort,
) -> (SearchOutcome, Witness) {
    let outcome = explore(&mut space, effort);
    (outcome, space.run().witness())
}

/// Searches for a complete run. If there is one, it is the run of the space.
fn explore<'i>(space: &mut impl Space<'i>, effort: &mut Effort) -> SearchOutcome {
    let mut seen = KeySet::default();
    let mut key = vec![];
    let mut moves: Vec<u32> = vec![];
    let mut frames: Vec<SearchFrame> = vec![];
    loop {
        // Enter the current state.
        space.run_free_steps();
        if space.run().is_complete() {
            return SearchOutcome::Found;
        }
        key.clear();
        space.key(&mut key);
        if seen.insert(&key) {
            if !effort.spend() {
                return SearchOutcome::OutOfBudget;
            }
            let next = moves.len();
            space.moves(&mut moves);
            frames.push(SearchFrame { mark: space.run().mark(), next, end: moves.len() });
        }
        // Leave it by the next untried move of the innermost frame that has one.
        loop {
            let Some(frame) = frames.last_mut() else { return SearchOutcome::Exhausted };
            space.run_mut().undo_to(frame.mark);
            if frame.next == frame.end {
                frames.pop();
                moves.truncate(frames.last().map_or(0, |frame| frame.end));
                continue;
            }
            let step = moves[frame.next];
            frame.next += 1;
            if space.apply(step) {
                break;
            }
        }
    }
}
