//! Objects in memory, and what is known of them from one execution to the next.
//!
//! A program is executed several times (see `settle`). An object has the same address every time: it is known by where
//! and by whom it was made. Addresses are small numbers, far enough from each other that no pointer into one object is a
//! pointer into another.

use std::collections::BTreeMap;

use lang_c::span::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::ValueSet;

/// An object, by number.
pub(crate) type ObjectId = usize;

/// A scalar in an object: the object, and how many bytes from its start.
pub(crate) type CellKey = (ObjectId, u64);

/// What makes an object the same one in another execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObjectKey {
    Global(String),
    Function(String),
    /// By thread, where in the source, and the how manieth there.
    Made(usize, usize, usize),
    /// A literal or a static variable of a function.
    Static(usize),
    /// A global variable that every thread has.
    Local(usize, String),
    /// Whether a block of memory was freed, or the function of a variable has ended.
    Freed(ObjectId),
    /// Whether a thread was joined or detached.
    LetGo(usize),
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) key: ObjectKey,
    pub(crate) name: String,
    pub(crate) base: u64,
    pub(crate) size: u64,
    /// Whether it starts with zeros; otherwise with anything.
    pub(crate) zeroed: bool,
    /// Whether it is a block of memory that was allocated.
    pub(crate) is_block: bool,
    /// The scalars that were accessed: offset and size.
    pub(crate) scalars: BTreeMap<u64, u64>,
}

/// All objects.
#[derive(Default)]
pub(crate) struct Space {
    known: FxHashMap<ObjectKey, ObjectId>,
    pub(crate) objects: Vec<Object>,
    by_base: BTreeMap<u64, ObjectId>,
    end: u64,
    /// Cells that threads may access at the same time.
    pub(crate) shared: FxHashSet<CellKey>,
    /// Blocks of memory that are freed somewhere, and variables of functions that other threads use.
    pub(crate) freed: FxHashSet<ObjectId>,
    /// The threads that write a shared cell, as bits.
    pub(crate) writers: FxHashMap<CellKey, u32>,
    /// What was ever stored in a shared cell.
    pub(crate) stored: FxHashMap<CellKey, ValueSet>,
    /// How often that has grown.
    pub(crate) growth: FxHashMap<CellKey, u32>,
}

impl Space {
    /// The object of this key.
    pub(crate) fn object(
        &mut self,
        key: ObjectKey,
        name: &str,
        size: u64,
        zeroed: bool,
    ) -> ObjectId {
        if let Some(&id) = self.known.get(&key) {
            if self.objects[id].size < size {
                self.objects[id].base = self.place(size, id);
                self.objects[id].size = size;
            }
            return id;
        }
        let id = self.objects.len();
        self.known.insert(key.clone(), id);
        let base = self.place(size, id);
        let (name, scalars) = (name.to_owned(), BTreeMap::new());
        self.objects.push(Object { key, name, base, size, zeroed, is_block: false, scalars });
        id
    }

    fn place(&mut self, size: u64, id: ObjectId) -> u64 {
        let base = self.end.max(0x1000);
        self.end = (base + size.max(1) + 16).next_multiple_of(16);
        self.by_base.insert(base, id);
        base
    }

    /// The object that an address points into, or just behind.
    pub(crate) fn at(&self, address: u64) -> Option<(ObjectId, u64)> {
        let (&base, &id) = self.by_base.range(..=address).next_back()?;
        let object = &self.objects[id];
        (object.base == base && address - base <= object.size).then(|| (id, address - base))
    }

    /// The thread whose variable an object is: it ends with it, if not before.
    pub(crate) fn owner(&self, id: ObjectId) -> Option<usize> {
        match self.objects[id].key {
            ObjectKey::Made(owner, ..) if !self.objects[id].is_block => Some(owner),
            ObjectKey::Local(owner, _) => Some(owner),
            _ => None,
        }
    }

    /// Whether a value looks like a pointer.
    pub(crate) fn is_address(&self, value: u64) -> bool {
        self.at(value).is_some()
    }

    /// Notes that a scalar of this size is there; false if that does not go with what else is there.
    pub(crate) fn note(&mut self, (id, offset): CellKey, size: u64) -> bool {
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

/// A number for a place in the source.
pub(crate) fn spot(span: Span) -> usize {
    span.start
}
