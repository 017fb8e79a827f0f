//! Identification of the exploration that a checkpoint belongs to.

use raddle_native::{Object, Request};

/// A line that identifies an exploration: the version of Raddle, the model, the files, flags and arguments, the compiler, and a
/// hash of the linked program, which includes every header.
pub(super) fn fingerprint(object: &Object, request: &Request) -> String {
    let source = &request.source;
    let names = source.files.iter().map(|file| file.display().to_string());
    let words = names.chain(source.flags.iter().cloned()).chain(source.compiler.iter().cloned());
    let words = words.chain([String::from("--")]).chain(request.arguments.iter().cloned());
    let words: Vec<String> = words.collect();
    let (version, model, built) = (env!("CARGO_PKG_VERSION"), request.model, object.fingerprint());
    format!("raddle {version}, {model}: {}, {built}", words.join(" "))
}
