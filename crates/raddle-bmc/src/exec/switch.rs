//! `switch`: its cases are labels that its value jumps to.

use lang_c::ast::{Label, Statement};
use lang_c::span::Node as Ast;

use super::stmt::children;
use super::{Exec, Result, State, Switch, Target};
use crate::term::{FALSE, Term};

impl<'a> Exec<'a> {
    pub(super) fn within(&mut self, value: Term, low: u64, high: u64) -> Term {
        let mut any = FALSE;
        for number in low..=high.min(low.saturating_add(4096)) {
            let equal = self.terms.is(value, number);
            any = self.terms.or(any, equal);
        }
        any
    }

    pub(super) fn case(&mut self, low: u64, high: u64) -> Result<()> {
        let Some(&Switch { value, .. }) = self.frame().switches.last() else {
            return self.refuse("a case outside of a switch");
        };
        let condition = self.within(value, low, high);
        self.enter_case(condition);
        Ok(())
    }

    pub(super) fn default_case(&mut self) {
        let Some(Switch { value, cases, .. }) = self.frame().switches.last() else { return };
        let (value, cases) = (*value, cases.clone());
        let taken: Vec<Term> =
            cases.iter().map(|&(low, high)| self.within(value, low, high)).collect();
        let any = self.terms.any(taken);
        let none = self.terms.not(any);
        self.enter_case(none);
    }

    /// Goes on here from the switch if this is true. It jumps once: not again where a loop comes back to the case.
    fn enter_case(&mut self, condition: Term) {
        let Some(mut switch) = self.frame().switches.pop() else { return };
        let here = self.terms.and(switch.from.guard, condition);
        let not = self.terms.not(condition);
        let elsewhere = self.terms.and(switch.from.guard, not);
        self.join_here(vec![State { guard: here, ..switch.from.clone() }]);
        switch.from.guard = elsewhere;
        self.frame().switches.push(switch);
    }

    pub(super) fn switch(&mut self, value: Term, body: &'a Ast<Statement>) -> Result<()> {
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
}
