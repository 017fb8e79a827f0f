//! Executes a program until nothing new is learned.
//!
//! Which memory is shared, and which values it ever holds, is not known in the first execution: it assumes that nothing
//! is shared, and that a shared cell holds what it starts with. What it finds is assumed in the next one. Both only
//! grow, so this ends: what numbers a cell holds is given up if it does not settle soon, pointers are few anyway.
//! In the last execution nothing was assumed that did not hold, so what it says is right.

use crate::exec::{self, Learned};
use crate::options::Options;
use crate::parse::Source;
use crate::program::Program;
use crate::refuse::Refusal;
use crate::space::{CellKey, Space};
use crate::term::ValueSet;

/// How often the values of a cell may grow until only their bits are remembered, and until nothing is.
const GROWTH: (u32, u32) = (6, 9);

/// The same for pointers.
const POINTERS: u32 = 60;

/// Executes a program until nothing new is learned.
///
/// # Errors
/// What cannot be modelled.
pub(crate) fn settle(source: &Source, options: &Options) -> Result<Program, Refusal> {
    let mut space = Space::default();
    loop {
        let (learned, program) = exec::execute(source, options, &mut space);
        if !learn(&mut space, learned) {
            return program;
        }
    }
}

/// Whether there was something new.
fn learn(space: &mut Space, learned: Learned) -> bool {
    let mut is_new = false;
    for cell in learned.shared {
        is_new |= space.shared.insert(cell);
    }
    for object in learned.freed {
        is_new |= space.freed.insert(object);
    }
    for (cell, threads) in learned.writers {
        let known = space.writers.entry(cell).or_default();
        is_new |= *known | threads != *known;
        *known |= threads;
    }
    for (cell, values) in learned.stored {
        is_new |= grow(space, cell, &values);
    }
    is_new
}

fn grow(space: &mut Space, cell: CellKey, values: &ValueSet) -> bool {
    let before = space.stored.get(&cell).cloned().unwrap_or_else(ValueSet::none);
    if before.contains(values) {
        return false;
    }
    let all = before.union(values);
    let times = space.growth.entry(cell).or_default();
    *times += 1;
    let times = *times;
    let pointers =
        |values: &[u64]| values.iter().all(|&value| value == 0 || space.is_address(value));
    let are_pointers = all.few().is_some_and(pointers);
    let (first, last) = if are_pointers { (POINTERS, POINTERS) } else { GROWTH };
    let width = space.objects[cell.0].scalars.get(&cell.1).map_or(64, |&size| size as u8 * 8);
    let all = if times > first { all.widened(width, times > last) } else { all };
    space.stored.insert(cell, all);
    true
}
