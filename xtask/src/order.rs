//! The order of the crates: a crate depends only on crates that come earlier.
//!
//! Dev-dependencies are exempt. Crates of the list that do not exist are ignored.

use std::fmt;

use crate::workspace::Package;

/// The crates, each after everything it may depend on.
const ORDER: [&str; 13] = [
    "raddle-core",
    "raddle-consistency",
    "raddle-explore",
    "raddle-cpu",
    "raddle-runtime",
    "raddle-native",
    "raddle",
    "raddle-litmus",
    "raddle-testkit",
    "raddle-bmc",
    "raddle-cli",
    "cargo-raddle",
    "raddle-test",
];

/// A breach of the order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// The package is in `crates/` but not in the list.
    Unlisted { package: String },
    /// The dependency does not come before the package.
    Later { package: String, dependency: String },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlisted { package } => {
                write!(f, "{package}: not in the dependency order; add it to ORDER in xtask")
            }
            Self::Later { package, dependency } => write!(
                f,
                "{package}: depends on {dependency}, which is not earlier in the dependency order; \
                 move the shared code to an earlier crate"
            ),
        }
    }
}

/// Returns the violations of the order in `packages`. `members` are all packages of the workspace.
pub(crate) fn violations(packages: &[&Package], members: &[String]) -> Vec<Violation> {
    packages.iter().flat_map(|package| violations_of(package, members)).collect()
}

fn violations_of(package: &Package, members: &[String]) -> Vec<Violation> {
    let name = &package.name;
    let Some(place) = position(name) else {
        return vec![Violation::Unlisted { package: name.clone() }];
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| members.contains(dependency))
        .filter(|dependency| position(dependency).is_none_or(|earlier| earlier >= place))
        .map(|dependency| Violation::Later {
            package: name.clone(),
            dependency: dependency.clone(),
        })
        .collect()
}

fn position(name: &str) -> Option<usize> {
    ORDER.iter().position(|&listed| listed == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(name: &str, dependencies: &[&str]) -> Vec<String> {
        let package = Package {
            name: name.to_owned(),
            dependencies: dependencies.iter().map(|&d| d.to_owned()).collect(),
            targets: Vec::new(),
        };
        let members = ["raddle-core", "raddle", "raddle-bmc", "raddle-benches"].map(str::to_owned);
        violations(&[&package], &members).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn earlier_and_external_dependencies_are_allowed() {
        assert!(messages("raddle-bmc", &["raddle-core", "raddle", "serde"]).is_empty());
    }

    #[test]
    fn later_dependency_is_reported() {
        assert_eq!(
            messages("raddle", &["raddle-core", "raddle-bmc"]),
            ["raddle: depends on raddle-bmc, which is not earlier in the dependency order; \
              move the shared code to an earlier crate"]
        );
    }

    #[test]
    fn member_outside_the_order_is_not_a_dependency() {
        assert_eq!(messages("raddle", &["raddle-benches"]).len(), 1);
    }

    #[test]
    fn unlisted_package_is_reported() {
        assert_eq!(
            messages("raddle-new", &[]),
            ["raddle-new: not in the dependency order; add it to ORDER in xtask"]
        );
    }
}
