//! What a program has learned about its memory and its threads, for another process.
//!
//! What an explorer may be told about a part of the exploration depends on which memory is shared and how it is cut
//! (`layout`), on how threads and blocks are numbered, and on nothing else that was explored before. So who has that can go on
//! with any part. Another process may have loaded the program elsewhere: addresses are those in the object, in the
//! stub, or in the memory of threads.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::program::{PlaceId, Program};
use serde::{Deserialize, Serialize};

use crate::heap::{Regions, Sort};
use crate::layout::Learned;
use crate::names::{Names, Start};
use crate::native::Native;

/// Addresses of no process: the bits say where it is, the rest is the offset. No pointer has these bits.
const OBJECT: usize = 1 << 60;
const STUB: usize = 2 << 60;
const SLOTS: usize = 3 << 60;
const WHERE: usize = 7 << 60;

/// What a program has learned. All addresses are those of no process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Who spawned each thread, as how many-th, with which function and argument.
    threads: Vec<(usize, u32, usize, usize)>,
    regions: Vec<(usize, Sort, usize, usize)>,
    next_regions: Vec<(usize, usize)>,
    known_blocks: BTreeMap<usize, usize>,
    layout: Learned,
    /// Where memory is cut, and where the access is because of which it is.
    cuts: BTreeMap<usize, usize>,
    mutexes_can_be_tried: bool,
}

/// What the program of a worker reports after each subtree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WorkerUpdate {
    /// How often threads were run from their beginning since the last time.
    pub(crate) executions: u64,
    pub(crate) main_leaves: bool,
    pub(crate) bound: Option<String>,
    /// Whether the exploration must start again, with these facts.
    pub(crate) wants_restart: bool,
    /// What was learned, if that is new.
    pub(crate) facts: Option<Facts>,
}

impl Native {
    /// What others should know after a part of the exploration.
    pub(crate) fn news(&mut self) -> String {
        let wants_restart = self.needs_restart();
        let is_new = wants_restart || self.layout.settle();
        let update = WorkerUpdate {
            executions: self.executions - self.told_executions,
            main_leaves: self.main_leaves,
            bound: self.bound.clone(),
            wants_restart,
            facts: is_new.then(|| self.facts()),
        };
        self.told_executions = self.executions;
        serde_json::to_string(&update).expect("numbers and texts can be written")
    }

    /// What is learned.
    fn facts(&self) -> Facts {
        let away = |address: usize| self.away(address);
        let thread = |start: &Start| {
            let Start { parent, number, function, argument } = *start;
            (parent.index(), number, away(function), away(argument))
        };
        let regions = &self.regions;
        let region = |(&(heap, sort, number), &start): (&(usize, Sort, usize), &usize)| {
            (away(heap), sort, number, away(start))
        };
        let place =
            |(&at, &place): (&usize, &PlaceId)| (away(at), away(self.places.address(place)));
        Facts {
            threads: self.names.starts.iter().map(thread).collect(),
            regions: regions.starts.iter().map(region).collect(),
            next_regions: regions.next.iter().map(|(&heap, &at)| (away(heap), away(at))).collect(),
            known_blocks: moved_keys(&self.known_blocks, away),
            layout: moved(&self.layout.learned, away),
            cuts: self.layout.learned.cuts.iter().map(place).collect(),
            mutexes_can_be_tried: self.mutexes_can_be_tried.1,
        }
    }

    /// Takes over what another process has learned, in place of what is known here.
    pub(crate) fn take_over(&mut self, facts: &Facts) {
        let here = |address: usize| self.here(address);
        let mut names = Names::default();
        for &(parent, number, function, argument) in &facts.threads {
            let (function, argument) = (here(function), here(argument));
            names.thread(Start { parent: ThreadId::new(parent), number, function, argument });
        }
        let mut regions = Regions::default();
        for &(heap, sort, number, start) in &facts.regions {
            regions.starts.insert((here(heap), sort, number), here(start));
        }
        regions.next =
            facts.next_regions.iter().map(|&(heap, at)| (here(heap), here(at))).collect();
        let known_blocks = moved_keys(&facts.known_blocks, here);
        let mut learned = moved(&facts.layout, here);
        let cuts: Vec<(usize, usize)> =
            facts.cuts.iter().map(|(&at, &place)| (here(at), here(place))).collect();
        for (at, place) in cuts {
            let place = if place == 0 { PlaceId::default() } else { self.places.place(place) };
            learned.cuts.insert(at, place);
        }
        (self.names, self.regions, self.known_blocks) = (names, regions, known_blocks);
        self.layout.learned = learned;
        self.mutexes_can_be_tried.1 = facts.mutexes_can_be_tried;
    }

    /// Where the object, the stub, and the memory of threads are.
    fn parts(&self) -> [(usize, (usize, usize)); 3] {
        let stub = self.module.stub.as_ref().map_or((0, 0), |stub| stub.constants);
        [(OBJECT, self.module.constants), (STUB, stub), (SLOTS, self.slots.range())]
    }

    /// An address of this process as one of no process.
    fn away(&self, address: usize) -> usize {
        let parts = self.parts();
        // The end of a range may be the end of the part.
        let part =
            parts.iter().find(|(_, (from, to))| (*from..=*to).contains(&address) && from < to);
        part.map_or(address, |&(name, (from, _))| name + (address - from))
    }

    fn here(&self, address: usize) -> usize {
        let parts = self.parts();
        let part = parts.iter().find(|(name, _)| *name == address & WHERE);
        part.map_or(address, |&(name, (from, _))| from + (address - name))
    }
}

fn moved_keys(map: &BTreeMap<usize, usize>, to: impl Fn(usize) -> usize) -> BTreeMap<usize, usize> {
    map.iter().map(|(&at, &size)| (to(at), size)).collect()
}

/// The same with other addresses, without the cuts.
fn moved(learned: &Learned, to: impl Fn(usize) -> usize) -> Learned {
    let ranges = |ranges: &BTreeMap<usize, usize>| -> BTreeMap<usize, usize> {
        ranges.iter().map(|(&from, &end)| (to(from), to(end))).collect()
    };
    Learned {
        shared: ranges(&learned.shared),
        cuts: BTreeMap::new(),
        of_blocks: moved_keys(&learned.of_blocks, &to),
        written_settings: learned.written_settings.iter().map(|&at| to(at)).collect(),
        freed: ranges(&learned.freed),
        regions: ranges(&learned.regions),
    }
}
