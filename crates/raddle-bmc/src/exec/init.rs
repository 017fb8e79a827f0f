//! Initializers, literals in memory, and addresses of identifiers.

use std::rc::Rc;

use lang_c::ast::{Designator, Expression, Initializer, InitializerListItem};
use lang_c::span::Node as Ast;

use super::access::AccessOrder;
use super::{CSymbol, PathState, Result, SymbolicExecutor};
use crate::abi_type::AbiType;
use crate::address_space::{ObjectId, ObjectKey};
use crate::term::{TRUE, Term};

impl<'a> SymbolicExecutor<'a> {
    /// Completes an array type of unknown length from its initializer.
    pub(super) fn complete_array_type(
        &mut self,
        ty: AbiType,
        initializer: Option<&'a Initializer>,
    ) -> Result<AbiType> {
        let AbiType::Array(of, None) = &ty else { return Ok(ty) };
        let length = match initializer {
            Some(Initializer::List(items)) => {
                let mut next = 0;
                let mut length = 0;
                for item in items {
                    if let Some(Designator::Index(index)) =
                        item.node.designation.first().map(|d| &d.node)
                    {
                        next = self.constant_value(index)?;
                    }
                    next += 1;
                    length = length.max(next);
                }
                Some(length)
            }
            Some(Initializer::Expression(expression)) => match &expression.node {
                Expression::StringLiteral(text) => Some(unescape(&text.node).len() as u64 + 1),
                _ => None,
            },
            None => None,
        };
        Ok(AbiType::Array(of.clone(), length))
    }

    /// Initialises a static variable, once. The values become initial contents, which all threads see.
    pub(super) fn initialise_static(
        &mut self,
        object: ObjectId,
        ty: &AbiType,
        initializer: Option<&'a Initializer>,
    ) -> Result<()> {
        let Some(initializer) = initializer else { return Ok(()) };
        if !self.initialised.insert(object) {
            return Ok(());
        }
        // Evaluate the initializer as the main thread alone, with empty local memory.
        let env = super::Env::default();
        let before = std::mem::replace(&mut self.state, PathState { guard: TRUE, env });
        let threads = self.threads.split_off(1);
        let thread = std::mem::take(&mut self.thread);
        let at = self.address(object);
        let uses = self.uses.clone();
        let result = self.initialise(at, ty, initializer);
        self.uses = uses;
        self.thread = thread;
        self.threads.extend(threads);
        let PathState { env, .. } = std::mem::replace(&mut self.state, before);
        for (&cell, &term) in env.iter() {
            self.initial_contents.insert(cell, term);
        }
        self.space.objects[object].zeroed = false;
        let mut scalars = vec![];
        self.scalars(ty, 0, &mut scalars)?;
        for (offset, scalar) in scalars {
            let zero = self.terms.constant(0, scalar.width().unwrap_or(8));
            self.initial_contents.entry((object, offset)).or_insert(zero);
        }
        result
    }

    /// The current thread's object of a thread-local variable.
    pub(super) fn thread_local_object(&mut self, name: &str, ty: &AbiType) -> Result<ObjectId> {
        let size = self.size(ty)?;
        let key = ObjectKey::ThreadLocal(self.thread, name.to_owned());
        let object = self.space.object(key, name, size, true);
        let initializer = self.thread_locals.get(name).and_then(|(_, initializer)| *initializer);
        self.initialise_static(object, ty, initializer)?;
        Ok(object)
    }

    /// Initialises an object of type `ty` at an address.
    pub(super) fn initialise(
        &mut self,
        at: Term,
        ty: &AbiType,
        initializer: &'a Initializer,
    ) -> Result<()> {
        match initializer {
            Initializer::Expression(expression) => self.initialise_with(at, ty, expression),
            Initializer::List(items) => {
                if ty.is_scalar() {
                    return match items.first() {
                        Some(item) => self.initialise(at, ty, &item.node.initializer.node),
                        None => self.zero_fill(at, ty),
                    };
                }
                self.zero_fill(at, ty)?;
                let mut items = items.iter().peekable();
                self.initialise_list(at, ty, &mut items, true)
            }
        }
    }

    /// Initialises an object with the value of an expression, or an array with a string literal.
    fn initialise_with(
        &mut self,
        at: Term,
        ty: &AbiType,
        expression: &'a Ast<Expression>,
    ) -> Result<()> {
        if let (AbiType::Array(of, length), Expression::StringLiteral(text)) =
            (ty, &expression.node)
        {
            let bytes = unescape(&text.node);
            let size = self.size(of)?;
            for i in 0..length.unwrap_or(0) {
                let byte = bytes.get(i as usize).copied().unwrap_or(0);
                let value = self.terms.constant(byte.into(), 8);
                let at = self.offset(at, i * size);
                self.write(at, value, AccessOrder::Plain)?;
            }
            return Ok(());
        }
        let (value, from) = self.eval(expression)?;
        let value = self.convert_value(value, &from, ty)?;
        self.store(at, ty.unqualified(), value)
    }

    /// Sets all scalars of a type to zero.
    pub(super) fn zero_fill(&mut self, at: Term, ty: &AbiType) -> Result<()> {
        let mut scalars = vec![];
        self.scalars(ty, 0, &mut scalars)?;
        for (offset, scalar) in scalars {
            let zero = self.terms.constant(0, scalar.width().unwrap_or(8));
            let at = self.offset(at, offset);
            self.write(at, zero, AccessOrder::Plain)?;
        }
        Ok(())
    }

    /// Initialises an array, structure or union with the next items of a list. Nested lists may lack their braces; then
    /// they end when all components are initialised.
    fn initialise_list(
        &mut self,
        at: Term,
        ty: &AbiType,
        items: &mut std::iter::Peekable<std::slice::Iter<'a, Ast<InitializerListItem>>>,
        is_braced: bool,
    ) -> Result<()> {
        let parts = self.components(ty)?;
        let mut next = 0;
        while let Some(item) = items.peek() {
            self.here = item.span;
            if let Some(designator) = item.node.designation.first() {
                if !is_braced {
                    return Ok(());
                }
                if item.node.designation.len() > 1 {
                    return self.unsupported("nested designators are not supported");
                }
                next = match &designator.node {
                    Designator::Index(index) => self.constant_value(index)? as usize,
                    Designator::Member(name) => self.member_index(ty, &name.node.name)?,
                    Designator::Range(_) => {
                        return self.unsupported("range designators are not supported");
                    }
                };
            }
            let Some((offset, part)) = parts.get(next).cloned() else {
                return match is_braced {
                    true => self.unsupported("the initializer list is too long"),
                    false => Ok(()),
                };
            };
            let at = self.offset(at, offset);
            let takes_whole = match &item.node.initializer.node {
                Initializer::List(_) => true,
                Initializer::Expression(expression) => {
                    part.is_scalar()
                        || matches!(expression.node, Expression::StringLiteral(_))
                        || matches!(part.unqualified(), AbiType::Record(_))
                            && matches!(self.type_of(expression)?.unqualified(), AbiType::Record(_))
                }
            };
            if takes_whole {
                let item = *item;
                items.next();
                self.initialise(at, &part, &item.node.initializer.node)?;
            } else {
                self.initialise_list(at, &part, items, false)?;
            }
            next += 1;
            if !is_braced && next >= parts.len() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The elements or fields of a type, with their offsets.
    fn components(&self, ty: &AbiType) -> Result<Vec<(u64, AbiType)>> {
        match ty.unqualified() {
            AbiType::Array(of, length) => {
                let size = self.size(of)?;
                Ok((0..length.unwrap_or(0)).map(|i| (i * size, (**of).clone())).collect())
            }
            AbiType::Record(number) => {
                let fields = self.records[*number].fields.clone().unwrap_or_default();
                Ok(fields.into_iter().map(|field| (field.offset, field.ty)).collect())
            }
            _ => self.unsupported("this type cannot have an initializer list"),
        }
    }

    /// The index of a named field.
    fn member_index(&self, ty: &AbiType, name: &str) -> Result<usize> {
        if let AbiType::Record(number) = ty.unqualified() {
            let fields = self.records[*number].fields.as_deref().unwrap_or_default();
            if let Some(at) = fields.iter().position(|field| field.name.as_deref() == Some(name)) {
                return Ok(at);
            }
        }
        self.unsupported(format!("the initialised type has no field `{name}`"))
    }

    /// Creates the object of a compound literal. Returns its address and type.
    pub(super) fn compound_literal(
        &mut self,
        ty: AbiType,
        items: &'a [Ast<InitializerListItem>],
    ) -> Result<(Term, AbiType)> {
        let ty = match ty {
            AbiType::Array(of, None) => AbiType::Array(of, Some(items.len() as u64)),
            other => other,
        };
        let size = self.size(&ty)?;
        let object = self.new_object("(literal)", size, false);
        Rc::make_mut(&mut self.state.env).retain(|cell, _| cell.0 != object);
        let at = self.address(object);
        if ty.is_scalar() {
            if let Some(item) = items.first() {
                self.initialise(at, &ty, &item.node.initializer.node)?;
            }
            return Ok((at, ty));
        }
        self.zero_fill(at, &ty)?;
        self.initialise_list(at, &ty, &mut items.iter().peekable(), true)?;
        Ok((at, ty))
    }

    /// The address and size of a string literal, which is identified by its position in the source.
    pub(super) fn string_literal(
        &mut self,
        position: usize,
        parts: &[String],
    ) -> Result<(Term, u64)> {
        let bytes = unescape(parts);
        let size = bytes.len() as u64 + 1;
        let object = self.space.object(ObjectKey::Static(position), "(string)", size, true);
        for (i, &byte) in bytes.iter().enumerate() {
            let value = self.terms.constant(byte.into(), 8);
            self.initial_contents.insert((object, i as u64), value);
        }
        let zero = self.terms.constant(0, 8);
        self.initial_contents.insert((object, size - 1), zero);
        self.space.objects[object].zeroed = false;
        Ok((self.address(object), size))
    }

    /// The address and type of a variable or function.
    pub(super) fn symbol_address(&mut self, name: &str) -> Result<(Term, AbiType)> {
        match self.lookup(name) {
            Some(CSymbol::Variable(object, ty)) => Ok((self.address(object), ty)),
            Some(CSymbol::ThreadLocal(ty)) => {
                let object = self.thread_local_object(name, &ty)?;
                Ok((self.address(object), ty))
            }
            Some(CSymbol::Function(ty)) => {
                let key = ObjectKey::Function(name.to_owned());
                let object = self.space.object(key, name, 1, true);
                Ok((self.address(object), ty))
            }
            _ => self.unsupported(format!("`{name}` is not declared")),
        }
    }
}

/// The bytes of a string literal, which may consist of several parts, without the terminating zero.
pub(super) fn unescape(parts: &[String]) -> Vec<u8> {
    let mut out = vec![];
    for part in parts {
        let inner = part.split_once('"').map_or("", |(_, rest)| rest);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        let mut bytes = inner.bytes().peekable();
        while let Some(byte) = bytes.next() {
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            out.push(escape(&mut bytes));
        }
    }
    out
}

/// The byte that an escape sequence denotes. The backslash is already consumed.
pub(super) fn escape(bytes: &mut std::iter::Peekable<std::str::Bytes<'_>>) -> u8 {
    let Some(byte) = bytes.next() else { return b'\\' };
    let mut number = |first: u32, base: u32, max_digits: usize| {
        let mut value = first;
        for _ in 0..max_digits {
            let Some(digit) = bytes.peek().and_then(|&b| char::from(b).to_digit(base)) else {
                break;
            };
            value = value * base + digit;
            bytes.next();
        }
        value as u8
    };
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'e' => 27,
        b'x' => number(0, 16, 8),
        b'0'..=b'7' => number(u32::from(byte - b'0'), 8, 2),
        other => other,
    }
}
