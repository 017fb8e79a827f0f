//! XCHG, XADD and CMPXCHG.
//!
//! Operands may be the same register, or the accumulator. All operands are read before any is written, and the last
//! write of the manual's pseudocode wins.

use crate::code::Instruction;
use crate::expression::{BinaryOperator, RegisterExpression};
use crate::lex::ParseResult;
use crate::value::IntType;
use raddle_core::execution::MemoryOrder::SeqCst;
use raddle_core::program::UpdateKind;

use super::super::table::Arithmetic;
use super::super::{FLAGS, X86Operand, registers};
use super::InstructionParser;

impl InstructionParser<'_> {
    pub(super) fn xchg(&mut self) -> ParseResult<()> {
        let (first, second) = self.operands()?;
        let ty = self.common_type(&[&first, &second])?;
        match (&first, &second) {
            (X86Operand::Memory(at, _), X86Operand::Register(_)) => {
                let new = self.read(&second, ty);
                let old = self.update(at, UpdateKind::Swap, new, ty);
                self.write(&second, old, ty)
            }
            (X86Operand::Register(_), X86Operand::Memory(at, _)) => {
                let new = self.read(&first, ty);
                let old = self.update(at, UpdateKind::Swap, new, ty);
                self.write(&first, old, ty)
            }
            (X86Operand::Register(_), X86Operand::Register(_)) => {
                self.refuse_lock()?;
                let kept = self.read_to_temporary(&first, ty);
                let other = self.read(&second, ty);
                self.write(&first, other, ty)?;
                self.write(&second, kept, ty)
            }
            _ => self
                .refuse("the operands of XCHG: expected two registers, or a register and memory"),
        }
    }

    pub(super) fn xadd(&mut self) -> ParseResult<()> {
        let (target, source) = self.operands()?;
        let ty = self.common_type(&[&target, &source])?;
        let X86Operand::Register(_) = source else {
            return self.refuse("the source of XADD: expected a register");
        };
        let added = self.read_to_temporary(&source, ty);
        let add = Arithmetic {
            operator: BinaryOperator::Add,
            kind: UpdateKind::Add,
            writes_target: true,
            sets_carry: true,
        };
        let old = self.compute(&target, add, added, ty)?;
        // The sum is written last.
        if target == source { Ok(()) } else { self.write(&source, old, ty) }
    }

    /// Compares the accumulator with the target. Writes the source to the target if they are equal, and the target to
    /// the accumulator otherwise.
    pub(super) fn cmpxchg(&mut self) -> ParseResult<()> {
        let (target, source) = self.operands()?;
        let X86Operand::Register(_) = source else {
            return self.refuse("the source of CMPXCHG: expected a register");
        };
        let ty = self.common_type(&[&target, &source])?;
        let accumulator = X86Operand::Register(registers::RegisterRef { slot: 0, ty });
        let expected = self.read_to_temporary(&accumulator, ty);
        let desired = self.read(&source, ty);
        let compare = Arithmetic {
            operator: BinaryOperator::Sub,
            kind: UpdateKind::Sub,
            writes_target: false,
            sets_carry: true,
        };
        let old = match &target {
            X86Operand::Memory(at, _) if self.locked => {
                self.compare_exchange(at, &expected, desired.clone(), ty)
            }
            _ => {
                self.refuse_lock()?;
                self.read_to_temporary(&target, ty)
            }
        };
        self.set_flags(compare, expected, old.clone(), ty);
        let otherwise =
            self.column.body.unless(RegisterExpression::Register(FLAGS.zero), self.place);
        if !self.locked {
            self.write(&target, desired, ty)?;
        }
        let over = self.column.body.jump(self.place);
        let here = self.column.body.here();
        self.column.body.land(otherwise, here);
        self.write(&accumulator, old, ty)?;
        let here = self.column.body.here();
        self.column.body.land(over, here);
        Ok(())
    }

    fn compare_exchange(
        &mut self,
        at: &RegisterExpression,
        expected: &RegisterExpression,
        desired: RegisterExpression,
        ty: IntType,
    ) -> RegisterExpression {
        let (target, succeeded) = (self.column.body.temporary(), self.column.body.temporary());
        let kept = self.location_type(at, ty);
        self.push(Instruction::CompareExchange {
            target,
            succeeded,
            at: at.clone(),
            bits: ty.bits,
            expected: expected.clone().wrap(kept),
            desired: desired.wrap(kept),
            success: SeqCst,
            failure: SeqCst,
            weak: false,
        });
        RegisterExpression::Register(target).wrap(ty)
    }
}
