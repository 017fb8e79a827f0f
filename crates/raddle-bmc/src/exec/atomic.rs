//! Atomic operations and fences: the built-in functions `__atomic_*` and `__sync_*` of GCC and Clang.

use lang_c::ast::Expression;
use lang_c::span::{Node as Ast, Span};
use raddle_core::model::orders::StoreBuffers;

use super::access::{AccessOrder, UpdateEffect};
use super::builtin::BuiltinResult;
use super::{CValue, Result, SymbolicExecutor};
use crate::abi_type::{AbiType, LONG};
use crate::program::VisibleAction;
use crate::term::{BinaryOp, FALSE, TRUE, Term};

impl<'a> SymbolicExecutor<'a> {
    /// The memory order in an argument. Orders that are not constant, and missing ones, are sequentially consistent.
    fn order_argument(&mut self, list: &'a [Ast<Expression>], at: usize) -> Result<AccessOrder> {
        let Some(expression) = list.get(at) else { return Ok(AccessOrder::SeqCst) };
        let (term, _) = self.scalar(expression)?;
        Ok(match self.terms.as_const(term) {
            Some(0) => AccessOrder::Relaxed,
            Some(1 | 2) => AccessOrder::Acquire,
            Some(3) => AccessOrder::Release,
            Some(4) => AccessOrder::AcqRel,
            _ => AccessOrder::SeqCst,
        })
    }

    /// A fetch-and-modify operation. Its result is the old value or the new one.
    pub(super) fn fetch_op(
        &mut self,
        op: &str,
        returns_old: bool,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(CValue, AbiType)> {
        let (pointer, ty, width) = self.pointer_argument(list, 0)?;
        let operand = if ty.is_pointer() {
            self.argument(list, 1, &LONG)?
        } else {
            self.argument(list, 1, &ty)?
        };
        self.here = span;
        let mut result = None;
        let before = self.read_modify_write(pointer, width, |exec, before| {
            let new = match op {
                "add" => exec.terms.binary(BinaryOp::Add, before, operand),
                "sub" => exec.terms.binary(BinaryOp::Sub, before, operand),
                "or" => exec.terms.or(before, operand),
                "and" => exec.terms.and(before, operand),
                "xor" => exec.terms.binary(BinaryOp::Xor, before, operand),
                _ => {
                    let both = exec.terms.and(before, operand);
                    exec.terms.not(both)
                }
            };
            result = Some(new);
            Ok(UpdateEffect::always(new))
        })?;
        let value = if returns_old { before } else { result.unwrap_or(before) };
        Ok((CValue::Scalar(value), ty))
    }

    /// All other atomic functions. `None` if the function is not known.
    pub(super) fn atomic_function(
        &mut self,
        name: &str,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> BuiltinResult {
        match name {
            "__atomic_load_n" => {
                let (pointer, ty, width) = self.pointer_argument(list, 0)?;
                self.here = span;
                let value = self.read(pointer, width)?;
                Ok(Some((CValue::Scalar(value), ty)))
            }
            "__atomic_store_n" => {
                let (pointer, ty, _) = self.pointer_argument(list, 0)?;
                let value = self.argument(list, 1, &ty)?;
                let order = self.order_argument(list, 2)?;
                self.here = span;
                self.write(pointer, value, order)?;
                Ok(Some(self.zero_int()))
            }
            "__atomic_exchange_n" | "__sync_lock_test_and_set" => {
                let (pointer, ty, width) = self.pointer_argument(list, 0)?;
                let new = self.argument(list, 1, &ty)?;
                self.here = span;
                let old =
                    self.read_modify_write(pointer, width, |_, _| Ok(UpdateEffect::always(new)))?;
                Ok(Some((CValue::Scalar(old), ty)))
            }
            "__sync_lock_release" => {
                let (pointer, ty, _) = self.pointer_argument(list, 0)?;
                let zero = self.terms.constant(0, ty.width().unwrap_or(32));
                self.here = span;
                self.write(pointer, zero, AccessOrder::Release)?;
                Ok(Some(self.zero_int()))
            }
            "__atomic_compare_exchange_n" => self.compare_exchange(list, span).map(Some),
            "__sync_bool_compare_and_swap" | "__sync_val_compare_and_swap" => {
                let (pointer, ty, width) = self.pointer_argument(list, 0)?;
                let (expected, new) = (self.argument(list, 1, &ty)?, self.argument(list, 2, &ty)?);
                self.here = span;
                let (old, succeeds) =
                    self.compare_and_swap(pointer, width, (expected, new), FALSE)?;
                let returns_bool = name.contains("bool");
                let old = (CValue::Scalar(old), ty);
                Ok(Some(if returns_bool { self.bool_to_int(succeeds) } else { old }))
            }
            "__atomic_thread_fence" => {
                let order = self.order_argument(list, 0)?;
                self.here = span;
                self.fence(order);
                Ok(Some(self.zero_int()))
            }
            "__sync_synchronize" => {
                self.fence(AccessOrder::SeqCst);
                Ok(Some(self.zero_int()))
            }
            _ => Ok(None),
        }
    }

    /// Adds a fence, unless it has no effect: under SC, and before the first visible statement of a thread.
    pub(super) fn fence(&mut self, order: AccessOrder) {
        if self.options.store_buffers() == StoreBuffers::None || self.statement_count() == 0 {
            return;
        }
        match order {
            AccessOrder::SeqCst => self.push_statement(VisibleAction::Fence),
            AccessOrder::Release | AccessOrder::AcqRel => {
                self.push_statement(VisibleAction::StoreFence);
            }
            _ => {}
        }
    }

    /// Compare-and-swap. If `is_weak`, it may fail spuriously. Returns the old value and whether it succeeds.
    fn compare_and_swap(
        &mut self,
        pointer: Term,
        width: u8,
        (expected, new): (Term, Term),
        is_weak: Term,
    ) -> Result<(Term, Term)> {
        let choice = if is_weak == FALSE { FALSE } else { self.terms.var(1) };
        let fails = self.terms.and(choice, is_weak);
        let (mut succeeds, mut spurious) = (FALSE, FALSE);
        let old = self.read_modify_write(pointer, width, |exec, old| {
            let equal = exec.terms.eq(old, expected);
            let not = exec.terms.not(fails);
            spurious = exec.terms.and(equal, fails);
            succeeds = exec.terms.and(equal, not);
            Ok(UpdateEffect { new, writes: succeeds, ready: TRUE })
        })?;
        if spurious != FALSE {
            self.spurious_failures.push(spurious);
        }
        Ok((old, succeeds))
    }

    /// `__atomic_compare_exchange_n`, which stores the old value to `expected` on failure.
    fn compare_exchange(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(CValue, AbiType)> {
        let (pointer, ty, width) = self.pointer_argument(list, 0)?;
        let (expected_at, _, _) = self.pointer_argument(list, 1)?;
        let new = self.argument(list, 2, &ty)?;
        let is_weak = match list.get(3) {
            Some(expression) => self.scalar(expression)?.0,
            None => self.terms.constant(0, 32),
        };
        self.here = span;
        let expected = self.read(expected_at, width)?;
        let is_weak = self.terms.truth(is_weak);
        let (old, succeeds) = self.compare_and_swap(pointer, width, (expected, new), is_weak)?;
        self.branch(succeeds, |_| Ok(()), |exec| exec.write(expected_at, old, AccessOrder::Plain))?;
        Ok(self.bool_to_int(succeeds))
    }
}
