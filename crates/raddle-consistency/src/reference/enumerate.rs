//! Decides small executions under the models with axioms, by enumeration.
//!
//! The source of every read, the order of the fences where the model has one, and the modification orders, write by write,
//! are chosen in all possible ways. A choice is abandoned as soon as an axiom is broken: relations only grow with further
//! choices, and every axiom forbids cycles, so it stays broken. Nothing else is pruned. Practical for a dozen events, and
//! the oracle for everything faster.

use raddle_core::execution::Coherence;
use raddle_core::execution::{Action, EventId, Execution};
use raddle_core::model::reference::{fences_update_hidden_location, has_modification_orders};
use raddle_core::model::relations::{Relations, is_sc_fence, own_acquire, writes};
use raddle_core::model::{Model, axioms, broken};

/// The result of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumerationOutcome {
    /// All axioms hold with these choices.
    Allowed(Coherence),
    /// The axioms are broken with all choices.
    Forbidden,
    /// The budget of tests is exhausted.
    TooLarge,
}

/// Something that has to be chosen.
#[derive(Clone, Copy)]
enum Choice {
    /// The source of a read.
    Source(EventId),
    /// The next fence.
    Fence,
    /// The next write of a location.
    Write(usize),
}

/// Returns reads-from, modification orders and fence order with which the model allows the execution, if there are any.
/// Races are a separate question, see [`race`](raddle_core::model::race).
///
/// # Panics
/// If the model has no axioms.
#[must_use]
pub fn allows(execution: &Execution, model: Model) -> Option<Coherence> {
    match search(execution, model, usize::MAX) {
        EnumerationOutcome::Allowed(coherence) => Some(coherence),
        EnumerationOutcome::Forbidden | EnumerationOutcome::TooLarge => None,
    }
}

/// As [`allows`], with at most `budget` tests of the axioms.
///
/// # Panics
/// If the model has no axioms.
#[must_use]
pub fn search(execution: &Execution, model: Model, mut budget: usize) -> EnumerationOutcome {
    search_within(execution, model, &mut budget)
}

/// As [`search`]. The tests are deducted from the budget.
///
/// # Panics
/// If the model has no axioms.
#[must_use]
pub fn search_within(
    execution: &Execution,
    model: Model,
    budget: &mut usize,
) -> EnumerationOutcome {
    assert!(!axioms(model).is_empty(), "{model} is defined by a machine");
    let mut search = Enumeration::new(execution, model, *budget);
    let found = search.extend(0);
    *budget = search.budget;
    match found {
        Some(true) => EnumerationOutcome::Allowed(search.chosen),
        Some(false) => EnumerationOutcome::Forbidden,
        None => EnumerationOutcome::TooLarge,
    }
}

struct Enumeration<'a> {
    execution: &'a Execution,
    model: Model,
    /// The number of tests left.
    budget: usize,
    choices: Vec<Choice>,
    fences: Vec<EventId>,
    /// By location, its writes.
    writes: Vec<Vec<EventId>>,
    /// The choices so far.
    chosen: Coherence,
}

impl<'a> Enumeration<'a> {
    fn new(execution: &'a Execution, model: Model, budget: usize) -> Self {
        let is_fence =
            |e: &EventId| fences_update_hidden_location(model) && is_sc_fence(execution, *e);
        let fences: Vec<EventId> = execution.events().filter(is_fence).collect();
        let locations = execution.locations().filter(|_| has_modification_orders(model));
        let (inits, writes): (Vec<_>, Vec<_>) = locations
            .map(|l| (vec![execution.init_of(l)], writes_of(execution, l.index())))
            .unzip();
        let reads = execution.events().filter(|&e| execution.action(e).has_source());
        let mut choices: Vec<Choice> = reads.map(Choice::Source).collect();
        choices.extend(fences.iter().map(|_| Choice::Fence));
        for (location, writes) in writes.iter().enumerate() {
            choices.extend(writes.iter().map(|_| Choice::Write(location)));
        }
        let rf = execution.events().map(|e| own_acquire(execution, e)).collect();
        let chosen = Coherence { rf, mo: inits, fences: vec![] };
        Enumeration { execution, model, budget, choices, fences, writes, chosen }
    }

    /// Tries all choices from this index on. Returns `None` if the budget is exhausted.
    fn extend(&mut self, depth: usize) -> Option<bool> {
        let Some(&next) = self.choices.get(depth) else { return self.holds() };
        let options = self.options(next);
        for &option in &options {
            self.choose(next, option);
            // A forced choice need not be tested now.
            if (options.len() == 1 || self.holds()?) && self.extend(depth + 1)? {
                return Some(true);
            }
            self.unchoose(next);
        }
        Some(false)
    }

    fn options(&self, choice: Choice) -> Vec<EventId> {
        let (all, but) = match choice {
            Choice::Source(read) => (self.execution.sources(read), &[read][..]),
            Choice::Fence => (&self.fences[..], &self.chosen.fences[..]),
            Choice::Write(location) => (&self.writes[location][..], &self.chosen.mo[location][..]),
        };
        all.iter().copied().filter(|event| !but.contains(event)).collect()
    }

    fn choose(&mut self, choice: Choice, option: EventId) {
        match choice {
            Choice::Source(read) => self.chosen.rf[read.index()] = Some(option),
            Choice::Fence => self.chosen.fences.push(option),
            Choice::Write(location) => self.chosen.mo[location].push(option),
        }
    }

    fn unchoose(&mut self, choice: Choice) {
        match choice {
            Choice::Source(read) => self.chosen.rf[read.index()] = None,
            Choice::Fence => drop(self.chosen.fences.pop()),
            Choice::Write(location) => drop(self.chosen.mo[location].pop()),
        }
    }

    /// Returns whether the axioms hold for the choices so far, or `None` if the budget is exhausted.
    fn holds(&mut self) -> Option<bool> {
        self.budget = self.budget.checked_sub(1)?;
        let relations = Relations::new(self.execution, self.model, &self.chosen);
        Some(broken(self.model, &relations).is_none())
    }
}

/// The writes of a location but the initial one.
fn writes_of(execution: &Execution, location: usize) -> Vec<EventId> {
    let is_write = |action: &Action| {
        writes(action) && action.location().is_some_and(|l| l.index() == location)
    };
    let events = execution.events().filter(|&e| !execution.is_init(e));
    events.filter(|&e| is_write(execution.action(e))).collect()
}
