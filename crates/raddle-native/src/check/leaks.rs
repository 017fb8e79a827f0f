//! Looks for leaks in the complete executions of an exploration.

use raddle_core::trace::Trace;
use rustc_hash::FxHashSet;

use crate::program::{LastStores, Leak, NativeProgram, last_stores};

/// The complete executions of an exploration, one for each set of last stores: others cannot differ in their leaks.
#[derive(Debug, Default)]
pub(super) struct CompleteExecutions {
    seen: FxHashSet<LastStores>,
    traces: Vec<(LastStores, Trace)>,
}

impl CompleteExecutions {
    /// Notes a complete execution.
    pub(super) fn note(&mut self, trace: Trace) {
        let last = last_stores(&trace);
        if self.seen.insert(last.clone()) {
            self.traces.push((last, trace));
        }
    }

    /// The first leak, and the execution that shows it.
    pub(super) fn leak(self, program: &NativeProgram) -> Option<(Trace, Leak)> {
        self.traces.into_iter().find_map(|(last, trace)| Some((trace, program.leak(&last)?)))
    }
}
