//! Functions that the executor implements: atomic operations, threads, the heap, inputs, and the intrinsic functions of
//! the headers in `include`.

use lang_c::ast::Expression;
use lang_c::span::{Node as Ast, Span};
use raddle_core::outcome::FindingKind;

use super::access::UpdateEffect;
use super::{CValue, PathState, Result, SymbolicExecutor, TOO_FEW_ARGUMENTS};
use crate::abi_type::{AbiType, INT, LONG, UINT, ULONG};
use crate::address_space::ObjectKey;
use crate::program::NondetInput;
use crate::term::{BinaryOp, FALSE, TRUE, Term};

/// The value of a call and its type. `None` if the executor does not implement the function.
pub(super) type BuiltinResult = Result<Option<(CValue, AbiType)>>;

/// The type of an input, from the suffix of `__VERIFIER_nondet_*`.
fn input_type(name: &str) -> Option<AbiType> {
    let int = |width, signed| AbiType::Int { width, signed };
    Some(match name {
        "bool" | "_Bool" => AbiType::Bool,
        "char" | "int8_t" => int(8, true),
        "uchar" | "u8" | "uint8_t" => int(8, false),
        "short" | "int16_t" => int(16, true),
        "ushort" | "u16" | "uint16_t" => int(16, false),
        "int" | "int32_t" => INT,
        "uint" | "u32" | "uint32_t" | "unsigned" | "unsigned_int" => UINT,
        "long" | "longlong" | "int64_t" => LONG,
        "ulong" | "ulonglong" | "size_t" | "uint64_t" => ULONG,
        _ => return None,
    })
}

/// The operation of a fetch-and-modify function, and whether it returns the old value.
fn fetch_operation(name: &str) -> Option<(&'static str, bool)> {
    for op in ["add", "sub", "or", "and", "xor", "nand"] {
        if name == format!("__atomic_fetch_{op}") || name == format!("__sync_fetch_and_{op}") {
            return Some((op, true));
        }
        if name == format!("__atomic_{op}_fetch") || name == format!("__sync_{op}_and_fetch") {
            return Some((op, false));
        }
    }
    None
}

impl<'a> SymbolicExecutor<'a> {
    /// Executes a call of a function that the executor implements.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> BuiltinResult {
        if let Some(ty) = name.strip_prefix("__VERIFIER_nondet_").and_then(input_type) {
            return Ok(Some(self.nondet_input(name, ty)));
        }
        if let Some((op, returns_old)) = fetch_operation(name) {
            return self.fetch_op(op, returns_old, list, span).map(Some);
        }
        if name.starts_with("__atomic_") || name.starts_with("__sync_") {
            return self.atomic_function(name, list, span);
        }
        if name.starts_with("__raddle_") {
            return self.raddle_intrinsic(name, list, span);
        }
        if let Some(result) = self.verifier_function(name, list, span)? {
            return Ok(Some(result));
        }
        self.library_function(name, list, span)
    }

    /// The `int` 0, as the result of functions that return `void` or always succeed.
    pub(super) fn zero_int(&mut self) -> (CValue, AbiType) {
        (CValue::Scalar(self.terms.constant(0, 32)), INT)
    }

    /// A new input. With the option `bits` it is narrower than its type, which counts as a cut.
    fn nondet_input(&mut self, name: &str, ty: AbiType) -> (CValue, AbiType) {
        let width = ty.width().unwrap_or(32);
        let value = match (&ty, self.options.bits) {
            (AbiType::Bool, _) => {
                let bit = self.terms.var(1);
                self.terms.zext(bit, 8)
            }
            (_, Some(bits)) if bits < width => {
                let narrow = self.terms.var(bits);
                let message = format!("inputs have {bits} bits only: raise --bits");
                let check = self.new_check(self.state.guard, None, message);
                self.cuts.push(check);
                self.terms.sext(narrow, width)
            }
            _ => self.terms.var(width),
        };
        self.inputs.push(NondetInput {
            thread: self.thread,
            after: self.statement_count(),
            function: name.to_owned(),
            value,
            guard: self.state.guard,
            signed: ty.is_signed(),
            place: self.place(),
        });
        (CValue::Scalar(value), ty)
    }

    /// A pointer argument of an atomic operation: its value, and the type and width of its target.
    pub(super) fn pointer_argument(
        &mut self,
        list: &'a [Ast<Expression>],
        at: usize,
    ) -> Result<(Term, AbiType, u8)> {
        let Some(expression) = list.get(at) else { return self.unsupported(TOO_FEW_ARGUMENTS) };
        let (pointer, ty) = self.scalar(expression)?;
        let target = ty.target().map(|target| target.unqualified().clone());
        match target.as_ref().and_then(AbiType::width) {
            Some(width) => Ok((pointer, target.unwrap_or(INT), width)),
            None => {
                self.unsupported("atomic operations are supported on integers and pointers only")
            }
        }
    }

    /// An argument, converted to `ty`.
    pub(super) fn argument(
        &mut self,
        list: &'a [Ast<Expression>],
        at: usize,
        ty: &AbiType,
    ) -> Result<Term> {
        let Some(expression) = list.get(at) else { return self.unsupported(TOO_FEW_ARGUMENTS) };
        let (term, from) = self.scalar(expression)?;
        self.convert(term, &from, ty)
    }

    /// The intrinsic functions of the headers in `include`.
    fn raddle_intrinsic(
        &mut self,
        name: &str,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> BuiltinResult {
        match name {
            "__raddle_self" => {
                Ok(Some((CValue::Scalar(self.terms.constant(self.thread as u64, 32)), UINT)))
            }
            "__raddle_choice" => Ok(Some((CValue::Scalar(self.terms.var(32)), UINT))),
            "__raddle_when" => {
                let (pointer, ..) = self.pointer_argument(list, 0)?;
                let (mask, value) =
                    (self.argument(list, 1, &UINT)?, self.argument(list, 2, &UINT)?);
                let add = self.argument(list, 3, &UINT)?;
                self.here = span;
                let old = self.read_modify_write(pointer, 32, |exec, old| {
                    let masked = exec.terms.and(old, mask);
                    let ready = exec.terms.eq(masked, value);
                    // If all bits are compared, the old value is `value`, which is simpler.
                    let all = exec.terms.as_const(mask) == Some(u64::from(u32::MAX));
                    let new = exec.terms.binary(BinaryOp::Add, if all { value } else { old }, add);
                    Ok(UpdateEffect { new, writes: TRUE, ready })
                })?;
                Ok(Some((CValue::Scalar(old), UINT)))
            }
            "__raddle_take" => {
                let (pointer, ..) = self.pointer_argument(list, 0)?;
                self.here = span;
                self.read_modify_write(pointer, 32, |exec, old| {
                    let ready = exec.terms.truth(old);
                    let minus_one = exec.terms.constant(u64::MAX, 32);
                    let new = exec.terms.binary(BinaryOp::Add, old, minus_one);
                    Ok(UpdateEffect { new, writes: TRUE, ready })
                })?;
                Ok(Some(self.zero_int()))
            }
            "__raddle_fail" => {
                let message = string_argument(list, 1);
                self.fails_if(TRUE, FindingKind::Misuse, message);
                Ok(Some(self.zero_int()))
            }
            "__raddle_assert_fail" => {
                let message = format!("assertion failed: {}", string_argument(list, 0));
                self.fails_if(TRUE, FindingKind::Assertion, message);
                Ok(Some(self.zero_int()))
            }
            _ => Ok(None),
        }
    }

    /// Functions of SV-COMP.
    fn verifier_function(
        &mut self,
        name: &str,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> BuiltinResult {
        match name {
            "__VERIFIER_assume" | "assume_abort_if_not" => {
                let condition = match list.first() {
                    Some(expression) => self.condition(expression)?,
                    None => return self.unsupported(TOO_FEW_ARGUMENTS),
                };
                self.assume(condition);
            }
            "__VERIFIER_error" | "reach_error" => {
                self.fails_if(TRUE, FindingKind::Assertion, format!("{name} is reached"));
            }
            "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" => {
                let key = ObjectKey::Global(String::from("(atomic section)"));
                let object = self.space.object(key, "(atomic section)", 4, true);
                let at = self.address(object);
                self.here = span;
                let begins = name.ends_with("begin");
                self.read_modify_write(at, 32, |exec, old| Ok(exec.section_effect(old, begins)))?;
            }
            _ => return Ok(None),
        }
        Ok(Some(self.zero_int()))
    }

    /// What the beginning or the end of an atomic section does to the word of all sections: the thread that is in one, plus
    /// [`DEPTH`] for each section that it is in.
    fn section_effect(&mut self, old: Term, begins: bool) -> UpdateEffect {
        const DEPTH: u64 = 1 << 8;
        let depth = self.terms.constant(DEPTH, 32);
        if !begins {
            let less = self.terms.binary(BinaryOp::Sub, old, depth);
            let is_inner = self.terms.binary(BinaryOp::Ult, depth, less);
            let zero = self.terms.constant(0, 32);
            let new = self.terms.ite(is_inner, less, zero);
            return UpdateEffect { new, writes: TRUE, ready: TRUE };
        }
        let owner = self.thread as u64 + 1;
        let mask = self.terms.constant(DEPTH - 1, 32);
        let current = self.terms.binary(BinaryOp::And, old, mask);
        let (is_free, is_own) = (self.terms.is(old, 0), self.terms.is(current, owner));
        let first = self.terms.constant(DEPTH + owner, 32);
        let deeper = self.terms.binary(BinaryOp::Add, old, depth);
        let new = self.terms.ite(is_free, first, deeper);
        UpdateEffect { new, writes: TRUE, ready: self.terms.or(is_free, is_own) }
    }

    /// Functions of the C library that are not defined in the headers in `include`.
    fn library_function(
        &mut self,
        name: &str,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> BuiltinResult {
        match name {
            "pthread_create" => return self.create_thread(list, span).map(Some),
            "pthread_detach" => return self.detach_thread(list, span).map(Some),
            "pthread_join" => return self.join_thread(list, span).map(Some),
            "pthread_exit" => {
                let value = self.argument(list, 0, &ULONG)?;
                let left = self.threads[self.thread].left;
                self.threads[self.thread].left = self.terms.or(left, self.state.guard);
                let state = std::mem::replace(
                    &mut self.state,
                    PathState { guard: FALSE, env: super::Env::default() },
                );
                self.state.env = state.env.clone();
                let bottom = self.frames.first_mut().expect("a thread is executed");
                bottom.returns.push((state, Some(CValue::Scalar(value))));
            }
            "malloc" | "calloc" => return self.allocate(name == "calloc", list, span).map(Some),
            "free" => {
                let pointer = self.argument(list, 0, &ULONG)?;
                self.here = span;
                self.free(pointer)?;
            }
            "abort" | "__builtin_trap" => {
                self.fails_if(TRUE, FindingKind::Abort, format!("{name} is called"));
            }
            "__builtin_unreachable" => {
                self.fails_if(TRUE, FindingKind::Crash, format!("{name} is reached"));
            }
            "exit" | "_Exit" => self.state.guard = FALSE,
            "printf" | "fprintf" | "puts" | "putchar" | "fflush" | "perror" => {
                for argument in list.iter().filter(|argument| !is_stream(&argument.node)) {
                    self.eval(argument)?;
                }
            }
            "__builtin_expect" => {
                let Some(first) = list.first() else { return Ok(None) };
                return self.eval(first).map(Some);
            }
            _ => return Ok(None),
        }
        Ok(Some(self.zero_int()))
    }

    /// `malloc` and `calloc`, which never fail.
    fn allocate(
        &mut self,
        zeroed: bool,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(CValue, AbiType)> {
        let mut size = self.argument(list, 0, &ULONG)?;
        if zeroed {
            let count = self.argument(list, 1, &ULONG)?;
            size = self.terms.binary(BinaryOp::Mul, size, count);
        }
        self.here = span;
        let Some(size) = self.terms.as_const(size) else {
            return self.unsupported("heap blocks must have a constant size");
        };
        self.mallocs += 1;
        if self.mallocs > self.options.mallocs {
            let bound = self.options.mallocs;
            self.cut_off(format!("more than {bound} heap blocks are allocated: raise --mallocs"));
        }
        let name = format!("malloc@{}", self.place().rsplit(':').next().unwrap_or("?"));
        let object = self.new_object(&name, size, zeroed);
        self.space.objects[object].is_block = true;
        let at = self.address(object);
        Ok((CValue::Scalar(at), AbiType::pointer_to(AbiType::Void)))
    }
}

/// Returns `true` for the standard streams, which have no address.
fn is_stream(expression: &Expression) -> bool {
    matches!(expression, Expression::Identifier(name) if matches!(name.node.name.as_str(), "stdout" | "stderr" | "stdin"))
}

/// An argument that is a string literal; empty if it is something else.
fn string_argument(list: &[Ast<Expression>], at: usize) -> String {
    match list.get(at).map(|expression| &expression.node) {
        Some(Expression::StringLiteral(parts)) => {
            String::from_utf8_lossy(&super::init::unescape(&parts.node)).into_owned()
        }
        _ => String::new(),
    }
}
