//! Restarting an exploration: the only loop in the workspace that does.
//!
//! *Problem.* Explorations begin with cheap assumptions that most programs satisfy: few events, few threads and
//! locations, no sequentially consistent fences, memory that only one thread accesses. Each of them turns out to be
//! wrong somewhere in the middle of an exploration.
//!
//! *Idea.* Whoever notices returns a [`Restart`]. It passes unchanged through every level of the explorer up to
//! [`drive`], which adapts the [`Setup`] and attempts the exploration again. Nothing else repeats an exploration.
//!
//! *Visitors.* An explorer whose order of leaves does not depend on the setup counts the leaves that its visitor has
//! seen and skips them in the next attempt, so a visitor sees each leaf once. [`Restart::ProgramFacts`] is different:
//! the program behaves differently in the next attempt, and nothing that was seen before counts. Therefore
//! [`until_stable`] runs a closure that makes its visitor, and drops all results but the last.
//!
//! *Cost.* An attempt repeats what the one before has explored. Assumptions fail early and the local histories of
//! threads are kept (except after [`Restart::ProgramFacts`]), so that is rarely noticeable. There are at most a few
//! restarts: every one makes the setup larger, or tells the program a fact that it did not know.

use raddle_core::program::Program;

/// Why an exploration starts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// An execution has more events than the event sets have bits.
    WiderSets,
    /// There are more threads or locations than the tables have room for.
    LargerTables(TableSizes),
    /// The memory model in use cannot represent something that the program did; the next stronger one can.
    StrongerModel,
    /// The exploration has learned a [fact](crate::facts::ExplorationFacts) that determines the shape of its tree. Leaves
    /// come in another order in the next attempt, except if only the bound on events was doubled.
    ExplorationFacts,
    /// The program has learned a fact about itself that changes which ops its threads perform.
    ProgramFacts,
}

/// How many threads and locations the tables of an explorer have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSizes {
    /// Threads.
    pub threads: usize,
    /// Locations.
    pub locations: usize,
}

/// Which implementation of event sets an attempt uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetWidth {
    /// One machine word, [`u64`].
    OneWord,
    /// Two machine words, [`u128`].
    TwoWords,
    /// [`LongSet`](crate::long_set::LongSet).
    Unbounded,
}

impl SetWidth {
    /// The next larger one.
    fn wider(self) -> Self {
        match self {
            SetWidth::OneWord => SetWidth::TwoWords,
            SetWidth::TwoWords | SetWidth::Unbounded => SetWidth::Unbounded,
        }
    }
}

/// Which of the two implementations of a memory model an attempt uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelStrength {
    /// The faster one, which does not represent everything.
    Basic,
    /// The one that represents everything.
    Full,
}

/// The assumptions of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The event sets.
    pub width: SetWidth,
    /// The tables by thread and by location.
    pub tables: TableSizes,
    /// The implementation of the memory model.
    pub strength: ModelStrength,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            width: SetWidth::OneWord,
            tables: TableSizes { threads: 8, locations: 16 },
            strength: ModelStrength::Basic,
        }
    }
}

impl Setup {
    /// The setup of the attempt after the one that ended with `restart`.
    #[must_use]
    pub fn after(self, restart: Restart) -> Self {
        match restart {
            Restart::WiderSets => Setup { width: self.width.wider(), ..self },
            Restart::LargerTables(tables) => Setup { tables, ..self },
            Restart::StrongerModel => Setup { strength: ModelStrength::Full, ..self },
            Restart::ExplorationFacts => self,
            Restart::ProgramFacts => Setup::default(),
        }
    }
}

/// Calls `attempt` with larger and larger setups until it succeeds.
///
/// An attempt must not ask for what its setup already has: that would repeat it forever.
pub fn drive<T>(mut attempt: impl FnMut(Setup) -> Result<T, Restart>) -> T {
    let mut setup = Setup::default();
    loop {
        match attempt(setup) {
            Ok(explored) => return explored,
            Err(restart) => setup = setup.after(restart),
        }
    }
}

/// Calls `attempt` until it teaches the program no fact that invalidates it, and returns the last result.
pub fn until_stable<P: Program + ?Sized, T>(
    program: &mut P,
    mut attempt: impl FnMut(&mut P) -> T,
) -> T {
    drive(|_| {
        let explored = attempt(program);
        if !program.needs_restart() {
            return Ok(explored);
        }
        program.restart();
        Err(Restart::ProgramFacts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_accumulate_until_the_program_changes() {
        let tables = TableSizes { threads: 16, locations: 32 };
        let mut restarts = vec![
            Restart::StrongerModel,
            Restart::ProgramFacts,
            Restart::WiderSets,
            Restart::LargerTables(tables),
            Restart::WiderSets,
        ];
        let mut setups = vec![];
        drive(|setup| {
            setups.push(setup);
            restarts.pop().map_or(Ok(()), Err)
        });
        let wide = Setup { width: SetWidth::TwoWords, ..Setup::default() };
        let strong = Setup { strength: ModelStrength::Full, ..Setup::default() };
        let (first, larger) = (Setup::default(), Setup { tables, ..wide });
        let unbounded = Setup { width: SetWidth::Unbounded, ..larger };
        assert_eq!(setups, [first, wide, larger, unbounded, first, strong]);
    }
}
