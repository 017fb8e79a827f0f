//! A test while it is being read: its names, its threads, and the tokens that are left.

use raddle_consistency::history::quote;
use raddle_core::execution::Value;

use super::code::Body;
use super::condition::Item;
use super::lex::{Fault, Parsed, Token, Tokens};
use super::value::{Type, address};
use super::{Location, types};

/// How many threads a test may have.
const THREADS: usize = 32;

/// A register that the initial state mentions. Threads come later.
pub(super) struct GivenRegister {
    pub(super) at: usize,
    pub(super) thread: usize,
    pub(super) name: String,
    pub(super) value: Value,
}

/// The initial value of a location. Its type may come later.
pub(super) struct GivenValue {
    at: usize,
    location: usize,
    value: Value,
}

pub(super) struct Draft {
    pub(super) tokens: Tokens,
    pub(super) values: Vec<GivenValue>,
    pub(super) locations: Vec<Location>,
    pub(super) given: Vec<GivenRegister>,
    pub(super) threads: Vec<Body>,
}

/// What a name in the initial state or in a condition is about.
pub(super) enum Place {
    Register { at: usize, thread: usize, name: String },
    Location(usize),
}

impl Draft {
    /// The location with this name.
    pub(super) fn location(&mut self, name: &str) -> usize {
        match self.locations.iter().position(|location| location.name == name) {
            Some(known) => known,
            None => {
                self.locations.push(Location { name: name.to_owned(), ty: None, initial: None });
                self.locations.len() - 1
            }
        }
    }

    /// The initial state: `{ x=0; int y=1; 0:EAX=x; }`, and perhaps a semicolon after it.
    pub(super) fn initial_state(&mut self) -> Parsed<()> {
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

    fn initial_value(&mut self) -> Parsed<()> {
        let ty = types::optional(&mut self.tokens)?.map(types::CType::integer);
        let at = self.tokens.at();
        let place = self.place("an initial value, such as 'x=0' or '0:EAX=1'")?;
        if self.tokens.is_sign("[") {
            return self.tokens.expected("a location with one value; arrays are not supported");
        }
        let has_value = self.tokens.eat("=");
        let value_at = self.tokens.at();
        let value = if has_value { self.value()? } else { 0 };
        match place {
            Place::Register { at, thread, name } => {
                let value = ty.map_or(Ok(value), |ty| fitting(ty, value, value_at))?;
                self.given.push(GivenRegister { at, thread, name, value });
            }
            Place::Location(index) => {
                let location = &mut self.locations[index];
                if location.initial.is_some() {
                    let name = quote(&location.name);
                    return Err(Fault::new(at, format!("the location {name} is given twice")));
                }
                location.ty = ty.or(location.ty);
                location.initial = Some(value);
                self.values.push(GivenValue { at: value_at, location: index, value });
            }
        }
        Ok(())
    }

    /// `x`, `[x]`, `*x`, `0:EAX` or `P0:EAX`.
    pub(super) fn place(&mut self, what: &str) -> Parsed<Place> {
        let at = self.tokens.at();
        if let Some(thread) = self.thread_prefix() {
            self.tokens.eat("%");
            let name = self.tokens.word("a register")?;
            return Ok(Place::Register { at, thread, name });
        }
        let brackets = self.tokens.eat("[");
        if !brackets {
            self.tokens.eat("*");
        }
        let name = self.tokens.word(what)?;
        if brackets {
            self.tokens.sign("]")?;
        }
        Ok(Place::Location(self.location(&name)))
    }

    /// `0:` or `P0:`, if that is next.
    fn thread_prefix(&mut self) -> Option<usize> {
        let colon = matches!(self.tokens.ahead(1), Token::Sign(":"));
        let thread = match self.tokens.peek() {
            Token::Number(number, _) if colon => usize::try_from(*number).ok(),
            Token::Word(word) if colon => word.strip_prefix('P')?.parse().ok(),
            _ => None,
        }?;
        self.tokens.skip();
        self.tokens.skip();
        Some(thread)
    }

    /// A number, or the address of a location: `x` or `&x`.
    pub(super) fn value(&mut self) -> Parsed<Value> {
        let what = "a number or the name of a location";
        let ampersand = self.tokens.eat("&");
        if ampersand || matches!(self.tokens.peek(), Token::Word(_)) {
            let name = self.tokens.word(what)?;
            return Ok(address(self.location(&name)));
        }
        self.tokens.number(what)
    }

    /// What has a value in the end.
    pub(super) fn item(&self, place: Place) -> Parsed<Item> {
        let (at, thread, name) = match place {
            Place::Location(location) => return Ok(Item::Location(location)),
            Place::Register { at, thread, name } => (at, thread, name),
        };
        let Some(body) = self.threads.get(thread) else {
            let last = self.threads.len().saturating_sub(1);
            return Err(Fault::new(
                at,
                format!("there is no thread {thread}: expected 0 to {last}"),
            ));
        };
        let same =
            |known: &str| known == name || known.eq_ignore_ascii_case(&name) && body.any_case;
        match body.named.iter().position(|register| same(&register.name)) {
            Some(register) => Ok(Item::Register(thread, register)),
            None => {
                let names: Vec<&str> = body.named.iter().map(|it| it.name.as_str()).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let name = quote(&name);
                Err(Fault::new(
                    at,
                    format!("thread {thread} has no register {name}: expected {names}"),
                ))
            }
        }
    }

    /// Refuses the last thread if there are too many.
    pub(super) fn check_thread_count(&self, count: usize) -> Parsed<()> {
        if count > THREADS {
            return self.tokens.expected(&format!("at most {THREADS} threads"));
        }
        Ok(())
    }

    /// The type of an item.
    pub(super) fn type_of(&self, item: Item) -> Type {
        match item {
            Item::Register(thread, register) => self.threads[thread].named[register].ty,
            Item::Location(location) => self.locations[location].kept(),
        }
    }

    /// Lets the locations that the initial state mentions start with their values.
    pub(super) fn give_values(&mut self) -> Parsed<()> {
        for GivenValue { at, location, value } in std::mem::take(&mut self.values) {
            let location = &mut self.locations[location];
            location.initial = Some(fitting(location.kept(), value, at)?);
        }
        Ok(())
    }

    /// Lets the registers that the initial state mentions start with their values.
    pub(super) fn give_registers(&mut self) -> Parsed<()> {
        for GivenRegister { at, thread, name, value } in std::mem::take(&mut self.given) {
            let twice = format!("the register {} is given twice", quote(&name));
            let item = self.item(Place::Register { at, thread, name })?;
            let value = fitting(self.type_of(item), value, at)?;
            if let Item::Register(thread, register) = item {
                let body = &mut self.threads[thread];
                let slot = body.named[register].slot;
                if body.initial.iter().any(|&(known, _)| known == slot) {
                    return Err(Fault::new(at, twice));
                }
                body.initial.push((slot, value));
            }
        }
        Ok(())
    }
}

/// A number as a value of this type, which it must fit.
pub(super) fn fitting(ty: Type, value: Value, at: usize) -> Parsed<Value> {
    if ty.fits(value) {
        return Ok(ty.wrap(value));
    }
    let message = match ty {
        Type::BOOL => format!("{value} is no truth value: expected 0 or 1"),
        Type { bits, .. } => format!("{value} is too large: expected a number of {bits} bits"),
    };
    Err(Fault::new(at, message))
}
