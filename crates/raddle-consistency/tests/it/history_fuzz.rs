//! No bytes make the readers panic, and what they accept survives being written: a short run of what
//! the fuzz targets do for long.

use proptest::prelude::*;
use raddle_consistency::history::{Format, fuzz, parse, write};
use raddle_core::random::Random;

const TOKENS: [&str; 36] = [
    "P0:", "P1:", "\n", ";", "W", "R", "RMW", "CAS", "x", "y", "0", "1", "failed", "<-", "init",
    "P0.0", "LOCK", "UNLOCK", "SPAWN", "JOIN", "P1", "init:", "=", "{", "}", "\"", "op", ",", ":",
    "#", "F", "F.ss", "F.rel", "R.acq", "W.sc", "CAS.rlx",
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

/// A history with every kind of event, as the writer writes it.
const SAMPLE: &str = include_str!("../data/every-event.txt");

/// Mutations of valid files, always the same ones.
#[test]
fn mutated_files_never_panic() {
    let json = write(&parse(SAMPLE.as_bytes()).unwrap(), Format::JsonLines);
    let mut random = Random::new(1);
    let mut below = move |limit: usize| random.below(limit);
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
