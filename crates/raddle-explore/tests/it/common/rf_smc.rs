//! Exploring scripts by RF-SMC.

use std::collections::BTreeSet;

use raddle_core::model::Model;
use raddle_core::trace::{Class, Ending};
use raddle_explore::rf_smc::explore;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};
use raddle_testkit::programs;
use raddle_testkit::script::{Script, ScriptProgram};

/// How many states the oracle may visit.
const BUDGET: usize = 2_000;

/// The script that a text is.
pub(crate) fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the visits of a script are told, in their order.
pub(crate) fn visited(script: &Script, model: Model) -> (Vec<(Class, Ending)>, Summary) {
    let mut visits = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        visits.push((leaf.trace().class(), leaf.ending().clone()));
        Control::Continue
    };
    let summary = explore(&mut ScriptProgram::new(script), model, &Limits::default(), &mut visit);
    (visits, summary)
}

/// How what is visited differs from what the oracle finds, if it does. Otherwise how many classes
/// there are; none if they are too many for the oracle.
pub(crate) fn compare(script: &Script, model: Model) -> Result<Option<usize>, String> {
    let Ok(expected) = programs::classes(script, model, BUDGET) else { return Ok(None) };
    let expected: BTreeSet<Class> = expected.into_keys().collect();
    let (visits, summary) = visited(script, model);
    let classes: BTreeSet<Class> = visits.iter().map(|(class, _)| class.clone()).collect();
    let right = classes == expected && visits.len() == expected.len();
    if right && summary.extent == Extent::All {
        return Ok(Some(expected.len()));
    }
    Err(format!(
        "{model}: {} visited, {} twice, {} missed, {} impossible, {:?}\n{script}",
        visits.len(),
        visits.len() - classes.len(),
        expected.difference(&classes).count(),
        classes.difference(&expected).count(),
        summary.extent,
    ))
}

/// How many classes there are, if the oracle agrees.
#[allow(dead_code, reason = "not all tests that share this file need it")]
pub(crate) fn agrees(script: &Script, model: Model) -> usize {
    match compare(script, model) {
        Ok(classes) => classes.expect("a small program"),
        Err(difference) => panic!("{difference}"),
    }
}
