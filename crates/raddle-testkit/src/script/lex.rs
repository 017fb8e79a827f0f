//! Lexer of scripts.

use raddle_core::execution::Value;

use super::error::ScriptError;

/// Token of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptToken {
    Word(String),
    Number(Value),
    Symbol(&'static str),
    /// `;` or the end of a line.
    Separator,
    End,
}

/// Token with its line and column, from 1.
#[derive(Clone, Debug)]
pub(super) struct PlacedToken {
    pub(super) token: ScriptToken,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// All symbols; each before its prefixes.
const SYMBOLS: [&str; 19] = [
    "||", "&&", "==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "(", ")", "[", "]", "{", "}",
    ",",
];

pub(super) fn lex(text: &str) -> Result<Vec<PlacedToken>, ScriptError> {
    let mut tokens = vec![];
    for (line, content) in text.lines().enumerate() {
        let code = content.split("//").next().unwrap_or_default();
        let mut rest = code;
        loop {
            rest = rest.trim_start();
            let column = code[..code.len() - rest.len()].chars().count() + 1;
            let place = |token| PlacedToken { token, line: line + 1, column };
            if rest.is_empty() {
                tokens.push(place(ScriptToken::Separator));
                break;
            }
            let (token, length) =
                next(rest).map_err(|message| ScriptError { line: line + 1, column, message })?;
            tokens.push(place(token));
            rest = &rest[length..];
        }
    }
    tokens.push(PlacedToken { token: ScriptToken::End, line: text.lines().count() + 1, column: 1 });
    Ok(tokens)
}

/// Returns the first token of a non-empty text and its length in bytes.
fn next(rest: &str) -> Result<(ScriptToken, usize), String> {
    let first = rest.chars().next().unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if first == ';' {
        return Ok((ScriptToken::Separator, 1));
    }
    if is_word(first) {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        if !first.is_ascii_digit() {
            return Ok((ScriptToken::Word(word.to_owned()), length));
        }
        let number = word.parse::<Value>().ok().filter(|&n| n <= -Value::from(i64::MIN));
        let message = || format!("'{word}' is not a number of 64 bits");
        return Ok((ScriptToken::Number(number.ok_or_else(message)?), length));
    }
    let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
    let symbol = symbol.ok_or_else(|| {
        format!("found '{}': expected a word, a number or a symbol", first.escape_debug())
    })?;
    Ok((ScriptToken::Symbol(symbol), symbol.len()))
}
