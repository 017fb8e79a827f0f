//! Hostile input: bytes that are not text, control characters, and lines without end.

use std::fmt::Write as _;

use raddle_consistency::history::{Format, parse, parse_as};

fn message(input: impl AsRef<[u8]>) -> String {
    match parse(input.as_ref()) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_given_form_is_not_guessed() {
    let as_json = parse_as(b"P0: F", Format::JsonLines).unwrap_err();
    assert_eq!(as_json.to_string(), "1:1: found 'P': expected an object: '{'");
    let as_text = parse_as(b"{}", Format::Text).unwrap_err();
    assert!(as_text.to_string().starts_with("1:3: the line ends here: expected ':' after '{}'"));
    let unknown = "xml".parse::<Format>().unwrap_err();
    assert_eq!(unknown, "there is no format 'xml': expected text or jsonl");
}

#[test]
fn bytes_that_are_not_utf8_are_refused_at_the_first() {
    let expected = "2:8: the byte 0xff is not UTF-8: expected UTF-8 text";
    assert_eq!(message(b"# \xc3\xbc\nP0: # \xc3\xbc\xff W x 1\n\xff"), expected);
    let cut = "1:4: the byte 0xc3 is not UTF-8: expected UTF-8 text";
    assert_eq!(message(b"\xef\xbb\xbfP0:\xc3"), cut);
}

#[test]
fn columns_count_characters() {
    let in_text = message("P0: W x\u{fc} 1");
    assert!(in_text.starts_with("1:8: 'ü' cannot be in the name of a location"), "{in_text}");
    let in_json = message("{\"thread\":\"P0\",\"op\":\"üü\",\"öl\":1}");
    assert!(in_json.starts_with("1:27: there is no field 'öl'"), "{in_json}");
}

#[test]
fn messages_quote_little_and_escape_it() {
    let expected = r"1:4: found '\u{1b}[31m\0': expected ':' after 'P0', as in 'P0: W x 1'";
    assert_eq!(message(b"P0 \x1b[31m\0"), expected);
    let (name, cut) = ("n".repeat(100), "n".repeat(40));
    let expected = format!("1:11: found '{cut}...': expected ';' or the end of the line");
    assert_eq!(message(format!("P0: W x 1 {name}")), expected);
    let expected = format!("1:7: no event writes '{}... expected a write of it", "n".repeat(39));
    assert!(message(format!("P0: R {name} 1")).starts_with(&expected));
}

#[test]
fn messages_shorten_long_cycles() {
    let mut text = String::new();
    for thread in 0..1000 {
        let _ = writeln!(text, "P{thread}: JOIN P{}", (thread + 1) % 1000);
    }
    let cycle =
        "(P0.0 -> P1.0 -> P2.0 -> P3.0 -> ... -> P997.0 -> P998.0 -> P999.0 -> P0.0): expected";
    assert!(message(&text).contains(cycle), "{}", message(&text));
}

#[test]
fn ten_megabytes_on_one_line() {
    const SIZE: usize = 10_000_000;
    let text = format!("P0: {}", "W x 1; ".repeat(SIZE / 7));
    assert_eq!(parse(text.as_bytes()).unwrap().event_count(), SIZE / 7 + 1);
    let blanks = " ".repeat(SIZE);
    let json = format!("{{\"thread\":{blanks}\"P0\",\"op\":\"fence\"}}");
    assert_eq!(message(json), "accepted");
    let open = format!("{{\"thread\":\"{}", "P".repeat(SIZE));
    let expected = "1:10000012: the line ends here: expected '\"' at the end of the string";
    assert_eq!(message(open), expected);
}

#[test]
fn ten_megabytes_of_garbage() {
    let garbage = [
        ("x", 10_000_001),
        ("x ", 3),
        (":", 1),
        ("\"", 10_000_001),
        ("[", 10_000_001),
        ("{", 2),
        ("{\"op\":", 7),
        ("{\"init\":", 17),
        ("{\"init\":{\"", 13),
    ];
    for (piece, column) in garbage {
        let error = parse(piece.repeat(10_000_000 / piece.len()).as_bytes()).unwrap_err();
        assert_eq!((error.line, error.column), (1, column), "{error}");
        assert!(error.message.len() < 150, "{error}");
    }
}
