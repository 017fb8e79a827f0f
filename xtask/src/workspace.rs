//! The packages of a workspace, as `cargo metadata` lists them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Target kinds that are analysed. Tests, benches, examples and build scripts are not.
const KINDS: [&str; 7] = ["lib", "rlib", "dylib", "cdylib", "staticlib", "proc-macro", "bin"];

/// A workspace of cargo.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The directory of the root manifest.
    pub(crate) root: PathBuf,
    /// The packages in `crates/`, sorted by name.
    pub(crate) packages: Vec<Package>,
    /// The names of all members, including those outside `crates/`.
    pub(crate) members: Vec<String>,
}

/// A package in `crates/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Normal and build dependencies. Dev-dependencies are left out.
    pub(crate) dependencies: Vec<String>,
    /// The library and the binaries.
    pub(crate) targets: Vec<Target>,
}

/// A crate in the sense of the compiler: one tree of modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The name of the package; for a binary next to a library, followed by the binary's name.
    pub(crate) label: String,
    pub(crate) root_file: PathBuf,
}

impl Workspace {
    /// Reads the workspace that contains `dir`.
    pub(crate) fn load(dir: &Path) -> Result<Self, String> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(dir)
            .output()
            .map_err(|error| format!("cannot run cargo metadata in {}: {error}", dir.display()))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cargo metadata failed in {}: {}", dir.display(), reason.trim()));
        }
        let metadata = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata printed invalid JSON: {error}"))?;
        Ok(Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Value) -> Self {
        let root = PathBuf::from(text(&metadata["workspace_root"]));
        let all = elements(&metadata["packages"]);
        let members = all.iter().map(|package| text(&package["name"])).collect();
        let crates = root.join("crates");
        let inside =
            |package: &&Value| Path::new(&text(&package["manifest_path"])).starts_with(&crates);
        let mut packages: Vec<Package> =
            all.iter().filter(inside).map(Package::from_metadata).collect();
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Self { root, packages, members }
    }

    /// Returns the packages with these names, or all packages if there are no names.
    pub(crate) fn select(&self, names: &[&str]) -> Result<Vec<&Package>, String> {
        if names.is_empty() {
            return Ok(self.packages.iter().collect());
        }
        names.iter().map(|name| self.package(name)).collect()
    }

    fn package(&self, name: &str) -> Result<&Package, String> {
        self.packages.iter().find(|package| package.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.packages.iter().map(|p| p.name.as_str()).collect();
            format!("no package {name:?} in crates/; there are: {}", names.join(", "))
        })
    }
}

impl Package {
    fn from_metadata(package: &Value) -> Self {
        let name = text(&package["name"]);
        let dependencies = elements(&package["dependencies"])
            .iter()
            .filter(|dependency| dependency["kind"] != "dev")
            .map(|dependency| text(&dependency["name"]))
            .collect();
        let analysed: Vec<&Value> = elements(&package["targets"])
            .iter()
            .filter(|target| has_kind(target, &KINDS))
            .collect();
        let has_library = analysed.iter().any(|target| !has_kind(target, &["bin"]));
        let targets = analysed
            .iter()
            .map(|target| Target {
                label: if has_library && has_kind(target, &["bin"]) {
                    format!("{name} (bin {})", text(&target["name"]))
                } else {
                    name.clone()
                },
                root_file: PathBuf::from(text(&target["src_path"])),
            })
            .collect();
        Self { name, dependencies, targets }
    }
}

fn has_kind(target: &Value, kinds: &[&str]) -> bool {
    elements(&target["kind"]).iter().any(|kind| kinds.iter().any(|wanted| kind == wanted))
}

/// The elements of an array; none for any other value.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A string; empty for any other value.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workspace() -> Workspace {
        let target =
            |kind: &str, name: &str| json!({"kind": [kind], "name": name, "src_path": name});
        let package = |name: &str, dir: &str, targets: Value| {
            json!({
                "name": name,
                "manifest_path": format!("/w/{dir}/Cargo.toml"),
                "targets": targets,
                "dependencies": [
                    {"name": "syn", "kind": null},
                    {"name": "cc", "kind": "build"},
                    {"name": "tempfile", "kind": "dev"},
                ],
            })
        };
        Workspace::from_metadata(&json!({
            "workspace_root": "/w",
            "packages": [
                package("tool", "crates/tool", json!([target("bin", "t"), target("test", "x")])),
                package("both", "crates/both", json!([target("lib", "both"), target("bin", "b")])),
                package("benches", "benches", json!([target("lib", "benches")])),
            ],
        }))
    }

    fn labels(package: &Package) -> Vec<&str> {
        package.targets.iter().map(|target| target.label.as_str()).collect()
    }

    #[test]
    fn packages_outside_crates_are_only_members() {
        let workspace = workspace();
        let names: Vec<&str> = workspace.packages.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["both", "tool"]);
        assert_eq!(workspace.members, ["tool", "both", "benches"]);
    }

    #[test]
    fn targets_are_libraries_and_binaries() {
        let workspace = workspace();
        assert_eq!(labels(&workspace.packages[0]), ["both", "both (bin b)"]);
        assert_eq!(labels(&workspace.packages[1]), ["tool"]);
    }

    #[test]
    fn dev_dependencies_are_left_out() {
        assert_eq!(workspace().packages[0].dependencies, ["syn", "cc"]);
    }

    #[test]
    fn unknown_package_is_an_error() {
        let error = workspace().select(&["tools"]).unwrap_err();
        assert_eq!(error, "no package \"tools\" in crates/; there are: both, tool");
    }

    #[test]
    fn malformed_metadata_has_no_packages() {
        assert!(Workspace::from_metadata(&json!([1, {"packages": 2}])).packages.is_empty());
    }
}
