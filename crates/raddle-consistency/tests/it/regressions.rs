//! Executions on which an algorithm, ours or a printed one, was once wrong. Each is as small as it
//! can be and says what it needs. [`allows`] says what is right; the verdicts are written out all
//! the same.

use raddle_consistency::check::{CheckOptions, SearchAlgorithm, UseClosure, check};
use raddle_consistency::history;
use raddle_consistency::recheck::{Rechecked, recheck_violation, recheck_witness};
use raddle_consistency::reference::brute_force::allows;
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::model::Model;

/// Checks a history under SC, TSO and PSO in every way, with its threads in every order.
fn expect(history: &str, allowed: [bool; 3]) {
    let (init, threads): (Vec<&str>, Vec<&str>) =
        history.lines().map(str::trim).partition(|line| line.starts_with("init"));
    for turn in 0..threads.len() {
        let mut threads = threads.clone();
        threads.rotate_left(turn);
        expect_as_is(&[init.clone(), threads].concat().join("\n"), allowed);
    }
}

fn expect_as_is(history: &str, allowed: [bool; 3]) {
    let execution = history::parse(history.as_bytes()).expect("a well-formed history");
    for (model, allowed) in Model::STORE_BUFFERS.into_iter().zip(allowed) {
        assert_eq!(allows(&execution, model), allowed, "brute force under {model}:\n{history}");
        for algorithm in [SearchAlgorithm::Best, SearchAlgorithm::Naive] {
            for closure in [UseClosure::WhenNeeded, UseClosure::First, UseClosure::Never] {
                let options = CheckOptions { closure, algorithm, ..CheckOptions::default() };
                match check(&execution, model, &options) {
                    ConsistencyVerdict::Consistent(witness) => {
                        assert!(allowed, "{model} {options:?} allows\n{history}");
                        assert_eq!(
                            recheck_witness(&execution, model, &witness),
                            Ok(Rechecked::Proved)
                        );
                    }
                    ConsistencyVerdict::Inconsistent(violation) => {
                        assert!(!allowed, "{model} {options:?} forbids\n{history}");
                        let rechecked = recheck_violation(&execution, model, &violation, 100_000);
                        assert_eq!(rechecked, Ok(Rechecked::Proved));
                    }
                    ConsistencyVerdict::Unknown { steps } => {
                        panic!("gave up after {steps}\n{history}")
                    }
                }
            }
        }
    }
}

/// Bui et al., item 2 of fence maps, leaves out reads of the thread's own store. Then these two
/// states are taken for one: P1's store to x has reached memory before P0's, or waits behind it.
#[test]
fn fence_map_counts_reads_of_the_own_store() {
    expect(
        "P0: W x 1; F; W d 1; R z 1 <- P1.4; R x 1 <- P0.0
         P1: R c 1 <- P2.0; W x 2; R d 1 <- P0.2; F; W z 1
         P2: W c 1",
        [true, true, true],
    );
}

/// An update that reads the write holding a location goes on holding it for its own readers: when
/// P1 has read y, P2's store to y can go, but its store to x only if it went before P0's.
#[test]
fn fence_map_follows_updates() {
    expect(
        "P0: W x 1; W y 1; F; W e 1
         P1: R e 1 <- P0.3; RMW x 1 2 <- P0.0; R y 1 <- P0.1; R b 1 <- P2.5; R x 2 <- P1.1
         P2: R c 1 <- P3.0; W x 3; R y 1 <- P0.1; W y 3; F; W b 1
         P3: W c 1",
        [true, true, true],
    );
}

/// A store that waits behind the write holding its location matters not only to fences: here P2 reads
/// an update that took over from that write, so its own store must have gone before. The state in
/// which it waits is a dead end and must not stand for the one in which it went.
#[test]
fn own_store_comes_before_the_whole_chain_of_updates() {
    expect(
        "P0: W x 1; F; W e 1
         P1: W c 1; R e 1 <- P0.2; RMW x 1 2 <- P0.0
         P2: R c 1 <- P1.0; W x 3; R x 2 <- P1.2",
        [true, true, true],
    );
    expect(
        "P0: LOCK m; W x 1; UNLOCK m; W e 1; F.ss; W u 1
         P1: W c 1; R e 1 <- P0.3; RMW x 1 2 <- P0.1; R u 1 <- P0.5
         P2: R c 1 <- P1.0; W x 3; R x 2 <- P1.2",
        [true, true, true],
    );
}

/// Bui et al., appendix A.3, flushes only what a read or a fence needs. But P1's second store, which
/// nobody reads, must go before P0's store to y, and waits behind the fence for the store to z.
#[test]
fn store_fence_needs_an_early_flush() {
    expect(
        "P0: W y 1; F; W a 1
         P1: W z 1; F.ss; W y 2; R a 1 <- P0.2; F; W b 1
         P2: R b 1 <- P1.5; R y 1 <- P0.0; R z 1 <- P1.0",
        [true, true, true],
    );
}

/// The same with a read in place of P1's full fence: it observes P0's store, so P1's own must have
/// gone before.
#[test]
fn store_fence_needs_an_early_flush_for_a_read() {
    expect(
        "P0: W y 1; F; W a 1
         P1: W z 1; F.ss; W y 2; R a 1 <- P0.2; R y 1 <- P0.0
         P2: R a 1 <- P0.2; R z 0 <- init; R z 1 <- P1.0",
        [false, false, false],
    );
}

/// Two epochs wait: what the second needs is not what both need, so one map for "the stores before
/// the latest store-store fence" is not enough.
#[test]
fn store_fences_in_a_row() {
    expect(
        "P0: W x 1; F.ss; W y 1; W z 1; F.ss; W u 1
         P1: R z 1 <- P0.3; R x 1 <- P0.0; W y 2; F; R u 1 <- P0.5; R y 2 <- P1.2",
        [true, true, true],
    );
}

/// Reads may run as soon as they see a source, updates may not.
#[test]
fn updates_are_not_eager() {
    expect(
        "P0: W x 0; CAS x 0 1
         P1: CAS x 1 0; RMW x 0 1",
        [true, true, true],
    );
    expect(
        "P0: RMW x 0 1
         P1: W x 0; RMW x 1 2",
        [true, true, true],
    );
}

/// A load that finds its source in its own buffer runs before that store comes: that the store is
/// later does not exclude it.
#[test]
fn a_forwarded_store_is_not_later() {
    expect(
        "P0: W x 1; R x 1; R y 0
         P1: W y 1; F; R x 0; W x 1",
        [false, true, true],
    );
}

/// Nor does the first of several sources come before the read if it may be forwarded. (The last
/// thread keeps it open until then what P0 read from y.)
#[test]
fn the_first_source_may_be_forwarded() {
    expect(
        "P0: W x 1; W z 1; R x 1; R y 0; F; W q 1
         P1: R z 1; W x 1
         P2: W y 1; F; R x 0
         P3: R q 1; W y 0",
        [false, true, true],
    );
}

/// Agarwal et al., closure items 3 and 4, as printed lose this one.
#[test]
fn closure_compares_conflicting_writes() {
    expect(
        "init: x=0 y=0
         P0: W y 1; R x 0
         P1: R x 0; W y 0; R y 1",
        [true, true, true],
    );
}

/// What comes before an initial write proves a contradiction and must not be used for more.
#[test]
fn nothing_follows_from_an_edge_into_an_initial_write() {
    expect(
        "init: x=0 y=0
         P0: W x 0; W y 1; SPAWN P1; W x 0; RMW x 0 0 <- init
         P1: R y 1 <- P0.1",
        [false, false, false],
    );
}

/// An update that writes what it reads is in the source set it shares with others; it is not its
/// own source.
#[test]
fn an_update_is_not_its_own_source() {
    expect("P0: RMW x 1 1\nP1: RMW x 1 1", [false, false, false]);
    expect("P0: RMW x 1 1\nP1: RMW x 1 1; R x 1\nP2: W x 1", [true, true, true]);
    expect("P0: RMW x 5 5", [false, false, false]);
}
