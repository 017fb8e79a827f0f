//! Cycles between sibling modules.
//!
//! Let `P` be a module with child modules. There is an edge from child `a` to child `b` if code in
//! `a` or below names something in `b` or below: in a `use` declaration or in a path such as
//! `super::b::f`. A path through a re-export leads to the module that defines the item, and also to
//! every module that the path names. Each strongly connected component with at least two children
//! is a cycle.
//!
//! Not edges: references between `P`'s own items and its children, and test code. The analysis is
//! syntactic; [`source`](crate::source) lists its limits.

mod files;
mod siblings;

use std::path::Path;

pub(crate) use files::largest_file_cycle;
pub(crate) use siblings::module_cycles;

use siblings::Cycle;

use crate::source::ModuleTree;
use crate::workspace::Package;

/// Packages whose cycles are counted but do not fail the check, with the reason.
const EXEMPT: [(&str, &str); 1] = [("raddle-runtime", "its internals are about to be replaced")];

/// The result of the check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) passed: bool,
}

/// Checks the targets of `packages`. Names files relative to `root`.
pub(crate) fn report(packages: &[&Package], root: &Path) -> Result<Report, String> {
    let mut report = Report { text: String::new(), passed: true };
    for package in packages {
        let exempt = EXEMPT.iter().find(|(name, _)| *name == package.name);
        for target in &package.targets {
            let tree = ModuleTree::load(&target.root_file, root)?;
            let cycles = module_cycles(&tree);
            match exempt {
                Some((_, reason)) => add_exempt(&mut report, &target.label, &cycles, reason),
                None => add(&mut report, &target.label, &cycles),
            }
        }
    }
    Ok(report)
}

fn add(report: &mut Report, label: &str, cycles: &[Cycle]) {
    report.passed &= cycles.is_empty();
    report.text.push_str(&format!("{label}: {}\n", count(cycles)));
    for cycle in cycles {
        report.text.push_str(&cycle.to_string());
    }
}

fn add_exempt(report: &mut Report, label: &str, cycles: &[Cycle], reason: &str) {
    report.text.push_str(&format!("{label}: {} (exempt: {reason})\n", count(cycles)));
}

fn count(cycles: &[Cycle]) -> String {
    match cycles.len() {
        0 => "no module cycles".to_owned(),
        1 => "1 module cycle".to_owned(),
        n => format!("{n} module cycles"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_crate;
    use crate::workspace::Target;

    const CYCLIC: [(&str, &str); 3] = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "pub struct B;\nfn f() { super::a::A; }"),
    ];

    fn check(name: &str, files: &[(&str, &str)]) -> Report {
        let dir = test_crate::write(files);
        let target = Target { label: name.to_owned(), root_file: dir.path().join("lib.rs") };
        let package =
            Package { name: name.to_owned(), dependencies: Vec::new(), targets: vec![target] };
        report(&[&package], dir.path()).unwrap()
    }

    #[test]
    fn cycle_fails_with_one_place_per_edge() {
        let expected = "\
raddle: 1 module cycle
  2 modules of crate: a, b
    a -> b at a.rs:1: crate::b::B
    b -> a at b.rs:2: super::a::A
";
        let report = check("raddle", &CYCLIC);
        assert_eq!(report, Report { text: expected.to_owned(), passed: false });
    }

    #[test]
    fn cycle_of_an_exempt_package_is_only_counted() {
        let expected =
            "raddle-runtime: 1 module cycle (exempt: its internals are about to be replaced)\n";
        let report = check("raddle-runtime", &CYCLIC);
        assert_eq!(report, Report { text: expected.to_owned(), passed: true });
    }

    #[test]
    fn crate_without_cycles_passes() {
        let report = check("raddle", &[("lib.rs", "mod a { use super::b::B; } mod b {}")]);
        let expected = "raddle: no module cycles\n";
        assert_eq!(report, Report { text: expected.to_owned(), passed: true });
    }
}
