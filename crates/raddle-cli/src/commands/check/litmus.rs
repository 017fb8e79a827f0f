//! Litmus tests.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use raddle_core::outcome::{Counts, Finding, FindingKind, Outcome};
use raddle_explore::plan::{Language, Plan};
use raddle_litmus::{LitmusOptions, LitmusOutcome, LitmusTest};

use super::front_end::{FrontEnd, Resources};
use crate::args::CheckArgs;
use crate::results::check::{CheckResult, LitmusResult, LoadError};

/// A test, with the name of its file.
struct LitmusFrontEnd {
    name: String,
    test: Arc<LitmusTest>,
}

/// Reads a litmus test.
pub(super) fn load(path: &Path) -> Result<Arc<dyn FrontEnd>, LoadError> {
    let bytes = fs::read(path).map_err(|error| LoadError::unreadable(&error))?;
    let test = LitmusTest::parse(&bytes).map_err(|error| LoadError {
        line: Some(error.line),
        column: Some(error.column),
        message: error.message,
        is_internal: false,
    })?;
    Ok(Arc::new(LitmusFrontEnd { name: path.display().to_string(), test: Arc::new(test) }))
}

impl FrontEnd for LitmusFrontEnd {
    fn language(&self) -> Language {
        self.test.language
    }

    fn is_divisible(&self) -> bool {
        false
    }

    fn check(&self, plan: Plan, args: &CheckArgs, _: Resources) -> Result<CheckResult, LoadError> {
        let options = LitmusOptions { limits: args.limits(), unroll: args.unroll_of_litmus() };
        let (outcome, finals) = if args.estimate {
            let message = "litmus tests do not support --estimate: use it with C or C++ programs";
            let refused = Finding::new(FindingKind::Unsupported, message);
            (Outcome::new(vec![refused], Counts::default(), None), None)
        } else if args.robust {
            (raddle_litmus::check_robustness(&self.test, plan, &options), None)
        } else {
            let LitmusOutcome { outcome, finals } =
                raddle_litmus::explore(&self.test, plan, &options);
            (outcome, Some(finals))
        };
        Ok(CheckResult {
            program: self.name.clone(),
            plan,
            robust: args.robust,
            outcome,
            litmus: Some(LitmusResult { test: self.test.clone(), finals, unroll: options.unroll }),
            recorded: None,
        })
    }
}
