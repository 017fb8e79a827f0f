//! Figures of the source code, per crate and in total.
//!
//! All figures are without test code, and without code that macros generate.
//!
//! - **fns**: functions, methods and required methods of traits.
//! - **lines**: length of functions with a body, from `fn` to the closing brace; median, 90th and
//!   99th percentile (nearest rank) and maximum. Doc comments and attributes of the function are
//!   not counted; comments inside are.
//! - **types**: definitions of `struct`, `enum`, `union`, `trait` and `type`, without associated
//!   types. **names**: distinct names among them. **reuse**: types per name.
//! - **doc**: percentage of functions with a doc comment, among public functions (`pub`, or a method
//!   of a `pub trait`) and among all.
//! - **cyc**: module cycles; **mod**: modules in the largest of them; **file**: files in the largest
//!   cycle of files. See [`cycles`](crate::cycles).
//! - **settle**: functions with this name, which once stood for many different operations.

mod functions;
mod statistics;
mod table;
mod types;

use std::path::Path;

use crate::cycles::{largest_file_cycle, module_cycles};
use crate::source::ModuleTree;
use crate::workspace::Package;

use functions::{Function, functions};
use types::type_names;

/// The measurements of one crate, or of several.
#[derive(Debug, Default, Clone)]
struct Figures {
    label: String,
    functions: Vec<Function>,
    type_names: Vec<String>,
    /// The sizes of the module cycles.
    cycles: Vec<usize>,
    largest_file_cycle: usize,
}

impl Figures {
    fn measure(label: &str, tree: &ModuleTree) -> Self {
        Self {
            label: label.to_owned(),
            functions: tree.modules.iter().flat_map(functions).collect(),
            type_names: tree.modules.iter().flat_map(type_names).collect(),
            cycles: module_cycles(tree).iter().map(|cycle| cycle.members.len()).collect(),
            largest_file_cycle: largest_file_cycle(tree),
        }
    }

    fn add(&mut self, other: &Figures) {
        self.functions.extend_from_slice(&other.functions);
        self.type_names.extend_from_slice(&other.type_names);
        self.cycles.extend_from_slice(&other.cycles);
        self.largest_file_cycle = self.largest_file_cycle.max(other.largest_file_cycle);
    }
}

/// Measures all targets of `packages` and returns the tables. Names files relative to `root`.
pub(crate) fn report(packages: &[Package], root: &Path) -> Result<String, String> {
    let mut rows = Vec::new();
    for target in packages.iter().flat_map(|package| &package.targets) {
        let tree = ModuleTree::load(&target.root_file, root)?;
        rows.push(Figures::measure(&target.label, &tree));
    }
    let mut total = Figures { label: "all".to_owned(), ..Figures::default() };
    rows.iter().for_each(|figures| total.add(figures));
    rows.push(total);
    Ok(table::print(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_crate;
    use crate::workspace::Target;

    const A: &str = "\
/// Documented.
pub fn f() {
    g();
}
fn settle() {}
struct S;
mod x { use super::y::S; pub struct T; }
mod y { use super::x::T; pub struct S; }
#[cfg(test)]
mod tests { struct S; fn settle() {} }
";

    #[test]
    fn report_has_a_row_per_target_and_a_total() {
        let dir = test_crate::write(&[("a.rs", A), ("b.rs", "struct S;\nstruct S2;")]);
        let package = |name: &str| Package {
            name: name.to_owned(),
            dependencies: Vec::new(),
            targets: vec![Target {
                label: name.to_owned(),
                root_file: dir.path().join(format!("{name}.rs")),
            }],
        };
        let text = report(&[package("a"), package("b")], dir.path()).unwrap();
        let expected = "\
crate  fns  lines p50  p90  p99  max  types  names  reuse  doc pub %  doc all %  cyc  mod  file  settle
a        2          1    3    3    3      3      2   1.50        100         50    1    2     0       1
b        0          -    -    -    -      2      2   1.00          -          -    0    0     0       0
all      2          1    3    3    3      5      3   1.67        100         50    1    2     0       1

Most reused type names
a: S 2
b: none
all: S 3
";
        assert_eq!(text, expected);
    }

    #[test]
    fn report_without_packages_has_an_empty_total() {
        let text = report(&[], Path::new("")).unwrap();
        assert!(text.contains("\nall      0          -"), "{text}");
    }
}
