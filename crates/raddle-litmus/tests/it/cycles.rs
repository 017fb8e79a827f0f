//! Generated cycles: names as those of diy, verdicts as those of the machine.

use std::collections::BTreeSet;
use std::fs;

use raddle_core::model::Model;
use raddle_explore::plan::Language;
use raddle_litmus::{Cycle, Test};

use super::{machine, oracle, shared};

/// Relaxations that show what the models differ in.
const COMMUNICATION: &str = "Rfe Fre Wse Rfi";

fn family(length: usize, program_order: &str) -> Vec<Cycle> {
    Cycle::all(length, &format!("{COMMUNICATION} {program_order}")).expect("these are relaxations")
}

fn parsed(cycle: &Cycle, language: Language) -> Test {
    let text = cycle.test(language).expect("there are enough registers");
    Test::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{cycle}: {error}\n{text}"))
}

/// Whether the execution that the cycle describes is there, by every explorer and by the machine.
fn is_allowed(cycle: &Cycle, model: Model) -> bool {
    let test = parsed(cycle, Language::X86);
    let expected = machine::states(&test, model);
    for explorer in oracle::explorers(model) {
        let outcome = oracle::outcome(&test, model, explorer);
        assert_eq!(outcome.finals.states, expected, "{cycle}, {model}, {}", explorer.name());
    }
    expected.iter().any(|state| test.satisfies(state))
}

/// How many cycles each model allows. What a model allows, those after it allow as well.
fn count(cycles: &[Cycle]) -> [usize; 4] {
    let mut counts = [cycles.len(), 0, 0, 0];
    for cycle in cycles {
        let allowed = Model::STORE_BUFFERS.map(|model| is_allowed(cycle, model));
        assert!(allowed.is_sorted(), "{cycle}: {allowed:?}");
        for (count, allowed) in counts[1..].iter_mut().zip(allowed) {
            *count += usize::from(allowed);
        }
    }
    counts
}

#[test]
fn cycles_of_four_agree_with_the_machine() {
    let cycles = family(4, "PodWR PodWW PodRR PodRW MFencedWR SFencedWW MFencedRR Rmw");
    assert_eq!(count(&cycles), [47, 0, 4, 10]);
}

#[test]
fn cycles_of_five_agree_with_the_machine() {
    assert_eq!(count(&family(5, "PodWR PodWW PodRR PodRW MFencedWR")), [153, 0, 24, 57]);
}

#[test]
fn cycles_of_six_agree_with_the_machine() {
    assert_eq!(count(&family(6, "PodWR PodWW")), [80, 0, 33, 53]);
}

#[test]
fn dependencies_order_nothing_in_x86() {
    let cycles = Cycle::all(4, "Rfe Fre Wse PodWW DpAddrdR DpAddrdW DpDatadW DpCtrldW DpCtrldR");
    assert_eq!(count(&cycles.expect("these are relaxations")), [27, 0, 0, 6]);
}

/// The same cycle in C, under C20, where relaxed accesses are ordered by nothing but fences.
#[test]
fn cycles_in_c_need_fences() {
    let allowed = |cycle: &str| {
        let test = parsed(&Cycle::parse(cycle).expect("a cycle"), Language::C);
        let verdict = |explorer| oracle::outcome(&test, Model::C20, explorer).finals.positive > 0;
        let verdicts: Vec<bool> = oracle::explorers(Model::C20).map(verdict).collect();
        assert_eq!(verdicts[0], verdicts[1], "{cycle}");
        verdicts[0]
    };
    assert!(allowed("PodWW Rfe PodRR Fre"));
    assert!(allowed("SFencedWW Rfe DpAddrdR Fre"), "dependencies order nothing");
    assert!(!allowed("SFencedWW Rfe LFencedRR Fre"), "a release and an acquire fence do");
    assert!(allowed("SFencedWR Fre SFencedWR Fre"));
    assert!(!allowed("MFencedWR Fre MFencedWR Fre"));
    assert!(!allowed("PodRW Rfe PodRW Rfe"), "nothing comes out of thin air");
    assert!(!allowed("Rfe PosRR Fre"), "coherence");
}

/// Tests that were made by diy say from which cycle.
#[test]
fn names_are_those_of_diy() {
    let Some(directory) = shared() else {
        println!("skipped: there is no ../shared/litmus");
        return;
    };
    let (mut same, mut others) = (0, vec![]);
    let mut files: Vec<_> = fs::read_dir(directory.join("X86")).expect("a directory").collect();
    files.sort_by_key(|entry| entry.as_ref().map(fs::DirEntry::path).ok());
    for entry in files {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a text");
        let cycle = text.lines().find_map(|line| line.strip_prefix("Orig="));
        let Some(Ok(cycle)) = cycle.map(Cycle::parse) else { continue };
        let theirs = Test::parse(text.as_bytes()).expect("a test").name;
        // Tests that would have the same name have numbers.
        let bare = theirs
            .strip_suffix("001")
            .or(theirs.strip_suffix("002"))
            .or(theirs.strip_suffix("003"));
        if cycle.name() == bare.unwrap_or(&theirs) {
            same += 1;
        } else {
            others.push(format!("{theirs}, not {}", cycle.name()));
        }
    }
    let by_hand = [
        "SB-XCHG, not SB",
        "X001, not SB+po+rfi-po",
        "X003, not R+po+rfi-po",
        "X005, not SB+mfence+po",
        "X006, not R",
        "x86-2+2W, not 2+2W",
    ];
    assert_eq!((same, others), (239, by_hand.map(str::to_owned).to_vec()));
}

#[test]
fn a_turned_cycle_is_the_same() {
    let words = ["MFencedWR", "Fre", "PodWW", "Wse"];
    let turned = (0..4).map(|by| {
        let mut words = words;
        words.rotate_left(by);
        Cycle::parse(&words.join(" ")).expect("a cycle")
    });
    let all: BTreeSet<Cycle> = turned.collect();
    assert_eq!(all.len(), 1);
    let only = all.first().expect("one").clone();
    assert_eq!(
        (only.name().as_str(), only.to_string().as_str()),
        ("R+po+mfence", "PodWW Wse MFencedWR Fre")
    );
}

#[test]
fn what_is_no_cycle_is_refused() {
    let error = |cycle: &str| Cycle::parse(cycle).unwrap_err().to_string();
    assert!(error("PodWR Frx").starts_with("found 'Frx': expected Rfe, Fre, Wse, "));
    assert_eq!(error("PodWR Wse"), "PodWR ends with R, and Wse begins with W");
    let two = "expected at least two of Rfe, Fre and Wse, which lead to other threads";
    assert_eq!(error(""), two);
    assert_eq!(error("PodWR Fre"), two);
    let location =
        "one relaxation leads to another location: expected none, or one that leads back";
    assert_eq!(error("PodWR Fre Wse"), location);
    assert_eq!(error("Rfe Fre"), "expected some program order, such as PodWR");
    assert_eq!(error(&"PodWW ".repeat(20)), "20 relaxations: expected at most 16");
    let many = Cycle::all(12, "PodWW PodWR PodRR PodRW Rfe Fre Wse").err();
    let many = many.map(|error| error.to_string());
    assert_eq!(
        many.as_deref().unwrap_or("all are made"),
        "there are too many cycles: expected a smaller length or fewer relaxations"
    );
}
