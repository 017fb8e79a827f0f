//! Accesses to shared memory.
//!
//! A plain load asks for every location that it covers; a plain store has an effect for each. A store to a block that some
//! thread may free first asks whether it was freed. Loads need not ask: they find out by the value.

use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{JointKind, OpKind, Update, UpdateKind};
use raddle_cpu::memory::layout as guest;
use raddle_cpu::{Operation, Stop};
use raddle_explore::suggest as change;
use smallvec::SmallVec;

use super::GONE;
use super::call::{Call, CompareOrders, Step, Suspend};
use super::layout::{Conflict, Cut, Location, LocationKind, Locations};
use super::parts::Chunk;
use super::sections::Access;
use super::std_code::Origin;

impl Call<'_> {
    /// Performs an access of the CPU to shared memory and returns its answer.
    pub(crate) fn access(&mut self, stop: &Stop) -> Step<Value> {
        match *stop {
            Stop::Load { address, size } => {
                if let Some(value) = self.marked_value(address, size.into()) {
                    return Ok(value);
                }
                if self.is_atomic_of_std(address, size.into())? {
                    return self.atomic_load(address, size.into(), MemoryOrder::SeqCst);
                }
                let mut bytes = [0; 16];
                let bytes_read = &mut bytes[..size.into()];
                let (cut, order) = (self.cut_of_instruction(), self.order_of_instruction());
                self.load_shared(address, bytes_read, cut, order)?;
                Ok(u128::from_le_bytes(bytes) as Value)
            }
            Stop::Store { address, size, value } => {
                if self.is_atomic_of_std(address, size.into())? {
                    let order = MemoryOrder::Release;
                    self.atomic_store(address, size.into(), value as Value, order)?;
                    return Ok(0);
                }
                let bytes = value.to_le_bytes();
                let (bytes, cut) = (&bytes[..size.into()], self.cut_of_instruction());
                self.store_shared(address, bytes, cut, self.order_of_instruction())?;
                Ok(0)
            }
            Stop::ReadModifyWrite { address, size, operation } => {
                self.locked(address, size.into(), operation)
            }
            _ => Ok(0),
        }
    }

    /// Returns `true` if the plain access of the current instruction is an atomic one of Rust's standard library, which is
    /// compiled without hooks.
    fn is_atomic_of_std(&mut self, address: u64, size: u64) -> Step<bool> {
        let program = &mut *self.program;
        let Some(rust) = &program.table.rust else { return Ok(false) };
        let origin = rust.origin(&program.process, program.cpu().ip());
        let stack = guest::stack_end(program.thread().guest);
        let is_own_stack = (stack - guest::STACK_STRIDE / 2..stack).contains(&address);
        if origin == Origin::Instrumented || origin == Origin::Foreign && is_own_stack {
            return Ok(false);
        }
        match program.layout.is_atomic(address, size) {
            Ok(true) if origin == Origin::Foreign => Err(self.refuse_foreign()),
            Ok(is_atomic) => Ok(is_atomic),
            Err(_) => Err(self.again()),
        }
    }

    fn refuse_foreign(&mut self) -> Suspend {
        self.refuse(
            "accesses an atomic variable in code that does not tell memory orders: code of another language, or assembly",
        )
    }

    /// A locked instruction.
    fn locked(&mut self, address: u64, size: u64, operation: Operation) -> Step<Value> {
        if let Some(rust) = &self.program.table.rust
            && rust.origin(&self.program.process, self.program.cpu().ip()) == Origin::Foreign
        {
            return Err(self.refuse_foreign());
        }
        let order = MemoryOrder::SeqCst;
        let (kind, operand) = match operation {
            Operation::Add(value) => (UpdateKind::Add, value),
            Operation::And(value) => (UpdateKind::And, value),
            Operation::Or(value) => (UpdateKind::Or, value),
            Operation::Xor(value) => (UpdateKind::Xor, value),
            Operation::Exchange(value) => (UpdateKind::Swap, value),
            Operation::CompareExchange { expected, new } => {
                let orders = CompareOrders { success: order, failure: order, is_weak: false };
                let (expected, new) = (expected as Value, new as Value);
                return Ok(self.compare_exchange(address, size, expected, new, orders)?.0);
            }
            Operation::Negate => return self.negate(address, size),
        };
        let bits = if kind == UpdateKind::Swap { 0 } else { 8 * size as u8 };
        let update = Update { kind, operand: operand.into(), bits, signed: false, carries: false };
        let is_blind = self.is_instruction_dead();
        self.atomic_update(address, size, update, order, is_blind)
    }

    /// `lock neg` as a loop of compare-exchanges.
    fn negate(&mut self, address: u64, size: u64) -> Step<Value> {
        let order = MemoryOrder::SeqCst;
        let orders = CompareOrders { success: order, failure: order, is_weak: false };
        let mut old = self.atomic_load(address, size, order)?;
        loop {
            let new = Operation::Negate.apply(old as u128, size as u8) as Value;
            match self.compare_exchange(address, size, old, new, orders)? {
                (_, true) => return Ok(old),
                (read, false) => old = read,
            }
        }
    }

    /// A load of shared memory.
    pub(crate) fn load_shared(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        let (size, order) = (bytes.len() as u64, self.order_of_plain(order));
        self.excluded(address, size, Access::Load(order), |call| {
            call.load_locations(address, bytes, cut, order)
        })
    }

    /// The order of the access of the current instruction, which is no atomic one.
    fn order_of_instruction(&self) -> MemoryOrder {
        let program = &*self.program;
        let is_relaxed = program.settings.environment.volatile_relaxed
            && program.is_volatile(program.cpu().ip());
        if is_relaxed { MemoryOrder::Relaxed } else { MemoryOrder::NonAtomic }
    }

    /// The order of a plain access: relaxed, if races are not looked for, as what happens after a race would have no meaning.
    fn order_of_plain(&self, order: MemoryOrder) -> MemoryOrder {
        let is_relaxed = self.program.settings.environment.ignores_races();
        if is_relaxed { order.max(MemoryOrder::Relaxed) } else { order }
    }

    fn load_locations(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        let size = bytes.len() as u64;
        let pieces: Vec<u64> = self.program.layout.watched(address, size).collect();
        for piece in pieces {
            let place = self.program.place();
            let layout = &mut self.program.layout;
            let location = layout.locate_object(LocationKind::Piece, piece, place);
            self.ask(OpKind::ReadCell { location })?;
        }
        if !self.program.layout.learned.variables.is_empty() {
            return self.load_chunks(address, bytes, cut, order);
        }
        self.load_units(address, bytes, cut, order)
    }

    /// Loads memory that has no part of an atomic variable, or only whole ones.
    fn load_units(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        let size = bytes.len() as u64;
        self.fence_beside_plain(address, change::Access::Load, order);
        for (at, size) in self.program.layout.units(address, size, cut) {
            let locations = self.locate(at, size, cut)?;
            self.begin_joint(&locations, self.joint_load());
            let mut done = (at - address) as usize;
            for &location in &locations {
                let value = self.ask(OpKind::Load { location, order })?.value;
                self.check_alive(value, address)?;
                let (length, value) = (self.size_of(location), (value as u128).to_le_bytes());
                bytes[done..done + length].copy_from_slice(&value[..length]);
                done += length;
            }
            self.end_joint(&locations);
        }
        Ok(())
    }

    /// A store to shared memory.
    pub(crate) fn store_shared(
        &mut self,
        address: u64,
        bytes: &[u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        let (size, order) = (bytes.len() as u64, self.order_of_plain(order));
        self.excluded(address, size, Access::Store(order), |call| {
            call.store_locations(address, bytes, cut, order)
        })
    }

    fn store_locations(
        &mut self,
        address: u64,
        bytes: &[u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        let size = bytes.len() as u64;
        self.check_store(address, size)?;
        if !self.program.layout.learned.variables.is_empty() {
            return self.store_chunks(address, bytes, cut, order);
        }
        self.store_units(address, bytes, cut, order)
    }

    /// Stores memory that has no part of an atomic variable, or only whole ones.
    fn store_units(
        &mut self,
        address: u64,
        bytes: &[u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        let size = bytes.len() as u64;
        let units = self.program.layout.units(address, size, cut);
        let mut all = SmallVec::<[Locations; 1]>::new();
        for &(at, size) in &units {
            all.push(self.locate(at, size, cut)?);
        }
        self.write_pieces(address, size);
        let mut done = 0;
        for locations in all {
            self.begin_joint(&locations, JointKind::Store);
            for &location in &locations {
                let length = self.size_of(location);
                let mut part = [0; 16];
                part[..length].copy_from_slice(&bytes[done..done + length]);
                let value = u128::from_le_bytes(part) as Value;
                self.effect(OpKind::Store { location, value, order, carries: false });
                done += length;
            }
            self.end_joint(&locations);
        }
        self.fence_beside_plain(address, change::Access::Store, order);
        Ok(())
    }

    /// Loads memory with parts of atomic variables.
    fn load_chunks(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        for chunk in self.program.layout.chunks(address, bytes.len() as u64) {
            let first = (chunk.address - address) as usize;
            let own = &mut bytes[first..first + chunk.size as usize];
            let Some(variable) = chunk.variable else {
                self.load_units(chunk.address, own, cut, order)?;
                continue;
            };
            let location = self.locate_chunk(chunk, variable)?;
            let value = self.ask(OpKind::Load { location, order })?.value;
            self.check_alive(value, chunk.address)?;
            let (from, value) =
                ((chunk.address - variable.0) as usize, (value as u128).to_le_bytes());
            own.copy_from_slice(&value[from..from + chunk.size as usize]);
        }
        Ok(())
    }

    /// Stores memory with parts of atomic variables.
    fn store_chunks(
        &mut self,
        address: u64,
        bytes: &[u8],
        cut: Cut,
        order: MemoryOrder,
    ) -> Step<()> {
        for chunk in self.program.layout.chunks(address, bytes.len() as u64) {
            let first = (chunk.address - address) as usize;
            let own = &bytes[first..first + chunk.size as usize];
            let Some(variable) = chunk.variable else {
                self.store_units(chunk.address, own, cut, order)?;
                continue;
            };
            let location = self.locate_chunk(chunk, variable)?;
            let mut whole = [0; 16];
            if (chunk.address, chunk.address + chunk.size) != variable {
                let value = self.ask(OpKind::Load { location, order })?.value;
                self.check_alive(value, chunk.address)?;
                whole = (value as u128).to_le_bytes();
            }
            let from = (chunk.address - variable.0) as usize;
            whole[from..from + own.len()].copy_from_slice(own);
            let value = u128::from_le_bytes(whole) as Value;
            self.effect(OpKind::Store { location, value, order, carries: false });
        }
        Ok(())
    }

    /// The location of the variable that contains a part of a plain access.
    fn locate_chunk(&mut self, chunk: Chunk, variable: (u64, u64)) -> Step<LocationId> {
        let place = self.program.place();
        let known = self.program.layout.all.len();
        match self.program.layout.locate_variable(chunk, variable, place) {
            Ok(location) => {
                self.note_new_locations(known)?;
                Ok(location)
            }
            Err(Conflict::Again) => Err(self.again()),
            Err(Conflict::Mixed(other)) => Err(self.mixed(chunk.address, chunk.size, other)),
        }
    }

    /// Checks before a store that its block was not freed, and that no thread has read it as a constant.
    pub(crate) fn check_store(&mut self, address: u64, size: u64) -> Step<()> {
        if self.program.layout.writes_setting(address, size) {
            return Err(self.again());
        }
        let Some(block) = self.program.layout.freed_block(address) else { return Ok(()) };
        let place = self.program.place();
        let location = self.program.layout.locate_object(LocationKind::Block, block, place);
        let reply = self.ask(OpKind::Load { location, order: MemoryOrder::Relaxed })?;
        let value = if reply.value == 0 { 0 } else { GONE };
        self.check_alive(value, address)
    }

    /// It is a bug to read the value of a freed location.
    pub(crate) fn check_alive(&mut self, value: Value, address: u64) -> Step<()> {
        if value != GONE {
            return Ok(());
        }
        let message = match super::heap::heap_owner(address) {
            Some(_) => "memory is used after it was freed",
            None => "a variable of a thread is used after the thread has ended",
        };
        Err(self.fail(FindingKind::UseAfterFree, message))
    }

    /// Notes a plain store to memory that is accessed in pieces of different sizes.
    pub(crate) fn write_pieces(&mut self, address: u64, size: u64) {
        let pieces: Vec<u64> = self.program.layout.watched(address, size).collect();
        for piece in pieces {
            let place = self.program.place();
            let layout = &mut self.program.layout;
            let location = layout.locate_object(LocationKind::Piece, piece, place);
            self.effect(OpKind::WriteCell { location });
        }
    }

    pub(super) fn size_of(&self, location: raddle_core::execution::LocationId) -> usize {
        match self.program.layout.all[location.index()].kind {
            LocationKind::Memory(size) => size as usize,
            _ => 0,
        }
    }

    /// The locations of an access to shared memory.
    pub(crate) fn locate(&mut self, address: u64, size: u64, cut: Cut) -> Step<Locations> {
        if let Some(location) = self.program.layout.known(address, size, cut) {
            return Ok(Locations::from_buf([location]));
        }
        let place = self.program.place();
        let known = self.program.layout.all.len();
        match self.program.layout.locate(address, size, cut, place) {
            Ok(locations) => {
                self.note_new_locations(known)?;
                Ok(locations)
            }
            Err(Conflict::Again) => Err(self.again()),
            Err(Conflict::Mixed(other)) => Err(self.mixed(address, size, other)),
        }
    }

    /// Refuses an atomic access, or one that may race, that overlaps accesses of other sizes.
    pub(crate) fn mixed(
        &mut self,
        address: u64,
        size: u64,
        other: raddle_core::program::PlaceId,
    ) -> Suspend {
        let name = self.program.memory_without_address(address);
        let at = raddle_core::program::Naming::place(self.program, other);
        let message = format!(
            "accesses the {size} bytes of {name}, of which {at} accesses a part, or more: Raddle models such accesses only under \
             sc, tso and pso if they are atomic, or may race"
        );
        self.refuse(&message)
    }

    /// Locations of blocks and stacks are remembered: when their memory is freed, they get the value [`GONE`].
    fn note_new_locations(&mut self, known: usize) -> Step<()> {
        for index in known..self.program.layout.all.len() {
            let Location { address, .. } = self.program.layout.all[index];
            if !self.program.is_thread_memory(address) {
                continue;
            }
            let location = raddle_core::execution::LocationId::new(index);
            let is_new = self.program.layout.note_of_block(location);
            let is_freed = self.program.layout.freed_block(address).is_some();
            if is_new && (is_freed || self.program.layout.is_settled) {
                return Err(self.again());
            }
        }
        Ok(())
    }

    /// Stores [`GONE`] to all known locations of a range that no thread may use any more.
    pub(crate) fn discard(&mut self, from: u64, to: u64) -> Step<()> {
        for (at, size) in self.program.layout.of_block(from, to) {
            self.write_pieces(at, size);
            for location in self.locate(at, size, Cut::Range)? {
                let (value, order) = (GONE, MemoryOrder::NonAtomic);
                self.effect(OpKind::Store { location, value, order, carries: false });
            }
        }
        Ok(())
    }
}
