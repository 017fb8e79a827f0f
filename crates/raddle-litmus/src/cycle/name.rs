//! Names of cycles as in diy: the family, which depends on the first and last accesses of the threads, and the
//! relaxations within threads.

use super::edge::{AccessDirection, CycleEdge};
use super::normal::{ends, threads};

/// Families with special names.
const FAMILIES: [(&str, &str); 30] = [
    ("WW+RR", "MP"),
    ("WR+WR", "SB"),
    ("WR+WR+WR", "3.SB"),
    ("WR+WR+WR+WR", "4.SB"),
    ("W+RW+RR", "WRC"),
    ("W+RR+WR", "RWC"),
    ("RW+RW", "LB"),
    ("RW+RW+RW", "3.LB"),
    ("RW+RW+RW+RW", "4.LB"),
    ("WW+WR", "R"),
    ("W+RW+WR", "WRW+WR"),
    ("W+RR+WW", "WRR+2W"),
    ("WW+RW", "S"),
    ("W+RW+RW", "WWC"),
    ("WW+WW", "2+2W"),
    ("WW+WW+WW", "3.2W"),
    ("WW+WW+WW+WW", "4.2W"),
    ("W+RW+WW", "WRW+2W"),
    ("WW+RR+WR", "W+RWC"),
    ("WW+RW+RR", "ISA2"),
    ("W+RR+W+RR", "IRIW"),
    ("W+RR+W+RW", "IRRWIW"),
    ("W+RW+W+RR", "IRRWIW"),
    ("W+RW+W+RW", "IRWIW"),
    ("WW+RW+WR", "Z6.0"),
    ("WW+WW+RW", "Z6.1"),
    ("WW+RW+RW", "Z6.2"),
    ("WW+WW+RR", "Z6.3"),
    ("WW+WR+WR", "Z6.4"),
    ("WW+WW+WR", "Z6.5"),
];

/// Families of cycles with one location.
const COHERENCE: [(&str, &str); 3] = [("W+RW", "CoRW2"), ("W+WR", "CoWR"), ("W+RR", "CoRR")];

/// Returns the name of a cycle in normal form.
pub(super) fn name(edges: &[CycleEdge]) -> String {
    let threads = threads(edges);
    let between: Vec<String> =
        threads.iter().map(|thread| between(thread)).filter(|text| !text.is_empty()).collect();
    let mut parts = vec![family(&threads, edges.iter().all(|edge| !edge.different))];
    let same = between.iter().all(|text| *text == between[0]);
    match (between.as_slice(), same) {
        ([], _) => {}
        ([first, ..], true) if first == "po" => {}
        ([only], _) if only == "pos" => {}
        ([only], _) => parts.push(only.clone()),
        ([first, ..], true) => parts.push(format!("{first}s")),
        (all, false) => parts.extend(all.iter().cloned()),
    }
    parts.join("+")
}

fn family(threads: &[&[CycleEdge]], one_location: bool) -> String {
    let shape = |thread: &&[CycleEdge]| {
        let (first, last) = ends(thread);
        let letters = [Some(first), last];
        letters.into_iter().flatten().map(AccessDirection::letter).collect::<String>()
    };
    let key = threads.iter().map(shape).collect::<Vec<_>>().join("+");
    let named = |table: &[(&str, &str)]| {
        table.iter().find(|(known, _)| *known == key).map(|(_, name)| (*name).to_owned())
    };
    let coherence = if one_location { named(&COHERENCE) } else { None };
    coherence.or_else(|| named(&FAMILIES)).unwrap_or(key)
}

/// Returns the names of the relaxations within a thread.
fn between(thread: &[CycleEdge]) -> String {
    let names: Vec<String> =
        thread.iter().filter(|edge| !edge.external).map(|edge| edge.short_name()).collect();
    names.join("-")
}
