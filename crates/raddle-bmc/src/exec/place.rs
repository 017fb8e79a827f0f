//! Expressions that have an address.

use lang_c::ast::{BinaryOperator, Expression, MemberExpression, MemberOperator, UnaryOperator};
use lang_c::span::Node as Ast;

use super::{Exec, Result, Symbol, Value};
use crate::space::spot;
use crate::term::Term;
use crate::types::{CHAR, Type};

impl<'a> Exec<'a> {
    /// The value of something that has an address; arrays and functions become pointers.
    pub(super) fn place_value(&mut self, expression: &'a Ast<Expression>) -> Result<(Value, Type)> {
        let (at, ty) = self.lvalue(expression)?;
        self.here = expression.span;
        match ty.plain() {
            Type::Array(of, _) => Ok((Value::Scalar(at), Type::Pointer(of.clone()))),
            Type::Function(_) => Ok((Value::Scalar(at), Type::pointer(ty))),
            _ => {
                let value = self.load(at, &ty)?;
                Ok((value, ty.plain().clone()))
            }
        }
    }

    /// The type of something that has an address; nothing if it has none.
    pub(super) fn lvalue_type(&mut self, expression: &'a Ast<Expression>) -> Result<Option<Type>> {
        match &expression.node {
            Expression::Identifier(name)
                if matches!(self.lookup(&name.node.name), Some(Symbol::Constant(_))) =>
            {
                Ok(None)
            }
            Expression::Identifier(_)
            | Expression::StringLiteral(_)
            | Expression::CompoundLiteral(_) => self.lvalue(expression).map(|(_, ty)| Some(ty)),
            Expression::Member(member) => {
                let inner = &member.node.expression;
                let of = match member.node.operator.node {
                    MemberOperator::Direct => self.type_of(inner)?,
                    MemberOperator::Indirect => {
                        let ty = self.type_of(inner)?;
                        ty.target().cloned().unwrap_or(ty)
                    }
                };
                self.field(&of, &member.node.identifier.node.name).map(|(_, ty)| Some(ty))
            }
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                let ty = self.type_of(&unary.node.operand)?;
                Ok(ty.target().cloned())
            }
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Index =>
            {
                let ty = self.type_of(&binary.node.lhs)?;
                Ok(ty.target().cloned())
            }
            _ => Ok(None),
        }
    }

    /// The address and type of something that has an address.
    pub(super) fn lvalue(&mut self, expression: &'a Ast<Expression>) -> Result<(Term, Type)> {
        self.here = expression.span;
        match &expression.node {
            Expression::Identifier(name) => self.named(&name.node.name),
            Expression::StringLiteral(text) => {
                let (at, size) = self.string(spot(text.span), &text.node)?;
                Ok((at, Type::Array(std::rc::Rc::new(CHAR), Some(size))))
            }
            Expression::CompoundLiteral(literal) => {
                let ty = self.type_name(&literal.node.type_name.node)?;
                self.here = expression.span;
                self.compound(ty, &literal.node.initializer_list)
            }
            Expression::Member(member) => self.member(&member.node),
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                let (at, ty) = self.scalar(&unary.node.operand)?;
                self.pointed(at, &ty)
            }
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Index =>
            {
                let (a, a_type) = self.scalar(&binary.node.lhs)?;
                let (b, b_type) = self.scalar(&binary.node.rhs)?;
                self.here = expression.span;
                let (at, ty) = self.add(a, &a_type, b, &b_type, false)?;
                self.pointed(at, &ty)
            }
            _ => match self.eval(expression)? {
                // A structure that a function returned: an object of its own.
                (value @ Value::Record(_), ty) => {
                    let size = self.size(&ty)?;
                    let object = self.make("(value)", size, false);
                    let at = self.address(object);
                    self.store(at, &ty, value)?;
                    Ok((at, ty))
                }
                _ => self.refuse("something that has no address"),
            },
        }
    }

    fn pointed(&mut self, at: Term, ty: &Type) -> Result<(Term, Type)> {
        match ty.target() {
            Some(target) => Ok((at, target.clone())),
            None => self.refuse("something that is no pointer is followed"),
        }
    }

    fn member(&mut self, member: &'a MemberExpression) -> Result<(Term, Type)> {
        let (at, ty) = match member.operator.node {
            MemberOperator::Direct => self.lvalue(&member.expression)?,
            MemberOperator::Indirect => {
                let (at, ty) = self.scalar(&member.expression)?;
                self.pointed(at, &ty)?
            }
        };
        let (offset, field) = self.field(&ty, &member.identifier.node.name)?;
        Ok((self.offset(at, offset), field))
    }

    /// Where a field is, and its type.
    pub(super) fn field(&self, ty: &Type, name: &str) -> Result<(u64, Type)> {
        let Type::Record(number) = ty.plain() else {
            return self.refuse(format!("a field {name} of what is no structure"));
        };
        let record = &self.records[*number];
        let Some(fields) = &record.fields else {
            return self.refuse(format!("struct {} is not defined", record.name));
        };
        for field in fields {
            match &field.name {
                Some(known) if known == name => return Ok((field.offset, field.ty.clone())),
                None if matches!(field.ty, Type::Record(_)) => {
                    if let Ok((offset, ty)) = self.field(&field.ty, name) {
                        return Ok((field.offset + offset, ty));
                    }
                }
                _ => {}
            }
        }
        self.refuse(format!("struct {} has no field {name}", record.name))
    }
}
