//! Kernels that race, read what nobody wrote, and overflow: what is defined of their results stays right, at both widths
//! and in both tiers.

use cpu::{Device, Mode, Program, Tier, Width};
use device::LaunchRequest;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Runs a kernel `k` with two buffers of words in every mode, and checks what is left in both.
fn check(body: &str, block: u32, defined: impl Fn(&[u32], &[u32]) -> bool) {
    let parsed = ptx::parse(&format!("{HEADER}{body}"));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert!(ptx::verify(&parsed.module).is_empty());
    for width in [Width::Thread, Width::Warp] {
        for tier in [Tier::Baseline, Tier::Optimised] {
            let device = Device::new(64 << 20).unwrap();
            let program = Program::load(&device, parsed.module.clone()).unwrap();
            let buffers = [(); 2].map(|()| device.memory.allocate(4096, 16).unwrap());
            let params: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_le_bytes()).collect();
            let mode = Mode { width, tier, ..Mode::default() };
            let request = LaunchRequest { grid: [4, 1, 1], block: [block, 1, 1], ..LaunchRequest::of("k", &params) };
            // SAFETY: the kernel only accesses the allocation that it is given.
            unsafe { program.launch(&request, &mode) }.unwrap();
            let [first, second] = buffers.map(|buffer| {
                let mut bytes = vec![0; 4096];
                assert!(device.memory.read(buffer, &mut bytes));
                bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect::<Vec<u32>>()
            });
            assert!(defined(&first, &second), "{width:?} {tier:?}: {:?} {:?}", &first[..40], &second[..40]);
        }
    }
}

/// The start of all kernels: `%a` and `%b` point to the words of this thread, `%i` is its number.
const START: &str = ".visible .entry k(.param .u64 pa, .param .u64 pb) {
    .reg .b32 %r<20>; .reg .b64 %a, %b, %d<10>; .reg .b32 %i; .reg .pred %p<6>; .reg .f32 %f<6>;
    .shared .align 4 .b8 tile[512];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %i, %r2, %r3, %r1;
    ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb];
    mov.u64 %d1, %a;
    mad.wide.u32 %a, %i, 4, %a; mad.wide.u32 %b, %i, 4, %b;\n";

#[test]
fn all_threads_write_one_word() {
    // Somebody's number ends in the word; what each thread computes besides is its own.
    let body = format!(
        "{START} st.global.u32 [%d1], %i; ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1];
         sub.u32 %r6, %r4, %r4; add.u32 %r7, %r6, %i; st.global.u32 [%b], %r7; ret; }}"
    );
    check(&body, 32, |a, b| a[0] < 128 && b[..128].iter().enumerate().all(|(i, &word)| word == i as u32));
}

#[test]
fn registers_that_nobody_wrote() {
    // Whatever the register holds, it is one value: a value minus itself is zero, and a branch on it goes one way.
    let body = format!(
        "{START} sub.u32 %r6, %r10, %r10; setp.lt.s32 %p1, %r10, 5; selp.u32 %r7, 1, 2, %p1; selp.u32 %r8, 1, 2, %p1;
         sub.u32 %r9, %r7, %r8; add.u32 %r6, %r6, %r9; add.u32 %r6, %r6, %i; st.global.u32 [%b], %r6; ret; }}"
    );
    check(&body, 40, |_, b| b[..160].iter().enumerate().all(|(i, &word)| word == i as u32));
}

#[test]
fn shared_memory_that_others_write_meanwhile() {
    let body = format!(
        "{START} shl.b32 %r4, %r1, 2; mov.u32 %r5, tile; add.u32 %r5, %r5, %r4; xor.b32 %r6, %r4, 4; mov.u32 %r7, tile;
         add.u32 %r7, %r7, %r6; st.shared.u32 [%r5], %i; ld.shared.u32 %r8, [%r7]; st.shared.u32 [%r7], %r8;
         xor.b32 %r9, %r8, %r8; or.b32 %r9, %r9, %i; st.global.u32 [%b], %r9; ret; }}"
    );
    check(&body, 128, |_, b| b[..512].iter().enumerate().all(|(i, &word)| word == i as u32));
}

#[test]
fn overflow_of_every_kind() {
    // Signed sums and products that wrap, shifts past the width, division by zero and of the least integer, conversions
    // out of range: defined in PTX, or by the hardware, and no licence for LLVM to drop what follows.
    let body = format!(
        "{START} mov.u32 %r4, 0x7fffffff; add.s32 %r4, %r4, %i; setp.lt.s32 %p1, %r4, 0; mul.lo.s32 %r5, %r4, %r4;
         add.u32 %r6, %i, 31; shl.b32 %r7, %r4, %r6; shr.s32 %r8, %r4, %r6; mov.u32 %r9, 0; div.s32 %r10, %r4, %r9;
         mov.u32 %r11, 0x80000000; mov.u32 %r12, -1; div.s32 %r13, %r11, %r12; rem.s32 %r14, %r11, %r12;
         mov.f32 %f1, 0f7F000000; cvt.rzi.s32.f32 %r15, %f1; mov.f32 %f2, 0f7FC00000; cvt.rzi.s32.f32 %r16, %f2;
         xor.b32 %r17, %r10, %r13; xor.b32 %r17, %r17, %r14; xor.b32 %r17, %r17, %r15; xor.b32 %r17, %r17, %r16;
         st.global.u32 [%a], %r17; selp.u32 %r18, %i, 0, %p1; st.global.u32 [%b], %r18; ret; }}"
    );
    // all ones ^ least ^ 0 ^ greatest ^ 0 = 0
    check(&body, 32, |a, b| {
        a[..128].iter().all(|&word| word == 0) && b[..128].iter().enumerate().all(|(i, &word)| word == i as u32)
    });
}

#[test]
fn an_endless_loop_that_is_not_entered() {
    // A loop without end and without effects is no reason to assume that its condition never holds.
    let body = format!(
        "{START} setp.gt.u32 %p1, %i, 100000; @!%p1 bra on; spin: bra spin; on: st.global.u32 [%b], %i; ret; }}"
    );
    check(&body, 32, |_, b| b[..128].iter().enumerate().all(|(i, &word)| word == i as u32));
}

#[test]
fn neighbours_of_a_null_access_that_is_guarded() {
    let body = format!(
        "{START} setp.eq.u32 %p1, %i, 100000; mov.u64 %d2, 0; @%p1 ld.global.u32 %r4, [%d2]; @%p1 st.global.u32 [%d2], %r4;
         setp.eq.u64 %p2, %d2, 0; selp.u32 %r5, %i, 0, %p2; st.global.u32 [%b], %r5; ret; }}"
    );
    check(&body, 32, |_, b| b[..128].iter().enumerate().all(|(i, &word)| word == i as u32));
}
