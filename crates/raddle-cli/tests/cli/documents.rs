//! The commands in README.md and in the book print what these documents show.
//!
//! Every `console` block runs. A line `$ COMMAND` starts a command for the shell, lines `> MORE` continue it, and the
//! lines below show its output. In the output, a line `...` stands for any lines and `[..]` for any characters. Times
//! are shown as `[TIME]`. Commands run in a directory that has the `examples` and `corpus` of the repository.
//!
//! `SNAPSHOTS=overwrite cargo test -p raddle-cli --test cli documents` writes the current output into the documents.

use std::iter::Peekable;
use std::os::unix::fs::symlink;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::Lines;

use snapbox::data::DataFormat;
use snapbox::filter::NormalizeToExpected;
use snapbox::{Assert, Data};

use super::scratch;

#[path = "../../../raddle/examples/message-passing.rs"]
mod message_passing;

#[test]
fn documents_show_the_current_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut stale = Vec::new();
    for path in documents(&root) {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a file name");
        let directory = scratch(&format!("document-{name}"));
        for folder in ["examples", "corpus"] {
            symlink(root.join(folder), directory.join(folder)).expect("a link");
        }
        let document = Data::read_from(&path, Some(DataFormat::Text)).raw();
        let text = document.render().expect("text");
        let updated = Data::text(regenerate(&text, &directory));
        let assert = Assert::new().action_env("SNAPSHOTS");
        if let Err(difference) = assert.try_eq(Some(&"the current output"), updated, document) {
            stale.push(difference.to_string());
        }
    }
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn documents_name_existing_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = documents(&root);
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SOUNDNESS.md"];
    paths.extend(others.iter().map(|name| root.join(name)));
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("text");
        for code in text.split('`') {
            let is_path = ["benches/", "corpus/", "crates/", "docs/", "examples/"]
                .iter()
                .any(|folder| code.starts_with(folder));
            if is_path && !code.contains([' ', '*', '\n']) {
                assert!(root.join(code).exists(), "{}: there is no {code}", path.display());
            }
        }
    }
}

/// README.md and the chapters of the book.
fn documents(root: &Path) -> Vec<PathBuf> {
    let chapters = std::fs::read_dir(root.join("docs/src")).expect("the book");
    let chapters = chapters.map(|entry| entry.expect("a chapter").path());
    let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let mut documents: Vec<PathBuf> = chapters.filter(is_text).collect();
    documents.push(root.join("README.md"));
    documents.sort();
    documents
}

/// Returns the document with the current output of all commands.
fn regenerate(document: &str, directory: &Path) -> String {
    let mut updated = String::new();
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        push_line(&mut updated, line);
        if line == "```console" {
            while lines.peek().is_some_and(|line| line.starts_with("$ ")) {
                regenerate_command(&mut updated, &mut lines, directory);
            }
        }
    }
    updated
}

fn regenerate_command(updated: &mut String, lines: &mut Peekable<Lines<'_>>, directory: &Path) {
    let mut command = String::new();
    let mut prompt = "$ ";
    while let Some(rest) = lines.peek().and_then(|line| line.strip_prefix(prompt)) {
        push_line(&mut command, rest);
        push_line(updated, &format!("{prompt}{rest}"));
        lines.next();
        prompt = "> ";
    }
    let mut shown = String::new();
    while let Some(line) = lines.next_if(|line| *line != "```" && !line.starts_with("$ ")) {
        push_line(&mut shown, line);
    }
    match output(command.trim_end(), directory) {
        Some(printed) => updated.push_str(&elide(&printed, &shown)),
        None => updated.push_str(&shown),
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Returns what a command prints, or `None` if it needs a compiler that is not installed.
fn output(command: &str, directory: &Path) -> Option<String> {
    if command == "cargo run -p raddle --example message-passing" {
        return Some(without_times(&message_passing_report()));
    }
    let command = command.replace("cargo run --release -- ", "raddle ");
    let needs_compiler = [".c", ".cc", ".cpp"]
        .iter()
        .any(|extension| command.split_whitespace().any(|word| word.ends_with(extension)));
    if needs_compiler && Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("gcc is not installed: not compared: {command}");
        return None;
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().expect("a directory");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a search path"));
    let shell = ["-c", &format!("exec 2>&1\n{command}")];
    let output = Command::new("sh").args(shell).current_dir(directory).env("PATH", path).output();
    let output = output.expect("a shell");
    let status = output.status.code().expect("an exit status");
    assert!(status <= 3, "{command}: exit status {status}");
    Some(without_times(&String::from_utf8_lossy(&output.stdout)))
}

/// Runs the example of the crate `raddle` and returns its report. `...` stands for the lines that cargo and the panic
/// handler add.
fn message_passing_report() -> String {
    let payload = catch_unwind(message_passing::main).expect_err("the example has a bug");
    let report = payload.downcast::<String>().expect("a report");
    let report = report.replace("crates/raddle-cli/tests/cli/../../../raddle/", "crates/raddle/");
    format!("...\n{}\n...\n", report.trim_end())
}

fn without_times(printed: &str) -> String {
    let mut text = String::new();
    for line in printed.lines() {
        let time = line.rsplit_once(", ").and_then(|(before, time)| {
            let seconds = time.strip_suffix(" s")?;
            seconds.parse::<f64>().ok().map(|_| before)
        });
        match time {
            Some(before) => push_line(&mut text, &format!("{before}, [TIME]")),
            None => push_line(&mut text, line.trim_end()),
        }
    }
    text
}

/// Applies the wildcards of the shown output to the printed one.
fn elide(printed: &str, shown: &str) -> String {
    let shown = Data::text(shown);
    let elided = NormalizeToExpected::new().redact().normalize(Data::text(printed), &shown);
    elided.render().expect("text")
}
