//! Random programs with symmetric threads, and the orbits of their classes.
//!
//! Two to four threads have the same body, or two pairs of threads have; up to two others differ. `main` starts the threads of
//! a block one after the other, and joins all or none of them, with nothing in between.

use std::collections::BTreeSet;

use crate::script::{MAIN, Script, ScriptThread, Statement};
use raddle_core::execution::ThreadId;
use raddle_core::random::Random;
use raddle_core::trace::{Class, Source};

use super::random::{OrderStyle, ProgramFeatures, body, variables};

/// Names of the threads.
const THREADS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A program with symmetric threads.
#[derive(Clone, Debug)]
pub struct SymmetricScript {
    /// The program.
    pub script: Script,
    /// The threads that are symmetric, at least one pair.
    pub blocks: Vec<Vec<ThreadId>>,
}

/// Generates a program.
#[must_use]
pub fn symmetric(random: &mut Random, style: OrderStyle) -> SymmetricScript {
    let features =
        ProgramFeatures { spawns: false, syncs: false, ..ProgramFeatures::random(random) };
    let memory = 1 + random.below(3);
    let (sizes, others): (&[usize], usize) = match random.below(8) {
        0..=2 => (&[2], random.below(3)),
        3..=5 => (&[3], random.below(2)),
        6 => (&[4], random.below(2)),
        _ => (&[2, 2], random.below(2)),
    };
    let count = sizes.iter().sum::<usize>() + others;
    let longest = [5, 4, 3, 2, 2][count - 2];
    let mut block_of_name = vec![];
    let mut threads = vec![];
    for (block, &size) in sizes.iter().chain(std::iter::repeat_n(&1, others)).enumerate() {
        let length = 1 + random.below(longest);
        let code = body(random, style, features, memory, length);
        for _ in 0..size {
            threads.push(ScriptThread::new(THREADS[threads.len()], code.clone()));
            block_of_name.push(block);
        }
    }
    let mut main = vec![];
    if random.chance(0.2) {
        main.extend(body(random, style, features, memory, 1));
    }
    let mut names: Vec<&String> = threads.iter().map(|thread| &thread.name).collect();
    while !names.is_empty() {
        main.push(Statement::Spawn(names.swap_remove(random.below(names.len())).clone()));
    }
    if random.chance(0.2) {
        main.extend(body(random, style, features, memory, 1));
    }
    for block in 0..sizes.len() + others {
        if random.chance(0.3) {
            let names = threads.iter().zip(&block_of_name).filter(|&(_, &it)| it == block);
            main.extend(names.map(|(thread, _)| Statement::Join(thread.name.clone())));
            let length = random.below(2);
            main.extend(body(random, style, features, memory, length));
        }
    }
    let blocks = (0..sizes.len()).map(|block| {
        let of_block = block_of_name.iter().enumerate().filter(move |&(_, &it)| it == block);
        of_block.map(|(index, _)| ThreadId::new(index + 1)).collect()
    });
    let blocks = blocks.collect();
    let threads = [ScriptThread::new(MAIN, main)].into_iter().chain(threads).collect();
    SymmetricScript { script: Script { variables: variables(features, memory), threads }, blocks }
}

/// The program with one more thread that does the same as one of its threads, and that is started and joined directly after it.
#[must_use]
pub fn with_twin(random: &mut Random, script: &Script) -> SymmetricScript {
    const TWIN: &str = "twin";
    let mut script = script.clone();
    let original = 1 + random.below(script.threads.len() - 1);
    let ScriptThread { name, body } = script.threads[original].clone();
    let twin = ThreadId::new(script.threads.len());
    for thread in &mut script.threads {
        for statement in std::mem::take(&mut thread.body) {
            let of_twin = match &statement {
                Statement::Spawn(it) if *it == name => Some(Statement::Spawn(TWIN.into())),
                Statement::Join(it) if *it == name => Some(Statement::Join(TWIN.into())),
                _ => None,
            };
            thread.body.push(statement);
            thread.body.extend(of_twin);
        }
    }
    script.threads.push(ScriptThread::new(TWIN, body));
    SymmetricScript { script, blocks: vec![vec![ThreadId::new(original), twin]] }
}

/// All permutations of the threads of blocks: for each thread its new name.
#[must_use]
pub fn permutations(blocks: &[Vec<ThreadId>]) -> Vec<Vec<ThreadId>> {
    let last = blocks.iter().flatten().max().map_or(0, |last| last.index());
    let mut all = vec![(0..=last).map(ThreadId::new).collect::<Vec<_>>()];
    for block in blocks {
        let mut longer = vec![];
        for names in &all {
            for order in orders(block) {
                let mut names = names.clone();
                for (thread, name) in block.iter().zip(order) {
                    names[thread.index()] = name;
                }
                longer.push(names);
            }
        }
        all = longer;
    }
    all
}

fn orders(threads: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    let Some((&first, rest)) = threads.split_first() else { return vec![vec![]] };
    let mut all = vec![];
    for order in orders(rest) {
        for at in 0..=order.len() {
            let mut order = order.clone();
            order.insert(at, first);
            all.push(order);
        }
    }
    all
}

/// A class after its threads are renamed.
#[must_use]
pub fn renamed(class: &Class, names: &[ThreadId]) -> Class {
    let name = |thread: ThreadId| names.get(thread.index()).copied().unwrap_or(thread);
    let source = |source: &Source| match *source {
        Source::Event { thread, position, spurious } => {
            Source::Event { thread: name(thread), position, spurious }
        }
        source => source,
    };
    let of_thread = |(&thread, (sources, end)): (&ThreadId, &(Vec<Source>, _))| {
        (name(thread), (sources.iter().map(source).collect(), *end))
    };
    class.iter().map(of_thread).collect()
}

/// The orbits of classes: of each the first class.
#[must_use]
pub fn orbits<'c>(
    classes: impl Iterator<Item = &'c Class>,
    permutations: &[Vec<ThreadId>],
) -> BTreeSet<Class> {
    classes.map(|class| first_of_orbit(class, permutations)).collect()
}

/// The first class of an orbit.
///
/// # Panics
/// Without permutations.
#[must_use]
pub fn first_of_orbit(class: &Class, permutations: &[Vec<ThreadId>]) -> Class {
    let all = permutations.iter().map(|names| renamed(class, names));
    let key = |class: &Class| format!("{class:?}");
    all.min_by_key(key).expect("there is the permutation that changes nothing")
}
