//! Objects: what guest memory contains, for reports. Checks never use this table; they use the states of bytes.

use super::state::Thread;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A global variable or function.
    Global(Arc<str>),
    /// A heap block: the thread that allocated it and the index of the allocation within that thread.
    HeapBlock {
        /// The thread that allocated the block.
        thread: Thread,
        /// Index within the allocations of the thread.
        index: u32,
        /// Whether the block was freed.
        freed: bool,
    },
    /// A stack.
    Stack(Thread),
    /// Thread-local storage.
    Tls(Thread),
}

/// A named range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestObject {
    /// Its first address.
    pub start: u64,
    /// Its size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: ObjectKind,
}

/// Where an address is relative to the nearest object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The object.
    pub object: GuestObject,
    /// Distance in bytes from the start of the object.
    pub offset: i64,
}

impl Nearest {
    /// Whether the address is inside of the object.
    pub fn is_inside(&self) -> bool {
        self.offset >= 0 && (self.offset as u64) < self.object.size
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.object.size;
        if self.offset < 0 {
            write!(f, "{} bytes before {}", -self.offset, self.object)
        } else if self.is_inside() {
            write!(f, "byte {} of {}", self.offset, self.object)
        } else {
            write!(f, "{} bytes after the end of {}", self.offset as u64 - size, self.object)
        }
    }
}

impl fmt::Display for GuestObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size;
        match &self.kind {
            ObjectKind::Global(name) => write!(f, "`{name}` ({size} bytes)"),
            ObjectKind::HeapBlock { thread, index, freed } => {
                let freed = if *freed { "freed " } else { "" };
                write!(f, "{freed}heap block {index} of {thread} ({size} bytes)")
            }
            ObjectKind::Stack(thread) => write!(f, "the stack of {thread}"),
            ObjectKind::Tls(thread) => write!(f, "the thread-local storage of {thread}"),
        }
    }
}

/// All objects by start address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects(BTreeMap<u64, GuestObject>);

impl Objects {
    /// Adds `object`; an object with the same start is replaced.
    pub(crate) fn add(&mut self, object: GuestObject) {
        self.0.insert(object.start, object);
    }

    /// Removes the object that starts at `start`.
    pub(crate) fn remove(&mut self, start: u64) {
        self.0.remove(&start);
    }

    /// The object that starts at `start`.
    pub(crate) fn starting_at(&self, start: u64) -> Option<&GuestObject> {
        self.0.get(&start)
    }

    /// Sets whether the heap block at `start` counts as freed.
    pub(crate) fn set_freed(&mut self, start: u64, is_freed: bool) {
        if let Some(GuestObject { kind: ObjectKind::HeapBlock { freed, .. }, .. }) =
            self.0.get_mut(&start)
        {
            *freed = is_freed;
        }
    }

    /// The object that contains `address`, or else the nearest one that ends or starts at most `distance` bytes away.
    pub(crate) fn nearest(&self, address: u64, distance: u64) -> Option<Nearest> {
        let before = self.0.range(..=address).next_back().map(|entry| entry.1);
        let after = self.0.range(address.saturating_add(1)..).next().map(|entry| entry.1);
        let gap_before =
            before.map(|object| address.saturating_sub(object.start + object.size.max(1) - 1));
        let gap_after = after.map(|object| object.start - address);
        let (object, gap) = match (gap_before, gap_after) {
            (Some(gap), Some(other)) if other < gap => (after?, other),
            (Some(gap), _) => (before?, gap),
            (None, Some(gap)) => (after?, gap),
            (None, None) => return None,
        };
        let offset = address.wrapping_sub(object.start) as i64;
        (gap <= distance).then(|| Nearest { object: object.clone(), offset })
    }
}
