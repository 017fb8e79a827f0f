//! The search budget of one consistency check.

/// How many states the searches for one answer may visit, and how many they have visited.
pub(in crate::check) struct Effort {
    budget: u64,
    steps: u64,
}

impl Effort {
    pub(in crate::check) fn new(budget: u64) -> Effort {
        Effort { budget, steps: 0 }
    }

    /// How many states have been visited.
    pub(in crate::check) fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts a state; false if the budget does not allow it.
    pub(in crate::check) fn spend(&mut self) -> bool {
        self.spend_for(1)
    }

    /// Counts something that takes as long as this many states.
    pub(in crate::check) fn spend_for(&mut self, states: u64) -> bool {
        let allowed = states <= self.budget - self.steps;
        self.steps += if allowed { states } else { 0 };
        allowed
    }

    /// Lets something visit at most `limit` states of what is left.
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
