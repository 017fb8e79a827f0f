//! Instructions that exchange: XCHG, XADD and CMPXCHG.
//!
//! Operands may be the same register, or the accumulator: what is read is read before anything is
//! written, and what the manual writes last wins.

use crate::code::Code;
use crate::expression::{Expression, Operator};
use crate::lex::Parsed;
use crate::value::Type;
use raddle_core::execution::MemoryOrder::SeqCst;
use raddle_core::program::UpdateKind;

use super::super::table::Arithmetic;
use super::super::{FLAGS, Operand, registers};
use super::Maker;

impl Maker<'_> {
    pub(super) fn xchg(&mut self) -> Parsed<()> {
        let (first, second) = self.operands()?;
        let ty = self.ty(&[&first, &second])?;
        match (&first, &second) {
            (Operand::Memory(at, _), Operand::Register(_)) => {
                let new = self.read(&second, ty);
                let old = self.update(at, UpdateKind::Swap, new, ty);
                self.write(&second, old, ty)
            }
            (Operand::Register(_), Operand::Memory(at, _)) => {
                let new = self.read(&first, ty);
                let old = self.update(at, UpdateKind::Swap, new, ty);
                self.write(&first, old, ty)
            }
            (Operand::Register(_), Operand::Register(_)) => {
                self.refuse_lock()?;
                let kept = self.keep(&first, ty);
                let other = self.read(&second, ty);
                self.write(&first, other, ty)?;
                self.write(&second, kept, ty)
            }
            _ => self.refuse("XCHG needs two registers, or a register and memory"),
        }
    }

    pub(super) fn xadd(&mut self) -> Parsed<()> {
        let (target, source) = self.operands()?;
        let ty = self.ty(&[&target, &source])?;
        let Operand::Register(_) = source else { return self.refuse("XADD adds a register") };
        let added = self.keep(&source, ty);
        let add = Arithmetic {
            operator: Operator::Add,
            kind: UpdateKind::Add,
            keeps: true,
            carries: true,
        };
        let old = self.compute(&target, add, added, ty)?;
        // The sum is written last.
        if target == source { Ok(()) } else { self.write(&source, old, ty) }
    }

    /// Compares EAX with the target; writes the source there if they are equal, and EAX otherwise.
    pub(super) fn cmpxchg(&mut self) -> Parsed<()> {
        let (target, source) = self.operands()?;
        let Operand::Register(_) = source else { return self.refuse("CMPXCHG writes a register") };
        let ty = self.ty(&[&target, &source])?;
        let accumulator = Operand::Register(registers::Operand { slot: 0, ty });
        let expected = self.keep(&accumulator, ty);
        let desired = self.read(&source, ty);
        let compare = Arithmetic {
            operator: Operator::Sub,
            kind: UpdateKind::Sub,
            keeps: false,
            carries: true,
        };
        let old = match &target {
            Operand::Memory(at, _) if self.locked => {
                self.compare_exchange(at, &expected, desired.clone(), ty)
            }
            _ => {
                self.refuse_lock()?;
                self.keep(&target, ty)
            }
        };
        self.flags(compare, expected, old.clone(), ty);
        let otherwise = self.column.body.unless(Expression::Register(FLAGS.zero), self.place);
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
        at: &Expression,
        expected: &Expression,
        desired: Expression,
        ty: Type,
    ) -> Expression {
        let (target, succeeded) = (self.column.body.temporary(), self.column.body.temporary());
        let kept = self.kept_as(at, ty);
        self.push(Code::CompareExchange {
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
        Expression::Register(target).wrap(ty)
    }
}
