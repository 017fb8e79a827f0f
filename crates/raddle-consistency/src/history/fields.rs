//! The fields of one JSON object, with their offsets.

use std::borrow::Cow;

use super::json::{Cursor, Text};
use super::words::{ParseFault, quote};
use raddle_core::execution::Value;

const TEXTS: [&str; 7] = ["thread", "op", "order", "location", "lock", "target", "from"];
const INTEGERS: [&str; 5] = ["value", "read", "written", "expected", "desired"];
const FLAGS: [&str; 1] = ["succeeded"];

/// The value of a field; each field has one type.
enum Scalar<'a> {
    Text(Cow<'a, str>),
    Integer(Value),
    Flag(bool),
}

struct Field<'a> {
    key: &'static str,
    key_at: usize,
    at: usize,
    value: Scalar<'a>,
}

/// The fields of an event that have not been taken yet.
pub(super) struct Fields<'a> {
    /// In the order of the object.
    fields: Vec<Field<'a>>,
    /// The value of `op`, once it is known.
    op: Option<Cow<'a, str>>,
    /// Where a missing field is reported: at the event, then at its `op`.
    pub(super) at: usize,
}

impl<'a> Fields<'a> {
    /// No fields yet, of an object that starts at an offset.
    pub(super) fn new(at: usize) -> Self {
        Fields { fields: Vec::with_capacity(8), op: None, at }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Reads the value of a field and adds it.
    pub(super) fn add(
        &mut self,
        name: &str,
        key_at: usize,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), ParseFault> {
        let known = TEXTS.iter().chain(&INTEGERS).chain(&FLAGS);
        let Some(&key) = known.clone().find(|&&key| key == name) else {
            let expected: Vec<&str> = known.copied().collect();
            let message = format!(
                "there is no field {}: expected one of {}",
                quote(name),
                expected.join(", ")
            );
            return Err(ParseFault::new(key_at, message));
        };
        if self.has(key) {
            let message = format!("the field '{key}' is there twice: expected it once");
            return Err(ParseFault::new(key_at, message));
        }
        let (at, value) = read_value(key, cursor)?;
        self.fields.push(Field { key, key_at, at, value });
        Ok(())
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.key == key)
    }

    fn take(&mut self, key: &str) -> Result<Field<'a>, ParseFault> {
        match self.fields.iter().position(|field| field.key == key) {
            Some(index) => Ok(self.fields.remove(index)),
            None => Err(self.missing(key)),
        }
    }

    fn missing(&self, key: &str) -> ParseFault {
        ParseFault::new(self.at, format!("{} lacks a field: expected '{key}'", self.owner()))
    }

    fn owner(&self) -> String {
        self.op.as_ref().map_or("the event".to_owned(), |op| quote(op))
    }

    /// What the event does.
    pub(super) fn op(&mut self) -> Result<Text<'a>, ParseFault> {
        let (at, op) = self.text("op")?;
        self.at = at;
        self.op = Some(op.clone());
        Ok((at, op))
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Text<'a>, ParseFault> {
        match self.take(key)? {
            Field { at, value: Scalar::Text(text), .. } => Ok((at, text)),
            _ => Err(self.missing(key)),
        }
    }

    pub(super) fn integer(&mut self, key: &str) -> Result<(usize, Value), ParseFault> {
        match self.take(key)? {
            Field { at, value: Scalar::Integer(integer), .. } => Ok((at, integer)),
            _ => Err(self.missing(key)),
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<bool, ParseFault> {
        match self.take(key)? {
            Field { value: Scalar::Flag(flag), .. } => Ok(flag),
            _ => Err(self.missing(key)),
        }
    }

    pub(super) fn finish(&self) -> Result<(), ParseFault> {
        let Some(field) = self.fields.first() else { return Ok(()) };
        let message =
            format!("{} has no field '{}': expected it not to be there", self.owner(), field.key);
        Err(ParseFault::new(field.key_at, message))
    }
}

fn read_value<'a>(key: &str, cursor: &mut Cursor<'a>) -> Result<(usize, Scalar<'a>), ParseFault> {
    let at = cursor.place();
    if TEXTS.contains(&key) {
        let (at, text) = cursor.string("a string")?;
        Ok((at, Scalar::Text(text)))
    } else if INTEGERS.contains(&key) {
        Ok((at, Scalar::Integer(cursor.integer("an integer")?)))
    } else {
        Ok((at, Scalar::Flag(cursor.boolean("true or false")?)))
    }
}
