//! Every explorer on every program of the corpora: they must agree.
//!
//! For each program of `corpus/c` with finitely many classes and each test of `corpus/litmus`, all explorers that
//! support a model report the same verdict and the same kind of bug, and of a litmus test the same final states.
//! Explorers with the same equivalence report the same numbers of classes; by traces there are at least, and by values
//! at most, as many classes as by reads-from. Random testing explores some executions only and has tests of its own
//! (`online`).
//!
//! [`EXCEPTIONS`] lists the differences, each with its reason. Each exception is tested: an exception that is not
//! needed, or that names no program of the corpus, fails the test.
//!
//! The test command explores each C program under one model with store buffers and one C11 model, which differ from
//! program to program, and compares explorations of at most [`SHORT`] classes. `RADDLE_LONG=1` explores all models of
//! the table to the end. `RADDLE_CORPUS` chooses the programs whose names contain it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Outcome, Verdict};
use raddle_explore::plan::{Equivalence, Explorer, Plan, plan};
use raddle_litmus::{FinalState, LitmusOptions, LitmusTest};
use raddle_native::{Object, Request, check_built};

use crate::corpus::{Row, built, compiler, rows};

/// The test command compares explorations of at most this many classes.
const SHORT: u64 = 300;

/// An explorer that reports something else than RF-partSMC, which is the reference.
struct Exception {
    program: &'static str,
    flags: &'static str,
    models: &'static [Model],
    explorers: &'static [Explorer],
    difference: Difference,
    reason: &'static str,
}

/// How an explorer differs from the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// It has more classes than this number, too many to wait for.
    MoreThan(u64),
    /// The program has several bugs, and the explorer finds one of this kind first.
    FindsFirst(&'static str),
    /// It does not explore the program, and the verdict is incomplete.
    Refuses,
}

use Difference::{FindsFirst, MoreThan, Refuses};
use Explorer::{OptimalDpor, RfPartSmc, RfSmc, RvfOpen, RvfSmc, SourceDpor};
use Model::{C20, Pso, Sc, Tso};

const EXCEPTIONS: &[Exception] = &[
    Exception {
        program: "tables/redundant_co.c",
        flags: "-DN=40",
        models: &[Sc, Tso, Pso],
        explorers: &[OptimalDpor, SourceDpor],
        difference: MoreThan(10_000),
        reason: "a trace for each order of 40 writes of one thread and 40 of another: at least 80! / (40! 40!), 10^23",
    },
    Exception {
        program: "cpp/scoped_lock.cpp",
        flags: "",
        models: &[Sc],
        explorers: &[RfSmc, OptimalDpor, SourceDpor],
        difference: MoreThan(100),
        reason: "std::lock tries again without end: each explorer stops at a limit of events of its own",
    },
    Exception {
        program: "cpp/any.cpp",
        flags: "",
        models: &[Pso],
        explorers: &[RfSmc, RvfSmc, RvfOpen, OptimalDpor, SourceDpor],
        difference: Refuses,
        reason: "accesses of different sizes overlap, which only RF-partSMC explores",
    },
    Exception {
        program: "containers/msqueue.c",
        flags: "-DBROKEN",
        models: &[C20],
        explorers: &[RfSmc],
        difference: FindsFirst("race"),
        reason: "a node that is not published is read in a race, or through an uninitialised pointer",
    },
];

impl Exception {
    fn applies_to(
        &self,
        program: &str,
        flags: &[String],
        model: Model,
        explorer: Explorer,
    ) -> bool {
        self.is_about(program, flags)
            && self.models.contains(&model)
            && self.explorers.contains(&explorer)
    }

    fn is_about(&self, program: &str, flags: &[String]) -> bool {
        self.program == program && self.flags == flags.join(" ")
    }
}

/// What an exploration reports.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    /// `clean`, `incomplete`, or the kind of the bug.
    verdict: String,
    classes: u64,
    blocked: u64,
    /// Whether the exploration ended at the limit of classes.
    is_cut: bool,
}

impl Report {
    fn of(outcome: &Outcome, limit: Option<u64>) -> Report {
        let verdict = match (outcome.verdict, outcome.kind()) {
            (_, Some(kind)) => kind.name(),
            (Verdict::Clean, _) => "clean",
            _ => "incomplete",
        };
        let Counts { classes, blocked, .. } = outcome.counts;
        let is_cut = verdict == "incomplete" && limit.is_some_and(|it| classes + blocked >= it);
        Report { verdict: verdict.to_owned(), classes, blocked, is_cut }
    }

    fn is_bug(&self) -> bool {
        !matches!(self.verdict.as_str(), "clean" | "incomplete")
    }

    fn all_classes(&self) -> u64 {
        self.classes + self.blocked
    }
}

/// The reports of all explorers about a program under a model.
struct Reports<'a> {
    program: &'a str,
    flags: &'a [String],
    model: Model,
    by_explorer: Vec<(Explorer, Report)>,
}

impl Reports<'_> {
    /// Explores the program by all explorers that support the model. `explore` takes a limit of classes.
    fn explore(&mut self, explore: impl Fn(Explorer, Option<u64>) -> Report) {
        let is_long = is_long();
        for explorer in Explorer::ALL.into_iter().filter(|it| it.supports(self.model)) {
            let limit = match self.exception(explorer).map(|(_, it)| it.difference) {
                Some(MoreThan(classes)) => Some(classes),
                _ => (!is_long).then_some(SHORT),
            };
            self.by_explorer.push((explorer, explore(explorer, limit)));
        }
    }

    fn exception(&self, explorer: Explorer) -> Option<(usize, &'static Exception)> {
        let applies =
            |it: &Exception| it.applies_to(self.program, self.flags, self.model, explorer);
        EXCEPTIONS.iter().enumerate().find(|(_, it)| applies(it))
    }

    fn of(&self, explorer: Explorer) -> Option<&Report> {
        self.by_explorer.iter().find(|(other, _)| *other == explorer).map(|(_, report)| report)
    }

    /// All disagreements.
    fn disagreements(&self) -> Vec<String> {
        let Some(reference) = self.of(RfPartSmc) else { return vec![] };
        let mut all = vec![];
        for (explorer, report) in &self.by_explorer {
            let what = match self.exception(*explorer) {
                Some((_, exception)) => unexpected(exception, reference, report),
                None => self.disagreement(reference, *explorer, report),
            };
            let (Reports { program, flags, model, .. }, name) = (self, explorer.name());
            let told = |what| format!("{program} {flags:?} {model}, {name}: {what}\n");
            all.extend(what.map(told));
        }
        all
    }

    fn disagreement(
        &self,
        reference: &Report,
        explorer: Explorer,
        report: &Report,
    ) -> Option<String> {
        if reference.is_cut || report.is_cut {
            return None;
        }
        if report.verdict != reference.verdict {
            return Some(format!("{report:?}, but {reference:?}"));
        }
        let (all, by_rf) = (report.all_classes(), reference.all_classes());
        let is_right = match explorer.equivalence() {
            _ if report.is_bug() || explorer == Explorer::RvfOpen => true,
            Equivalence::ReadsFrom => {
                (report.classes, report.blocked) == (reference.classes, reference.blocked)
            }
            Equivalence::Trace => {
                let optimal = self.of(OptimalDpor).filter(|it| !it.is_cut);
                all >= by_rf && optimal.is_none_or(|it| it == report)
            }
            Equivalence::ReadsValueFrom => all <= by_rf,
        };
        (!is_right).then(|| format!("{report:?}, but by reads-from {reference:?}"))
    }
}

/// What is unexpected of an explorer with an exception.
fn unexpected(exception: &Exception, reference: &Report, report: &Report) -> Option<String> {
    let Exception { difference, reason, .. } = exception;
    let is_expected = match *difference {
        MoreThan(_) => report.is_cut,
        Refuses => reference.verdict == "clean" && report.verdict == "incomplete",
        FindsFirst(kind) => {
            reference.is_bug() && kind != reference.verdict && report.verdict == kind
        }
    };
    (!is_expected)
        .then(|| format!("{report:?} is no longer the exception ({difference:?}: {reason})"))
}

fn is_long() -> bool {
    std::env::var_os("RADDLE_LONG").is_some()
}

/// A program with its flags, its models in the table, and its number there.
struct Program {
    number: usize,
    name: String,
    flags: Vec<String>,
    models: Vec<Model>,
    is_endless: bool,
}

/// A bound on the events of endless executions. Without one, explorers make room for a million events first.
const FEW_EVENTS: u32 = 1_000;

/// All programs of the table that have finitely many classes.
fn programs() -> Vec<Program> {
    let mut all: BTreeMap<(String, Vec<String>), Vec<Row>> = BTreeMap::new();
    for row in rows().into_iter().filter(|row| !row.is_infinite) {
        all.entry((row.program.clone(), row.flags.clone())).or_default().push(row);
    }
    let program = |(number, ((name, flags), rows)): (usize, (_, Vec<Row>))| {
        let has = |model: &Model| rows.iter().any(|row| row.models.contains(model));
        let models = Model::ALL.into_iter().filter(has).collect();
        let is_endless = rows.iter().any(Row::is_endless);
        Program { number, name, flags, models, is_endless }
    };
    all.into_iter().enumerate().map(program).collect()
}

impl Program {
    /// The models to explore: all, or two of them and those of the exceptions.
    fn chosen_models(&self) -> Vec<Model> {
        if is_long() {
            return self.models.clone();
        }
        let (buffers, c11): (Vec<Model>, Vec<Model>) =
            self.models.iter().partition(|model| model.has_store_buffers());
        let one = |models: &[Model]| {
            let at = self.number.checked_rem(models.len());
            at.map(|at| models[at])
        };
        let chosen = [one(&buffers), one(&c11)];
        let is_exception = |model: &Model| {
            let about = |it: &Exception| it.is_about(&self.name, &self.flags);
            EXCEPTIONS.iter().any(|it| about(it) && it.models.contains(model))
        };
        let is_chosen = |model: &Model| chosen.contains(&Some(*model)) || is_exception(model);
        self.models.iter().copied().filter(is_chosen).collect()
    }

    /// All disagreements of the explorers, and how many explorations there were.
    fn compare(&self) -> (Vec<String>, usize) {
        let object = built(&self.name, &self.flags, compiler(&self.name));
        let (mut disagreements, mut count) = (vec![], 0);
        for model in self.chosen_models() {
            let (program, flags) = (self.name.as_str(), self.flags.as_slice());
            let mut reports = Reports { program, flags, model, by_explorer: vec![] };
            reports.explore(|explorer, limit| self.explore(&object, model, explorer, limit));
            count += reports.by_explorer.len();
            disagreements.extend(reports.disagreements());
        }
        (disagreements, count)
    }

    fn explore(
        &self,
        object: &Object,
        model: Model,
        explorer: Explorer,
        limit: Option<u64>,
    ) -> Report {
        let mut request = Request { exact: true, ..Request::new(&[]) };
        if self.is_endless {
            request.max_events = FEW_EVENTS;
        }
        (request.model, request.explorer, request.max_executions) = (model, explorer, limit);
        request.timeout = Some(Duration::from_secs(600));
        match check_built(object, &request) {
            Ok(outcome) => Report::of(&outcome, limit),
            Err(error) => panic!("{} {:?}: {error}", self.name, self.flags),
        }
    }
}

#[test]
fn explorers_agree_on_c_programs() {
    let chosen = std::env::var("RADDLE_CORPUS").unwrap_or_default();
    let programs: Vec<Program> =
        programs().into_iter().filter(|program| program.name.contains(&chosen)).collect();
    let (next, found) = (Mutex::new(programs.iter()), Mutex::new((vec![], 0)));
    let run = || {
        while let Some(program) = { next.lock().expect("no panic").next() } {
            let (disagreements, count) = program.compare();
            let mut found = found.lock().expect("no panic");
            found.0.extend(disagreements);
            found.1 += count;
        }
    };
    thread::scope(|scope| {
        scope.spawn(run);
        scope.spawn(run);
    });
    let (mut disagreements, count) = found.into_inner().expect("no panic");
    disagreements.sort();
    println!("{count} explorations of {} programs", programs.len());
    assert!(disagreements.is_empty(), "\n{}", disagreements.concat());
}

/// An exception that names no program of the table, or a model that it does not have there, would be silent.
#[test]
fn every_exception_is_about_the_corpus() {
    let programs = programs();
    for exception in EXCEPTIONS {
        let Exception { program, flags, models, explorers, reason, .. } = exception;
        let about = programs.iter().find(|it| exception.is_about(&it.name, &it.flags));
        let about = about.unwrap_or_else(|| panic!("no program {program} with flags '{flags}'"));
        for model in *models {
            assert!(about.models.contains(model), "{program} {flags}: no model {model}");
        }
        assert!(!models.is_empty() && !explorers.is_empty() && !reason.is_empty(), "{program}");
    }
}

/// The part of the outcome of a litmus test that does not depend on the equivalence.
#[derive(Debug, PartialEq)]
struct LitmusAnswer {
    states: BTreeSet<FinalState>,
    is_satisfied: bool,
    is_violated: bool,
    has_race: bool,
    bound: Option<Bound>,
}

/// The answer of an exploration, and how many classes satisfy the condition, violate it, end and are blocked.
fn answer(test: &LitmusTest, plan: Plan) -> (LitmusAnswer, [u64; 4]) {
    let found = raddle_litmus::explore(test, plan, &LitmusOptions::default());
    let (has_race, finals, counts) = (found.has_race(), found.finals, found.outcome.counts);
    let answer = LitmusAnswer {
        states: finals.states,
        is_satisfied: finals.positive > 0,
        is_violated: finals.negative > 0,
        has_race,
        bound: found.outcome.bound,
    };
    (answer, [finals.positive, finals.negative, counts.classes, counts.blocked])
}

#[test]
fn explorers_agree_on_litmus_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus");
    let (mut open, mut tests) = (vec![root], 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|it| it == "litmus") {
            tests += 1;
            let bytes = std::fs::read(&path).expect("it can be read");
            let test =
                LitmusTest::parse(&bytes).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            Model::ALL.into_iter().for_each(|model| compare_litmus(&path, &test, model));
        }
    }
    assert!(tests > 70, "only {tests} tests");
}

fn compare_litmus(path: &Path, test: &LitmusTest, model: Model) {
    let of = |explorer| plan(test.language, model, explorer).ok().map(|plan| answer(test, plan));
    let Some((expected, counts)) = of(RfPartSmc) else { return };
    for explorer in Explorer::ALL {
        let Some((answer, other_counts)) = of(explorer) else { continue };
        assert_eq!(answer, expected, "{path:?}, {model}, {}", explorer.name());
        let same = match explorer.equivalence() {
            Equivalence::ReadsFrom => other_counts == counts,
            Equivalence::Trace => of(OptimalDpor).is_some_and(|it| it.1 == other_counts),
            Equivalence::ReadsValueFrom => true,
        };
        assert!(same, "{path:?}, {model}, {}: {other_counts:?}, {counts:?}", explorer.name());
    }
}
