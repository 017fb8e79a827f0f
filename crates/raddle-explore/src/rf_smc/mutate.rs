//! Other answers to the questions of an execution.
//!
//! For a question `r` with a slot, the events that were explored before it are closed under causes, and
//! none of them rests on `r`. Each function here finds other answers to `r` that the events of this
//! execution suggest, each with the events that it rests on; all else is dropped and left to the
//! extension. What an answer rests on is settled: those events lose their slots.

use crate::Unsupported;
use raddle_core::execution::ThreadId;
use raddle_core::program::OpKind;
use raddle_core::trace::{Observed, TraceEvent};

use super::Explorer;
use super::answers::{QuestionOutcome, is_taker, outcomes};
use super::extend::next;
use super::graph::{Age, Event, Graph, Name, Observation, rename};
use super::past::Pasts;
use super::past_set::PastSet;

/// A question with another answer.
struct Change {
    /// It, observing an event of the old execution.
    event: TraceEvent,
    /// Which event of the old execution it was, if any.
    old: Option<usize>,
    rank: usize,
    slot: Option<usize>,
}

impl Change {
    fn of(old: usize, before: &Event, event: TraceEvent, slot: Option<usize>) -> Change {
        Change { event, old: Some(old), rank: before.rank, slot }
    }
}

/// One who could take what somebody else took.
struct Taker {
    /// Its event, if it does not wait.
    old: Option<usize>,
    /// The event before it in its thread, or the one that started the thread.
    before: Option<usize>,
    event: TraceEvent,
}

/// Another answer to a question, and what it takes.
struct Mutation {
    /// The slot of the question.
    slot: usize,
    /// The name of the event that is the answer.
    key: Name,
    /// The events that stay as they are.
    keep: PastSet,
    /// The others, in a causal order.
    changes: Vec<Change>,
}

impl Explorer<'_> {
    /// Proposes other answers to all questions of a maximal execution that have a slot.
    pub(super) fn mutate(&mut self, graph: &Graph) -> Result<(), Unsupported> {
        let pasts = Pasts::new(graph);
        for (id, question) in graph.events.iter().enumerate() {
            let Some(slot) = question.slot else { continue };
            let mutations = match question.event.op.kind {
                OpKind::Choose { options } => choices(graph, &pasts, id, slot, options),
                kind if is_taker(kind) => self.takers(graph, &pasts, id, slot),
                _ => {
                    let mut mutations = self.plain(graph, &pasts, id, slot);
                    mutations.extend(self.swaps(graph, &pasts, id, slot));
                    mutations
                }
            };
            for mutation in mutations {
                self.propose(graph, mutation)?;
            }
        }
        Ok(())
    }

    /// `r` observes another write, which does not rest on `r`.
    fn plain(&self, graph: &Graph, pasts: &Pasts, r: usize, slot: usize) -> Vec<Mutation> {
        let question = &graph.events[r];
        let location = question.event.op.kind.location().expect("a read has a location");
        let is_added = question.age == Age::Added;
        let writes = graph.sources(location).filter(|&w| is_added || is_fresh(&graph.events[w]));
        let initial = is_added.then_some(Observed::Initial);
        let mut mutations = vec![];
        for source in writes.map(Observed::Event).chain(initial) {
            let past = pasts.of(event_of(source));
            if past.contains(r) {
                continue;
            }
            let value = graph.value(&*self.program, location, source);
            for outcome in outcomes(question.event.op.kind, value) {
                let event = observing(question, source, outcome);
                let key = renamed(graph, question, &event, graph.observation(source));
                let mut keep = pasts.earlier(graph, r);
                keep.unite(past);
                let changes = vec![Change::of(r, question, event, Some(slot))];
                mutations.push(Mutation { slot, key, keep, changes });
            }
        }
        mutations
    }

    /// `w` observes what `r` wrote, `r` being an update: `w` observes instead what `r` did, and `r`
    /// observes `w`.
    fn swaps(&self, graph: &Graph, pasts: &Pasts, r: usize, slot: usize) -> Vec<Mutation> {
        let question = &graph.events[r];
        let (Some(_), Some(source)) = (question.event.written, question.event.observed) else {
            return vec![];
        };
        let partners = graph.events.iter().enumerate().filter(|(_, partner)| {
            is_fresh(partner) && partner.event.observed == Some(Observed::Event(r))
        });
        let mut mutations = vec![];
        for (w, partner) in partners {
            let mut keep = pasts.earlier(graph, r);
            keep.unite(pasts.of(partner.before));
            keep.unite(pasts.of(event_of(source)));
            if !keep.contains(r) {
                mutations.extend(self.swap(graph, (r, slot), w, source, &keep));
            }
        }
        mutations
    }

    /// The ways in which `w` can write what `r` observes, while `w` observes the source.
    fn swap(
        &self,
        graph: &Graph,
        (r, slot): (usize, usize),
        w: usize,
        source: Observed,
        keep: &PastSet,
    ) -> Vec<Mutation> {
        let (question, partner) = (&graph.events[r], &graph.events[w]);
        let kind = partner.event.op.kind;
        let value = kind.location().and_then(|at| graph.value(&*self.program, at, source));
        let mut mutations = vec![];
        for first in outcomes(kind, value).into_iter().filter(|first| first.written.is_some()) {
            let w_event = observing(partner, source, first);
            let w_name = renamed(graph, partner, &w_event, graph.observation(source));
            for second in outcomes(question.event.op.kind, first.written) {
                let event = observing(question, Observed::Event(w), second);
                let key = renamed(graph, question, &event, Observation::Event(w_name));
                let changes = vec![
                    Change::of(w, partner, w_event.clone(), None),
                    Change::of(r, question, event, Some(slot)),
                ];
                mutations.push(Mutation { slot, key, keep: keep.clone(), changes });
            }
        }
        mutations
    }

    /// Somebody else takes what `r` took: one who took a later state, or one who waits.
    fn takers(&self, graph: &Graph, pasts: &Pasts, r: usize, slot: usize) -> Vec<Mutation> {
        let location = graph.events[r].event.op.kind.location();
        let later = graph.events.iter().enumerate().filter_map(|(j, event)| {
            let kind = event.event.op.kind;
            let is_later =
                is_taker(kind) && event.age == Age::Added && pasts.of(Some(j)).contains(r);
            let (old, before, event) = (Some(j), event.before, event.event.clone());
            (is_later && kind.location() == location).then_some(Taker { old, before, event })
        });
        let waiting = graph.threads().filter_map(|thread| {
            let event = self.waiting(graph, thread)?;
            let (old, before) = (None, graph.before_next(thread));
            (event.op.kind.location() == location).then_some(Taker { old, before, event })
        });
        let instead = |taker| self.takes_instead(graph, pasts, (r, slot), &taker);
        later.chain(waiting).filter_map(instead).collect()
    }

    /// The taker takes what `r` took, if it need not wait for `r`.
    fn takes_instead(
        &self,
        graph: &Graph,
        pasts: &Pasts,
        (r, slot): (usize, usize),
        taker: &Taker,
    ) -> Option<Mutation> {
        let question = &graph.events[r];
        let source = question.event.observed?;
        let past = pasts.of(taker.before);
        if past.contains(r) {
            return None;
        }
        let kind = taker.event.op.kind;
        let value = graph.value(&*self.program, kind.location()?, source);
        let QuestionOutcome { read, written } = outcomes(kind, value).pop()?;
        let event = TraceEvent { observed: Some(source), read, written, ..taker.event.clone() };
        let key = graph.name(&event, taker.before, None, Some(graph.observation(source)));
        let mut keep = pasts.earlier(graph, r);
        keep.unite(past);
        let change = Change { event, old: taker.old, rank: question.rank, slot: None };
        Some(Mutation { slot, key, keep, changes: vec![change] })
    }

    /// The question of a thread that waits to take something, before it observes anything.
    fn waiting(&self, graph: &Graph, thread: ThreadId) -> Option<TraceEvent> {
        let op = self.question(graph, thread).filter(|op| is_taker(op.kind))?;
        let nothing = QuestionOutcome { read: None, written: None };
        Some(next(graph, thread, op, Observed::Initial, nothing))
    }

    /// Remembers a mutation for later, if it is new and the model allows it.
    fn propose(&mut self, graph: &Graph, mutation: Mutation) -> Result<(), Unsupported> {
        let Mutation { slot, key, keep, changes } = mutation;
        if !self.slots[slot].seen.insert(key) {
            return Ok(());
        }
        self.statistics.proposals += 1;
        let (mut schedule, mut map) = graph.restrict(&keep);
        let first = schedule.events.len();
        for (at, old) in changes.iter().enumerate().filter_map(|(at, c)| Some((at, c.old?))) {
            map[old] = Some(first + at);
        }
        let events = changes.iter().map(|Change { event, .. }| TraceEvent {
            observed: event.observed.map(|observed| rename(observed, &map)),
            ..event.clone()
        });
        if !self.append(&mut schedule, events.collect(), Age::Changed)? {
            return Ok(());
        }
        settle(&mut schedule, slot, first, &changes);
        self.slots[slot].queue.push(schedule);
        self.pending += 1;
        self.statistics.peak_pending = self.statistics.peak_pending.max(self.pending);
        Ok(())
    }
}

/// A choice is another one.
fn choices(graph: &Graph, pasts: &Pasts, r: usize, slot: usize, options: u32) -> Vec<Mutation> {
    let question = &graph.events[r];
    let options = if question.age == Age::Added { options } else { 0 };
    let mutation = |choice: u32| {
        let nothing = QuestionOutcome { read: None, written: None };
        let event = observing(question, Observed::Choice(choice), nothing);
        let key = renamed(graph, question, &event, Observation::Choice(choice));
        let changes = vec![Change::of(r, question, event, Some(slot))];
        Mutation { slot, key, keep: pasts.earlier(graph, r), changes }
    };
    (0..options).map(mutation).collect()
}

/// Takes the slots from what was explored after the question with this slot, and gives the changed
/// events, which start at `first`, their ranks and slots.
fn settle(schedule: &mut Graph, slot: usize, first: usize, changes: &[Change]) {
    for event in &mut schedule.events {
        event.slot = event.slot.filter(|&own| own < slot);
    }
    for (event, change) in schedule.events[first..].iter_mut().zip(changes) {
        (event.rank, event.slot) = (change.rank, change.slot);
    }
}

/// Whether this execution is the first to show the event with these causes.
fn is_fresh(event: &Event) -> bool {
    event.age != Age::Kept
}

fn event_of(source: Observed) -> Option<usize> {
    match source {
        Observed::Event(event) => Some(event),
        _ => None,
    }
}

/// The question, observing something else.
fn observing(
    question: &Event,
    source: Observed,
    QuestionOutcome { read, written }: QuestionOutcome,
) -> TraceEvent {
    TraceEvent { observed: Some(source), read, written, ..question.event.clone() }
}

/// The name of the question if it is this event.
fn renamed(graph: &Graph, question: &Event, event: &TraceEvent, source: Observation) -> Name {
    graph.name(event, question.before, question.joined, Some(source))
}
