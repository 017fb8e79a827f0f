//! What prevents an error: a minimal set of stronger memory orders and added fences.
//!
//! *Problem.* A weak execution shows an error. Which accesses must be stronger so that no execution shows one?
//!
//! *Idea.* Stronger orders and more fences only remove executions. So a set of changes that works still works if more is added,
//! and QuickXplain (Junker 2004) finds a set of which no proper part works. Every set is tried by exploring the program with
//! these changes: nothing is guessed. It prefers acquire and release to sequential consistency. Where they do not
//! suffice, it searches twice, preferring stronger orders to fences and the other way round, and the smaller set wins.
//!
//! *Cost.* About 2k log(n / k) + 2k explorations for k of n changes. A set that does not work usually shows the error soon.

use std::collections::BTreeSet;

use raddle_core::trace::FenceSide;

/// How a place accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write operation.
    Update,
}

/// A change of one place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Change {
    /// What is changed.
    pub kind: ChangeKind,
    /// The position of the access.
    pub place: String,
    /// How it accesses memory.
    pub access: Access,
    /// What it accesses, if that has a name.
    pub object: Option<String>,
}

/// How an access is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It acquires.
    Acquire,
    /// It releases.
    Release,
    /// It is sequentially consistent.
    SeqCst,
    /// There is a full fence beside it.
    Fence(FenceSide),
}

/// Returns `true` if the program with these changes has no error, `None` if that is not known.
pub type IsClean<'a> = dyn FnMut(&BTreeSet<Change>) -> Option<bool> + 'a;

/// A set of changes with which the program has no error, while no proper part of it suffices. `None` if all changes together do
/// not suffice, or that is not known.
pub fn suggest(
    candidates: &BTreeSet<Change>,
    is_clean: &mut IsClean<'_>,
) -> Option<BTreeSet<Change>> {
    let is_order =
        |change: &&Change| matches!(change.kind, ChangeKind::Acquire | ChangeKind::Release);
    let orders: Vec<Change> = candidates.iter().filter(is_order).cloned().collect();
    if !orders.is_empty() && works(&orders, is_clean) {
        return Some(minimal(&[], false, &orders, is_clean));
    }
    let all: Vec<Change> = candidates.iter().cloned().collect();
    if !works(&all, is_clean) {
        return None;
    }
    let is_fence = |change: &Change| matches!(change.kind, ChangeKind::Fence(_));
    let with_orders = minimal(&[], false, &all, is_clean);
    if !with_orders.iter().any(|change| change.kind == ChangeKind::SeqCst) {
        return Some(with_orders);
    }
    // Fences are kept rather than sequentially consistent accesses.
    let mut fences_first: Vec<Change> = orders;
    fences_first.extend(all.iter().filter(|change| is_fence(change)).cloned());
    fences_first.extend(all.iter().filter(|change| change.kind == ChangeKind::SeqCst).cloned());
    let with_fences = minimal(&[], false, &fences_first, is_clean);
    Some(if with_fences.len() < with_orders.len() { with_fences } else { with_orders })
}

fn works(changes: &[Change], is_clean: &mut IsClean<'_>) -> bool {
    is_clean(&changes.iter().cloned().collect()) == Some(true)
}

/// A minimal part of `candidates` that works together with `base`; all of them do. Earlier candidates are preferred. Unless the
/// base is new, it does not work alone.
fn minimal(
    base: &[Change],
    base_is_new: bool,
    candidates: &[Change],
    is_clean: &mut IsClean<'_>,
) -> BTreeSet<Change> {
    if base_is_new && works(base, is_clean) || candidates.is_empty() {
        return BTreeSet::new();
    }
    if candidates.len() == 1 {
        return candidates.iter().cloned().collect();
    }
    let (first, second) = candidates.split_at(candidates.len() / 2);
    let with_first = [base, first].concat();
    let of_second = minimal(&with_first, true, second, is_clean);
    let with_second: Vec<Change> = base.iter().chain(&of_second).cloned().collect();
    let of_first = minimal(&with_second, !of_second.is_empty(), first, is_clean);
    of_first.into_iter().chain(of_second).collect()
}

/// The changes as one sentence without a full stop.
#[must_use]
pub fn sentence(changes: &BTreeSet<Change>) -> String {
    let mut accesses: Vec<(&Change, Vec<ChangeKind>)> = vec![];
    for change in changes {
        let is_same = |it: &&mut (&Change, Vec<ChangeKind>)| {
            it.0.place == change.place && it.0.access == change.access
        };
        match accesses.iter_mut().find(is_same) {
            Some((_, kinds)) => kinds.push(change.kind),
            None => accesses.push((change, vec![change.kind])),
        }
    }
    accesses.sort_by(|one, other| one.0.place.cmp(&other.0.place));
    let parts: Vec<String> =
        accesses.iter().flat_map(|(access, kinds)| parts(access, kinds)).collect();
    let verb = if parts.len() == 1 { "with this change" } else { "with these changes" };
    format!("{verb}, and with no part of them, the error is gone: {}", parts.join("; "))
        .replace("with this change, and with no part of them", "with this change")
}

/// What to do with one access.
fn parts(access: &Change, kinds: &[ChangeKind]) -> Vec<String> {
    let what = match access.access {
        Access::Load => "load",
        Access::Store => "store",
        Access::Update => "read-modify-write",
    };
    let of = if access.access == Access::Store { "to" } else { "of" };
    let object = access.object.as_ref().map(|object| format!(" {of} {object}")).unwrap_or_default();
    let access = format!("the {what}{object} at {}", access.place);
    let has = |kind| kinds.contains(&kind);
    let order = match (has(ChangeKind::SeqCst), has(ChangeKind::Acquire), has(ChangeKind::Release))
    {
        (true, ..) => Some("seq_cst"),
        (false, true, true) => Some("acq_rel"),
        (false, true, false) => Some("acquire"),
        (false, false, true) => Some("release"),
        (false, false, false) => None,
    };
    let mut parts: Vec<String> =
        order.map(|order| format!("make {access} {order}")).into_iter().collect();
    if has(ChangeKind::Fence(FenceSide::AfterStore)) {
        parts.push(format!("add a seq_cst fence after {access}"));
    }
    if has(ChangeKind::Fence(FenceSide::BeforeLoad)) {
        parts.push(format!("add a seq_cst fence before {access}"));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(kind: ChangeKind, line: u32) -> Change {
        Change { kind, place: format!("a.c:{line}"), access: Access::Load, object: None }
    }

    /// Every family of sets of four changes, a set works if it contains a member: the result is minimal.
    #[test]
    fn the_result_is_minimal() {
        let all: Vec<Change> = (0..4).map(|line| change(ChangeKind::Acquire, line)).collect();
        let set = |bits: u32| -> BTreeSet<Change> {
            (0..4).filter(|at| bits >> at & 1 == 1).map(|at| all[at as usize].clone()).collect()
        };
        for family in 1..1_u32 << 15 {
            // Without changes there is the error.
            let members: Vec<BTreeSet<Change>> =
                (1..16).filter(|bits| family >> (bits - 1) & 1 == 1).map(set).collect();
            let works = |tried: &BTreeSet<Change>| members.iter().any(|it| it.is_subset(tried));
            let found = suggest(&set(15), &mut |tried| Some(works(tried)));
            let found = found.expect("all changes work");
            assert!(works(&found), "{members:?}: {found:?}");
            for left_out in &found {
                let mut part = found.clone();
                part.remove(left_out);
                assert!(!works(&part), "{members:?}: {found:?} without {left_out:?}");
            }
        }
    }

    #[test]
    fn nothing_is_suggested_if_nothing_helps_or_it_is_unknown() {
        let all = BTreeSet::from([change(ChangeKind::Acquire, 1), change(ChangeKind::SeqCst, 1)]);
        assert_eq!(suggest(&all, &mut |_| Some(false)), None);
        assert_eq!(suggest(&all, &mut |_| None), None);
    }

    #[test]
    fn a_sentence_says_what_to_change() {
        let object = Some(String::from("flag"));
        let release = Change { access: Access::Update, object, ..change(ChangeKind::Release, 3) };
        let acquire = Change { kind: ChangeKind::Acquire, ..release.clone() };
        let fence = change(ChangeKind::Fence(FenceSide::BeforeLoad), 9);
        assert_eq!(
            sentence(&BTreeSet::from([release.clone(), fence])),
            "with these changes, and with no part of them, the error is gone: make the read-modify-write of flag at a.c:3 \
             release; add a seq_cst fence before the load at a.c:9"
        );
        assert_eq!(
            sentence(&BTreeSet::from([release, acquire])),
            "with this change, the error is gone: make the read-modify-write of flag at a.c:3 acq_rel"
        );
    }
}
