//! What a thread was at its last questions.
//!
//! Two things are looked for there: whether the thread goes round a loop that only waits (`spin`), and where it can go back
//! to (`rewind`). Both must not depend on how the thread came to where it is, by running or by going back: questions are
//! numbered, and each has all that the loops of later ones are compared with.

use std::collections::VecDeque;

use raddle_core::program::{HistoryId, Op};

use crate::rewind::Kept;
use crate::switch::Caller;

/// At most so many questions are kept of a thread: the last ones.
const POINTS: usize = 64;
/// With so many of them a question is compared.
const COMPARED: usize = 32;

/// A thread at a question.
#[derive(Default)]
pub(crate) struct Point {
    /// The history that ends there.
    pub(crate) node: Option<HistoryId>,
    pub(crate) question: Option<Op>,
    /// Where it is in its code: several such places have one in the user's sources.
    pub(crate) caller: Caller,
    /// Whether this is a place to which a loop may come back.
    pub(crate) is_compared: bool,
    /// The number of the first question since which the thread has only read.
    since: usize,
    /// Its stack, from this address on.
    pub(crate) from: usize,
    pub(crate) stack: Vec<u8>,
    /// Everything else, if it can go back to here.
    pub(crate) kept: Box<Kept>,
}

impl Point {
    fn is_same(&self, other: &Point) -> bool {
        self.is_compared
            && self.question == other.question
            && self.caller == other.caller
            && self.used() == other.used()
    }

    /// The part of the stack that its function, and those that called it, use.
    fn used(&self) -> &[u8] {
        &self.stack[self.caller.stack - self.from..]
    }
}

/// The last questions of a thread.
#[derive(Default)]
pub(crate) struct Past {
    points: VecDeque<Point>,
    /// The number of the first of them.
    first: usize,
    /// As in [`Point`], for the next question.
    since: usize,
    /// Points that can be used again.
    spare: Vec<Point>,
}

impl Past {
    /// The thread starts again.
    pub(crate) fn clear(&mut self) {
        self.spare.extend(self.points.drain(..));
        (self.first, self.since) = (0, 0);
    }

    /// The thread has done more than read.
    #[inline]
    pub(crate) fn changed(&mut self) {
        self.since = self.end();
    }

    fn end(&self) -> usize {
        self.first + self.points.len()
    }

    /// The number of the first question with which this one is compared.
    fn compared_from(since: usize, number: usize) -> usize {
        since.max(number.saturating_sub(COMPARED))
    }

    /// A point to be filled in.
    pub(crate) fn spare(&mut self) -> Point {
        self.spare.pop().unwrap_or_default()
    }

    /// The thread stands at a question. Returns an earlier history at whose end it was the same.
    pub(crate) fn push(&mut self, mut point: Point) -> Option<HistoryId> {
        let from = Self::compared_from(self.since, self.end()).max(self.first) - self.first;
        let is_same = |earlier: &&Point| point.is_compared && earlier.is_same(&point);
        let earlier = self.points.range(from..).find(is_same).and_then(|point| point.node);
        point.since = self.since;
        if self.points.len() == POINTS {
            self.spare.extend(self.points.pop_front());
            self.first += 1;
        }
        self.points.push_back(point);
        earlier
    }

    /// Goes back to the end of a history, if that can be done.
    pub(crate) fn back_to(&mut self, node: HistoryId) -> Option<&Point> {
        let at = self.points.iter().rposition(|point| point.node == Some(node))?;
        let (point, number) = (&self.points[at], self.first + at);
        if !point.kept.is_kept || Self::compared_from(point.since, number + 1) < self.first {
            return None;
        }
        self.since = point.since;
        self.spare.extend(self.points.drain(at + 1..));
        self.points.back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(node: u32, stack: u8, is_kept: bool) -> Point {
        let mut point =
            Point { node: Some(HistoryId(node)), is_compared: true, ..Point::default() };
        point.stack = vec![stack];
        point.kept.is_kept = is_kept;
        point
    }

    #[test]
    fn a_loop_that_only_reads_is_found_until_something_changes() {
        let mut past = Past::default();
        assert_eq!(past.push(point(0, 7, true)), None);
        assert_eq!(past.push(point(1, 8, true)), None);
        assert_eq!(past.push(point(2, 7, true)), Some(HistoryId(0)));
        past.changed();
        assert_eq!(past.push(point(3, 7, true)), None);
        assert_eq!(past.push(point(4, 7, true)), Some(HistoryId(3)));
    }

    #[test]
    fn loops_are_found_as_if_the_thread_had_not_gone_back() {
        let mut past = Past::default();
        past.push(point(0, 7, true));
        past.push(point(1, 8, true));
        past.changed();
        past.push(point(2, 7, true));
        assert!(past.back_to(HistoryId(1)).is_some());
        assert_eq!(past.push(point(3, 8, true)), Some(HistoryId(1)));
        assert!(past.back_to(HistoryId(2)).is_none(), "that is no more its past");
        past.clear();
        assert!(past.back_to(HistoryId(0)).is_none());
    }

    #[test]
    fn what_loops_are_compared_with_must_be_there() {
        let mut past = Past::default();
        let many = 2 * POINTS as u32;
        (0..many).for_each(|node| assert_eq!(past.push(point(node, node as u8, true)), None));
        let first = many - POINTS as u32;
        let compared = COMPARED as u32;
        assert!(past.back_to(HistoryId(first + compared - 2)).is_none());
        assert!(past.back_to(HistoryId(first + compared - 1)).is_some());
        assert_eq!(past.push(point(many, first as u8, true)), Some(HistoryId(first)));
    }

    #[test]
    fn only_what_is_kept_can_be_gone_back_to() {
        let mut past = Past::default();
        past.push(point(0, 7, false));
        assert!(past.back_to(HistoryId(0)).is_none());
    }
}
