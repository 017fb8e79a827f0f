//! Property that must hold for any bytes, for the fuzz target and the tests.

use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_explore::Limits;
use raddle_explore::plan::{Explorer, plan};

use super::{LitmusError, LitmusOptions, LitmusTest, explore};

/// Maximal length of a message, whatever the input. Messages that list all registers are long.
const LONGEST_MESSAGE: usize = 600;

/// Parses bytes as a test. An error must have a position inside of the input; a test must be explorable.
///
/// # Panics
/// If the property does not hold.
pub fn check(bytes: &[u8]) {
    match LitmusTest::parse(bytes) {
        Ok(test) => run(&test),
        Err(error) => assert_well_formed_error(bytes, &error),
    }
}

fn run(test: &LitmusTest) {
    let deadline = Some(Instant::now() + Duration::from_millis(100));
    let options = LitmusOptions {
        limits: Limits { classes: Some(20), deadline, ..Limits::default() },
        unroll: 2,
    };
    for model in [Model::Tso, Model::C20] {
        if let Ok(plan) = plan(test.language, model, Explorer::RfPartSmc) {
            let finals = explore(test, plan, &options).finals;
            let states = finals.states.iter().map(|state| test.state_text(state));
            assert!(states.chain([test.condition_text()]).all(|text| !text.contains('\n')));
        }
    }
}

fn assert_well_formed_error(bytes: &[u8], error: &LitmusError) {
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let line = lines.get(error.line.wrapping_sub(1)).expect("the error is at a line of the input");
    assert!(error.column >= 1 && error.column <= line.len() + 1, "{error}");
    assert!(error.message.chars().count() <= LONGEST_MESSAGE, "{error}");
    assert!(!error.message.contains(char::is_control), "{error}");
}
