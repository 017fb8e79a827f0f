//! Parallel maps with results in the order of the items.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// Size of the stack of a thread, as that of a main thread usually is.
const STACK: usize = 8 << 20;

/// Time between two questions whether to stop.
const POLL: Duration = Duration::from_millis(20);

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

/// What became of an item of [`map_until`].
pub(crate) enum Item<R> {
    /// Its result.
    Done(R),
    /// It was started and abandoned.
    Abandoned,
    /// It was not started.
    Waiting,
}

/// Applies `work` to every item, on at most `jobs` threads, until `stops` returns `true`. Then no other item is started, and
/// items that take longer than `grace` are abandoned: their threads continue until the process ends.
pub(crate) fn map_until<T: Send + Sync + 'static, R: Send + 'static>(
    items: Vec<T>,
    jobs: NonZero<usize>,
    work: impl Fn(&T) -> R + Send + Sync + 'static,
    stops: fn() -> bool,
    grace: Duration,
) -> Vec<Item<R>> {
    let (count, threads) = (items.len(), jobs.get().min(items.len()));
    let shared = Arc::new((items, AtomicUsize::new(0), work));
    let (sender, receiver) = mpsc::channel();
    for _ in 0..threads {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        let run = move || {
            let (items, next, work) = &*shared;
            while !stops()
                && let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let Some(item) = items.get(at)
                && sender.send((at, work(item))).is_ok()
            {}
        };
        let thread = thread::Builder::new().stack_size(STACK);
        thread.spawn(run).expect("the system has resources for a thread");
    }
    drop(sender);
    let done = receive(&receiver, stops, grace);
    let started = shared.1.load(Ordering::Relaxed);
    let item = |at| if at < started { Item::Abandoned } else { Item::Waiting };
    let mut results: Vec<Item<R>> = (0..count).map(item).collect();
    for (at, result) in done {
        results[at] = Item::Done(result);
    }
    results
}

/// Receives results until all threads have ended, or for `grace` after `stops` returned `true`.
fn receive<R>(receiver: &Receiver<R>, stops: fn() -> bool, grace: Duration) -> Vec<R> {
    let (mut results, mut end) = (vec![], None);
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(result) => results.push(result),
            Err(RecvTimeoutError::Disconnected) => return results,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if stops() && Instant::now() >= *end.get_or_insert_with(|| Instant::now() + grace) {
            results.extend(receiver.try_iter());
            return results;
        }
    }
}

/// The default of `--jobs`: the number of available processors.
pub(crate) fn default_jobs() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

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

    #[test]
    fn a_map_that_does_not_stop_is_complete() {
        let jobs = NonZero::new(3).expect("a positive number");
        let results = map_until((0..50).collect(), jobs, |n| n * n, || false, Duration::ZERO);
        let square = |item: &Item<i32>| match item {
            Item::Done(square) => *square,
            Item::Abandoned | Item::Waiting => panic!("not done"),
        };
        let squares: Vec<i32> = (0..50).map(|n| n * n).collect();
        assert_eq!(results.iter().map(square).collect::<Vec<i32>>(), squares);
    }

    #[test]
    fn a_map_that_stops_abandons_what_runs() {
        static STOPS: AtomicBool = AtomicBool::new(false);
        let work = |&n: &i32| {
            if n == 1 {
                STOPS.store(true, Ordering::Relaxed);
                thread::sleep(Duration::from_secs(3600));
            }
            n
        };
        let one = NonZero::<usize>::MIN;
        let stops = || STOPS.load(Ordering::Relaxed);
        let results = map_until(vec![0, 1, 2], one, work, stops, Duration::ZERO);
        assert!(matches!(results[..], [Item::Done(0), Item::Abandoned, Item::Waiting]));
    }
}
