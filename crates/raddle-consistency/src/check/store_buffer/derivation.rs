//! Evidence for a contradiction of the closure: the cycle, and the facts it rests on.
//!
//! The closure logs its inferences but not their premises. After a contradiction, the premises of the facts in question are
//! reconstructed, each as a path through program order and earlier facts, and so on backwards. The result is a derivation
//! that [`recheck`](crate::recheck) can follow step by step, usually a handful of facts out of thousands.

use std::collections::{BTreeSet, VecDeque};

use super::inferences::{ClosureContradiction, ClosureLink, Inferences};
use super::instance::NONE;
use crate::witness::{Fact, NotFrom, OrderEdge, Violation, Why};
use raddle_core::execution::EventId;

/// If a derivation needs more facts than this, the whole log is returned: it is a derivation, too.
const MOST_FACTS: usize = 2_000;

/// The evidence for a contradiction.
pub(super) fn derive(
    inferences: &Inferences<'_>,
    contradiction: &ClosureContradiction,
) -> Violation {
    let all = inferences.facts.len() as u32;
    match *contradiction {
        ClosureContradiction::Cycle(event) => {
            let path = inferences.path(event, event, all).expect("the closure found a cycle");
            let derivation = inferences.derivation(facts_of(&path));
            Violation::Cycle { cycle: inferences.cycle(event, &path), derivation }
        }
        ClosureContradiction::NoSource(read) => {
            let derivation = inferences.derivation(inferences.exclusions(read, all));
            Violation::NoSource { read: EventId::new(read as usize), derivation }
        }
    }
}

/// A step of a path: the event it leads to, and how.
type PathStep = (u32, ClosureLink);

fn facts_of(path: &[PathStep]) -> Vec<u32> {
    let fact = |&(_, link): &PathStep| match link {
        ClosureLink::Program => None,
        ClosureLink::Fact(fact) => Some(fact),
    };
    path.iter().filter_map(fact).collect()
}

impl Inferences<'_> {
    /// A path from one event to another along program order and facts before `limit`, with as few
    /// facts as possible. Not empty, even from an event to itself.
    fn path(&self, from: u32, to: u32, limit: u32) -> Option<Vec<PathStep>> {
        let events = self.instance.ops.len();
        let mut cost = vec![u32::MAX; events];
        let mut came: Vec<(u32, ClosureLink)> = vec![(NONE, ClosureLink::Program); events];
        let mut queue = VecDeque::from([(0, from)]);
        while let Some((so_far, event)) = queue.pop_front() {
            if event == to && (from != to || so_far > 0) {
                return Some(self.steps_back(from, to, &came));
            }
            if event != from && so_far > cost[event as usize] {
                continue;
            }
            let mut visit = |next: u32, link: ClosureLink, price: u32| {
                if so_far + price < cost[next as usize] {
                    cost[next as usize] = so_far + price;
                    came[next as usize] = (event, link);
                    if price == 0 {
                        queue.push_front((so_far, next));
                    } else {
                        queue.push_back((so_far + price, next));
                    }
                }
            };
            for next in self.preserved.successors(event) {
                visit(next, ClosureLink::Program, 0);
            }
            for &fact in &self.edges_from[event as usize] {
                if let (true, Fact::Order(edge)) = (fact < limit, self.facts[fact as usize]) {
                    visit(edge.to.index() as u32, ClosureLink::Fact(fact), 1);
                }
            }
        }
        None
    }

    fn steps_back(&self, from: u32, to: u32, came: &[(u32, ClosureLink)]) -> Vec<PathStep> {
        let mut steps = vec![];
        let mut at = to;
        loop {
            let (previous, link) = came[at as usize];
            steps.push((at, link));
            at = previous;
            if at == from {
                break;
            }
        }
        steps.reverse();
        steps
    }

    /// The facts on a path that is known to exist. No facts from an event to itself.
    fn path_facts(&self, from: u32, to: u32, limit: u32) -> Vec<u32> {
        if from == to {
            return vec![];
        }
        facts_of(&self.path(from, to, limit).expect("the closure inferred this order"))
    }

    /// The facts before `limit` that exclude sources of a read.
    fn exclusions(&self, read: u32, limit: u32) -> Vec<u32> {
        let excludes = |&fact: &u32| match self.facts[fact as usize] {
            Fact::Excluded { read: other, .. } => other.index() as u32 == read,
            Fact::Order(_) => false,
        };
        (0..limit).filter(excludes).collect()
    }

    /// The sources left to a read by the facts before `limit`.
    fn sources_left(&self, read: u32, limit: u32) -> Vec<u32> {
        let set = self.instance.ops[read as usize].set;
        let mut left = self.instance.sets.get(set).to_vec();
        left.retain(|&source| source != read);
        if left.len() > 1 {
            for fact in self.exclusions(read, limit) {
                if let Fact::Excluded { source, .. } = self.facts[fact as usize] {
                    left.retain(|&other| other != source.index() as u32);
                }
            }
        }
        left
    }

    /// All facts that the given ones follow from, and these, in the order of inference.
    fn derivation(&self, facts: Vec<u32>) -> Vec<Fact> {
        let mut todo = BTreeSet::from_iter(facts);
        let mut needed = BTreeSet::new();
        while let Some(fact) = todo.pop_last() {
            needed.insert(fact);
            if needed.len() > MOST_FACTS {
                return self.facts.clone();
            }
            todo.extend(self.premises(fact));
        }
        needed.into_iter().map(|fact| self.facts[fact as usize]).collect()
    }

    /// The facts that a fact follows from directly.
    fn premises(&self, fact: u32) -> Vec<u32> {
        match self.facts[fact as usize] {
            Fact::Order(edge) => self.order_premises(&edge, fact),
            Fact::Excluded { read, source, why } => {
                let (read, source) = (read.index() as u32, source.index() as u32);
                match why {
                    NotFrom::Later => self.path_facts(read, source, fact),
                    NotFrom::OwnStore { by } => self.path_facts(source, by.index() as u32, fact),
                    NotFrom::Hidden { by } => {
                        let mut facts = self.path_facts(source, by.index() as u32, fact);
                        facts.extend(self.path_facts(by.index() as u32, read, fact));
                        facts
                    }
                }
            }
        }
    }

    fn order_premises(&self, edge: &OrderEdge, fact: u32) -> Vec<u32> {
        let (from, to) = (edge.from.index() as u32, edge.to.index() as u32);
        let read = match edge.why {
            Why::Program => return vec![],
            Why::ReadsFrom | Why::FirstSource => to,
            Why::BeforeOverwrite { .. } => from,
            Why::OwnStoreFirst { read } | Why::BeforeSource { read } => read.index() as u32,
        };
        let left = self.sources_left(read, fact);
        let mut facts = self.exclusions_if_open(read, fact);
        for &source in &left {
            facts.extend(match edge.why {
                Why::FirstSource => self.path_facts(from, source, fact),
                Why::BeforeSource { .. } | Why::BeforeOverwrite { .. } => {
                    self.path_facts(source, to, fact)
                }
                Why::Program | Why::ReadsFrom | Why::OwnStoreFirst { .. } => vec![],
            });
        }
        if let Why::BeforeSource { .. } = edge.why {
            facts.extend(self.path_facts(from, read, fact));
        }
        facts
    }

    fn exclusions_if_open(&self, read: u32, limit: u32) -> Vec<u32> {
        let set = self.instance.ops[read as usize].set;
        if self.instance.sets.get(set).len() > 1 { self.exclusions(read, limit) } else { vec![] }
    }

    /// A closed path as edges; stretches of program order become one edge.
    fn cycle(&self, start: u32, path: &[PathStep]) -> Vec<OrderEdge> {
        // Start after an inferred edge, so that no stretch of program order is cut in two.
        let split =
            path.iter().position(|(_, link)| *link != ClosureLink::Program).map_or(0, |at| at + 1);
        let mut from = if split == 0 { start } else { path[split - 1].0 };
        let mut cycle: Vec<OrderEdge> = vec![];
        for &(to, link) in path[split..].iter().chain(&path[..split]) {
            let why = match link {
                ClosureLink::Program => Why::Program,
                ClosureLink::Fact(fact) => match self.facts[fact as usize] {
                    Fact::Order(edge) => edge.why,
                    Fact::Excluded { .. } => unreachable!("a path has no exclusions"),
                },
            };
            match cycle.last_mut() {
                Some(last) if why == Why::Program && last.why == Why::Program => {
                    last.to = EventId::new(to as usize);
                }
                _ => cycle.push(OrderEdge {
                    from: EventId::new(from as usize),
                    to: EventId::new(to as usize),
                    why,
                }),
            }
            from = to;
        }
        cycle
    }
}
