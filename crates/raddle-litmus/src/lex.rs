//! Words, numbers and signs, each with its place.

use std::ops::Range;

use raddle_consistency::history::quote;
use raddle_core::execution::Value;

/// What is wrong at a byte offset of the text.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Fault { at, message: message.into() }
    }
}

pub(super) type Parsed<T> = Result<T, Fault>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(Value, Notation),
    /// Text in quotes.
    Text,
    Sign(&'static str),
    End,
}

/// How a number is written, which decides about its type in C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Notation {
    pub(super) hexadecimal: bool,
    /// It ends with `u`.
    pub(super) unsigned: bool,
    /// It ends with `l`.
    pub(super) long: bool,
}

/// A token and where it is.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: usize,
    pub(super) len: usize,
}

/// How comments look: `(* *)` outside of the code of C, where that starts an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    Herd,
    C,
}

/// Longer signs first.
const SIGNS: [&str; 50] = [
    "/\\", "\\/", "&&", "||", "==", "!=", "<>", "<=", ">=", "<<", ">>", "->", "=>", "::", "++",
    "--", "+=", "-=", "&=", "|=", "^=", "*=", "{", "}", "(", ")", "[", "]", ";", ":", ",", "|",
    "=", "<", ">", "+", "-", "*", "/", "%", "&", "^", "!", "?", ".", "$", "~", "@", "#", "'",
];

/// The tokens of a part of the text.
pub(super) fn lex(text: &str, part: Range<usize>, comments: Comments) -> Parsed<Vec<Placed>> {
    let mut tokens = vec![];
    let mut at = part.start;
    loop {
        at = skip_blanks(text, at, part.end, comments)?;
        let rest = &text[at..part.end];
        // What old tools wanted to know comes after the condition.
        let is_over = rest.is_empty() || comments == Comments::Herd && rest.starts_with("<<");
        if is_over {
            return Ok(tokens);
        }
        let (token, len) = token(rest, at)?;
        tokens.push(Placed { token, at, len });
        at += len;
    }
}

fn token(rest: &str, at: usize) -> Parsed<(Token, usize)> {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        return number(rest, at);
    }
    if is_word_character(first) {
        let len = rest.find(|c| !is_word_character(c)).unwrap_or(rest.len());
        return Ok((Token::Word(rest[..len].to_owned()), len));
    }
    if first == '"' {
        let end = rest[1..]
            .find('"')
            .ok_or_else(|| Fault::new(at, "the text does not end: expected '\"'"))?;
        return Ok((Token::Text, end + 2));
    }
    match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => {
            let found = quote(&first.to_string());
            Err(Fault::new(at, format!("found {found}: expected a word, a number or a sign")))
        }
    }
}

pub(super) fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A number, as C writes them, but for octal ones: outside of C they are decimal.
fn number(rest: &str, at: usize) -> Parsed<(Token, usize)> {
    let len = rest.find(|c| !is_word_character(c)).unwrap_or(rest.len());
    let word = rest[..len].to_ascii_lowercase();
    let (digits, radix) = match word.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (word.as_str(), 10),
    };
    let refuse =
        |what: &str| Err(Fault::new(at, format!("found {}: expected {what}", quote(&rest[..len]))));
    if radix == 10 && digits.len() > 1 && digits.starts_with('0') && !"ul".contains(&digits[1..2]) {
        return refuse("a number that does not start with 0");
    }
    let bare = digits.trim_end_matches(['u', 'l']);
    let suffix = &digits[bare.len()..];
    let hexadecimal = radix == 16;
    let notation =
        Notation { hexadecimal, unsigned: suffix.contains('u'), long: suffix.contains('l') };
    match Value::from_str_radix(bare, radix) {
        Ok(value) if value <= Value::from(u64::MAX) => Ok((Token::Number(value, notation), len)),
        _ => refuse("a number of 64 bits"),
    }
}

/// Where the next token starts.
pub(super) fn skip_blanks(
    text: &str,
    mut at: usize,
    end: usize,
    comments: Comments,
) -> Parsed<usize> {
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
                return Err(Fault::new(
                    at,
                    format!("the comment does not end: expected '{close}'"),
                ));
            }
        }
    }
}

/// Tokens to be taken one after the other.
pub(super) struct Tokens {
    all: Vec<Placed>,
    next: usize,
    /// How deep what is being read is nested.
    depth: usize,
}

/// How deep expressions, statements and conditions may be nested.
const DEPTH: usize = 100;

impl Tokens {
    /// The tokens of a text that ends here.
    pub(super) fn new(mut all: Vec<Placed>, end: usize) -> Self {
        all.push(Placed { token: Token::End, at: end, len: 0 });
        Tokens { all, next: 0, depth: 0 }
    }

    pub(super) fn peek(&self) -> &Token {
        &self.all[self.next].token
    }

    /// The token after the next `ahead` ones.
    pub(super) fn ahead(&self, ahead: usize) -> &Token {
        &self.all[(self.next + ahead).min(self.all.len() - 1)].token
    }

    /// Where the next token is.
    pub(super) fn at(&self) -> usize {
        self.all[self.next].at
    }

    /// Where the last token that was taken ends.
    pub(super) fn end_of_last(&self) -> usize {
        let last = &self.all[self.next.saturating_sub(1)];
        last.at + last.len
    }

    pub(super) fn skip(&mut self) {
        self.next = (self.next + 1).min(self.all.len() - 1);
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    /// Whether the next token is this word, in any case.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    /// Takes the sign if it is next.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.skip();
        }
        found
    }

    /// Takes the word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.skip();
        }
        found
    }

    /// Takes the sign, which must be next.
    pub(super) fn sign(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { self.expected(&format!("'{sign}'")) }
    }

    /// Takes a word.
    pub(super) fn word(&mut self, what: &str) -> Parsed<String> {
        let Token::Word(word) = self.peek() else { return self.expected(what) };
        let word = word.clone();
        self.skip();
        Ok(word)
    }

    /// Takes a number, which may be negative.
    pub(super) fn number(&mut self, what: &str) -> Parsed<Value> {
        let negative = self.is_sign("-") && matches!(self.ahead(1), Token::Number(..));
        if negative {
            self.skip();
        }
        let Token::Number(value, _) = *self.peek() else { return self.expected(what) };
        self.skip();
        Ok(if negative { -value } else { value })
    }

    /// Something else was expected.
    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("found {}", quote(word)),
            Token::Number(number, _) => format!("found '{number}'"),
            Token::Text => "found a text in quotes".to_owned(),
            Token::Sign(sign) => format!("found '{sign}'"),
            Token::End => "the test ends here".to_owned(),
        };
        Err(Fault::new(self.at(), format!("{found}: expected {what}")))
    }

    /// Reads something that may be nested in itself.
    pub(super) fn nested<S, T>(
        state: &mut S,
        tokens: impl Fn(&mut S) -> &mut Tokens,
        read: impl FnOnce(&mut S) -> Parsed<T>,
    ) -> Parsed<T> {
        let own = tokens(state);
        if own.depth == DEPTH {
            let message = format!("this is nested too deeply: expected at most {DEPTH} levels");
            return Err(Fault::new(own.at(), message));
        }
        own.depth += 1;
        let result = read(state);
        tokens(state).depth -= 1;
        result
    }
}
