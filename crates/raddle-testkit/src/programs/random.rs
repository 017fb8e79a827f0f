//! Random small programs.
//!
//! [`random`] mixes all features of scripts. [`cycle`] generates critical cycles, which distinguish memory models:
//! thread `i` accesses location `i` and then location `i + 1`, cyclically. Uniformly random programs seldom have such a
//! shape, and miss bugs that a few hundred cycles find.

use crate::script::build::{compare_exchange, load, store, update};
use crate::script::{
    Address, GuardKind, MAIN, Script, ScriptExpression, ScriptOperator, ScriptThread, Statement,
    Variable,
};
use raddle_core::execution::MemoryOrder::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle_core::program::UpdateKind;
use raddle_core::random::Random;

/// Distribution of memory orders in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderStyle {
    /// All accesses are relaxed and there are no fences.
    Relaxed,
    /// Loads acquire, stores release, updates do both.
    ReleaseAcquire,
    /// Random relaxed, acquire and release accesses and fences.
    Mixed,
    /// All accesses are sequentially consistent.
    SeqCst,
    /// Relaxed accesses and sequentially consistent fences.
    Fences,
    /// All orders.
    All,
}

impl OrderStyle {
    /// All styles.
    pub const ALL: [OrderStyle; 6] = [
        OrderStyle::Relaxed,
        OrderStyle::ReleaseAcquire,
        OrderStyle::Mixed,
        OrderStyle::SeqCst,
        OrderStyle::Fences,
        OrderStyle::All,
    ];

    /// Returns `strong` or one of `mixed`, depending on the style.
    fn pick(self, random: &mut Random, strong: MemoryOrder, mixed: &[MemoryOrder]) -> MemoryOrder {
        match self {
            OrderStyle::Relaxed | OrderStyle::Fences => Relaxed,
            OrderStyle::ReleaseAcquire => strong,
            OrderStyle::SeqCst => SeqCst,
            OrderStyle::All if random.chance(0.5) => SeqCst,
            OrderStyle::Mixed | OrderStyle::All => mixed[random.below(mixed.len())],
        }
    }

    pub(super) fn load(self, random: &mut Random) -> MemoryOrder {
        self.pick(random, Acquire, &[Relaxed, Acquire])
    }

    pub(super) fn store(self, random: &mut Random) -> MemoryOrder {
        self.pick(random, Release, &[Relaxed, Release])
    }

    pub(super) fn update(self, random: &mut Random) -> MemoryOrder {
        self.pick(random, AcqRel, &[Relaxed, Acquire, Release, AcqRel])
    }

    /// Returns a fence, if the style has any.
    pub(super) fn fence(self, random: &mut Random) -> Option<Statement> {
        let kinds: &[MemoryOrder] = match self {
            OrderStyle::Relaxed | OrderStyle::ReleaseAcquire | OrderStyle::SeqCst => &[],
            OrderStyle::Mixed => &[Acquire, Release, AcqRel],
            OrderStyle::Fences => &[SeqCst],
            OrderStyle::All => &[Acquire, Release, AcqRel, SeqCst, SeqCst, SeqCst],
        };
        random.pick(kinds).map(|&order| Statement::Fence(order))
    }
}

/// Names of memory locations.
const MEMORY: [&str; 5] = ["x", "y", "z", "v", "w"];
/// Name of the lock.
const LOCK: &str = "m";
/// Name of the synchronization object.
const OBJECT: &str = "o";
/// Names of registers.
const REGISTERS: [&str; 2] = ["r", "s"];
/// Names of threads other than `main`.
const THREADS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Features of a random program besides loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramFeatures {
    /// Read-modify-writes.
    pub updates: bool,
    /// Locks.
    pub locks: bool,
    /// Synchronization objects.
    pub syncs: bool,
    /// Choices, assumptions and weak compare-exchanges.
    pub choices: bool,
    /// Store-store fences.
    pub store_fences: bool,
    /// Spawns and joins in any thread. Otherwise `main` starts all threads and does nothing else.
    pub spawns: bool,
}

impl ProgramFeatures {
    /// No feature: only loads, stores, branches and the fences of the style.
    pub const NONE: ProgramFeatures = ProgramFeatures {
        updates: false,
        locks: false,
        syncs: false,
        choices: false,
        store_fences: false,
        spawns: false,
    };

    /// Draws features.
    #[must_use]
    pub fn random(random: &mut Random) -> Self {
        ProgramFeatures {
            updates: random.chance(0.6),
            locks: random.chance(0.3),
            syncs: random.chance(0.15),
            choices: random.chance(0.2),
            store_fences: random.chance(0.15),
            spawns: random.chance(0.3),
        }
    }
}

/// Generates a program of two to four threads and at most a dozen accesses.
#[must_use]
pub fn random(random: &mut Random, style: OrderStyle, features: ProgramFeatures) -> Script {
    let threads = 2 + random.below(3);
    let memory = 1 + random.below(3);
    let longest = [5, 4, 3][threads - 2];
    let mut maker = ProgramGenerator { random, style, features, memory };
    let bodies: Vec<Vec<Statement>> = (0..threads)
        .map(|_| {
            let length = 1 + maker.random.below(longest);
            maker.block(length)
        })
        .collect();
    let named =
        THREADS.iter().zip(bodies).map(|(name, body)| ScriptThread::new(name, body)).collect();
    if features.spawns {
        Script { variables: variables(features, memory), threads: maker.add_spawns(named) }
    } else {
        Script::parallel(variables(features, memory), named)
    }
}

/// The variables of a program with these features and so many memory locations.
pub(super) fn variables(features: ProgramFeatures, memory: usize) -> Vec<Variable> {
    let mut variables: Vec<Variable> =
        MEMORY[..memory].iter().map(|name| Variable::new(name, 0)).collect();
    variables.extend(features.locks.then(|| Variable::lock(LOCK)));
    variables.extend(features.syncs.then(|| Variable::new(OBJECT, 1)));
    variables
}

/// Generates the body of a thread, of at least `length` statements.
pub(super) fn body(
    random: &mut Random,
    style: OrderStyle,
    features: ProgramFeatures,
    memory: usize,
    length: usize,
) -> Vec<Statement> {
    ProgramGenerator { random, style, features, memory }.block(length)
}

/// Generates a program in the shape of a critical cycle.
#[must_use]
pub fn cycle(random: &mut Random, style: OrderStyle) -> Script {
    let locations = 2 + random.below(3);
    let updates = random.chance(0.3);
    let features = ProgramFeatures { updates, ..ProgramFeatures::NONE };
    let mut maker = ProgramGenerator { random, style, features, memory: locations };
    // At least one of the two accesses to a location writes.
    let writes: Vec<(bool, bool)> = (0..locations).map(|_| maker.conflict()).collect();
    let mut bodies: Vec<Vec<Statement>> = (0..locations)
        .map(|i| {
            let next = (i + 1) % locations;
            maker.pair((i, writes[i].0), (next, writes[next].1))
        })
        .collect();
    if locations < 4 && maker.random.chance(0.3) {
        let (first, second) = (maker.random.below(locations), maker.random.below(locations));
        let (write, other) = maker.conflict();
        bodies.push(maker.pair((first, write), (second, other)));
    }
    let variables = MEMORY[..locations].iter().map(|name| Variable::new(name, 0)).collect();
    let threads = THREADS.iter().zip(bodies).map(|(name, body)| ScriptThread::new(name, body));
    Script::parallel(variables, threads.collect())
}

struct ProgramGenerator<'a> {
    random: &'a mut Random,
    style: OrderStyle,
    features: ProgramFeatures,
    /// Number of memory locations.
    memory: usize,
}

impl ProgramGenerator<'_> {
    fn register(&mut self) -> &'static str {
        REGISTERS[self.random.below(REGISTERS.len())]
    }

    fn value(&mut self) -> ScriptExpression {
        let one_or_two = ScriptExpression::Number(1 + self.random.below(2) as i128);
        match self.random.below(3) {
            0 => one_or_two,
            1 => ScriptExpression::from(self.register()),
            _ => ScriptExpression::binary(
                ScriptOperator::Add,
                self.register().into(),
                ScriptExpression::Number(1),
            ),
        }
    }

    /// Returns a comparison of a register with 0 or 1.
    fn condition(&mut self) -> ScriptExpression {
        let operator =
            if self.random.chance(0.5) { ScriptOperator::Equal } else { ScriptOperator::NotEqual };
        let number = ScriptExpression::Number(self.random.below(2) as i128);
        ScriptExpression::binary(operator, self.register().into(), number)
    }

    fn block(&mut self, length: usize) -> Vec<Statement> {
        let mut block = vec![];
        while block.len() < length {
            let more = self.statements();
            block.extend(more);
        }
        block
    }

    /// Returns one or a few statements.
    fn statements(&mut self) -> Vec<Statement> {
        let location = MEMORY[self.random.below(self.memory)];
        match self.random.below(16) {
            0..=7 => vec![self.access(location)],
            8 | 9 => match self.style.fence(self.random) {
                Some(fence) => vec![fence],
                None => vec![self.access(location)],
            },
            10 => self.branch(location),
            11 | 12 if self.features.locks => self.critical_section(location),
            13 if self.features.syncs => vec![self.sync()],
            14 if self.features.choices => vec![self.choice(location)],
            15 if self.features.store_fences => vec![Statement::StoreFence],
            _ => vec![self.access(location)],
        }
    }

    fn access(&mut self, location: &str) -> Statement {
        let kinds = if self.features.updates { 10 } else { 8 };
        match self.random.below(kinds) {
            0..=3 => self.load(location),
            4..=7 => {
                let value = self.value();
                store(location, value, self.style.store(self.random))
            }
            8 => self.update(location),
            _ => self.compare_exchange(location),
        }
    }

    fn load(&mut self, location: &str) -> Statement {
        load(self.register(), location, self.style.load(self.random))
    }

    fn update(&mut self, location: &str) -> Statement {
        let (register, value) = (self.register(), self.value());
        let kinds = [UpdateKind::Add, UpdateKind::Add, UpdateKind::Swap, UpdateKind::Max];
        let kind = kinds[self.random.below(kinds.len())];
        update(register, location, kind, value, self.style.update(self.random))
    }

    fn compare_exchange(&mut self, location: &str) -> Statement {
        let (register, desired) = (self.register(), self.value());
        let expected = ScriptExpression::Number(self.random.below(2) as i128);
        let order = self.style.update(self.random);
        let mut statement = compare_exchange(register, location, expected, desired, order);
        let spurious = self.features.choices && self.random.chance(0.5);
        if let Statement::CompareExchange { failure, weak, .. } = &mut statement {
            *failure = self.style.load(self.random);
            *weak = spurious;
        }
        statement
    }

    fn branch(&mut self, location: &str) -> Vec<Statement> {
        let load = self.load(location);
        let (condition, then) = (self.condition(), vec![self.access(location)]);
        let mut otherwise = vec![];
        if self.random.chance(0.3) {
            let other = MEMORY[self.random.below(self.memory)];
            otherwise.push(self.access(other));
        }
        vec![load, Statement::If { condition, then, otherwise }]
    }

    /// Returns a critical section, which sometimes does not release the lock.
    fn critical_section(&mut self, location: &str) -> Vec<Statement> {
        let mut section = vec![Statement::Lock(LOCK.into())];
        if self.random.chance(0.7) {
            section.push(self.access(location));
        }
        if self.random.chance(0.9) {
            section.push(Statement::Unlock(LOCK.into()));
        }
        section
    }

    fn sync(&mut self) -> Statement {
        let waits = self.random.chance(0.5);
        let guard = if waits { GuardKind::Above } else { GuardKind::Always };
        let kind = if waits { UpdateKind::Sub } else { UpdateKind::Add };
        let (bound, operand) = (ScriptExpression::Number(0), ScriptExpression::Number(1));
        Statement::Sync { at: Address::from(OBJECT), guard, bound, kind, operand }
    }

    fn choice(&mut self, location: &str) -> Statement {
        match self.random.below(3) {
            0 => Statement::Choose { target: Some(self.register().to_owned()), options: 2 },
            1 => Statement::Assume(self.condition()),
            _ => Statement::Repeat { times: 2, body: vec![self.load(location), self.leave()] },
        }
    }

    fn leave(&mut self) -> Statement {
        let condition = self.condition();
        Statement::If { condition, then: vec![Statement::Break], otherwise: vec![] }
    }

    /// Returns which of two accesses write: at least one.
    fn conflict(&mut self) -> (bool, bool) {
        [(true, false), (false, true), (true, true)][self.random.below(3)]
    }

    /// Returns accesses to two locations, each a write or a read, with an optional fence between them.
    fn pair(&mut self, first: (usize, bool), second: (usize, bool)) -> Vec<Statement> {
        let mut body = vec![self.read_or_write(first)];
        if self.random.chance(0.4) {
            body.extend(self.style.fence(self.random));
        }
        body.push(self.read_or_write(second));
        if self.memory < 4 && self.random.chance(0.25) {
            let any = self.random.below(self.memory);
            let writes = self.random.chance(0.2);
            body.push(self.read_or_write((any, writes)));
        }
        body
    }

    fn read_or_write(&mut self, (location, writes): (usize, bool)) -> Statement {
        let location = MEMORY[location];
        if self.features.updates && self.random.chance(0.2) {
            self.update(location)
        } else if writes {
            let value = ScriptExpression::Number(1 + self.random.below(2) as i128);
            store(location, value, self.style.store(self.random))
        } else {
            self.load(location)
        }
    }

    /// Adds spawns and joins: each thread is started by an earlier one, at a random statement, and may be joined at its
    /// end.
    fn add_spawns(&mut self, threads: Vec<ScriptThread>) -> Vec<ScriptThread> {
        let mut all = vec![ScriptThread::new(MAIN, vec![])];
        for thread in threads {
            let parent = self.random.below(all.len());
            let body = &mut all[parent].body;
            let at = self.random.below(body.len() + 1);
            let last_spawn = body.iter().position(|s| matches!(s, Statement::Join(_)));
            let at = at.min(last_spawn.unwrap_or(at));
            body.insert(at, Statement::Spawn(thread.name.clone()));
            if self.random.chance(0.5) {
                body.push(Statement::Join(thread.name.clone()));
            }
            if self.random.chance(0.3) {
                let location = MEMORY[self.random.below(self.memory)];
                let load = self.load(location);
                all[parent].body.push(load);
            }
            all.push(thread);
        }
        all
    }
}
