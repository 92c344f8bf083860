//! Any bytes are parsed, printed and analysed without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| filetest::oracle::check_text(bytes));
