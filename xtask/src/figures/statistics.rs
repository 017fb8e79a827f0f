//! Percentiles, shares and counts.

use std::collections::BTreeMap;

/// Returns the percentile by nearest rank: the smallest value that `percent` of all values do not
/// exceed. `sorted` is in ascending order.
pub(crate) fn percentile(sorted: &[usize], percent: usize) -> Option<usize> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Returns the rounded percentage of values for which `holds`; `None` if there are no values.
pub(crate) fn share<T>(values: &[T], holds: impl Fn(&T) -> bool) -> Option<usize> {
    let count = values.iter().filter(|value| holds(value)).count();
    (count * 200 + values.len()).checked_div(values.len() * 2)
}

/// Returns each name with its number of occurrences, the most frequent first, then by name.
pub(crate) fn occurrences(names: &[String]) -> Vec<(&str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
    sorted.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values() {
        let values: Vec<usize> = (1..=10).collect();
        assert_eq!(percentile(&values, 50), Some(5));
        assert_eq!(percentile(&values, 90), Some(9));
        assert_eq!(percentile(&values, 99), Some(10));
        assert_eq!(percentile(&values, 100), Some(10));
        assert_eq!(percentile(&[7], 50), Some(7));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn share_is_rounded() {
        assert_eq!(share(&[1, 2, 3], |&x| x > 1), Some(67));
        assert_eq!(share(&[1, 2, 3], |&x| x > 3), Some(0));
        assert_eq!(share(&[0; 0], |_| true), None);
    }

    #[test]
    fn frequent_names_come_first() {
        let names = ["b", "c", "a", "c"].map(str::to_owned);
        assert_eq!(occurrences(&names), [("c", 2), ("a", 1), ("b", 1)]);
    }
}
