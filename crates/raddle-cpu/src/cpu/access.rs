//! Accesses of micro-operations: from the cache, or from what a careful run has found.

use super::Cpu;
use super::op::{Access, AccessKind, Exit, MAX_ACCESSES};
use super::word::Word;
use crate::memory::Memory;
use crate::stop::Operation;

impl Cpu {
    /// The result of an access that is not in the cache, if it is known already.
    #[inline(always)]
    pub(crate) fn replay(&mut self, access: Access) -> Option<[u64; 4]> {
        if self.replayed < self.pending.len {
            let data = self.pending.accesses[self.replayed % MAX_ACCESSES].data;
            self.replayed += 1;
            return Some(data);
        }
        self.miss = access;
        self.exit = Exit::Miss;
        None
    }

    #[inline(always)]
    pub(crate) fn load<T: Word>(&mut self, memory: &Memory, address: u64) -> Option<T> {
        if let Some(value) = T::load(memory, address) {
            return Some(value);
        }
        let access = Access { address, size: T::SIZE as u8, ..Access::NONE };
        self.replay(access).map(|data| T::truncate(data[0]))
    }

    #[inline(always)]
    pub(crate) fn store<T: Word>(
        &mut self,
        memory: &mut Memory,
        address: u64,
        value: T,
    ) -> Option<()> {
        if value.store(memory, address) {
            return Some(());
        }
        let data = [value.zero_extended(), 0, 0, 0];
        let kind = AccessKind::Store;
        self.replay(Access { address, size: T::SIZE as u8, data, kind, ..Access::NONE }).map(|_| ())
    }

    /// The first access of an atomic operation: loads the old value. On shared memory the store that follows is part of it.
    pub(crate) fn load_atomic(
        &mut self,
        memory: &Memory,
        address: u64,
        size: u8,
        operation: Operation,
    ) -> Option<[u64; 2]> {
        let hit = match size {
            1 => memory.try_load(address).map(|v| [u64::from(u8::from_le_bytes(v)), 0]),
            2 => memory.try_load(address).map(|v| [u64::from(u16::from_le_bytes(v)), 0]),
            4 => memory.try_load(address).map(|v| [u64::from(u32::from_le_bytes(v)), 0]),
            8 => memory.try_load(address).map(|v| [u64::from_le_bytes(v), 0]),
            _ => memory.try_load::<16>(address).map(halves),
        };
        if hit.is_some() {
            return hit;
        }
        let kind = AccessKind::Atomic(operation);
        self.replay(Access { address, size, kind, ..Access::NONE }).map(|data| [data[0], data[1]])
    }

    #[inline(always)]
    pub(crate) fn load16(&mut self, memory: &Memory, address: u64) -> Option<[u64; 2]> {
        if let Some(bytes) = memory.try_load::<16>(address) {
            return Some(halves(bytes));
        }
        self.replay(Access { address, size: 16, ..Access::NONE }).map(|data| [data[0], data[1]])
    }

    #[inline(always)]
    pub(crate) fn store16(
        &mut self,
        memory: &mut Memory,
        address: u64,
        value: [u64; 2],
    ) -> Option<()> {
        let bytes = (u128::from(value[0]) | u128::from(value[1]) << 64).to_le_bytes();
        if memory.try_store(address, bytes) {
            return Some(());
        }
        let data = [value[0], value[1], 0, 0];
        let kind = AccessKind::Store;
        self.replay(Access { address, size: 16, data, kind, ..Access::NONE }).map(|_| ())
    }

    /// Loads up to 32 bytes into the scratch buffer of stubs.
    pub(crate) fn load_scratch(&mut self, memory: &Memory, address: u64, size: u8) -> Option<()> {
        let data = match size {
            4 => memory.try_load(address).map(|v| [u64::from(u32::from_le_bytes(v)), 0, 0, 0]),
            8 => memory.try_load(address).map(|v| [u64::from_le_bytes(v), 0, 0, 0]),
            16 => memory.try_load::<16>(address).map(|v| [halves(v)[0], halves(v)[1], 0, 0]),
            _ => None,
        };
        let data = match data {
            Some(data) => data,
            None => self.replay(Access { address, size, ..Access::NONE })?,
        };
        self.context.scratch[..4].copy_from_slice(&data);
        Some(())
    }

    /// Stores up to 32 bytes of the scratch buffer of stubs.
    pub(crate) fn store_scratch(
        &mut self,
        memory: &mut Memory,
        address: u64,
        size: u8,
        may_ask: bool,
    ) -> Option<()> {
        let scratch = &self.context.scratch;
        let data = [scratch[0], scratch[1], scratch[2], scratch[3]];
        let hit = match size {
            4 => memory.try_store(address, (data[0] as u32).to_le_bytes()),
            8 => memory.try_store(address, data[0].to_le_bytes()),
            _ => false,
        };
        if hit {
            return Some(());
        }
        let kind = AccessKind::Store;
        self.replay(Access { address, size, data, kind, may_ask, done: 0 }).map(|_| ())
    }
}

fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let value = u128::from_le_bytes(bytes);
    [value as u64, (value >> 64) as u64]
}
