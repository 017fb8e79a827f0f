//! Phrases about events, and about why one event comes before another.

use crate::history;
use crate::witness::{NotFrom, OrderEdge, Why};
use raddle_core::execution::{Action, EventId, Execution};
use raddle_core::model::Model;

/// Phrases for the facts about one execution under one model.
#[derive(Clone, Copy)]
pub(super) struct Phrases<'a> {
    pub(super) execution: &'a Execution,
    pub(super) model: Model,
}

impl Phrases<'_> {
    pub(super) fn name(self, event: EventId) -> String {
        self.execution.name(event)
    }

    pub(super) fn location(self, event: EventId) -> String {
        let location = self.execution.action(event).location();
        location.map_or_else(String::new, |location| self.execution.location(location).name.clone())
    }

    /// `P0.1 reads x = 7`, `P0.1 acquires m`.
    pub(super) fn observes(self, read: EventId) -> String {
        let (name, location) = (self.name(read), self.location(read));
        match self.execution.action(read).read_value() {
            Some(value) => format!("{name} reads {location} = {value}"),
            None => format!("{name} acquires {location}"),
        }
    }

    /// An event with its name, on a line of its own.
    pub(super) fn event_line(self, event: EventId) -> String {
        let what = match *self.execution.action(event) {
            Action::Init { .. } if self.is_lock(event) => "the lock is free".to_owned(),
            Action::Init { value, .. } => format!("the initial value {value}"),
            _ => history::write_event(self.execution, event),
        };
        format!("  {}  {what}\n", self.name(event))
    }

    /// Returns `true` if the event takes or releases a lock, or is the start of one. A release counts as
    /// reading from the acquire before it.
    pub(super) fn is_lock(self, event: EventId) -> bool {
        let location = self.execution.action(event).location();
        location.is_some_and(|location| self.execution.location(location).is_lock)
    }

    /// Returns `true` if the event is a store that waits in a buffer before it reaches memory.
    fn is_buffered(self, event: EventId) -> bool {
        self.model.buffers_stores() && self.execution.is_buffered(event)
    }

    /// `comes before P0.1`, as the end of a sentence about `from`. For buffered stores the phrase refers to their arrival in
    /// memory.
    pub(super) fn precedes(self, from: EventId, to: EventId) -> String {
        let name = self.name(to);
        match (self.is_buffered(from), self.is_buffered(to)) {
            (true, true) => format!("reaches memory before {name} does"),
            (true, false) if self.execution.is_init(to) => format!("reaches memory before {name}"),
            (true, false) => format!("reaches memory before {name} runs"),
            (false, true) => format!("comes before {name} reaches memory"),
            (false, false) => format!("comes before {name}"),
        }
    }

    /// `P0.1 reads y from P1.0`.
    pub(super) fn reads(self, read: EventId, source: EventId) -> String {
        let (name, location, from) = (self.name(read), self.location(read), self.name(source));
        match (self.execution.action(read), self.execution.is_init(source)) {
            (Action::Unlock { .. }, _) => format!("{name} releases {location}, held since {from}"),
            (Action::Lock { .. }, true) => format!("{name} is the first to take {location}"),
            (Action::Lock { .. }, false) => format!("{name} takes {location} from {from}"),
            (_, true) => format!("{name} reads the initial value of {location}"),
            (_, false) => format!("{name} reads {location} from {from}"),
        }
    }

    fn has_choice(self, read: EventId) -> bool {
        self.execution.sources(read).len() > 1
    }

    /// What `read` observes, as far as it is known: `source` is the latest candidate.
    fn reads_at_last(self, read: EventId, source: EventId) -> String {
        let (name, from) = (self.name(read), self.name(source));
        if !self.has_choice(read) {
            self.reads(read, source)
        } else if self.execution.is_init(source) {
            format!("{name} has no source left but {from}")
        } else if self.is_lock(read) {
            let lock = self.location(read);
            format!("{name} takes {lock} from {from} or a release before it (no other is left)")
        } else {
            format!("{name} observes {from} or a write before it (no other source is left)")
        }
    }

    /// Why the edge holds.
    pub(super) fn why(self, edge: &OrderEdge) -> String {
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
            Why::OwnStoreFirst { read } if self.is_lock(read) => format!(
                "{} and not from {from}, where its own thread released it last, so {to} comes later",
                self.reads(read, edge.to),
            ),
            Why::OwnStoreFirst { read } => format!(
                "{} and not what its own thread stored there last ({from}), so {to} has \
                 overwritten that",
                self.reads(read, edge.to),
            ),
            Why::BeforeSource { read } => {
                let clash = match self.is_lock(read) {
                    true => format!("{from} cannot come in between"),
                    false => format!("later than {to}, {from} would hide it"),
                };
                let reads = self.reads_at_last(read, edge.to);
                format!("{from} comes before {}, and {reads}: {clash}", self.name(read))
            }
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
            ((Some(one), Some(other)), _) => {
                let (one, other) = (thread_name(one), thread_name(other));
                format!("spawn and join keep this order of {one} and {other}")
            }
            ((Some(_), None), _) => "initial values are there from the start".to_owned(),
        }
    }

    fn before_overwrite(self, edge: &OrderEdge, source: EventId) -> String {
        let (to, source_name) = (self.name(edge.to), self.name(source));
        let reads = self.reads_at_last(edge.from, source);
        if self.is_lock(edge.from) && self.execution.is_init(source) {
            format!("{reads}, so {to} comes later")
        } else if self.is_lock(edge.from) {
            format!("{reads}, and {to} comes later than {source_name}: it has to wait")
        } else if self.has_choice(edge.from) {
            format!("{reads}, and {to} overwrites {source_name}")
        } else {
            format!("{reads}, which {to} overwrites")
        }
    }

    /// `P0.1 does not observe P1.0`.
    pub(super) fn does_not_observe(self, read: EventId, source: EventId) -> String {
        let (name, location, from) = (self.name(read), self.location(read), self.name(source));
        match self.is_lock(read) {
            true => format!("{name} does not take {location} from {from}"),
            false => format!("{name} does not observe {from}"),
        }
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
                let what = if self.is_lock(by) { "a release" } else { "a store" };
                format!("{}, {what} of its own thread, comes after {source}", self.name(by))
            }
        }
    }
}
