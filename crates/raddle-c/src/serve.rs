//! What happens when a thread calls a hook, and when it gets an answer.
//!
//! Plain accesses are in `plain`, atomic ones in `atomics`, what library functions ask for in `requests`.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, Op, OpKind, PlaceId};

use crate::access::Class;
use crate::atomics::written;
use crate::hooks::{self, HookKind};
use crate::layout::{Cut, What};
use crate::libc_functions::{GUARDED, uses_unseen_memory};
use crate::native::{GONE, Native};
use crate::ops::Call;
use crate::shared::give_back;
use crate::stub;
use crate::switch::{ASKED, RETURNED, TRAPPED};
use crate::threads::{PlainStore, Then, Waiting};

/// Goes on, or ends the segment.
pub(crate) type Flow = Result<(), End>;

impl Native {
    /// The current thread has called a hook.
    #[inline]
    pub(crate) fn serve(&mut self) -> Flow {
        let thread = self.thread_mut();
        let number = thread.frame.number;
        thread.count_quick_hooks();
        thread.lowest = thread.lowest.min(thread.frame.caller.stack);
        if number == TRAPPED {
            return Err(self.trapped());
        }
        thread.uses_library |= number == ASKED;
        let is_new = number != ASKED || thread.frame.is_fresh != 0;
        // A hook that we inserted may stand between that of a load and the load. A library function may use all that it has
        // asked for.
        let is_amid = !is_new || thread.frame.site != 0 || thread.holds;
        if is_new {
            let frame = &mut thread.frame;
            thread.caller = if number == ASKED { frame.noted } else { frame.caller };
            frame.is_fresh = 0;
            if frame.site != 0 {
                thread.caller.address = std::mem::take(&mut frame.site);
            }
            thread.ops_in_call = 0;
        }
        self.settle();
        if !is_amid {
            self.let_go();
        }
        match number {
            ASKED => self.asked(),
            RETURNED => self.returned(),
            _ => self.hook(number),
        }
    }

    /// All that the thread was given to load is loaded.
    #[inline]
    pub(crate) fn let_go(&mut self) {
        let thread = self.thread_mut();
        thread.loaded.clear();
        thread.borrowed.drain(..).rev().for_each(give_back);
    }

    /// Takes the values of plain stores from memory.
    #[inline]
    fn settle(&mut self) {
        if self.thread().stores.is_empty() {
            return;
        }
        for PlainStore { locations, borrowed, place } in
            std::mem::take(&mut self.thread_mut().stores)
        {
            for location in locations {
                let value = self.memory(location);
                self.set_shadow(location, value);
                let order = MemoryOrder::NonAtomic;
                self.effect_at(OpKind::Store { location, value, order, carries: false }, place);
            }
            borrowed.into_iter().rev().for_each(give_back);
        }
    }

    fn hook(&mut self, number: usize) -> Flow {
        let arguments = self.thread().frame.arguments;
        let [address, second, ..] = arguments;
        if number >= hooks::FIRST_GUARDED {
            return self.guard(number - hooks::FIRST_GUARDED);
        }
        let Some(hook) = hooks::table().get(number) else {
            let name = &self.module.refused[number - hooks::table().len()];
            let message = format!("calls {name}, which Raddle does not model");
            return Err(self.failure(FindingKind::Unsupported, &message));
        };
        match hook.kind {
            HookKind::Read(size) => self.read(address, size, scalar(size)),
            HookKind::Write(size) => self.write(address, size, scalar(size)),
            HookKind::ReadPart(size) => self.read(address, size, Cut::Range),
            HookKind::WritePart(size) => self.write(address, size, Cut::Range),
            HookKind::ReadRange => self.read(address, second, Cut::Range),
            HookKind::WriteRange => self.write(address, second, Cut::Range),
            HookKind::Atomic(kind, size) => self.atomic(kind, size, arguments),
            HookKind::AtomicRead(size) => {
                self.read_by(address, size, Cut::Never, MemoryOrder::SeqCst)
            }
            HookKind::Fence => {
                self.effect(OpKind::Fence { order: hooks::order(address) });
                Ok(())
            }
            HookKind::StoreFence => {
                self.effect(OpKind::StoreFence);
                Ok(())
            }
            HookKind::ThreadLocal => {
                // SAFETY: the program hands in an index of a thread-local variable: module and offset.
                let offset = unsafe { *((address + 8) as *const usize) };
                let thread = self.thread_mut();
                thread.uses_locals = true;
                thread.frame.result[0] = (thread.slot.locals() + offset) as u64;
                Ok(())
            }
            HookKind::Nothing => self.note_call(),
        }
    }

    /// A function of the C library is called, which has no hooks.
    fn guard(&mut self, number: usize) -> Flow {
        let thread = self.thread_mut();
        thread.changed();
        thread.uses_library = true;
        thread.is_kept_elsewhere |= uses_unseen_memory(GUARDED[number]);
        // SAFETY: the stub has saved registers there, and above them is the return address.
        thread.caller.address =
            unsafe { *((thread.frame.caller.stack + stub::ABOVE_SAVED) as *const usize) };
        for address in thread.frame.arguments {
            let is_memory = self.module.is_variable(address) || self.slots.find(address).is_some();
            if is_memory && self.classify(address, 1)? == Class::Shared {
                let name = GUARDED[number];
                let what = self.memory_name(address);
                let message = format!(
                    "calls {name} on {what}, which several threads share: Raddle does not see what it does"
                );
                return Err(self.failure(FindingKind::Unsupported, &message));
            }
        }
        Ok(())
    }

    /// The thread gets the answer to its question.
    pub(crate) fn answer(&mut self, value: Value, is_spurious: bool) -> Flow {
        self.load_again();
        let question = self.thread_mut().question.take();
        let waiting = std::mem::take(&mut self.thread_mut().waiting);
        if value == GONE {
            let message = match question.and_then(|question| question.kind.location()) {
                Some(location) if !self.is_in_block(location) => {
                    "a variable of a thread is used after the thread has ended"
                }
                _ => "memory is used after it was freed",
            };
            return Err(self.failure(FindingKind::UseAfterFree, message));
        }
        let new = question.and_then(|question| written(question.kind, value, is_spurious));
        match waiting {
            Waiting::Nothing => Ok(()),
            Waiting::Block { .. } if value != 0 => {
                let message = "memory is used after it was freed";
                Err(self.failure(FindingKind::UseAfterFree, message))
            }
            Waiting::Piece { piece, address, size, cut } => {
                self.after_piece(piece, address, size, cut)
            }
            Waiting::Block { address, size, then: Then::Plain(cut) } => {
                self.note_store(address, size, cut)
            }
            Waiting::Block { then: Then::Atomic(kind), .. } => {
                self.store(kind);
                Ok(())
            }
            Waiting::Plain { locations, mut values } => {
                values.push(value);
                if let Some(&location) = locations.get(values.len()) {
                    self.thread_mut().waiting = Waiting::Plain { locations, values };
                    return Err(
                        self.question(OpKind::Load { location, order: MemoryOrder::NonAtomic })
                    );
                }
                for (location, value) in locations.into_iter().zip(values) {
                    self.poke(location, value);
                    self.thread_mut().loaded.push((location, value));
                }
                Ok(())
            }
            Waiting::Atomic { location, result } => {
                self.poke(location, new.unwrap_or(value));
                let What::Memory(size) = self.layout.all[location.index()].what else {
                    return Ok(());
                };
                self.finish_atomic(size, result, value, new.is_some());
                Ok(())
            }
            Waiting::ReplyAtomic { location } => {
                self.poke(location, new.unwrap_or(value));
                self.reply(value, is_spurious);
                Ok(())
            }
            Waiting::Reply => {
                self.reply(value, is_spurious);
                Ok(())
            }
            Waiting::Lock { address, is_tried } => {
                if !is_tried || value == 0 {
                    self.thread_mut().held.push(address);
                }
                self.reply(if is_tried { value } else { 0 }, false);
                Ok(())
            }
        }
    }

    /// Puts into memory again what the thread still has to load: others may have used it since.
    #[inline]
    fn load_again(&mut self) {
        for at in 0..self.thread().loaded.len() {
            let (location, value) = self.thread().loaded[at];
            self.poke(location, value);
        }
    }

    /// Answers what a library function asked.
    pub(crate) fn reply(&mut self, value: Value, is_spurious: bool) {
        let call = self.thread().frame.arguments[1] as *mut Call<'_>;
        // SAFETY: the thread stands in `ops::ask`, whose call it is.
        unsafe {
            (*call).reply = value;
            (*call).is_spurious = is_spurious;
        }
    }

    /// The thread does something that always succeeds, at the place where it is.
    pub(crate) fn effect(&mut self, kind: OpKind) {
        let place = self.place();
        self.effect_at(kind, place);
    }

    pub(crate) fn effect_at(&mut self, kind: OpKind, place: PlaceId) {
        let op = Op { kind, place };
        self.segment.push(op);
        let thread = self.thread_mut();
        thread.count_op();
        if !crate::spin::is_harmless(&op) {
            thread.past.changed();
        }
    }

    /// The thread asks.
    pub(crate) fn question(&mut self, kind: OpKind) -> End {
        let op = Op { kind, place: self.place() };
        let most = self.settings.max_events;
        let thread = self.thread_mut();
        // Others find their bytes as they left them.
        thread.borrowed.drain(..).rev().for_each(give_back);
        thread.count_op();
        if thread.events > most {
            return End::Limit;
        }
        thread.question = Some(op);
        End::Question(op)
    }

    /// The function with which the thread started has returned.
    fn returned(&mut self) -> Flow {
        if self.next_function() || self.run_destructors() {
            return Ok(());
        }
        let Some(start) = self.names.start(self.current) else {
            return Err(self.finish(PlaceId::default()));
        };
        let result = self.thread().frame.arguments[0];
        if result != 0 {
            self.set_result(result as Value);
        }
        let place = self.places.place(start.function + 1);
        Err(self.finish(place))
    }

    /// The thread ends. What it shared of its stack and its thread-local variables is gone, unless the program ends
    /// with it.
    pub(crate) fn finish(&mut self, place: PlaceId) -> End {
        if self.names.start(self.current).is_some() {
            let slot = self.thread().slot;
            let (from, to) = (slot.stack_limit(), slot.heap(true).0);
            if let Err(end) = self.discard(from, to, place) {
                return end;
            }
        }
        if self.settings.leaks {
            self.leave_remains(place);
        }
        End::Finished
    }

    pub(crate) fn set_result(&mut self, value: Value) {
        let place = self.place();
        let thread = self.current.index();
        let location = self.layout.locate_other(What::Result, thread, place);
        let order = MemoryOrder::NonAtomic;
        self.effect(OpKind::Store { location, value, order, carries: false });
    }
}

fn scalar(size: usize) -> Cut {
    if size > 8 { Cut::Range } else { Cut::Scalar }
}
