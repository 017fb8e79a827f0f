//! Calls of functions of the program, which are inlined.

use lang_c::ast::{CallExpression, Expression, FunctionDefinition, Statement};
use lang_c::span::{Node as Ast, Span};
use raddle_core::outcome::FindingKind;

use super::access::AccessOrder;
use super::declare::{declared_name, parameters};
use super::{
    BlockScope, CSymbol, CValue, CallFrame, PathState, Result, SymbolicExecutor, TOO_FEW_ARGUMENTS,
};
use crate::abi_type::{AbiType, INT};
use crate::address_space::ObjectKey;
use crate::term::{FALSE, Term};

/// The arguments of a call, with their types.
pub(super) type CallArguments = Vec<(CValue, AbiType)>;

/// The maximal depth of the call stack.
const MAX_CALL_DEPTH: usize = 120;

/// A parameter with its argument.
struct BoundParameter {
    name: String,
    ty: AbiType,
    value: CValue,
    /// The position of the parameter's declaration.
    span: Span,
}

impl<'a> SymbolicExecutor<'a> {
    /// The arguments of `main`: none, or `argc` of 1 and `argv` of null.
    pub(super) fn main_arguments(&mut self, main: &'a FunctionDefinition) -> Result<CallArguments> {
        let count = parameters(&main.declarator.node).len();
        let one = (CValue::Scalar(self.terms.constant(1, 32)), INT);
        let none = (CValue::Scalar(self.terms.constant(0, 64)), crate::abi_type::ULONG);
        Ok(if count >= 2 { vec![one, none] } else { vec![] })
    }

    /// Executes a call expression.
    pub(super) fn eval_call(
        &mut self,
        call: &'a CallExpression,
        span: Span,
    ) -> Result<(CValue, AbiType)> {
        if let (true, Some(ty)) = (self.type_only, self.callee_result_type(call)?) {
            return Ok((CValue::Scalar(self.terms.constant(0, 64)), ty));
        }
        if self.is_dead() {
            return Ok((CValue::Scalar(self.terms.constant(0, 64)), crate::abi_type::LONG));
        }
        if let Expression::Identifier(name) = &call.callee.node {
            let name = &name.node.name;
            if !matches!(self.lookup(name), Some(CSymbol::Variable(..))) {
                self.here = span;
                if let Some(result) = self.builtin(name, &call.arguments, span)? {
                    return Ok(result);
                }
                let Some(&function) = self.functions.get(name.as_str()) else {
                    self.here = span;
                    return self.unsupported(format!(
                        "the function `{name}` is neither defined nor supported: define it in the program"
                    ));
                };
                let arguments = self.evaluate_arguments(&call.arguments)?;
                self.here = span;
                return self.call_typed(function, arguments);
            }
        }
        let (pointer, _) = self.scalar(&call.callee)?;
        let arguments = self.evaluate_arguments(&call.arguments)?;
        self.here = span;
        self.call_pointer(pointer, &arguments)
    }

    /// The result type of a function of the program that is called by its name.
    fn callee_result_type(&mut self, call: &'a CallExpression) -> Result<Option<AbiType>> {
        let Expression::Identifier(name) = &call.callee.node else { return Ok(None) };
        let name = &name.node.name;
        if matches!(self.lookup(name), Some(CSymbol::Variable(..))) {
            return Ok(None);
        }
        let function = self.functions.get(name.as_str()).copied();
        function.map(|function| self.result_type(function)).transpose()
    }

    pub(super) fn evaluate_arguments(
        &mut self,
        list: &'a [Ast<Expression>],
    ) -> Result<CallArguments> {
        list.iter().map(|argument| self.eval(argument)).collect()
    }

    /// Executes a function. A missing result is 0.
    fn call_typed(
        &mut self,
        function: &'a FunctionDefinition,
        arguments: CallArguments,
    ) -> Result<(CValue, AbiType)> {
        let ty = self.result_type(function)?;
        let value = self.call(function, arguments)?;
        let value = value
            .unwrap_or_else(|| CValue::Scalar(self.terms.constant(0, ty.width().unwrap_or(32))));
        Ok((value, ty))
    }

    /// The functions that a pointer may point to, each with the condition under which it does. Adds a check that it
    /// points to a function.
    fn callees(&mut self, pointer: Term) -> Result<Vec<(&'a FunctionDefinition, Term)>> {
        let values = self.terms.values(pointer);
        let Some(few) = values.few() else {
            return self.unsupported(
                "this function pointer may have any value: only pointers to known functions are supported",
            );
        };
        let mut all = vec![];
        for &value in few {
            let Some((object, 0)) = self.space.object_at(value) else { continue };
            let ObjectKey::Function(name) = &self.space.objects[object].key else { continue };
            let Some(&function) = self.functions.get(name.as_str()) else {
                return self.unsupported(format!(
                    "the function `{name}` is called through a pointer, but not defined: define it in the program"
                ));
            };
            let condition = self.terms.is(pointer, value);
            if condition != FALSE {
                all.push((function, condition));
            }
        }
        let any = self.terms.any(all.iter().map(|&(_, condition)| condition));
        let none = self.terms.not(any);
        self.fails_if(
            none,
            FindingKind::Crash,
            "a pointer is called that does not point to a function",
        );
        Ok(all)
    }

    /// Executes all functions that a pointer may point to, under their conditions.
    pub(super) fn call_pointer(
        &mut self,
        pointer: Term,
        arguments: &CallArguments,
    ) -> Result<(CValue, AbiType)> {
        let functions = self.callees(pointer)?;
        let mut result: Option<(CValue, AbiType)> = None;
        for (function, condition) in functions {
            let call = |exec: &mut Self| exec.call_typed(function, arguments.clone());
            let (called, _) = self.branch(condition, |exec| call(exec).map(Some), |_| Ok(None))?;
            let Some(Some((value, ty))) = called else { continue };
            let before = result.map(|(value, _)| value);
            let value = self.select_value(condition, Some(value), before);
            result = value.map(|value| (value, ty));
        }
        Ok(result
            .unwrap_or_else(|| (CValue::Scalar(self.terms.constant(0, 64)), crate::abi_type::LONG)))
    }

    /// Executes a function. Returns its result, if it returns one.
    pub(super) fn call(
        &mut self,
        function: &'a FunctionDefinition,
        arguments: CallArguments,
    ) -> Result<Option<CValue>> {
        let name = declared_name(&function.declarator.node).unwrap_or_default();
        let guard = self.state.guard;
        // Only recursion that depends on a condition counts: certain recursion ends by itself.
        let is_recursive =
            |frame: &&CallFrame| frame.name == name && frame.entry_guard != Some(guard);
        let depth = self.frames.iter().filter(is_recursive).count();
        if depth > self.options.unwind || self.frames.len() > MAX_CALL_DEPTH {
            self.cut_off(format!("the recursion of {name} exceeds its bound: raise --unwind"));
            return Ok(None);
        }
        let place = self.here;
        let result_type = Some(self.result_type(function)?);
        let mut frame = CallFrame {
            name: name.to_owned(),
            result_type,
            entry_guard: Some(guard),
            called_from: Some(place),
            ..CallFrame::default()
        };
        frame.scopes.push(BlockScope::default());
        let parameters = self.bind_parameters(function, arguments)?;
        self.frames.push(frame);
        for BoundParameter { name, ty, value, span } in parameters {
            self.here = span;
            let size = self.size(&ty)?;
            let object = self.new_object(&name, size, false);
            let scope = self.scope();
            scope.names.insert(name, CSymbol::Variable(object, ty.clone()));
            scope.objects.push(object);
            let at = self.address(object);
            match value {
                CValue::Scalar(term) => self.write(at, term, AccessOrder::Plain)?,
                record => self.store(at, &ty, record)?,
            }
        }
        self.execute_body(&function.statement)?;
        let value = self.return_to_caller()?;
        self.here = place;
        Ok(value)
    }

    /// Converts the arguments to the types of the parameters.
    fn bind_parameters(
        &mut self,
        function: &'a FunctionDefinition,
        arguments: CallArguments,
    ) -> Result<Vec<BoundParameter>> {
        let mut bound = vec![];
        let mut arguments = arguments.into_iter();
        for parameter in parameters(&function.declarator.node) {
            let (name, ty) = self.parameter(&parameter.node)?;
            if ty == AbiType::Void {
                continue;
            }
            let Some((value, from)) = arguments.next() else {
                return self.unsupported(TOO_FEW_ARGUMENTS);
            };
            let value = self.convert_value(value, &from, &ty)?;
            let name = name.unwrap_or("(unnamed)").to_owned();
            let ty = ty.unqualified().clone();
            bound.push(BoundParameter { name, ty, value, span: parameter.span });
        }
        Ok(bound)
    }

    /// Executes the body of a function. Backward jumps wait for the end of the body, which is then executed again from
    /// their labels on, at most `unwind` times.
    fn execute_body(&mut self, body: &'a Ast<Statement>) -> Result<()> {
        self.execute_statement(body)?;
        let mut repetitions = 0;
        while !self.frame().gotos.is_empty() {
            repetitions += 1;
            if repetitions > self.options.unwind {
                let gotos = std::mem::take(&mut self.frame().gotos);
                let end = self.state.clone();
                self.state = self.merge_all(gotos.into_values().flatten().collect());
                if !self.is_dead() {
                    let bound = self.options.unwind;
                    self.cut_off(format!(
                        "a loop of `goto` exceeds {bound} iterations: raise --unwind"
                    ));
                }
                self.state = end;
                break;
            }
            let end = self.state.clone();
            self.state.guard = FALSE;
            self.frame().returns.push((end, None));
            let labels: Vec<String> = self.frame().gotos.keys().cloned().collect();
            if let Some(label) = labels.iter().find(|label| !defines_label(&body.node, label)) {
                return self.unsupported(format!("`goto {label}`: the label is not defined"));
            }
            self.execute_statement(body)?;
        }
        Ok(())
    }

    /// Merges all states that return, ends the scopes of the function and removes its frame. Returns its result.
    fn return_to_caller(&mut self) -> Result<Option<CValue>> {
        let mut returns = std::mem::take(&mut self.frame().returns);
        let end = self.state.clone();
        returns.push((end, None));
        returns.retain(|(state, _)| state.guard != FALSE);
        let mut returns = returns.into_iter().rev();
        let (mut state, mut value) = returns
            .next()
            .unwrap_or_else(|| (PathState { guard: FALSE, env: self.state.env.clone() }, None));
        for (earlier, earlier_value) in returns {
            let guard = earlier.guard;
            value = self.select_value(guard, earlier_value, value);
            state = self.merge(guard, earlier, state);
        }
        self.state = state;
        while !self.frame().scopes.is_empty() {
            self.leave_scope()?;
        }
        let ended = self.frames.pop().map(|frame| frame.ended_objects).unwrap_or_default();
        // The process ends with `main`.
        if !self.frames.is_empty() {
            self.end_variables(&ended)?;
        }
        Ok(value)
    }
}

/// Returns `true` if the statement contains the label.
fn defines_label(statement: &Statement, label: &str) -> bool {
    use lang_c::ast::Label;
    let own = match statement {
        Statement::Labeled(labeled) => {
            matches!(&labeled.node.label.node, Label::Identifier(name) if name.node.name == label)
        }
        _ => false,
    };
    own || super::stmt::children(statement).into_iter().any(|child| defines_label(child, label))
}
