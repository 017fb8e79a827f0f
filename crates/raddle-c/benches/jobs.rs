//! One worker and two: how much faster two are on large programs, and how much slower at most on small ones.
//!
//! `cargo bench -p raddle-c --bench jobs`
//!
//! Both are measured in turn, and the best of each counts, as a machine that others use has faster and slower
//! moments.

use std::num::NonZero;
use std::path::Path;

use raddle_c::{Object, Parts, Request, Verdict, build, check_parts};
use raddle_core::model::Model;

/// Programs of `corpus/c/tables` and their sizes.
const LARGE: [(&str, usize); 6] = [
    ("readers", 20),
    ("lastzero", 15),
    ("writer_reader", 10),
    ("airline", 7),
    ("ra", 8),
    ("monabsex", 8),
];
const SMALL: [(&str, usize); 6] = [
    ("readers", 10),
    ("lastzero", 8),
    ("writer_reader", 7),
    ("airline", 5),
    ("ra", 6),
    ("monabsex", 6),
];

/// How often both are measured.
const ROUNDS: usize = 5;

/// What is claimed: so many times as fast on large programs, and on small ones.
const CLAIMS: [f64; 2] = [1.7, 0.9];

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/tables");
    println!(
        "{:<20} {:>9} {:>9} {:>9} {:>6}",
        "program, sc", "classes", "1 job", "2 jobs", "ratio"
    );
    for (programs, claim) in [LARGE, SMALL].into_iter().zip(CLAIMS) {
        let mut met = 0;
        for (name, size) in programs {
            let mut request = Request::new(&[&corpus.join(name).with_extension("c")]);
            request.model = Model::Sc;
            request.source.flags = vec![format!("-DN={size}")];
            let object = build(&request.source).expect("it can be compiled");
            let (classes, [one, two]) = compare(&object, &request);
            let (name, ratio) = (format!("{name}({size})"), one / two);
            println!("{name:<20} {classes:>9} {one:>8.4}s {two:>8.4}s {ratio:>6.2}");
            met += u32::from(ratio >= claim);
        }
        println!("At least {claim} times as fast: {met} of {}.\n", programs.len());
    }
}

/// The classes, and how long they take by one worker and by two, without compiling and loading.
fn compare(object: &Object, request: &Request) -> (u64, [f64; 2]) {
    let (mut classes, mut best) = (0, [f64::INFINITY; 2]);
    for _ in 0..ROUNDS {
        for (workers, best) in (1..).zip(&mut best) {
            let jobs = NonZero::new(workers).expect("at least one works");
            let parts = Parts { jobs, ..Parts::default() };
            let outcome = check_parts(object, request, parts).expect("it can be loaded");
            assert_eq!(outcome.verdict, Verdict::Clean);
            assert!(classes == 0 || classes == outcome.classes);
            classes = outcome.classes;
            *best = best.min(outcome.seconds - outcome.start_up);
        }
    }
    (classes, best)
}
