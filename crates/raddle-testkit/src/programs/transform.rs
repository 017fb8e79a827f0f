//! Changes to a program that must not change what it does, and what they make of its classes.
//!
//! Threads in another order, locations with other names in another order, and accesses to a location
//! that no other thread accesses: none of them may change the number of classes. But under RC11 and C20
//! private accesses matter between sequentially consistent ones, because `scb` has
//! `po|≠loc; hb; po|≠loc`, and a private access is at another location.

use std::collections::BTreeMap;

use crate::script::build::{load, store};
use crate::script::{Expression, Script, Statement, Variable};
use raddle_core::execution::MemoryOrder::Relaxed;
use raddle_core::execution::ThreadId;
use raddle_core::program::OpKind;
use raddle_core::random::Random;
use raddle_core::trace::{Class, Source};

use super::run::World;

/// A changed program.
#[derive(Clone, Debug)]
pub struct Transformed {
    /// The program.
    pub script: Script,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// By thread, which one it was before.
    Threads(Vec<ThreadId>),
    Names,
    /// Locations from this number on are private.
    Padding(usize),
}

impl Transformed {
    /// The class of the original program for a class of the changed one.
    ///
    /// # Panics
    /// If the changed program has no such class.
    #[must_use]
    pub fn translate(&self, class: &Class) -> Class {
        match &self.change {
            Change::Names => class.clone(),
            Change::Threads(before) => {
                let mut renamed = Class::new();
                for (thread, (sources, end)) in class {
                    let sources = sources.iter().map(|&source| {
                        map_event(source, |thread, at| (before[thread.index()], at))
                    });
                    renamed.insert(before[thread.index()], (sources.collect(), *end));
                }
                renamed
            }
            Change::Padding(first) => without_padding(&self.script, *first, class),
        }
    }
}

/// The source with another name for its event.
fn map_event(source: Source, name: impl Fn(ThreadId, usize) -> (ThreadId, usize)) -> Source {
    let Source::Event { thread, position, spurious } = source else { return source };
    let (thread, position) = name(thread, position);
    Source::Event { thread, position, spurious }
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

/// The threads are numbered otherwise, and threads that are started one after the other are started in
/// another order.
#[must_use]
pub fn permuted(script: &Script, random: &mut Random) -> Transformed {
    let mut order: Vec<usize> = (0..script.threads.len()).collect();
    if let Some((_main, others)) = order.split_first_mut() {
        shuffle(others, random);
    }
    let mut script = Script {
        variables: script.variables.clone(),
        threads: order.iter().map(|&thread| script.threads[thread].clone()).collect(),
    };
    for thread in &mut script.threads {
        let is_spawn = |statement: &Statement| matches!(statement, Statement::Spawn(_));
        for spawns in thread.body.chunk_by_mut(|a, b| is_spawn(a) && is_spawn(b)) {
            if is_spawn(&spawns[0]) {
                shuffle(spawns, random);
            }
        }
    }
    let before = order.into_iter().map(ThreadId::new).collect();
    Transformed { script, change: Change::Threads(before) }
}

/// The locations have other names and are numbered otherwise.
#[must_use]
pub fn renamed(script: &Script, random: &mut Random) -> Transformed {
    let mut script = script.clone();
    shuffle(&mut script.variables, random);
    for variable in &mut script.variables {
        variable.name.push_str("_renamed");
    }
    for thread in &mut script.threads {
        rename(&mut thread.body);
    }
    Transformed { script, change: Change::Names }
}

fn rename(block: &mut [Statement]) {
    for statement in block {
        if let Some(address) = statement.address_mut() {
            address.variable.push_str("_renamed");
        }
        statement.blocks_mut().into_iter().for_each(|inner| rename(inner));
    }
}

/// The threads access each a location of its own now and then.
#[must_use]
pub fn padded(script: &Script, random: &mut Random) -> Transformed {
    let first = script.variables.iter().map(|variable| variable.cells.len()).sum();
    let mut script = script.clone();
    for thread in &mut script.threads {
        let private = format!("private_{}", thread.name);
        pad(&mut thread.body, &private, random);
        script.variables.push(Variable::new(&private, 0));
    }
    Transformed { script, change: Change::Padding(first) }
}

fn pad(block: &mut Vec<Statement>, private: &str, random: &mut Random) {
    let old = std::mem::take(block);
    for mut statement in old {
        if random.chance(0.3) {
            block.push(padding(private, random));
        }
        statement.blocks_mut().into_iter().for_each(|inner| pad(inner, private, random));
        block.push(statement);
    }
    if random.chance(0.3) {
        block.push(padding(private, random));
    }
}

fn padding(private: &str, random: &mut Random) -> Statement {
    if random.chance(0.5) {
        store(private, Expression::Number(1 + random.below(2) as i128), Relaxed)
    } else {
        load("padding", private, Relaxed)
    }
}

/// The class without what it says of private locations.
fn without_padding(script: &Script, first: usize, class: &Class) -> Class {
    let mut world = World::new(script);
    let run = world.replay(class);
    let private = |kind: OpKind| kind.location().is_some_and(|it| it.index() >= first);
    // Where the events were without padding.
    let mut before: BTreeMap<(ThreadId, usize), usize> = BTreeMap::new();
    let mut kept: BTreeMap<ThreadId, usize> = BTreeMap::new();
    let mut sources: BTreeMap<ThreadId, _> =
        class.iter().map(|(&thread, (sources, _))| (thread, sources.iter())).collect();
    let mut plain: Class =
        class.iter().map(|(&thread, &(_, end))| (thread, (vec![], end))).collect();
    for (thread, position, _, op) in world.events(&run) {
        let next = kept.entry(thread).or_default();
        before.insert((thread, position), *next);
        *next += usize::from(!private(op.kind));
        if !op.kind.is_question() || matches!(op.kind, OpKind::Join { .. }) {
            continue;
        }
        let source = sources.get_mut(&thread).and_then(Iterator::next);
        let (source, own) = (source.expect("as in the class"), plain.get_mut(&thread));
        own.expect("as in the class").0.extend((!private(op.kind)).then_some(*source));
    }
    for (sources, _) in plain.values_mut() {
        for source in sources {
            *source = map_event(*source, |thread, at| (thread, before[&(thread, at)]));
        }
    }
    plain
}
