//! Modules made from the opcode table are parsed without messages, and every instruction in them is known.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| filetest::oracle::check_generated(bytes));
