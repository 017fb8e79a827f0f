//! The incremental checker against brute force over all modification orders.

use oracle::{Event, Kind, Method, Oracle};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use raddle_consistency::incremental::{AccessKind, Incremental, Refused, UndoMark, WriteId};
use raddle_core::execution::MemoryOrder::{
    self, AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst,
};
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::Model;
#[allow(dead_code, reason = "only the configuration is needed here")]
use raddle_testkit::executions::config;

const MODELS: [Model; 4] = [Model::Wra, Model::Ra, Model::Rc20, Model::Relaxed];

/// The axioms, read literally, with bit matrices. It shares nothing with the checker.
mod oracle {
    use super::{MemoryOrder, Model};

    /// What an event is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Kind {
        Init,
        Read,
        Write,
        Update,
        Lock,
        Unlock,
        Fence,
        Spawn(usize),
        Join(usize),
    }

    /// An event. Sources are indices of events.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Event {
        pub(crate) thread: usize,
        pub(crate) kind: Kind,
        pub(crate) location: usize,
        pub(crate) order: MemoryOrder,
        pub(crate) source: Option<usize>,
    }

    impl Event {
        pub(crate) fn writes(&self) -> bool {
            !matches!(self.kind, Kind::Read | Kind::Fence | Kind::Spawn(_) | Kind::Join(_))
        }

        fn is_sc_fence(&self) -> bool {
            self.kind == Kind::Fence && self.order == MemoryOrder::SeqCst
        }
    }

    /// A relation: by event, the set of its successors.
    type Relation = Vec<u128>;

    fn has(relation: &Relation, a: usize, b: usize) -> bool {
        relation[a] >> b & 1 == 1
    }

    /// How to decide.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Method {
        /// All modification orders.
        BruteForce,
        /// Whether the forced order of chains has a cycle, for long executions.
        Chains,
        /// Both, which must agree.
        Both,
    }

    /// An execution under a model.
    pub(crate) struct Oracle<'a> {
        model: Model,
        events: &'a [Event],
        /// Happens-before.
        hb: Relation,
        /// `rf?; hb?` without the identity.
        known: Relation,
        /// `rf?; hb`
        seen: Relation,
    }

    impl<'a> Oracle<'a> {
        /// The relations of some events in an order of adding them, initial writes first.
        pub(crate) fn new(model: Model, events: &'a [Event]) -> Oracle<'a> {
            let mut rf = vec![0; events.len()];
            for (r, event) in events.iter().enumerate() {
                event.source.into_iter().for_each(|w| rf[w] |= 1 << r);
            }
            let mut oracle = Oracle { model, events, hb: vec![], known: vec![], seen: vec![] };
            oracle.hb = oracle.happens_before(&rf);
            oracle.seen = oracle.seen_by(&rf);
            oracle.known = oracle.seen.iter().zip(&rf).map(|(seen, rf)| seen | rf).collect();
            oracle
        }

        fn seen_by(&self, rf: &Relation) -> Relation {
            let row = |w: usize| {
                let reads = (0..self.events.len()).filter(|&r| has(rf, w, r));
                reads.fold(self.hb[w], |row, r| row | self.hb[r])
            };
            (0..self.events.len()).map(row).collect()
        }

        /// Atomic, acquire, release: as the model takes it.
        fn strength(&self, e: usize) -> (bool, bool, bool) {
            let Event { kind, order, .. } = self.events[e];
            let written = (order.is_atomic(), order.is_acquire(), order.is_release());
            match (kind, self.model) {
                (Kind::Init, _) => (false, false, false),
                (Kind::Lock, _) => (true, true, false),
                (Kind::Unlock, _) => (true, false, true),
                (_, Model::Relaxed) => (order.is_atomic(), false, false),
                (Kind::Fence, _) | (_, Model::Rc20) => written,
                _ => (order.is_atomic(), order.is_atomic(), order.is_atomic()),
            }
        }

        fn po(&self, a: usize, b: usize) -> bool {
            let (x, y) = (&self.events[a], &self.events[b]);
            a < b && y.kind != Kind::Init && (x.kind == Kind::Init || x.thread == y.thread)
        }

        /// Additional synchronization by spawn and join.
        fn asw(&self, a: usize, b: usize) -> bool {
            let (x, y) = (&self.events[a], &self.events[b]);
            let starts = x.kind == Kind::Spawn(y.thread) && y.kind != Kind::Init;
            let ends = match y.kind {
                Kind::Join(child) => a < b && (x.thread == child || x.kind == Kind::Spawn(child)),
                _ => false,
            };
            starts || ends
        }

        fn happens_before(&self, rf: &Relation) -> Relation {
            let n = self.events.len();
            let mut hb = self.synchronizes_with(rf);
            for (a, row) in hb.iter_mut().enumerate() {
                for b in 0..n {
                    *row |= u128::from(self.po(a, b) || self.asw(a, b)) << b;
                }
            }
            close(&mut hb);
            hb
        }

        /// `[E⊒rel]; ([F]; po)?; [W⊒rlx]; rf⁺; [R⊒rlx]; (po; [F])?; [E⊒acq]`, and the hidden chain of
        /// sequentially consistent fences.
        fn synchronizes_with(&self, rf: &Relation) -> Relation {
            let n = self.events.len();
            let mut chain = rf.clone();
            close(&mut chain);
            let mut sw = vec![0; n];
            let fence = |e: usize| self.events[e].kind == Kind::Fence;
            for w in 0..n {
                for r in (0..n).filter(|&r| has(&chain, w, r)) {
                    if !self.strength(w).0 || !self.strength(r).0 {
                        continue;
                    }
                    for a in (0..n).filter(|&a| a == w || fence(a) && self.po(a, w)) {
                        for b in (0..n).filter(|&b| b == r || fence(b) && self.po(r, b)) {
                            let syncs = self.strength(a).2 && self.strength(b).1;
                            sw[a] |= u128::from(syncs) << b;
                        }
                    }
                }
            }
            if self.model != Model::Relaxed {
                let fences: Vec<usize> = (0..n).filter(|&e| self.events[e].is_sc_fence()).collect();
                fences.windows(2).for_each(|pair| sw[pair[0]] |= 1 << pair[1]);
            }
            sw
        }

        fn writes(&self, location: usize) -> Vec<usize> {
            let here = |&e: &usize| self.events[e].writes() && self.events[e].location == location;
            (0..self.events.len()).filter(here).collect()
        }

        fn locations(&self) -> usize {
            self.events.iter().filter(|event| event.kind == Kind::Init).count()
        }

        /// Whether two updates read the same write.
        fn shares_source(&self) -> bool {
            let updates = self.events.iter().filter(|e| e.writes() && e.source.is_some());
            let mut sources: Vec<_> = updates.map(|update| update.source).collect();
            let count = sources.len();
            sources.sort_unstable();
            sources.dedup();
            sources.len() < count
        }

        /// Whether the model allows the execution.
        pub(crate) fn allows(&self, method: Method) -> bool {
            if self.model == Model::Wra {
                return !self.shares_source() && self.is_weakly_coherent();
            }
            match method {
                Method::BruteForce => self.has_coherent_orders(),
                Method::Chains => self.orders_chains(),
                Method::Both => {
                    assert_eq!(self.has_coherent_orders(), self.orders_chains());
                    self.orders_chains()
                }
            }
        }

        /// Whether there are coherent modification orders.
        fn has_coherent_orders(&self) -> bool {
            (0..self.locations()).all(|location| {
                let mut writes = self.writes(location);
                self.some_order(&mut writes, 1)
            })
        }

        /// `irreflexive(hbloc; [W]; hb; rf⁻¹)`
        fn is_weakly_coherent(&self) -> bool {
            let reads = (0..self.events.len()).filter_map(|r| Some((r, self.events[r].source?)));
            reads.into_iter().all(|(r, w)| {
                let between = |&o: &usize| has(&self.hb, w, o) && has(&self.hb, o, r);
                !self.writes(self.events[r].location).iter().any(between)
            })
        }

        /// Whether some order of the writes from `fixed` on is coherent.
        fn some_order(&self, mo: &mut Vec<usize>, fixed: usize) -> bool {
            if fixed == mo.len() {
                return self.is_coherent(mo);
            }
            (fixed..mo.len()).any(|next| {
                mo.swap(fixed, next);
                let found = self.some_order(mo, fixed + 1);
                mo.swap(fixed, next);
                found
            })
        }

        fn is_coherent(&self, mo: &[usize]) -> bool {
            let place = |w| mo.iter().position(|&o| o == w);
            // irreflexive(mo; rf?; hb?)
            for (at, &w) in mo.iter().enumerate() {
                if mo[..at].iter().any(|&earlier| has(&self.known, w, earlier)) {
                    return false;
                }
            }
            for (r, event) in self.events.iter().enumerate() {
                let Some(at) = event.source.and_then(place) else { continue };
                let mut fr = mo[at + 1..].iter().filter(|&&w| w != r);
                // irreflexive(fr; rf?; hb) and irreflexive(fr; mo)
                if fr.any(|&w| has(&self.seen, w, r) || place(r) > place(w)) {
                    return false;
                }
            }
            true
        }

        /// Whether the forced order of chains has no cycle.
        fn orders_chains(&self) -> bool {
            !self.shares_source() && (0..self.locations()).all(|l| self.chains_are_ordered(l))
        }

        /// The first write of the chain of a write, and how far it is from there.
        fn chain(&self, mut write: usize) -> (usize, usize) {
            let mut steps = 0;
            while let Some(source) = self.events[write].source {
                write = source;
                steps += 1;
            }
            (write, steps)
        }

        fn chains_are_ordered(&self, location: usize) -> bool {
            let writes = self.writes(location);
            let mut before = vec![0; self.events.len()];
            let mut order = |a: usize, b: usize| {
                let ((x, i), (y, j)) = (self.chain(a), self.chain(b));
                before[x] |= u128::from(x != y) << y;
                x != y || i < j
            };
            for &w in &writes {
                if w != writes[0] && !order(writes[0], w) {
                    return false;
                }
                for &o in &writes {
                    if o != w && has(&self.known, o, w) && !order(o, w) {
                        return false;
                    }
                }
            }
            for (r, event) in self.events.iter().enumerate() {
                let Some(source) = event.source.filter(|_| event.location == location) else {
                    continue;
                };
                for &o in &writes {
                    if o != source && has(&self.seen, o, r) && !order(o, source) {
                        return false;
                    }
                }
            }
            close(&mut before);
            (0..before.len()).all(|w| !has(&before, w, w))
        }
    }

    /// The transitive closure.
    fn close(relation: &mut Relation) {
        for via in 0..relation.len() {
            let row = relation[via];
            for from in relation.iter_mut() {
                if *from >> via & 1 == 1 {
                    *from |= row;
                }
            }
        }
    }
}

/// What to do next, if it makes sense then.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Read,
    Write,
    Update,
    /// Acquire the lock, or release it.
    Lock,
    Fence,
    Spawn,
    Join,
    Undo,
}

/// A step to be.
#[derive(Clone, Debug)]
struct Draft {
    thread: usize,
    action: Action,
    location: usize,
    order: MemoryOrder,
    dice: Index,
}

/// The lock is the last location.
const LOCATIONS: usize = 4;
const LOCK: usize = LOCATIONS - 1;

/// A run of the checker, with what it was told.
struct Run {
    model: Model,
    method: Method,
    checker: Incremental,
    events: Vec<Event>,
    /// By write of the checker, its event.
    writes: Vec<(WriteId, usize)>,
    /// The states before each step: the mark, how many events and how many writes.
    steps: Vec<(UndoMark, usize, usize)>,
}

impl Run {
    fn new(model: Model, method: Method) -> Run {
        let init = |location| Event {
            thread: usize::MAX,
            kind: Kind::Init,
            location,
            order: NonAtomic,
            source: None,
        };
        let events = (0..LOCATIONS).map(init).collect();
        let checker = Incremental::new(model).expect("a supported model");
        Run { model, method, checker, events, writes: vec![], steps: vec![] }
    }

    fn step(&mut self, draft: &Draft) -> Result<(), TestCaseError> {
        let joined = |e: &Event| e.kind == Kind::Join(draft.thread);
        if draft.action == Action::Undo {
            self.undo(&draft.dice);
        } else if !self.events.iter().any(joined) {
            let before = (self.checker.mark(), self.events.len(), self.writes.len());
            self.perform(draft)?;
            if self.events.len() > before.1 {
                self.steps.push(before);
            }
        }
        Ok(())
    }

    /// Takes a few steps back, all at once or one by one.
    fn undo(&mut self, dice: &Index) {
        let count = dice.index(self.steps.len() + 1);
        let Some(&(mark, events, writes)) = self.steps.get(self.steps.len() - count) else {
            return;
        };
        if count.is_multiple_of(2) {
            self.checker.undo_to(mark);
        } else {
            (0..count).for_each(|_| assert!(self.checker.undo()));
        }
        assert_eq!(self.checker.mark(), mark);
        self.steps.truncate(self.steps.len() - count);
        self.events.truncate(events);
        self.writes.truncate(writes);
    }

    fn perform(&mut self, draft: &Draft) -> Result<(), TestCaseError> {
        let Draft { thread, location, order, .. } = *draft;
        let (id, place) = (ThreadId::new(thread), LocationId::new(location));
        let event = Event { thread, kind: Kind::Read, location, order, source: None };
        match draft.action {
            Action::Read => return self.observe(event, &draft.dice),
            Action::Update => {
                let order = if order == NonAtomic { AcqRel } else { order };
                return self.observe(Event { kind: Kind::Update, order, ..event }, &draft.dice);
            }
            Action::Lock => return self.lock_or_unlock(thread, &draft.dice),
            Action::Write => {
                let write = self.checker.write(id, place, order);
                prop_assert_eq!(write.index(), Some(self.writes.len()));
                self.writes.push((write, self.events.len()));
                self.events.push(Event { kind: Kind::Write, ..event });
            }
            Action::Fence => {
                let order = if order == NonAtomic { SeqCst } else { order };
                self.checker.fence(id, order);
                self.events.push(Event { kind: Kind::Fence, order, ..event });
            }
            Action::Spawn | Action::Join => self.start_or_join(event, location),
            Action::Undo => {}
        }
        Ok(())
    }

    /// Starts a thread that has not begun, or joins one.
    fn start_or_join(&mut self, event: Event, child: usize) {
        let (own, other) = (ThreadId::new(event.thread), ThreadId::new(child));
        if child == event.thread {
            return;
        }
        if self.events.iter().any(|e| e.thread == child || e.kind == Kind::Spawn(child)) {
            self.checker.join(own, other);
            self.events.push(Event { kind: Kind::Join(child), ..event });
        } else {
            self.checker.spawn(own, other);
            self.events.push(Event { kind: Kind::Spawn(child), ..event });
        }
    }

    fn lock_or_unlock(&mut self, thread: usize, dice: &Index) -> Result<(), TestCaseError> {
        let own = self.events.iter().rfind(|e| e.thread == thread && e.location == LOCK);
        let held = own.is_some_and(|e| e.kind == Kind::Lock);
        let kind = if held { Kind::Unlock } else { Kind::Lock };
        self.observe(Event { thread, kind, location: LOCK, order: Relaxed, source: None }, dice)
    }

    /// The event of a write of the checker.
    fn event_of(&self, write: WriteId, location: usize) -> usize {
        write.index().map_or(location, |index| self.writes[index].1)
    }

    fn write_of(&self, event: usize) -> WriteId {
        let added = self.writes.iter().find(|&&(_, at)| at == event);
        added.map_or(WriteId::INIT, |&(write, _)| write)
    }

    fn sources(&mut self, event: &Event) -> Vec<usize> {
        let access = if event.writes() { AccessKind::Update } else { AccessKind::Read };
        let (thread, location) = (ThreadId::new(event.thread), LocationId::new(event.location));
        let mut out = vec![WriteId::INIT];
        self.checker.sources(thread, location, access, &mut out);
        let mut out: Vec<usize> = out.iter().map(|&w| self.event_of(w, event.location)).collect();
        out.sort_unstable();
        out
    }

    /// The sources with which the axioms hold.
    fn expected(&self, event: &Event) -> Vec<usize> {
        let mut events = self.events.clone();
        events.push(*event);
        let mut allowed = vec![];
        for w in 0..self.events.len() {
            if self.events[w].writes() && self.events[w].location == event.location {
                events[self.events.len()].source = Some(w);
                if Oracle::new(self.model, &events).allows(self.method) {
                    allowed.push(w);
                }
            }
        }
        allowed
    }

    /// Compares the sources of an event, tries all the others, and takes one of them.
    fn observe(&mut self, event: Event, dice: &Index) -> Result<(), TestCaseError> {
        let expected = self.expected(&event);
        let found = self.sources(&event);
        prop_assert_eq!(
            &found,
            &expected,
            "{:?} after {:?} under {}",
            event,
            self.events,
            self.model
        );
        let mark = self.checker.mark();
        for w in 0..self.events.len() {
            if !self.events[w].writes() {
                continue;
            }
            let here = self.events[w].location == event.location;
            if !here && w >= LOCATIONS || here && !expected.contains(&w) {
                let refused = self.tell(&event, self.write_of(w));
                prop_assert!(refused.is_err(), "{:?} from {} was taken", event, w);
                prop_assert_eq!(refused == Err(Refused::NoSuchWrite), !here);
            }
        }
        prop_assert_eq!(self.checker.mark(), mark);
        prop_assert_eq!(self.sources(&event), expected);
        let mut choices = found;
        match event.kind {
            Kind::Lock => choices.retain(|&w| self.events[w].kind != Kind::Lock),
            Kind::Unlock => choices.retain(|&w| self.events[w].thread == event.thread),
            _ => {}
        }
        if !choices.is_empty() {
            let source = choices[dice.index(choices.len())];
            let told = self.tell(&event, self.write_of(source));
            prop_assert!(told.is_ok(), "{:?}", told);
            if let Ok(Some(write)) = told {
                prop_assert_eq!(write.index(), Some(self.writes.len()));
                self.writes.push((write, self.events.len()));
            }
            self.events.push(Event { source: Some(source), ..event });
        }
        Ok(())
    }

    /// Adds an event that observes something; says which write it is, if it is one.
    fn tell(&mut self, event: &Event, source: WriteId) -> Result<Option<WriteId>, Refused> {
        let (thread, location) = (ThreadId::new(event.thread), LocationId::new(event.location));
        match event.kind {
            Kind::Read => self.checker.read(thread, location, source, event.order).map(|()| None),
            Kind::Lock => self.checker.lock(thread, location, source).map(Some),
            Kind::Unlock => self.checker.unlock(thread, location, source).map(Some),
            _ => self.checker.update(thread, location, source, event.order).map(Some),
        }
    }
}

fn agrees(drafts: &[Draft], method: Method) -> Result<(), TestCaseError> {
    for model in MODELS {
        let mut run = Run::new(model, method);
        for draft in drafts {
            run.step(draft)?;
        }
    }
    Ok(())
}

fn orders() -> impl Strategy<Value = MemoryOrder> {
    select(vec![NonAtomic, Relaxed, Relaxed, Relaxed, Acquire, Release, AcqRel, SeqCst])
}

/// Random steps of some threads and locations.
fn programs(threads: usize, locations: usize, steps: usize) -> impl Strategy<Value = Vec<Draft>> {
    let mut actions = vec![Action::Read; 8];
    actions.extend([Action::Write; 7]);
    actions.extend([Action::Update; 4]);
    actions.extend([Action::Fence; 3]);
    actions.extend([Action::Lock; 2]);
    actions.extend([Action::Spawn, Action::Join, Action::Undo]);
    let draft = (0..threads, select(actions), 0..locations, orders(), any::<Index>()).prop_map(
        |(thread, action, location, order, dice)| Draft { thread, action, location, order, dice },
    );
    vec(draft, 1..=steps)
}

/// The classical tests: by thread, what it writes (`W`) and reads (`R`), and where. Where only the
/// order of writes is at stake, every thread reads at the end.
const SHAPES: [&[&str]; 14] = [
    &["W0 R1", "W1 R0"],
    &["W0 W1", "R1 R0"],
    &["R0 W1", "R1 W0"],
    &["W0", "W1", "R0 R1", "R1 R0"],
    &["W0 W1 R1", "W1 W0 R0"],
    &["W0 W1", "R1 W0 R0"],
    &["W0 W1 R1", "W1 R0"],
    &["W0", "R0 W1", "R1 R0"],
    &["W0 W1", "R1 W2", "R2 R0"],
    &["W0 R0", "R0 W1", "R1 W0 R0"],
    &["W0", "W0", "R0 R0", "R0 R0"],
    &["W0 R0 R0", "W0 R0 R0", "R0 R0"],
    &["W0 W0 W1", "R1 W0 R0", "R0 R0"],
    &["W0 W1", "W1 W2", "R2 R1 R0", "R1 R0"],
];

/// Random versions of the classical tests: orders, fences between accesses, updates instead of
/// accesses, any interleaving, and now and then a step back.
fn shapes() -> impl Strategy<Value = Vec<Draft>> {
    let access = (orders(), orders(), 0..3u32, 0..5u32, any::<Index>());
    let accesses = vec(access, 16);
    let schedule = vec((0..4usize, 0..16u32, any::<Index>()), 28);
    (select(SHAPES.to_vec()), accesses, schedule).prop_map(|(shape, accesses, schedule)| {
        let mut dice = accesses.into_iter().cycle();
        let mut threads: Vec<_> = shape
            .iter()
            .enumerate()
            .map(|(thread, text)| {
                let mut drafts = vec![];
                for word in text.split(' ') {
                    let (order, between, fence, update, dice) = dice.next().expect("a cycle");
                    let location = usize::from(word.as_bytes()[1] - b'0');
                    let action = match (update, word.as_bytes()[0]) {
                        (0, _) => Action::Update,
                        (_, b'W') => Action::Write,
                        _ => Action::Read,
                    };
                    if fence == 0 && !drafts.is_empty() {
                        let action = Action::Fence;
                        drafts.push(Draft { thread, action, location, order: between, dice });
                    }
                    drafts.push(Draft { thread, action, location, order, dice });
                }
                drafts.into_iter()
            })
            .collect();
        let mut merged = vec![];
        for (thread, undo, dice) in schedule {
            let count = threads.len();
            merged.extend(threads[thread % count].next());
            if undo == 0 {
                let (action, location) = (Action::Undo, 0);
                merged.push(Draft { thread: 0, action, location, order: Relaxed, dice });
            }
        }
        threads.into_iter().for_each(|rest| merged.extend(rest));
        merged
    })
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn the_sources_of_random_programs_are_those_of_brute_force(drafts in programs(4, 3, 9)) {
        agrees(&drafts, Method::BruteForce)?;
    }

    #[test]
    fn the_sources_of_programs_with_one_location_are_those_of_brute_force(
        drafts in programs(3, 1, 9)
    ) {
        agrees(&drafts, Method::BruteForce)?;
    }

    #[test]
    fn the_sources_in_critical_cycles_are_those_of_brute_force(drafts in shapes()) {
        agrees(&drafts, Method::BruteForce)?;
    }

    #[test]
    fn the_oracles_agree(drafts in programs(3, 2, 9)) {
        agrees(&drafts, Method::Both)?;
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn the_sources_of_long_programs_are_those_of_the_forced_order(drafts in programs(6, 2, 60)) {
        agrees(&drafts, Method::Chains)?;
    }

    #[test]
    fn the_sources_of_long_programs_with_one_location_are_those_of_the_forced_order(
        drafts in programs(3, 1, 60)
    ) {
        agrees(&drafts, Method::Chains)?;
    }
}

fn p(thread: usize) -> ThreadId {
    ThreadId::new(thread)
}

fn x() -> LocationId {
    LocationId::new(0)
}

fn sources(checker: &mut Incremental, thread: ThreadId, access: AccessKind) -> Vec<Option<usize>> {
    let mut out = vec![];
    checker.sources(thread, x(), access, &mut out);
    out.into_iter().map(WriteId::index).collect()
}

#[test]
fn sources_come_by_thread_and_the_last_first() {
    let mut checker = Incremental::new(Model::Rc20).unwrap();
    let first = checker.write(p(1), x(), Relaxed);
    checker.write(p(0), x(), Relaxed);
    checker.write(p(1), x(), Relaxed);
    assert_eq!(sources(&mut checker, p(2), AccessKind::Read), [Some(1), Some(2), Some(0), None]);
    assert_eq!(sources(&mut checker, p(1), AccessKind::Read), [Some(1), Some(2)]);
    checker.update(p(2), x(), first, Relaxed).unwrap();
    assert_eq!(sources(&mut checker, p(0), AccessKind::Update), [Some(1), Some(2), Some(3)]);
    assert!(checker.undo());
    assert_eq!(sources(&mut checker, p(2), AccessKind::Update), [Some(1), Some(2), Some(0), None]);
}

#[test]
fn the_same_question_has_another_answer_after_undo() {
    let mut checker = Incremental::new(Model::Ra).unwrap();
    let start = checker.mark();
    checker.write(p(0), x(), Release);
    assert_eq!(sources(&mut checker, p(0), AccessKind::Read), [Some(0)]);
    assert!(checker.undo());
    assert_eq!(sources(&mut checker, p(0), AccessKind::Read), [None]);
    checker.write(p(0), x(), Release);
    assert_eq!(sources(&mut checker, p(0), AccessKind::Read), [Some(0)]);
    checker.undo_to(start);
    assert_eq!(sources(&mut checker, p(0), AccessKind::Read), [None]);
}

#[test]
fn refused_sources_have_a_reason() {
    let mut checker = Incremental::new(Model::Ra).unwrap();
    let write = checker.write(p(0), x(), Release);
    let other = LocationId::new(1);
    let refused = |result: Result<(), Refused>| result.unwrap_err().to_string();
    assert_eq!(
        refused(checker.read(p(0), x(), WriteId::INIT, Acquire)),
        "the thread knows a write that overwrote this one"
    );
    assert_eq!(
        refused(checker.read(p(0), other, write, Acquire)),
        "there is no such write of this location"
    );
    checker.update(p(1), x(), write, AcqRel).unwrap();
    assert_eq!(
        refused(checker.update(p(2), x(), write, AcqRel).map(drop)),
        "another update has read this write"
    );
}

#[test]
fn other_models_are_refused() {
    for model in Model::ALL {
        assert_eq!(Incremental::new(model).is_ok(), MODELS.contains(&model), "{model}");
    }
    assert_eq!(
        Incremental::new(Model::C20).unwrap_err().to_string(),
        "no incremental checker for c20: expected one of ra, wra, rc20, relaxed"
    );
}

#[test]
fn without_undo_there_is_nothing_to_undo() {
    let mut checker = Incremental::without_undo(Model::Rc20).unwrap();
    let start = checker.mark();
    checker.write(p(0), x(), Relaxed);
    assert!(!checker.undo());
    checker.undo_to(start);
    assert_eq!(sources(&mut checker, p(1), AccessKind::Read), [Some(0), None]);
}
