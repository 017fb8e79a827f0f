//! What a replay needs to know besides the schedule.
//!
//! Which operations of a program are events depends on what it has learned about itself ([`Facts`]): which memory threads share, and how
//! it is cut. A recording has the facts of the exploration that found the execution, so that a replay has the same
//! events. Facts are guest addresses, so they hold only for the same machine code: the recording has a hash of every file that was
//! loaded.

use raddle_core::outcome::Finding;
use raddle_core::schedule::Schedule;
use raddle_explore::replay::{Mismatch, Replayed, replay};
use serde::{Deserialize, Serialize};

use crate::load::Module;
use crate::program::NativeProgram;
use crate::program::facts::Facts;

/// A file that was loaded, and a hash of what was loaded from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleHash {
    /// The name of the file; empty for the program itself.
    pub file: String,
    /// A hash of its contents.
    pub hash: u64,
}

/// What a program had learned when an execution was found.
#[derive(Serialize, Deserialize)]
pub(super) struct Learned {
    pub(super) modules: Vec<ModuleHash>,
    /// Other workers explored other parts.
    pub(super) is_settled: bool,
    pub(super) facts: Facts,
}

/// The files that a program consists of.
pub(super) fn modules(program: &NativeProgram) -> Vec<ModuleHash> {
    let file = |(at, module): (usize, &std::sync::Arc<Module>)| {
        let file = if at == 0 { String::new() } else { module.file.name.to_string() };
        ModuleHash { file, hash: loaded_hash(module) }
    };
    program.process.modules().iter().enumerate().map(file).collect()
}

/// A hash of the bytes that are loaded from a file. Debug information is none of them: it contains the working directory.
fn loaded_hash(module: &Module) -> u64 {
    let segments = module.file.segments.iter();
    let bytes = segments.filter_map(|segment| module.file.data.get(segment.file.clone()));
    bytes.fold(FNV, fnv)
}

/// A hash of the contents of a file.
#[must_use]
pub fn content_hash(bytes: &[u8]) -> u64 {
    fnv(FNV, bytes)
}

/// The hash of nothing.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: the same in every version of Raddle, other than the hashes of the standard library.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Adds to a finding what a replay needs. A finding whose execution cannot be repeated loses its schedule.
pub(super) fn record(program: &mut NativeProgram, finding: Finding) -> Finding {
    let learned = finding.schedule.as_ref().and_then(|schedule| learned(program, schedule));
    let schedule = finding.schedule.filter(|_| learned.is_some());
    Finding { schedule, learned, ..finding }
}

/// The facts with which a schedule leads through the program.
fn learned(program: &mut NativeProgram, schedule: &Schedule) -> Option<String> {
    for is_settled in [false, true] {
        if is_settled {
            let _ = program.layout.settle();
        }
        let (modules, facts) = (modules(program), program.facts());
        let learned = Learned { modules, is_settled, facts };
        if follow(program, &learned, schedule).is_ok() {
            return serde_json::to_string(&learned).ok();
        }
    }
    None
}

/// Runs an execution of a program that knows what was recorded, and nothing else.
pub(super) fn follow(
    program: &mut NativeProgram,
    learned: &Learned,
    schedule: &Schedule,
) -> Result<Replayed, Mismatch> {
    program.resume_with(&learned.facts);
    program.layout.is_settled = learned.is_settled;
    program.executions = 0;
    let replayed = replay(program, schedule)?;
    match raddle_core::program::Program::needs_restart(program) {
        true => Err(Mismatch(String::from("threads share other memory"))),
        false => Ok(replayed),
    }
}
