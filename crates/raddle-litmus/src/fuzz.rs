//! What must hold for any bytes: the fuzz target and the tests call this.

use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_explore::Limits;
use raddle_explore::plan::{Explorer, plan};

use super::{LitmusError, Options, Test, explore};

/// No message is longer than this, however long the input; long are those that tell all registers.
const LONGEST_MESSAGE: usize = 600;

/// Reads bytes as a test: a refusal is about a place inside them, and a test can be explored.
///
/// # Panics
/// If that does not hold.
pub fn check(bytes: &[u8]) {
    match Test::parse(bytes) {
        Ok(test) => run(&test),
        Err(error) => check_place(bytes, &error),
    }
}

fn run(test: &Test) {
    let deadline = Some(Instant::now() + Duration::from_millis(100));
    let options = Options { limits: Limits { classes: Some(20), deadline }, unroll: 2 };
    for model in [Model::Tso, Model::C20] {
        if let Ok(plan) = plan(test.language, model, Explorer::RfPartSmc) {
            let finals = explore(test, plan, &options).finals;
            let states = finals.states.iter().map(|state| test.state_text(state));
            assert!(states.chain([test.condition_text()]).all(|text| !text.contains('\n')));
        }
    }
}

fn check_place(bytes: &[u8], error: &LitmusError) {
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let line = lines.get(error.line.wrapping_sub(1)).expect("the line is in the input");
    assert!(error.column >= 1 && error.column <= line.len() + 1, "{error}");
    assert!(error.message.chars().count() <= LONGEST_MESSAGE, "{error}");
    assert!(!error.message.contains(char::is_control), "{error}");
}
