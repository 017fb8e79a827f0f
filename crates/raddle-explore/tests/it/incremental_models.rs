//! The faces of the C11 models admit a read with a source if and only if the checker of the model
//! allows the execution with it: after every step, for every write, and after steps were taken back.

use raddle_core::execution::{Action, Execution, LocationId, MemoryOrder};
use raddle_core::random::Random;
use raddle_explore::event_set::{EventSet, Words};
use raddle_explore::model::c11::{C20, Ra, Rc11, Rc20, Relaxed, Rules, Sra, Views, Witnessed, Wra};
use raddle_explore::model::{Effect, IncrementalModel};
use raddle_testkit::c11_cases::{cycle_case, random_case};

use crate::common::driver::{Driver, Phase, SeqCst, lock, object, random_order};
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

    fn read<M: Rules, R: EventSet, F: IncrementalModel<R>>(
        &mut self,
        driver: &mut Driver<M, R, F>,
        thread: usize,
        location: usize,
        effect: Effect,
    ) {
        let id = LocationId::new(0);
        let order = self.order(&match effect {
            Effect::Load => Action::Read { location: id, value: 0 },
            Effect::Failed => {
                Action::Cas { location: id, expected: 1, desired: 0, read: 0, succeeded: false }
            }
            Effect::Update | Effect::Sync => Action::Rmw { location: id, read: 0, written: 0 },
        });
        let sources = driver.ask(thread, location, effect, order);
        if let Some(&source) = self.random.pick(&sources) {
            driver.read(thread, location, source, effect, order);
        }
    }

    /// One random step of a random thread.
    fn step<M: Rules, R: EventSet, F: IncrementalModel<R>>(
        &mut self,
        driver: &mut Driver<M, R, F>,
    ) {
        let running: Vec<usize> =
            (0..self.threads).filter(|&thread| driver.phase(thread) == Phase::Running).collect();
        let Some(&thread) = self.random.pick(&running) else { return };
        let location = self.random.below(self.locations);
        match self.random.below(40) {
            0..11 => {
                let order = self.order(&Action::Write { location: LocationId::new(0), value: 0 });
                driver.store(thread, location, order);
            }
            11..25 => self.read(driver, thread, location, Effect::Load),
            25 => self.read(driver, thread, location, Effect::Failed),
            26..29 => self.read(driver, thread, location, Effect::Update),
            29 => self.read(driver, thread, object(self.locations), Effect::Sync),
            30..32 if driver.holds(thread) => drop(driver.unlock(thread, lock(self.locations))),
            30..32 => drop(driver.lock(thread, lock(self.locations))),
            32 => driver.fence(thread, None),
            33 => driver.access(thread),
            34..37 => {
                let order = self.order(&Action::Fence);
                driver.fence(thread, Some(order));
            }
            _ => self.spawn_or_join(driver, thread),
        }
    }

    fn spawn_or_join<M: Rules, R: EventSet, F: IncrementalModel<R>>(
        &mut self,
        driver: &mut Driver<M, R, F>,
        thread: usize,
    ) {
        let other = self.random.below(self.threads);
        match driver.phase(other) {
            Phase::Waiting => driver.spawn(thread, other),
            Phase::Running if other != thread && other > 0 && self.random.chance(0.3) => {
                driver.join(thread, other);
            }
            _ => {}
        }
    }
}

/// Random steps, some of which are taken back.
fn walk<M: Rules, R: EventSet, F: IncrementalModel<R>>(
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
    let mut driver: Driver<M, R, F> = Driver::new(phases, locations, exact);
    let mut walk = Walk { threads, locations, favourite, what, random };
    for _ in 0..2 * events {
        if driver.events() >= events || walk.random.chance(0.05) {
            let levels = walk.random.below(driver.depth() + 1);
            driver.pop(levels);
        }
        if driver.events() < events {
            walk.step(&mut driver);
        }
        if walk.random.chance(0.05) {
            driver.compare(locations, walk.random);
        }
    }
    driver.answers
}

/// The events of an execution in a random order, some of which are taken back and done again.
fn follow<M: Rules, R: EventSet, F: IncrementalModel<R>>(
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
    let mut driver: Driver<M, R, F> = Driver::new(phases, locations, exact);
    for _ in 0..2 * execution.event_count() {
        let mut thread = random.below(threads);
        for _ in 0..threads {
            let runs = driver.phase(thread) == Phase::Running;
            if runs && driver.follow(execution, thread, what) {
                break;
            }
            thread = (thread + 1) % threads;
        }
        if random.chance(0.03) {
            let levels = random.below(driver.depth() + 1);
            driver.pop(levels);
        }
        if random.chance(0.03) {
            driver.compare(locations, random);
        }
    }
    driver.answers
}

/// All kinds of cases for one face. Those without fences as events offer exactly what they admit.
fn agree<M: Rules, R: EventSet, F: IncrementalModel<R>>(cases: u64, what: SeqCst) {
    let what = (what, !F::FENCES_ARE_EVENTS);
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
fn views_of_ra() {
    agree::<Ra, u64, Views<Ra, u64>>(200, SeqCst::AccessesOnly);
}

#[test]
fn views_of_rc20() {
    agree::<Rc20, u64, Views<Rc20, u64>>(200, SeqCst::AccessesOnly);
}

#[test]
fn views_of_relaxed() {
    agree::<Relaxed, u64, Views<Relaxed, u64>>(200, SeqCst::Everything);
}

#[test]
fn views_of_wra() {
    agree::<Wra, u64, Views<Wra, u64>>(200, SeqCst::AccessesOnly);
}

#[test]
fn views_of_rc11_and_c20_without_seq_cst() {
    agree::<Rc11, u64, Views<Rc11, u64>>(200, SeqCst::Nothing);
    agree::<C20, Words<2>, Views<C20, Words<2>>>(100, SeqCst::Nothing);
}

#[test]
fn witness_of_c20() {
    agree::<C20, u64, Witnessed<C20, u64>>(200, SeqCst::Everything);
}

#[test]
fn witness_of_rc11() {
    agree::<Rc11, u64, Witnessed<Rc11, u64>>(200, SeqCst::Everything);
}

#[test]
fn witness_of_ra_and_rc20() {
    agree::<Ra, Words<2>, Witnessed<Ra, Words<2>>>(100, SeqCst::Everything);
    agree::<Rc20, u64, Witnessed<Rc20, u64>>(200, SeqCst::Everything);
}

#[test]
fn witness_of_sra() {
    agree::<Sra, u64, Witnessed<Sra, u64>>(200, SeqCst::AccessesOnly);
}
