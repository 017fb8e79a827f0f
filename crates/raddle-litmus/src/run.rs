//! Exploring a test: its final states.

use std::collections::BTreeSet;

use raddle_core::execution::Value;
use raddle_core::trace::{Ending, ThreadEnd, Trace};
use raddle_explore::plan::Plan;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};

use super::condition::{Item, Proposition, Quantifier};
use super::{LitmusProgram, Test};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many classes, and for how long.
    pub limits: Limits,
    /// How often a thread may come back to a place in its code.
    pub unroll: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { limits: Limits::default(), unroll: 8 }
    }
}

/// A final state: the values of what the test shows, in the order of [`Test::names`].
pub type State = Vec<Value>;

/// Something that goes wrong in an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What it is.
    pub ending: Ending,
    /// The execution.
    pub trace: Trace,
}

/// What came of exploring a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The final states, in herd's order.
    pub states: BTreeSet<State>,
    /// How many classes satisfy the condition.
    pub positive: u64,
    /// How many do not.
    pub negative: u64,
    /// The first execution that satisfies the condition; of `forall` the first that does not.
    pub witness: Option<Trace>,
    /// The first data race.
    pub race: Option<Trouble>,
    /// The first thing that cannot be done, such as a division by zero.
    pub failure: Option<Trouble>,
    /// How far the exploration got.
    pub summary: Summary,
}

impl Outcome {
    /// Whether everything was explored.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.summary.extent == Extent::All && self.failure.is_none()
    }

    /// Whether what the test claims holds, as far as it was explored.
    #[must_use]
    pub fn is_ok(&self, test: &Test) -> bool {
        test.quantifier.holds(self.positive, self.negative)
    }

    /// Whether it is known that the claim holds or not: executions that were not seen cannot change it.
    #[must_use]
    pub fn is_settled(&self, test: &Test) -> bool {
        let shown = match test.quantifier {
            Quantifier::Exists | Quantifier::NotExists => self.positive > 0,
            Quantifier::Forall => self.negative > 0,
        };
        shown || self.is_complete()
    }
}

/// Explores a test. The plan must be one for its language.
#[must_use]
pub fn explore(test: &Test, plan: Plan, options: &Options) -> Outcome {
    let mut program = LitmusProgram::new(test, options.unroll);
    let mut collector = Collector::new(test, options.unroll);
    let mut visitor = |leaf: &dyn Leaf| collector.visit(leaf);
    let mut summary = plan.showing_all().explore(&mut program, &options.limits, &mut visitor);
    if collector.hit_limit && summary.extent == Extent::All {
        summary.extent = Extent::Events;
    }
    Outcome { summary, ..collector.outcome }
}

/// What is known so far.
struct Collector<'a> {
    test: &'a Test,
    /// To do again what threads did.
    program: LitmusProgram<'a>,
    final_locations: Vec<usize>,
    /// Whether some thread reached its limit.
    hit_limit: bool,
    outcome: Outcome,
}

impl<'a> Collector<'a> {
    fn new(test: &'a Test, unroll: u32) -> Self {
        let summary = Summary { extent: Extent::All, classes: 0, blocked: 0, histories: 0 };
        let outcome = Outcome {
            states: BTreeSet::new(),
            positive: 0,
            negative: 0,
            witness: None,
            race: None,
            failure: None,
            summary,
        };
        let program = LitmusProgram::new(test, unroll);
        let final_locations = test.final_locations();
        Collector { test, program, final_locations, hit_limit: false, outcome }
    }

    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        let (ending, trace) = (leaf.ending(), leaf.trace());
        let has = |end: ThreadEnd| trace.ends.values().any(|it| *it == end);
        // A race may hide what became of the threads.
        self.hit_limit |= has(ThreadEnd::Limit);
        let failed = has(ThreadEnd::Failed);
        let trouble = |trace: &Trace| Trouble { ending: ending.clone(), trace: trace.clone() };
        match ending {
            Ending::Complete => self.add(trace),
            Ending::Race(..) if !failed => {
                self.outcome.race.get_or_insert_with(|| trouble(&trace));
                if trace.ends.values().all(|end| *end == ThreadEnd::Finished) {
                    self.add(trace);
                }
            }
            Ending::Limit(_) | Ending::Blocked => {}
            _ => {
                self.outcome.failure = Some(trouble(&trace));
                return Control::Stop;
            }
        }
        Control::Continue
    }

    fn add(&mut self, trace: Trace) {
        let registers = self.program.finals(&trace);
        let memory = |location: usize| {
            let at = self.final_locations.binary_search(&location);
            registers[0][at.expect("it is loaded in the end")]
        };
        let Some(state) = self.test.final_state(&registers[1..], &memory) else { return };
        let positive = self.test.satisfies(&state);
        let is_witness = positive != (self.test.quantifier == Quantifier::Forall);
        self.outcome.states.insert(state);
        self.outcome.positive += u64::from(positive);
        self.outcome.negative += u64::from(!positive);
        if is_witness && self.outcome.witness.is_none() {
            self.outcome.witness = Some(trace);
        }
    }
}

impl Test {
    /// The final state if these are the registers of all threads and this is the memory; none if the
    /// filter excludes it. A location is named by its number.
    pub fn final_state<R: AsRef<[Value]>>(
        &self,
        registers: &[R],
        memory: &impl Fn(usize) -> Value,
    ) -> Option<State> {
        let value = |item: Item| match item {
            Item::Location(location) => memory(location),
            Item::Register(thread, register) => {
                let register = &self.threads[thread].named[register];
                register.ty.wrap(registers[thread].as_ref()[register.slot])
            }
        };
        let holds = |filter: &Proposition| filter.holds(&|&(item, wanted)| value(item) == wanted);
        let admitted = self.filter.as_ref().is_none_or(holds);
        admitted.then(|| self.shown.iter().map(|&item| value(item)).collect())
    }

    /// Whether a final state satisfies the condition.
    #[must_use]
    pub fn satisfies(&self, state: &[Value]) -> bool {
        let value = |item: &Item| self.shown.iter().position(|it| it == item).map(|at| state[at]);
        self.condition.holds(&|(item, wanted)| value(item) == Some(*wanted))
    }
}
