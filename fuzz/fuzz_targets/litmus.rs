//! Any bytes, read as a litmus test and explored for a moment.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| raddle_litmus::fuzz::check(bytes));
