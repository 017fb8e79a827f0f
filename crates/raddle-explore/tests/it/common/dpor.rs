//! Exploration of scripts by traces.

use std::collections::BTreeSet;

use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::{Class, Ending, ShashaSnir};
use raddle_explore::dpor::{optimal_dpor, source_dpor};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor};
use raddle_testkit::programs;
use raddle_testkit::script::{Script, ScriptProgram};

/// Maximal number of states that the oracle visits.
const BUDGET: usize = 4_000;

/// Signature of the DPOR explorers.
pub(crate) type Explore = fn(&mut dyn Program, Model, &Limits, &mut dyn Visitor) -> Summary;

/// Optimal-DPOR.
pub(crate) const OPTIMAL: Explore =
    |program, model, limits, visitor| optimal_dpor::explore(program, model, limits, visitor);
/// Source-DPOR.
pub(crate) const SOURCE: Explore =
    |program, model, limits, visitor| source_dpor::explore(program, model, limits, visitor);

/// Parses a script.
pub(crate) fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Explores a script. Returns the traces and endings in the order of the visits.
pub(crate) fn visited(
    explore: Explore,
    script: &Script,
    model: Model,
) -> (Vec<(ShashaSnir, Ending)>, Summary) {
    let mut visits = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        visits.push((leaf.trace().shasha_snir(), leaf.ending().clone()));
        Control::Continue
    };
    let summary = explore(&mut ScriptProgram::new(script), model, &Limits::default(), &mut visit);
    (visits, summary)
}

/// Compares the visited traces with those of the oracle. Returns the number of traces, `None` if they are too many for
/// the oracle, or a description of the difference.
pub(crate) fn compare(script: &Script, model: Model) -> Result<Option<usize>, String> {
    let Ok(expected) = programs::traces(script, model, BUDGET) else { return Ok(None) };
    for (name, explore) in [("optimal", OPTIMAL), ("source", SOURCE)] {
        let (visits, summary) = visited(explore, script, model);
        let traces: BTreeSet<ShashaSnir> = visits.iter().map(|(trace, _)| trace.clone()).collect();
        let once = visits.len() == traces.len();
        if traces == expected && once && summary.extent == Extent::All {
            continue;
        }
        return Err(format!(
            "{name}, {model}: {} visited, {} twice, {} of {} missed, {} impossible, {:?}\n{script}",
            visits.len(),
            visits.len() - traces.len(),
            expected.difference(&traces).count(),
            expected.len(),
            traces.difference(&expected).count(),
            summary.extent,
        ));
    }
    let classes: BTreeSet<Class> = expected.iter().map(|(class, _)| class.clone()).collect();
    let known = programs::classes(script, model, BUDGET).map(|known| known.into_keys().collect());
    assert_eq!(Ok(classes), known, "the traces have all reads-from classes");
    Ok(Some(expected.len()))
}

/// Returns the number of traces. Panics if the explorers and the oracle disagree.
#[allow(dead_code, reason = "not all tests that share this file need it")]
pub(crate) fn agrees(script: &Script, model: Model) -> usize {
    match compare(script, model) {
        Ok(traces) => traces.expect("a small program"),
        Err(difference) => panic!("{difference}"),
    }
}

/// Returns the reads-from classes of the visited traces.
#[allow(dead_code, reason = "not all tests that share this file need it")]
pub(crate) fn classes(visits: &[(ShashaSnir, Ending)]) -> BTreeSet<Class> {
    visits.iter().map(|((class, _), _)| class.clone()).collect()
}
