//! Programs whose accesses overlap: bytes, with loads, stores and updates of any range of them.
//!
//! [`classes`] is brute force over a machine whose memory consists of bytes; it knows nothing of joint accesses, cuts and
//! events. [`OverlappingProgram`] is the same program for explorers, with memory cut at the ends of all accesses. [`random`]
//! generates programs and [`shrink`] makes them smaller.

mod machine;
mod ops;
mod program;
mod random;
mod shrink;

use std::collections::BTreeMap;

use raddle_core::program::PlaceId;
use raddle_core::trace::{Observed, Trace};

pub use machine::classes;
pub use ops::{ByteOp, Bytes, Operand, Overlapping};
pub use program::OverlappingProgram;
pub use random::random;
pub use shrink::shrink;

/// For every byte that an op read: the op that wrote it, `None` initially. Ops are numbered thread by thread, and each is
/// performed at most once.
pub type ByteClass = BTreeMap<(usize, u8), Option<usize>>;

/// The class of a trace of an [`OverlappingProgram`].
#[must_use]
pub fn class_of(program: &OverlappingProgram, trace: &Trace) -> ByteClass {
    let mut class = ByteClass::new();
    for event in &trace.events {
        let source = match event.observed {
            Some(Observed::Initial) => None,
            Some(Observed::Event(source)) => Some(trace.events[source].op.place),
            _ => continue,
        };
        let Some(location) = event.op.kind.location() else { continue };
        let number = |PlaceId(place): PlaceId| place as usize;
        for byte in program.bytes_of(location) {
            class.insert((number(event.op.place), byte), source.map(number));
        }
    }
    class
}
