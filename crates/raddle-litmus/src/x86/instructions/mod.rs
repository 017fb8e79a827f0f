//! Semantics of x86 instructions.
//!
//! A store enters the store buffer. A locked instruction, and every XCHG with memory, is an atomic read-modify-write,
//! which drains the buffer. MFENCE is a full fence, SFENCE a store-store fence. LFENCE orders loads, which no model
//! here reorders. An unlocked instruction that reads and writes memory is a load and a store. Flags are computed as in
//! the manual, except for AF and PF, which no supported jump depends on.

mod exchange;

use crate::code::Instruction;
use crate::draft::{TestDraft, fitting};
use crate::expression::{BinaryOperator, RegisterExpression};
use crate::lex::{ParseResult, SyntaxError};
use crate::value::{IntType, location};
use raddle_core::execution::MemoryOrder::{Relaxed, SeqCst};
use raddle_core::execution::Value;
use raddle_core::program::UpdateKind;

use super::table::{Arithmetic, arithmetic, condition, split};
use super::{FLAGS, Syntax, ThreadColumn, X86Operand, operand};

/// Parses an instruction.
pub(super) fn instruction(
    draft: &mut TestDraft,
    syntax: Syntax,
    column: &mut ThreadColumn,
) -> ParseResult<()> {
    let place = draft.tokens.at();
    let locked = draft.tokens.eat_word("lock");
    let at = draft.tokens.at();
    let word = draft.tokens.word("an instruction after LOCK")?.to_ascii_uppercase();
    let (name, width) = split(&word, at)?;
    let mut maker = InstructionParser { draft, syntax, column, place, width, locked, at };
    maker.instruction(name)
}

/// Parser of one instruction.
struct InstructionParser<'a> {
    draft: &'a mut TestDraft,
    syntax: Syntax,
    column: &'a mut ThreadColumn,
    place: usize,
    /// Width suffix of the mnemonic.
    width: Option<IntType>,
    locked: bool,
    /// Offset of the mnemonic.
    at: usize,
}

impl InstructionParser<'_> {
    fn instruction(&mut self, name: &str) -> ParseResult<()> {
        match name {
            "NOP" | "LFENCE" | "ENDBR64" | "MFENCE" | "SFENCE" => {
                self.refuse_lock()?;
                match name {
                    "MFENCE" => self.push(Instruction::Fence(SeqCst)),
                    "SFENCE" => self.push(Instruction::StoreFence),
                    _ => {}
                }
                Ok(())
            }
            "MOV" => self.mov(),
            "XCHG" => self.xchg(),
            "XADD" => self.xadd(),
            "CMPXCHG" => self.cmpxchg(),
            _ => match (arithmetic(name), condition(name)) {
                (Some(arithmetic), _) => self.arithmetic(name, arithmetic),
                (None, Some(taken)) => self.jump(taken),
                (None, None) => self.jump(1.into()),
            },
        }
    }

    fn push(&mut self, code: Instruction) {
        self.column.body.push(code, self.place);
    }

    fn set(&mut self, target: usize, value: RegisterExpression) {
        self.push(Instruction::Set { target, value });
    }

    fn refuse<T>(&self, message: &str) -> ParseResult<T> {
        Err(SyntaxError::new(self.at, message))
    }

    fn refuse_lock(&self) -> ParseResult<()> {
        if self.locked {
            let message = "found LOCK before an instruction that does not update memory: expected \
                           a read-modify-write of memory";
            return self.refuse(message);
        }
        Ok(())
    }

    fn jump(&mut self, taken: RegisterExpression) -> ParseResult<()> {
        self.refuse_lock()?;
        let at = self.draft.tokens.at();
        let label = self.draft.tokens.word("a label")?;
        let jump = self.column.body.unless(taken.not(), self.place);
        self.column.jumps.push((jump, label, at));
        Ok(())
    }

    /// Parses two operands. Returns the target first.
    fn operands(&mut self) -> ParseResult<(X86Operand, X86Operand)> {
        let first = operand(self.draft, self.syntax)?;
        self.draft.tokens.sign(",")?;
        let second = operand(self.draft, self.syntax)?;
        Ok(match self.syntax {
            Syntax::Intel => (first, second),
            Syntax::Att => (second, first),
        })
    }

    /// Returns the type of the computation. All operands that have a type must agree.
    fn common_type(&mut self, operands: &[&X86Operand]) -> ParseResult<IntType> {
        let mut found = self.width;
        for operand in operands {
            let own = match operand {
                X86Operand::Register(register) => Some(register.ty),
                X86Operand::Memory(_, ty) => *ty,
                X86Operand::Number(_) => None,
            };
            match (found, own) {
                (Some(one), Some(two)) if one.bits != two.bits => {
                    return self.width_mismatch(one, two);
                }
                _ => found = found.or(own),
            }
        }
        let ty = IntType { signed: true, ..found.unwrap_or(IntType::INT) };
        for operand in operands {
            match operand {
                X86Operand::Memory(RegisterExpression::Number(at), _) => {
                    self.set_location_type(*at, ty)?;
                }
                X86Operand::Number(value) => drop(fitting(ty, *value, self.at)?),
                X86Operand::Memory(..) | X86Operand::Register(_) => {}
            }
        }
        Ok(ty)
    }

    /// Sets the type of a location at its first access, unless the initial state declares it. Later accesses must have
    /// the same width.
    fn set_location_type(&mut self, at: Value, ty: IntType) -> ParseResult<()> {
        let Some(location) = location(at) else { return Ok(()) };
        match self.draft.locations[location].ty {
            Some(known) if known.bits != ty.bits => self.width_mismatch(ty, known),
            Some(_) => Ok(()),
            None => {
                self.draft.locations[location].ty = Some(ty);
                Ok(())
            }
        }
    }

    fn width_mismatch<T>(&self, one: IntType, two: IntType) -> ParseResult<T> {
        let message = format!(
            "operands of {} and {} bits: expected one width; accesses to parts of a location are \
             not supported",
            one.bits, two.bits
        );
        self.refuse(&message)
    }

    /// Returns the value of an operand. Generates a load for memory.
    fn read(&mut self, operand: &X86Operand, ty: IntType) -> RegisterExpression {
        match operand {
            X86Operand::Number(value) => RegisterExpression::Number(ty.wrap(*value)),
            X86Operand::Register(register) => RegisterExpression::Register(register.slot).wrap(ty),
            X86Operand::Memory(at, _) => {
                let target = self.column.body.temporary();
                let (at, bits) = (at.clone(), ty.bits);
                self.push(Instruction::Load { target, at, bits, order: Relaxed });
                RegisterExpression::Register(target).wrap(ty)
            }
        }
    }

    /// Writes an operand. Writing the lower half of a 64-bit register clears the upper half.
    fn write(
        &mut self,
        operand: &X86Operand,
        value: RegisterExpression,
        ty: IntType,
    ) -> ParseResult<()> {
        match operand {
            X86Operand::Number(_) => {
                return self.refuse("the target is a number: expected a register or memory");
            }
            X86Operand::Register(register) => self.set(register.slot, value.wrap(ty.unsigned())),
            X86Operand::Memory(at, _) => {
                let value = value.wrap(self.location_type(at, ty));
                let (at, bits) = (at.clone(), ty.bits);
                self.push(Instruction::Store { at, bits, value, order: Relaxed });
            }
        }
        Ok(())
    }

    /// Returns the type of the location at an address; `ty` if it is unknown.
    fn location_type(&self, at: &RegisterExpression, ty: IntType) -> IntType {
        let RegisterExpression::Number(value) = at else { return ty };
        location(*value).and_then(|it| self.draft.locations[it].ty).unwrap_or(ty)
    }

    fn mov(&mut self) -> ParseResult<()> {
        self.refuse_lock()?;
        let (target, source) = self.operands()?;
        if let (X86Operand::Memory(..), X86Operand::Memory(..)) = (&target, &source) {
            return self.refuse("both operands are in memory: expected a register or a number");
        }
        let ty = self.common_type(&[&target, &source])?;
        let value = self.read(&source, ty);
        self.write(&target, value, ty)
    }

    /// Copies the value of an operand to a temporary register, so that later writes do not affect it.
    fn read_to_temporary(&mut self, operand: &X86Operand, ty: IntType) -> RegisterExpression {
        let value = self.read(operand, ty);
        let kept = self.column.body.temporary();
        self.set(kept, value);
        RegisterExpression::Register(kept)
    }

    /// Generates an atomic read-modify-write. Returns the old value.
    fn update(
        &mut self,
        at: &RegisterExpression,
        kind: UpdateKind,
        operand: RegisterExpression,
        ty: IntType,
    ) -> RegisterExpression {
        let target = self.column.body.temporary();
        let kept = self.location_type(at, ty);
        let (at, operand) = (at.clone(), operand.wrap(kept));
        self.push(Instruction::Update { target, at, kind, operand, ty: kept, order: SeqCst });
        RegisterExpression::Register(target).wrap(ty)
    }

    fn arithmetic(&mut self, name: &str, what: Arithmetic) -> ParseResult<()> {
        let (target, source) = match name {
            "INC" | "DEC" => (operand(self.draft, self.syntax)?, X86Operand::Number(1)),
            _ => self.operands()?,
        };
        if let (X86Operand::Memory(..), X86Operand::Memory(..)) = (&target, &source) {
            return self.refuse("both operands are in memory: expected a register or a number");
        }
        let ty = self.common_type(&[&target, &source])?;
        let by = self.read_to_temporary(&source, ty);
        self.compute(&target, what, by, ty).map(drop)
    }

    /// Generates a computation, including the write of the target and the flags. Returns the old value of the target.
    fn compute(
        &mut self,
        target: &X86Operand,
        what: Arithmetic,
        by: RegisterExpression,
        ty: IntType,
    ) -> ParseResult<RegisterExpression> {
        if let (true, X86Operand::Memory(at, _), true) = (self.locked, target, what.writes_target) {
            let old = self.update(at, what.kind, by.clone(), ty);
            self.set_flags(what, old.clone(), by, ty);
            return Ok(old);
        }
        self.refuse_lock()?;
        let old = self.read_to_temporary(target, ty);
        let result = RegisterExpression::binary(what.operator, old.clone(), by.clone());
        if what.writes_target {
            self.write(target, result.wrap(ty), ty)?;
        }
        self.set_flags(what, old.clone(), by, ty);
        Ok(old)
    }

    /// Sets the flags. Addition and subtraction set carry and overflow if the exact result is out of range.
    fn set_flags(
        &mut self,
        what: Arithmetic,
        left: RegisterExpression,
        right: RegisterExpression,
        ty: IntType,
    ) {
        use BinaryOperator::{Add, Less, NotEqual, Sub};
        let exact = |left, right| RegisterExpression::binary(what.operator, left, right);
        let differs = |exact: RegisterExpression, ty| {
            let wrapped = exact.clone().wrap(ty);
            RegisterExpression::binary(NotEqual, exact, wrapped)
        };
        let result = exact(left.clone(), right.clone()).wrap(ty);
        self.set(FLAGS.zero, result.clone().not());
        self.set(FLAGS.sign, RegisterExpression::binary(Less, result, 0.into()));
        let can_overflow = matches!(what.operator, Add | Sub);
        let zero = RegisterExpression::Number(0);
        let overflow = if can_overflow {
            differs(exact(left.clone(), right.clone()), ty)
        } else {
            zero.clone()
        };
        self.set(FLAGS.overflow, overflow);
        if what.sets_carry {
            let bits = ty.unsigned();
            let carry = differs(exact(left.wrap(bits), right.wrap(bits)), bits);
            self.set(FLAGS.carry, if can_overflow { carry } else { zero });
        }
    }
}
