//! The meaning of values of semaphores, barriers and condition variables, for reports.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Naming, OpKind};
use raddle_core::trace::{ObjectState, Trace};

use crate::libc;
use crate::program::NativeProgram;
use crate::program::kinds::ObjectKind;

/// The states of all such objects in a trace.
pub(super) fn of(
    program: &NativeProgram,
    trace: &Trace,
) -> BTreeMap<(LocationId, Value), ObjectState> {
    let mut states = BTreeMap::new();
    for event in &trace.events {
        let OpKind::Sync { location, .. } = event.op.kind else { continue };
        for value in event.read.into_iter().chain(event.written) {
            let kind = program.object_kind(location);
            let state = kind.and_then(|kind| state(program, kind, value));
            states.extend(state.map(|state| ((location, value), state)));
        }
    }
    states
}

fn state(program: &NativeProgram, kind: ObjectKind, value: Value) -> Option<ObjectState> {
    match kind {
        ObjectKind::Semaphore => {
            let units = libc::semaphore_units(value)?;
            let clause = format!("the semaphore is {units}");
            Some(ObjectState { short: units.to_string(), clause })
        }
        ObjectKind::Barrier => {
            let (arrived, size) = libc::barrier_arrivals(value)?;
            let short = format!("{arrived} of {size}");
            let have = if arrived == 1 { "has" } else { "have" };
            Some(ObjectState { clause: format!("{short} threads {have} arrived"), short })
        }
        ObjectKind::Token { from, .. } => {
            let from = program.thread_name(ThreadId::new(from as usize));
            let (short, verb) =
                if libc::has_token(value)? { ("sent", "has") } else { ("not sent", "has not") };
            Some(ObjectState { clause: format!("{from} {verb} arrived"), short: short.into() })
        }
        ObjectKind::Condition => {
            let (waiting, is_waking) = libc::waiting_threads(value)?;
            let names: Vec<String> = waiting.iter().map(|&it| program.thread_name(it)).collect();
            let short = match names.as_slice() {
                _ if is_waking => String::from("signalled"),
                [] => String::from("nobody waits"),
                [one] => format!("{one} waits"),
                all => format!("{} wait", all.join(", ")),
            };
            Some(ObjectState { short, clause: String::from("nobody has signalled it") })
        }
        _ => None,
    }
}
