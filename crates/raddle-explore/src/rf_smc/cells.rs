//! Memory that no op carries, under the models with store buffers.
//!
//! Happens-before is there what the execution rests on: program order, starts and joins of threads, and reads-from of
//! all atomic accesses. If nothing races, the writes of a cell are ordered by it, and a read observes the last one.
//! Under the C11 models happens-before depends on memory orders and fences, which only their checkers know: programs
//! with cells are not supported there.

use crate::Unsupported;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{Op, OpKind};
use raddle_core::trace::Observed;

use super::Explorer;
use super::answers::QuestionOutcome;
use super::extend::next;
use super::graph::{Age, Graph};
use super::past::Pasts;

impl Explorer<'_> {
    pub(super) fn check_cells_are_supported(&self) -> Result<(), Unsupported> {
        if self.model.has_store_buffers() { Ok(()) } else { Err(Unsupported::Cells) }
    }

    /// The thread reads the last write of the cell that happens before.
    pub(super) fn read_cell(
        &mut self,
        graph: &mut Graph,
        thread: ThreadId,
        op: Op,
        location: LocationId,
    ) -> Result<bool, Unsupported> {
        self.check_cells_are_supported()?;
        let pasts = Pasts::new(graph);
        let past = pasts.of(graph.before_next(thread));
        let is_write =
            |&at: &usize| graph.events[at].event.op.kind == OpKind::WriteCell { location };
        let last = past.iter().filter(is_write).last();
        let source = last.map_or(Observed::Initial, Observed::Event);
        let event = next(graph, thread, op, source, QuestionOutcome { read: None, written: None });
        self.append(graph, vec![event], Age::Added)
    }
}
