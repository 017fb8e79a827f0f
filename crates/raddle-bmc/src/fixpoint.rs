//! Repeats symbolic execution until its assumptions about memory hold.
//!
//! Which memory is shared, and which values it holds, is not known before the first execution. The first execution
//! assumes that nothing is shared and that shared cells keep their initial values. Each execution records the facts
//! that it observes, and the next one assumes them. Facts only grow, so a fixpoint exists; the values of a cell are
//! widened if they keep growing. The result of the last execution is sound, since it observed nothing beyond its
//! assumptions.

use rustc_hash::FxHashMap;

use crate::address_space::{AddressSpace, CellKey};
use crate::error::BmcError;
use crate::exec;
use crate::facts::MemoryFacts;
use crate::options::BmcOptions;
use crate::parse::ParsedSource;
use crate::program::UnrolledProgram;
use crate::term::ValueSet;

/// After this many growth steps the values of a cell are widened to their bits.
const STEPS_TO_BITS: u32 = 6;

/// After this many growth steps the values of a cell are widened to all values.
const STEPS_TO_ANY: u32 = 9;

/// After this many growth steps the values of a cell that holds only pointers are widened to all values.
const POINTER_STEPS: u32 = 60;

/// Executes a program symbolically until no execution observes new facts about memory.
///
/// # Errors
/// If the program uses an unsupported construct.
pub(crate) fn execute_to_fixpoint(
    source: &ParsedSource,
    options: &BmcOptions,
) -> Result<UnrolledProgram, BmcError> {
    let mut fixpoint = Fixpoint::default();
    loop {
        let (observed, program) =
            exec::execute(source, options, &mut fixpoint.space, &fixpoint.facts);
        // An unsupported construct may be due to missing facts, too.
        if !fixpoint.add_facts(observed) {
            return program;
        }
    }
}

/// The facts that the next execution assumes.
#[derive(Default)]
struct Fixpoint {
    space: AddressSpace,
    facts: MemoryFacts,
    /// How often the values of a cell have grown.
    growth_steps: FxHashMap<CellKey, u32>,
}

impl Fixpoint {
    /// Adds facts. Returns `true` if any of them is new.
    fn add_facts(&mut self, observed: MemoryFacts) -> bool {
        let mut is_new = false;
        for cell in observed.shared {
            is_new |= self.facts.shared.insert(cell);
        }
        for object in observed.freed {
            is_new |= self.facts.freed.insert(object);
        }
        for (cell, threads) in observed.writers {
            let known = self.facts.writers.entry(cell).or_default();
            is_new |= *known | threads != *known;
            *known |= threads;
        }
        for (cell, values) in observed.stored {
            is_new |= self.add_values(cell, &values);
        }
        is_new
    }

    /// Adds values of a cell, with widening. Returns `true` if any of them is new.
    fn add_values(&mut self, cell: CellKey, values: &ValueSet) -> bool {
        let known = self.facts.stored.get(&cell).cloned().unwrap_or_else(ValueSet::none);
        if known.contains(values) {
            return false;
        }
        let all = known.union(values);
        let steps = self.growth_steps.entry(cell).or_default();
        *steps += 1;
        let steps = *steps;
        let is_pointer = |&value: &u64| value == 0 || self.space.is_address(value);
        let (to_bits, to_any) = match all.few().is_some_and(|few| few.iter().all(is_pointer)) {
            true => (POINTER_STEPS, POINTER_STEPS),
            false => (STEPS_TO_BITS, STEPS_TO_ANY),
        };
        let (object, offset) = cell;
        let size = self.space.objects[object].scalars.get(&offset);
        let width = size.map_or(64, |&size| size as u8 * 8);
        let all = if steps > to_bits { all.widened(width, steps > to_any) } else { all };
        self.facts.stored.insert(cell, all);
        true
    }
}
