//! RF-partSMC on programs with endless loops, against brute force: the same outcomes, failures and races, the same states
//! of threads at questions, and no class twice.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::model::Model;
use raddle_core::program::{Naming, PlaceId};
use raddle_core::random::Random;
use raddle_core::trace::{Class, Ending, ThreadEnd};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor, rf_part_smc};
use raddle_testkit::programs::outcomes::{
    Outcome, OutcomeBudget, Outcomes, ThreadOutcome, confirms, describe, failures_of,
    is_consistent, outcome_of, outcomes,
};
use raddle_testkit::programs::random::OrderStyle;
use raddle_testkit::programs::traps::{TRAPS, Trap};
use raddle_testkit::programs::{counters, loops, shrink};
use raddle_testkit::script::{Script, ScriptProgram, ThreadState};
use raddle_testkit::seeds::for_cases;

/// The modes in which the explorer is compared: whether it leaves out rounds without effect.
const MODES: &[bool] = &[false, true];

/// The number of leaves, blocked and cut ones included, of a program that is not too large.
pub(crate) const LEAVES: usize = 5_000;

/// How much brute force may do.
pub(crate) fn budget(model: Model) -> OutcomeBudget {
    let states = if model.has_store_buffers() { 20_000 } else { 400 };
    OutcomeBudget { states, questions: 5, tests: 100_000 }
}

/// Explores a program. If `reduces`, rounds without effect are left out where they add nothing to others.
fn explore(
    program: &mut ScriptProgram,
    model: Model,
    limits: &Limits,
    visitor: &mut dyn Visitor,
    reduces: bool,
) -> Summary {
    program.set_updates_may_be_silent(model.has_modification_order());
    let limits = Limits { rounds: reduces, ..*limits };
    rf_part_smc::explore(program, model, &limits, visitor)
}

/// What an exploration has found.
#[derive(Clone, Default)]
pub(crate) struct Explored {
    /// Outcomes, each with one of its classes.
    pub(crate) outcomes: BTreeMap<Outcome, Class>,
    /// Places at which threads fail, each with a class.
    pub(crate) failures: BTreeMap<PlaceId, Class>,
    pub(crate) races: BTreeSet<(PlaceId, PlaceId)>,
    pub(crate) states: BTreeSet<ThreadState>,
    /// How often each class was visited.
    pub(crate) classes: BTreeMap<Class, usize>,
}

impl Explored {
    /// Adds what a leaf shows of a program, unless a thread was stopped there.
    pub(crate) fn add(&mut self, program: &ScriptProgram, leaf: &dyn Leaf) {
        let (trace, ending) = (leaf.trace(), leaf.ending());
        if trace.ends.values().any(|&end| end == ThreadEnd::Limit) {
            return;
        }
        let class = trace.class();
        *self.classes.entry(class.clone()).or_insert(0) += 1;
        if let Ending::Race(first, second) = *ending {
            let [first, second] = [first, second].map(|event| trace.events[event].op.place);
            self.races.insert((first.min(second), first.max(second)));
            return;
        }
        for place in failures_of(program, &trace) {
            self.failures.entry(place).or_insert_with(|| class.clone());
        }
        if let Some(outcome) = outcome_of(program, &trace, ending) {
            self.outcomes.entry(outcome).or_insert(class);
        }
    }
}

/// Explores a program. Returns `None` if it is too large.
fn explored(script: &Script, model: Model, reduces: bool) -> Option<Explored> {
    let oracle = ScriptProgram::new(script);
    let mut program = oracle.clone();
    let mut found = Explored::default();
    let mut visits = 0;
    let mut visit = |leaf: &dyn Leaf| {
        visits += 1;
        if visits > LEAVES {
            return Control::Stop;
        }
        found.add(&oracle, leaf);
        Control::Continue
    };
    let limits = Limits { events: Some(60), ..Limits::default() };
    let summary = explore(&mut program, model, &limits, &mut visit, reduces);
    found.states = program.reached_states().collect();
    (summary.extent == Extent::All).then_some(found)
}

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Comparison {
    Agree,
    Unknown,
    Differ(String),
}

/// Returns `true` if explorers show the outcome. After a failure they do not tell whether other threads go on forever.
/// Executions are discarded if an assumption does not hold: then nobody tells whether other threads go on forever either,
/// and if the explorer `reduces`, it need not show them at all.
pub(crate) fn is_shown(outcome: &Outcome, reduces: bool) -> bool {
    let is_stopped = outcome.values().any(ThreadOutcome::is_stopped);
    let is_spinning = outcome.values().any(ThreadOutcome::is_spinning);
    let is_discarded = outcome.values().any(|end| *end == ThreadOutcome::AssumptionFailed);
    !(is_stopped && is_spinning || is_discarded && reduces)
}

/// Compares the exploration of a program with brute force, in these modes. Executions may only end if rounds are left out.
fn compare(script: &Script, model: Model, modes: &[bool]) -> Comparison {
    let Ok(expected) = outcomes(script, model, budget(model)) else { return Comparison::Unknown };
    for &reduces in modes {
        let Some(found) = explored(script, model, reduces) else {
            if reduces {
                return Comparison::Unknown;
            }
            continue;
        };
        if let Some(difference) = difference(script, model, &expected, &found, reduces) {
            return Comparison::Differ(format!("reduces: {reduces}, {difference}"));
        }
    }
    Comparison::Agree
}

/// Returns a difference of an exploration from brute force.
pub(crate) fn difference(
    script: &Script,
    model: Model,
    expected: &Outcomes,
    found: &Explored,
    reduces: bool,
) -> Option<String> {
    let program = ScriptProgram::new(script);
    twice(found).or_else(|| {
        if expected.races.is_empty() && found.races.is_empty() {
            missing(&program, expected, found, reduces)
                .or_else(|| extra(script, model, &program, expected, found))
        } else {
            races(&program, expected, found)
        }
    })
}

pub(crate) fn twice(found: &Explored) -> Option<String> {
    let twice = found.classes.iter().find(|&(_, &times)| times > 1);
    twice.map(|(class, times)| format!("{times} times {class:?}"))
}

fn describe_race(program: &ScriptProgram, &(a, b): &(PlaceId, PlaceId)) -> String {
    format!("race of {} with {}", program.place(a), program.place(b))
}

/// Compares races. Nothing else is comparable then: what follows a race is not explored, so an explorer need not find all.
fn races(program: &ScriptProgram, expected: &Outcomes, found: &Explored) -> Option<String> {
    let name = |race| describe_race(program, race);
    if found.races.is_empty() {
        return expected.races.first().map(|race| format!("missing {}", name(race)));
    }
    let extra = found.races.iter().find(|&race| !expected.races.contains(race));
    extra.filter(|_| expected.is_complete).map(|race| format!("not allowed: {}", name(race)))
}

fn missing(
    program: &ScriptProgram,
    expected: &Outcomes,
    found: &Explored,
    reduces: bool,
) -> Option<String> {
    let mut shown = expected.outcomes.iter().filter(|outcome| is_shown(outcome, reduces));
    let outcome = shown.find(|&outcome| !found.outcomes.contains_key(outcome));
    let failure = expected.failures.iter().find(|&place| !found.failures.contains_key(place));
    let state = expected.states.iter().find(|&state| !found.states.contains(state));
    outcome
        .map(|outcome| format!("missing outcome: {}", describe(program, outcome)))
        .or(failure.map(|&place| format!("missing failure: {}", program.place(place))))
        .or(state.map(|state| {
            let place = program.place(program.place_of(state));
            format!("missing state: {place} with {:?}", state.registers)
        }))
}

/// What the explorer shows although the program does not have it. If brute force is incomplete, its axioms decide.
fn extra(
    script: &Script,
    model: Model,
    program: &ScriptProgram,
    expected: &Outcomes,
    found: &Explored,
) -> Option<String> {
    let is_wrong = |is_expected: bool, confirm: &dyn Fn() -> bool| {
        !is_expected && (expected.is_complete || !confirm())
    };
    let outcome = found.outcomes.iter().find(|&(outcome, class)| {
        let is_expected = expected.outcomes.contains(outcome);
        is_wrong(is_expected, &|| confirms(script, model, class, outcome) != Ok(false))
    });
    let failure = found.failures.iter().find(|&(place, class)| {
        let is_expected = expected.failures.contains(place);
        is_wrong(is_expected, &|| is_consistent(script, model, class) != Ok(false))
    });
    outcome
        .map(|(outcome, class)| {
            format!("outcome not allowed: {}\n{class:?}", describe(program, outcome))
        })
        .or(failure.map(|(place, class)| format!("failure not allowed: {place:?}\n{class:?}")))
}

/// Panics with a small program if the exploration of a program differs from brute force. Returns `false` if the program is
/// too large.
fn check(script: &Script, model: Model) -> bool {
    let compared = compare(script, model, MODES);
    if matches!(compared, Comparison::Differ(_)) {
        let smallest = shrink(script, &mut |smaller| {
            matches!(compare(smaller, model, MODES), Comparison::Differ(_))
        });
        panic!("{model}: {:?}\n{smallest}", compare(&smallest, model, MODES));
    }
    compared == Comparison::Agree
}

pub(crate) fn any_style(random: &mut Random) -> OrderStyle {
    OrderStyle::ALL[random.below(OrderStyle::ALL.len())]
}

/// Describes what a program does: its outcomes, or its races if it has any.
fn described<'a>(
    program: &ScriptProgram,
    outcomes: impl IntoIterator<Item = &'a Outcome>,
    races: &BTreeSet<(PlaceId, PlaceId)>,
) -> BTreeSet<String> {
    if races.is_empty() {
        outcomes.into_iter().map(|outcome| describe(program, outcome)).collect()
    } else {
        races.iter().map(|race| describe_race(program, race)).collect()
    }
}

/// Programs that an explorer gets wrong that leaves out rounds carelessly.
#[test]
fn traps() {
    for &Trap { name, text, model, rounds_change_memory, expected } in TRAPS {
        let script = Script::parse(text).expect("a script");
        let program = ScriptProgram::new(&script);
        let large = OutcomeBudget { states: 20_000, questions: 6, tests: 1_000_000 };
        let by_force = outcomes(&script, model, large).expect("few states");
        let expected: BTreeSet<String> = expected.iter().map(|&it| it.to_owned()).collect();
        let by_force = described(&program, &by_force.outcomes, &by_force.races);
        assert_eq!(by_force, expected, "{name}, by brute force");
        let modes: &[bool] = if rounds_change_memory { &[true] } else { MODES };
        for &reduces in modes {
            let found = explored(&script, model, reduces);
            let found = found.unwrap_or_else(|| panic!("{name}: executions do not end"));
            let shown = described(&program, found.outcomes.keys(), &found.races);
            assert_eq!(shown, expected, "{name}, reduces: {reduces}");
        }
        assert_eq!(compare(&script, model, modes), Comparison::Agree, "{name}");
    }
}

/// Compares the exploration of random programs with brute force.
fn check_random(cases: u64, generate: fn(&mut Random, OrderStyle) -> Script) {
    let (mut compared, mut all) = (BTreeMap::new(), 0);
    for_cases(cases, |numbers| {
        let style = any_style(numbers);
        let script = generate(numbers, style);
        all += 1;
        for model in Model::ALL {
            *compared.entry(model).or_insert(0) += u32::from(check(&script, model));
        }
    });
    for (model, compared) in compared {
        let least = if model == Model::Wra { all / 3 } else { 9 * all / 10 };
        assert!(compared > least, "{model}: compared only {compared} of {all}");
    }
}

#[test]
fn random_programs_with_loops_have_the_outcomes_of_brute_force() {
    check_random(80, loops);
}

#[test]
fn random_programs_with_counters_have_the_outcomes_of_brute_force() {
    check_random(80, counters);
}

/// The number of classes of a program with five threads `a` to `e`, all with the same body, whose join `main` waits for.
fn classes_of_five(body: &str, model: Model) -> usize {
    let names = ["a", "b", "c", "d", "e"];
    let each = |text: &str| names.map(|name| format!("{text} {name};")).concat();
    let threads = names.map(|name| format!("thread {name} {{ {body} }}\n")).concat();
    let main = format!("thread main {{ {} {} r = load x }}", each("spawn"), each("join"));
    let script = Script::parse(&format!("x = 0\n{main}\n{threads}")).expect("a script");
    explored(&script, model, true).expect("few classes").classes.len()
}

#[test]
fn updates_of_a_counter_have_one_class_unless_they_acquire() {
    for model in Model::ALL {
        let is_release_acquire = [Model::Ra, Model::Sra, Model::Wra].contains(&model);
        let all = if is_release_acquire { 120 } else { 1 };
        assert_eq!(classes_of_five("add x 1 rel", model), all, "{model}");
        let observes = [Model::Rc20, Model::Rc11, Model::C20].contains(&model);
        let all = if is_release_acquire || observes { 120 } else { 1 };
        assert_eq!(classes_of_five("add x 1 acq", model), all, "acquire, {model}");
        assert_eq!(classes_of_five("q = add x 1 rel", model), 120, "used, {model}");
    }
}
