//! Atomic operations of C and C++.
//!
//! A compare-exchange loads the expected value through its pointer and, if it fails, stores the observed value there,
//! both with plain accesses. A pointer to a local variable causes no memory accesses.

use crate::code::Instruction;
use crate::expression::RegisterExpression;
use crate::lex::{LitmusToken, ParseResult, SyntaxError};
use crate::types::CType;
use crate::value::IntType;
use raddle_consistency::history::quote;
use raddle_core::execution::MemoryOrder::{self, NonAtomic, Relaxed, SeqCst};
use raddle_core::program::UpdateKind;

use super::spelling::{
    AtomicCall, AtomicOperation, CallOrders, KNOWN, call, failure_order, fits, operation, order,
};
use super::{CVariable, FunctionParser, TypedExpression};

/// Where the expected value of a compare-exchange is.
enum ExpectedValue {
    Local(usize, CType),
    At(TypedExpression),
}

impl FunctionParser<'_> {
    /// Returns `true` if a call is next: a name and `(`, `std::`, or a name and a method.
    pub(super) fn is_call(&self) -> bool {
        let tokens = &self.draft.tokens;
        matches!(tokens.ahead(1), LitmusToken::Sign("(" | "::" | "->" | "."))
    }

    /// Parses a call.
    pub(super) fn call(&mut self) -> ParseResult<TypedExpression> {
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
        let result = if call.operation == AtomicOperation::Fence {
            self.fence(place)?
        } else {
            let object = self.expression()?;
            self.operate(call, object, place)?
        };
        self.tokens().sign(")")?;
        Ok(result)
    }

    /// Parses `x->load(...)` after the arrow.
    fn method(&mut self, object: &str, at: usize, place: usize) -> ParseResult<TypedExpression> {
        let object = match self.find(object) {
            Some(CVariable::Parameter(parameter)) => parameter.clone(),
            _ => {
                let message = format!("{} is not a parameter: expected a location", quote(object));
                return Err(SyntaxError::new(at, message));
            }
        };
        let at = self.tokens().at();
        let name = self.tokens().word("a method")?;
        let Some(operation) = operation(&name).filter(|&it| it != AtomicOperation::Fence) else {
            return unknown(&name, at);
        };
        self.tokens().sign("(")?;
        let result =
            self.operate(AtomicCall { operation, orders: CallOrders::Optional }, object, place)?;
        self.tokens().sign(")")?;
        Ok(result)
    }

    fn fence(&mut self, place: usize) -> ParseResult<TypedExpression> {
        let order = self.order(AtomicOperation::Fence)?;
        if order != Relaxed {
            self.body.push(Instruction::Fence(order), place);
        }
        Ok(TypedExpression { value: 0.into(), ty: CType::INT })
    }

    /// Parses the arguments after the object, and generates code.
    fn operate(
        &mut self,
        call: AtomicCall,
        object: TypedExpression,
        place: usize,
    ) -> ParseResult<TypedExpression> {
        let ty = object.ty.pointee();
        let kept = ty.integer();
        let (at, bits) = (object.value, kept.bits);
        match call.operation {
            AtomicOperation::Load => {
                let order = self.orders(call)?;
                let target = self.body.temporary();
                self.body.push(Instruction::Load { target, at, bits, order }, place);
                Ok(TypedExpression { value: RegisterExpression::Register(target).wrap(kept), ty })
            }
            AtomicOperation::Store => {
                let value = self.argument(call)?.value.wrap(kept);
                let order = self.orders(call)?;
                self.body.push(Instruction::Store { at, bits, value, order }, place);
                Ok(TypedExpression { value: 0.into(), ty: CType::INT })
            }
            AtomicOperation::Update(kind) => {
                if kind != UpdateKind::Swap && (ty.stars > 0 || kept == IntType::BOOL) {
                    let message =
                        "arithmetic on a pointer or a truth value: expected an integer type";
                    return Err(SyntaxError::new(place, message));
                }
                let operand = self.argument(call)?.value.wrap(kept);
                let order = self.orders(call)?;
                let target = self.body.temporary();
                self.body.push(
                    Instruction::Update { target, at, kind, operand, ty: kept, order },
                    place,
                );
                Ok(TypedExpression { value: RegisterExpression::Register(target).wrap(kept), ty })
            }
            AtomicOperation::CompareExchange { weak } => self.compare_exchange(
                call,
                TypedExpression { value: at, ty: object.ty },
                weak,
                place,
            ),
            AtomicOperation::Fence => self.fence(place),
        }
    }

    /// Parses an argument after a comma.
    fn argument(&mut self, call: AtomicCall) -> ParseResult<TypedExpression> {
        if !self.tokens().is_sign(",") {
            let more = if call.orders == CallOrders::None {
                "another value"
            } else {
                "a value and an order"
            };
            return if self.tokens().is_sign(")") {
                self.tokens().expected(&format!("',' and {more}"))
            } else if call.orders == CallOrders::Optional {
                self.expression()
            } else {
                self.tokens().expected("','")
            };
        }
        self.tokens().skip();
        self.expression()
    }

    /// Parses the memory order after a comma, if the call has one.
    fn orders(&mut self, call: AtomicCall) -> ParseResult<MemoryOrder> {
        match call.orders {
            CallOrders::None => Ok(SeqCst),
            CallOrders::Optional if self.tokens().is_sign(")") => Ok(SeqCst),
            CallOrders::Optional => {
                self.tokens().eat(",");
                self.order(call.operation)
            }
            CallOrders::Given | CallOrders::AfterWeak => {
                self.tokens().sign(",")?;
                self.order(call.operation)
            }
        }
    }

    /// Parses `memory_order_acquire`, `memory_order::acquire` and other spellings.
    fn order(&mut self, operation: AtomicOperation) -> ParseResult<MemoryOrder> {
        let what = "a memory order, such as memory_order_relaxed";
        while let (LitmusToken::Word(_), LitmusToken::Sign("::")) =
            (self.draft.tokens.peek(), self.draft.tokens.ahead(1))
        {
            self.tokens().skip();
            self.tokens().skip();
        }
        let known = match self.draft.tokens.peek() {
            LitmusToken::Word(word) => order(word),
            _ => None,
        };
        let Some(order) = known else { return self.tokens().expected(what) };
        if !fits(operation, order) {
            let which = if operation == AtomicOperation::Load { "acquire" } else { "release" };
            return self.tokens().expected(&format!("relaxed, {which} or seq_cst here"));
        }
        self.tokens().skip();
        Ok(order)
    }

    fn compare_exchange(
        &mut self,
        call: AtomicCall,
        object: TypedExpression,
        mut weak: bool,
        place: usize,
    ) -> ParseResult<TypedExpression> {
        let ty = object.ty.pointee();
        let kept = ty.integer();
        let expected_by = self.expected(call)?;
        let desired = self.argument(call)?.value.wrap(kept);
        if call.orders == CallOrders::AfterWeak {
            self.tokens().sign(",")?;
            weak = self.tokens().eat_word("true");
            if !weak && !self.tokens().eat_word("false") {
                weak = self.tokens().number("true or false")? != 0;
            }
        }
        let success = self.orders(call)?;
        let failure = match call.orders {
            CallOrders::Given | CallOrders::AfterWeak => {
                self.tokens().sign(",")?;
                self.order(AtomicOperation::Load)?
            }
            CallOrders::Optional if self.tokens().eat(",") => self.order(AtomicOperation::Load)?,
            _ => failure_order(success),
        };
        let expected = match &expected_by {
            ExpectedValue::Local(slot, ty) => {
                RegisterExpression::Register(*slot).wrap(ty.integer())
            }
            ExpectedValue::At(pointer) => {
                let target = self.body.temporary();
                let (at, bits) = (pointer.value.clone(), pointer.ty.pointee().integer().bits);
                self.body.push(Instruction::Load { target, at, bits, order: NonAtomic }, place);
                RegisterExpression::Register(target)
            }
        };
        let (target, succeeded) = (self.body.temporary(), self.body.temporary());
        let expected = expected.wrap(kept);
        let at = object.value;
        let code = Instruction::CompareExchange {
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
        self.store_observed(&expected_by, target, succeeded, place);
        Ok(TypedExpression { value: RegisterExpression::Register(succeeded), ty: CType::INT })
    }

    /// Parses `, &r0`, or a pointer to memory.
    fn expected(&mut self, call: AtomicCall) -> ParseResult<ExpectedValue> {
        if call.orders != CallOrders::Optional || self.tokens().is_sign(",") {
            self.tokens().sign(",")?;
        }
        if let (LitmusToken::Sign("&"), LitmusToken::Word(name)) =
            (self.draft.tokens.peek(), self.draft.tokens.ahead(1))
            && let Some(&CVariable::Local(slot, ty)) = self.find(name)
        {
            self.tokens().skip();
            self.tokens().skip();
            return Ok(ExpectedValue::Local(slot, ty));
        }
        let at = self.tokens().at();
        let pointer = self.expression()?;
        if pointer.ty.stars == 0 {
            let message = "the expected value is not a pointer: expected '&' and a local variable, or a \
                           pointer to a location";
            return Err(SyntaxError::new(at, message));
        }
        Ok(ExpectedValue::At(pointer))
    }

    /// Generates code that replaces the expected value by the observed one if the compare-exchange failed.
    fn store_observed(
        &mut self,
        expected: &ExpectedValue,
        target: usize,
        succeeded: usize,
        place: usize,
    ) {
        let failed = RegisterExpression::Register(succeeded).not();
        let skip = self.body.unless(failed, place);
        let value = RegisterExpression::Register(target);
        match expected {
            ExpectedValue::Local(slot, ty) => {
                let value = value.wrap(ty.integer());
                self.body.push(Instruction::Set { target: *slot, value }, place);
            }
            ExpectedValue::At(pointer) => {
                let kept = pointer.ty.pointee().integer();
                let (at, bits, value) = (pointer.value.clone(), kept.bits, value.wrap(kept));
                self.body.push(Instruction::Store { at, bits, value, order: NonAtomic }, place);
            }
        }
        let here = self.body.here();
        self.body.land(skip, here);
    }
}

/// Returns the error for a call that is not an atomic operation.
fn unknown<T>(name: &str, at: usize) -> ParseResult<T> {
    Err(SyntaxError::new(at, format!("found {}: expected {KNOWN}", quote(name))))
}
