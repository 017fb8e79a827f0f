//! A counterexample in the file that `--trace` writes.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use raddle_core::model::Model;
use raddle_core::outcome::{Finding, FindingKind};
use raddle_core::schedule::Schedule;
use raddle_explore::plan::Explorer;
use raddle_native::{Environment, Recording, Request, Source};
use serde::{Deserialize, Serialize};

/// The version of the file.
const VERSION: u32 = 2;

/// A bug of a C, C++ or Rust program with its execution: how to compile the program again, and how it was explored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedBug {
    version: u32,
    /// As they were named: the program may contain their names.
    files: Vec<RecordedFile>,
    flags: Vec<String>,
    /// The compiler that `--cc` named. For people who read the file: it is never run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compiler: Option<String>,
    /// The compiler that was used, as it calls itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    compiled_by: String,
    arguments: Vec<String>,
    model: String,
    explorer: String,
    #[serde(default)]
    exact: bool,
    #[serde(default)]
    robust: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unroll: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_events: Option<u32>,
    #[serde(default)]
    leaks: bool,
    /// Files that the program may read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    readable: Vec<PathBuf>,
    #[serde(default)]
    environment: Environment,
    kind: FindingKind,
    /// For people who read the file. Its wording may change from version to version.
    message: String,
    /// For people who read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    schedule: Schedule,
    /// What the program had learned about itself.
    learned: serde_json::Value,
}

/// A file of a program, and a hash of its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedFile {
    path: PathBuf,
    hash: String,
}

impl RecordedFile {
    /// The file at a path, as it is now.
    pub(crate) fn new(path: &Path) -> Self {
        RecordedFile { path: path.to_owned(), hash: hash_of(path) }
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How the file differs from the recorded one, if it does.
    pub(crate) fn change(&self) -> Option<String> {
        let path = self.path.display();
        match fs::metadata(&self.path) {
            Err(_) => Some(format!("{path} is missing")),
            Ok(_) if hash_of(&self.path) != self.hash => Some(format!("{path} has changed")),
            Ok(_) => None,
        }
    }
}

/// A hash of the contents of a file; empty if it cannot be read.
fn hash_of(path: &Path) -> String {
    let hash = |bytes: Vec<u8>| format!("{:016x}", raddle_native::content_hash(&bytes));
    fs::read(path).map(hash).unwrap_or_default()
}

impl RecordedBug {
    /// Records a finding of the exploration that `request` describes, of a program that was compiled by `compiled_by`. `None` if it
    /// cannot be replayed.
    pub(crate) fn new(request: &Request, compiled_by: &str, finding: &Finding) -> Option<Self> {
        let schedule = finding.schedule.clone()?;
        let learned = serde_json::from_str(finding.learned.as_deref()?).ok()?;
        let Source { files, flags, compiler } = request.source.clone();
        let default = Request::new(&[]);
        Some(RecordedBug {
            version: VERSION,
            files: files.iter().map(|file| RecordedFile::new(file)).collect(),
            flags,
            compiler,
            compiled_by: compiled_by.to_owned(),
            arguments: request.arguments.clone(),
            model: request.model.name().to_owned(),
            explorer: request.explorer.name().to_owned(),
            exact: request.exact,
            robust: request.robust,
            unroll: request.unroll,
            max_events: (request.max_events != default.max_events).then_some(request.max_events),
            leaks: request.leaks,
            readable: request.readable.clone(),
            environment: request.environment,
            kind: finding.kind,
            message: finding.message.clone(),
            place: finding.place.as_ref().map(ToString::to_string),
            schedule,
            learned,
        })
    }

    /// Reads the contents of a file.
    ///
    /// # Errors
    /// If they are not a recording of this version.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(default)]
            version: u32,
        }
        let describe = |error: serde_json::Error| {
            format!("not a trace that `raddle check --trace` writes: {error}")
        };
        let Versioned { version } = serde_json::from_str(text).map_err(describe)?;
        if version != VERSION {
            return Err(format!(
                "the trace has version {version}, not {VERSION}: record it again with `raddle check --trace`"
            ));
        }
        serde_json::from_str(text).map_err(describe)
    }

    /// Refuses flags that could make the compiler run programs or write files.
    pub(crate) fn check_flags(&self) -> Result<(), String> {
        match raddle_native::first_harmful_flag(&self.flags) {
            None => Ok(()),
            Some(flag) => Err(format!(
                "the trace contains the compiler flag '{flag}', which may run programs or write files, and the trace may \
                 come from somebody else: remove it from \"flags\" in the trace, or pass --trust-flags if you trust the trace"
            )),
        }
    }

    /// The request of the exploration that found the bug, with the program compiled by `compiler` or by the default one.
    pub(crate) fn request(&self, compiler: Option<String>) -> Result<Request, String> {
        let model: Model = self.model.parse().map_err(|error| format!("{error}"))?;
        let explorer: Explorer = self.explorer.parse()?;
        let files = self.files.iter().map(|file| file.path.clone()).collect();
        let default = Request::new(&[]);
        Ok(Request {
            source: Source { files, flags: self.flags.clone(), compiler },
            arguments: self.arguments.clone(),
            model,
            explorer,
            robust: self.robust,
            leaks: self.leaks,
            readable: self.readable.clone(),
            environment: self.environment,
            exact: self.exact,
            unroll: self.unroll,
            max_events: self.max_events.unwrap_or(default.max_events),
            ..default
        })
    }

    /// The execution.
    pub(crate) fn recording(&self) -> Recording {
        let (kind, schedule) = (self.kind, self.schedule.clone());
        Recording { kind, schedule, learned: self.learned.to_string() }
    }

    /// The kind of bug.
    pub(crate) fn kind(&self) -> FindingKind {
        self.kind
    }

    /// What has changed since the recording, if the loaded files `modules` are not the recorded ones; the program itself has an empty
    /// name.
    pub(crate) fn changes(&self, modules: &[String], compiled_by: &str) -> String {
        let mut changes: Vec<String> = self.files.iter().filter_map(RecordedFile::change).collect();
        let is_program = modules.iter().any(String::is_empty);
        if changes.is_empty() && is_program {
            changes.push(match self.compiled_by == compiled_by {
                true => String::from("a flag or a header has changed"),
                false => format!("it was compiled by {}, now by {compiled_by}", self.compiled_by),
            });
        }
        let libraries = modules.iter().filter(|module| !module.is_empty());
        changes.extend(libraries.map(|library| format!("{library} is another file")));
        format!(
            "the program has changed since the trace was recorded: {}. Explore it again with `raddle check`",
            changes.join(", ")
        )
    }
}

impl fmt::Display for RecordedBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}
