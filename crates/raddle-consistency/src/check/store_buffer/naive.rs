//! NaiveVerifyTSO and NaiveVerifyPSO: the baselines of the benchmarks.
//!
//! The plain lower-set enumeration of Abdulla et al. (OOPSLA 2019) and Biswas and Enea (OOPSLA
//! 2019), extended to store buffers as in Bui et al., OOPSLA 2021, section 6.1: every event that can
//! run and every store that can reach memory is tried in turn, and two runs are alike if they
//! consist of the same events and the same stores have reached memory. Nothing is taken for
//! granted. O(n^2k) states under TSO, O(n^(k(d+1))) under PSO, for reads-from maps.

use super::run::{PartialRun, Question};
use super::search::{SearchOutcome, Space, search};
use crate::check::effort::Effort;
use crate::witness::Witness;

struct Naive<'i> {
    run: PartialRun<'i>,
}

impl<'i> Space<'i> for Naive<'i> {
    fn run(&self) -> &PartialRun<'i> {
        &self.run
    }

    fn run_mut(&mut self) -> &mut PartialRun<'i> {
        &mut self.run
    }

    /// Nothing is taken for granted.
    fn run_free_steps(&mut self) {}

    /// A move is an event: an odd number lets it reach memory, an even number runs it.
    fn moves(&self, out: &mut Vec<u32>) {
        for thread in self.run.threads() {
            if let Some(event) = self.run.next(thread)
                && self.run.can_run(thread, event)
            {
                out.push(2 * event);
            }
            for &queue in self.run.busy(thread) {
                let store = self.run.front(queue).filter(|&store| self.run.can_flush(store));
                out.extend(store.map(|store| 2 * store + 1));
            }
        }
    }

    fn apply(&mut self, step: u32) -> bool {
        let event = step / 2;
        if step % 2 == 1 {
            self.run.flush(self.run.question.buffers.queue_of[event as usize], event);
        } else {
            self.run.run(self.run.question.instance.thread_of[event as usize], event);
        }
        true
    }

    fn key(&self, out: &mut Vec<u32>) {
        out.extend(self.run.threads().map(|thread| self.run.position(thread)));
        let queues = 0..self.run.question.buffers.queues.len() as u32;
        out.extend(queues.map(|queue| self.run.head(queue)));
    }
}

/// Enumerates lower sets until a run is complete.
pub(super) fn verify_naively(
    question: Question<'_>,
    effort: &mut Effort,
) -> (SearchOutcome, Witness) {
    search(Naive { run: PartialRun::new(question) }, effort)
}
