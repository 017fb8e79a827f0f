//! Executions as graphs for Graphviz, with the labels and the colours of herd: events by thread, program order, reads-from (red),
//! modification order (blue), synchronizes-with and the order of spawns and joins (green). What makes the execution an error
//! is thick: the events of a race, or a cycle that sequential consistency forbids.

use std::fmt::Write as _;

use raddle_explore::counterexample::data::{EdgeData, EventData, ExecutionData, SourceData};

use super::reported::Reported;

/// One graph for each execution.
pub(crate) fn text(all: &[Reported<'_>]) -> String {
    let mut text = String::new();
    for reported in all {
        let Reported { program, model, verdict, .. } = reported;
        let found = reported.findings.iter();
        let found = found.filter_map(|it| Some((it.message.as_str(), it.execution.as_ref()?)));
        let shown = reported.execution.iter().map(|execution| (*verdict, execution));
        let before = text.len();
        for (what, execution) in found.chain(shown) {
            text += &graph(&format!("{program}, {model}: {what}"), execution);
        }
        if text.len() == before {
            let _ = writeln!(text, "// {}, {model}: {verdict}", comment(program));
        }
    }
    text
}

fn comment(text: &str) -> String {
    text.replace('\n', " ")
}

/// A text in quotation marks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn graph(title: &str, execution: &ExecutionData) -> String {
    let mut text = String::from("digraph G {\n");
    let _ = writeln!(text, "  label={};", quoted(title));
    text += "  labelloc=t;\n  fontname=\"Helvetica\";\n  node [shape=none, fontname=\"Helvetica\", fontsize=11];\n";
    text += "  edge [fontname=\"Helvetica\", fontsize=9];\n";
    for (thread, data) in execution.threads.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{thread} {{\n    label={};", quoted(&data.name));
        text += "    color=magenta;\n";
        let own = |(_, event): &(usize, &EventData)| event.thread == thread;
        for (at, event) in execution.events.iter().enumerate().filter(own) {
            let _ = writeln!(text, "    {}", node(execution, at, event));
        }
        text += "  }\n";
    }
    for edge in edges(execution) {
        let _ = writeln!(text, "  {}", arrow(execution, &edge));
    }
    let raced: Vec<usize> = raced(execution).collect();
    if let [first, second] = raced[..] {
        let _ = writeln!(
            text,
            "  eiid{first} -> eiid{second} [label=\"race\", dir=none, style=dashed, color=\"red\", fontcolor=\"red\", constraint=false, penwidth=2];"
        );
    }
    text + "}\n"
}

fn raced(execution: &ExecutionData) -> impl Iterator<Item = usize> {
    let events = execution.events.iter().enumerate();
    events.filter(|(_, event)| event.role == Some("race")).map(|(at, _)| at)
}

fn node(execution: &ExecutionData, at: usize, event: &EventData) -> String {
    let in_cycle = execution.cycle.iter().any(|edge| edge.from == at);
    let is_marked = in_cycle || event.role.is_some();
    let colour = if is_marked { ", fontcolor=\"red\"" } else { "" };
    let label = format!("{}: {}", letters(at), label(event));
    format!("eiid{at} [label={}, tooltip={}{colour}];", quoted(&label), quoted(&event.place))
}

/// `a`, `b`, ..., `z`, `aa`, ...: the name of an event, as herd writes it.
fn letters(at: usize) -> String {
    let last = char::from(b'a' + (at % 26) as u8);
    match at / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", letters(more - 1)),
    }
}

/// `W(rlx)[x]=1`: an event as herd writes it.
fn label(event: &EventData) -> String {
    let order = event.order.map_or(String::new(), |order| format!("({order})"));
    let object = event.object.as_deref().unwrap_or_default();
    let [read, written] =
        [&event.read, &event.written].map(|value| value.as_deref().unwrap_or("?"));
    match (event.operation, &event.written) {
        ("store", _) => format!("W{order}[{object}]={written}"),
        ("load", _) => format!("R{order}[{object}]={read}"),
        ("update" | "wait", _) | ("compare-exchange", Some(_)) => {
            format!("RMW{order}[{object}]={read}->{written}")
        }
        ("compare-exchange", None) => format!("R*{order}[{object}]={read}"),
        ("fence", _) => format!("F{order}"),
        ("lock", _) => format!("L[{object}]"),
        ("unlock", _) => format!("U[{object}]"),
        _ => event.text.clone(),
    }
}

/// Program order, reads-from and the other relations. A pair that is in the cycle with the same relation is drawn once.
fn edges(execution: &ExecutionData) -> Vec<EdgeData> {
    let mut edges = vec![];
    for thread in 0..execution.threads.len() {
        let own: Vec<usize> = (0..execution.events.len())
            .filter(|&at| execution.events[at].thread == thread)
            .collect();
        let pairs = own.windows(2);
        edges.extend(pairs.map(|pair| EdgeData { from: pair[0], to: pair[1], relation: "po" }));
    }
    for (to, event) in execution.events.iter().enumerate() {
        if let Some(SourceData::Event(from)) = event.source {
            edges.push(EdgeData { from, to, relation: "rf" });
        }
    }
    edges.extend(execution.relations.iter().cloned());
    let others = execution.cycle.iter().filter(|edge| !edges.contains(edge));
    let others: Vec<EdgeData> = others.cloned().collect();
    edges.extend(others);
    edges
}

fn arrow(execution: &ExecutionData, edge: &EdgeData) -> String {
    let EdgeData { from, to, relation } = edge;
    let colour = match *relation {
        "po" => "black",
        "rf" => "red",
        "mo" => "blue",
        "fr" => "#ffa040",
        _ => "#009000",
    };
    let width = if execution.cycle.contains(edge) { ", penwidth=3" } else { "" };
    let free = if *relation == "po" { "" } else { ", constraint=false" };
    format!(
        "eiid{from} -> eiid{to} [label=\"{relation}\", color=\"{colour}\", fontcolor=\"{colour}\"{width}{free}];"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_letters() {
        assert_eq!([0, 25, 26, 27, 702].map(letters), ["a", "z", "aa", "ab", "aaa"]);
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a \"b\" \\ c\nd"), "\"a \\\"b\\\" \\\\ c\\nd\"");
    }
}
