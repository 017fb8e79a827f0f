//! What is known of the values that were read and written, where classes are open (`open.rs`).

use super::history_cache::ValueId;
use super::stamps::Stamp;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::HistoryId;

/// The values that reads on the stack have read, that locations have held, and that pending reads must not read.
#[derive(Default)]
pub(super) struct OpenClasses {
    /// By location, its values and when each was last written.
    written: Vec<Vec<(ValueId, Stamp)>>,
    /// The values of the reads that were tried, those of one [`OpenAttempt`] in a row.
    realised: Vec<ValueId>,
    /// The values that pending reads must not read: part of their causal maps.
    forbidden: Vec<(HistoryId, ValueId)>,
    /// How many reads are on the stack.
    depth: usize,
    /// One more than the largest number of reads on the stack at which a value was rejected.
    rejected: usize,
}

/// State to restore after the reads of a thread were tried.
#[derive(Clone, Copy, Default)]
pub(super) struct OpenAttempt {
    realised: usize,
    rejected: usize,
}

/// A read that was tried: of which thread, with which history, of which location.
#[derive(Clone, Copy)]
pub(super) struct TriedRead {
    pub(super) thread: ThreadId,
    pub(super) history: HistoryId,
    pub(super) location: LocationId,
}

impl OpenClasses {
    /// Begins to try the read of a thread.
    pub(super) fn begin(&mut self) -> OpenAttempt {
        let rejected = std::mem::take(&mut self.rejected);
        OpenAttempt { realised: self.realised.len(), rejected }
    }

    /// Ends an attempt. Returns `true` if no other thread has written a value since `start` that the read has not read.
    /// The values that it has read are forbidden from now on, unless some value was rejected below.
    pub(super) fn end(&mut self, read: TriedRead, start: u64, attempt: &OpenAttempt) -> bool {
        let TriedRead { thread, history, location } = read;
        let is_clean = self.rejected <= self.depth + 1;
        let OpenClasses { written, realised, forbidden, .. } = self;
        let had = &realised[attempt.realised..];
        let known = written.get(location.index()).map_or(&[][..], Vec::as_slice);
        let is_new = |(value, stamp): &(ValueId, Stamp)| {
            stamp.by_other_than(thread) > start && !had.contains(value)
        };
        let nothing_new = is_clean && !known.iter().any(is_new);
        if is_clean {
            forbidden.extend(had.iter().map(|&value| (history, value)));
        }
        self.realised.truncate(attempt.realised);
        self.rejected = self.rejected.max(attempt.rejected);
        nothing_new
    }

    /// The number of forbidden values, for [`OpenClasses::restore_forbidden`].
    pub(super) fn forbidden(&self) -> usize {
        self.forbidden.len()
    }

    /// Permits again what was forbidden since there were `len` forbidden values.
    pub(super) fn restore_forbidden(&mut self, len: usize) {
        self.forbidden.truncate(len);
    }

    /// Returns `true` if the question at the end of the history must not read the value.
    pub(super) fn is_forbidden(&self, history: HistoryId, value: ValueId) -> bool {
        self.forbidden.contains(&(history, value))
    }

    /// Records that the model has rejected a read.
    pub(super) fn note_rejection(&mut self) {
        self.rejected = self.rejected.max(self.depth + 1);
    }

    /// Records that a read is on the stack, and the value that it has read, if its thread learns only that.
    pub(super) fn note_read(&mut self, value: Option<ValueId>) {
        self.realised.extend(value);
        self.depth += 1;
    }

    /// Records that the last read is no longer on the stack.
    pub(super) fn note_return(&mut self) {
        self.depth -= 1;
    }

    /// Records that the thread writes the value at this time.
    pub(super) fn note_write(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        value: ValueId,
        now: u64,
    ) {
        if self.written.len() <= location.index() {
            self.written.resize(location.index() + 1, vec![]);
        }
        let values = &mut self.written[location.index()];
        let at = values.iter().position(|&(known, _)| known == value);
        let at = at.unwrap_or_else(|| {
            values.push((value, Stamp::default()));
            values.len() - 1
        });
        values[at].1.set(thread, now);
    }
}
