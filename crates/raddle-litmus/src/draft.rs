//! Test being parsed: locations, threads, and remaining tokens.

use raddle_consistency::history::quote;
use raddle_core::execution::Value;

use super::code::ThreadCode;
use super::condition::StateItem;
use super::lex::{LitmusToken, ParseResult, SyntaxError, Tokens};
use super::value::{IntType, address};
use super::{LitmusLocation, types};

/// Maximal number of threads of a test.
const MAX_THREADS: usize = 32;

/// Initial value of a register. Its thread is parsed later.
pub(super) struct GivenRegister {
    pub(super) at: usize,
    pub(super) thread: usize,
    pub(super) name: String,
    pub(super) value: Value,
}

/// Initial value of a location. Its type may be known only later.
pub(super) struct GivenValue {
    at: usize,
    location: usize,
    value: Value,
}

/// Test being parsed.
pub(super) struct TestDraft {
    pub(super) tokens: Tokens,
    pub(super) values: Vec<GivenValue>,
    pub(super) locations: Vec<LitmusLocation>,
    pub(super) given: Vec<GivenRegister>,
    pub(super) threads: Vec<ThreadCode>,
}

/// Name in the initial state or in a condition.
pub(super) enum StateName {
    Register { at: usize, thread: usize, name: String },
    Location(usize),
}

impl TestDraft {
    /// Returns the index of the location with this name. Adds it if there is none.
    pub(super) fn location(&mut self, name: &str) -> usize {
        match self.locations.iter().position(|location| location.name == name) {
            Some(known) => known,
            None => {
                self.locations.push(LitmusLocation {
                    name: name.to_owned(),
                    ty: None,
                    initial: None,
                });
                self.locations.len() - 1
            }
        }
    }

    /// Parses the initial state: `{ x=0; int y=1; 0:EAX=x; }` and an optional semicolon.
    pub(super) fn initial_state(&mut self) -> ParseResult<()> {
        self.tokens.sign("{")?;
        while !self.tokens.eat("}") {
            if self.tokens.eat(";") {
                continue;
            }
            self.initial_value()?;
            if !self.tokens.is_sign("}") && !self.tokens.is_sign(";") {
                return self.tokens.expected("';' or '}' after an initial value");
            }
        }
        self.tokens.eat(";");
        Ok(())
    }

    fn initial_value(&mut self) -> ParseResult<()> {
        let ty = types::optional(&mut self.tokens)?.map(types::CType::integer);
        let at = self.tokens.at();
        let place = self.state_name("an initial value, such as 'x=0' or '0:EAX=1'")?;
        if self.tokens.is_sign("[") {
            return self.tokens.expected("a location with one value; arrays are not supported");
        }
        let has_value = self.tokens.eat("=");
        let value_at = self.tokens.at();
        let value = if has_value { self.value()? } else { 0 };
        match place {
            StateName::Register { at, thread, name } => {
                let value = ty.map_or(Ok(value), |ty| fitting(ty, value, value_at))?;
                self.given.push(GivenRegister { at, thread, name, value });
            }
            StateName::Location(index) => {
                let location = &mut self.locations[index];
                if location.initial.is_some() {
                    let name = quote(&location.name);
                    return Err(SyntaxError::new(
                        at,
                        format!("the location {name} has two initial values: expected one"),
                    ));
                }
                location.ty = ty.or(location.ty);
                location.initial = Some(value);
                self.values.push(GivenValue { at: value_at, location: index, value });
            }
        }
        Ok(())
    }

    /// Parses `x`, `[x]`, `*x`, `0:EAX` or `P0:EAX`. `what` describes it in the error.
    pub(super) fn state_name(&mut self, what: &str) -> ParseResult<StateName> {
        let at = self.tokens.at();
        if let Some(thread) = self.thread_prefix() {
            self.tokens.eat("%");
            let name = self.tokens.word("a register")?;
            return Ok(StateName::Register { at, thread, name });
        }
        let brackets = self.tokens.eat("[");
        if !brackets {
            self.tokens.eat("*");
        }
        let name = self.tokens.word(what)?;
        if brackets {
            self.tokens.sign("]")?;
        }
        Ok(StateName::Location(self.location(&name)))
    }

    /// Consumes `0:` or `P0:` if it is next.
    fn thread_prefix(&mut self) -> Option<usize> {
        let colon = matches!(self.tokens.ahead(1), LitmusToken::Sign(":"));
        let thread = match self.tokens.peek() {
            LitmusToken::Number(number, _) if colon => usize::try_from(*number).ok(),
            LitmusToken::Word(word) if colon => word.strip_prefix('P')?.parse().ok(),
            _ => None,
        }?;
        self.tokens.skip();
        self.tokens.skip();
        Some(thread)
    }

    /// Parses a number, or the address of a location: `x` or `&x`.
    pub(super) fn value(&mut self) -> ParseResult<Value> {
        let what = "a number or the name of a location";
        let ampersand = self.tokens.eat("&");
        if ampersand || matches!(self.tokens.peek(), LitmusToken::Word(_)) {
            let name = self.tokens.word(what)?;
            return Ok(address(self.location(&name)));
        }
        self.tokens.number(what)
    }

    /// Returns the item that a name refers to.
    pub(super) fn item(&self, place: StateName) -> ParseResult<StateItem> {
        let (at, thread, name) = match place {
            StateName::Location(location) => return Ok(StateItem::Location(location)),
            StateName::Register { at, thread, name } => (at, thread, name),
        };
        let Some(body) = self.threads.get(thread) else {
            let last = self.threads.len().saturating_sub(1);
            return Err(SyntaxError::new(
                at,
                format!("there is no thread {thread}: expected 0 to {last}"),
            ));
        };
        let same =
            |known: &str| known == name || known.eq_ignore_ascii_case(&name) && body.any_case;
        match body.named.iter().position(|register| same(&register.name)) {
            Some(register) => Ok(StateItem::Register(thread, register)),
            None => {
                let names: Vec<&str> = body.named.iter().map(|it| it.name.as_str()).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let name = quote(&name);
                Err(SyntaxError::new(
                    at,
                    format!("thread {thread} has no register {name}: expected {names}"),
                ))
            }
        }
    }

    /// Fails if a test has too many threads.
    pub(super) fn check_thread_count(&self, count: usize) -> ParseResult<()> {
        if count > MAX_THREADS {
            return self.tokens.expected(&format!("at most {MAX_THREADS} threads"));
        }
        Ok(())
    }

    /// Returns the type of an item.
    pub(super) fn type_of(&self, item: StateItem) -> IntType {
        match item {
            StateItem::Register(thread, register) => self.threads[thread].named[register].ty,
            StateItem::Location(location) => self.locations[location].value_type(),
        }
    }

    /// Sets the initial values of locations, whose types are known now.
    pub(super) fn set_initial_values(&mut self) -> ParseResult<()> {
        for GivenValue { at, location, value } in std::mem::take(&mut self.values) {
            let location = &mut self.locations[location];
            location.initial = Some(fitting(location.value_type(), value, at)?);
        }
        Ok(())
    }

    /// Sets the initial values of registers, whose threads are parsed now.
    pub(super) fn set_initial_registers(&mut self) -> ParseResult<()> {
        for GivenRegister { at, thread, name, value } in std::mem::take(&mut self.given) {
            let twice =
                format!("the register {} has two initial values: expected one", quote(&name));
            let item = self.item(StateName::Register { at, thread, name })?;
            let value = fitting(self.type_of(item), value, at)?;
            if let StateItem::Register(thread, register) = item {
                let body = &mut self.threads[thread];
                let slot = body.named[register].slot;
                if body.initial.iter().any(|&(known, _)| known == slot) {
                    return Err(SyntaxError::new(at, twice));
                }
                body.initial.push((slot, value));
            }
        }
        Ok(())
    }
}

/// Converts a number to a value of this type. Fails if the number does not fit.
pub(super) fn fitting(ty: IntType, value: Value, at: usize) -> ParseResult<Value> {
    if ty.fits(value) {
        return Ok(ty.wrap(value));
    }
    let message = match ty {
        IntType::BOOL => format!("{value} is not a truth value: expected 0 or 1"),
        IntType { bits, .. } => format!("{value} is too large: expected a number of {bits} bits"),
    };
    Err(SyntaxError::new(at, message))
}
