//! Directed graphs over dense indices: strongly connected components and shortest cycles.

use std::collections::{BTreeSet, VecDeque};

/// A directed graph without loops.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    successors: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// Adds an edge and the nodes up to its ends. Ignores an edge from a node to itself.
    pub(crate) fn add_edge(&mut self, from: usize, to: usize) {
        let len = self.successors.len().max(from + 1).max(to + 1);
        self.successors.resize(len, BTreeSet::new());
        if from != to {
            self.successors[from].insert(to);
        }
    }

    /// Returns the strongly connected components with at least two nodes, each sorted, in the order
    /// of their smallest nodes.
    ///
    /// Two nodes are in one component if each reaches the other. Costs O(nodes · edges), which is
    /// enough for module trees.
    pub(crate) fn cycles(&self) -> Vec<Vec<usize>> {
        let reachable: Vec<BTreeSet<usize>> =
            (0..self.successors.len()).map(|node| self.reachable(node)).collect();
        let mut found = Vec::new();
        for node in 0..reachable.len() {
            let mutual = |&other: &usize| reachable[other].contains(&node);
            let component: Vec<usize> = reachable[node].iter().copied().filter(mutual).collect();
            if component.first() == Some(&node) {
                found.push(component);
            }
        }
        found
    }

    /// Returns the nodes that a path of at least one edge leads to.
    fn reachable(&self, start: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            open.extend(self.successors[node].iter().copied().filter(|&next| reached.insert(next)));
        }
        reached
    }

    /// Returns the nodes of a shortest cycle inside `component`, in order; the edge from the last to
    /// the first closes it.
    pub(crate) fn shortest_cycle(&self, component: &[usize]) -> Vec<usize> {
        let cycles = component.iter().filter_map(|&start| self.shortest_cycle_from(start));
        cycles.min_by_key(Vec::len).unwrap_or_default()
    }

    fn shortest_cycle_from(&self, start: usize) -> Option<Vec<usize>> {
        let mut predecessor = vec![None; self.successors.len()];
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for &next in &self.successors[node] {
                if next == start {
                    return Some(path_to(node, start, &predecessor));
                }
                if predecessor[next].is_none() {
                    predecessor[next] = Some(node);
                    open.push_back(next);
                }
            }
        }
        None
    }
}

/// Follows the predecessors from `end` back to `start`.
fn path_to(end: usize, start: usize, predecessor: &[Option<usize>]) -> Vec<usize> {
    let mut path = vec![end];
    let mut node = end;
    while let Some(previous) = predecessor[node].filter(|_| node != start) {
        path.push(previous);
        node = previous;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::default();
        for &(from, to) in edges {
            graph.add_edge(from, to);
        }
        graph
    }

    #[test]
    fn acyclic_graph_has_no_cycles() {
        assert!(graph(&[(0, 1), (1, 2), (0, 2), (3, 3)]).cycles().is_empty());
    }

    #[test]
    fn components_are_maximal_and_sorted() {
        let graph = graph(&[(5, 4), (4, 5), (0, 2), (2, 1), (1, 0), (1, 4)]);
        assert_eq!(graph.cycles(), [vec![0, 1, 2], vec![4, 5]]);
    }

    #[test]
    fn shortest_cycle_is_found_from_any_node() {
        let graph = graph(&[(0, 1), (1, 2), (2, 3), (3, 0), (3, 2)]);
        assert_eq!(graph.shortest_cycle(&[0, 1, 2, 3]), [2, 3]);
    }

    #[test]
    fn shortest_cycle_lists_nodes_in_order() {
        let graph = graph(&[(0, 2), (2, 1), (1, 0)]);
        assert_eq!(graph.shortest_cycle(&[0, 1, 2]), [0, 2, 1]);
    }
}
