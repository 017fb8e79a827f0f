//! Symmetric threads: one class of each orbit, against brute force and all permutations.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::program::{Naming, PlaceId};
use raddle_core::trace::Class;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, rf_part_smc};
use raddle_testkit::programs::outcomes::{Outcome, ThreadOutcome};
use raddle_testkit::programs::random::OrderStyle;
use raddle_testkit::programs::symmetric::{
    SymmetricScript, first_of_orbit, orbits, permutations, with_twin,
};
use raddle_testkit::programs::{Classes, classes, shrink, symmetric};
use raddle_testkit::script::{Script, ScriptProgram};
use raddle_testkit::seeds::for_cases;

use crate::loops::{Explored as Found, is_shown, twice};
use crate::reductions::{self, Way, any_program};

/// How many states brute force may visit.
fn budget(model: Model) -> usize {
    if model.has_store_buffers() { 20_000 } else { 1_500 }
}

/// What an exploration shows.
struct Explored {
    /// How often each class was visited.
    classes: BTreeMap<Class, usize>,
    summary: Summary,
}

/// Explores a program up to renaming of threads. If it `pretends`, all threads look symmetric.
fn explored(script: &Script, model: Model, pretends: bool) -> Explored {
    let mut program = ScriptProgram::new(script);
    if pretends {
        program.pretend_symmetry();
    }
    let mut classes = BTreeMap::new();
    let mut visit = |leaf: &dyn Leaf| {
        *classes.entry(leaf.trace().class()).or_insert(0) += 1;
        Control::Continue
    };
    let limits = Limits { symmetry: true, ..Limits::default() };
    let summary = rf_part_smc::explore(&mut program, model, &limits, &mut visit);
    assert_eq!(summary.extent, Extent::All);
    Explored { classes, summary }
}

/// The threads that an exploration takes for symmetric.
fn blocks_of(script: &Script, summary: &Summary) -> Vec<Vec<ThreadId>> {
    let thread = |name: &String| {
        let at = script.threads.iter().position(|thread| thread.name == *name);
        ThreadId::new(at.expect("a symmetric thread is one of the script"))
    };
    let symmetry = summary.symmetry.iter().flat_map(|it| &it.threads);
    let mut blocks: Vec<Vec<ThreadId>> =
        symmetry.map(|block| block.iter().map(thread).collect()).collect();
    blocks.sort();
    blocks
}

/// What is wrong with the exploration of a program with these classes. Only these threads may be symmetric, and all of them
/// if `expects_all`.
fn fault(
    script: &Script,
    model: Model,
    expected: &Classes,
    blocks: Option<&[Vec<ThreadId>]>,
) -> Option<String> {
    let Explored { classes: seen, summary } = explored(script, model, blocks.is_none());
    let found = blocks_of(script, &summary);
    if blocks.is_some_and(|blocks| found != blocks) {
        return Some(format!("symmetric threads {found:?}, not {blocks:?}"));
    }
    let permutations = permutations(&found);
    let all = orbits(expected.keys(), &permutations);
    let shown = orbits(seen.keys(), &permutations);
    let missing = all.difference(&shown).next();
    let extra = seen.keys().find(|&class| !expected.contains_key(class));
    let twice = seen.iter().find(|&(_, &times)| times > 1);
    let counts = format!("{} orbits, visited {}", all.len(), seen.len());
    let total = summary.symmetry.map(|it| it.classes + it.blocked);
    missing
        .map(|class| format!("{counts}: missing {class:?}"))
        .or(extra.map(|class| format!("{counts}: not allowed {class:?}")))
        .or(twice.map(|(class, times)| format!("{counts}: {times} times {class:?}")))
        .or((all.len() != seen.len()).then(|| format!("{counts}: {:?}", several(&seen, &found))))
        .or(total
            .filter(|&it| it != expected.len() as u64)
            .map(|total| format!("{total} classes in all, {} by brute force", expected.len())))
}

/// Two classes of one orbit.
fn several(seen: &BTreeMap<Class, usize>, blocks: &[Vec<ThreadId>]) -> Option<(Class, Class)> {
    let (permutations, mut firsts) = (permutations(blocks), BTreeMap::new());
    seen.keys().find_map(|class| {
        let other = firsts.insert(first_of_orbit(class, &permutations), class.clone())?;
        Some((other, class.clone()))
    })
}

/// Compares an exploration with brute force. Returns `false` if that is too large.
fn check(script: &Script, model: Model, blocks: Option<&[Vec<ThreadId>]>) -> bool {
    let Ok(expected) = classes(script, model, budget(model)) else { return false };
    if let Some(what) = fault(script, model, &expected, blocks) {
        panic!("{model}: {what}\n{script}");
    }
    true
}

/// As [`check`], if all threads look symmetric. Shrinks programs that fail.
fn check_pretended(script: &Script, model: Model) -> bool {
    let fault = |script: &Script| {
        let expected = classes(script, model, budget(model)).ok()?;
        fault(script, model, &expected, None)
    };
    if classes(script, model, budget(model)).is_err() {
        return false;
    }
    if let Some(what) = fault(script) {
        let smallest = shrink(script, &mut |smaller| fault(smaller).is_some());
        panic!("{model}: {what}\n{script}\n{:?}\n{smallest}", fault(&smallest));
    }
    true
}

#[test]
fn random_programs_have_one_class_of_each_orbit() {
    let mut compared = 0;
    for_cases(25, |random| {
        let style = OrderStyle::ALL[random.below(OrderStyle::ALL.len())];
        let SymmetricScript { script, blocks } = symmetric(random, style);
        for model in Model::ALL {
            compared += u32::from(check(&script, model, Some(&blocks)));
        }
    });
    assert!(compared > 150, "brute force was possible for only {compared} programs");
}

#[test]
fn threads_that_only_look_symmetric_lose_no_class() {
    for_cases(15, |random| {
        let style = OrderStyle::ALL[random.below(OrderStyle::ALL.len())];
        let SymmetricScript { script, .. } = symmetric(random, style);
        for model in Model::ALL {
            check_pretended(&script, model);
        }
    });
}

/// The threads with the same body, if there are several.
fn twins(script: &Script) -> Vec<Vec<ThreadId>> {
    let mut blocks: Vec<Vec<ThreadId>> = vec![];
    for (index, thread) in script.threads.iter().enumerate().skip(1) {
        let is_twin =
            |block: &&mut Vec<ThreadId>| script.threads[block[0].index()].body == thread.body;
        match blocks.iter_mut().find(is_twin) {
            Some(block) => block.push(ThreadId::new(index)),
            None => blocks.push(vec![ThreadId::new(index)]),
        }
    }
    blocks.retain(|block| block.len() > 1);
    blocks
}

/// Programs that a slightly wrong rule gets wrong, under which name; and whether their equal threads are symmetric.
const TRAPS: &[(&str, &str, bool)] = &[
    (
        "sources must not decrease with the number of the thread",
        "x = 0; thread a { store x 3; s = add x 1 }; thread b { store x 3; s = add x 1 }",
        true,
    ),
    (
        "a class that is left out has writes",
        "x = 0; thread a { r = load x }; thread b { r = load x }; thread c { r = load x; store x 1 }",
        true,
    ),
    (
        "the order of events is that of the search",
        "x = 0; thread a { r = load x }; thread b { store x 1; r = load x }
         thread c { store x 1; r = load x }; thread d { store x 2 }",
        true,
    ),
    (
        "a thread runs ahead before the choice that matters",
        "x = 0; y = 0; thread a { store x 1; r = load y; store y 1; s = load x }
         thread b { store x 1; r = load y; store y 1; s = load x }",
        true,
    ),
    (
        "a failed compare-exchange comes after one that succeeds",
        "x = 0; thread a { r = casw x 0 1 sc }; thread b { r = casw x 0 1 sc }",
        true,
    ),
    (
        "choices are tried in their order",
        "x = 0; thread a { r = choose 2; store x r; s = load x }
         thread b { r = choose 2; store x r; s = load x }",
        true,
    ),
    (
        "a thread that waits reads nothing",
        "lock m; x = 0; thread a { lock m; r = load x }; thread b { lock m; r = load x }
         thread c { store x 1 }",
        true,
    ),
    (
        "two blocks are renamed together",
        "x = 0; y = 0; thread a { r = load x; store y r + 1 }; thread b { r = load y; store x r + 1 }
         thread c { r = load x; store y r + 1 }; thread d { r = load y; store x r + 1 }",
        true,
    ),
    (
        "something is between the starts",
        "x = 0; thread main { spawn a; store x 1; spawn b }
         thread a { r = load x; store x 2 }; thread b { r = load x; store x 2 }",
        false,
    ),
    (
        "something is between the joins",
        "x = 0; thread main { spawn a; spawn b; join a; r = load x; join b }
         thread a { r = load x; store x r + 1 }; thread b { r = load x; store x r + 1 }",
        false,
    ),
    (
        "one thread is joined",
        "x = 0; thread main { spawn a; spawn b; join b }
         thread a { r = load x; store x r + 1 }; thread b { r = load x; store x r + 1 }",
        false,
    ),
    (
        "another thread joins one of them",
        "x = 0; thread main { spawn a; spawn b; spawn c }; thread a { r = load x; store x r + 1 }
         thread b { r = load x; store x r + 1 }; thread c { join a; r = load x }",
        false,
    ),
    (
        "threads of threads",
        "x = 0; thread main { spawn a; spawn b }; thread a { spawn c; r = load x }
         thread b { spawn d; r = load x }; thread c { store x 1 }; thread d { store x 2 }",
        false,
    ),
];

#[test]
fn traps_have_one_class_of_each_orbit() {
    for &(name, text, is_symmetric) in TRAPS {
        let script = Script::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let blocks = if is_symmetric { twins(&script) } else { vec![] };
        for model in Model::ALL {
            let expected = classes(&script, model, 200_000).expect("it is small");
            let fault = fault(&script, model, &expected, Some(&blocks));
            assert_eq!(fault, None, "{name}, {model}");
        }
    }
}

#[test]
fn more_than_six_threads_have_one_class_of_each_orbit() {
    let inc = |name: usize| format!("thread t{name} {{ r = load x; store x r + 1 }}");
    let readers = |name: usize| format!("thread t{name} {{ r = load x }}");
    let add = |name: usize| format!("thread t{name} {{ r = add x 1 }}");
    let script = |rest: &str, thread: &dyn Fn(usize) -> String, count: usize| {
        let threads: Vec<String> = (0..count).map(thread).collect();
        Script::parse(&format!("x = 0; {rest}; {}", threads.join("\n"))).expect("a script")
    };
    for (script, classes, all) in [
        (script("", &inc, 7), 115, 262_144),
        (script("", &inc, 8), 286, 4_782_969),
        (script("thread w { store x 1 }", &readers, 15), 16, 32_768),
        (script("", &add, 8), 1, 40_320),
    ] {
        let Explored { classes: seen, summary } = explored(&script, Model::Sc, false);
        let with_renamed = summary.symmetry.map(|it| it.classes);
        assert_eq!((seen.len(), with_renamed), (classes, Some(all)), "{script}");
    }
}

/// The outcomes of an exploration, up to renaming of twins. (After a renaming, the joiner of twins waits for another one.)
fn renamed_outcomes(
    program: &ScriptProgram,
    found: &Found,
    (block, reduces): (&[ThreadId], bool),
) -> BTreeSet<String> {
    let place = |place: PlaceId| {
        let place = program.place(place);
        let (_, statement) = place.split_once('.').expect("a place is in a thread");
        if statement.contains("join") { String::from("join") } else { statement.to_owned() }
    };
    let end = |outcome: &ThreadOutcome| match outcome {
        ThreadOutcome::Failed(at) => format!("fails {}", place(*at)),
        ThreadOutcome::Waiting(at) => format!("waits {}", place(*at)),
        ThreadOutcome::Spinning(state) => format!("{} {:?}", state.instruction, state.registers),
        outcome => format!("{outcome:?}"),
    };
    let canonical = |outcome: &Outcome| {
        let (twins, others): (Vec<_>, Vec<_>) =
            outcome.iter().partition(|(thread, _)| block.contains(thread));
        let mut twins: Vec<String> = twins.into_iter().map(|(_, it)| end(it)).collect();
        twins.sort();
        let others = others.into_iter().map(|(thread, it)| format!("{thread:?} {}", end(it)));
        format!("{twins:?} {:?}", others.collect::<Vec<_>>())
    };
    let shown = found.outcomes.keys().filter(|outcome| is_shown(outcome, reduces));
    shown.map(canonical).collect()
}

/// The statements at which threads fail.
fn failing(program: &ScriptProgram, found: &Found) -> BTreeSet<String> {
    let place = |&place: &PlaceId| program.place(place);
    let statement = |place: String| place.split_once(": ").map(|(_, it)| it.to_owned());
    found.failures.keys().map(place).filter_map(statement).collect()
}

/// Each other reduction on and off, by one worker and by three.
#[test]
fn together_with_other_reductions_outcomes_are_the_same_up_to_renaming() {
    let mut compared = 0;
    for_cases(2, |random| {
        let script = any_program(random);
        let SymmetricScript { script, blocks } = with_twin(random, &script);
        let program = ScriptProgram::new(&script);
        for model in Model::ALL {
            for bits in 0..8 {
                let (rounds, dead) = (bits & 1 != 0, bits & 2 != 0);
                let jobs = if bits & 4 == 0 { 1 } else { 3 };
                let way = Way { rounds, quiet: true, dead, jobs, symmetry: true };
                let Some(found) = reductions::explored(&script, model, way) else { continue };
                let without = Way { symmetry: false, ..way };
                let Some(all) = reductions::explored(&script, model, without) else { continue };
                let case = format!("{model} {way:?}\n{script}");
                assert_eq!(twice(&found), None, "{case}");
                assert_eq!(found.races.is_empty(), all.races.is_empty(), "{case}");
                if found.races.is_empty() {
                    compared += 1;
                    let outcomes = |it| renamed_outcomes(&program, it, (&blocks[0], rounds));
                    assert_eq!(outcomes(&found), outcomes(&all), "{case}");
                    assert_eq!(failing(&program, &found), failing(&program, &all), "{case}");
                    let is_missing = |state: &&_| !found.states.contains(*state);
                    assert_eq!(all.states.iter().find(is_missing), None, "{case}");
                }
            }
        }
    });
    assert!(compared > 0, "only {compared} explorations were compared");
}
