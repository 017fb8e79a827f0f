//! Any bytes, read as a history in the text form.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| raddle_consistency::history::fuzz::check_text(bytes));
