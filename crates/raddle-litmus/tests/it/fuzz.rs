//! No input makes the parser panic: a short run of the fuzz target.

use std::fs;

use raddle_core::random::Random;
use raddle_litmus::fuzz::check;

use super::own;

/// Fragments of tests.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "(",
    ")",
    ";",
    "|",
    "*",
    "&",
    "P0",
    "P1",
    "0:EAX",
    "=",
    "x",
    "[x]",
    "$1",
    "MOV ",
    "LOCK ",
    "while (1) ",
    "if (r0) ",
    "int r0 = ",
    "exists ",
    "/\\",
    "\\/",
    "~",
    "atomic_load(x)",
    "(*",
    "*)",
    "//",
    "\"",
    "é",
];

/// Mutations of the tests of the project, with fixed seeds.
#[test]
fn mutated_tests_never_panic() {
    let directory = own();
    let mut names: Vec<String> = super::oracle::tests(&directory).into_keys().collect();
    names.retain(|name| !name.contains("cycles"));
    assert!(names.len() > 20, "{names:?}");
    let texts: Vec<Vec<u8>> =
        names.iter().map(|name| fs::read(directory.join(name)).expect("a test")).collect();
    let mut random = Random::new(3);
    for _ in 0..6000 {
        let mut bytes = texts[random.below(texts.len())].clone();
        for _ in 0..=random.below(3) {
            mutate(&mut bytes, &mut random);
        }
        check(&bytes);
    }
}

/// Changes, removes, repeats, adds or truncates bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    let end = at + random.below((bytes.len() - at).min(12) + 1);
    match random.below(7) {
        0 => bytes[at] = random.below(256) as u8,
        1 => drop(bytes.drain(at..end)),
        2 => {
            let piece = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, piece);
        }
        3 if random.chance(0.2) => bytes.truncate(at),
        _ => {
            let piece = PIECES[random.below(PIECES.len())];
            bytes.splice(at..at, piece.bytes());
        }
    }
}

#[test]
fn long_inputs_are_handled_in_time() {
    for (start, piece) in [
        ("X86 t\n{", "x=1;"),
        ("X86 t\n{}\n P0 ;\n", "NOP ;"),
        ("X86 t\n{}\n P0 ;\nexists ", "x=0 /\\ "),
        ("X86 t\n{}\n", "P0 | "),
        ("C t\n{}\nP0 () {", "{"),
        ("C t\n{}\nP0 (int* x) { int r = ", "*"),
        ("C t\n{}\n", "P0 () {}"),
        ("C t\n{}\nP0 () {", "if (1) {} else "),
        ("C t ", "(* *)"),
    ] {
        check(format!("{start}{}", piece.repeat(100_000)).as_bytes());
    }
}
