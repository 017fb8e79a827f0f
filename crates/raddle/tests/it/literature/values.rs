//! Classes by values: tables 1 and 2 of Agarwal et al., CAV 2021, *Stateless Model Checking under a
//! Reads-Value-From Equivalence*, for the programs that are written here.
//!
//! | program | size | traces of RVF-SMC there | here |
//! |---|---|---|---|
//! | 45_monabsex1 | 7, 8 | 1 | same |
//! | reorder_5 | 9, 30 | 4 | same |
//! | singleton | 20, 30 | 2 | same |
//! | pgsql | 3, 4 | 3906, 335923 | same for 3 |
//!
//! `27_Boop4`, `scull_loop`, `13_unverif`, `approxds_append`, `chase-lev-dq` and `linuxrwlocks` are not written here.

use raddle::Model;

use super::exclusion::pgsql;
use super::harness::{Sized, count_values, counts, is_long};
use super::locks::inc;
use super::racy::{monabsex, reorder_5, singleton};

/// The literature, which has SC only, has this number for these sizes.
#[track_caller]
fn published(program: Sized, sizes: &[usize], expected: u64) {
    for &size in sizes {
        assert_eq!(count_values(Model::Sc, || program(size)), expected, "size {size}");
    }
}

/// All write the same.
#[test]
fn monabsex1_has_one_class() {
    published(monabsex, &[5, 7, 8], 1);
    assert_eq!(count_values(Model::Tso, || monabsex(8)), 1);
    assert_eq!(count_values(Model::Pso, || monabsex(8)), 1);
}

/// The one who checks sees both variables as they were, both set, or one of them.
#[test]
fn reorder_5_has_four_classes() {
    published(reorder_5, &[9, 30], 4);
    assert_eq!(count_values(Model::Tso, || reorder_5(9)), 4);
}

/// One thread writes something else than all others, and may be last or not.
#[test]
fn singleton_has_two_classes() {
    published(singleton, &[9, 20, 30], 2);
}

/// Values tell as much here as writes: the counts are those by reads-from.
#[test]
fn pgsql_has_as_many_classes_as_by_reads_from() {
    for size in [1, 2] {
        let by_values =
            [Model::Sc, Model::Tso, Model::Pso].map(|model| count_values(model, || pgsql(size)));
        assert_eq!(by_values, counts(|| pgsql(size)), "size {size}");
    }
    if is_long() {
        published(pgsql, &[3], 3906);
    }
}

/// Under a lock every thread knows who came before: values change nothing.
#[test]
fn inc_has_as_many_classes_as_by_reads_from() {
    assert_eq!([count_values(Model::Sc, || inc(4)); 3], counts(|| inc(4)));
}
