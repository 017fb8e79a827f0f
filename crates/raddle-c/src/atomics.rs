//! Atomic accesses: they are done here, by the hook.

use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, OpKind, Update, UpdateKind};

use crate::access::Class;
use crate::hooks::{self, AtomicKind};
use crate::layout::Cut;
use crate::native::Native;
use crate::ops::Orders;
use crate::serve::Flow;
use crate::shared::{read_memory, write_memory};
use crate::threads::{AtomicResult, Then, Waiting};
use crate::{shims, trap};

impl Native {
    /// An atomic access, by a hook.
    pub(crate) fn atomic(&mut self, kind: AtomicKind, size: usize, arguments: [usize; 6]) -> Flow {
        let access = Atomic::new(kind, size, arguments);
        let expected_at = match kind {
            AtomicKind::Compare { is_by_value: false, .. } => Some(arguments[1]),
            _ => None,
        };
        let expected = match expected_at {
            Some(address) => {
                let class = self.classify(address, size)?;
                if class == Class::Shared && size <= 8 {
                    let is_weak = matches!(kind, AtomicKind::Compare { is_weak: true, .. });
                    self.call(shims::compare_function(size, is_weak));
                    return Ok(());
                }
                if class == Class::Shared {
                    let message = "the expected value of a compare-exchange is in shared memory";
                    return Err(self.failure(FindingKind::Unsupported, message));
                }
                if class == Class::Constant && !trap::is_mapped(address) {
                    let message = format!("access to invalid memory at {address:#x}");
                    return Err(self.failure(FindingKind::Crash, &message));
                }
                read_memory(address, size)
            }
            None => access.expected,
        };
        let result = match expected_at {
            Some(address) => AtomicResult::Success { expected, address },
            None => AtomicResult::Old,
        };
        let op = access.op(kind, expected);
        match self.access_atomic(access.address, size, op)? {
            Some((old, written)) => {
                self.finish_atomic(size, result, old, written);
                Ok(())
            }
            None => {
                let Waiting::ReplyAtomic { location } = self.thread().waiting else {
                    return Ok(());
                };
                self.thread_mut().waiting = Waiting::Atomic { location, result };
                Err(End::Question(self.thread().question.expect("it has just asked")))
            }
        }
    }

    /// Lets the thread go on with a library function, with the arguments of the hook that it has called.
    fn call(&mut self, function: shims::Compare) {
        let frame = &mut self.thread_mut().frame;
        frame.noted = frame.caller;
        frame.is_fresh = 1;
        frame.caller.stack -= 8;
        // SAFETY: this is where the return address was when the thread called the hook.
        unsafe { *(frame.caller.stack as *mut usize) = frame.caller.address };
        frame.caller.address = function as *const () as usize;
        frame.result[1] = frame.arguments[2] as u64;
    }

    /// Whether there are, or have been, other threads.
    pub(crate) fn has_company(&self) -> bool {
        self.current.index() > 0 || self.thread().spawned > 0
    }

    /// An atomic access. If the memory is the thread's own, or this is a store, it is done: returns what it
    /// read, and whether it wrote. Otherwise the thread now has a question.
    pub(crate) fn access_atomic(
        &mut self,
        address: usize,
        size: usize,
        op: OpKind,
    ) -> Result<Option<(Value, bool)>, End> {
        match self.classify(address, size)? {
            Class::Constant
                if !matches!(op, OpKind::Load { .. }) && !self.is_the_programs(address) =>
            {
                let message = "writes memory that is not the program's, such as the C library's";
                Err(self.failure(FindingKind::Unsupported, message))
            }
            Class::Own { .. }
                if !self.is_bookkeeping(address)
                    && (self.shares_atomics() || is_noticed(op, self.has_company())) =>
            {
                self.share_own(address, size);
                Err(self.again())
            }
            Class::Own { .. } => {
                self.note_private_read(address, size)?;
                self.do_atomic(address, size, op).map(Some)
            }
            Class::Constant if !trap::is_mapped(address) => {
                let message = format!("access to invalid memory at {address:#x}");
                Err(self.failure(FindingKind::Crash, &message))
            }
            Class::Constant => self.do_atomic(address, size, op).map(Some),
            Class::Shared => {
                if !matches!(op, OpKind::Load { .. }) && self.layout.writes_setting(address, size) {
                    return Err(self.again());
                }
                let piece = self.layout.watched(address, size).next();
                if let Some(piece) = piece {
                    return Err(self.mixed(address, size, piece));
                }
                let location = self.locate(address, size, Cut::Never)?[0];
                let kind = at_location(op, location);
                if let OpKind::Store { .. } = kind {
                    return match self.check_block(address, size, Then::Atomic(kind)) {
                        Some(question) => Err(question),
                        None => {
                            self.store(kind);
                            Ok(Some((0, true)))
                        }
                    };
                }
                self.thread_mut().waiting = Waiting::ReplyAtomic { location };
                match self.question(kind) {
                    End::Question(_) => Ok(None),
                    end => Err(end),
                }
            }
        }
    }

    /// An atomic store to shared memory.
    pub(crate) fn store(&mut self, kind: OpKind) {
        if let OpKind::Store { location, value, .. } = kind {
            self.poke(location, value);
            self.effect(kind);
        }
    }

    /// An atomic access to the thread's own memory.
    fn do_atomic(&mut self, address: usize, size: usize, op: OpKind) -> Result<(Value, bool), End> {
        let old = read_memory(address, size);
        let new = written(op, old, false);
        if let Some(new) = new {
            write_memory(address, size, new);
            let is_harmless = new == old || self.thread().slot.has_on_stack(address);
            self.note_private_write(address, size, is_harmless)?;
        }
        Ok((old, new.is_some()))
    }

    /// Lets the hook of an atomic access return.
    pub(crate) fn finish_atomic(
        &mut self,
        size: usize,
        result: AtomicResult,
        old: Value,
        written: bool,
    ) {
        let frame = &mut self.thread_mut().frame;
        match result {
            AtomicResult::Old if size == 16 => frame.result = [old as u64, (old >> 64) as u64],
            AtomicResult::Old => frame.result = [old as u64, written.into()],
            AtomicResult::Success { address, .. } => {
                frame.result = [written.into(), 0];
                if !written {
                    write_memory(address, size, old);
                }
            }
        }
    }
}

/// Whether an atomic access of memory that is the thread's own makes a difference: it may empty a store buffer, or stand in the
/// order of sequentially consistent events, or fail without a reason.
fn is_noticed(op: OpKind, has_company: bool) -> bool {
    match op {
        OpKind::CompareExchange { weak: true, .. } => true,
        _ if !has_company => false,
        OpKind::Load { order, .. } => order == MemoryOrder::SeqCst,
        OpKind::Store { order, .. } => order >= MemoryOrder::Release,
        _ => true,
    }
}

/// What an access writes that reads this value.
pub(crate) fn written(op: OpKind, read: Value, is_spurious: bool) -> Option<Value> {
    match op {
        OpKind::Store { value, .. } => Some(value),
        OpKind::Rmw { update, .. } => Some(update.apply(read)),
        OpKind::CompareExchange { expected, desired, .. } => {
            (read == expected && !is_spurious).then_some(desired)
        }
        _ => None,
    }
}

fn at_location(op: OpKind, at: LocationId) -> OpKind {
    let mut op = op;
    match &mut op {
        OpKind::Load { location, .. }
        | OpKind::Store { location, .. }
        | OpKind::Rmw { location, .. }
        | OpKind::CompareExchange { location, .. } => *location = at,
        _ => {}
    }
    op
}

/// The arguments of the hook of an atomic access.
struct Atomic {
    address: usize,
    operand: Value,
    expected: Value,
    bits: u8,
    orders: [MemoryOrder; 2],
}

impl Atomic {
    fn new(kind: AtomicKind, size: usize, arguments: [usize; 6]) -> Self {
        let mut rest = Rest { words: arguments, next: 1, size };
        let (expected, operand) = match kind {
            AtomicKind::Load => (0, 0),
            AtomicKind::Store | AtomicKind::Update(_) => (0, rest.value()),
            AtomicKind::Compare { is_by_value: true, .. } => (rest.value(), rest.value()),
            AtomicKind::Compare { .. } => {
                rest.word();
                (0, rest.value())
            }
        };
        let orders = [rest.word(), rest.word()].map(hooks::order);
        Atomic { address: arguments[0], operand, expected, bits: 8 * size as u8, orders }
    }

    /// What it does; the location is not known yet.
    fn op(&self, kind: AtomicKind, expected: Value) -> OpKind {
        let location = LocationId::new(0);
        let [order, failure] = self.orders;
        match kind {
            AtomicKind::Load => OpKind::Load { location, order },
            AtomicKind::Store => {
                OpKind::Store { location, value: self.operand, order, carries: false }
            }
            AtomicKind::Update(kind) => {
                let bits = if kind == UpdateKind::Swap { 0 } else { self.bits };
                let operand = self.operand;
                let update = Update { kind, operand, bits, signed: false, carries: false };
                OpKind::Rmw { location, update, order }
            }
            AtomicKind::Compare { is_weak: weak, .. } => {
                let orders = Orders { success: order, failure, is_weak: weak };
                compare(location, expected, self.operand, orders)
            }
        }
    }
}

/// Arguments that are read one after the other.
struct Rest {
    words: [usize; 6],
    next: usize,
    size: usize,
}

impl Rest {
    fn word(&mut self) -> usize {
        self.next += 1;
        self.words.get(self.next - 1).copied().unwrap_or(0)
    }

    /// A value of as many bytes as the access has.
    fn value(&mut self) -> Value {
        let mask = if self.size >= 8 { u64::MAX } else { (1 << (8 * self.size)) - 1 };
        let low = self.word() as u64 & mask;
        let high = if self.size == 16 { self.word() as u64 } else { 0 };
        (u128::from(high) << 64 | u128::from(low)) as Value
    }
}

/// A compare-exchange.
pub(crate) fn compare(
    location: LocationId,
    expected: Value,
    desired: Value,
    orders: Orders,
) -> OpKind {
    let Orders { success, failure, is_weak: weak } = orders;
    OpKind::CompareExchange { location, expected, desired, carries: false, success, failure, weak }
}
