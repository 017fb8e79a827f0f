//! Which source each read observes in the run of a witness.

use rustc_hash::FxHashMap;

use crate::witness::{MachineRun, MachineStep};
use raddle_core::execution::{EventId, Execution, LocationId, ThreadId};

/// The newest store of a thread to a location among those in its buffer, and how many wait there.
type BufferedStores = FxHashMap<(ThreadId, LocationId), (EventId, usize)>;

/// For every event of the execution, the write or release that it observes in the run of the witness. The steps are
/// trusted; [`recheck`](crate::recheck) verifies them.
#[must_use]
pub fn observed_sources(execution: &Execution, run: &MachineRun) -> Vec<Option<EventId>> {
    let mut observed = vec![None; execution.event_count()];
    let mut memory: Vec<EventId> = execution.locations().map(|l| execution.init_of(l)).collect();
    let mut waiting = BufferedStores::default();
    let flushed = flushed(execution, run);
    for &step in &run.steps {
        let (MachineStep::Run(event) | MachineStep::Flush(event)) = step;
        let action = execution.action(event);
        let (Some(thread), Some(location)) = (execution.thread_of(event), action.location()) else {
            continue;
        };
        let key = (thread, location);
        if let MachineStep::Flush(_) = step {
            memory[location.index()] = event;
            leave(&mut waiting, key);
            continue;
        }
        if action.has_source() {
            let own = waiting.get(&key).map(|&(newest, _)| newest);
            observed[event.index()] = Some(own.unwrap_or(memory[location.index()]));
        }
        if flushed[event.index()] {
            let entry = waiting.entry(key).or_insert((event, 0));
            *entry = (event, entry.1 + 1);
        } else if action.is_source() {
            memory[location.index()] = event;
        }
    }
    observed
}

/// Which stores wait in a buffer before they reach memory.
fn flushed(execution: &Execution, run: &MachineRun) -> Vec<bool> {
    let mut flushed = vec![false; execution.event_count()];
    for step in &run.steps {
        if let MachineStep::Flush(event) = *step {
            flushed[event.index()] = execution.is_buffered(event);
        }
    }
    flushed
}

fn leave(waiting: &mut BufferedStores, key: (ThreadId, LocationId)) {
    if let Some((_, count)) = waiting.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            waiting.remove(&key);
        }
    }
}
