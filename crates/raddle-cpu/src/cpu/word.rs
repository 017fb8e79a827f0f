//! The sizes of operands.

use crate::memory::Memory;

/// An operand size.
pub(crate) trait Word: Copy + Eq + 'static {
    const SIZE: usize;
    const BITS: u32;
    const TOP: u64 = 1 << (Self::BITS - 1);
    fn truncate(value: u64) -> Self;
    fn zero_extended(self) -> u64;
    fn sign_extended(self) -> i64;
    fn load(memory: &Memory, address: u64) -> Option<Self>;
    fn store(self, memory: &mut Memory, address: u64) -> bool;
    /// Writes a general-purpose register: 32 bits clear the upper half, smaller sizes keep the rest.
    fn merge(self, old: u64) -> u64;
}

macro_rules! words {
    ($($unsigned:ty, $signed:ty, $keep:expr;)*) => { $(impl Word for $unsigned {
        const SIZE: usize = size_of::<$unsigned>();
        const BITS: u32 = <$unsigned>::BITS;
        #[inline(always)]
        fn truncate(value: u64) -> Self {
            value as $unsigned
        }
        #[inline(always)]
        fn zero_extended(self) -> u64 {
            self as u64
        }
        #[inline(always)]
        fn sign_extended(self) -> i64 {
            self as $signed as i64
        }
        #[inline(always)]
        fn load(memory: &Memory, address: u64) -> Option<Self> {
            memory.try_load(address).map(<$unsigned>::from_le_bytes)
        }
        #[inline(always)]
        fn store(self, memory: &mut Memory, address: u64) -> bool {
            memory.try_store(address, self.to_le_bytes())
        }
        #[inline(always)]
        fn merge(self, old: u64) -> u64 {
            old & $keep | self as u64
        }
    })* };
}
words! {
    u8, i8, !0xff;
    u16, i16, !0xffff;
    u32, i32, 0;
    u64, i64, 0;
}
