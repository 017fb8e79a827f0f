//! Lexer: words, numbers and signs with their positions.

use std::ops::Range;

use raddle_consistency::history::quote;
use raddle_core::execution::Value;

/// Error at a byte offset of the text.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) message: String,
}

impl SyntaxError {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        SyntaxError { at, message: message.into() }
    }
}

pub(super) type ParseResult<T> = Result<T, SyntaxError>;

/// Token of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LitmusToken {
    Word(String),
    Number(Value, Notation),
    /// String in quotes. Its content has no meaning.
    Text,
    Sign(&'static str),
    End,
}

/// Notation of a number, which determines its type in C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Notation {
    pub(super) hexadecimal: bool,
    /// Whether it has the suffix `u`.
    pub(super) unsigned: bool,
    /// Whether it has the suffix `l`.
    pub(super) long: bool,
}

/// Token with its byte offset and length.
#[derive(Clone, Debug)]
pub(super) struct LocatedToken {
    pub(super) token: LitmusToken,
    pub(super) at: usize,
    pub(super) len: usize,
}

/// Syntax of comments. `(*` starts a comment except in C code, where it starts an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    Herd,
    C,
}

/// All signs; each before its prefixes.
const SIGNS: [&str; 50] = [
    "/\\", "\\/", "&&", "||", "==", "!=", "<>", "<=", ">=", "<<", ">>", "->", "=>", "::", "++",
    "--", "+=", "-=", "&=", "|=", "^=", "*=", "{", "}", "(", ")", "[", "]", ";", ":", ",", "|",
    "=", "<", ">", "+", "-", "*", "/", "%", "&", "^", "!", "?", ".", "$", "~", "@", "#", "'",
];

/// Splits a part of the text into tokens.
pub(super) fn lex(
    text: &str,
    part: Range<usize>,
    comments: Comments,
) -> ParseResult<Vec<LocatedToken>> {
    let mut tokens = vec![];
    let mut at = part.start;
    loop {
        at = skip_blanks(text, at, part.end, comments)?;
        let rest = &text[at..part.end];
        // Options for old tools follow the condition.
        let is_over = rest.is_empty() || comments == Comments::Herd && rest.starts_with("<<");
        if is_over {
            return Ok(tokens);
        }
        let (token, len) = token(rest, at)?;
        tokens.push(LocatedToken { token, at, len });
        at += len;
    }
}

fn token(rest: &str, at: usize) -> ParseResult<(LitmusToken, usize)> {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        return number(rest, at);
    }
    if is_word_character(first) {
        let len = rest.find(|c| !is_word_character(c)).unwrap_or(rest.len());
        return Ok((LitmusToken::Word(rest[..len].to_owned()), len));
    }
    if first == '"' {
        let end = rest[1..]
            .find('"')
            .ok_or_else(|| SyntaxError::new(at, "unterminated string: expected '\"'"))?;
        return Ok((LitmusToken::Text, end + 2));
    }
    match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        Some(sign) => Ok((LitmusToken::Sign(sign), sign.len())),
        None => {
            let found = quote(&first.to_string());
            Err(SyntaxError::new(at, format!("found {found}: expected a word, a number or a sign")))
        }
    }
}

pub(super) fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Parses a number as in C. Octal numbers are errors: outside of C code they would be decimal.
fn number(rest: &str, at: usize) -> ParseResult<(LitmusToken, usize)> {
    let len = rest.find(|c| !is_word_character(c)).unwrap_or(rest.len());
    let word = rest[..len].to_ascii_lowercase();
    let (digits, radix) = match word.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (word.as_str(), 10),
    };
    let refuse = |what: &str| {
        Err(SyntaxError::new(at, format!("found {}: expected {what}", quote(&rest[..len]))))
    };
    if radix == 10 && digits.len() > 1 && digits.starts_with('0') && !"ul".contains(&digits[1..2]) {
        return refuse("a number that does not start with 0");
    }
    let bare = digits.trim_end_matches(['u', 'l']);
    let suffix = &digits[bare.len()..];
    let hexadecimal = radix == 16;
    let notation =
        Notation { hexadecimal, unsigned: suffix.contains('u'), long: suffix.contains('l') };
    match Value::from_str_radix(bare, radix) {
        Ok(value) if value <= Value::from(u64::MAX) => {
            Ok((LitmusToken::Number(value, notation), len))
        }
        _ => refuse("a number of 64 bits"),
    }
}

/// Returns the offset of the next token.
pub(super) fn skip_blanks(
    text: &str,
    mut at: usize,
    end: usize,
    comments: Comments,
) -> ParseResult<usize> {
    loop {
        let rest = &text[at..end];
        let blank = rest.len() - rest.trim_start().len();
        let rest = &rest[blank..];
        at += blank;
        let close = match comments {
            Comments::Herd if rest.starts_with("(*") => "*)",
            _ if rest.starts_with("/*") => "*/",
            _ if rest.starts_with("//") => "\n",
            _ => return Ok(at),
        };
        match rest[2..].find(close) {
            Some(length) => at += 2 + length + close.len(),
            None if close == "\n" => return Ok(end),
            None => {
                return Err(SyntaxError::new(
                    at,
                    format!("unterminated comment: expected '{close}'"),
                ));
            }
        }
    }
}

/// Cursor over the tokens of a test.
pub(super) struct Tokens {
    all: Vec<LocatedToken>,
    next: usize,
    /// Current nesting depth.
    depth: usize,
}

/// Maximal nesting depth of expressions, statements and conditions.
const MAX_DEPTH: usize = 100;

impl Tokens {
    /// Creates a cursor over the tokens of a text with this end.
    pub(super) fn new(mut all: Vec<LocatedToken>, end: usize) -> Self {
        all.push(LocatedToken { token: LitmusToken::End, at: end, len: 0 });
        Tokens { all, next: 0, depth: 0 }
    }

    pub(super) fn peek(&self) -> &LitmusToken {
        &self.all[self.next].token
    }

    /// Returns the token `ahead` positions after the next one.
    pub(super) fn ahead(&self, ahead: usize) -> &LitmusToken {
        &self.all[(self.next + ahead).min(self.all.len() - 1)].token
    }

    /// Returns the offset of the next token.
    pub(super) fn at(&self) -> usize {
        self.all[self.next].at
    }

    /// Returns the offset after the last consumed token.
    pub(super) fn end_of_last(&self) -> usize {
        let last = &self.all[self.next.saturating_sub(1)];
        last.at + last.len
    }

    pub(super) fn skip(&mut self) {
        self.next = (self.next + 1).min(self.all.len() - 1);
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), LitmusToken::Sign(found) if *found == sign)
    }

    /// Returns `true` if the next token is this word, ignoring case.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), LitmusToken::Word(found) if found.eq_ignore_ascii_case(word))
    }

    /// Consumes the sign if it is next. Returns whether it was.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.skip();
        }
        found
    }

    /// Consumes the word if it is next, ignoring case. Returns whether it was.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.skip();
        }
        found
    }

    /// Consumes the sign, which must be next.
    pub(super) fn sign(&mut self, sign: &str) -> ParseResult<()> {
        if self.eat(sign) { Ok(()) } else { self.expected(&format!("'{sign}'")) }
    }

    /// Consumes a word; `what` describes it in the error.
    pub(super) fn word(&mut self, what: &str) -> ParseResult<String> {
        let LitmusToken::Word(word) = self.peek() else { return self.expected(what) };
        let word = word.clone();
        self.skip();
        Ok(word)
    }

    /// Consumes a number, which may be negative; `what` describes it in the error.
    pub(super) fn number(&mut self, what: &str) -> ParseResult<Value> {
        let negative = self.is_sign("-") && matches!(self.ahead(1), LitmusToken::Number(..));
        if negative {
            self.skip();
        }
        let LitmusToken::Number(value, _) = *self.peek() else { return self.expected(what) };
        self.skip();
        Ok(if negative { -value } else { value })
    }

    /// Returns an error that names the next token and what was expected instead.
    pub(super) fn expected<T>(&self, what: &str) -> ParseResult<T> {
        let found = match self.peek() {
            LitmusToken::Word(word) => format!("found {}", quote(word)),
            LitmusToken::Number(number, _) => format!("found '{number}'"),
            LitmusToken::Text => "found a string".to_owned(),
            LitmusToken::Sign(sign) => format!("found '{sign}'"),
            LitmusToken::End => "the test ends here".to_owned(),
        };
        Err(SyntaxError::new(self.at(), format!("{found}: expected {what}")))
    }

    /// Calls a parser that may call itself, and limits the depth.
    pub(super) fn nested<S, T>(
        state: &mut S,
        tokens: impl Fn(&mut S) -> &mut Tokens,
        read: impl FnOnce(&mut S) -> ParseResult<T>,
    ) -> ParseResult<T> {
        let own = tokens(state);
        if own.depth == MAX_DEPTH {
            let message = format!("this is nested too deeply: expected at most {MAX_DEPTH} levels");
            return Err(SyntaxError::new(own.at(), message));
        }
        own.depth += 1;
        let result = read(state);
        tokens(state).depth -= 1;
        result
    }
}
