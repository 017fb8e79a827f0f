//! A witness under a C11-style model: what each read observes, and the modification orders.

use super::part::part;
use super::{Page, left_out, wrap};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution, LocationId};
use raddle_core::model::Model;

/// The threads side by side, every read with its source; below, the modification order of every written location, and
/// the order of the sequentially consistent fences.
pub(super) fn coherence(
    execution: &Execution,
    model: Model,
    coherence: &Coherence,
    page: Page,
) -> String {
    let lens: Vec<usize> = execution.threads().map(|t| execution.thread_len(t)).collect();
    if lens.iter().all(|&len| len == 0) {
        return format!("There is nothing to do: {model} allows the empty execution.\n");
    }
    let threads = part(execution, &lens, &sources(execution, coherence), page);
    let orders = modification_orders(execution, coherence, page);
    let fences = fences(execution, model, coherence, page);
    format!("{}\n\n{threads}{orders}{fences}", heading(model, !orders.is_empty()))
}

fn heading(model: Model, has_orders: bool) -> String {
    match has_orders {
        true => format!("{model} allows these reads with the modification orders below:"),
        false => format!("{model} allows these reads:"),
    }
}

/// What each event observes. Releases are omitted: they observe the acquire of their own thread.
fn sources(execution: &Execution, coherence: &Coherence) -> Vec<Option<EventId>> {
    let observes = |event: &EventId| execution.action(*event).has_source();
    let source = |event| Some(event).filter(observes).and_then(|e| coherence.rf[e.index()]);
    execution.events().map(source).collect()
}

fn modification_orders(execution: &Execution, coherence: &Coherence, page: Page) -> String {
    let written: Vec<(LocationId, &Vec<EventId>)> =
        execution.locations().zip(&coherence.mo).filter(|(_, order)| order.len() > 1).collect();
    if written.is_empty() {
        return String::new();
    }
    let list = page.list(written.len(), "locations", |at| {
        let (location, order) = written[at];
        let name = &execution.location(location).name;
        let text = format!("  {name}: {}", arrows(order, page, |event| state(execution, event)));
        wrap(&text, 4, page)
    });
    format!(
        "\nThe modification orders, in which all threads see the writes of a location:\n\n{list}"
    )
}

/// A write with the value that it leaves: `P0.0 (1)`.
fn state(execution: &Execution, event: EventId) -> String {
    match execution.action(event).written_value() {
        Some(value) if !is_lock(execution, event) => format!("{} ({value})", execution.name(event)),
        _ => execution.name(event),
    }
}

fn is_lock(execution: &Execution, event: EventId) -> bool {
    let location = execution.action(event).location();
    location.is_some_and(|location| execution.location(location).is_lock)
}

fn fences(execution: &Execution, model: Model, coherence: &Coherence, page: Page) -> String {
    if coherence.fences.is_empty() {
        return String::new();
    }
    let order = arrows(&coherence.fences, page, |event| execution.name(event));
    let why = format!("\nUnder {model}, each sc fence happens before the next:\n\n");
    format!("{why}{}", wrap(&format!("  {order}"), 4, page))
}

/// Events in a chain, cut in the middle if there are more than the lines of a page.
fn arrows(events: &[EventId], page: Page, name: impl Fn(EventId) -> String) -> String {
    let (head, tail) = page.shown(events.len());
    let cut = events.len() - head - tail;
    let mut names: Vec<String> = events[..head].iter().map(|&event| name(event)).collect();
    names.extend((cut > 0).then(|| left_out(cut, "writes")));
    names.extend(events[events.len() - tail..].iter().map(|&event| name(event)));
    names.join(" -> ")
}
