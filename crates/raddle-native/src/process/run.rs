//! Running a guest thread until something must be decided outside of it.

use super::host::{HostFunction, HostFunctions, Role};
use super::refusal::Refused;
use super::syscalls::{Call, Effect, FutexCall};
use super::{Event, Process, Status};
use raddle_cpu::memory::{Denied, Thread};
use raddle_cpu::{Cpu, Register, Stop};

/// What the sequential run of a process came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It ended by itself.
    Exited(Status),
    /// Something else stopped it.
    Stopped(Box<Event>),
}

impl Process {
    /// Runs a thread until something must be decided outside of it. A thread that was not created has ended.
    pub fn run(&mut self, thread: Thread) -> Event {
        loop {
            let index = thread.index();
            let Some(mut cpu) = self.threads.get_mut(index).and_then(Option::take) else {
                return Event::ThreadExited(0);
            };
            let stop = cpu.run(&mut self.memory, &mut self.code);
            let event = self.handle(&mut cpu, stop);
            self.threads[index] = Some(cpu);
            if let Some(event) = event {
                return event;
            }
        }
    }

    /// Acts on a stop of the CPU. Returns what must be decided outside.
    pub(super) fn handle(&mut self, cpu: &mut Cpu, stop: Stop) -> Option<Event> {
        match stop {
            Stop::Syscall => self.system_call(cpu),
            Stop::HostCall(id) => self.host_call(cpu, id),
            Stop::Fault(fault) => Some(Event::Fault(self.place(cpu.ip()), fault)),
            Stop::Refused(refusal) => {
                let place = self.place(refusal.address);
                Some(Event::Refused(place, Refused::Instruction(refusal)))
            }
            stop => Some(Event::Cpu(stop)),
        }
    }

    fn system_call(&mut self, cpu: &mut Cpu) -> Option<Event> {
        use Register::{R8, R9, R10, Rax, Rdi, Rdx, Rsi};
        let mut call = Call {
            kernel: &mut self.kernel,
            memory: &mut self.memory,
            thread: cpu.thread(),
            number: cpu.register(Rax),
            args: [Rdi, Rsi, Rdx, R10, R8, R9].map(|register| cpu.register(register)),
        };
        let effect = match call.run() {
            Ok(effect) => effect,
            Err(refused) => return Some(Event::Refused(self.place(cpu.ip()), refused)),
        };
        match effect {
            Effect::Return(value) => cpu.set_register(Rax, value),
            Effect::SetFsBase(base) => {
                cpu.set_fs_base(base);
                cpu.set_register(Rax, 0);
            }
            Effect::Futex(call) => return Some(Event::Futex(call)),
            Effect::ExitThread(status) => return Some(Event::ThreadExited(status)),
            Effect::ExitProcess(status) => return Some(Event::Exited(status)),
            Effect::Yield => {
                cpu.set_register(Rax, 0);
                return Some(Event::Yield);
            }
        }
        self.intercept_new_modules();
        None
    }

    fn host_call(&mut self, cpu: &mut Cpu, id: u32) -> Option<Event> {
        let caller = |process: &Process, cpu: &Cpu| {
            let mut bytes = [0; 8];
            let _ = process.memory.read(cpu.register(Register::Rsp), &mut bytes);
            process.place(u64::from_le_bytes(bytes).wrapping_sub(1))
        };
        match self.hosts.role(id).cloned() {
            Some(Role::Resolver(address)) => {
                match cpu.return_from_host(&mut self.memory, address) {
                    Ok(()) => None,
                    Err(_) => Some(Event::Refused(caller(self, cpu), Refused::CallWithoutStack)),
                }
            }
            Some(Role::Jump(address)) => {
                cpu.jump(address);
                None
            }
            Some(Role::Missing(name)) => {
                Some(Event::Refused(caller(self, cpu), Refused::MissingFunction(name)))
            }
            Some(Role::Entry | Role::Return | Role::Function(_)) => {
                Some(Event::HostCall(HostFunction(id)))
            }
            None => Some(Event::Refused(caller(self, cpu), Refused::NoHostFunction(id))),
        }
    }

    /// Whether the function that a thread ran, or that was called for it, has returned.
    pub fn has_returned(&self, event: &Event) -> bool {
        *event == Event::HostCall(HostFunctions::RETURN)
    }

    /// Returns from the host function that a thread has called, with `value` in rax. Fails if the stack cannot be read.
    pub fn return_from_host(&mut self, thread: Thread, value: u64) -> Result<(), Denied> {
        match self.threads.get_mut(thread.index()).and_then(Option::as_mut) {
            Some(cpu) => cpu.return_from_host(&mut self.memory, value),
            None => Ok(()),
        }
    }

    /// Gives the result of a system call that was handed out.
    pub fn return_from_syscall(&mut self, thread: Thread, value: u64) {
        if let Some(cpu) = self.cpu_mut(thread) {
            cpu.set_register(Register::Rax, value);
        }
    }

    /// Runs the main thread of a program without other threads to its end, for at most `budget` instructions.
    /// Host functions stop it.
    pub fn run_alone(&mut self, budget: u64) -> Ending {
        self.run_with(budget, &mut |_, _| false)
    }

    /// The same with host functions: `call` acts in place of a function that the main thread has called, and returns
    /// whether it did.
    pub fn run_with(
        &mut self,
        budget: u64,
        call: &mut dyn FnMut(&mut Process, HostFunction) -> bool,
    ) -> Ending {
        if let Some(cpu) = self.cpu_mut(Thread::MAIN) {
            cpu.set_budget(budget);
        }
        let ending = self.run_to_end(call);
        let left = self.cpu(Thread::MAIN).map_or(0, Cpu::budget);
        self.instructions += i64::try_from(budget).unwrap_or(i64::MAX).saturating_sub(left) as u64;
        ending
    }

    fn run_to_end(&mut self, call: &mut dyn FnMut(&mut Process, HostFunction) -> bool) -> Ending {
        loop {
            match self.run(Thread::MAIN) {
                Event::Exited(status) => return Ending::Exited(status),
                Event::ThreadExited(status) => return Ending::Exited(Status::Exited(status as u8)),
                Event::Yield | Event::Cpu(Stop::Fence(_) | Stop::Pause) => {}
                Event::HostCall(function) if function.is_named() && call(self, function) => {}
                Event::Futex(call) => match self.futex_alone(call) {
                    Some(value) => self.return_from_syscall(Thread::MAIN, value),
                    None => return Ending::Stopped(Box::new(Event::Futex(call))),
                },
                event => return Ending::Stopped(Box::new(event)),
            }
        }
    }

    /// The result of a futex operation if there is only one thread; `None` if the thread would wait forever.
    fn futex_alone(&self, call: FutexCall) -> Option<u64> {
        /// `FUTEX_WAIT` and `FUTEX_WAIT_BITSET`.
        const WAITS: [u32; 2] = [0, 9];
        const EAGAIN: u64 = -11_i64 as u64;
        const ETIMEDOUT: u64 = -110_i64 as u64;
        if !WAITS.contains(&call.operation) {
            return Some(0);
        }
        let mut bytes = [0; 4];
        self.memory.read(call.address, &mut bytes).ok()?;
        if u32::from_le_bytes(bytes) != call.value {
            return Some(EAGAIN);
        }
        (call.timeout != 0).then_some(ETIMEDOUT)
    }

    /// Prepares the call of a guest function on behalf of `thread`, which must be stopped at a point where a function
    /// may be called. The thread runs it next; when it returns, [`Process::has_returned`] holds for the event. Fails if
    /// the stack cannot be written. Does nothing if the thread was not created.
    pub fn begin_call(
        &mut self,
        thread: Thread,
        function: u64,
        args: &[u64],
    ) -> Result<(), Denied> {
        use Register::{R8, R9, Rcx, Rdi, Rdx, Rsi, Rsp};
        let cpu = self.threads.get_mut(thread.index()).and_then(Option::as_mut);
        let Some(cpu) = cpu else { return Ok(()) };
        // Below the red zone, aligned as at a call.
        let stack = (cpu.register(Rsp).wrapping_sub(256) & !15).wrapping_sub(8);
        let address = HostFunctions::RETURN.address();
        self.memory.store(thread, stack, &address.to_le_bytes())?;
        for (register, value) in [Rdi, Rsi, Rdx, Rcx, R8, R9].into_iter().zip(args) {
            cpu.set_register(register, *value);
        }
        cpu.set_register(Rsp, stack);
        cpu.jump(function);
        Ok(())
    }

    /// Calls a guest function as [`Process::begin_call`] does and runs it to its return. The registers of the thread
    /// are unchanged afterwards. Anything that must be decided outside ends the call.
    pub fn call(&mut self, thread: Thread, function: u64, args: &[u64]) -> Result<u64, Event> {
        let Some(saved) = self.cpu(thread).cloned() else { return Err(Event::ThreadExited(0)) };
        if self.begin_call(thread, function, args).is_err() {
            return Err(Event::Refused(self.place(saved.ip()), Refused::CallWithoutStack));
        }
        let event = self.run(thread);
        let result = self.cpu(thread).map_or(0, |cpu| cpu.register(Register::Rax));
        self.threads[thread.index()] = Some(saved);
        if self.has_returned(&event) { Ok(result) } else { Err(event) }
    }
}
