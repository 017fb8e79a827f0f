//! What a run leaves open: who goes next, and what reads observe.
//!
//! Every question has a *default*: the same thread goes on, a read observes the newest write, a write comes last, a
//! store reaches memory at once, nothing fails for no reason, the first choice is taken. An answer that is not the
//! default is a [`Departure`], named by thread and turn; a run is the list of its departures. So a run can be made
//! again, recorded, and shrunk.

use rustc_hash::FxHashMap;

use raddle_core::random::Random;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Which thread goes next.
    Thread,
    /// Which write a read observes: how many newer ones there are.
    Read,
    /// Where in the modification order a write comes: before how many others.
    Insert,
    /// Whether a weak compare-exchange fails for no reason.
    Fail,
    /// What the program chooses.
    Choose,
    /// Whether a thread goes on although there are stores in its buffer; otherwise one leaves it.
    Keep,
    /// Which of the stores that can leave a buffer leaves it.
    Leave,
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Moment {
    pub(super) thread: u32,
    /// How many steps the thread has taken.
    pub(super) turn: u32,
}

/// An answer that is not the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    pub(super) moment: Moment,
    pub(super) kind: Kind,
    /// The thread that goes next; otherwise which option.
    pub(super) answer: u32,
}

/// Somebody who answers.
pub(super) trait Decide {
    /// Which of these threads goes next, of which there are at least two. Last went the thread of the moment, which
    /// may be among them. For so many steps nothing has changed.
    fn thread(&mut self, moment: Moment, ready: &[u32], quiet: u64) -> u32;

    /// Which of at least two options.
    fn pick(&mut self, moment: Moment, kind: Kind, options: usize) -> usize;
}

/// The thread that goes next by default: the same, otherwise the next one.
pub(super) fn usual(last: u32, ready: &[u32]) -> u32 {
    let distance = |&thread: &u32| thread.wrapping_sub(last);
    ready.iter().copied().min_by_key(distance).unwrap_or(last)
}

/// Random numbers that have nothing in common with those of another seed.
pub(super) fn scattered(seed: u64) -> Random {
    Random::new(Random::new(seed).bits())
}

/// Everything by chance.
pub(super) struct Chance {
    random: Random,
    /// In how many of 256 cases the same thread goes on, at least.
    stay: u64,
    /// In how many of 256 cases a thread goes on before its stores reach memory.
    keep: u64,
}

impl Chance {
    /// The run with this seed. How fast threads are switched and how slow store buffers are differs from run to run.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = scattered(seed);
        let stay = [0, 0, 128, 224][random.below(4)];
        let keep = [64, 128, 224, 248][random.below(4)];
        Chance { random, stay, keep }
    }

    #[inline]
    fn below(&mut self, bound: usize) -> usize {
        ((u64::from(self.random.bits() as u32) * bound as u64) >> 32) as usize
    }

    #[inline]
    fn happens(&mut self, of_256: u64) -> bool {
        self.random.bits() & 255 < of_256
    }
}

impl Decide for Chance {
    #[inline]
    fn thread(&mut self, moment: Moment, ready: &[u32], _: u64) -> u32 {
        if self.stay > 0 && self.happens(self.stay) && ready.contains(&moment.thread) {
            return moment.thread;
        }
        ready[self.below(ready.len())]
    }

    #[inline]
    fn pick(&mut self, _: Moment, kind: Kind, options: usize) -> usize {
        let usually = match kind {
            Kind::Keep => return usize::from(self.happens(self.keep)),
            Kind::Read => 96,
            Kind::Insert => 192,
            Kind::Fail => 208,
            Kind::Thread | Kind::Choose | Kind::Leave => 0,
        };
        if usually > 0 && self.happens(usually) { 0 } else { self.below(options) }
    }
}

/// Keeps the departures of somebody else.
pub(super) struct Recording<'a> {
    pub(super) by: &'a mut dyn Decide,
    pub(super) departures: Vec<Departure>,
}

impl Decide for Recording<'_> {
    fn thread(&mut self, moment: Moment, ready: &[u32], quiet: u64) -> u32 {
        let answer = self.by.thread(moment, ready, quiet);
        if answer != usual(moment.thread, ready) {
            self.departures.push(Departure { moment, kind: Kind::Thread, answer });
        }
        answer
    }

    fn pick(&mut self, moment: Moment, kind: Kind, options: usize) -> usize {
        let answer = self.by.pick(moment, kind, options);
        if answer != 0 {
            self.departures.push(Departure { moment, kind, answer: answer as u32 });
        }
        answer
    }
}

/// The default, but for some departures.
pub(super) struct Departing(FxHashMap<(Moment, Kind), u32>);

impl Departing {
    pub(super) fn new(departures: &[Departure]) -> Self {
        let entry = |it: &Departure| ((it.moment, it.kind), it.answer);
        Departing(departures.iter().map(entry).collect())
    }
}

impl Decide for Departing {
    fn thread(&mut self, moment: Moment, ready: &[u32], quiet: u64) -> u32 {
        match self.0.get(&(moment, Kind::Thread)) {
            Some(thread) if ready.contains(thread) => *thread,
            // A thread that has only read for long may wait for another one.
            _ if quiet % 64 == 63 => usual(moment.thread.wrapping_add(1), ready),
            _ => usual(moment.thread, ready),
        }
    }

    fn pick(&mut self, moment: Moment, kind: Kind, options: usize) -> usize {
        self.0.get(&(moment, kind)).map_or(0, |&answer| (answer as usize).min(options - 1))
    }
}
