//! Recognising classes that a visitor has seen, after a restart with other quiet locations.
//!
//! *Problem.* A visitor sees each class once. If accesses of a location turn out to conflict after some leaves were
//! shown, the exploration starts over, and leaves come in another order.
//!
//! *Idea.* Conflicts are mostly found before the first leaf is shown. If not, the leaves that were shown are visited once
//! more, in the old order, and their classes are remembered. The next attempt then leaves out what it recognises, and
//! stops looking when it has met all.
//!
//! *Cost.* Nothing unless a conflict is found late; then 16 bytes for each class that was shown, and the trace of every
//! leaf until all of them were met. Classes are compared by hashes of 128 bits.
//!
//! *Rejected.* Telling visitors to start over: every client would have to undo what it has counted.

use std::hash::{DefaultHasher, Hash, Hasher};

use raddle_core::trace::Class;
use rustc_hash::FxHashSet;

/// Classes that the visitor has seen in another order.
#[derive(Default)]
pub(super) struct Recognition {
    seen: FxHashSet<u128>,
    /// How many leaves are still to be remembered, while they are visited once more.
    left: Option<u64>,
}

impl Recognition {
    /// Returns `true` if leaves must be [shown](Recognition::recognises) to this.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        !self.seen.is_empty() || self.left.is_some()
    }

    /// Begins to remember so many leaves.
    pub(super) fn remember(&mut self, leaves: u64) {
        self.left = Some(leaves);
    }

    /// Returns `true` if all leaves that are to be remembered were visited.
    pub(super) fn is_complete(&self) -> bool {
        self.left == Some(0)
    }

    /// Begins to recognise what was remembered.
    pub(super) fn end_remembering(&mut self) {
        self.left = None;
    }

    /// Remembers the class, or returns whether it was remembered. Each class is recognised once.
    pub(super) fn recognises(&mut self, class: &Class) -> bool {
        let hash = hash(class);
        match &mut self.left {
            Some(left) => {
                *left -= 1;
                self.seen.insert(hash);
                true
            }
            None => self.seen.remove(&hash),
        }
    }
}

fn hash(class: &Class) -> u128 {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, class).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

#[cfg(test)]
mod tests {
    use raddle_core::execution::ThreadId;
    use raddle_core::trace::{Source, ThreadEnd};

    use super::*;

    #[test]
    fn remembered_classes_are_recognised_once() {
        let class = |choice| {
            Class::from([(ThreadId::new(0), (vec![Source::Choice(choice)], ThreadEnd::Finished))])
        };
        let mut recognition = Recognition::default();
        recognition.remember(2);
        assert!(recognition.recognises(&class(0)) && !recognition.is_complete());
        assert!(recognition.recognises(&class(1)) && recognition.is_complete());
        recognition.end_remembering();
        assert!(!recognition.recognises(&class(2)));
        assert!(recognition.recognises(&class(1)) && !recognition.recognises(&class(1)));
        assert!(recognition.recognises(&class(0)) && !recognition.is_active());
    }
}
