//! What is left of an exploration: a value that can be stored.
//!
//! The tree is cut into subtrees ([`Subtree`]). One that is too large is suspended after some leaves; the nodes on its
//! stack stay *open* here, with what was not tried there as new subtrees. These are independent except for one thing:
//! whether the other threads of a node have to be tried at all depends on everything that is explored below its first
//! thread (the dynamic skip). So an open node waits until that is done.
//!
//! Each subtree has a share of the whole, estimated: answers of a question have equal shares, and so have the threads
//! of a node if all are tried. That is what a single probe of Knuth's estimator would assume.
//!
//! Subtrees have keys, in the order in which a single worker would explore them. The tree is the same wherever it is
//! cut, so counts, and what is found first, do not depend on which worker explores what and when.

use serde::{Deserialize, Serialize};

use raddle_core::outcome::Symmetry;

use crate::CutThread;
use crate::facts::{ExplorationFacts, NewFact};

use crate::rf_part_smc::subtree::{
    RemainingThreads, Subtree, SubtreeAnswer, SubtreeReport, SubtreeStep, SuspendedNode,
};

/// The place of a subtree in the order of the exploration.
pub type SubtreeKey = Vec<u32>;

/// The counts of one or several subtrees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Classes of complete (or erroneous) executions.
    pub classes: u64,
    /// Classes of blocked executions.
    pub blocked: u64,
    /// Whether some thread reached a limit of events.
    pub hit_limit: bool,
    /// The first thread that was stopped because of the events of its execution.
    #[serde(default)]
    pub cut: Option<CutThread>,
    /// Symmetric threads, and the counts if renamed classes count.
    #[serde(default)]
    pub symmetry: Option<Symmetry>,
}

impl ClassCounts {
    fn add(&mut self, other: &ClassCounts) {
        self.classes += other.classes;
        self.blocked += other.blocked;
        self.hit_limit |= other.hit_limit;
        self.cut = self.cut.take().or_else(|| other.cut.clone());
        match (&mut self.symmetry, &other.symmetry) {
            (Some(symmetry), Some(other)) => symmetry.add(other),
            (symmetry, other) => *symmetry = symmetry.take().or_else(|| other.clone()),
        }
    }
}

/// A subtree to be explored, and the open node that waits for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SubtreeJob {
    key: SubtreeKey,
    subtree: Subtree,
    parent: Option<usize>,
    /// Its estimated share of the whole.
    #[serde(default)]
    share: f64,
}

/// A node that waits for subtrees below it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenNode {
    parent: Option<usize>,
    /// The number of subtrees and open nodes that it waits for.
    waits_for: usize,
    path: Vec<SubtreeStep>,
    /// The threads that are left, and their key.
    rest: Option<(RemainingThreads, SubtreeKey)>,
    /// Their estimated share of the whole.
    #[serde(default)]
    rest_share: f64,
    /// Whether they can be skipped unless something matters below.
    can_skip: bool,
    /// Whether something matters below, so far.
    matters: bool,
}

/// What is left of a tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Frontier {
    /// Open nodes; `None` at free places.
    open: Vec<Option<OpenNode>>,
    free: Vec<usize>,
    /// Subtrees that no worker explores, in descending order of keys.
    waiting: Vec<SubtreeJob>,
    running: Vec<SubtreeJob>,
    /// The counts of everything before all that is left.
    settled: ClassCounts,
    /// The counts of explored subtrees that come after something that is left.
    counted: Vec<(SubtreeKey, ClassCounts)>,
    /// The last subtree that counts, if the exploration ends before everything is explored.
    last: Option<(SubtreeKey, Subtree)>,
    /// What is known about locations, which the tree depends on.
    #[serde(default)]
    facts: ExplorationFacts,
    /// How often the exploration has started over because of that.
    #[serde(default)]
    restarts: u32,
}

impl Default for Frontier {
    fn default() -> Self {
        Self::new()
    }
}

impl Frontier {
    /// The whole tree.
    #[must_use]
    pub fn new() -> Self {
        let root =
            SubtreeJob { key: vec![], subtree: Subtree::default(), parent: None, share: 1.0 };
        Frontier {
            open: vec![],
            free: vec![],
            waiting: vec![root],
            running: vec![],
            settled: ClassCounts::default(),
            counted: vec![],
            last: None,
            facts: ExplorationFacts::default(),
            restarts: 0,
        }
    }

    /// The whole tree, with one more fact.
    pub(super) fn started_over(&self, fact: NewFact) -> Self {
        let (mut facts, restarts) = (self.facts.clone(), self.restarts + 1);
        facts.add(fact);
        Frontier { facts, restarts, ..Self::new() }
    }

    /// What is known about locations.
    #[must_use]
    pub fn facts(&self) -> &ExplorationFacts {
        &self.facts
    }

    /// How often the exploration has started over because accesses of locations conflict. Keys of subtrees from before
    /// mean nothing.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Gives back all subtrees that were taken and not reported, as there are no workers any more.
    pub fn give_back_all(&mut self) {
        let running = std::mem::take(&mut self.running);
        for job in running {
            self.push(job);
        }
    }

    /// Returns `true` if nothing is left, and no subtree is being explored.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// Takes a subtree to explore: the first in the order of keys, or the last, which is mostly the largest. It must be
    /// [reported](Frontier::report) or [given back](Frontier::give_back).
    pub fn take(&mut self, is_last: bool) -> Option<(SubtreeKey, Subtree)> {
        self.add_up_prefix();
        let first = self.waiting.len().checked_sub(1)?;
        let job = self.waiting.remove(if is_last { 0 } else { first });
        let taken = (job.key.clone(), job.subtree.clone());
        self.running.push(job);
        Some(taken)
    }

    /// Gives back a subtree that was taken.
    pub fn give_back(&mut self, key: &SubtreeKey) {
        if let Some(at) = self.running.iter().position(|job| job.key == *key) {
            let job = self.running.swap_remove(at);
            self.push(job);
        }
    }

    /// The number of subtrees that no worker explores.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The estimated share of the whole that is left.
    pub(super) fn share_left(&self) -> f64 {
        self.waiting.iter().chain(&self.running).map(|job| job.share).sum()
    }

    /// Drops everything after this subtree, which has this key now that it is explored.
    pub(super) fn cut(&mut self, last: &SubtreeKey, subtree: &Subtree) {
        if self.is_cut(last) {
            return;
        }
        self.waiting.retain(|job| job.key <= *last);
        self.counted.retain(|(key, _)| key <= last);
        for open in self.open.iter_mut().flatten() {
            open.rest.take_if(|(_, key)| *key > *last);
        }
        self.last = Some((last.clone(), subtree.clone()));
    }

    /// Returns `true` if what has this key does not count.
    #[must_use]
    pub fn is_cut(&self, key: &SubtreeKey) -> bool {
        self.last.as_ref().is_some_and(|(last, _)| key > last)
    }

    /// The counts up to the last subtree that counts.
    #[must_use]
    pub fn counts(&self) -> ClassCounts {
        let mut counts = self.settled.clone();
        self.counted.iter().for_each(|(_, more)| counts.add(more));
        counts
    }

    /// Returns `true` if the exploration ends before everything is explored.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.last.is_some()
    }

    /// The last subtree that counts, if the exploration ends before everything is explored.
    #[must_use]
    pub fn stopped(&self) -> Option<&Subtree> {
        self.last.as_ref().map(|(_, subtree)| subtree)
    }

    /// Returns `true` if there is work for more than one worker.
    #[must_use]
    pub fn is_for_several(&self) -> bool {
        self.waiting.len() + self.running.len() > 1
    }

    /// Adds the result of a subtree that was taken. If it `is_last`, nothing after it counts. Returns the key of the
    /// explored part.
    ///
    /// # Panics
    /// If the subtree was not taken.
    pub fn report(&mut self, key: &SubtreeKey, report: SubtreeReport, is_last: bool) -> SubtreeKey {
        let at = self.running.iter().position(|job| job.key == *key);
        let job = self.running.swap_remove(at.expect("only subtrees that were taken are reported"));
        self.note_what_matters(job.parent, &report.matters);
        let SubtreeReport { classes, blocked, hit_limit, cut, symmetry, frames, .. } = report;
        let counted = [key.as_slice(), &[0]].concat();
        if !self.is_cut(&counted) {
            let counts = ClassCounts { classes, blocked, hit_limit, cut, symmetry };
            self.counted.push((counted.clone(), counts));
        }
        if is_last {
            self.cut(&counted, &job.subtree);
        }
        match frames.is_empty() {
            true => self.finish(job.parent),
            false => self.open_nodes(&job, frames),
        }
        counted
    }

    /// Notes which open nodes on the path to a subtree something in it matters to.
    fn note_what_matters(&mut self, mut above: Option<usize>, matters: &[bool]) {
        while let Some(at) = above {
            let open = self.open[at].as_mut().expect("the node is open");
            // If the subtree is the other threads of the node, its path has no step there.
            open.matters |= matters.get(open.path.len()).is_some_and(|&matters| matters);
            above = open.parent;
            self.release(at);
        }
    }

    /// Opens the nodes on the stack of a suspended subtree.
    fn open_nodes(&mut self, job: &SubtreeJob, frames: Vec<SuspendedNode>) {
        let mut numbers = 1..;
        let mut key = || {
            let number = numbers.next().expect("there are fewer than 2^32 subtrees");
            [job.key.as_slice(), &[number]].concat()
        };
        // The deepest node comes first in the order of the exploration.
        let last = frames.len() - 1;
        let mut keys: Vec<(Vec<SubtreeKey>, SubtreeKey)> = frames
            .iter()
            .rev()
            .map(|frame| (frame.left.iter().map(|_| key()).collect(), key()))
            .collect();
        let (mut parent, mut path, mut share) = (job.parent, job.subtree.path.clone(), job.share);
        for (depth, frame) in frames.into_iter().enumerate() {
            let of_thread = share / threads_tried(&frame) as f64;
            let rest_share = share - of_thread;
            share = of_thread / f64::from(frame.answers.max(frame.left.len() as u32 + 1));
            let SuspendedNode { step, left, rest, can_skip, matters, .. } = frame;
            let (left_keys, rest_key) = keys.pop().expect("there is a key for every frame");
            let tried = step.tried.iter().copied().chain([step.thread]).collect();
            let rest = RemainingThreads { tried, threads: rest, seen: step.seen };
            let rest = (!rest.threads.is_empty()).then_some((rest, rest_key));
            let waits_for = left.len() + usize::from(depth < last);
            let path_to = path.clone();
            let open =
                OpenNode { parent, waits_for, path: path_to, rest, rest_share, can_skip, matters };
            let at = self.insert(open);
            for (pick, key) in left.into_iter().zip(left_keys) {
                let subtree = child(&path, &step, pick);
                self.push(SubtreeJob { key, subtree, parent: Some(at), share });
            }
            self.release(at);
            path.push(step);
            parent = Some(at);
        }
        if self.open[parent.expect("a suspended subtree has a stack")]
            .as_ref()
            .is_some_and(|it| it.waits_for == 0)
        {
            self.close_or_release(parent);
        }
    }

    fn insert(&mut self, open: OpenNode) -> usize {
        match self.free.pop() {
            Some(at) => {
                self.open[at] = Some(open);
                at
            }
            None => {
                self.open.push(Some(open));
                self.open.len() - 1
            }
        }
    }

    /// Inserts a job according to its key.
    fn push(&mut self, job: SubtreeJob) {
        if self.is_cut(&job.key) {
            return self.finish(job.parent);
        }
        let at = self.waiting.partition_point(|other| other.key > job.key);
        self.waiting.insert(at, job);
    }

    /// Notes that something that an open node waits for is done.
    fn finish(&mut self, parent: Option<usize>) {
        let Some(at) = parent else { return };
        let open = self.open[at].as_mut().expect("the node is open");
        open.waits_for -= 1;
        if open.waits_for == 0 {
            self.close_or_release(parent);
        }
    }

    /// Adds the other threads of an open node as a subtree, if it is known that they must be tried. Returns whether it
    /// did.
    fn release(&mut self, at: usize) -> bool {
        let Some(open) = self.open[at].as_mut() else { return false };
        let can_skip = open.can_skip && !open.matters;
        let Some((rest, key)) = open.rest.take_if(|_| !can_skip) else { return false };
        open.waits_for += 1;
        let subtree = Subtree { path: open.path.clone(), rest: Some(rest) };
        let share = open.rest_share;
        self.push(SubtreeJob { key, subtree, parent: Some(at), share });
        true
    }

    /// Releases the other threads of an open node that waits for nothing, or closes it.
    fn close_or_release(&mut self, node: Option<usize>) {
        let Some(at) = node else { return };
        if self.release(at) {
            return;
        }
        let open = self.open[at].as_ref().expect("the node is open");
        let parent = open.parent;
        self.open[at] = None;
        self.free.push(at);
        self.finish(parent);
    }

    /// Adds up the counts before everything that is left. (Not as soon as a subtree is reported: it may turn out that
    /// the exploration ends before it.)
    fn add_up_prefix(&mut self) {
        let jobs = self.waiting.iter().chain(&self.running).map(|job| &job.key);
        let rests = self.open.iter().flatten().filter_map(|open| Some(&open.rest.as_ref()?.1));
        let first: Option<&SubtreeKey> = jobs.chain(rests).min();
        let settled = &mut self.settled;
        self.counted.retain(|(key, counts)| {
            let is_settled = first.is_none_or(|first| key < first);
            if is_settled {
                settled.add(counts);
            }
            !is_settled
        });
    }
}

/// The number of threads that are tried at a node from the current one on, as far as that is known.
fn threads_tried(frame: &SuspendedNode) -> usize {
    let are_skipped = frame.can_skip && !frame.matters;
    if are_skipped { 1 } else { 1 + frame.rest.len() }
}

/// The subtree below an answer at the node at the end of the path.
fn child(path: &[SubtreeStep], step: &SubtreeStep, pick: SubtreeAnswer) -> Subtree {
    let mut path = path.to_vec();
    path.push(SubtreeStep { pick, ..step.clone() });
    Subtree { path, rest: None }
}
