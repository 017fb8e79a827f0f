//! What every witness must obey.
//!
//! Two rules, for every location of a node. *Read:* a write of the location that precedes a read, other than its source,
//! precedes the source. *Write:* a read of a write that precedes this one precedes this one. They hold for reads from
//! the own store buffer, too: such a read precedes its source, or finds it in memory.

use raddle_core::execution::LocationId;

use super::{JointModel, NodeIndex};
use crate::event_index::RfSource;
use crate::event_set::EventSet;

impl<R: EventSet, const BUFFERS: u8> JointModel<R, BUFFERS> {
    /// Lets these nodes, a set that is closed under predecessors, precede a node.
    pub(super) fn order(&mut self, before: &R, node: NodeIndex) {
        for later in 0..self.rows.len() {
            let row = &mut self.rows[later];
            if (later == node.index() || row.has(node)) && !before.minus(row).is_empty() {
                *row = row.or(before);
                self.dirty.insert(NodeIndex::new(later));
            }
        }
    }

    /// Applies the rules until nothing changes. Returns `false` if that shows that there is no witness.
    pub(super) fn saturate(&mut self) -> bool {
        while let Some(node) = self.dirty.first() {
            self.dirty.remove(node);
            let obeys = !self.rows[node.index()].has(node);
            if !obeys || !self.apply_read_rule(node) || !self.apply_write_rule(node) {
                return false;
            }
        }
        true
    }

    fn apply_read_rule(&mut self, node: NodeIndex) -> bool {
        for at in 0..self.nodes[node.index()].reads.len() {
            let part = &self.nodes[node.index()].reads[at];
            let mut seen = self.rows[node.index()].and(&self.writers[part.location.index()]);
            let Some(source) = part.source else {
                if seen.is_empty() {
                    continue;
                }
                return false;
            };
            seen.remove(source);
            let older = seen.minus(&self.rows[source.index()]);
            if older.is_empty() {
                continue;
            }
            let before = self.closed(&older);
            if before.has(source) {
                return false;
            }
            self.order(&before, source);
        }
        true
    }

    fn apply_write_rule(&mut self, node: NodeIndex) -> bool {
        for at in 0..self.nodes[node.index()].writes.len() {
            let location = self.nodes[node.index()].writes[at].location;
            let row = &self.rows[node.index()];
            let overwritten = row.and(&self.writers[location.index()]);
            let mut readers = self.initial_readers[location.index()].clone();
            for write in overwritten.iter() {
                readers = readers.or(self.readers(write, location));
            }
            readers.remove(node);
            let readers = readers.minus(row);
            if readers.is_empty() {
                continue;
            }
            let before = self.closed(&readers);
            if before.has(node) {
                return false;
            }
            self.order(&before, node);
        }
        true
    }

    /// The nodes that read a location from a node that writes it.
    pub(super) fn readers(&self, write: NodeIndex, location: LocationId) -> &R {
        let mut parts = self.nodes[write.index()].writes.iter();
        let part = parts.find(|part| part.location == location);
        &part.expect("it writes the location").readers
    }

    /// Lets these writes be the last ones of their locations. Returns `false` if that contradicts itself.
    pub(super) fn order_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        for &(location, source) in last {
            let mut others = self.writers[location.index()].clone();
            let node = source.event().and_then(|event| self.events[event.index()].0);
            let Some(node) = node else {
                if others.is_empty() {
                    continue;
                }
                return false;
            };
            others.remove(node);
            let before = self.closed(&others);
            if before.has(node) {
                return false;
            }
            self.order(&before, node);
        }
        true
    }
}
