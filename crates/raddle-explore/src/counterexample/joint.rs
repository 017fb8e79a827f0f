//! Joint accesses: the parts of one stand together, and the second and later ones begin with `&`.

use std::collections::{BTreeMap, HashSet};

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{JointKind, JointStep, OpKind, StoreForwarding};
use raddle_core::trace::{Ending, Observed, Trace, TraceEvent};

/// A joint access in a trace.
struct JointAccess {
    kind: JointKind,
    /// Its accesses, in their order.
    parts: Vec<usize>,
}

/// The joint accesses of a trace.
fn accesses(trace: &Trace) -> Vec<JointAccess> {
    let (mut all, mut open): (Vec<JointAccess>, BTreeMap<ThreadId, usize>) =
        (vec![], BTreeMap::new());
    for (at, TraceEvent { thread, op, .. }) in trace.events.iter().enumerate() {
        match op.kind {
            OpKind::Joint(JointStep::Begin(kind)) => {
                open.insert(*thread, all.len());
                all.push(JointAccess { kind, parts: vec![] });
            }
            OpKind::Joint(JointStep::Part { .. }) => {}
            OpKind::Joint(JointStep::End) => drop(open.remove(thread)),
            _ => {
                if let Some(access) = open.get(thread) {
                    all[*access].parts.push(at);
                }
            }
        }
    }
    all
}

/// By event: whether it is a part of a joint access, but not the first one.
pub(super) fn continues(trace: &Trace) -> Vec<bool> {
    let mut all = vec![false; trace.events.len()];
    for access in accesses(trace) {
        access.parts.iter().skip(1).for_each(|&part| all[part] = true);
    }
    all
}

/// Returns `true` if a load that does not wait observes a store of its own thread in one part, but not in another.
pub(super) fn combines(trace: &Trace) -> bool {
    let is_own = |&part: &usize| match trace.events[part].observed {
        Some(Observed::Event(source)) => trace.events[source].thread == trace.events[part].thread,
        _ => false,
    };
    accesses(trace).iter().any(|JointAccess { kind, parts }| {
        *kind == JointKind::Load(StoreForwarding::Combine)
            && parts.iter().any(is_own)
            && !parts.iter().all(is_own)
    })
}

/// The trace with the parts of each joint access in a row, in the place of the last one: until then, nothing follows
/// them. The ending has indices into the new trace.
pub(super) fn gathered(trace: Trace, ending: Ending) -> (Trace, Ending) {
    let accesses = accesses(&trace);
    if accesses.is_empty() {
        return (trace, ending);
    }
    let mut places: Vec<usize> = (0..trace.events.len()).collect();
    for JointAccess { parts, .. } in &accesses {
        if let (Some(&first), Some(&last)) = (parts.first(), parts.last()) {
            let thread = trace.events[first].thread;
            let own = (first..=last).filter(|&at| trace.events[at].thread == thread);
            own.for_each(|at| places[at] = last);
        }
    }
    let mut order: Vec<usize> = (0..trace.events.len()).collect();
    order.sort_by_key(|&at| (places[at], at));
    let mut index = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, &old)| index[old] = new);
    let renamed = |&old: &usize| {
        let event = trace.events[old].clone();
        let observed = match event.observed {
            Some(Observed::Event(source)) => Some(Observed::Event(index[source])),
            other => other,
        };
        TraceEvent { observed, ..event }
    };
    let events = order.iter().map(renamed).collect();
    let ending = match ending {
        Ending::Race(first, second) => Ending::Race(index[first], index[second]),
        other => other,
    };
    let Trace { ends, pending, .. } = trace;
    (Trace { events, ends, pending, ..Trace::default() }, ending)
}

/// The result of a search for an interleaving.
pub(super) enum Interleaving {
    Found(Vec<usize>),
    Impossible,
    /// There were too many states.
    Unknown,
}

/// An order of the events of a trace in which every read observes the last write and joint accesses are not interrupted.
pub(super) fn interleaving(trace: &Trace, budget: u64) -> Interleaving {
    let search = Search::new(trace);
    let (mut seen, mut open) = (HashSet::new(), vec![State::default()]);
    while let Some(state) = open.pop() {
        if state.order.len() == trace.events.len() {
            return Interleaving::Found(state.order);
        }
        if !seen.insert((state.next.clone(), state.memory.clone())) {
            continue;
        }
        if seen.len() as u64 > budget {
            return Interleaving::Unknown;
        }
        open.extend(search.successors(&state));
    }
    Interleaving::Impossible
}

#[derive(Clone, Default)]
struct State {
    /// By thread: how many of its steps were taken.
    next: BTreeMap<ThreadId, usize>,
    memory: BTreeMap<LocationId, usize>,
    order: Vec<usize>,
}

struct Search<'a> {
    trace: &'a Trace,
    /// By thread: what it does at one moment each.
    steps: BTreeMap<ThreadId, Vec<Vec<usize>>>,
}

impl<'a> Search<'a> {
    fn new(trace: &'a Trace) -> Self {
        let mut steps: BTreeMap<ThreadId, Vec<Vec<usize>>> = BTreeMap::new();
        let mut is_open: BTreeMap<ThreadId, bool> = BTreeMap::new();
        for (at, event) in trace.events.iter().enumerate() {
            let own = steps.entry(event.thread).or_default();
            let is_open = is_open.entry(event.thread).or_default();
            match own.last_mut().filter(|_| *is_open) {
                Some(step) => step.push(at),
                None => own.push(vec![at]),
            }
            match event.op.kind {
                OpKind::Joint(JointStep::Begin(_)) => *is_open = true,
                OpKind::Joint(JointStep::End) => *is_open = false,
                _ => {}
            }
        }
        Search { trace, steps }
    }

    fn successors(&self, state: &State) -> Vec<State> {
        let next = |(&thread, steps): (&ThreadId, &Vec<Vec<usize>>)| {
            let step = steps.get(state.next.get(&thread).copied().unwrap_or(0))?;
            self.is_started(state, thread).then(|| self.take(state, thread, step)).flatten()
        };
        self.steps.iter().filter_map(next).collect()
    }

    fn is_started(&self, state: &State, thread: ThreadId) -> bool {
        self.trace.spawn_of(thread).is_none_or(|spawn| state.order.contains(&spawn))
    }

    fn has_ended(&self, state: &State, thread: ThreadId) -> bool {
        let steps = self.steps.get(&thread).map_or(0, Vec::len);
        state.next.get(&thread).copied().unwrap_or(0) == steps
    }

    /// The state after a step, if its reads observe what is in memory before it.
    fn take(&self, state: &State, thread: ThreadId, step: &[usize]) -> Option<State> {
        let mut after = state.clone();
        *after.next.entry(thread).or_insert(0) += 1;
        for &at in step {
            let event = &self.trace.events[at];
            after.order.push(at);
            if let OpKind::Join { thread } = event.op.kind {
                if !self.has_ended(state, thread) {
                    return None;
                }
                continue;
            }
            let Some(location) = event.op.kind.location() else { continue };
            let there =
                state.memory.get(&location).map_or(Observed::Initial, |&it| Observed::Event(it));
            if event.observed.is_some_and(|observed| observed != there) {
                return None;
            }
            let writes = matches!(event.op.kind, OpKind::Unlock { .. } | OpKind::WriteCell { .. });
            if event.written.is_some() || writes {
                after.memory.insert(location, at);
            }
        }
        Some(after)
    }
}
