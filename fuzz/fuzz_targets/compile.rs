//! What the verifier has no complaint about can be compiled, or is refused by name.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| filetest::oracle::check_compiles(bytes));
