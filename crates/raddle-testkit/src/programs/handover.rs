//! Random programs whose accesses are mostly ordered: locks, flags, private and handed-over data, spawn and join.
//!
//! An explorer that gives no events to locations whose accesses are ordered by happens-before must notice every access
//! that is not. In these programs data is initialised before threads start, protected by a lock, published by a flag,
//! or read after a join; and now and then an access lacks the protection that the others have.

use crate::script::build::{compare_exchange, load, store, update};
use crate::script::{
    MAIN, Script, ScriptExpression, ScriptOperator, ScriptThread, Statement, Variable,
};
use raddle_core::program::UpdateKind;
use raddle_core::random::Random;

use super::random::OrderStyle;

/// Data that threads share.
const DATA: [&str; 2] = ["d", "e"];
/// Flags by which threads publish data.
const FLAGS: [&str; 2] = ["f", "g"];
/// Locations that one thread each accesses.
const PRIVATE: [&str; 4] = ["p", "q", "u", "v"];
/// Locks.
const LOCKS: [&str; 2] = ["m", "n"];
const REGISTERS: [&str; 2] = ["r", "s"];
const THREADS: [&str; 3] = ["a", "b", "c"];

/// Generates a program of two or three threads besides `main`, with about a dozen accesses.
#[must_use]
pub fn handover(random: &mut Random, style: OrderStyle) -> Script {
    let threads = 2 + random.below(2);
    let steps = if threads == 2 { 2 } else { 1 };
    let mut generator = HandoverGenerator { random, style };
    let mut main = vec![];
    for &thread in &THREADS[..threads] {
        if generator.random.chance(0.4) {
            main.push(generator.access(0));
        }
        main.push(Statement::Spawn(thread.into()));
    }
    let joined = generator.random.below(threads + 1);
    main.extend(THREADS[..joined].iter().map(|&thread| Statement::Join(thread.into())));
    if joined > 0 || generator.random.chance(0.3) {
        main.push(generator.access(0));
    }
    let mut all = vec![ScriptThread::new(MAIN, main)];
    for (thread, name) in THREADS[..threads].iter().enumerate() {
        let mut body = vec![];
        for _ in 0..=generator.random.below(steps + 1) {
            body.extend(generator.step(thread + 1));
        }
        all.push(ScriptThread::new(name, body));
    }
    let memory = DATA.iter().chain(&FLAGS).chain(&PRIVATE).map(|name| Variable::new(name, 0));
    let variables = memory.chain(LOCKS.iter().map(|name| Variable::lock(name))).collect();
    Script { variables, threads: all }
}

struct HandoverGenerator<'a> {
    random: &'a mut Random,
    style: OrderStyle,
}

impl HandoverGenerator<'_> {
    fn pick(&mut self, names: &[&'static str]) -> &'static str {
        names[self.random.below(names.len())]
    }

    /// One of two names, mostly the first.
    fn mostly_first(&mut self, names: [&'static str; 2]) -> &'static str {
        names[usize::from(self.random.chance(0.25))]
    }

    /// A step of a thread.
    fn step(&mut self, thread: usize) -> Vec<Statement> {
        match self.random.below(9) {
            0..=2 => self.critical_section(thread),
            3 | 4 => self.publication(thread),
            5 | 6 => self.takeover(thread),
            7 => vec![self.private_access(thread)],
            _ => match self.style.fence(self.random) {
                Some(fence) => vec![fence],
                None => vec![self.access(thread)],
            },
        }
    }

    /// An access of data, or of the thread's private location.
    fn access(&mut self, thread: usize) -> Statement {
        if self.random.chance(0.2) {
            return self.private_access(thread);
        }
        let data = self.mostly_first(DATA);
        self.access_of(data)
    }

    fn private_access(&mut self, thread: usize) -> Statement {
        self.access_of(PRIVATE[thread])
    }

    fn access_of(&mut self, location: &str) -> Statement {
        let register = self.pick(&REGISTERS);
        match self.random.below(10) {
            0..=3 => load(register, location, self.style.load(self.random)),
            4..=7 => {
                let value = self.value();
                store(location, value, self.style.store(self.random))
            }
            8 => {
                let order = self.style.update(self.random);
                update(register, location, UpdateKind::Add, 1, order)
            }
            _ => {
                let order = self.style.update(self.random);
                compare_exchange(register, location, 0, 2, order)
            }
        }
    }

    fn value(&mut self) -> ScriptExpression {
        match self.random.below(3) {
            0 => ScriptExpression::from(self.pick(&REGISTERS)),
            value => ScriptExpression::Number(value as i128),
        }
    }

    /// Accesses data with a lock, which is sometimes not released.
    fn critical_section(&mut self, thread: usize) -> Vec<Statement> {
        let lock = self.mostly_first(LOCKS);
        let mut section = vec![Statement::Lock(lock.into()), self.access(thread)];
        if self.random.chance(0.3) {
            section.push(self.access(thread));
        }
        if self.random.chance(0.95) {
            section.push(Statement::Unlock(lock.into()));
        }
        section
    }

    /// Writes data, then a flag.
    fn publication(&mut self, thread: usize) -> Vec<Statement> {
        let mut steps = vec![self.access(thread)];
        if self.random.chance(0.3) {
            steps.extend(self.style.fence(self.random));
        }
        let flag = self.mostly_first(FLAGS);
        steps.push(if self.random.chance(0.2) {
            update("r", flag, UpdateKind::Swap, 1, self.style.update(self.random))
        } else {
            store(flag, 1, self.style.store(self.random))
        });
        steps
    }

    /// Accesses data if a flag is set.
    fn takeover(&mut self, thread: usize) -> Vec<Statement> {
        let flag = self.mostly_first(FLAGS);
        let read = load("r", flag, self.style.load(self.random));
        let mut then = vec![];
        if self.random.chance(0.3) {
            then.extend(self.style.fence(self.random));
        }
        then.push(self.access(thread));
        let one = ScriptExpression::Number(1);
        let condition = ScriptExpression::binary(ScriptOperator::Equal, "r".into(), one);
        vec![read, Statement::If { condition, then, otherwise: vec![] }]
    }
}
