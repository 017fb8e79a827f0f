//! Faults, refusals and budgets end or interrupt a thread precisely.

use crate::guest::{DONE, Guest};
use crate::questions::guest;
use raddle_cpu::memory::{Fault, FaultKind, RegionKind, Unmapped};
use raddle_cpu::{Code, Readings, Register, Stop};

const PRIVATE: u64 = 0x3000_0000;

fn start(function: &str, arguments: &[u64]) -> Guest {
    let mut guest = guest();
    let address = guest.symbol(function);
    guest.call(address, arguments);
    guest
}

fn fault(function: &str, arguments: &[u64]) -> (Guest, Box<Fault>) {
    let mut guest = start(function, arguments);
    match guest.run() {
        Stop::Fault(fault) => (guest, fault),
        stop => panic!("{stop:?}"),
    }
}

#[test]
fn divisions_fault_at_the_instruction() {
    for (dividend, divisor) in [(1, 0), (1 << 31, u64::MAX)] {
        let (guest, fault) = fault("divide", &[dividend, divisor]);
        assert_eq!(fault.kind, FaultKind::Divide);
        assert_eq!(fault.address, guest.symbol("divide") + 3);
        assert_eq!(fault.region, Some(RegionKind::Text));
        assert_eq!(guest.cpu.ip(), fault.address);
    }
}

#[test]
fn misaligned_vector_accesses_fault() {
    let (guest, fault) = fault("aligned", &[PRIVATE + 8]);
    assert_eq!((fault.kind, fault.address), (FaultKind::Misaligned, PRIVATE + 8));
    assert_eq!(guest.cpu.ip(), guest.symbol("aligned"));
}

#[test]
fn jumps_outside_of_text_fault_at_their_target() {
    for target in [0, PRIVATE, u64::MAX, 1 << 47] {
        let (_, fault) = fault("jump", &[target]);
        assert_eq!((fault.kind, fault.address), (FaultKind::Jump, target));
    }
}

#[test]
fn invalid_privileged_and_breakpoint_instructions_fault() {
    for (function, kind) in [
        ("undefined", FaultKind::InvalidInstruction),
        ("breakpoint", FaultKind::Breakpoint),
        ("halt", FaultKind::GeneralProtection),
    ] {
        let (guest, fault) = fault(function, &[]);
        assert_eq!((fault.kind, fault.address), (kind, guest.symbol(function)));
    }
}

#[test]
fn stores_to_text_and_to_unmapped_memory_fault() {
    let text = guest().symbol("store_8");
    let (_, fault_in_text) = fault("store_8", &[text, 1]);
    assert_eq!(fault_in_text.kind, FaultKind::ReadOnly);
    assert_eq!(fault_in_text.region, Some(RegionKind::Text));
    let (_, fault) = fault("store_8", &[PRIVATE + 8190, 1]);
    assert_eq!(fault.kind, FaultKind::Unmapped(Unmapped::Nothing));
    assert_eq!((fault.address, fault.size, fault.write), (PRIVATE + 8192, 8, true));
}

#[test]
fn a_stack_overflow_is_reported_as_one() {
    let (_, fault) = fault("recurse", &[PRIVATE, 1 << 20]);
    assert_eq!(fault.kind, FaultKind::Unmapped(Unmapped::StackGuard));
    assert_eq!(fault.region, Some(RegionKind::Stack));
}

#[test]
fn an_unknown_instruction_is_refused_only_when_it_is_executed() {
    assert_eq!(start("never_executed", &[0]).run(), Stop::HostCall(DONE));
    let mut guest = start("avx512", &[]);
    let Stop::Refused(refusal) = guest.run() else { panic!() };
    assert_eq!(refusal.address, guest.symbol("avx512"));
    assert_eq!(
        refusal.to_string(),
        format!("`vpaddd zmm0,zmm1,zmm2` at {:#x} is not modelled: it is AVX-512", refusal.address)
    );
}

#[test]
fn unmasked_floating_point_exceptions_are_refused() {
    let Stop::Refused(refusal) = start("unmask", &[]).run() else { panic!() };
    assert_eq!(refusal.reason, "it unmasks floating-point exceptions");
}

#[test]
fn flags_without_a_model_are_refused() {
    for flag in [8, 14, 18, 21] {
        let Stop::Refused(refusal) = start("set_flags", &[1 << flag]).run() else { panic!() };
        assert_eq!(refusal.instruction, "popfq");
    }
    assert_eq!(start("set_flags", &[0x3ad7]).run(), Stop::HostCall(DONE));
}

#[test]
fn readings_are_deterministic_or_refused() {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut guest = start("random", &[]);
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        seen.push(guest.cpu.register(Register::Rax));
    }
    assert_eq!(seen[0], seen[1]);
    let mut guest = start("random", &[]);
    guest.code = Code::new(Readings::Refused);
    assert!(matches!(guest.run(), Stop::Refused(_)));
}

#[test]
fn a_budget_ends_loops_and_can_be_extended() {
    for function in ["forever", "many_bytes"] {
        let mut guest = start(function, &[0, PRIVATE]);
        // The second one loads bytes; three slices stay within its 8 KiB.
        for _ in 0..3 {
            guest.cpu.set_budget(1000);
            assert_eq!(guest.run(), Stop::Budget);
            assert_eq!(guest.run(), Stop::Budget);
        }
    }
}

#[test]
fn a_budget_does_not_change_the_result() {
    let mut guest = start("recurse", &[PRIVATE, 50]);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    let expected = guest.cpu.register(Register::Rax);
    let mut guest = start("recurse", &[PRIVATE, 50]);
    guest.cpu.set_budget(0);
    let mut stops = 0;
    while guest.run() == Stop::Budget {
        stops += 1;
        guest.cpu.set_budget(3);
    }
    assert!(stops > 50);
    assert_eq!(guest.cpu.register(Register::Rax), expected);
}

#[test]
fn the_processor_is_a_baseline_one_with_large_caches() {
    let identify = |leaf: u64, subleaf: u64| {
        let mut guest = start("identify", &[leaf, subleaf]);
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        [Register::Rax, Register::R8, Register::Rcx, Register::Rdx].map(|r| guest.cpu.register(r))
    };
    assert_eq!(identify(0, 0)[0], 4);
    let [_, _, c, d] = identify(1, 0);
    // cmpxchg16b and nothing else; SSE2.
    assert_eq!((c, d >> 26 & 1), (1 << 13, 1));
    let sizes = [0, 1, 2, 3].map(|cache| {
        let [_, b, c, _] = identify(4, cache);
        ((b >> 22) + 1) * ((b & 0xfff) + 1) * (c + 1)
    });
    assert_eq!(sizes, [32 << 10, 32 << 10, 1 << 20, 1 << 30]);
    assert_eq!(identify(4, 4)[0], 0);
    assert_eq!(identify(7, 0), [0; 4]);
}

#[test]
fn trampolines_run_as_they_are_written_if_their_memory_is_executable() {
    let mut guest = start("trampoline", &[20, PRIVATE]);
    let Stop::Fault(fault) = guest.run() else { panic!() };
    assert_eq!((fault.kind, fault.address), (FaultKind::Jump, PRIVATE));
    guest.memory.set_executable(PRIVATE..PRIVATE + 64);
    for (function, expected) in [("trampoline", 41), ("self_modifying", 7), ("trampoline", 41)] {
        let address = guest.symbol(function);
        guest.call(address, &[20, PRIVATE]);
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        assert_eq!(guest.cpu.register(Register::Rax), expected, "{function}");
    }
    // Code that another thread may change is refused.
    guest.memory.set_state(PRIVATE..PRIVATE + 64, raddle_cpu::memory::State::Shared);
    let address = guest.symbol("jump");
    guest.call(address, &[PRIVATE]);
    let Stop::Refused(refusal) = guest.run() else { panic!() };
    assert_eq!(refusal.address, PRIVATE);
    assert_eq!(refusal.instruction, "mov eax,15h");
}
