//! The final values that the axioms of a C11 model admit, by trying all modification orders.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{Action, EventId, Execution, Value};
use raddle_core::explore::{Control, Leaf, Limits};
use raddle_core::litmus::{LitmusProgram, Test};
use raddle_core::model::relations::Relations;
use raddle_core::model::{Model, broken};
use raddle_core::plan::{Explorer, plan};
use raddle_core::witness::Coherence;

/// The final values of all locations in all executions. The test must not ask for locations, so that no
/// loads in the end decide about them.
pub(crate) fn final_values(test: &Test, model: Model) -> BTreeSet<BTreeMap<String, Value>> {
    let program = LitmusProgram::new(test, 8);
    let mut all = BTreeSet::new();
    let mut visitor = |leaf: &dyn Leaf| {
        let execution = leaf.trace().to_execution(&program).expect("a trace is an execution");
        try_orders(&execution, model, &mut all);
        Control::Continue
    };
    let plan = plan(test.language, model, Explorer::ReadsFrom).expect("C goes with every model");
    plan.explore(&mut program.clone(), &Limits::default(), &mut visitor);
    all
}

fn try_orders(execution: &Execution, model: Model, all: &mut BTreeSet<BTreeMap<String, Value>>) {
    let rf = execution.events().map(|event| execution.sources(event).first().copied()).collect();
    let orders: Vec<Vec<Vec<EventId>>> =
        execution.locations().map(|location| permutations(execution, location.index())).collect();
    let mut chosen = vec![0; orders.len()];
    let mut coherence = Coherence { rf, mo: vec![], fences: vec![] };
    loop {
        coherence.mo = chosen.iter().zip(&orders).map(|(&at, orders)| orders[at].clone()).collect();
        let relations = Relations::new(execution, model, &coherence);
        if broken(model, &relations).is_none() {
            all.insert(last_values(execution, &coherence));
        }
        // The next combination, as a counter.
        let Some(at) = (0..chosen.len()).find(|&at| chosen[at] + 1 < orders[at].len()) else {
            return;
        };
        chosen[at] += 1;
        chosen[..at].fill(0);
    }
}

/// All orders of the writes of a location, the initial one first.
fn permutations(execution: &Execution, location: usize) -> Vec<Vec<EventId>> {
    let writes = execution.events().filter(|&event| {
        let action = execution.action(event);
        let is_there = action.location().is_some_and(|it| it.index() == location);
        is_there && !execution.is_init(event) && written(action).is_some()
    });
    let mut orders = vec![vec![execution.init_of(execution.locations().nth(location).unwrap())]];
    for write in writes {
        orders = orders
            .iter()
            .flat_map(|order| {
                (1..=order.len()).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, write);
                    order
                })
            })
            .collect();
    }
    orders
}

fn written(action: &Action) -> Option<Value> {
    match *action {
        Action::Init { value, .. } | Action::Write { value, .. } => Some(value),
        Action::Rmw { written, .. } => Some(written),
        Action::Cas { desired, succeeded, .. } => succeeded.then_some(desired),
        _ => None,
    }
}

fn last_values(execution: &Execution, coherence: &Coherence) -> BTreeMap<String, Value> {
    let last = |location: usize| {
        let write = *coherence.mo[location].last().expect("there is an initial write");
        written(execution.action(write)).expect("it writes")
    };
    let name = |location| execution.location(location).name.clone();
    execution.locations().map(|location| (name(location), last(location.index()))).collect()
}
