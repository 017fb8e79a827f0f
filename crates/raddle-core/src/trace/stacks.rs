//! Call stacks of the steps of an execution.

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::TraceEvent;
use crate::execution::ThreadId;

/// A position in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct SourcePosition {
    /// The path of the file as the compiler recorded it.
    pub file: String,
    /// The number of the line, from 1.
    pub line: u32,
    /// The number of the column, from 1; 0 if it is not known.
    pub column: u32,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A library that is not part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Library {
    /// The C library, with its threads.
    C,
    /// The standard library of C++.
    Cpp,
    /// The standard library of Rust.
    Rust,
    /// Another one.
    Other,
}

impl Library {
    /// Its name, to continue "frames of".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Library::C => "the C library",
            Library::Cpp => "the C++ standard library",
            Library::Rust => "the Rust standard library",
            Library::Other => "a library",
        }
    }
}

/// A frame of a call stack. Code that was inlined has frames of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Frame {
    /// The function, demangled and without parameters, if it is known.
    pub function: Option<String>,
    /// The position of the step or of the call, if it is known.
    pub position: Option<SourcePosition>,
    /// The library that contains the code; `None` for code of the program.
    pub library: Option<Library>,
}

/// The call stacks of an execution. A stack has its innermost frame first, and is empty if it is not known.
///
/// Steps are identified by their thread and [`TraceEvent::position`], which parts of the trace keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct CallStacks {
    /// All different stacks.
    stacks: Vec<Vec<Frame>>,
    of_steps: BTreeMap<(ThreadId, usize), usize>,
    of_ends: BTreeMap<ThreadId, usize>,
}

impl CallStacks {
    /// The call stack of an event.
    #[must_use]
    pub fn of_event(&self, event: &TraceEvent) -> &[Frame] {
        self.stack(self.of_steps.get(&(event.thread, event.position)))
    }

    /// The call stack where a thread failed, waits, or was stopped. Empty if it finished.
    #[must_use]
    pub fn of_end(&self, thread: ThreadId) -> &[Frame] {
        self.stack(self.of_ends.get(&thread))
    }

    /// All frames, in no particular order.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.stacks.iter().flatten()
    }

    fn stack(&self, index: Option<&usize>) -> &[Frame] {
        index.and_then(|&index| self.stacks.get(index)).map_or(&[], Vec::as_slice)
    }

    /// Sets the call stack of the step of a thread at a position.
    pub fn set_step(&mut self, thread: ThreadId, position: usize, stack: Vec<Frame>) {
        let index = self.intern(stack);
        self.of_steps.insert((thread, position), index);
    }

    /// Sets the call stack where a thread stands at the end.
    pub fn set_end(&mut self, thread: ThreadId, stack: Vec<Frame>) {
        let index = self.intern(stack);
        self.of_ends.insert(thread, index);
    }

    /// The number of a stack. The same step of a loop has the same stack, so the last ones are compared.
    fn intern(&mut self, stack: Vec<Frame>) -> usize {
        /// So many stacks are compared.
        const LAST: usize = 64;
        let known = self.stacks.iter().rev().take(LAST).position(|it| *it == stack);
        match known {
            Some(back) => self.stacks.len() - 1 - back,
            None => {
                self.stacks.push(stack);
                self.stacks.len() - 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_stored_once() {
        let frame = |name: &str| Frame { function: Some(name.to_owned()), ..Frame::default() };
        let thread = ThreadId::new(1);
        let mut stacks = CallStacks::default();
        stacks.set_step(thread, 0, vec![frame("f"), frame("main")]);
        stacks.set_step(thread, 1, vec![frame("g")]);
        stacks.set_step(thread, 2, vec![frame("f"), frame("main")]);
        stacks.set_end(thread, vec![frame("g")]);
        assert_eq!(stacks.stacks.len(), 2);
        assert_eq!(stacks.of_end(thread), [frame("g")]);
        assert_eq!(stacks.of_end(ThreadId::new(0)), []);
        assert_eq!(stacks.of_steps[&(thread, 2)], stacks.of_steps[&(thread, 0)]);
    }
}
