//! Snapshots of threads: going back restores registers, memory and half-answered instructions.

use crate::guest::{DONE, Guest};
use crate::questions::guest;
use crate::random::Random;
use raddle_cpu::memory::Thread;
use raddle_cpu::{Cpu, Register, Stop};

const SHARED: u64 = 0x2000_0000;
const PRIVATE: u64 = 0x3000_0000;

fn start(function: &str, arguments: &[u64]) -> Guest {
    let mut guest = guest();
    let address = guest.symbol(function);
    guest.call(address, arguments);
    guest
}

#[test]
fn a_question_can_be_answered_again_and_again() {
    let mut guest = start("red_zone", &[SHARED]);
    assert_eq!(guest.run(), Stop::Load { address: SHARED, size: 8 });
    let snapshot = guest.cpu.snapshot(&mut guest.memory);
    for value in [1, 2, 100] {
        guest.cpu.answer(value);
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        assert_eq!(guest.cpu.register(Register::Rax), 41 + value);
        guest.cpu.restore(&mut guest.memory, &snapshot);
    }
}

#[test]
fn a_half_answered_instruction_is_part_of_a_snapshot() {
    let mut guest = start("copy_16", &[SHARED, PRIVATE]);
    assert_eq!(guest.run(), Stop::Load { address: SHARED, size: 8 });
    let first = guest.cpu.snapshot(&mut guest.memory);
    guest.cpu.answer(1);
    assert_eq!(guest.run(), Stop::Load { address: SHARED + 8, size: 8 });
    let second = guest.cpu.snapshot(&mut guest.memory);
    let copied = |guest: &Guest| {
        let mut bytes = [0; 16];
        guest.memory.read(PRIVATE, &mut bytes).unwrap();
        u128::from_le_bytes(bytes)
    };
    for value in [2, 3] {
        guest.cpu.restore(&mut guest.memory, &second);
        assert_eq!(copied(&guest), 0);
        guest.cpu.answer(value);
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        assert_eq!(copied(&guest), 1 | u128::from(value) << 64);
    }
    guest.cpu.restore(&mut guest.memory, &first);
    guest.cpu.answer(9);
    assert_eq!(guest.run(), Stop::Load { address: SHARED + 8, size: 8 });
    guest.cpu.answer(8);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    assert_eq!(copied(&guest), 9 | 8 << 64);
}

/// The result of `recurse` for given answers, without snapshots.
fn recurse(answers: &[u64]) -> u64 {
    let mut guest = start("recurse", &[SHARED, answers.len() as u64 - 1]);
    for answer in answers {
        assert_eq!(guest.run(), Stop::Load { address: SHARED, size: 8 });
        guest.cpu.answer(*answer);
    }
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    guest.cpu.register(Register::Rax)
}

#[test]
fn random_returns_to_nested_snapshots_give_the_results_of_straight_runs() {
    // The stack is popped between the questions, and frames are overwritten by the calls that follow.
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let depth = 1 + random.below(20) as usize;
        let mut guest = start("recurse", &[SHARED, depth as u64 - 1]);
        let mut open = Vec::new();
        let mut answers: Vec<u64> = Vec::new();
        for _ in 0..100 {
            match guest.run() {
                Stop::Load { .. } => {
                    open.push((guest.cpu.snapshot(&mut guest.memory), answers.clone()));
                }
                stop => {
                    assert_eq!(stop, Stop::HostCall(DONE));
                    assert_eq!(guest.cpu.register(Register::Rax), recurse(&answers));
                }
            }
            if answers.len() == depth || random.below(4) == 0 {
                open.truncate(1 + random.below(open.len() as u64) as usize);
                let (snapshot, old) = open.last().unwrap();
                guest.cpu.restore(&mut guest.memory, snapshot);
                answers = old.clone();
            }
            let value = random.next();
            guest.cpu.answer(value);
            answers.push(value);
        }
    }
}

/// A second thread with a stack, at the start of a function.
fn second(guest: &mut Guest, function: &str, arguments: &[u64]) -> Cpu {
    let thread = Thread::new(1).unwrap();
    let stack = guest.memory.add_thread(thread, 1 << 16).unwrap();
    let mut cpu = Cpu::new(thread);
    let done = raddle_cpu::memory::layout::host_function(DONE);
    guest.memory.store(thread, stack.end - 72, &done.to_le_bytes()).unwrap();
    cpu.set_register(Register::Rsp, stack.end - 72);
    for (register, value) in
        [Register::Rdi, Register::Rsi, Register::Rdx].into_iter().zip(arguments)
    {
        cpu.set_register(register, *value);
    }
    cpu.jump(guest.symbol(function));
    cpu
}

fn extended(guest: &Guest, address: u64) -> [u8; 10] {
    let mut bytes = [0; 10];
    guest.memory.read(address, &mut bytes).unwrap();
    bytes
}

#[test]
fn the_state_of_x87_belongs_to_the_thread() {
    let mut expected = Vec::new();
    for swapped in [false, true] {
        let mut guest = start("thirds", &[SHARED, PRIVATE, PRIVATE + 64]);
        let b = Thread::new(1).unwrap();
        for (index, value) in [1u64, 3].into_iter().enumerate() {
            let place = PRIVATE + 8 * index as u64;
            guest.memory.write_initial(place, &value.to_le_bytes()).unwrap();
            guest.memory.write_initial(place + 4096, &(value + 4).to_le_bytes()).unwrap();
        }
        let page = PRIVATE + 4096..PRIVATE + 8192;
        guest.memory.set_state(page, raddle_cpu::memory::State::Private(b));
        let mut other = second(&mut guest, "thirds", &[SHARED, PRIVATE + 4096, PRIVATE + 4160]);
        let question = Stop::Load { address: SHARED, size: 8 };
        assert_eq!(guest.run(), question);
        if swapped {
            // The second thread runs in the middle of the first one, and is taken back once.
            assert_eq!(other.run(&mut guest.memory, &mut guest.code), question);
            let snapshot = other.snapshot(&mut guest.memory);
            other.answer(0);
            assert_eq!(other.run(&mut guest.memory, &mut guest.code), Stop::HostCall(DONE));
            other.restore(&mut guest.memory, &snapshot);
        }
        guest.cpu.answer(0);
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        if !swapped {
            assert_eq!(other.run(&mut guest.memory, &mut guest.code), question);
        }
        other.answer(0);
        assert_eq!(other.run(&mut guest.memory, &mut guest.code), Stop::HostCall(DONE));
        expected.push((extended(&guest, PRIVATE + 64), extended(&guest, PRIVATE + 4160)));
    }
    assert_eq!(expected[0], expected[1]);
    // 1/3 and 5/7 or their reciprocals, in extended precision.
    assert_ne!(expected[0].0, expected[0].1);
    assert_ne!(expected[0].0, [0; 10]);
}

#[test]
fn rounding_modes_belong_to_the_thread() {
    let third = 1.0f64 / 3.0;
    for (mode, expected) in [(0u32, third), (0x4000, f64::from_bits(third.to_bits() + 1))] {
        let mut guest = start("rounding", &[SHARED, PRIVATE]);
        guest.memory.write_initial(PRIVATE, &(0x1f80 | mode).to_le_bytes()).unwrap();
        assert_eq!(guest.run(), Stop::Load { address: SHARED, size: 8 });
        // The host computes as ever in between.
        assert_eq!((std::hint::black_box(1.0) / 3.0f64).to_bits(), third.to_bits());
        guest.cpu.answer(0);
        assert_eq!(guest.run(), Stop::HostCall(DONE));
        assert_eq!(f64::from_bits(guest.cpu.register(Register::Rax)), expected);
        let mut stored = [0; 4];
        guest.memory.read(PRIVATE, &mut stored).unwrap();
        // The inexact flag is set.
        assert_eq!(u32::from_le_bytes(stored), 0x1fa0 | mode);
    }
}
