//! Properties that hold for any bytes, for fuzz targets and tests.

use super::{Format, HistoryError, parse, parse_as, write};
use raddle_core::execution::Execution;

/// No message is longer than this, however long the input.
const LONGEST_MESSAGE: usize = 600;

/// Reads bytes as text. Checks that an error points into them, and that an execution survives a round trip through either
/// form.
///
/// # Panics
/// If that does not hold.
pub fn check_text(bytes: &[u8]) {
    check(bytes, Format::Text);
}

/// Reads bytes as JSON Lines; as [`check_text`].
///
/// # Panics
/// If that does not hold.
pub fn check_jsonl(bytes: &[u8]) {
    check(bytes, Format::JsonLines);
}

fn check(bytes: &[u8], format: Format) {
    match parse_as(bytes, format) {
        Ok(execution) => {
            check_round_trip(&execution);
            assert_eq!(parse(bytes), Ok(execution), "the form is not recognised");
        }
        Err(error) => check_place(bytes, &error),
    }
}

/// Checks that writing and reading an execution changes nothing except the recorded order in text.
///
/// # Panics
/// If that does not hold.
pub fn check_round_trip(execution: &Execution) {
    let json = write(execution, Format::JsonLines);
    assert_eq!(parse_as(json.as_bytes(), Format::JsonLines).as_ref(), Ok(execution), "{json}");
    let text = write(execution, Format::Text);
    let again = parse_as(text.as_bytes(), Format::Text).expect("what is written can be read");
    if execution.recorded_order().is_none() {
        assert_eq!(&again, execution, "{text}");
    }
    assert_eq!(write(&again, Format::Text), text);
}

fn check_place(bytes: &[u8], error: &HistoryError) {
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let line = lines.get(error.line.wrapping_sub(1)).expect("the line is in the input");
    assert!(error.column >= 1 && error.column <= line.len() + 1, "{error}");
    assert!(error.message.chars().count() <= LONGEST_MESSAGE, "{error}");
    assert!(!error.message.contains(char::is_control), "{error}");
}
