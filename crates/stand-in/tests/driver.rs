//! The GPU device over the stand-in, without CUDA's compiler. One process has one driver, so there is one test.
#![allow(unsafe_code, reason = "it launches a kernel")]

mod common;

use device::{Device, LaunchError, LaunchRequest, Order};
use gpu_driver::{Driver, GpuDevice};

const TEXT: &str = ".version 8.0 .target sm_80 .address_size 64
    .visible .global .align 4 .u32 factor = 3;
    .visible .const .align 4 .u32 summand = 4;
    .visible .entry store(.param .u64 out) {
        .reg .b64 %d<3>; .reg .b32 %r<5>;
        ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
        ld.global.u32 %r2, [factor]; ld.const.u32 %r3, [summand]; mad.lo.u32 %r4, %r1, %r2, %r3;
        st.global.u32 [%d1], %r4; ret;
    }
    .visible .entry fault(.param .u64 out) {
        .reg .b64 %d<2>; .reg .b32 %r<2>;
        ld.param.u64 %d1, [out]; mov.u32 %r1, 1; st.global.u32 [%d1], %r1; ret;
    }";

#[test]
fn a_kernel_runs_and_an_error_stays() {
    // SAFETY: no other thread of this test reads the environment.
    unsafe { std::env::set_var("WARPGRIND_STAND_IN_GPU", env!("CARGO_BIN_EXE_warpgrind-stand-in-gpu")) };
    let driver = Driver::load(&common::driver()).expect("the driver is loaded");
    assert_eq!(driver.version(), 13000);
    let (device, facts) = GpuDevice::open(driver, Some(64 << 20)).expect("there is a GPU");
    assert_eq!((facts.name.as_str(), facts.capability, facts.memory), ("Stand-in", 90, 64 << 20));
    let memory = device.memory();

    // Variables of the module are in the arena, constants too.
    let program = device.load(ptx::parse(TEXT).module).expect("the module is loaded");
    let (factor, bytes) = program.variable("factor").expect("there is a variable");
    assert!(memory.contains(factor) && bytes == 4);
    let (summand, _) = program.variable("summand").expect("there is a constant");
    assert!(memory.write(summand, &5_u32.to_le_bytes()));
    let out = memory.allocate(128, 4).expect("there is memory");
    let params = out.to_le_bytes();
    let request = LaunchRequest { block: [32, 1, 1], ..LaunchRequest::of("store", &params) };
    // SAFETY: the kernel writes nothing but what was allocated.
    unsafe { program.launch(&request).expect("the kernel runs") };
    let mut read = [0; 128];
    assert!(memory.read(out, &mut read));
    let values: Vec<u32> = read.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(values, (0..32).map(|thread| thread * 3 + 5).collect::<Vec<_>>());

    // What a GPU cannot be asked for is refused by name.
    let in_order = LaunchRequest { order: Order::Ascending, ..request.clone() };
    // SAFETY: as above.
    let refused = unsafe { program.launch(&in_order) };
    assert_eq!(refused, Err(LaunchError::Unsupported("the GPU device does not have blocks in an order".to_owned())));

    // Shared memory has one address on both sides.
    let shared = memory.allocate_shared(4096, 8).expect("there is memory of the host");
    let params = shared.to_le_bytes();
    // SAFETY: the kernel writes nothing but what was allocated, and so does this.
    unsafe {
        program.launch(&LaunchRequest { block: [32, 1, 1], ..LaunchRequest::of("store", &params) }).expect("it runs");
        assert_eq!((shared as *const u32).add(2).read_volatile(), 11);
    }
    assert!(memory.free(shared) && !memory.free(shared));

    // A range of zeros is read anywhere, and written where it is.
    let remote = memory.remote().expect("the memory is not the process's");
    let zeros = remote.reserve_zeros(100 << 20).expect("there are addresses");
    remote.fill(zeros + (50 << 20), &[7], 3).expect("it can be written");
    let mut cells = [9_u8; 4];
    for (at, wanted) in [(0, [0; 4]), (50 << 20, [7, 7, 7, 0]), (99 << 20, [0; 4])] {
        // SAFETY: from the range to a slice.
        unsafe { remote.copy(zeros + at, cells.as_mut_ptr() as u64, 4).expect("it can be read") };
        assert_eq!(cells, wanted);
    }

    // More than there is.
    assert!(memory.allocate(65 << 20, 4).is_err());

    // An address that nothing has ends the launch, and everything after it.
    let nowhere = 0x1000_u64.to_le_bytes();
    // SAFETY: nothing is there.
    let ended = unsafe { program.launch(&LaunchRequest::of("fault", &nowhere)) };
    let Err(LaunchError::Fault(fault)) = ended else { panic!("it ended with {ended:?}") };
    assert!(matches!(fault.kind, device::FaultKind::Driver { code: 700, .. }), "{fault:?}");
    assert!(!memory.read(out, &mut read), "errors stay");
}
