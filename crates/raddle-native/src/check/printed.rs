//! What a program printed in one execution. Output is kept with histories of single threads.

use raddle_core::execution::ThreadId;
use raddle_core::program::HistoryId;
use raddle_core::trace::Trace;

use super::follow::{Follower, follow};
use crate::program::NativeProgram;

struct Printed(String);

impl Follower for Printed {
    fn reach(&mut self, program: &mut NativeProgram, _thread: ThreadId, history: HistoryId) {
        if let Some(text) = program.printed.get(&history) {
            self.0.push_str(text);
        }
    }
}

/// What the program printed in the execution of a trace.
pub(super) fn printed(program: &mut NativeProgram, trace: &Trace) -> String {
    let mut printed = Printed(String::new());
    follow(program, trace, &mut printed);
    printed.0
}
