//! What went wrong, and the lines of the source that take part, with marks.
//!
//! The source is read from the files that the debug information names. A file that cannot be read, or has no such line, is
//! only named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use raddle_consistency::page::{Page, wrap};
use raddle_core::outcome::Finding;
use raddle_core::trace::{NamedTrace, SourcePosition};

use super::sentence;
use super::style::Style;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    file: String,
    line: u32,
    /// From 1; 0 if it is not known.
    column: u32,
    label: String,
}

/// Longer files are not read.
const LONGEST_FILE: u64 = 1 << 22;

/// The message of a finding and the places that take part. Ends with a line break.
pub(super) fn header(finding: &Finding, style: &Style) -> String {
    let kind = finding.kind.name();
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(style.page.width);
    let indent = "error[]: ".len() + kind.len();
    let page = Page { width: style.page.width.saturating_sub(indent).max(40), ..style.page };
    let message: Vec<String> =
        finding.message.lines().map(|line| wrap(line, 0, page).trim_end().to_owned()).collect();
    let title = Level::ERROR.primary_title(message.join("\n")).id(kind);
    let (primary, others) = marks(finding, style);
    let mut group = Group::with_title(title);
    let marks: Vec<&Mark> = primary.iter().chain(&others).collect();
    for (file, marks) in by_file(&marks) {
        group = group.elements(of_file(&file, &marks, primary.as_ref()));
    }
    if primary.is_none()
        && let Some(place) = &finding.place
    {
        group = group.element(Origin::path(place.as_str().to_owned()));
    }
    let notes = finding.why.iter().map(|why| ("why", why));
    let notes = notes.chain(finding.help.iter().map(|help| ("help", help)));
    let page = Page { width: style.page.width.saturating_sub(12).max(40), ..style.page };
    for (name, text) in notes {
        let level = if name == "help" { Level::HELP } else { Level::NOTE.with_name(name) };
        group = group.element(level.message(wrap(text, 0, page).trim_end().to_owned()));
    }
    let text = renderer.render(&[group]);
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The place of a finding, if it is a line of a file, and those of the others that take part.
fn marks(finding: &Finding, style: &Style) -> (Option<Mark>, Vec<Mark>) {
    let trace = finding.trace.as_ref();
    let mark = |place: &str, label: &str| {
        let (file, line) = place.rsplit_once(':')?;
        let line = line.parse().ok()?;
        let column = trace.and_then(|trace| column(trace, place, style)).unwrap_or(0);
        Some(Mark { file: file.to_owned(), line, column, label: label.to_owned() })
    };
    let label = trace.and_then(|trace| sentence::label(finding.kind, trace)).unwrap_or_default();
    let primary = finding.place.as_ref().and_then(|place| mark(place.as_str(), &label));
    let mut others: Vec<Mark> = vec![];
    for related in &finding.related {
        let Some(new) = mark(related.place.as_str(), &related.message) else { continue };
        if primary.as_ref() == Some(&new) {
            continue;
        }
        match others.iter_mut().find(|mark| mark.line == new.line && mark.file == new.file) {
            Some(known) if known.label != new.label => {
                known.label = format!("{}; {}", known.label, new.label);
            }
            Some(_) => {}
            None => others.push(new),
        }
    }
    (primary, others)
}

/// The column of a step or call at a place.
fn column(trace: &NamedTrace, place: &str, style: &Style) -> Option<u32> {
    let is_there = |position: &&SourcePosition| {
        style.relative(&position.to_string()) == place && position.column > 0
    };
    let positions = trace.stacks.frames().filter_map(|frame| frame.position.as_ref());
    positions.into_iter().find(is_there).map(|position| position.column)
}

/// The marks of each file, the file of the first mark first.
fn by_file<'a>(marks: &[&'a Mark]) -> Vec<(String, Vec<&'a Mark>)> {
    let mut files: Vec<(String, Vec<&Mark>)> = vec![];
    for mark in marks {
        match files.iter_mut().find(|(file, _)| *file == mark.file) {
            Some((_, marks)) => marks.push(mark),
            None => files.push((mark.file.clone(), vec![mark])),
        }
    }
    files
}

/// The marked lines of a file, or only its name if it cannot be read.
fn of_file(file: &str, marks: &[&Mark], primary: Option<&Mark>) -> Vec<Element<'static>> {
    let lines = lines(file, marks);
    let Some(lines) = lines else {
        let mut elements = vec![];
        for mark in marks {
            let mut origin = Origin::path(file.to_owned()).line(mark.line as usize);
            if mark.column > 0 {
                origin = origin.char_column(mark.column as usize);
            }
            elements.push(origin.into());
            if !mark.label.is_empty() {
                elements.push(Level::NOTE.message(mark.label.clone()).into());
            }
        }
        return elements;
    };
    let start = marks.iter().map(|mark| mark.line).min().unwrap_or(1);
    let mut offsets = BTreeMap::new();
    let mut offset = 0;
    for (number, line) in (start..).zip(&lines) {
        offsets.insert(number, (offset, line.clone()));
        offset += line.len() + 1;
    }
    let mut snippet = Snippet::source(lines.join("\n"))
        .line_start(start as usize)
        .path(file.to_owned())
        .fold(true);
    for mark in marks {
        let Some((offset, line)) = offsets.get(&mark.line) else { continue };
        let (from, to) = span(line, mark.column);
        let is_primary = primary == Some(*mark);
        let kind = if is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let mut annotation = kind.span(offset + from..offset + to);
        if !mark.label.is_empty() {
            annotation = annotation.label(mark.label.clone());
        }
        snippet = snippet.annotation(annotation);
    }
    vec![snippet.into()]
}

/// The lines of a file from the first mark to the last one; `None` if it cannot be read or ends before.
fn lines(file: &str, marks: &[&Mark]) -> Option<Vec<String>> {
    let first = marks.iter().map(|mark| mark.line).min()?.max(1) as usize;
    let last = marks.iter().map(|mark| mark.line).max()? as usize;
    let path = find(file)?;
    let data = fs::metadata(&path).ok()?;
    if !data.is_file() || data.len() > LONGEST_FILE {
        return None;
    }
    let text = fs::read(&path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<String> =
        text.lines().skip(first - 1).take(last + 1 - first).map(expand).collect();
    (lines.len() == last + 1 - first).then_some(lines)
}

/// A line without control characters. A tab becomes a space, so that columns remain.
fn expand(line: &str) -> String {
    line.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The path of a file. Compilers run in other directories, so a relative one may start at an ancestor of the working directory.
fn find(file: &str) -> Option<PathBuf> {
    let path = Path::new(file);
    if path.exists() {
        return Some(path.to_owned());
    }
    let directory = std::env::current_dir().ok().filter(|_| path.is_relative())?;
    directory.ancestors().map(|ancestor| ancestor.join(path)).find(|path| path.exists())
}

/// The bytes of a line to mark: the word at a column, or the whole line.
fn span(line: &str, column: u32) -> (usize, usize) {
    let start = line.len() - line.trim_start().len();
    let whole = (start, line.trim_end().len().max(start + 1).min(line.len().max(1)));
    let from = column.checked_sub(1).map(|column| column as usize);
    let Some(from) = from.filter(|&from| from < line.len() && line.is_char_boundary(from)) else {
        return whole;
    };
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let rest = &line[from..];
    let end = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(1, char::len_utf8);
    (from, from + end.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_or_a_line_is_marked() {
        assert_eq!(span("    x = y;", 5), (4, 5));
        assert_eq!(span("    store(y);", 5), (4, 9));
        assert_eq!(span("    x += y;", 7), (6, 7));
        assert_eq!(span("    x = y;", 0), (4, 10));
        assert_eq!(span("    x = y;", 99), (4, 10));
        assert_eq!(span("", 3), (0, 1));
    }
}
