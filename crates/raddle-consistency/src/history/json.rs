//! A cursor over one line of JSON.
//!
//! The objects of a history are flat, so each value is read by its type, and anything else is rejected where it starts:
//! nothing is nested, and nothing is skipped. *Rejected:* a general JSON reader, which knows neither the offsets of keys and
//! values nor of duplicates, which the messages need. `serde_json` decodes strings with escapes.

use std::borrow::Cow;

use super::words::{self, ParseFault, quote};
use raddle_core::execution::Value;

/// A string and the offset of its first character.
pub(super) type Text<'a> = (usize, Cow<'a, str>);

/// A position in a line that starts at the offset `base`.
pub(super) struct Cursor<'a> {
    line: &'a str,
    next: usize,
    base: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str, base: usize) -> Self {
        Cursor { line, next: 0, base }
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.line.as_bytes()[self.next..];
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
        self.next += rest.iter().take_while(is_blank).count();
        self.line.as_bytes().get(self.next).copied()
    }

    /// The offset of the next byte that is not blank.
    pub(super) fn place(&mut self) -> usize {
        self.peek();
        self.base + self.next
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Rejects the next character.
    fn unexpected<T>(&mut self, expected: &str) -> Result<T, ParseFault> {
        let at = self.place();
        let message = match self.line[self.next..].chars().next() {
            Some(c) => format!("found {}: expected {expected}", quote(c.encode_utf8(&mut [0; 4]))),
            None => format!("the line ends here: expected {expected}"),
        };
        Err(ParseFault::new(at, message))
    }

    /// Takes a bracket, comma or colon.
    pub(super) fn sign(&mut self, sign: u8, expected: &str) -> Result<(), ParseFault> {
        if self.peek() != Some(sign) {
            return self.unexpected(expected);
        }
        self.next += 1;
        Ok(())
    }

    /// Goes to the next member of an object or array, or past its closing bracket.
    pub(super) fn member(&mut self, first: bool, close: u8) -> Result<bool, ParseFault> {
        match self.peek() {
            Some(byte) if byte == close => {
                self.next += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.next += 1;
                Ok(true)
            }
            Some(_) if first => Ok(true),
            _ if first => self.unexpected(&format!("a member or '{}'", close as char)),
            _ => self.unexpected(&format!("',' or '{}'", close as char)),
        }
    }

    /// A key of an object, with the colon after it.
    pub(super) fn key(&mut self) -> Result<Text<'a>, ParseFault> {
        let key = self.string("a field name in quotes")?;
        self.sign(b':', "':' after the field name")?;
        Ok(key)
    }

    pub(super) fn string(&mut self, expected: &str) -> Result<Text<'a>, ParseFault> {
        self.sign(b'"', expected)?;
        let (start, bytes) = (self.next, self.line.as_bytes());
        let mut escaped = false;
        loop {
            match bytes.get(self.next) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.next += 2;
                }
                Some(_) => self.next += 1,
                None => {
                    self.next = bytes.len();
                    return self.unexpected("'\"' at the end of the string");
                }
            }
        }
        let inside = &self.line[start..self.next];
        self.next += 1;
        let at = self.base + start;
        Ok((at, if escaped { unescape(inside, at)? } else { inside.into() }))
    }

    pub(super) fn integer(&mut self, expected: &str) -> Result<Value, ParseFault> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => {}
            _ => return self.unexpected(expected),
        }
        let (at, word) = self.bare_word();
        if word.contains('x') {
            let message = format!("{} is not an integer in JSON: expected decimal", quote(word));
            return Err(ParseFault::new(at, message));
        }
        words::value(word, at)
    }

    pub(super) fn boolean(&mut self, expected: &str) -> Result<bool, ParseFault> {
        self.peek();
        let rest = &self.line[self.next..];
        if !rest.starts_with("true") && !rest.starts_with("false") {
            return self.unexpected(expected);
        }
        match self.bare_word() {
            (_, "true") => Ok(true),
            (_, "false") => Ok(false),
            (at, word) => {
                Err(ParseFault::new(at, format!("found {}: expected {expected}", quote(word))))
            }
        }
    }

    /// A number or literal, up to the next sign or blank.
    fn bare_word(&mut self) -> (usize, &'a str) {
        let rest = &self.line[self.next..];
        let ends = |byte: u8| !byte.is_ascii_alphanumeric() && !b"+-.".contains(&byte);
        let len = rest.bytes().position(ends).unwrap_or(rest.len());
        self.next += len;
        (self.base + self.next - len, &rest[..len])
    }

    pub(super) fn end(&mut self) -> Result<(), ParseFault> {
        if self.at_end() { Ok(()) } else { self.unexpected("the end of the line") }
    }
}

fn unescape(inside: &str, at: usize) -> Result<Cow<'_, str>, ParseFault> {
    serde_json::from_str::<String>(&format!("\"{inside}\"")).map(Cow::Owned).map_err(|error| {
        let before = error.column().saturating_sub(2).min(inside.len());
        ParseFault::new(at + before, "the string has a wrong escape: expected a JSON string")
    })
}
