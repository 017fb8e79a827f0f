//! Loops, unrolled.
//!
//! A loop is repeated as long as it certainly goes on; beyond that, `unwind` times, and where it would go on still, the
//! execution is cut off, which is recorded. One that only waits is not repeated (`waits`).

use lang_c::ast::{Expression, ForInitializer, ForStatement, Statement};
use lang_c::span::Node as Ast;

use super::{Exec, Result, Target};
use crate::term::FALSE;

/// A loop that certainly goes on is repeated at most so often.
const CERTAIN: usize = 1 << 14;

/// A loop.
pub(super) struct Loop<'a> {
    pub(super) before: Option<&'a Ast<Expression>>,
    pub(super) body: &'a Ast<Statement>,
    pub(super) step: Option<&'a Ast<Expression>>,
    pub(super) behind: Option<&'a Ast<Expression>>,
}

impl<'a> Exec<'a> {
    pub(super) fn for_loop(&mut self, repeat: &'a ForStatement) -> Result<()> {
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
        self.leave()
    }

    /// Executes a loop.
    pub(super) fn repeat(&mut self, repeat: &Loop<'a>) -> Result<()> {
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
            self.forget_spurious(&mark);
            if self.is_dead() {
                break;
            }
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
    pub(super) fn iteration(&mut self, repeat: &Loop<'a>, entered_dead: bool) -> Result<()> {
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

    pub(super) fn target(&mut self) -> &mut Target {
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
}
