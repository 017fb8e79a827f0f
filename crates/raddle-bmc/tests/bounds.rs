//! What bounds are enough for, and what they cost.

use std::path::Path;

use raddle_bmc::{Abstraction, Answer, Model, Options, Report, check};

fn checked(options: &Options) -> Report {
    check(options).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn is_bug(report: &Report) -> bool {
    matches!(report.answer, Answer::Bug(_))
}

/// The bug of the safe stack needs four rounds, as an exhaustive search of its states says.
#[test]
fn the_safe_stack_goes_wrong_in_the_fourth_round() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/safestack.c");
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        for (rounds, expected) in [(3, false), (4, true)] {
            let options = Options { model, rounds, ..Options::new(&file) };
            assert_eq!(is_bug(&checked(&options)), expected, "{model:?}, {rounds} rounds");
        }
    }
}

/// Both threads of `spread.c` have eight stores waiting, each to a variable of its own.
fn spread(abstraction: Abstraction, nodes: usize) -> (bool, usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/bmc/spread.c");
    let (model, rounds) = (Model::Tso, 2);
    let report = checked(&Options { model, abstraction, nodes, rounds, ..Options::new(file) });
    (is_bug(&report), report.statistics.clauses)
}

#[test]
fn lists_do_not_grow_with_buffers() {
    let (found, size) = spread(Abstraction::Etso, 2);
    assert!(found, "a list for each variable needs one node that waits");
    for nodes in [4, 8, 32] {
        assert_eq!(spread(Abstraction::Etso, nodes), (true, size), "{nodes} nodes");
    }
}

#[test]
fn arrays_grow_with_buffers() {
    let sizes: Vec<(bool, usize)> =
        [2, 4, 7, 8, 32].map(|nodes| spread(Abstraction::Simple, nodes)).to_vec();
    assert_eq!(
        sizes.iter().map(|size| size.0).collect::<Vec<_>>(),
        [false, false, false, true, true]
    );
    assert!(sizes[..4].is_sorted_by(|a, b| a.1 < b.1), "{sizes:?}");
    assert_eq!(sizes[3], sizes[4], "no buffer is longer than what is written");
}

/// Dekker's algorithm writes one variable up to six times.
fn dekker(nodes: usize, max_time: usize) -> usize {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/exclusion/dekker.c");
    let (model, abstraction) = (Model::Tso, Abstraction::Etso);
    let (unwind, rounds) = (1, 2);
    let options =
        Options { unwind, rounds, nodes, max_time, model, abstraction, ..Options::new(file) };
    checked(&options).statistics.clauses
}

/// A node more costs every access to a variable the same, until there are as many as the variable has writes, and one.
#[test]
fn lists_grow_with_the_writes_of_a_variable_at_most() {
    let sizes = [4, 5, 6, 7, 8, 32].map(|nodes| dekker(nodes, 7));
    assert_eq!(sizes[1] - sizes[0], sizes[2] - sizes[1], "{sizes:?}");
    assert!(sizes[2] < sizes[3], "{sizes:?}");
    assert_eq!(sizes[3..], [sizes[3]; 3]);
}

/// Twice the time costs a bit of every time stamp.
#[test]
fn time_costs_its_logarithm() {
    let sizes = [1, 3, 7, 15].map(|max_time| dekker(2, max_time));
    let growth: Vec<usize> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(growth, [growth[0]; 3], "{sizes:?}");
}
