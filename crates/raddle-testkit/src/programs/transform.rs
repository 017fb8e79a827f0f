//! Metamorphic transformations: changes to a program that preserve its classes, and the translation of classes.
//!
//! Reordering threads, renaming and reordering locations, and adding accesses to private locations preserve the number
//! of classes. Exception: under RC11 and C20 a private access between sequentially consistent ones matters, because
//! `scb` contains `po|≠loc; hb; po|≠loc`, and a private access is to another location.

use std::collections::BTreeMap;

use crate::script::build::{load, store};
use crate::script::{Script, ScriptExpression, Statement, Variable};
use raddle_core::execution::MemoryOrder::Relaxed;
use raddle_core::execution::ThreadId;
use raddle_core::program::OpKind;
use raddle_core::random::Random;
use raddle_core::trace::{Class, Source};

use super::run::OracleProgram;

/// Transformed program.
#[derive(Clone, Debug)]
pub struct Transformed {
    /// Transformed program.
    pub script: Script,
    change: Transformation,
}

#[derive(Clone, Debug)]
enum Transformation {
    /// By thread: its index before.
    Threads(Vec<ThreadId>),
    Names,
    /// Locations from this index on are private.
    Padding(usize),
}

impl Transformed {
    /// Translates a class of the transformed program to a class of the original one.
    ///
    /// # Panics
    /// If the transformed program has no such class.
    #[must_use]
    pub fn translate(&self, class: &Class) -> Class {
        match &self.change {
            Transformation::Names => class.clone(),
            Transformation::Threads(before) => {
                let mut renamed = Class::new();
                for (thread, (sources, end)) in class {
                    let sources = sources.iter().map(|&source| {
                        map_event(source, |thread, at| (before[thread.index()], at))
                    });
                    renamed.insert(before[thread.index()], (sources.collect(), *end));
                }
                renamed
            }
            Transformation::Padding(first) => without_padding(&self.script, *first, class),
        }
    }
}

/// Renames the event of a source.
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

/// Permutes the threads, and the order of consecutive spawns.
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
    Transformed { script, change: Transformation::Threads(before) }
}

/// Renames and permutes the locations.
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
    Transformed { script, change: Transformation::Names }
}

fn rename(block: &mut [Statement]) {
    for statement in block {
        if let Some(address) = statement.address_mut() {
            address.variable.push_str("_renamed");
        }
        statement.blocks_mut().into_iter().for_each(|inner| rename(inner));
    }
}

/// Adds accesses to a private location to each thread.
#[must_use]
pub fn padded(script: &Script, random: &mut Random) -> Transformed {
    let first = script.variables.iter().map(|variable| variable.cells.len()).sum();
    let mut script = script.clone();
    for thread in &mut script.threads {
        let private = format!("private_{}", thread.name);
        pad(&mut thread.body, &private, random);
        script.variables.push(Variable::new(&private, 0));
    }
    Transformed { script, change: Transformation::Padding(first) }
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
        store(private, ScriptExpression::Number(1 + random.below(2) as i128), Relaxed)
    } else {
        load("padding", private, Relaxed)
    }
}

/// Removes the private locations from a class.
fn without_padding(script: &Script, first: usize, class: &Class) -> Class {
    let mut world = OracleProgram::new(script);
    let run = world.replay(class);
    let private = |kind: OpKind| kind.location().is_some_and(|it| it.index() >= first);
    // Indices of the events without padding.
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
        let (source, own) = (source.expect("the class has all questions"), plain.get_mut(&thread));
        own.expect("the class has all questions").0.extend((!private(op.kind)).then_some(*source));
    }
    for (sources, _) in plain.values_mut() {
        for source in sources {
            *source = map_event(*source, |thread, at| (thread, before[&(thread, at)]));
        }
    }
    plain
}
