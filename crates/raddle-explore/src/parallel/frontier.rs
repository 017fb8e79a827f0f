//! What is left of an exploration: a value that can be kept.
//!
//! The tree is cut into subtrees ([`Subtree`]). One that is too large is suspended after some leaves; the nodes on
//! its stack stay *open* here, with what was not tried there as new subtrees. They are independent but for one thing: whether the other threads of a node have to be
//! tried at all depends on everything that was explored below its first thread (the dynamic skip). So an open node
//! waits until that is done.
//!
//! Each subtree has a share of the whole, by guess: answers of a question have equal shares, and so have the threads of a node
//! if all are tried. That is what a single probe of Knuth's estimator would think of it.
//!
//! Subtrees have keys, in the order in which one explorer alone would come to them. The tree is the same wherever it
//! is cut, so that counts, and what is found first, do not depend on who explores what and when.

use serde::{Deserialize, Serialize};

use crate::rf_part_smc::subtree::{Frame, Pick, Report, Rest, Step, Subtree};

/// The place of a subtree in the order of the exploration.
pub type Key = Vec<u32>;

/// Numbers that are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Classes of executions.
    pub classes: u64,
    /// Blocked ones.
    pub blocked: u64,
    /// Whether some thread reached a limit of events.
    pub hit_limit: bool,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.classes += other.classes;
        self.blocked += other.blocked;
        self.hit_limit |= other.hit_limit;
    }
}

/// A subtree that is to be explored, and the open node that waits for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    key: Key,
    subtree: Subtree,
    parent: Option<usize>,
    /// How much of the whole it is, about.
    #[serde(default)]
    share: f64,
}

/// A node that waits for subtrees below it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Open {
    parent: Option<usize>,
    /// How many subtrees and open nodes it waits for.
    waits_for: usize,
    path: Vec<Step>,
    /// The threads that are left, their key, and whether they may be skipped.
    rest: Option<(Rest, Key)>,
    /// How much of the whole they are, about.
    #[serde(default)]
    rest_share: f64,
    can_skip: bool,
    matters: bool,
}

/// All that is left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Frontier {
    /// Open nodes; those that are closed leave their place free.
    open: Vec<Option<Open>>,
    free: Vec<usize>,
    waiting: Vec<Job>,
    running: Vec<Job>,
    /// What was counted before everything that is left, and in between.
    settled: Counts,
    counted: Vec<(Key, Counts)>,
    /// Where the exploration ends: what follows this key is of no interest.
    last: Option<(Key, Subtree)>,
}

impl Default for Frontier {
    fn default() -> Self {
        Self::new()
    }
}

impl Frontier {
    /// The whole tree is left.
    #[must_use]
    pub fn new() -> Self {
        let root = Job { key: vec![], subtree: Subtree::default(), parent: None, share: 1.0 };
        Frontier {
            open: vec![],
            free: vec![],
            waiting: vec![root],
            running: vec![],
            settled: Counts::default(),
            counted: vec![],
            last: None,
        }
    }

    /// Nobody works on it any more: what was being explored is explored again.
    pub fn restart(&mut self) {
        let running = std::mem::take(&mut self.running);
        for job in running {
            self.push(job);
        }
    }

    /// Whether nothing is left, and nobody is at work.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// A subtree to be explored: the first in the order of keys, or the last, which is mostly the largest. It has to be
    /// reported.
    pub fn take(&mut self, is_last: bool) -> Option<(Key, Subtree)> {
        self.settle();
        let first = self.waiting.len().checked_sub(1)?;
        let job = self.waiting.remove(if is_last { 0 } else { first });
        let taken = (job.key.clone(), job.subtree.clone());
        self.running.push(job);
        Some(taken)
    }

    /// Whoever took this subtree does not explore it.
    pub fn give_back(&mut self, key: &Key) {
        if let Some(at) = self.running.iter().position(|job| job.key == *key) {
            let job = self.running.swap_remove(at);
            self.push(job);
        }
    }

    /// How many subtrees wait for somebody.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How much of the whole is left, about.
    pub(super) fn left(&self) -> f64 {
        self.waiting.iter().chain(&self.running).map(|job| job.share).sum()
    }

    /// What follows this subtree, which has this key now that it is explored, is of no interest.
    pub(super) fn cut(&mut self, last: &Key, subtree: &Subtree) {
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

    /// Whether what is there is of no interest.
    #[must_use]
    pub fn is_cut(&self, key: &Key) -> bool {
        self.last.as_ref().is_some_and(|(last, _)| key > last)
    }

    /// What was counted up to the last key that is of interest.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = self.settled;
        self.counted.iter().for_each(|(_, more)| counts.add(*more));
        counts
    }

    /// Whether something ended the exploration.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.last.is_some()
    }

    /// The subtree with which the exploration ends before everything is explored.
    #[must_use]
    pub fn stopped(&self) -> Option<&Subtree> {
        self.last.as_ref().map(|(_, subtree)| subtree)
    }

    /// Whether there is work for more than one.
    #[must_use]
    pub fn is_for_several(&self) -> bool {
        self.waiting.len() + self.running.len() > 1
    }

    /// A subtree was explored, or suspended, or (`is_last`) nothing that comes after it matters. Returns the key of
    /// what was explored.
    ///
    /// # Panics
    /// If nobody took the subtree.
    pub fn report(&mut self, key: &Key, report: Report, is_last: bool) -> Key {
        let at = self.running.iter().position(|job| job.key == *key);
        let job = self.running.swap_remove(at.expect("who reports has taken something"));
        self.note_what_matters(job.parent, &report.matters);
        let Report { classes, blocked, hit_limit, frames, .. } = report;
        let counted = [key.as_slice(), &[0]].concat();
        if !self.is_cut(&counted) {
            self.counted.push((counted.clone(), Counts { classes, blocked, hit_limit }));
        }
        if is_last {
            self.cut(&counted, &job.subtree);
        }
        match frames.is_empty() {
            true => self.finish(job.parent),
            false => self.open(&job, frames),
        }
        counted
    }

    /// Something below matters to open nodes on the way to it.
    fn note_what_matters(&mut self, mut above: Option<usize>, matters: &[bool]) {
        while let Some(at) = above {
            let open = self.open[at].as_mut().expect("it waits");
            // A node that tries its other threads has no step on the way to them.
            open.matters |= matters.get(open.path.len()).is_some_and(|&matters| matters);
            above = open.parent;
            self.release(at);
        }
    }

    /// Leaves the nodes on the stack of a subtree open.
    fn open(&mut self, job: &Job, frames: Vec<Frame>) {
        let mut numbers = 1..;
        let mut key = || {
            let number = numbers.next().expect("there are enough numbers");
            [job.key.as_slice(), &[number]].concat()
        };
        // The deepest node comes first in the order of the exploration.
        let last = frames.len() - 1;
        let mut keys: Vec<(Vec<Key>, Key)> = frames
            .iter()
            .rev()
            .map(|frame| (frame.left.iter().map(|_| key()).collect(), key()))
            .collect();
        let (mut parent, mut path, mut share) = (job.parent, job.subtree.path.clone(), job.share);
        for (depth, frame) in frames.into_iter().enumerate() {
            let of_thread = share / threads_tried(&frame) as f64;
            let rest_share = share - of_thread;
            share = of_thread / f64::from(frame.answers.max(frame.left.len() as u32 + 1));
            let Frame { step, left, rest, can_skip, matters, .. } = frame;
            let (left_keys, rest_key) = keys.pop().expect("there are as many");
            let tried = step.tried.iter().copied().chain([step.thread]).collect();
            let rest = Rest { tried, threads: rest, seen: step.seen };
            let rest = (!rest.threads.is_empty()).then_some((rest, rest_key));
            let waits_for = left.len() + usize::from(depth < last);
            let path_to = path.clone();
            let open =
                Open { parent, waits_for, path: path_to, rest, rest_share, can_skip, matters };
            let at = self.insert(open);
            for (pick, key) in left.into_iter().zip(left_keys) {
                let subtree = child(&path, &step, pick);
                self.push(Job { key, subtree, parent: Some(at), share });
            }
            self.release(at);
            path.push(step);
            parent = Some(at);
        }
        if self.open[parent.expect("there are frames")].as_ref().is_some_and(|it| it.waits_for == 0)
        {
            self.go_on(parent);
        }
    }

    fn insert(&mut self, open: Open) -> usize {
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

    /// Puts a job where its key belongs; the first one is the last of the list.
    fn push(&mut self, job: Job) {
        if self.is_cut(&job.key) {
            return self.finish(job.parent);
        }
        let at = self.waiting.partition_point(|other| other.key > job.key);
        self.waiting.insert(at, job);
    }

    /// Something that an open node waits for is done.
    fn finish(&mut self, parent: Option<usize>) {
        let Some(at) = parent else { return };
        let open = self.open[at].as_mut().expect("it waits");
        open.waits_for -= 1;
        if open.waits_for == 0 {
            self.go_on(parent);
        }
    }

    /// Has the other threads of an open node tried as soon as it is known that they must be. Whether they are.
    fn release(&mut self, at: usize) -> bool {
        let Some(open) = self.open[at].as_mut() else { return false };
        let can_skip = open.can_skip && !open.matters;
        let Some((rest, key)) = open.rest.take_if(|_| !can_skip) else { return false };
        open.waits_for += 1;
        let subtree = Subtree { path: open.path.clone(), rest: Some(rest) };
        let share = open.rest_share;
        self.push(Job { key, subtree, parent: Some(at), share });
        true
    }

    /// An open node waits for nothing: it tries its other threads if that is necessary, or is done.
    fn go_on(&mut self, node: Option<usize>) {
        let Some(at) = node else { return };
        if self.release(at) {
            return;
        }
        let open = self.open[at].as_ref().expect("it waited");
        let parent = open.parent;
        self.open[at] = None;
        self.free.push(at);
        self.finish(parent);
    }

    /// Adds up what comes before everything that is left. (Not as soon as something is reported: it may turn out that the
    /// exploration ends there.)
    fn settle(&mut self) {
        let jobs = self.waiting.iter().chain(&self.running).map(|job| &job.key);
        let rests = self.open.iter().flatten().filter_map(|open| Some(&open.rest.as_ref()?.1));
        let first: Option<&Key> = jobs.chain(rests).min();
        let settled = &mut self.settled;
        self.counted.retain(|(key, counts)| {
            let is_settled = first.is_none_or(|first| key < first);
            if is_settled {
                settled.add(*counts);
            }
            !is_settled
        });
    }
}

/// How many threads are tried at a node from the one on that was being tried, as far as that is known.
fn threads_tried(frame: &Frame) -> usize {
    let are_skipped = frame.can_skip && !frame.matters;
    if are_skipped { 1 } else { 1 + frame.rest.len() }
}

/// The subtree of a node below this answer.
fn child(path: &[Step], step: &Step, pick: Pick) -> Subtree {
    let mut path = path.to_vec();
    path.push(Step { pick, ..step.clone() });
    Subtree { path, rest: None }
}
