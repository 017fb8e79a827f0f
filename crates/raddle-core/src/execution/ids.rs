//! Dense identifiers. An id is an index into the tables of one [`Execution`](super::Execution);
//! ids of different executions must not be mixed.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        pub struct $name(u32);

        impl $name {
            /// The id with the given index.
            ///
            /// # Panics
            /// If the index does not fit into 32 bits.
            #[inline]
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("an execution has fewer than 2^32 events"))
            }

            /// The index of this id.
            #[inline]
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

id! {
    /// An event of an execution. The initial writes come first, one for each location in the order
    /// of the locations; then the events of thread 0 in program order, then those of thread 1, ...
    EventId
}
id! {
    /// A thread of an execution.
    ThreadId
}
id! {
    /// A memory location or a lock.
    LocationId
}
id! {
    /// A set of writes that some reads may observe. Reads with the same sources share the set.
    SourceSetId
}
