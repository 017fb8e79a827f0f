//! `raddle history stats`.

use insta::assert_snapshot;

use super::{run, run_with};

#[test]
fn a_row_for_each_history() {
    let files = "examples/several-sources.txt examples/lock.txt examples/lost-update.txt \
                 examples/message-passing-fenced.txt";
    assert_snapshot!(run(&format!("history stats {files}")), @r"
exit 0
--- stdout
history                              threads  events  locations  locks  reads  writes  updates  fences  several sources  most sources  longest thread
examples/several-sources.txt         3        11      2          0      6      5       0        0       4                3             4
examples/lock.txt                    2        8       1          1      2      2       0        0       0                1             4
examples/lost-update.txt             2        2       1          0      0      0       2        0       0                1             1
examples/message-passing-fenced.txt  2        5       2          0      2      2       0        1       0                1             3
--- stderr
");
}

#[test]
fn every_kind_of_event_is_counted() {
    let history = "\
        init: x=1\n\
        P0: SPAWN P1; F; F.ss; CAS x 1 2; CAS x 0 5 failed 2; LOCK m; UNLOCK m; JOIN P1\n\
        P1: RMW y 0 1; R x 1; LOCK m; UNLOCK m\n\
        P2:\n";
    assert_snapshot!(run_with("history stats -", history), @r"
exit 0
--- stdout
history  threads  events  locations  locks  reads  writes  updates  fences  several sources  most sources  longest thread
-        3        12      2          1      1      0       3        2       2                3             8
--- stderr
");
}

#[test]
fn invalid_input_does_not_hide_the_others() {
    assert_snapshot!(run("history stats examples/nowhere.txt examples/iriw.txt"), @r"
exit 2
--- stdout
history            threads  events  locations  locks  reads  writes  updates  fences  several sources  most sources  longest thread
examples/iriw.txt  4        6       2          0      4      2       0        0       0                1             2
--- stderr
examples/nowhere.txt: cannot read: No such file or directory (os error 2)
");
}

#[test]
fn only_invalid_input() {
    assert_snapshot!(run("history stats examples/nowhere.txt"), @r"
exit 2
--- stdout
--- stderr
examples/nowhere.txt: cannot read: No such file or directory (os error 2)
");
}
