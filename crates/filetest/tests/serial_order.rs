//! The serial order of the CPU device is that of the interpreter which runs one thread after another until it waits.

use cpu::{Device, Mode, Program, Width};
use device::{LaunchRequest, Order};
use interp::{Config, Launch, Machine, Schedule};

/// Kernels whose threads disturb each other, with the lines that differ: a word is at `[%d1]` and following, the thread in
/// `%r1`, the block in `%r2`.
const RACY: [(&str, &str); 10] = [
    ("counter", "ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, 1; st.global.u32 [%d1], %r3;"),
    (
        "counters of pairs",
        "and.b32 %r4, %r1, 31; mad.wide.u32 %d2, %r4, 4, %d1; ld.global.u32 %r3, [%d2]; mad.lo.u32 %r3, %r3, 3, %r1;\n\
         st.global.u32 [%d2], %r3;",
    ),
    (
        "crossing writes",
        "and.b32 %r4, %r1, 1; mul.lo.u32 %r4, %r4, 4; cvt.u64.u32 %d2, %r4; add.u64 %d2, %d1, %d2; sub.u32 %r4, 4, %r4;\n\
         cvt.u64.u32 %d3, %r4; add.u64 %d3, %d1, %d3; st.global.u32 [%d2], %r1; st.global.u32 [%d3], %r1;",
    ),
    (
        "write skew",
        "and.b32 %r4, %r1, 1; mul.lo.u32 %r4, %r4, 4; cvt.u64.u32 %d2, %r4; add.u64 %d2, %d1, %d2; sub.u32 %r4, 4, %r4;\n\
         cvt.u64.u32 %d3, %r4; add.u64 %d3, %d1, %d3; ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1; st.global.u32 [%d3], %r3;",
    ),
    (
        "flags",
        "and.b32 %r4, %r1, 1; mul.lo.u32 %r4, %r4, 4; cvt.u64.u32 %d2, %r4; add.u64 %d2, %d1, %d2; sub.u32 %r4, 4, %r4;\n\
         cvt.u64.u32 %d3, %r4; add.u64 %d3, %d1, %d3; ld.global.u32 %r3, [%d2]; setp.ne.u32 %p1, %r3, 0; @%p1 bra out;\n\
         st.global.u32 [%d3], 1; out:",
    ),
    (
        "chain",
        "and.b32 %r4, %r1, 31; mad.wide.u32 %d2, %r4, 4, %d1; ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1;\n\
         st.global.u32 [%d2+4], %r3;",
    ),
    (
        "bytes of words",
        "and.b32 %r4, %r1, 7; cvt.u64.u32 %d2, %r4; add.u64 %d2, %d1, %d2; ld.global.u8 %r3, [%d2]; add.u32 %r3, %r3, %r1;\n\
         st.global.u8 [%d2], %r3; ld.global.v2.u32 {%r4, %r5}, [%d1]; add.u32 %r4, %r4, %r5; st.global.v2.u32 [%d1+8], {%r4, %r5};",
    ),
    (
        "barriers in a loop",
        "mov.u32 %r5, 0; again: ld.shared.u32 %r3, [tile]; mad.lo.u32 %r3, %r3, 3, %r1; st.shared.u32 [tile], %r3; bar.sync 0;\n\
         ld.shared.u32 %r3, [tile]; add.u32 %r3, %r3, %r5; st.shared.u32 [tile], %r3; add.u32 %r5, %r5, 1;\n\
         setp.lt.u32 %p1, %r5, 3; @%p1 bra again; bar.sync 0; ld.shared.u32 %r3, [tile]; st.global.u32 [%d1], %r3;",
    ),
    (
        "a barrier in a function",
        "ld.global.u32 %r3, [%d1]; mad.lo.u32 %r3, %r3, 5, %r1; st.global.u32 [%d1], %r3; call wait;\n\
         ld.global.u32 %r3, [%d1]; mad.lo.u32 %r3, %r3, 7, %r1; st.global.u32 [%d1+4], %r3;",
    ),
    (
        "tickets, and threads that end early",
        "atom.global.add.u32 %r3, [%d1], 1; and.b32 %r4, %r1, 4; setp.ne.u32 %p1, %r4, 0; @%p1 bra end; bar.sync 0;\n\
         and.b32 %r4, %r3, 15; mad.wide.u32 %d2, %r4, 4, %d1; mad.lo.u32 %r3, %r3, 100, %r1; st.global.u32 [%d2+64], %r3; end:",
    ),
];

const BYTES: u64 = 256;

fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.func wait() {{ bar.sync 0; ret; }}\n\
         .visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<5>;\n\
         .shared .align 4 .b8 tile[64];\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n{body}\nret;\n}}\n"
    )
}

/// What the interpreter leaves behind that runs a thread as long as it can, and a block after the other.
fn interpreted(text: &str, grid: [u32; 3], block: [u32; 3]) -> Vec<u8> {
    let module = ptx::parse(text).module;
    let config =
        Config { schedule: Schedule::UntilBlocked { share: u32::MAX }, resident_threads: 1, ..Config::default() };
    let mut machine = Machine::new(&module, config).unwrap();
    let memory = machine.allocate(BYTES, 256);
    machine.launch(&Launch { kernel: "k", grid, block, dynamic_shared: 0, params: &memory.to_le_bytes() }).unwrap();
    machine.read(memory, BYTES).unwrap().to_vec()
}

/// What the device leaves behind in an order.
fn run(text: &str, grid: [u32; 3], block: [u32; 3], order: Order, width: Width) -> Vec<u8> {
    let device = Device::new(64 << 20).unwrap();
    let program = Program::load(&device, ptx::parse(text).module).unwrap();
    let memory = device.memory.allocate(BYTES, 256).unwrap();
    device.memory.write(memory, &[0; BYTES as usize]);
    let params = memory.to_le_bytes();
    let request = LaunchRequest { grid, block, order, ..LaunchRequest::of("k", &params) };
    let mode = Mode { width, threads: 3, ..Mode::default() };
    // SAFETY: the kernels only access the allocation that they are given.
    #[allow(unsafe_code, reason = "kernels access memory by its address")]
    unsafe { program.launch(&request, &mode) }.unwrap();
    let mut left = vec![0; BYTES as usize];
    assert!(device.memory.read(memory, &mut left));
    left
}

#[test]
fn the_device_leaves_behind_what_the_interpreter_does() {
    let mut differs = 0;
    for (name, body) in RACY {
        let text = text(body);
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty() && ptx::verify(&parsed.module).is_empty(), "{name}");
        for (grid, block) in [([1; 3], [64, 1, 1]), ([3, 1, 1], [40, 1, 1]), ([2, 2, 1], [8, 5, 2])] {
            let expected = interpreted(&text, grid, block);
            for width in [Width::Thread, Width::Warp] {
                assert_eq!(run(&text, grid, block, Order::Serial, width), expected, "{name} {grid:?} {block:?}");
            }
            differs +=
                u32::from(run(&text, grid, block, Order::Random { seed: 3, preempt: true }, Width::Warp) != expected);
        }
    }
    // They must be worth comparing.
    assert!(differs > 15, "{differs}");
}
