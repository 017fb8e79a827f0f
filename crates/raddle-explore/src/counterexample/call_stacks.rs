//! The call stacks of the steps that an error is about.
//!
//! A stack with one frame of the program says no more than the place, so it is left out. Frames of a library are one line.

use raddle_core::outcome::Finding;
use raddle_core::program::Naming;
use raddle_core::trace::{Ending, Frame, NamedTrace};

use super::sentence;
use super::style::{Style, cut_end};

/// The call stacks of an error. Empty if they say nothing new; otherwise begins with an empty line.
pub(super) fn text(finding: &Finding, trace: &NamedTrace, style: &Style) -> String {
    let mut text = String::new();
    for (title, stack) in stacks(finding, trace) {
        let program = stack.iter().filter(|frame| frame.library.is_none()).count();
        if program >= 2 || style.full && !stack.is_empty() {
            text += &format!("\n{title}:\n{}", lines(stack, style));
        }
    }
    text
}

/// What an error is about, with call stacks.
fn stacks<'a>(finding: &Finding, trace: &'a NamedTrace) -> Vec<(String, &'a [Frame])> {
    let mut stacks: Vec<(String, &[Frame])> = vec![];
    match &trace.ending {
        Ending::Race(first, second) => {
            for event in [second, first].into_iter().filter_map(|&at| trace.trace.events.get(at)) {
                stacks.push((sentence::access(trace, event), trace.stacks.of_event(event)));
            }
        }
        Ending::Failed(thread, _) => {
            let title = format!("{} fails", trace.thread_name(*thread));
            stacks.push((title, trace.stacks.of_end(*thread)));
        }
        Ending::Deadlock(threads) | Ending::Livelock(threads) => {
            let does = if matches!(trace.ending, Ending::Livelock(_)) { "spins" } else { "waits" };
            for &thread in threads {
                let title = format!("{} {does}", trace.thread_name(thread));
                stacks.push((title, trace.stacks.of_end(thread)));
            }
        }
        Ending::Complete | Ending::Blocked | Ending::Limit(_) => {}
    }
    let object = sentence::object(finding.kind, trace);
    let freed = object.and_then(|object| Some((object, object.freed.as_ref()?)));
    let changes = object.map(|object| (object, "allocated", &object.allocated));
    let changes = changes.into_iter().chain(freed.map(|(object, it)| (object, "freed", it)));
    for (object, verb, change) in changes {
        let title = format!("{} is {verb} by {}", object.name, trace.thread_name(change.thread));
        stacks.push((title, &change.stack));
    }
    stacks
}

/// One line for each frame; frames of a library that follow each other are one.
fn lines(stack: &[Frame], style: &Style) -> String {
    let mut rows: Vec<(String, String)> = vec![];
    let mut at = 0;
    while at < stack.len() {
        let frame = &stack[at];
        let place = frame
            .position
            .as_ref()
            .map(|position| style.relative(&position.to_string()).to_owned());
        let folded = stack[at..].iter().take_while(|other| other.library == frame.library).count();
        match frame.library {
            Some(library) if !style.full => {
                let frames = if folded == 1 { "frame" } else { "frames" };
                rows.push((format!("... {folded} {frames} of {}", library.name()), String::new()));
                at += folded;
            }
            _ => {
                let function = frame.function.clone().unwrap_or_else(|| String::from("(no name)"));
                rows.push((function, place.unwrap_or_default()));
                at += 1;
            }
        }
    }
    let width = rows.iter().filter(|row| !row.1.is_empty()).map(|row| row.0.chars().count()).max();
    let width = width.unwrap_or(0).min(style.page.width / 2);
    let line = |(function, place): (String, String)| {
        let room = style.page.width.saturating_sub(place.chars().count() + 6).max(20);
        let function = cut_end(&function, room);
        let line = format!("    {function:<width$}  {place}");
        format!("{}\n", line.trim_end())
    };
    rows.into_iter().map(line).collect()
}
