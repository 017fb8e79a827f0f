//! Tests of Rust: every one is a program of its own, and the report is that of `cargo test`.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use clap::Parser;
use raddle_core::outcome::{FindingKind, Verdict};
use raddle_native::{RustTest, Source, rust_tests};

use crate::args::{CheckArgs, Format, TestArgs};
use crate::commands::check::{check_all, print_errors};
use crate::output::{Output, OutputError, print_error};
use crate::render::style::style;
use crate::render::text::check::Detail;
use crate::render::{json, text};
use crate::results::check::{CheckResult, LoadError, ProgramResults};
use crate::signals;
use crate::status::Status;

/// The exit status of `cargo test` if a test fails.
const FAILED: u8 = 101;

/// An executable with tests.
#[derive(Clone, Debug)]
pub struct TestBinary {
    /// The file.
    pub path: PathBuf,
    /// What `cargo test` calls it: `unittests src/lib.rs`.
    pub title: String,
}

/// What to do with tests that have the attribute `#[ignore]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// They are not run.
    #[default]
    Skip,
    /// Only they are run.
    Only,
    /// They are run as all others.
    Include,
}

/// Which tests to run.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Tests whose path contains one of these; all if there are none.
    pub filters: Vec<String>,
    /// Not those whose path contains one of these.
    pub skip: Vec<String>,
    /// Filters are whole paths.
    pub is_exact: bool,
    /// What to do with tests that are ignored.
    pub ignored: Ignored,
    /// Only the names are printed.
    pub is_list: bool,
}

impl Selection {
    fn contains(&self, test: &RustTest) -> bool {
        let matches = |filter: &String| match self.is_exact {
            true => test.name == *filter,
            false => test.name.contains(filter.as_str()),
        };
        let is_wanted = self.filters.is_empty() || self.filters.iter().any(matches);
        let is_wanted = is_wanted && !self.skip.iter().any(matches);
        is_wanted && (self.ignored != Ignored::Only || test.is_ignored)
    }

    fn ignores(&self, test: &RustTest) -> bool {
        test.is_ignored && self.ignored == Ignored::Skip
    }
}

/// Explores the tests of executables with options of `raddle check`, and prints the results as `cargo test` does. The exit status is
/// 0 if all tests pass, 101 if one fails, otherwise 3 if one was not explored to its end, and 2 for invalid options.
#[must_use]
pub fn run_tests(binaries: &[TestBinary], selection: &Selection, options: &[OsString]) -> ExitCode {
    let mut output = Output::standard();
    let result = run_all(binaries, selection, options, &mut output);
    let result = result.and_then(|exit| output.flush().map(|()| exit));
    result.unwrap_or_else(|error| {
        print_error(error);
        Status::Failed.into()
    })
}

fn run_all(
    binaries: &[TestBinary],
    selection: &Selection,
    options: &[OsString],
    output: &mut Output,
) -> Result<ExitCode, OutputError> {
    if let Err(error) = signals::catch() {
        print_error(format_args!("signals cannot be handled: {error}"));
        return Ok(Status::Failed.into());
    }
    let mut worst = Judgement::Passed;
    for binary in binaries {
        let args = match arguments(options, &binary.path, None) {
            Ok(args) => args,
            Err(error) => error.exit(),
        };
        let judgement = run_binary(binary, selection, options, &args, output)?;
        worst = worst.max(judgement);
        if signals::received().is_some() {
            break;
        }
    }
    Ok(match (signals::received(), worst) {
        (Some(signal), _) => Status::Interrupted(signal).into(),
        (None, Judgement::Passed) => ExitCode::SUCCESS,
        (None, Judgement::Failed) => ExitCode::from(FAILED),
        (None, Judgement::Incomplete) => Status::Unknown.into(),
    })
}

/// The options of `raddle check` for a test, or without one. Options of the command line have priority over those of the test.
fn arguments(
    options: &[OsString],
    binary: &Path,
    test: Option<&RustTest>,
) -> Result<CheckArgs, clap::Error> {
    let mut all: Vec<OsString> = vec!["cargo raddle test".into()];
    all.extend(options.iter().cloned());
    for (name, value) in test.iter().flat_map(|test| &test.options) {
        let option = OsString::from(format!("--{name}"));
        if !options.contains(&option) {
            all.push(option);
            // A flag has the value true.
            all.extend((value != "true").then(|| value.into()));
        }
    }
    all.push(binary.as_os_str().to_owned());
    if let Some(test) = test {
        let harness = ["--", "--", "--exact", &test.name, "--include-ignored", "--test-threads=1"];
        all.extend(harness.map(OsString::from));
        all.push("--nocapture".into());
    }
    Ok(TestArgs::try_parse_from(all)?.check)
}

fn run_binary(
    binary: &TestBinary,
    selection: &Selection,
    options: &[OsString],
    args: &CheckArgs,
    output: &mut Output,
) -> Result<Judgement, OutputError> {
    let TestBinary { path, title } = binary;
    let source = Source { files: vec![path.clone()], ..Source::default() };
    let object = raddle_native::build(&source).map_err(|error| error.to_string());
    let tests = match object.and_then(|object| rust_tests(&object)) {
        Ok(tests) => tests,
        Err(error) => {
            print_error(format_args!("{title} ({}): {error}", path.display()));
            return Ok(Judgement::Incomplete);
        }
    };
    let all = tests.len();
    let tests: Vec<RustTest> = tests.into_iter().filter(|test| selection.contains(test)).collect();
    if selection.is_list {
        for test in &tests {
            output.text(&format!("{}: test\n", test.name))?;
        }
        return Ok(Judgement::Passed);
    }
    if !is_json(args) {
        print_error(format_args!("     Checking {title} ({})", path.display()));
        output.text(&format!("\nrunning {}\n", counted(tests.len(), "test")))?;
        output.flush()?;
    }
    let mut report = Report { filtered: all - tests.len(), ..Report::default() };
    let start = Instant::now();
    explore(&tests, selection, options, binary, args, &mut |test, results| {
        report.add(test, results, is_json(args), output)
    })?;
    if !is_json(args) {
        report.finish(start.elapsed().as_secs_f64(), args.full, output)?;
    }
    Ok(report.judgement)
}

fn is_json(args: &CheckArgs) -> bool {
    args.format() == Format::Json
}

/// What is done with the result of a test; `None` if it is not explored.
type Then<'a> = dyn FnMut(&RustTest, Option<ProgramResults>) -> Result<(), OutputError> + 'a;

/// Explores tests in parallel, or a single one with several workers, and passes the results on in order. `None` for a test that
/// is ignored.
fn explore(
    tests: &[RustTest],
    selection: &Selection,
    options: &[OsString],
    binary: &TestBinary,
    args: &CheckArgs,
    then: &mut Then<'_>,
) -> Result<(), OutputError> {
    let explored = tests.iter().filter(|test| !selection.ignores(test)).count();
    let threads = args.jobs().get().min(explored.max(1));
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
                    && let Some(test) = tests.get(at)
                    && signals::received().is_none()
                {
                    let results = (!selection.ignores(test)).then(|| {
                        let jobs =
                            if explored > 1 { Some(NonZero::<usize>::MIN) } else { args.jobs };
                        match arguments(options, &binary.path, Some(test)) {
                            Ok(mut args) => {
                                args.jobs = jobs;
                                args.set_json();
                                explore_one(test, binary, args)
                            }
                            Err(error) => not_explored(test, error.to_string()),
                        }
                    });
                    if sender.send((at, results)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<Option<ProgramResults>>> = tests.iter().map(|_| None).collect();
        let mut shown = 0;
        for (at, results) in receiver {
            waiting[at] = Some(results);
            while let Some(results) = waiting.get_mut(shown).and_then(Option::take) {
                then(&tests[shown], results)?;
                shown += 1;
            }
        }
        Ok(())
    })
}

fn explore_one(test: &RustTest, binary: &TestBinary, args: CheckArgs) -> ProgramResults {
    let name = test.name.clone();
    let args = Arc::new(args);
    let explored = args
        .explorer()
        .and_then(|explorer| check_all(&args, explorer, &[vec![binary.path.clone()]]));
    match explored.map(|mut programs| programs.pop()) {
        Ok(Some(mut program)) => {
            for result in program.results.iter_mut().flatten() {
                result.program.clone_from(&name);
            }
            ProgramResults { name: name.clone(), ..program }
        }
        Ok(None) => not_explored(test, String::from("it was not explored")),
        Err(message) => not_explored(test, message),
    }
}

/// The results of a test that cannot be explored, with the reason.
fn not_explored(test: &RustTest, reason: String) -> ProgramResults {
    ProgramResults {
        name: test.name.clone(),
        results: Err(LoadError::new(reason)),
        failed: vec![],
        refused: vec![],
    }
}

/// What became of a test, from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Judgement {
    #[default]
    Passed,
    /// Not everything was explored, and what was shows no bug.
    Incomplete,
    Failed,
}

impl Judgement {
    fn of(program: &ProgramResults) -> Self {
        let of_result = |result: &CheckResult| match (result.outcome.kind(), result.outcome.verdict)
        {
            (Some(FindingKind::Unsupported), _) | (_, Verdict::Incomplete) => Judgement::Incomplete,
            (_, Verdict::Bug) => Judgement::Failed,
            (_, Verdict::Clean) => Judgement::Passed,
        };
        let results = program.results.as_deref().unwrap_or_default();
        if results.is_empty() || !program.failed.is_empty() {
            return Judgement::Incomplete;
        }
        results.iter().map(of_result).max().unwrap_or_default()
    }
}

/// The report on an executable.
#[derive(Default)]
struct Report {
    judgement: Judgement,
    passed: usize,
    ignored: usize,
    filtered: usize,
    failed: Vec<ProgramResults>,
    incomplete: Vec<ProgramResults>,
}

impl Report {
    fn add(
        &mut self,
        test: &RustTest,
        results: Option<ProgramResults>,
        is_json: bool,
        output: &mut Output,
    ) -> Result<(), OutputError> {
        let Some(program) = results else {
            self.ignored += 1;
            return if is_json {
                Ok(())
            } else {
                output.text(&format!("test {} ... ignored\n", test.name))
            };
        };
        let judgement = Judgement::of(&program);
        self.judgement = self.judgement.max(judgement);
        if is_json {
            json::check::print(std::slice::from_ref(&program), output)?;
            print_errors(std::slice::from_ref(&program));
            return output.flush();
        }
        let word = match judgement {
            Judgement::Passed => format!("ok{}", classes(&program)),
            Judgement::Incomplete => String::from("incomplete"),
            Judgement::Failed => String::from("FAILED"),
        };
        output.text(&format!("test {} ... {word}\n", test.name))?;
        match judgement {
            Judgement::Passed => self.passed += 1,
            Judgement::Incomplete => self.incomplete.push(program),
            Judgement::Failed => self.failed.push(program),
        }
        output.flush()
    }

    fn finish(&self, seconds: f64, is_full: bool, output: &mut Output) -> Result<(), OutputError> {
        let detail = Detail { each: true, explain: false, quiet: false, style: style(is_full) };
        section("incomplete", &self.incomplete, &detail, output)?;
        section("failures", &self.failed, &detail, output)?;
        let word = match self.judgement {
            Judgement::Passed => "ok",
            Judgement::Incomplete => "incomplete",
            Judgement::Failed => "FAILED",
        };
        let incomplete = match self.incomplete.len() {
            0 => String::new(),
            some => format!(" {some} incomplete;"),
        };
        output.text(&format!(
            "\ntest result: {word}. {} passed; {} failed;{incomplete} {} ignored; {} filtered out; finished in {seconds:.2}s\n\n",
            self.passed, self.failed.len(), self.ignored, self.filtered,
        ))
    }
}

/// The number of classes of a test that was explored under one model.
fn classes(program: &ProgramResults) -> String {
    match program.results.as_deref() {
        Ok([result]) => format!(" ({})", counted(result.outcome.counts.classes as usize, "class")),
        _ => String::new(),
    }
}

fn counted(number: usize, what: &str) -> String {
    let plural = if what.ends_with('s') { "es" } else { "s" };
    format!("{number} {what}{}", if number == 1 { "" } else { plural })
}

/// The reports on some tests, and their names.
fn section(
    title: &str,
    programs: &[ProgramResults],
    detail: &Detail,
    output: &mut Output,
) -> Result<(), OutputError> {
    if programs.is_empty() {
        return Ok(());
    }
    output.text(&format!("\n{title}:\n"))?;
    for program in programs {
        output.text(&format!("\n---- {} ----\n", program.name))?;
        for result in program.results.iter().flatten() {
            output.text(&text::check::full_text(result, detail))?;
        }
        let errors = program
            .results
            .as_ref()
            .err()
            .into_iter()
            .chain(program.failed.iter().map(|(_, it)| it));
        for error in errors {
            output.text(&format!("{}\n", error.message))?;
        }
        for refused in &program.refused {
            output.text(&format!("{refused}\n"))?;
        }
    }
    output.text(&format!("\n{title}:\n"))?;
    for program in programs {
        output.text(&format!("    {}\n", program.name))?;
    }
    Ok(())
}
