//! Robustness and fences, against brute force.

use std::collections::BTreeSet;

use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Naming, PlaceId};
use raddle_core::random::Random;
use raddle_core::trace::{
    Class, Counterexample, CycleRelation, Fence, FenceSearch, FenceSide, NotRobust,
};
use raddle_explore::counterexample::{Style, execution, sentence};
use raddle_explore::plan::{Explorer, Plan};
use raddle_explore::robustness::{RobustnessCheck, check};
use raddle_explore::{Extent, Leaf, Limits};
use raddle_testkit::programs::random::{OrderStyle as Shape, ProgramFeatures, cycle, random};
use raddle_testkit::programs::{classes, shrink};
use raddle_testkit::script::{Script, ScriptProgram};

use raddle_testkit::seeds::for_cases;

/// How many states the oracle may visit.
const BUDGET: usize = 3_000;

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn is_bug(leaf: &dyn Leaf) -> bool {
    leaf.ending().is_bug()
}

fn result(script: &Script, model: Model) -> RobustnessCheck {
    let plan = Plan { model, explorer: Explorer::RfPartSmc };
    check(&mut ScriptProgram::new(script), plan, &Limits::default(), &is_bug)
}

/// An execution that SC forbids, if there is one.
fn forbidden(script: &Script, model: Model) -> Option<Counterexample> {
    let RobustnessCheck { summary, counterexample } = result(script, model);
    match &counterexample {
        Some(found) => assert!(found.not_robust.is_some(), "{:?}\n{script}", found.ending),
        None => assert_eq!(summary.extent, Extent::All),
    }
    counterexample
}

/// The fences that make the program robust, if it is not.
fn fences(script: &Script, model: Model) -> Option<BTreeSet<Fence>> {
    match forbidden(script, model)?.not_robust.expect("checked").fences {
        FenceSearch::Found(fences) => Some(fences),
        other => panic!("{other:?}\n{script}"),
    }
}

/// Whether every class of the model is one of SC, if that is not too much to try.
fn is_robust(script: &Script, model: Model) -> Option<bool> {
    let of = |model| -> Option<BTreeSet<Class>> {
        Some(classes(script, model, BUDGET).ok()?.into_keys().collect())
    };
    Some(of(model)?.is_subset(&of(Model::Sc)?))
}

/// How the verdict differs from that of brute force, if it does.
fn difference(script: &Script, model: Model) -> Option<String> {
    let expected = is_robust(script, model)?;
    let found = match result(script, model).counterexample {
        None => true,
        Some(found) => {
            // An error that SC has, too, comes first.
            recheck(&found.not_robust?, script);
            false
        }
    };
    (found != expected).then(|| format!("{model}: robust {found}, expected {expected}\n{script}"))
}

/// Checks that the edges form a cycle and that their relations hold.
fn recheck(found: &NotRobust, script: &Script) {
    let NotRobust { part, cycle, .. } = found;
    assert!(cycle.len() >= 2, "{script}");
    for (edge, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(edge.to, next.from, "{script}");
        let [from, to] = [edge.from, edge.to].map(|at| &part.events[at]);
        let same_location = from.op.kind.location() == to.op.kind.location();
        match edge.relation {
            CycleRelation::ProgramOrder => {
                assert!(from.thread == to.thread && from.position < to.position);
            }
            CycleRelation::SpawnOrJoin => assert_ne!(from.thread, to.thread),
            _ => assert!(same_location && from.thread != to.thread, "{script}"),
        }
    }
}

#[test]
fn random_programs_are_robust_if_brute_force_says_so() {
    let (mut robust, mut not) = (0, 0);
    for_cases(300, |source| {
        let shape = *source.pick(&Shape::ALL).expect("there are some");
        let features = ProgramFeatures::random(source);
        let is_cycle = source.chance(0.5);
        let script = if is_cycle { cycle(source, shape) } else { random(source, shape, features) };
        for model in [Model::Tso, Model::Pso] {
            if difference(&script, model).is_some() {
                let smallest = shrink(&script, &mut |script| difference(script, model).is_some());
                panic!("{}", difference(&smallest, model).expect("it still differs"));
            }
            match is_robust(&script, model) {
                Some(true) => robust += 1,
                Some(false) => not += 1,
                None => {}
            }
        }
    });
    println!("{robust} robust, {not} not");
    assert!(robust > 50 && not > 30, "{robust} {not}");
}

/// Threads without branches.
type Lines = Vec<Vec<String>>;

fn straight(random: &mut Random) -> Lines {
    let statement = |random: &mut Random| {
        let at = ["x", "y"][random.below(2)];
        match random.below(7) {
            0..3 => format!("store {at} {}", 1 + random.below(2)),
            3..6 => format!("r = load {at}"),
            _ => format!("r = add {at} 1"),
        }
    };
    let threads = 2 + random.below(2);
    let len = if threads == 2 { 4 } else { 3 };
    (0..threads).map(|_| (0..1 + random.below(len)).map(|_| statement(random)).collect()).collect()
}

/// The threads with fences after these statements.
fn with_fences(lines: &Lines, fences: &BTreeSet<(usize, usize)>) -> Script {
    let thread = |(n, lines): (usize, &Vec<String>)| {
        let fenced = |(at, line): (usize, &String)| match fences.contains(&(n, at)) {
            true => format!("{line}; fence sc"),
            false => line.clone(),
        };
        let lines: Vec<String> = lines.iter().enumerate().map(fenced).collect();
        format!("thread t{n} {{ {} }}", lines.join("; "))
    };
    let threads: Vec<String> = lines.iter().enumerate().map(thread).collect();
    script(&format!("x = 0; y = 0; {}", threads.join("; ")))
}

/// All sets of so many gaps between statements.
fn sets(gaps: &[(usize, usize)], size: usize) -> Vec<BTreeSet<(usize, usize)>> {
    if size == 0 {
        return vec![BTreeSet::new()];
    }
    let with = |first: usize| {
        let rest = sets(&gaps[first + 1..], size - 1);
        rest.into_iter().map(move |mut set| {
            set.insert(gaps[first]);
            set
        })
    };
    (0..gaps.len()).flat_map(with).collect()
}

/// The size of a smallest set of fences, by trying all.
fn fewest(lines: &Lines, model: Model) -> Option<usize> {
    let gap = |(n, lines): (usize, &Vec<String>)| (0..lines.len() - 1).map(move |at| (n, at));
    let gaps: Vec<(usize, usize)> =
        lines.iter().enumerate().flat_map(|it| gap(it).collect::<Vec<_>>()).collect();
    for size in 0..=gaps.len() {
        for set in sets(&gaps, size) {
            if is_robust(&with_fences(lines, &set), model)? {
                return Some(size);
            }
        }
    }
    panic!("fences everywhere make a program robust")
}

/// Behind which statement a fence stands. The first place of a thread is that of its first statement.
fn gap(lines: &Lines, fence: Fence) -> (usize, usize) {
    let program = with_fences(lines, &BTreeSet::new());
    let program = ScriptProgram::new(&program);
    let place = |n: usize, at: usize| {
        let before = || (0..).map(PlaceId).find(|&place| is_at(&program, place, n));
        before().map(|PlaceId(first)| PlaceId(first + at as u32))
    };
    for (n, body) in lines.iter().enumerate() {
        for at in 0..body.len() {
            if place(n, at) == Some(fence.place) {
                return match fence.side {
                    FenceSide::AfterStore => (n, at),
                    FenceSide::BeforeLoad => (n, at - 1),
                };
            }
        }
    }
    panic!("no statement is at {fence:?}")
}

fn is_at(program: &ScriptProgram, place: PlaceId, thread: usize) -> bool {
    program.place(place).starts_with(&format!("t{thread}."))
}

#[test]
fn fences_restore_robustness_and_fewer_do_not() {
    let mut tried = [0; 4];
    for_cases(150, |source| {
        let lines = straight(source);
        for model in [Model::Tso, Model::Pso] {
            let Some(fewest) = fewest(&lines, model) else { continue };
            let script = with_fences(&lines, &BTreeSet::new());
            let fences = fences(&script, model).unwrap_or_default();
            assert_eq!(fences.len(), fewest, "{model} {fences:?}\n{script}");
            let gaps = fences.iter().map(|&fence| gap(&lines, fence)).collect();
            let fenced = with_fences(&lines, &gaps);
            assert_eq!(is_robust(&fenced, model), Some(true), "{model}\n{fenced}");
            tried[fewest.min(3)] += 1;
        }
    });
    println!("{tried:?} programs need 0, 1, 2, more fences");
    assert!(tried[..3].iter().all(|&count| count > 5), "{tried:?}");
}

const STORE_BUFFERING: &str = "
    x = 0; y = 0
    thread a { store x 1; r = load y }
    thread b { store y 1; r = load x }";

const MESSAGE_PASSING: &str = "
    x = 0; y = 0
    thread a { store x 1; store y 1 }
    thread b { r = load y; s = load x }";

#[test]
fn store_buffering_needs_a_fence_on_each_side() {
    let script = script(STORE_BUFFERING);
    let found = forbidden(&script, Model::Tso).expect("not robust");
    let trace = found.named(&ScriptProgram::new(&script), Model::Tso);
    let style = Style::default();
    let sentence = sentence(FindingKind::NotRobust, &trace, &style);
    insta::assert_snapshot!(format!("{sentence}\n\n{}", execution(&trace, &style)));
}

#[test]
fn message_passing_is_robust_under_tso_and_needs_one_fence_under_pso() {
    let script = script(MESSAGE_PASSING);
    assert!(forbidden(&script, Model::Tso).is_none());
    let found = forbidden(&script, Model::Pso).expect("not robust");
    let trace = found.named(&ScriptProgram::new(&script), Model::Pso);
    insta::assert_snapshot!(execution(&trace, &Style::default()));
}

/// A fence before the load serves both branches; behind the stores there would have to be two.
#[test]
fn one_fence_before_a_load_may_stand_for_two_behind_stores() {
    let script = script(
        "x = 0; y = 0; z = 0
         thread a { n = choose 2; if n == 1 { store x 1 } else { store y 1 }; r = load z }
         thread b { store z 1; fence sc; r = load x; s = load y }",
    );
    let fences = fences(&script, Model::Tso).expect("not robust");
    let sides: Vec<FenceSide> = fences.iter().map(|fence| fence.side).collect();
    assert_eq!(sides, [FenceSide::BeforeLoad]);
}

#[test]
fn a_failure_that_sc_has_too_is_reported_as_a_failure() {
    let script = script("x = 0; thread a { store x 1 }; thread b { r = load x; assert r == 0 }");
    let found = result(&script, Model::Tso).counterexample.expect("a failure");
    assert!(found.not_robust.is_none(), "{found:?}");
}

#[test]
fn a_limit_of_classes_is_reported() {
    let script = script(MESSAGE_PASSING);
    let limits = Limits { classes: Some(1), ..Limits::default() };
    let plan = Plan { model: Model::Tso, explorer: Explorer::RfPartSmc };
    let result = check(&mut ScriptProgram::new(&script), plan, &limits, &is_bug);
    assert_eq!(result.summary.extent, Extent::Classes);
    assert!(result.counterexample.is_none());
}
