//! Names that last from run to run.
//!
//! LocalHistories speak of threads, locations and places. These get numbers when they are first met, and
//! keep them for the whole exploration; what they are known by does not depend on schedules: a thread by
//! its parent and how many threads that had spawned before, a location by the block it lies in, a place
//! by file, line and column.

use std::panic::Location;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::PlaceId;
use rustc_hash::FxHashMap;

use crate::heap::BlockName;

struct Thread {
    parent: Option<ThreadId>,
    /// How many threads its parent had spawned before.
    count: u32,
    name: Option<String>,
}

/// What a location is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An atomic variable.
    Atomic,
    /// A mutex.
    Mutex,
    /// The state of a reader-writer lock.
    RwLock,
    /// The waiting threads of a condition variable.
    Condvar,
    /// A cell.
    Cell,
    /// Whether a parked thread may go on.
    Park,
    /// How many owners a shared object has.
    Count,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Atomic => "atomic",
            Kind::Mutex => "mutex",
            Kind::RwLock => "rwlock",
            Kind::Condvar => "condvar",
            Kind::Cell => "cell",
            Kind::Park => "park",
            Kind::Count => "count",
        }
    }
}

/// What a location is known by: its canonical address, which object it is of those that lay there, and
/// what it is.
type LocationKey = (Value, u32, Kind);

/// The names of one exploration.
#[derive(Default)]
pub(crate) struct Names {
    threads: Vec<Thread>,
    by_spawn: FxHashMap<(ThreadId, u32), ThreadId>,
    locations: Vec<Kind>,
    /// For each location who met it first, and whether somebody else has met it since.
    met: Vec<(ThreadId, bool)>,
    by_key: FxHashMap<LocationKey, LocationId>,
    blocks: FxHashMap<BlockName, u32>,
    places: Vec<String>,
    by_caller: FxHashMap<usize, PlaceId>,
    by_position: FxHashMap<String, PlaceId>,
}

impl Names {
    pub(crate) fn new() -> Self {
        let mut names = Self::default();
        names.threads.push(Thread { parent: None, count: 0, name: None });
        names
    }

    /// The thread that the parent spawned after `count` others.
    pub(crate) fn spawned(
        &mut self,
        parent: ThreadId,
        count: u32,
        name: Option<String>,
    ) -> ThreadId {
        let next = ThreadId::new(self.threads.len());
        let thread = *self.by_spawn.entry((parent, count)).or_insert(next);
        if thread == next {
            self.threads.push(Thread { parent: Some(parent), count, name });
        }
        thread
    }

    /// The location with this key, which the thread meets.
    pub(crate) fn location(&mut self, key: LocationKey, thread: ThreadId) -> LocationId {
        let next = LocationId::new(self.locations.len());
        let location = *self.by_key.entry(key).or_insert(next);
        if location == next {
            self.locations.push(key.2);
            self.met.push((thread, false));
        }
        let (first, others) = &mut self.met[location.index()];
        *others |= *first != thread;
        location
    }

    /// Whether another thread has met the location.
    pub(crate) fn is_met_by_others(&self, location: LocationId, thread: ThreadId) -> bool {
        let (first, others) = self.met[location.index()];
        others || first != thread
    }

    pub(crate) fn block(&mut self, name: BlockName) -> u32 {
        let next = self.blocks.len() as u32;
        *self.blocks.entry(name).or_insert(next)
    }

    /// The place of a caller.
    #[inline]
    pub(crate) fn place(&mut self, caller: &'static Location<'static>) -> PlaceId {
        match self.by_caller.get(&(ptr(caller))) {
            Some(&place) => place,
            None => self.new_place(caller),
        }
    }

    #[cold]
    fn new_place(&mut self, caller: &'static Location<'static>) -> PlaceId {
        let place = self.place_at(caller.file(), caller.line(), caller.column());
        self.by_caller.insert(ptr(caller), place);
        place
    }

    /// The place with this position.
    pub(crate) fn place_at(&mut self, file: &str, line: u32, column: u32) -> PlaceId {
        let next = PlaceId(self.places.len() as u32);
        let place = *self.by_position.entry(format!("{file}:{line}:{column}")).or_insert(next);
        if place == next {
            self.places.push(format!("{file}:{line}"));
        }
        place
    }

    pub(crate) fn place_name(&self, place: PlaceId) -> String {
        self.places.get(place.0 as usize).cloned().unwrap_or_else(|| String::from("nowhere"))
    }

    pub(crate) fn location_name(&self, location: LocationId) -> String {
        let word = self.locations.get(location.index()).map_or("location", |kind| kind.word());
        format!("{word}{}", location.index())
    }

    /// `main`, `main/0` for the first thread that it spawns, and so on; with the name that the program
    /// gave it, if it did.
    pub(crate) fn thread_name(&self, thread: ThreadId) -> String {
        match self.threads.get(thread.index()).and_then(|thread| thread.name.as_ref()) {
            Some(name) => format!("{} {name}", self.thread_path(thread)),
            None => self.thread_path(thread),
        }
    }

    pub(crate) fn thread_path(&self, thread: ThreadId) -> String {
        match self.threads.get(thread.index()) {
            Some(Thread { parent: Some(parent), count, .. }) => {
                format!("{}/{count}", self.thread_path(*parent))
            }
            Some(_) => String::from("main"),
            None => format!("thread {}", thread.index()),
        }
    }

    /// The name that the program gave the thread.
    pub(crate) fn given_name(&self, thread: ThreadId) -> Option<String> {
        self.threads.get(thread.index())?.name.clone()
    }
}

fn ptr(caller: &'static Location<'static>) -> usize {
    std::ptr::from_ref(caller) as usize
}
