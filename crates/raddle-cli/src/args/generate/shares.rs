//! The options of `--generate` that are shares, from 0 to 1.

use std::fmt;

use clap::Args;
use raddle_consistency::reference::generate::HistoryShape;

use super::limits::in_range;

/// How much there is of each kind of event. What they leave are loads and stores.
///
/// Flattened into the command line by itself, since clap drops a group with groups inside.
#[derive(Debug, Args)]
#[command(next_help_heading = "Random histories")]
#[group(id = "shares", multiple = true, conflicts_with = "histories", requires = "generate")]
pub(crate) struct Shares {
    /// Of loads and stores, the share of stores
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().writes)]
    writes: f64,

    /// Share of read-modify-writes
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().rmw)]
    rmw: f64,

    /// Share of compare-exchanges; about half of them fail
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().cas)]
    cas: f64,

    /// Share of full fences
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().fences)]
    fences: f64,

    /// Share of store-store fences
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().store_fences)]
    store_fences: f64,

    /// Share of acquires and releases, if there are locks
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().lock_events)]
    lock_share: f64,

    /// Of accesses and fences, the share with a random memory order
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().orders)]
    orders: f64,

    /// Share of reads that name what they observed
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().name_sources)]
    named_sources: f64,

    /// How likely a store leaves its buffer early (tso, pso)
    #[arg(long, value_name = "SHARE", value_parser = positive_share)]
    #[arg(default_value_t = HistoryShape::default().flushes)]
    flushes: f64,
}

impl Shares {
    /// Gives a shape these shares.
    pub(super) fn apply(&self, shape: &mut HistoryShape) {
        shape.writes = self.writes;
        shape.rmw = self.rmw;
        shape.cas = self.cas;
        shape.fences = self.fences;
        shape.store_fences = self.store_fences;
        shape.lock_events = self.lock_share;
        shape.orders = self.orders;
        shape.name_sources = self.named_sources;
        shape.flushes = self.flushes;
    }
}

/// The shares as they stand on the command line. Random orders are named only if there are any, so
/// that histories without them stay what they were.
impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shares { writes, rmw, cas, fences, store_fences, lock_share, .. } = self;
        let Shares { orders, named_sources, flushes, .. } = self;
        write!(
            f,
            "--writes {writes} --rmw {rmw} --cas {cas} --fences {fences} \
             --store-fences {store_fences} --lock-share {lock_share} \
             --named-sources {named_sources} --flushes {flushes}"
        )?;
        if *orders > 0.0 { write!(f, " --orders {orders}") } else { Ok(()) }
    }
}

fn share(text: &str) -> Result<f64, String> {
    in_range(text, 0.0..=1.0)
}

/// Stores must leave the buffer some day, and soon enough for a program that waits for it.
fn positive_share(text: &str) -> Result<f64, String> {
    in_range(text, 1e-6..=1.0)
}
