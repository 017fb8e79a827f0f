//! Results of instructions that the differential tests do not build: branches by a count.

use crate::guest::DONE;
use crate::questions::guest;
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
