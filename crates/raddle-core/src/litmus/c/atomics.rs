//! Atomic operations of C and C++, in their spellings.
//!
//! | | |
//! |---|---|
//! | C11, C++ | `atomic_load(x)`, `atomic_load_explicit(x, memory_order_acquire)`, also with `std::` |
//! | methods of C++ | `x->load(memory_order_acquire)`, `x.load(std::memory_order::acquire)` |
//! | GCC | `__atomic_load_n(x, __ATOMIC_ACQUIRE)` |
//!
//! `memory_order_consume` is taken for acquire, as compilers do. A compare-exchange loads the expected
//! value by its pointer and, where it fails, stores what it found there, both as plain accesses; a
//! pointer to a local variable is no memory.

use crate::execution::MemoryOrder::{self, AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};
use crate::history::quote;
use crate::litmus::code::Code;
use crate::litmus::expression::Expression;
use crate::litmus::lex::{Fault, Parsed, Token};
use crate::litmus::types::CType;
use crate::program::UpdateKind;

use super::{Function, Named, Typed};

/// What there is, for messages.
const KNOWN: &str = "atomic_load, atomic_store, atomic_exchange, atomic_fetch_add, atomic_fetch_sub, \
                     atomic_fetch_and, atomic_fetch_or, atomic_fetch_xor, \
                     atomic_compare_exchange_strong or _weak, each also with _explicit, or \
                     atomic_thread_fence";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Load,
    Store,
    Update(UpdateKind),
    CompareExchange { weak: bool },
    Fence,
}

/// An operation as it is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    operation: Operation,
    orders: Orders,
}

/// Whether a call says its memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Orders {
    /// It does not.
    None,
    /// It does.
    Given,
    /// It may.
    Optional,
    /// It does, and before them whether the compare-exchange is weak.
    AfterWeak,
}

/// The operation with this name, if there is one.
fn operation(name: &str) -> Option<Operation> {
    let update = |name| {
        Some(Operation::Update(match name {
            "add" => UpdateKind::Add,
            "sub" => UpdateKind::Sub,
            "and" => UpdateKind::And,
            "or" => UpdateKind::Or,
            "xor" => UpdateKind::Xor,
            _ => return None,
        }))
    };
    match name {
        "load" => Some(Operation::Load),
        "store" => Some(Operation::Store),
        "exchange" => Some(Operation::Update(UpdateKind::Swap)),
        "compare_exchange_strong" => Some(Operation::CompareExchange { weak: false }),
        "compare_exchange_weak" => Some(Operation::CompareExchange { weak: true }),
        "thread_fence" => Some(Operation::Fence),
        _ => update(name.strip_prefix("fetch_")?),
    }
}

fn call(name: &str) -> Option<Call> {
    if let Some(name) = name.strip_prefix("__atomic_") {
        let bare = name.strip_suffix("_n").unwrap_or(name);
        if bare == "compare_exchange" {
            let operation = Operation::CompareExchange { weak: false };
            return Some(Call { operation, orders: Orders::AfterWeak });
        }
        return Some(Call { operation: operation(bare)?, orders: Orders::Given });
    }
    let name = name.strip_prefix("atomic_")?;
    let (name, orders) = match name.strip_suffix("_explicit") {
        Some(name) => (name, Orders::Given),
        None if name == "thread_fence" => (name, Orders::Given),
        None => (name, Orders::None),
    };
    Some(Call { operation: operation(name)?, orders })
}

/// The memory order with this name.
fn order(name: &str) -> Option<MemoryOrder> {
    let name =
        name.strip_prefix("memory_order_").or(name.strip_prefix("__ATOMIC_")).unwrap_or(name);
    match name.to_ascii_lowercase().as_str() {
        "relaxed" => Some(Relaxed),
        "acquire" | "consume" => Some(Acquire),
        "release" => Some(Release),
        "acq_rel" => Some(AcqRel),
        "seq_cst" => Some(SeqCst),
        _ => None,
    }
}

/// The order of a compare-exchange that fails, if it is not given.
fn of_failure(success: MemoryOrder) -> MemoryOrder {
    match success {
        AcqRel => Acquire,
        Release => Relaxed,
        other => other,
    }
}

/// Whether an operation can have the order.
fn fits(operation: Operation, order: MemoryOrder) -> bool {
    match operation {
        Operation::Load => matches!(order, Relaxed | Acquire | SeqCst),
        Operation::Store => matches!(order, Relaxed | Release | SeqCst),
        Operation::Update(_) | Operation::CompareExchange { .. } | Operation::Fence => true,
    }
}

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
        let at = object.value;
        match call.operation {
            Operation::Load => {
                let order = self.orders(call)?;
                let target = self.body.temporary();
                self.body.push(Code::Load { target, at, order }, place);
                Ok(Typed { value: Expression::Register(target).wrap(kept), ty })
            }
            Operation::Store => {
                let value = self.argument(call)?.value.wrap(kept);
                let order = self.orders(call)?;
                self.body.push(Code::Store { at, value, order }, place);
                Ok(Typed { value: 0.into(), ty: CType::INT })
            }
            Operation::Update(kind) => {
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
                let at = pointer.value.clone();
                self.body.push(Code::Load { target, at, order: NonAtomic }, place);
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
                let value = value.wrap(pointer.ty.pointee().integer());
                let at = pointer.value.clone();
                self.body.push(Code::Store { at, value, order: NonAtomic }, place);
            }
        }
        let here = self.body.here();
        self.body.land(skip, here);
    }
}

fn unknown<T>(name: &str, at: usize) -> Parsed<T> {
    Err(Fault::new(at, format!("found {}: expected {KNOWN}", quote(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_several_spellings() {
        let fetch_add = Operation::Update(UpdateKind::Add);
        let is = |name, operation, orders| assert_eq!(call(name), Some(Call { operation, orders }));
        is("atomic_fetch_add", fetch_add, Orders::None);
        is("atomic_fetch_add_explicit", fetch_add, Orders::Given);
        is("__atomic_fetch_add", fetch_add, Orders::Given);
        is("__atomic_load_n", Operation::Load, Orders::Given);
        is("atomic_thread_fence", Operation::Fence, Orders::Given);
        let strong = Operation::CompareExchange { weak: false };
        is("__atomic_compare_exchange_n", strong, Orders::AfterWeak);
        is("atomic_compare_exchange_strong", strong, Orders::None);
        for none in ["atomic_signal_fence", "fetch_add", "atomic_fetch_nand", "smp_mb"] {
            assert_eq!(call(none), None, "{none}");
        }
    }

    #[test]
    fn orders_have_several_spellings() {
        for name in ["memory_order_acquire", "acquire", "__ATOMIC_ACQUIRE", "memory_order_consume"]
        {
            assert_eq!(order(name), Some(Acquire), "{name}");
        }
        assert_eq!(order("mo_relaxed"), None);
    }
}
