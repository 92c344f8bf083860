//! A kernel that does not end, on the GPU device over the stand-in. One process has one driver, so there is one test.
#![allow(unsafe_code, reason = "it launches a kernel")]

mod common;

use std::time::{Duration, Instant};

use device::{Device, FaultKind, LaunchError, LaunchRequest};
use gpu_driver::{Driver, GpuDevice};

/// Waits for ever, unless the word is set.
const TEXT: &str = ".version 8.0 .target sm_80 .address_size 64
    .visible .entry wait(.param .u64 word) {
        .reg .b64 %d; .reg .b32 %r; .reg .pred %p;
        ld.param.u64 %d, [word];
        again: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %p, %r, 0; @%p bra again; ret;
    }";

#[test]
fn a_kernel_that_takes_too_long_is_not_waited_for() {
    // SAFETY: no other thread of this test reads the environment.
    unsafe { std::env::set_var("WARPGRIND_STAND_IN_GPU", env!("CARGO_BIN_EXE_warpgrind-stand-in-gpu")) };
    let driver = Driver::load(&common::driver()).expect("the driver is loaded");
    let (device, _) = GpuDevice::open(driver, Some(64 << 20)).expect("there is a GPU");
    let memory = device.memory();
    let program = device.load(ptx::parse(TEXT).module).expect("the module is loaded");
    let word = memory.allocate(4, 4).expect("there is memory");
    let params = word.to_le_bytes();
    let launch = |limit| {
        let request = LaunchRequest { limit: Some(limit), ..LaunchRequest::of("wait", &params) };
        // SAFETY: the kernel writes nothing.
        unsafe { program.launch(&request) }
    };
    assert!(memory.write(word, &1_u32.to_le_bytes()));
    let launched = launch(Duration::from_secs(60)).expect("it ends");
    assert!(launched.took > Duration::ZERO);

    assert!(memory.write(word, &0_u32.to_le_bytes()));
    let since = Instant::now();
    let Err(LaunchError::Fault(fault)) = launch(Duration::from_millis(300)) else { panic!("it did not end") };
    assert!(matches!(fault.kind, FaultKind::Timeout { .. }), "{fault:?}");
    assert!((300..20_000).contains(&since.elapsed().as_millis()));

    // Everything else would wait for the kernel.
    assert!(!memory.write(word, &1_u32.to_le_bytes()) && memory.allocate(32 << 20, 4).is_err());
    let error = launch(Duration::from_secs(1)).expect_err("nothing is launched any more");
    assert!(error.to_string().contains("a kernel did not end in time"), "{error}");
}
