//! What is reported of Rust programs, word for word.

use raddle::sync::atomic::AtomicBool;
use raddle::sync::atomic::Ordering::SeqCst;
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Checker, cell, thread};

/// The report, with lines counted from the one given.
fn report(first_line: u32, f: impl Fn()) -> String {
    let finding = Checker::new().explore(f).into_finding().expect("a finding");
    let text = raddle::report_finding(&finding);
    let start = text.find("\n\n").expect("an empty line") + 1;
    let end = text.rfind("to replay it:").expect("a schedule");
    // Rows name the file without its directories.
    let shown = text[start..end].replace(file!(), "reports.rs");
    let mut parts = shown.split("reports.rs:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap());
        let line = number.parse::<u32>().expect("the number of a line") - first_line;
        out += &format!("line {line}{rest}");
    }
    out
}

#[test]
fn a_lost_wake_up() {
    let report = report(line!(), || {
        let (m, c) = (Mutex::new(()), Condvar::new());
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                ready.store(true, SeqCst);
                c.notify_one();
            });
            let guard = m.lock().unwrap();
            if !ready.load(SeqCst) {
                drop(c.wait(guard));
            }
        });
    });
    let expected = "
The execution, an ordinary interleaving:

   main                             main/0
1  spawn main/0                                                      line 4
2  lock mutex0                                                       line 8
3  load atomic1 (sc) = 0 (initial)                                   line 9
4                                   store atomic1 (sc) = 1           line 5
5                                   condvar2: 0 -> waking (initial)  line 6
6                                   condvar2: waking -> 0 (step 5)   line 6
7  condvar2: 0 -> 1 (step 6)                                         line 10
8  unlock mutex0                                                     line 10

main waits until the bits 0b1 of condvar2 are clear; its value is 1 since step 7 (line 10).

";
    assert_eq!(report, expected, "{report}");
}

#[test]
fn a_race_of_cells() {
    struct Shared(cell::UnsafeCell<usize>);
    // SAFETY: wrong, that is the point.
    unsafe impl Sync for Shared {}
    let report = report(line!(), || {
        let shared = Arc::new(Shared(cell::UnsafeCell::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            // SAFETY: wrong.
            other.0.with_mut(|p| unsafe { *p += 1 });
        });
        // SAFETY: wrong.
        shared.0.with(|p| unsafe { *p });
        thread.join().unwrap();
    });
    let expected = "
The execution, an ordinary interleaving:

   main                                       main/0
1  spawn main/0                                                                 line 3
2  read cell0 (initial) <- races with step 4                                    line 8
3                                             read cell0 (initial)              line 5
4                                             write cell0 <- races with step 2  line 5

";
    assert_eq!(report, expected, "{report}");
}
