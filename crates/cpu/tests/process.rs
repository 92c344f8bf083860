//! What a kernel leaves of the process that runs it.

use cpu::{Device, Mode, Program, Width};
use device::{FaultKind, LaunchError, LaunchRequest, Launched};

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn launch(body: &str, params: &[u8], mode: Mode) -> Result<Launched, LaunchError> {
    let parsed = ptx::parse(&format!("{HEADER}{body}"));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let device = Device::new(64 << 20).unwrap();
    let program = Program::load(&device, parsed.module).unwrap();
    let request = LaunchRequest { grid: [2, 1, 1], block: [64, 1, 1], ..LaunchRequest::of("k", params) };
    // SAFETY: the kernels only access addresses at which nothing is mapped, or nothing.
    unsafe { program.launch(&request, &mode) }
}

/// Reads the address that it is given.
const READ: &str = ".visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %d;
    ld.param.u64 %d, [p]; ld.global.u32 %r, [%d]; st.global.u32 [%d], %r; ret; }";

#[test]
fn no_memory_is_writable_and_executable() {
    let device = Device::new(64 << 20).unwrap();
    let program = Program::load(&device, ptx::parse(&format!("{HEADER}{READ}")).module).unwrap();
    let buffer = device.memory.allocate(64, 16).unwrap();
    let params = buffer.to_le_bytes();
    let request = LaunchRequest { block: [32, 1, 1], ..LaunchRequest::of("k", &params) };
    // SAFETY: the kernel only accesses the allocation that it is given.
    unsafe { program.launch(&request, &Mode::default()) }.unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let wrong: Vec<&str> = maps.lines().filter(|line| line.contains(" rwx")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(maps.lines().any(|line| line.contains(" r-x") && line.ends_with(" 0 ")), "the code of the kernel is there");
}

#[test]
fn an_illegal_address_is_an_error_again_and_again() {
    for width in [Width::Thread, Width::Warp] {
        for _ in 0..20 {
            let result = launch(READ, &0x1000_u64.to_le_bytes(), Mode { width, ..Mode::default() });
            let Err(LaunchError::Fault(fault)) = result else { panic!("{result:?}") };
            assert_eq!(fault.kind, FaultKind::IllegalAddress { address: 0x1000 });
        }
    }
}

#[test]
fn too_much_dynamic_shared_memory_is_refused() {
    let device = Device::new(64 << 20).unwrap();
    let program = Program::load(&device, ptx::parse(&format!("{HEADER}{READ}")).module).unwrap();
    let request = LaunchRequest { block: [32, 1, 1], dynamic_shared: u32::MAX, ..LaunchRequest::of("k", &[0; 8]) };
    // SAFETY: the launch is refused.
    assert!(matches!(unsafe { program.launch(&request, &Mode::default()) }, Err(LaunchError::Invalid(_))));
    let huge = LaunchRequest { dynamic_shared: 0, block: [1025, 1, 1], ..request };
    // SAFETY: as above.
    assert!(matches!(unsafe { program.launch(&huge, &Mode::default()) }, Err(LaunchError::Invalid(_))));
}

#[test]
fn a_budget_ends_a_loop() {
    let body = ".visible .entry k(.param .u64 p) { loop: bra loop; }";
    for width in [Width::Thread, Width::Warp] {
        let mode = Mode { width, budget: Some(10_000), ..Mode::default() };
        let result = launch(body, &[0; 8], mode);
        let Err(LaunchError::Fault(fault)) = result else { panic!("{result:?}") };
        assert_eq!(fault.kind, FaultKind::OverBudget { budget: 10_000 });
    }
}

/// Threads loop so many times as their number says, in three instructions each; then they meet.
const ROUNDS: &str = ".visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .pred %p;
        mov.u32 %r1, %tid.x;
loop:   sub.u32 %r1, %r1, 1; setp.gt.s32 %p, %r1, 0; @%p bra loop;
        bar.sync 0; bar.sync 0; ret; }";

#[test]
fn a_budget_is_that_of_each_thread() {
    for width in [Width::Thread, Width::Warp] {
        let with_budget = |budget| launch(ROUNDS, &[0; 8], Mode { width, budget: Some(budget), ..Mode::default() });
        // The last thread goes round 63 times: 189 instructions, and one before. All of them execute some 6,000.
        assert!(with_budget(190).is_ok(), "{:?}", with_budget(190));
        let result = with_budget(180);
        let Err(LaunchError::Fault(fault)) = result else { panic!("{result:?}") };
        assert_eq!(fault.kind, FaultKind::OverBudget { budget: 180 });
        assert!((60..64).contains(&fault.thread[0]), "{fault:?}");
    }
}

#[test]
fn instructions_are_counted_for_each_thread() {
    let body = ".visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .pred %p;
        mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, 10; @%p ret; mov.u32 %r2, 1; ret; }";
    for width in [Width::Thread, Width::Warp] {
        let launched = launch(body, &[0; 8], Mode { width, count: true, ..Mode::default() }).unwrap();
        // Two blocks of 64 threads, of which ten go on.
        assert_eq!(launched.instructions, 2 * (64 * 3 + 10 * 2));
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let refused = |body: &str| {
        let result = launch(body, &[0; 8], Mode::default());
        let Err(LaunchError::Unsupported(error)) = result else { panic!("{result:?}") };
        error
    };
    let shared = refused(".visible .entry k(.param .u64 p) { .shared .align 4 .b8 big[1000000]; ret; }");
    assert!(shared.contains("shared memory"), "{shared}");
    let local = refused(".visible .entry k(.param .u64 p) { .local .align 4 .b8 big[100000000]; ret; }");
    assert!(local.contains("local memory"), "{local}");
}
