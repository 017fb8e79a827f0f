//! The same algorithms as native code and as scripts, side by side.

use std::time::Instant;

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use raddle::{Checker, Model, Verdict, thread};
use raddle_explore::{Control, Extent, Leaf, Limits, rf_part_smc};
use raddle_testkit::script::{Script, ScriptProgram};

/// A program with a size, and its script: the variables, the threads, and what the main thread does after
/// them.
struct Pair {
    name: &'static str,
    size: usize,
    native: fn(usize),
    scoped: fn(usize),
    script: fn(usize) -> Script,
}

const PAIRS: [Pair; 4] = [
    Pair { name: "inc", size: 6, native: inc, scoped: scoped_inc, script: inc_script },
    Pair { name: "faa", size: 7, native: faa, scoped: scoped_faa, script: faa_script },
    Pair {
        name: "readers",
        size: 14,
        native: readers,
        scoped: scoped_readers,
        script: readers_script,
    },
    Pair {
        name: "lastzero",
        size: 14,
        native: lastzero,
        scoped: scoped_lastzero,
        script: lastzero_script,
    },
];

/// Starts threads that share something, and waits for them.
fn joined<T: Sync + Send + 'static>(shared: &Arc<T>, threads: usize, body: fn(&T, usize)) {
    let handles: Vec<_> = (0..threads)
        .map(|n| {
            let shared = shared.clone();
            thread::spawn(move || body(&shared, n))
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

/// The same with threads that borrow.
fn scoped<T: Sync>(shared: &T, threads: usize, body: fn(&T, usize)) {
    thread::scope(|s| (0..threads).for_each(|n| _ = s.spawn(move || body(shared, n))));
}

fn add(x: &AtomicUsize, _: usize) {
    x.store(x.load(Relaxed) + 1, Relaxed);
}

fn inc(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    joined(&x, n, add);
    assert!(x.load(Relaxed) <= n);
}

fn scoped_inc(n: usize) {
    let x = AtomicUsize::new(0);
    scoped(&x, n, add);
    assert!(x.load(Relaxed) <= n);
}

fn inc_script(n: usize) -> Script {
    script(
        "x = 0",
        &vec!["r = load x; store x r + 1".into(); n],
        &format!("r = load x; assert r <= {n}"),
    )
}

fn fetch_add(x: &AtomicUsize, _: usize) {
    x.fetch_add(1, Relaxed);
}

fn faa(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    joined(&x, n, fetch_add);
    assert_eq!(x.load(Relaxed), n);
}

fn scoped_faa(n: usize) {
    let x = AtomicUsize::new(0);
    scoped(&x, n, fetch_add);
    assert_eq!(x.load(Relaxed), n);
}

fn faa_script(n: usize) -> Script {
    script("x = 0", &vec!["r = add x 1".into(); n], &format!("r = load x; assert r == {n}"))
}

fn write_or_read(x: &AtomicUsize, n: usize) {
    if n == 0 { x.store(1, Relaxed) } else { _ = x.load(Relaxed) }
}

fn readers(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    joined(&x, n + 1, write_or_read);
    assert_eq!(x.load(Relaxed), 1);
}

fn scoped_readers(n: usize) {
    let x = AtomicUsize::new(0);
    scoped(&x, n + 1, write_or_read);
    assert_eq!(x.load(Relaxed), 1);
}

fn readers_script(n: usize) -> Script {
    let mut threads = vec![String::from("store x 1")];
    threads.resize(n + 1, String::from("r = load x"));
    script("x = 0", &threads, "r = load x; assert r == 1")
}

struct Cells(Vec<AtomicUsize>);

fn count_on(Cells(cells): &Cells, n: usize) {
    if n > 0 {
        cells[n].store(cells[n - 1].load(Relaxed) + 1, Relaxed);
        return;
    }
    let mut last = cells.len() - 1;
    while cells[last].load(Relaxed) != 0 {
        last -= 1;
    }
}

fn cells(n: usize) -> Cells {
    Cells((0..=n).map(|_| AtomicUsize::new(0)).collect())
}

fn lastzero(n: usize) {
    let cells = Arc::new(cells(n));
    joined(&cells, n + 1, count_on);
    assert_ne!(cells.0[n].load(Relaxed), 0);
}

fn scoped_lastzero(n: usize) {
    let cells = cells(n);
    scoped(&cells, n + 1, count_on);
    assert_ne!(cells.0[n].load(Relaxed), 0);
}

fn lastzero_script(n: usize) -> Script {
    let search =
        format!("i = {n}; repeat {} {{ r = load a[i]; if r == 0 {{ break }}; i = i - 1 }}", n + 1);
    let mut threads = vec![search];
    threads.extend((1..=n).map(|i| format!("r = load a[{}]; store a[{i}] r + 1", i - 1)));
    let zeros = vec!["0"; n + 1].join(", ");
    script(&format!("a = [{zeros}]"), &threads, &format!("r = load a[{n}]; assert r != 0"))
}

fn script(variables: &str, threads: &[String], after: &str) -> Script {
    let all =
        |verb: &str| -> String { (0..threads.len()).map(|n| format!("{verb} t{n}; ")).collect() };
    let mut text =
        format!("{variables}\nthread main {{ {}{}{after} }}\n", all("spawn"), all("join"));
    for (n, body) in threads.iter().enumerate() {
        text += &format!("thread t{n} {{ {body} }}\n");
    }
    Script::parse(&text).expect("the scripts are right")
}

/// Classes and seconds of a script.
fn explore_script(script: &Script, model: Model) -> (u64, f64) {
    let mut program = ScriptProgram::new(script);
    let mut visitor = |_: &dyn Leaf| Control::Continue;
    let start = Instant::now();
    let summary = rf_part_smc::explore(&mut program, model, &Limits::default(), &mut visitor);
    assert_eq!(summary.extent, Extent::All);
    (summary.classes, start.elapsed().as_secs_f64())
}

/// Classes, runs and seconds of native code.
fn explore_native(body: impl Fn(), model: Model) -> (u64, u64, f64) {
    let outcome = Checker::new().model(model).explore(body);
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    (outcome.counts.classes, outcome.counts.executions, outcome.counts.seconds)
}

/// Prints the table, of programs with these names if there are any.
pub(crate) fn print(names: &[String]) {
    println!(
        "{:24} {:>9} {:>10} {:>12} {:>10} {:>12} {:>10}",
        "", "classes", "script ns", "spawned ns", "runs", "scoped ns", "runs"
    );
    let is_named = |pair: &Pair| names.is_empty() || names.iter().any(|name| name == pair.name);
    for Pair { name, size, native, scoped, script } in PAIRS.into_iter().filter(is_named) {
        for model in [Model::Sc, Model::C20] {
            let (classes, script_seconds) = explore_script(&script(size), model);
            let spawned = explore_native(|| native(size), model);
            let scoped = explore_native(|| scoped(size), model);
            assert_eq!([spawned.0, scoped.0], [classes; 2], "the same classes");
            let each = |seconds: f64| seconds * 1e9 / classes as f64;
            println!(
                "{:24} {classes:9} {:10.0} {:12.0} {:10} {:12.0} {:10}",
                format!("{name}({size}), {model}"),
                each(script_seconds),
                each(spawned.2),
                spawned.1,
                each(scoped.2),
                scoped.1,
            );
        }
    }
}
