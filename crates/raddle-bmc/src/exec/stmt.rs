//! Statements: branches, loops and jumps.
//!
//! Where a path ends at a `break`, `return` or `goto`, its state waits for the others where they meet. A label that is
//! jumped to from behind is a loop: the function's body is executed again, from the label on. A loop is repeated as
//! long as it certainly goes on; beyond that, `unwind` times, and where it would go on still, the execution is cut off,
//! which is recorded.
//!
//! A loop that only waits is not repeated at all: if an iteration writes nothing and the next one does not depend on
//! what it read, then of all iterations only the last one matters, and the thread may as well have waited. That a
//! loop is of this kind is not guessed from its text: an iteration is executed once more with unknown values in all
//! variables that it has changed, and if none of them shows up anywhere, it is.

use lang_c::ast::{BlockItem, Expression, ForInitializer, ForStatement, Label, Statement};
use lang_c::span::Node as Ast;
use rustc_hash::FxHashSet;

use super::{Exec, Frame, Result, Scope, State, Switch, Target, Value};
use crate::program::Action;
use crate::solve::Solver;
use crate::space::CellKey;
use crate::term::{FALSE, Node, Term};
use crate::types::{INT, Type};

/// A loop that certainly goes on is repeated at most so often.
const CERTAIN: usize = 1 << 14;

/// A loop.
struct Loop<'a> {
    before: Option<&'a Ast<Expression>>,
    body: &'a Ast<Statement>,
    step: Option<&'a Ast<Expression>>,
    behind: Option<&'a Ast<Expression>>,
}

/// How much there was before an iteration.
struct Mark {
    events: usize,
    checks: usize,
    cuts: usize,
    inputs: usize,
    threads: usize,
    mallocs: usize,
    breaks: usize,
    returns: usize,
    gotos: usize,
    head: State,
}

impl<'a> Exec<'a> {
    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is executed")
    }

    fn kill(&mut self) -> State {
        let dead = State { guard: FALSE, env: self.state.env.clone() };
        std::mem::replace(&mut self.state, dead)
    }

    /// Continues here from these states as well.
    fn join_here(&mut self, states: Vec<State>) {
        for state in states {
            let here = self.kill();
            self.state = self.merge(state.guard, state, here);
        }
    }

    pub(super) fn enter(&mut self) {
        self.frame().scopes.push(Scope::default());
    }

    pub(super) fn leave(&mut self) {
        if let Some(scope) = self.frame().scopes.pop() {
            let gone: FxHashSet<usize> = scope.objects.into_iter().collect();
            if self.state.env.keys().any(|cell| gone.contains(&cell.0)) {
                let env = std::rc::Rc::make_mut(&mut self.state.env);
                env.retain(|cell, _| !gone.contains(&cell.0));
            }
        }
    }

    /// Whether nothing of a statement can be executed.
    fn is_skipped(&self, statement: &'a Ast<Statement>) -> bool {
        if !self.is_dead() {
            return false;
        }
        let frame = self.frames.last().expect("a function is executed");
        (frame.gotos.is_empty() && frame.switches.is_empty()) || !has_label(&statement.node)
    }

    pub(super) fn statement(&mut self, statement: &'a Ast<Statement>) -> Result<()> {
        if self.is_skipped(statement) {
            return Ok(());
        }
        self.here = statement.span;
        match &statement.node {
            Statement::Labeled(labeled) => {
                self.label(&labeled.node.label)?;
                self.statement(&labeled.node.statement)
            }
            Statement::Compound(items) => {
                self.enter();
                for item in items {
                    self.item(item)?;
                }
                self.leave();
                Ok(())
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) => self.eval(expression).map(|_| ()),
            Statement::If(choice) => {
                let (then, other) = (&choice.node.then_statement, &choice.node.else_statement);
                if self.is_dead() {
                    self.statement(then)?;
                    return other.iter().try_for_each(|other| self.statement(other));
                }
                let condition = self.condition(&choice.node.condition)?;
                let other =
                    |exec: &mut Self| other.iter().try_for_each(|other| exec.statement(other));
                if self.pending_label(then)
                    || choice.node.else_statement.as_ref().is_some_and(|s| self.pending_label(s))
                {
                    return self.branch_with_labels(
                        condition,
                        then,
                        choice.node.else_statement.as_deref(),
                    );
                }
                self.branch(condition, |exec| exec.statement(then), other).map(|_| ())
            }
            Statement::Switch(switch) => {
                let (value, ty) = self.scalar(&switch.node.expression)?;
                let ty_promoted = ty.promoted();
                let value = self.convert(value, &ty, &ty_promoted)?;
                self.switch(value, &switch.node.statement)
            }
            Statement::While(repeat) => {
                let before = Some(&*repeat.node.expression);
                self.repeat(&Loop {
                    before,
                    body: &repeat.node.statement,
                    step: None,
                    behind: None,
                })
            }
            Statement::DoWhile(repeat) => {
                let behind = Some(&*repeat.node.expression);
                self.repeat(&Loop {
                    before: None,
                    body: &repeat.node.statement,
                    step: None,
                    behind,
                })
            }
            Statement::For(repeat) => self.for_loop(&repeat.node),
            Statement::Goto(name) => {
                let state = self.kill();
                self.frame().gotos.entry(name.node.name.clone()).or_default().push(state);
                Ok(())
            }
            Statement::Continue => {
                let state = self.kill();
                let target = self.frame().targets.iter_mut().rev().find(|target| target.is_loop);
                target
                    .map(|target| target.continues.push(state))
                    .map_or_else(|| self.refuse("continue outside of a loop"), Ok)
            }
            Statement::Break => {
                let state = self.kill();
                let target = self.frame().targets.last_mut();
                target
                    .map(|target| target.breaks.push(state))
                    .map_or_else(|| self.refuse("break outside of a loop"), Ok)
            }
            Statement::Return(value) => self.return_(value.as_deref()),
            Statement::Asm(_) => self.refuse("inline assembly"),
        }
    }

    fn pending_label(&self, statement: &'a Ast<Statement>) -> bool {
        let frame = self.frames.last().expect("a function is executed");
        !(frame.gotos.is_empty() && frame.switches.is_empty()) && has_label(&statement.node)
    }

    /// A branch into which somebody jumps from outside: both sides, even if one cannot be entered from above.
    fn branch_with_labels(
        &mut self,
        condition: Term,
        then: &'a Ast<Statement>,
        other: Option<&'a Ast<Statement>>,
    ) -> Result<()> {
        let before = self.state.clone();
        self.assume(condition);
        self.statement(then)?;
        let after = std::mem::replace(&mut self.state, before);
        let not = self.terms.not(condition);
        self.assume(not);
        if let Some(other) = other {
            self.statement(other)?;
        }
        self.join_here(vec![after]);
        Ok(())
    }

    pub(super) fn item(&mut self, item: &'a Ast<BlockItem>) -> Result<()> {
        match &item.node {
            BlockItem::Declaration(declaration) => {
                let frame = self.frames.last().expect("a function is executed");
                if self.is_dead() && frame.gotos.is_empty() && frame.switches.is_empty() {
                    return Ok(());
                }
                self.declare_local(declaration)
            }
            BlockItem::StaticAssert(_) => Ok(()),
            BlockItem::Statement(statement) => self.statement(statement),
        }
    }

    /// The value of a statement: that of its last expression.
    pub(super) fn statement_value(
        &mut self,
        statement: &'a Ast<Statement>,
    ) -> Result<(Value, Type)> {
        let none = (Value::Scalar(self.terms.constant(0, 32)), INT);
        let Statement::Compound(items) = &statement.node else {
            self.statement(statement)?;
            return Ok(none);
        };
        self.enter();
        let mut last = none;
        for (i, item) in items.iter().enumerate() {
            match &item.node {
                BlockItem::Statement(inner) if i + 1 == items.len() => match &inner.node {
                    Statement::Expression(Some(expression)) => last = self.eval(expression)?,
                    _ => self.statement(inner)?,
                },
                _ => self.item(item)?,
            }
        }
        self.leave();
        Ok(last)
    }

    fn return_(&mut self, value: Option<&'a Ast<Expression>>) -> Result<()> {
        let result = self.frame().result.clone();
        let value = match (value, result) {
            (Some(expression), Some(Type::Void)) => {
                self.eval(expression)?;
                None
            }
            (Some(expression), Some(ty)) => {
                let (value, from) = self.eval(expression)?;
                Some(self.convert_value(value, &from, &ty)?)
            }
            _ => None,
        };
        let state = self.kill();
        self.frame().returns.push((state, value));
        Ok(())
    }

    fn label(&mut self, label: &'a Ast<Label>) -> Result<()> {
        match &label.node {
            Label::Identifier(name) => {
                if let Some(states) = self.frame().gotos.remove(&name.node.name) {
                    self.join_here(states);
                }
                Ok(())
            }
            Label::Case(value) => {
                let value = self.constant_value(value)?;
                self.case(value, value)
            }
            Label::CaseRange(range) => {
                let (low, high) =
                    (self.constant_value(&range.node.low)?, self.constant_value(&range.node.high)?);
                self.case(low, high)
            }
            Label::Default => {
                let Some(Switch { value, from, cases }) = self.frame().switches.pop() else {
                    return Ok(());
                };
                let taken: Vec<Term> =
                    cases.iter().map(|&(low, high)| self.within(value, low, high)).collect();
                let any = self.terms.any(taken);
                let none = self.terms.not(any);
                self.enter_case(from.clone(), none);
                self.frame().switches.push(Switch { value, from, cases });
                Ok(())
            }
        }
    }

    fn within(&mut self, value: Term, low: u64, high: u64) -> Term {
        let mut any = FALSE;
        for number in low..=high.min(low.saturating_add(4096)) {
            let equal = self.terms.is(value, number);
            any = self.terms.or(any, equal);
        }
        any
    }

    fn case(&mut self, low: u64, high: u64) -> Result<()> {
        let Some(Switch { value, from, .. }) = self.frame().switches.last() else {
            return self.refuse("a case outside of a switch");
        };
        let (value, from) = (*value, from.clone());
        let condition = self.within(value, low, high);
        self.enter_case(from, condition);
        Ok(())
    }

    fn enter_case(&mut self, mut from: State, condition: Term) {
        from.guard = self.terms.and(from.guard, condition);
        self.join_here(vec![from]);
    }

    fn switch(&mut self, value: Term, body: &'a Ast<Statement>) -> Result<()> {
        let mut cases = vec![];
        let mut has_default = false;
        self.cases(&body.node, &mut cases, &mut has_default)?;
        let from = self.kill();
        if !has_default {
            let taken: Vec<Term> =
                cases.iter().map(|&(low, high)| self.within(value, low, high)).collect();
            let any = self.terms.any(taken);
            let none = self.terms.not(any);
            let guard = self.terms.and(from.guard, none);
            self.frame().targets.push(Target::default());
            let past = State { guard, env: from.env.clone() };
            self.frame().targets.last_mut().expect("just pushed").breaks.push(past);
        } else {
            self.frame().targets.push(Target::default());
        }
        self.frame().switches.push(Switch { value, from, cases });
        self.statement(body)?;
        self.frame().switches.pop();
        let target = self.frame().targets.pop().unwrap_or_default();
        let mut states = target.breaks;
        states.push(self.state.clone());
        self.state = self.merge_all(states);
        Ok(())
    }

    /// The cases of a switch, not of others in it.
    fn cases(
        &mut self,
        statement: &'a Statement,
        cases: &mut Vec<(u64, u64)>,
        has_default: &mut bool,
    ) -> Result<()> {
        match statement {
            Statement::Labeled(labeled) => {
                match &labeled.node.label.node {
                    Label::Case(value) => {
                        let value = self.constant_value(value)?;
                        cases.push((value, value));
                    }
                    Label::CaseRange(range) => {
                        let low = self.constant_value(&range.node.low)?;
                        cases.push((low, self.constant_value(&range.node.high)?));
                    }
                    Label::Default => *has_default = true,
                    Label::Identifier(_) => {}
                }
                self.cases(&labeled.node.statement.node, cases, has_default)
            }
            Statement::Switch(_) => Ok(()),
            other => children(other)
                .into_iter()
                .try_for_each(|child| self.cases(child, cases, has_default)),
        }
    }

    fn for_loop(&mut self, repeat: &'a ForStatement) -> Result<()> {
        self.enter();
        match &repeat.initializer.node {
            ForInitializer::Expression(expression) if !self.is_dead() => {
                self.eval(expression)?;
            }
            ForInitializer::Declaration(declaration) => self.declare_local(declaration)?,
            _ => {}
        }
        let (before, step) = (repeat.condition.as_deref(), repeat.step.as_deref());
        self.repeat(&Loop { before, body: &repeat.statement, step, behind: None })?;
        self.leave();
        Ok(())
    }

    /// Executes a loop.
    fn repeat(&mut self, repeat: &Loop<'a>) -> Result<()> {
        let here = self.here;
        self.frame().targets.push(Target { is_loop: true, ..Target::default() });
        let (entry, mut counted, mut certain) = (self.state.guard, 0, 0);
        let mut entered_dead = self.is_dead();
        loop {
            let mark = self.mark();
            self.iteration(repeat, entered_dead)?;
            entered_dead = false;
            self.here = here;
            if self.is_dead() {
                break;
            }
            if self.only_waits(repeat, &mark)? {
                self.kill();
                break;
            }
            self.here = here;
            if self.state.guard == entry {
                certain += 1;
                if certain > CERTAIN {
                    self.cut(format!("a loop goes on after {CERTAIN} iterations"));
                    break;
                }
                continue;
            }
            counted += 1;
            if counted > self.options.unwind {
                self.cut(format!("a loop goes on after {} iterations", self.options.unwind));
                break;
            }
        }
        let target = self.frame().targets.pop().unwrap_or_default();
        self.state = self.merge_all(target.breaks);
        Ok(())
    }

    /// One iteration: what leaves the loop is with the breaks, what goes on is the state.
    fn iteration(&mut self, repeat: &Loop<'a>, entered_dead: bool) -> Result<()> {
        if !entered_dead {
            self.test(repeat.before)?;
        }
        self.statement(repeat.body)?;
        let continues = std::mem::take(&mut self.target().continues);
        self.join_here(continues);
        if let (Some(step), false) = (repeat.step, self.is_dead()) {
            self.eval(step)?;
        }
        self.test(repeat.behind)
    }

    fn target(&mut self) -> &mut Target {
        self.frame().targets.last_mut().expect("a loop is executed")
    }

    /// Leaves the loop if the condition does not hold.
    fn test(&mut self, condition: Option<&'a Ast<Expression>>) -> Result<()> {
        let Some(condition) = condition else { return Ok(()) };
        if self.is_dead() {
            return Ok(());
        }
        let condition = self.condition(condition)?;
        let not = self.terms.not(condition);
        let mut out = self.state.clone();
        out.guard = self.terms.and(out.guard, not);
        if out.guard != FALSE {
            self.target().breaks.push(out);
        }
        self.assume(condition);
        Ok(())
    }

    fn mark(&mut self) -> Mark {
        let gotos = self.frame().gotos.values().map(Vec::len).sum();
        Mark {
            events: self.after(),
            checks: self.checks.len(),
            cuts: self.cuts.len(),
            inputs: self.inputs.len(),
            threads: self.threads.len(),
            mallocs: self.mallocs,
            breaks: self.target().breaks.len(),
            returns: self.frame().returns.len(),
            gotos,
            head: self.state.clone(),
        }
    }

    /// Whether the iteration since the mark has no effect, and the next one does not depend on it.
    fn only_waits(&mut self, repeat: &Loop<'a>, mark: &Mark) -> Result<bool> {
        let same = (mark.inputs, mark.threads, mark.mallocs, mark.cuts);
        if same != (self.inputs.len(), self.threads.len(), self.mallocs, self.cuts.len())
            || mark.events == self.after()
            || mark.gotos != self.frame().gotos.values().map(Vec::len).sum::<usize>()
            || !self.writes_nothing(mark.events)
        {
            return Ok(false);
        }
        let changed = self.changed(&mark.head);
        if changed.is_empty() {
            return Ok(true);
        }
        self.is_independent(repeat, &changed)
    }

    /// Whether the visible statements from this one on change nothing, if the loop goes on.
    fn writes_nothing(&mut self, from: usize) -> bool {
        let guard = self.state.guard;
        let actions: Vec<(Term, Action)> = self.threads[self.thread].events[from..]
            .iter()
            .map(|event| (event.guard, event.action.clone()))
            .collect();
        actions.into_iter().all(|(when, action)| match action {
            Action::Read { .. } => true,
            Action::Update { out, new, writes, ready, .. } => {
                let differs = out.map_or(crate::term::TRUE, |out| self.terms.ne(out, new));
                let writes = self.terms.all([when, guard, writes, differs]);
                ready == crate::term::TRUE && self.is_never(writes)
            }
            _ => false,
        })
    }

    /// Whether a small formula has no solution.
    fn is_never(&mut self, term: Term) -> bool {
        if term == FALSE {
            return true;
        }
        let mut blaster = crate::blast::Blaster::new(Solver::new(None));
        blaster.require(&mut self.terms, term);
        blaster.solver.solve(&[]) == Some(false)
    }

    /// Local memory that is not as it was.
    fn changed(&self, head: &State) -> Vec<CellKey> {
        let env = &self.state.env;
        let differs = |cell: &CellKey| env.get(cell) != head.env.get(cell);
        let mut cells: Vec<CellKey> =
            env.keys().chain(head.env.keys()).copied().filter(differs).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Executes one more iteration with unknown values in these cells, and looks whether they show up.
    fn is_independent(&mut self, repeat: &Loop<'a>, changed: &[CellKey]) -> Result<bool> {
        let before = self.state.clone();
        let mark = self.mark();
        let made = self.made.clone();
        let (stored, uses, shared) =
            (self.stored.clone(), self.uses.clone(), self.new_shared.clone());
        let gotos = self.frame().gotos.clone();
        let depth = (
            self.frames.len(),
            self.frame().scopes.len(),
            self.frame().targets.len(),
            self.frame().switches.len(),
        );
        let first = self.terms.variables();
        for cell in changed {
            let width = before.env.get(cell).map_or(32, |&term| self.terms.width(term));
            let unknown = self.terms.var(width);
            std::rc::Rc::make_mut(&mut self.state.env).insert(*cell, unknown);
        }
        let unknown = first..self.terms.variables();
        let result = self.iteration(repeat, false);
        let free = result.is_ok() && self.is_free(&mark, &unknown);
        // Even if something was refused in the middle.
        self.frames.truncate(depth.0);
        self.frame().scopes.truncate(depth.1);
        self.frame().targets.truncate(depth.2);
        self.frame().switches.truncate(depth.3);
        self.frame().gotos = gotos;
        self.threads.truncate(mark.threads);
        self.bodies.truncate(mark.threads);
        (self.stored, self.uses, self.new_shared) = (stored, uses, shared);
        self.made = made;
        self.state = before;
        self.threads[self.thread].events.truncate(mark.events);
        self.checks.truncate(mark.checks);
        self.cuts.truncate(mark.cuts);
        self.inputs.truncate(mark.inputs);
        self.target().breaks.truncate(mark.breaks);
        self.target().continues.clear();
        self.frame().returns.truncate(mark.returns);
        Ok(free)
    }

    /// Whether none of these variables is in anything since the mark.
    fn is_free(&mut self, mark: &Mark, unknown: &std::ops::Range<usize>) -> bool {
        if mark.gotos != self.frame().gotos.values().map(Vec::len).sum::<usize>() {
            return false;
        }
        let mut roots: Vec<Term> = vec![self.state.guard];
        roots.extend(self.state.env.values());
        let states = |roots: &mut Vec<Term>, state: &State| {
            roots.push(state.guard);
            roots.extend(state.env.values());
        };
        let frame = self.frames.last().expect("a function is executed");
        for (state, value) in &frame.returns[mark.returns..] {
            states(&mut roots, state);
            match value {
                Some(Value::Scalar(term)) => roots.push(*term),
                Some(Value::Record(parts)) => roots.extend(parts),
                None => {}
            }
        }
        if let Some(target) = frame.targets.last() {
            target.breaks[mark.breaks..].iter().for_each(|state| states(&mut roots, state));
        }
        for event in &self.threads[self.thread].events[mark.events..] {
            roots.push(event.guard);
            roots.extend(event.action.terms());
        }
        roots.extend(self.checks[mark.checks..].iter().map(|check| check.fails));
        !self.mentions(roots, unknown)
    }

    fn mentions(&self, roots: Vec<Term>, variables: &std::ops::Range<usize>) -> bool {
        let (mut open, mut seen) = (roots, FxHashSet::default());
        while let Some(term) = open.pop() {
            if !seen.insert(term) {
                continue;
            }
            match self.terms.node(term) {
                Node::Var(number) if variables.contains(&(number as usize)) => return true,
                Node::Const(_) | Node::Var(_) => {}
                Node::Not(a) | Node::Zext(a) | Node::Sext(a) | Node::Extract(a, _) => open.push(a),
                Node::Binary(_, a, b) => open.extend([a, b]),
                Node::Ite(a, b, c) => open.extend([a, b, c]),
            }
        }
        false
    }
}

/// The statements directly in a statement.
pub(super) fn children(statement: &Statement) -> Vec<&Statement> {
    match statement {
        Statement::Labeled(labeled) => vec![&labeled.node.statement.node],
        Statement::Compound(items) => items
            .iter()
            .filter_map(|item| match &item.node {
                BlockItem::Statement(statement) => Some(&statement.node),
                _ => None,
            })
            .collect(),
        Statement::If(choice) => {
            let other = choice.node.else_statement.iter().map(|other| &other.node);
            std::iter::once(&choice.node.then_statement.node).chain(other).collect()
        }
        Statement::Switch(switch) => vec![&switch.node.statement.node],
        Statement::While(repeat) => vec![&repeat.node.statement.node],
        Statement::DoWhile(repeat) => vec![&repeat.node.statement.node],
        Statement::For(repeat) => vec![&repeat.node.statement.node],
        _ => vec![],
    }
}

/// Whether there is a label in a statement.
fn has_label(statement: &Statement) -> bool {
    matches!(statement, Statement::Labeled(_)) || children(statement).into_iter().any(has_label)
}
