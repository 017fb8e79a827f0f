//! Outcomes in the words of herd.

use std::fmt::Write as _;

use raddle_core::execution::Value;

use super::condition::Quantifier;
use super::{Item, Outcome, Test};

impl Test {
    /// A final state, as herd writes it: `0:EAX=0; [x]=1;`.
    #[must_use]
    pub fn state_text(&self, state: &[Value]) -> String {
        let parts = self.names().zip(state);
        let parts: Vec<String> =
            parts.map(|(name, &value)| format!("{name}={};", self.value_name(value))).collect();
        parts.join(" ")
    }

    /// The condition with its quantifier, as herd writes it.
    #[must_use]
    pub fn condition_text(&self) -> String {
        let part = |&(item, value): &(Item, Value)| {
            format!("{}={}", self.item_name(item), self.value_name(value))
        };
        let text = self.condition.map(&part);
        format!("{} ({text})", self.quantifier.name())
    }
}

impl Outcome {
    /// How often the condition holds.
    #[must_use]
    pub fn observation(&self) -> &'static str {
        match (self.positive, self.negative) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }

    /// The whole outcome, as herd prints it, but for the time and the hash. `Loop` tells that not all
    /// was explored; so do other bounds here.
    #[must_use]
    pub fn herd(&self, test: &Test) -> String {
        let Outcome { positive, negative, .. } = *self;
        let mut text = format!("Test {} {}\n", test.name, test.quantifier.kind());
        let _ = writeln!(text, "States {}", self.states.len());
        for state in &self.states {
            let _ = writeln!(text, "{}", test.state_text(state));
        }
        let bounded = if self.is_complete() { "" } else { "Loop " };
        let ok = if self.is_ok(test) { "Ok" } else { "No" };
        let _ = writeln!(text, "{bounded}{ok}\nWitnesses");
        let (good, bad) = match test.quantifier {
            Quantifier::NotExists => (negative, positive),
            Quantifier::Exists | Quantifier::Forall => (positive, negative),
        };
        let _ = writeln!(text, "Positive: {good} Negative: {bad}");
        if self.race.is_some() {
            text.push_str("Flag Data-Race\n");
        }
        let _ = writeln!(text, "Condition {}", test.condition_text());
        let observation = self.observation();
        let _ = writeln!(text, "Observation {} {observation} {positive} {negative}", test.name);
        text
    }
}
