//! Programs with additional fences.
//!
//! A thread does not learn anything from a fence. So the histories of the program with fences are those of
//! the program without, with fences between the effects; [`Fenced`] translates between the two. The histories
//! without fences are kept from one set of fences to the next, so native code runs once for all sets.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, Origin, PlaceId,
    Program, Segment,
};
use raddle_core::trace::{Fence, FenceSide};

/// A program whose histories outlive one exploration.
pub(super) struct Remembered<'a> {
    pub(super) program: RefCell<&'a mut dyn Program>,
    histories: RefCell<LocalHistories>,
}

impl<'a> Remembered<'a> {
    /// A program without remembered histories.
    pub(super) fn new(program: &'a mut dyn Program) -> Self {
        let histories = RefCell::new(LocalHistories::new());
        Remembered { program: RefCell::new(program), histories }
    }
}

/// A program with additional fences.
pub(super) struct Fenced<'a, 'p> {
    remembered: &'a Remembered<'p>,
    fences: &'a BTreeSet<Fence>,
    /// By history of the program with fences, the history without.
    without: Vec<HistoryId>,
    /// The inverse of `without`.
    with: FxHashMap<HistoryId, HistoryId>,
}

impl<'a, 'p> Fenced<'a, 'p> {
    /// The program with these fences.
    pub(super) fn new(remembered: &'a Remembered<'p>, fences: &'a BTreeSet<Fence>) -> Self {
        Fenced { remembered, fences, without: vec![], with: FxHashMap::default() }
    }

    fn has(&self, side: FenceSide, op: &Op) -> bool {
        self.fences.contains(&Fence { side, place: op.place })
    }

    /// The effects of a segment, with fences.
    fn with_fences(&self, effects: &[Op], end: &End) -> Vec<Op> {
        let fence = |op: &Op| Op { kind: OpKind::Fence { order: MemoryOrder::SeqCst }, ..*op };
        let mut all = vec![];
        for op in effects {
            all.push(*op);
            if self.has(FenceSide::AfterStore, op) {
                all.push(fence(op));
            }
        }
        if let End::Question(op) = end
            && self.has(FenceSide::BeforeLoad, op)
        {
            all.push(fence(op));
        }
        all
    }

    /// The corresponding event of the program without fences. A fence corresponds to the event before it.
    fn origin_without(&self, origin: Origin) -> Origin {
        let node = self.without[origin.node.0 as usize];
        let histories = self.remembered.histories.borrow();
        let (mut seen, mut index) = (0, 0);
        for op in histories.effects(node) {
            seen += 1;
            if seen > origin.index {
                break;
            }
            index += 1;
            seen += u32::from(self.has(FenceSide::AfterStore, op));
        }
        Origin { node, index }
    }

    fn answer_without(&self, answer: Answer) -> Answer {
        match answer {
            Answer::From(origin) => Answer::From(self.origin_without(origin)),
            Answer::SpuriousFrom(origin) => Answer::SpuriousFrom(self.origin_without(origin)),
            Answer::Value(_) | Answer::Spurious(_) | Answer::Initial | Answer::Choice(_) => answer,
        }
    }

    /// Performs a step of the program without fences and returns its history there.
    fn step_without(&self, past: &[HistoryId], step: HistoryStep) -> HistoryId {
        let without = |node: &HistoryId| self.without[node.0 as usize];
        let past: Vec<HistoryId> = past.iter().map(without).collect();
        let step = match step {
            HistoryStep::Start(thread, by) => {
                HistoryStep::Start(thread, by.map(|by| self.origin_without(by)))
            }
            HistoryStep::After(node, answer) => {
                HistoryStep::After(without(&node), self.answer_without(answer))
            }
        };
        let mut program = self.remembered.program.borrow_mut();
        let mut histories = self.remembered.histories.borrow_mut();
        match step {
            HistoryStep::Start(thread, by) => histories.start(&mut **program, &past, thread, by),
            HistoryStep::After(node, answer) => {
                histories.after(&mut **program, &past, node, answer)
            }
        }
    }
}

impl Program for Fenced<'_, '_> {
    fn run(
        &mut self,
        _: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        let without = self.step_without(past, step);
        debug_assert_eq!(self.without.len(), node.0 as usize, "histories are numbered in order");
        self.without.push(without);
        self.with.insert(without, node);
        let histories = self.remembered.histories.borrow();
        let end = match *histories.end(without) {
            End::Repeats(start) => End::Repeats(self.with[&start]),
            ref other => other.clone(),
        };
        Segment { effects: self.with_fences(histories.effects(without), &end), end }
    }

    fn shares_memory(&self) -> bool {
        self.remembered.program.borrow().shares_memory()
    }

    fn goes_on_after_races(&self) -> bool {
        self.remembered.program.borrow().goes_on_after_races()
    }

    fn result(&self, node: HistoryId) -> Option<Value> {
        let without = self.without[node.0 as usize];
        match self.remembered.histories.borrow().joined(without) {
            Answer::Value(value) => Some(value),
            _ => None,
        }
    }
}

impl Naming for Fenced<'_, '_> {
    fn place(&self, place: PlaceId) -> String {
        self.remembered.program.borrow().place(place)
    }

    fn function(&self, place: PlaceId) -> Option<String> {
        self.remembered.program.borrow().function(place)
    }

    fn location_name(&self, location: LocationId) -> String {
        self.remembered.program.borrow().location_name(location)
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.remembered.program.borrow().thread_name(thread)
    }

    fn initial_value(&self, location: LocationId) -> Value {
        self.remembered.program.borrow().initial_value(location)
    }
}
