//! Results of instructions that the differential tests do not build: branches by a count, loads at a vector of
//! indices, mxcsr.

use crate::guest::DONE;
use crate::questions::guest;
use raddle_cpu::memory::{FaultKind, Unmapped};
use raddle_cpu::{Register, Stop};

const PRIVATE: u64 = 0x3000_0000;

/// What a function returns that may read these bytes at [`PRIVATE`].
fn result(function: &str, arguments: &[u64], bytes: &[u8]) -> u64 {
    let mut guest = guest();
    guest.memory.write_initial(PRIVATE, bytes).unwrap();
    let address = guest.symbol(function);
    guest.call(address, arguments);
    guest.cpu.set_budget(1000);
    assert_eq!(guest.run(), Stop::HostCall(DONE), "{function}");
    guest.cpu.register(Register::Rax)
}

#[test]
fn conditional_loops_end_by_their_condition_or_count() {
    assert_eq!(result("count_until_equal", &[20, 5], &[]), 15);
    assert_eq!(result("count_until_equal", &[20, 20], &[]), 0);
    assert_eq!(result("count_until_equal", &[20, 50], &[]), 0);
    assert_eq!(result("count_while_zero", &[6, PRIVATE], &[0, 0, 7, 0, 0, 0]), 3);
    assert_eq!(result("count_while_zero", &[6, PRIVATE], &[0; 6]), 0);
}

#[test]
fn loops_with_a_count_of_32_bits_ignore_and_clear_the_upper_half() {
    assert_eq!(result("count_in_32_bits", &[0xffff_ffff_0000_0003], &[]), 3);
}

#[test]
fn mxcsr_has_the_same_instructions_with_a_vex_prefix() {
    assert_eq!(result("rounding_vex", &[PRIVATE], &[0x80, 0x5f, 0, 0]), 0x5f80);
}

fn words(values: [u32; 4]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn gathers_load_the_selected_elements_and_clear_the_mask() {
    let [table, indices, mask, target] = [0x40, 0x80, 0x90, 0xa0].map(|offset| PRIVATE + offset);
    let mut guest = guest();
    let mut write = |address, values| guest.memory.write_initial(address, &words(values)).unwrap();
    write(table - 8, [10, 11, 12, 13]);
    write(table + 8, [14, 15, 16, 17]);
    write(target, [1, 2, 3, 4]);
    // The index that is not selected is that of unmapped memory.
    write(indices, [5, u32::MAX - 1, 1 << 30, 0]);
    write(mask, [1 << 31, u32::MAX, 1, 1 << 31]);
    let function = guest.symbol("gather");
    guest.call(function, &[table, indices, mask]);
    guest.cpu.set_register(Register::Rcx, target);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    let mut bytes = vec![0; 32];
    guest.memory.read(mask, &mut bytes).unwrap();
    assert_eq!(bytes[..16], [0; 16]);
    assert_eq!(bytes[16..], words([17, 10, 3, 12]));
    guest.memory.write_initial(mask, &words([0, 0, 1 << 31, 0])).unwrap();
    guest.call(function, &[table, indices, mask]);
    guest.cpu.set_register(Register::Rcx, target);
    let Stop::Fault(fault) = guest.run() else { panic!() };
    assert_eq!(
        (fault.kind, fault.address),
        (FaultKind::Unmapped(Unmapped::Nothing), table + (1 << 32))
    );
}
