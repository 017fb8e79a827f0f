//! The words of a script, each with its line and column.

use raddle_core::execution::Value;

use super::ParseError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(Value),
    Symbol(&'static str),
    /// `;` or the end of a line.
    Separator,
    End,
}

/// A token and where it starts, from 1.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Longer ones first.
const SYMBOLS: [&str; 19] = [
    "||", "&&", "==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "(", ")", "[", "]", "{", "}",
    ",",
];

pub(super) fn lex(text: &str) -> Result<Vec<Placed>, ParseError> {
    let mut tokens = vec![];
    for (line, content) in text.lines().enumerate() {
        let code = content.split("//").next().unwrap_or_default();
        let mut rest = code;
        loop {
            rest = rest.trim_start();
            let column = code[..code.len() - rest.len()].chars().count() + 1;
            let place = |token| Placed { token, line: line + 1, column };
            if rest.is_empty() {
                tokens.push(place(Token::Separator));
                break;
            }
            let (token, length) =
                next(rest).map_err(|message| ParseError { line: line + 1, column, message })?;
            tokens.push(place(token));
            rest = &rest[length..];
        }
    }
    tokens.push(Placed { token: Token::End, line: text.lines().count() + 1, column: 1 });
    Ok(tokens)
}

/// The first token of a text that starts with one, and its length.
fn next(rest: &str) -> Result<(Token, usize), String> {
    let first = rest.chars().next().unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if first == ';' {
        return Ok((Token::Separator, 1));
    }
    if is_word(first) {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        if !first.is_ascii_digit() {
            return Ok((Token::Word(word.to_owned()), length));
        }
        let number = word.parse::<Value>().ok().filter(|&n| n <= -Value::from(i64::MIN));
        let message = || format!("'{word}' is not a number of 64 bits");
        return Ok((Token::Number(number.ok_or_else(message)?), length));
    }
    let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
    let symbol = symbol.ok_or_else(|| format!("'{}' has no meaning here", first.escape_debug()))?;
    Ok((Token::Symbol(symbol), symbol.len()))
}
