//! Final states by brute force over the reference machine of SC, TSO and PSO.
//!
//! Only the threads of the test run here, and final values are those in memory when all buffers are empty. So the
//! computation shares nothing with that of the explorers.

use std::collections::{BTreeSet, HashSet};

use raddle_consistency::reference::machine::{
    MachineInstruction, MachineObservation, ReferenceMachine, ThreadPlan,
};
use raddle_core::execution::{EventId, LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::{Answer, End, HistoryId, LocalHistories, Naming, OpKind};
use raddle_litmus::{FinalState, LitmusProgram, LitmusTest};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Point {
    machine: ReferenceMachine,
    /// By thread: its history, the number of effects of the last segment that are done, and the number of events.
    threads: Vec<(HistoryId, usize, usize)>,
}

struct World<'a> {
    test: &'a LitmusTest,
    program: LitmusProgram<'a>,
    histories: LocalHistories,
}

/// Returns all final states.
pub(crate) fn states(test: &LitmusTest, model: Model) -> BTreeSet<FinalState> {
    let (program, histories) = (LitmusProgram::new(test, 8), LocalHistories::new());
    let mut world = World { test, program, histories };
    let first = world.start(model);
    let mut visited: HashSet<Point> = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut states = BTreeSet::new();
    while let Some(point) = open.pop() {
        let next = world.successors(&point);
        if next.is_empty() {
            states.extend(world.state(&point));
        }
        for point in next {
            if visited.insert(point.clone()) {
                open.push(point);
            }
        }
    }
    states
}

impl World<'_> {
    fn start(&mut self, model: Model) -> Point {
        let locations = (0..self.test.location_count()).map(LocationId::new);
        let initial: Vec<_> = locations.map(|it| self.program.initial_value(it)).collect();
        let plan = ThreadPlan { spawned: false, instructions: usize::MAX };
        let machine = ReferenceMachine::new(model, &initial, &vec![plan; self.test.thread_count()]);
        // Thread 0 of the program, which starts the others, does not run here.
        let ids = (1..=self.test.thread_count()).map(ThreadId::new);
        let start = |thread| self.histories.start(&mut self.program, &[], thread, None);
        let threads = ids.map(start).map(|node| (node, 0, 0)).collect();
        Point { machine, threads }
    }

    fn successors(&mut self, point: &Point) -> Vec<Point> {
        let mut all = vec![];
        for at in 0..point.threads.len() {
            all.extend(self.step(point, at));
            for (location, _) in point.machine.all_flushable(ThreadId::new(at)) {
                let mut next = point.clone();
                next.machine.flush(ThreadId::new(at), location);
                all.push(next);
            }
        }
        all
    }

    /// Returns the next steps of a thread. A weak compare-exchange has two.
    fn step(&mut self, point: &Point, at: usize) -> Vec<Point> {
        let (node, effects, _) = point.threads[at];
        if let Some(op) = self.histories.effects(node).get(effects) {
            let next = self.execute(point, at, &effect(op.kind));
            return next
                .map(|(mut next, _)| {
                    next.threads[at].1 += 1;
                    next
                })
                .into_iter()
                .collect();
        }
        let End::Question(op) = self.histories.end(node) else { return vec![] };
        let mut all = vec![];
        for (instruction, spurious) in questions(op.kind, &point.machine) {
            let Some((mut next, MachineObservation::Value { value, .. })) =
                self.execute(point, at, &instruction)
            else {
                continue;
            };
            let answer = if spurious { Answer::Spurious(value) } else { Answer::Value(value) };
            let node = self.histories.after(&mut self.program, &[], node, answer);
            next.threads[at] = (node, 0, next.threads[at].2);
            all.push(next);
        }
        all
    }

    fn execute(
        &self,
        point: &Point,
        at: usize,
        instruction: &MachineInstruction,
    ) -> Option<(Point, MachineObservation)> {
        let thread = ThreadId::new(at);
        if !point.machine.can_run(thread, instruction) {
            return None;
        }
        let mut next = point.clone();
        let position = &mut next.threads[at].2;
        let name = self.test.location_count() + *position * point.threads.len() + at;
        *position += 1;
        let observation = next.machine.run(thread, EventId::new(name), instruction);
        Some((next, observation))
    }

    fn state(&self, point: &Point) -> Option<FinalState> {
        let nodes = || point.threads.iter().map(|&(node, ..)| node);
        assert!(nodes().all(|node| *self.histories.end(node) == End::Finished), "all threads end");
        let registers: Vec<&[_]> = nodes().map(|node| self.program.registers(node)).collect();
        self.test
            .final_state(&registers, &|location| point.machine.value(LocationId::new(location)))
    }
}

fn effect(kind: OpKind) -> MachineInstruction {
    match kind {
        OpKind::Store { location, value, order, .. } => {
            MachineInstruction::Store { location, value, order }
        }
        OpKind::Fence { order } => MachineInstruction::Fence { order },
        OpKind::StoreFence => MachineInstruction::StoreFence,
        _ => panic!("tests have no effect {kind:?}"),
    }
}

fn questions(kind: OpKind, machine: &ReferenceMachine) -> Vec<(MachineInstruction, bool)> {
    match kind {
        OpKind::Load { location, .. } => vec![(MachineInstruction::Load { location }, false)],
        OpKind::Rmw { location, update, .. } => {
            let value = update.apply(machine.value(location));
            vec![(MachineInstruction::Exchange { location, value }, false)]
        }
        OpKind::CompareExchange { location, expected, desired, weak, .. } => {
            let both = weak && machine.value(location) == expected;
            let instruction = |spurious| MachineInstruction::CompareExchange {
                location,
                expected,
                desired,
                spurious,
            };
            let options = [false, true].into_iter().filter(|&spurious| both || !spurious);
            options.map(|spurious| (instruction(spurious), spurious)).collect()
        }
        _ => panic!("tests do not ask {kind:?}"),
    }
}
