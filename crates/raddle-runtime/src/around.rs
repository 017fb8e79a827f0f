//! Memory that a thread writes without ops.
//!
//! Whoever joins a thread may see what the thread wrote. If that is all in ops, the joiner learns of it by
//! its own ops, and of the thread itself nothing but its result ([`Program::result`]). Otherwise the joiner
//! must know which history the thread had ([`Answer::From`]), and then it has as many histories as the threads
//! that it joins have together. So it is worth knowing.
//!
//! It is found out by looking. Each history of a thread is executed when it is new, and every byte that the
//! thread could reach is there then: before and after, all blocks and all other stacks are compared. Two
//! kinds of bytes do not count. *Private* ones, which nobody else can know: blocks that the thread has
//! allocated since it last gave a pointer away. And *tracked* ones, which change together with ops, or which
//! nobody sees: what a mutex protects, what a cell holds, tags, the owners of an `Arc`, what a thread is made
//! of. If any other byte changes, the exploration starts again with joins that carry the history.
//!
//! What is not seen: static memory, and memory that the test's closure captures. A test must not read
//! there what its threads write.
//!
//! Cost: as long as the memory of the test, a few kilobytes, for each new history; above [`LIMIT`] it is not
//! tried. Rejected: to ask for types (`'static`, zero-sized results): a plain `std::sync::Mutex` in an `Arc`, which
//! is how many a test collects what its threads saw, then leads to wrong results without a word.
//!
//! [`Program::result`]: raddle_core::program::Program::result
//! [`Answer::From`]: raddle_core::program::Answer::From

use raddle_core::execution::ThreadId;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, Failure, HistoryId, HistoryStep, LocalHistories, Op, OpKind, PlaceId,
};

use crate::native::Native;
use crate::spin;
use crate::state::Reply;

/// More bytes than these are not compared.
const LIMIT: usize = 1 << 18;

/// The memory around a thread, as it was.
#[derive(Default)]
pub(crate) struct Around {
    /// Addresses and lengths.
    ranges: Vec<(usize, usize)>,
    /// What was there, one after the other.
    bytes: Vec<u8>,
}

impl Around {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.bytes.clear();
    }

    /// Adds a range of memory, and what is there now.
    pub(crate) fn add(&mut self, from: usize, length: usize) {
        self.ranges.push((from, length));
        if self.bytes.len() + length <= LIMIT {
            self.bytes.extend_from_slice(bytes_at(from, length));
        }
    }

    /// Whether something has changed, other than what is tracked; or whether that is too much to say.
    pub(crate) fn has_changed(&self, tracked: &[(usize, usize)]) -> bool {
        let mut rest = self.bytes.as_slice();
        for &(from, length) in &self.ranges {
            let Some((before, others)) = rest.split_at_checked(length) else { return true };
            rest = others;
            if !is_same(from, before, bytes_at(from, length), tracked) {
                return true;
            }
        }
        false
    }
}

fn bytes_at<'a>(from: usize, length: usize) -> &'a [u8] {
    // SAFETY: nothing is freed before the run ends, and stacks stay mapped; the program stands still. Bytes
    // that are not initialised are only copied and compared.
    unsafe { std::slice::from_raw_parts(from as *const u8, length) }
}

fn is_same(from: usize, before: &[u8], now: &[u8], tracked: &[(usize, usize)]) -> bool {
    if before == now {
        return true;
    }
    let is_tracked =
        |at: usize| tracked.iter().any(|&(from, length)| at.wrapping_sub(from) < length);
    let changed = (0..now.len()).filter(|&at| before[at] != now[at]);
    changed.into_iter().all(|at| is_tracked(from + at))
}

/// Whether an effect lets others know of memory.
pub(crate) fn publishes(effect: &Op) -> bool {
    match effect.kind {
        OpKind::Store { carries, .. } => carries,
        OpKind::Unlock { .. } | OpKind::Spawn { .. } | OpKind::WriteCell { .. } => true,
        _ => false,
    }
}

/// Whether a question, with its reply, lets others know of memory.
pub(crate) fn asking_publishes(question: &Op, answer: Answer, reply: Reply) -> bool {
    match question.kind {
        OpKind::Sync { .. } => true,
        _ => question.carries() && !spin::only_reads(question, answer, reply),
    }
}

impl<F: Fn()> Native<F> {
    /// Notes which blocks of the thread nobody else can know.
    pub(crate) fn follow_publications(
        &self,
        histories: &LocalHistories,
        step: HistoryStep,
        reply: Reply,
        at: usize,
    ) {
        let state = &mut *self.context.state.borrow_mut();
        let asked = match step {
            HistoryStep::Start(..) => false,
            HistoryStep::After(parent, answer) => match histories.end(parent) {
                End::Question(question) => asking_publishes(question, answer, reply),
                _ => false,
            },
        };
        if asked || state.segment.iter().any(publishes) {
            state.thread(self.threads[at].thread).private = self.context.heap.len();
        }
    }

    /// Looks at the memory that the thread of the step may not change without an op.
    fn look_around(&mut self, thread: ThreadId) {
        self.around.clear();
        let around = &mut self.around;
        let private = self.context.state.borrow_mut().thread(thread).private;
        let add = |from, length| around.add(from, length);
        self.context.heap.for_each_but(thread.index() as u32, private, add);
        for other in &self.threads {
            if other.thread != thread && other.stack != 0 {
                around.add(other.stack, other.fiber.stack.1 - other.stack);
            }
        }
    }

    /// Executes a step of which nobody knows what it does. If the thread writes memory without an op the
    /// exploration has to start again with joins that carry histories.
    pub(crate) fn execute_new(
        &mut self,
        histories: &LocalHistories,
        step: HistoryStep,
        node: HistoryId,
    ) -> Result<End, Failure> {
        let thread = match step {
            HistoryStep::Start(thread, _) => thread,
            HistoryStep::After(parent, _) => histories.thread(parent),
        };
        // Nobody joins the main thread.
        let watched = !self.settings().joins_carry && thread != ThreadId::new(0);
        if watched {
            self.look_around(thread);
        }
        let end = self.execute(histories, step, self.replies[node.0 as usize], node)?;
        let state = &mut *self.context.state.borrow_mut();
        state.is_shared |= watched && self.around.has_changed(&state.tracked);
        Ok(end)
    }

    /// What went wrong. If joins do not carry histories that may be why: then this is for nobody to see,
    /// as the exploration starts again.
    pub(crate) fn blame(&self, failure: Failure) -> Failure {
        let state = &mut *self.context.state.borrow_mut();
        state.wanted.joins_carry |= failure.kind == FindingKind::Nondeterminism;
        failure
    }

    pub(crate) fn refuse_shared_memory(&self) -> Result<(), Failure> {
        let state = &mut *self.context.state.borrow_mut();
        if !state.is_shared || state.settings.joins_carry {
            return Ok(());
        }
        state.wanted.joins_carry = true;
        let message = String::from("joins must carry histories");
        Err(Failure { kind: FindingKind::Misuse, message, place: PlaceId::default() })
    }
}
