//! The parameters of random executions.

use raddle_core::execution::{Action, MemoryOrder};
use raddle_core::model::Model;
use raddle_core::random::Random;

/// Which values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueChoice {
    /// Every write of a location has its own value, from 1; so values determine sources.
    Distinct,
    /// The values below this number, initial values included.
    Few(usize),
}

/// The parameters of random executions. Shares are from 0 to 1; the events that `rmw`, `cas`, `fences`, `store_fences`
/// and `lock_events` leave are loads and stores.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryShape {
    /// The model whose machine runs the program.
    pub model: Model,
    /// The number of threads, at least 1.
    pub threads: usize,
    /// The number of memory locations, at least 1.
    pub locations: usize,
    /// The number of locks.
    pub locks: usize,
    /// The number of events of each thread.
    pub events_per_thread: usize,
    /// Which values are written.
    pub values: ValueChoice,
    /// Of loads and stores, the share of stores.
    pub writes: f64,
    /// The share of read-modify-writes.
    pub rmw: f64,
    /// The share of compare-exchanges; about half of them fail.
    pub cas: f64,
    /// The share of full fences.
    pub fences: f64,
    /// The share of store-store fences.
    pub store_fences: f64,
    /// The share of acquires and releases, if there are locks.
    pub lock_events: f64,
    /// Whether threads spawn and join threads; otherwise all run from the start.
    pub spawn_join: bool,
    /// The share of accesses and fences with a random memory order. The others have the default order.
    pub orders: f64,
    /// The share of reads and acquires that name their source.
    pub name_sources: f64,
    /// The probability that a thread flushes a store although it can run; above 0.
    pub flushes: f64,
    /// The capacity of store buffers, at least 1.
    pub buffer: usize,
    /// Whether the execution keeps the order in which the events ran.
    pub keep_order: bool,
}

impl Default for HistoryShape {
    fn default() -> Self {
        HistoryShape {
            model: Model::Sc,
            threads: 3,
            locations: 2,
            locks: 1,
            events_per_thread: 4,
            values: ValueChoice::Few(3),
            writes: 0.5,
            rmw: 0.05,
            cas: 0.04,
            fences: 0.03,
            store_fences: 0.05,
            lock_events: 0.08,
            spawn_join: false,
            orders: 0.0,
            name_sources: 0.5,
            flushes: 0.1,
            buffer: 4,
            keep_order: false,
        }
    }
}

/// A random memory order that the event can have, or its default order. If the share of random orders is 0, no random
/// number is drawn.
pub(super) fn choose_order(
    action: &Action,
    shape: &HistoryShape,
    random: &mut Random,
) -> MemoryOrder {
    let possible = action.possible_orders();
    match shape.orders > 0.0 && random.chance(shape.orders) {
        true => possible[random.below(possible.len())],
        false => action.default_order(),
    }
}
