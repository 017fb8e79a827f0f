//! How many classes there are, about.

use raddle_core::model::Model;
use raddle_explore::rf_part_smc::{estimate, explore};
use raddle_explore::{Control, Extent, Leaf, Limits};
use raddle_testkit::script::{Script, ScriptProgram};

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Threads that do this, each with its number for `#`.
fn threads(count: usize, variables: &str, body: &str) -> Script {
    let thread = |n: usize| format!("thread t{n} {{ {} }}", body.replace('#', &n.to_string()));
    let all: Vec<String> = (1..=count).map(thread).collect();
    script(&format!("{variables}; {}", all.join("; ")))
}

/// One thread sets an array step by step, another looks for its last zero.
fn lastzero(count: usize) -> Script {
    let zeros = vec!["0"; count + 1].join(", ");
    let thread = |n: usize| format!("thread t{n} {{ r = load a[{}]; store a[{n}] r + 1 }}", n - 1);
    let others: Vec<String> = (1..=count).map(thread).collect();
    let reader = format!(
        "thread t0 {{ i = {count}; repeat {} {{ r = load a[i]; if r == 0 {{ break }}; i = i - 1 }} }}",
        count + 1
    );
    script(&format!("a = [{zeros}]; {reader}; {}", others.join("; ")))
}

/// The classes, and how many times as many are estimated.
fn ratio(script: &Script, model: Model) -> (u64, f64) {
    let mut visitor = |_: &dyn Leaf| Control::Continue;
    let limits = Limits::default();
    let summary = explore(&mut ScriptProgram::new(script), model, &limits, &mut visitor);
    assert_eq!(summary.extent, Extent::All);
    let estimate =
        estimate(&mut ScriptProgram::new(script), model, 20_000, None).expect("few events");
    assert_eq!(estimate.probes, 20_000);
    (summary.classes, estimate.classes / summary.classes as f64)
}

#[test]
fn estimates_are_within_a_factor_of_two() {
    let counter = "r = load x; repeat 9 { s, ok = cas x r r + 1; if ok == 1 { break }; r = s }";
    let spread = "store x #; r = load y; store y #; s = load x; u = load z; store z #";
    let programs = [
        ("inc(6)", threads(6, "x = 0", "r = load x; store x r + 1")),
        ("faa(7)", threads(7, "x = 0", "r = add x 1")),
        ("readers(14)", threads(15, "x = 0", "if # == 1 { store x 1 } else { r = load x }")),
        ("counter(4)", threads(4, "x = 0", counter)),
        ("locks(5)", threads(5, "x = 0; lock m", "lock m; r = load x; store x r + 1; unlock m")),
        ("lastzero(12)", lastzero(12)),
        ("spread(3)", threads(3, "x = 0; y = 0; z = 0", spread)),
        ("choices", threads(3, "x = 0", "n = choose 5; store x n; r = load x")),
    ];
    for (name, script) in &programs {
        for model in [Model::Sc, Model::Tso, Model::C20] {
            let (classes, ratio) = ratio(script, model);
            println!("{name} {model}: {classes} classes, estimated {ratio:.2} times as many");
            assert!((0.5..=2.0).contains(&ratio), "{name} {model} {ratio}");
        }
    }
}

/// Every execution ends in a deadlock, or blocked: what is counted are classes.
#[test]
fn blocked_executions_do_not_count() {
    let blocked = threads(2, "x = 0", "store x #; r = load x; assume r == 0");
    let estimate = estimate(&mut ScriptProgram::new(&blocked), Model::Sc, 1_000, None);
    assert_eq!(estimate.expect("few events").classes, 0.0);
}
