//! `raddle history stats`: the size of histories.

use raddle_core::execution::{Action, EventId, Execution};

use crate::args::StatsArgs;
use crate::input;
use crate::output::{Output, OutputError, print_error};
use crate::render::table::table;
use crate::status::Status;

const HEADS: [&str; 12] = [
    "history",
    "threads",
    "events",
    "locations",
    "locks",
    "reads",
    "writes",
    "updates",
    "fences",
    "several sources",
    "most sources",
    "longest thread",
];

/// Prints a table with one row per history.
pub(crate) fn run(args: &StatsArgs, output: &mut Output) -> Result<Status, OutputError> {
    let mut status = Status::Good;
    let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
    for input in input::load_all(&args.histories, args.jobs()) {
        match input.content {
            Ok(execution) => rows.push(row(&input.name, &execution)),
            Err(error) => {
                print_error(error.message(&input.name));
                status = Status::Failed;
            }
        }
    }
    if rows.len() > 1 {
        output.text(&table(&rows))?;
    }
    Ok(status)
}

/// The row of one history. Initial writes are no events; compare-exchanges count as updates even if they failed.
fn row(name: &str, execution: &Execution) -> Vec<String> {
    let threads = execution.threads();
    let events: Vec<EventId> = threads.flat_map(|t| execution.thread_events(t)).collect();
    let count = |kind: fn(&Action) -> bool| {
        events.iter().filter(|&&event| kind(execution.action(event))).count()
    };
    let is_lock = |&location: &_| execution.location(location).is_lock;
    let locks = execution.locations().filter(is_lock).count();
    let sources = || events.iter().map(|&event| execution.sources(event).len());
    let numbers = [
        execution.thread_count(),
        events.len(),
        execution.location_count() - locks,
        locks,
        count(|action| matches!(action, Action::Read { .. })),
        count(|action| matches!(action, Action::Write { .. })),
        count(|action| matches!(action, Action::Rmw { .. } | Action::Cas { .. })),
        count(|action| matches!(action, Action::Fence | Action::StoreFence)),
        sources().filter(|&sources| sources > 1).count(),
        sources().max().unwrap_or(0),
        execution.threads().map(|thread| execution.thread_len(thread)).max().unwrap_or(0),
    ];
    [name.to_owned()].into_iter().chain(numbers.map(|number| number.to_string())).collect()
}
