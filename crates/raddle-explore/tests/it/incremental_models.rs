//! The incremental C11 models admit a read with a source if and only if the checker of the model allows the execution
//! with it: after every step, for every write, and after steps were undone.

use raddle_core::execution::{Action, Execution, LocationId, MemoryOrder, ThreadId};
use raddle_core::random::Random;
use raddle_explore::event_set::EventSet;
use raddle_explore::long_set::LongSet;
use raddle_explore::model::c11::{
    C20, CoherenceModel, Ra, Rc11, Rc20, Relaxed, Rules, Sra, WitnessModel, Wra,
};
use raddle_explore::model::{IncrementalModel, NewModel, ReadEffect};
use raddle_testkit::c11_cases::{cycle_case, random_case};

use crate::common::side_by_side::{Phase, SeqCst, SideBySide, lock, object, random_order};
use raddle_testkit::seeds::for_cases;

/// What a random walk does.
struct Walk<'a> {
    threads: usize,
    locations: usize,
    /// The order that prevails.
    favourite: MemoryOrder,
    what: SeqCst,
    random: &'a mut Random,
}

impl Walk<'_> {
    fn order(&mut self, action: &Action) -> MemoryOrder {
        random_order(action, self.favourite, self.what, self.random)
    }

    fn read<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel>(
        &mut self,
        models: &mut SideBySide<M, R, F>,
        thread: ThreadId,
        location: LocationId,
        effect: ReadEffect,
    ) {
        let id = LocationId::new(0);
        let order = self.order(&match effect {
            ReadEffect::Load => Action::Read { location: id, value: 0 },
            ReadEffect::FailedCompareExchange => {
                Action::Cas { location: id, expected: 1, desired: 0, read: 0, succeeded: false }
            }
            ReadEffect::Update | ReadEffect::Sync => {
                Action::Rmw { location: id, read: 0, written: 0 }
            }
        });
        let sources = models.admitted(thread, location, effect, order);
        if let Some(&source) = self.random.pick(&sources) {
            models.read(thread, location, source, effect, order);
        }
    }

    /// One random step of a random thread.
    fn step<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel>(
        &mut self,
        models: &mut SideBySide<M, R, F>,
    ) {
        let threads = (0..self.threads).map(ThreadId::new);
        let running: Vec<ThreadId> =
            threads.filter(|&thread| models.phase(thread) == Phase::Running).collect();
        let Some(&thread) = self.random.pick(&running) else { return };
        let location = LocationId::new(self.random.below(self.locations));
        match self.random.below(40) {
            0..11 => {
                let order = self.order(&Action::Write { location: LocationId::new(0), value: 0 });
                models.store(thread, location, order);
            }
            11..25 => self.read(models, thread, location, ReadEffect::Load),
            25 => self.read(models, thread, location, ReadEffect::FailedCompareExchange),
            26..29 => self.read(models, thread, location, ReadEffect::Update),
            29 => self.read(models, thread, object(self.locations), ReadEffect::Sync),
            30..32 if models.holds(thread) => drop(models.unlock(thread, lock(self.locations))),
            30..32 => drop(models.lock(thread, lock(self.locations))),
            32 => models.fence(thread, None),
            33 => models.cell_access(thread),
            34..37 => {
                let order = self.order(&Action::Fence);
                models.fence(thread, Some(order));
            }
            _ => self.spawn_or_join(models, thread),
        }
    }

    fn spawn_or_join<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel>(
        &mut self,
        models: &mut SideBySide<M, R, F>,
        thread: ThreadId,
    ) {
        let other = ThreadId::new(self.random.below(self.threads));
        match models.phase(other) {
            Phase::Waiting => models.spawn(thread, other),
            Phase::Running if other != thread && other.index() > 0 && self.random.chance(0.3) => {
                models.join(thread, other);
            }
            _ => {}
        }
    }
}

/// Random steps, some of which are undone.
fn walk<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel>(
    events: usize,
    (what, exact): (SeqCst, bool),
    random: &mut Random,
) -> [usize; 2] {
    use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let threads = 2 + random.below(3);
    let phase = |thread: usize| {
        if thread > 0 && random.chance(0.2) { Phase::Waiting } else { Phase::Running }
    };
    let phases = (0..threads).map(phase).collect();
    let locations = 1 + random.below(3);
    let favourite = [Relaxed, Acquire, Release, AcqRel, SeqCst][random.below(5)];
    let mut models: SideBySide<M, R, F> = SideBySide::new(phases, locations, exact);
    let mut walk = Walk { threads, locations, favourite, what, random };
    for _ in 0..2 * events {
        if models.events() >= events || walk.random.chance(0.05) {
            let levels = walk.random.below(models.depth() + 1);
            models.pop(levels);
        }
        if models.events() < events {
            walk.step(&mut models);
        }
        if walk.random.chance(0.05) {
            models.compare(locations, walk.random);
        }
    }
    models.answers
}

/// The events of an execution in a random order, some of which are undone and performed again.
fn follow<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel>(
    execution: &Execution,
    (what, exact): (SeqCst, bool),
    random: &mut Random,
) -> [usize; 2] {
    let spawned = execution.threads().map(|thread| execution.spawned_by(thread).is_some());
    let phase = |spawned| if spawned { Phase::Waiting } else { Phase::Running };
    let phases: Vec<Phase> = spawned.map(phase).collect();
    let threads = phases.len();
    // The lock is among the locations.
    let locations = execution.location_count() - 1;
    let mut models: SideBySide<M, R, F> = SideBySide::new(phases, locations, exact);
    for _ in 0..2 * execution.event_count() {
        let first = random.below(threads);
        let mut order = (first..threads).chain(0..first).map(ThreadId::new);
        order.find(|&thread| {
            models.phase(thread) == Phase::Running && models.follow(execution, thread, what)
        });
        if random.chance(0.03) {
            let levels = random.below(models.depth() + 1);
            models.pop(levels);
        }
        if random.chance(0.03) {
            models.compare(locations, random);
        }
    }
    models.answers
}

/// All kinds of cases for one model. Those without fences as events offer exactly what they admit.
fn agree<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel>(cases: u64, what: SeqCst) {
    let what = (what, !F::new(1, 1).fences_are_events());
    let mut answers = [0; 2];
    let mut count = |[no, yes]: [usize; 2]| {
        answers[0] += no;
        answers[1] += yes;
    };
    for_cases(cases, |random| {
        let events = 6 + random.below(14);
        count(walk::<M, R, F>(events, what, random));
        let (random_case, cycle) = (random_case(random.bits()), cycle_case(random.bits()));
        count(follow::<M, R, F>(&random_case, what, random));
        for _ in 0..4 {
            count(follow::<M, R, F>(&cycle, what, random));
        }
    });
    println!("{}: {answers:?}", M::MODEL);
    assert!(answers[0] > 0 && answers[1] > 0, "{} {answers:?}", M::MODEL);
}

#[test]
fn coherence_model_of_ra_agrees_with_the_checker() {
    agree::<Ra, u64, CoherenceModel<Ra, u64>>(200, SeqCst::AccessesOnly);
}

#[test]
fn coherence_model_of_rc20_agrees_with_the_checker() {
    agree::<Rc20, u64, CoherenceModel<Rc20, u64>>(200, SeqCst::AccessesOnly);
}

#[test]
fn coherence_model_of_relaxed_agrees_with_the_checker() {
    agree::<Relaxed, u64, CoherenceModel<Relaxed, u64>>(200, SeqCst::Everything);
}

#[test]
fn coherence_model_of_wra_agrees_with_the_checker() {
    agree::<Wra, u64, CoherenceModel<Wra, u64>>(200, SeqCst::AccessesOnly);
}

#[test]
fn coherence_model_of_rc11_and_c20_without_seq_cst_agrees_with_the_checker() {
    agree::<Rc11, u64, CoherenceModel<Rc11, u64>>(200, SeqCst::Nothing);
    agree::<C20, LongSet, CoherenceModel<C20, LongSet>>(100, SeqCst::Nothing);
}

#[test]
fn witness_model_of_c20_agrees_with_the_checker() {
    agree::<C20, u64, WitnessModel<C20, u64>>(200, SeqCst::Everything);
}

#[test]
fn witness_model_of_rc11_agrees_with_the_checker() {
    agree::<Rc11, u64, WitnessModel<Rc11, u64>>(200, SeqCst::Everything);
}

#[test]
fn witness_model_of_ra_and_rc20_agrees_with_the_checker() {
    agree::<Ra, LongSet, WitnessModel<Ra, LongSet>>(100, SeqCst::Everything);
    agree::<Rc20, u64, WitnessModel<Rc20, u64>>(200, SeqCst::Everything);
}

#[test]
fn witness_model_of_sra_agrees_with_the_checker() {
    agree::<Sra, u64, WitnessModel<Sra, u64>>(200, SeqCst::AccessesOnly);
}
