//! What went wrong, for people.

use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::{Ending, Trace};
use raddle_explore::counterexample::{self, Style};
use raddle_runtime::ops::GONE;

use crate::sync::condvar::CHOOSING;

pub(crate) fn style() -> Style {
    let directory = std::env::current_dir().ok();
    let directory = directory.map_or(String::new(), |path| path.to_string_lossy().into_owned());
    let special_values = vec![(GONE, "dropped"), (CHOOSING, "waking")];
    Style { directory, special_values, ..Style::default() }
}

/// What went wrong, in one sentence.
pub(crate) fn sentence(program: &dyn Program, ending: &Ending, trace: &Trace) -> String {
    counterexample::sentence(program, ending, trace, &style())
}

/// Where it went wrong.
pub(crate) fn place(program: &dyn Program, ending: &Ending, trace: &Trace) -> String {
    let place = counterexample::place(ending, trace);
    place.map_or_else(|| String::from("the start"), |place| program.place(place))
}

/// The execution, threads side by side, with an empty line before and after.
pub(crate) fn table(program: &dyn Program, model: Model, ending: &Ending, trace: &Trace) -> String {
    format!("\n{}\n", counterexample::execution(program, model, ending, trace, &style()))
}
