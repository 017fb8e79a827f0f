//! What prevents known weak-memory bugs: stronger memory orders and fences, of which no part suffices.

use std::collections::BTreeSet;
use std::path::Path;

use raddle_core::model::Model;
use raddle_explore::suggest::Change;
use raddle_native::{Object, Request, build, is_clean_with, suggest};

/// The bugs that are not explored under C20.
const OTHER_MODELS: [(u32, Model); 3] = [(8, Model::Tso), (19, Model::Tso), (20, Model::Pso)];

fn request(bug: u32) -> Request {
    let model = OTHER_MODELS.iter().find(|(number, _)| *number == bug);
    let model = model.map_or(Model::C20, |(_, model)| *model);
    let mut request = Request { model, ..Request::new(&[Path::new("tests/suggest/bugs.c")]) };
    request.source.flags = vec![format!("-DBUG={bug}")];
    request
}

fn is_clean(object: &Object, request: &Request, changes: &BTreeSet<Change>) -> Option<bool> {
    is_clean_with(object, request, changes).expect("the program can be loaded")
}

/// All proper subsets.
fn parts(changes: &BTreeSet<Change>) -> impl Iterator<Item = BTreeSet<Change>> + '_ {
    let has = |bits: u32, at: usize| bits >> at & 1 == 1;
    (0..(1_u32 << changes.len()) - 1).map(move |bits| {
        let chosen = changes.iter().enumerate().filter(|(at, _)| has(bits, *at));
        chosen.map(|(_, change)| change.clone()).collect()
    })
}

/// For every bug: the suggestion works, and no part of it does.
#[test]
fn suggestions_are_minimal() {
    for bug in 1..=21 {
        let request = request(bug);
        let object = build(&request.source).unwrap_or_else(|error| panic!("{bug}: {error}"));
        let changes = suggest(&object, &request).expect("the program can be loaded");
        let changes = changes.unwrap_or_else(|| panic!("{bug}: no changes help"));
        assert_eq!(is_clean(&object, &request, &changes), Some(true), "{bug}: {changes:?}");
        for part in parts(&changes) {
            let is_clean = is_clean(&object, &request, &part);
            assert_eq!(is_clean, Some(false), "{bug}: {changes:?}, and only {part:?}");
        }
    }
}
