//! Objects in memory and their addresses.
//!
//! A program is executed several times (see `fixpoint`). An object has the same address every time: its key says by
//! which thread, where in the source, and how often before an object was created there. Addresses are small numbers.
//! Objects are separated by gaps, so that a pointer past the end of one object is not a pointer to the next.

use std::collections::BTreeMap;

use lang_c::span::Span;
use rustc_hash::FxHashMap;

/// Index of a [`MemoryObject`].
pub(crate) type ObjectId = usize;

/// A scalar in memory: an object, and an offset in bytes.
pub(crate) type CellKey = (ObjectId, u64);

/// Identifies an object across executions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObjectKey {
    /// A global variable, by name.
    Global(String),
    /// A function, by name.
    Function(String),
    /// An automatic variable, a temporary or a heap block: thread, position in the source (see [`span_key`]), and how
    /// many objects the thread has created there.
    Instance(usize, usize, usize),
    /// A string literal or a static variable of a function, by position in the source.
    Static(usize),
    /// A thread-local variable: thread and name.
    ThreadLocal(usize, String),
    /// The flag that an object is dead: its block was freed, or its scope has ended.
    DeadFlag(ObjectId),
    /// The flag that a thread was joined or detached.
    JoinState(usize),
}

/// An object in memory.
#[derive(Clone, Debug)]
pub(crate) struct MemoryObject {
    pub(crate) key: ObjectKey,
    pub(crate) name: String,
    /// The address of the first byte.
    pub(crate) base: u64,
    /// The size in bytes.
    pub(crate) size: u64,
    /// Whether the initial content is zero; otherwise it is undefined.
    pub(crate) zeroed: bool,
    /// Whether the object is a heap block.
    pub(crate) is_block: bool,
    /// The sizes of the scalars that were accessed, by offset. They do not overlap.
    pub(crate) scalars: BTreeMap<u64, u64>,
}

/// The lowest address.
const FIRST_ADDRESS: u64 = 0x1000;

/// The alignment of objects, and the smallest gap between them.
const ALIGNMENT: u64 = 16;

/// All objects of all executions.
#[derive(Default)]
pub(crate) struct AddressSpace {
    known: FxHashMap<ObjectKey, ObjectId>,
    pub(crate) objects: Vec<MemoryObject>,
    by_base: BTreeMap<u64, ObjectId>,
    /// The next free address.
    end: u64,
}

impl AddressSpace {
    /// The object with this key. It is created if it does not exist, and moved to a new address if it must grow.
    pub(crate) fn object(
        &mut self,
        key: ObjectKey,
        name: &str,
        size: u64,
        zeroed: bool,
    ) -> ObjectId {
        if let Some(&id) = self.known.get(&key) {
            if self.objects[id].size < size {
                self.objects[id].base = self.allocate(size, id);
                self.objects[id].size = size;
            }
            return id;
        }
        let id = self.objects.len();
        self.known.insert(key.clone(), id);
        let base = self.allocate(size, id);
        let (name, scalars) = (name.to_owned(), BTreeMap::new());
        self.objects.push(MemoryObject { key, name, base, size, zeroed, is_block: false, scalars });
        id
    }

    fn allocate(&mut self, size: u64, id: ObjectId) -> u64 {
        let base = self.end.max(FIRST_ADDRESS);
        self.end = (base + size.max(1) + ALIGNMENT).next_multiple_of(ALIGNMENT);
        self.by_base.insert(base, id);
        base
    }

    /// The object that contains the address or ends just before it, and the offset of the address.
    pub(crate) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        let (&base, &id) = self.by_base.range(..=address).next_back()?;
        let object = &self.objects[id];
        (object.base == base && address - base <= object.size).then(|| (id, address - base))
    }

    /// The thread with whose end the object dies, if not earlier. `None` for objects with static lifetime and heap
    /// blocks.
    pub(crate) fn owner(&self, id: ObjectId) -> Option<usize> {
        match self.objects[id].key {
            ObjectKey::Instance(owner, ..) if !self.objects[id].is_block => Some(owner),
            ObjectKey::ThreadLocal(owner, _) => Some(owner),
            _ => None,
        }
    }

    /// Returns `true` if the value may be a pointer to an object.
    pub(crate) fn is_address(&self, value: u64) -> bool {
        self.object_at(value).is_some()
    }

    /// Records that a scalar of this size is accessed. Returns `false` if it partly overlaps another scalar.
    pub(crate) fn record_scalar(&mut self, (id, offset): CellKey, size: u64) -> bool {
        let scalars = &mut self.objects[id].scalars;
        if let Some((&before, &length)) = scalars.range(..=offset).next_back()
            && (before, length) != (offset, size)
            && before + length > offset
        {
            return false;
        }
        if let Some((&next, _)) = scalars.range(offset + 1..).next()
            && next < offset + size
        {
            return false;
        }
        scalars.insert(offset, size);
        true
    }
}

/// A number that identifies a position in the source.
pub(crate) fn span_key(span: Span) -> usize {
    span.start
}
