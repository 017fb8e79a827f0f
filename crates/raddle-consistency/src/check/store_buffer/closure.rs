//! The closure: an order that every run must respect, or a proof that there is none.
//!
//! **Idea.** If a read observes `w`, then any other write of the location that comes before the
//! read comes before `w`, and any that comes after `w` comes after the read. Together with the
//! preserved program order these rules are saturated. A cycle proves the execution inconsistent, in
//! polynomial time; otherwise the search need only consider runs that respect the order.
//!
//! **Papers.** Bui et al., OOPSLA 2021, section 4.3 (TSO and PSO, reads-from maps); Agarwal et al.,
//! CAV 2021, section 4.2 (SC, good-writes). One code serves all three models and both problems:
//! the models differ only in the preserved order ([`preserved`](super::preserved)), and a read
//! with one source left is the case where its first and its last source coincide.
//!
//! **Where we differ.**
//! - Items 3 and 4 of the second paper say `r` does not conflict with the other write; it must.
//! - With a store buffer, a load may observe its own thread's latest store before that comes. So
//!   no rf edge is added while that store is among the sources; and if the load reads something
//!   else, the own store must have come before that.
//! - Items 3 and 4 quantify over writes outside the good-writes; writes that were good but have been
//!   excluded count as outside as well. That is sound and finds more.
//!
//! **Cost.** The order is kept as one clock for each event: how many events of each chain come
//! before it. O(n c) memory for c chains (about k under SC, 2k under TSO, k(d+2) under PSO if a
//! thread writes d locations between two fences), and each derived edge is propagated only as far
//! as it says something new. Events are processed in an order that respects program order and
//! sources, going back when a new edge points back, which for histories of real runs
//! takes few and short rounds. (Propagating each edge at once to the end was quadratic on long
//! histories; sorting by program order alone took 190 times as long on 16 threads with 2,000 events
//! each, under PSO.)

use rustc_hash::FxHashMap;

use super::derivation::derive;
use super::inferences::{ClosureContradiction, Inferences};
use super::instance::{Instance, NONE, OpRole};
use super::preserved::Preserved;
use super::queues::StoreQueues;
use crate::witness::{Fact, NotFrom, OrderEdge, Violation, Why};
use raddle_core::execution::EventId;

/// The largest total number of sources of reads with several sources. The closure ignores further such reads.
const MOST_OPEN_SOURCES: usize = 1 << 20;

/// An order that every run respects.
pub(super) struct ClosureOrder {
    chains: usize,
    chain_of: Vec<u32>,
    clocks: Vec<u32>,
}

impl ClosureOrder {
    /// The number of chains.
    pub(super) fn chains(&self) -> usize {
        self.chains
    }

    /// The chain of an event.
    #[inline]
    pub(super) fn chain_of(&self, event: u32) -> u32 {
        self.chain_of[event as usize]
    }

    /// Returns `true` if everything that must come before an event has come, given how many events of each
    /// chain have.
    #[inline]
    pub(super) fn is_ready(&self, event: u32, done: &[u32]) -> bool {
        let start = event as usize * self.chains;
        self.clocks[start..start + self.chains].iter().zip(done).all(|(need, done)| need <= done)
    }
}

/// A saturated order, and the sources it leaves to reads that had several.
pub(super) struct Closed {
    pub(super) order: ClosureOrder,
    pub(super) sources: FxHashMap<u32, Vec<u32>>,
}

/// Computes the closure.
pub(super) fn close(
    instance: &Instance,
    buffers: &StoreQueues,
    preserved: &Preserved,
) -> Result<Closed, Violation> {
    let mut closure = Closure::new(instance, buffers, preserved);
    match closure.saturate() {
        Ok(()) => Ok(Closed {
            order: ClosureOrder {
                chains: preserved.chains,
                chain_of: preserved.chain_of.clone(),
                clocks: closure.clocks,
            },
            sources: closure
                .open
                .into_iter()
                .filter(|open| open.narrowed)
                .map(OpenRead::sources)
                .collect(),
        }),
        Err(contradiction) => Err(derive(&closure.inferences, &contradiction)),
    }
}

/// A read that had several sources.
struct OpenRead {
    read: u32,
    left: Vec<u32>,
    narrowed: bool,
}

impl OpenRead {
    fn sources(self) -> (u32, Vec<u32>) {
        (self.read, self.left)
    }
}

/// The writes of a location in one chain.
struct WriteChain {
    chain: u32,
    writes: Vec<u32>,
}

struct Closure<'i> {
    instance: &'i Instance,
    buffers: &'i StoreQueues,
    preserved: &'i Preserved,
    inferences: Inferences<'i>,
    /// `clocks[e * chains + c]`: how many events of chain c come before e.
    clocks: Vec<u32>,
    /// By location.
    writes: Vec<Vec<WriteChain>>,
    /// By event: the only source of a read, or [`NONE`].
    only: Vec<u32>,
    /// By event: of the reads whose only source it is, the last of each chain.
    last_readers: Vec<Vec<u32>>,
    open: Vec<OpenRead>,
    todo: Todo,
}

impl<'i> Closure<'i> {
    fn new(instance: &'i Instance, buffers: &'i StoreQueues, preserved: &'i Preserved) -> Self {
        let events = instance.ops.len();
        let inferences =
            Inferences { instance, preserved, facts: vec![], edges_from: vec![vec![]; events] };
        Closure {
            instance,
            buffers,
            preserved,
            inferences,
            clocks: vec![0; events * preserved.chains],
            writes: write_chains(instance, preserved),
            only: vec![NONE; events],
            last_readers: vec![vec![]; events],
            open: vec![],
            todo: Todo::new(&Vec::from_iter(0..events as u32)),
        }
    }

    fn saturate(&mut self) -> Result<(), ClosureContradiction> {
        self.take_up_reads()?;
        self.todo = Todo::new(&self.inferences.sorted_events());
        loop {
            while let Some(event) = self.todo.pop() {
                self.propagate(event)?;
                self.apply_rules(event)?;
            }
            self.narrow_open_reads()?;
            if self.todo.is_empty() {
                return Ok(());
            }
        }
    }

    /// Infers what follows from the sources alone.
    fn take_up_reads(&mut self) -> Result<(), ClosureContradiction> {
        let mut total = 0;
        for read in 0..self.instance.ops.len() as u32 {
            match self.instance.ops[read as usize].set {
                NONE => {}
                set => match self.instance.sets.get(set) {
                    [source] => self.fix_source(read, *source)?,
                    sources => {
                        total += sources.len();
                        if total <= MOST_OPEN_SOURCES {
                            self.open_read(read, sources)?;
                        }
                    }
                },
            }
        }
        Ok(())
    }

    /// Takes up a read with several sources. An update in its own set is no source.
    fn open_read(&mut self, read: u32, sources: &[u32]) -> Result<(), ClosureContradiction> {
        let left: Vec<u32> = sources.iter().copied().filter(|&source| source != read).collect();
        if let [only] = left[..] {
            self.fix_source(read, only)?;
        }
        self.open.push(OpenRead { read, narrowed: left.len() < sources.len(), left });
        Ok(())
    }

    /// Returns `true` if `a` is known to come before `b`.
    #[inline]
    fn before(&self, a: u32, b: u32) -> bool {
        let chain = self.preserved.chain_of[a as usize] as usize;
        self.preserved.at[a as usize] < self.clocks[b as usize * self.preserved.chains + chain]
    }

    /// The last write of a chain that is known to come before an event.
    #[inline]
    fn latest_before(&self, chain: &WriteChain, event: u32) -> Option<u32> {
        let clock = self.clocks[event as usize * self.preserved.chains + chain.chain as usize];
        let at = &self.preserved.at;
        let count = chain.writes.partition_point(|&write| at[write as usize] < clock);
        count.checked_sub(1).map(|last| chain.writes[last])
    }

    /// Infers that one event comes before another, if that is news.
    fn infer(&mut self, from: u32, to: u32, why: Why) -> Result<(), ClosureContradiction> {
        if self.before(from, to) {
            return Ok(());
        }
        let fact = self.inferences.facts.len() as u32;
        let edge =
            OrderEdge { from: EventId::new(from as usize), to: EventId::new(to as usize), why };
        self.inferences.facts.push(Fact::Order(edge));
        self.inferences.edges_from[from as usize].push(fact);
        if self.instance.ops[to as usize].kind == OpRole::Init {
            return Err(ClosureContradiction::Cycle(to));
        }
        self.join(from, to)
    }

    /// Carries what comes before `from`, and `from` itself, over to `to`.
    #[inline]
    fn join(&mut self, from: u32, to: u32) -> Result<(), ClosureContradiction> {
        let chains = self.preserved.chains;
        let (source, target) = (from as usize * chains, to as usize * chains);
        let mut changed = false;
        for chain in 0..chains {
            let clock = self.clocks[source + chain];
            if clock > self.clocks[target + chain] {
                self.clocks[target + chain] = clock;
                changed = true;
            }
        }
        let own = target + self.preserved.chain_of[from as usize] as usize;
        if self.clocks[own] <= self.preserved.at[from as usize] {
            self.clocks[own] = self.preserved.at[from as usize] + 1;
            changed = true;
        }
        if self.before(to, to) {
            return Err(ClosureContradiction::Cycle(to));
        }
        if changed {
            self.todo.push(to);
        }
        Ok(())
    }

    fn propagate(&mut self, event: u32) -> Result<(), ClosureContradiction> {
        let preserved = self.preserved;
        for to in preserved.successors(event) {
            self.join(event, to)?;
        }
        for i in 0..self.inferences.edges_from[event as usize].len() {
            let fact = self.inferences.edges_from[event as usize][i];
            if let Fact::Order(edge) = self.inferences.facts[fact as usize] {
                self.join(event, edge.to.index() as u32)?;
            }
        }
        Ok(())
    }

    /// A read is known to have one source.
    fn fix_source(&mut self, read: u32, source: u32) -> Result<(), ClosureContradiction> {
        self.only[read as usize] = source;
        let (chain_of, at) = (&self.preserved.chain_of, &self.preserved.at);
        let readers = &mut self.last_readers[source as usize];
        match readers.iter_mut().find(|r| chain_of[**r as usize] == chain_of[read as usize]) {
            Some(last) if at[*last as usize] < at[read as usize] => *last = read,
            Some(_) => {}
            None => readers.push(read),
        }
        // Its own thread's latest write comes before the read by program order, or is forwarded.
        let own_latest = self.instance.ops[read as usize].own_latest;
        if source != own_latest {
            self.infer(source, read, Why::ReadsFrom)?;
            if own_latest != NONE {
                let read = EventId::new(read as usize);
                self.infer(own_latest, source, Why::OwnStoreFirst { read })?;
            }
        }
        self.todo.push(read);
        self.todo.push(source);
        Ok(())
    }

    /// Returns `true` if a load may find a source in its own store buffer.
    fn may_forward(&self, read: u32, source: u32) -> bool {
        let op = &self.instance.ops[read as usize];
        op.kind == OpRole::Read && op.own_latest == source && self.buffers.is_buffered(source)
    }

    fn apply_rules(&mut self, event: u32) -> Result<(), ClosureContradiction> {
        let op = self.instance.ops[event as usize];
        if op.location == NONE {
            return Ok(());
        }
        let source = self.only[event as usize];
        let writes = op.kind.writes();
        for i in 0..self.writes[op.location as usize].len() {
            let chain = &self.writes[op.location as usize][i];
            let Some(write) = self.latest_before(chain, event) else { continue };
            if source != NONE && write != source {
                let read = EventId::new(event as usize);
                self.infer(write, source, Why::BeforeSource { read })?;
            }
            if writes {
                self.readers_come_first(write, event)?;
            }
        }
        Ok(())
    }

    /// Whoever reads `source` comes before `write`, which comes after it.
    fn readers_come_first(&mut self, source: u32, write: u32) -> Result<(), ClosureContradiction> {
        for i in 0..self.last_readers[source as usize].len() {
            let reader = self.last_readers[source as usize][i];
            if reader != write {
                let source = EventId::new(source as usize);
                self.infer(reader, write, Why::BeforeOverwrite { source })?;
            }
        }
        Ok(())
    }

    fn narrow_open_reads(&mut self) -> Result<(), ClosureContradiction> {
        let mut open = std::mem::take(&mut self.open);
        for open in &mut open {
            if open.left.len() > 1 {
                self.exclude_sources(open);
                match open.left[..] {
                    [] => return Err(ClosureContradiction::NoSource(open.read)),
                    [only] => self.fix_last_source(open.read, only)?,
                    _ => self.apply_open_rules(open)?,
                }
            }
        }
        self.open = open;
        Ok(())
    }

    /// Fixes the last source of an open read, and schedules all writes of its location again.
    fn fix_last_source(&mut self, read: u32, source: u32) -> Result<(), ClosureContradiction> {
        self.fix_source(read, source)?;
        let location = self.instance.ops[read as usize].location as usize;
        for chain in &self.writes[location] {
            chain.writes.iter().for_each(|&write| self.todo.push(write));
        }
        Ok(())
    }

    fn exclude_sources(&mut self, open: &mut OpenRead) {
        let read = open.read;
        let before = open.left.len();
        let mut left = std::mem::take(&mut open.left);
        left.retain(|&source| match self.why_not(read, source) {
            None => true,
            Some(why) => {
                let (read, source) = (EventId::new(read as usize), EventId::new(source as usize));
                self.inferences.facts.push(Fact::Excluded { read, source, why });
                false
            }
        });
        open.narrowed |= left.len() != before;
        open.left = left;
    }

    fn why_not(&self, read: u32, source: u32) -> Option<NotFrom> {
        if self.before(read, source) && !self.may_forward(read, source) {
            return Some(NotFrom::Later);
        }
        let op = &self.instance.ops[read as usize];
        if op.own_latest != NONE && op.own_latest != source && self.before(source, op.own_latest) {
            return Some(NotFrom::OwnStore { by: EventId::new(op.own_latest as usize) });
        }
        self.writes[op.location as usize].iter().find_map(|chain| {
            let write = self.latest_before(chain, read)?;
            let hides = write != source && self.before(source, write);
            hides.then(|| NotFrom::Hidden { by: EventId::new(write as usize) })
        })
    }

    fn apply_open_rules(&mut self, open: &OpenRead) -> Result<(), ClosureContradiction> {
        let (read, left) = (open.read, &open.left[..]);
        // If some source comes first, or last, a walk over all of them ends at it.
        let earlier = |a: u32, b: u32| if self.before(b, a) { b } else { a };
        let all_after = |first: &u32| left.iter().all(|s| s == first || self.before(*first, *s));
        let first = left.iter().copied().reduce(earlier).filter(all_after);
        let later = |a: u32, b: u32| if self.before(a, b) { b } else { a };
        let all_before = |last: &u32| left.iter().all(|s| s == last || self.before(*s, *last));
        let last = left.iter().copied().reduce(later).filter(all_before);
        if let Some(first) = first
            && !left.iter().any(|&source| self.may_forward(read, source))
        {
            self.infer(first, read, Why::FirstSource)?;
        }
        let location = self.instance.ops[read as usize].location as usize;
        for i in 0..self.writes[location].len() {
            if let Some(last) = last {
                self.others_before_last(read, left, last, i)?;
            }
            let chain = &self.writes[location][i];
            let over = |&write: &u32| {
                !left.iter().all(|&source| source != write && self.before(source, write))
            };
            let overwrite = chain.writes.get(chain.writes.partition_point(over)).copied();
            if let Some(write) = overwrite.filter(|&write| write != read) {
                let source = EventId::new(last.unwrap_or(left[0]) as usize);
                self.infer(read, write, Why::BeforeOverwrite { source })?;
            }
        }
        Ok(())
    }

    /// Infers that a write before the read that is not among its sources comes before its last source.
    fn others_before_last(
        &mut self,
        read: u32,
        left: &[u32],
        last: u32,
        chain: usize,
    ) -> Result<(), ClosureContradiction> {
        let location = self.instance.ops[read as usize].location as usize;
        match self.latest_before(&self.writes[location][chain], read) {
            Some(write) if left.binary_search(&write).is_err() => {
                let read = EventId::new(read as usize);
                self.infer(write, last, Why::BeforeSource { read })
            }
            _ => Ok(()),
        }
    }
}

fn write_chains(instance: &Instance, preserved: &Preserved) -> Vec<Vec<WriteChain>> {
    let mut writes: Vec<Vec<WriteChain>> = (0..instance.locations).map(|_| vec![]).collect();
    for event in 0..instance.ops.len() as u32 {
        let op = &instance.ops[event as usize];
        if op.kind.writes() {
            let chain = preserved.chain_of[event as usize];
            let chains = &mut writes[op.location as usize];
            match chains.iter_mut().find(|known| known.chain == chain) {
                Some(known) => known.writes.push(event),
                None => chains.push(WriteChain { chain, writes: vec![event] }),
            }
        }
    }
    writes
}

/// The events to process, as a priority queue by rank.
struct Todo {
    /// By rank.
    event_at: Vec<u32>,
    /// By event.
    rank_of: Vec<u32>,
    /// Bit set of ranks.
    words: Vec<u64>,
    /// No rank below this word is in the set.
    from: usize,
}

impl Todo {
    /// All events, in this order.
    fn new(sorted: &[u32]) -> Todo {
        let events = sorted.len();
        let mut rank_of = vec![0; events];
        for (rank, &event) in sorted.iter().enumerate() {
            rank_of[event as usize] = rank as u32;
        }
        let mut todo = Todo {
            event_at: sorted.to_vec(),
            rank_of,
            words: vec![0; events.div_ceil(64)],
            from: 0,
        };
        sorted.iter().for_each(|&event| todo.push(event));
        todo
    }

    #[inline]
    fn push(&mut self, event: u32) {
        let rank = self.rank_of[event as usize] as usize;
        self.words[rank / 64] |= 1 << (rank % 64);
        self.from = self.from.min(rank / 64);
    }

    fn is_empty(&mut self) -> bool {
        while self.from < self.words.len() && self.words[self.from] == 0 {
            self.from += 1;
        }
        self.from == self.words.len()
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let word = &mut self.words[self.from];
        let rank = self.from * 64 + word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(self.event_at[rank])
    }
}
