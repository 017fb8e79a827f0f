//! Reads-from and modification orders of an execution under a C11-style model.

use super::EventId;

/// The relations that an execution leaves open and that the axioms of a C11-style model constrain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coherence {
    /// `rf` by event: the source that a read, an update or an acquire observes, one of
    /// [`Execution::sources`](super::Execution::sources). A release of a lock observes
    /// the acquire of its own thread. `None` for all others.
    pub rf: Vec<Option<EventId>>,
    /// `mo` by location: its writes, first to last, starting with the initial one. A lock is a
    /// location that acquires and releases update. Under WRA, which has no modification orders,
    /// there are none.
    pub mo: Vec<Vec<EventId>>,
    /// The order of all sequentially consistent fences, under the models in which they are updates
    /// of one hidden location (SRA, RA, WRA and RC20); empty under the others.
    pub fences: Vec<EventId>,
}
