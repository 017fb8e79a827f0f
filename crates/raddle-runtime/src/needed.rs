//! Which histories a step needs: what has to be executed before native code gets there.
//!
//! The thread's own past, the past of what it observed where more than a value is observed
//! ([`Answer::From`]), and whoever spawned it. All else does not matter to what the thread does.

use raddle_core::program::{Answer, HistoryId, HistoryStep, LocalHistories};

/// Which histories have to be executed.
#[derive(Default)]
pub(crate) struct Needed {
    /// For each history the last search that met it.
    met: Vec<u32>,
    search: u32,
    open: Vec<HistoryId>,
}

impl Needed {
    /// Searches for all that the step needs.
    pub(crate) fn search(&mut self, histories: &LocalHistories, step: HistoryStep) {
        self.met.resize(histories.len(), 0);
        self.search += 1;
        self.add_step(step);
        while let Some(node) = self.open.pop() {
            self.add_step(histories.step(node));
        }
    }

    /// What a step needs: what the thread did before, and what it observed.
    fn add_step(&mut self, step: HistoryStep) {
        match step {
            HistoryStep::Start(_, Some(origin)) => self.add(origin.node),
            HistoryStep::Start(_, None) => {}
            HistoryStep::After(parent, answer) => {
                self.add(parent);
                if let Answer::From(origin) | Answer::SpuriousFrom(origin) = answer {
                    self.add(origin.node);
                }
            }
        }
    }

    fn add(&mut self, node: HistoryId) {
        let met = &mut self.met[node.0 as usize];
        if *met != self.search {
            *met = self.search;
            self.open.push(node);
        }
    }

    /// Whether the last search met the history.
    pub(crate) fn has(&self, node: HistoryId) -> bool {
        self.met[node.0 as usize] == self.search
    }
}
