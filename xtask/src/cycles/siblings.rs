//! The graph of sibling modules and its cycles.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::graph::Graph;
use crate::source::{ModuleId, ModuleTree, Resolution, Resolver, references};

/// A strongly connected component of at least two siblings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// The path of the parent.
    parent: String,
    /// The names of the siblings, in the order of their declarations.
    pub(crate) members: Vec<String>,
    /// The edges of one shortest cycle.
    edges: Vec<Edge>,
}

#[derive(Debug, PartialEq, Eq)]
struct Edge {
    from: String,
    to: String,
    site: Site,
}

/// A path in the source that makes an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Site {
    file: PathBuf,
    line: usize,
    path: String,
}

/// The edges between the children of one module, each with its first site.
type Edges = BTreeMap<(ModuleId, ModuleId), Site>;

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.members.join(", ");
        writeln!(f, "  {} modules of {}: {members}", self.members.len(), self.parent)?;
        for Edge { from, to, site: Site { file, line, path } } in &self.edges {
            writeln!(f, "    {from} -> {to} at {}:{line}: {path}", file.display())?;
        }
        Ok(())
    }
}

/// Returns the cycles between siblings, those of outer modules first.
pub(crate) fn module_cycles(tree: &ModuleTree) -> Vec<Cycle> {
    let mut found = Vec::new();
    for (parent, edges) in sibling_edges(tree) {
        let mut graph = Graph::default();
        for (from, to) in edges.keys() {
            graph.add_edge(from.0, to.0);
        }
        for component in graph.cycles() {
            found.push(describe(tree, parent, &edges, &graph, &component));
        }
    }
    found
}

/// Returns the edges between siblings by their parent.
fn sibling_edges(tree: &ModuleTree) -> BTreeMap<ModuleId, Edges> {
    let resolver = Resolver::new(tree);
    let mut found: BTreeMap<ModuleId, Edges> = BTreeMap::new();
    for module in tree.ids() {
        for reference in references(tree.get(module)) {
            let file = tree.get(module).file.clone();
            let site = Site { file, line: reference.line, path: reference.text() };
            let Resolution { defining, named } = resolver.resolve(module, &reference);
            for &target in defining.union(&named) {
                if let Some((parent, edge)) = siblings(tree, module, target) {
                    let edges = found.entry(parent).or_default();
                    edges.entry(edge).or_insert_with(|| site.clone());
                }
            }
        }
    }
    found
}

/// Returns the innermost module that contains both, and its children that contain one each.
/// `None` if one module contains the other.
fn siblings(
    tree: &ModuleTree,
    from: ModuleId,
    to: ModuleId,
) -> Option<(ModuleId, (ModuleId, ModuleId))> {
    let from_child = tree.ancestors(from).take_while(|&outer| !tree.is_inside(to, outer)).last()?;
    let to_child = tree.ancestors(to).take_while(|&outer| !tree.is_inside(from, outer)).last()?;
    Some((tree.get(from_child).parent?, (from_child, to_child)))
}

fn describe(
    tree: &ModuleTree,
    parent: ModuleId,
    edges: &Edges,
    graph: &Graph,
    component: &[usize],
) -> Cycle {
    let name = |module: usize| tree.get(ModuleId(module)).name.clone();
    let cycle = graph.shortest_cycle(component);
    let successors = cycle.iter().cycle().skip(1);
    let edges = cycle.iter().zip(successors).filter_map(|(&from, &to)| {
        let site = edges.get(&(ModuleId(from), ModuleId(to)))?.clone();
        Some(Edge { from: name(from), to: name(to), site })
    });
    Cycle {
        parent: tree.path(parent),
        members: component.iter().map(|&member| name(member)).collect(),
        edges: edges.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_crate;

    fn cycles(files: &[(&str, &str)]) -> String {
        let tree = test_crate::load(files).unwrap();
        module_cycles(&tree).iter().map(ToString::to_string).collect()
    }

    /// The cycles of a crate in one file, without their sites.
    fn members(text: &str) -> Vec<String> {
        let tree = test_crate::load(&[("lib.rs", text)]).unwrap();
        module_cycles(&tree)
            .iter()
            .map(|cycle| format!("{}: {}", cycle.parent, cycle.members.join(" ")))
            .collect()
    }

    #[test]
    fn use_declarations_make_a_cycle() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{\n    b::B,\n    c::C,\n};\npub struct A;"),
            ("b.rs", "use super::c::{self, C};"),
            ("c.rs", "use crate::a::A as D;\npub struct C;"),
        ]);
        let expected = "  3 modules of crate: a, b, c
    a -> c at a.rs:3: crate::c::C
    c -> a at c.rs:1: crate::a::A
";
        assert_eq!(found, expected);
    }

    #[test]
    fn inline_paths_make_a_cycle() {
        let text = "mod p { mod a { fn f() { super::b::g() } }
            mod b { pub fn g(x: crate::p::a::X<u8>) {} } }";
        assert_eq!(members(text), ["crate::p: a b"]);
    }

    #[test]
    fn relative_path_through_an_imported_module_makes_a_cycle() {
        let text = "mod a { use super::p; fn f() { p::b::g() } }
            mod p { pub mod b { use crate::a; } }";
        assert_eq!(members(text), ["crate: a p"]);
    }

    #[test]
    fn re_export_leads_to_the_defining_module() {
        let text = "pub use a::A; pub use b::B as C;
            mod a { use super::C; pub struct A; } mod b { use crate::A; pub struct B; }";
        assert_eq!(members(text), ["crate: a b"]);
    }

    #[test]
    fn chain_of_re_exports_leads_to_the_defining_module() {
        let text = "pub use x::A; mod b { use crate::A; pub struct B; }
            mod x { pub use super::a::A; } mod a { pub use crate::a::inner::A; use super::b::B;
            mod inner { pub struct A; } }";
        assert_eq!(members(text), ["crate: b a"]);
    }

    #[test]
    fn path_also_leads_to_the_modules_it_names() {
        let text = "mod facade { pub use super::a::A; use super::b::B; }
            mod a { pub struct A; } mod b { use super::facade::A; pub struct B; }";
        assert_eq!(members(text), ["crate: facade b"]);
    }

    #[test]
    fn globs_lead_to_the_defining_module() {
        let text = "pub use a::*; use b::*;
            mod a { use super::*; pub struct A; fn f(x: B) {} }
            mod b { use super::A; pub struct B; }";
        assert_eq!(members(text), ["crate: a b"]);
    }

    #[test]
    fn glob_of_a_sibling_is_an_edge() {
        let text = "mod a { use super::b::*; } mod b { use super::a::*; }";
        assert_eq!(members(text), ["crate: a b"]);
    }

    #[test]
    fn globs_that_import_each_other_end() {
        let text = "mod a { pub use super::b::*; fn f() { X } } mod b { pub use super::a::*; }";
        assert_eq!(members(text), ["crate: a b"]);
    }

    #[test]
    fn parent_and_child_are_not_siblings() {
        let text = "mod p { use a::A; pub struct P; pub fn f(x: b::B) {}
            pub mod a { use super::P; pub struct A; } pub mod b { use crate::p::f; pub struct B; } }";
        assert!(members(text).is_empty());
    }

    #[test]
    fn edges_in_one_direction_are_no_cycle() {
        let text = "mod a { use super::{b::B, c}; } mod b { use super::c::C; } mod c {}";
        assert!(members(text).is_empty());
    }

    #[test]
    fn test_code_is_not_counted() {
        let text = "mod a { use super::b::B; } mod b {
            #[cfg(test)] use super::a::A; #[test] fn t() { super::a::f() }
            #[cfg(test)] mod tests { use crate::a::*; } }";
        assert!(members(text).is_empty());
    }

    #[test]
    fn function_and_module_of_one_name_are_told_apart() {
        let text = "use a::b; mod a { pub fn b() {} } mod b { use super::c::C; pub fn f() {} }
            mod c { fn g() { super::b::f() } pub struct C; }";
        assert_eq!(members(text), ["crate: b c"]);
        let text = "use a::b; mod a { use super::c::C; pub fn b() {} } mod b { pub fn f() {} }
            mod c { fn g() { super::b::f() } pub struct C; }";
        assert!(members(text).is_empty());
    }

    #[test]
    fn names_of_other_crates_are_no_edges() {
        let text = "mod a { pub use std::fmt; use super::b::Write; }
            mod b { pub use std::fmt::Write; fn f(x: fmt::Result) { a::b() } }";
        assert!(members(text).is_empty());
    }

    #[test]
    fn paths_in_macros_are_counted() {
        let text = "mod a { fn f() { assert!(super::b::g(1)); } }
            mod b { macro_rules! m { () => { $crate::a::f() } } }";
        assert_eq!(members(text), ["crate: a b"]);
    }

    #[test]
    fn macros_are_resolved_by_scope_and_export() {
        let text = "#[macro_use] mod a { macro_rules! m { () => {} } use super::b::B; }
            mod b { m!(); } mod c { #[macro_export] macro_rules! n { () => {} } use crate::d; }
            mod d { fn f() { crate::n!(); } }";
        assert_eq!(members(text), ["crate: a b", "crate: c d"]);
    }

    #[test]
    fn generated_items_belong_to_the_module_of_the_macro_call() {
        let text = "pub use a::*; mod a { id!(ThreadId); use super::b; }
            mod b { use super::ThreadId; }";
        assert_eq!(members(text), ["crate: a b"]);
    }

    #[test]
    fn visibility_and_variables_are_no_edges() {
        let text = "mod a { use super::b::B; } mod b { pub(in super::a) struct B;
            fn f(a: u8) { println!(\"{}\", a); let x = a; } }";
        assert!(members(text).is_empty());
    }
}
