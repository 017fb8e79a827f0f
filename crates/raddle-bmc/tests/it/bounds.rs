//! Which bounds suffice for a bug, and how formulas grow with them.

use std::path::Path;

use raddle_bmc::{Abstraction, BmcOptions, BmcReport, check};
use raddle_core::model::Model;

use super::support::{corpus, is_bug};

fn checked(options: &BmcOptions) -> BmcReport {
    check(options).unwrap_or_else(|error| panic!("{error}"))
}

/// An exhaustive search of the states of the safe stack shows that its bug needs four rounds.
#[test]
fn the_bug_of_the_safe_stack_needs_four_rounds() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/safestack.c");
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        for (rounds, expected) in [(3, false), (4, true)] {
            let options = BmcOptions { model, rounds, ..BmcOptions::new(&file) };
            assert_eq!(is_bug(&checked(&options)), expected, "{model:?}, {rounds} rounds");
        }
    }
}

/// Checks `spread.c`, in which both threads buffer eight stores, each to a variable of its own.
/// Returns whether the bug is found, and the number of clauses.
fn spread(abstraction: Abstraction, nodes: usize) -> (bool, usize) {
    let (model, rounds) = (Model::Tso, 2);
    let file = corpus("bmc/spread.c");
    let report =
        checked(&BmcOptions { model, abstraction, nodes, rounds, ..BmcOptions::new(file) });
    (is_bug(&report), report.statistics.clauses)
}

#[test]
fn stamped_lists_do_not_grow_with_the_stores_of_a_thread() {
    let (found, size) = spread(Abstraction::Etso, 2);
    assert!(found, "one waiting node per variable is enough");
    for nodes in [4, 8, 32] {
        assert_eq!(spread(Abstraction::Etso, nodes), (true, size), "{nodes} nodes");
    }
}

#[test]
fn buffer_arrays_grow_with_the_stores_of_a_thread() {
    let sizes: Vec<(bool, usize)> =
        [2, 4, 7, 8, 32].map(|nodes| spread(Abstraction::Simple, nodes)).to_vec();
    assert_eq!(
        sizes.iter().map(|size| size.0).collect::<Vec<_>>(),
        [false, false, false, true, true]
    );
    assert!(sizes[..4].is_sorted_by(|a, b| a.1 < b.1), "{sizes:?}");
    assert_eq!(sizes[3], sizes[4], "a buffer has no more slots than its thread has writes");
}

/// Clauses of Dekker's algorithm, which writes one variable up to six times.
fn dekker(nodes: usize, max_time: usize) -> usize {
    let (model, abstraction) = (Model::Tso, Abstraction::Etso);
    let (unwind, rounds) = (1, 2);
    let file = corpus("c/exclusion/dekker.c");
    let options =
        BmcOptions { unwind, rounds, nodes, max_time, model, abstraction, ..BmcOptions::new(file) };
    checked(&options).statistics.clauses
}

/// Each additional node costs the same, up to one more node than the variable has writes.
#[test]
fn stamped_lists_grow_up_to_the_writes_of_a_variable() {
    let sizes = [4, 5, 6, 7, 8, 32].map(|nodes| dekker(nodes, 7));
    assert_eq!(sizes[1] - sizes[0], sizes[2] - sizes[1], "{sizes:?}");
    assert!(sizes[2] < sizes[3], "{sizes:?}");
    assert_eq!(sizes[3..], [sizes[3]; 3]);
}

/// Doubling the greatest time stamp adds one bit to every time stamp.
#[test]
fn formulas_grow_with_the_logarithm_of_the_greatest_time_stamp() {
    let sizes = [1, 3, 7, 15].map(|max_time| dekker(2, max_time));
    let growth: Vec<usize> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(growth, [growth[0]; 3], "{sizes:?}");
}
