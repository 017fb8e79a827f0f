//! Random small programs, compared with an operational machine with store buffers.
//!
//! A random program has two or three threads of loads, stores, atomic updates and fences. The machine explores all its
//! executions and collects the possible final registers and memory. An assertion then forbids one outcome, possible or
//! not. With sufficient bounds, the checker must find the assertion violated exactly if the outcome is possible, under
//! every model and with every representation of store buffers.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;
use std::path::Path;

use raddle_bmc::{Abstraction, BmcOptions, check};
use raddle_core::model::Model;
use raddle_core::outcome::Verdict;

use super::support::{XorShift, is_bug};

#[derive(Clone, Copy, Debug, PartialEq)]
enum RandomStatement {
    Load(usize),
    Store(usize, u8),
    Release(usize, u8),
    StoreSc(usize, u8),
    /// Atomic fetch-and-add; the old value goes to a register.
    Add(usize, u8),
    /// Compare-and-swap: location, expected value, new value; the old value goes to a register.
    Swap(usize, u8, u8),
    Fence,
    ReleaseFence,
    /// Skips the next statement if the last register is not zero.
    SkipIfNonzero,
}

type RandomThread = Vec<RandomStatement>;

fn program(random: &mut XorShift) -> Vec<RandomThread> {
    let threads = 2 + random.below(2);
    let length = if threads == 2 { 4 } else { 3 };
    let thread = |random: &mut XorShift| {
        let count = 1 + random.below(length);
        (0..count).map(|_| statement(random)).collect()
    };
    (0..threads).map(|_| thread(random)).collect()
}

fn statement(random: &mut XorShift) -> RandomStatement {
    let (at, value) = (random.below(2), 1 + random.below(2) as u8);
    match random.below(14) {
        0..4 => RandomStatement::Load(at),
        4..7 => RandomStatement::Store(at, value),
        7 => RandomStatement::Release(at, value),
        8 => RandomStatement::StoreSc(at, value),
        9 => RandomStatement::Add(at, value),
        10 => RandomStatement::Swap(at, random.below(2) as u8, value),
        11 => RandomStatement::Fence,
        12 => RandomStatement::ReleaseFence,
        _ => RandomStatement::SkipIfNonzero,
    }
}

/// An entry of a store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BufferEntry {
    Store(usize, u8),
    /// Later stores must not overtake earlier ones across this entry.
    Barrier,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct MachineThread {
    next_statement: usize,
    registers: Vec<u8>,
    buffer: VecDeque<BufferEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BufferMachine {
    memory: [u8; 2],
    threads: Vec<MachineThread>,
}

impl BufferMachine {
    /// All successor states.
    fn steps(&self, program: &[RandomThread], model: Model) -> Vec<BufferMachine> {
        let mut all = vec![];
        for thread in 0..program.len() {
            all.extend(self.execute(program, thread, model));
            all.extend(self.flush(thread, model));
        }
        all
    }

    /// States after one store has reached memory: the oldest (TSO), or the oldest per location before a barrier (PSO).
    fn flush(&self, thread: usize, model: Model) -> Vec<BufferMachine> {
        let buffer = &self.threads[thread].buffer;
        let mut seen = [false; 2];
        let mut all = vec![];
        for (i, &waiting) in buffer.iter().enumerate() {
            let BufferEntry::Store(at, value) = waiting else {
                if i == 0 {
                    let mut next = self.clone();
                    next.threads[thread].buffer.pop_front();
                    all.push(next);
                }
                break;
            };
            if !seen[at] && (i == 0 || model == Model::Pso) {
                let mut next = self.clone();
                next.threads[thread].buffer.remove(i);
                next.memory[at] = value;
                all.push(next);
            }
            seen[at] = true;
        }
        all
    }

    /// The state after the next statement of a thread, unless that waits for an empty buffer.
    fn execute(
        &self,
        program: &[RandomThread],
        thread: usize,
        model: Model,
    ) -> Option<BufferMachine> {
        let statement = *program[thread].get(self.threads[thread].next_statement)?;
        let mut next = self.clone();
        let BufferMachine { memory, threads } = &mut next;
        let thread_state = &mut threads[thread];
        let must_be_empty = matches!(
            statement,
            RandomStatement::StoreSc(..)
                | RandomStatement::Add(..)
                | RandomStatement::Swap(..)
                | RandomStatement::Fence
        );
        if must_be_empty && !thread_state.buffer.is_empty() {
            return None;
        }
        thread_state.next_statement += 1;
        match statement {
            RandomStatement::Load(at) => {
                let own = thread_state.buffer.iter().rev().find_map(|waiting| match waiting {
                    BufferEntry::Store(own, value) if *own == at => Some(*value),
                    _ => None,
                });
                thread_state.registers.push(own.unwrap_or(memory[at]));
            }
            RandomStatement::Store(at, value) | RandomStatement::Release(at, value) => {
                if model == Model::Sc {
                    memory[at] = value;
                } else {
                    if model == Model::Pso && matches!(statement, RandomStatement::Release(..)) {
                        thread_state.buffer.push_back(BufferEntry::Barrier);
                    }
                    thread_state.buffer.push_back(BufferEntry::Store(at, value));
                }
            }
            RandomStatement::StoreSc(at, value) => memory[at] = value,
            RandomStatement::Add(at, value) => {
                thread_state.registers.push(memory[at]);
                memory[at] = memory[at].wrapping_add(value);
            }
            RandomStatement::Swap(at, from, to) => {
                thread_state.registers.push(memory[at]);
                if memory[at] == from {
                    memory[at] = to;
                }
            }
            RandomStatement::Fence => {}
            RandomStatement::ReleaseFence => {
                if model == Model::Pso && !thread_state.buffer.is_empty() {
                    thread_state.buffer.push_back(BufferEntry::Barrier);
                }
            }
            RandomStatement::SkipIfNonzero => {
                let skips = thread_state.registers.last().is_some_and(|&value| value != 0);
                if skips && thread_state.next_statement < program[thread].len() {
                    if reads(program[thread][thread_state.next_statement]) {
                        thread_state.registers.push(0);
                    }
                    thread_state.next_statement += 1;
                }
            }
        }
        Some(next)
    }
}

/// Returns `true` if the statement writes a register.
fn reads(statement: RandomStatement) -> bool {
    matches!(
        statement,
        RandomStatement::Load(_) | RandomStatement::Add(..) | RandomStatement::Swap(..)
    )
}

/// All possible final values of the registers of all threads, followed by memory.
fn outcomes(program: &[RandomThread], model: Model) -> BTreeSet<Vec<u8>> {
    let threads = vec![MachineThread::default(); program.len()];
    let start = BufferMachine { memory: [0; 2], threads };
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    let mut ends = BTreeSet::new();
    while let Some(machine) = open.pop() {
        let steps = machine.steps(program, model);
        if steps.is_empty() {
            let mut end: Vec<u8> = machine
                .threads
                .iter()
                .flat_map(|thread_state| thread_state.registers.clone())
                .collect();
            end.extend(machine.memory);
            ends.insert(end);
        }
        for next in steps {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    ends
}

/// The program in C, with an assertion that excludes the outcome `forbidden`.
fn in_c(program: &[RandomThread], forbidden: &[u8]) -> String {
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\nstatic _Atomic unsigned char x, y;\n",
    );
    let names = ["x", "y"];
    let mut conditions = vec![];
    for (number, thread) in program.iter().enumerate() {
        let count = thread.iter().filter(|&&statement| reads(statement)).count();
        let _ = writeln!(text, "static unsigned char r{number}[{}];", count.max(1));
        let _ = writeln!(
            text,
            "static void *t{number}(void *unused) {{\n    int last = 0, n = 0;\n    (void)n;"
        );
        let mut skipped = false;
        let mut register = 0;
        for &statement in thread {
            let place = format!("r{number}[{register}]");
            let line = match statement {
                RandomStatement::Load(at) => format!(
                    "last = {place} = atomic_load_explicit(&{}, memory_order_relaxed);",
                    names[at]
                ),
                RandomStatement::Store(at, v) => {
                    format!("atomic_store_explicit(&{}, {v}, memory_order_relaxed);", names[at])
                }
                RandomStatement::Release(at, v) => {
                    format!("atomic_store_explicit(&{}, {v}, memory_order_release);", names[at])
                }
                RandomStatement::StoreSc(at, v) => format!("atomic_store(&{}, {v});", names[at]),
                RandomStatement::Add(at, v) => {
                    format!("last = {place} = atomic_fetch_add(&{}, {v});", names[at])
                }
                RandomStatement::Swap(at, from, to) => format!(
                    "{{ unsigned char e = {from}; atomic_compare_exchange_strong(&{}, &e, {to}); last = {place} = e; }}",
                    names[at]
                ),
                RandomStatement::Fence => {
                    String::from("atomic_thread_fence(memory_order_seq_cst);")
                }
                RandomStatement::ReleaseFence => {
                    String::from("atomic_thread_fence(memory_order_release);")
                }
                RandomStatement::SkipIfNonzero => String::from("n = last;"),
            };
            let line = match skipped {
                true if reads(statement) => format!("if (!n) {{ {line} }} else last = 0;"),
                true => format!("if (!n) {{ {line} }}"),
                false => line,
            };
            let _ = writeln!(text, "    {line}");
            if reads(statement) {
                conditions.push(place);
                register += 1;
            }
            skipped = statement == RandomStatement::SkipIfNonzero;
        }
        text += "    return 0;\n}\n";
    }
    conditions.extend(["x", "y"].map(String::from));
    text += "int main(void) {\n    pthread_t ids[3];\n";
    for number in 0..program.len() {
        let _ = writeln!(text, "    pthread_create(&ids[{number}], 0, t{number}, 0);");
    }
    for number in 0..program.len() {
        let _ = writeln!(text, "    pthread_join(ids[{number}], 0);");
    }
    let equal: Vec<String> = conditions
        .iter()
        .zip(forbidden)
        .map(|(name, value)| format!("{name} == {value}"))
        .collect();
    let _ = writeln!(text, "    assert(!({}));\n}}", equal.join(" && "));
    text
}

/// Returns `true` if no skip is last in its thread or skips another skip, which [`in_c`] cannot express.
fn is_expressible(program: &[RandomThread]) -> bool {
    let fits = |thread: &RandomThread| {
        let pairs = thread.windows(2);
        !pairs
            .into_iter()
            .any(|pair| pair == [RandomStatement::SkipIfNonzero, RandomStatement::SkipIfNonzero])
            && thread.last() != Some(&RandomStatement::SkipIfNonzero)
    };
    program.iter().all(fits)
}

#[test]
fn verdicts_agree_with_an_operational_machine() {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be created");
    let mut random = XorShift(0x9e37_79b9_7f4a_7c15);
    let (mut reached, mut cases) = (0, 0);
    while cases < 24 {
        let program = program(&mut random);
        if !is_expressible(&program) {
            continue;
        }
        cases += 1;
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let possible: Vec<Vec<u8>> = outcomes(&program, model).into_iter().collect();
            let weakest: Vec<Vec<u8>> = outcomes(&program, Model::Pso).into_iter().collect();
            // An outcome of the weakest model, sometimes changed to one that may be impossible.
            let mut outcome = weakest[random.below(weakest.len())].clone();
            if random.below(4) == 0 {
                let at = random.below(outcome.len());
                outcome[at] = (outcome[at] + 1) % 4;
            }
            let expected = possible.contains(&outcome);
            reached += usize::from(expected);
            let file = directory.path().join("program.c");
            std::fs::write(&file, in_c(&program, &outcome)).expect("the program can be written");
            for abstraction in [Abstraction::Stamps, Abstraction::Simple, Abstraction::Etso] {
                let is_covered = model == Model::Tso
                    || abstraction == Abstraction::Stamps
                    || abstraction == Abstraction::Etso && model == Model::Pso;
                if is_covered {
                    compare(&file, model, abstraction, expected, &program, &outcome);
                }
            }
        }
    }
    assert!(
        reached > 20 && reached < 3 * cases - 10,
        "{reached} of {cases} outcomes are possible: too few of one kind"
    );
}

fn compare(
    file: &Path,
    model: Model,
    abstraction: Abstraction,
    expected: bool,
    program: &[RandomThread],
    outcome: &[u8],
) {
    let mut options = BmcOptions::new(file);
    (options.model, options.abstraction) = (model, abstraction);
    (options.rounds, options.nodes, options.max_time) = (8, 6, 10);
    let report = check(&options).expect("the program is supported");
    let found = is_bug(&report);
    let source = std::fs::read_to_string(file).unwrap_or_default();
    assert_eq!(
        found, expected,
        "{model:?} {abstraction:?} {program:?} {outcome:?}\n{source}\n{report:#?}"
    );
    if report.statistics.sufficient_rounds <= options.rounds
        && abstraction == Abstraction::Stamps
        && !expected
    {
        assert_eq!(report.outcome.verdict, Verdict::Clean, "{source}");
    }
}
