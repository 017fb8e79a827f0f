//! Properties of a stub that its micro-operation must know, as bits.

/// The instruction reads its memory operand.
pub(crate) const READS: u64 = 1;
/// The instruction writes its memory operand.
pub(crate) const WRITES: u64 = 2;
/// The instruction uses the status flags.
pub(crate) const FLAGS: u64 = 4;
/// The instruction depends on mxcsr.
pub(crate) const FLOAT: u64 = 8;
/// The instruction uses x87 or MMX registers.
pub(crate) const FPU: u64 = 16;
/// The address must be a multiple of the size.
pub(crate) const ALIGNED: u64 = 32;
/// The instruction writes upper halves of vector registers.
pub(crate) const UPPER: u64 = 64;
/// The store is not modelled on shared memory.
pub(crate) const PRIVATE_ONLY: u64 = 128;
/// The operand is an x87 control word.
pub(crate) const CONTROL_WORD: u64 = 256;
