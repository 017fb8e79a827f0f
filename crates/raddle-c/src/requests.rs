//! What library functions ask for (`ops`).

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, Guard, OpKind, PlaceId, UpdateKind};

use crate::atomics;
use crate::heap::{Sort, Wrong};
use crate::layout::{Cut, What};
use crate::names::Start;
use crate::native::{GONE, Native};
use crate::ops::{self, Area, Call, Kind, Request};
use crate::serve::Flow;
use crate::shims;
use crate::slots::{FRESH, Part};
use crate::threads::Waiting;

/// The state of a mutex, if it can be tried: whether it is locked.
const LOCKED: Value = 1;

/// Whether a request changes nothing that a thread depends on. That a thread has slept does not matter to a
/// loop that looks at no clock; one that does keeps the time on its stack.
fn is_only_reading(request: Request<'_>) -> bool {
    match request {
        Request::Load { .. }
        | Request::Read { .. }
        | Request::ReadSetting { .. }
        | Request::Sync { .. }
        | Request::TryLock { .. }
        | Request::IsHeld { .. }
        | Request::Recall { .. }
        | Request::Current
        | Request::Area { .. }
        | Request::IsInLibrary { .. }
        | Request::ThreadLocals => true,
        Request::Remember { key, .. } => key.0 == shims::CLOCK,
        _ => false,
    }
}

impl Native {
    /// A library function asks.
    pub(crate) fn asked(&mut self) -> Flow {
        let call = self.thread().frame.arguments[1] as *const Call<'_>;
        // SAFETY: the thread stands in `ops::ask`, whose call it is, until we answer.
        let request = unsafe { (*call).request };
        if !is_only_reading(request) {
            self.thread_mut().changed();
        }
        if let Some(value) = self.request(request)? {
            self.reply(value, false);
        }
        Ok(())
    }

    /// Does what can be done at once, and returns the reply.
    fn request(&mut self, request: Request<'_>) -> Result<Option<Value>, End> {
        let done = Ok(Some(0));
        match request {
            Request::Read { address, size } => {
                self.read(address, size, Cut::Range).map(|()| Some(0))
            }
            Request::ReadSetting { address, size } => {
                self.read_setting(address, size).map(|()| Some(0))
            }
            Request::Write { address, size } => {
                self.write(address, size, Cut::Range).map(|()| Some(0))
            }
            Request::Load { .. } | Request::Store { .. } | Request::Compare { .. } => {
                self.request_atomic(request)
            }
            Request::Sync { .. }
            | Request::Lock { .. }
            | Request::Unlock { .. }
            | Request::TryLock { .. }
            | Request::IsHeld { .. } => self.request_lock(request),
            Request::Spawn { function, argument } => Ok(Some(self.spawn(function, argument))),
            Request::Join { thread } => Err(self.ask(OpKind::Join { thread })),
            Request::SetResult { value } => {
                self.set_result(value);
                done
            }
            Request::Result { thread } => {
                let place = self.place();
                let location = self.layout.locate_other(What::Result, thread.index(), place);
                Err(self.ask(OpKind::Load { location, order: MemoryOrder::NonAtomic }))
            }
            Request::Choose { options } => {
                Err(self.ask(OpKind::Choose { options: options.max(1) }))
            }
            Request::Assume => Err(End::Assume),
            Request::Finish => {
                let place = self.place();
                Err(self.finish(place))
            }
            Request::Fail { bug, message } => Err(self.failure(bug, message)),
            Request::Print { text } => {
                self.thread_mut().printed.push_str(text);
                done
            }
            Request::Allocate { .. }
            | Request::BlockSize { .. }
            | Request::Free { .. }
            | Request::TakeBlock { .. }
            | Request::ClearBlock { .. } => self.request_block(request),
            Request::Remember { key, value } => {
                self.thread_mut().remembered.insert(key, value);
                done
            }
            Request::Recall { key } => {
                Ok(Some(self.thread().remembered.get(&key).copied().unwrap_or(0).into()))
            }
            Request::Hold { holds } => {
                self.thread_mut().holds = holds;
                self.let_go();
                done
            }
            Request::NoteBound { what } => {
                self.bound = Some(what.to_owned());
                done
            }
            Request::NoteLeft => {
                self.main_leaves = true;
                done
            }
            Request::Current => Ok(Some(self.current.index() as Value)),
            Request::Area { area: Area::Threads } => Ok(Some(self.module.threads as Value)),
            Request::Area { area: Area::Exits } => Ok(Some(self.module.exits as Value)),
            Request::IsInLibrary { address } => Ok(Some(self.places.is_in_library(address).into())),
            Request::ThreadLocals => {
                self.thread_mut().uses_locals = true;
                let after = self.module.thread_locals.size.next_multiple_of(64);
                Ok(Some((self.thread().slot.locals() + after) as Value))
            }
        }
    }

    /// A question whose answer is the reply.
    fn ask(&mut self, kind: OpKind) -> End {
        self.thread_mut().waiting = Waiting::Reply;
        self.question(kind)
    }

    fn request_atomic(&mut self, request: Request<'_>) -> Result<Option<Value>, End> {
        let location = LocationId::new(0);
        let (address, size, op) = match request {
            Request::Load { address, size, order } => {
                (address, size, OpKind::Load { location, order })
            }
            Request::Store { address, size, value, order } => {
                (address, size, OpKind::Store { location, value, order, carries: false })
            }
            Request::Compare { address, size, expected, desired, orders } => {
                (address, size, atomics::compare(location, expected, desired, orders))
            }
            _ => return Ok(Some(0)),
        };
        match self.access_atomic(address, size, op)? {
            Some((old, _)) => Ok(Some(old)),
            None => Err(End::Question(self.thread().question.expect("it has just asked"))),
        }
    }

    fn object(&mut self, kind: Kind, address: usize) -> LocationId {
        let place = self.place();
        self.layout.locate_other(What::Object(kind), address, place)
    }

    fn request_lock(&mut self, request: Request<'_>) -> Result<Option<Value>, End> {
        let can_be_tried = self.mutexes_can_be_tried.0;
        match request {
            Request::Sync { address, kind, guard, update } => {
                let location = self.object(kind, address);
                Err(self.ask(OpKind::Sync { location, guard, update }))
            }
            Request::Lock { address } => {
                let location = self.object(Kind::Mutex, address);
                self.thread_mut().waiting = Waiting::Lock { address, is_tried: false };
                let (guard, update) = (Guard::Equal(0), ops::set_to(LOCKED));
                Err(self.question(if can_be_tried {
                    OpKind::Sync { location, guard, update }
                } else {
                    OpKind::Lock { lock: location }
                }))
            }
            Request::TryLock { address } => {
                if !can_be_tried {
                    self.mutexes_can_be_tried.1 = true;
                    return Err(self.again());
                }
                let location = self.object(Kind::Mutex, address);
                self.thread_mut().waiting = Waiting::Lock { address, is_tried: true };
                let (guard, update) = (Guard::Always, ops::set_to(LOCKED));
                Err(self.question(OpKind::Sync { location, guard, update }))
            }
            Request::Unlock { address } => self.unlock(address),
            Request::IsHeld { address } => Ok(Some(self.thread().held.contains(&address).into())),
            _ => Ok(Some(0)),
        }
    }

    fn unlock(&mut self, address: usize) -> Result<Option<Value>, End> {
        let location = self.object(Kind::Mutex, address);
        let held = &mut self.thread_mut().held;
        let Some(at) = held.iter().rposition(|&held| held == address) else {
            let message = "a mutex is unlocked by a thread that does not hold it";
            return Err(self.failure(FindingKind::Misuse, message));
        };
        held.swap_remove(at);
        if self.mutexes_can_be_tried.0 {
            let (guard, update) = (Guard::Always, ops::set_to(0));
            return Err(self.ask(OpKind::Sync { location, guard, update }));
        }
        self.effect(OpKind::Unlock { lock: location });
        Ok(Some(0))
    }

    fn spawn(&mut self, function: usize, argument: usize) -> Value {
        let parent = self.current;
        let number = self.thread().spawned;
        self.thread_mut().spawned += 1;
        let thread: ThreadId = self.names.thread(Start { parent, number, function, argument });
        self.effect(OpKind::Spawn { thread });
        thread.index() as Value
    }

    fn request_block(&mut self, request: Request<'_>) -> Result<Option<Value>, End> {
        match request {
            Request::Allocate { size, alignment, is_zeroed } => {
                Ok(Some(self.allocate(size, alignment, is_zeroed) as Value))
            }
            Request::BlockSize { address } => self.block_size(address).map(|it| Some(it as Value)),
            Request::Free { address } => self.free(address).map(Some),
            Request::TakeBlock { address } => {
                let place = self.place();
                let location = self.layout.locate_other(What::Block, address, place);
                let update = ops::by(UpdateKind::Swap, 1);
                Err(self.ask(OpKind::Rmw { location, update, order: MemoryOrder::Relaxed }))
            }
            Request::ClearBlock { address } => self.clear_block(address).map(|()| Some(0)),
            _ => Ok(Some(0)),
        }
    }

    fn allocate(&mut self, size: usize, alignment: usize, is_zeroed: bool) -> usize {
        let sort = Sort { size, alignment, is_zeroed };
        let made = self.place();
        let current = self.current.index();
        let Some(thread) = &mut self.threads[current] else { return 0 };
        let slot = thread.slot;
        let Some(block) = thread.heap.allocate(&mut self.regions, slot, sort, made) else {
            return 0;
        };
        let fill = if is_zeroed { 0 } else { FRESH };
        // SAFETY: the block is part of the thread's heap, which is mapped, and nobody has it yet.
        unsafe { std::ptr::write_bytes(block.start as *mut u8, fill, size) };
        self.known_blocks.insert(block.start, size);
        self.layout.refresh_shadows(block.start, block.start + size);
        block.start
    }

    fn block_size(&mut self, address: usize) -> Result<usize, End> {
        match self.slots.find(address) {
            Some((thread, Part::Heap { is_zeroed })) if thread == self.current => {
                match self.thread().heap.block(is_zeroed, address, 0) {
                    Ok(block) if block.start == address => return Ok(block.size),
                    Err(Wrong::Freed(block)) if block.start == address => {
                        let by = self.places.place(block.freed.unwrap_or(0));
                        let at = self.places.name(by);
                        let message = format!("a block of memory is freed twice, first at {at}");
                        return Err(self.failure(FindingKind::DoubleFree, &message));
                    }
                    _ => {}
                }
            }
            Some((_, Part::Heap { .. })) => {
                if let Some(&size) = self.known_blocks.get(&address) {
                    return Ok(size);
                }
            }
            _ => {}
        }
        let message = format!("{address:#x} is freed, which is not the start of a block of memory");
        Err(self.failure(FindingKind::DoubleFree, &message))
    }

    /// Frees a block that is private: returns 0. For one that is shared more must be done.
    fn free(&mut self, address: usize) -> Result<Value, End> {
        let size = self.block_size(address)?;
        let Some((thread, Part::Heap { is_zeroed })) = self.slots.find(address) else {
            return Ok(0);
        };
        if thread == self.current {
            if !self.layout.is_shared(address, size.max(1)) {
                let by = self.thread().caller.address;
                self.thread_mut().heap.free(is_zeroed, address, by);
                return Ok(0);
            }
            return Ok(1);
        }
        if !self.layout.is_shared(address, size.max(1)) {
            self.layout.share(address, address + size.max(1));
            return Err(self.again());
        }
        Ok(1)
    }

    /// Stores [`GONE`] to all locations of memory that nobody may use any more.
    pub(crate) fn discard(&mut self, from: usize, to: usize, place: PlaceId) -> Flow {
        self.freed_blocks.insert(from, to);
        for (at, size) in self.layout.of_block(from, to) {
            self.write_pieces(at, size, place);
            for location in self.locate(at, size, Cut::Range)? {
                let order = MemoryOrder::NonAtomic;
                let store = OpKind::Store { location, value: GONE, order, carries: false };
                self.effect_at(store, place);
            }
        }
        Ok(())
    }

    /// Frees a block that is shared.
    fn clear_block(&mut self, address: usize) -> Flow {
        let size = self.known_blocks.get(&address).copied().unwrap_or(0);
        let end = address + size.max(1);
        if self.layout.note_freed(address, end) {
            return Err(self.again());
        }
        let place = self.place();
        self.discard(address, end, place)?;
        if let Some((thread, Part::Heap { is_zeroed })) = self.slots.find(address)
            && thread == self.current
        {
            let by = self.thread().caller.address;
            self.thread_mut().heap.free(is_zeroed, address, by);
        }
        Ok(())
    }
}
