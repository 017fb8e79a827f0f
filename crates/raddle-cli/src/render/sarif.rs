//! Findings in SARIF 2.1.0, the format of OASIS for results of static analysis: code scanning services and editors read it.
//!
//! A finding has a code flow: the execution, with a thread flow for each thread and the order of execution between them.

use raddle_core::outcome::FindingKind;
use raddle_explore::counterexample::data::{EventData, ExecutionData, StepData};
use serde_json::{Value, json};

use super::reported::{FileLine, Reported, ReportedFinding, file_line};

/// The schema of the format.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The document.
pub(crate) fn text(all: &[Reported<'_>]) -> String {
    let results: Vec<Value> = all.iter().flat_map(results).collect();
    let mut rules: Vec<&str> = results.iter().filter_map(|it| it["ruleId"].as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rules: Vec<Value> = rules.into_iter().map(rule).collect();
    let notifications: Vec<Value> = all.iter().filter_map(notification).collect();
    let is_successful = !all.iter().any(|reported| reported.verdict == "error");
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "raddle",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": is_successful,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

fn rule(id: &str) -> Value {
    let kind = FindingKind::ALL.iter().find(|kind| kind.name() == id);
    let text = kind.map_or("The history is inconsistent under the model", |kind| kind.summary());
    json!({ "id": id, "shortDescription": { "text": text }, "defaultConfiguration": { "level": "error" } })
}

/// Says that not everything was explored, or that something cannot be explored.
fn notification(reported: &Reported<'_>) -> Option<Value> {
    let Reported { program, model, verdict, .. } = reported;
    let reason = reported.reason.as_ref()?;
    let level = if *verdict == "error" { "error" } else { "warning" };
    let text = format!("{program}, {model}: {verdict}: {reason}");
    Some(json!({ "level": level, "message": { "text": text } }))
}

fn results<'a>(reported: &'a Reported<'a>) -> impl Iterator<Item = Value> + 'a {
    reported.findings.iter().map(move |found| result(reported, found))
}

fn result(reported: &Reported<'_>, found: &ReportedFinding<'_>) -> Value {
    let Reported { program, model, .. } = reported;
    let mut text = format!("{} ({model})", found.message);
    let finding = found.finding;
    for sentence in finding.iter().flat_map(|finding| finding.why.iter().chain(&finding.help)) {
        text += &format!(". {sentence}");
    }
    let place = file_line(program, &found.place)
        .unwrap_or_else(|| FileLine { file: first_file(program), line: 1 });
    let mut result = json!({
        "ruleId": found.kind,
        "level": "error",
        "message": { "text": text },
        "locations": [{ "physicalLocation": physical(&place) }],
        "partialFingerprints": { "raddle/v1": format!("{}:{}:{model}", found.kind, found.place) },
        "properties": { "model": model },
    });
    let related: Vec<Value> = finding
        .iter()
        .flat_map(|finding| &finding.related)
        .filter_map(|other| Some((file_line(program, other.place.as_str())?, &other.message)))
        .map(|(place, message)| {
            json!({ "physicalLocation": physical(&place), "message": { "text": message } })
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = related.into();
    }
    if let Some(execution) = found.execution.as_ref().filter(|it| !it.events.is_empty()) {
        result["codeFlows"] = json!([code_flow(program, execution)]);
    }
    result
}

/// The first of the files of a program.
fn first_file(program: &str) -> String {
    program.split(' ').next().unwrap_or(program).to_owned()
}

fn physical(place: &FileLine) -> Value {
    json!({
        "artifactLocation": { "uri": uri(&place.file) },
        "region": { "startLine": place.line },
    })
}

/// A path as a URI reference. An absolute one gets a scheme.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'+' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// The execution, with a flow for each thread.
fn code_flow(program: &str, execution: &ExecutionData) -> Value {
    let flow = |(thread, data): (usize, &_)| {
        let data: &raddle_explore::counterexample::data::ThreadData = data;
        let locations: Vec<Value> = steps(execution)
            .filter(|(_, event)| event.thread == thread)
            .map(|(order, event)| flow_location(program, order, event))
            .collect();
        (!locations.is_empty()).then(|| {
            json!({ "id": data.name, "message": { "text": format!("thread {}", data.name) }, "locations": locations })
        })
    };
    let flows: Vec<Value> = execution.threads.iter().enumerate().filter_map(flow).collect();
    json!({ "message": { "text": format!("the execution under {}", execution.model) }, "threadFlows": flows })
}

/// The events in the order in which they happen, with numbers from 1.
fn steps(execution: &ExecutionData) -> impl Iterator<Item = (usize, &EventData)> {
    let event = |step: &StepData| match *step {
        StepData::Event(at) | StepData::Buffered(at) => execution.events.get(at),
        StepData::Memory(_) => None,
    };
    (1..).zip(execution.steps.iter().filter_map(event))
}

fn flow_location(program: &str, order: usize, event: &EventData) -> Value {
    let is_essential = event.role.is_some();
    let importance = if is_essential { "essential" } else { "important" };
    let mut location = json!({ "message": { "text": event.text } });
    if let Some(place) = file_line(program, &event.place) {
        location["physicalLocation"] = physical(&place);
    }
    json!({ "location": location, "executionOrder": order, "importance": importance })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("a b/c.c"), "a%20b/c.c");
        assert_eq!(uri("/x/y.cpp"), "file:///x/y.cpp");
    }
}
