//! Unrolling of loops.
//!
//! A loop is repeated as long as it certainly continues. Iterations that depend on a condition are bounded by `unwind`;
//! an execution that needs more is cut off. Spin loops are not repeated (see `spin`).

use lang_c::ast::{Expression, ForInitializer, ForStatement, Statement};
use lang_c::span::Node as Ast;

use super::{JumpTarget, Result, SymbolicExecutor};
use crate::term::FALSE;

/// The maximal number of iterations of a loop that certainly continues.
const MAX_CERTAIN_ITERATIONS: usize = 1 << 14;

/// The parts of a `for`, `while` or `do` loop.
pub(super) struct LoopParts<'a> {
    /// The condition that is tested before an iteration.
    pub(super) condition_before: Option<&'a Ast<Expression>>,
    pub(super) body: &'a Ast<Statement>,
    pub(super) step: Option<&'a Ast<Expression>>,
    /// The condition that is tested after an iteration.
    pub(super) condition_after: Option<&'a Ast<Expression>>,
}

impl<'a> SymbolicExecutor<'a> {
    pub(super) fn execute_for(&mut self, statement: &'a ForStatement) -> Result<()> {
        self.enter_scope();
        match &statement.initializer.node {
            ForInitializer::Expression(expression) if !self.is_dead() => {
                self.eval(expression)?;
            }
            ForInitializer::Declaration(declaration) => self.declare_local(declaration)?,
            _ => {}
        }
        self.execute_loop(&LoopParts {
            condition_before: statement.condition.as_deref(),
            body: &statement.statement,
            step: statement.step.as_deref(),
            condition_after: None,
        })?;
        self.leave_scope()
    }

    /// Unrolls a loop. Afterwards the state is the merge of all states that leave it.
    pub(super) fn execute_loop(&mut self, parts: &LoopParts<'a>) -> Result<()> {
        let here = self.here;
        self.frame().targets.push(JumpTarget { is_loop: true, ..JumpTarget::default() });
        let (entry, mut counted, mut certain) = (self.state.guard, 0, 0);
        let mut entered_dead = self.is_dead();
        loop {
            let mark = self.mark();
            self.loop_iteration(parts, entered_dead)?;
            entered_dead = false;
            self.here = here;
            if self.is_dead() {
                break;
            }
            if self.is_spin_iteration(parts, &mark)? {
                self.end_path();
                break;
            }
            self.here = here;
            self.discard_spurious_failures(&mark);
            if self.is_dead() {
                break;
            }
            if self.state.guard == entry {
                certain += 1;
                if certain > MAX_CERTAIN_ITERATIONS {
                    self.cut_off(format!(
                        "a loop exceeds {MAX_CERTAIN_ITERATIONS} iterations, the limit for every loop"
                    ));
                    break;
                }
                continue;
            }
            counted += 1;
            if counted > self.options.unwind {
                let bound = self.options.unwind;
                self.cut_off(format!("a loop exceeds {bound} iterations: raise --unwind"));
                break;
            }
        }
        let target = self.frame().targets.pop().unwrap_or_default();
        self.state = self.merge_all(target.breaks);
        Ok(())
    }

    /// Executes one iteration. Afterwards the state is that of the executions that continue; those that leave the loop
    /// are among its breaks. If `entered_dead`, the loop is entered by a jump into its body.
    pub(super) fn loop_iteration(
        &mut self,
        parts: &LoopParts<'a>,
        entered_dead: bool,
    ) -> Result<()> {
        if !entered_dead {
            self.exit_loop_unless(parts.condition_before)?;
        }
        self.execute_statement(parts.body)?;
        let continues = std::mem::take(&mut self.target().continues);
        self.merge_into_current(continues);
        if let (Some(step), false) = (parts.step, self.is_dead()) {
            self.eval(step)?;
        }
        self.exit_loop_unless(parts.condition_after)
    }

    /// The innermost loop or `switch`.
    pub(super) fn target(&mut self) -> &mut JumpTarget {
        self.frame().targets.last_mut().expect("a loop is executed")
    }

    /// Leaves the loop if the condition is false.
    fn exit_loop_unless(&mut self, condition: Option<&'a Ast<Expression>>) -> Result<()> {
        let Some(condition) = condition else { return Ok(()) };
        if self.is_dead() {
            return Ok(());
        }
        let condition = self.condition(condition)?;
        let not = self.terms.not(condition);
        let mut exit = self.state.clone();
        exit.guard = self.terms.and(exit.guard, not);
        if exit.guard != FALSE {
            self.target().breaks.push(exit);
        }
        self.assume(condition);
        Ok(())
    }
}
