//! Kernels that start in baseline code and go on in optimised code.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu::{Device, Mode, Program, Tier, WarmUp};
use device::LaunchRequest;

/// Adds the numbers below `n`, with so many instructions that compiling them takes some time.
fn text(instructions: usize) -> String {
    let work: String =
        (0..instructions).map(|index| format!("xor.b32 %r4, %r3, {index}; add.s32 %r5, %r5, %r4;\n")).collect();
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n
.visible .entry k(.param .u64 p, .param .u32 n) {{
    .reg .pred %q; .reg .b32 %r<9>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [p];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, 0;
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
again:
    add.s32 %r6, %r6, %r3;
    {work}
    add.s32 %r3, %r3, 1;
    setp.lt.u32 %q, %r3, %r1;
    @%q bra again;
    mul.wide.u32 %d2, %r2, 8;
    add.u64 %d2, %d1, %d2;
    st.global.v2.u32 [%d2], {{%r6, %r5}};
    ret;
}}"
    )
}

fn load(instructions: usize) -> (Arc<Device>, Program) {
    let device = Device::new(64 << 20).unwrap();
    let parsed = ptx::parse(&text(instructions));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let program = Program::load(&device, parsed.module).unwrap();
    (device, program)
}

fn launch(device: &Device, program: &Program, blocks: u32, n: u32, mode: &Mode) -> Vec<u8> {
    let mut result = vec![0; 8 * blocks as usize];
    let buffer = device.memory.allocate(result.len() as u64, 16).unwrap();
    let params: Vec<u8> = buffer.to_le_bytes().into_iter().chain(n.to_le_bytes()).collect();
    let request = LaunchRequest { grid: [blocks, 1, 1], block: [32, 1, 1], ..LaunchRequest::of("k", &params) };
    // SAFETY: the kernel only accesses the allocation that it is given.
    unsafe { program.launch(&request, mode) }.unwrap();
    device.memory.read(buffer, &mut result);
    device.memory.free(buffer);
    result
}

const WARM_UP: Mode = Mode {
    processor: None,
    width: cpu::Width::Warp,
    tier: Tier::Optimised,
    warm_up: WarmUp::ByTime,
    seed: 0,
    schedule: cpu::Schedule::InOrder,
    preempt: false,
    budget: None,
    count: false,
    threads: 2,
    timeout: None,
    late_copies: false,
    confine: false,
};

#[test]
fn a_kernel_that_runs_long_is_optimised() {
    let (device, program) = load(30);
    let tier = || program.tier("k", [32, 1, 1], &WARM_UP).unwrap();
    assert_eq!(tier(), None);
    let expected = launch(&device, &load(30).1, 4, 100, &Mode::default());
    assert_eq!(launch(&device, &program, 4, 100, &WARM_UP), expected);
    assert_eq!(tier(), Some(Tier::Baseline), "a short launch is not worth it");
    let started = Instant::now();
    while tier() == Some(Tier::Baseline) {
        assert_eq!(launch(&device, &program, 4, 100, &WARM_UP), expected);
        assert!(started.elapsed() < Duration::from_secs(120), "it is never optimised");
    }
    assert_eq!(launch(&device, &program, 4, 100, &WARM_UP), expected);
}

#[test]
fn a_launch_that_runs_long_is_optimised_while_it_runs() {
    let (device, program) = load(30);
    let blocks = 20_000;
    let launched = launch(&device, &program, blocks, 2_000, &WARM_UP);
    assert_eq!(program.tier("k", [32, 1, 1], &WARM_UP).unwrap(), Some(Tier::Optimised));
    assert_eq!(launched[..8].repeat(blocks as usize), launched);
    assert_eq!(launch(&device, &load(30).1, 1, 2_000, &Mode::default()), launched[..8]);
}

#[test]
fn a_fixed_tier_stays() {
    let (device, program) = load(30);
    let mode = Mode { warm_up: WarmUp::Never, tier: Tier::Baseline, ..WARM_UP };
    launch(&device, &program, 1000, 10_000, &mode);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(program.tier("k", [32, 1, 1], &mode).unwrap(), Some(Tier::Baseline));
}

#[test]
fn many_threads_are_optimised_at_once_and_few_after_many_launches() {
    let mode = Mode { warm_up: WarmUp::ByThreads, ..WARM_UP };
    let tier = |program: &Program| program.tier("k", [32, 1, 1], &mode).unwrap();
    let (device, many) = load(30);
    launch(&device, &many, 1 << 9, 1, &mode);
    assert_eq!(tier(&many), Some(Tier::Optimised));
    let (device, few) = load(30);
    for _ in 0..7 {
        launch(&device, &few, 1 << 6, 1, &mode);
        assert_eq!(tier(&few), Some(Tier::Baseline));
    }
    launch(&device, &few, 1 << 6, 1, &mode);
    assert_eq!(tier(&few), Some(Tier::Optimised));
}

/// Does nothing by itself: `a_process_can_end_while_code_is_compiled` starts it.
#[test]
fn a_process_that_ends_while_code_is_compiled() {
    if std::env::var_os("END_WHILE_CODE_IS_COMPILED").is_none() {
        return;
    }
    let (device, program) = load(2_000);
    launch(&device, &program, 2, 1, &WARM_UP);
    let started = Instant::now();
    // Until it is hot, and LLVM is at work.
    while started.elapsed() < Duration::from_secs(2) {
        launch(&device, &program, 64, 1000, &WARM_UP);
    }
    std::process::exit(7);
}

#[test]
fn a_process_can_end_while_code_is_compiled() {
    for _ in 0..2 {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_that_ends_while_code_is_compiled", "--nocapture"])
            .env("END_WHILE_CODE_IS_COMPILED", "1")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
