//! What ops do.

use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::program::OpKind;

use super::super::super::Unsupported;
use super::super::decide::{Decide, Kind};
use super::super::log::{Entry, observed};
use super::super::machine::{Access, Change, Machine, Racing, Source, Stored};
use super::super::threads::{NONE, Threads, Told};
use super::objects::Object;
use super::{Last, Run, Stop};
use raddle_core::trace::Observed;

impl<M: Machine, T: Threads, D: Decide + ?Sized> Run<'_, M, T, D> {
    /// The thread does its op.
    #[inline]
    pub(super) fn perform(&mut self, thread: usize) -> Result<Told, Last> {
        self.machine.begin(thread);
        let nothing = Told { source: NONE, ..Told::default() };
        match self.states[thread].op.kind {
            OpKind::Load { location, order } => self.load(thread, location, order),
            OpKind::Store { location, value, order, carries } => {
                let location = self.locate(location);
                let race = self.race(thread, location, true, order)?;
                let (machine, mut turn) = self.turn(thread);
                machine.store(&mut turn, &Stored { location, value, carries, order });
                self.changed();
                self.done(thread, None, None, Some(value));
                self.survive(race)?;
                Ok(nothing)
            }
            OpKind::Rmw { location, update, order } => {
                self.change(thread, location, Change::Update(update), (order, order))
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
                let change = Change::CompareExchange { expected, desired, carries, weak };
                self.change(thread, location, change, (success, failure))
            }
            OpKind::Lock { lock } => Ok(self.synchronize(thread, lock, |_| 1)),
            OpKind::Unlock { lock } => {
                if self.object(lock).value != 1 {
                    return Err(Last::Stop(Stop::Unsupported(Unsupported::Malformed)));
                }
                self.synchronize(thread, lock, |_| 0);
                Ok(nothing)
            }
            OpKind::Sync { location, update, .. } => {
                Ok(self.synchronize(thread, location, |value| update.apply(value)))
            }
            _ => self.perform_other(thread),
        }
    }

    fn perform_other(&mut self, thread: usize) -> Result<Told, Last> {
        let mut told = Told { source: NONE, ..Told::default() };
        let mut seen = None;
        let mut race = None;
        match self.states[thread].op.kind {
            OpKind::Init { location, value } => {
                let is_new = |known: Option<&Option<Value>>| known.is_none_or(Option::is_none);
                if is_new(self.initial.get(location.index())) {
                    self.know(location.index(), value);
                }
            }
            OpKind::Fence { order } => self.machine.fence(thread, order),
            OpKind::StoreFence => self.machine.store_fence(thread),
            OpKind::Spawn { .. } => self.changed(),
            OpKind::Join { thread: child } => {
                self.machine.join(thread, child.index());
                seen = Some(observed(self.states[child.index()].last_event));
                self.changed();
            }
            OpKind::Choose { options } => {
                let (_, mut turn) = self.turn(thread);
                let choice = turn.pick(Kind::Choose, options as usize);
                told.value = choice as Value;
                seen = Some(Observed::Choice(choice as u32));
                self.changed();
            }
            OpKind::WriteCell { location } => {
                race = self.cell(thread, location, true)?;
                let object = self.object(location);
                let event = self.events;
                self.objects[location.index()] = Some(Object { event, ..object });
                self.changed();
            }
            OpKind::ReadCell { location } => {
                race = self.cell(thread, location, false)?;
                told.source = self.object(location).event;
                seen = Some(observed(told.source));
            }
            kind => unreachable!("handled before: {kind:?}"),
        }
        self.done(thread, seen, None, None);
        self.survive(race)?;
        Ok(told)
    }

    #[inline]
    fn load(
        &mut self,
        thread: usize,
        location: LocationId,
        order: MemoryOrder,
    ) -> Result<Told, Last> {
        let location = self.locate(location);
        let (machine, mut turn) = self.turn(thread);
        let source = machine.load(&mut turn, location, order);
        let race = self.race(thread, location, false, order)?;
        let Source { value, carries, event, newest } = source;
        self.states[thread].stale |= !newest;
        self.done(thread, Some(observed(event)), Some(value), None);
        self.survive(race)?;
        Ok(Told { value, spurious: false, carries, source: event })
    }

    fn change(
        &mut self,
        thread: usize,
        location: LocationId,
        change: Change,
        orders: (MemoryOrder, MemoryOrder),
    ) -> Result<Told, Last> {
        let location = self.locate(location);
        let (machine, mut turn) = self.turn(thread);
        let changed = machine.change(&mut turn, location, &change, orders);
        let Source { value, carries, event, newest } = changed.source;
        let written = changed.written.map(|(written, _)| written);
        let order = if written.is_some() { orders.0 } else { orders.1 };
        let race = self.race(thread, location, written.is_some(), order)?;
        self.states[thread].stale |= !newest || changed.spurious;
        if written.is_some_and(|written| written != value) {
            self.changed();
        }
        self.done(thread, Some(observed(event)), Some(value), written);
        self.survive(race)?;
        Ok(Told { value, spurious: changed.spurious, carries, source: event })
    }

    /// What an access of a location races with.
    #[inline]
    fn race(
        &mut self,
        thread: usize,
        location: usize,
        writes: bool,
        order: MemoryOrder,
    ) -> Result<Option<Racing>, Last> {
        if !self.machine.has_races() {
            return Ok(None);
        }
        let plain = order == MemoryOrder::NonAtomic;
        Ok(self.machine.race(thread, Access { location, writes, plain })?)
    }

    fn cell(
        &mut self,
        thread: usize,
        location: LocationId,
        writes: bool,
    ) -> Result<Option<Racing>, Last> {
        let location = self.locate(location);
        Ok(self.machine.race(thread, Access { location, writes, plain: true })?)
    }

    /// The event that was done last races with another one: the run ends, or goes on.
    #[inline]
    fn survive(&mut self, race: Option<Racing>) -> Result<(), Last> {
        let Some(racing) = race else { return Ok(()) };
        if !self.survives_races {
            return Err(Last::Race(racing));
        }
        if self.survived.is_none() {
            self.survived = Some(self.racing(racing));
        }
        Ok(())
    }

    /// The op of the thread is an event.
    #[inline]
    pub(super) fn done(
        &mut self,
        thread: usize,
        observed: Option<Observed>,
        read: Option<Value>,
        written: Option<Value>,
    ) {
        self.states[thread].last_event = self.events;
        self.events += 1;
        if let Some(log) = &mut self.log {
            let op = self.states[thread].op;
            log.push(Entry { thread: thread as u32, op, observed, read, written });
        }
    }
}
