//! The options of `raddle history generate` that are shares, from 0 to 1.

use std::fmt;

use clap::Args;
use raddle_consistency::reference::generate::HistoryShape;

use super::limits::in_range;

/// The share of each kind of event. The remaining events are loads and stores.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shares, from 0 to 1")]
pub(super) struct Shares {
    /// Share of stores among loads and stores
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

    /// Share of lock acquires and releases, if there are locks
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().lock_events)]
    lock_share: f64,

    /// Share of accesses and fences with a random memory order
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().orders)]
    orders: f64,

    /// Share of reads that name their source
    #[arg(long, value_name = "SHARE", value_parser = share)]
    #[arg(default_value_t = HistoryShape::default().name_sources)]
    named_sources: f64,

    /// Probability that a store leaves its buffer early (tso, pso)
    #[arg(long, value_name = "SHARE", value_parser = positive_share)]
    #[arg(default_value_t = HistoryShape::default().flushes)]
    flushes: f64,
}

impl Shares {
    /// Sets the shares of a shape.
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

/// The shares as options. `--orders` is omitted if it is zero, so that the first line of a history without memory orders
/// stays the same.
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

/// Parses a share.
fn share(text: &str) -> Result<f64, String> {
    in_range(text, 0.0..=1.0)
}

/// Parses a share above zero: with zero, a program that waits for a buffered store would never end.
fn positive_share(text: &str) -> Result<f64, String> {
    in_range(text, 1e-6..=1.0)
}
