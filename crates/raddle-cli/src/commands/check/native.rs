//! Compiled programs: C and C++ files and object files that are linked together, or an executable.
//!
//! They are built and explored in child processes, so that limits hold whatever the compiler and the program do.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Outcome};
use raddle_explore::plan::{Language, Plan};
use raddle_native::{MemoryOrders, Object, Request, Source, TaskDefinition};

use super::checkpoint::{CheckpointLock, fingerprint};
use super::front_end::{self, FrontEnd, Resources};
use super::progress::ProgressLine;
use crate::args::{CheckArgs, Format};
use crate::child::{self, CheckpointFiles, ExploreTask, Failure, Limits, Subject, Task};
use crate::output::print_error;
use crate::recorded::RecordedBug;
use crate::results::check::{CheckResult, LoadError};

/// Time to explore before an estimate, and time to estimate.
const ESTIMATE_TIME: Duration = Duration::from_secs(1);

/// Time after which an estimate is given up. It starts again if it learns something about the program.
const ESTIMATE_LIMIT: Duration = Duration::from_secs(6);

/// An exploration ends on its own when its time is up. If it has not done so after this time, its process is ended.
const GRACE: Duration = Duration::from_millis(600);

/// Longer than any exploration, and short enough to be added to any time.
const FOREVER: Duration = Duration::from_secs(1 << 32);

/// What the result of a task for ILP32 says.
const ILP32: &str = "the task is for ILP32 (32-bit pointers and long); it was compiled for LP64";

/// A compiled program.
struct NativeProgram {
    /// What the result must say about it.
    remark: Option<&'static str>,
    name: String,
    source: Source,
    /// The program, or the bound at which it was not built yet.
    object: Result<Object, Bound>,
    build_time: Duration,
}

/// Returns `true` if a file is part of a compiled program: source by its extension, machine code by its contents.
pub(super) fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("c" | "i" | "yml" | "cc" | "cpp" | "cxx" | "C" | "c++" | "o" | "so"))
        || is_elf(path)
}

fn is_elf(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"\x7fELF"
}

fn is_task(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml")
}

/// Compiles a program.
pub(super) fn load(files: &[PathBuf], args: &CheckArgs) -> Result<Arc<dyn FrontEnd>, LoadError> {
    if !files.iter().any(|file| is_task(file)) {
        return compile(front_end::name(files), files, None, args);
    }
    let [file] = files else {
        return Err(LoadError::new("a task definition is a whole program: pass it alone"));
    };
    let task = TaskDefinition::read(file).map_err(LoadError::new)?;
    let properties = task.properties().map_err(LoadError::new)?;
    if let Some(property) = args.property {
        let is_of_task = properties.is_empty() || properties.contains(&property);
        if !is_of_task {
            let name = property.name();
            return Err(LoadError::new(format!("the task does not have the property {name}")));
        }
    } else if !properties.is_empty() {
        let names: Vec<&str> = properties.iter().map(|property| property.name()).collect();
        let names = names.join(", ");
        return Err(LoadError::new(format!(
            "choose a property of the task with --property: {names}"
        )));
    }
    compile(front_end::name(files), &task.input_files, task.is_ilp32.then_some(ILP32), args)
}

fn compile(
    name: String,
    files: &[PathBuf],
    remark: Option<&'static str>,
    args: &CheckArgs,
) -> Result<Arc<dyn FrontEnd>, LoadError> {
    let start = Instant::now();
    let (flags, _) = args.halves();
    let source = Source { files: files.to_vec(), flags: flags.to_vec(), compiler: args.cc.clone() };
    let deadline = args.timeout.and_then(|timeout| start.checked_add(timeout));
    let limits = Limits { deadline, memory: args.memory(1) };
    let object = match child::build(&source, Subject { program: &name, model: None }, limits) {
        Ok(object) => Ok(object),
        Err(Failure::Stopped(bound, _)) => Err(bound),
        Err(Failure::Refused(why)) => return Err(LoadError::new(why)),
        Err(Failure::Internal(what)) => return Err(LoadError::internal(what)),
    };
    Ok(Arc::new(NativeProgram { remark, name, source, object, build_time: start.elapsed() }))
}

impl FrontEnd for NativeProgram {
    fn language(&self) -> Language {
        match self.object.as_ref().map(Object::memory_orders) {
            Ok(MemoryOrders::Known) | Err(_) => Language::C,
            Ok(MemoryOrders::Unknown { .. }) => Language::X86,
        }
    }

    fn not_built(&self) -> Option<&Bound> {
        self.object.as_ref().err()
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn check(
        &self,
        plan: Plan,
        args: &CheckArgs,
        resources: Resources,
    ) -> Result<CheckResult, LoadError> {
        let request = self.request(plan, args);
        let explored = match &self.object {
            Ok(object) => self.explore(object, &request, args, resources),
            Err(bound) => Err(Failure::Stopped(bound.clone(), Counts::default())),
        };
        match explored {
            Ok(outcome) => Ok(self.result(&request, outcome)),
            Err(Failure::Stopped(bound, counts)) => {
                Ok(self.result(&request, Outcome::new(vec![], counts, Some(bound))))
            }
            Err(Failure::Refused(why)) => Err(LoadError::new(why)),
            Err(Failure::Internal(what)) => Err(LoadError::internal(what)),
        }
    }
}

impl NativeProgram {
    fn request(&self, plan: Plan, args: &CheckArgs) -> Request {
        let limits = args.limits();
        Request {
            source: self.source.clone(),
            arguments: args.halves().1.to_vec(),
            model: plan.model,
            explorer: plan.explorer,
            max_executions: limits.classes,
            max_events: limits.events.unwrap_or(Request::new(&[]).max_events),
            unroll: args.unroll,
            timeout: args
                .timeout
                .map(|timeout| timeout.saturating_sub(self.build_time).min(FOREVER)),
            exact: !limits.rounds,
            robust: args.robust,
            leaks: args.reports_leaks(),
            keep_going: args.keep_going,
            readable: args.allow_read.clone(),
            environment: args.environment(plan.model),
            suggest: args.suggest,
            full: args.full,
        }
    }

    fn result(&self, request: &Request, outcome: Outcome) -> CheckResult {
        let mut outcome = outcome;
        outcome.remarks.extend(self.remark.map(str::to_owned));
        let compiler = self.object.as_ref().map_or("", Object::compiler);
        let finding = outcome.finding();
        CheckResult {
            program: self.name.clone(),
            plan: Plan { model: request.model, explorer: request.explorer },
            robust: request.robust,
            recorded: finding.and_then(|finding| RecordedBug::new(request, compiler, finding)),
            outcome,
            litmus: None,
        }
    }

    fn explore(
        &self,
        object: &Object,
        request: &Request,
        args: &CheckArgs,
        Resources { jobs, memory }: Resources,
    ) -> Result<Outcome, Failure> {
        warn_about_plain_stores(object, request.model);
        let _lock = CheckpointLock::acquire(args).map_err(Failure::Refused)?;
        let checkpoints = checkpoint_files(object, request, args);
        let task = ExploreTask { jobs, checkpoints, ..ExploreTask::new(object.clone(), request) };
        let subject = Subject { program: &self.name, model: Some(request.model) };
        let limits = |time: Option<Duration>| {
            let deadline =
                time.and_then(|time| Instant::now().checked_add(time.saturating_add(GRACE)));
            Limits { deadline, memory }
        };
        if args.estimate {
            let time = request.timeout.unwrap_or(FOREVER).min(ESTIMATE_LIMIT);
            let task = Task::ExploreOrEstimate(task, ESTIMATE_TIME);
            return child::explore(&task, subject, limits(Some(time)), &|_| ());
        }
        let line = ProgressLine::new(args.format() == Format::Json || args.quiet);
        let estimated = ExploreTask::new(object.clone(), request);
        let size = || child::estimate(estimated, ESTIMATE_TIME, limits(Some(2 * ESTIMATE_TIME)));
        let task = Task::Explore(task);
        let progress = |counts: Counts| line.update(counts.classes);
        line.show(size, || child::explore(&task, subject, limits(request.timeout), &progress))
    }
}

/// Under PSO machine code is not what its author may expect: says so.
fn warn_about_plain_stores(object: &Object, model: Model) {
    if let (MemoryOrders::Unknown { file }, Model::Pso) = (object.memory_orders(), model) {
        print_error(format!(
            "note: {file} is machine code: under pso its stores by plain mov instructions are unordered"
        ));
    }
}

fn checkpoint_files(object: &Object, request: &Request, args: &CheckArgs) -> CheckpointFiles {
    if args.resume.is_none() && args.checkpoint.is_none() {
        return CheckpointFiles::default();
    }
    CheckpointFiles {
        fingerprint: fingerprint(object, request),
        resume: args.resume.clone().map(PathBuf::into_os_string),
        write: args.checkpoint.clone().map(|file| (file.into_os_string(), args.every())),
    }
}
