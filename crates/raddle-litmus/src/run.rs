//! Exploring a test.

use std::collections::BTreeSet;
use std::time::Instant;

use raddle_core::execution::Value;
use raddle_core::outcome::{Bound, Counts, Finding, FindingKind, Outcome};
use raddle_core::trace::{Counterexample, Ending, NamedTrace, ThreadEnd, Trace};
use raddle_explore::counterexample::{self, Style};
use raddle_explore::plan::Plan;
use raddle_explore::robustness::{self, RobustnessCheck};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};

use super::condition::{Proposition, Quantifier, StateItem};
use super::{LitmusProgram, LitmusTest};

/// The limits of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct LitmusOptions {
    /// The number of classes, and the time.
    pub limits: Limits,
    /// How often a backward jump may be taken.
    pub unroll: u32,
}

impl Default for LitmusOptions {
    fn default() -> Self {
        LitmusOptions { limits: Limits::default(), unroll: 8 }
    }
}

/// Final state: the values of its items, in the order of [`LitmusTest::names`].
pub type FinalState = Vec<Value>;

/// The outcome of exploring a test.
#[derive(Clone, Debug)]
pub struct LitmusOutcome {
    /// The outcome as for any program. The findings are, in this order and at most one of each kind: an
    /// operation that cannot be executed, which ends the exploration; a data race; a condition that does not hold.
    pub outcome: Outcome,
    /// What is known about final states.
    pub finals: FinalStates,
}

impl LitmusOutcome {
    /// The finding that ended the exploration.
    #[must_use]
    pub fn failure(&self) -> Option<&Finding> {
        failure(&self.outcome)
    }

    /// Returns `true` if an execution has a data race.
    #[must_use]
    pub fn has_race(&self) -> bool {
        has_race(&self.outcome)
    }
}

/// The finding that ended the exploration of a test: any but a race or a condition.
#[must_use]
pub fn failure(outcome: &Outcome) -> Option<&Finding> {
    let ends = |kind| !matches!(kind, FindingKind::Race | FindingKind::Condition);
    outcome.findings.iter().find(|finding| ends(finding.kind))
}

/// Returns `true` if an execution of a test has a data race.
#[must_use]
pub fn has_race(outcome: &Outcome) -> bool {
    outcome.findings.iter().any(|finding| finding.kind == FindingKind::Race)
}

/// The final states of a test, as far as they were explored.
#[derive(Clone, Debug, Default)]
pub struct FinalStates {
    /// The states, in herd's order.
    pub states: BTreeSet<FinalState>,
    /// The number of classes that satisfy the condition.
    pub positive: u64,
    /// The number of classes that do not.
    pub negative: u64,
    /// The first execution that satisfies the condition; for `forall` the first that does not.
    pub witness: Option<NamedTrace>,
    /// Whether all executions were explored.
    pub is_complete: bool,
}

impl FinalStates {
    /// Returns `true` if the claim of the test holds for all states.
    #[must_use]
    pub fn is_ok(&self, test: &LitmusTest) -> bool {
        test.quantifier.holds(self.positive, self.negative)
    }

    /// Returns `true` if executions that were not explored cannot change [`is_ok`](FinalStates::is_ok).
    #[must_use]
    pub fn is_settled(&self, test: &LitmusTest) -> bool {
        let shown = match test.quantifier {
            Quantifier::Exists | Quantifier::NotExists => self.positive > 0,
            Quantifier::Forall => self.negative > 0,
        };
        shown || self.is_complete
    }

    /// How often the condition holds: `Never`, `Sometimes` or `Always`.
    #[must_use]
    pub fn observation(&self) -> &'static str {
        match (self.positive, self.negative) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }
}

/// Explores a test. The plan must support its language.
#[must_use]
pub fn explore(test: &LitmusTest, plan: Plan, options: &LitmusOptions) -> LitmusOutcome {
    let start = Instant::now();
    let mut program = LitmusProgram::new(test, options.unroll);
    let mut collector = Collector::new(test, options.unroll);
    let mut visitor = |leaf: &dyn Leaf| collector.visit(leaf);
    let mut summary = plan.showing_all().explore(&mut program, &options.limits, &mut visitor);
    if collector.hit_limit && summary.extent == Extent::All {
        summary.extent = Extent::Events;
    }
    collector.outcome(plan, &summary, start)
}

/// Explores a test until SC forbids an execution, or an execution fails. The condition does not matter.
#[must_use]
pub fn check_robustness(test: &LitmusTest, plan: Plan, options: &LitmusOptions) -> Outcome {
    let start = Instant::now();
    let mut program = LitmusProgram::new(test, options.unroll);
    let is_bug = |leaf: &dyn Leaf| leaf.ending().is_bug();
    let RobustnessCheck { summary, counterexample } =
        robustness::check(&mut program, plan, &options.limits, &is_bug);
    let finding = counterexample.map(|found| {
        let is_robust = found.not_robust.is_none();
        let kind = if is_robust { FindingKind::Failure } else { FindingKind::NotRobust };
        counterexample::finding(kind, found.named(&program, plan.model), &Style::default())
    });
    let bound = bound(plan, &summary).filter(|_| finding.is_none());
    Outcome::new(finding.into_iter().collect(), counts(&summary, start), bound)
}

fn bound(plan: Plan, summary: &Summary) -> Option<Bound> {
    match summary.extent {
        Extent::Events if summary.cut.is_none() => Some(Bound::LoopIterations),
        _ => plan.bound(summary),
    }
}

fn counts(summary: &Summary, start: Instant) -> Counts {
    Counts { seconds: start.elapsed().as_secs_f64(), ..summary.counts(summary.histories) }
}

/// The results so far.
struct Collector<'a> {
    test: &'a LitmusTest,
    /// Replays what threads did, to get their registers.
    program: LitmusProgram<'a>,
    final_locations: Vec<usize>,
    /// Whether some thread reached its limit of loop iterations.
    hit_limit: bool,
    states: BTreeSet<FinalState>,
    positive: u64,
    negative: u64,
    witness: Option<Trace>,
    race: Option<Counterexample>,
    failure: Option<Counterexample>,
}

impl<'a> Collector<'a> {
    fn new(test: &'a LitmusTest, unroll: u32) -> Self {
        Collector {
            test,
            program: LitmusProgram::new(test, unroll),
            final_locations: test.final_locations(),
            hit_limit: false,
            states: BTreeSet::new(),
            positive: 0,
            negative: 0,
            witness: None,
            race: None,
            failure: None,
        }
    }

    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        let (ending, trace) = (leaf.ending(), leaf.trace());
        let has = |end: ThreadEnd| trace.ends.values().any(|it| *it == end);
        // An execution that ends with a race may have threads that reached their limit or failed.
        self.hit_limit |= has(ThreadEnd::Limit);
        let failed = has(ThreadEnd::Failed);
        match ending {
            Ending::Complete => self.add(trace),
            Ending::Race(..) if !failed => {
                let race = || Counterexample::new(ending.clone(), trace.clone());
                self.race.get_or_insert_with(race);
                if trace.ends.values().all(|end| *end == ThreadEnd::Finished) {
                    self.add(trace);
                }
            }
            Ending::Limit(_) | Ending::Blocked => {}
            _ => {
                self.failure = Some(Counterexample::new(ending.clone(), trace));
                return Control::Stop;
            }
        }
        Control::Continue
    }

    fn add(&mut self, trace: Trace) {
        let registers = self.program.final_registers(&trace);
        let memory = |location: usize| {
            let at = self.final_locations.binary_search(&location);
            registers[0][at.expect("thread 0 loads the location")]
        };
        let Some(state) = self.test.final_state(&registers[1..], &memory) else { return };
        let positive = self.test.satisfies(&state);
        let is_witness = positive != (self.test.quantifier == Quantifier::Forall);
        self.states.insert(state);
        self.positive += u64::from(positive);
        self.negative += u64::from(!positive);
        if is_witness && self.witness.is_none() {
            self.witness = Some(trace);
        }
    }

    fn outcome(self, plan: Plan, summary: &Summary, start: Instant) -> LitmusOutcome {
        let named = |found: Counterexample| found.named(&self.program, plan.model);
        let witness = self.witness.map(|trace| named(Counterexample::new(Ending::Complete, trace)));
        let bound = bound(plan, summary);
        let finals = FinalStates {
            states: self.states,
            positive: self.positive,
            negative: self.negative,
            witness,
            is_complete: bound.is_none() && self.failure.is_none(),
        };
        let of = |found, kind| counterexample::finding(kind, named(found), &Style::default());
        let failure = self.failure.map(|found| Finding {
            sample: plan.last_run(summary),
            ..of(found.clone(), kind_of_failure(&found.ending))
        });
        let race = self.race.map(|found| of(found, FindingKind::Race));
        let findings = failure.into_iter().chain(race).chain(condition(self.test, &finals));
        let outcome = Outcome::new(findings.collect(), counts(summary, start), bound);
        LitmusOutcome { outcome, finals }
    }
}

/// The kind of finding for an execution that a test does not permit.
pub(crate) fn kind_of_failure(ending: &Ending) -> FindingKind {
    match ending.finding_kind() {
        Some(FindingKind::Misuse) => FindingKind::Misuse,
        _ => FindingKind::Failure,
    }
}

/// The finding that the condition of a test does not hold. Of `exists`, both answers are right.
fn condition(test: &LitmusTest, finals: &FinalStates) -> Option<Finding> {
    let is_excluded = test.quantifier != Quantifier::Exists && !finals.is_ok(test);
    let witness = finals.witness.clone().filter(|_| is_excluded)?;
    let message = format!("{} does not hold", test.condition_text());
    Some(Finding { trace: Some(witness), ..Finding::new(FindingKind::Condition, message) })
}

impl LitmusTest {
    /// Returns the final state for the registers of all threads and the values in memory, by index of the location;
    /// `None` if the filter excludes it.
    pub fn final_state<R: AsRef<[Value]>>(
        &self,
        registers: &[R],
        memory: &impl Fn(usize) -> Value,
    ) -> Option<FinalState> {
        let value = |item: StateItem| match item {
            StateItem::Location(location) => memory(location),
            StateItem::Register(thread, register) => {
                let register = &self.threads[thread].named[register];
                register.ty.wrap(registers[thread].as_ref()[register.slot])
            }
        };
        let holds = |filter: &Proposition| filter.holds(&|&(item, wanted)| value(item) == wanted);
        let admitted = self.filter.as_ref().is_none_or(holds);
        admitted.then(|| self.shown.iter().map(|&item| value(item)).collect())
    }

    /// Returns `true` if a final state satisfies the condition.
    #[must_use]
    pub fn satisfies(&self, state: &[Value]) -> bool {
        let value =
            |item: &StateItem| self.shown.iter().position(|it| it == item).map(|at| state[at]);
        self.condition.holds(&|(item, wanted)| value(item) == Some(*wanted))
    }
}
