//! A family of executions on which the verifiers must visit about n^k states.
//!
//! Every thread has a column of m writes that can reach memory whenever they like, independently of
//! the other columns, and every one is read, so none can be taken for granted:
//!
//! - SC: `W x_t 1; R x_t 1; W x_t 2; R x_t 2; ...`: how far each thread is, is free.
//! - TSO, PSO: `W x_t 1; ...; W x_t m; R x_u 1; ...; R x_u m` for the next thread u, in a ring. All
//!   stores fit into the buffers, and a store reaches memory when the one before it has been read;
//!   so how many stores of each thread have, is free. There are no fences.
//!
//! At the very end thread 0 has `W a 1; W a 2` and thread 1 has `R a 2; R a 1`, which no model
//! allows, so that all (m+1)^k combinations are reached before the search gives up.

use raddle_core::execution::{Action, Execution, ExecutionBuilder, SourceClaim, ThreadId, Value};
use raddle_core::model::Model;

/// The execution with `writes` writes in the column of each thread.
pub(crate) fn hard(model: Model, threads: usize, writes: usize) -> Execution {
    let mut builder = ExecutionBuilder::new();
    let thread: Vec<_> = (0..threads).map(|t| builder.thread(&format!("P{t}"))).collect();
    let column: Vec<_> = (0..threads).map(|t| builder.location(&format!("x{t}"))).collect();
    let last = builder.location("a");
    let from = |thread: ThreadId, position| SourceClaim::Event { thread, position };
    for t in 0..threads {
        let next = (t + 1) % threads;
        for i in 0..writes {
            let (location, value) = (column[t], i as Value + 1);
            builder.push(thread[t], Action::Write { location, value }, SourceClaim::Unnamed);
            if model == Model::Sc {
                builder.push(thread[t], Action::Read { location, value }, from(thread[t], 2 * i));
            }
        }
        for i in (0..writes).filter(|_| model != Model::Sc) {
            let read = Action::Read { location: column[next], value: i as Value + 1 };
            builder.push(thread[t], read, from(thread[next], i));
        }
    }
    for i in 0..2 {
        let write = Action::Write { location: last, value: i as Value + 1 };
        builder.push(thread[0], write, SourceClaim::Unnamed);
        let read = Action::Read { location: last, value: 2 - i as Value };
        builder.push(thread[1], read, from(thread[0], 2 * writes + 1 - i));
    }
    builder.build().expect("every read names a write of its value")
}
