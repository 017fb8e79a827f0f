//! Which stronger memory orders or fences prevent an error (`raddle_explore::suggest`).

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use raddle_core::model::orders::OrderSemantics;
use raddle_core::outcome::{FindingKind, Outcome};
use raddle_core::program::Program;
use raddle_explore::counterexample::Style;
use raddle_explore::suggest::{self, Change};
use raddle_explore::{Extent, driver};

use super::stack::on_large_stack;
use super::{Request, load, whole};
use crate::build::{Error, Object};
use crate::program::NativeProgram;
use crate::program::changes::Changes;

/// The time for all explorations, if none is set.
const TIME: Duration = Duration::from_secs(60);

/// Adds what prevents the first finding.
pub(super) fn add_help(
    program: &mut NativeProgram,
    request: &Request,
    outcome: &mut Outcome,
    start: Instant,
) {
    let deadline = request.timeout.map_or_else(|| Instant::now() + TIME, |timeout| start + timeout);
    let mut search = Search { program, request, deadline, is_late: false };
    let is_bug = |kind| !matches!(kind, FindingKind::Unsupported | FindingKind::NotRobust);
    let Some(finding) = outcome.findings.first_mut().filter(|finding| is_bug(finding.kind)) else {
        return;
    };
    let help = match search.search() {
        Some(changes) => {
            let style = Style::in_working_directory();
            let relative = |change: Change| {
                let place = style.relative(&change.place).to_owned();
                Change { place, ..change }
            };
            suggest::sentence(&changes.into_iter().map(relative).collect())
        }
        None if search.is_late => String::from(
            "the time was over before it was known which memory orders or fences prevent the error",
        ),
        None => String::from("no stronger memory orders and no fences prevent the error"),
    };
    finding.help.push(help);
}

/// A minimal set of stronger memory orders and fences with which a program that was built has no error. `None` if there is
/// none, or it is not known.
///
/// # Errors
/// If the program cannot be loaded.
pub fn suggest(object: &Object, request: &Request) -> Result<Option<BTreeSet<Change>>, Error> {
    on_large_stack(|| {
        let mut program = load(object, request)?;
        let deadline = Instant::now() + request.timeout.unwrap_or(TIME);
        Ok(Search { program: &mut program, request, deadline, is_late: false }.search())
    })
}

/// Explores a program that was built with changes. Returns `true` if it has no error, `None` if that is not known.
///
/// # Errors
/// If the program cannot be loaded.
pub fn is_clean_with(
    object: &Object,
    request: &Request,
    changes: &BTreeSet<Change>,
) -> Result<Option<bool>, Error> {
    on_large_stack(|| {
        let mut program = load(object, request)?;
        let deadline = Instant::now() + request.timeout.unwrap_or(TIME);
        let mut search = Search { program: &mut program, request, deadline, is_late: false };
        let has_orders = search.has_orders();
        Ok(search.is_clean(Changes::some(has_orders, changes.clone())))
    })
}

struct Search<'a> {
    program: &'a mut NativeProgram,
    request: &'a Request,
    deadline: Instant,
    /// Some exploration was not complete.
    is_late: bool,
}

impl Search<'_> {
    fn search(&mut self) -> Option<BTreeSet<Change>> {
        if self.is_clean(Changes::all(self.has_orders())) != Some(true) {
            return None;
        }
        let changes = self.program.changes.take();
        let candidates = changes.map(|changes| changes.possible).unwrap_or_default();
        let has_orders = self.has_orders();
        let mut is_clean =
            |changes: &BTreeSet<Change>| self.is_clean(Changes::some(has_orders, changes.clone()));
        let found = suggest::suggest(&candidates, &mut is_clean);
        self.program.changes = None;
        found
    }

    fn has_orders(&self) -> bool {
        matches!(self.request.model.orders(), OrderSemantics::C11(_))
    }

    /// Explores the program with these changes. Returns `true` if there is no error.
    fn is_clean(&mut self, changes: Changes) -> Option<bool> {
        let limits = self.request.limits(Some(self.deadline));
        let request = self.request;
        self.program.changes = Some(Box::new(changes));
        self.program.bound = None;
        self.program.restart();
        let explored =
            driver::until_stable(self.program, |program| whole::explore(program, request, &limits));
        if !explored.found.is_empty() {
            return Some(false);
        }
        let is_complete = explored.summary.extent == Extent::All && self.program.bound.is_none();
        self.is_late |= !is_complete;
        is_complete.then_some(true)
    }
}
