//! Reading scripts, by recursive descent. Everything that is wrong is told with its place and with what
//! would have been right.

use std::fmt;

use raddle_core::execution::{MemoryOrder, Value};

use super::lex::{Placed, Token, lex};
use super::{
    Address, Expression, GuardKind, MAIN, Operator, Script, Statement, Thread, UPDATES, Variable,
    failure_order, update_word,
};

use MemoryOrder::{AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};

/// Why a text is no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Words that are no names. Updates and memory orders are others.
const RESERVED: [&str; 20] = [
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
    "break",
    "_",
];

/// How deep blocks and expressions may be nested.
const DEPTH: usize = 100;

pub(super) fn parse(text: &str) -> Result<Script, ParseError> {
    let mut parser = Parser { tokens: lex(text)?, next: 0, depth: 0, ..Parser::default() };
    parser.script()
}

#[derive(Default)]
struct Parser {
    tokens: Vec<Placed>,
    next: usize,
    depth: usize,
    variables: Vec<Variable>,
    threads: Vec<Thread>,
    /// Threads that are mentioned, and whether to be started.
    mentioned: Vec<(Placed, String, bool)>,
    in_loop: bool,
}

type Parsed<T> = Result<T, ParseError>;

/// Whether a word can name something.
fn is_name(word: &str) -> bool {
    !RESERVED.contains(&word)
        && MemoryOrder::from_name(word).is_none()
        && !UPDATES.iter().any(|&kind| update_word(kind) == word)
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].token
    }

    fn take(&mut self) -> Placed {
        let token = self.tokens[self.next].clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    /// Takes the symbol if it is next.
    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.next += usize::from(found);
        found
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        error_at(&self.tokens[self.next], message)
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("'{word}'"),
            Token::Number(number) => format!("'{number}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::Separator => "the end of the statement".to_owned(),
            Token::End => "the end of the text".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { self.expected(&format!("'{symbol}'")) }
    }

    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(word) if is_name(word) => {
                let word = word.clone();
                self.take();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    fn number(&mut self, what: &str) -> Parsed<Value> {
        let negative = self.eat("-");
        let Token::Number(number) = *self.peek() else { return self.expected(what) };
        let number = if negative { -number } else { number };
        if i64::try_from(number).is_err() {
            return self.error(format!("'{number}' is not a number of 64 bits"));
        }
        self.take();
        Ok(number)
    }

    fn count(&mut self, what: &str) -> Parsed<u32> {
        match *self.peek() {
            Token::Number(number) if (1..=10_000).contains(&number) => {
                self.take();
                Ok(number as u32)
            }
            _ => self.expected(what),
        }
    }

    fn separators(&mut self) {
        while *self.peek() == Token::Separator {
            self.take();
        }
    }

    fn script(&mut self) -> Parsed<Script> {
        loop {
            self.separators();
            if *self.peek() == Token::End {
                break;
            } else if self.is_word("thread") {
                self.thread()?;
            } else {
                self.declaration()?;
            }
            if !matches!(self.peek(), Token::Separator | Token::End) {
                return self.expected("';' or a new line");
            }
        }
        self.check_mentioned()?;
        let (variables, threads) =
            (std::mem::take(&mut self.variables), std::mem::take(&mut self.threads));
        Ok(match threads.first() {
            Some(first) if first.name == MAIN => Script { variables, threads },
            _ => Script::parallel(variables, threads),
        })
    }

    /// `x = 0`, `x = [0, 1]`, `lock m` or `lock m[2]`
    fn declaration(&mut self) -> Parsed<()> {
        let is_lock = self.is_word("lock");
        self.next += usize::from(is_lock);
        let at = self.next;
        let what = if is_lock { "the name of a lock" } else { "'x = 0', 'lock m' or 'thread'" };
        let name = self.name(what)?;
        if self.variables.iter().any(|variable| variable.name == name) {
            return error_at(&self.tokens[at], format!("'{name}' is declared already"));
        }
        let (cells, is_array) = if is_lock { self.locks()? } else { self.initial_values()? };
        self.variables.push(Variable { name, cells, is_array, is_lock });
        Ok(())
    }

    fn locks(&mut self) -> Parsed<(Vec<Value>, bool)> {
        if !self.eat("[") {
            return Ok((vec![0], false));
        }
        let count = self.count("the number of locks")?;
        self.symbol("]")?;
        Ok((vec![0; count as usize], true))
    }

    fn initial_values(&mut self) -> Parsed<(Vec<Value>, bool)> {
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

    fn thread(&mut self) -> Parsed<()> {
        self.take();
        let at = self.next;
        let name = self.name("the name of a thread")?;
        if self.threads.iter().any(|thread| thread.name == name) {
            return error_at(&self.tokens[at], format!("there is a thread '{name}' already"));
        }
        if name == MAIN && !self.threads.is_empty() {
            return error_at(&self.tokens[at], "'main' is the first thread");
        }
        let body = self.block()?;
        self.threads.push(Thread { name, body });
        Ok(())
    }

    /// Threads that are started or waited for exist, and none is started twice.
    fn check_mentioned(&self) -> Parsed<()> {
        let implied = self.threads.first().is_none_or(|first| first.name != MAIN);
        let mut started: Vec<&str> = vec![MAIN];
        for (at, name, spawns) in &self.mentioned {
            if !self.threads.iter().any(|thread| thread.name == *name) {
                return error_at(at, format!("there is no thread '{name}'"));
            }
            if *spawns && implied {
                return error_at(at, "without a thread 'main' all threads are started already");
            }
            if *spawns && started.contains(&name.as_str()) {
                return error_at(at, format!("'{name}' is started already"));
            }
            started.extend(spawns.then_some(name.as_str()));
        }
        Ok(())
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            return self.error("nested too deeply");
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.symbol("{")?;
        let mut statements = vec![];
        loop {
            self.separators();
            if self.eat("}") {
                return Ok(statements);
            }
            let statement = self.deeper(Self::statement)?;
            let compound = matches!(statement, Statement::If { .. } | Statement::Repeat { .. });
            statements.push(statement);
            if !compound && *self.peek() != Token::Separator && !self.is_symbol("}") {
                return self.expected("';', a new line or '}'");
            }
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let Token::Word(word) = self.peek().clone() else {
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
            "spawn" => Ok(Statement::Spawn(self.mention(true)?)),
            "join" => Ok(Statement::Join(self.mention(false)?)),
            "assume" => Ok(Statement::Assume(self.expression()?)),
            "assert" => Ok(Statement::Assert(self.expression()?)),
            "if" => self.branch(),
            "repeat" => self.repeat(),
            "break" => Ok(Statement::Break),
            _ => {
                self.next = at;
                self.expected("a statement or '}'")
            }
        }
    }

    /// `r = ...` or `r, ok = cas ...`
    fn assignment(&mut self) -> Parsed<Statement> {
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

    fn target(&mut self) -> Parsed<Option<String>> {
        if self.is_word("_") {
            self.take();
            return Ok(None);
        }
        Ok(Some(self.name("a register")?))
    }

    /// A statement that gives a value, if there is one.
    fn reading(
        &mut self,
        target: Option<String>,
        succeeded: Option<String>,
    ) -> Parsed<Option<Statement>> {
        let Token::Word(word) = self.peek().clone() else { return Ok(None) };
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
    ) -> Parsed<Statement> {
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

    fn store(&mut self) -> Parsed<Statement> {
        let (at, value) = (self.address(false)?, self.expression()?);
        let order = self.order(&[NonAtomic, Relaxed, Release, SeqCst], Relaxed)?;
        Ok(Statement::Store { at, value, order })
    }

    fn sync(&mut self) -> Parsed<Statement> {
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
        let unused = Expression::Number(0);
        let bound = if guard == GuardKind::Always { unused } else { self.expression()? };
        let update = UPDATES.into_iter().find(|&kind| self.is_word(update_word(kind)));
        let Some(kind) = update else { return self.expected("an update, such as 'add'") };
        self.take();
        Ok(Statement::Sync { at, guard, bound, kind, operand: self.expression()? })
    }

    fn mention(&mut self, spawns: bool) -> Parsed<String> {
        if spawns && self.in_loop {
            return self.error("a thread is started once, not in a loop");
        }
        let at = self.tokens[self.next].clone();
        let name = self.name("the name of a thread")?;
        self.mentioned.push((at, name.clone(), spawns));
        Ok(name)
    }

    fn branch(&mut self) -> Parsed<Statement> {
        let condition = self.expression()?;
        let then = self.block()?;
        let mut otherwise = vec![];
        if self.is_word("else") {
            self.take();
            otherwise = self.block()?;
        }
        Ok(Statement::If { condition, then, otherwise })
    }

    fn repeat(&mut self) -> Parsed<Statement> {
        let times = self.count("how often to repeat, from 1 to 10000")?;
        let outer = std::mem::replace(&mut self.in_loop, true);
        let body = self.block()?;
        self.in_loop = outer;
        Ok(Statement::Repeat { times, body })
    }

    fn address(&mut self, lock: bool) -> Parsed<Address> {
        let at = self.tokens[self.next].clone();
        let what = if lock { "a lock" } else { "a variable" };
        let variable = self.name(what)?;
        let Some(known) = self.variables.iter().find(|known| known.name == variable) else {
            return error_at(&at, format!("'{variable}' is not declared"));
        };
        if known.is_lock != lock {
            return error_at(&at, format!("expected {what}, and '{variable}' is none"));
        }
        if !known.is_array {
            return Ok(Address { variable, index: None });
        }
        self.symbol("[")?;
        let index = Some(self.expression()?);
        self.symbol("]")?;
        Ok(Address { variable, index })
    }

    /// One of these orders, or the default if no order comes.
    fn order(&mut self, possible: &[MemoryOrder], default: MemoryOrder) -> Parsed<MemoryOrder> {
        let Token::Word(word) = self.peek() else { return Ok(default) };
        let Some(order) = MemoryOrder::from_name(word) else { return Ok(default) };
        if !possible.contains(&order) {
            let names: Vec<&str> = possible.iter().map(|order| order.name()).collect();
            return self.expected(&format!("one of {}", names.join(", ")));
        }
        self.take();
        Ok(order)
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.deeper(|parser| parser.operation(0))
    }

    /// Operations that bind at least as tightly as the level says.
    fn operation(&mut self, level: usize) -> Parsed<Expression> {
        if level > Operator::Mul.level() {
            return self.atom();
        }
        let mut left = self.operation(level + 1)?;
        while let Some(operator) = self.operator(level) {
            self.take();
            left = Expression::binary(operator, left, self.operation(level + 1)?);
        }
        Ok(left)
    }

    fn operator(&self, level: usize) -> Option<Operator> {
        let mut operators = Operator::ALL.into_iter().filter(|operator| operator.level() == level);
        operators.find(|operator| self.is_symbol(operator.symbol()))
    }

    fn atom(&mut self) -> Parsed<Expression> {
        const WHAT: &str = "a number, a register or '('";
        match self.peek() {
            Token::Word(word) if is_name(word) => Ok(Expression::Register(self.name(WHAT)?)),
            Token::Number(_) | Token::Symbol("-") => Ok(Expression::Number(self.number(WHAT)?)),
            Token::Symbol("(") => {
                self.take();
                let inner = self.expression()?;
                self.symbol(")")?;
                Ok(inner)
            }
            _ => self.expected(WHAT),
        }
    }
}

fn error_at<T>(at: &Placed, message: impl Into<String>) -> Parsed<T> {
    Err(ParseError { line: at.line, column: at.column, message: message.into() })
}
