//! Histories as data for the formats that show executions.

use std::collections::BTreeMap;

use raddle_consistency::explain;
use raddle_consistency::witness::{ConsistencyVerdict, MachineStep, Relation, Violation, Witness};
use raddle_core::execution::{Action, EventId, Execution, LocationId};
use raddle_explore::counterexample::data::{
    EdgeData, EventData, ExecutionData, ObjectData, SourceData, StepData, ThreadData,
};

use super::reported::{Reported, ReportedFinding};
use crate::input::HistoryFile;
use crate::results::verify::CheckedHistory;

/// The results of `raddle verify`.
pub(crate) fn of_verify<'a>(
    inputs: &'a [HistoryFile],
    checks: &'a [CheckedHistory<'a>],
) -> Vec<Reported<'a>> {
    let broken = inputs.iter().filter_map(|input| {
        let error = input.content.as_ref().err()?;
        Some(Reported {
            command: "verify",
            program: input.name.clone(),
            verdict: "error",
            reason: Some(error.message(&input.name)),
            ..Reported::default()
        })
    });
    checks.iter().map(of_check).chain(broken).collect()
}

fn of_check<'a>(check: &'a CheckedHistory<'a>) -> Reported<'a> {
    let CheckedHistory { history, execution, model, ref verdict, .. } = *check;
    let mut data = data(execution, verdict);
    data.model = model.name().to_owned();
    let reported = Reported {
        command: "verify",
        program: history.to_owned(),
        model: model.name(),
        ..Reported::default()
    };
    match verdict {
        ConsistencyVerdict::Consistent(_) => {
            Reported { verdict: "consistent", execution: Some(data), ..reported }
        }
        ConsistencyVerdict::Unknown { steps } => {
            let reason = Some(format!("given up after {steps} steps"));
            Reported { verdict: "unknown", reason, execution: Some(data), ..reported }
        }
        ConsistencyVerdict::Inconsistent(violation) => {
            let kind = match violation {
                Violation::Race { .. } => "race",
                _ => "inconsistent",
            };
            let finding = ReportedFinding {
                kind,
                message: explain::sentence(execution, model, violation),
                place: String::new(),
                finding: None,
                execution: Some(data),
            };
            Reported { verdict: "inconsistent", findings: vec![finding], ..reported }
        }
    }
}

fn data(execution: &Execution, verdict: &ConsistencyVerdict) -> ExecutionData {
    let events: Vec<EventId> =
        execution.events().filter(|&event| !execution.is_init(event)).collect();
    let index: BTreeMap<EventId, usize> = events.iter().copied().zip(0..).collect();
    let raced = match verdict {
        ConsistencyVerdict::Inconsistent(Violation::Race { first, second, .. }) => {
            vec![*first, *second]
        }
        _ => vec![],
    };
    let event = |&event: &EventId| EventData {
        role: raced.contains(&event).then_some("race"),
        ..event_data(execution, &index, event)
    };
    let (order, steps) = steps(execution, &index, verdict);
    ExecutionData {
        ending: "complete",
        threads: execution
            .threads()
            .map(|thread| ThreadData { name: execution.thread(thread).name.clone(), end: "open" })
            .collect(),
        objects: objects(execution),
        events: events.iter().map(event).collect(),
        order,
        steps,
        relations: modification_orders(&index, verdict),
        cycle: cycle(&index, verdict),
        ..ExecutionData::default()
    }
}

fn objects(execution: &Execution) -> Vec<ObjectData> {
    let object = |location: LocationId| {
        let initial = execution.action(execution.init_of(location)).written_value()?;
        let name = execution.location(location).name.clone();
        Some(ObjectData { name, initial: initial.to_string() })
    };
    execution.locations().filter_map(object).collect()
}

fn event_data(
    execution: &Execution,
    index: &BTreeMap<EventId, usize>,
    event: EventId,
) -> EventData {
    let action = execution.action(event);
    let (thread, number) =
        execution.position(event).map_or((0, 0), |(thread, position)| (thread.index(), position));
    let object = action.location().map(|location| execution.location(location).name.clone());
    let [read, written] = [action.read_value(), action.written_value()]
        .map(|value| value.map(|value| value.to_string()));
    let at = object.as_deref().unwrap_or_default();
    let (was, is) = (read.as_deref().unwrap_or("?"), written.as_deref().unwrap_or("?"));
    let name = |thread| execution.thread(thread).name.clone();
    let (operation, text) = match action {
        Action::Init { .. } => ("init", format!("initially {at} = {is}")),
        Action::Read { .. } => ("load", format!("load {at} = {was}")),
        Action::Write { .. } => ("store", format!("store {at} = {is}")),
        Action::Rmw { .. } => ("update", format!("{at}: {was} -> {is}")),
        Action::Cas { succeeded: true, .. } => ("compare-exchange", format!("{at}: {was} -> {is}")),
        Action::Cas { .. } => ("compare-exchange", format!("exchange {at} fails, {was}")),
        Action::Fence => ("fence", format!("fence {}", execution.order(event))),
        Action::StoreFence => ("store-fence", String::from("store fence")),
        Action::Lock { .. } => ("lock", format!("lock {at}")),
        Action::Unlock { .. } => ("unlock", format!("unlock {at}")),
        Action::Spawn { thread } => ("spawn", format!("spawn {}", name(*thread))),
        Action::Join { thread } => ("join", format!("join {}", name(*thread))),
    };
    let source = match execution.sources(event) {
        [source] if action.has_source() => Some(match index.get(source) {
            Some(&at) => SourceData::Event(at),
            None => SourceData::Initial("initial"),
        }),
        _ => None,
    };
    let has_order = operation != "spawn" && operation != "join";
    EventData {
        id: execution.name(event),
        thread,
        number,
        operation,
        object,
        order: has_order.then(|| execution.order(event).name()),
        read,
        written,
        source,
        text,
        ..EventData::default()
    }
}

/// The run that the model allows, or the events in the order of the history.
fn steps(
    execution: &Execution,
    index: &BTreeMap<EventId, usize>,
    verdict: &ConsistencyVerdict,
) -> (&'static str, Vec<StepData>) {
    let ConsistencyVerdict::Consistent(Witness::Run(run)) = verdict else {
        return ("listed", index.values().copied().map(StepData::Event).collect());
    };
    let has_buffers = run.steps.iter().any(|step| matches!(step, MachineStep::Flush(_)));
    let step = |step: &MachineStep| match *step {
        MachineStep::Run(event) if has_buffers && execution.is_buffered(event) => {
            Some(StepData::Buffered(*index.get(&event)?))
        }
        MachineStep::Run(event) => Some(StepData::Event(*index.get(&event)?)),
        MachineStep::Flush(event) => Some(StepData::Memory(*index.get(&event)?)),
    };
    let order = if has_buffers { "store-buffers" } else { "interleaving" };
    (order, run.steps.iter().filter_map(step).collect())
}

fn modification_orders(
    index: &BTreeMap<EventId, usize>,
    verdict: &ConsistencyVerdict,
) -> Vec<EdgeData> {
    let (ConsistencyVerdict::Consistent(Witness::Coherence(coherence))
    | ConsistencyVerdict::Inconsistent(Violation::Race { coherence, .. })) = verdict
    else {
        return vec![];
    };
    let pairs = coherence.mo.iter().flat_map(|order| order.iter().zip(order.iter().skip(1)));
    let edge = |(from, to): (&EventId, &EventId)| {
        Some(EdgeData { from: *index.get(from)?, to: *index.get(to)?, relation: "mo" })
    };
    pairs.filter_map(edge).collect()
}

/// The cycle that the model forbids, if that is the violation.
fn cycle(index: &BTreeMap<EventId, usize>, verdict: &ConsistencyVerdict) -> Vec<EdgeData> {
    let edge = |from: &EventId, to: &EventId, relation| {
        Some(EdgeData { from: *index.get(from)?, to: *index.get(to)?, relation })
    };
    match verdict {
        ConsistencyVerdict::Inconsistent(Violation::Axiom { cycle, .. }) => {
            let edges = cycle.iter().filter_map(|link| {
                let relation = match link.relation {
                    Relation::Po => "po",
                    Relation::Rf | Relation::RfInverse => "rf",
                    Relation::Mo => "mo",
                    Relation::Fr => "fr",
                    Relation::Hb => "hb",
                    Relation::Asw => "asw",
                };
                match link.relation {
                    Relation::RfInverse => edge(&link.to, &link.from, relation),
                    _ => edge(&link.from, &link.to, relation),
                }
            });
            edges.collect()
        }
        ConsistencyVerdict::Inconsistent(Violation::Cycle { cycle, .. }) => {
            let edges = cycle.iter().filter_map(|order| edge(&order.from, &order.to, "before"));
            edges.collect()
        }
        _ => vec![],
    }
}
