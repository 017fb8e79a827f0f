//! How large an exploration is, about.

use raddle_core::model::Model;
use raddle_core::outcome::Estimate;

use crate::render::text::units::{rounded, time};
use crate::results::check::{Answer, Bug, Size, UNSUPPORTED, Verdict};

/// The answer for an exploration that did not come to its end, and which explored so many classes in a second.
pub(super) fn with_size(mut answer: Answer, estimate: Option<Estimate>, rate: f64) -> Answer {
    let Some(Estimate { classes, error, .. }) = estimate else { return answer };
    let seconds = classes / rate.max(0.001);
    answer.estimate = Some(Size { classes, error, seconds });
    answer.text = format!(
        "{}, {}: about {} classes of executions (standard error {}), which take about {}\n",
        answer.program,
        answer.model,
        rounded(classes),
        rounded(error),
        time(seconds),
    );
    answer.bound = Some(String::from("this is an estimate"));
    answer
}

/// There is no estimate for a litmus test.
pub(super) fn refused(program: &str, model: Model) -> Answer {
    let message = String::from("--estimate is for C and C++ programs");
    let text = format!("{program}, {model}: {message}\n");
    let kind = UNSUPPORTED.to_owned();
    Answer {
        program: program.to_owned(),
        model,
        verdict: Verdict::Incomplete,
        classes: 0,
        blocked: 0,
        executions: 0,
        seconds: 0.0,
        bug: Some(Bug { kind, message, place: String::new(), trace: String::new() }),
        bound: None,
        estimate: None,
        litmus: None,
        word: String::from("incomplete"),
        text,
        trace: None,
    }
}
