//! Runs a function for each of some numbers, on as many threads as there are processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::build::Error;

/// The results of `f` for `0..count`, in order. Of several errors, the one with the lowest number is returned.
pub(super) fn map<T: Send>(
    count: usize,
    f: &(impl Fn(usize) -> Result<T, Error> + Sync),
) -> Result<Vec<T>, Error> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(count);
    if workers <= 1 {
        return (0..count).map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = vec![];
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return done;
            }
            done.push((index, f(index)));
        }
    };
    let mut results: Vec<(usize, Result<T, Error>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_error_is_returned() {
        assert_eq!(map(5, &|index| Ok(index * index)), Ok(vec![0, 1, 4, 9, 16]));
        let fail = |index: usize| match index {
            2 | 4 => Err(Error::Compiler(index.to_string())),
            _ => Ok(index),
        };
        assert_eq!(map(5, &fail), Err(Error::Compiler(String::from("2"))));
    }
}
