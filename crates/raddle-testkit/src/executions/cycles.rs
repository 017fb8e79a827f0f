//! Critical cycles with noise: executions that distinguish the models.
//!
//! Random sources hardly ever distinguish TSO from PSO. Here every thread accesses two locations, possibly with a fence
//! in between, and the observations form a cycle through all threads, as in the classical tests (SB, MP, LB, S, R,
//! 2+2W, IRIW). A few random events are added, so that the search has something to do.

use super::{order, order_dice};
use proptest::collection::vec;
use proptest::prelude::*;
use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, SourceClaim, ThreadId, Value,
};

/// Thread of a cycle.
#[derive(Clone, Debug)]
struct CycleThread {
    first_writes: bool,
    second_writes: bool,
    /// Whether writes are read-modify-writes.
    updates: bool,
    /// What is between the two accesses.
    between: Between,
}

#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    Fence,
    StoreFence,
    /// A read-modify-write of a private location.
    Update,
    /// A critical section of a lock that all threads use.
    Lock,
}

/// Random additional event.
#[derive(Clone, Debug)]
struct Noise {
    thread: usize,
    position: usize,
    location: usize,
    kind: u32,
    dice: usize,
}

/// Event being generated. `source` is the id of the event that it observes.
struct CycleDraft {
    id: usize,
    kind: CycleDraftKind,
    location: usize,
    source: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum CycleDraftKind {
    Read,
    Write,
    Update,
    Fence,
    StoreFence,
    Lock,
    Unlock,
}

/// Strategy for critical cycles with up to `noise` additional events. If `distinct`, every write has its own value and
/// every read names its source; otherwise all writes write 1, and reads have several sources. Half of the executions
/// have memory orders other than the default.
pub fn cycles(noise: usize, distinct: bool) -> impl Strategy<Value = Execution> {
    let corner =
        (any::<bool>(), any::<bool>(), 0..4u32, 0..8u32).prop_map(|(a, b, u, f)| CycleThread {
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

fn build(corners: &[CycleThread], noise: &[Noise], distinct: bool, orders: &[usize]) -> Execution {
    let mut threads: Vec<Vec<CycleDraft>> = vec![];
    let mut next = 0;
    for (t, corner) in corners.iter().enumerate() {
        let mut thread = vec![];
        let mut push = |kind, location| {
            thread.push(CycleDraft { id: next, kind, location, source: None });
            next += 1;
        };
        push(access(corner.first_writes, corner.updates), t);
        match corner.between {
            Between::Nothing => {}
            Between::Fence => push(CycleDraftKind::Fence, 0),
            Between::StoreFence => push(CycleDraftKind::StoreFence, 0),
            Between::Update => push(CycleDraftKind::Update, corners.len() + t),
            Between::Lock => {
                push(CycleDraftKind::Lock, 0);
                push(CycleDraftKind::Unlock, 0);
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

fn access(writes: bool, updates: bool) -> CycleDraftKind {
    match (writes, updates) {
        (true, true) => CycleDraftKind::Update,
        (true, false) => CycleDraftKind::Write,
        _ => CycleDraftKind::Read,
    }
}

/// Orders the first access of each thread after the second one of the previous thread.
fn connect(threads: &mut [Vec<CycleDraft>], next: &mut usize) {
    for t in 0..threads.len() {
        let after = (t + 1) % threads.len();
        let last = threads[t].len() - 1;
        let (earlier, later) = (threads[t][last].kind, threads[after][0].kind);
        let id = threads[t][last].id;
        if later != CycleDraftKind::Write && earlier != CycleDraftKind::Read {
            threads[after][0].source = Some(id);
        } else if earlier != CycleDraftKind::Read {
            // Two writes: the earlier thread then reads the later write.
            let (source, location) = (Some(threads[after][0].id), threads[t][last].location);
            threads[t].push(CycleDraft { id: *next, kind: CycleDraftKind::Read, location, source });
            *next += 1;
        }
    }
}

fn add_noise(threads: &mut [Vec<CycleDraft>], noise: &Noise, next: &mut usize) {
    let count = threads.len();
    let (thread, location) = (noise.thread % count, noise.location % count);
    let writes: Vec<usize> = threads
        .iter()
        .flatten()
        .filter(|d| {
            d.location == location
                && matches!(d.kind, CycleDraftKind::Write | CycleDraftKind::Update)
        })
        .map(|draft| draft.id)
        .collect();
    let kind = match noise.kind {
        0..4 => CycleDraftKind::Write,
        4..6 => CycleDraftKind::Read,
        6 => CycleDraftKind::StoreFence,
        _ => CycleDraftKind::Fence,
    };
    let source = match kind {
        CycleDraftKind::Read => writes.get(noise.dice % (writes.len() + 1)).copied(),
        _ => None,
    };
    // Not inside of the critical section, nor before the first access.
    let position = 1 + noise.position % threads[thread].len();
    threads[thread].insert(position, CycleDraft { id: *next, kind, location, source });
    *next += 1;
}

fn finish(
    threads: &[Vec<CycleDraft>],
    locations: usize,
    distinct: bool,
    orders: &[usize],
) -> Execution {
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
                CycleDraftKind::Read => Action::Read { location, value: read },
                CycleDraftKind::Write => Action::Write { location, value: value(draft.id) },
                CycleDraftKind::Update => Action::Rmw { location, read, written: value(draft.id) },
                CycleDraftKind::Fence => Action::Fence,
                CycleDraftKind::StoreFence => Action::StoreFence,
                CycleDraftKind::Lock => Action::Lock { lock },
                CycleDraftKind::Unlock => Action::Unlock { lock },
            };
            let shared = draft.kind == CycleDraftKind::Update && {
                let key = (draft.location, draft.source);
                let shared = updated.contains(&key);
                updated.push(key);
                shared
            };
            let claim = match draft.source {
                _ if !distinct || shared || !action.has_source() => SourceClaim::Unnamed,
                _ if draft.kind == CycleDraftKind::Lock => SourceClaim::Unnamed,
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
