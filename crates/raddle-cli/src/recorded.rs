//! A counterexample of a C or C++ program in the file that `--trace` writes.

use std::fmt;
use std::path::PathBuf;

use raddle_core::model::Model;
use raddle_core::outcome::{Finding, FindingKind};
use raddle_core::schedule::Schedule;
use raddle_explore::plan::Explorer;
use raddle_explore::sampling::Sampling;
use raddle_native::{Environment, Request, Source};
use serde::{Deserialize, Serialize};

/// A bug with its execution, and the options to compile and explore the program again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RecordedBug {
    files: Vec<PathBuf>,
    flags: Vec<String>,
    /// For people who read the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<String>,
    arguments: Vec<String>,
    model: String,
    explorer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
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
    /// Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    schedule: Schedule,
}

impl RecordedBug {
    /// Records a finding of the exploration that `request` describes.
    pub(crate) fn new(request: &Request, finding: &Finding) -> Self {
        let Source { files, flags, compiler } = request.source.clone();
        RecordedBug {
            files,
            flags,
            compiler,
            arguments: request.arguments.clone(),
            model: request.model.name().to_owned(),
            explorer: request.explorer.name().to_owned(),
            seed: request.explorer.sampling().map(|sampling| sampling.seed),
            depth: request.explorer.sampling().map(|sampling| sampling.depth),
            leaks: request.leaks,
            readable: request.readable.clone(),
            environment: request.environment,
            kind: finding.kind,
            message: finding.message.clone(),
            place: finding.place.as_ref().map(ToString::to_string),
            schedule: finding.schedule.clone().unwrap_or_default(),
        }
    }

    /// Returns `true` if a finding is the recorded bug: the same kind of error at the same place of the same execution.
    /// Messages are not compared, because they may be reworded and may contain addresses.
    pub(crate) fn matches(&self, finding: &Finding) -> bool {
        let is_same_place = |place: &String| is_same_place(place, finding.place_text());
        finding.schedule.as_ref() == Some(&self.schedule)
            && finding.kind == self.kind
            && self.place.as_ref().is_none_or(is_same_place)
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

    /// The request that explores the same program in the same way, compiled by `compiler` or by the default one.
    pub(crate) fn request(&self, compiler: Option<String>) -> Result<Request, String> {
        let model: Model = self.model.parse().map_err(|error| format!("{error}"))?;
        let explorer: Explorer = self.explorer.parse()?;
        let explorer = explorer.with_sampling(|default| Sampling {
            iterations: 1,
            seed: self.seed.unwrap_or(default.seed),
            depth: self.depth.unwrap_or(default.depth),
            ..default
        });
        let source = Source { files: self.files.clone(), flags: self.flags.clone(), compiler };
        let arguments = self.arguments.clone();
        let robust = self.kind == FindingKind::NotRobust;
        let (leaks, environment) = (self.leaks, self.environment);
        Ok(Request {
            source,
            arguments,
            model,
            explorer,
            robust,
            leaks,
            readable: self.readable.clone(),
            environment,
            ..Request::new(&[])
        })
    }
}

impl RecordedBug {
    /// Tells that a replay with `compiler` uses another compiler than the one that was named when the bug was recorded.
    pub(crate) fn compiler_hint(&self, compiler: Option<&str>) -> String {
        match &self.compiler {
            Some(recorded) if Some(recorded.as_str()) != compiler => {
                format!(", or it depends on the compiler (it was recorded with --cc {recorded})")
            }
            _ => String::new(),
        }
    }
}

impl fmt::Display for RecordedBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}

/// Returns `true` if two places are the same. Reports shorten paths below the working directory, so one may be a suffix of the
/// other.
fn is_same_place(one: &str, other: &str) -> bool {
    let is_suffix = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    is_suffix(one, other) || is_suffix(other, one)
}
