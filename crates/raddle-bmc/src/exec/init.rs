//! Initializers.

use std::rc::Rc;

use lang_c::ast::{Designator, Expression, Initializer, InitializerListItem};
use lang_c::span::Node as Ast;

use super::access::Order;
use super::{Exec, Result, State, Symbol};
use crate::space::{ObjectId, ObjectKey};
use crate::term::{TRUE, Term};
use crate::types::Type;

impl<'a> Exec<'a> {
    /// An array whose length its initializer says.
    pub(super) fn complete(
        &mut self,
        ty: Type,
        initializer: Option<&'a Initializer>,
    ) -> Result<Type> {
        let Type::Array(of, None) = &ty else { return Ok(ty) };
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
        Ok(Type::Array(of.clone(), length))
    }

    /// Initialises a static variable where the program begins, whoever comes there first.
    pub(super) fn initialise_static(
        &mut self,
        object: ObjectId,
        ty: &Type,
        initializer: Option<&'a Initializer>,
    ) -> Result<()> {
        let Some(initializer) = initializer else { return Ok(()) };
        if !self.initialised.insert(object) {
            return Ok(());
        }
        // Into an environment of its own, from which every thread takes what it does not have.
        let env = super::Env::default();
        let before = std::mem::replace(&mut self.state, State { guard: TRUE, env });
        let threads = self.threads.split_off(1);
        let thread = std::mem::take(&mut self.thread);
        let at = self.address(object);
        let uses = self.uses.clone();
        let result = self.initialise(at, ty, initializer);
        self.uses = uses;
        self.thread = thread;
        self.threads.extend(threads);
        let State { env, .. } = std::mem::replace(&mut self.state, before);
        for (&cell, &term) in env.iter() {
            self.defaults.insert(cell, term);
        }
        self.space.objects[object].zeroed = false;
        let mut scalars = vec![];
        self.scalars(ty, 0, &mut scalars)?;
        for (offset, scalar) in scalars {
            let zero = self.terms.constant(0, scalar.width().unwrap_or(8));
            self.defaults.entry((object, offset)).or_insert(zero);
        }
        result
    }

    /// The variable of this thread.
    pub(super) fn thread_local(&mut self, name: &str, ty: &Type) -> Result<ObjectId> {
        let size = self.size(ty)?;
        let key = ObjectKey::Local(self.thread, name.to_owned());
        let object = self.space.object(key, name, size, true);
        let initializer = self.locals.get(name).and_then(|(_, initializer)| *initializer);
        self.initialise_static(object, ty, initializer)?;
        Ok(object)
    }

    /// Writes what an initializer says.
    pub(super) fn initialise(
        &mut self,
        at: Term,
        ty: &Type,
        initializer: &'a Initializer,
    ) -> Result<()> {
        match initializer {
            Initializer::Expression(expression) => self.initialise_by(at, ty, expression),
            Initializer::List(items) => {
                if ty.is_scalar() {
                    return match items.first() {
                        Some(item) => self.initialise(at, ty, &item.node.initializer.node),
                        None => self.clear(at, ty),
                    };
                }
                self.clear(at, ty)?;
                let mut items = items.iter().peekable();
                self.initialise_list(at, ty, &mut items, true)
            }
        }
    }

    fn initialise_by(
        &mut self,
        at: Term,
        ty: &Type,
        expression: &'a Ast<Expression>,
    ) -> Result<()> {
        if let (Type::Array(of, length), Expression::StringLiteral(text)) = (ty, &expression.node) {
            let bytes = unescape(&text.node);
            let size = self.size(of)?;
            for i in 0..length.unwrap_or(0) {
                let byte = bytes.get(i as usize).copied().unwrap_or(0);
                let value = self.terms.constant(byte.into(), 8);
                let at = self.offset(at, i * size);
                self.write(at, value, Order::Plain)?;
            }
            return Ok(());
        }
        let (value, from) = self.eval(expression)?;
        let value = self.convert_value(value, &from, ty)?;
        self.store(at, ty.plain(), value)
    }

    /// Sets everything to zero.
    pub(super) fn clear(&mut self, at: Term, ty: &Type) -> Result<()> {
        let mut scalars = vec![];
        self.scalars(ty, 0, &mut scalars)?;
        for (offset, scalar) in scalars {
            let zero = self.terms.constant(0, scalar.width().unwrap_or(8));
            let at = self.offset(at, offset);
            self.write(at, zero, Order::Plain)?;
        }
        Ok(())
    }

    fn initialise_list(
        &mut self,
        at: Term,
        ty: &Type,
        items: &mut std::iter::Peekable<std::slice::Iter<'a, Ast<InitializerListItem>>>,
        is_braced: bool,
    ) -> Result<()> {
        let parts = self.parts(ty)?;
        let mut next = 0;
        while let Some(item) = items.peek() {
            self.here = item.span;
            if let Some(designator) = item.node.designation.first() {
                if !is_braced {
                    return Ok(());
                }
                if item.node.designation.len() > 1 {
                    return self.refuse("a designator of several steps");
                }
                next = match &designator.node {
                    Designator::Index(index) => self.constant_value(index)? as usize,
                    Designator::Member(name) => self.member_index(ty, &name.node.name)?,
                    Designator::Range(_) => return self.refuse("a range of an initializer"),
                };
            }
            let Some((offset, part)) = parts.get(next).cloned() else {
                return if is_braced { self.refuse("too many initializers") } else { Ok(()) };
            };
            let at = self.offset(at, offset);
            let takes_whole = match &item.node.initializer.node {
                Initializer::List(_) => true,
                Initializer::Expression(expression) => {
                    part.is_scalar()
                        || matches!(expression.node, Expression::StringLiteral(_))
                        || matches!(part.plain(), Type::Record(_))
                            && matches!(self.type_of(expression)?.plain(), Type::Record(_))
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

    /// The elements or fields of a type.
    fn parts(&self, ty: &Type) -> Result<Vec<(u64, Type)>> {
        match ty.plain() {
            Type::Array(of, length) => {
                let size = self.size(of)?;
                Ok((0..length.unwrap_or(0)).map(|i| (i * size, (**of).clone())).collect())
            }
            Type::Record(number) => {
                let fields = self.records[*number].fields.clone().unwrap_or_default();
                Ok(fields.into_iter().map(|field| (field.offset, field.ty)).collect())
            }
            _ => self.refuse("an initializer for this type"),
        }
    }

    fn member_index(&self, ty: &Type, name: &str) -> Result<usize> {
        if let Type::Record(number) = ty.plain() {
            let fields = self.records[*number].fields.as_deref().unwrap_or_default();
            if let Some(at) = fields.iter().position(|field| field.name.as_deref() == Some(name)) {
                return Ok(at);
            }
        }
        self.refuse(format!("no field {name} is there"))
    }

    /// A compound literal: an object that is made here.
    pub(super) fn compound(
        &mut self,
        ty: Type,
        items: &'a [Ast<InitializerListItem>],
    ) -> Result<(Term, Type)> {
        let ty = match ty {
            Type::Array(of, None) => Type::Array(of, Some(items.len() as u64)),
            other => other,
        };
        let size = self.size(&ty)?;
        let object = self.make("(literal)", size, false);
        Rc::make_mut(&mut self.state.env).retain(|cell, _| cell.0 != object);
        let at = self.address(object);
        if ty.is_scalar() {
            if let Some(item) = items.first() {
                self.initialise(at, &ty, &item.node.initializer.node)?;
            }
            return Ok((at, ty));
        }
        self.clear(at, &ty)?;
        self.initialise_list(at, &ty, &mut items.iter().peekable(), true)?;
        Ok((at, ty))
    }

    /// A string: an object that holds it.
    pub(super) fn string(&mut self, spot: usize, parts: &[String]) -> Result<(Term, u64)> {
        let bytes = unescape(parts);
        let size = bytes.len() as u64 + 1;
        let object = self.space.object(ObjectKey::Static(spot), "(string)", size, true);
        for (i, &byte) in bytes.iter().enumerate() {
            let value = self.terms.constant(byte.into(), 8);
            self.defaults.insert((object, i as u64), value);
        }
        let zero = self.terms.constant(0, 8);
        self.defaults.insert((object, size - 1), zero);
        self.space.objects[object].zeroed = false;
        Ok((self.address(object), size))
    }

    /// The address of a variable or function.
    pub(super) fn named(&mut self, name: &str) -> Result<(Term, Type)> {
        match self.lookup(name) {
            Some(Symbol::Variable(object, ty)) => Ok((self.address(object), ty)),
            Some(Symbol::ThreadLocal(ty)) => {
                let object = self.thread_local(name, &ty)?;
                Ok((self.address(object), ty))
            }
            Some(Symbol::Function(ty)) => {
                let key = ObjectKey::Function(name.to_owned());
                let object = self.space.object(key, name, 1, true);
                Ok((self.address(object), ty))
            }
            _ => self.refuse(format!("{name} is not known here")),
        }
    }
}

/// The bytes of a string.
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

/// What follows a backslash.
pub(super) fn escape(bytes: &mut std::iter::Peekable<std::str::Bytes<'_>>) -> u8 {
    let Some(byte) = bytes.next() else { return b'\\' };
    let mut number = |first: u32, base: u32, most: usize| {
        let mut value = first;
        for _ in 0..most {
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
