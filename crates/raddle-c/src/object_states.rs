//! What the values of semaphores and barriers stand for, for reports.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::OpKind;
use raddle_core::trace::{ObjectState, Trace};

use crate::layout::What;
use crate::native::Native;
use crate::ops::Kind;
use crate::shims;

/// The states of all semaphores and barriers that a trace mentions.
pub(crate) fn of(program: &Native, trace: &Trace) -> BTreeMap<(LocationId, Value), ObjectState> {
    let mut states = BTreeMap::new();
    for event in &trace.events {
        let OpKind::Sync { location, .. } = event.op.kind else { continue };
        for value in event.read.into_iter().chain(event.written) {
            let state = state(program.layout.all[location.index()].what, value);
            states.extend(state.map(|state| ((location, value), state)));
        }
    }
    states
}

fn state(what: What, value: Value) -> Option<ObjectState> {
    match what {
        What::Object(Kind::Semaphore) => {
            let units = shims::semaphore_units(value)?;
            let clause = format!("the semaphore is {units}");
            Some(ObjectState { short: units.to_string(), clause })
        }
        What::Object(Kind::Barrier) => {
            let (arrived, size) = shims::barrier_arrivals(value)?;
            let short = format!("{arrived} of {size}");
            let have = if arrived == 1 { "has" } else { "have" };
            Some(ObjectState { clause: format!("{short} threads {have} arrived"), short })
        }
        _ => None,
    }
}
