//! No bytes make the readers panic, and what they accept survives being written: a short run of what
//! the fuzz targets do for long.

use proptest::prelude::*;
use raddle_core::history::{Format, fuzz, parse, write};

const TOKENS: [&str; 30] = [
    "P0:", "P1:", "\n", ";", "W", "R", "RMW", "CAS", "x", "y", "0", "1", "failed", "<-", "init",
    "P0.0", "LOCK", "UNLOCK", "SPAWN", "JOIN", "P1", "init:", "=", "{", "}", "\"", "op", ",", ":",
    "#",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ascii_never_panics(input in "[ -~\n]{0,200}") {
        fuzz::check_text(input.as_bytes());
        fuzz::check_jsonl(input.as_bytes());
    }

    #[test]
    fn tokens_never_panic(input in prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..40)) {
        fuzz::check_text(input.join(" ").as_bytes());
        fuzz::check_jsonl(input.join("").as_bytes());
    }
}

const SAMPLE: &str = "\
locations: x m y z
init: y=-3 z=18446744073709551615
P0: W x 1; F; R y -3 <- init; LOCK m <- init; UNLOCK m; F.ss; SPAWN P2; JOIN P2
P1: RMW x 1 2 <- P0.0; CAS x 2 5; CAS x 0 5 failed 2 <- P1.0; LOCK m <- P0.4; UNLOCK m
P2:
";

/// Mutations of valid files, always the same ones.
#[test]
fn mutated_files_never_panic() {
    let json = write(&parse(SAMPLE.as_bytes()).unwrap(), Format::JsonLines);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = move |limit: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % limit
    };
    for _ in 0..4000 {
        fuzz::check_text(&mutated(SAMPLE, &mut below));
        fuzz::check_jsonl(&mutated(&json, &mut below));
    }
}

fn mutated(sample: &str, below: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut bytes = sample.as_bytes().to_vec();
    for _ in 0..=below(3) {
        mutate(&mut bytes, below);
    }
    bytes
}

/// Changes, removes, repeats or cuts bytes somewhere.
fn mutate(bytes: &mut Vec<u8>, below: &mut impl FnMut(usize) -> usize) {
    if bytes.is_empty() {
        return;
    }
    let at = below(bytes.len());
    let end = at + below((bytes.len() - at).min(12) + 1);
    match below(6) {
        0 => bytes[at] = below(256) as u8,
        1 => bytes[at] = b" \n;:=<-#\"{}[],.\\0129PxWR"[below(23)],
        2 => drop(bytes.drain(at..end)),
        3 => bytes.extend_from_within(at..end),
        4 => {
            let piece = bytes[at..end].to_vec();
            let to = below(bytes.len());
            bytes.splice(to..to, piece);
        }
        _ => bytes.truncate(at),
    }
}
