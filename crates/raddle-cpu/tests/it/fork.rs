//! Processes that are forked translate independently of each other, although their stubs are in shared pages.

use crate::guest::{DONE, Guest};
use raddle_cpu::{Register, Stop};
use std::io::{Read, Write};
use std::process::Command;

const CHILD: &str = "RADDLE_FORKED";

#[test]
fn a_forked_process_keeps_its_stubs() {
    if std::env::var_os(CHILD).is_some() {
        return fork_and_compare();
    }
    // A process of its own: other tests run threads that must not be forked.
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fork::a_forked_process_keeps_its_stubs", "--test-threads=1"])
        .env(CHILD, "1")
        .status()
        .unwrap();
    assert!(status.success());
}

fn call(guest: &mut Guest, function: &str, argument: u64) -> u64 {
    let address = guest.symbol(function);
    guest.call(address, &[argument]);
    assert_eq!(guest.run(), Stop::HostCall(DONE));
    guest.cpu.register(Register::Rax)
}

fn fork_and_compare() {
    let mut guest = Guest::assembly();
    assert_eq!(call(&mut guest, "highest_bit", 40), 5);
    let (mut from_child, mut to_parent) = std::io::pipe().unwrap();
    let (mut from_parent, mut to_child) = std::io::pipe().unwrap();
    // SAFETY: the child uses what this thread owns, and leaves without running destructors.
    match unsafe { libc::fork() } {
        0 => {
            let before = call(&mut guest, "lowest_bit", 40);
            to_parent.write_all(&[1]).unwrap();
            // The parent translates another instruction in the meantime.
            from_parent.read_exact(&mut [0]).unwrap();
            let after = call(&mut guest, "lowest_bit", 40);
            let old = call(&mut guest, "highest_bit", 40);
            let status = if [before, after, old] == [3, 3, 5] { 0 } else { 1 };
            // SAFETY: ends the process.
            unsafe { libc::_exit(status) }
        }
        child => {
            from_child.read_exact(&mut [0]).unwrap();
            assert_eq!(call(&mut guest, "count_bits", 40), 2);
            to_child.write_all(&[1]).unwrap();
            let mut status = 0;
            // SAFETY: waits for the child and writes a local variable.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
        }
    }
}
