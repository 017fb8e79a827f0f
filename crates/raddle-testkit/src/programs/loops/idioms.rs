//! Programs of the idioms for waiting and retrying.
//!
//! Each loop is one of the idioms that such programs consist of: waiting for a value, locks by compare-exchange and
//! exchange, test and test-and-set, retries that reload or use the value of the failed compare-exchange, bounded retries,
//! stacks of nodes, and variants whose rounds contain fences, assertions, choices, plain accesses or locks. Loops mostly
//! change nothing unless they are left; programs in which they do need not have finitely many executions.

use raddle_core::execution::MemoryOrder;
use raddle_core::program::UpdateKind;
use raddle_core::random::Random;

use super::{binary, equal, leave};
use crate::programs::random::OrderStyle;
use crate::script::build::{cell, load, store, update};
use crate::script::{
    GuardKind, MAIN, Script, ScriptExpression, ScriptOperator, ScriptThread, Statement, Variable,
};

const MEMORY: [&str; 3] = ["x", "y", "z"];
/// Nodes, of which each thread has one: it writes that before it publishes the index. Index 0 means none.
const NODES: &str = "next";
const LOCK: &str = "m";
const OBJECT: &str = "o";
const THREADS: [&str; 3] = ["a", "b", "c"];

/// A program that consists of idioms.
pub(super) fn idioms(random: &mut Random, style: OrderStyle) -> Script {
    let threads = 2 + usize::from(random.chance(0.35));
    let mut generator = LoopGenerator {
        memory: 1 + random.below(3),
        has_lock: random.chance(0.2),
        has_object: random.chance(0.15),
        has_choices: random.chance(0.2),
        has_plain: random.chance(0.2),
        has_nodes: random.chance(0.3),
        thread: 0,
        random,
        style,
    };
    let bodies: Vec<Vec<Statement>> = (0..threads)
        .map(|thread| {
            generator.thread = thread;
            generator.body(threads)
        })
        .collect();
    let named: Vec<ScriptThread> =
        THREADS.iter().zip(bodies).map(|(name, body)| ScriptThread::new(name, body)).collect();
    let variables = generator.variables();
    if generator.random.chance(0.7) {
        return Script::parallel(variables, named);
    }
    let main = generator.main(&named);
    Script { variables, threads: [main].into_iter().chain(named).collect() }
}

struct LoopGenerator<'a> {
    random: &'a mut Random,
    style: OrderStyle,
    /// Number of memory locations.
    memory: usize,
    has_lock: bool,
    has_object: bool,
    /// Choices and weak compare-exchanges.
    has_choices: bool,
    has_plain: bool,
    has_nodes: bool,
    /// The thread that is generated.
    thread: usize,
}

impl LoopGenerator<'_> {
    fn variables(&self) -> Vec<Variable> {
        let memory = MEMORY[..self.memory].iter();
        let mut variables: Vec<Variable> = memory.map(|name| Variable::new(name, 0)).collect();
        variables.extend(self.has_nodes.then(|| Variable::array(NODES, vec![0; 4])));
        variables.extend(self.has_lock.then(|| Variable::lock(LOCK)));
        variables.extend(self.has_object.then(|| Variable::new(OBJECT, 1)));
        variables
    }

    /// A main thread that starts all others, joins some, and may access memory in between.
    fn main(&mut self, threads: &[ScriptThread]) -> ScriptThread {
        let mut body = vec![];
        for thread in threads {
            if self.random.chance(0.3) {
                body.push(self.access());
            }
            body.push(Statement::Spawn(thread.name.clone()));
        }
        let joined = self.random.below(threads.len() + 1);
        body.extend(threads[..joined].iter().map(|it| Statement::Join(it.name.clone())));
        if self.random.chance(0.4) {
            body.push(self.access());
        }
        ScriptThread::new(MAIN, body)
    }

    fn body(&mut self, threads: usize) -> Vec<Statement> {
        let loops = [0, 1, 1, 1, 2][self.random.below(5)];
        let mut body = vec![];
        for _ in 0..loops {
            if self.random.chance(0.5) {
                body.push(self.step());
            }
            body.extend(self.any_loop());
        }
        match loops {
            0 => self.without_loop(threads, &mut body),
            _ if self.random.chance(0.4) => body.push(self.read("t")),
            _ if self.random.chance(0.4) => body.push(self.write()),
            _ => {}
        }
        body
    }

    /// Adds what others wait for.
    fn without_loop(&mut self, threads: usize, body: &mut Vec<Statement>) {
        for _ in 0..=self.random.below(5 - threads) {
            let is_write = self.random.chance(0.5);
            body.push(if is_write { self.write() } else { self.step() });
        }
        if body.len() == 2 && self.random.chance(0.4) {
            let fence = self.style.fence(self.random);
            fence.into_iter().for_each(|fence| body.insert(1, fence));
        }
    }

    fn location(&mut self) -> &'static str {
        MEMORY[self.random.below(self.memory)]
    }

    fn small(&mut self) -> ScriptExpression {
        ScriptExpression::Number(self.random.below(3) as i128)
    }

    fn value(&mut self) -> ScriptExpression {
        match self.random.below(5) {
            0 => ScriptExpression::from("r"),
            1 => binary("r", ScriptOperator::Add, 1),
            _ => ScriptExpression::Number(1 + self.random.below(2) as i128),
        }
    }

    fn load_order(&mut self) -> MemoryOrder {
        if self.has_plain && self.random.chance(0.3) {
            return MemoryOrder::NonAtomic;
        }
        self.style.load(self.random)
    }

    fn read(&mut self, target: &str) -> Statement {
        let location = self.location();
        load(target, location, self.load_order())
    }

    fn write(&mut self) -> Statement {
        let (location, value) = (self.location(), self.value());
        let is_plain = self.has_plain && self.random.chance(0.3);
        let order = if is_plain { MemoryOrder::NonAtomic } else { self.style.store(self.random) };
        store(location, value, order)
    }

    fn update(&mut self, target: &str, kind: UpdateKind, operand: i128) -> Statement {
        let location = self.location();
        update(target, location, kind, operand, self.style.update(self.random))
    }

    /// A compare-exchange that sets `ok`, and a register to the value that it read.
    fn compare_exchange(
        &mut self,
        target: Option<&str>,
        location: &str,
        expected: ScriptExpression,
        desired: ScriptExpression,
    ) -> Statement {
        Statement::CompareExchange {
            target: target.map(str::to_owned),
            succeeded: Some("ok".into()),
            at: location.into(),
            expected,
            desired,
            success: self.style.update(self.random),
            failure: self.style.load(self.random),
            weak: self.has_choices && self.random.chance(0.5),
        }
    }

    fn access(&mut self) -> Statement {
        match self.random.below(10) {
            0..=2 => self.read("r"),
            3..=6 => self.write(),
            7 => self.update("r", UpdateKind::Add, 1),
            8 => self.update("r", UpdateKind::Swap, 1),
            _ => {
                let (location, expected, desired) = (self.location(), self.small(), self.value());
                self.compare_exchange(Some("r"), location, expected, desired)
            }
        }
    }

    /// A statement outside of loops.
    fn step(&mut self) -> Statement {
        match self.random.below(16) {
            0 | 1 => self.style.fence(self.random).unwrap_or_else(|| self.access()),
            2 if self.has_lock => self.section(),
            3 if self.has_object => self.sync(),
            4 if self.has_choices => Statement::Choose { target: Some("c".into()), options: 2 },
            5 if self.has_nodes => self.node_access(),
            6 => Statement::Assert(binary("r", ScriptOperator::NotEqual, 2)),
            7 if self.has_choices => Statement::Assume(binary("r", ScriptOperator::NotEqual, 1)),
            _ => self.access(),
        }
    }

    /// A critical section; as one statement.
    fn section(&mut self) -> Statement {
        let mut body = vec![Statement::Lock(LOCK.into()), self.access()];
        if self.random.chance(0.9) {
            body.push(Statement::Unlock(LOCK.into()));
        }
        Statement::Repeat { times: 1, body }
    }

    fn sync(&mut self) -> Statement {
        let waits = self.random.chance(0.5);
        let guard = if waits { GuardKind::Above } else { GuardKind::Always };
        let kind = if waits { UpdateKind::Sub } else { UpdateKind::Add };
        let (bound, operand) = (ScriptExpression::Number(0), ScriptExpression::Number(1));
        Statement::Sync { at: OBJECT.into(), guard, bound, kind, operand }
    }

    /// A loop, with what comes before it.
    fn any_loop(&mut self) -> Vec<Statement> {
        let (mut before, mut body) = match self.random.below(12) {
            0 | 1 => (vec![], self.wait()),
            2 => (vec![], self.compare_exchange_lock()),
            3 => (vec![], self.exchange_lock()),
            4 => (vec![], self.test_and_test_and_set()),
            5 => (vec![], self.poll_by_update()),
            6 => (vec![], self.two_reads()),
            7 => (vec![], self.reload_and_retry()),
            8 if !self.has_lock => self.retry_with_value(),
            9 | 10 if self.has_nodes => match self.random.below(6) {
                0 | 1 => (vec![], self.push_node()),
                2 => self.push_with_value(),
                3 => (vec![], self.pop_node()),
                _ => (vec![], self.remember()),
            },
            10 | 11 if self.has_choices => (vec![], self.choose_and_wait()),
            9 if self.has_lock && self.random.chance(0.5) => (vec![], self.bounded_with_lock()),
            8 | 9 if self.has_lock => (vec![], self.poll_with_lock()),
            9 => (vec![], self.bounded()),
            _ => (vec![], self.two_waits()),
        };
        if self.random.chance(0.15) {
            let at = self.random.below(body.len());
            if let Some(fence) = self.style.fence(self.random) {
                body.insert(at, fence);
            }
        }
        if self.random.chance(0.1) {
            body.insert(1, Statement::Assert(binary("r", ScriptOperator::NotEqual, 2)));
        }
        before.push(Statement::Loop { body });
        before
    }

    fn leave_unless_zero(&mut self) -> Statement {
        let operator = [ScriptOperator::NotEqual, ScriptOperator::Equal][self.random.below(2)];
        let number = if operator == ScriptOperator::Equal { self.random.below(3) } else { 0 };
        leave(binary("r", operator, number as i128))
    }

    fn wait(&mut self) -> Vec<Statement> {
        vec![self.read("r"), self.leave_unless_zero()]
    }

    /// Waits for one location, reads another.
    fn two_waits(&mut self) -> Vec<Statement> {
        vec![self.read("r"), self.leave_unless_zero(), self.read("s"), leave(equal("s", 1))]
    }

    fn two_reads(&mut self) -> Vec<Statement> {
        let same = ScriptExpression::binary(ScriptOperator::Equal, "r".into(), "s".into());
        vec![self.read("r"), self.read("s"), leave(same)]
    }

    fn compare_exchange_lock(&mut self) -> Vec<Statement> {
        let (location, expected, desired) = (self.location(), self.small(), self.small());
        let target = self.random.chance(0.3).then_some("r");
        vec![self.compare_exchange(target, location, expected, desired), leave(equal("ok", 1))]
    }

    fn exchange_lock(&mut self) -> Vec<Statement> {
        vec![self.update("r", UpdateKind::Swap, 1), leave(equal("r", 0))]
    }

    fn test_and_test_and_set(&mut self) -> Vec<Statement> {
        let location = self.location();
        let test = load("r", location, self.load_order());
        let set = update("s", location, UpdateKind::Swap, 1, self.style.update(self.random));
        let then = vec![set, leave(equal("s", 0))];
        vec![test, Statement::If { condition: equal("r", 0), then, otherwise: vec![] }]
    }

    /// Reads with an update that writes back what it reads, mostly.
    fn poll_by_update(&mut self) -> Vec<Statement> {
        let kinds = [(UpdateKind::Add, 0), (UpdateKind::Or, 0), (UpdateKind::Max, 1)];
        let (kind, operand) = kinds[self.random.below(kinds.len())];
        vec![self.update("r", kind, operand), self.leave_unless_zero()]
    }

    fn reload_and_retry(&mut self) -> Vec<Statement> {
        let location = self.location();
        let desired = self.value();
        let read = load("r", location, self.load_order());
        vec![
            read,
            self.compare_exchange(None, location, "r".into(), desired),
            leave(equal("ok", 1)),
        ]
    }

    fn retry_with_value(&mut self) -> (Vec<Statement>, Vec<Statement>) {
        let location = self.location();
        let read = load("r", location, self.style.load(self.random));
        let next = binary("r", ScriptOperator::Add, 1);
        let retry = self.compare_exchange(Some("s"), location, "r".into(), next);
        let set = Statement::Set { target: "r".into(), value: "s".into() };
        (vec![read], vec![retry, leave(equal("ok", 1)), set])
    }

    /// Waits for at most two rounds.
    fn bounded(&mut self) -> Vec<Statement> {
        let count =
            Statement::Set { target: "n".into(), value: binary("n", ScriptOperator::Add, 1) };
        vec![self.read("r"), self.leave_unless_zero(), count, leave(equal("n", 2))]
    }

    fn bounded_with_lock(&mut self) -> Vec<Statement> {
        let mut body = self.bounded();
        body.insert(0, Statement::Lock(LOCK.into()));
        body.insert(2, Statement::Unlock(LOCK.into()));
        body
    }

    /// Polls a location in a critical section.
    fn poll_with_lock(&mut self) -> Vec<Statement> {
        let (lock, unlock) = (Statement::Lock(LOCK.into()), Statement::Unlock(LOCK.into()));
        let mut body = vec![lock, self.read("r"), unlock, self.leave_unless_zero()];
        if self.random.chance(0.2) {
            body.swap(2, 3);
        }
        body
    }

    /// Accesses the thread's own node or another one, which may be published or not.
    fn node_access(&mut self) -> Statement {
        let own = ScriptExpression::Number(self.thread as i128 + 1);
        match self.random.below(3) {
            0 => store(cell(NODES, own), "r", self.style.store(self.random)),
            1 => load("s", cell(NODES, own), self.style.load(self.random)),
            _ => {
                let any = ScriptExpression::Number(1 + self.random.below(3) as i128);
                load("s", cell(NODES, any), self.style.load(self.random))
            }
        }
    }

    /// Links the thread's own node to the first one, then publishes it.
    fn push_node(&mut self) -> Vec<Statement> {
        let (location, own) = (self.location(), ScriptExpression::Number(self.thread as i128 + 1));
        let read = load("r", location, self.load_order());
        let link = store(cell(NODES, own.clone()), "r", self.style.store(self.random));
        let publish = self.compare_exchange(None, location, "r".into(), own);
        vec![read, link, publish, leave(equal("ok", 1))]
    }

    /// As [`LoopGenerator::push_node`], with the value of the failed compare-exchange as the next link.
    fn push_with_value(&mut self) -> (Vec<Statement>, Vec<Statement>) {
        let (location, own) = (self.location(), ScriptExpression::Number(self.thread as i128 + 1));
        let read = load("r", location, self.style.load(self.random));
        let order = self.private_order();
        let link = |value: &str| store(cell(NODES, own.clone()), value, order);
        let publish = self.compare_exchange(Some("r"), location, "r".into(), own.clone());
        (vec![read, link("r")], vec![publish, leave(equal("ok", 1)), link("r")])
    }

    /// Waits, and keeps what it has read, or a mark that it overwrites, in the thread's own node.
    fn remember(&mut self) -> Vec<Statement> {
        let own = cell(NODES, ScriptExpression::Number(self.thread as i128 + 1));
        let (order, value) = (self.private_order(), self.value());
        let mut body = vec![self.read("r"), store(own.clone(), value, order)];
        if self.random.chance(0.6) {
            body.push(store(own.clone(), "r", order));
        }
        if self.random.chance(0.5) {
            body.push(load("s", own, order.min(MemoryOrder::Relaxed)));
        }
        body.push(self.leave_unless_zero());
        if self.random.chance(0.3) {
            body.rotate_left(1);
        }
        body
    }

    /// The order of accesses of a thread's own node: mostly one that synchronizes with nobody.
    fn private_order(&mut self) -> MemoryOrder {
        match self.random.below(4) {
            0 => self.style.store(self.random),
            1 | 2 if self.has_plain => MemoryOrder::NonAtomic,
            _ => MemoryOrder::Relaxed,
        }
    }

    /// Replaces the first node by the one that it is linked to.
    fn pop_node(&mut self) -> Vec<Statement> {
        let location = self.location();
        let read = load("r", location, self.load_order());
        let next = load("s", cell(NODES, "r"), self.style.load(self.random));
        let replace = self.compare_exchange(None, location, "r".into(), "s".into());
        vec![read, leave(equal("r", 0)), next, replace, leave(equal("ok", 1))]
    }

    fn choose_and_wait(&mut self) -> Vec<Statement> {
        let choose = Statement::Choose { target: Some("c".into()), options: 2 };
        let mut body = vec![self.read("r"), choose, self.leave_unless_zero()];
        if self.random.chance(0.5) {
            body.push(leave(equal("c", 1)));
        }
        body
    }
}
