//! Livelocks of whole executions.
//!
//! A thread that repeats a loop only reads, so it continues as long as memory keeps the values that it reads. The
//! execution is a livelock if the model allows it with an observer at the end: a thread that joins all others and then
//! reads, for every location that a loop reads, the write that the loop reads. A join waits for the store buffers of the
//! joined thread, and under the C11 models it synchronizes with all its events. So a write that the observer reads is
//! the last one of its location, and the observer constrains the execution in no other way.

use std::collections::BTreeMap;

use crate::Unsupported;
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::program::{Op, OpKind, PlaceId};
use raddle_core::trace::{Observed, Pending, Trace, TraceEvent};

use super::Explorer;

/// By location, the write that must be the last one, and its value.
type LastWrites = BTreeMap<LocationId, (Observed, Value)>;

impl Explorer<'_> {
    /// Returns `true` if all threads that repeat a loop can do so forever.
    pub(super) fn is_livelock(&self, trace: &Trace) -> Result<bool, Unsupported> {
        match writes_read_by_loops(trace) {
            Some(last) => self.allows(&with_observer(trace, &last)),
            None => Ok(false),
        }
    }
}

/// The writes that the loops read. `None` if the loops cannot continue together: they read different writes of one
/// location, or depend on the spurious failure of a weak compare-exchange, which does not recur forever.
fn writes_read_by_loops(trace: &Trace) -> Option<LastWrites> {
    let mut last = BTreeMap::new();
    for (at, event) in trace.events.iter().enumerate().filter(|(_, it)| is_in_loop(trace, it)) {
        let (Some(value), Some(location)) = (event.read, event.op.kind.location()) else {
            continue;
        };
        let write = event.written.map_or(event.observed, |_| Some(Observed::Event(at)))?;
        let write = (last_of_chain(trace, location, write), value);
        if event.is_spurious() || *last.entry(location).or_insert(write) != write {
            return None;
        }
    }
    Some(last)
}

fn is_in_loop(trace: &Trace, event: &TraceEvent) -> bool {
    let pending = trace.pending.get(&event.thread);
    matches!(pending, Some(&Pending::Loop(start)) if event.position >= start)
}

/// Follows the updates of a write that do not change its value, and returns the last one. Threads that repeat such
/// updates (a failed test-and-set, for example) read from each other.
fn last_of_chain(trace: &Trace, location: LocationId, write: Observed) -> Observed {
    let next = |last: Observed| {
        trace.events.iter().position(|event| {
            event.op.kind.location() == Some(location)
                && event.observed == Some(last)
                && event.written.is_some()
                && event.written == event.read
        })
    };
    let mut last = write;
    while let Some(update) = next(last) {
        last = Observed::Event(update);
    }
    last
}

/// The execution with the observer, for which the main thread serves.
fn with_observer(trace: &Trace, last: &LastWrites) -> Trace {
    let mut trace = trace.clone();
    let main = ThreadId::new(0);
    let others = trace.ends.keys().copied().filter(|&thread| thread != main);
    let joins = others.map(|thread| (OpKind::Join { thread }, Observed::Initial, None));
    let order = MemoryOrder::Relaxed;
    let loads = last
        .iter()
        .map(|(&location, &(write, value))| (OpKind::Load { location, order }, write, Some(value)));
    let added: Vec<_> = joins.chain(loads).collect();
    let first = trace.events.iter().filter(|event| event.thread == main).count();
    for (position, (kind, observed, read)) in (first..).zip(added) {
        let (thread, op, observed) = (main, Op { kind, place: PlaceId::default() }, Some(observed));
        trace.events.push(TraceEvent { thread, position, op, observed, read, written: None });
    }
    trace
}
