//! Whole kernels, at both widths and in both tiers.

use cpu::{Device, Mode, Program, Tier, Width};
use device::LaunchRequest;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn modes() -> impl Iterator<Item = Mode> {
    [Width::Thread, Width::Warp]
        .into_iter()
        .flat_map(|width| [Tier::Baseline, Tier::Optimised].map(|tier| Mode { width, tier, ..Mode::default() }))
}

/// Runs a kernel with one buffer of words as its parameter, in every mode; all must give the same.
fn run(body: &str, grid: u32, block: u32, words: &[u32]) -> Vec<u32> {
    let text = format!("{HEADER}{body}");
    let parsed = ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let mut results: Vec<Vec<u32>> = Vec::new();
    for mode in modes() {
        let device = Device::new(64 << 20).unwrap();
        let program = Program::load(&device, parsed.module.clone()).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let buffer = device.memory.allocate(bytes.len() as u64, 16).unwrap();
        assert!(device.memory.write(buffer, &bytes));
        let params = buffer.to_le_bytes();
        let request = LaunchRequest { grid: [grid, 1, 1], block: [block, 1, 1], ..LaunchRequest::of("k", &params) };
        // SAFETY: the kernel only accesses the allocation that it is given.
        unsafe { program.launch(&request, &mode) }.unwrap_or_else(|error| panic!("{mode:?}: {error}"));
        let mut back = vec![0; bytes.len()];
        assert!(device.memory.read(buffer, &mut back));
        results.push(back.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect());
    }
    for other in &results[1..] {
        assert_eq!(&results[0], other);
    }
    results.swap_remove(0)
}

#[test]
fn threads_write_their_numbers() {
    let body = ".visible .entry k(.param .u64 p) {
        .reg .b32 %r<8>; .reg .b64 %rd<8>;
        ld.param.u64 %rd1, [p];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
        mad.lo.s32 %r4, %r2, %r3, %r1;
        mul.wide.u32 %rd2, %r4, 4;
        add.s64 %rd3, %rd1, %rd2;
        ld.global.u32 %r5, [%rd3];
        add.u32 %r6, %r5, %r4;
        st.global.u32 [%rd3], %r6;
        ret; }";
    let result = run(body, 3, 40, &[100; 120]);
    assert_eq!(result, (0..120).map(|index| 100 + index).collect::<Vec<u32>>());
}

#[test]
fn lanes_leave_a_loop_one_after_another() {
    // Sum of 0..tid by a loop.
    let body = ".visible .entry k(.param .u64 p) {
        .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<3>;
        ld.param.u64 %rd1, [p];
        mov.u32 %r1, %tid.x;
        mov.u32 %r2, 0; mov.u32 %r3, 0;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra done;
        again:
        add.u32 %r3, %r3, %r2;
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p2, %r2, %r1;
        @%p2 bra again;
        done:
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd3, %rd1, %rd2;
        st.global.u32 [%rd3], %r3;
        ret; }";
    let result = run(body, 1, 64, &[7; 64]);
    assert_eq!(result, (0..64_u32).map(|n| n * n.saturating_sub(1) / 2).collect::<Vec<_>>());
}

#[test]
fn a_block_reverses_through_shared_memory() {
    let body = ".visible .entry k(.param .u64 p) {
        .reg .b32 %r<12>; .reg .b64 %rd<8>;
        .shared .align 4 .b8 buffer[512];
        ld.param.u64 %rd1, [p];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd3, %rd1, %rd2;
        ld.global.u32 %r2, [%rd3];
        shl.b32 %r3, %r1, 2;
        mov.u32 %r4, buffer;
        add.u32 %r5, %r4, %r3;
        st.shared.u32 [%r5], %r2;
        bar.sync 0;
        mov.u32 %r6, 508;
        sub.u32 %r7, %r6, %r3;
        add.u32 %r8, %r4, %r7;
        ld.shared.u32 %r9, [%r8];
        st.global.u32 [%rd3], %r9;
        ret; }";
    let input: Vec<u32> = (0..128).collect();
    let result = run(body, 1, 128, &input);
    assert_eq!(result, (0..128).rev().collect::<Vec<u32>>());
}

#[test]
fn a_warp_sums_with_shuffles() {
    let body = ".visible .entry k(.param .u64 p) {
        .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<4>;
        ld.param.u64 %rd1, [p];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd3, %rd1, %rd2;
        ld.global.u32 %r2, [%rd3];
        shfl.sync.bfly.b32 %r3|%p1, %r2, 16, 31, -1; add.u32 %r2, %r2, %r3;
        shfl.sync.bfly.b32 %r3|%p1, %r2, 8, 31, -1; add.u32 %r2, %r2, %r3;
        shfl.sync.bfly.b32 %r3|%p1, %r2, 4, 31, -1; add.u32 %r2, %r2, %r3;
        shfl.sync.bfly.b32 %r3|%p1, %r2, 2, 31, -1; add.u32 %r2, %r2, %r3;
        shfl.sync.bfly.b32 %r3|%p1, %r2, 1, 31, -1; add.u32 %r2, %r2, %r3;
        st.global.u32 [%rd3], %r2;
        ret; }";
    let input: Vec<u32> = (0..64).collect();
    let result = run(body, 1, 64, &input);
    assert_eq!(result[..32], [496; 32]);
    assert_eq!(result[32..], [1520; 32]);
}
