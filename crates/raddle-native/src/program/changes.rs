//! Changes of memory orders, and fences, that the source does not have: to find out what prevents an error.

use std::collections::BTreeSet;
use std::sync::Arc;

use raddle_core::execution::MemoryOrder;
use raddle_core::program::{Naming, OpKind, PlaceId};
use raddle_core::trace::{FenceSide, SourcePosition};
use raddle_explore::suggest::{Access, Change, ChangeKind};
use rustc_hash::FxHashMap;

use super::NativeProgram;
use super::call::Call;
use super::places::library_of;

/// Which changes a program has.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// `None`: all that are possible.
    active: Option<BTreeSet<Change>>,
    /// Whether memory orders matter under the model.
    has_orders: bool,
    /// All changes that would be possible at the accesses seen so far.
    pub(crate) possible: BTreeSet<Change>,
    /// The changes of an access, by place, kind of access and its order.
    known: FxHashMap<(PlaceId, Access, MemoryOrder), Arc<[ChangeKind]>>,
}

impl Changes {
    /// All possible changes.
    pub(crate) fn all(has_orders: bool) -> Self {
        Changes { has_orders, ..Changes::default() }
    }

    /// These changes.
    pub(crate) fn some(has_orders: bool, active: BTreeSet<Change>) -> Self {
        Changes { active: Some(active), ..Changes::all(has_orders) }
    }
}

/// The changes that make an access stronger.
fn possible(access: Access, order: MemoryOrder, has_orders: bool) -> Vec<ChangeKind> {
    let acquires =
        matches!(order, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst);
    let releases =
        matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst);
    let (reads, writes) = (access != Access::Store, access != Access::Load);
    let mut kinds = vec![];
    if has_orders {
        kinds.extend((reads && !acquires).then_some(ChangeKind::Acquire));
        kinds.extend((writes && !releases).then_some(ChangeKind::Release));
        kinds.extend((order != MemoryOrder::SeqCst).then_some(ChangeKind::SeqCst));
    }
    match access {
        Access::Load => kinds.push(ChangeKind::Fence(FenceSide::BeforeLoad)),
        Access::Store => kinds.push(ChangeKind::Fence(FenceSide::AfterStore)),
        Access::Update => {}
    }
    kinds
}

/// The weakest order that is as strong as this one and the changed ones.
fn strengthened(order: MemoryOrder, kinds: &[ChangeKind]) -> MemoryOrder {
    kinds.iter().fold(order, |order, kind| match (kind, order) {
        (ChangeKind::SeqCst, _) | (_, MemoryOrder::SeqCst) => MemoryOrder::SeqCst,
        (ChangeKind::Acquire, MemoryOrder::Release | MemoryOrder::AcqRel) => MemoryOrder::AcqRel,
        (ChangeKind::Acquire, _) => MemoryOrder::Acquire,
        (ChangeKind::Release, MemoryOrder::Acquire | MemoryOrder::AcqRel) => MemoryOrder::AcqRel,
        (ChangeKind::Release, _) => MemoryOrder::Release,
        (ChangeKind::Fence(_), order) => order,
    })
}

/// How an op accesses memory, and its order.
fn access_of(kind: &OpKind) -> Option<(Access, MemoryOrder)> {
    match *kind {
        OpKind::Load { order, .. } => Some((Access::Load, order)),
        OpKind::Store { order, .. } => Some((Access::Store, order)),
        OpKind::Rmw { order, .. } => Some((Access::Update, order)),
        OpKind::CompareExchange { success, .. } => Some((Access::Update, success)),
        _ => None,
    }
}

impl NativeProgram {
    /// The place with its column, as a line may have several accesses.
    fn place_with_column(&self, place: PlaceId) -> String {
        let address = self.places.address(place);
        let mut modules = self.process.modules().iter();
        let frames = modules.find(|it| it.contains(address)).map(|it| it.code_frames(address));
        let positions = frames.into_iter().flatten().filter_map(|frame| frame.position);
        let is_users = |it: &SourcePosition| library_of(&it.file).is_none() && it.column > 0;
        match positions.into_iter().find(is_users) {
            Some(position) => format!("{position}:{}", position.column),
            None => Naming::place(self, place),
        }
    }

    /// The changes of an access at an address by the current thread.
    fn changes_of(
        &mut self,
        address: u64,
        access: Access,
        order: MemoryOrder,
    ) -> Arc<[ChangeKind]> {
        let place = self.place();
        if let Some(known) =
            self.changes.as_ref().and_then(|it| it.known.get(&(place, access, order)))
        {
            return known.clone();
        }
        let object = self.variable_of(address).map(|_| self.memory_name(address));
        let at = self.place_with_column(place);
        let Some(changes) = &mut self.changes else { return Arc::from([]) };
        let change = |kind| Change { kind, place: at.clone(), access, object: object.clone() };
        let mut kinds = possible(access, order, changes.has_orders);
        if order == MemoryOrder::NonAtomic {
            kinds.retain(|kind| matches!(kind, ChangeKind::Fence(_)) && !changes.has_orders);
        }
        changes.possible.extend(kinds.iter().map(|&kind| change(kind)));
        if let Some(active) = &changes.active {
            // The object may have another name elsewhere.
            let is_active = |kind: &ChangeKind| {
                let mut active = active.iter();
                active.any(|it| it.kind == *kind && it.access == access && it.place == at)
            };
            kinds.retain(is_active);
        }
        let kinds: Arc<[ChangeKind]> = kinds.into();
        changes.known.insert((place, access, order), kinds.clone());
        kinds
    }
}

impl Call<'_> {
    /// An access with the memory orders that it has after the changes, and whether a fence comes before it, and one after it.
    pub(super) fn changed(&mut self, address: u64, kind: OpKind) -> (OpKind, [bool; 2]) {
        let Some((access, order)) = access_of(&kind).filter(|_| self.program.changes.is_some())
        else {
            return (kind, [false; 2]);
        };
        let changes = self.program.changes_of(address, access, order);
        let mut kind = kind;
        match &mut kind {
            OpKind::Load { order, .. }
            | OpKind::Store { order, .. }
            | OpKind::Rmw { order, .. } => {
                *order = strengthened(*order, &changes);
            }
            OpKind::CompareExchange { success, failure, .. } => {
                *success = strengthened(*success, &changes);
                // A failed compare-exchange does not write.
                let of_failure: Vec<ChangeKind> =
                    changes.iter().copied().filter(|it| *it != ChangeKind::Release).collect();
                *failure = strengthened(*failure, &of_failure);
            }
            _ => {}
        }
        let has = |side| changes.contains(&ChangeKind::Fence(side));
        (kind, [has(FenceSide::BeforeLoad), has(FenceSide::AfterStore)])
    }

    /// Performs the fence beside a plain access, if the changes have one there.
    pub(super) fn fence_beside_plain(&mut self, address: u64, access: Access, order: MemoryOrder) {
        if self.program.changes.is_some() {
            let changes = self.program.changes_of(address, access, order);
            self.added_fence(changes.iter().any(|kind| matches!(kind, ChangeKind::Fence(_))));
        }
    }

    /// Performs a full fence, if the changes have one here.
    pub(super) fn added_fence(&mut self, is_there: bool) {
        if is_there {
            self.effect(OpKind::Fence { order: MemoryOrder::SeqCst });
        }
    }
}
