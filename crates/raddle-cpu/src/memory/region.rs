//! Regions: address ranges that were mapped for one purpose, with the state of their untouched bytes.

use super::layout::{END, PAGE};
use super::state::State;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What a region is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// Machine code. Only regions of this kind are executed.
    Text,
    /// Constants and relocated tables that are read-only from the start of the program.
    ReadOnlyData,
    /// Initialised and zero-initialised globals.
    Data,
    /// Heap of a thread.
    Heap,
    /// Stack of a thread.
    Stack,
    /// Thread-local storage of a thread.
    Tls,
    /// Addresses that stand for functions of the host.
    HostFunctions,
}

impl fmt::Display for RegionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RegionKind::Text => "text",
            RegionKind::ReadOnlyData => "read-only data",
            RegionKind::Data => "data",
            RegionKind::Heap => "heap",
            RegionKind::Stack => "stack",
            RegionKind::Tls => "thread-local storage",
            RegionKind::HostFunctions => "host functions",
        })
    }
}

/// A mapped range of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its addresses; both ends are multiples of [`PAGE`].
    pub range: Range<u64>,
    /// What it is for.
    pub kind: RegionKind,
    /// The state of every byte whose state was not set since.
    pub state: State,
    /// For reports: the file or the thread that it belongs to.
    pub name: Arc<str>,
}

/// Why a region cannot be mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// An end of the range is not a multiple of [`PAGE`], or the range is empty.
    NotPages(Range<u64>),
    /// The range leaves the address space of 47 bits.
    OutOfRange(Range<u64>),
    /// The range overlaps the region of this name.
    Overlap(Range<u64>, Arc<str>),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (MapError::NotPages(range) | MapError::OutOfRange(range) | MapError::Overlap(range, _)) =
            self;
        write!(f, "cannot map {:#x}..{:#x}: ", range.start, range.end)?;
        match self {
            MapError::NotPages(_) => f.write_str("not a range of whole pages"),
            MapError::OutOfRange(_) => f.write_str("beyond the address space of 47 bits"),
            MapError::Overlap(_, name) => write!(f, "overlaps {name}"),
        }
    }
}

impl std::error::Error for MapError {}

/// All regions, sorted by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions(Vec<Region>);

impl Regions {
    /// Adds a region that overlaps no other one.
    pub(crate) fn add(&mut self, region: Region) -> Result<(), MapError> {
        let range = region.range.clone();
        if range.is_empty() || !range.start.is_multiple_of(PAGE) || !range.end.is_multiple_of(PAGE)
        {
            return Err(MapError::NotPages(range));
        }
        if range.end > END {
            return Err(MapError::OutOfRange(range));
        }
        let index = self.0.partition_point(|other| other.range.end <= range.start);
        if let Some(other) = self.0.get(index).filter(|other| other.range.start < range.end) {
            return Err(MapError::Overlap(range, other.name.clone()));
        }
        self.0.insert(index, region);
        Ok(())
    }

    /// The region that contains `address`.
    pub(crate) fn at(&self, address: u64) -> Option<&Region> {
        let index = self.0.partition_point(|region| region.range.end <= address);
        self.0.get(index).filter(|region| region.range.contains(&address))
    }

    /// The parts of a range that are mapped, each within one region.
    pub(crate) fn parts(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let first = self.0.partition_point(|region| region.range.end <= range.start);
        self.0[first..]
            .iter()
            .take_while(|region| region.range.start < range.end)
            .map(|region| region.range.start.max(range.start)..region.range.end.min(range.end))
            .filter(|part| !part.is_empty())
            .collect()
    }

    /// All regions by address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Region> {
        self.0.iter()
    }
}
