//! Recursive-descent parser of scripts. Errors name the position and what was expected.

use raddle_core::execution::{MemoryOrder, Value};

use super::error::ScriptError;
use super::lex::{PlacedToken, ScriptToken, lex};
use super::{
    Address, GuardKind, MAIN, Script, ScriptExpression, ScriptOperator, ScriptThread, Statement,
    UPDATES, Variable, failure_order, update_word,
};

use MemoryOrder::{AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};

/// Keywords, besides updates and memory orders.
const RESERVED: [&str; 21] = [
    "thread",
    "load",
    "store",
    "cas",
    "casw",
    "fence",
    "storefence",
    "lock",
    "unlock",
    "sync",
    "spawn",
    "join",
    "choose",
    "assume",
    "assert",
    "if",
    "else",
    "repeat",
    "loop",
    "break",
    "_",
];

/// Maximal nesting depth of blocks and expressions.
const MAX_DEPTH: usize = 100;

pub(super) fn parse(text: &str) -> Result<Script, ScriptError> {
    let mut parser =
        ScriptParser { tokens: lex(text)?, next: 0, depth: 0, ..ScriptParser::default() };
    parser.script()
}

#[derive(Default)]
struct ScriptParser {
    tokens: Vec<PlacedToken>,
    next: usize,
    depth: usize,
    variables: Vec<Variable>,
    threads: Vec<ScriptThread>,
    /// References to threads: position, name, and whether it is a spawn.
    thread_references: Vec<(PlacedToken, String, bool)>,
    in_loop: bool,
}

type ScriptResult<T> = Result<T, ScriptError>;

/// Returns `true` if a word may be a name.
fn is_name(word: &str) -> bool {
    !RESERVED.contains(&word)
        && MemoryOrder::from_name(word).is_none()
        && !UPDATES.iter().any(|&kind| update_word(kind) == word)
}

impl ScriptParser {
    fn peek(&self) -> &ScriptToken {
        &self.tokens[self.next].token
    }

    fn take(&mut self) -> PlacedToken {
        let token = self.tokens[self.next].clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), ScriptToken::Symbol(found) if *found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), ScriptToken::Word(found) if found == word)
    }

    /// Consumes the symbol if it is next. Returns whether it was.
    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.next += usize::from(found);
        found
    }

    fn error<T>(&self, message: impl Into<String>) -> ScriptResult<T> {
        error_at(&self.tokens[self.next], message)
    }

    fn expected<T>(&self, what: &str) -> ScriptResult<T> {
        let found = match self.peek() {
            ScriptToken::Word(word) => format!("'{word}'"),
            ScriptToken::Number(number) => format!("'{number}'"),
            ScriptToken::Symbol(symbol) => format!("'{symbol}'"),
            ScriptToken::Separator => "the end of the statement".to_owned(),
            ScriptToken::End => "the end of the text".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn symbol(&mut self, symbol: &str) -> ScriptResult<()> {
        if self.eat(symbol) { Ok(()) } else { self.expected(&format!("'{symbol}'")) }
    }

    fn name(&mut self, what: &str) -> ScriptResult<String> {
        match self.peek() {
            ScriptToken::Word(word) if is_name(word) => {
                let word = word.clone();
                self.take();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    fn number(&mut self, what: &str) -> ScriptResult<Value> {
        let negative = self.eat("-");
        let ScriptToken::Number(number) = *self.peek() else { return self.expected(what) };
        let number = if negative { -number } else { number };
        if i64::try_from(number).is_err() {
            return self.error(format!("'{number}' is not a number of 64 bits"));
        }
        self.take();
        Ok(number)
    }

    fn count(&mut self, what: &str) -> ScriptResult<u32> {
        match *self.peek() {
            ScriptToken::Number(number) if (1..=10_000).contains(&number) => {
                self.take();
                Ok(number as u32)
            }
            _ => self.expected(what),
        }
    }

    fn separators(&mut self) {
        while *self.peek() == ScriptToken::Separator {
            self.take();
        }
    }

    fn script(&mut self) -> ScriptResult<Script> {
        loop {
            self.separators();
            if *self.peek() == ScriptToken::End {
                break;
            } else if self.is_word("thread") {
                self.thread()?;
            } else {
                self.declaration()?;
            }
            if !matches!(self.peek(), ScriptToken::Separator | ScriptToken::End) {
                return self.expected("';' or a new line");
            }
        }
        self.check_thread_references()?;
        let (variables, threads) =
            (std::mem::take(&mut self.variables), std::mem::take(&mut self.threads));
        Ok(match threads.first() {
            Some(first) if first.name == MAIN => Script { variables, threads },
            _ => Script::parallel(variables, threads),
        })
    }

    /// Parses `x = 0`, `x = [0, 1]`, `lock m` or `lock m[2]`.
    fn declaration(&mut self) -> ScriptResult<()> {
        let is_lock = self.is_word("lock");
        self.next += usize::from(is_lock);
        let at = self.next;
        let what = if is_lock { "the name of a lock" } else { "'x = 0', 'lock m' or 'thread'" };
        let name = self.name(what)?;
        if self.variables.iter().any(|variable| variable.name == name) {
            return error_at(
                &self.tokens[at],
                format!("'{name}' is declared twice: expected another name"),
            );
        }
        let (cells, is_array) = if is_lock { self.locks()? } else { self.initial_values()? };
        self.variables.push(Variable { name, cells, is_array, is_lock });
        Ok(())
    }

    fn locks(&mut self) -> ScriptResult<(Vec<Value>, bool)> {
        if !self.eat("[") {
            return Ok((vec![0], false));
        }
        let count = self.count("the number of locks")?;
        self.symbol("]")?;
        Ok((vec![0; count as usize], true))
    }

    fn initial_values(&mut self) -> ScriptResult<(Vec<Value>, bool)> {
        self.symbol("=")?;
        if !self.eat("[") {
            return Ok((vec![self.number("an initial value")?], false));
        }
        let mut cells = vec![self.number("an initial value")?];
        while self.eat(",") {
            cells.push(self.number("an initial value")?);
        }
        if !self.eat("]") {
            return self.expected("',' or ']'");
        }
        Ok((cells, true))
    }

    fn thread(&mut self) -> ScriptResult<()> {
        self.take();
        let at = self.next;
        let name = self.name("the name of a thread")?;
        if self.threads.iter().any(|thread| thread.name == name) {
            return error_at(
                &self.tokens[at],
                format!("the thread '{name}' is defined twice: expected another name"),
            );
        }
        if name == MAIN && !self.threads.is_empty() {
            return error_at(
                &self.tokens[at],
                "'main' is not the first thread: expected it before all others",
            );
        }
        let body = self.block()?;
        self.threads.push(ScriptThread { name, body });
        Ok(())
    }

    /// Checks that all referenced threads exist, and that none is started twice.
    fn check_thread_references(&self) -> ScriptResult<()> {
        let implied = self.threads.first().is_none_or(|first| first.name != MAIN);
        let mut started: Vec<&str> = vec![MAIN];
        for (at, name, spawns) in &self.thread_references {
            if !self.threads.iter().any(|thread| thread.name == *name) {
                return error_at(at, format!("the thread '{name}' is not defined"));
            }
            if *spawns && implied {
                return error_at(
                    at,
                    "without a thread 'main' all threads are started implicitly: expected no 'spawn'",
                );
            }
            if *spawns && started.contains(&name.as_str()) {
                return error_at(
                    at,
                    format!("the thread '{name}' is started twice: expected one 'spawn'"),
                );
            }
            started.extend(spawns.then_some(name.as_str()));
        }
        Ok(())
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> ScriptResult<T>) -> ScriptResult<T> {
        if self.depth == MAX_DEPTH {
            return self.error(format!("nested too deeply: expected at most {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn block(&mut self) -> ScriptResult<Vec<Statement>> {
        self.symbol("{")?;
        let mut statements = vec![];
        loop {
            self.separators();
            if self.eat("}") {
                return Ok(statements);
            }
            let statement = self.nested(Self::statement)?;
            let compound = !statement.blocks().is_empty();
            statements.push(statement);
            if !compound && *self.peek() != ScriptToken::Separator && !self.is_symbol("}") {
                return self.expected("';', a new line or '}'");
            }
        }
    }

    fn statement(&mut self) -> ScriptResult<Statement> {
        let ScriptToken::Word(word) = self.peek().clone() else {
            return self.expected("a statement or '}'");
        };
        if is_name(&word) || word == "_" {
            return self.assignment();
        }
        if let Some(statement) = self.reading(None, None)? {
            return Ok(statement);
        }
        let at = self.next;
        self.take();
        match word.as_str() {
            "store" => self.store(),
            "fence" => {
                Ok(Statement::Fence(self.order(&[SeqCst, Acquire, Release, AcqRel], SeqCst)?))
            }
            "storefence" => Ok(Statement::StoreFence),
            "lock" => Ok(Statement::Lock(self.address(true)?)),
            "unlock" => Ok(Statement::Unlock(self.address(true)?)),
            "sync" => self.sync(),
            "spawn" => Ok(Statement::Spawn(self.thread_name(true)?)),
            "join" => Ok(Statement::Join(self.thread_name(false)?)),
            "assume" => Ok(Statement::Assume(self.expression()?)),
            "assert" => Ok(Statement::Assert(self.expression()?)),
            "if" => self.branch(),
            "repeat" => self.repeat(),
            "loop" => Ok(Statement::Loop { body: self.loop_body()? }),
            "break" => Ok(Statement::Break),
            _ => {
                self.next = at;
                self.expected("a statement or '}'")
            }
        }
    }

    /// Parses `r = ...` or `r, ok = cas ...`.
    fn assignment(&mut self) -> ScriptResult<Statement> {
        let target = self.target()?;
        let mut succeeded = None;
        if self.eat(",") {
            succeeded = Some(self.name("a register")?);
        }
        self.symbol("=")?;
        let at = self.next;
        let statement = self.reading(target.clone(), succeeded.clone())?;
        let is_cas = matches!(statement, Some(Statement::CompareExchange { .. }));
        match (statement, target) {
            _ if succeeded.is_some() && !is_cas => {
                self.next = at;
                self.expected("'cas' or 'casw'")
            }
            (Some(statement), _) => Ok(statement),
            (None, Some(target)) => Ok(Statement::Set { target, value: self.expression()? }),
            (None, None) => self.expected("an operation that reads"),
        }
    }

    fn target(&mut self) -> ScriptResult<Option<String>> {
        if self.is_word("_") {
            self.take();
            return Ok(None);
        }
        Ok(Some(self.name("a register")?))
    }

    /// Parses a statement with a result, if one is next.
    fn reading(
        &mut self,
        target: Option<String>,
        succeeded: Option<String>,
    ) -> ScriptResult<Option<Statement>> {
        let ScriptToken::Word(word) = self.peek().clone() else { return Ok(None) };
        let kind = UPDATES.into_iter().find(|&kind| update_word(kind) == word);
        if kind.is_some() || ["load", "cas", "casw", "choose"].contains(&word.as_str()) {
            self.take();
        }
        Ok(Some(match (kind, word.as_str()) {
            (Some(kind), _) => {
                let (at, operand) = (self.address(false)?, self.expression()?);
                let order = self.order(&[Relaxed, Acquire, Release, AcqRel, SeqCst], Relaxed)?;
                Statement::Update { target, at, kind, operand, order }
            }
            (None, "load") => {
                let at = self.address(false)?;
                let order = self.order(&[NonAtomic, Relaxed, Acquire, SeqCst], Relaxed)?;
                Statement::Load { target, at, order }
            }
            (None, "cas" | "casw") => self.compare_exchange(target, succeeded, word == "casw")?,
            (None, "choose") => {
                Statement::Choose { target, options: self.count("the number of choices")? }
            }
            _ => return Ok(None),
        }))
    }

    fn compare_exchange(
        &mut self,
        target: Option<String>,
        succeeded: Option<String>,
        weak: bool,
    ) -> ScriptResult<Statement> {
        let at = self.address(false)?;
        let (expected, desired) = (self.expression()?, self.expression()?);
        let success = self.order(&[Relaxed, Acquire, Release, AcqRel, SeqCst], Relaxed)?;
        let failure = self.order(&[Relaxed, Acquire, SeqCst], failure_order(success))?;
        Ok(Statement::CompareExchange {
            target,
            succeeded,
            at,
            expected,
            desired,
            success,
            failure,
            weak,
        })
    }

    fn store(&mut self) -> ScriptResult<Statement> {
        let (at, value) = (self.address(false)?, self.expression()?);
        let order = self.order(&[NonAtomic, Relaxed, Release, SeqCst], Relaxed)?;
        Ok(Statement::Store { at, value, order })
    }

    fn sync(&mut self) -> ScriptResult<Statement> {
        let at = self.address(false)?;
        let guards = [("==", GuardKind::Equal), ("<", GuardKind::Below), (">", GuardKind::Above)];
        let symbol = guards.into_iter().find(|(symbol, _)| self.is_symbol(symbol));
        let guard = match symbol {
            Some((_, guard)) => guard,
            None if self.is_word("any") => GuardKind::Always,
            None if self.is_word("nobits") => GuardKind::NoBits,
            None => return self.expected("a guard: 'any', '==', '<', '>' or 'nobits'"),
        };
        self.take();
        let unused = ScriptExpression::Number(0);
        let bound = if guard == GuardKind::Always { unused } else { self.expression()? };
        let update = UPDATES.into_iter().find(|&kind| self.is_word(update_word(kind)));
        let Some(kind) = update else { return self.expected("an update, such as 'add'") };
        self.take();
        Ok(Statement::Sync { at, guard, bound, kind, operand: self.expression()? })
    }

    fn thread_name(&mut self, spawns: bool) -> ScriptResult<String> {
        if spawns && self.in_loop {
            return self.error("'spawn' in a loop: expected each thread to be started once");
        }
        let at = self.tokens[self.next].clone();
        let name = self.name("the name of a thread")?;
        self.thread_references.push((at, name.clone(), spawns));
        Ok(name)
    }

    fn branch(&mut self) -> ScriptResult<Statement> {
        let condition = self.expression()?;
        let then = self.block()?;
        let mut otherwise = vec![];
        if self.is_word("else") {
            self.take();
            otherwise = self.block()?;
        }
        Ok(Statement::If { condition, then, otherwise })
    }

    fn repeat(&mut self) -> ScriptResult<Statement> {
        let times = self.count("how often to repeat, from 1 to 10000")?;
        Ok(Statement::Repeat { times, body: self.loop_body()? })
    }

    fn loop_body(&mut self) -> ScriptResult<Vec<Statement>> {
        let outer = std::mem::replace(&mut self.in_loop, true);
        let body = self.block();
        self.in_loop = outer;
        body
    }

    fn address(&mut self, lock: bool) -> ScriptResult<Address> {
        let at = self.tokens[self.next].clone();
        let what = if lock { "a lock" } else { "a variable" };
        let variable = self.name(what)?;
        let Some(known) = self.variables.iter().find(|known| known.name == variable) else {
            return error_at(
                &at,
                format!("'{variable}' is not declared: expected {what} with a declaration above"),
            );
        };
        if known.is_lock != lock {
            return error_at(&at, format!("'{variable}' is not {what}: expected {what}"));
        }
        if !known.is_array {
            return Ok(Address { variable, index: None });
        }
        self.symbol("[")?;
        let index = Some(self.expression()?);
        self.symbol("]")?;
        Ok(Address { variable, index })
    }

    /// Parses one of these memory orders. Returns the default if no order is next.
    fn order(
        &mut self,
        possible: &[MemoryOrder],
        default: MemoryOrder,
    ) -> ScriptResult<MemoryOrder> {
        let ScriptToken::Word(word) = self.peek() else { return Ok(default) };
        let Some(order) = MemoryOrder::from_name(word) else { return Ok(default) };
        if !possible.contains(&order) {
            let names: Vec<&str> = possible.iter().map(|order| order.name()).collect();
            return self.expected(&format!("one of {}", names.join(", ")));
        }
        self.take();
        Ok(order)
    }

    fn expression(&mut self) -> ScriptResult<ScriptExpression> {
        self.nested(|parser| parser.operation(0))
    }

    /// Parses binary operations of at least this precedence.
    fn operation(&mut self, level: usize) -> ScriptResult<ScriptExpression> {
        if level > ScriptOperator::Mul.level() {
            return self.atom();
        }
        let mut left = self.operation(level + 1)?;
        while let Some(operator) = self.operator(level) {
            self.take();
            left = ScriptExpression::binary(operator, left, self.operation(level + 1)?);
        }
        Ok(left)
    }

    fn operator(&self, level: usize) -> Option<ScriptOperator> {
        let mut operators =
            ScriptOperator::ALL.into_iter().filter(|operator| operator.level() == level);
        operators.find(|operator| self.is_symbol(operator.symbol()))
    }

    fn atom(&mut self) -> ScriptResult<ScriptExpression> {
        const WHAT: &str = "a number, a register or '('";
        match self.peek() {
            ScriptToken::Word(word) if is_name(word) => {
                Ok(ScriptExpression::Register(self.name(WHAT)?))
            }
            ScriptToken::Number(_) | ScriptToken::Symbol("-") => {
                Ok(ScriptExpression::Number(self.number(WHAT)?))
            }
            ScriptToken::Symbol("(") => {
                self.take();
                let inner = self.expression()?;
                self.symbol(")")?;
                Ok(inner)
            }
            _ => self.expected(WHAT),
        }
    }
}

fn error_at<T>(at: &PlacedToken, message: impl Into<String>) -> ScriptResult<T> {
    Err(ScriptError { line: at.line, column: at.column, message: message.into() })
}
