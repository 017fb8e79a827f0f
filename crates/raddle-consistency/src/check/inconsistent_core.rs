//! A small inconsistent part of an inconsistent execution.
//!
//! A part is a prefix of each thread, closed under sources, spawn and join. If a model allows an
//! execution then it allows every such part (run the witness and leave the rest out). So being forbidden is monotone, and
//! one binary search for each thread finds a minimal forbidden part: O(k log n) checks. Once a thread is as short as
//! possible, cutting others cannot make it shorter.
//!
//! A minimal part need not be the smallest one. If there are few parts, all smaller ones are tried.

use crate::witness::{CoreSize, Violation};
use raddle_core::execution::Execution;

/// Try all smaller parts if there are at most this many prefixes to consider.
const MOST_PARTS: usize = 5_000;

/// Finds a small forbidden part of a forbidden execution. `forbids` returns whether a part is
/// forbidden, or `None` if that is unknown.
pub(super) fn shrink(
    execution: &Execution,
    mut forbids: impl FnMut(&Execution) -> Option<bool>,
) -> Violation {
    let mut undecided = false;
    let mut forbids = |part: &[usize]| {
        let answer = forbids(&execution.prefix(part));
        undecided |= answer.is_none();
        answer == Some(true)
    };
    let lens = minimal_part(execution, &mut forbids);
    let smaller = smaller_parts(execution, lens.iter().sum());
    let all_tried = smaller.is_some();
    let lens = smaller.into_iter().flatten().find(|part| forbids(part)).unwrap_or(lens);
    let size = match (undecided, all_tried) {
        (true, _) => CoreSize::Unknown,
        (false, true) => CoreSize::Smallest,
        (false, false) => CoreSize::Minimal,
    };
    Violation::Core { lens, size }
}

/// A forbidden part none of whose own parts is forbidden.
fn minimal_part(execution: &Execution, forbids: &mut impl FnMut(&[usize]) -> bool) -> Vec<usize> {
    let mut lens = whole(execution);
    for thread in 0..lens.len() {
        let cut = |len: usize| {
            let mut lens = lens.clone();
            lens[thread] = len;
            execution.closed_prefix(lens)
        };
        // Below `low` all are allowed; `high` is forbidden.
        let (mut low, mut high) = (0, lens[thread]);
        while low < high {
            let middle = low.midpoint(high);
            if forbids(&cut(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        lens = cut(high);
    }
    lens
}

/// The execution as a part of itself.
pub(super) fn whole(execution: &Execution) -> Vec<usize> {
    execution.threads().map(|thread| execution.thread_len(thread)).collect()
}

/// All closed parts with fewer than `size` events, smallest first, unless there are too many.
fn smaller_parts(execution: &Execution, size: usize) -> Option<Vec<Vec<usize>>> {
    let mut parts: Vec<Vec<usize>> = vec![vec![]];
    for thread in execution.threads() {
        let lens = 0..=execution.thread_len(thread);
        parts = parts
            .iter()
            .flat_map(|part| {
                let room = size - 1 - part.iter().sum::<usize>();
                lens.clone().take(room + 1).map(|len| [&part[..], &[len]].concat())
            })
            .take(MOST_PARTS + 1)
            .collect();
        if parts.len() > MOST_PARTS {
            return None;
        }
    }
    parts.retain(|part| execution.is_closed(part));
    parts.sort_by_key(|part| part.iter().sum::<usize>());
    Some(parts)
}
