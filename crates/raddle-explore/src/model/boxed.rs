//! A model behind a pointer.
//!
//! The search is compiled once for all models of long executions instead of once for each: a call through a pointer
//! costs little there, and compiling the search is most of the time that it takes to build this crate.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::JointStep;

use super::incremental::{
    IncrementalModel, NewRead, NewStore, NewUnlock, PendingRead, QuietStep, RfSources, RvfOptions,
};
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;

/// Any model.
pub struct BoxedModel<R>(Box<dyn IncrementalModel<R>>);

impl<R: EventSet> BoxedModel<R> {
    /// Puts a model behind a pointer.
    pub fn of<M: IncrementalModel<R> + 'static>(model: M) -> Self {
        BoxedModel(Box::new(model))
    }
}

macro_rules! forward {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {$(
        fn $name(&self $(, $argument: $type)*) $(-> $result)? {
            self.0.$name($($argument),*)
        }
    )*};
}

macro_rules! forward_mut {
    ($(fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {$(
        fn $name(&mut self $(, $argument: $type)*) $(-> $result)? {
            self.0.$name($($argument),*)
        }
    )*};
}

impl<R: EventSet> IncrementalModel<R> for BoxedModel<R> {
    forward! {
        fn fences_are_events(&self) -> bool;
        fn races_are_errors(&self) -> bool;
        fn observes_by_value(&self) -> bool;
        fn reorders_stores(&self) -> bool;
        fn updates_jointly(&self) -> bool;
        fn observed(&self, read: EventIndex, source: RfSource) -> RfSource;
        fn good_writes(&self, read: EventIndex, source: RfSource) -> RfSources<R>;
        fn happened_before(&self, thread: ThreadId) -> R;
        fn events_of(&self, thread: ThreadId) -> R;
        fn needs_stronger_model(&self) -> bool;
    }

    forward_mut! {
        fn configure(&mut self, options: &RvfOptions);
        fn push_joint(&mut self, thread: ThreadId, step: JointStep);
        fn push_store(&mut self, store: NewStore);
        fn push_unlock(&mut self, unlock: NewUnlock);
        fn push_fence(&mut self, event: EventIndex, thread: ThreadId, order: MemoryOrder);
        fn push_store_fence(&mut self, event: EventIndex, thread: ThreadId);
        fn push_spawn(&mut self, parent: ThreadId, child: ThreadId);
        fn push_join(&mut self, parent: ThreadId, child: ThreadId);
        fn push_thread_boundary(&mut self, thread: ThreadId);
        fn push_quiet_access(&mut self, thread: ThreadId, step: QuietStep);
        fn push_cell_access(&mut self, event: EventIndex, thread: ThreadId);
        fn sources(&mut self, read: PendingRead) -> RfSources<R>;
        fn offer_sources(&mut self, event: EventIndex, good: RfSources<R>);
        fn add_good_write(&mut self, read: EventIndex, write: EventIndex);
        fn try_read(&mut self, read: NewRead, source: RfSource) -> bool;
        fn admits(&mut self, read: NewRead, source: RfSource) -> bool;
        fn admits_cheaply(&mut self, read: NewRead, source: RfSource) -> bool;
        fn push_level(&mut self, thread: ThreadId);
        fn pop(&mut self);
        fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool;
        fn can_be_last_of(&mut self, last: &[(LocationId, RfSources<R>)]) -> bool;
    }
}
