//! Any bytes, read as a history in JSON Lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| raddle_core::history::fuzz::check_jsonl(bytes));
