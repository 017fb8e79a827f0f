//! Why one event comes before another, in plain English.

use crate::execution::{Action, EventId, Execution};
use crate::model::Model;
use crate::witness::{Edge, NotFrom, Why};

/// Words for the facts about one execution under one model.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) execution: &'a Execution,
    pub(super) model: Model,
}

impl Words<'_> {
    pub(super) fn name(self, event: EventId) -> String {
        self.execution.name(event)
    }

    fn location(self, event: EventId) -> String {
        let location = self.execution.action(event).location();
        location.map_or_else(String::new, |location| self.execution.location(location).name.clone())
    }

    fn is_lock(self, event: EventId) -> bool {
        matches!(self.execution.action(event), Action::Lock { .. })
    }

    /// Whether the event is a store that waits in a buffer before it reaches memory.
    fn is_buffered(self, event: EventId) -> bool {
        self.model != Model::Sc && matches!(self.execution.action(event), Action::Write { .. })
    }

    /// `comes before P0.1`, as the end of a sentence about `from`; of stores that wait in a buffer
    /// it says that it is their arrival in memory that counts.
    pub(super) fn precedes(self, from: EventId, to: EventId) -> String {
        let name = self.name(to);
        match (self.is_buffered(from), self.is_buffered(to)) {
            (true, true) => format!("reaches memory before {name} does"),
            (true, false) => format!("reaches memory before {name} runs"),
            (false, true) => format!("comes before {name} reaches memory"),
            (false, false) => format!("comes before {name}"),
        }
    }

    /// `P0.1 reads y from P1.0`.
    pub(super) fn reads(self, read: EventId, source: EventId) -> String {
        let (read_name, location) = (self.name(read), self.location(read));
        match (self.is_lock(read), self.execution.is_init(source)) {
            (false, false) => format!("{read_name} reads {location} from {}", self.name(source)),
            (false, true) => format!("{read_name} reads the initial value of {location}"),
            (true, false) => format!("{read_name} takes {location} from {}", self.name(source)),
            (true, true) => format!("{read_name} is the first to take {location}"),
        }
    }

    fn has_choice(self, read: EventId) -> bool {
        self.execution.sources(read).len() > 1
    }

    /// What `read` observes, as far as it is known: `source` is the last that it may.
    fn reads_at_last(self, read: EventId, source: EventId) -> String {
        if self.has_choice(read) {
            let (name, source) = (self.name(read), self.name(source));
            format!("{name} observes {source} or a write before it (no other source is left)")
        } else {
            self.reads(read, source)
        }
    }

    /// Why the edge holds.
    pub(super) fn why(self, edge: &Edge) -> String {
        let (from, to) = (self.name(edge.from), self.name(edge.to));
        match edge.why {
            Why::Program => self.program(edge.from, edge.to),
            Why::ReadsFrom if self.has_choice(edge.to) => {
                format!("{}, the only source left to it", self.reads(edge.to, edge.from))
            }
            Why::ReadsFrom => self.reads(edge.to, edge.from),
            Why::FirstSource => {
                format!("every source left to {to} comes after {from} or is {from}")
            }
            Why::OwnStoreFirst { read } => format!(
                "{} and not from {from}, the last store there of its own thread, so {from} has \
                 left the buffer before",
                self.reads(read, edge.to),
            ),
            Why::BeforeSource { read } => format!(
                "{from} comes before {}, and {}: later than {to}, {from} would hide it",
                self.name(read),
                self.reads_at_last(read, edge.to),
            ),
            Why::BeforeOverwrite { source } => self.before_overwrite(edge, source),
        }
    }

    fn program(self, from: EventId, to: EventId) -> String {
        let (threads, actions) = (
            (self.execution.thread_of(from), self.execution.thread_of(to)),
            (self.execution.action(from), self.execution.action(to)),
        );
        let thread_name = |thread| self.execution.thread(thread).name.clone();
        match (threads, actions) {
            ((None, _), _) => "initial values are there from the start".to_owned(),
            ((Some(one), Some(other)), _) if one == other => {
                format!("{} keeps this program order of {}", self.model, thread_name(one))
            }
            (_, (&Action::Spawn { thread }, _)) => {
                format!("{} starts {}", self.name(from), thread_name(thread))
            }
            (_, (_, &Action::Join { thread })) => {
                format!("{} waits for the end of {}", self.name(to), thread_name(thread))
            }
            _ => "spawn and join order their threads so".to_owned(),
        }
    }

    fn before_overwrite(self, edge: &Edge, source: EventId) -> String {
        let to = self.name(edge.to);
        let reads = self.reads_at_last(edge.from, source);
        if self.is_lock(edge.from) && self.execution.is_init(source) {
            return format!("{reads}, so {to} comes later");
        }
        if self.is_lock(edge.from) {
            return format!("{reads}, and {to} comes later than that release");
        }
        if self.has_choice(edge.from) {
            return format!("{reads}, and {to} overwrites {}", self.name(source));
        }
        format!("{reads}, which {to} overwrites")
    }

    /// Why a read does not observe a possible source.
    pub(super) fn not_from(self, read: EventId, source: EventId, why: NotFrom) -> String {
        let (read, source) = (self.name(read), self.name(source));
        match why {
            NotFrom::Later => format!("{source} comes later than {read}"),
            NotFrom::Hidden { by } => {
                format!("{} comes after {source} and before {read}", self.name(by))
            }
            NotFrom::OwnStore { by } => {
                format!("{}, a store of its own thread, comes after {source}", self.name(by))
            }
        }
    }
}
