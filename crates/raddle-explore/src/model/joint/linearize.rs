//! The search for a witness that respects the rows.
//!
//! A node can be next if its predecessors were, its sources are in memory (or in the own store buffer), and nobody still
//! waits to read what it overwrites. Reads are taken as soon as they can be, and so are writes that nobody still has to read:
//! neither takes anything from the others. Only the order of the other writes is tried out.
//!
//! Whether the rest of a witness exists depends on the set of nodes that were taken only: a write that somebody still
//! waits to read is the last one of its location.
//!
//! *Cost.* Exponential in the worst case. Practically always one pass, as the last witness is tried first.

use super::{JointModel, Node, NodeIndex, ReadPart};
use crate::event_set::EventSet;

/// Nodes that were taken, in their order.
#[derive(Clone)]
struct Prefix<R> {
    taken: R,
    order: Vec<NodeIndex>,
    /// By location: the last write.
    memory: Vec<Option<NodeIndex>>,
}

impl<R: EventSet, const BUFFERS: u8> JointModel<R, BUFFERS> {
    /// An order of all nodes that is a run of the machine, if there is one.
    pub(super) fn linearize(&self) -> Option<Vec<NodeIndex>> {
        let preferred = self.preferred();
        let (taken, order) = (R::default(), vec![]);
        let memory = vec![None; self.writers.len()];
        let mut open = vec![Prefix { taken, order, memory }];
        let mut failed: Vec<R> = vec![];
        while let Some(mut prefix) = open.pop() {
            self.take_harmless(&mut prefix, &preferred);
            if prefix.order.len() == self.nodes.len() {
                return Some(prefix.order);
            }
            if failed.contains(&prefix.taken) {
                continue;
            }
            failed.push(prefix.taken.clone());
            // The last one that is pushed is tried first.
            for &node in preferred.iter().rev() {
                if !prefix.taken.has(node) && self.can_be_next(&prefix, node) {
                    let mut longer = prefix.clone();
                    self.take(&mut longer, node);
                    open.push(longer);
                }
            }
        }
        None
    }

    /// All nodes, those of the last witness first.
    fn preferred(&self) -> Vec<NodeIndex> {
        let new = (self.witness.len()..self.nodes.len()).map(NodeIndex::new);
        self.witness.iter().copied().chain(new).collect()
    }

    /// Takes nodes that take nothing from others, until there are none.
    fn take_harmless(&self, prefix: &mut Prefix<R>, preferred: &[NodeIndex]) {
        loop {
            let before = prefix.order.len();
            for &node in preferred {
                if !prefix.taken.has(node)
                    && self.is_harmless(prefix, node)
                    && self.can_be_next(prefix, node)
                {
                    self.take(prefix, node);
                }
            }
            if prefix.order.len() == before {
                return;
            }
        }
    }

    /// Returns `true` if nobody still has to read what the node writes.
    fn is_harmless(&self, prefix: &Prefix<R>, node: NodeIndex) -> bool {
        let Node { writes, .. } = &self.nodes[node.index()];
        writes.iter().all(|part| part.readers.minus(&prefix.taken).is_empty())
    }

    fn can_be_next(&self, prefix: &Prefix<R>, node: NodeIndex) -> bool {
        if !self.rows[node.index()].minus(&prefix.taken).is_empty() {
            return false;
        }
        let Node { reads, writes, .. } = &self.nodes[node.index()];
        let overwrites = |location| {
            let readers = match prefix.memory[location] {
                None => &self.initial_readers[location],
                Some(write) => self.readers(write, super::LocationId::new(location)),
            };
            let mut waiting = readers.minus(&prefix.taken);
            waiting.remove(node);
            waiting.is_empty()
        };
        reads.iter().all(|part| is_there(prefix, part))
            && writes.iter().all(|part| overwrites(part.location.index()))
    }

    fn take(&self, prefix: &mut Prefix<R>, node: NodeIndex) {
        prefix.taken.insert(node);
        prefix.order.push(node);
        for part in &self.nodes[node.index()].writes {
            prefix.memory[part.location.index()] = Some(node);
        }
    }
}

/// Returns `true` if a read finds its source in memory, or in the own store buffer.
fn is_there<R: EventSet>(prefix: &Prefix<R>, part: &ReadPart<R>) -> bool {
    let ReadPart { location, source, is_forwarded, ref own } = *part;
    if is_forwarded && source.is_some_and(|source| !prefix.taken.has(source)) {
        return true;
    }
    let is_flushed = is_forwarded || own.minus(&prefix.taken).is_empty();
    is_flushed && prefix.memory[location.index()] == source
}
