//! Guest memory needs no more address space of the host than it uses.

use raddle_cpu::memory::{Memory, State, Thread};
use std::process::Command;

const CHILD: &str = "RADDLE_LIMITED";

#[test]
fn two_gigabytes_of_address_space_are_enough() {
    if std::env::var_os(CHILD).is_some() {
        return use_memory();
    }
    let status = Command::new("sh")
        .args(["-c", "ulimit -v 2000000 && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "limits::two_gigabytes_of_address_space_are_enough", "--test-threads=1"])
        .env(CHILD, "1")
        .status()
        .unwrap();
    assert!(status.success());
}

/// Large stacks and blocks of which little is touched, and 300 MB that are.
fn use_memory() {
    let mut memory = Memory::new();
    for index in 0..64 {
        let thread = Thread::new(index).unwrap();
        let stack = memory.add_thread(thread, 1 << 30).unwrap();
        memory.store(thread, stack.end - 8, &[1; 8]).unwrap();
        let block = memory.allocate(thread, 1 << 34, 16, State::Private(thread));
        memory.store(thread, block.unwrap() + (1 << 33), &[1; 8]).unwrap();
    }
    let block = memory.allocate(Thread::MAIN, 300 << 20, 16, State::Private(Thread::MAIN)).unwrap();
    for page in 0..300 << 8 {
        memory.store(Thread::MAIN, block + page * 4096, &page.to_le_bytes()).unwrap();
    }
    let mut bytes = [0; 8];
    memory.load(Thread::MAIN, block + (77 << 12), &mut bytes).unwrap();
    assert_eq!(u64::from_le_bytes(bytes), 77);
}
