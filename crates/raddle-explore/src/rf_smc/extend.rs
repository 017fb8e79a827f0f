//! Running threads until none can go on.

use crate::{Extent, Unsupported};
use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::execution::ThreadId;
use raddle_core::program::{End, HistoryId, Op, OpKind, Origin};
use raddle_core::trace::{Observed, Trace, TraceEvent};

use super::answers::{QuestionOutcome, answer, is_taker, outcomes, reads_memory};
use super::cell_race::race;
use super::graph::{Age, Graph};
use super::{Explorer, Slot};

/// How many events an execution may have by default. An execution with more ends the exploration.
const MAX_EVENTS: u32 = 10_000;

impl Explorer<'_> {
    /// Extends an execution until no thread can go on, every question with the first answer that the
    /// model allows and a slot for the others. Stops at a race of cells, and returns it.
    pub(super) fn extend(&mut self, graph: &mut Graph) -> Result<Option<(usize, usize)>, Extent> {
        let bound = self.limits.events.unwrap_or(MAX_EVENTS) as usize;
        loop {
            let before = graph.events.len();
            for thread in graph.threads().collect::<Vec<_>>() {
                while self.step(graph, thread)? {
                    if let Some(race) = race(graph) {
                        return Ok(Some(race));
                    }
                    if graph.events.len() > bound {
                        return Err(Extent::Events);
                    }
                }
            }
            if graph.events.len() == before {
                return Ok(None);
            }
        }
    }

    /// How the thread ends, if all its effects are done.
    pub(super) fn end(&self, graph: &Graph, thread: ThreadId) -> Option<&End> {
        let Origin { node, index } = graph.cursor(thread);
        let done = self.histories.effects(node).len() == index as usize;
        done.then(|| self.histories.end(node))
    }

    /// The question that the thread waits with.
    pub(super) fn question(&self, graph: &Graph, thread: ThreadId) -> Option<Op> {
        match self.end(graph, thread) {
            Some(&End::Question(op)) => Some(op),
            _ => None,
        }
    }

    /// Does the next event of a thread, if it has one and need not wait.
    fn step(&mut self, graph: &mut Graph, thread: ThreadId) -> Result<bool, Unsupported> {
        let cursor = graph.cursor(thread);
        let effect = self.histories.effects(cursor.node).get(cursor.index as usize).copied();
        if let Some(op) = effect {
            return self.effect(graph, thread, op, cursor).map(|()| true);
        }
        let Some(op) = self.question(graph, thread) else { return Ok(false) };
        match op.kind {
            OpKind::Join { thread: joined } => self.join(graph, thread, op, joined),
            OpKind::Choose { options: 0 } => Err(Unsupported::Malformed),
            OpKind::Choose { .. } => {
                let outcome = QuestionOutcome { read: None, written: None };
                self.ask(graph, next(graph, thread, op, Observed::Choice(0), outcome))
            }
            OpKind::ReadCell { location } => self.read_cell(graph, thread, op, location),
            kind if is_taker(kind) => self.take(graph, thread, op),
            _ => self.read(graph, thread, op),
        }
    }

    fn effect(
        &mut self,
        graph: &mut Graph,
        thread: ThreadId,
        op: Op,
        cursor: Origin,
    ) -> Result<(), Unsupported> {
        let written = match op.kind {
            OpKind::Store { value, .. } => Some(value),
            OpKind::WriteCell { .. } => {
                self.check_cells_are_supported()?;
                None
            }
            OpKind::Spawn { thread } if graph.has_thread(thread) => {
                return Err(Unsupported::Malformed);
            }
            _ => None,
        };
        let position = graph.position(thread);
        let event = TraceEvent { thread, position, op, observed: None, read: None, written };
        let origin = Origin { node: cursor.node, index: cursor.index + 1 };
        let id = graph.push(event, origin, Age::Added);
        if let OpKind::Spawn { thread } = op.kind {
            let past = graph.nodes();
            let spawned_by = self.shares_memory.then_some(origin);
            let root = self.histories.start(self.program, &past, thread, spawned_by);
            graph.start(thread, root, id);
        }
        Ok(())
    }

    fn join(
        &mut self,
        graph: &mut Graph,
        thread: ThreadId,
        op: Op,
        joined: ThreadId,
    ) -> Result<bool, Unsupported> {
        let finished =
            graph.has_thread(joined) && matches!(self.end(graph, joined), Some(End::Finished));
        if !finished {
            return Ok(false);
        }
        let last = graph.last(joined).map_or(Observed::Initial, Observed::Event);
        let event = next(graph, thread, op, last, QuestionOutcome { read: None, written: None });
        self.append(graph, vec![event], Age::Added)
    }

    /// Takes the last state of a lock or object, if it is there to be taken. No model forbids that.
    fn take(&mut self, graph: &mut Graph, thread: ThreadId, op: Op) -> Result<bool, Unsupported> {
        let location = op.kind.location().expect("a taker has a location");
        let mut sources = candidates(graph, op);
        let Some(source) = sources.find(|&source| !graph.is_taken(location, source)) else {
            return Ok(false);
        };
        drop(sources);
        let value = graph.value(&*self.program, location, source);
        match outcomes(op.kind, value)[..] {
            [outcome] => self.ask(graph, next(graph, thread, op, source, outcome)),
            _ => Ok(false),
        }
    }

    /// Reads from the latest source that the model allows. There is always one.
    fn read(&mut self, graph: &mut Graph, thread: ThreadId, op: Op) -> Result<bool, Unsupported> {
        let location = op.kind.location().expect("a read has a location");
        for source in candidates(graph, op).collect::<Vec<_>>() {
            let value = graph.value(&*self.program, location, source);
            for outcome in outcomes(op.kind, value) {
                if self.ask(graph, next(graph, thread, op, source, outcome))? {
                    return Ok(true);
                }
            }
        }
        Err(Unsupported::Undecided)
    }

    /// Adds a question with its answer, if the model allows it, and a slot for other answers.
    fn ask(&mut self, graph: &mut Graph, event: TraceEvent) -> Result<bool, Unsupported> {
        let added = self.append(graph, vec![event], Age::Added)?;
        if added {
            let event = graph.events.last_mut().expect("just added");
            event.slot = Some(self.slots.len());
            self.slots.push(Slot::new(event.name));
        }
        Ok(added)
    }

    /// Adds questions with their answers, if the model allows them together, and runs their threads.
    pub(super) fn append(
        &mut self,
        graph: &mut Graph,
        events: Vec<TraceEvent>,
        age: Age,
    ) -> Result<bool, Unsupported> {
        let shared = |event: &TraceEvent| match (event.observed, event.op.kind.location()) {
            (Some(source), Some(location)) if event.written.is_some() => {
                graph.is_taken(location, source)
            }
            _ => false,
        };
        if events.iter().any(shared) || !self.is_consistent(graph, &events)? {
            return Ok(false);
        }
        for event in events {
            let node = self.resume(graph, &event);
            graph.push(event, Origin { node, index: 0 }, age);
        }
        Ok(true)
    }

    /// Runs the thread of a question from its answer to the next question.
    fn resume(&mut self, graph: &Graph, event: &TraceEvent) -> HistoryId {
        let node = graph.cursor(event.thread).node;
        let answer = answer(graph, &self.histories, self.shares_memory, event);
        match self.histories.known(node, answer) {
            Some(known) => known,
            None => self.histories.after(self.program, &graph.nodes(), node, answer),
        }
    }

    /// Whether the model allows the execution with these events added.
    fn is_consistent(&mut self, graph: &Graph, added: &[TraceEvent]) -> Result<bool, Unsupported> {
        if !added.iter().any(|event| reads_memory(event.op.kind)) {
            return Ok(true);
        }
        self.statistics.checks += 1;
        let mut trace = graph.trace();
        trace.events.extend_from_slice(added);
        self.allows(&trace)
    }

    /// Whether the model allows an execution.
    pub(super) fn allows(&self, trace: &Trace) -> Result<bool, Unsupported> {
        let execution = trace.to_execution(&*self.program).map_err(|_| Unsupported::Malformed)?;
        let options = CheckOptions { budget: u64::MAX, shrink: false, ..CheckOptions::default() };
        match check(&execution, self.model, &options) {
            // The axioms allow an execution with a race.
            ConsistencyVerdict::Consistent(_)
            | ConsistencyVerdict::Inconsistent(Violation::Race { .. }) => Ok(true),
            ConsistencyVerdict::Inconsistent(_) => Ok(false),
            ConsistencyVerdict::Unknown { .. } => Err(Unsupported::Undecided),
        }
    }
}

/// What a question may observe, latest first.
fn candidates(graph: &Graph, op: Op) -> impl Iterator<Item = Observed> {
    let location = op.kind.location().into_iter();
    let events = location.flat_map(|location| graph.sources(location).rev());
    events.map(Observed::Event).chain([Observed::Initial])
}

/// The next event of a thread, a question.
pub(super) fn next(
    graph: &Graph,
    thread: ThreadId,
    op: Op,
    source: Observed,
    QuestionOutcome { read, written }: QuestionOutcome,
) -> TraceEvent {
    let position = graph.position(thread);
    TraceEvent { thread, position, op, observed: Some(source), read, written }
}
