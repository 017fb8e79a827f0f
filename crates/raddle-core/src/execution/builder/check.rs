//! Checks of whole executions. Each error names an event.

use std::collections::HashMap;

use super::{
    Action, BuildError, EventPart, ExecutionBuilder, Flaw, LocationId, Position, SourceClaim,
    ThreadId, Value,
};

impl ExecutionBuilder {
    /// Checks everything. Returns, by location, whether it is a lock.
    pub(super) fn check(&self) -> Result<Vec<bool>, BuildError> {
        self.check_threads()?;
        let is_lock = self.check_locations()?;
        self.check_locks()?;
        self.check_success()?;
        self.check_orders()?;
        self.check_claims()?;
        Ok(is_lock)
    }

    /// Every spawned or joined thread exists, is spawned once, and can run.
    fn check_threads(&self) -> Result<(), BuildError> {
        let mut spawned_by = vec![None; self.threads.len()];
        for (place, draft) in self.drafts() {
            let (Action::Spawn { thread } | Action::Join { thread }) = draft.action else {
                continue;
            };
            let target = &self.threads[thread.index()];
            if !target.declared {
                return Err(flaw(place, Flaw::UnknownThread { name: target.name.clone() }));
            }
            if matches!(draft.action, Action::Spawn { .. })
                && let Some(other) = spawned_by[thread.index()].replace(place)
            {
                let other = self.name(other);
                return Err(flaw(place, Flaw::SpawnedTwice { thread: target.name.clone(), other }));
            }
        }
        self.check_spawn_join_order(&spawned_by)
    }

    /// Runs the threads, looking only at spawns and joins.
    fn check_spawn_join_order(&self, spawned_by: &[Option<Position>]) -> Result<(), BuildError> {
        let mut started: Vec<bool> = spawned_by.iter().map(Option::is_none).collect();
        let mut done = vec![0; self.threads.len()];
        // By thread: the threads that wait for its end.
        let mut waiters: Vec<Vec<usize>> = vec![vec![]; self.threads.len()];
        let mut ready: Vec<usize> = (0..self.threads.len()).filter(|&t| started[t]).collect();
        while let Some(t) = ready.pop() {
            let finished = |t: usize| started[t] && done[t] == self.threads[t].events.len();
            match self.threads[t].events.get(done[t]).map(|draft| draft.action) {
                None => ready.append(&mut waiters[t]),
                Some(Action::Join { thread }) if !finished(thread.index()) => {
                    waiters[thread.index()].push(t);
                }
                Some(action) => {
                    done[t] += 1;
                    ready.push(t);
                    if let Action::Spawn { thread } = action {
                        started[thread.index()] = true;
                        ready.push(thread.index());
                    }
                }
            }
        }
        let stuck = |t: usize| !started[t] || done[t] < self.threads[t].events.len();
        match (0..self.threads.len()).find(|&t| stuck(t)) {
            None => Ok(()),
            Some(t) => Err(self.waiting_cycle(t, spawned_by, &started, &done)),
        }
    }

    /// Follows the blockers from a blocked thread until the cycle closes.
    fn waiting_cycle(
        &self,
        mut t: usize,
        spawned_by: &[Option<Position>],
        started: &[bool],
        done: &[usize],
    ) -> BuildError {
        let mut chain: Vec<Position> = vec![];
        let mut index: HashMap<Position, usize> = HashMap::new();
        loop {
            let (place, next) = match spawned_by[t] {
                Some(spawn) if !started[t] => (spawn, spawn.0),
                _ => ((ThreadId::new(t), done[t]), self.joined_at(t, done[t])),
            };
            if let Some(&start) = index.get(&place) {
                let names = chain[start..].iter().chain([&place]).map(|&at| self.name(at));
                return flaw(place, Flaw::SpawnJoinCycle { chain: names.collect() });
            }
            index.insert(place, chain.len());
            chain.push(place);
            t = next.index();
        }
    }

    /// The thread that a stuck thread waits for.
    fn joined_at(&self, thread: usize, position: usize) -> ThreadId {
        match self.threads[thread].events[position].action {
            Action::Join { thread } => thread,
            ref other => unreachable!("only a join can be stuck, not {other:?}"),
        }
    }

    /// Every name is a lock or a location, and every location read has a first value.
    fn check_locations(&self) -> Result<Vec<bool>, BuildError> {
        let mut is_lock = vec![None; self.locations.len()];
        for (is_lock, location) in is_lock.iter_mut().zip(&self.locations) {
            *is_lock = location.init.map(|_| false);
        }
        let mut written: Vec<bool> = self.locations.iter().map(|l| l.init.is_some()).collect();
        for (place, draft) in self.drafts() {
            let Some(location) = draft.action.location() else { continue };
            let lock = matches!(draft.action, Action::Lock { .. } | Action::Unlock { .. });
            if *is_lock[location.index()].get_or_insert(lock) != lock {
                return Err(flaw(
                    place,
                    Flaw::LockAndMemory { name: self.location_name(location) },
                ));
            }
            written[location.index()] |= draft.action.written_value().is_some();
        }
        for (place, draft) in self.drafts() {
            let (Some(location), Some(_)) = (draft.action.location(), draft.action.read_value())
            else {
                continue;
            };
            if !written[location.index()] {
                let location = self.location_name(location);
                return Err(flaw(place, Flaw::NeverWritten { location }));
            }
        }
        Ok(is_lock.into_iter().map(|lock| lock == Some(true)).collect())
    }

    /// A thread acquires what it does not hold and releases what it holds.
    fn check_locks(&self) -> Result<(), BuildError> {
        let mut held: HashMap<(ThreadId, LocationId), usize> = HashMap::new();
        for ((thread, position), draft) in self.drafts() {
            let place = (thread, position);
            if let Action::Lock { lock } = draft.action
                && let Some(since) = held.insert((thread, lock), position)
            {
                let since = self.name((thread, since));
                return Err(flaw(
                    place,
                    Flaw::HeldAlready { lock: self.location_name(lock), since },
                ));
            }
            if let Action::Unlock { lock } = draft.action
                && held.remove(&(thread, lock)).is_none()
            {
                return Err(flaw(place, Flaw::NotHeld { lock: self.location_name(lock) }));
            }
        }
        Ok(())
    }

    /// A compare-exchange succeeds only if it observes what it expects.
    fn check_success(&self) -> Result<(), BuildError> {
        for (place, draft) in self.drafts() {
            if let Action::Cas { expected, read, succeeded: true, .. } = draft.action
                && expected != read
            {
                return Err(flaw(place, Flaw::ImpossibleSuccess { expected, read }));
            }
        }
        Ok(())
    }

    /// Every event has an order that such an event can have.
    fn check_orders(&self) -> Result<(), BuildError> {
        for ((thread, position), draft) in self.drafts() {
            let possible = draft.action.possible_orders();
            if !possible.contains(&draft.order) {
                let what = describe(&draft.action);
                let flaw = Flaw::ImpossibleOrder { what, order: draft.order, possible };
                return Err(BuildError { thread, position, part: EventPart::Order, flaw });
            }
        }
        Ok(())
    }

    /// Every named source exists, fits, and feeds at most one atomic update.
    fn check_claims(&self) -> Result<(), BuildError> {
        let mut taken: HashMap<(Option<Position>, LocationId), Position> = HashMap::new();
        for (place, draft) in self.drafts() {
            let source = match draft.claim {
                SourceClaim::Unnamed => continue,
                SourceClaim::Init => None,
                SourceClaim::Event { thread, position } => Some((thread, position)),
            };
            let Some(location) = draft.action.location().filter(|_| draft.action.has_source())
            else {
                return Err(source_flaw(place, Flaw::ObservesNothing));
            };
            let value = match source {
                None => Some(self.locations[location.index()].init.unwrap_or(0)),
                Some(source) => self
                    .check_source(place, &draft.action, location, source)
                    .map_err(|flaw| source_flaw(place, flaw))?,
            };
            let name = || self.source_name(source, location);
            if let (Some(own), Some(its)) = (draft.action.read_value(), value)
                && own != its
            {
                return Err(source_flaw(place, Flaw::OtherValue { source: name(), its, own }));
            }
            if draft.action.is_atomic_update()
                && let Some(other) = taken.insert((source, location), place)
            {
                let (source, other) = (name(), self.name(other));
                return Err(source_flaw(
                    place,
                    match draft.action {
                        Action::Lock { .. } => Flaw::SharedRelease { source, other },
                        _ => Flaw::SharedWrite { source, other },
                    },
                ));
            }
        }
        Ok(())
    }

    fn source_name(&self, source: Option<Position>, location: LocationId) -> String {
        match source {
            Some(place) => self.name(place),
            None => format!("init {}", self.location_name(location)),
        }
    }

    /// The value that a source event writes, or what is wrong with it.
    fn check_source(
        &self,
        reader: Position,
        action: &Action,
        own: LocationId,
        source: Position,
    ) -> Result<Option<Value>, Flaw> {
        let thread = &self.threads[source.0.index()];
        let name = || self.name(source);
        let Some(draft) = thread.events.get(source.1) else {
            let (thread, events) = (thread.name.clone(), thread.events.len());
            return Err(Flaw::UnknownSource { source: name(), thread, events });
        };
        if source == reader {
            return Err(Flaw::OwnSource { source: name() });
        }
        match draft.action.location() {
            Some(its) if draft.action.is_source() && its == own => Ok(draft.action.written_value()),
            Some(its) if draft.action.is_source() => {
                let (its, own) = (self.location_name(its), self.location_name(own));
                Err(Flaw::OtherLocation { source: name(), its, own })
            }
            _ => {
                let expected = match action {
                    Action::Lock { .. } => "a release of the lock, or init",
                    _ => "a write, or init",
                };
                Err(Flaw::NotASource { source: name(), expected })
            }
        }
    }
}

/// The kind of an event in a message about its order.
fn describe(action: &Action) -> &'static str {
    match action {
        Action::Init { .. } => "an initial write",
        Action::Read { .. } => "a read",
        Action::Write { .. } => "a write",
        Action::Rmw { .. } => "an update",
        Action::Cas { succeeded: true, .. } => "a compare-exchange",
        Action::Cas { succeeded: false, .. } => "a failed compare-exchange, which only reads,",
        Action::Fence => "a fence",
        Action::StoreFence => "a store-store fence",
        Action::Lock { .. } | Action::Unlock { .. } => "a lock",
        Action::Spawn { .. } | Action::Join { .. } => "a spawn or join",
    }
}

fn source_flaw((thread, position): Position, flaw: Flaw) -> BuildError {
    BuildError { thread, position, part: EventPart::Source, flaw }
}

fn flaw((thread, position): Position, flaw: Flaw) -> BuildError {
    BuildError { thread, position, part: EventPart::Action, flaw }
}
