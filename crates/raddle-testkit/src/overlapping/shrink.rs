//! Smaller programs with the same fault.

use super::ops::{ByteOp, Overlapping};

/// The smallest program with a fault that is found by taking out one op after the other.
pub fn shrink(
    program: &Overlapping,
    is_faulty: &mut dyn FnMut(&Overlapping) -> bool,
) -> Overlapping {
    let mut smallest = program.clone();
    while let Some(smaller) = smaller(&smallest).into_iter().find(|it| is_faulty(it)) {
        smallest = smaller;
    }
    smallest
}

/// All programs with one op less, or without one of the empty threads.
fn smaller(program: &Overlapping) -> Vec<Overlapping> {
    let without = |list: &[ByteOp], at: usize| [&list[..at], &list[at + 1..]].concat();
    let mut all = vec![];
    for at in 0..program.before.len() {
        all.push(Overlapping { before: without(&program.before, at), ..program.clone() });
    }
    for at in 0..program.after.len() {
        all.push(Overlapping { after: without(&program.after, at), ..program.clone() });
    }
    for thread in 0..program.threads.len() {
        if program.threads[thread].is_empty() {
            let mut next = program.clone();
            next.threads.remove(thread);
            all.push(next);
        }
        for at in 0..program.threads[thread].len() {
            let mut next = program.clone();
            next.threads[thread] = without(&program.threads[thread], at);
            all.push(next);
        }
    }
    all
}
