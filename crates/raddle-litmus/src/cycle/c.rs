//! A cycle as a test in C: relaxed accesses, and fences as strong as those of x86.

use std::collections::BTreeSet;

use super::edge::{Dependency, Direction, Fence, Kind};
use super::events::{Event, Events, location_name};

/// A thread while it is being written.
#[derive(Default)]
struct Function {
    text: String,
    /// The values that the test asks for, of r0, r1, ...
    asked: Vec<usize>,
    /// How many braces are open.
    open: usize,
}

/// What comes after the head.
pub(super) fn body(events: &Events) -> String {
    let functions: Vec<Function> =
        events.threads.iter().map(|events| Function::new(events)).collect();
    let mut text = String::from("{\n}\n\n");
    for (thread, (function, events)) in functions.iter().zip(&events.threads).enumerate() {
        let names: BTreeSet<String> = events.iter().map(|it| location_name(it.location)).collect();
        let parameters: Vec<String> =
            names.iter().map(|name| format!("atomic_int* {name}")).collect();
        text += &format!("P{thread} ({}) {{\n{}}}\n\n", parameters.join(", "), function.text);
    }
    let mut parts: Vec<String> =
        events.asked().map(|(name, value)| format!("{name}={value}")).collect();
    parts.sort();
    for (thread, function) in functions.iter().enumerate() {
        let asked = function.asked.iter().enumerate();
        parts.extend(asked.map(|(register, value)| format!("{thread}:r{register}={value}")));
    }
    format!("{text}exists\n({})\n", parts.join(" /\\ "))
}

impl Function {
    fn new(events: &[Event]) -> Self {
        let mut function = Function::default();
        let mut at = 0;
        while let Some(event) = events.get(at) {
            let next = events.get(at + 1);
            let update = next.filter(|next| next.before.is_some_and(|edge| edge.kind == Kind::Rmw));
            function.event(event, update);
            at += if update.is_some() { 2 } else { 1 };
        }
        for open in (0..function.open).rev() {
            function.text += &format!("{}}}\n", "  ".repeat(open + 1));
        }
        function
    }

    fn line(&mut self, line: &str) {
        self.text += &format!("{}{line}\n", "  ".repeat(self.open + 1));
    }

    /// An access, and the write of an update if it is the read of one.
    fn event(&mut self, event: &Event, update: Option<&Event>) {
        let (place, value) = self.before(event);
        if event.direction == Direction::Write {
            return self
                .line(&format!("atomic_store_explicit({place}, {value}, memory_order_relaxed);"));
        }
        let register = self.asked.len();
        self.asked.push(event.value);
        let call = match update {
            None => format!("atomic_load_explicit({place}, memory_order_relaxed)"),
            Some(write) => {
                format!("atomic_exchange_explicit({place}, {}, memory_order_relaxed)", write.value)
            }
        };
        self.line(&format!("int r{register} = {call};"));
    }

    /// What is before an access: its place and its value then.
    fn before(&mut self, event: &Event) -> (String, String) {
        let (place, value) = (location_name(event.location), event.value.to_string());
        let Some(kind) = event.before.map(|edge| edge.kind) else { return (place, value) };
        let last = format!("r{}", self.asked.len().saturating_sub(1));
        match kind {
            Kind::Fenced(fence) => {
                let order = match fence {
                    Fence::Full => "seq_cst",
                    Fence::Store => "release",
                    Fence::Load => "acquire",
                };
                self.line(&format!("atomic_thread_fence(memory_order_{order});"));
            }
            Kind::Dependent(Dependency::Control) => {
                self.line(&format!("if ({last} == {last}) {{"));
                self.open += 1;
            }
            Kind::Dependent(Dependency::Address) => {
                return (format!("{place} + ({last} ^ {last})"), value);
            }
            Kind::Dependent(Dependency::Data) => {
                return (place, format!("({last} ^ {last}) + {value}"));
            }
            Kind::Program | Kind::Communicates(_) | Kind::Rmw => {}
        }
        (place, value)
    }
}
