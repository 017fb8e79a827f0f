//! A part of an execution, thread beside thread.

use super::columns::{Grid, GridRow};
use super::{Page, does, left_out};
use raddle_core::execution::{Action, EventId, Execution, ThreadId};

/// The first `lens[t]` events of each thread `t`, in columns if they fit, below the initial values
/// that are not 0. If there are `sources`, by event, reads are shown with theirs.
pub(super) fn part(
    execution: &Execution,
    lens: &[usize],
    sources: &[Option<EventId>],
    page: Page,
) -> String {
    let mut threads: Vec<ThreadId> = execution.threads().collect();
    threads.retain(|thread| lens[thread.index()] > 0);
    let part = PartTable { execution, lens, sources, threads };
    let columns = part.grid(page).render(page.width).unwrap_or_else(|| part.lines(page));
    format!("{}{columns}", part.initial_values())
}

struct PartTable<'a> {
    execution: &'a Execution,
    lens: &'a [usize],
    sources: &'a [Option<EventId>],
    threads: Vec<ThreadId>,
}

impl PartTable<'_> {
    fn events(&self) -> impl Iterator<Item = EventId> {
        self.threads.iter().flat_map(|&thread| {
            self.execution.thread_events(thread).take(self.lens[thread.index()])
        })
    }

    fn does(&self, event: EventId) -> String {
        let source = self.sources.get(event.index()).copied().flatten();
        does(self.execution, event, source)
    }

    fn initial_values(&self) -> String {
        let mut locations: Vec<_> =
            self.events().filter_map(|event| self.execution.action(event).location()).collect();
        locations.sort_unstable();
        locations.dedup();
        let values: Vec<String> = locations
            .into_iter()
            .filter_map(|location| {
                let init = self.execution.action(self.execution.init_of(location));
                let Action::Init { value, .. } = *init else { return None };
                let name = &self.execution.location(location).name;
                (value != 0).then(|| format!("{name} = {value}"))
            })
            .collect();
        match values.as_slice() {
            [] => String::new(),
            values => format!("initially {}\n", values.join(", ")),
        }
    }

    fn grid(&self, page: Page) -> Grid {
        let longest = self.threads.iter().map(|t| self.lens[t.index()]).max().unwrap_or(0);
        let (head, tail) = page.shown(longest);
        let mut rows: Vec<GridRow> = (0..head).map(|at| self.row(at)).collect();
        if head + tail < longest {
            rows.push(GridRow::Line(left_out(longest - head - tail, "lines")));
        }
        rows.extend((longest - tail..longest).map(|at| self.row(at)));
        let name = |&thread: &ThreadId| self.execution.thread(thread).name.clone();
        Grid { heads: self.threads.iter().map(name).collect(), rows }
    }

    fn row(&self, at: usize) -> GridRow {
        let inside = self.threads.iter().enumerate().filter(|(_, t)| at < self.lens[t.index()]);
        let cell = |(column, &thread): (usize, &ThreadId)| {
            let event = self.execution.event_at(thread, at)?;
            Some((column, format!(".{at} {}", self.does(event))))
        };
        GridRow::Cells(inside.filter_map(cell).collect())
    }

    /// One event on each line, for too many threads.
    fn lines(&self, page: Page) -> String {
        let events: Vec<EventId> = self.events().collect();
        page.list(events.len(), "events", |at| {
            let name = self.execution.name(events[at]);
            format!("  {name}  {}\n", self.does(events[at]))
        })
    }
}
