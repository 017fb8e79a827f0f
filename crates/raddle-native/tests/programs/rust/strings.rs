//! String, str and char: UTF-8, searching, splitting, case, parsing.
fn main() {
    let s = "Grüße, Jürgen ❤ 日本";
    println!("{} {} {:?} {:?}", s.len(), s.chars().count(), s.find('❤'), s.char_indices().nth(9));
    println!("{} {} {}", s.to_uppercase(), s.to_lowercase(), s.replace("ü", "ue"));
    println!("{:?} {:?}", s.split_whitespace().collect::<Vec<_>>(), s.split_once(", "));
    println!("{:?} {:?}", s.is_char_boundary(3), std::str::from_utf8(&s.as_bytes()[..3]).is_err());
    let mut t = String::with_capacity(4);
    for i in 0..30 { t.insert(t.len() / 2, char::from(b'a' + i % 26)); if i % 7 == 0 { t.pop(); } }
    println!("{t} {:?} {:?}", t.rmatch_indices('c').collect::<Vec<_>>(), t.trim_start_matches(|c| c < 'e'));
    println!("{:?} {:?} {:?}", "42".parse::<u8>(), "300".parse::<u8>(), "-7".parse::<i16>());
    println!("{:?}", "line one\nline two\r\n\nend".lines().map(str::len).collect::<Vec<_>>());
    println!("{} {:?} {}", String::from_utf8_lossy(b"ok \xff\xfe end"), "ab".cmp("b"), "ab".repeat(5));
    println!("{:?} {:?}", "é\u{301}".escape_unicode().to_string(), "tab\t".escape_debug().to_string());
}
