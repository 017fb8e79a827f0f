//! Atomic operations and fences, as the compilers' functions.

use lang_c::ast::Expression;
use lang_c::span::{Node as Ast, Span};

use super::access::Order;
use super::builtin::Answer;
use super::{Exec, Result, Value};
use crate::options::Model;
use crate::program::Action;
use crate::term::{BinaryOp, FALSE, TRUE, Term};
use crate::types::{LONG, Type};

impl<'a> Exec<'a> {
    fn order(&mut self, list: &'a [Ast<Expression>], at: usize) -> Result<Order> {
        let Some(expression) = list.get(at) else { return Ok(Order::SeqCst) };
        let (term, _) = self.scalar(expression)?;
        Ok(match self.terms.as_const(term) {
            Some(0) => Order::Relaxed,
            Some(1 | 2) => Order::Acquire,
            Some(3) => Order::Release,
            Some(4) => Order::AcqRel,
            _ => Order::SeqCst,
        })
    }

    pub(super) fn fetch(
        &mut self,
        op: &str,
        old: bool,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(Value, Type)> {
        let (pointer, ty, width) = self.pointer(list, 0)?;
        let operand =
            if ty.is_pointer() { self.value(list, 1, &LONG)? } else { self.value(list, 1, &ty)? };
        self.here = span;
        let mut result = None;
        let before = self.update(pointer, width, |exec, before| {
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
            Ok((new, TRUE, TRUE))
        })?;
        let value = if old { before } else { result.unwrap_or(before) };
        Ok((Value::Scalar(value), ty))
    }

    pub(super) fn atomic(&mut self, name: &str, list: &'a [Ast<Expression>], span: Span) -> Answer {
        match name {
            "__atomic_load_n" => {
                let (pointer, ty, width) = self.pointer(list, 0)?;
                self.here = span;
                let value = self.read(pointer, width)?;
                Ok(Some((Value::Scalar(value), ty)))
            }
            "__atomic_store_n" => {
                let (pointer, ty, _) = self.pointer(list, 0)?;
                let value = self.value(list, 1, &ty)?;
                let order = self.order(list, 2)?;
                self.here = span;
                self.write(pointer, value, order)?;
                Ok(Some(self.none()))
            }
            "__atomic_exchange_n" | "__sync_lock_test_and_set" => {
                let (pointer, ty, width) = self.pointer(list, 0)?;
                let new = self.value(list, 1, &ty)?;
                self.here = span;
                let old = self.update(pointer, width, |_, _| Ok((new, TRUE, TRUE)))?;
                Ok(Some((Value::Scalar(old), ty)))
            }
            "__sync_lock_release" => {
                let (pointer, ty, _) = self.pointer(list, 0)?;
                let zero = self.terms.constant(0, ty.width().unwrap_or(32));
                self.here = span;
                self.write(pointer, zero, Order::Release)?;
                Ok(Some(self.none()))
            }
            "__atomic_compare_exchange_n" => self.compare_exchange(list, span).map(Some),
            "__sync_bool_compare_and_swap" | "__sync_val_compare_and_swap" => {
                let (pointer, ty, width) = self.pointer(list, 0)?;
                let (expected, new) = (self.value(list, 1, &ty)?, self.value(list, 2, &ty)?);
                self.here = span;
                let (old, done) = self.swap(pointer, width, (expected, new), FALSE)?;
                let wants_truth = name.contains("bool");
                Ok(Some(if wants_truth { self.boolean(done) } else { (Value::Scalar(old), ty) }))
            }
            "__atomic_thread_fence" => {
                let order = self.order(list, 0)?;
                self.here = span;
                self.fence(order);
                Ok(Some(self.none()))
            }
            "__sync_synchronize" => {
                self.fence(Order::SeqCst);
                Ok(Some(self.none()))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn fence(&mut self, order: Order) {
        if self.options.model == Model::Sc || self.after() == 0 {
            return;
        }
        match order {
            Order::SeqCst => self.event(Action::Fence),
            Order::Release | Order::AcqRel => self.event(Action::StoreFence),
            _ => {}
        }
    }

    /// Exchanges if what is there is expected; if it is weak, perhaps not even then. What was there, and whether it did.
    fn swap(
        &mut self,
        pointer: Term,
        width: u8,
        (expected, new): (Term, Term),
        is_weak: Term,
    ) -> Result<(Term, Term)> {
        let choice = if is_weak == FALSE { FALSE } else { self.terms.var(1) };
        let fails = self.terms.and(choice, is_weak);
        let (mut done, mut spurious) = (FALSE, FALSE);
        let old = self.update(pointer, width, |exec, old| {
            let equal = exec.terms.eq(old, expected);
            let not = exec.terms.not(fails);
            spurious = exec.terms.and(equal, fails);
            done = exec.terms.and(equal, not);
            Ok((new, done, TRUE))
        })?;
        if spurious != FALSE {
            self.spurious.push(spurious);
        }
        Ok((old, done))
    }

    fn compare_exchange(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(Value, Type)> {
        let (pointer, ty, width) = self.pointer(list, 0)?;
        let (expected_at, _, _) = self.pointer(list, 1)?;
        let new = self.value(list, 2, &ty)?;
        let is_weak = match list.get(3) {
            Some(expression) => self.scalar(expression)?.0,
            None => self.terms.constant(0, 32),
        };
        self.here = span;
        let expected = self.read(expected_at, width)?;
        let is_weak = self.terms.truth(is_weak);
        let (old, done) = self.swap(pointer, width, (expected, new), is_weak)?;
        self.branch(done, |_| Ok(()), |exec| exec.write(expected_at, old, Order::Plain))?;
        Ok(self.boolean(done))
    }
}
