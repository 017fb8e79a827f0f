//! Random programs that give every reduction of an explorer something to do, in one program.
//!
//! Threads wait or retry in an endless loop, hand data over by a flag or a lock, keep memory of their own, and update a
//! counter whose value only the main thread reads, mostly after it has joined them. A reduction that is right alone may
//! be wrong if another one has already left out an event: a read of a round that is not performed, a location that has
//! no events, an update that has no place in an order.

use crate::script::build::{blind_update, cell, compare_exchange, load, store, update};
use crate::script::{
    MAIN, Script, ScriptExpression, ScriptOperator, ScriptThread, Statement, Variable,
};
use raddle_core::execution::MemoryOrder;
use raddle_core::program::UpdateKind;
use raddle_core::random::Random;

use super::random::OrderStyle;

const THREADS: [&str; 3] = ["a", "b", "c"];
/// What threads wait for.
const FLAG: &str = "x";
const COUNTER: &str = "c";
const DATA: &str = "d";
/// One cell for each thread.
const OWN: &str = "own";
const LOCK: &str = "m";
/// Gets what an update reads whose result nobody uses.
const UNUSED: &str = "unused";

/// Generates a program of two or three threads besides `main`, with up to about 15 accesses.
#[must_use]
pub fn combined(random: &mut Random, style: OrderStyle) -> Script {
    let threads = 2 + usize::from(random.chance(0.4));
    let has_plain = random.chance(0.3);
    let mut generator =
        CombinedGenerator { thread: 0, has_plain, is_large: threads == 2, random, style };
    let mut all = vec![generator.main(threads)];
    for (thread, name) in THREADS[..threads].iter().enumerate() {
        generator.thread = thread;
        let body = match thread {
            0 => generator.producer(),
            1 => generator.consumer(),
            _ if generator.random.chance(0.5) => generator.consumer(),
            _ => generator.producer(),
        };
        all.push(ScriptThread::new(name, body));
    }
    let memory = [FLAG, COUNTER, DATA].map(|name| Variable::new(name, 0));
    let mut variables = memory.to_vec();
    variables.extend([Variable::array(OWN, vec![0; THREADS.len()]), Variable::lock(LOCK)]);
    Script { variables, threads: all }
}

/// Returns the program with the results of blind updates assigned to a register that nobody reads. It behaves alike, and
/// registers and places are the same as in [`without_results`].
#[must_use]
pub fn with_results(script: &Script) -> Script {
    with_targets(script, Some(UNUSED))
}

/// Returns the program in which that register is only set to 0, where [`with_results`] assigns a result.
#[must_use]
pub fn without_results(script: &Script) -> Script {
    with_targets(script, None)
}

fn with_targets(script: &Script, register: Option<&str>) -> Script {
    let mut script = script.clone();
    script.threads.iter_mut().for_each(|thread| set_targets(&mut thread.body, register));
    script
}

fn set_targets(block: &mut Vec<Statement>, register: Option<&str>) {
    for mut statement in std::mem::take(block) {
        statement.blocks_mut().into_iter().for_each(|inner| set_targets(inner, register));
        let mut unused = None;
        if let Statement::Update { target: target @ None, .. } = &mut statement {
            *target = register.map(str::to_owned);
            let value = ScriptExpression::Number(0);
            unused = Some(Statement::Set { target: UNUSED.into(), value });
        }
        block.push(statement);
        block.extend(unused);
    }
}

struct CombinedGenerator<'a> {
    /// The thread that is generated.
    thread: usize,
    has_plain: bool,
    /// Whether there are few threads, so that they may do more.
    is_large: bool,
    random: &'a mut Random,
    style: OrderStyle,
}

impl CombinedGenerator<'_> {
    fn main(&mut self, threads: usize) -> ScriptThread {
        let mut body = vec![];
        for &thread in &THREADS[..threads] {
            if self.random.chance(0.15) {
                body.push(self.blind_update());
            }
            body.push(Statement::Spawn(thread.into()));
        }
        let joins_all = self.random.chance(0.7);
        let joined = if joins_all { threads } else { self.random.below(threads) };
        body.extend(THREADS[..joined].iter().map(|&thread| Statement::Join(thread.into())));
        body.push(load("r", COUNTER, self.style.load(self.random)));
        if self.random.chance(0.3) {
            body.push(load("s", DATA, self.data_order(OrderStyle::load)));
        }
        ScriptThread::new(MAIN, body)
    }

    /// Writes data, then raises the flag.
    fn producer(&mut self) -> Vec<Statement> {
        let mut body = self.maybe_count(0.5);
        if self.random.chance(0.8) {
            let write = store(DATA, 1, self.data_order(OrderStyle::store));
            body.extend(self.maybe_locked(0.3, write));
        }
        if self.is_large {
            body.extend(self.maybe_count(0.4));
        }
        if self.random.chance(0.2) {
            body.extend(self.style.fence(self.random));
        }
        let raise = self.raise();
        body.extend(self.maybe_locked(0.25, raise));
        body.extend(self.maybe_count(0.2));
        body
    }

    /// Changes the flag, mostly from 0 to 1.
    fn raise(&mut self) -> Statement {
        match self.random.below(8) {
            0..=3 => store(FLAG, 1, self.style.store(self.random)),
            4 => blind_update(FLAG, UpdateKind::Add, 1, self.style.update(self.random)),
            5 => update("r", FLAG, UpdateKind::Swap, 1, self.style.update(self.random)),
            6 => compare_exchange("r", FLAG, 0, 1, self.style.update(self.random)),
            _ => store(FLAG, 0, self.style.store(self.random)),
        }
    }

    /// Waits for the flag, or takes it as a lock, and accesses data.
    fn consumer(&mut self) -> Vec<Statement> {
        let mut body = self.maybe_count(0.4);
        let takes_flag = self.random.chance(0.3);
        let rounds = if takes_flag { self.acquisition() } else { self.wait() };
        body.push(Statement::Loop { body: rounds });
        if self.random.chance(0.8) {
            let access = self.data_access();
            body.extend(self.maybe_locked(0.3, access));
        }
        if takes_flag {
            body.push(store(FLAG, 0, self.style.store(self.random)));
        }
        body.extend(self.maybe_count(0.5));
        body
    }

    /// The rounds of a loop that waits for the flag.
    fn wait(&mut self) -> Vec<Statement> {
        let read = load("r", FLAG, self.style.load(self.random));
        let leave = leave_if("r", ScriptOperator::NotEqual);
        let own = cell(OWN, ScriptExpression::Number(self.thread as i128));
        match self.random.below(10) {
            0..=2 => vec![read, leave],
            3 => [vec![read, leave], self.style.fence(self.random).into_iter().collect()].concat(),
            4 => vec![compare_exchange("r", FLAG, 1, 0, self.style.update(self.random)), leave],
            5 => vec![Statement::Lock(LOCK.into()), read, Statement::Unlock(LOCK.into()), leave],
            6 => vec![read, store(own, "r", MemoryOrder::Relaxed), leave],
            7 => vec![
                store(own.clone(), 1, MemoryOrder::Relaxed),
                read,
                store(own, "r", MemoryOrder::Relaxed),
                leave,
            ],
            8 => {
                vec![
                    blind_update(COUNTER, UpdateKind::Or, 0, self.style.update(self.random)),
                    read,
                    leave,
                ]
            }
            _ => self.retry(),
        }
    }

    /// Increments the counter by compare-exchanges.
    fn retry(&mut self) -> Vec<Statement> {
        let next =
            ScriptExpression::binary(ScriptOperator::Add, "r".into(), ScriptExpression::Number(1));
        let exchange = Statement::CompareExchange {
            target: None,
            succeeded: Some("ok".into()),
            at: COUNTER.into(),
            expected: "r".into(),
            desired: next,
            success: self.style.update(self.random),
            failure: self.style.load(self.random),
            weak: self.random.chance(0.3),
        };
        let read = load("r", COUNTER, self.style.load(self.random));
        vec![read, exchange, leave_if("ok", ScriptOperator::NotEqual)]
    }

    /// The rounds of a loop that takes the flag as a lock.
    fn acquisition(&mut self) -> Vec<Statement> {
        let swap = update("r", FLAG, UpdateKind::Swap, 1, self.style.update(self.random));
        let leave = leave_if("r", ScriptOperator::Equal);
        if self.random.chance(0.5) {
            return vec![swap, leave];
        }
        let condition = ScriptExpression::binary(
            ScriptOperator::Equal,
            "t".into(),
            ScriptExpression::Number(0),
        );
        let test = load("t", FLAG, self.style.load(self.random));
        vec![test, Statement::If { condition, then: vec![swap, leave], otherwise: vec![] }]
    }

    fn data_access(&mut self) -> Statement {
        match self.random.below(4) {
            0 => store(DATA, 2, self.data_order(OrderStyle::store)),
            _ => load("s", DATA, self.data_order(OrderStyle::load)),
        }
    }

    fn data_order(&mut self, atomic: fn(OrderStyle, &mut Random) -> MemoryOrder) -> MemoryOrder {
        if self.has_plain { MemoryOrder::NonAtomic } else { atomic(self.style, self.random) }
    }

    fn maybe_locked(&mut self, probability: f64, access: Statement) -> Vec<Statement> {
        if self.random.chance(probability) {
            vec![Statement::Lock(LOCK.into()), access, Statement::Unlock(LOCK.into())]
        } else {
            vec![access]
        }
    }

    fn maybe_count(&mut self, probability: f64) -> Vec<Statement> {
        if self.random.chance(probability) { vec![self.blind_update()] } else { vec![] }
    }

    /// An update of the counter whose result is mostly not used.
    fn blind_update(&mut self) -> Statement {
        let order = self.style.update(self.random);
        match self.random.below(12) {
            0..=7 => blind_update(COUNTER, UpdateKind::Add, 1, order),
            8 => blind_update(COUNTER, UpdateKind::Sub, 2, order),
            9 => blind_update(COUNTER, UpdateKind::Xor, 2, order),
            10 => update("q", COUNTER, UpdateKind::Add, 1, order),
            _ => load("q", COUNTER, self.style.load(self.random)),
        }
    }
}

/// Leaves the loop if the register compares so with 0.
fn leave_if(register: &str, operator: ScriptOperator) -> Statement {
    let zero = ScriptExpression::Number(0);
    let condition = ScriptExpression::binary(operator, register.into(), zero);
    Statement::If { condition, then: vec![Statement::Break], otherwise: vec![] }
}
