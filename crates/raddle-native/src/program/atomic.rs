//! Atomic accesses with a memory order: those of compiler hooks and of modelled functions.

use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::program::OpKind;
use raddle_cpu::memory::Denied;

use super::call::{Call, Step};
use super::layout::Cut;
use super::sections::Access;
use super::thread::Reply;

impl Call<'_> {
    /// Performs an atomic access; the location of `kind` is not known yet. Returns the value that it read.
    pub(crate) fn atomic(&mut self, address: u64, size: u64, kind: OpKind) -> Step<Reply> {
        let (kind, fences) = self.changed(address, kind);
        let thread = self.program.thread().guest;
        let mut bytes = [0; 16];
        let length = size.min(16) as usize;
        loop {
            let memory = self.program.process.memory_mut();
            match memory.load(thread, address, &mut bytes[..length]) {
                Ok(()) if self.is_noticed(address, kind) => {
                    self.program.share(address, size);
                    return Err(self.again());
                }
                Ok(()) => {
                    self.program.thread_mut().private.note_load(address, size);
                    return self.atomic_private(address, length, kind, bytes);
                }
                Err(Denied::Shared) => {
                    return self.excluded(address, size, Access::of(kind), |call| {
                        call.atomic_shared(address, size, kind, fences)
                    });
                }
                Err(Denied::Owned(owned, state)) => self.escape(address, size, owned, state)?,
                Err(Denied::Fault(fault)) => return Err(self.fault(&fault)),
            }
        }
    }

    /// Returns `true` if an atomic access to private memory makes a difference: it may drain a store buffer, take part in the
    /// order of sequentially consistent events, or fail spuriously. What modelled functions keep for themselves does not.
    fn is_noticed(&self, address: u64, kind: OpKind) -> bool {
        if self.program.table.bookkeeping.contains(&address) {
            return false;
        }
        let has_others = self.program.has_other_threads();
        match kind {
            OpKind::CompareExchange { weak: true, .. } => true,
            _ if !has_others => false,
            _ if self.program.is_live => true,
            OpKind::Load { order, .. } => order == MemoryOrder::SeqCst,
            OpKind::Store { order, .. } => order >= MemoryOrder::Release,
            _ => true,
        }
    }

    fn atomic_private(
        &mut self,
        address: u64,
        length: usize,
        kind: OpKind,
        bytes: [u8; 16],
    ) -> Step<Reply> {
        let value = u128::from_le_bytes(bytes) as Value;
        if let Some(new) = written(kind, value) {
            self.store_bytes(address, &(new as u128).to_le_bytes()[..length])?;
        }
        Ok(Reply { value, is_spurious: false })
    }

    fn atomic_shared(
        &mut self,
        address: u64,
        size: u64,
        kind: OpKind,
        [fence_before, fence_after]: [bool; 2],
    ) -> Step<Reply> {
        if !matches!(kind, OpKind::Load { .. }) && self.program.layout.writes_setting(address, size)
        {
            return Err(self.again());
        }
        if self.program.layout.note_atomic(address, size) {
            return Err(self.again());
        }
        let piece = self.program.layout.watched(address, size).next();
        if let Some(piece) = piece {
            if self.program.layout.learn_joint() {
                return Err(self.again());
            }
            let other = self.program.layout.place_of_cut(piece);
            return Err(self.mixed(address, size, other));
        }
        let locations = self.locate(address, size, Cut::Never)?;
        let &[location] = &locations[..] else {
            return self.joint_atomic((address, size), kind, &locations);
        };
        let kind = at_location(kind, location);
        if let OpKind::Store { .. } = kind {
            self.check_store(address, size)?;
            self.effect(kind);
            self.added_fence(fence_after);
            return Ok(Reply { value: 0, is_spurious: false });
        }
        self.added_fence(fence_before);
        let reply = self.ask(kind)?;
        self.check_alive(reply.value, address)?;
        Ok(reply)
    }
}

/// The value that an access writes if it reads this one.
pub(super) fn written(kind: OpKind, read: Value) -> Option<Value> {
    match kind {
        OpKind::Store { value, .. } => Some(value),
        OpKind::Rmw { update, .. } => Some(update.apply(read)),
        OpKind::CompareExchange { expected, desired, .. } => (read == expected).then_some(desired),
        _ => None,
    }
}

pub(super) fn at_location(kind: OpKind, at: LocationId) -> OpKind {
    let mut kind = kind;
    match &mut kind {
        OpKind::Load { location, .. }
        | OpKind::Store { location, .. }
        | OpKind::Rmw { location, .. }
        | OpKind::CompareExchange { location, .. } => *location = at,
        _ => {}
    }
    kind
}
