//! Executions as a web page: one file without references to the network, with the sources that the executions mention.

use std::collections::BTreeMap;
use std::fs;

use raddle_explore::counterexample::data::ExecutionData;
use serde::Serialize;

use super::reported::{Reported, file_line};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The most lines of a source file that the page contains.
const MOST_LINES: usize = 5_000;

#[derive(Serialize)]
struct Page<'a> {
    results: Vec<Shown<'a>>,
    /// The lines of source files.
    sources: BTreeMap<String, Vec<String>>,
}

/// What the page shows at a time.
#[derive(Serialize)]
struct Shown<'a> {
    program: &'a str,
    model: &'a str,
    verdict: &'a str,
    kind: &'a str,
    message: &'a str,
    place: &'a str,
    counts: &'a str,
    why: &'a [String],
    help: &'a [String],
    execution: Option<&'a ExecutionData>,
    /// By event, the file and the line.
    places: Vec<Option<(String, usize)>>,
}

/// The page.
pub(crate) fn text(all: &[Reported<'_>]) -> String {
    let results: Vec<Shown<'_>> = all.iter().flat_map(shown).collect();
    let mut sources = BTreeMap::new();
    for (file, _) in results.iter().flat_map(|shown| shown.places.iter().flatten()) {
        if let Some(lines) = (!sources.contains_key(file)).then(|| lines(file)).flatten() {
            sources.insert(file.clone(), lines);
        }
    }
    let data = serde_json::to_string(&Page { results, sources }).unwrap_or_default();
    // Nothing in the data ends the element that contains it.
    let data = data.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    PAGE.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", SCRIPT).replacen("/*DATA*/", &data, 1)
}

fn lines(file: &str) -> Option<Vec<String>> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.lines().take(MOST_LINES).map(str::to_owned).collect())
}

fn shown<'a>(reported: &'a Reported<'a>) -> Vec<Shown<'a>> {
    let Reported { program, model, verdict, counts, .. } = reported;
    let places = |execution: Option<&ExecutionData>| {
        let events = execution.iter().flat_map(|execution| &execution.events);
        let place = |place: &str| file_line(program, place).map(|it| (it.file, it.line));
        events.map(|event| place(&event.place)).collect()
    };
    let without = Shown {
        program,
        model,
        verdict,
        kind: "",
        message: reported.reason.as_deref().unwrap_or_default(),
        place: "",
        counts,
        why: &[],
        help: &[],
        execution: reported.execution.as_ref(),
        places: places(reported.execution.as_ref()),
    };
    if reported.findings.is_empty() {
        return vec![without];
    }
    let finding = |found: &'a super::reported::ReportedFinding<'a>| Shown {
        kind: found.kind,
        message: &found.message,
        place: &found.place,
        why: found.finding.map_or(&[], |finding| &finding.why),
        help: found.finding.map_or(&[], |finding| &finding.help),
        execution: found.execution.as_ref(),
        places: places(found.execution.as_ref()),
        program,
        model,
        verdict,
        counts,
    };
    reported.findings.iter().map(finding).collect()
}
