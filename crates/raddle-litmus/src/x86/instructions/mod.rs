//! What the instructions of x86 do.
//!
//! A store waits in the store buffer; a locked instruction, and every exchange with memory, is an atomic
//! update, which drains the buffer; MFENCE is a full fence, SFENCE one between stores. LFENCE orders loads,
//! which no model here reorders. An instruction that is not locked and reads and writes memory is a load
//! and a store. Flags are computed as the manual says, but for AF and PF, which no jump here asks for.

mod exchange;

use crate::code::Code;
use crate::draft::{Draft, fitting};
use crate::expression::{Expression, Operator};
use crate::lex::{Fault, Parsed};
use crate::value::{Type, location};
use raddle_core::execution::MemoryOrder::{Relaxed, SeqCst};
use raddle_core::execution::Value;
use raddle_core::program::UpdateKind;

use super::table::{Arithmetic, arithmetic, condition, split};
use super::{Column, FLAGS, Operand, Syntax, operand};

/// Reads an instruction.
pub(super) fn instruction(draft: &mut Draft, syntax: Syntax, column: &mut Column) -> Parsed<()> {
    let place = draft.tokens.at();
    let locked = draft.tokens.eat_word("lock");
    let at = draft.tokens.at();
    let word = draft.tokens.word("an instruction after LOCK")?.to_ascii_uppercase();
    let (name, width) = split(&word, at)?;
    let mut maker = Maker { draft, syntax, column, place, width, locked, at };
    maker.instruction(name)
}

/// Turns one instruction into code.
struct Maker<'a> {
    draft: &'a mut Draft,
    syntax: Syntax,
    column: &'a mut Column,
    place: usize,
    /// The width that the name of the instruction has.
    width: Option<Type>,
    locked: bool,
    /// Where the name is.
    at: usize,
}

impl Maker<'_> {
    fn instruction(&mut self, name: &str) -> Parsed<()> {
        match name {
            "NOP" | "LFENCE" | "ENDBR64" | "MFENCE" | "SFENCE" => {
                self.refuse_lock()?;
                match name {
                    "MFENCE" => self.push(Code::Fence(SeqCst)),
                    "SFENCE" => self.push(Code::StoreFence),
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

    fn push(&mut self, code: Code) {
        self.column.body.push(code, self.place);
    }

    fn set(&mut self, target: usize, value: Expression) {
        self.push(Code::Set { target, value });
    }

    fn refuse<T>(&self, message: &str) -> Parsed<T> {
        Err(Fault::new(self.at, message))
    }

    fn refuse_lock(&self) -> Parsed<()> {
        if self.locked {
            return self.refuse("LOCK is before an instruction that does not update memory");
        }
        Ok(())
    }

    fn jump(&mut self, taken: Expression) -> Parsed<()> {
        self.refuse_lock()?;
        let at = self.draft.tokens.at();
        let label = self.draft.tokens.word("a label")?;
        let jump = self.column.body.unless(taken.not(), self.place);
        self.column.jumps.push((jump, label, at));
        Ok(())
    }

    /// Two operands: the target first.
    fn operands(&mut self) -> Parsed<(Operand, Operand)> {
        let first = operand(self.draft, self.syntax)?;
        self.draft.tokens.sign(",")?;
        let second = operand(self.draft, self.syntax)?;
        Ok(match self.syntax {
            Syntax::Intel => (first, second),
            Syntax::Att => (second, first),
        })
    }

    /// The type of what is computed: all operands that have one must agree.
    fn ty(&mut self, operands: &[&Operand]) -> Parsed<Type> {
        let mut found = self.width;
        for operand in operands {
            let own = match operand {
                Operand::Register(register) => Some(register.ty),
                Operand::Memory(_, ty) => *ty,
                Operand::Number(_) => None,
            };
            match (found, own) {
                (Some(one), Some(two)) if one.bits != two.bits => return self.widths(one, two),
                _ => found = found.or(own),
            }
        }
        let ty = Type { signed: true, ..found.unwrap_or(Type::INT) };
        for operand in operands {
            match operand {
                Operand::Memory(Expression::Number(at), _) => self.settle(*at, ty)?,
                Operand::Number(value) => drop(fitting(ty, *value, self.at)?),
                Operand::Memory(..) | Operand::Register(_) => {}
            }
        }
        Ok(ty)
    }

    /// A location has one width: that of its first access, unless the initial state says it.
    fn settle(&mut self, at: Value, ty: Type) -> Parsed<()> {
        let Some(location) = location(at) else { return Ok(()) };
        match self.draft.locations[location].ty {
            Some(known) if known.bits != ty.bits => self.widths(ty, known),
            Some(_) => Ok(()),
            None => {
                self.draft.locations[location].ty = Some(ty);
                Ok(())
            }
        }
    }

    fn widths<T>(&self, one: Type, two: Type) -> Parsed<T> {
        let message = format!(
            "operands of {} and {} bits: expected one width; accesses to parts of a location are \
             not supported",
            one.bits, two.bits
        );
        self.refuse(&message)
    }

    /// The value of an operand; memory is loaded.
    fn read(&mut self, operand: &Operand, ty: Type) -> Expression {
        match operand {
            Operand::Number(value) => Expression::Number(ty.wrap(*value)),
            Operand::Register(register) => Expression::Register(register.slot).wrap(ty),
            Operand::Memory(at, _) => {
                let target = self.column.body.temporary();
                let (at, bits) = (at.clone(), ty.bits);
                self.push(Code::Load { target, at, bits, order: Relaxed });
                Expression::Register(target).wrap(ty)
            }
        }
    }

    /// Writes an operand. A register of 64 bits of which the lower half is written loses the upper one.
    fn write(&mut self, operand: &Operand, value: Expression, ty: Type) -> Parsed<()> {
        match operand {
            Operand::Number(_) => {
                return self.refuse("the target is a number: expected a register or memory");
            }
            Operand::Register(register) => self.set(register.slot, value.wrap(ty.unsigned())),
            Operand::Memory(at, _) => {
                let value = value.wrap(self.kept_as(at, ty));
                let (at, bits) = (at.clone(), ty.bits);
                self.push(Code::Store { at, bits, value, order: Relaxed });
            }
        }
        Ok(())
    }

    /// How values of this width are kept at an address.
    fn kept_as(&self, at: &Expression, ty: Type) -> Type {
        let Expression::Number(value) = at else { return ty };
        location(*value).and_then(|it| self.draft.locations[it].ty).unwrap_or(ty)
    }

    fn mov(&mut self) -> Parsed<()> {
        self.refuse_lock()?;
        let (target, source) = self.operands()?;
        if let (Operand::Memory(..), Operand::Memory(..)) = (&target, &source) {
            return self.refuse("both operands are in memory: expected a register or a number");
        }
        let ty = self.ty(&[&target, &source])?;
        let value = self.read(&source, ty);
        self.write(&target, value, ty)
    }

    /// The value of an operand as it is now, whatever is written later.
    fn keep(&mut self, operand: &Operand, ty: Type) -> Expression {
        let value = self.read(operand, ty);
        let kept = self.column.body.temporary();
        self.set(kept, value);
        Expression::Register(kept)
    }

    /// An atomic update of memory: the old value.
    fn update(
        &mut self,
        at: &Expression,
        kind: UpdateKind,
        operand: Expression,
        ty: Type,
    ) -> Expression {
        let target = self.column.body.temporary();
        let kept = self.kept_as(at, ty);
        let (at, operand) = (at.clone(), operand.wrap(kept));
        self.push(Code::Update { target, at, kind, operand, ty: kept, order: SeqCst });
        Expression::Register(target).wrap(ty)
    }

    fn arithmetic(&mut self, name: &str, what: Arithmetic) -> Parsed<()> {
        let (target, source) = match name {
            "INC" | "DEC" => (operand(self.draft, self.syntax)?, Operand::Number(1)),
            _ => self.operands()?,
        };
        if let (Operand::Memory(..), Operand::Memory(..)) = (&target, &source) {
            return self.refuse("both operands are in memory: expected a register or a number");
        }
        let ty = self.ty(&[&target, &source])?;
        let by = self.keep(&source, ty);
        self.compute(&target, what, by, ty).map(drop)
    }

    /// Computes, writes the result if it is kept, and sets the flags: the old value of the target.
    fn compute(
        &mut self,
        target: &Operand,
        what: Arithmetic,
        by: Expression,
        ty: Type,
    ) -> Parsed<Expression> {
        if let (true, Operand::Memory(at, _), true) = (self.locked, target, what.keeps) {
            let old = self.update(at, what.kind, by.clone(), ty);
            self.flags(what, old.clone(), by, ty);
            return Ok(old);
        }
        self.refuse_lock()?;
        let old = self.keep(target, ty);
        let result = Expression::binary(what.operator, old.clone(), by.clone());
        if what.keeps {
            self.write(target, result.wrap(ty), ty)?;
        }
        self.flags(what, old.clone(), by, ty);
        Ok(old)
    }

    /// Sets the flags. Addition and subtraction carry if the exact result is out of range.
    fn flags(&mut self, what: Arithmetic, left: Expression, right: Expression, ty: Type) {
        use Operator::{Add, Less, NotEqual, Sub};
        let exact = |left, right| Expression::binary(what.operator, left, right);
        let differs = |exact: Expression, ty| {
            let wrapped = exact.clone().wrap(ty);
            Expression::binary(NotEqual, exact, wrapped)
        };
        let result = exact(left.clone(), right.clone()).wrap(ty);
        self.set(FLAGS.zero, result.clone().not());
        self.set(FLAGS.sign, Expression::binary(Less, result, 0.into()));
        let can_overflow = matches!(what.operator, Add | Sub);
        let zero = Expression::Number(0);
        let overflow = if can_overflow {
            differs(exact(left.clone(), right.clone()), ty)
        } else {
            zero.clone()
        };
        self.set(FLAGS.overflow, overflow);
        if what.carries {
            let bits = ty.unsigned();
            let carry = differs(exact(left.wrap(bits), right.wrap(bits)), bits);
            self.set(FLAGS.carry, if can_overflow { carry } else { zero });
        }
    }
}
