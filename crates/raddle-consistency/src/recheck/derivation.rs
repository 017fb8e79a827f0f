//! Follows a derivation: each fact must hold in every run that agrees with the facts before it.
//!
//! A read observes *memory* or, under TSO and PSO, a store that is *forwarded* from its thread's buffer. A load with a
//! forwarded source comes before that source, which is the last own store to the location before the load and a buffered
//! one. A load from memory comes after its source, and no write of the location comes between the two. All rules follow
//! from this and from the order known so far.
//!
//! Locks are locations that acquires and releases write: an acquire observes a release or the
//! initial state, a release observes its own thread's acquire.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::witness::{Fact, NotFrom, OrderEdge, Why};
use raddle_core::execution::{Action, EventId, Execution, LocationId};
use raddle_core::model::Model;
use raddle_core::model::reference::{Buffering, buffering};

use super::order::KnownOrder;

/// The knowledge after some facts.
pub(super) struct Derivation<'a> {
    execution: &'a Execution,
    buffering: Buffering,
    program: KnownOrder,
    known: KnownOrder,
    excluded: FxHashSet<(EventId, EventId)>,
    /// For each event, the last write of its location before it in its own thread.
    last_own: Vec<Option<EventId>>,
}

/// The rule holds, or the condition of it that fails.
type RuleResult = Result<(), &'static str>;

fn require(condition: bool, why: &'static str) -> RuleResult {
    if condition { Ok(()) } else { Err(why) }
}

impl<'a> Derivation<'a> {
    pub(super) fn new(execution: &'a Execution, model: Model) -> Self {
        let buffering = buffering(model).expect("a machine defines the model");
        Derivation {
            execution,
            buffering,
            program: KnownOrder::program(execution, buffering),
            known: KnownOrder::program(execution, buffering),
            excluded: FxHashSet::default(),
            last_own: last_own_writes(execution),
        }
    }

    /// The number of nodes visited so far.
    pub(super) fn work(&self) -> usize {
        self.program.visited() + self.known.visited()
    }

    /// Adds a fact if it follows from those before it.
    pub(super) fn accept(&mut self, fact: &Fact) -> RuleResult {
        match *fact {
            Fact::Order(edge) => {
                self.check_edge(&edge)?;
                self.known.add(edge.from, edge.to);
            }
            Fact::Excluded { read, source, why } => {
                self.check_exclusion(read, source, why)?;
                self.excluded.insert((read, source));
            }
        }
        Ok(())
    }

    /// Returns `true` if preserved program order alone puts one event before another.
    pub(super) fn in_program_order(&mut self, from: EventId, to: EventId) -> bool {
        self.program.is_before(from, to)
    }

    /// The sources of a read that are not excluded.
    pub(super) fn left(&self, read: EventId) -> Vec<EventId> {
        let left = |source: &EventId| !self.excluded.contains(&(read, *source));
        self.sources(read).into_iter().filter(left).collect()
    }

    /// The events that an event may observe. A release observes the acquire of its thread.
    fn sources(&self, read: EventId) -> Vec<EventId> {
        match self.execution.action(read) {
            Action::Unlock { .. } => self.last_own[read.index()].into_iter().collect(),
            _ => {
                let sources = self.execution.sources(read).iter().copied();
                sources.filter(|&source| source != read).collect()
            }
        }
    }

    fn check_edge(&mut self, edge: &OrderEdge) -> RuleResult {
        let OrderEdge { from, to, why } = *edge;
        match why {
            Why::Program => {
                require(self.in_program_order(from, to), "it is not preserved program order")
            }
            Why::ReadsFrom => {
                require(self.left(to) == [from], "the first is not the only source left")?;
                require(!self.may_forward(to, from), "the source may be read from the buffer")
            }
            Why::FirstSource => self.check_first_source(from, to),
            Why::OwnStoreFirst { read } => {
                let own = self.last_own[read.index()];
                require(own == Some(from), "the first is not the last own store before the read")?;
                require(from != to, "the read may observe its own store")?;
                require(self.left(read) == [to], "the second is not the only source left")
            }
            Why::BeforeSource { read } => self.check_before_source(from, to, read),
            Why::BeforeOverwrite { source } => self.check_before_overwrite(from, to, source),
        }
    }

    fn check_first_source(&mut self, first: EventId, read: EventId) -> RuleResult {
        let left = self.left(read);
        require(!left.is_empty(), "no source is left")?;
        let later = self.known.after(first);
        let all = left.iter().all(|source| *source == first || later.contains(source));
        require(all, "a source left may come before the first")?;
        let forwarded = left.iter().any(|&source| self.may_forward(read, source));
        require(!forwarded, "a source left may be read from the buffer")
    }

    fn check_before_source(&mut self, first: EventId, last: EventId, read: EventId) -> RuleResult {
        require(self.same_location(first, read), "the first does not write the location")?;
        let left = self.left(read);
        require(!left.contains(&first), "the read may observe the first")?;
        require(left.contains(&last), "the read cannot observe the second")?;
        require(self.known.is_before(first, read), "the first may come after the read")?;
        let earlier = self.known.before(last);
        let all = left.iter().all(|source| *source == last || earlier.contains(source));
        require(all, "a source left may come after the second")
    }

    fn check_before_overwrite(
        &mut self,
        read: EventId,
        next: EventId,
        source: EventId,
    ) -> RuleResult {
        require(read != next, "an event does not come before itself")?;
        require(self.same_location(next, read), "the second does not write the location")?;
        let left = self.left(read);
        require(left.contains(&source), "the source is not left")?;
        require(!left.contains(&next), "the read may observe the second")?;
        let earlier = self.known.before(next);
        let all = left.iter().all(|source| earlier.contains(source));
        require(all, "a source left may come after the second")
    }

    fn check_exclusion(&mut self, read: EventId, source: EventId, why: NotFrom) -> RuleResult {
        require(self.sources(read).contains(&source), "it is not a source")?;
        match why {
            NotFrom::Later => {
                let later = self.known.is_before(read, source);
                require(later, "the source may come before the read")?;
                require(!self.may_forward(read, source), "the source may be read from the buffer")
            }
            NotFrom::Hidden { by } => {
                require(by != source && by != read, "an event does not hide itself")?;
                require(self.same_location(by, read), "what hides does not write the location")?;
                require(self.known.is_before(source, by), "what hides may come before the source")?;
                require(self.known.is_before(by, read), "what hides may come after the read")
            }
            NotFrom::OwnStore { by } => {
                require(self.same_location(by, read), "the own store has another location")?;
                require(self.is_own_earlier(by, read), "it is not a store of the thread before")?;
                require(
                    self.known.is_before(source, by),
                    "the own store may come before the source",
                )
            }
        }
    }

    /// Returns `true` if the first event writes the location that the second one accesses.
    fn same_location(&self, write: EventId, read: EventId) -> bool {
        let location = written_location(self.execution.action(write));
        location.is_some() && location == self.execution.action(read).location()
    }

    fn is_own_earlier(&self, event: EventId, of: EventId) -> bool {
        let thread = self.execution.thread_of(event);
        thread.is_some() && thread == self.execution.thread_of(of) && event < of
    }

    /// Returns `true` if a load may observe a store of its own thread before it reaches memory.
    fn may_forward(&self, read: EventId, source: EventId) -> bool {
        self.buffering != Buffering::None
            && self.last_own[read.index()] == Some(source)
            && matches!(self.execution.action(read), Action::Read { .. })
            && self.execution.is_buffered(source)
    }
}

/// The location or lock that an event writes.
fn written_location(action: &Action) -> Option<LocationId> {
    let writes = action.is_source() || matches!(action, Action::Lock { .. });
    action.location().filter(|_| writes)
}

fn last_own_writes(execution: &Execution) -> Vec<Option<EventId>> {
    let mut last_own = vec![None; execution.event_count()];
    for thread in execution.threads() {
        let mut last = FxHashMap::default();
        for event in execution.thread_events(thread) {
            let action = execution.action(event);
            last_own[event.index()] =
                action.location().and_then(|location| last.get(&location).copied());
            if let Some(location) = written_location(action) {
                last.insert(location, event);
            }
        }
    }
    last_own
}
