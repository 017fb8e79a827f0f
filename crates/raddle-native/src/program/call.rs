//! What modelled functions are made of.
//!
//! A modelled function is a Rust function of a [`Call`]. Whatever may need the explorer returns a [`Step`]: an `Err` suspends
//! the function, and `?` passes it on. When the reply is there, the changes of the first attempt are undone and the function
//! runs again from its beginning, with the replies so far. So a modelled function must depend on nothing but its call.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, Guard, Op, OpKind, Update, UpdateKind};
use raddle_cpu::Register;
use raddle_cpu::memory::{Denied, State};
use smallvec::SmallVec;

use super::kinds::{ObjectKind, Purpose};
use super::layout::{Cut, LocationKind};
use super::thread::Reply;
use super::{NativeProgram, Start};

/// Why a modelled function does not return now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Suspend {
    /// The segment of the thread ends: with a question, or for good.
    End(End),
    /// The thread continues elsewhere.
    Jumped,
    /// The thread stands again before an earlier question.
    Back,
}

/// The result of a part of a modelled function.
pub(crate) type Step<T> = Result<T, Suspend>;

/// The memory orders of a compare-exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompareOrders {
    pub(crate) success: MemoryOrder,
    pub(crate) failure: MemoryOrder,
    /// It may fail although the values are equal.
    pub(crate) is_weak: bool,
}

impl CompareOrders {
    /// Relaxed, and it never fails spuriously.
    pub(crate) const RELAXED: CompareOrders = CompareOrders {
        success: MemoryOrder::Relaxed,
        failure: MemoryOrder::Relaxed,
        is_weak: false,
    };
}

/// The context of a modelled function, or of an access to shared memory, of the current thread.
pub(crate) struct Call<'p> {
    pub(crate) program: &'p mut NativeProgram,
    replies: SmallVec<[Reply; 1]>,
    /// The number of questions asked so far in this attempt.
    asked: usize,
    /// The number of effects that earlier attempts have performed.
    performed: usize,
    /// The number of effects of this attempt.
    pub(crate) effects: usize,
}

/// Registers of integer arguments, in order.
const ARGUMENTS: [Register; 6] =
    [Register::Rdi, Register::Rsi, Register::Rdx, Register::Rcx, Register::R8, Register::R9];

/// Bytes of the frame of a guest call, at least.
const FRAME: u64 = 32;

/// The update that sets a synchronization object to a value.
pub(crate) fn set_to(value: Value) -> Update {
    update(UpdateKind::Swap, value)
}

/// The update of a synchronization object.
pub(crate) fn update(kind: UpdateKind, operand: Value) -> Update {
    Update { kind, operand, bits: 0, signed: false, carries: false }
}

/// The update of a number in memory.
pub(crate) fn update_bits(kind: UpdateKind, operand: Value, bits: u8) -> Update {
    Update { kind, operand, bits, signed: false, carries: false }
}

/// Control flow of the current thread.
impl<'p> Call<'p> {
    pub(crate) fn new(
        program: &'p mut NativeProgram,
        replies: SmallVec<[Reply; 1]>,
        performed: usize,
    ) -> Self {
        Call { program, replies, asked: 0, performed, effects: 0 }
    }

    /// Returns `true` if the function has not asked anything yet.
    pub(crate) fn is_new(&self) -> bool {
        self.replies.is_empty()
    }

    /// Asks a question whose op is at the place of the call. The reply to a compare-exchange says whether it failed
    /// spuriously.
    pub(crate) fn ask(&mut self, kind: OpKind) -> Step<Reply> {
        if let Some(&reply) = self.replies.get(self.asked) {
            self.asked += 1;
            return Ok(reply);
        }
        let place = self.program.place();
        Err(Suspend::End(End::Question(Op { kind, place })))
    }

    /// Performs an effect at the place of the call.
    pub(crate) fn effect(&mut self, kind: OpKind) {
        self.effects += 1;
        if matches!(kind, OpKind::Fence { order: MemoryOrder::SeqCst }) {
            self.note_emptied();
        }
        if self.effects > self.performed {
            let place = self.program.place();
            self.program.perform(Op { kind, place });
        }
    }

    /// The integer or pointer argument `index`.
    pub(crate) fn argument(&mut self, index: usize) -> Step<u64> {
        let cpu = self.program.cpu();
        match ARGUMENTS.get(index) {
            Some(&register) => Ok(cpu.register(register)),
            None => {
                let at = cpu.register(Register::Rsp) + 8 * (index as u64 - 5);
                self.load(at, 8)
            }
        }
    }

    /// Sets the second result register, for functions that return a pair.
    pub(crate) fn set_second_result(&mut self, value: u64) {
        self.program.cpu_mut().set_register(Register::Rdx, value);
    }

    /// Calls a guest function; the modelled function `then` continues when it returns, and finds `data` by [`Call::pop_data`].
    /// The caller must return the result as an error.
    ///
    /// The frame on the guest's stack has the address of `then`, the old stack pointer and `data`.
    pub(crate) fn call_guest(
        &mut self,
        function: u64,
        arguments: &[u64],
        then: &'static str,
        data: u64,
    ) -> Suspend {
        let Some(then) = self.program.process.host_function(then) else {
            return self.refuse("calls a function that Raddle cannot resume");
        };
        let old = self.program.cpu().register(Register::Rsp);
        // At the entry of a function, the stack pointer is 8 bytes below a multiple of 16.
        let new = ((old - FRAME) & !15) - 8;
        let words = [then.address(), old, data].map(u64::to_le_bytes).concat();
        if let Err(suspend) = self.store_bytes(new, &words) {
            return suspend;
        }
        let cpu = self.program.cpu_mut();
        cpu.set_register(Register::Rsp, new);
        for (&register, &argument) in ARGUMENTS.iter().zip(arguments) {
            cpu.set_register(register, argument);
        }
        cpu.jump(function);
        Suspend::Jumped
    }

    /// Continues with a library function in place of the modelled one, which returns to the same caller if it returns. The
    /// caller must return the result as an error.
    pub(crate) fn jump_to_library(&mut self, name: &str, arguments: &[u64]) -> Suspend {
        let function = match self.library_function(name) {
            Ok(function) => function,
            Err(suspend) => return suspend,
        };
        let cpu = self.program.cpu_mut();
        for (&register, &argument) in ARGUMENTS.iter().zip(arguments) {
            cpu.set_register(register, argument);
        }
        cpu.jump_past_hook(function);
        Suspend::Jumped
    }

    /// The address of a function of some library.
    fn library_function(&mut self, name: &str) -> Step<u64> {
        let libraries = self.program.process.modules().iter().skip(1);
        match libraries.filter_map(|module| module.address_of(name)).next() {
            Some(function) => Ok(function),
            None => Err(self.refuse(&format!("needs {name}, which no library defines"))),
        }
    }

    /// As [`Call::call_guest`], of the code of a library function that may be a modelled one.
    pub(crate) fn call_library(
        &mut self,
        name: &str,
        arguments: &[u64],
        then: &'static str,
        data: u64,
    ) -> Suspend {
        let function = match self.library_function(name) {
            Ok(function) => function,
            Err(suspend) => return suspend,
        };
        let suspend = self.call_guest(function, arguments, then, data);
        if suspend == Suspend::Jumped {
            self.program.cpu_mut().jump_past_hook(function);
        }
        suspend
    }

    /// The data of the guest call that has returned. Must be called exactly once.
    pub(crate) fn pop_data(&mut self) -> Step<u64> {
        let stack = self.program.cpu().register(Register::Rsp);
        let (old, data) = (self.load(stack, 8)?, self.load(stack + 8, 8)?);
        self.set_stack(old);
        Ok(data)
    }

    /// The result of the guest call that has returned.
    pub(crate) fn guest_result(&self) -> u64 {
        self.program.cpu().register(Register::Rax)
    }

    /// The stack pointer.
    pub(crate) fn stack(&self) -> u64 {
        self.program.cpu().register(Register::Rsp)
    }

    /// Sets the stack pointer.
    pub(crate) fn set_stack(&mut self, address: u64) {
        self.program.cpu_mut().set_register(Register::Rsp, address);
    }

    /// Sets an argument register, for code that runs next.
    pub(crate) fn set_argument(&mut self, index: usize, value: u64) {
        if let Some(&register) = ARGUMENTS.get(index) {
            self.program.cpu_mut().set_register(register, value);
        }
    }

    /// The lower half of a vector register.
    pub(crate) fn vector(&self, index: usize) -> [u64; 2] {
        let [low, high, ..] = self.program.cpu().vector(index);
        [low, high]
    }

    /// Runs the library's own code instead of the model. The caller must return the result as an error.
    pub(crate) fn run_library_code(&mut self) -> Suspend {
        let address = self.program.cpu().ip();
        if raddle_cpu::memory::layout::host_function_at(address).is_some() {
            return self.refuse("calls a function in a way that Raddle does not model");
        }
        self.program.cpu_mut().jump_past_hook(address);
        Suspend::Jumped
    }

    /// Sets `errno` of the thread.
    pub(crate) fn set_errno(&mut self, error: i32) -> Step<()> {
        let Some((number, offset)) = self.errno_place() else { return Ok(()) };
        let pointer = self.program.cpu().register(Register::FsBase);
        let vector = self.load(pointer + 8, 8)?;
        let block = self.load(vector + 16 * number, 8)?;
        self.store(block.wrapping_add(offset), 4, error as u64)
    }

    /// The number of the C library among the modules with thread-local storage, from 1, and the offset of `errno` in it.
    fn errno_place(&self) -> Option<(u64, u64)> {
        let modules = self.program.process.modules().iter();
        let with_storage = modules.filter(|module| module.file.tls.is_some());
        with_storage.zip(1..).find_map(|(module, number)| {
            let symbol = module.symbols().by_name("errno")?;
            (symbol.kind == crate::load::SymbolKind::ThreadLocal)
                .then_some((number, symbol.address))
        })
    }

    /// Ends the execution with a bug at the place of the call.
    pub(crate) fn fail(&mut self, kind: FindingKind, message: &str) -> Suspend {
        Suspend::End(self.program.failure(kind, message))
    }

    /// Ends the execution: the program does something that is not modelled.
    pub(crate) fn refuse(&mut self, message: &str) -> Suspend {
        self.fail(FindingKind::Unsupported, message)
    }

    /// Ends the execution: the exploration starts again with a new fact.
    pub(crate) fn again(&mut self) -> Suspend {
        Suspend::End(self.program.again())
    }

    /// The current thread.
    pub(crate) fn current(&self) -> ThreadId {
        self.program.current
    }

    /// A nondeterministic number below `options`.
    pub(crate) fn choose(&mut self, options: u32) -> Step<u32> {
        let reply = self.ask(OpKind::Choose { options: options.max(1) })?;
        Ok(reply.value as u32)
    }

    /// Discards the execution unless the condition holds.
    pub(crate) fn assume(&mut self, condition: bool) -> Step<()> {
        if condition { Ok(()) } else { Err(Suspend::End(End::Assume)) }
    }

    /// Adds to the output of the thread.
    pub(crate) fn print(&mut self, text: &str) {
        self.program.thread_mut().printed.push_str(text);
    }

    /// Not everything is explored, for this reason.
    pub(crate) fn note_bound(&mut self, reason: &str) {
        self.program.bound = Some(reason.to_owned());
    }

    /// Notes that the thread waits without a loop, if it does, though it may wake up spuriously.
    pub(crate) fn note_wait(&mut self) {
        if self.program.remark.is_some() || self.program.settings.environment.spurious {
            return;
        }
        let place = self.program.place();
        if !self.program.waits_in_loop(place) {
            let at = raddle_core::program::Naming::place(self.program, place);
            self.program.remark = Some(format!(
                "spurious wakeups were not explored, and the wait at {at} is in no loop (see --spurious)"
            ));
        }
    }

    /// The main thread ends, and the program continues.
    pub(crate) fn note_left(&mut self) {
        self.program.main_leaves = true;
    }

    /// Keeps a number for this thread. Each purpose has keys of its own.
    pub(crate) fn remember(&mut self, purpose: Purpose, key: u64, value: u64) {
        let remembered = &mut self.program.thread_mut().own_mut().remembered;
        if value == 0 {
            remembered.remove(&(purpose as u32, key));
        } else {
            remembered.insert((purpose as u32, key), value);
        }
    }

    /// The number that was kept; 0 if there is none.
    pub(crate) fn recall(&self, purpose: Purpose, key: u64) -> u64 {
        self.program.thread().own.remembered.get(&(purpose as u32, key)).copied().unwrap_or(0)
    }
}

/// Threads and locks.
impl Call<'_> {
    /// Starts a thread with a function of one argument.
    pub(crate) fn spawn(&mut self, function: u64, argument: u64) -> ThreadId {
        let number = self.program.thread().own.spawned;
        let blocks = self.program.blocks_for_thread(argument);
        let own = self.program.thread_mut().own_mut();
        own.spawned += 1;
        own.blocks_at_spawn = own.heap.blocks.len();
        let parent = self.program.current;
        let library = self.program.library_data();
        let start = Start { parent, number, function, argument, library, blocks };
        let thread = self.program.names.thread(start);
        self.effect(OpKind::Spawn { thread });
        thread
    }

    /// Waits for the end of a thread.
    pub(crate) fn join(&mut self, thread: ThreadId) -> Step<()> {
        self.ask(OpKind::Join { thread })?;
        self.note_emptied();
        Ok(())
    }

    fn result_location(&mut self, thread: ThreadId) -> LocationId {
        let place = self.program.place();
        let index = thread.index() as u64;
        self.program.layout.locate_object(LocationKind::Result, index, place)
    }

    /// The result of a joined thread.
    pub(crate) fn result_of(&mut self, thread: ThreadId) -> Step<u64> {
        let location = self.result_location(thread);
        let reply = self.ask(OpKind::Load { location, order: MemoryOrder::NonAtomic })?;
        Ok(reply.value as u64)
    }

    /// Ends the thread with a result.
    pub(crate) fn finish(&mut self, result: u64) -> Suspend {
        if result != 0 {
            let location = self.result_location(self.program.current);
            let (value, order) = (result.into(), MemoryOrder::NonAtomic);
            self.effect(OpKind::Store { location, value, order, carries: false });
        }
        match self.leave_stack() {
            Ok(()) => self.end_of_thread(),
            Err(suspend) => suspend,
        }
    }

    fn object(&mut self, kind: ObjectKind, address: u64) -> LocationId {
        let place = self.program.place();
        self.program.layout.locate_object(LocationKind::Object(kind), address, place)
    }

    /// Waits until the guard holds for the synchronization object at an address, and updates it. Returns the value before. The
    /// initial value is 0.
    pub(crate) fn sync(
        &mut self,
        kind: ObjectKind,
        address: u64,
        guard: Guard,
        update: Update,
    ) -> Step<Value> {
        let location = self.object(kind, address);
        if self.is_in_section() && kind != ObjectKind::Exit {
            return Err(self.refuse("synchronizes threads within an atomic section"));
        }
        let before = self.ask(OpKind::Sync { location, guard, update })?.value;
        self.note_emptied();
        Ok(before)
    }

    /// Acquires a lock that the thread does not hold.
    pub(crate) fn lock(&mut self, address: u64) -> Step<()> {
        let location = self.object(ObjectKind::Mutex, address);
        if self.is_in_section() {
            return Err(self.refuse("locks a mutex within an atomic section"));
        }
        self.ask(match self.program.locks_can_be_tried {
            true => OpKind::Sync { location, guard: Guard::Equal(0), update: set_to(1) },
            false => OpKind::Lock { lock: location },
        })?;
        self.note_emptied();
        self.program.thread_mut().own_mut().held.push(address);
        Ok(())
    }

    /// Acquires a lock if no thread holds it. Returns whether it did.
    pub(crate) fn try_lock(&mut self, address: u64) -> Step<bool> {
        if !self.program.locks_can_be_tried {
            self.program.note_locks_can_be_tried();
            return Err(self.again());
        }
        let location = self.object(ObjectKind::Mutex, address);
        let sync = OpKind::Sync { location, guard: Guard::Always, update: set_to(1) };
        if self.is_in_section() {
            return Err(self.refuse("tries to lock a mutex within an atomic section"));
        }
        let is_free = self.ask(sync)?.value == 0;
        self.note_emptied();
        if is_free {
            self.program.thread_mut().own_mut().held.push(address);
        }
        Ok(is_free)
    }

    /// Releases a lock. It is a bug if the thread does not hold it.
    pub(crate) fn unlock(&mut self, address: u64) -> Step<()> {
        let held = &mut self.program.thread_mut().own_mut().held;
        let Some(at) = held.iter().rposition(|&held| held == address) else {
            let message = "a mutex is unlocked by a thread that does not hold it";
            return Err(self.fail(FindingKind::Misuse, message));
        };
        held.swap_remove(at);
        let location = self.object(ObjectKind::Mutex, address);
        if self.program.locks_can_be_tried {
            self.ask(OpKind::Sync { location, guard: Guard::Always, update: set_to(0) })?;
        } else {
            self.effect(OpKind::Unlock { lock: location });
        }
        Ok(())
    }

    /// What is noted about an object by [`Call::note`]; 0 at first. It is read as plain memory is.
    pub(crate) fn noted(&mut self, kind: ObjectKind, address: u64) -> Step<Value> {
        let location = self.object(kind, address);
        let reply = self.ask(OpKind::Load { location, order: MemoryOrder::NonAtomic })?;
        Ok(reply.value)
    }

    /// Notes a value about an object, as a plain store does.
    pub(crate) fn note(&mut self, kind: ObjectKind, address: u64, value: Value) {
        let location = self.object(kind, address);
        let order = MemoryOrder::NonAtomic;
        self.effect(OpKind::Store { location, value, order, carries: false });
    }

    /// Notes which locks the thread holds at its end.
    pub(crate) fn abandon_locks(&mut self) {
        for lock in self.program.thread().own.held.clone() {
            self.note(ObjectKind::Abandoned, lock, 1);
        }
    }

    /// Returns `true` if a thread has ended that holds the lock.
    pub(crate) fn is_abandoned(&mut self, lock: u64) -> Step<bool> {
        if !self.program.has_other_threads() {
            return Ok(false);
        }
        Ok(self.noted(ObjectKind::Abandoned, lock)? != 0)
    }

    /// Returns `true` if the thread holds the lock.
    pub(crate) fn is_held(&self, address: u64) -> bool {
        self.program.thread().own.held.contains(&address)
    }
}

/// Guest memory. Accesses to private memory are done at once; those to shared memory are ops.
impl Call<'_> {
    /// Loads a number of at most 8 bytes by a plain access.
    pub(crate) fn load(&mut self, address: u64, size: u64) -> Step<u64> {
        let mut bytes = [0; 8];
        let size = size.min(8) as usize;
        self.load_cut(address, &mut bytes[..size], Cut::Scalar)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Stores a number of at most 8 bytes by a plain access.
    pub(crate) fn store(&mut self, address: u64, size: u64, value: u64) -> Step<()> {
        self.store_cut(address, &value.to_le_bytes()[..size.min(8) as usize], Cut::Scalar)
    }

    /// Loads bytes by plain accesses, which may be of any size.
    pub(crate) fn load_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Step<()> {
        self.load_cut(address, bytes, Cut::Range)
    }

    fn load_cut(&mut self, address: u64, bytes: &mut [u8], cut: Cut) -> Step<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let size = bytes.len() as u64;
        loop {
            let thread = self.program.thread().guest;
            match self.program.process.memory_mut().load(thread, address, bytes) {
                Ok(()) => return Ok(()),
                Err(Denied::Shared) => return self.load_parts(address, bytes, cut),
                Err(Denied::Owned(owned, state)) => self.escape(address, size, owned, state)?,
                Err(Denied::Fault(fault)) => return Err(self.fault(&fault)),
            }
        }
    }

    /// Stores bytes by plain accesses, which may be of any size.
    pub(crate) fn store_bytes(&mut self, address: u64, bytes: &[u8]) -> Step<()> {
        self.store_cut(address, bytes, Cut::Range)
    }

    fn store_cut(&mut self, address: u64, bytes: &[u8], cut: Cut) -> Step<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let size = bytes.len() as u64;
        loop {
            let thread = self.program.thread().guest;
            match self.program.process.memory_mut().store(thread, address, bytes) {
                Ok(()) => return Ok(()),
                Err(Denied::Shared) => return self.store_parts(address, bytes, cut),
                Err(Denied::Owned(owned, state)) => self.escape(address, size, owned, state)?,
                Err(Denied::Fault(fault)) => return Err(self.fault(&fault)),
            }
        }
    }

    /// Loads a range that is at least partly shared.
    fn load_parts(&mut self, address: u64, bytes: &mut [u8], cut: Cut) -> Step<()> {
        let length = self.shared_prefix(address, bytes.len(), cut);
        if length > 0 {
            let (shared, rest) = bytes.split_at_mut(length);
            self.load_shared(address, shared, cut, MemoryOrder::NonAtomic)?;
            return self.load_cut(address + length as u64, rest, cut);
        }
        let length = self.private_prefix(address, bytes.len());
        let (own, rest) = bytes.split_at_mut(length);
        self.load_cut(address, own, cut)?;
        self.load_cut(address + length as u64, rest, cut)
    }

    /// Stores to a range that is at least partly shared.
    fn store_parts(&mut self, address: u64, bytes: &[u8], cut: Cut) -> Step<()> {
        let length = self.shared_prefix(address, bytes.len(), cut);
        if length > 0 {
            let (shared, rest) = bytes.split_at(length);
            self.store_shared(address, shared, cut, MemoryOrder::NonAtomic)?;
            return self.store_cut(address + length as u64, rest, cut);
        }
        let length = self.private_prefix(address, bytes.len());
        let (own, rest) = bytes.split_at(length);
        self.store_cut(address, own, cut)?;
        self.store_cut(address + length as u64, rest, cut)
    }

    /// The number of bytes at the start of a range that are shared. Scalars are not divided.
    fn shared_prefix(&self, address: u64, size: usize, cut: Cut) -> usize {
        if cut == Cut::Scalar {
            return size;
        }
        let memory = self.program.process.memory();
        (0..size).take_while(|&at| memory.state(address + at as u64) == State::Shared).count()
    }

    /// The number of bytes at the start of a range that are not shared.
    fn private_prefix(&self, address: u64, size: usize) -> usize {
        let memory = self.program.process.memory();
        (0..size).take_while(|&at| memory.state(address + at as u64) != State::Shared).count()
    }

    /// The length of a string of at most `most` bytes, which are read one by one.
    pub(crate) fn string_length(&mut self, address: u64, most: u64) -> Step<u64> {
        let mut length = 0;
        while length < most && self.load(address.wrapping_add(length), 1)? != 0 {
            length += 1;
        }
        Ok(length)
    }

    /// Loads a string without its terminating zero, by plain accesses.
    pub(crate) fn load_string(&mut self, address: u64) -> Step<Vec<u8>> {
        let mut string = vec![];
        loop {
            match self.load(address + string.len() as u64, 1)? as u8 {
                0 => return Ok(string),
                byte => string.push(byte),
            }
        }
    }

    /// As [`Call::load`], of a variable that threads probably only read: then it is no op.
    pub(crate) fn load_setting(&mut self, address: u64, size: u64) -> Step<u64> {
        if !self.program.is_shared_variable(address, size) {
            return self.load(address, size);
        }
        match self.program.layout.is_setting(address, size) {
            Ok(true) => {
                let mut bytes = [0; 8];
                let _ =
                    self.program.process.memory().read(address, &mut bytes[..size.min(8) as usize]);
                Ok(u64::from_le_bytes(bytes))
            }
            Ok(false) => self.load(address, size),
            Err(_) => Err(self.again()),
        }
    }

    /// An atomic load of at most 16 bytes.
    pub(crate) fn atomic_load(
        &mut self,
        address: u64,
        size: u64,
        order: MemoryOrder,
    ) -> Step<Value> {
        let location = LocationId::new(0);
        Ok(self.atomic(address, size, OpKind::Load { location, order })?.value)
    }

    /// An atomic store of at most 16 bytes.
    pub(crate) fn atomic_store(
        &mut self,
        address: u64,
        size: u64,
        value: Value,
        order: MemoryOrder,
    ) -> Step<()> {
        let location = LocationId::new(0);
        let store = OpKind::Store { location, value, order, carries: false };
        self.atomic(address, size, store).map(|_| ())
    }

    /// An atomic update. Returns the value before, which the thread must not use if the update `is_blind`.
    pub(crate) fn atomic_update(
        &mut self,
        address: u64,
        size: u64,
        update: Update,
        order: MemoryOrder,
        is_blind: bool,
    ) -> Step<Value> {
        let location = LocationId::new(0);
        let kind = OpKind::Rmw { location, update, order, is_blind };
        let before = self.atomic(address, size, kind)?.value;
        Ok(if is_blind && self.program.settings.poison { !before } else { before })
    }

    /// Returns `true` if the code that has called the modelled function does not use its result, of this size.
    pub(crate) fn is_result_dead(&mut self, size: u64) -> bool {
        let program = &mut *self.program;
        program.settings.ignores_dead_values && {
            let address = program.return_address();
            program.liveness.is_result_dead(program.process.memory(), address, size)
        }
    }

    /// Returns `true` if nothing uses what the current instruction writes to registers and flags.
    pub(crate) fn is_instruction_dead(&mut self) -> bool {
        let program = &mut *self.program;
        program.settings.ignores_dead_values && {
            let address = program.cpu().ip();
            program.liveness.is_instruction_dead(program.process.memory(), address)
        }
    }

    /// An atomic compare-exchange. Returns the value before and whether it succeeded.
    pub(crate) fn compare_exchange(
        &mut self,
        address: u64,
        size: u64,
        expected: Value,
        desired: Value,
        orders: CompareOrders,
    ) -> Step<(Value, bool)> {
        let location = LocationId::new(0);
        let CompareOrders { success, failure, is_weak: weak } = orders;
        let carries = false;
        let kind = OpKind::CompareExchange {
            location,
            expected,
            desired,
            carries,
            success,
            failure,
            weak,
        };
        let Reply { value, is_spurious } = self.atomic(address, size, kind)?;
        Ok((value, value == expected && !is_spurious))
    }
}
