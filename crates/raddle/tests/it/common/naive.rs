//! All interleavings, one after the other: an explorer too simple to be wrong.
//!
//! It knows sequential consistency only. States that were seen before are not explored again.

use std::collections::{BTreeMap, HashSet};

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{
    Answer, End, Failure, HistoryId, LocalHistories, Op, OpKind, Origin, Program,
};

/// What a location holds, and who wrote it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Content {
    value: Value,
    writer: Option<Origin>,
    carries: bool,
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct World {
    /// The history of each thread, and how many of its last effects have happened.
    threads: BTreeMap<ThreadId, (HistoryId, usize)>,
    memory: BTreeMap<LocationId, Content>,
}

/// What the exploration has seen.
#[derive(Default)]
pub(crate) struct Naive {
    pub(crate) histories: LocalHistories,
    seen: HashSet<World>,
    pub(crate) deadlocks: usize,
    pub(crate) failures: Vec<Failure>,
}

impl Naive {
    /// Explores all interleavings.
    pub(crate) fn explore(&mut self, program: &mut dyn Program) {
        let mut world = World::default();
        let mut past = vec![];
        let main = ThreadId::new(0);
        let node = self.histories.start(program, &past, main, None);
        world.threads.insert(main, (node, 0));
        past.push(node);
        self.visit(program, &world, &past);
    }

    fn visit(&mut self, program: &mut dyn Program, world: &World, past: &[HistoryId]) {
        if !self.seen.insert(world.clone()) {
            return;
        }
        let mut is_stuck = true;
        let mut waits = false;
        for (&thread, &(node, done)) in &world.threads {
            if done < self.histories.effects(node).len() {
                is_stuck = false;
                let (mut world, mut past) = (world.clone(), past.to_vec());
                world.threads.insert(thread, (node, done + 1));
                self.effect(
                    program,
                    &mut world,
                    &mut past,
                    Origin { node, index: done as u32 + 1 },
                );
                self.visit(program, &world, &past);
                continue;
            }
            let question = match self.histories.end(node) {
                End::Question(question) => *question,
                End::Failed(failure) => {
                    self.failures.push(failure.clone());
                    return;
                }
                End::Repeats(_) | End::Assume | End::Limit | End::Unrolled(_) => {
                    is_stuck = false;
                    continue;
                }
                End::Finished => continue,
            };
            let answers = self.answers(world, &question);
            waits |= answers.is_empty();
            for (answer, written) in answers {
                is_stuck = false;
                let (mut world, mut past) = (world.clone(), past.to_vec());
                let next = self.histories.after(program, &past, node, answer);
                if let (Some(location), Some((value, carries))) =
                    (question.kind.location(), written)
                {
                    let writer = Some(Origin { node: next, index: 0 });
                    world.memory.insert(location, Content { value, writer, carries });
                }
                world.threads.insert(thread, (next, 0));
                past.push(next);
                self.visit(program, &world, &past);
            }
        }
        self.deadlocks += usize::from(is_stuck && waits);
    }

    /// The answers to a question, each with what it writes.
    fn answers(&self, world: &World, question: &Op) -> Vec<(Answer, Option<(Value, bool)>)> {
        let content = question.kind.location().and_then(|at| world.memory.get(&at)).cloned();
        let content = content.unwrap_or(Content { value: 0, writer: None, carries: false });
        let value = content.value;
        let from = content.writer.map_or(Answer::Initial, Answer::From);
        let read = match content.writer {
            Some(writer) if content.carries => Answer::From(writer),
            _ => Answer::Value(value),
        };
        match question.kind {
            OpKind::Load { .. } => vec![(read, None)],
            OpKind::Rmw { update, .. } => {
                let written = update.apply(value);
                vec![(read, Some((written, raddle_core::program::is_pointer(written))))]
            }
            OpKind::CompareExchange { expected, .. } if expected != value => vec![(read, None)],
            OpKind::CompareExchange { desired, carries, weak, .. } => {
                let spurious = match read {
                    Answer::From(origin) => Answer::SpuriousFrom(origin),
                    _ => Answer::Spurious(value),
                };
                let mut answers = vec![(read, Some((desired, carries)))];
                answers.extend(weak.then_some((spurious, None)));
                answers
            }
            OpKind::Lock { .. } if value == 0 => vec![(from, Some((1, false)))],
            OpKind::Sync { guard, update, .. } if guard.admits(value) => {
                vec![(from, Some((update.apply(value), false)))]
            }
            OpKind::Choose { options } => (0..options).map(|n| (Answer::Choice(n), None)).collect(),
            OpKind::ReadCell { .. } => vec![(from, None)],
            OpKind::Join { thread } => match world.threads.get(&thread) {
                Some(&(node, done))
                    if *self.histories.end(node) == End::Finished
                        && done == self.histories.effects(node).len() =>
                {
                    vec![(Answer::From(Origin { node, index: done as u32 }), None)]
                }
                _ => vec![],
            },
            _ => vec![],
        }
    }

    /// An effect happens.
    fn effect(
        &mut self,
        program: &mut dyn Program,
        world: &mut World,
        past: &mut Vec<HistoryId>,
        origin: Origin,
    ) {
        let op = self.histories.effects(origin.node)[origin.index as usize - 1];
        let writer = Some(origin);
        let content = match op.kind {
            OpKind::Init { location, value } => {
                let initial = Content { value, writer: None, carries: false };
                world.memory.entry(location).or_insert(initial);
                return;
            }
            OpKind::Store { value, carries, .. } => Content { value, writer, carries },
            OpKind::Unlock { .. } | OpKind::WriteCell { .. } => {
                Content { value: 0, writer, carries: false }
            }
            OpKind::Spawn { thread } => {
                let first = self.histories.start(program, past, thread, Some(origin));
                world.threads.insert(thread, (first, 0));
                past.push(first);
                return;
            }
            _ => return,
        };
        let location = op.kind.location().expect("a write has a location");
        world.memory.insert(location, content);
    }
}
