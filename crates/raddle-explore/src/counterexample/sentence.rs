//! What went wrong, in one sentence, and where.

use raddle_core::execution::{ThreadId, Value};
use raddle_core::outcome::{FindingKind, Place, Related};
use raddle_core::program::{Naming, OpKind, PlaceId};
use raddle_core::trace::{
    Ending, FenceSearch, FenceSide, NamedTrace, NotRobust, ObjectChange, ObjectNote, Pending,
    TraceEvent,
};

use super::style::Style;

/// What went wrong, in one sentence without a full stop.
#[must_use]
pub fn sentence(kind: FindingKind, trace: &NamedTrace, style: &Style) -> String {
    if trace.not_robust.is_none() {
        return ending_sentence(kind, trace, style);
    }
    let ending = match trace.ending.is_bug() {
        true => format!(" ({})", ending_sentence(kind, trace, style)),
        false => String::new(),
    };
    format!("not robust: {} allows an execution that sc does not{ending}", trace.model)
}

fn ending_sentence(kind: FindingKind, trace: &NamedTrace, style: &Style) -> String {
    let name = |thread: ThreadId| trace.thread_name(thread);
    let list = |threads: &[ThreadId], one: &str, many: &str| {
        let names: Vec<String> = threads.iter().map(|&thread| name(thread)).collect();
        format!("{} {} forever", names.join(", "), if names.len() == 1 { one } else { many })
    };
    match &trace.ending {
        Ending::Complete => String::from("the execution ends without an error"),
        Ending::Blocked => String::from("no thread can continue"),
        Ending::Deadlock(threads) => format!("deadlock: {}", list(threads, "waits", "wait")),
        Ending::Livelock(threads) => format!("livelock: {}", list(threads, "spins", "spin")),
        Ending::Failed(thread, failure) => {
            let name = name(*thread);
            let thread = if name.starts_with("thread") { "" } else { "thread " };
            format!("{thread}{name}: {}", failure.message)
        }
        Ending::Race(first, second) => race(kind, trace, [*first, *second], style),
        Ending::Limit(thread) => format!("thread {} reached the limit of events", name(*thread)),
    }
}

fn race(kind: FindingKind, trace: &NamedTrace, accesses: [usize; 2], style: &Style) -> String {
    let events = &trace.trace.events;
    let [first, second] = accesses.map(|at| match events.get(at) {
        Some(event) => {
            let thread = trace.thread_name(event.thread);
            format!("{thread} ({})", style.place(trace, event.op.place))
        }
        None => String::from("an unknown access"),
    });
    let location = events.get(accesses[0]).and_then(|event| event.op.kind.location());
    let location = location.map(|at| trace.location_name(at)).unwrap_or_default();
    let what = match kind {
        FindingKind::UseAfterFree => "memory is freed while it is used:",
        FindingKind::Unsupported => "unordered accesses of different sizes to",
        _ => "data race on",
    };
    format!("{what} {location} between {first} and {second}")
}

/// Where it went wrong, if that is one place.
#[must_use]
pub fn place(trace: &NamedTrace) -> Option<PlaceId> {
    if let Some(NotRobust { part, cycle, .. }) = &trace.not_robust {
        let event = cycle.first().and_then(|edge| part.events.get(edge.from));
        return event.map(|event| event.op.place);
    }
    let last = |thread| {
        let last = trace.trace.events.iter().rfind(|event| event.thread == thread);
        last.map(|event| event.op.place)
    };
    match &trace.ending {
        Ending::Complete | Ending::Blocked => None,
        Ending::Failed(_, failure) => Some(failure.place),
        Ending::Race(_, second) => trace.trace.events.get(*second).map(|event| event.op.place),
        Ending::Limit(thread) => last(*thread),
        Ending::Deadlock(threads) | Ending::Livelock(threads) => {
            let thread = *threads.first()?;
            waiting_place(trace, thread).or_else(|| last(thread))
        }
    }
}

/// Where a thread waits or starts to repeat itself.
fn waiting_place(trace: &NamedTrace, thread: ThreadId) -> Option<PlaceId> {
    match *trace.trace.pending.get(&thread)? {
        Pending::Question(op) => Some(op.place),
        Pending::Loop(start) => {
            let mut events = trace.trace.events.iter();
            let first = events.find(|event| event.thread == thread && event.position >= start);
            first.map(|event| event.op.place)
        }
    }
}

/// The other places that take part: the first access of a race, the other threads of a deadlock or livelock, where an object
/// was allocated and freed, and where to insert fences.
#[must_use]
pub fn related(kind: FindingKind, trace: &NamedTrace, style: &Style) -> Vec<Related> {
    let mut related = of_ending(trace, style);
    if let Some(object) = object(kind, trace) {
        let change = |verb: &str, change: &ObjectChange| Related {
            message: format!("{} {verb} {}", trace.thread_name(change.thread), object.name),
            place: Place::new(style.relative(&change.place)),
        };
        related.push(change("allocates", &object.allocated));
        related.extend(object.freed.as_ref().map(|freed| change("frees", freed)));
    }
    related
}

fn of_ending(trace: &NamedTrace, style: &Style) -> Vec<Related> {
    let related = |message: String, place: PlaceId| Related {
        message,
        place: Place::new(style.relative(&trace.place(place))),
    };
    if let Some(NotRobust { fences, .. }) = &trace.not_robust {
        let FenceSearch::Found(fences) = fences else { return vec![] };
        let message = |side| match side {
            FenceSide::AfterStore => String::from("insert a full fence after this store"),
            FenceSide::BeforeLoad => String::from("insert a full fence before this load"),
        };
        return fences.iter().map(|fence| related(message(fence.side), fence.place)).collect();
    }
    let others = |threads: &[ThreadId], what: &str| {
        let of = |&thread: &ThreadId| {
            let place = waiting_place(trace, thread)?;
            Some(related(format!("{} {what} here", trace.thread_name(thread)), place))
        };
        threads.iter().skip(1).filter_map(of).collect()
    };
    match &trace.ending {
        Ending::Deadlock(threads) => others(threads, "waits"),
        Ending::Livelock(threads) => others(threads, "spins"),
        Ending::Race(first, _) => {
            let event = trace.trace.events.get(*first);
            let accessed = event.map(|event| related(access(trace, event), event.op.place));
            accessed.into_iter().collect()
        }
        Ending::Complete | Ending::Blocked | Ending::Failed(..) | Ending::Limit(_) => vec![],
    }
}

/// What the place of an error is, in a few words.
pub(super) fn label(kind: FindingKind, trace: &NamedTrace) -> Option<String> {
    if trace.not_robust.is_some() || kind == FindingKind::Leak {
        return None;
    }
    let name = |thread: &ThreadId| trace.thread_name(*thread);
    match &trace.ending {
        Ending::Race(_, second) => {
            trace.trace.events.get(*second).map(|event| access(trace, event))
        }
        Ending::Deadlock(threads) => Some(format!("{} waits here", name(threads.first()?))),
        Ending::Livelock(threads) => Some(format!("{} spins here", name(threads.first()?))),
        Ending::Failed(thread, _) => Some(format!("{} fails here", name(thread))),
        Ending::Complete | Ending::Blocked | Ending::Limit(_) => None,
    }
}

/// `a reads x`: what an access does.
pub(super) fn access(trace: &NamedTrace, event: &TraceEvent) -> String {
    let verb = match event.op.kind {
        OpKind::Load { .. } | OpKind::ReadCell { .. } => "reads",
        OpKind::CompareExchange { .. } if event.written.is_none() => "reads",
        OpKind::Store { value, .. } if is_freed(trace, value) => "frees",
        OpKind::Store { .. } | OpKind::WriteCell { .. } => "writes",
        OpKind::Rmw { .. } | OpKind::CompareExchange { .. } | OpKind::Sync { .. } => "updates",
        _ => "uses",
    };
    let location = event.op.kind.location().map(|at| trace.location_name(at)).unwrap_or_default();
    let freed = object_of(trace, &location).filter(|_| verb == "frees");
    let what = freed.map_or(&location, |object| &object.name);
    format!("{} {verb} {what}", trace.thread_name(event.thread))
}

/// The object on a heap of which a location is a part.
pub(super) fn object_of<'a>(trace: &'a NamedTrace, location: &str) -> Option<&'a ObjectNote> {
    trace.objects.iter().find(|object| {
        let rest = location.strip_prefix(&object.name);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    })
}

/// Returns `true` for the value of memory that was freed.
fn is_freed(trace: &NamedTrace, value: Value) -> bool {
    trace.names.special_values.iter().any(|(it, word)| *it == value && word == "freed")
}

/// The memory that an error is about.
pub(super) fn location(trace: &NamedTrace) -> Option<String> {
    let events = &trace.trace.events;
    let event = match &trace.ending {
        Ending::Race(first, _) => events.get(*first),
        Ending::Failed(thread, _) => events.iter().rfind(|event| event.thread == *thread),
        _ => None,
    };
    event?.op.kind.location().map(|location| trace.location_name(location))
}

/// The object on a heap that an error is about.
pub(super) fn object(kind: FindingKind, trace: &NamedTrace) -> Option<&ObjectNote> {
    let is_about_object =
        matches!(kind, FindingKind::UseAfterFree | FindingKind::DoubleFree | FindingKind::Leak);
    let location = location(trace).filter(|_| is_about_object)?;
    object_of(trace, &location)
}
