//! Identification of the exploration that a checkpoint belongs to.

use std::fs;
use std::hash::{Hash, Hasher};

use raddle_c::Request;

/// A line that identifies an exploration: the version of Raddle, the model, the files, flags and arguments, and a hash of
/// the text of the files.
pub(super) fn fingerprint(request: &Request) -> Result<String, String> {
    let source = &request.source;
    let mut hasher = std::hash::DefaultHasher::new();
    for file in &source.files {
        let text = fs::read(file);
        text.map_err(|error| format!("{}: cannot read: {error}", file.display()))?
            .hash(&mut hasher);
    }
    let names = source.files.iter().map(|file| file.display().to_string());
    let words = names.chain(source.flags.iter().cloned()).chain(source.compiler.iter().cloned());
    let words = words.chain([String::from("--")]).chain(request.arguments.iter().cloned());
    let words: Vec<String> = words.collect();
    let (version, model) = (env!("CARGO_PKG_VERSION"), request.model);
    let text = hasher.finish();
    Ok(format!("raddle {version}, {model}: {}, text {text:016x}", words.join(" ")))
}
