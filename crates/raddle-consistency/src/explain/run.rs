//! A witness as a run, step by step.

use super::columns::{Grid, GridRow};
use super::{Page, does, left_out, observed_sources};
use crate::witness::{self, MachineStep};
use raddle_core::execution::{EventId, Execution, ThreadId};
use raddle_core::model::Model;

/// The run of a witness: threads side by side, every read with its value and source, and under TSO and PSO every store
/// where it reaches memory.
pub(super) fn run(
    execution: &Execution,
    model: Model,
    run: &witness::MachineRun,
    page: Page,
) -> String {
    let run =
        RunTable { execution, model, steps: &run.steps, sources: observed_sources(execution, run) };
    if run.steps.is_empty() {
        return format!("There is nothing to do: {model} allows the empty run.\n");
    }
    let table = run.grid(page).render(page.width).unwrap_or_else(|| run.lines(page));
    format!("{}\n\n{table}", run.heading())
}

struct RunTable<'a> {
    execution: &'a Execution,
    model: Model,
    steps: &'a [MachineStep],
    sources: Vec<Option<EventId>>,
}

impl RunTable<'_> {
    fn heading(&self) -> String {
        let model = self.model;
        if model.buffers_stores() {
            format!("A run that {model} allows, with the moment when each store reaches memory:")
        } else {
            format!("A run that {model} allows:")
        }
    }

    /// The number of a step, from 1, as wide as the last and the head of the column.
    fn number(&self, at: usize) -> String {
        let width = self.steps.len().to_string().len().max("step".len());
        format!("{:>width$}", at + 1)
    }

    /// What a step does, and what it changes in memory if that is shown.
    fn cells(&self, step: MachineStep) -> (Option<String>, Option<String>) {
        match step {
            MachineStep::Flush(event) => (None, self.arrival(event)),
            MachineStep::Run(event) => {
                let at_once = self.model.buffers_stores() && !self.execution.is_buffered(event);
                let arrival = self.arrival(event).filter(|_| at_once);
                (Some(does(self.execution, event, self.sources[event.index()])), arrival)
            }
        }
    }

    /// The change in memory that a write makes when it arrives there.
    fn arrival(&self, event: EventId) -> Option<String> {
        let action = self.execution.action(event);
        let location = &self.execution.location(action.location()?).name;
        let value = action.written_value()?;
        Some(format!("{location} = {value} ({})", self.execution.name(event)))
    }

    fn grid(&self, page: Page) -> Grid {
        let mut threads: Vec<ThreadId> = self.execution.threads().collect();
        threads.retain(|&thread| self.execution.thread_len(thread) > 0);
        let names = threads.iter().map(|&thread| self.execution.thread(thread).name.clone());
        let mut heads: Vec<String> = ["step".to_owned()].into_iter().chain(names).collect();
        if self.model.buffers_stores() {
            heads.push("memory".to_owned());
        }
        let total = self.steps.len();
        let (head, tail) = page.shown(total);
        let mut rows: Vec<GridRow> = (0..head).map(|at| self.row(&threads, at)).collect();
        if head + tail < total {
            rows.push(GridRow::Line(left_out(total - head - tail, "steps")));
        }
        rows.extend((total - tail..total).map(|at| self.row(&threads, at)));
        Grid { heads, rows }
    }

    fn row(&self, threads: &[ThreadId], at: usize) -> GridRow {
        let step = self.steps[at];
        let (MachineStep::Run(event) | MachineStep::Flush(event)) = step;
        let (act, arrival) = self.cells(step);
        let mut cells = vec![(0, self.number(at))];
        if let (Some(act), Some((thread, position))) = (act, self.execution.position(event)) {
            let column = threads.iter().position(|&other| other == thread).map_or(1, |at| at + 1);
            cells.push((column, format!(".{position} {act}")));
        }
        cells.extend(arrival.map(|text| (threads.len() + 1, text)));
        GridRow::Cells(cells)
    }

    /// One step on each line, for too many threads.
    fn lines(&self, page: Page) -> String {
        page.list(self.steps.len(), "steps", |at| {
            let step = self.steps[at];
            let (MachineStep::Run(event) | MachineStep::Flush(event)) = step;
            let text = match self.cells(step) {
                (Some(act), Some(arrival)) => {
                    format!("{}  {act}; memory: {arrival}", self.execution.name(event))
                }
                (Some(act), None) => format!("{}  {act}", self.execution.name(event)),
                (None, arrival) => format!("memory: {}", arrival.unwrap_or_default()),
            };
            format!("{}  {text}\n", self.number(at))
        })
    }
}
