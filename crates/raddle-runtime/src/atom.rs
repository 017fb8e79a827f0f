//! Atomic variables.
//!
//! The memory of a variable holds its initial value; what is stored later is known to the explorer
//! only. Whoever has a `&mut` to a variable may ask for one to its memory: then the current value is put
//! there, and what the program makes of it is taken back, as a store, at the thread's next op.
//!
//! Questions are inlined into the program, so that nothing but the program is on the stack where it
//! waits: what a frame of ours has in its gaps would differ from time to time, and `spin` would see that.

use std::cell::UnsafeCell;
use std::mem::{self, MaybeUninit};
use std::panic::RefUnwindSafe;

use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{OpKind, PlaceId, Update, UpdateKind, is_pointer};

use crate::ask;
use crate::entry::{Entry, reply};
use crate::names::Kind;
use crate::state::{self, Caller, Context, Lent, Mode, Reply, State, Tag};

/// What a location holds after its object is gone.
pub const GONE: Value = -(1 << 100);

/// The integer type of an atomic variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its width.
    pub bits: u8,
    /// Whether it is signed.
    pub signed: bool,
}

/// An atomic variable of any integer type. Its memory holds the initial value and is not changed by ops.
#[derive(Debug)]
#[repr(C)]
pub struct Atom {
    tag: Tag,
    /// It may hold a pointer, which is not a number while constants are evaluated.
    memory: UnsafeCell<MaybeUninit<u64>>,
    shape: Shape,
}

// SAFETY: the memory is read by ops only, and written through `&mut` only.
unsafe impl Sync for Atom {}
impl RefUnwindSafe for Atom {}

impl Atom {
    /// A variable with this initial value.
    #[must_use]
    pub const fn new(bits: u64, shape: Shape) -> Self {
        Atom { tag: Tag::new(), memory: UnsafeCell::new(MaybeUninit::new(bits)), shape }
    }

    /// A variable with an initial value that is a pointer.
    #[must_use]
    pub const fn of_pointer(pointer: MaybeUninit<u64>) -> Self {
        let shape = Shape { bits: 64, signed: false };
        Atom { tag: Tag::new(), memory: UnsafeCell::new(pointer), shape }
    }

    fn memory(&self) -> u64 {
        // SAFETY: nobody writes at the same time: a `&mut` excludes ops. It is always initialised.
        unsafe { (*self.memory.get()).assume_init() }
    }

    /// The value that ops speak of.
    fn value(&self, context: &Context, state: &mut State, bits: u64) -> Value {
        match self.shape {
            Shape { bits: 64, signed } => match state.encode(&context.heap, bits) {
                value if signed && !is_pointer(value) => Value::from(bits as i64),
                value => value,
            },
            Shape { bits: width, signed: true } => {
                let shift = 64 - u32::from(width);
                Value::from(((bits << shift) as i64) >> shift)
            }
            Shape { signed: false, .. } => Value::from(bits),
        }
    }

    /// The bits of a value.
    fn bits(&self, entry: &Entry<'_>, value: Value, place: PlaceId) -> u64 {
        if value == GONE {
            entry.fail(
                FindingKind::UseAfterDrop,
                "an atomic variable was used after it had been dropped",
                place,
            );
        }
        let bits = entry.context.state.borrow().decode(value);
        let Some(bits) = bits else {
            entry.fail(
                FindingKind::Misuse,
                "a pointer was read that is the result of arithmetic with two pointers",
                place,
            );
            return 0;
        };
        if self.shape.bits == 64 { bits } else { bits & ((1 << self.shape.bits) - 1) }
    }

    fn update(&self, kind: UpdateKind, operand: Value) -> Update {
        // What replaces a value is in range already, and it may be a pointer, which has more bits.
        let replaces = matches!(kind, UpdateKind::Swap | UpdateKind::Max | UpdateKind::Min);
        let Shape { bits, signed } = self.shape;
        let carries = is_pointer(operand);
        Update { kind, operand, bits: if replaces { 0 } else { bits }, signed, carries }
    }
}

impl Drop for Atom {
    /// The end of a variable is an access: whoever accesses it later, or at the same time, is wrong.
    fn drop(&mut self) {
        if state::mode() != Mode::Running {
            return;
        }
        let Some(entry) = Entry::new() else { return };
        let place = entry.last_place();
        let location = entry.locate_atom(self, place);
        let order = MemoryOrder::NonAtomic;
        entry.effect(OpKind::Store { location, value: GONE, order, carries: false }, place);
    }
}

impl Entry<'_> {
    pub(crate) fn locate_atom(&self, atom: &Atom, place: PlaceId) -> LocationId {
        let state = &mut *self.context.state.borrow_mut();
        let initial = |state: &mut State| atom.value(self.context, state, atom.memory());
        let location = state.locate(&self.context.heap, &atom.tag, Kind::Atomic, initial);
        state.state_initial(location, place);
        if !state.lent.is_empty() {
            self.take_back_used(state, atom, location);
        }
        location
    }

    pub(crate) fn value(&self, atom: &Atom, bits: u64) -> Value {
        let value = atom.value(self.context, &mut self.context.state.borrow_mut(), bits);
        let hides = !is_pointer(value)
            && self.context.state.borrow().is_shifted_pointer(&self.context.heap, bits);
        if hides {
            let message = "a pointer that was shifted cannot be kept in an atomic variable";
            self.fail(FindingKind::Misuse, message, self.last_place());
        }
        value
    }

    /// Refuses updates that make a number of a pointer or a pointer of a number, as nobody knows either by
    /// its bits.
    fn refuse_pointer_arithmetic(&self, atom: &Atom, kind: UpdateKind, read: u64, operand: u64) {
        let place = self.last_place();
        let [before, by] = [read, operand].map(|bits| self.value(atom, bits));
        let real = match kind {
            UpdateKind::Swap => return,
            UpdateKind::Max | UpdateKind::Min if !is_pointer(before) && !is_pointer(by) => return,
            UpdateKind::Max | UpdateKind::Min => None,
            UpdateKind::Add => Some(read.wrapping_add(operand)),
            UpdateKind::Sub => Some(read.wrapping_sub(operand)),
            UpdateKind::And => Some(read & operand),
            UpdateKind::Nand => Some(!(read & operand)),
            UpdateKind::Or => Some(read | operand),
            UpdateKind::Xor => Some(read ^ operand),
        };
        let modelled = atom.update(kind, by).apply(before);
        if real.map(|bits| self.value(atom, bits)) != Some(modelled) {
            let message = "an atomic update makes a number of a pointer, a pointer of a number, \
                           or compares pointers: this is not supported";
            self.fail(FindingKind::Misuse, message, place);
        }
    }

    /// What the program changed through a `&mut` to a variable is a store.
    #[inline]
    pub(crate) fn take_back(&self) {
        let state = &mut *self.context.state.borrow_mut();
        if !state.lent.is_empty() {
            self.take_back_lent(state);
        }
    }

    /// Takes back what the current thread may have changed. What was moved is left alone until it is used.
    #[cold]
    fn take_back_lent(&self, state: &mut State) {
        let current = state.current;
        let mut lent = mem::take(&mut state.lent);
        for lent in lent.iter_mut().filter(|lent| lent.thread == current) {
            // SAFETY: a variable that is dropped is taken off the list, and memory that is freed, or a
            // stack that is popped, is still there. If something else is there now the tag says so.
            if unsafe { State::tag_word(&*lent.tag) } == lent.word {
                // SAFETY: as above.
                self.store_if_changed(state, unsafe { &*lent.atom }, lent);
            }
        }
        state.lent = lent;
    }

    /// The variable is used, maybe elsewhere and by another thread, so it is not lent any more. If it was
    /// moved, what was changed before is taken back now.
    #[cold]
    fn take_back_used(&self, state: &mut State, atom: &Atom, location: LocationId) {
        if let Some(at) = state.lent.iter().position(|lent| lent.location == location) {
            let mut lent = state.lent.swap_remove(at);
            self.store_if_changed(state, atom, &mut lent);
        }
    }

    fn store_if_changed(&self, state: &mut State, atom: &Atom, lent: &mut Lent) {
        let bits = atom.memory();
        if bits == lent.bits {
            return;
        }
        lent.bits = bits;
        let value = atom.value(self.context, state, bits);
        let (location, order) = (lent.location, MemoryOrder::NonAtomic);
        let carries = is_pointer(value);
        state.push(OpKind::Store { location, value, order, carries }, lent.place);
    }
}

/// The reply to the question that was prepared, as bits of the variable.
#[inline(never)]
fn reply_bits(atom: &Atom) -> u64 {
    let Reply { value, .. } = reply();
    let Some(entry) = Entry::new() else { return 0 };
    atom.bits(&entry, value, entry.last_place())
}

/// A load.
#[inline(always)]
#[must_use]
#[track_caller]
pub fn load(atom: &Atom, order: MemoryOrder, caller: Caller) -> u64 {
    prepare_load(atom, order, caller);
    ask::ask();
    reply_bits(atom)
}

#[inline(never)]
#[track_caller]
fn prepare_load(atom: &Atom, order: MemoryOrder, caller: Caller) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let location = entry.locate_atom(atom, place);
    entry.prepare(OpKind::Load { location, order }, place);
}

/// A store.
#[track_caller]
pub fn store(atom: &Atom, bits: u64, order: MemoryOrder, caller: Caller) {
    let Some(entry) = Entry::new() else { return };
    let place = entry.place(caller);
    let location = entry.locate_atom(atom, place);
    let value = entry.value(atom, bits);
    entry.effect(OpKind::Store { location, value, order, carries: is_pointer(value) }, place);
}

/// An update. Returns what it read.
#[inline(always)]
#[track_caller]
pub fn update(
    atom: &Atom,
    kind: UpdateKind,
    operand: u64,
    order: MemoryOrder,
    caller: Caller,
) -> u64 {
    prepare_update(atom, kind, operand, order, caller);
    ask::ask();
    reply_update(atom, kind, operand)
}

#[inline(never)]
fn reply_update(atom: &Atom, kind: UpdateKind, operand: u64) -> u64 {
    let bits = reply_bits(atom);
    if atom.shape.bits == 64
        && let Some(entry) = Entry::new()
    {
        entry.refuse_pointer_arithmetic(atom, kind, bits, operand);
    }
    bits
}

#[inline(never)]
#[track_caller]
fn prepare_update(atom: &Atom, kind: UpdateKind, operand: u64, order: MemoryOrder, caller: Caller) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let location = entry.locate_atom(atom, place);
    let update = atom.update(kind, entry.value(atom, operand));
    entry.prepare(OpKind::Rmw { location, update, order, is_blind: false }, place);
}

/// The memory orders of a compare-exchange.
#[derive(Clone, Copy, Debug)]
pub struct Orders {
    /// If it succeeds.
    pub success: MemoryOrder,
    /// If it fails.
    pub failure: MemoryOrder,
    /// Whether it may fail although the values are equal.
    pub weak: bool,
}

/// A compare-exchange.
///
/// # Errors
/// What it read, if it fails.
#[inline(always)]
#[track_caller]
pub fn compare_exchange(
    atom: &Atom,
    expected: u64,
    desired: u64,
    orders: Orders,
    caller: Caller,
) -> Result<u64, u64> {
    prepare_compare_exchange(atom, expected, desired, orders, caller);
    ask::ask();
    reply_exchange(atom, expected)
}

#[inline(never)]
fn reply_exchange(atom: &Atom, expected: u64) -> Result<u64, u64> {
    let bits = reply_bits(atom);
    if bits == expected && !state::current().reply.get().spurious { Ok(bits) } else { Err(bits) }
}

#[inline(never)]
#[track_caller]
fn prepare_compare_exchange(
    atom: &Atom,
    expected: u64,
    desired: u64,
    orders: Orders,
    caller: Caller,
) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let location = entry.locate_atom(atom, place);
    let expected = entry.value(atom, expected);
    let desired = entry.value(atom, desired);
    let Orders { success, failure, weak } = orders;
    let carries = is_pointer(desired);
    let kind =
        OpKind::CompareExchange { location, expected, desired, carries, success, failure, weak };
    entry.prepare(kind, place);
}

/// Puts the current value into the variable's memory, where the program may change it until it uses
/// the variable again. Returns the address.
#[track_caller]
pub fn lend(atom: &mut Atom, caller: Caller) -> *mut u64 {
    let bits = load(atom, MemoryOrder::NonAtomic, caller);
    *atom.memory.get_mut() = MaybeUninit::new(bits);
    if let Some(entry) = Entry::new() {
        let place = entry.place(caller);
        let location = entry.locate_atom(atom, place);
        let word = State::tag_word(&atom.tag);
        let state = &mut *entry.context.state.borrow_mut();
        let thread = state.current;
        let tag = &raw const atom.tag;
        state.lent.push(Lent { thread, tag, word, atom, location, place, bits });
    }
    atom.memory.get().cast()
}

/// The last value of a variable that is taken apart.
#[must_use]
#[track_caller]
pub fn into_inner(atom: Atom, caller: Caller) -> u64 {
    let bits = load(&atom, MemoryOrder::NonAtomic, caller);
    mem::forget(atom);
    bits
}
