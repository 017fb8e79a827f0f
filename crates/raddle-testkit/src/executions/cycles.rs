//! Critical cycles with noise: executions at the border between the models.
//!
//! Taking sources at random hardly ever tells TSO from PSO. Here every thread accesses two
//! locations, perhaps with a fence in between, and what is observed runs in a circle through all
//! threads, as in the classical tests (SB, MP, LB, S, R, 2+2W, IRIW are of this form). Then a few
//! random events are thrown in, so that the search has something to do.

use super::{order, order_dice};
use proptest::collection::vec;
use proptest::prelude::*;
use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, SourceClaim, ThreadId, Value,
};

/// A thread of the cycle.
#[derive(Clone, Debug)]
struct Corner {
    first_writes: bool,
    second_writes: bool,
    /// Whether a writing access is an atomic update.
    updates: bool,
    /// What stands between the two accesses.
    between: Between,
}

#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    Fence,
    StoreFence,
    /// An update of a location that only this thread accesses.
    Update,
    /// A critical section of a lock that all threads share.
    Lock,
}

/// A random event: where, and what.
#[derive(Clone, Debug)]
struct Noise {
    thread: usize,
    position: usize,
    location: usize,
    kind: u32,
    dice: usize,
}

/// An event to be, by index of its location; the index of the event that it reads from.
struct Draft {
    id: usize,
    kind: Kind,
    location: usize,
    source: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Read,
    Write,
    Update,
    Fence,
    StoreFence,
    Lock,
    Unlock,
}

/// Executions around critical cycles. With `distinct` every write has its own value and every read
/// names its source; otherwise all writes write 1, and reads have several sources. Every second
/// execution has memory orders other than the default.
pub fn cycles(noise: usize, distinct: bool) -> impl Strategy<Value = Execution> {
    let corner = (any::<bool>(), any::<bool>(), 0..4u32, 0..8u32).prop_map(|(a, b, u, f)| Corner {
        first_writes: a,
        second_writes: b,
        updates: u == 0,
        between: match f {
            0 => Between::Fence,
            1 | 2 => Between::StoreFence,
            3 => Between::Update,
            4 => Between::Lock,
            _ => Between::Nothing,
        },
    });
    let event = (0..4usize, 0..8usize, 0..4usize, 0..8u32, 0..1000usize).prop_map(
        |(thread, position, location, kind, dice)| Noise { thread, position, location, kind, dice },
    );
    (vec(corner, 2..=4), vec(event, 0..=noise), any::<bool>(), order_dice()).prop_map(
        move |(corners, noise, ordered, orders)| {
            let orders = if ordered { &orders[..] } else { &[0] };
            build(&corners, &noise, distinct, orders)
        },
    )
}

fn build(corners: &[Corner], noise: &[Noise], distinct: bool, orders: &[usize]) -> Execution {
    let mut threads: Vec<Vec<Draft>> = vec![];
    let mut next = 0;
    for (t, corner) in corners.iter().enumerate() {
        let mut thread = vec![];
        let mut push = |kind, location| {
            thread.push(Draft { id: next, kind, location, source: None });
            next += 1;
        };
        push(access(corner.first_writes, corner.updates), t);
        match corner.between {
            Between::Nothing => {}
            Between::Fence => push(Kind::Fence, 0),
            Between::StoreFence => push(Kind::StoreFence, 0),
            Between::Update => push(Kind::Update, corners.len() + t),
            Between::Lock => {
                push(Kind::Lock, 0);
                push(Kind::Unlock, 0);
            }
        }
        push(access(corner.second_writes, corner.updates), (t + 1) % corners.len());
        threads.push(thread);
    }
    connect(&mut threads, &mut next);
    for noise in noise {
        add_noise(&mut threads, noise, &mut next);
    }
    finish(&threads, corners.len(), distinct, orders)
}

fn access(writes: bool, updates: bool) -> Kind {
    match (writes, updates) {
        (true, true) => Kind::Update,
        (true, false) => Kind::Write,
        _ => Kind::Read,
    }
}

/// Lets the first access of each thread come after the second of the thread before.
fn connect(threads: &mut [Vec<Draft>], next: &mut usize) {
    for t in 0..threads.len() {
        let after = (t + 1) % threads.len();
        let last = threads[t].len() - 1;
        let (earlier, later) = (threads[t][last].kind, threads[after][0].kind);
        let id = threads[t][last].id;
        if later != Kind::Write && earlier != Kind::Read {
            threads[after][0].source = Some(id);
        } else if earlier != Kind::Read {
            // Two writes: the earlier thread sees the later write afterwards.
            let (source, location) = (Some(threads[after][0].id), threads[t][last].location);
            threads[t].push(Draft { id: *next, kind: Kind::Read, location, source });
            *next += 1;
        }
    }
}

fn add_noise(threads: &mut [Vec<Draft>], noise: &Noise, next: &mut usize) {
    let count = threads.len();
    let (thread, location) = (noise.thread % count, noise.location % count);
    let writes: Vec<usize> = threads
        .iter()
        .flatten()
        .filter(|d| d.location == location && matches!(d.kind, Kind::Write | Kind::Update))
        .map(|draft| draft.id)
        .collect();
    let kind = match noise.kind {
        0..4 => Kind::Write,
        4..6 => Kind::Read,
        6 => Kind::StoreFence,
        _ => Kind::Fence,
    };
    let source = match kind {
        Kind::Read => writes.get(noise.dice % (writes.len() + 1)).copied(),
        _ => None,
    };
    // Not into the critical section, nor before the first access.
    let position = 1 + noise.position % threads[thread].len();
    threads[thread].insert(position, Draft { id: *next, kind, location, source });
    *next += 1;
}

fn finish(threads: &[Vec<Draft>], locations: usize, distinct: bool, orders: &[usize]) -> Execution {
    let mut builder = ExecutionBuilder::new();
    let names: Vec<LocationId> =
        (0..2 * locations).map(|l| builder.location(&format!("x{l}"))).collect();
    for &location in &names {
        builder.init(location, 0).expect("declared once");
    }
    let lock = builder.location("m");
    let ids: Vec<ThreadId> = (0..threads.len()).map(|t| builder.thread(&format!("P{t}"))).collect();
    let value = |id: usize| if distinct { id as Value + 1 } else { 1 };
    let place = |id: usize| {
        let find = |t: usize| threads[t].iter().position(|draft| draft.id == id).map(|at| (t, at));
        (0..threads.len()).find_map(find).expect("a source is an event")
    };
    let mut updated: Vec<(usize, Option<usize>)> = vec![];
    for (t, thread) in threads.iter().enumerate() {
        for draft in thread {
            let location = names[draft.location];
            let read = draft.source.map_or(0, value);
            let action = match draft.kind {
                Kind::Read => Action::Read { location, value: read },
                Kind::Write => Action::Write { location, value: value(draft.id) },
                Kind::Update => Action::Rmw { location, read, written: value(draft.id) },
                Kind::Fence => Action::Fence,
                Kind::StoreFence => Action::StoreFence,
                Kind::Lock => Action::Lock { lock },
                Kind::Unlock => Action::Unlock { lock },
            };
            let shared = draft.kind == Kind::Update && {
                let key = (draft.location, draft.source);
                let shared = updated.contains(&key);
                updated.push(key);
                shared
            };
            let claim = match draft.source {
                _ if !distinct || shared || !action.has_source() => SourceClaim::Unnamed,
                _ if draft.kind == Kind::Lock => SourceClaim::Unnamed,
                None => SourceClaim::Init,
                Some(id) => {
                    let (t, position) = place(id);
                    SourceClaim::Event { thread: ids[t], position }
                }
            };
            let order = order(&action, orders[draft.id % orders.len()]);
            builder.push_ordered(ids[t], action, order, claim);
        }
    }
    builder.build().expect("well-formed by construction")
}
