//! What the threads of the program share with the one that runs them: the state of a run.
//!
//! There is one [`Context`] for each exploration, and it lives on the heap of the exploring thread of the
//! system. Fibers reach it through a thread-local pointer. It is borrowed for the time of one op and
//! never across a switch, so the two sides never hold it at the same time.

use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::Location;
use std::ptr;
#[cfg(feature = "parallel")]
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Op, OpKind, POINTER, PlaceId, Segment, is_pointer};
use rustc_hash::FxHashMap;
#[cfg(feature = "parallel")]
use serde::{Deserialize, Serialize};

use crate::heap::{BlockName, Heap};
use crate::names::{Kind, Names};

/// Where an op is in the source.
pub type Caller = &'static Location<'static>;

/// Says how many owners an object has.
pub(crate) type Owners = Box<dyn Fn() -> usize>;

/// What the current code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Not the program's.
    Outside,
    /// The program's.
    Running,
    /// The program's, cleaning up after the run: nothing is recorded any more.
    Ending,
}

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Outside) };
    static CURRENT: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

#[inline]
pub(crate) fn mode() -> Mode {
    MODE.get()
}

/// Makes this the current context, in this mode. Returns what was before.
#[inline]
pub(crate) fn enter(context: *const Context, mode: Mode) -> (*const Context, Mode) {
    (CURRENT.replace(context), MODE.replace(mode))
}

/// The context of the fiber that runs.
///
/// # Panics
/// Outside of an exploration.
#[inline]
#[track_caller]
pub(crate) fn current<'a>() -> &'a Context {
    let context = CURRENT.get();
    if context.is_null() {
        outside();
    }
    // SAFETY: `enter` is called with a context that lives until `enter` is called again.
    unsafe { &*context }
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!(
        "an object of raddle was used outside of an exploration: \
         put the code into raddle::check(|| ...)"
    )
}

/// The program panics, on the current fiber.
pub(crate) fn note_panic() {
    if mode() == Mode::Running {
        let mut state = current().state.borrow_mut();
        let thread = state.current;
        state.thread(thread).panics += 1;
    }
}

/// Which object a location is: the hidden word of everything that is shared.
///
/// Objects have constant constructors, so they cannot be registered when they are made. An object is
/// registered at its first op of a run; then the word holds the number of the run and the location.
#[derive(Debug)]
pub struct Tag(AtomicU64);

/// The low bits of a tag hold the location.
const LOCATION_BITS: u32 = 24;

/// Numbers of runs: unique in the process, as objects can be static.
static RUNS: AtomicU64 = AtomicU64::new(1);

/// Contents outside of runs that some run uses: where they are.
static OUTSIDE: Mutex<Vec<usize>> = Mutex::new(vec![]);

/// Says whether nobody uses these contents; from now on somebody does.
fn borrow_outside(contents: usize) -> bool {
    let outside = &mut *OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_free = !outside.contains(&contents);
    if is_free {
        outside.push(contents);
    }
    is_free
}

/// Nobody else has the list of these contents while this lives, so that a copy of the process can use it.
#[cfg(feature = "parallel")]
pub(crate) fn hold_outside() -> MutexGuard<'static, Vec<usize>> {
    OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn give_back_outside(contents: usize) {
    let outside = &mut *OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner);
    outside.retain(|&it| it != contents);
}

impl Tag {
    /// The tag of an object that no run has seen.
    #[must_use]
    pub const fn new() -> Self {
        Tag(AtomicU64::new(0))
    }

    fn address(&self) -> usize {
        ptr::from_ref(self) as usize
    }
}

impl Default for Tag {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Tag {
    /// Another object may lie here from now on.
    fn drop(&mut self) {
        if mode() == Mode::Running {
            let _quiet = crate::heap::quiet();
            let context = current();
            let state = &mut *context.state.borrow_mut();
            let address = state.encode(&context.heap, self.address() as u64);
            if is_pointer(address) {
                // Who else knows the address counts what was there, too.
                state.is_shared |= !state.is_own(&context.heap, self.address());
                state.objects += 1;
                *state.buried.entry(address).or_insert(0) += 1;
            }
        }
    }
}

/// Memory that a thread may change behind our back, because it holds a `&mut` to it.
#[derive(Clone, Copy)]
pub(crate) struct Lent {
    pub(crate) thread: ThreadId,
    pub(crate) tag: *const Tag,
    pub(crate) word: u64,
    pub(crate) atom: *const crate::atom::Atom,
    pub(crate) location: LocationId,
    pub(crate) place: PlaceId,
    /// What was there when we last looked.
    pub(crate) bits: u64,
}

/// What a run knows of a thread.
#[derive(Default)]
pub(crate) struct Thread {
    /// What it will do, until it starts.
    pub(crate) body: Option<Box<dyn FnOnce()>>,
    /// Whether its closure has something that must be dropped.
    pub(crate) owns: bool,
    /// Whether all that may be reached from there is in the run, if that is known.
    pub(crate) is_self_contained: Option<bool>,
    pub(crate) spawned: u32,
    pub(crate) events: u32,
    /// Where its last op was.
    pub(crate) place: PlaceId,
    /// How often it panicked.
    pub(crate) panics: u32,
    /// The locations whose initial value it has stated.
    stated: Vec<u64>,
    /// The lowest and highest address of its stack.
    pub(crate) stack: (usize, usize),
    /// Where the program's part of its stack ends.
    pub(crate) top: usize,
    /// What it gives to whoever joins it, if that is a plain value.
    pub(crate) given: Option<Value>,
    /// Its blocks from this one on are known to nobody else.
    pub(crate) private: usize,
}

impl Thread {
    /// Whether it has started in this run.
    pub(crate) fn is_in_run(&self) -> bool {
        self.stack.1 != 0
    }

    /// It has not started yet, although it had.
    pub(crate) fn start_again(&mut self, body: Box<dyn FnOnce()>) {
        let (owns, is_self_contained) = (self.owns, self.is_self_contained);
        self.reset();
        *self = Thread { body: Some(body), owns, is_self_contained, ..mem::take(self) };
    }

    /// Nothing has happened yet. What is allocated stays.
    fn reset(&mut self) {
        let mut stated = mem::take(&mut self.stated);
        stated.clear();
        *self = Thread { stated, ..Thread::default() };
    }
}

/// The reply to a question.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reply {
    /// The value that was read; pointers as in ops.
    pub(crate) value: Value,
    /// Whether a weak compare-exchange failed although it read what it expected.
    pub(crate) spurious: bool,
}

/// What fibers and the one who runs them share.
pub(crate) struct Context {
    pub(crate) heap: Heap,
    pub(crate) state: RefCell<State>,
    /// The question that the current fiber asks.
    pub(crate) question: Cell<Option<Op>>,
    pub(crate) reply: Cell<Reply>,
    /// Whether fibers stop at effects, too.
    pub(crate) pauses: Cell<bool>,
}

/// The state of a run.
pub(crate) struct State {
    pub(crate) names: Names,
    /// The number of the run.
    run: u64,
    pub(crate) current: ThreadId,
    threads: Vec<Thread>,
    /// What the current thread has done since its last question.
    pub(crate) segment: Vec<Op>,
    /// For each location the run that knows it, and its initial value.
    locations: Vec<(u64, Value)>,
    /// For each block the run that knows it, and where it is.
    bases: Vec<(u64, usize)>,
    /// How many objects that lay at an address are gone.
    buried: FxHashMap<Value, u32>,
    /// Variables that are lent, or were.
    pub(crate) lent: Vec<Lent>,
    /// What is kept until the run ends.
    pub(crate) kept: Vec<Box<dyn FnOnce()>>,
    /// Objects that should have no owners in the end: how many they have, and where they were made.
    pub(crate) watched: Vec<(Owners, Caller)>,
    /// Objects that are kept whose contents are gone.
    pub(crate) taken: Vec<usize>,
    /// Contents of objects that outlive the run, as they were.
    before: Vec<(*mut u8, Vec<u8>)>,
    /// How many objects were made in, or dropped from, memory of the thread that did it.
    pub(crate) objects: u64,
    /// Where the numbers of owners of objects are that are shared.
    pub(crate) counted: Vec<usize>,
    /// Whether a thread was joined that is not part of the run.
    pub(crate) is_blind: bool,
    /// Whether threads turned out to share memory that no op carries.
    pub(crate) is_shared: bool,
    /// Memory that changes together with ops, or that nobody sees: addresses and lengths.
    pub(crate) tracked: Vec<(usize, usize)>,
    /// Where the tags of objects are.
    tags: Vec<usize>,
    pub(crate) settings: Settings,
    /// What the program turned out to need, which the settings do not have.
    pub(crate) wanted: Settings,
}

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "parallel", derive(Serialize, Deserialize))]
pub struct Settings {
    /// How many events a thread may have.
    pub max_events: u32,
    /// Whether a mutex can be tried: then its ops are [`OpKind::Sync`], otherwise the cheaper
    /// [`OpKind::Lock`] and [`OpKind::Unlock`].
    pub mutexes_can_be_tried: bool,
    /// Whether the owners of shared objects are counted, by ops.
    pub owners_are_counted: bool,
    /// Whether threads write memory that no op carries: then a join is answered with the history of the
    /// joined thread, otherwise with its result.
    pub joins_carry: bool,
    /// Whether objects are watched that should have no owners in the end.
    pub leaks_are_sought: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            max_events: 1_000_000,
            mutexes_can_be_tried: false,
            owners_are_counted: false,
            joins_carry: false,
            leaks_are_sought: false,
        }
    }
}

/// Addresses have so many bits; what is above them is a tag.
const ADDRESS_BITS: u32 = 48;

/// Below this there is no memory.
const FIRST_ADDRESS: u64 = 4096;

impl Context {
    pub(crate) fn new(settings: Settings) -> Self {
        let state = State {
            names: Names::new(),
            run: 0,
            current: ThreadId::new(0),
            threads: vec![],
            segment: vec![],
            locations: vec![],
            bases: vec![],
            buried: FxHashMap::default(),
            lent: vec![],
            kept: vec![],
            watched: vec![],
            taken: vec![],
            before: vec![],
            objects: 0,
            counted: vec![],
            is_blind: false,
            is_shared: false,
            tracked: vec![],
            tags: vec![],
            settings,
            wanted: settings,
        };
        Context {
            heap: Heap::default(),
            state: RefCell::new(state),
            question: Cell::new(None),
            reply: Cell::new(Reply::default()),
            pauses: Cell::new(false),
        }
    }
}

impl State {
    /// A new run: nothing is known but names.
    pub(crate) fn begin_run(&mut self) {
        self.run = RUNS.fetch_add(1, Ordering::Relaxed);
        self.threads.iter_mut().for_each(Thread::reset);
        self.buried.clear();
        self.lent.clear();
        self.watched.clear();
        self.segment.clear();
        self.tracked.clear();
        self.tags.clear();
        self.counted.clear();
        self.is_blind = false;
    }

    #[inline]
    pub(crate) fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        let index = thread.index();
        if index >= self.threads.len() {
            self.threads.resize_with(index + 1, Thread::default);
        }
        &mut self.threads[index]
    }

    /// The threads of the run and those that might be.
    pub(crate) fn threads(&mut self) -> &mut [Thread] {
        &mut self.threads
    }

    /// Records an effect of the current thread. Says whether that may have no more events.
    #[inline]
    pub(crate) fn push(&mut self, kind: OpKind, place: PlaceId) -> bool {
        self.segment.push(Op { kind, place });
        self.count_event() || self.segment.len() > Segment::LONGEST
    }

    /// Counts an event of the current thread. Says whether that may have no more.
    #[inline]
    pub(crate) fn count_event(&mut self) -> bool {
        let (current, limit) = (self.current, self.settings.max_events);
        let events = &mut self.thread(current).events;
        *events += 1;
        *events > limit
    }

    /// The place of an op of the current thread.
    #[inline]
    pub(crate) fn place(&mut self, caller: Caller) -> PlaceId {
        let place = self.names.place(caller);
        let current = self.current;
        self.thread(current).place = place;
        place
    }

    /// The location of an object, which is registered if this is its first op of the run. `initial` is
    /// its initial value, if it has one.
    #[inline]
    pub(crate) fn locate(
        &mut self,
        heap: &Heap,
        tag: &Tag,
        kind: Kind,
        initial: impl FnOnce(&mut Self) -> Value,
    ) -> LocationId {
        let word = tag.0.load(Ordering::Relaxed);
        if word >> LOCATION_BITS == self.run {
            return LocationId::new((word & ((1 << LOCATION_BITS) - 1)) as usize);
        }
        let value = initial(self);
        self.register(heap, tag, kind, value)
    }

    #[cold]
    fn register(&mut self, heap: &Heap, tag: &Tag, kind: Kind, value: Value) -> LocationId {
        let address = self.encode(heap, tag.address() as u64);
        let mut which = self.buried.get(&address).copied().unwrap_or(0);
        let location = loop {
            let location = self.names.location((address, which, kind), self.current);
            // An object that lasts (a static one, say) can be known to several explorations.
            if !self.is_known(location) || !is_pointer(address) {
                break location;
            }
            which += 1;
        };
        self.know(location, value);
        self.objects += u64::from(self.is_own(heap, tag.address()));
        // If it was moved here, a thread that is not part of the run may know it by another name.
        self.is_shared |= self.is_blind && !self.names.is_met_by_others(location, self.current);
        // What the tag of an atomic variable is followed by is its memory.
        let words = if kind == Kind::Atomic { 2 } else { 1 };
        self.tracked.push((tag.address(), words * mem::size_of::<Tag>()));
        self.tags.push(tag.address());
        assert!(location.index() >> LOCATION_BITS == 0, "there are fewer than 2^24 locations");
        tag.0.store(self.run << LOCATION_BITS | location.index() as u64, Ordering::Relaxed);
        location
    }

    /// The location of something that has no tag.
    pub(crate) fn locate_untagged(&mut self, address: Value, kind: Kind) -> LocationId {
        let location = self.names.location((address, 0, kind), self.current);
        if !self.is_known(location) {
            self.know(location, 0);
        }
        location
    }

    fn is_known(&self, location: LocationId) -> bool {
        self.locations.get(location.index()).is_some_and(|&(run, _)| run == self.run)
    }

    fn know(&mut self, location: LocationId, initial: Value) {
        if self.locations.len() <= location.index() {
            self.locations.resize(location.index() + 1, (0, 0));
        }
        let known = &mut self.locations[location.index()];
        if known.0 != self.run {
            *known = (self.run, initial);
        }
    }

    /// States the initial value of a location, if it is not 0 and the thread has not stated it.
    #[inline]
    pub(crate) fn state_initial(&mut self, location: LocationId, place: PlaceId) {
        let value = self.locations[location.index()].1;
        if value == 0 {
            return;
        }
        let current = self.current;
        let stated = &mut self.thread(current).stated;
        let (word, bit) = (location.index() / 64, 1u64 << (location.index() % 64));
        if stated.len() <= word {
            stated.resize(word + 1, 0);
        }
        if stated[word] & bit == 0 {
            stated[word] |= bit;
            self.segment.push(Op { kind: OpKind::Init { location, value }, place });
        }
    }

    /// What ops say instead of an address, if the number is one: the block and the offset.
    #[inline]
    pub(crate) fn encode(&mut self, heap: &Heap, bits: u64) -> Value {
        let address = bits & ((1 << ADDRESS_BITS) - 1);
        if address < FIRST_ADDRESS {
            return Value::from(bits);
        }
        let Some((base, name)) = heap.find(address as usize).or_else(|| self.on_stack(address))
        else {
            return Value::from(bits);
        };
        let block = self.names.block(name);
        if self.bases.len() <= block as usize {
            self.bases.resize(block as usize + 1, (0, 0));
        }
        self.bases[block as usize] = (self.run, base);
        POINTER + (Value::from(block) << 64) + Value::from(bits.wrapping_sub(base as u64))
    }

    /// Whether the address is on the stack of a thread.
    pub(crate) fn is_on_stack(&self, address: usize) -> bool {
        self.on_stack(address as u64).is_some()
    }

    /// Whether the tag of an object of the run is at this address.
    pub(crate) fn is_tag(&self, address: usize) -> bool {
        self.tags.contains(&address)
    }

    /// Whether the number may be a pointer to a block that was shifted.
    pub(crate) fn is_shifted_pointer(&self, heap: &Heap, bits: u64) -> bool {
        let points =
            |address: u64| address < 1 << ADDRESS_BITS && heap.find(address as usize).is_some();
        bits >= 1 << 32
            && ((1..=16).any(|by| points(bits >> by)) || (1..=4).any(|by| points(bits << by)))
    }

    /// A stack is a block of its thread.
    fn on_stack(&self, address: u64) -> Option<(usize, BlockName)> {
        let on = |stack: (usize, usize)| stack.0 as u64 <= address && address < stack.1 as u64;
        let thread = self.threads.iter().position(|thread| on(thread.stack))?;
        let name = BlockName { thread: thread as u32, size: 0, count: 0 };
        Some((self.threads[thread].stack.0, name))
    }

    /// The number behind a value; none if it is a pointer to no block of this run.
    pub(crate) fn decode(&self, value: Value) -> Option<u64> {
        if !is_pointer(value) {
            return Some(value as u64);
        }
        let block = (value - POINTER) >> 64;
        match self.bases.get(block as usize) {
            Some(&(run, base)) if run == self.run => Some((base as u64).wrapping_add(value as u64)),
            _ => None,
        }
    }

    /// Whether the address is in a block or on the stack of the current thread. Of the main thread it does
    /// not matter: nobody joins it.
    fn is_own(&self, heap: &Heap, address: usize) -> bool {
        let stack = self.threads.get(self.current.index()).map_or((0, 0), |thread| thread.stack);
        let is_of = |name: BlockName| name.thread == self.current.index() as u32;
        self.current == ThreadId::new(0)
            || (stack.0 <= address && address < stack.1)
            || heap.find(address).is_some_and(|(_, name)| is_of(name))
    }

    /// Whether the object has not been used in this run.
    #[inline]
    pub(crate) fn is_new(&self, tag: &Tag) -> bool {
        Self::tag_word(tag) >> LOCATION_BITS != self.run
    }

    /// Notes contents that must be put back. Says whether another exploration uses them now.
    pub(crate) fn keep_bytes(&mut self, contents: *mut u8, size: usize) -> bool {
        if self.before.iter().all(|&(known, _)| known != contents) {
            if !borrow_outside(contents.addr()) {
                return true;
            }
            // SAFETY: whoever calls this has the contents.
            let bytes = unsafe { std::slice::from_raw_parts(contents, size) };
            self.before.push((contents, bytes.to_vec()));
        }
        false
    }

    /// Puts back what outlives the run.
    pub(crate) fn end_run(&mut self) {
        self.taken.clear();
        for (contents, bytes) in self.before.drain(..) {
            // SAFETY: the object outlives the run, the contents need no destructor, and no thread of
            // the program is left.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), contents, bytes.len()) };
            give_back_outside(contents.addr());
        }
    }

    /// Whether the object still has the tag that it had.
    #[inline]
    pub(crate) fn tag_word(tag: &Tag) -> u64 {
        tag.0.load(Ordering::Relaxed)
    }
}
