//! A compiled program as a [`Program`] that explorers run.
//!
//! *Problem.* To know what a thread does next, its code must run up to there with the answers of its history.
//!
//! *Idea.* Everything that threads share goes through ops, so a thread is a function of how it starts and of what it reads,
//! and runs without the others. Every question is a point to which the thread can go back (`thread`): its registers and
//! a position in the undo log of its private memory. The explorer asks about one history after the other; the thread goes back
//! to the nearest question on the path to it and continues with other answers.
//!
//! *Cost.* A question costs its instructions, about 20 ns for the point, and some look-ups for location and place.

mod access;
mod atomic;
mod barriers;
mod bookkeeping;
pub(crate) mod call;
pub(crate) mod changes;
mod differences;
pub(crate) mod facts;
mod fault;
mod given;
mod guide;
mod heap;
mod history;
mod joint;
pub(crate) mod kinds;
pub(crate) mod layout;
mod library;
mod live;
mod loops;
mod marks;
mod memory_names;
mod names;
mod parts;
pub(crate) mod places;
pub(crate) mod recorder;
mod remains;
mod repeats;
mod retry;
mod run;
mod sections;
pub(crate) mod sharing;
pub(crate) mod std_code;
mod symmetry;
pub(crate) mod table;
pub(crate) mod thread;

use std::rc::Rc;
use std::sync::Arc;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::model::orders::StoreBuffers;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    End, Failure, Guard, HistoryId, HistoryStep, Live, LocalHistories, Naming, Op, OpKind, PlaceId,
    Program, Queues, Segment, ThreadExchange,
};
use raddle_cpu::memory::Thread;
use raddle_cpu::{Calls, Cpu, Dead, Liveness, Register};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::environment::Environment;
use crate::process::{Process, ThreadSnapshot, ThreadStart};
use barriers::Barriers;
use bookkeeping::Bookkeeping;
use differences::Differences;
use given::GivenMemory;
pub use guide::{Guide, KnownRead};
pub(crate) use heap::FRESH;
use heap::HeapRegions;
use layout::Layout;
pub use layout::ScalarCut;
pub(crate) use layout::{Location, LocationKind};
use library::LibraryData;
use loops::PrivateSteps;
pub(crate) use memory_names::{object_name, without_wrapper};
pub(crate) use names::Start;
use names::ThreadNames;
use places::Places;
use recorder::StackRecorder;
use remains::Remaining;
pub(crate) use remains::{LastStores, Leak, last_stores};
pub use table::Table;
use thread::GuestThread;

/// The value of a location after its block was freed.
pub(crate) const GONE: Value = -(1 << 100);

/// A thread that has ended the program waits for this, which never holds.
pub(crate) const EXITED: Guard = Guard::Below(0);

/// Size of the stacks of threads.
const STACK: u64 = 8 << 20;

/// How to run a program.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The maximal number of ops of a thread.
    pub max_events: u32,
    /// Whether plain accesses of scalars may be cut into parts.
    pub scalars: ScalarCut,
    /// What calls in the program do to registers.
    pub calls: Calls,
    /// Whether a thread that waits may repeat updates that write what they read: not if writes have no modification order.
    pub updates_may_be_silent: bool,
    /// Whether values that threads do not use need not tell executions apart. Then updates with a dead result are blind, and
    /// addresses of local variables are followed to hooks of atomic operations, so that more is known to be dead and more
    /// states are equal. Otherwise retries after a failed compare-exchange mostly count, as in the literature.
    pub ignores_dead_values: bool,
    /// Whether to overwrite what is considered dead at every question: a debugging aid. Nothing observable may change.
    pub poison: bool,
    /// The largest number of rounds of a loop of the program, if it is bounded.
    pub unroll: Option<u32>,
    /// Whether threads with the same function and argument may be symmetric.
    pub symmetry: bool,
    /// How stores are buffered, if the model has store buffers; `None` if it has memory orders.
    pub store_buffers: Option<StoreBuffers>,
    /// Whether threads tell at their end what they leave on the heap.
    pub leaks: bool,
    /// What the environment may do, and what counts as an error.
    pub environment: Environment,
}

/// A compiled program.
pub struct NativeProgram {
    pub(crate) process: Process,
    pub(crate) table: Table,
    pub(crate) settings: Settings,
    pub(crate) names: ThreadNames,
    pub(crate) places: Places,
    liveness: Liveness,
    library: LibraryData,
    pub(crate) layout: Layout,
    pub(crate) heap_regions: HeapRegions,
    pub(crate) threads: Vec<Option<GuestThread>>,
    pub(crate) current: ThreadId,
    /// The effects of the current thread since its last question.
    pub(crate) segment: Vec<Op>,
    /// Locks are synchronization objects in this exploration, because some thread tries to acquire one.
    pub(crate) locks_can_be_tried: bool,
    next_locks_can_be_tried: bool,
    /// Threads are cancelled in this exploration.
    pub(crate) cancels: bool,
    next_cancels: bool,
    barriers: Barriers,
    next_barriers: Barriers,
    /// What symmetric threads have got from their creator.
    given: GivenMemory,
    wants_restart: bool,
    /// The reply that each history ends with, by history.
    replies: Vec<Value>,
    /// What threads print at the end of their histories.
    pub(crate) printed: FxHashMap<HistoryId, String>,
    /// The main thread ends without ending the program.
    pub(crate) main_leaves: bool,
    /// Locations for which threads wait by asking again (`retry`).
    pub(crate) awaited: FxHashSet<LocationId>,
    /// Why not everything is explored.
    pub(crate) bound: Option<String>,
    /// What else the result must tell.
    pub(crate) remark: Option<String>,
    /// How often a thread was run from its start.
    pub(crate) executions: u64,
    /// How many of these were reported to other workers.
    pub(crate) reported_executions: u64,
    /// What threads have left on the heap.
    remaining: Remaining,
    pub(crate) guide: Option<Arc<Guide>>,
    pub(crate) queues: Queues,
    pub(crate) is_live: bool,
    /// The state of the main thread at the entry of the program.
    entry: ThreadSnapshot,
    /// What is dead at the end of a history, since the last step.
    dead_at: Option<(HistoryId, Dead)>,
    differences: Differences,
    /// Stronger memory orders and fences than in the source.
    pub(crate) changes: Option<Box<changes::Changes>>,
    /// Records call stacks, while an execution is followed once more.
    pub(crate) recorder: Option<Box<StackRecorder>>,
}

impl NativeProgram {
    /// A program whose process stands at its entry. The table must be the one whose functions the process intercepts.
    pub fn new(mut process: Process, table: Table, settings: Settings) -> Self {
        process.begin_exploration();
        if let Some(limit) = settings.unroll {
            process.limit_rounds(limit);
        }
        sharing::disown_variables(&mut process);
        let library = LibraryData::new(&mut process, &table.library_memory);
        let entry =
            process.snapshot_thread(Thread::MAIN).unwrap_or_else(|| unreachable!("main exists"));
        let places = Places::new();
        let modules = process.modules();
        let program = modules.first().map(AsRef::as_ref);
        let callees = settings.ignores_dead_values.then_some(&*table.callees);
        let liveness = repeats::liveness(program, settings.calls, callees);
        NativeProgram {
            process,
            table,
            settings,
            names: ThreadNames::default(),
            places,
            liveness,
            library,
            layout: Layout::new(settings.scalars, settings.store_buffers.is_some()),
            heap_regions: HeapRegions::default(),
            threads: vec![],
            current: ThreadId::new(0),
            segment: vec![],
            locks_can_be_tried: false,
            next_locks_can_be_tried: false,
            cancels: false,
            next_cancels: false,
            barriers: Barriers::new(),
            next_barriers: Barriers::new(),
            given: GivenMemory::default(),
            wants_restart: false,
            replies: vec![],
            printed: FxHashMap::default(),
            main_leaves: false,
            awaited: FxHashSet::default(),
            bound: None,
            remark: None,
            executions: 0,
            reported_executions: 0,
            remaining: Remaining::default(),
            guide: None,
            queues: Queues::default(),
            is_live: false,
            entry,
            dead_at: None,
            differences: Differences::default(),
            changes: None,
            recorder: None,
        }
    }

    /// The current thread.
    #[inline]
    pub(crate) fn thread(&self) -> &GuestThread {
        self.threads[self.current.index()].as_ref().expect("the current thread has started")
    }

    /// The current thread.
    #[inline]
    pub(crate) fn thread_mut(&mut self) -> &mut GuestThread {
        self.threads[self.current.index()].as_mut().expect("the current thread has started")
    }

    /// The CPU of the current thread.
    pub(crate) fn cpu(&self) -> &Cpu {
        self.process.cpu(self.thread().guest).expect("the current thread has a CPU")
    }

    /// The CPU of the current thread.
    pub(crate) fn cpu_mut(&mut self) -> &mut Cpu {
        let guest = self.thread().guest;
        self.process.cpu_mut(guest).expect("the current thread has a CPU")
    }

    /// The address to which the modelled function of the current thread returns.
    pub(crate) fn return_address(&self) -> u64 {
        let mut bytes = [0; 8];
        let stack = self.cpu().register(Register::Rsp);
        match self.process.memory().read(stack, &mut bytes) {
            Ok(()) => u64::from_le_bytes(bytes),
            Err(_) => 0,
        }
    }

    /// Facts that hold from the next exploration on.
    pub(crate) fn note_locks_can_be_tried(&mut self) {
        self.next_locks_can_be_tried = true;
    }

    /// As above: threads are cancelled.
    pub(crate) fn note_cancels(&mut self) {
        self.next_cancels = true;
    }

    /// Ends the execution, because the exploration must start again with a new fact.
    pub(crate) fn again(&mut self) -> End {
        self.wants_restart = true;
        let message = String::from("the exploration starts again");
        End::Failed(Failure { kind: FindingKind::Misuse, message, place: PlaceId::default() })
    }

    /// Ends the execution with a bug at the place of the current thread. If this kind is ignored, the thread ends the program: it
    /// waits forever.
    pub(crate) fn failure(&mut self, kind: FindingKind, message: &str) -> End {
        let place = self.place();
        if self.settings.environment.ignored.contains(kind) {
            return End::Question(self.exit_question(place));
        }
        End::Failed(Failure { kind, message: message.to_owned(), place })
    }

    /// The question of a thread that ends the program.
    fn exit_question(&mut self, place: PlaceId) -> Op {
        let kind = LocationKind::Object(kinds::ObjectKind::Exit);
        let location = self.layout.locate_object(kind, 0, place);
        let update = call::set_to(0);
        Op { kind: OpKind::Sync { location, guard: EXITED, update }, place }
    }

    /// Adds an effect of the current thread.
    pub(crate) fn perform(&mut self, op: Op) {
        if self.recorder.is_some() {
            self.record_step();
        }
        self.segment.push(op);
        let thread = self.thread_mut();
        thread.events += 1;
        if !run::is_harmless(&op) {
            thread.note_change();
        }
    }

    /// Lets a thread stand at its start. Fails if there are too many threads.
    pub(crate) fn begin(&mut self, thread: ThreadId) -> Result<(), End> {
        self.executions += 1;
        self.current = thread;
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, || None);
        }
        if self.threads[thread.index()].is_none() {
            self.threads[thread.index()] = Some(self.create(thread)?);
        }
        let thread = self.thread_mut();
        thread.points.clear();
        (thread.at, thread.question, thread.active) = (None, None, None);
        (thread.own, thread.events, thread.reads_since) = (Rc::default(), 0, 0);
        thread.printed.clear();
        thread.private = PrivateSteps::default();
        let (guest, start) = (thread.guest, thread.start.clone());
        self.process.restore_thread(guest, &start);
        self.segment.clear();
        Ok(())
    }

    fn create(&mut self, thread: ThreadId) -> Result<GuestThread, End> {
        let too_many = |_| {
            let message = String::from("the program has too many threads");
            let place = PlaceId::default();
            End::Failed(Failure { kind: FindingKind::Unsupported, message, place })
        };
        let guest = Thread::new(thread.index()).ok_or(()).map_err(too_many)?;
        let start = match self.names.start(thread) {
            None => self.entry.clone(),
            Some(Start { function, argument, library, .. }) => {
                let start = ThreadStart { function, argument, stack_size: STACK };
                if self.process.cpu(guest).is_none() {
                    // Initial thread-local storage comes from the libraries.
                    self.library.give(&mut self.process, guest, library);
                    self.process.create_thread(guest, start).map_err(|_| ()).map_err(too_many)?;
                }
                sharing::share_known(&mut self.process, &self.layout);
                self.process.snapshot_thread(guest).ok_or(()).map_err(too_many)?
            }
        };
        Ok(GuestThread {
            guest,
            at: None,
            question: None,
            active: None,
            last_value: 0,
            own: Rc::new(Bookkeeping::default()),
            events: 0,
            points: vec![],
            reads_since: 0,
            start,
            printed: String::new(),
            private: PrivateSteps::default(),
        })
    }

    /// Begins a new exploration with the known facts.
    pub(crate) fn restart_part(&mut self) {
        self.wants_restart = false;
        self.locks_can_be_tried = self.next_locks_can_be_tried;
        self.cancels = self.next_cancels;
        self.barriers = self.next_barriers.clone();
        self.layout.restart();
        for thread in self.threads.iter().flatten() {
            self.process.restore_thread(thread.guest, &thread.start);
        }
        self.process.restore_thread(Thread::MAIN, &self.entry);
        self.threads.clear();
        sharing::share_known(&mut self.process, &self.layout);
        self.replies.clear();
        self.differences.clear();
        self.printed.clear();
        self.awaited.clear();
    }
}

impl Program for NativeProgram {
    fn run(
        &mut self,
        histories: &LocalHistories,
        _: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        self.dead_at = None;
        self.differences.truncate(node);
        let reply = self.reply_of(histories, step);
        self.replies.resize(node.0 as usize, 0);
        self.replies.push(reply);
        if self.strays(histories, step, reply) {
            return Segment { effects: vec![], end: End::Assume };
        }
        let segment = self.run_step(histories, step, node);
        let segment = segment.unwrap_or_else(|end| Segment { effects: vec![], end });
        let is_question = matches!(segment.end, End::Question(_));
        if let Some(Some(thread)) = self.threads.get_mut(self.current.index()) {
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

    fn compares_states(&self) -> bool {
        true
    }

    fn is_same_state(
        &mut self,
        histories: &LocalHistories,
        one: HistoryId,
        other: HistoryId,
    ) -> bool {
        self.is_same_question(histories, one, other)
    }

    fn has_joint_accesses(&self) -> bool {
        self.layout.learned.is_joint
    }

    fn thread_kind(&self, thread: ThreadId) -> Option<u64> {
        self.kind_of_thread(thread)
    }

    fn thread_shape(&self, thread: ThreadId) -> Option<u64> {
        self.shape_of_thread(thread)
    }

    fn pair_given_memory(&mut self, groups: &[Vec<ThreadId>]) {
        self.given = GivenMemory::new(self, groups);
    }

    fn given_to(&self, location: LocationId) -> Option<ThreadId> {
        self.receiver_of(location)
    }

    fn location_owner(&self, location: LocationId) -> Option<ThreadId> {
        self.owner_of_location(location)
    }

    fn exchanged_location(
        &self,
        threads: ThreadExchange,
        location: LocationId,
    ) -> Option<LocationId> {
        self.corresponding_location(threads, location)
    }

    fn exchanged_value(&self, threads: ThreadExchange, value: Value) -> Value {
        self.corresponding_value(threads, value)
    }

    fn exchanged_state(&self, threads: ThreadExchange, object: LocationId, value: Value) -> Value {
        self.corresponding_state(threads, object, value)
    }

    fn live(&mut self) -> Option<&mut dyn Live> {
        Some(self)
    }

    fn needs_restart(&self) -> bool {
        self.wants_restart
    }

    fn restart(&mut self) {
        self.layout.is_settled = false;
        self.share_what_corresponds();
        self.restart_part();
    }

    fn learned(&mut self) -> String {
        self.worker_update()
    }
}

impl Naming for NativeProgram {
    fn place(&self, place: PlaceId) -> String {
        self.places.name(self.process.modules(), place)
    }

    fn function(&self, place: PlaceId) -> Option<String> {
        self.places.function(self.process.modules(), place)
    }

    fn location_name(&self, location: LocationId) -> String {
        let location = &self.layout.all[location.index()];
        let thread = || self.thread_name(ThreadId::new(location.address as usize));
        match location.kind {
            LocationKind::Result => format!("result of {}", thread()),
            LocationKind::Remains => format!("remains of {}", thread()),
            _ => self.name_of_kind(location, self.memory_name(location.address)),
        }
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.names.path(thread)
    }

    fn initial_value(&self, location: LocationId) -> Value {
        let Location { kind: LocationKind::Memory(size), address, .. } =
            self.layout.all[location.index()]
        else {
            return 0;
        };
        let mut bytes = [0; 16];
        let _ = self.process.memory().read(address, &mut bytes[..size.min(16) as usize]);
        u128::from_le_bytes(bytes) as Value
    }
}
