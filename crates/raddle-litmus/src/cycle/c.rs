//! Cycles as tests in C: relaxed accesses, and fences as strong as those of x86.

use std::collections::BTreeSet;

use super::edge::{AccessDirection, CycleFence, Dependency, EdgeKind};
use super::events::{CycleAccess, CycleAccesses, location_name};

/// Writer of a thread.
#[derive(Default)]
struct CFunctionWriter {
    text: String,
    /// Values of r0, r1, ... in the condition.
    read_values: Vec<usize>,
    /// Number of open braces.
    open: usize,
}

/// Returns the text after the head.
pub(super) fn body(events: &CycleAccesses) -> String {
    let functions: Vec<CFunctionWriter> =
        events.threads.iter().map(|events| CFunctionWriter::new(events)).collect();
    let mut text = String::from("{\n}\n\n");
    for (thread, (function, events)) in functions.iter().zip(&events.threads).enumerate() {
        let names: BTreeSet<String> = events.iter().map(|it| location_name(it.location)).collect();
        let parameters: Vec<String> =
            names.iter().map(|name| format!("atomic_int* {name}")).collect();
        text += &format!("P{thread} ({}) {{\n{}}}\n\n", parameters.join(", "), function.text);
    }
    let mut parts: Vec<String> =
        events.final_values().map(|(name, value)| format!("{name}={value}")).collect();
    parts.sort();
    for (thread, function) in functions.iter().enumerate() {
        let values = function.read_values.iter().enumerate();
        parts.extend(values.map(|(register, value)| format!("{thread}:r{register}={value}")));
    }
    format!("{text}exists\n({})\n", parts.join(" /\\ "))
}

impl CFunctionWriter {
    fn new(events: &[CycleAccess]) -> Self {
        let mut function = CFunctionWriter::default();
        let mut at = 0;
        while let Some(event) = events.get(at) {
            let next = events.get(at + 1);
            let update =
                next.filter(|next| next.before.is_some_and(|edge| edge.kind == EdgeKind::Rmw));
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

    /// Writes an access. `update` is the write of a read-modify-write, if the access is its read.
    fn event(&mut self, event: &CycleAccess, update: Option<&CycleAccess>) {
        let (place, value) = self.write_relation(event);
        if event.direction == AccessDirection::Write {
            return self
                .line(&format!("atomic_store_explicit({place}, {value}, memory_order_relaxed);"));
        }
        let register = self.read_values.len();
        self.read_values.push(event.value);
        let call = match update {
            None => format!("atomic_load_explicit({place}, memory_order_relaxed)"),
            Some(write) => {
                format!("atomic_exchange_explicit({place}, {}, memory_order_relaxed)", write.value)
            }
        };
        self.line(&format!("int r{register} = {call};"));
    }

    /// Writes the fence or the condition before an access. Returns the expressions for its location and its value,
    /// which may depend on an earlier read.
    fn write_relation(&mut self, event: &CycleAccess) -> (String, String) {
        let (place, value) = (location_name(event.location), event.value.to_string());
        let Some(kind) = event.before.map(|edge| edge.kind) else { return (place, value) };
        let last = format!("r{}", self.read_values.len().saturating_sub(1));
        match kind {
            EdgeKind::Fenced(fence) => {
                let order = match fence {
                    CycleFence::Full => "seq_cst",
                    CycleFence::Store => "release",
                    CycleFence::Load => "acquire",
                };
                self.line(&format!("atomic_thread_fence(memory_order_{order});"));
            }
            EdgeKind::Dependent(Dependency::Control) => {
                self.line(&format!("if ({last} == {last}) {{"));
                self.open += 1;
            }
            EdgeKind::Dependent(Dependency::Address) => {
                return (format!("{place} + ({last} ^ {last})"), value);
            }
            EdgeKind::Dependent(Dependency::Data) => {
                return (place, format!("({last} ^ {last}) + {value}"));
            }
            EdgeKind::Program | EdgeKind::Communicates(_) | EdgeKind::Rmw => {}
        }
        (place, value)
    }
}
