//! Names, values, sources and quoted input: what both forms have in common.

use raddle_core::execution::{MemoryOrder, Value};

/// An error at a byte offset of the history.
#[derive(Debug)]
pub(super) struct ParseFault {
    pub(super) at: usize,
    pub(super) message: String,
}

impl ParseFault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        ParseFault { at, message: message.into() }
    }
}

/// The largest number of characters of the input that a message quotes in one piece.
const QUOTED: usize = 40;

const THREAD_CHARACTERS: &str = "letters, digits and _ $ [ ] ( ) + - * / & @ >";
const LOCATION_CHARACTERS: &str = "letters, digits and _ $ . [ ] ( ) + - * / & @ >";

/// Some input for a message: in quotes, escaped, and cut if long.
#[must_use]
pub fn quote(input: &str) -> String {
    let mut escaped = String::new();
    for c in input.chars().take(QUOTED) {
        match c {
            '"' | '\'' => escaped.push(c),
            _ => escaped.extend(c.escape_debug()),
        }
    }
    if input.chars().nth(QUOTED).is_some() {
        escaped.push_str("...");
    }
    format!("'{escaped}'")
}

/// Cuts the long words of a message; only names from the input are that long.
pub(super) fn cut_words(message: &str) -> String {
    let cut = |word: &str| match word.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    };
    message.split(' ').map(cut).collect::<Vec<_>>().join(" ")
}

fn is_name_character(c: char) -> bool {
    let signs = matches!(
        c,
        '_' | '$' | '.' | '[' | ']' | '(' | ')' | '+' | '-' | '*' | '/' | '&' | '@' | '>'
    );
    signs || c.is_ascii_alphanumeric()
}

/// Checks the name of a location or lock that starts at an offset.
pub(super) fn check_location(name: &str, at: usize) -> Result<(), ParseFault> {
    check_name(name, at, "location", is_name_character)
}

/// Checks the name of a thread that starts at an offset.
pub(super) fn check_thread(name: &str, at: usize) -> Result<(), ParseFault> {
    if name == "init" || name == "locations" {
        return Err(ParseFault::new(
            at,
            format!("'{name}' is not a thread: expected another name"),
        ));
    }
    check_name(name, at, "thread", |c| c != '.' && is_name_character(c))
}

fn check_name(name: &str, at: usize, what: &str, fits: fn(char) -> bool) -> Result<(), ParseFault> {
    if name.is_empty() {
        return Err(ParseFault::new(
            at,
            format!("the name is empty: expected the name of a {what}"),
        ));
    }
    let Some((index, wrong)) = name.char_indices().find(|&(_, c)| !fits(c)) else {
        return Ok(());
    };
    let wrong = quote(wrong.encode_utf8(&mut [0; 4]));
    let expected = if what == "thread" { THREAD_CHARACTERS } else { LOCATION_CHARACTERS };
    let message = format!("{wrong} cannot be in the name of a {what}: expected {expected}");
    Err(ParseFault::new(at + index, message))
}

/// A memory order that starts at an offset.
pub(super) fn order(word: &str, at: usize) -> Result<MemoryOrder, ParseFault> {
    MemoryOrder::from_name(word).ok_or_else(|| {
        let names = MemoryOrder::ALL.map(MemoryOrder::name).join(", ");
        let message = format!("{} is not a memory order: expected one of {names}", quote(word));
        ParseFault::new(at, message)
    })
}

/// A decimal or hexadecimal value that starts at an offset.
pub(super) fn value(word: &str, at: usize) -> Result<Value, ParseFault> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None if digits.len() > 1 && digits.starts_with('0') => return Err(not_a_value(word, at)),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(not_a_value(word, at));
    }
    let significant = digits.trim_start_matches('0');
    let magnitude = match significant.len() {
        0 => 0,
        1..=20 => Value::from_str_radix(significant, radix).map_err(|_| not_a_value(word, at))?,
        _ => return Err(out_of_range(word, at)),
    };
    let value = if negative { -magnitude } else { magnitude };
    if value < Value::from(i64::MIN) || value > Value::from(u64::MAX) {
        return Err(out_of_range(word, at));
    }
    Ok(value)
}

fn not_a_value(word: &str, at: usize) -> ParseFault {
    let expected = "expected an integer without leading zeros";
    ParseFault::new(at, format!("{} is not a value: {expected}", quote(word)))
}

fn out_of_range(word: &str, at: usize) -> ParseFault {
    let range = "expected a value from -9223372036854775808 to 18446744073709551615";
    ParseFault::new(at, format!("{} is out of range: {range}", quote(word)))
}

/// A source as it is written.
pub(super) enum SourceName<'a> {
    Init,
    Event { thread: &'a str, position: usize },
}

/// A source that starts at an offset.
pub(super) fn source(word: &str, at: usize) -> Result<SourceName<'_>, ParseFault> {
    if word == "init" {
        return Ok(SourceName::Init);
    }
    let Some((thread, index)) = word.rsplit_once('.') else {
        let message = format!("{} is not a source: expected THREAD.INDEX or init", quote(word));
        return Err(ParseFault::new(at, message));
    };
    let index_at = at + thread.len() + 1;
    let decimal = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    if !decimal || (index.len() > 1 && index.starts_with('0')) {
        let message = format!("{} is not an index: expected 0, 1, 2, ...", quote(index));
        return Err(ParseFault::new(index_at, message));
    }
    let Ok(position) = index.parse::<u32>() else {
        let message = format!("{} is too large: expected an index below 2^32", quote(index));
        return Err(ParseFault::new(index_at, message));
    };
    Ok(SourceName::Event { thread, position: position as usize })
}
