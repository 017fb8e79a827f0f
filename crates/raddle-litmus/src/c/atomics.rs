//! Atomic operations of C and C++.
//!
//! A compare-exchange loads the expected value by its pointer and, where it fails, stores what it found
//! there, both as plain accesses; a pointer to a local variable is no memory.

use crate::code::Code;
use crate::expression::Expression;
use crate::lex::{Fault, Parsed, Token};
use crate::types::CType;
use crate::value::Type;
use raddle_consistency::history::quote;
use raddle_core::execution::MemoryOrder::{self, NonAtomic, Relaxed, SeqCst};
use raddle_core::program::UpdateKind;

use super::spelling::{Call, KNOWN, Operation, Orders, call, fits, of_failure, operation, order};
use super::{Function, Named, Typed};

/// What a compare-exchange expects.
enum Expected {
    Local(usize, CType),
    At(Typed),
}

impl Function<'_> {
    /// Whether a call is next: a name and `(`, `std::`, or a name and a method.
    pub(super) fn is_call(&self) -> bool {
        let tokens = &self.draft.tokens;
        matches!(tokens.ahead(1), Token::Sign("(" | "::" | "->" | "."))
    }

    /// Reads a call.
    pub(super) fn call(&mut self) -> Parsed<Typed> {
        let place = self.tokens().at();
        if self.tokens().eat_word("std") {
            self.tokens().sign("::")?;
        }
        let at = self.tokens().at();
        let name = self.tokens().word("an atomic operation")?;
        if self.tokens().eat("->") || self.tokens().eat(".") {
            return self.method(&name, at, place);
        }
        let Some(call) = call(&name) else { return unknown(&name, at) };
        self.tokens().sign("(")?;
        let result = if call.operation == Operation::Fence {
            self.fence(place)?
        } else {
            let object = self.expression()?;
            self.operate(call, object, place)?
        };
        self.tokens().sign(")")?;
        Ok(result)
    }

    /// `x->load(...)`
    fn method(&mut self, object: &str, at: usize, place: usize) -> Parsed<Typed> {
        let object = match self.find(object) {
            Some(Named::Parameter(parameter)) => parameter.clone(),
            _ => {
                let message = format!("{} is no parameter: expected a location", quote(object));
                return Err(Fault::new(at, message));
            }
        };
        let at = self.tokens().at();
        let name = self.tokens().word("a method")?;
        let Some(operation) = operation(&name).filter(|&it| it != Operation::Fence) else {
            return unknown(&name, at);
        };
        self.tokens().sign("(")?;
        let result = self.operate(Call { operation, orders: Orders::Optional }, object, place)?;
        self.tokens().sign(")")?;
        Ok(result)
    }

    fn fence(&mut self, place: usize) -> Parsed<Typed> {
        let order = self.order(Operation::Fence)?;
        if order != Relaxed {
            self.body.push(Code::Fence(order), place);
        }
        Ok(Typed { value: 0.into(), ty: CType::INT })
    }

    /// The arguments after the object, and the code.
    fn operate(&mut self, call: Call, object: Typed, place: usize) -> Parsed<Typed> {
        let ty = object.ty.pointee();
        let kept = ty.integer();
        let (at, bits) = (object.value, kept.bits);
        match call.operation {
            Operation::Load => {
                let order = self.orders(call)?;
                let target = self.body.temporary();
                self.body.push(Code::Load { target, at, bits, order }, place);
                Ok(Typed { value: Expression::Register(target).wrap(kept), ty })
            }
            Operation::Store => {
                let value = self.argument(call)?.value.wrap(kept);
                let order = self.orders(call)?;
                self.body.push(Code::Store { at, bits, value, order }, place);
                Ok(Typed { value: 0.into(), ty: CType::INT })
            }
            Operation::Update(kind) => {
                if kind != UpdateKind::Swap && (ty.stars > 0 || kept == Type::BOOL) {
                    let message = "arithmetic on a pointer or a truth value: expected an integer";
                    return Err(Fault::new(place, message));
                }
                let operand = self.argument(call)?.value.wrap(kept);
                let order = self.orders(call)?;
                let target = self.body.temporary();
                self.body.push(Code::Update { target, at, kind, operand, ty: kept, order }, place);
                Ok(Typed { value: Expression::Register(target).wrap(kept), ty })
            }
            Operation::CompareExchange { weak } => {
                self.compare_exchange(call, Typed { value: at, ty: object.ty }, weak, place)
            }
            Operation::Fence => self.fence(place),
        }
    }

    /// An argument after a comma.
    fn argument(&mut self, call: Call) -> Parsed<Typed> {
        if !self.tokens().is_sign(",") {
            let more =
                if call.orders == Orders::None { "another value" } else { "a value and an order" };
            return if self.tokens().is_sign(")") {
                self.tokens().expected(&format!("',' and {more}"))
            } else if call.orders == Orders::Optional {
                self.expression()
            } else {
                self.tokens().expected("','")
            };
        }
        self.tokens().skip();
        self.expression()
    }

    /// The order after a comma, if the call has one.
    fn orders(&mut self, call: Call) -> Parsed<MemoryOrder> {
        match call.orders {
            Orders::None => Ok(SeqCst),
            Orders::Optional if self.tokens().is_sign(")") => Ok(SeqCst),
            Orders::Optional => {
                self.tokens().eat(",");
                self.order(call.operation)
            }
            Orders::Given | Orders::AfterWeak => {
                self.tokens().sign(",")?;
                self.order(call.operation)
            }
        }
    }

    /// `memory_order_acquire`, `memory_order::acquire`, ...
    fn order(&mut self, operation: Operation) -> Parsed<MemoryOrder> {
        let what = "a memory order, such as memory_order_relaxed";
        while let (Token::Word(_), Token::Sign("::")) =
            (self.draft.tokens.peek(), self.draft.tokens.ahead(1))
        {
            self.tokens().skip();
            self.tokens().skip();
        }
        let known = match self.draft.tokens.peek() {
            Token::Word(word) => order(word),
            _ => None,
        };
        let Some(order) = known else { return self.tokens().expected(what) };
        if !fits(operation, order) {
            let which = if operation == Operation::Load { "acquire" } else { "release" };
            return self.tokens().expected(&format!("relaxed, {which} or seq_cst here"));
        }
        self.tokens().skip();
        Ok(order)
    }

    fn compare_exchange(
        &mut self,
        call: Call,
        object: Typed,
        mut weak: bool,
        place: usize,
    ) -> Parsed<Typed> {
        let ty = object.ty.pointee();
        let kept = ty.integer();
        let expected_by = self.expected(call)?;
        let desired = self.argument(call)?.value.wrap(kept);
        if call.orders == Orders::AfterWeak {
            self.tokens().sign(",")?;
            weak = self.tokens().eat_word("true");
            if !weak && !self.tokens().eat_word("false") {
                weak = self.tokens().number("true or false")? != 0;
            }
        }
        let success = self.orders(call)?;
        let failure = match call.orders {
            Orders::Given | Orders::AfterWeak => {
                self.tokens().sign(",")?;
                self.order(Operation::Load)?
            }
            Orders::Optional if self.tokens().eat(",") => self.order(Operation::Load)?,
            _ => of_failure(success),
        };
        let expected = match &expected_by {
            Expected::Local(slot, ty) => Expression::Register(*slot).wrap(ty.integer()),
            Expected::At(pointer) => {
                let target = self.body.temporary();
                let (at, bits) = (pointer.value.clone(), pointer.ty.pointee().integer().bits);
                self.body.push(Code::Load { target, at, bits, order: NonAtomic }, place);
                Expression::Register(target)
            }
        };
        let (target, succeeded) = (self.body.temporary(), self.body.temporary());
        let expected = expected.wrap(kept);
        let at = object.value;
        let code = Code::CompareExchange {
            target,
            succeeded,
            at,
            bits: kept.bits,
            expected,
            desired,
            success,
            failure,
            weak,
        };
        self.body.push(code, place);
        self.found(&expected_by, target, succeeded, place);
        Ok(Typed { value: Expression::Register(succeeded), ty: CType::INT })
    }

    /// `, &r0` or a pointer to memory.
    fn expected(&mut self, call: Call) -> Parsed<Expected> {
        if call.orders != Orders::Optional || self.tokens().is_sign(",") {
            self.tokens().sign(",")?;
        }
        if let (Token::Sign("&"), Token::Word(name)) =
            (self.draft.tokens.peek(), self.draft.tokens.ahead(1))
            && let Some(&Named::Local(slot, ty)) = self.find(name)
        {
            self.tokens().skip();
            self.tokens().skip();
            return Ok(Expected::Local(slot, ty));
        }
        let at = self.tokens().at();
        let pointer = self.expression()?;
        if pointer.ty.stars == 0 {
            let message = "the expected value is no pointer: expected '&' and a local variable, or a \
                           pointer to a location";
            return Err(Fault::new(at, message));
        }
        Ok(Expected::At(pointer))
    }

    /// What was found replaces what was expected, if that was something else.
    fn found(&mut self, expected: &Expected, target: usize, succeeded: usize, place: usize) {
        let failed = Expression::Register(succeeded).not();
        let skip = self.body.unless(failed, place);
        let value = Expression::Register(target);
        match expected {
            Expected::Local(slot, ty) => {
                let value = value.wrap(ty.integer());
                self.body.push(Code::Set { target: *slot, value }, place);
            }
            Expected::At(pointer) => {
                let kept = pointer.ty.pointee().integer();
                let (at, bits, value) = (pointer.value.clone(), kept.bits, value.wrap(kept));
                self.body.push(Code::Store { at, bits, value, order: NonAtomic }, place);
            }
        }
        let here = self.body.here();
        self.body.land(skip, here);
    }
}

fn unknown<T>(name: &str, at: usize) -> Parsed<T> {
    Err(Fault::new(at, format!("found {}: expected {KNOWN}", quote(name))))
}
