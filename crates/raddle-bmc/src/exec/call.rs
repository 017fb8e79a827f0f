//! Functions are executed where they are called.

use lang_c::ast::{CallExpression, Expression, FunctionDefinition, Statement};
use lang_c::span::{Node as Ast, Span};

use super::access::Order;
use super::declare::{declared, parameters};
use super::{Exec, Frame, Result, Scope, State, Symbol, Value};
use crate::space::ObjectKey;
use crate::term::{FALSE, Term};
use crate::types::{INT, Type};

/// Arguments, with their types.
pub(super) type Arguments = Vec<(Value, Type)>;

/// Functions call each other at most so deep.
const DEPTH: usize = 120;

impl<'a> Exec<'a> {
    /// `main` without arguments, or with its name only.
    pub(super) fn main_arguments(&mut self, main: &'a FunctionDefinition) -> Result<Arguments> {
        let count = parameters(&main.declarator.node).len();
        let one = (Value::Scalar(self.terms.constant(1, 32)), INT);
        let none = (Value::Scalar(self.terms.constant(0, 64)), crate::types::ULONG);
        Ok(if count >= 2 { vec![one, none] } else { vec![] })
    }

    pub(super) fn eval_call(
        &mut self,
        call: &'a CallExpression,
        span: Span,
    ) -> Result<(Value, Type)> {
        if let (true, Some(ty)) = (self.only_type, self.called_type(call)?) {
            return Ok((Value::Scalar(self.terms.constant(0, 64)), ty));
        }
        if self.is_dead() {
            return Ok((Value::Scalar(self.terms.constant(0, 64)), crate::types::LONG));
        }
        if let Expression::Identifier(name) = &call.callee.node {
            let name = &name.node.name;
            if !matches!(self.lookup(name), Some(Symbol::Variable(..))) {
                self.here = span;
                if let Some(result) = self.builtin(name, &call.arguments, span)? {
                    return Ok(result);
                }
                let Some(&function) = self.functions.get(name.as_str()) else {
                    self.here = span;
                    return self.refuse(format!("a call of {name}, which is not modelled"));
                };
                let arguments = self.arguments(&call.arguments)?;
                self.here = span;
                return self.call_typed(function, arguments);
            }
        }
        let (pointer, _) = self.scalar(&call.callee)?;
        let arguments = self.arguments(&call.arguments)?;
        self.here = span;
        self.call_pointer(pointer, &arguments)
    }

    /// What a function of the program returns that is called by its name.
    fn called_type(&mut self, call: &'a CallExpression) -> Result<Option<Type>> {
        let Expression::Identifier(name) = &call.callee.node else { return Ok(None) };
        let name = &name.node.name;
        if matches!(self.lookup(name), Some(Symbol::Variable(..))) {
            return Ok(None);
        }
        let function = self.functions.get(name.as_str()).copied();
        function.map(|function| self.result_type(function)).transpose()
    }

    pub(super) fn arguments(&mut self, list: &'a [Ast<Expression>]) -> Result<Arguments> {
        list.iter().map(|argument| self.eval(argument)).collect()
    }

    fn call_typed(
        &mut self,
        function: &'a FunctionDefinition,
        arguments: Arguments,
    ) -> Result<(Value, Type)> {
        let ty = self.result_type(function)?;
        let value = self.call(function, arguments)?;
        let value = value
            .unwrap_or_else(|| Value::Scalar(self.terms.constant(0, ty.width().unwrap_or(32))));
        Ok((value, ty))
    }

    /// The functions that a pointer may point to, and when.
    fn pointed_functions(&mut self, pointer: Term) -> Result<Vec<(&'a FunctionDefinition, Term)>> {
        let values = self.terms.values(pointer);
        let Some(few) = values.few() else {
            return self.refuse("it is not known which function a pointer points to");
        };
        let mut all = vec![];
        for &value in few {
            let Some((object, 0)) = self.space.at(value) else { continue };
            let ObjectKey::Function(name) = &self.space.objects[object].key else { continue };
            let Some(&function) = self.functions.get(name.as_str()) else {
                let what = format!("a call of {name} through a pointer, which is not modelled");
                return self.refuse(what);
            };
            let condition = self.terms.is(pointer, value);
            if condition != FALSE {
                all.push((function, condition));
            }
        }
        let any = self.terms.any(all.iter().map(|&(_, condition)| condition));
        let none = self.terms.not(any);
        self.fails_if(none, "crash", "a pointer that is called points to no function");
        Ok(all)
    }

    /// Calls whatever a pointer points to.
    pub(super) fn call_pointer(
        &mut self,
        pointer: Term,
        arguments: &Arguments,
    ) -> Result<(Value, Type)> {
        let functions = self.pointed_functions(pointer)?;
        let mut result: Option<(Value, Type)> = None;
        for (function, condition) in functions {
            let call = |exec: &mut Self| exec.call_typed(function, arguments.clone());
            let (called, _) = self.branch(condition, |exec| call(exec).map(Some), |_| Ok(None))?;
            let Some(Some((value, ty))) = called else { continue };
            let before = result.map(|(value, _)| value);
            let value = self.choose(condition, Some(value), before);
            result = value.map(|value| (value, ty));
        }
        Ok(result
            .unwrap_or_else(|| (Value::Scalar(self.terms.constant(0, 64)), crate::types::LONG)))
    }

    /// Executes a function.
    pub(super) fn call(
        &mut self,
        function: &'a FunctionDefinition,
        arguments: Arguments,
    ) -> Result<Option<Value>> {
        let name = declared(&function.declarator.node).unwrap_or_default();
        let guard = self.state.guard;
        let same =
            self.frames.iter().filter(|frame| frame.name == name && frame.guard != Some(guard));
        if same.count() > self.options.unwind || self.frames.len() > DEPTH {
            self.cut(format!("{name} calls itself too deep"));
            return Ok(None);
        }
        let place = self.here;
        let result = Some(self.result_type(function)?);
        let mut frame = Frame {
            name: name.to_owned(),
            result,
            guard: Some(guard),
            from: Some(place),
            ..Frame::default()
        };
        frame.scopes.push(Scope::default());
        let names = self.bind(function, arguments)?;
        self.frames.push(frame);
        for (name, ty, value, span) in names {
            self.here = span;
            let size = self.size(&ty)?;
            let object = self.make(&name, size, false);
            let scope = self.scope();
            scope.names.insert(name, Symbol::Variable(object, ty.clone()));
            scope.objects.push(object);
            let at = self.address(object);
            match value {
                Value::Scalar(term) => self.write(at, term, Order::Plain)?,
                record => self.store(at, &ty, record)?,
            }
        }
        self.body(&function.statement)?;
        let value = self.finish()?;
        self.here = place;
        Ok(value)
    }

    #[allow(clippy::type_complexity, reason = "one list that is used once")]
    fn bind(
        &mut self,
        function: &'a FunctionDefinition,
        arguments: Arguments,
    ) -> Result<Vec<(String, Type, Value, Span)>> {
        let mut bound = vec![];
        let mut arguments = arguments.into_iter();
        for parameter in parameters(&function.declarator.node) {
            let (name, ty) = self.parameter(&parameter.node)?;
            if ty == Type::Void {
                continue;
            }
            let Some((value, from)) = arguments.next() else {
                return self.refuse("a call with too few arguments");
            };
            let value = self.convert_value(value, &from, &ty)?;
            let name = name.unwrap_or("(unnamed)").to_owned();
            bound.push((name, ty.plain().clone(), value, parameter.span));
        }
        Ok(bound)
    }

    /// Executes a body, again and again from labels that were jumped to from behind.
    fn body(&mut self, body: &'a Ast<Statement>) -> Result<()> {
        self.statement(body)?;
        let mut again = 0;
        while !self.frame().gotos.is_empty() {
            again += 1;
            if again > self.options.unwind {
                let gotos = std::mem::take(&mut self.frame().gotos);
                let end = self.state.clone();
                self.state = self.merge_all(gotos.into_values().flatten().collect());
                if !self.is_dead() {
                    self.cut(format!(
                        "a loop of jumps goes on after {} times",
                        self.options.unwind
                    ));
                }
                self.state = end;
                break;
            }
            let end = self.state.clone();
            self.state.guard = FALSE;
            self.frame().returns.push((end, None));
            let labels: Vec<String> = self.frame().gotos.keys().cloned().collect();
            if !labels.iter().all(|label| defines(&body.node, label)) {
                return self.refuse("a jump to a label that is not there");
            }
            self.statement(body)?;
        }
        Ok(())
    }

    /// Goes back to the caller, with what the function returns.
    fn finish(&mut self) -> Result<Option<Value>> {
        let mut returns = std::mem::take(&mut self.frame().returns);
        let end = self.state.clone();
        returns.push((end, None));
        returns.retain(|(state, _)| state.guard != FALSE);
        let mut returns = returns.into_iter().rev();
        let (mut state, mut value) = returns
            .next()
            .unwrap_or_else(|| (State { guard: FALSE, env: self.state.env.clone() }, None));
        for (earlier, earlier_value) in returns {
            let guard = earlier.guard;
            value = self.choose(guard, earlier_value, value);
            state = self.merge(guard, earlier, state);
        }
        self.state = state;
        while !self.frame().scopes.is_empty() {
            self.leave()?;
        }
        let ended = self.frames.pop().map(|frame| frame.ended).unwrap_or_default();
        // With `main` everything ends.
        if !self.frames.is_empty() {
            self.end_variables(&ended)?;
        }
        Ok(value)
    }
}

/// Whether a label is in a statement.
fn defines(statement: &Statement, label: &str) -> bool {
    use lang_c::ast::Label;
    let own = match statement {
        Statement::Labeled(labeled) => {
            matches!(&labeled.node.label.node, Label::Identifier(name) if name.node.name == label)
        }
        _ => false,
    };
    own || super::stmt::children(statement).into_iter().any(|child| defines(child, label))
}
