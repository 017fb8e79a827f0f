//! Programs that are native code.
//!
//! A history says what a thread has read; to find out what it does next, the native code must get
//! there. A run of the program is kept alive. If what it has executed is part of the execution that is
//! asked about, it goes on from there; otherwise it is ended, and a new one follows the histories from
//! the beginning.
//!
//! Only what matters is executed: the thread itself, what it has observed where more than a value is
//! observed ([`Answer::From`]), and whoever spawned it. This is done in the order of the execution, which
//! agrees with happens-before, so the memory that no op carries (what a mutex protects, what a pointer
//! points to) is as it was.
//!
//! Every op that is executed again is compared with what the history says. If it differs, the program
//! is not a function of what its threads read, and that is reported.
//!
//! If only the thread that started last is somewhere else, it is taken back to its start (`rewind`).
//!
//! Cost: a run of store buffering with three threads takes about 3 us; each thread that has to be unwound
//! in its end takes another 9 us.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, Failure, HistoryId, HistoryStep, Live, LocalHistories, Naming, Op, OpKind, Origin,
    PlaceId, Program, Queues, Segment, is_pointer,
};
use raddle_explore::counterexample;

use crate::around::Around;
use crate::entry::Entry;
use crate::fiber::{Fiber, Stacks, Stop};
use crate::needed::Needed;
use crate::rewind::Start;
use crate::spin::{self, Spin};
use crate::state::{Caller, Context, Mode, Reply, Settings};
use crate::unwind::Unwind;
#[cfg(feature = "parallel")]
use crate::worker_process::WorkerUpdate;
use crate::{heap, panics, state, trap};

/// A thread of the run.
pub(crate) struct Running {
    pub(crate) thread: ThreadId,
    pub(crate) fiber: Fiber,
    /// Where the program's part of the stack begins, if it stands at a question.
    pub(crate) stack: usize,
    pub(crate) spin: Spin,
}

/// The names that a program gives, for those who do not have the program.
pub struct Names(Rc<Context>);

impl Names {
    /// The place of a caller.
    #[must_use]
    pub fn place(&self, caller: Caller) -> PlaceId {
        self.0.state.borrow_mut().names.place(caller)
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

/// A program that is a function of Rust.
pub struct Native<F> {
    body: Rc<F>,
    pub(crate) context: Rc<Context>,
    pub(crate) stacks: Stacks,
    /// The threads of the run, in the order in which they started.
    pub(crate) threads: Vec<Running>,
    /// Of threads that are gone: what they have allocated.
    pub(crate) spare: Vec<Spin>,
    /// The histories that the run has executed, in order.
    pub(crate) live: Vec<HistoryId>,
    /// Whether the run met something after which the program cannot be cleaned up.
    pub(crate) broken: bool,
    /// For each history what its last answer said.
    pub(crate) replies: Vec<Reply>,
    needed: Needed,
    pub(crate) around: Around,
    /// The threads that can be taken back to their start, in the order in which they started.
    pub(crate) starts: Vec<Start>,
    pub(crate) executions: u64,
    /// What the threads of a run that goes forwards do next.
    pub(crate) queues: Queues,
    /// How many of these were told to others.
    #[cfg(feature = "parallel")]
    told_executions: u64,
}

impl<F: Fn()> Native<F> {
    /// The program that does this.
    #[must_use]
    pub fn new(body: F, settings: Settings) -> Self {
        Native::with_body(Rc::new(body), settings)
    }

    fn with_body(body: Rc<F>, settings: Settings) -> Self {
        trap::install();
        panics::install();
        Native {
            body,
            context: Rc::new(Context::new(settings)),
            stacks: Stacks::default(),
            threads: vec![],
            spare: vec![],
            live: vec![],
            broken: false,
            replies: vec![],
            needed: Needed::default(),
            around: Around::default(),
            starts: vec![],
            executions: 0,
            queues: Queues::default(),
            #[cfg(feature = "parallel")]
            told_executions: 0,
        }
    }

    /// How often native code was started from its beginning: all of it, or one thread.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// The settings with which the program must be explored again, if it turned out to need others.
    #[must_use]
    pub fn wanted(&self) -> Option<Settings> {
        let state = self.context.state.borrow();
        (state.wanted != state.settings).then_some(state.wanted)
    }

    /// The settings with which it is explored.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.context.state.borrow().settings
    }

    /// The names of threads and places.
    #[must_use]
    pub fn names(&self) -> Names {
        Names(Rc::clone(&self.context))
    }

    /// Ends the run. Returns what is left of what is watched: how many owners it has, and where it was made.
    pub fn leaks(&mut self) -> Vec<(usize, Caller)> {
        let watched = mem::take(&mut self.context.state.borrow_mut().watched);
        self.end_run();
        let owned = watched.iter().map(|(owners, caller)| (owners(), *caller));
        owned.filter(|&(owners, _)| owners > 0).collect()
    }

    /// What is left to execute before the step: all that it needs, in the order of the past. Ends the
    /// run if that does not lead there.
    fn prepare(
        &mut self,
        histories: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
    ) -> Vec<HistoryId> {
        self.needed.search(histories, step);
        loop {
            if let Some(missing) = self.missing(past) {
                return missing;
            }
            if !self.rewind() {
                break;
            }
        }
        self.start_run();
        past.iter().copied().filter(|&node| self.needed.has(node)).collect()
    }

    /// What is left to execute if the run goes on. None: that does not lead there.
    fn missing(&self, past: &[HistoryId]) -> Option<Vec<HistoryId>> {
        let mut missing = vec![];
        let mut alive = self.live.iter().peekable();
        for node in past {
            if alive.peek() == Some(&node) {
                alive.next();
            } else if self.needed.has(*node) {
                if alive.peek().is_some() {
                    return None;
                }
                missing.push(*node);
            }
        }
        (alive.peek().is_none() && !self.live.is_empty()).then_some(missing)
    }

    pub(crate) fn start_run(&mut self) {
        self.end_run();
        self.executions += 1;
        self.context.pauses.set(false);
        self.context.state.borrow_mut().begin_run();
        self.context.heap.set_naming(true);
    }

    /// Executes a history again. An error says what is different this time.
    fn repeat(&mut self, histories: &LocalHistories, node: HistoryId) -> Result<(), Failure> {
        let step = histories.step(node);
        let reply = self.replies[node.0 as usize];
        let end = self.execute(histories, step, reply, node)?;
        let effects = &self.context.state.borrow().segment;
        let same_end = match histories.end(node) {
            End::Repeats(_) => true,
            before => *before == end,
        };
        if same_end && histories.effects(node) == effects.as_slice() {
            return Ok(());
        }
        Err(self.difference(histories, node, effects, &end))
    }

    /// Executes a step: the thread runs until it stops. Its effects are in the state.
    pub(crate) fn execute(
        &mut self,
        histories: &LocalHistories,
        step: HistoryStep,
        reply: Reply,
        node: HistoryId,
    ) -> Result<End, Failure> {
        let at = match step {
            HistoryStep::Start(thread, _) => self.start(thread)?,
            HistoryStep::After(parent, _) => self.find(histories.thread(parent))?,
        };
        self.context.reply.set(reply);
        let stop = self.resume(at, Mode::Running);
        self.live.push(node);
        let end = self.end_of(at, stop);
        self.follow_spin(histories, step, reply, at);
        self.follow_publications(histories, step, reply, at);
        let asked = match step {
            HistoryStep::Start(..) => None,
            HistoryStep::After(parent, answer) => match histories.end(parent) {
                End::Question(question) => Some((question, answer)),
                _ => None,
            },
        };
        self.note_step(self.threads[at].thread, asked, &end);
        Ok(end)
    }

    /// Makes the fiber of a thread.
    pub(crate) fn start(&mut self, thread: ThreadId) -> Result<usize, Failure> {
        let body: Box<dyn FnOnce()> = if thread == ThreadId::new(0) {
            let body = Rc::clone(&self.body);
            let main: Box<dyn FnOnce() + '_> = Box::new(move || body());
            // SAFETY: all fibers end before the program, and with it the body, is dropped.
            unsafe { mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce()>>(main) }
        } else {
            let body = self.context.state.borrow_mut().thread(thread).body.take();
            let mut body =
                body.ok_or_else(|| self.nondeterminism("a thread was not spawned this time"))?;
            self.note_start(thread, &mut body);
            body
        };
        let context = Rc::as_ptr(&self.context);
        let fiber = Fiber::new(&mut self.stacks, move || run_body(context, body));
        self.context.state.borrow_mut().thread(thread).stack = fiber.stack;
        let spin = self.spare.pop().unwrap_or_default();
        self.threads.push(Running { thread, fiber, stack: 0, spin });
        Ok(self.threads.len() - 1)
    }

    pub(crate) fn find(&self, thread: ThreadId) -> Result<usize, Failure> {
        let is_it = |running: &Running| running.thread == thread && running.fiber.is_alive();
        (self.threads.iter().position(is_it))
            .ok_or_else(|| self.nondeterminism("a thread did not get as far as the last time"))
    }

    pub(crate) fn resume(&mut self, at: usize, mode: Mode) -> Stop {
        let running = &mut self.threads[at];
        {
            let state = &mut *self.context.state.borrow_mut();
            state.current = running.thread;
            state.segment.clear();
        }
        self.context.heap.set_thread(running.thread.index() as u32);
        let before = state::enter(Rc::as_ptr(&self.context), mode);
        let stop = running.fiber.resume();
        heap::record(std::ptr::null());
        state::enter(before.0, before.1);
        stop
    }

    pub(crate) fn end_of(&mut self, at: usize, stop: Stop) -> End {
        self.threads[at].stack = 0;
        match stop {
            Stop::Question(op, stack) => {
                self.threads[at].stack = stack;
                End::Question(op)
            }
            Stop::Ended(end) => end,
            Stop::Panicked(message) => self.panicked(at, message),
            Stop::Trapped { overflow, address } => {
                self.broken = true;
                self.trapped(at, overflow, address)
            }
            Stop::Broken(failure) => {
                self.broken = true;
                End::Failed(failure)
            }
            Stop::Finished | Stop::Unwound | Stop::Abandoned | Stop::Paused => End::Finished,
        }
    }

    fn panicked(&mut self, at: usize, message: String) -> End {
        let state = &mut *self.context.state.borrow_mut();
        let place = match panics::take_last() {
            Some((file, line, column)) => state.names.place_at(&file, line, column),
            None => state.thread(self.threads[at].thread).place,
        };
        End::Failed(Failure { kind: FindingKind::Panic, message, place })
    }

    fn trapped(&mut self, at: usize, overflow: bool, address: usize) -> End {
        let place = self.context.state.borrow_mut().thread(self.threads[at].thread).place;
        let (kind, message) = if overflow {
            (FindingKind::StackOverflow, String::from("the stack overflowed"))
        } else {
            (FindingKind::Panic, format!("access to invalid memory at {address:#x}"))
        };
        End::Failed(Failure { kind, message, place })
    }

    /// Keeps or forgets what the thread was at its last questions.
    fn follow_spin(
        &mut self,
        histories: &LocalHistories,
        step: HistoryStep,
        reply: Reply,
        at: usize,
    ) {
        let reads = match step {
            HistoryStep::Start(..) => false,
            HistoryStep::After(parent, answer) => match histories.end(parent) {
                End::Question(question) => spin::only_reads(question, answer, reply),
                _ => false,
            },
        };
        let effects = &self.context.state.borrow().segment;
        if !reads || !effects.iter().all(spin::is_harmless) {
            self.threads[at].spin.clear();
        }
    }

    /// Notes where the thread stands after its last step. Returns an earlier history at whose end it
    /// was the same.
    fn note_spin(&mut self, node: HistoryId, end: &End) -> Option<HistoryId> {
        let End::Question(question) = end else { return None };
        let thread = self.context.state.borrow().current;
        let at = self.threads.iter().position(|running| running.thread == thread)?;
        let top = self.context.state.borrow_mut().thread(thread).top;
        let Running { stack, spin, .. } = &mut self.threads[at];
        // SAFETY: the fiber stands still, and this is the used part of its stack.
        let bytes = unsafe { std::slice::from_raw_parts(*stack as *const u8, top - *stack) };
        spin.note(node, *question, bytes)
    }

    /// Executes what the step needs once more from the beginning, and sees whether the thread changes
    /// memory other than its stack after the history `since`. An error says what is different this time.
    fn changes_memory(
        &mut self,
        histories: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        since: HistoryId,
        node: HistoryId,
    ) -> Result<bool, Failure> {
        self.start_run();
        let HistoryStep::After(last, _) = step else { return Ok(true) };
        let thread = histories.thread(last);
        let (mut watching, mut changes) = (false, false);
        let nodes = past.iter().copied().filter(|&node| self.needed.has(node));
        for past_node in nodes.collect::<Vec<_>>() {
            let watched = watching && histories.thread(past_node) == thread;
            let before = watched.then(|| self.memory_around(thread));
            self.repeat(histories, past_node)?;
            self.note_spin(past_node, histories.end(past_node));
            changes |= watched && before != Some(self.memory_around(thread));
            watching |= past_node == since;
        }
        let before = self.memory_around(thread);
        self.execute(histories, step, self.replies[node.0 as usize], node)?;
        Ok(changes || before != self.memory_around(thread))
    }

    fn memory_around(&self, thread: ThreadId) -> Vec<u8> {
        let others = self.threads.iter().filter(|other| other.thread != thread && other.stack != 0);
        spin::memory(&self.context.heap, others.map(|other| (other.stack, other.fiber.stack.1)))
    }

    /// What an answer says.
    fn reply(&self, histories: &LocalHistories, step: HistoryStep) -> Reply {
        let HistoryStep::After(_, answer) = step else { return Reply::default() };
        let spurious = matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_));
        let value = match answer {
            Answer::Value(value) | Answer::Spurious(value) => value,
            Answer::From(origin) | Answer::SpuriousFrom(origin) => self.written(histories, origin),
            Answer::Initial => 0,
            Answer::Choice(choice) => Value::from(choice),
        };
        Reply { value, spurious }
    }

    /// What an event wrote, if it did.
    fn written(&self, histories: &LocalHistories, origin: Origin) -> Value {
        let Origin { node, index } = origin;
        if index > 0 {
            return match histories.effects(node).get(index as usize - 1).map(|op| op.kind) {
                Some(OpKind::Store { value, .. } | OpKind::Init { value, .. }) => value,
                _ => 0,
            };
        }
        let HistoryStep::After(parent, _) = histories.step(node) else { return 0 };
        let read = self.replies[node.0 as usize].value;
        match histories.end(parent) {
            End::Question(Op { kind: OpKind::Rmw { update, .. }, .. })
            | End::Question(Op { kind: OpKind::Sync { update, .. }, .. }) => update.apply(read),
            End::Question(Op { kind: OpKind::CompareExchange { desired, .. }, .. }) => *desired,
            _ => 0,
        }
    }

    fn nondeterminism(&self, message: &str) -> Failure {
        let message = format!(
            "{message}: the program does not only depend on what its threads read \
             (time, random numbers, addresses, something that outlives the test?)"
        );
        Failure { kind: FindingKind::Nondeterminism, message, place: PlaceId::default() }
    }

    fn difference(
        &self,
        histories: &LocalHistories,
        node: HistoryId,
        effects: &[Op],
        end: &End,
    ) -> Failure {
        let thread = self.thread_name(histories.thread(node));
        let before = with_end(histories.effects(node), histories.end(node));
        let now = with_end(effects, end);
        let at = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
        let (before, place_before) = self.tell(before.get(at));
        let (now, place_now) = self.tell(now.get(at));
        let mut failure = self.nondeterminism(&format!(
            "with the same history, thread {thread} first did {before} and now {now}"
        ));
        failure.place = place_now.or(place_before).unwrap_or_default();
        failure
    }

    fn tell(&self, doing: Option<&Result<Op, End>>) -> (String, Option<PlaceId>) {
        match doing {
            Some(Ok(op)) => {
                let words = counterexample::op(self, op);
                (format!("`{words}` at {}", self.place(op.place)), Some(op.place))
            }
            Some(Err(End::Failed(failure))) => {
                (format!("fail ({})", failure.message), Some(failure.place))
            }
            Some(Err(End::Assume)) => (String::from("give up"), None),
            Some(Err(End::Limit)) => (String::from("reach the limit of events"), None),
            Some(Err(_)) | None => (String::from("end"), None),
        }
    }
}

fn with_end(effects: &[Op], end: &End) -> Vec<Result<Op, End>> {
    let end = match end {
        End::Question(op) => Ok(*op),
        end => Err(end.clone()),
    };
    effects.iter().copied().map(Ok).chain([end]).collect()
}

impl<F: Fn()> Program for Native<F> {
    fn run(
        &mut self,
        histories: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        let reply = self.reply(histories, step);
        self.replies.truncate(node.0 as usize);
        self.replies.resize(node.0 as usize, Reply::default());
        self.replies.push(reply);
        match self.try_run(histories, past, step, node) {
            Ok(segment) => segment,
            Err(failure) => {
                let failure = self.blame(failure);
                self.live.push(node);
                Segment { effects: vec![], end: End::Failed(failure) }
            }
        }
    }

    fn result(&self, _node: HistoryId) -> Option<Value> {
        let state = &mut *self.context.state.borrow_mut();
        let current = state.current;
        let number = state.thread(current).given?;
        // Who joins a thread that has spawned others in a scope joins these, too: the scope's list of threads is memory.
        let carries = state.settings.joins_carry
            || state.thread(current).spawned > 0
            || is_pointer(state.encode(&self.context.heap, number as u64));
        (!carries).then_some(number)
    }

    fn live(&mut self) -> Option<&mut dyn Live> {
        Some(self)
    }

    fn needs_restart(&self) -> bool {
        self.wanted().is_some()
    }

    fn restart(&mut self) {
        self.end_run();
        let settings = self.context.state.borrow().wanted;
        *self = Native::with_body(Rc::clone(&self.body), settings);
    }

    #[cfg(feature = "parallel")]
    fn learned(&mut self) -> String {
        let news = WorkerUpdate {
            executions: self.executions - self.told_executions,
            wanted: self.wanted(),
        };
        self.told_executions = self.executions;
        news.write()
    }
}

impl<F: Fn()> Naming for Native<F> {
    fn place(&self, place: PlaceId) -> String {
        self.context.state.borrow().names.place_name(place)
    }

    fn location_name(&self, location: LocationId) -> String {
        self.context.state.borrow().names.location_name(location)
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.context.state.borrow().names.thread_name(thread)
    }
}

impl<F: Fn()> Native<F> {
    fn try_run(
        &mut self,
        histories: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Result<Segment, Failure> {
        for before in self.prepare(histories, past, step) {
            self.repeat(histories, before)?;
            self.note_spin(before, histories.end(before));
        }
        let mut end = self.execute_new(histories, step, node)?;
        self.refuse_shared_memory()?;
        let effects = self.context.state.borrow().segment.clone();
        if let Some(earlier) = self.note_spin(node, &end)
            && !self.changes_memory(histories, past, step, earlier, node)?
        {
            end = End::Repeats(earlier);
        }
        Ok(Segment { effects, end })
    }
}

/// What a fiber does from its start to its end.
pub(crate) fn run_body(context: *const Context, body: Box<dyn FnOnce()>) -> Stop {
    let top = 0u8;
    // SAFETY: the context lives as long as the program, which ends all fibers before it is dropped.
    let context = unsafe { &*context };
    {
        let state = &mut *context.state.borrow_mut();
        let current = state.current;
        state.thread(current).top = std::ptr::from_ref(&top) as usize;
    }
    heap::record(&raw const context.heap);
    let result = catch_unwind(AssertUnwindSafe(body));
    if result.is_ok() {
        // What the thread has changed through a `&mut` is stored in its end.
        drop(Entry::new());
    }
    let _quiet = heap::quiet();
    match result {
        Ok(()) => Stop::Finished,
        Err(payload) if payload.is::<Unwind>() => Stop::Unwound,
        Err(payload) => Stop::Panicked(panics::message(&*payload)),
    }
}
