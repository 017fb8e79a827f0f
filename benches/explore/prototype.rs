//! The prototype that the explorers are compared with, if its sources are there.

use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_core::model::Model;

/// The built prototype.
pub(crate) struct Prototype {
    program: PathBuf,
}

impl Prototype {
    /// Builds it, outside of its own folder.
    pub(crate) fn find() -> Option<Self> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/prototype/rf");
        let manifest = sources.join("Cargo.toml");
        if !manifest.exists() {
            return None;
        }
        let copy = std::env::temp_dir().join("raddle-bench-prototype");
        std::fs::create_dir_all(copy.join("src")).ok()?;
        std::fs::copy(manifest, copy.join("Cargo.toml")).ok()?;
        for file in std::fs::read_dir(sources.join("src")).ok()? {
            let file = file.ok()?.path();
            std::fs::copy(&file, copy.join("src").join(file.file_name()?)).ok()?;
        }
        let built = Command::new("cargo")
            .args(["build", "--release", "--quiet"])
            .current_dir(&copy)
            .env("CARGO_TARGET_DIR", copy.join("target"))
            .env("RUSTFLAGS", "-Awarnings")
            .status();
        built.is_ok_and(|status| status.success()).then_some(())?;
        Some(Prototype { program: copy.join("target/release/rfpart") })
    }

    /// How many classes a second it explores.
    pub(crate) fn rate(&self, program: &str, model: Model, most: u64) -> Option<f64> {
        let stop = format!("stop={most}");
        let output = Command::new(&self.program)
            .args([program, "dyn", model.name(), "rep=3", stop.as_str()])
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(program))?;
        // Name, model, classes, milliseconds, nodes for each class, ns for each node, classes a second.
        line.split_whitespace().nth(6)?.parse().ok()
    }
}
