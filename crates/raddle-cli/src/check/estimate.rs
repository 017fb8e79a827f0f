//! How large an exploration is, about.

use raddle_core::model::Model;
use raddle_explore::rf_part_smc::Estimate;

use super::answer::{Answer, Bug, Size, UNSUPPORTED, Verdict};

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

/// A number with three digits that matter.
pub(super) fn rounded(number: f64) -> String {
    match number {
        n if n >= 1e12 => format!("{n:.2e}"),
        n if n >= 1e9 => format!("{:.2} thousand million", n / 1e9),
        n if n >= 1e6 => format!("{:.2} million", n / 1e6),
        n if n >= 1e3 => {
            let tens = (n / 10.0).round() as u64 * 10;
            format!("{},{:03}", tens / 1_000, tens % 1_000)
        }
        n => format!("{n:.0}"),
    }
}

/// A time in a unit that fits.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.1} s"),
        s if s < 5_400.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} hours", s / 3_600.0),
        s => format!("{} days", rounded(s / 86_400.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_short() {
        let numbers = [7.4, 999.0, 1_234.0, 45_678.0, 1_234_567.0, 2.5e9, 7e13].map(rounded);
        let expected =
            ["7", "999", "1,230", "45,680", "1.23 million", "2.50 thousand million", "7.00e13"];
        assert_eq!(numbers, expected);
        let times = [0.25, 89.0, 120.0, 7_200.0, 1e6].map(time);
        assert_eq!(times, ["0.2 s", "89.0 s", "2 minutes", "2 hours", "12 days"]);
    }
}
