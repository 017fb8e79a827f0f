//! Lvalues: expressions that denote objects.

use lang_c::ast::{BinaryOperator, Expression, MemberExpression, MemberOperator, UnaryOperator};
use lang_c::span::Node as Ast;

use super::{CSymbol, CValue, Result, SymbolicExecutor};
use crate::abi_type::{AbiType, CHAR};
use crate::address_space::span_key;
use crate::term::Term;

impl<'a> SymbolicExecutor<'a> {
    /// The value of an lvalue. Arrays and functions become pointers.
    pub(super) fn load_lvalue(
        &mut self,
        expression: &'a Ast<Expression>,
    ) -> Result<(CValue, AbiType)> {
        let (at, ty) = self.lvalue(expression)?;
        self.here = expression.span;
        match ty.unqualified() {
            AbiType::Array(of, _) => Ok((CValue::Scalar(at), AbiType::Pointer(of.clone()))),
            AbiType::Function(_) => Ok((CValue::Scalar(at), AbiType::pointer_to(ty))),
            _ => {
                let value = self.load(at, &ty)?;
                Ok((value, ty.unqualified().clone()))
            }
        }
    }

    /// The type of an lvalue, before arrays and functions become pointers. `None` for other expressions.
    pub(super) fn lvalue_type(
        &mut self,
        expression: &'a Ast<Expression>,
    ) -> Result<Option<AbiType>> {
        match &expression.node {
            Expression::Identifier(name)
                if matches!(self.lookup(&name.node.name), Some(CSymbol::Constant(_))) =>
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

    /// The address and type of an lvalue. A structure that is not an lvalue is stored in a temporary object.
    pub(super) fn lvalue(&mut self, expression: &'a Ast<Expression>) -> Result<(Term, AbiType)> {
        self.here = expression.span;
        match &expression.node {
            Expression::Identifier(name) => self.symbol_address(&name.node.name),
            Expression::StringLiteral(text) => {
                let (at, size) = self.string_literal(span_key(text.span), &text.node)?;
                Ok((at, AbiType::Array(std::rc::Rc::new(CHAR), Some(size))))
            }
            Expression::CompoundLiteral(literal) => {
                let ty = self.type_name(&literal.node.type_name.node)?;
                self.here = expression.span;
                self.compound_literal(ty, &literal.node.initializer_list)
            }
            Expression::Member(member) => self.member_lvalue(&member.node),
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                let (at, ty) = self.scalar(&unary.node.operand)?;
                self.dereference(at, &ty)
            }
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Index =>
            {
                let (a, a_type) = self.scalar(&binary.node.lhs)?;
                let (b, b_type) = self.scalar(&binary.node.rhs)?;
                self.here = expression.span;
                let (at, ty) = self.pointer_arithmetic(a, &a_type, b, &b_type, false)?;
                self.dereference(at, &ty)
            }
            _ => match self.eval(expression)? {
                // A structure that a function returns.
                (value @ CValue::Record(_), ty) => {
                    let size = self.size(&ty)?;
                    let object = self.new_object("(value)", size, false);
                    let at = self.address(object);
                    self.store(at, &ty, value)?;
                    Ok((at, ty))
                }
                _ => self.unsupported("this expression is not an lvalue"),
            },
        }
    }

    /// The object that a pointer of type `ty` points to.
    fn dereference(&mut self, at: Term, ty: &AbiType) -> Result<(Term, AbiType)> {
        match ty.target() {
            Some(target) => Ok((at, target.clone())),
            None => self.unsupported("the dereferenced expression is not a pointer"),
        }
    }

    fn member_lvalue(&mut self, member: &'a MemberExpression) -> Result<(Term, AbiType)> {
        let (at, ty) = match member.operator.node {
            MemberOperator::Direct => self.lvalue(&member.expression)?,
            MemberOperator::Indirect => {
                let (at, ty) = self.scalar(&member.expression)?;
                self.dereference(at, &ty)?
            }
        };
        let (offset, field) = self.field(&ty, &member.identifier.node.name)?;
        Ok((self.offset(at, offset), field))
    }

    /// The offset and type of a field, which may be in an anonymous structure.
    pub(super) fn field(&self, ty: &AbiType, name: &str) -> Result<(u64, AbiType)> {
        let AbiType::Record(number) = ty.unqualified() else {
            return self.unsupported(format!("`.{name}` is applied to a type without fields"));
        };
        let record = &self.records[*number];
        let Some(fields) = &record.fields else {
            return self.unsupported(format!("struct {} is not defined", record.name));
        };
        for field in fields {
            match &field.name {
                Some(known) if known == name => return Ok((field.offset, field.ty.clone())),
                None if matches!(field.ty, AbiType::Record(_)) => {
                    if let Ok((offset, ty)) = self.field(&field.ty, name) {
                        return Ok((field.offset + offset, ty));
                    }
                }
                _ => {}
            }
        }
        self.unsupported(format!("struct {} has no field `{name}`", record.name))
    }
}
