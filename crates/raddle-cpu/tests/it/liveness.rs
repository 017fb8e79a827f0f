//! Liveness: overwriting what is dead changes nothing, and what is known to be dead is found.

use crate::guest::{DONE, Guest};
use crate::questions;
use crate::random::Random;
use raddle_cpu::memory::State;
use raddle_cpu::{Calls, Function, HostArguments, Liveness, Register, Stop};
use std::path::Path;

fn compile(options: &[&str]) -> (Guest, Liveness) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/liveness.c");
    let mut guest = Guest::compile(&source, options);
    let ask = guest.symbol("ask");
    guest.memory.set_state(ask..ask + 8, State::Shared);
    let liveness = Liveness::new(functions(&guest), Some(vec![]));
    (guest, liveness)
}

fn functions(guest: &Guest) -> Vec<Function> {
    let is_text = |address: u64| {
        let kind = guest.memory.region(address).map(|region| region.kind);
        kind == Some(raddle_cpu::memory::RegionKind::Text)
    };
    guest
        .symbols
        .iter()
        .filter(|symbol| symbol.2 > 0 && is_text(symbol.1))
        .map(|symbol| Function {
            range: symbol.1..symbol.1 + symbol.2,
            calls: Calls::SystemV,
            has_hidden_edges: false,
            variables: vec![],
        })
        .collect()
}

/// The result of a function with random answers, and the number of dead bytes and registers at its questions.
fn run(
    guest: &mut Guest,
    name: &str,
    seed: u64,
    mut poison: Option<&mut Liveness>,
) -> (u64, usize, usize) {
    let mut random = Random::new(seed);
    let function = guest.symbol(name);
    for register in Register::GENERAL {
        guest.cpu.set_register(register, 7);
    }
    guest.call(function, &[5 + seed % 5]);
    let (mut bytes, mut registers) = (0, 0);
    loop {
        match guest.run() {
            Stop::Load { .. } => {
                if let Some(liveness) = &mut poison {
                    let dead =
                        liveness.poison(&mut guest.memory, &mut guest.cpu, HostArguments::Any);
                    bytes += dead.stack.iter().map(|range| range.end - range.start).sum::<u64>()
                        as usize;
                    registers += dead.registers.len();
                }
                guest.cpu.answer(random.next());
            }
            stop => {
                assert_eq!(stop, Stop::HostCall(DONE), "{name}");
                return (guest.cpu.register(Register::Rax), bytes, registers);
            }
        }
    }
}

#[test]
fn overwriting_what_is_dead_changes_nothing() {
    let names = ["spin", "arguments", "escaping", "recursive", "floats", "choose", "leaves"];
    let variants: [&[&str]; 5] = [
        &["-O0", "-fno-ipa-ra"],
        &["-O1", "-fno-ipa-ra"],
        &["-O2", "-fno-ipa-ra"],
        &["-O2", "-fno-ipa-ra", "-fno-omit-frame-pointer"],
        &["-O3", "-fno-ipa-ra", "-fno-inline"],
    ];
    for options in variants {
        let (mut guest, mut liveness) = compile(options);
        let (mut bytes, mut registers) = (0, 0);
        for name in names {
            for seed in 0..20 {
                let (expected, ..) = run(&mut guest, name, seed, None);
                let (found, b, r) = run(&mut guest, name, seed, Some(&mut liveness));
                assert_eq!(found, expected, "{name} {options:?}");
                bytes += b;
                registers += r;
            }
        }
        assert_ne!(registers, 0, "{options:?}");
        if options[0] == "-O0" {
            assert_ne!(bytes, 0);
        }
    }
}

/// Runs a program of the bench whose globals are all shared, and overwrites what is dead at each question.
fn run_shared(options: &[&str], name: &str, size: u64, is_poisoned: bool) -> u64 {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs.c");
    let mut guest = Guest::compile(&source, options);
    let data: Vec<_> = guest
        .memory
        .regions()
        .filter(|region| region.kind == raddle_cpu::memory::RegionKind::Data)
        .map(|region| region.range.clone())
        .collect();
    for range in data {
        guest.memory.set_state(range, State::Shared);
    }
    let mut liveness = Liveness::new(functions(&guest), Some(vec![]));
    let function = guest.symbol(name);
    guest.call(function, &[size]);
    loop {
        let stop = guest.run();
        if is_poisoned {
            liveness.poison(&mut guest.memory, &mut guest.cpu, HostArguments::Any);
        }
        match stop {
            Stop::Load { address, size } => {
                let mut bytes = [0; 8];
                guest.memory.read(address, &mut bytes[..size.into()]).unwrap();
                guest.cpu.answer(u64::from_le_bytes(bytes));
            }
            Stop::Store { address, size, value } => {
                let bytes = &value.to_le_bytes()[..size.into()];
                guest.memory.write_initial(address, bytes).unwrap();
                guest.cpu.answer(0);
            }
            stop => {
                assert_eq!(stop, Stop::HostCall(DONE));
                return guest.cpu.register(Register::Rax);
            }
        }
    }
}

#[test]
fn overwriting_what_is_dead_does_not_change_programs() {
    for optimisation in ["-O0", "-O1", "-O2", "-O3"] {
        let options = [optimisation, "-fno-ipa-ra"];
        for (name, size) in [("quicksort", 150), ("sha256", 2), ("questions", 50)] {
            let expected = run_shared(&options, name, size, false);
            assert_eq!(run_shared(&options, name, size, true), expected, "{name} {optimisation}");
        }
    }
}

#[test]
fn temporaries_of_a_spinning_thread_are_dead() {
    let (mut guest, mut liveness) = compile(&["-O0", "-fno-ipa-ra"]);
    let function = guest.symbol("spin");
    guest.call(function, &[3]);
    assert!(matches!(guest.run(), Stop::Load { .. }));
    let dead = liveness.dead(&guest.memory, &guest.cpu, HostArguments::Any);
    assert!(dead.flags);
    assert!(dead.registers.contains(&Register::Rcx));
    assert!(!dead.registers.contains(&Register::Rsp));
    assert!(!dead.registers.contains(&Register::Rbp));
    assert!(!dead.registers.contains(&Register::Rbx));
    // `seen` and `scratch`; `last`, `rounds` and `n` are live.
    let frame = guest.cpu.register(Register::Rbp);
    let count = dead.stack.iter().flat_map(Clone::clone).filter(|byte| *byte >= frame - 32).count();
    assert_eq!(count, 16);
}

#[test]
fn nothing_is_dead_where_nothing_is_known() {
    let mut guest = questions::guest();
    let function = guest.symbol("load_and_add");
    guest.call(function, &[0x2000_0000]);
    assert!(matches!(guest.run(), Stop::Load { .. }));
    let mut liveness = Liveness::new([], None);
    assert_eq!(
        liveness.dead(&guest.memory, &guest.cpu, HostArguments::Any),
        raddle_cpu::Dead::default()
    );
    // Hidden edges make a function undecided.
    let hidden = functions(&guest).into_iter().map(|f| Function { has_hidden_edges: true, ..f });
    let mut liveness = Liveness::new(hidden, None);
    assert_eq!(
        liveness.dead(&guest.memory, &guest.cpu, HostArguments::Any),
        raddle_cpu::Dead::default()
    );
}

#[test]
fn a_host_function_finds_its_arguments_and_the_caller_its_frame() {
    for options in [["-O0", "-fno-ipa-ra"], ["-O2", "-fno-ipa-ra"]] {
        let (mut guest, mut liveness) = compile(&options);
        let (caller, callee) = (guest.symbol("leaves"), guest.symbol("leaf"));
        guest.code.hook(callee, 1);
        guest.call(caller, &[6]);
        let mut expected = 0u64;
        for round in 0..6 {
            assert_eq!(guest.run(), Stop::HostCall(1));
            let dead = liveness.poison(&mut guest.memory, &mut guest.cpu, HostArguments::Any);
            assert!(dead.registers.contains(&Register::R11));
            assert!(!dead.registers.contains(&Register::Rdi));
            let [a, b] =
                [Register::Rdi, Register::Rsi].map(|register| guest.cpu.register(register));
            assert_eq!([a, b], [expected, round]);
            let result = a * 3 + b + 1;
            expected += result;
            guest.cpu.return_from_host(&mut guest.memory, result).unwrap();
        }
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        assert_eq!(guest.cpu.register(Register::Rax), expected);
    }
}
