//! Any bytes are taken apart and decompressed without a panic, within the limits.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| filetest::oracle::check_fatbin(bytes));
