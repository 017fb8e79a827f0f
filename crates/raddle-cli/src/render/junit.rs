//! Results in the XML format of JUnit, as continuous integration reads it: a test case for each program and model.
//!
//! An exploration that is not complete is an error, as it proves nothing; the exit status says so, too.

use std::fmt::Write as _;

use super::reported::{Reported, file_line};

/// The document.
pub(crate) fn text(all: &[Reported<'_>]) -> String {
    let mut cases = String::new();
    for reported in all {
        cases += &test_case(reported);
    }
    let counts = attributes(all);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"raddle\"{counts}>\n  \
         <testsuite name=\"raddle {}\"{counts} skipped=\"0\">\n{cases}  </testsuite>\n</testsuites>\n",
        all.first().map_or("check", |reported| reported.command),
    )
}

/// The numbers of test cases, and the time.
fn attributes(all: &[Reported<'_>]) -> String {
    let failures = all.iter().filter(|reported| !reported.findings.is_empty()).count();
    let errors = all.iter().filter(|reported| is_error(reported)).count();
    let seconds: f64 = all.iter().map(|reported| reported.seconds).sum();
    format!(
        " tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\"",
        all.len()
    )
}

fn is_error(reported: &Reported<'_>) -> bool {
    reported.findings.is_empty() && matches!(reported.verdict, "error" | "incomplete" | "unknown")
}

fn test_case(reported: &Reported<'_>) -> String {
    let Reported { program, model, seconds, verdict, .. } = reported;
    let name = if model.is_empty() { "load" } else { model };
    let first = reported.findings.first();
    let place = first.and_then(|found| file_line(program, &found.place));
    let file = place.as_ref().map_or(program.as_str(), |place| &place.file);
    let line = place.as_ref().map_or(String::new(), |place| format!(" line=\"{}\"", place.line));
    let mut text = format!(
        "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\"{line} time=\"{seconds:.3}\">\n",
        attribute(name),
        attribute(program),
        attribute(file),
    );
    for found in &reported.findings {
        let _ = writeln!(
            text,
            "      <failure type=\"{}\" message=\"{}\">{}</failure>",
            attribute(found.kind),
            attribute(&found.message),
            content(found.text().trim_end()),
        );
    }
    if is_error(reported) {
        let reason = reported.reason.as_deref().unwrap_or(verdict);
        let _ = writeln!(
            text,
            "      <error type=\"{verdict}\" message=\"{}\">{}</error>",
            attribute(reason),
            content(reason)
        );
    }
    let notes = [&reported.counts].into_iter().chain(&reported.remarks);
    let notes: Vec<&str> = notes.map(String::as_str).filter(|note| !note.is_empty()).collect();
    if !notes.is_empty() {
        let _ = writeln!(text, "      <system-out>{}</system-out>", content(&notes.join("\n")));
    }
    text + "    </testcase>\n"
}

/// A text as the value of an attribute.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

/// A text as the content of an element. Characters that XML does not have are replaced.
fn content(text: &str) -> String {
    let is_allowed =
        |c: char| matches!(c, '\t' | '\n') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let text: String =
        text.chars().map(|c| if is_allowed(c) { c } else { char::REPLACEMENT_CHARACTER }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(attribute("a \"<&>\"\n\u{1}"), "a &quot;&lt;&amp;&gt;&quot;&#10;\u{fffd}");
        assert_eq!(content("a < b && \"c\""), "a &lt; b &amp;&amp; \"c\"");
    }
}
