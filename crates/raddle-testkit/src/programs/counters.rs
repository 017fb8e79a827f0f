//! Random programs whose threads update counters without using the result.
//!
//! An explorer that leaves the order of such updates open must notice every access that tells it: a read that is not
//! ordered after all of them, an update of another kind, an acquire fence, data that an update publishes.

use crate::script::build::{blind_update, load, store, update};
use crate::script::{MAIN, Script, ScriptThread, Statement, Variable};
use raddle_core::program::UpdateKind;
use raddle_core::random::Random;

use super::random::OrderStyle;

const THREADS: [&str; 3] = ["a", "b", "c"];
const COUNTERS: [&str; 2] = ["x", "y"];
const DATA: &str = "d";
const LOCK: &str = "m";

/// Generates a program of two or three threads besides `main`, with about a dozen accesses.
#[must_use]
pub fn counters(random: &mut Random, style: OrderStyle) -> Script {
    let threads = 2 + random.below(2);
    let mut generator = CounterGenerator { random, style };
    let mut main = vec![];
    for &thread in &THREADS[..threads] {
        if generator.random.chance(0.3) {
            main.push(generator.access());
        }
        main.push(Statement::Spawn(thread.into()));
    }
    // Mostly all threads are joined.
    let joined =
        if generator.random.chance(0.7) { threads } else { generator.random.below(threads) };
    main.extend(THREADS[..joined].iter().map(|&thread| Statement::Join(thread.into())));
    main.push(generator.read("r", COUNTERS[0]));
    if generator.random.chance(0.3) {
        main.push(generator.access());
    }
    let mut all = vec![ScriptThread::new(MAIN, main)];
    for &name in &THREADS[..threads] {
        let mut body = vec![];
        for _ in 0..=generator.random.below(if threads == 2 { 3 } else { 2 }) {
            body.extend(generator.step());
        }
        all.push(ScriptThread::new(name, body));
    }
    let memory = COUNTERS.iter().chain(&[DATA]).map(|name| Variable::new(name, 0));
    let variables = memory.chain([Variable::lock(LOCK)]).collect();
    Script { variables, threads: all }
}

struct CounterGenerator<'a> {
    random: &'a mut Random,
    style: OrderStyle,
}

impl CounterGenerator<'_> {
    fn counter(&mut self) -> &'static str {
        COUNTERS[usize::from(self.random.chance(0.2))]
    }

    /// A step of a thread.
    fn step(&mut self) -> Vec<Statement> {
        match self.random.below(12) {
            0..=6 => vec![self.blind_update()],
            7 => self.style.fence(self.random).into_iter().collect(),
            8 => {
                let lock = Statement::Lock(LOCK.into());
                vec![lock, self.access(), Statement::Unlock(LOCK.into())]
            }
            _ => vec![self.access()],
        }
    }

    fn access(&mut self) -> Statement {
        let counter = self.counter();
        match self.random.below(10) {
            0..=4 => self.blind_update(),
            5 => self.used_update("r", counter),
            6 => self.read("s", counter),
            7 => self.read("t", DATA),
            8 => store(DATA, 1, self.style.store(self.random)),
            _ => store(counter, 2, self.style.store(self.random)),
        }
    }

    fn read(&mut self, register: &str, location: &str) -> Statement {
        load(register, location, self.style.load(self.random))
    }

    fn used_update(&mut self, register: &str, counter: &str) -> Statement {
        update(register, counter, UpdateKind::Add, 1, self.style.update(self.random))
    }

    /// An update whose result nobody uses: mostly an increment.
    fn blind_update(&mut self) -> Statement {
        use UpdateKind::{Add, Max, Or, Sub, Swap, Xor};
        let kinds = [Add, Add, Add, Add, Sub, Or, Xor, Max, Swap];
        let (kind, operand) =
            (kinds[self.random.below(kinds.len())], 1 + self.random.below(3) as i128);
        let counter = self.counter();
        blind_update(counter, kind, operand, self.style.update(self.random))
    }
}
