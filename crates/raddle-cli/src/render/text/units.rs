//! Rounded numbers and durations.

/// A number with about three significant digits.
pub(crate) fn rounded(number: f64) -> String {
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

/// A duration in a suitable unit.
pub(crate) fn time(seconds: f64) -> String {
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
