//! What reports call threads, locations and places.

use super::PlaceId;
use crate::execution::{LocationId, ThreadId, Value};

/// The names that reports use for the ids in ops and traces.
///
/// A [`Program`](super::Program) knows the names of everything it has met. A
/// [`NamedTrace`](crate::trace::NamedTrace) has a copy of those that one execution mentions.
pub trait Naming {
    /// The position of an op in the source: `file:line` or similar.
    fn place(&self, place: PlaceId) -> String;

    /// The function that contains a place, if it is known.
    fn function(&self, _place: PlaceId) -> Option<String> {
        None
    }

    /// The name of a location.
    fn location_name(&self, location: LocationId) -> String;

    /// The name of a thread. It must not depend on the order in which threads run.
    fn thread_name(&self, thread: ThreadId) -> String;

    /// The initial value of a location for which no [`OpKind::Init`](super::OpKind::Init) sets one.
    fn initial_value(&self, _location: LocationId) -> Value {
        0
    }
}
