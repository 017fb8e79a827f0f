//! What a run asks a memory model.
//!
//! A machine keeps what reads may still observe, and nothing else. Events have numbers.
//! Locks and synchronization objects are not its business, but for what they order.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::program::Update;

use super::decide::{Decide, Kind, Moment};

/// A step of a thread, which may have something to decide.
pub(super) struct Turn<'a, D: ?Sized> {
    pub(super) decide: &'a mut D,
    pub(super) moment: Moment,
    /// Whether the default is wanted, whoever decides.
    pub(super) plain: bool,
    /// The number of the event.
    pub(super) event: u32,
}

impl<D: Decide + ?Sized> Turn<'_, D> {
    pub(super) fn thread(&self) -> usize {
        self.moment.thread as usize
    }

    /// Which of the options; 0 is the default.
    #[inline]
    pub(super) fn pick(&mut self, kind: Kind, options: usize) -> usize {
        if options < 2 || self.plain {
            return 0;
        }
        self.decide.pick(self.moment, kind, options)
    }
}

/// What a read observed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) value: Value,
    /// Whether the value is a pointer to memory that no op carries.
    pub(super) carries: bool,
    /// The event that wrote it.
    pub(super) event: u32,
    /// Whether it is the newest write of its location.
    pub(super) newest: bool,
}

/// An atomic read-modify-write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Update(Update),
    CompareExchange { expected: Value, desired: Value, carries: bool, weak: bool },
}

/// What became of one: what it observed, what it wrote, and whether it failed for no reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    pub(super) source: Source,
    pub(super) written: Option<(Value, bool)>,
    pub(super) spurious: bool,
}

impl Change {
    /// What it writes if it observes this, and whether that is a pointer; nothing if it fails.
    #[inline]
    pub(super) fn apply(&self, source: &Source) -> Option<(Value, bool)> {
        match *self {
            Change::Update(update) => {
                let swaps = update.kind == raddle_core::program::UpdateKind::Swap;
                let carries = update.carries || source.carries && !swaps;
                Some((update.apply(source.value), carries))
            }
            Change::CompareExchange { expected, desired, carries, .. } => {
                (source.value == expected).then_some((desired, carries))
            }
        }
    }

    pub(super) fn is_weak(&self) -> bool {
        matches!(self, Change::CompareExchange { weak: true, .. })
    }
}

/// The event of another thread with which one races: its thread, and how many ops that had done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Racing {
    pub(super) thread: usize,
    pub(super) ops: u32,
}

/// An access that may race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) location: usize,
    pub(super) writes: bool,
    /// Whether it is not atomic.
    pub(super) plain: bool,
}

/// What was stored, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) location: usize,
    pub(super) value: Value,
    pub(super) carries: bool,
    pub(super) order: MemoryOrder,
}

/// A memory model that runs forwards.
pub(super) trait Machine {
    fn new(model: Model) -> Self;

    /// Leaves the order of sequentially consistent events open in the next runs, or no more. False: it has no such order.
    fn set_open(&mut self, _is_open: bool) -> bool {
        false
    }

    /// Nothing has happened yet. What is allocated stays.
    fn restart(&mut self);

    /// Makes room for a location that nobody has accessed.
    fn add_location(&mut self, location: usize, initial: Value);

    /// A thread starts, by a step of another one.
    fn start(&mut self, thread: usize, parent: Option<usize>);

    /// A thread begins its next op.
    fn begin(&mut self, thread: usize);

    /// A thread has come to its end.
    fn end(&mut self, _thread: usize) {}

    /// Whether a thread waits for the end of another one, and so reads nothing before that.
    fn set_joining(&mut self, _thread: usize, _joins: bool) {}

    fn store<D: Decide + ?Sized>(&mut self, turn: &mut Turn<'_, D>, stored: &Stored);

    fn load<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        order: MemoryOrder,
    ) -> Source;

    /// `orders`: if it writes, and if it does not.
    fn change<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        change: &Change,
        orders: (MemoryOrder, MemoryOrder),
    ) -> Changed;

    fn fence(&mut self, thread: usize, order: MemoryOrder);

    fn store_fence(&mut self, thread: usize);

    /// The thread acquires what the last update of the object released, and releases.
    fn synchronize(&mut self, thread: usize, location: usize);

    fn join(&mut self, thread: usize, child: usize);

    /// An access that may race, before it is done: what it races with. Or it turns out that this is not known, and
    /// the run has to start again.
    fn race(&mut self, thread: usize, access: Access) -> Result<Option<Racing>, StartAgain>;

    /// Whether races of plain accesses are errors.
    fn has_races(&self) -> bool;

    /// Whether no store of the thread is on its way.
    fn is_drained(&self, _thread: usize) -> bool {
        true
    }

    /// Returns `true` if an op waits until all stores of its thread have reached memory.
    fn drains(&self, _op: &OpKind) -> bool {
        false
    }

    /// A store of the thread that is on its way reaches memory.
    fn flush<D: Decide + ?Sized>(&mut self, _turn: &mut Turn<'_, D>) {}

    /// Whether so many stores of the thread are on their way that some have to reach memory.
    fn is_full(&self, _thread: usize) -> bool {
        false
    }
}

/// The run has to start again.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartAgain;
