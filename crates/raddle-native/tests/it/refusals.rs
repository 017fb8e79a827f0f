//! What a guest may not do is refused by name and place, when it does it.

use crate::harness::{build_c, run_as_guest};

/// Runs C code that is stopped. Returns what stopped it.
fn stopped(code: &str) -> String {
    let program = build_c(code, &["-O1", "-g"]);
    run_as_guest(&program.path).status.expect_err("the program is stopped")
}

#[test]
fn files_are_refused_with_their_path() {
    let message =
        stopped("#include <fcntl.h>\nint main(void) { return open(\"/etc/passwd\", O_RDONLY); }");
    assert!(
        message.contains(
            "in libc.so.6: system call `openat` on \"/etc/passwd\": files are only written, or read if --allow-read names them"
        ),
        "{message}"
    );
    let message = stopped("#include <stdio.h>\nint main(void) { fopen(\"/tmp/created\", \"w\"); }");
    assert!(message.contains("system call `openat` on \"/tmp/created\""), "{message}");
    assert!(!std::path::Path::new("/tmp/created").exists());
}

#[test]
fn processes_and_sockets_are_refused_by_name() {
    let message = stopped("#include <unistd.h>\nint main(void) { fork(); }");
    assert!(
        message.contains("system call `clone`: threads are created by modelled functions"),
        "{message}"
    );
    let message = stopped(
        "#include <unistd.h>\nint main(void) { execl(\"/bin/true\", \"true\", (char *)0); }",
    );
    assert!(message.contains("system call `execve` (59) is not modelled"), "{message}");
    let message =
        stopped("#include <sys/socket.h>\nint main(void) { socket(AF_INET, SOCK_STREAM, 0); }");
    assert!(
        message.contains("socket+0x")
            && message.contains("system call `socket` (41) is not modelled"),
        "{message}"
    );
}

#[test]
fn code_that_is_made_at_run_time_is_refused() {
    let code = "#include <sys/mman.h>\nint main(void) { mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }";
    let message = stopped(code);
    assert!(
        message.contains("system call `mmap`: generating code at run time is not modelled"),
        "{message}"
    );
}

#[test]
fn handlers_of_signals_are_refused_when_a_signal_is_sent() {
    let code = "#include <signal.h>\nstatic void f(int s) {}\nint main(void) { signal(SIGUSR1, f); raise(SIGUSR1); }";
    let message = stopped(code);
    assert!(
        message.contains("system call `tgkill`: handlers of signals are not modelled"),
        "{message}"
    );
}

#[test]
fn waiting_forever_is_reported() {
    let code = r"
        #include <linux/futex.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void) { int word = 5; syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, 0, 0, 0); }
    ";
    assert_eq!(stopped(code), "futex operation 0");
}

#[test]
fn endless_output_is_refused() {
    let message = stopped("#include <stdio.h>\nint main(void) { printf(\"%2000000000d\", 1); }");
    assert!(
        message.contains("system call `write`: the program writes more than 64 MiB"),
        "{message}"
    );
}

#[test]
fn ranges_that_no_mapping_has_are_refused() {
    let code = "#include <sys/mman.h>\nint main(void) { munmap((void *)4096, 1ul << 46); }";
    assert!(stopped(code).contains("system call `munmap`: the range is larger than any mapping"));
}

#[test]
fn bad_buffers_are_errors_of_the_call() {
    let code = r"
        #include <errno.h>
        #include <unistd.h>
        int main(void) { return write(1, (void *)16, 5) == -1 && errno == EFAULT ? 3 : 4; }
    ";
    let program = build_c(code, &["-O1"]);
    let status = run_as_guest(&program.path).status;
    assert_eq!(status, Ok(raddle_native::process::Status::Exited(3)));
}
