//! Questions, effects and answers: what stops a thread, and what an answer does.

use crate::guest::{DONE, Guest};
use raddle_cpu::memory::{RegionKind, State, Thread, layout};
use raddle_cpu::{Fence, Operation, Register, Stop};

const SHARED: u64 = 0x2000_0000;
const PRIVATE: u64 = 0x3000_0000;

/// The guest with a page of shared and a page of private memory.
pub(crate) fn guest() -> Guest {
    let mut guest = Guest::assembly();
    let main = State::Private(Thread::MAIN);
    guest.memory.map(SHARED..SHARED + 4096, RegionKind::Data, State::Shared, "shared").unwrap();
    guest.memory.map(PRIVATE..PRIVATE + 8192, RegionKind::Data, main, "private").unwrap();
    guest
}

fn start(function: &str, arguments: &[u64]) -> Guest {
    let mut guest = guest();
    let address = guest.symbol(function);
    guest.call(address, arguments);
    guest
}

/// Answers and runs on.
fn answer(guest: &mut Guest, value: u64) -> Stop {
    guest.cpu.answer(value);
    guest.run()
}

#[test]
fn a_load_of_shared_memory_takes_its_value_from_the_answer() {
    let mut guest = start("load_and_add", &[SHARED + 8]);
    let question = Stop::Load { address: SHARED + 8, size: 8 };
    assert_eq!(guest.run(), question);
    // Unanswered, it is asked again.
    assert_eq!(guest.run(), question);
    assert_eq!(answer(&mut guest, 41), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.register(Register::Rax), 42);
    let mut bytes = [1; 8];
    guest.memory.read(SHARED + 8, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 8]);
}

#[test]
fn a_plain_addition_to_memory_is_a_load_and_a_store() {
    let mut guest = start("add_to_memory", &[SHARED, 5]);
    assert_eq!(guest.run(), Stop::Load { address: SHARED, size: 4 });
    let store = Stop::Store { address: SHARED, size: 4, value: 12 };
    assert_eq!(answer(&mut guest, 7), store);
    assert_eq!(answer(&mut guest, 0), Stop::HostCall(DONE));
}

#[test]
fn atomic_instructions_are_one_question_with_their_operation() {
    let rmw = |size, operation| Stop::ReadModifyWrite { address: SHARED, size, operation };
    let mut guest = start("locked_add", &[SHARED, 5]);
    assert_eq!(guest.run(), rmw(4, Operation::Add(5)));
    assert_eq!(answer(&mut guest, u64::from(u32::MAX)), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.flags() & raddle_cpu::CF, raddle_cpu::CF);

    let mut guest = start("exchange", &[SHARED, 5]);
    assert_eq!(guest.run(), rmw(8, Operation::Exchange(5)));
    assert_eq!(answer(&mut guest, 9), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.register(Register::Rax), 9);

    for (old, is_equal) in [(3, true), (4, false)] {
        let mut guest = start("compare_exchange", &[SHARED, 3, 8]);
        let operation = Operation::CompareExchange { expected: 3, new: 8 };
        assert_eq!(guest.run(), rmw(8, operation));
        assert_eq!(operation.apply(old.into(), 8), if is_equal { 8 } else { 4 });
        assert_eq!(answer(&mut guest, old), Stop::HostCall(DONE));
        assert_eq!(guest.cpu.flags() & raddle_cpu::ZF != 0, is_equal);
        assert_eq!(guest.cpu.register(Register::Rax), old);
    }
}

#[test]
fn a_double_width_exchange_is_one_question_of_16_bytes() {
    let mut guest = start("compare_exchange_16", &[SHARED, 1, 2]);
    let operation = Operation::CompareExchange { expected: 0, new: 1 | 2 << 64 };
    assert_eq!(guest.run(), Stop::ReadModifyWrite { address: SHARED, size: 16, operation });
    guest.cpu.answer_wide(5 | 6 << 64);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.register(Register::Rax), 5);
    assert_eq!(guest.cpu.register(Register::Rdx), 6);
    // It must be aligned, shared or not.
    for place in [SHARED + 8, PRIVATE + 8] {
        let mut guest = start("compare_exchange_16", &[place, 1, 2]);
        let Stop::Fault(fault) = guest.run() else { panic!() };
        assert_eq!(fault.kind, raddle_cpu::memory::FaultKind::Misaligned);
        assert_eq!((fault.address, fault.size, fault.write), (place, 16, true));
    }
}

#[test]
fn wide_accesses_are_split_into_questions_of_at_most_8_bytes() {
    let mut guest = start("copy_16", &[SHARED, SHARED + 64]);
    assert_eq!(guest.run(), Stop::Load { address: SHARED, size: 8 });
    assert_eq!(answer(&mut guest, 1), Stop::Load { address: SHARED + 8, size: 8 });
    let store = |place, value| Stop::Store { address: SHARED + place, size: 8, value };
    assert_eq!(answer(&mut guest, 2), store(64, 1));
    assert_eq!(answer(&mut guest, 0), store(72, 2));
    assert_eq!(answer(&mut guest, 0), Stop::HostCall(DONE));

    let mut guest = start("store_extended", &[SHARED]);
    assert_eq!(guest.run(), store(0, 1 << 63));
    let rest = Stop::Store { address: SHARED + 8, size: 2, value: 0x3fff };
    assert_eq!(answer(&mut guest, 0), rest);
    assert_eq!(answer(&mut guest, 0), Stop::HostCall(DONE));
}

#[test]
fn a_repeated_instruction_asks_per_element() {
    let mut guest = start("copy_bytes", &[PRIVATE + 4094, SHARED, 4]);
    for index in 0..4 {
        assert_eq!(guest.run(), Stop::Load { address: SHARED + index, size: 1 });
        assert_eq!(guest.cpu.register(Register::Rcx), 4 - index);
        guest.cpu.answer(10 + index);
    }
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    let mut bytes = [0; 4];
    guest.memory.read(PRIVATE + 4094, &mut bytes).unwrap();
    assert_eq!(bytes, [10, 11, 12, 13]);
}

#[test]
fn a_private_store_follows_the_question_of_the_same_instruction() {
    let mut guest = start("push_memory", &[SHARED]);
    let pointer = guest.cpu.register(Register::Rsp);
    assert_eq!(guest.run(), Stop::Load { address: SHARED, size: 8 });
    assert_eq!(guest.cpu.register(Register::Rsp), pointer);
    assert_eq!(answer(&mut guest, 77), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.register(Register::Rax), 77);
}

#[test]
fn fences_and_pauses_stop_after_the_instruction() {
    let mut guest = start("fences", &[]);
    let stops = [
        Stop::Fence(Fence::Full),
        Stop::Fence(Fence::Store),
        Stop::Fence(Fence::Load),
        Stop::Pause,
    ];
    for stop in stops {
        assert_eq!(guest.run(), stop);
    }
    assert_eq!(guest.run(), Stop::HostCall(DONE));
}

#[test]
fn non_temporal_stores_are_refused_on_shared_memory_only() {
    let mut guest = start("stream", &[PRIVATE, 5]);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    let mut guest = start("stream", &[SHARED, 5]);
    let address = guest.symbol("stream");
    let Stop::Refused(refusal) = guest.run() else { panic!() };
    assert_eq!(refusal.address, address);
    assert_eq!(refusal.bytes, [0x48, 0x0f, 0xc3, 0x37]);
    assert_eq!(refusal.instruction, "movnti [rdi],rsi");
}

#[test]
fn memory_of_another_thread_stops_the_access() {
    let other = Thread::new(1).unwrap();
    let mut guest = guest();
    guest.memory.set_state(PRIVATE + 4..PRIVATE + 5, State::Private(other));
    let address = guest.symbol("load_and_add");
    guest.call(address, &[PRIVATE]);
    let escape = Stop::Escape {
        address: PRIVATE,
        size: 8,
        owned: PRIVATE + 4,
        state: State::Private(other),
    };
    assert_eq!(guest.run(), escape);
    guest.memory.set_state(PRIVATE..PRIVATE + 8, State::Shared);
    assert_eq!(guest.run(), Stop::Load { address: PRIVATE, size: 8 });
}

#[test]
fn the_owner_asks_for_its_own_stack_once_it_is_shared() {
    let mut guest = start("red_zone", &[SHARED]);
    let slot = guest.cpu.register(Register::Rsp) - 8;
    guest.memory.set_state(slot..slot + 8, State::Shared);
    assert_eq!(guest.run(), Stop::Store { address: slot, size: 8, value: 41 });
    assert_eq!(answer(&mut guest, 0), Stop::Load { address: SHARED, size: 8 });
    assert_eq!(answer(&mut guest, 1), Stop::Load { address: slot, size: 8 });
}

#[test]
fn host_functions_are_called_and_returned_from() {
    let mut guest = start("call_host", &[layout::host_function(7)]);
    assert_eq!(guest.run(), Stop::HostCall(7));
    guest.cpu.return_from_host(&mut guest.memory, 10).unwrap();
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.register(Register::Rax), 11);

    // A function of the guest becomes one of the host.
    let mut guest = guest;
    let (caller, hooked) = (guest.symbol("call_host"), guest.symbol("store_8"));
    guest.code.hook(hooked, 8);
    guest.call(caller, &[hooked]);
    assert_eq!(guest.run(), Stop::HostCall(8));
    assert_eq!(guest.cpu.ip(), hooked);
}

#[test]
fn a_system_call_stops_and_goes_on_with_its_result() {
    let mut guest = start("system_call", &[]);
    assert_eq!(guest.run(), Stop::Syscall);
    assert_eq!(guest.cpu.register(Register::Rax), 39);
    guest.cpu.set_register(Register::Rax, 1000);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.register(Register::Rax), 1001);
}

#[test]
fn the_thread_pointer_is_the_base_of_fs() {
    let mut guest = start("set_fs", &[]);
    guest.memory.store(Thread::MAIN, PRIVATE + 8, &5u64.to_le_bytes()).unwrap();
    guest.memory.store(Thread::MAIN, PRIVATE + 16, &7u64.to_le_bytes()).unwrap();
    guest.cpu.set_fs_base(PRIVATE);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    assert_eq!(guest.cpu.register(Register::Rax), 12);
}
