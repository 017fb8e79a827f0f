//! What to explore, and how.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_core::model::orders::{OrderSemantics, StoreBuffers};
use raddle_explore::Limits;
use raddle_explore::facts::EventBound;
use raddle_explore::plan::{Equivalence, Explorer, Plan};
use serde::{Deserialize, Serialize};

use crate::build::{Error, MemoryOrders, Object, Source};
use crate::environment::Environment;
use crate::process::{Options, ReadableFile};
use crate::program::{ScalarCut, Settings};

/// The default of [`Request::max_events`].
const MAX_EVENTS: u32 = EventBound::LAST;

/// What to explore, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The program.
    pub source: Source,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// The memory model.
    pub model: Model,
    /// The algorithm.
    pub explorer: Explorer,
    /// The maximal number of execution classes.
    pub max_executions: Option<u64>,
    /// The maximal duration of the exploration.
    pub timeout: Option<Duration>,
    /// The maximal number of events of an execution. By default fewer are tried first.
    pub max_events: u32,
    /// The largest number of rounds of a loop of the program, if it is bounded.
    pub unroll: Option<u32>,
    /// All classes are explored. Otherwise reads without effect are left out, and classes that differ only in the names of
    /// symmetric threads.
    pub exact: bool,
    /// An execution that SC does not allow is a bug.
    pub robust: bool,
    /// A block of memory that is never freed is a bug.
    pub leaks: bool,
    /// All distinct findings are reported, not only the most important one.
    pub keep_going: bool,
    /// Files that the program may read.
    pub readable: Vec<PathBuf>,
    /// A minimal set of stronger memory orders and fences that prevents the error is searched for.
    pub suggest: bool,
    /// Reports show all events, also those of libraries and on private memory.
    pub full: bool,
    /// What the environment may do, and what counts as an error.
    pub environment: Environment,
}

impl Request {
    /// The program in these files, under the model of C++20, without limits but the default one of events.
    #[must_use]
    pub fn new(files: &[&Path]) -> Self {
        let files = files.iter().map(|file| file.to_path_buf()).collect();
        Request {
            source: Source { files, ..Source::default() },
            arguments: vec![],
            model: Model::C20,
            explorer: Explorer::default(),
            max_executions: None,
            timeout: None,
            max_events: MAX_EVENTS,
            unroll: None,
            exact: false,
            robust: false,
            leaks: false,
            keep_going: false,
            readable: vec![],
            suggest: false,
            full: false,
            environment: Environment::default(),
        }
    }

    /// Returns `true` if the exploration cannot be divided: for explorers other than RF-partSMC, and where executions are
    /// counted or compared with each other.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let compares = self.robust
            || self.leaks
            || self.keep_going
            || self.environment.require_join
            || self.max_executions.is_some();
        self.plan().is_divisible().is_err() || compares
    }

    /// The bound on the events of an execution, if it was set.
    fn events(&self) -> Option<u32> {
        (self.max_events != MAX_EVENTS).then_some(self.max_events)
    }

    /// The limits of an exploration that ends at `deadline`.
    pub(super) fn limits(&self, deadline: Option<Instant>) -> Limits {
        let rounds = self.leaves_out_rounds();
        let (classes, events, symmetry) =
            (self.max_executions, self.events(), self.seeks_symmetry());
        Limits { classes, deadline, events, rounds, symmetry }
    }

    /// Races of plain accesses are looked for in the events of executions, so none may be left out.
    fn leaves_out_rounds(&self) -> bool {
        !self.exact && !self.robust && !self.environment.races
    }

    /// Leaks are not compared with each other, and other explorers know no symmetry.
    fn seeks_symmetry(&self) -> bool {
        self.leaves_out_rounds() && !self.leaks && self.explorer == Explorer::RfPartSmc
    }

    /// Refuses to look for data races where plain accesses are not known, or not what executions are distinguished by.
    pub(super) fn refuse_races(&self, object: &Object) -> Result<(), Error> {
        let refused = |place: &str, what: &str| {
            Err(Error::Refused { place: place.to_owned(), what: what.to_owned() })
        };
        match object.memory_orders() {
            _ if !self.environment.races => Ok(()),
            MemoryOrders::Unknown { file } => refused(
                file,
                "it is machine code, which does not tell atomic accesses from plain ones: races are not known",
            ),
            MemoryOrders::Known if self.explorer.equivalence() == Equivalence::ReadsValueFrom => {
                refused("--races", "requires --by rf or --by trace")
            }
            MemoryOrders::Known => Ok(()),
        }
    }

    pub(super) fn plan(&self) -> Plan {
        Plan { model: self.model, explorer: self.explorer }
    }

    pub(super) fn process_options(&self) -> Result<Options, Error> {
        let readable: Result<_, Error> = self.readable.iter().map(|path| readable(path)).collect();
        Ok(Options { args: self.arguments.clone(), readable: readable?, ..Options::default() })
    }

    pub(super) fn settings(&self, object: &Object) -> Settings {
        let scalars = match self.model.orders() {
            OrderSemantics::StoreBuffer(StoreBuffers::None | StoreBuffers::PerThread) => {
                ScalarCut::Watched
            }
            OrderSemantics::StoreBuffer(StoreBuffers::PerLocation) => ScalarCut::Whole,
            OrderSemantics::C11(_) if self.environment.ignores_races() => ScalarCut::Whole,
            OrderSemantics::C11(_) => ScalarCut::Cut,
        };
        let store_buffers = match self.model.orders() {
            OrderSemantics::StoreBuffer(buffers) => Some(buffers),
            OrderSemantics::C11(_) => None,
        };
        // Random runs keep nothing, so they may be long.
        let is_default = self.max_events == MAX_EVENTS && self.explorer.sampling().is_some();
        let max_events = if is_default { u32::MAX } else { self.max_events };
        Settings {
            max_events,
            scalars,
            calls: object.calls(),
            updates_may_be_silent: self.model.has_modification_order(),
            ignores_dead_values: self.leaves_out_rounds() && self.explorer == Explorer::RfPartSmc,
            poison: false,
            unroll: self.unroll,
            symmetry: self.seeks_symmetry(),
            store_buffers,
            leaks: self.leaks,
            environment: self.environment,
        }
    }
}

/// A file that the program may read.
fn readable(path: &Path) -> Result<ReadableFile, Error> {
    ReadableFile::read(path)
        .map_err(|error| Error::File { file: path.display().to_string(), why: error.to_string() })
}
