//! The search budget of one consistency check.

/// The budget of states that the searches for one answer may visit, and the number visited.
pub(in crate::check) struct Effort {
    budget: u64,
    steps: u64,
}

impl Effort {
    pub(in crate::check) fn new(budget: u64) -> Effort {
        Effort { budget, steps: 0 }
    }

    /// The number of visited states.
    pub(in crate::check) fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts a state. Returns `false` if the budget is exhausted.
    pub(in crate::check) fn spend(&mut self) -> bool {
        self.spend_for(1)
    }

    /// Counts work that takes as long as this many states. Returns `false` if the budget is exhausted.
    pub(in crate::check) fn spend_for(&mut self, states: u64) -> bool {
        let allowed = states <= self.budget - self.steps;
        self.steps += if allowed { states } else { 0 };
        allowed
    }

    /// Calls `f` with at most `limit` of the remaining states.
    pub(in crate::check) fn with_limit<T>(
        &mut self,
        limit: u64,
        f: impl FnOnce(&mut Effort) -> T,
    ) -> T {
        let budget = self.budget;
        self.budget = budget.min(self.steps + limit);
        let result = f(self);
        self.budget = budget;
        result
    }
}
