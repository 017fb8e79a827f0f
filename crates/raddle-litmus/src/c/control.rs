//! Branches, loops, `break`, `continue` and `return`.

use crate::lex::ParseResult;
use crate::types;

use super::FunctionParser;

/// Open jumps of a loop: out of it, and to its next iteration.
#[derive(Default)]
pub(super) struct LoopJumps {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

impl FunctionParser<'_> {
    /// Parses `break`, `continue` or `return` if it is next. Returns whether it was.
    pub(super) fn leave(&mut self, place: usize) -> ParseResult<bool> {
        let word = ["break", "continue", "return"]
            .into_iter()
            .find(|word| self.draft.tokens.is_word(word));
        let Some(word) = word else { return Ok(false) };
        if word != "return" && self.loops.is_empty() {
            return self.tokens().expected(&format!("no '{word}' outside of a loop"));
        }
        self.tokens().skip();
        let jump = self.body.jump(place);
        match (word, self.loops.last_mut()) {
            ("break", Some(jumps)) => jumps.breaks.push(jump),
            ("continue", Some(jumps)) => jumps.continues.push(jump),
            _ => self.returns.push(jump),
        }
        Ok(true)
    }

    pub(super) fn branch(&mut self, place: usize) -> ParseResult<()> {
        let condition = self.condition()?;
        let skip = self.body.unless(condition, place);
        self.statement()?;
        if !self.tokens().eat_word("else") {
            let here = self.body.here();
            self.body.land(skip, here);
            return Ok(());
        }
        let over = self.body.jump(place);
        let here = self.body.here();
        self.body.land(skip, here);
        self.statement()?;
        let here = self.body.here();
        self.body.land(over, here);
        Ok(())
    }

    /// Parses the body of a loop, and returns its open jumps.
    fn loop_body(&mut self) -> ParseResult<LoopJumps> {
        self.loops.push(LoopJumps::default());
        let read = self.statement();
        let jumps = self.loops.pop().unwrap_or_default();
        read.map(|()| jumps)
    }

    fn land_all(&mut self, jumps: Vec<usize>, target: usize) {
        for jump in jumps {
            self.body.land(jump, target);
        }
    }

    pub(super) fn while_loop(&mut self, place: usize) -> ParseResult<()> {
        let top = self.body.here();
        let condition = self.condition()?;
        let out = self.body.unless(condition, place);
        let jumps = self.loop_body()?;
        let back = self.body.jump(place);
        self.body.land(back, top);
        let end = self.body.here();
        self.land_all(jumps.continues, top);
        self.land_all(jumps.breaks, end);
        self.body.land(out, end);
        Ok(())
    }

    pub(super) fn do_loop(&mut self, place: usize) -> ParseResult<()> {
        let top = self.body.here();
        let jumps = self.loop_body()?;
        let test = self.body.here();
        if !self.tokens().eat_word("while") {
            return self.tokens().expected("'while' after the body of 'do'");
        }
        let condition = self.condition()?;
        self.tokens().sign(";")?;
        let back = self.body.unless(condition.not(), place);
        self.body.land(back, top);
        let end = self.body.here();
        self.land_all(jumps.continues, test);
        self.land_all(jumps.breaks, end);
        Ok(())
    }

    /// Parses a `for` loop. The step precedes the body in the text and is executed after it, so the code jumps over it.
    pub(super) fn for_loop(&mut self, place: usize) -> ParseResult<()> {
        self.scope(|function| function.for_loop_in_scope(place))
    }

    fn for_loop_in_scope(&mut self, place: usize) -> ParseResult<()> {
        self.tokens().sign("(")?;
        if types::is_next(self.tokens()) {
            self.declaration()?;
        } else if !self.tokens().is_sign(";") {
            self.assignment()?;
        }
        self.tokens().sign(";")?;
        let top = self.body.here();
        let condition =
            if self.tokens().is_sign(";") { 1.into() } else { self.expression()?.value };
        self.tokens().sign(";")?;
        let out = self.body.unless(condition, place);
        let enter = self.body.jump(place);
        let step = self.body.here();
        if !self.tokens().is_sign(")") {
            self.assignment()?;
        }
        self.tokens().sign(")")?;
        let again = self.body.jump(place);
        self.body.land(again, top);
        let here = self.body.here();
        self.body.land(enter, here);
        let jumps = self.loop_body()?;
        let back = self.body.jump(place);
        self.body.land(back, step);
        let end = self.body.here();
        self.land_all(jumps.continues, step);
        self.land_all(jumps.breaks, end);
        self.body.land(out, end);
        Ok(())
    }
}
