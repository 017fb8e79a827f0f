//! All reductions of RF-partSMC together: rounds without effect, quiet locations and updates whose result is dead, each
//! on and off, by one worker and by three. All find the same outcomes, failures and races, and no class twice.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::Mutex;
use std::time::Duration;

use raddle_core::execution::LocationId;
use raddle_core::model::Model;
use raddle_core::program::{Naming, Program};
use raddle_core::random::Random;
use raddle_core::trace::Class;
use raddle_explore::model::RvfOptions;
use raddle_explore::parallel::frontier::Frontier;
use raddle_explore::parallel::{Budget, Helpers, ParallelTask, explore};
use raddle_explore::{Control, Extent, Leaf, Limits, Visitor, rf_part_smc};
use raddle_testkit::programs::outcomes::{Outcome, Outcomes, ThreadOutcome, describe, outcomes};
use raddle_testkit::programs::{
    combined, counters, handover, loops, shrink, with_results, without_results,
};
use raddle_testkit::script::{Script, ScriptProgram};
use raddle_testkit::seeds::for_cases;

use crate::loops::{Explored, LEAVES, any_style, budget, difference, is_shown, twice};

/// Which reductions are on, and the number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    /// Reads without effect are left out.
    pub(crate) rounds: bool,
    /// Locations without conflicting accesses get no events.
    pub(crate) quiet: bool,
    /// Results of updates may be dead. (The order of such updates is only left open if `rounds` is on, too.)
    pub(crate) dead: bool,
    pub(crate) jobs: usize,
    /// Classes are explored up to renaming of symmetric threads.
    pub(crate) symmetry: bool,
}

/// All ways. The first one of each number of workers leaves nothing out.
fn ways() -> impl Iterator<Item = Way> {
    (0..16).map(|bits| Way {
        rounds: bits & 2 != 0,
        quiet: bits & 4 != 0,
        dead: bits & 8 != 0,
        jobs: if bits & 1 == 0 { 1 } else { 3 },
        // `symmetry.rs` compares that, up to renaming.
        symmetry: false,
    })
}

/// Collects what leaves show.
struct Collector<'a> {
    program: &'a ScriptProgram,
    found: Explored,
    visits: usize,
}

impl<'a> Collector<'a> {
    fn new(program: &'a ScriptProgram) -> Self {
        Collector { program, found: Explored::default(), visits: 0 }
    }
}

impl Visitor for Collector<'_> {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        self.visits += 1;
        if self.visits > LEAVES {
            return Control::Stop;
        }
        self.found.add(self.program, leaf);
        Control::Continue
    }
}

/// Explores a program. Returns `None` if it is too large, or if executions do not end.
pub(crate) fn explored(script: &Script, model: Model, way: Way) -> Option<Explored> {
    let script = if way.dead { without_results(script) } else { with_results(script) };
    let mut program = ScriptProgram::new(&script);
    let frontier =
        if way.quiet { Frontier::new() } else { without_quiet_locations(&script, &program) };
    program.set_updates_may_be_silent(model.has_modification_order());
    let Way { rounds, symmetry, .. } = way;
    let limits = Limits { events: Some(60), rounds, symmetry, ..Limits::default() };
    if way.jobs > 1 {
        explored_in_parts(&program, model, way.jobs, &limits, frontier)
    } else {
        explored_at_once(program, model, way.quiet, &limits)
    }
}

fn explored_at_once(
    mut program: ScriptProgram,
    model: Model,
    quiet: bool,
    limits: &Limits,
) -> Option<Explored> {
    let oracle = program.clone();
    let mut collector = Collector::new(&oracle);
    let options = RvfOptions { quiet, ..RvfOptions::default() };
    let summary = rf_part_smc::explore_with(&mut program, model, limits, &mut collector, options);
    let mut found = collector.found;
    found.states = program.reached_states().collect();
    (summary.extent == Extent::All).then_some(found)
}

/// Explores a program in small parts.
fn explored_in_parts(
    program: &ScriptProgram,
    model: Model,
    jobs: usize,
    limits: &Limits,
    frontier: Frontier,
) -> Option<Explored> {
    let states = Mutex::new(BTreeSet::new());
    let note = |program: &ScriptProgram| {
        states.lock().expect("no panic").extend(program.reached_states());
    };
    let with_program = |run: &mut dyn FnMut(&mut dyn Program)| {
        let mut program = program.clone();
        run(&mut program);
        note(&program);
    };
    let task = ParallelTask {
        model,
        limits,
        jobs: NonZero::new(jobs)?,
        budget: Budget { first: 2, next: 3, alone: Duration::ZERO },
        helpers: Helpers::Threads(&with_program),
        visitor: &|| Collector::new(program),
        keeps: &|collector| collector.visits > 0,
        observer: None,
    };
    let mut first = program.clone();
    let explored = explore(&task, &mut first, frontier);
    note(&first);
    let states = states.into_inner().expect("no panic");
    let mut found = Explored { states, ..Explored::default() };
    for Collector { found: part, .. } in explored.visitors {
        found.outcomes.extend(part.outcomes);
        found.failures.extend(part.failures);
        found.races.extend(part.races);
        for (class, times) in part.classes {
            *found.classes.entry(class).or_insert(0) += times;
        }
    }
    (explored.summary.extent == Extent::All).then_some(found)
}

/// The whole tree, if accesses of all locations are known to conflict.
fn without_quiet_locations(script: &Script, program: &ScriptProgram) -> Frontier {
    let count: usize = script.variables.iter().map(|it| it.cells.len()).sum();
    let name = |index: usize| program.location_name(LocationId::new(index));
    let names: Vec<String> = (0..count).map(name).collect();
    let mut frontier = serde_json::to_value(Frontier::new()).expect("a frontier is a value");
    frontier["facts"]["conflicting"] = names.into();
    serde_json::from_value(frontier).expect("a frontier with a fact is one")
}

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Comparison {
    /// So many ways agree.
    Agree(usize),
    Differ(String),
}

/// Compares all ways with each other, and with brute force if its outcomes are given.
fn compare(script: &Script, model: Model, expected: Option<&Outcomes>) -> Comparison {
    let all: BTreeMap<Way, Explored> =
        ways().filter_map(|way| Some((way, explored(script, model, way)?))).collect();
    let plain = without_results(script);
    let all_end = all.len() == ways().count();
    let found = all.iter().find_map(|(&way, found)| {
        let from_one = || difference_of_parts(&all, way, found);
        let from_others = || all.values().find_map(|other| difference_of(script, found, other));
        // The other ways find the same.
        let is_compared = way.jobs == 1 && way.quiet == way.dead;
        let expected = expected.filter(|_| is_compared);
        let from_force =
            || difference_from_force(&plain, model, expected?, found, (way.rounds, all_end));
        let what = twice(found).or_else(from_one).or_else(from_others).or_else(from_force)?;
        Some(format!("{way:?}: {what}"))
    });
    found.map_or(Comparison::Agree(all.len()), Comparison::Differ)
}

/// A difference from brute force. If executions do not end in some ways, rounds change memory for a while; brute force does
/// not know that these can be livelocks.
fn difference_from_force(
    script: &Script,
    model: Model,
    expected: &Outcomes,
    found: &Explored,
    (reduces, all_end): (bool, bool),
) -> Option<String> {
    let mut found = found.clone();
    let is_known = |outcome: &Outcome| {
        all_end
            || expected.outcomes.contains(outcome)
            || !outcome.values().any(ThreadOutcome::is_spinning)
    };
    found.outcomes.retain(|outcome, _| is_known(outcome));
    difference(script, model, expected, &found, reduces)
}

/// Several workers find the classes that one finds, unless there are races. (After how many rounds a thread is known to wait
/// depends on what was explored before, so the classes may be others if rounds are left out.)
fn difference_of_parts(
    all: &BTreeMap<Way, Explored>,
    way: Way,
    found: &Explored,
) -> Option<String> {
    let one = all.get(&Way { jobs: 1, ..way }).filter(|_| !way.rounds && found.races.is_empty())?;
    (!one.classes.keys().eq(found.classes.keys()))
        .then(|| format!("{} classes, {} by one worker", found.classes.len(), one.classes.len()))
}

/// What one exploration finds and another one does not. Races hide what follows, so they need not be the same.
fn difference_of(script: &Script, found: &Explored, other: &Explored) -> Option<String> {
    if found.races.is_empty() != other.races.is_empty() {
        return Some(format!("races {:?}, {:?}", found.races, other.races));
    }
    if !found.races.is_empty() {
        return None;
    }
    let is_missing = |&(outcome, _): &(&Outcome, &Class)| {
        is_shown(outcome, true) && !other.outcomes.contains_key(outcome)
    };
    let program = ScriptProgram::new(&without_results(script));
    let outcome = found.outcomes.iter().find(is_missing);
    let failure = found.failures.keys().find(|place| !other.failures.contains_key(place));
    let state = found.states.iter().find(|state| !other.states.contains(state));
    outcome
        .map(|(outcome, _)| format!("another way has no {}", describe(&program, outcome)))
        .or(failure.map(|&place| format!("another way has no failure at {}", program.place(place))))
        .or(state.map(|state| {
            let place = program.place(program.place_of(state));
            format!("another way has no state at {place} with {:?}", state.registers)
        }))
}

/// Returns in how many ways the program was explored, all of which agree.
///
/// # Panics
/// With a small program, if some do not.
fn check(script: &Script, model: Model, by_force: bool) -> usize {
    let expected = |script: &Script| {
        by_force.then(|| outcomes(&without_results(script), model, budget(model)).ok()).flatten()
    };
    let differs = |script: &Script| {
        matches!(compare(script, model, expected(script).as_ref()), Comparison::Differ(_))
    };
    match compare(script, model, expected(script).as_ref()) {
        Comparison::Agree(ways) => ways,
        Comparison::Differ(what) => {
            let smallest = shrink(script, &mut |smaller| differs(smaller));
            let small = compare(&smallest, model, expected(&smallest).as_ref());
            panic!("{model}: {what}\n{script}\nsmaller: {small:?}\n{smallest}");
        }
    }
}

/// A program by one of the generators, mostly by the one that combines all.
pub(crate) fn any_program(random: &mut Random) -> Script {
    let style = any_style(random);
    match random.below(8) {
        0 => loops(random, style),
        1 => handover(random, style),
        2 => counters(random, style),
        _ => combined(random, style),
    }
}

/// In every fourth case, brute force is asked, too.
#[test]
fn all_reductions_together_find_the_same() {
    let (mut explored, mut all) = (BTreeMap::new(), 0);
    for_cases(40, |random| {
        let script = any_program(random);
        let by_force = all % 4 == 0;
        all += 1;
        for model in Model::ALL {
            *explored.entry(model).or_insert(0) += check(&script, model, by_force);
        }
    });
    for (model, explored) in explored {
        let most = all * ways().count();
        eprintln!("{model}: {explored} of {most} explorations");
        // Under WRA, updates that write what they read are no rounds.
        let least = if model == Model::Wra { most / 2 } else { 2 * most / 3 };
        assert!(explored > least, "{model}: only {explored} of {most} explorations end");
    }
}
