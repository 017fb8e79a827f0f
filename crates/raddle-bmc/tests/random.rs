//! Random small programs against a machine with store buffers.
//!
//! A program is made at random: two or three threads that load, store, update and fence. The machine below runs it in
//! every possible way and collects what its registers can be. Then some outcome is forbidden by an assertion, one that
//! can be or one that cannot, and the check must say which, with bounds that are large enough, under every model and
//! with every representation of store buffers.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;
use std::path::Path;

use raddle_bmc::{Abstraction, Answer, Model, Options, check};

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statement {
    Load(usize),
    Store(usize, u8),
    Release(usize, u8),
    StoreSc(usize, u8),
    /// Adds to what is there, and remembers that.
    Add(usize, u8),
    /// From one value to another, if it is there.
    Swap(usize, u8, u8),
    Fence,
    ReleaseFence,
    /// Skips the next statement if the last register is not zero.
    Unless,
}

type Thread = Vec<Statement>;

fn program(random: &mut Random) -> Vec<Thread> {
    let threads = 2 + random.below(2);
    let length = if threads == 2 { 4 } else { 3 };
    let thread = |random: &mut Random| {
        let count = 1 + random.below(length);
        (0..count).map(|_| statement(random)).collect()
    };
    (0..threads).map(|_| thread(random)).collect()
}

fn statement(random: &mut Random) -> Statement {
    let (at, value) = (random.below(2), 1 + random.below(2) as u8);
    match random.below(14) {
        0..4 => Statement::Load(at),
        4..7 => Statement::Store(at, value),
        7 => Statement::Release(at, value),
        8 => Statement::StoreSc(at, value),
        9 => Statement::Add(at, value),
        10 => Statement::Swap(at, random.below(2) as u8, value),
        11 => Statement::Fence,
        12 => Statement::ReleaseFence,
        _ => Statement::Unless,
    }
}

/// Something in a buffer: a store, or a line that later stores do not cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Waiting {
    Store(usize, u8),
    Line,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Runner {
    at: usize,
    registers: Vec<u8>,
    buffer: VecDeque<Waiting>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    memory: [u8; 2],
    runners: Vec<Runner>,
}

impl Machine {
    /// All machines that this one can become in one step.
    fn steps(&self, program: &[Thread], model: Model) -> Vec<Machine> {
        let mut all = vec![];
        for thread in 0..program.len() {
            all.extend(self.run(program, thread, model));
            all.extend(self.flush(thread, model));
        }
        all
    }

    /// Stores that reach memory: under TSO the oldest, under PSO the oldest to each location before a line.
    fn flush(&self, thread: usize, model: Model) -> Vec<Machine> {
        let buffer = &self.runners[thread].buffer;
        let mut seen = [false; 2];
        let mut all = vec![];
        for (i, &waiting) in buffer.iter().enumerate() {
            let Waiting::Store(at, value) = waiting else {
                if i == 0 {
                    let mut next = self.clone();
                    next.runners[thread].buffer.pop_front();
                    all.push(next);
                }
                break;
            };
            if !seen[at] && (i == 0 || model == Model::Pso) {
                let mut next = self.clone();
                next.runners[thread].buffer.remove(i);
                next.memory[at] = value;
                all.push(next);
            }
            seen[at] = true;
        }
        all
    }

    fn run(&self, program: &[Thread], thread: usize, model: Model) -> Option<Machine> {
        let statement = *program[thread].get(self.runners[thread].at)?;
        let mut next = self.clone();
        let Machine { memory, runners } = &mut next;
        let runner = &mut runners[thread];
        let must_be_empty = matches!(
            statement,
            Statement::StoreSc(..) | Statement::Add(..) | Statement::Swap(..) | Statement::Fence
        );
        if must_be_empty && !runner.buffer.is_empty() {
            return None;
        }
        runner.at += 1;
        match statement {
            Statement::Load(at) => {
                let own = runner.buffer.iter().rev().find_map(|waiting| match waiting {
                    Waiting::Store(own, value) if *own == at => Some(*value),
                    _ => None,
                });
                runner.registers.push(own.unwrap_or(memory[at]));
            }
            Statement::Store(at, value) | Statement::Release(at, value) => {
                if model == Model::Sc {
                    memory[at] = value;
                } else {
                    if model == Model::Pso && matches!(statement, Statement::Release(..)) {
                        runner.buffer.push_back(Waiting::Line);
                    }
                    runner.buffer.push_back(Waiting::Store(at, value));
                }
            }
            Statement::StoreSc(at, value) => memory[at] = value,
            Statement::Add(at, value) => {
                runner.registers.push(memory[at]);
                memory[at] = memory[at].wrapping_add(value);
            }
            Statement::Swap(at, from, to) => {
                runner.registers.push(memory[at]);
                if memory[at] == from {
                    memory[at] = to;
                }
            }
            Statement::Fence => {}
            Statement::ReleaseFence => {
                if model == Model::Pso && !runner.buffer.is_empty() {
                    runner.buffer.push_back(Waiting::Line);
                }
            }
            Statement::Unless => {
                let skips = runner.registers.last().is_some_and(|&value| value != 0);
                if skips && runner.at < program[thread].len() {
                    if reads(program[thread][runner.at]) {
                        runner.registers.push(0);
                    }
                    runner.at += 1;
                }
            }
        }
        Some(next)
    }
}

/// Whether a statement has a register.
fn reads(statement: Statement) -> bool {
    matches!(statement, Statement::Load(_) | Statement::Add(..) | Statement::Swap(..))
}

/// What the registers of all threads, and memory, can be.
fn outcomes(program: &[Thread], model: Model) -> BTreeSet<Vec<u8>> {
    let runners = vec![Runner::default(); program.len()];
    let start = Machine { memory: [0; 2], runners };
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    let mut ends = BTreeSet::new();
    while let Some(machine) = open.pop() {
        let steps = machine.steps(program, model);
        if steps.is_empty() {
            let mut end: Vec<u8> =
                machine.runners.iter().flat_map(|runner| runner.registers.clone()).collect();
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

/// The program in C, with an assertion that this outcome is not.
fn in_c(program: &[Thread], forbidden: &[u8]) -> String {
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
                Statement::Load(at) => format!(
                    "last = {place} = atomic_load_explicit(&{}, memory_order_relaxed);",
                    names[at]
                ),
                Statement::Store(at, v) => {
                    format!("atomic_store_explicit(&{}, {v}, memory_order_relaxed);", names[at])
                }
                Statement::Release(at, v) => {
                    format!("atomic_store_explicit(&{}, {v}, memory_order_release);", names[at])
                }
                Statement::StoreSc(at, v) => format!("atomic_store(&{}, {v});", names[at]),
                Statement::Add(at, v) => {
                    format!("last = {place} = atomic_fetch_add(&{}, {v});", names[at])
                }
                Statement::Swap(at, from, to) => format!(
                    "{{ unsigned char e = {from}; atomic_compare_exchange_strong(&{}, &e, {to}); last = {place} = e; }}",
                    names[at]
                ),
                Statement::Fence => String::from("atomic_thread_fence(memory_order_seq_cst);"),
                Statement::ReleaseFence => {
                    String::from("atomic_thread_fence(memory_order_release);")
                }
                Statement::Unless => String::from("n = last;"),
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
            skipped = statement == Statement::Unless;
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

/// Two jumps in a row, or one over a jump, are no C: they are left out.
fn is_fit(program: &[Thread]) -> bool {
    let fits = |thread: &Thread| {
        let pairs = thread.windows(2);
        !pairs.into_iter().any(|pair| pair == [Statement::Unless, Statement::Unless])
            && thread.last() != Some(&Statement::Unless)
    };
    program.iter().all(fits)
}

#[test]
fn what_is_found_is_what_a_machine_with_store_buffers_does() {
    let directory = tempfile::TempDir::new().expect("a directory");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut reached, mut cases) = (0, 0);
    while cases < 24 {
        let program = program(&mut random);
        if !is_fit(&program) {
            continue;
        }
        cases += 1;
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let possible: Vec<Vec<u8>> = outcomes(&program, model).into_iter().collect();
            let weakest: Vec<Vec<u8>> = outcomes(&program, Model::Pso).into_iter().collect();
            // One of the weakest model, or one that is nowhere.
            let mut outcome = weakest[random.below(weakest.len())].clone();
            if random.below(4) == 0 {
                let at = random.below(outcome.len());
                outcome[at] = (outcome[at] + 1) % 4;
            }
            let expected = possible.contains(&outcome);
            reached += usize::from(expected);
            let file = directory.path().join("program.c");
            std::fs::write(&file, in_c(&program, &outcome)).expect("a file");
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
        "{reached} of {cases} programs: nothing is tested"
    );
}

fn compare(
    file: &Path,
    model: Model,
    abstraction: Abstraction,
    expected: bool,
    program: &[Thread],
    outcome: &[u8],
) {
    let mut options = Options::new(file);
    (options.model, options.abstraction) = (model, abstraction);
    (options.rounds, options.nodes, options.max_time) = (8, 6, 10);
    let report = check(&options).expect("it is modelled");
    let found = matches!(report.answer, Answer::Bug(_));
    let told = std::fs::read_to_string(file).unwrap_or_default();
    assert_eq!(
        found, expected,
        "{model:?} {abstraction:?} {program:?} {outcome:?}\n{told}\n{report:#?}"
    );
    if report.statistics.enough_rounds <= options.rounds
        && abstraction == Abstraction::Stamps
        && !expected
    {
        assert_eq!(report.answer, Answer::Safe, "{told}");
    }
}
