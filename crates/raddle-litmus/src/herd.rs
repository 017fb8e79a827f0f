//! States and conditions in the syntax of herd.

use raddle_core::execution::Value;

use super::{LitmusTest, StateItem};

impl LitmusTest {
    /// Returns a final state as herd writes it: `0:EAX=0; [x]=1;`.
    #[must_use]
    pub fn state_text(&self, state: &[Value]) -> String {
        let parts = self.names().zip(state);
        let parts: Vec<String> =
            parts.map(|(name, &value)| format!("{name}={};", self.value_name(value))).collect();
        parts.join(" ")
    }

    /// Returns the condition with its quantifier, as herd writes it.
    #[must_use]
    pub fn condition_text(&self) -> String {
        let part = |&(item, value): &(StateItem, Value)| {
            format!("{}={}", self.item_name(item), self.value_name(value))
        };
        let text = self.condition.map(&part);
        format!("{} ({text})", self.quantifier.name())
    }
}
