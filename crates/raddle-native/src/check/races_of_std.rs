//! Races on variables of Rust's standard library.
//!
//! The library has none. But it is compiled without hooks, so a variable that it only loads and stores, and never updates, seems
//! not to be atomic. A race shows that it is: then the exploration starts again.

use raddle_core::trace::{Counterexample, Ending};

use crate::program::NativeProgram;

/// Learns from races on variables of the library that the variables are atomic.
pub(super) fn learn(program: &mut NativeProgram, found: &[Counterexample]) {
    for counterexample in found {
        learn_from(program, counterexample);
    }
}

fn learn_from(program: &mut NativeProgram, found: &Counterexample) {
    let Counterexample { ending: Ending::Race(first, second), trace, .. } = found else { return };
    for event in [*first, *second] {
        let location = trace.events.get(event).and_then(|event| event.op.kind.location());
        if let Some(location) = location
            && program.is_variable_of_std(location)
            && program.layout.learn_atomic(location)
        {
            program.want_restart();
        }
    }
}
