//! Cycles between the files of a crate.
//!
//! There is an edge from a file to each other file that defines something it names. Unlike the
//! graph of siblings, this graph has edges between parents and children.

use std::collections::BTreeMap;
use std::path::Path;

use crate::graph::Graph;
use crate::source::{ModuleTree, Resolver, references};

/// Returns the size of the largest strongly connected component of files; 0 if there is no cycle.
pub(crate) fn largest_file_cycle(tree: &ModuleTree) -> usize {
    let resolver = Resolver::new(tree);
    let mut ids: BTreeMap<&Path, usize> = BTreeMap::new();
    for module in &tree.modules {
        let next = ids.len();
        ids.entry(&module.file).or_insert(next);
    }
    let mut graph = Graph::default();
    for module in tree.ids() {
        for reference in references(tree.get(module)) {
            for target in resolver.resolve(module, &reference).defining {
                graph.add_edge(ids[&*tree.get(module).file], ids[&*tree.get(target).file]);
            }
        }
    }
    graph.cycles().iter().map(Vec::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_crate;

    fn largest(files: &[(&str, &str)]) -> usize {
        largest_file_cycle(&test_crate::load(files).unwrap())
    }

    #[test]
    fn parent_and_child_files_can_form_a_cycle() {
        let files = [("lib.rs", "mod a; use a::A; struct P;"), ("a.rs", "use super::P; struct A;")];
        assert_eq!(largest(&files), 2);
    }

    #[test]
    fn path_through_a_re_export_does_not_lead_to_its_file() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "use super::A; pub struct B;"),
        ];
        assert_eq!(largest(&files), 0);
    }

    #[test]
    fn inline_modules_belong_to_their_file() {
        let files = [("lib.rs", "mod a { use super::b::B; } mod b { use super::a; }")];
        assert_eq!(largest(&files), 0);
    }
}
