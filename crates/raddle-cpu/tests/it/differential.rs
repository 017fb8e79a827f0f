//! Every form of instruction in random states: the virtual CPU against the real one.
//!
//! The fast functions, the stubs, and the path through questions are compared apart. `RADDLE_LONG=1` runs 10,000 states per form,
//! `RADDLE_CASES=10` ten times as many as usual.

use crate::forms::{self, Form};
use crate::native::{DATA, Native, TEXT};
use crate::random::Random;
use crate::states::{aim, difference, random_state, undefined};
use crate::virtual_cpu::{End, Mode, Virtual};
use iced_x86::{Encoder, Instruction, Mnemonic};
use raddle_cpu::memory::FaultKind;
use std::collections::BTreeMap;

/// The signal that a fault is on the real processor.
fn signal(fault: FaultKind) -> i32 {
    match fault {
        FaultKind::Divide => libc::SIGFPE,
        FaultKind::InvalidInstruction => libc::SIGILL,
        FaultKind::Breakpoint => libc::SIGTRAP,
        _ => libc::SIGSEGV,
    }
}

pub(crate) fn bytes(instruction: &Instruction, ip: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, ip).unwrap();
    encoder.take_buffer()
}

/// Whether the result depends on the host or is set by the system.
fn is_not_comparable(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Cpuid
            | M::Rdtsc
            | M::Rdtscp
            | M::Rdrand
            | M::Rdseed
            | M::Popfq
            | M::Syscall
            | M::Fxrstor
            | M::Fxrstor64
            | M::Fldcw
            | M::Fldenv
            | M::Ldmxcsr
            | M::Vldmxcsr
            | M::Fxsave
            | M::Fxsave64
    )
}

#[derive(Default)]
struct Tally {
    compared: u64,
    forms: u64,
    faults: u64,
    refused: BTreeMap<String, Vec<String>>,
    wrong: Vec<String>,
}

pub(crate) fn states_per_form() -> u64 {
    let factor = std::env::var("RADDLE_CASES").map_or(1, |factor| factor.parse().unwrap());
    if std::env::var_os("RADDLE_LONG").is_some() { 10_000 } else { 20 * factor }
}

fn compare_forms(mode: Mode, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut native = Native::get();
    let mut tally = Tally::default();
    let mut cpu = Virtual::new(mode);
    for form in forms::all() {
        let before = tally.compared;
        for _ in 0..states_per_form() {
            compare_form(&mut cpu, &mut native, &mut random, form, &mut tally);
        }
        tally.forms += u64::from(tally.compared > before);
    }
    tally
}

fn compare_form(
    cpu: &mut Virtual,
    native: &mut Native,
    random: &mut Random,
    form: Form,
    tally: &mut Tally,
) {
    let Some(instruction) = form.build(random, TEXT) else { return };
    if is_not_comparable(instruction.mnemonic()) {
        return;
    }
    let (mut state, data) = random_state(random);
    if !aim(random, &instruction, &mut state) {
        return;
    }
    let mut ours = (state.clone(), data.clone());
    let mut real = (state, data);
    let code = bytes(&instruction, TEXT);
    let end = cpu.run(&code, &mut ours.0, &mut ours.1);
    let expected = match end {
        End::Done => 0,
        End::Fault(FaultKind::Unmapped(_) | FaultKind::ReadOnly | FaultKind::Jump) => return,
        End::Fault(kind) => signal(kind),
        End::Skipped(reason) => {
            let forms = tally.refused.entry(reason).or_default();
            let name = format!("{:?}", form.code);
            if forms.last() != Some(&name) {
                forms.push(name);
            }
            return;
        }
    };
    let found = native.run(&code, &mut real.0, &mut real.1);
    tally.compared += 1;
    tally.faults += u64::from(expected != 0);
    let difference = if found != expected {
        Some(format!("signal {expected}, should be {found}"))
    } else {
        let ignored = if found == 0 { undefined(&instruction) } else { 0 };
        difference(&ours, &real, ignored)
    };
    if let Some(difference) = difference
        && tally.wrong.len() < 40
    {
        tally
            .wrong
            .push(format!("{instruction} ({:?}, {:?}): {difference}", form.code, form.prefix));
    }
}

fn assert_equal(tally: &Tally, forms: u64) {
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert!(tally.forms >= forms, "only {} forms", tally.forms);
}

#[test]
fn every_form_agrees_with_the_real_processor() {
    let tally = compare_forms(Mode::Fast, 11);
    println!("{} forms, {} cases, {} faults", tally.forms, tally.compared, tally.faults);
    println!("not compared: {:#?}", tally.refused);
    assert_equal(&tally, 1500);
    assert_ne!(tally.faults, 0);
}

#[test]
fn every_form_agrees_in_stubs() {
    assert_equal(&compare_forms(Mode::Stubs, 12), 1500);
}

#[test]
fn every_form_agrees_on_shared_memory() {
    assert_equal(&compare_forms(Mode::Shared, 13), 1500);
}

#[test]
fn control_words_and_environments_agree() {
    let mut random = Random::new(15);
    let mut native = Native::get();
    let mut cpu = Virtual::new(Mode::Fast);
    // fldcw, ldmxcsr, fldenv, fnstenv, fxsave64, fxrstor64 [rsi]
    let codes: [&[u8]; 6] = [
        &[0xd9, 0x2e],
        &[0x0f, 0xae, 0x16],
        &[0xd9, 0x26],
        &[0xd9, 0x36],
        &[0x48, 0x0f, 0xae, 0x06],
        &[0x48, 0x0f, 0xae, 0x0e],
    ];
    let mut compared = [0; 6];
    for round in 0..600 {
        let code = codes[round % 6];
        let (mut state, mut data) = random_state(&mut random);
        state.registers[6] = DATA + 1024;
        let place = &mut data[1024..];
        place[0] |= 0x3f;
        if round % 6 == 1 {
            place[..4].copy_from_slice(&(0x1f80 | random.next() as u32 & 0xe07f).to_le_bytes());
        }
        if round % 6 == 2 {
            // No exception is pending.
            place[4..6].copy_from_slice(&(random.next() as u16 & 0x7f7f).to_le_bytes());
        }
        if round % 6 == 5 {
            place[2] = 0;
            place[3] &= 0x7f;
            place[5..24].fill(0);
            place[24..28].copy_from_slice(&(0x1f80 | random.next() as u32 & 0xe07f).to_le_bytes());
        }
        let mut ours = (state.clone(), data.clone());
        let mut real = (state, data);
        assert_eq!(cpu.run(code, &mut ours.0, &mut ours.1), End::Done, "{code:x?}");
        assert_eq!(native.run(code, &mut real.0, &mut real.1), 0);
        // Addresses of instructions and operands depend on the host.
        if round % 6 == 3 {
            ours.1[1024 + 12..1024 + 28].copy_from_slice(&real.1[1024 + 12..1024 + 28]);
        }
        if round % 6 == 4 {
            ours.1[1024 + 6..1024 + 24].copy_from_slice(&real.1[1024 + 6..1024 + 24]);
            // Our processor has no bits of mxcsr beyond SSE2.
            real.1[1024 + 28..1024 + 32].copy_from_slice(&[0xff, 0xff, 0, 0]);
        }
        assert_eq!(difference(&ours, &real, 0), None, "{code:x?}");
        compared[round % 6] += 1;
    }
    assert_eq!(compared, [100; 6]);
}
