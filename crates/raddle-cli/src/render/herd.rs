//! The output of herd.

use std::fmt::Write as _;

use raddle_litmus::{FinalStates, LitmusTest, Quantifier};

/// The final states of a test as herd prints them, without the time and the hash. `Loop` marks results that are
/// incomplete for any reason, not only because of a loop.
pub(crate) fn text(test: &LitmusTest, finals: &FinalStates, has_race: bool) -> String {
    let FinalStates { positive, negative, .. } = *finals;
    let mut text = format!("Test {} {}\n", test.name, test.quantifier.kind());
    let _ = writeln!(text, "States {}", finals.states.len());
    for state in &finals.states {
        let _ = writeln!(text, "{}", test.state_text(state));
    }
    let bounded = if finals.is_complete { "" } else { "Loop " };
    let ok = if finals.is_ok(test) { "Ok" } else { "No" };
    let _ = writeln!(text, "{bounded}{ok}\nWitnesses");
    let (good, bad) = match test.quantifier {
        Quantifier::NotExists => (negative, positive),
        Quantifier::Exists | Quantifier::Forall => (positive, negative),
    };
    let _ = writeln!(text, "Positive: {good} Negative: {bad}");
    if has_race {
        text.push_str("Flag Data-Race\n");
    }
    let _ = writeln!(text, "Condition {}", test.condition_text());
    let observation = finals.observation();
    let _ = writeln!(text, "Observation {} {observation} {positive} {negative}", test.name);
    text
}
