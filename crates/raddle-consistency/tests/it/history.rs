//! What the readers refuse: every message, with its line and column.

use raddle_consistency::history::parse;

fn assert_refused(cases: &[(&str, &str)]) {
    for (input, expected) in cases {
        let message = parse(input.as_bytes()).expect_err(input).to_string();
        assert_eq!(message, *expected, "{input}");
    }
}

#[test]
fn malformed_text_is_rejected_at_the_right_place() {
    assert_refused(&[
        ("", "1:1: there are no threads: expected a line such as 'P0: W x 1; R y 0'"),
        (
            "# only a comment\ninit: x=0",
            "2:10: there are no threads: expected a line such as 'P0: W x 1; R y 0'",
        ),
        ("W x 1", "1:3: found 'x': expected ':' after 'W', as in 'P0: W x 1'"),
        ("P0 W x 1", "1:4: found 'W': expected ':' after 'P0', as in 'P0: W x 1'"),
        (": W x 1", "1:1: found ':': expected a thread, init or locations, then ':'"),
        (
            "P0: X x 1",
            "1:5: found 'X': expected an event: R, W, RMW, CAS, F, F.ss, LOCK, UNLOCK, SPAWN or JOIN",
        ),
        ("P0: W x", "1:8: the line ends here: expected the value written"),
        ("P0: W x; F", "1:8: found ';': expected the value written"),
        ("P0: W x 08", "1:9: '08' is not a value: expected an integer without leading zeros"),
        (
            "P0: W x 18446744073709551616",
            "1:9: '18446744073709551616' is out of range: expected a value from -9223372036854775808 to 18446744073709551615",
        ),
        (
            "P0: W x -9223372036854775809",
            "1:9: '-9223372036854775809' is out of range: expected a value from -9223372036854775808 to 18446744073709551615",
        ),
        ("P0: W x 0xg", "1:9: '0xg' is not a value: expected an integer without leading zeros"),
        ("P0: W x 1 2", "1:11: found '2': expected ';' or the end of the line"),
        (
            "P0: W x 1 <- init",
            "1:11: W has no source: expected '<-' after R, RMW, CAS or LOCK only",
        ),
        (
            "P0: W x 1; F F",
            "1:14: found 'F' after a fence, which has no location: expected ';' or the end of the line",
        ),
        (
            "P0: ; F",
            "1:5: found ';': expected an event: R, W, RMW, CAS, F, F.ss, LOCK, UNLOCK, SPAWN or JOIN",
        ),
        (
            "P0: W x{ 1",
            "1:8: '{' cannot be in the name of a location: expected letters, digits and _ $ . [ ] ( ) + - * / & @ >",
        ),
        (
            "P.0: W x 1",
            "1:2: '.' cannot be in the name of a thread: expected letters, digits and _ $ [ ] ( ) + - * / & @ >",
        ),
        ("init: x", "1:8: the line ends here: expected '=' and the initial value of 'x'"),
        (
            "init: x=0 y=1\ninit: x=2\nP0: F",
            "2:7: 'x' is initially 0 already: expected one initial value",
        ),
        ("init: x=0;\nP0: F", "1:10: found ';': expected LOCATION=VALUE"),
        ("P0: R x 1 <- P1", "1:14: 'P1' is not a source: expected THREAD.INDEX or init"),
        ("P0: R x 1 <- P0.", "1:17: '' is not an index: expected 0, 1, 2, ..."),
        (
            "P0: W x 1; R x 1 <- P0.99999999999999999999",
            "1:24: '99999999999999999999' is too large: expected an index below 2^32",
        ),
        ("P0: W x 1; R x 1 <- P0.01", "1:24: '01' is not an index: expected 0, 1, 2, ..."),
        ("P0: SPAWN init", "1:11: 'init' is not a thread: expected another name"),
        ("P0: R x 0 <", "1:11: found '<': expected ';' or the end of the line"),
        ("P0: R x 0 <- ", "1:14: the line ends here: expected a source: THREAD.INDEX or init"),
        ("P0: CAS x 0 1 failed", "1:21: the line ends here: expected the value read"),
        (
            "P0: CAS x 0 1 succeeded 0",
            "1:15: found 'succeeded': expected ';' or the end of the line",
        ),
        (
            r#"[{"thread":"P0"}]"#,
            "1:2: '{' cannot be in the name of a thread: expected letters, digits and _ $ [ ] ( ) + - * / & @ >",
        ),
        ("[[[[", "1:5: the line ends here: expected ':' after '[[[[', as in 'P0: W x 1'"),
    ]);
}

#[test]
fn text_that_makes_no_sense_is_refused_at_the_word_to_blame() {
    assert_refused(&[
        (
            "P0: W x 1; R x 1 <- P0.5",
            "1:21: there is no event P0.5: expected one of P0.0 to P0.1, or init",
        ),
        (
            "P0: W x 1; R x 1 <- P9.0",
            "1:21: there is no thread 'P9': expected THREAD.INDEX or init",
        ),
        (
            "P1:\nP0: W x 1; R x 1 <- P1.0",
            "2:21: there is no event P1.0: thread 'P1' has no events; expected an event of another thread, or init",
        ),
        (
            "# ünï\nP0: W x 1; R y 0 # nobody writes y",
            "2:14: no event writes 'y': expected a write of it in some thread, or its initial value in an init line",
        ),
        ("P0: W y 1\nP1: R x 1 <- P0.0; W x 2", "2:14: P0.0 writes 'y': expected a write of 'x'"),
        (
            "P0: W x 1\nP1: R x 2 <- P0.0; W x 2",
            "2:14: P0.0 writes 1: expected a write of 2, the value read here",
        ),
        (
            "init: x=3\nP1: R x 2 <- init; W x 2",
            "2:14: init x writes 3: expected a write of 2, the value read here",
        ),
        (
            "P0: F; W x 1\nP1: R x 1 <- P0.0",
            "2:14: P0.0 cannot be read from: expected a write, or init",
        ),
        (
            "P0: RMW x 1 1 <- P0.0",
            "1:18: P0.0 names itself as its source: expected an earlier write",
        ),
        (
            "init: x=0\nP0: RMW x 0 1 <- init\nP1: CAS x 0 2 <- init",
            "3:18: P0.0 reads from init x too: expected at most one atomic update of each write",
        ),
        (
            "P0: LOCK m <- init; LOCK m",
            "1:26: the thread holds 'm' since P0.0: expected a release first (recursive locks are not modelled)",
        ),
        (
            "P0: LOCK m <- init; UNLOCK m\nP1: LOCK m <- init",
            "2:15: P0.0 takes the lock from init m too: expected at most one acquire of each release",
        ),
        (
            "P0: UNLOCK m",
            "1:12: the thread does not hold 'm': expected an acquire before this release",
        ),
        (
            "P0: LOCK m; UNLOCK m; W m 1",
            "1:25: 'm' is used both as a lock and as a memory location: expected one of them",
        ),
        (
            "P0: LOCK m <- P0.1; UNLOCK m; F\nP1: LOCK m <- P0.2",
            "2:15: P0.2 cannot be read from: expected a release of the lock, or init",
        ),
        (
            "P0: SPAWN P1",
            "1:11: there is no thread 'P1': expected the name of a thread with a line of its own",
        ),
        (
            "P0: SPAWN P1; SPAWN P1\nP1: F",
            "1:21: P0.0 spawns thread 'P1' too: expected one spawn of a thread",
        ),
        (
            "P0: JOIN P1\nP1: JOIN P0",
            "1:10: spawn and join wait for each other in a cycle (P0.0 -> P1.0 -> P0.0): expected an order in which the threads can run",
        ),
        (
            "P0: SPAWN P0",
            "1:11: spawn and join wait for each other in a cycle (P0.0 -> P0.0): expected an order in which the threads can run",
        ),
    ]);
}

#[test]
fn memory_orders_that_do_not_fit_are_refused_where_they_stand() {
    assert_refused(&[
        (
            "P0: W x 1; R.rel x 0",
            "1:14: a read cannot have the memory order 'rel': expected na, rlx, acq or sc",
        ),
        (
            "P0: W x 1; R.ar x 0",
            "1:14: a read cannot have the memory order 'ar': expected na, rlx, acq or sc",
        ),
        (
            "P0: W.acq x 1",
            "1:7: a write cannot have the memory order 'acq': expected na, rlx, rel or sc",
        ),
        (
            "P0: W.ar x 1",
            "1:7: a write cannot have the memory order 'ar': expected na, rlx, rel or sc",
        ),
        (
            "P0: F.rlx",
            "1:7: a fence cannot have the memory order 'rlx': expected acq, rel, ar or sc",
        ),
        ("P0: F.na", "1:7: a fence cannot have the memory order 'na': expected acq, rel, ar or sc"),
        (
            "P0: RMW.na x 0 1",
            "1:9: an update cannot have the memory order 'na': expected rlx, acq, rel, ar or sc",
        ),
        (
            "P0: W x 1; CAS.ar x 0 1 failed 2",
            "1:16: a failed compare-exchange, which only reads, cannot have the memory order 'ar': expected rlx, acq or sc",
        ),
        (
            "P0: W x 1; CAS.rel x 0 1 failed 1",
            "1:16: a failed compare-exchange, which only reads, cannot have the memory order 'rel': expected rlx, acq or sc",
        ),
        (
            "P0: CAS.na x 0 1",
            "1:9: a compare-exchange cannot have the memory order 'na': expected rlx, acq, rel, ar or sc",
        ),
        (
            "P0: R.foo x 0",
            "1:7: 'foo' is not a memory order: expected one of na, rlx, acq, rel, ar, sc",
        ),
        ("P0: R. x 0", "1:7: '' is not a memory order: expected one of na, rlx, acq, rel, ar, sc"),
        (
            "P0: R.ACQ x 0",
            "1:7: 'ACQ' is not a memory order: expected one of na, rlx, acq, rel, ar, sc",
        ),
        ("P0: F.sy", "1:7: 'sy' is not a kind of fence: expected ss, acq, rel, ar or sc"),
        (
            "P0: X.acq x 0",
            "1:5: found 'X.acq': expected an event: R, W, RMW, CAS, F, F.ss, LOCK, UNLOCK, SPAWN or JOIN",
        ),
        ("P0: LOCK.acq m", "1:10: LOCK has no memory order: expected LOCK alone"),
        ("P0: UNLOCK.rel m", "1:12: UNLOCK has no memory order: expected UNLOCK alone"),
        ("P0: F.ss.sc", "1:7: 'ss.sc' is not a kind of fence: expected ss, acq, rel, ar or sc"),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":1,"order":"acq"}"#,
            "1:63: a write cannot have the memory order 'acq': expected na, rlx, rel or sc",
        ),
        (
            concat!(
                r#"{"thread":"P0","op":"write","location":"x","value":1}"#,
                "\n",
                r#"{"order":"rel","thread":"P0","op":"read","location":"x","value":1}"#
            ),
            "2:11: a read cannot have the memory order 'rel': expected na, rlx, acq or sc",
        ),
        (
            r#"{"thread":"P0","op":"fence","order":"rlx"}"#,
            "1:38: a fence cannot have the memory order 'rlx': expected acq, rel, ar or sc",
        ),
        (
            r#"{"thread":"P0","op":"fence","order":"foo"}"#,
            "1:38: 'foo' is not a memory order: expected one of na, rlx, acq, rel, ar, sc",
        ),
        (r#"{"thread":"P0","op":"fence","order":1}"#, "1:37: found '1': expected a string"),
        (
            r#"{"thread":"P0","op":"store-fence","order":"rel"}"#,
            "1:36: 'store-fence' has no field 'order': expected it not to be there",
        ),
        (
            r#"{"thread":"P0","op":"lock","lock":"m","order":"acq"}"#,
            "1:40: 'lock' has no field 'order': expected it not to be there",
        ),
    ]);
}

#[test]
fn a_fence_has_no_location() {
    assert_refused(&[
        (
            "P0: F x",
            "1:7: found 'x' after a fence, which has no location: expected ';' or the end of the line",
        ),
        (
            "P0: F.acq x; W x 1",
            "1:11: found 'x' after a fence, which has no location: expected ';' or the end of the line",
        ),
        (
            "P0: F.ss x",
            "1:10: found 'x' after a fence, which has no location: expected ';' or the end of the line",
        ),
        ("P0: F <- init", "1:7: F has no source: expected '<-' after R, RMW, CAS or LOCK only"),
        (
            r#"{"thread":"P0","op":"fence","location":"x"}"#,
            "1:30: 'fence' has no field 'location': expected it not to be there",
        ),
    ]);
}

#[test]
fn a_read_is_not_a_source() {
    assert_refused(&[
        (
            "P0: W x 1; R x 1\nP1: R x 1 <- P0.1",
            "2:14: P0.1 cannot be read from: expected a write, or init",
        ),
        (
            "P0: W x 1; CAS x 0 2 failed 1\nP1: R.acq x 1 <- P0.1",
            "2:18: P0.1 cannot be read from: expected a write, or init",
        ),
    ]);
}

#[test]
fn malformed_json_is_rejected_at_the_right_place() {
    assert_refused(&[
        (r#"{"thread":"P0","op":"fence""#, "1:28: the line ends here: expected ',' or '}'"),
        (
            r#"{"thread":"P0","op":"fen"#,
            r#"1:25: the line ends here: expected '"' at the end of the string"#,
        ),
        (r#"{"thread":"P0","op""#, "1:20: the line ends here: expected ':' after the field name"),
        (r#"{"thread":"P0","#, "1:16: the line ends here: expected a field name in quotes"),
        ("{", "1:2: the line ends here: expected a member or '}'"),
        (r#"{"thread":"P0","op":"fence"}}"#, "1:29: found '}': expected the end of the line"),
        (
            r#"{"thread":"P0","op":"fence"} {"thread":"P0","op":"fence"}"#,
            "1:30: found '{': expected the end of the line",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":"1"}"#,
            r#"1:52: found '"': expected an integer"#,
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":null}"#,
            "1:52: found 'n': expected an integer",
        ),
        (r#"{"thread":7,"op":"fence"}"#, "1:11: found '7': expected a string"),
        (
            r#"{"thread":"P0","op":"write","location":["x"],"value":1}"#,
            "1:40: found '[': expected a string",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"a\qb","value":1}"#,
            "1:43: the string has a wrong escape: expected a JSON string",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"a\ud800b","value":1}"#,
            "1:48: the string has a wrong escape: expected a JSON string",
        ),
        (
            r#"{"init":{"x":0},"init":{"y":1}}"#,
            "1:16: found ',': expected '}' after one declaration",
        ),
        (r#"{"init":[1]}"#, "1:9: found '[': expected an object of locations and values: '{'"),
        (r#"{"threads":["P0",1]}"#, "1:18: found '1': expected a name in quotes"),
    ]);
}

#[test]
fn json_fields_that_do_not_fit_are_refused_at_the_field() {
    assert_refused(&[
        ("{}", "1:1: the event lacks a field: expected 'thread'"),
        (r#"{"thread":"P0"}"#, "1:1: the event lacks a field: expected 'op'"),
        (r#"{"op":"fence"}"#, "1:1: the event lacks a field: expected 'thread'"),
        (
            r#"{"thread":"P0","op":"jump"}"#,
            "1:22: 'jump' is not an op: expected read, write, rmw, cas, fence, store-fence, lock, unlock, spawn or join",
        ),
        (
            r#"{"thread":"P0","op":"fence","extra":1}"#,
            "1:30: there is no field 'extra': expected one of thread, op, order, location, lock, target, from, value, read, written, expected, desired, succeeded",
        ),
        (
            r#"{"thread":"P0","op":"fence","value":1}"#,
            "1:30: 'fence' has no field 'value': expected it not to be there",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":1,"from":"init"}"#,
            "1:55: 'write' has no field 'from': expected it not to be there",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x"}"#,
            "1:22: 'write' lacks a field: expected 'value'",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":1,"value":1}"#,
            "1:55: the field 'value' is there twice: expected it once",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":1.5}"#,
            "1:52: '1.5' is not a value: expected an integer without leading zeros",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":1e3}"#,
            "1:52: '1e3' is not a value: expected an integer without leading zeros",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":0x1}"#,
            "1:52: '0x1' is not an integer in JSON: expected decimal",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"a b","value":1}"#,
            "1:42: ' ' cannot be in the name of a location: expected letters, digits and _ $ . [ ] ( ) + - * / & @ >",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"","value":1}"#,
            "1:41: the name is empty: expected the name of a location",
        ),
        (
            r#"{"thread":"P0","op":"write","location":"a\u0020b","value":1}"#,
            "1:42: ' ' cannot be in the name of a location: expected letters, digits and _ $ . [ ] ( ) + - * / & @ >",
        ),
        (
            r#"{"thread":"init","op":"fence"}"#,
            "1:12: 'init' is not a thread: expected another name",
        ),
        (
            r#"{"thread":"P0","op":"cas","location":"x","expected":0,"desired":5,"read":2,"succeeded":true}"#,
            "1:74: the cas succeeded but read 2: expected 0",
        ),
        (
            r#"{"thread":"P0","op":"cas","location":"x","expected":0,"desired":5,"read":2,"succeeded":1}"#,
            "1:88: found '1': expected true or false",
        ),
        (
            r#"{"thread":"P0","op":"cas","location":"x","expected":0,"desired":5,"read":2,"succeeded":truely}"#,
            "1:88: found 'truely': expected true or false",
        ),
        (
            r#"{"init":{"x":0,"x":1}}"#,
            "1:17: 'x' is initially 0 already: expected one initial value",
        ),
        (
            concat!(r#"{"recorded":false}"#, "\n", r#"{"recorded":true}"#),
            "2:3: 'recorded' was said already: expected it once",
        ),
        (
            r#"{"init":{"x":0}}"#,
            r#"1:17: there are no threads: expected a line such as {"thread":"P0","op":"write","location":"x","value":1}"#,
        ),
        (
            r#"{"thread":"P0","op":"write","location":"x","value":18446744073709551616}"#,
            "1:52: '18446744073709551616' is out of range: expected a value from -9223372036854775808 to 18446744073709551615",
        ),
    ]);
}

#[test]
fn json_that_makes_no_sense_is_refused_at_the_value_to_blame() {
    assert_refused(&[
        (
            concat!(
                r#"{"thread":"P0","op":"write","location":"x","value":1}"#,
                "\n",
                r#""#,
                "\n",
                r#"{"thread":"P1","op":"read","location":"x","value":1,"from":"P0.1"}"#
            ),
            "3:61: there is no event P0.1: expected one of P0.0 to P0.0, or init",
        ),
        (
            concat!(
                r#"{"thread":"P0","op":"write","location":"y","value":1}"#,
                "\n",
                r#"{"from":"P0.0","thread":"P1","op":"read","location":"x","value":1}"#,
                "\n",
                r#"{"thread":"P1","op":"write","location":"x","value":1}"#
            ),
            "2:10: P0.0 writes 'y': expected a write of 'x'",
        ),
        (
            r#"{"thread":"P0","op":"read","location":"x","value":1}"#,
            "1:40: no event writes 'x': expected a write of it in some thread, or its initial value in an init line",
        ),
        (
            r#"{"thread":"P0","op":"spawn","target":"P1"}"#,
            "1:39: there is no thread 'P1': expected the name of a thread with a line of its own",
        ),
        (
            r#"{"thread":"P0","op":"unlock","lock":"m"}"#,
            "1:38: the thread does not hold 'm': expected an acquire before this release",
        ),
        (
            concat!(
                r#"{"thread":"P0","op":"rmw","location":"x","read":0,"written":1,"from":"init"}"#,
                "\n",
                r#"{"thread":"P1","op":"rmw","location":"x","read":0,"written":1,"from":"init"}"#
            ),
            "2:71: P0.0 reads from init x too: expected at most one atomic update of each write",
        ),
        (
            concat!(
                r#"{"thread":"P0","op":"join","target":"P1"}"#,
                "\n",
                r#"{"thread":"P1","op":"join","target":"P0"}"#
            ),
            "1:38: spawn and join wait for each other in a cycle (P0.0 -> P1.0 -> P0.0): expected an order in which the threads can run",
        ),
        (
            concat!(
                r#"{"thread":"P0","op":"write","location":"x","value":2}"#,
                "\n",
                r#"{"thread":"P1","op":"read","location":"x","value":1,"from":"P0.0"}"#
            ),
            "2:61: P0.0 writes 2: expected a write of 1, the value read here",
        ),
    ]);
}
