//! Data races under models in which accesses of any kind have a defined meaning.
//!
//! *Definition.* Two accesses of a location race if one of them writes, one of them is plain, and neither happens before the other.
//! What happens before is program order with spawns and joins, and with what atomic reads, locks and other synchronization
//! objects observe. Under SC, TSO and PSO atomic accesses of any memory order synchronize.
//!
//! *Completeness.* The relation is the same in all executions of a class. Locations that are quiet for the explorer have no
//! events: their accesses are ordered by program order and by all that is observed, also by plain reads. If nothing races,
//! what plain reads observe is ordered anyway, so accesses of quiet locations do not race either.
//!
//! *Cost.* A vector clock for each event of an execution, and for each location the accesses of each thread that no later one
//! replaces.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::OpKind;
use raddle_core::trace::{Observed, Trace, TraceEvent};

/// By thread, how many of its events happen before an event, or are that event.
type Clock = BTreeMap<ThreadId, usize>;

/// How an event accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Access {
    location: LocationId,
    writes: bool,
    is_plain: bool,
}

/// The first race in the order of a trace, as indices of events.
pub(super) fn race(trace: &Trace) -> Option<(usize, usize)> {
    let mut clocks: Vec<Clock> = vec![];
    let mut threads: BTreeMap<ThreadId, Clock> = BTreeMap::new();
    let mut last: BTreeMap<(Access, ThreadId), usize> = BTreeMap::new();
    for (at, event) in trace.events.iter().enumerate() {
        let mut clock = threads.remove(&event.thread).unwrap_or_default();
        if let Some(Observed::Event(source)) = event.observed
            && synchronizes(event, &trace.events[source])
        {
            join(&mut clock, &clocks[source]);
        }
        if let Some(access) = access(event) {
            let races = |(&(other, thread), &index): (&(Access, ThreadId), &usize)| {
                let is_before = clock.get(&thread) > Some(&trace.events[index].position);
                let conflicts = other.location == access.location
                    && (other.writes || access.writes)
                    && (other.is_plain || access.is_plain);
                (conflicts && thread != event.thread && !is_before).then_some(index)
            };
            if let Some(first) = last.iter().filter_map(races).min() {
                return Some((first, at));
            }
            last.insert((access, event.thread), at);
        }
        clock.insert(event.thread, event.position + 1);
        if let OpKind::Spawn { thread } = event.op.kind {
            threads.insert(thread, clock.clone());
        }
        threads.insert(event.thread, clock.clone());
        clocks.push(clock);
    }
    None
}

/// Returns `true` if what an event observes happens before it: not if it is a plain access, or observes one.
fn synchronizes(event: &TraceEvent, source: &TraceEvent) -> bool {
    match (access(event), access(source)) {
        (Some(access), Some(source)) => !access.is_plain && !source.is_plain,
        // Threads are joined, and locks observe locks.
        _ => true,
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (&thread, &count) in other {
        let own = clock.entry(thread).or_default();
        *own = count.max(*own);
    }
}

/// How an event accesses memory; `None` if it does not.
fn access(event: &TraceEvent) -> Option<Access> {
    let is_plain = |order| order == MemoryOrder::NonAtomic;
    let (writes, is_plain) = match event.op.kind {
        OpKind::Load { order, .. } => (false, is_plain(order)),
        OpKind::Store { order, .. } => (true, is_plain(order)),
        OpKind::Rmw { .. } => (true, false),
        OpKind::CompareExchange { .. } => (event.written.is_some(), false),
        _ => return None,
    };
    Some(Access { location: event.op.kind.location()?, writes, is_plain })
}
