//! The threads of the program.

use raddle_core::execution::{LocationId, Value};
use raddle_core::program::{HistoryId, Op, OpKind, PlaceId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::heap::Heap;
use crate::layout::{Cut, Locations};
use crate::loops::Private;
use crate::past::Past;
use crate::slots::{BELOW, BELOW_LIBRARY, Slot};
use crate::switch::{Caller, Frame};

/// What a thread waits for, and what to do with the answer.
#[derive(Clone, Debug, Default)]
#[repr(u8)] // As for `OpKind`.
pub(crate) enum Waiting {
    /// Nothing.
    #[default]
    Nothing,
    /// Plain loads: these locations, of which the first ones have been read. All values go to memory at once: other
    /// threads may use it before the last of them is known.
    Plain { locations: Locations, values: SmallVec<[Value; 1]> },
    /// An atomic access by a hook.
    Atomic { location: LocationId, result: AtomicResult },
    /// Whether the block was freed to which it is about to store.
    Block { address: usize, size: usize, then: Then },
    /// Whether others access this piece of memory, in pieces of different sizes, which it is about to load from.
    Piece { piece: usize, address: usize, size: usize, cut: Cut },
    /// Anything that a library function asked for: it gets the value.
    Reply,
    /// An atomic access by a library function.
    ReplyAtomic { location: LocationId },
    /// A lock that a library function asked for.
    Lock { address: usize, is_tried: bool },
}

/// A store that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// A plain one.
    Plain(Cut),
    /// An atomic one.
    Atomic(OpKind),
}

/// What a hook returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum AtomicResult {
    /// The value that was read, and unless that is large whether something was written.
    Old,
    /// Whether a compare-exchange succeeded. If not, the value goes to the address.
    Success { expected: Value, address: usize },
}

/// A plain store whose value is not yet in memory, or not yet taken from there.
#[derive(Clone, Debug)]
pub(crate) struct PlainStore {
    pub(crate) locations: Locations,
    /// What to put back when the values have been taken.
    pub(crate) borrowed: Vec<Borrowed>,
    pub(crate) place: PlaceId,
}

/// Bytes of another thread's stack that must be put back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Borrowed {
    pub(crate) address: usize,
    pub(crate) size: usize,
    pub(crate) bytes: u128,
}

/// A thread.
pub(crate) struct Thread {
    /// Its registers. They have an address of their own, which its stack refers to.
    pub(crate) frame: Box<Frame>,
    pub(crate) slot: Slot,
    /// The history at whose end it stands, with a question.
    pub(crate) at: Option<HistoryId>,
    /// How many functions it has started: constructors, and then its own.
    pub(crate) phase: usize,
    pub(crate) waiting: Waiting,
    /// Its question, if it has one.
    pub(crate) question: Option<Op>,
    pub(crate) stores: Vec<PlainStore>,
    pub(crate) borrowed: Vec<Borrowed>,
    /// What it was given to load, and may still have to load, after more questions.
    pub(crate) loaded: Vec<(LocationId, Value)>,
    /// Whether it goes on to hold what it was given to load.
    pub(crate) holds: bool,
    /// Who called the hook or library function in which it is.
    pub(crate) caller: Caller,
    /// How many ops it has done since that was called.
    pub(crate) ops_in_call: u32,
    /// How many threads it has spawned.
    pub(crate) spawned: u32,
    pub(crate) heap: Heap,
    /// The mutexes that it holds.
    pub(crate) held: Vec<usize>,
    /// Variables that only this thread uses: from and to.
    pub(crate) owned: Vec<(usize, usize)>,
    pub(crate) remembered: FxHashMap<(u32, u64), u64>,
    /// What it was at its last questions.
    pub(crate) past: Past,
    pub(crate) private: Private,
    /// The lowest stack pointer that was seen.
    pub(crate) lowest: usize,
    /// How many bytes of its stack, from the lowest address on, are its own, whoever begins to access them there.
    pub(crate) own_stack: usize,
    /// What it printed since its last question.
    pub(crate) printed: String,
    /// How many ops it has done.
    pub(crate) events: u32,
    /// Whether it has asked where its thread-local variables are.
    pub(crate) uses_locals: bool,
    /// Whether it has called a function of a library.
    pub(crate) uses_library: bool,
    /// Whether a part of it is in memory of the system's.
    pub(crate) is_kept_elsewhere: bool,
    /// How often it had to start again, or go back.
    pub(crate) repeats: u32,
}

impl Thread {
    /// A thread that has not started.
    pub(crate) fn new(slot: Slot, shims: usize) -> Self {
        let frame = Box::new(Frame::new(shims));
        Thread {
            frame,
            slot,
            at: None,
            phase: 0,
            waiting: Waiting::Nothing,
            question: None,
            stores: vec![],
            borrowed: vec![],
            loaded: vec![],
            holds: false,
            caller: Caller::default(),
            ops_in_call: 0,
            spawned: 0,
            heap: Heap::default(),
            held: vec![],
            owned: vec![],
            remembered: FxHashMap::default(),
            past: Past::default(),
            private: Private::default(),
            lowest: slot.stack_top(),
            own_stack: 0,
            printed: String::new(),
            events: 0,
            uses_locals: false,
            uses_library: false,
            is_kept_elsewhere: false,
            repeats: 0,
        }
    }

    /// Below this address it has not used its stack.
    pub(crate) fn used_from(&self) -> usize {
        let below = if self.uses_library { BELOW_LIBRARY } else { BELOW };
        self.lowest.saturating_sub(below).max(self.slot.stack_limit())
    }

    /// It did an op.
    #[inline]
    pub(crate) fn count_op(&mut self) {
        self.events += 1;
        self.ops_in_call += 1;
        self.private.clear();
    }

    /// It changed memory of its own, other than its stack.
    #[inline]
    pub(crate) fn changed(&mut self) {
        self.past.changed();
        self.private.changed();
    }

    /// Makes it as it was in the beginning, except for the variables that it owns.
    pub(crate) fn reset(&mut self) {
        self.slot.clear_stack(self.lowest);
        self.lowest = self.slot.stack_top();
        self.at = None;
        self.phase = 0;
        self.waiting = Waiting::Nothing;
        self.question = None;
        self.stores.clear();
        self.borrowed.clear();
        self.loaded.clear();
        self.holds = false;
        self.caller = Caller::default();
        self.ops_in_call = 0;
        self.spawned = 0;
        self.heap = Heap::default();
        self.held.clear();
        self.remembered.clear();
        self.past.clear();
        self.private.clear();
        self.printed.clear();
        self.events = 0;
        self.uses_locals = false;
        self.uses_library = false;
        self.is_kept_elsewhere = false;
    }
}
