//! A parallel map with results in the order of the items.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Applies `work` to every item, on at most `jobs` threads.
pub(crate) fn map<T: Sync, R: Send + Sync>(
    items: &[T],
    jobs: NonZero<usize>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let results: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(item) = items.get(at)
        {
            let fresh = results[at].set(work(item)).is_ok();
            debug_assert!(fresh, "every item is processed once");
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get().min(items.len()) {
            scope.spawn(run);
        }
        run();
    });
    results.into_iter().map(|cell| cell.into_inner().expect("every item is processed")).collect()
}

/// The default of `--jobs`: the number of available processors.
pub(crate) fn default_jobs() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        let squares: Vec<usize> = items.iter().map(|n| n * n).collect();
        for jobs in [1, 2, 7, 200] {
            let jobs = NonZero::new(jobs).expect("a positive number");
            assert_eq!(map(&items, jobs, |n| n * n), squares);
        }
        assert!(map(&[0; 0], NonZero::<usize>::MIN, |n| *n).is_empty());
    }
}
