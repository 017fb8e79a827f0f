//! Random executions with shrinking, for property tests.
//!
//! Unlike [`raddle_consistency::reference::generate`], which runs programs and so starts from consistent executions,
//! these draw the source of every read at random: most are inconsistent, in ways that no run produces.

pub mod cycles;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId, Value,
};

/// Returns a configuration with `cases` cases, multiplied by `RADDLE_CASES`, and the seed `RADDLE_SEED`.
pub fn config(cases: u32) -> Config {
    let factor = std::env::var("RADDLE_CASES")
        .map_or(1, |factor| factor.parse::<u32>().expect("RADDLE_CASES is a factor, such as 100"));
    let seed = std::env::var("RADDLE_SEED")
        .map_or(1, |seed| seed.parse::<u64>().expect("RADDLE_SEED is a number"));
    Config {
        cases: cases * factor,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 100_000,
        ..Config::default()
    }
}

/// Dice for memory orders, used cyclically for the events.
pub fn order_dice() -> impl Strategy<Value = Vec<usize>> {
    vec(0..16usize, 12)
}

/// Returns the memory order for a die: the default in half of the cases.
pub fn order(action: &Action, die: usize) -> MemoryOrder {
    let possible = action.possible_orders();
    die.checked_sub(8).map_or(action.default_order(), |die| possible[die % possible.len()])
}

/// Event being generated: its kind, and dice for the rest.
#[derive(Clone, Debug)]
struct EventDraft {
    kind: u32,
    location: usize,
    value: Value,
    dice: usize,
}

/// Size and kinds of events of random executions.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionFeatures {
    /// Number of threads.
    pub threads: usize,
    /// Number of events, distributed over the threads.
    pub events: usize,
    /// Number of memory locations.
    pub locations: usize,
    /// Written values are below this number. Fewer values make more sources.
    pub values: Value,
    /// How many of 8 reads name their source.
    pub named: usize,
    /// Read-modify-writes and compare-exchanges occur.
    pub updates: bool,
    /// Full fences occur.
    pub fences: bool,
    /// Store-store fences occur.
    pub store_fences: bool,
    /// Locks occur.
    pub locks: bool,
    /// Threads are spawned and joined.
    pub spawn_join: bool,
    /// Events have other memory orders than the default.
    pub orders: bool,
}

/// Every kind of event.
pub const ALL: ExecutionFeatures = ExecutionFeatures {
    threads: 4,
    events: 5,
    locations: 2,
    values: 3,
    named: 6,
    updates: true,
    fences: true,
    store_fences: true,
    locks: true,
    spawn_join: true,
    orders: true,
};

impl ExecutionFeatures {
    /// Returns the kinds to draw from, mostly loads and stores.
    fn kinds(&self) -> Vec<u32> {
        let mut kinds = vec![READ; 5];
        kinds.extend([WRITE; 5]);
        if self.updates {
            kinds.extend([UPDATE, CAS, FAILED_CAS]);
        }
        if self.fences {
            kinds.push(FENCE);
        }
        if self.store_fences {
            kinds.extend([STORE_FENCE; 2]);
        }
        if self.locks {
            kinds.extend([LOCK; 2]);
        }
        kinds
    }
}

const READ: u32 = 0;
const WRITE: u32 = 1;
const UPDATE: u32 = 2;
const CAS: u32 = 3;
const FAILED_CAS: u32 = 4;
const FENCE: u32 = 5;
const STORE_FENCE: u32 = 6;
const LOCK: u32 = 7;

/// Strategy for executions with the given features.
pub fn executions(features: ExecutionFeatures) -> impl Strategy<Value = Execution> {
    let kinds = features.kinds();
    let draft = (0..kinds.len(), 0..features.locations, 0..features.values, 0..1000usize).prop_map(
        move |(kind, location, value, dice)| EventDraft {
            kind: kinds[kind],
            location,
            value,
            dice,
        },
    );
    let threads = vec(vec(draft, 1..=features.events), 2..=features.threads);
    let spawns = vec(0..4u32, features.threads);
    (threads, spawns, order_dice())
        .prop_map(move |(threads, spawns, orders)| build(&features, &threads, &spawns, &orders))
        .prop_filter_map("well-formed", |execution| execution)
}

/// Returns the action of a draft. Values of reads are set later.
fn action(draft: &EventDraft, location: LocationId, lock: LocationId, held: &mut bool) -> Action {
    match draft.kind {
        READ => Action::Read { location, value: 0 },
        WRITE => Action::Write { location, value: draft.value },
        UPDATE => Action::Rmw { location, read: 0, written: draft.value },
        CAS => {
            Action::Cas { location, expected: 0, desired: draft.value, read: 0, succeeded: true }
        }
        FAILED_CAS => Action::Cas { location, expected: 9, desired: 9, read: 0, succeeded: false },
        FENCE => Action::Fence,
        STORE_FENCE => Action::StoreFence,
        _ => {
            *held = !*held;
            if *held { Action::Lock { lock } } else { Action::Unlock { lock } }
        }
    }
}

/// Thread and index of an event; `None` for the initial write.
type EventPlace = Option<(usize, usize)>;

fn build(
    features: &ExecutionFeatures,
    drafts: &[Vec<EventDraft>],
    spawns: &[u32],
    orders: &[usize],
) -> Option<Execution> {
    let mut builder = ExecutionBuilder::new();
    let names = ["x", "y", "z", "u"];
    let locations: Vec<LocationId> =
        names[..features.locations].iter().map(|name| builder.location(name)).collect();
    let lock = builder.location("m");
    let ids: Vec<ThreadId> = (0..drafts.len()).map(|t| builder.thread(&format!("P{t}"))).collect();
    for &location in &locations {
        builder.init(location, 0).ok()?;
    }
    let mut threads: Vec<Vec<(Action, usize)>> = vec![];
    for drafts in drafts {
        let mut held = false;
        let mut thread: Vec<(Action, usize)> = vec![];
        for draft in drafts {
            let action = action(draft, locations[draft.location], lock, &mut held);
            thread.push((action, draft.dice));
        }
        threads.push(thread);
    }
    if features.spawn_join {
        add_spawns(&mut threads, &ids, spawns);
    }
    let orders = if features.orders { orders } else { &[0] };
    choose_sources(features, &mut builder, &threads, &ids, orders)?;
    builder.build().ok()
}

/// Thread 0 spawns (1), joins (2) or both (3) other threads.
fn add_spawns(threads: &mut [Vec<(Action, usize)>], ids: &[ThreadId], spawns: &[u32]) {
    for other in 1..threads.len() {
        if spawns[other] & 1 != 0 {
            let at = threads[other][0].1 % (threads[0].len() + 1);
            threads[0].insert(at, (Action::Spawn { thread: ids[other] }, 0));
        }
        if spawns[other] & 2 != 0 {
            threads[0].push((Action::Join { thread: ids[other] }, 0));
        }
    }
}

fn choose_sources(
    features: &ExecutionFeatures,
    builder: &mut ExecutionBuilder,
    threads: &[Vec<(Action, usize)>],
    ids: &[ThreadId],
    orders: &[usize],
) -> Option<()> {
    let mut orders = orders.iter().cycle();
    let mut sources: Vec<(LocationId, EventPlace, Value)> = vec![];
    for (t, thread) in threads.iter().enumerate() {
        for (at, (action, _)) in thread.iter().enumerate() {
            if action.is_source() {
                let value = action.written_value().unwrap_or(0);
                sources.push((action.location()?, Some((t, at)), value));
            }
        }
    }
    let mut taken: Vec<(LocationId, EventPlace)> = vec![];
    for (t, thread) in threads.iter().enumerate() {
        for (at, &(action, dice)) in thread.iter().enumerate() {
            let mut claim = SourceClaim::Unnamed;
            let mut observed = 0;
            if action.has_source() {
                let location = action.location()?;
                let mut fitting: Vec<(EventPlace, Value)> = vec![(None, 0)];
                fitting.extend(
                    sources
                        .iter()
                        .filter(|(l, place, _)| *l == location && *place != Some((t, at)))
                        .map(|&(_, place, value)| (place, value)),
                );
                let (place, value) = fitting[(dice / 8) % fitting.len()];
                observed = value;
                let free = !action.is_atomic_update() || !taken.contains(&(location, place));
                if dice % 8 < features.named && free {
                    claim = match place {
                        None => SourceClaim::Init,
                        Some((t, position)) => SourceClaim::Event { thread: ids[t], position },
                    };
                    if action.is_atomic_update() {
                        taken.push((location, place));
                    }
                }
            }
            let order = order(&action, *orders.next()?);
            builder.push_ordered(ids[t], with_value(action, observed), order, claim);
        }
    }
    Some(())
}

fn with_value(action: Action, value: Value) -> Action {
    match action {
        Action::Read { location, .. } => Action::Read { location, value },
        Action::Rmw { location, written, .. } => Action::Rmw { location, read: value, written },
        Action::Cas { location, desired, succeeded: true, .. } => {
            Action::Cas { location, expected: value, desired, read: value, succeeded: true }
        }
        Action::Cas { location, expected, desired, .. } => {
            Action::Cas { location, expected, desired, read: value, succeeded: false }
        }
        other => other,
    }
}
