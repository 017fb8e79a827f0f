//! `switch`. Its cases are labels to which the `switch` jumps under conditions.

use lang_c::ast::{Label, Statement};
use lang_c::span::Node as Ast;

use super::stmt::children;
use super::{JumpTarget, OpenSwitch, PathState, Result, SymbolicExecutor};
use crate::term::{FALSE, Term};

/// The maximal size of a case range (GNU C).
const MAX_RANGE: u64 = 4096;

impl<'a> SymbolicExecutor<'a> {
    /// Whether a value is in an inclusive range. Only the first [`MAX_RANGE`] numbers after `low` are considered.
    fn in_range(&mut self, value: Term, low: u64, high: u64) -> Term {
        let mut any = FALSE;
        for number in low..=high.min(low.saturating_add(MAX_RANGE)) {
            let equal = self.terms.is(value, number);
            any = self.terms.or(any, equal);
        }
        any
    }

    /// Executes a case label, whose range is inclusive.
    pub(super) fn enter_case_range(&mut self, low: u64, high: u64) -> Result<()> {
        let Some(&OpenSwitch { value, .. }) = self.frame().switches.last() else {
            return self.unsupported("`case` outside of a `switch`");
        };
        let condition = self.in_range(value, low, high);
        self.enter_switch_if(condition);
        Ok(())
    }

    /// Executes a `default` label.
    pub(super) fn enter_default(&mut self) {
        let Some(OpenSwitch { value, cases, .. }) = self.frame().switches.last() else { return };
        let (value, cases) = (*value, cases.clone());
        let none = self.matches_no_case(value, &cases);
        self.enter_switch_if(none);
    }

    /// Whether a value is in none of these ranges.
    fn matches_no_case(&mut self, value: Term, cases: &[(u64, u64)]) -> Term {
        let matches: Vec<Term> =
            cases.iter().map(|&(low, high)| self.in_range(value, low, high)).collect();
        let any = self.terms.any(matches);
        self.terms.not(any)
    }

    /// Jumps from the `switch` to the current label if the condition is true. It jumps once: not again if a loop within
    /// the `switch` passes the label a second time.
    fn enter_switch_if(&mut self, condition: Term) {
        let Some(mut switch) = self.frame().switches.pop() else { return };
        let here = self.terms.and(switch.entry.guard, condition);
        let not = self.terms.not(condition);
        let elsewhere = self.terms.and(switch.entry.guard, not);
        self.merge_into_current(vec![PathState { guard: here, ..switch.entry.clone() }]);
        switch.entry.guard = elsewhere;
        self.frame().switches.push(switch);
    }

    pub(super) fn execute_switch(&mut self, value: Term, body: &'a Ast<Statement>) -> Result<()> {
        let mut cases = vec![];
        let mut has_default = false;
        self.collect_cases(&body.node, &mut cases, &mut has_default)?;
        let entry = self.end_path();
        let mut target = JumpTarget::default();
        if !has_default {
            let none = self.matches_no_case(value, &cases);
            let guard = self.terms.and(entry.guard, none);
            target.breaks.push(PathState { guard, env: entry.env.clone() });
        }
        self.frame().targets.push(target);
        self.frame().switches.push(OpenSwitch { value, entry, cases });
        self.execute_statement(body)?;
        self.frame().switches.pop();
        let target = self.frame().targets.pop().unwrap_or_default();
        let mut states = target.breaks;
        states.push(self.state.clone());
        self.state = self.merge_all(states);
        Ok(())
    }

    /// Collects the cases of a `switch`, but not those of inner ones.
    fn collect_cases(
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
                self.collect_cases(&labeled.node.statement.node, cases, has_default)
            }
            Statement::Switch(_) => Ok(()),
            other => children(other)
                .into_iter()
                .try_for_each(|child| self.collect_cases(child, cases, has_default)),
        }
    }
}
