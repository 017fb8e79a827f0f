//! Functions that are not in C: atomic operations, threads, memory, inputs, and what the headers are made of.

use lang_c::ast::Expression;
use lang_c::span::{Node as Ast, Span};

use super::{Exec, Result, State, Value};
use crate::program::Input;
use crate::space::ObjectKey;
use crate::term::{BinaryOp, FALSE, TRUE, Term};
use crate::types::{INT, LONG, Type, UINT, ULONG};

pub(super) type Answer = Result<Option<(Value, Type)>>;

/// The type of an input, from the end of the function's name.
fn input_type(name: &str) -> Option<Type> {
    let int = |width, signed| Type::Int { width, signed };
    Some(match name {
        "bool" | "_Bool" => Type::Bool,
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

/// The operation of a function that fetches and computes.
fn fetched(name: &str) -> Option<(&'static str, bool)> {
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

impl<'a> Exec<'a> {
    /// Does what a function does, if it is known here.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Answer {
        if let Some(ty) = name.strip_prefix("__VERIFIER_nondet_").and_then(input_type) {
            return Ok(Some(self.input(name, ty)));
        }
        if let Some((op, old)) = fetched(name) {
            return self.fetch(op, old, list, span).map(Some);
        }
        if name.starts_with("__atomic_") || name.starts_with("__sync_") {
            return self.atomic(name, list, span);
        }
        if name.starts_with("__raddle_") {
            return self.own(name, list, span);
        }
        if let Some(done) = self.verifier(name, list, span)? {
            return Ok(Some(done));
        }
        self.library(name, list, span)
    }

    pub(super) fn none(&mut self) -> (Value, Type) {
        (Value::Scalar(self.terms.constant(0, 32)), INT)
    }

    fn input(&mut self, name: &str, ty: Type) -> (Value, Type) {
        let width = ty.width().unwrap_or(32);
        let value = match (&ty, self.options.bits) {
            (Type::Bool, _) => {
                let bit = self.terms.var(1);
                self.terms.zext(bit, 8)
            }
            (_, Some(bits)) if bits < width => {
                let narrow = self.terms.var(bits);
                let check = self.check(
                    self.state.guard,
                    "bound",
                    String::from("an input has only the bits that --bits says"),
                );
                self.cuts.push(check);
                self.terms.sext(narrow, width)
            }
            _ => self.terms.var(width),
        };
        self.inputs.push(Input {
            thread: self.thread,
            after: self.after(),
            function: name.to_owned(),
            value,
            guard: self.state.guard,
            signed: ty.is_signed(),
            place: self.place(),
        });
        (Value::Scalar(value), ty)
    }

    /// A pointer argument, and the type of what it points to.
    pub(super) fn pointer(
        &mut self,
        list: &'a [Ast<Expression>],
        at: usize,
    ) -> Result<(Term, Type, u8)> {
        let Some(expression) = list.get(at) else { return self.refuse("too few arguments") };
        let (pointer, ty) = self.scalar(expression)?;
        let target = ty.target().map(|target| target.plain().clone());
        match target.as_ref().and_then(Type::width) {
            Some(width) => Ok((pointer, target.unwrap_or(INT), width)),
            None => self.refuse("an atomic operation on this type"),
        }
    }

    pub(super) fn value(
        &mut self,
        list: &'a [Ast<Expression>],
        at: usize,
        ty: &Type,
    ) -> Result<Term> {
        let Some(expression) = list.get(at) else { return self.refuse("too few arguments") };
        let (term, from) = self.scalar(expression)?;
        self.convert(term, &from, ty)
    }

    /// What our headers are made of.
    fn own(&mut self, name: &str, list: &'a [Ast<Expression>], span: Span) -> Answer {
        match name {
            "__raddle_self" => {
                Ok(Some((Value::Scalar(self.terms.constant(self.thread as u64, 32)), UINT)))
            }
            "__raddle_choice" => Ok(Some((Value::Scalar(self.terms.var(32)), UINT))),
            "__raddle_when" => {
                let (pointer, ..) = self.pointer(list, 0)?;
                let (mask, value) = (self.value(list, 1, &UINT)?, self.value(list, 2, &UINT)?);
                let add = self.value(list, 3, &UINT)?;
                self.here = span;
                let old = self.update(pointer, 32, |exec, old| {
                    let masked = exec.terms.and(old, mask);
                    let ready = exec.terms.eq(masked, value);
                    // What it becomes, told from what it is waited for where that is all of it.
                    let all = exec.terms.as_const(mask) == Some(u64::from(u32::MAX));
                    let new = exec.terms.binary(BinaryOp::Add, if all { value } else { old }, add);
                    Ok((new, TRUE, ready))
                })?;
                Ok(Some((Value::Scalar(old), UINT)))
            }
            "__raddle_take" => {
                let (pointer, ..) = self.pointer(list, 0)?;
                self.here = span;
                self.update(pointer, 32, |exec, old| {
                    let ready = exec.terms.truth(old);
                    let minus_one = exec.terms.constant(u64::MAX, 32);
                    let new = exec.terms.binary(BinaryOp::Add, old, minus_one);
                    Ok((new, TRUE, ready))
                })?;
                Ok(Some(self.none()))
            }
            "__raddle_fail" => {
                let message = text(list, 1);
                self.fails_if(TRUE, "misuse", message);
                Ok(Some(self.none()))
            }
            "__raddle_assert_fail" => {
                let message = format!("assertion failed: {}", text(list, 0));
                self.fails_if(TRUE, "assertion", message);
                Ok(Some(self.none()))
            }
            _ => Ok(None),
        }
    }

    fn verifier(&mut self, name: &str, list: &'a [Ast<Expression>], span: Span) -> Answer {
        match name {
            "__VERIFIER_assume" | "assume_abort_if_not" => {
                let condition = match list.first() {
                    Some(expression) => self.condition(expression)?,
                    None => return self.refuse("an assumption of nothing"),
                };
                self.assume(condition);
            }
            "__VERIFIER_error" | "reach_error" => {
                self.fails_if(TRUE, "assertion", format!("{name} is reached"));
            }
            "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" => {
                let key = ObjectKey::Global(String::from("(atomic section)"));
                let object = self.space.object(key, "(atomic section)", 4, true);
                let at = self.address(object);
                let owner = if name.ends_with("begin") { self.thread as u64 + 1 } else { 0 };
                let new = self.terms.constant(owner, 32);
                self.here = span;
                self.update(at, 32, |exec, old| {
                    let free = exec.terms.is(old, 0);
                    Ok((new, TRUE, if owner > 0 { free } else { TRUE }))
                })?;
            }
            _ => return Ok(None),
        }
        Ok(Some(self.none()))
    }

    fn library(&mut self, name: &str, list: &'a [Ast<Expression>], span: Span) -> Answer {
        match name {
            "pthread_create" => return self.create(list, span).map(Some),
            "pthread_detach" => return self.detach(list, span).map(Some),
            "pthread_join" => return self.join(list, span).map(Some),
            "pthread_exit" => {
                let value = self.value(list, 0, &ULONG)?;
                let state = std::mem::replace(
                    &mut self.state,
                    State { guard: FALSE, env: super::Env::default() },
                );
                self.state.env = state.env.clone();
                let bottom = self.frames.first_mut().expect("a thread is executed");
                bottom.returns.push((state, Some(Value::Scalar(value))));
            }
            "malloc" | "calloc" => return self.allocate(name == "calloc", list, span).map(Some),
            "free" => {
                let pointer = self.value(list, 0, &ULONG)?;
                self.here = span;
                self.free(pointer)?;
            }
            "abort" | "__builtin_trap" => self.fails_if(TRUE, "abort", format!("{name} is called")),
            "__builtin_unreachable" => {
                self.fails_if(TRUE, "crash", "what must not be reached is reached");
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
        Ok(Some(self.none()))
    }

    fn allocate(
        &mut self,
        zeroed: bool,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(Value, Type)> {
        let mut size = self.value(list, 0, &ULONG)?;
        if zeroed {
            let count = self.value(list, 1, &ULONG)?;
            size = self.terms.binary(BinaryOp::Mul, size, count);
        }
        self.here = span;
        let Some(size) = self.terms.as_const(size) else {
            return self.refuse("a block of memory whose size is not constant");
        };
        self.mallocs += 1;
        if self.mallocs > self.options.mallocs {
            self.cut(format!("more than {} blocks of memory are allocated", self.options.mallocs));
        }
        let name = format!("malloc@{}", self.place().rsplit(':').next().unwrap_or("?"));
        let object = self.make(&name, size, zeroed);
        self.space.objects[object].is_block = true;
        let at = self.address(object);
        Ok((Value::Scalar(at), Type::pointer(Type::Void)))
    }
}

fn is_stream(expression: &Expression) -> bool {
    matches!(expression, Expression::Identifier(name) if matches!(name.node.name.as_str(), "stdout" | "stderr" | "stdin"))
}

/// A string argument.
fn text(list: &[Ast<Expression>], at: usize) -> String {
    match list.get(at).map(|expression| &expression.node) {
        Some(Expression::StringLiteral(parts)) => {
            String::from_utf8_lossy(&super::init::unescape(&parts.node)).into_owned()
        }
        _ => String::new(),
    }
}
