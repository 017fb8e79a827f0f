//! A C program as a [`Program`].
//!
//! *Problem.* To find out what a thread does next, its code must be run up to there with the answers of its
//! history.
//!
//! *Idea.* All that threads share goes through ops, so a thread is a function of how it starts and of what it
//! reads, and can be run without any other thread. Each has one stack; if it stands at the end of the
//! history that is asked about it goes on from there, otherwise it alone goes back (`rewind`), or starts again, and is
//! given the answers of its history. Every op is then compared with what the history says: if it differs, the
//! program depends on something else, and that is reported.
//!
//! *Cost.* Running a thread again costs its instructions, some nanoseconds for every hook, and as much
//! memory traffic as its stack and variables are large.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, Failure, HistoryId, HistoryStep, Live, LocalHistories, Naming, Op, OpKind, Origin,
    PlaceId, Program, Queues, Segment,
};
use rustc_hash::FxHashMap;

use crate::access::Owners;
use crate::begin::Arguments;
use crate::error::Error;
use crate::heap::Regions;
use crate::layout::{Layout, Location, Scalars, What};
use crate::leaks::Left;
use crate::load::Module;
use crate::names::Names;
use crate::ops::Kind;
use crate::places::Places;
use crate::slots::Slots;
use crate::switch::Frame;
use crate::threads::Thread;
use crate::{spin, trap};

/// What a location holds after its block is freed.
pub(crate) const GONE: Value = -(1 << 100);

/// How a program is run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The arguments of the program; the first one is its name.
    pub(crate) arguments: Vec<String>,
    /// At most so many events for each thread.
    pub(crate) max_events: u32,
    /// Whether plain accesses may be cut.
    pub(crate) scalars: Scalars,
    /// Whether blocks that are never freed are looked for.
    pub(crate) leaks: bool,
}

/// A program that is loaded.
pub(crate) struct Native {
    pub(crate) module: Module,
    pub(crate) settings: Settings,
    /// The program's variables as they are in the beginning.
    pub(crate) snapshot: Vec<u8>,
    pub(crate) slots: Slots,
    pub(crate) names: Names,
    pub(crate) places: Places,
    pub(crate) layout: Layout,
    pub(crate) owners: Owners,
    pub(crate) regions: Regions,
    /// The blocks of all threads in all their histories: where they start, and how large they are.
    pub(crate) known_blocks: BTreeMap<usize, usize>,
    /// The blocks that were freed by ops in this exploration.
    pub(crate) freed_blocks: BTreeMap<usize, usize>,
    pub(crate) threads: Vec<Option<Thread>>,
    pub(crate) current: ThreadId,
    /// What the current thread has done since its last question.
    pub(crate) segment: Vec<Op>,
    /// Whether mutexes can be tried; in this exploration, and in the next.
    pub(crate) mutexes_can_be_tried: (bool, bool),
    /// Whether the exploration must start again.
    wants_restart: bool,
    /// For each history the value that its last answer was.
    replies: Vec<Value>,
    /// What threads leave.
    pub(crate) left: Left,
    /// What threads print in their histories.
    printed: FxHashMap<HistoryId, String>,
    /// Whether the main thread ends without ending the program.
    pub(crate) main_leaves: bool,
    /// Why not everything is explored, if the program chooses from more than can be tried.
    pub(crate) bound: Option<String>,
    /// The arguments of `main`: their number and their addresses.
    pub(crate) arguments: Arguments,
    pub(crate) executions: u64,
    /// What the threads of a run that goes forwards do next.
    pub(crate) queues: Queues,
    /// Whether such a run was made.
    pub(crate) is_live: bool,
    /// How many of these were told to others.
    pub(crate) told_executions: u64,
}

impl Native {
    pub(crate) fn new(mut module: Module, settings: Settings) -> Result<Self, Error> {
        let (from, to) = module.globals;
        let mut snapshot = vec![0; to - from];
        for (start, end) in module.ranges() {
            // SAFETY: this is the loaded object's own memory, and none of its code runs.
            let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) };
            snapshot[start - from..end - from].copy_from_slice(bytes);
        }
        let mut places = Places::new(std::mem::take(&mut module.bytes), module.base);
        if let Some(stub) = &mut module.stub {
            places.add_stub(std::mem::take(&mut stub.bytes), stub.constants);
        }
        let layout = Layout::new(settings.scalars);
        Ok(Native {
            arguments: Arguments::new(&settings.arguments)?,
            owners: Owners::new(module.globals),
            module,
            settings,
            snapshot,
            slots: Slots::new()?,
            names: Names::default(),
            places,
            layout,
            regions: Regions::default(),
            known_blocks: BTreeMap::new(),
            freed_blocks: BTreeMap::new(),
            threads: vec![],
            current: ThreadId::new(0),
            segment: vec![],
            mutexes_can_be_tried: (false, false),
            wants_restart: false,
            replies: vec![],
            left: Left::default(),
            printed: FxHashMap::default(),
            main_leaves: false,
            bound: None,
            executions: 0,
            queues: Queues::default(),
            is_live: false,
            told_executions: 0,
        })
    }

    /// What the thread of a history printed after the last answer.
    pub(crate) fn printed_at(&self, node: HistoryId) -> Option<&str> {
        self.printed.get(&node).map(String::as_str)
    }

    /// Whether anything was printed in any execution.
    pub(crate) fn prints(&self) -> bool {
        !self.printed.is_empty()
    }

    /// How often a thread was run from its beginning.
    pub(crate) fn executions(&self) -> u64 {
        self.executions
    }

    /// The exploration must start again.
    pub(crate) fn want_restart(&mut self) {
        self.wants_restart = true;
    }

    /// Begins a new exploration of a part that others know.
    pub(crate) fn restart_part(&mut self) {
        self.wants_restart = false;
        self.mutexes_can_be_tried.0 = self.mutexes_can_be_tried.1;
        self.layout.restart();
        self.forget_owners();
        self.restore_all();
        self.freed_blocks.clear();
        self.threads.clear();
        self.replies.clear();
        self.printed.clear();
    }

    /// Ends the execution, because the exploration must start again.
    pub(crate) fn again(&mut self) -> End {
        self.want_restart();
        let message = String::from("the exploration starts again");
        let place = PlaceId::default();
        End::Failed(Failure { kind: FindingKind::Misuse, message, place })
    }

    /// Ends the execution, because the program is wrong at the place where it is.
    pub(crate) fn failure(&mut self, kind: FindingKind, message: &str) -> End {
        let place = self.place();
        self.failure_at(kind, message, place)
    }

    /// Ends the execution, because the program is wrong at a place.
    pub(crate) fn failure_at(&mut self, kind: FindingKind, message: &str, place: PlaceId) -> End {
        End::Failed(Failure { kind, message: message.to_owned(), place })
    }

    /// Where the current thread is.
    pub(crate) fn place(&mut self) -> PlaceId {
        let thread = self.thread();
        let (at, stack) = (thread.caller, thread.slot.stack());
        self.places.place_of_user(at, stack)
    }

    /// The current thread.
    #[inline]
    pub(crate) fn thread(&self) -> &Thread {
        self.threads[self.current.index()].as_ref().expect("the current thread has started")
    }

    /// The current thread.
    #[inline]
    pub(crate) fn thread_mut(&mut self) -> &mut Thread {
        self.threads[self.current.index()].as_mut().expect("the current thread has started")
    }

    /// Runs the current thread to its next question.
    pub(crate) fn drive(&mut self) -> End {
        loop {
            if let Some(end) = self.drive_once() {
                return end;
            }
            let is_over = self.thread().events > self.settings.max_events;
            if is_over || self.segment.len() > Segment::LONGEST {
                return End::Limit;
            }
        }
    }

    /// Runs the current thread to its next hook. How its segment ends there, if it does.
    #[inline]
    pub(crate) fn drive_once(&mut self) -> Option<End> {
        let thread = self.thread_mut();
        thread.allow_quick_hooks();
        let frame: *mut Frame = &raw mut *thread.frame;
        trap::note_step();
        // SAFETY: the frame is one at which the thread stands, and we hold no reference to it.
        unsafe { Frame::run(frame, self.module.current) };
        self.serve().err()
    }

    /// Gives the current thread the answer to its question and runs it to its next one.
    fn go_on(&mut self, value: Value, is_spurious: bool) -> End {
        self.segment.clear();
        match self.take_answer(value, is_spurious) {
            Ok(()) => self.drive(),
            Err(end) => end,
        }
    }

    /// Gives the current thread the answer to its question.
    pub(crate) fn take_answer(&mut self, value: Value, is_spurious: bool) -> Result<(), End> {
        let reads = match self.thread().question {
            Some(question) => spin::only_reads(&question, value, is_spurious),
            None => false,
        };
        if !reads {
            self.thread_mut().past.changed();
        }
        self.answer(value, is_spurious)
    }

    /// Runs the thread of a history to its end, from the beginning or from where it can go back to. An error says
    /// what is different.
    fn repeat(&mut self, histories: &LocalHistories, node: HistoryId) -> Result<(), End> {
        let thread = histories.thread(node);
        let may_go_back = self.may_go_back(thread);
        let (mut nodes, mut node) = (vec![], node);
        while !(may_go_back && self.go_back(thread, node)) {
            nodes.push(node);
            let HistoryStep::After(parent, _) = histories.step(node) else { break };
            node = parent;
        }
        for &node in nodes.iter().rev() {
            let end = self.step(histories, node, histories.step(node));
            let before = histories.end(node);
            if end != *before && !matches!(before, End::Repeats(_))
                || histories.effects(node) != self.segment.as_slice()
            {
                return Err(self.difference(histories, node, &end));
            }
            self.note_question(node, &end);
        }
        Ok(())
    }

    /// Does a step from where its thread is.
    fn step(&mut self, histories: &LocalHistories, node: HistoryId, step: HistoryStep) -> End {
        match step {
            HistoryStep::Start(thread, _) => self.start(thread),
            HistoryStep::After(parent, answer) => {
                self.current = histories.thread(parent);
                let is_spurious = matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_));
                self.go_on(self.replies[node.0 as usize], is_spurious)
            }
        }
    }

    /// What an answer says.
    fn value_of(&self, histories: &LocalHistories, step: HistoryStep) -> Value {
        let HistoryStep::After(_, answer) = step else { return 0 };
        match answer {
            Answer::Value(value) | Answer::Spurious(value) => value,
            Answer::From(origin) | Answer::SpuriousFrom(origin) => self.written(histories, origin),
            Answer::Initial => 0,
            Answer::Choice(choice) => choice.into(),
        }
    }

    /// What an event wrote, if it did.
    fn written(&self, histories: &LocalHistories, origin: Origin) -> Value {
        let Origin { node, index } = origin;
        if index > 0 {
            return match histories.effects(node).get(index as usize - 1).map(|op| op.kind) {
                Some(OpKind::Store { value, .. }) => value,
                _ => 0,
            };
        }
        let HistoryStep::After(parent, _) = histories.step(node) else { return 0 };
        let read = self.replies[node.0 as usize];
        match histories.end(parent) {
            End::Question(Op {
                kind: OpKind::Rmw { update, .. } | OpKind::Sync { update, .. },
                ..
            }) => update.apply(read),
            End::Question(Op { kind: OpKind::CompareExchange { desired, .. }, .. }) => *desired,
            _ => 0,
        }
    }

    fn place_name(&self, place: PlaceId) -> String {
        self.places.name(place)
    }

    fn try_run(
        &mut self,
        histories: &LocalHistories,
        step: HistoryStep,
        node: HistoryId,
    ) -> Result<Segment, End> {
        if let HistoryStep::After(parent, _) = step {
            let thread = histories.thread(parent);
            let stands = self.threads.get(thread.index()).and_then(Option::as_ref);
            if stands.is_none_or(|thread| thread.at != Some(parent)) {
                self.repeat(histories, parent)?;
            }
        }
        let mut end = self.step(histories, node, step);
        let effects = std::mem::take(&mut self.segment);
        if let Some(earlier) = self.note_question(node, &end) {
            end = End::Repeats(earlier);
        }
        Ok(Segment { effects, end })
    }
}

impl Program for Native {
    fn run(
        &mut self,
        histories: &LocalHistories,
        _: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        let reply = self.value_of(histories, step);
        self.replies.truncate(node.0 as usize);
        self.replies.resize(node.0 as usize, 0);
        self.replies.push(reply);
        if self.strays(histories, step, reply) {
            return Segment { effects: vec![], end: End::Assume };
        }
        let segment = self.try_run(histories, step, node);
        let segment = segment.unwrap_or_else(|end| Segment { effects: vec![], end });
        let is_question = matches!(segment.end, End::Question(_));
        if let Some(thread) = &mut self.threads[self.current.index()] {
            thread.at = is_question.then_some(node);
            if !thread.printed.is_empty() {
                self.printed.insert(node, std::mem::take(&mut thread.printed));
            }
        }
        segment
    }

    fn shares_memory(&self) -> bool {
        false
    }

    fn live(&mut self) -> Option<&mut dyn Live> {
        Some(self)
    }

    fn needs_restart(&self) -> bool {
        self.wants_restart
    }

    fn restart(&mut self) {
        self.layout.is_settled = false;
        self.restart_part();
    }

    fn learned(&mut self) -> String {
        self.news()
    }
}

impl Naming for Native {
    fn place(&self, place: PlaceId) -> String {
        self.place_name(place)
    }

    fn location_name(&self, location: LocationId) -> String {
        let Location { what, address, .. } = self.layout.all[location.index()];
        match what {
            What::Memory(_) => self.memory_name(address),
            What::Object(Kind::Mutex) => self.object_name(address),
            What::Object(kind) => format!("{} ({kind:?})", self.object_name(address)),
            What::Remains => format!("remains of {}", self.thread_name(ThreadId::new(address))),
            What::Piece => format!("{} in pieces", self.memory_name(address)),
            What::Block => format!("{} (block)", self.memory_name(address)),
            What::Result => format!("result of {}", self.thread_name(ThreadId::new(address))),
        }
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.names.path(thread)
    }

    fn initial_value(&self, location: LocationId) -> Value {
        let Location { what, address, .. } = self.layout.all[location.index()];
        let What::Memory(size) = what else { return 0 };
        let mut bytes = [0; 16];
        for (offset, byte) in bytes[..size].iter_mut().enumerate() {
            *byte = self.initial_byte(address + offset);
        }
        u128::from_le_bytes(bytes) as Value
    }
}
