//! How threads begin: with the memory that they find, and the functions that they run.

use std::ffi::CString;

use raddle_core::execution::ThreadId;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, PlaceId};

use crate::error::Error;
use crate::native::Native;
use crate::shims;
use crate::threads::Thread;

/// The arguments of `main`.
pub(crate) struct Arguments {
    _strings: Vec<CString>,
    addresses: Vec<usize>,
}

impl Arguments {
    pub(crate) fn new(arguments: &[String]) -> Result<Self, Error> {
        let string = |argument: &String| CString::new(argument.as_bytes());
        let strings = arguments.iter().map(string).collect::<Result<Vec<_>, _>>();
        let strings = strings
            .map_err(|_| Error::System(String::from("an argument has a zero byte in it")))?;
        let end = [0, 0];
        let addresses = strings.iter().map(|string| string.as_ptr() as usize).chain(end).collect();
        Ok(Arguments { _strings: strings, addresses })
    }

    /// What `main` and constructors get.
    pub(crate) fn registers(&self) -> [usize; 6] {
        let first = self.addresses.as_ptr() as usize;
        let count = self.addresses.len() - 2;
        [count, first, first + 8 * (count + 1), 0, 0, 0]
    }
}

impl Native {
    /// Starts a thread from its beginning and runs it to its first question.
    pub(crate) fn start(&mut self, thread: ThreadId) -> End {
        match self.begin(thread) {
            Ok(()) => self.drive(),
            Err(end) => end,
        }
    }

    /// Lets a thread stand at its beginning.
    pub(crate) fn begin(&mut self, thread: ThreadId) -> Result<(), End> {
        self.executions += 1;
        self.current = thread;
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, || None);
        }
        if self.threads[thread.index()].is_none() {
            let Some(slot) = self.slots.slot(thread) else {
                let message = "the program has too many threads";
                return Err(self.failure_at(FindingKind::Unsupported, message, PlaceId::default()));
            };
            let shims = shims::addresses().as_ptr() as usize;
            self.threads[thread.index()] = Some(Thread::new(slot, shims));
        }
        self.thread_mut().reset();
        self.note_own_stack();
        self.restore_variables(0);
        self.set_thread_locals();
        self.segment.clear();
        self.next_function();
        Ok(())
    }

    /// Gives all variables their initial values.
    pub(crate) fn restore_all(&mut self) {
        let first = self.module.globals.0;
        for (from, to) in self.module.ranges() {
            let bytes = &self.snapshot[from - first..to - first];
            // SAFETY: these are the variables of the loaded object, and none of its code runs.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), from as *mut u8, to - from) };
        }
    }

    /// Gives the variables that only this thread uses their initial values, but for the first ones.
    pub(crate) fn restore_variables(&mut self, first: usize) {
        let start = self.module.globals.0;
        let owned = std::mem::take(&mut self.thread_mut().owned);
        for &(from, to) in &owned[first..] {
            let bytes = &self.snapshot[from - start..to - start];
            // SAFETY: these are variables of the loaded object, and none of its code runs.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), from as *mut u8, to - from) };
        }
        self.thread_mut().owned = owned;
    }

    /// Gives the thread-local variables their initial values.
    pub(crate) fn set_thread_locals(&mut self) {
        let to = self.thread().slot.locals() as *mut u8;
        let locals = &self.module.thread_locals;
        // SAFETY: the slot is mapped, and large enough; nobody else uses it.
        unsafe {
            std::ptr::write_bytes(to, 0, locals.size + shims::OWN_BLOCK);
            std::ptr::copy_nonoverlapping(locals.image.as_ptr(), to, locals.image.len());
        }
    }

    /// Lets the thread begin with its next function. Says whether there is one.
    pub(crate) fn next_function(&mut self) -> bool {
        let phase = self.thread().phase;
        let start = self.names.start(self.current);
        let constructors = self.module.constructors.len();
        let (function, arguments) = match start {
            Some(start) if phase == 0 => (start.function, [start.argument, 0, 0, 0, 0, 0]),
            None if phase < constructors => {
                (self.module.constructors[phase], self.arguments.registers())
            }
            None if phase == constructors => (self.module.main, self.arguments.registers()),
            None if phase == constructors + 1 => (shims::end_main as *const () as usize, [0; 6]),
            _ => return false,
        };
        let thread = self.thread_mut();
        thread.phase += 1;
        let top = thread.slot.stack_top();
        // SAFETY: the stack is the thread's own, and no function is on it.
        unsafe { thread.frame.start(function, arguments, top) };
        true
    }

    /// Lets the thread run the destructors of what is its own, with the result of its function. Says whether
    /// there are some.
    pub(crate) fn run_destructors(&mut self) -> bool {
        let thread = self.thread_mut();
        let remembered = |kind, key| thread.remembered.get(&(kind, key)).copied().unwrap_or(0);
        if !shims::has_destructors(remembered) {
            return false;
        }
        let arguments = [thread.frame.arguments[0], 0, 0, 0, 0, 0];
        let top = thread.slot.stack_top();
        // SAFETY: the stack is the thread's own, and no function is on it.
        unsafe { thread.frame.start(shims::run_destructors as *const () as usize, arguments, top) };
        true
    }
}
