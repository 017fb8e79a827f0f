//! Running a thread to its next question.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, Op, OpKind, Segment};
use raddle_cpu::memory::{Denied, layout as guest};
use raddle_cpu::{Fence, Register, Stop};

use super::NativeProgram;
use super::ScalarCut;
use super::call::{Call, Step, Suspend};
use super::loops::{PrivateSteps, STEP};
use super::std_code::{Origin, StdCode};
use super::thread::{Active, Activity, Reply};
use crate::process::{Event, HostFunctions, Status};

/// Returns `true` if a question that got this reply has only read, or chosen.
pub(super) fn only_reads(question: &Op, reply: Reply, updates_may_be_silent: bool) -> bool {
    match question.kind {
        OpKind::Load { .. } | OpKind::ReadCell { .. } | OpKind::Choose { .. } => true,
        OpKind::CompareExchange { expected, .. } => reply.value != expected || reply.is_spurious,
        OpKind::Rmw { update, .. } | OpKind::Sync { update, .. } => {
            updates_may_be_silent && update.apply(reply.value) == reply.value
        }
        _ => false,
    }
}

/// Returns `true` if an effect changes nothing that other threads can observe.
pub(super) fn is_harmless(effect: &Op) -> bool {
    matches!(
        effect.kind,
        OpKind::Init { .. } | OpKind::Fence { .. } | OpKind::StoreFence | OpKind::Joint(_)
    )
}

impl NativeProgram {
    /// Gives the current thread the reply to its question and runs it to its next one.
    pub(super) fn resume(&mut self, reply: Reply) -> End {
        self.segment.clear();
        self.take_reply(reply);
        self.drive()
    }

    /// Gives the current thread the reply to its question.
    pub(super) fn take_reply(&mut self, reply: Reply) {
        let updates_may_be_silent = self.settings.updates_may_be_silent;
        let thread = self.thread_mut();
        let question = thread.question.take();
        thread.last_value = reply.value;
        let is_silent = |question| only_reads(&question, reply, updates_may_be_silent);
        if !question.is_some_and(is_silent) {
            thread.note_change();
        }
        if let Some(active) = &mut thread.active {
            active.replies.push(reply);
        }
    }

    /// Runs the current thread to its next question.
    pub(super) fn drive(&mut self) -> End {
        loop {
            if let Err(end) = self.drive_once() {
                return end;
            }
            let is_over = self.thread().events > self.settings.max_events;
            if is_over || self.segment.len() > Segment::LONGEST {
                return End::Limit;
            }
        }
    }

    /// Runs the current thread to its next activity and performs it.
    pub(super) fn drive_once(&mut self) -> Result<(), End> {
        self.make_step()?;
        self.note_step()
    }

    fn make_step(&mut self) -> Result<(), End> {
        if self.thread().active.is_none() {
            let guest = self.thread().guest;
            if let Some(cpu) = self.process.cpu_mut(guest) {
                cpu.set_budget(STEP);
            }
            let event = self.process.run(guest);
            if let Some(output) = self.process.take_output() {
                self.thread_mut().printed.push_str(&String::from_utf8_lossy(&output));
            }
            self.check_stack()?;
            let Some(activity) = self.activity(event)? else { return Ok(()) };
            self.thread_mut().active = Some(Active::new(activity));
        }
        self.perform_activity()
    }

    /// Fails if the current thread uses the stack of another one.
    fn check_stack(&mut self) -> Result<(), End> {
        let pointer = self.cpu().register(Register::Rsp);
        let stacks = guest::STACKS..guest::TLS;
        let owner = (pointer.wrapping_sub(guest::STACKS) / guest::STACK_STRIDE) as usize;
        if !stacks.contains(&pointer) || owner == self.thread().guest.index() {
            return Ok(());
        }
        let message = "runs on the stack of another thread, as after longjmp to its buffer";
        Err(self.failure(FindingKind::Unsupported, message))
    }

    /// What the current thread must do after an event; `None` if it can run on.
    fn activity(&mut self, event: Event) -> Result<Option<Activity>, End> {
        Ok(match event {
            Event::Cpu(
                stop @ (Stop::Load { .. } | Stop::Store { .. } | Stop::ReadModifyWrite { .. }),
            ) => Some(Activity::Access(stop)),
            Event::Cpu(Stop::Fence(Fence::Implied)) if !self.is_noticed_fence() => None,
            Event::Cpu(Stop::Fence(fence)) => {
                let place = self.place();
                self.perform_fence(fence, place);
                None
            }
            Event::Cpu(Stop::Escape { address, size, owned, state }) => {
                self.escape(address, size.into(), owned, state)?;
                None
            }
            Event::Cpu(Stop::Rounds) => return Err(End::Unrolled(self.place())),
            Event::Cpu(_) | Event::Yield => None,
            Event::HostCall(HostFunctions::RETURN) => Some(Activity::Return),
            Event::HostCall(function) => Some(Activity::Function(function)),
            Event::Futex(call) => Some(Activity::Futex(call)),
            Event::ThreadExited(_) => Some(Activity::Return),
            Event::Exited(Status::Exited(status)) => Some(Activity::Exit(status.into())),
            Event::Exited(status) => {
                let message = format!("the program ends with {status}");
                return Err(self.failure(FindingKind::Crash, &message));
            }
            Event::Fault(_, fault) => return Err(self.fault_end(&fault)),
            Event::Refused(_, refused) => {
                return Err(self.failure(FindingKind::Unsupported, &refused.to_string()));
            }
        })
    }

    /// Returns `true` if a locked instruction of the current thread on private memory makes a difference. What libraries do for
    /// themselves orders nothing.
    fn is_noticed_fence(&self) -> bool {
        self.has_other_threads()
            && !self.is_system_code(self.cpu().ip())
            && !self.is_update_of_std(self.cpu().ip())
    }

    /// Returns `true` if a locked instruction is an update of Rust's standard library that is no fence in the model.
    fn is_update_of_std(&self, address: u64) -> bool {
        self.settings.scalars == ScalarCut::Cut && self.is_std_code(address)
    }

    /// Returns `true` if an instruction is one of Rust's standard library.
    pub(super) fn is_std_code(&self, address: u64) -> bool {
        let origin = |rust: &StdCode| rust.origin(&self.process, address);
        self.table.rust.as_ref().map(origin) == Some(Origin::Std)
    }

    fn perform_fence(&mut self, fence: Fence, place: raddle_core::program::PlaceId) {
        let kind = match fence {
            Fence::Full | Fence::Implied => OpKind::Fence { order: MemoryOrder::SeqCst },
            Fence::Store => OpKind::StoreFence,
            Fence::Load => return,
        };
        self.perform(Op { kind, place });
        if kind != OpKind::StoreFence {
            self.note_emptied();
        }
    }

    /// Performs the activity of the current thread, with the replies so far. An activity that asks leaves no changes.
    fn perform_activity(&mut self) -> Result<(), End> {
        let Some(active) = self.thread().active.clone() else { return Ok(()) };
        let guest = self.thread().guest;
        let printed = self.thread().printed.len();
        let changes = match active.activity {
            Activity::Access(_) => false,
            Activity::Function(function) => !self.table.asking_first.contains(&function),
            _ => true,
        };
        let before =
            changes.then(|| (self.process.snapshot_thread(guest), self.thread().own.clone()));
        let mut call = Call::new(self, active.replies, active.effects);
        let result = attempt(&mut call, &active.activity);
        let effects = call.effects.max(active.effects);
        match result {
            Ok(value) => {
                self.thread_mut().active = None;
                self.complete(&active.activity, value)
            }
            Err(Suspend::Jumped) => {
                self.thread_mut().active = None;
                Ok(())
            }
            Err(Suspend::Back) => Ok(()),
            Err(Suspend::End(end)) => {
                if let (End::Question(_), Some((snapshot, own))) = (&end, before) {
                    if let Some(snapshot) = snapshot {
                        self.process.restore_thread(guest, &snapshot);
                    }
                    let thread = self.thread_mut();
                    thread.own = own;
                    thread.printed.truncate(printed);
                }
                if let Some(active) = &mut self.thread_mut().active {
                    active.effects = effects;
                }
                Err(self.note_asked(end))
            }
        }
    }

    /// Counts a question. The thread ends at its limit instead.
    fn note_asked(&mut self, end: End) -> End {
        let End::Question(op) = end else { return end };
        if self.recorder.is_some() {
            self.record_step();
        }
        let most = self.settings.max_events;
        let thread = self.thread_mut();
        thread.events += 1;
        if thread.events > most {
            return End::Limit;
        }
        thread.question = Some(op);
        thread.private = PrivateSteps::default();
        end
    }

    /// Lets the thread continue after its activity, which has this result.
    fn complete(&mut self, activity: &Activity, value: Value) -> Result<(), End> {
        let guest = self.thread().guest;
        match activity {
            Activity::Access(_) => self.cpu_mut().answer_wide(value as u128),
            Activity::Function(_) => match self.process.return_from_host(guest, value as u64) {
                Ok(()) => {}
                Err(Denied::Fault(fault)) => return Err(self.fault_end(&fault)),
                Err(_) => self.return_by_instruction(value as u64)?,
            },
            Activity::Futex(_) => self.process.return_from_syscall(guest, value as u64),
            Activity::Return | Activity::Exit(_) => {}
        }
        Ok(())
    }
}

impl NativeProgram {
    /// Lets the current thread return from a modelled function by an instruction of the program, so that the return address, in
    /// memory that threads share, is read by an op.
    fn return_by_instruction(&mut self, value: u64) -> Result<(), End> {
        let Some(instruction) = self.process.return_instruction() else {
            let message = "other threads access the return address of a function";
            return Err(self.failure(FindingKind::Unsupported, message));
        };
        let cpu = self.cpu_mut();
        cpu.set_register(Register::Rax, value);
        cpu.jump(instruction);
        Ok(())
    }
}

/// One attempt to perform an activity.
fn attempt(call: &mut Call<'_>, activity: &Activity) -> Step<Value> {
    match activity {
        Activity::Access(stop) => call.access(stop),
        Activity::Function(function) => {
            let function = call.program.table.function(*function);
            function(call).map(Value::from)
        }
        Activity::Futex(futex) => {
            let perform = call.program.table.futex;
            perform(call, *futex).map(Value::from)
        }
        Activity::Return => {
            let result = call.program.cpu().register(Register::Rax);
            Err((call.program.table.end_thread)(call, result))
        }
        Activity::Exit(status) => Err((call.program.table.end_process)(call, *status)),
    }
}
