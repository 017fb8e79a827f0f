//! The events of a history with their offsets, before they are checked as a whole.
//!
//! A thread may be named (as a source, or by a spawn) before its first line, but threads are ordered by their first lines.
//! So events are collected with provisional thread ids, in the order of mention, and go to the [`ExecutionBuilder`] when
//! the order is known. An event is looked up only if the builder rejects it.

use std::collections::HashMap;

use super::words::{self, ParseFault, SourceName, cut_words, quote};
use raddle_core::execution::{
    Action, BuildError, EventPart, Execution, ExecutionBuilder, LocationId, MemoryOrder,
    SourceClaim, ThreadId, Value,
};

/// The largest number of events, threads and locations together: ids have 32 bits.
const MOST: usize = (u32::MAX / 2) as usize;

/// An event with its offsets in the history.
pub(super) struct DraftedEvent {
    pub(super) thread: ThreadId,
    pub(super) action: Action,
    /// `None` stands for the order that such an event has by default.
    pub(super) order: Option<MemoryOrder>,
    pub(super) claim: SourceClaim,
    /// The offset of the location, lock or thread that the event is about.
    pub(super) operand_at: usize,
    /// The offset of the memory order, if it is given.
    pub(super) order_at: usize,
    /// The offset of the source, if it is named.
    pub(super) source_at: usize,
}

/// The events read so far. Thread ids are provisional, location ids final.
pub(super) struct HistoryDraft {
    builder: ExecutionBuilder,
    names: Vec<String>,
    ids: HashMap<String, ThreadId>,
    is_declared: Vec<bool>,
    /// Declared threads in the order of declaration.
    declared: Vec<ThreadId>,
    locations: usize,
    events: Vec<DraftedEvent>,
}

impl HistoryDraft {
    pub(super) fn new() -> Self {
        HistoryDraft {
            builder: ExecutionBuilder::new(),
            names: vec![],
            ids: HashMap::new(),
            is_declared: vec![],
            declared: vec![],
            locations: 0,
            events: vec![],
        }
    }

    /// The thread with this name, which starts at an offset.
    pub(super) fn mention(&mut self, name: &str, at: usize) -> Result<ThreadId, ParseFault> {
        if let Some(&id) = self.ids.get(name) {
            return Ok(id);
        }
        words::check_thread(name, at)?;
        self.check_size(at)?;
        let id = ThreadId::new(self.names.len());
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        self.is_declared.push(false);
        Ok(id)
    }

    /// The thread with this name, which is thereby declared.
    pub(super) fn declare(&mut self, name: &str, at: usize) -> Result<ThreadId, ParseFault> {
        let id = self.mention(name, at)?;
        if !self.is_declared[id.index()] {
            self.is_declared[id.index()] = true;
            self.declared.push(id);
        }
        Ok(id)
    }

    /// The location or lock with this name, which starts at an offset.
    pub(super) fn location(&mut self, name: &str, at: usize) -> Result<LocationId, ParseFault> {
        words::check_location(name, at)?;
        self.check_size(at)?;
        let id = self.builder.location(name);
        self.locations = self.locations.max(id.index() + 1);
        Ok(id)
    }

    /// States an initial value.
    pub(super) fn init(&mut self, name: &str, value: Value, at: usize) -> Result<(), ParseFault> {
        let location = self.location(name, at)?;
        self.builder.init(location, value).map_err(|first| {
            let name = quote(name);
            let message =
                format!("{name} is initially {first} already: expected one initial value");
            ParseFault::new(at, message)
        })
    }

    /// Parses a source.
    pub(super) fn claim(&mut self, word: &str, at: usize) -> Result<SourceClaim, ParseFault> {
        Ok(match words::source(word, at)? {
            SourceName::Init => SourceClaim::Init,
            SourceName::Event { thread, position } => {
                SourceClaim::Event { thread: self.mention(thread, at)?, position }
            }
        })
    }

    /// Adds the next event of its thread.
    pub(super) fn push(&mut self, event: DraftedEvent) -> Result<(), ParseFault> {
        self.check_size(event.operand_at)?;
        self.events.push(event);
        Ok(())
    }

    fn check_size(&self, at: usize) -> Result<(), ParseFault> {
        if self.events.len() + self.locations + self.names.len() < MOST {
            return Ok(());
        }
        Err(ParseFault::new(
            at,
            format!("the history is too long: expected fewer than {MOST} events"),
        ))
    }

    /// Builds the execution. If `recorded`, the order of the events is the recorded one. If there are no threads, the error
    /// is at the offset `end` and asks for the `example`.
    pub(super) fn finish(
        mut self,
        recorded: bool,
        end: usize,
        example: &str,
    ) -> Result<Execution, ParseFault> {
        if self.declared.is_empty() {
            return Err(ParseFault::new(end, format!("there are no threads: expected {example}")));
        }
        self.check_source_threads()?;
        let final_ids = self.order_threads();
        if recorded {
            self.builder.keep_order();
        }
        for event in &self.events {
            let rename = |thread: ThreadId| final_ids[thread.index()];
            let (action, claim) = renamed(event, rename);
            let order = event.order.unwrap_or(action.default_order());
            self.builder.push_ordered(rename(event.thread), action, order, claim);
        }
        let HistoryDraft { builder, events, .. } = self;
        builder.build().map_err(|error| place(&events, &final_ids, &error))
    }

    /// Checks that every thread named in a source exists.
    fn check_source_threads(&self) -> Result<(), ParseFault> {
        for event in &self.events {
            if let SourceClaim::Event { thread, .. } = event.claim
                && !self.is_declared[thread.index()]
            {
                let name = quote(&self.names[thread.index()]);
                let message = format!("there is no thread {name}: expected THREAD.INDEX or init");
                return Err(ParseFault::new(event.source_at, message));
            }
        }
        Ok(())
    }

    /// Gives every thread its final id: first the declared ones, in their order.
    fn order_threads(&mut self) -> Vec<ThreadId> {
        for &thread in &self.declared {
            let id = self.builder.thread(&self.names[thread.index()]);
            self.builder.declare(id);
        }
        self.names.iter().map(|name| self.builder.thread(name)).collect()
    }
}

fn renamed(event: &DraftedEvent, rename: impl Fn(ThreadId) -> ThreadId) -> (Action, SourceClaim) {
    let action = match event.action {
        Action::Spawn { thread } => Action::Spawn { thread: rename(thread) },
        Action::Join { thread } => Action::Join { thread: rename(thread) },
        other => other,
    };
    let claim = match event.claim {
        SourceClaim::Event { thread, position } => {
            SourceClaim::Event { thread: rename(thread), position }
        }
        other => other,
    };
    (action, claim)
}

/// Locates an error of the builder. Errors that are not about the order or the source of an event point to its location or
/// thread.
fn place(events: &[DraftedEvent], final_ids: &[ThreadId], error: &BuildError) -> ParseFault {
    let mut own = events.iter().filter(|event| final_ids[event.thread.index()] == error.thread);
    let at = own.nth(error.position).map_or(0, |event| match error.part {
        EventPart::Action => event.operand_at,
        EventPart::Source => event.source_at,
        EventPart::Order => event.order_at,
    });
    ParseFault::new(at, cut_words(&error.to_string()))
}
