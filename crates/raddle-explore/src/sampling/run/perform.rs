//! Execution of ops.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::program::OpKind;
use raddle_core::trace::Observed;

use super::super::decider::{ChoiceKind, Decider};
use super::super::event::RunEvent;
use super::super::log::{EventValues, LogEntry};
use super::super::machine::{
    LoadRequest, MemoryMachine, RaceAccess, RacingEvent, ReadSource, RmwOp, RmwRequest,
    StoreRequest, StoredValue,
};
use super::super::threads::{OpResult, ThreadRunner};
use super::sync_objects::SyncObject;
use super::{LastStep, SampleRun};

impl<M: MemoryMachine, T: ThreadRunner + ?Sized, D: Decider + ?Sized> SampleRun<'_, M, T, D> {
    /// Executes the current op of the thread.
    #[inline]
    pub(super) fn perform(&mut self, thread: ThreadId) -> Result<OpResult, LastStep> {
        self.machine.begin(thread);
        match self.threads[thread.index()].op.kind {
            OpKind::Load { location, order } => self.load(thread, LoadRequest { location, order }),
            OpKind::Store { location, value, order, carries } => {
                let value = StoredValue { value, carries };
                self.store(thread, &StoreRequest { location, value, order })
            }
            OpKind::Rmw { location, update, order, .. } => {
                let op = RmwOp::Update(update);
                self.rmw(thread, &RmwRequest { location, op, success: order, failure: order })
            }
            OpKind::CompareExchange {
                location,
                expected,
                desired,
                carries,
                success,
                failure,
                weak,
            } => {
                let desired = StoredValue { value: desired, carries };
                let op = RmwOp::CompareExchange { expected, desired, weak };
                self.rmw(thread, &RmwRequest { location, op, success, failure })
            }
            OpKind::Lock { lock } => Ok(self.synchronize(thread, lock, |_| 1)),
            OpKind::Unlock { lock } => {
                if self.object(lock).value != 1 {
                    return Err(LastStep::malformed());
                }
                self.synchronize(thread, lock, |_| 0);
                Ok(OpResult::default())
            }
            OpKind::Sync { location, update, .. } => {
                Ok(self.synchronize(thread, location, |value| update.apply(value)))
            }
            _ => self.perform_other(thread),
        }
    }

    /// Executes an op that accesses no memory through the machine.
    fn perform_other(&mut self, thread: ThreadId) -> Result<OpResult, LastStep> {
        let mut result = OpResult::default();
        let mut observed = None;
        let mut race = None;
        match self.threads[thread.index()].op.kind {
            OpKind::Init { location, value } => {
                let is_new = |known: Option<&Option<Value>>| known.is_none_or(Option::is_none);
                if is_new(self.initial.get(location.index())) {
                    self.add_location(location, value);
                }
            }
            OpKind::Fence { order } => self.machine.fence(thread, order),
            OpKind::StoreFence => self.machine.store_fence(thread),
            OpKind::Spawn { .. } => self.note_change(),
            OpKind::Join { thread: child } => {
                self.machine.join(thread, child);
                observed = Some(self.threads[child.index()].last_event.observed());
                self.note_change();
            }
            OpKind::Choose { options } => {
                let (_, mut context) = self.context(thread);
                let choice = context.choose(ChoiceKind::ProgramChoice, options as usize);
                result.value = choice as Value;
                observed = Some(Observed::Choice(choice as u32));
                self.note_change();
            }
            OpKind::WriteCell { location } => {
                race = self.check_cell_race(thread, location, true)?;
                let object = self.object(location);
                let event = RunEvent::new(self.events);
                self.objects[location.index()] = Some(SyncObject { event, ..object });
                self.note_change();
            }
            OpKind::ReadCell { location } => {
                race = self.check_cell_race(thread, location, false)?;
                result.source = self.object(location).event;
                observed = Some(result.source.observed());
            }
            kind => unreachable!("executed by `perform`: {kind:?}"),
        }
        self.add_event(thread, EventValues { observed, ..EventValues::default() });
        self.handle_race(race)?;
        Ok(result)
    }

    #[inline]
    fn load(&mut self, thread: ThreadId, request: LoadRequest) -> Result<OpResult, LastStep> {
        let LoadRequest { location, order } = request;
        self.ensure_location(location);
        let (machine, mut context) = self.context(thread);
        let source = machine.load(&mut context, request);
        let race = self.check_race(thread, location, false, order)?;
        let ReadSource { value, carries, event, is_newest } = source;
        self.threads[thread.index()].has_stale_read |= !is_newest;
        let observed = Some(event.observed());
        self.add_event(thread, EventValues { observed, read: Some(value), written: None });
        self.handle_race(race)?;
        Ok(OpResult { value, is_spurious: false, carries, source: event })
    }

    #[inline]
    fn store(&mut self, thread: ThreadId, request: &StoreRequest) -> Result<OpResult, LastStep> {
        self.ensure_location(request.location);
        let race = self.check_race(thread, request.location, true, request.order)?;
        let (machine, mut context) = self.context(thread);
        machine.store(&mut context, request);
        self.note_change();
        let written = Some(request.value.value);
        self.add_event(thread, EventValues { written, ..EventValues::default() });
        self.handle_race(race)?;
        Ok(OpResult::default())
    }

    fn rmw(&mut self, thread: ThreadId, request: &RmwRequest) -> Result<OpResult, LastStep> {
        let location = request.location;
        self.ensure_location(location);
        let (machine, mut context) = self.context(thread);
        let result = machine.rmw(&mut context, request);
        let ReadSource { value, carries, event, is_newest } = result.source;
        let written = result.written.map(|written| written.value);
        let order = request.order(written.is_some());
        let race = self.check_race(thread, location, written.is_some(), order)?;
        self.threads[thread.index()].has_stale_read |= !is_newest || result.is_spurious;
        if written.is_some_and(|written| written != value) {
            self.note_change();
        }
        let observed = Some(event.observed());
        self.add_event(thread, EventValues { observed, read: Some(value), written });
        self.handle_race(race)?;
        Ok(OpResult { value, is_spurious: result.is_spurious, carries, source: event })
    }

    /// Returns an event that races with a load, store or read-modify-write, if the model has such races.
    #[inline]
    fn check_race(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        is_write: bool,
        order: MemoryOrder,
    ) -> Result<Option<RacingEvent>, LastStep> {
        if !self.machine.has_races() {
            return Ok(None);
        }
        let is_plain = order == MemoryOrder::NonAtomic;
        Ok(self.machine.check_race(thread, RaceAccess { location, is_write, is_plain })?)
    }

    /// Returns an event that races with the access of a cell.
    fn check_cell_race(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        is_write: bool,
    ) -> Result<Option<RacingEvent>, LastStep> {
        self.ensure_location(location);
        Ok(self.machine.check_race(thread, RaceAccess { location, is_write, is_plain: true })?)
    }

    /// If the last event races, ends the run, or notes the first race if the program continues after races.
    #[inline]
    fn handle_race(&mut self, race: Option<RacingEvent>) -> Result<(), LastStep> {
        let Some(racing) = race else { return Ok(()) };
        if !self.continues_after_races {
            return Err(LastStep::Race(racing));
        }
        if self.first_race.is_none() {
            self.first_race = Some(self.race_with_last_event(racing));
        }
        Ok(())
    }

    /// Counts the current op of the thread as an event, and logs it if the run is recorded.
    #[inline]
    pub(super) fn add_event(&mut self, thread: ThreadId, values: EventValues) {
        self.threads[thread.index()].last_event = RunEvent::new(self.events);
        self.events += 1;
        if let Some(log) = &mut self.log {
            let op = self.threads[thread.index()].op;
            log.push(LogEntry { thread, op, values });
        }
    }
}
