//! What a program has learned about its memory and its threads, for worker processes and checkpoints.
//!
//! What an explorer observes in a subtree depends on which memory is shared and how it is cut (`layout`), on how threads and blocks are
//! numbered, and on nothing else that was explored before. So a process that knows these facts can explore any subtree.
//! Guest addresses are the same in every process.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::program::{PlaceId, Program};
use serde::{Deserialize, Serialize};

use super::NativeProgram;
use super::barriers::Barriers;
use super::heap::HeapRegions;
use super::layout::Learned;
use super::names::{Start, ThreadNames};

/// What a program has learned.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The start of each thread but the main one: parent, number, function, argument, library data, blocks.
    threads: Vec<(usize, u32, u64, u64, u32, u32)>,
    /// The lists of blocks that threads were given.
    blocks: Vec<Vec<(u64, u64)>>,
    /// The hash of the library data of each number.
    library: Vec<u64>,
    heap_regions: HeapRegions,
    layout: Learned,
    /// Where memory is cut, and the address of the access that required it.
    cuts: BTreeMap<u64, u64>,
    locks_can_be_tried: bool,
    cancels: bool,
    barriers: Barriers,
}

/// What a worker reports after each subtree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WorkerUpdate {
    /// How often threads ran from their start since the last update.
    pub(crate) executions: u64,
    pub(crate) main_leaves: bool,
    pub(crate) bound: Option<String>,
    pub(crate) remark: Option<String>,
    /// The exploration must restart with these facts.
    pub(crate) wants_restart: bool,
    /// What the program has learned, if that is new.
    pub(crate) facts: Option<Facts>,
}

impl NativeProgram {
    /// What other workers must know after a subtree, as text.
    pub(super) fn worker_update(&mut self) -> String {
        let wants_restart = self.needs_restart();
        let is_new = wants_restart || self.layout.settle();
        let update = WorkerUpdate {
            executions: self.executions - self.reported_executions,
            main_leaves: self.main_leaves,
            bound: self.bound.clone(),
            remark: self.remark.clone(),
            wants_restart,
            facts: is_new.then(|| self.facts()),
        };
        self.reported_executions = self.executions;
        serde_json::to_string(&update).unwrap_or_default()
    }

    /// What the program has learned.
    pub(crate) fn facts(&self) -> Facts {
        let thread = |start: &Start| {
            let Start { parent, number, function, argument, library, blocks } = *start;
            (parent.index(), number, function, argument, library, blocks)
        };
        let cut = |(&at, &place): (&u64, &PlaceId)| (at, self.places.address(place));
        Facts {
            threads: self.names.starts.iter().map(thread).collect(),
            blocks: self.names.lists.clone(),
            library: self.library.hashes().to_vec(),
            heap_regions: self.heap_regions.clone(),
            layout: self.layout.learned.clone(),
            cuts: self.layout.learned.cuts.iter().map(cut).collect(),
            locks_can_be_tried: self.next_locks_can_be_tried,
            cancels: self.next_cancels,
            barriers: self.next_barriers.clone(),
        }
    }

    /// Replaces what was learned here by the facts of another process. The exploration must restart.
    pub(crate) fn take_over(&mut self, facts: &Facts) {
        self.restart_part();
        let mut names = ThreadNames::default();
        names.lists.clone_from(&facts.blocks);
        for &(parent, number, function, argument, library, blocks) in &facts.threads {
            let parent = ThreadId::new(parent);
            names.thread(Start { parent, number, function, argument, library, blocks });
        }
        self.names = names;
        self.library.number(&facts.library);
        self.process.forget_threads();
        self.heap_regions.replace(&facts.heap_regions, self.process.memory_mut());
        self.layout.learned = facts.layout.clone();
        for (&at, &address) in &facts.cuts {
            let place = self.places.place_at(self.process.modules(), address);
            self.layout.learned.cuts.insert(at, place);
        }
        self.next_locks_can_be_tried = facts.locks_can_be_tried;
        self.next_cancels = facts.cancels;
        self.next_barriers = facts.barriers.clone();
    }

    /// Continues an exploration of which other workers explore other parts.
    pub(crate) fn resume_with(&mut self, facts: &Facts) {
        self.take_over(facts);
        self.restart_part();
        self.layout.is_settled = true;
    }

    /// The exploration must restart with the known facts.
    pub(crate) fn want_restart(&mut self) {
        self.wants_restart = true;
    }
}
