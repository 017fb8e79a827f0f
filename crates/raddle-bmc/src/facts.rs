//! Facts about memory that symbolic execution learns in one pass and assumes in the next.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::address_space::{CellKey, ObjectId};
use crate::term::ValueSet;

/// Which memory is shared, and how it is used. All sets only grow from pass to pass (see `fixpoint`).
#[derive(Default)]
pub(crate) struct MemoryFacts {
    /// Cells that threads may access concurrently.
    pub(crate) shared: FxHashSet<CellKey>,
    /// Heap blocks that are freed somewhere, and automatic variables that other threads access.
    pub(crate) freed: FxHashSet<ObjectId>,
    /// The threads that write a shared cell, as a bit set.
    pub(crate) writers: FxHashMap<CellKey, u32>,
    /// All values that are ever stored in a shared cell.
    pub(crate) stored: FxHashMap<CellKey, ValueSet>,
}
