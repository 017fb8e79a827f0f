//! A thread pool: workers share the receiver of a channel.
//!
//! Bug: a job counts as done before it has run.

use crate::sync::atomic::{AtomicUsize, Ordering::*};
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{mpsc, Arc, Mutex};

type Job = Box<dyn FnOnce() + Send>;

pub(crate) struct Pool<const BROKEN: bool> {
    sender: mpsc::Sender<Job>,
    done: Arc<AtomicUsize>,
    workers: Vec<JoinHandle<()>>,
}

impl<const BROKEN: bool> Pool<BROKEN> {
    /// A pool whose workers do one job each.
    pub(crate) fn new(workers: usize) -> Self {
        let (sender, receiver) = mpsc::channel::<Job>();
        let (receiver, done) = (Arc::new(Mutex::new(receiver)), Arc::new(AtomicUsize::new(0)));
        let worker = |_| {
            let (receiver, done) = (receiver.clone(), done.clone());
            thread::spawn(move || {
                let job = receiver.lock().unwrap().recv();
                if let Ok(job) = job {
                    if BROKEN {
                        done.fetch_add(1, Release);
                    }
                    job();
                    if !BROKEN {
                        done.fetch_add(1, Release);
                    }
                }
            })
        };
        Pool { workers: (0..workers).map(worker).collect(), sender, done }
    }

    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.sender.send(Box::new(job)).unwrap();
    }

    /// The number of jobs that have ended.
    pub(crate) fn done(&self) -> usize {
        self.done.load(Acquire)
    }

    pub(crate) fn join(self) {
        for worker in self.workers {
            worker.join().unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::model;

    fn jobs_that_are_done_have_run<const BROKEN: bool>() {
        model(|| {
            let pool = Pool::<BROKEN>::new(2);
            let sum = Arc::new(AtomicUsize::new(0));
            for _ in 0..2 {
                let sum = sum.clone();
                pool.run(move || {
                    sum.fetch_add(1, Relaxed);
                });
            }
            let done = pool.done();
            assert!(sum.load(Relaxed) >= done);
            pool.join();
            assert_eq!(sum.load(Relaxed), 2);
        });
    }

    #[test]
    fn right() {
        jobs_that_are_done_have_run::<false>();
    }

    #[test]
    fn broken() {
        jobs_that_are_done_have_run::<true>();
    }
}
