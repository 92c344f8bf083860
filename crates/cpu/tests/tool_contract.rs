//! What tools rely on, beyond PTX: calls at the side, helpers that wait, sleep that yields, memory of their own, confinement,
//! and the number of the worker.

use std::sync::Arc;

use cpu::{Device, Mode, Program, Tier, Width};
use device::{FaultKind, LaunchError, LaunchRequest, Launched};

struct Loaded {
    device: Arc<Device>,
    program: Program,
    /// Where kernels write.
    out: u64,
}

const WORDS: usize = 1024;

impl Loaded {
    /// A module with these functions, and a kernel with this body and the parameter `out`.
    fn new(functions: &str, body: &str) -> Self {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n{functions}\n.visible .entry k(.param .u64 out) {{\n\
             .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .pred %p<8>;\nld.param.u64 %d1, [out];\n{body}\n}}"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let device = Device::new(64 << 20).unwrap();
        let program = Program::load(&device, parsed.module).unwrap();
        let out = device.memory.allocate(4 * WORDS as u64, 256).unwrap();
        Self { device, program, out }
    }

    fn launch(&self, grid: u32, block: u32, mode: &Mode) -> Result<Launched, LaunchError> {
        self.launch_with(self.out, grid, block, mode)
    }

    fn launch_with(&self, out: u64, grid: u32, block: u32, mode: &Mode) -> Result<Launched, LaunchError> {
        self.device.memory.write(self.out, &[0; 4 * WORDS]);
        let params = out.to_le_bytes();
        let request = LaunchRequest { grid: [grid, 1, 1], block: [block, 1, 1], ..LaunchRequest::of("k", &params) };
        // SAFETY: the kernels access `out`, or a word that the test has for that.
        unsafe { self.program.launch(&request, mode) }
    }

    fn words(&self) -> Vec<u32> {
        let mut bytes = vec![0; 4 * WORDS];
        assert!(self.device.memory.read(self.out, &mut bytes));
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }
}

fn modes() -> impl Iterator<Item = Mode> {
    [Width::Thread, Width::Warp]
        .into_iter()
        .flat_map(|width| [Tier::Baseline, Tier::Optimised].map(|tier| Mode { width, tier, ..Mode::default() }))
}

#[test]
fn a_block_knows_its_worker_and_how_many_there_are() {
    let loaded = Loaded::new(
        "",
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %smid; mov.u32 %r3, %nsmid;
         mad.wide.u32 %d2, %r1, 8, %d1; st.global.u32 [%d2], %r2; st.global.u32 [%d2+4], %r3; ret;",
    );
    for mode in modes() {
        for threads in [1, 3] {
            loaded.launch(512, 32, &Mode { threads, ..mode.clone() }).unwrap();
            let words = loaded.words();
            assert!(words.chunks(2).all(|pair| pair[0] < pair[1] && pair[1] == threads as u32), "{words:?}");
        }
    }
}

/// Threads below 32 take a nap at most eight times, until the word is set by a thread that cannot run before.
fn waits_for(setter: &str) -> Loaded {
    Loaded::new(
        "",
        &format!(
            "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, {setter}; @%p1 bra set; setp.ne.u32 %p2, %r1, 0; @%p2 ret;
             mov.u32 %r2, 0;
             nap: nanosleep.u32 1000; add.u32 %r2, %r2, 1; ld.volatile.global.u32 %r3, [%d1];
             setp.eq.u32 %p3, %r3, 0; setp.lt.and.u32 %p3, %r2, 8, %p3; @%p3 bra nap;
             st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r2; ret;
             set: st.volatile.global.u32 [%d1], 7; ret;"
        ),
    )
}

#[test]
fn who_sleeps_lets_others_run_at_once() {
    // A lane of its own warp, the last one, and another warp.
    for setter in ["1", "31", "40"] {
        let loaded = waits_for(setter);
        for mode in modes() {
            loaded.launch(1, 64, &mode).unwrap();
            let words = loaded.words();
            assert_eq!(words[1], 7, "thread {setter} was not let run: {mode:?}");
        }
    }
}

/// Notes the number of a thread, and its block, in a word of its own.
const NOTE: &str =
    ".func note(.reg .u64 out, .reg .u32 value) { .pragma \"nosync\"; PRAGMA .reg .b32 %r<4>; .reg .b64 %d<2>;
     mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, 1000, value; mad.wide.u32 %d1, %r1, 4, out;
     st.global.u32 [%d1+1024], %r2; ret; }";

/// Each thread adds its number to a sum in shared memory, in turn; those with a multiple of seven tell of it.
const NOTES: &str = ".shared .u32 sum[64];
     mov.u32 %r1, %tid.x; mov.u32 %r2, sum; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; bar.sync 0;
     xor.b32 %r4, %r1, 63; mad.lo.u32 %r4, %r4, 4, %r2; ld.shared.u32 %r5, [%r4];
     rem.u32 %r6, %r1, 7; setp.eq.u32 %p1, %r6, 0; @%p1 call note, (%d1, %r5);
     bar.sync 0; add.u32 %r5, %r5, %r1; mad.wide.u32 %d2, %r1, 4, %d1; st.global.u32 [%d2], %r5; ret;";

#[test]
fn calls_at_the_side_stay_in_region_loops() {
    let with = |pragma: &str| Loaded::new(&NOTE.replace("PRAGMA", pragma), NOTES);
    let (side, plain) = (with(".pragma \"side\";"), with(""));
    let text = |loaded: &Loaded| loaded.program.llvm_text("k", [64, 1, 1], &Mode::default(), false).unwrap();
    assert!(text(&side).contains("region") && !text(&plain).contains("region"));
    for mode in modes() {
        for loaded in [&side, &plain] {
            loaded.launch(3, 64, &mode).unwrap();
            let words = loaded.words();
            assert!(words[..64].iter().all(|&word| word == 63), "{words:?}");
            for thread in 0..64 {
                let expected = if thread % 7 == 0 { thread * 1000 + 63 - thread } else { 0 };
                assert_eq!(words[256 + thread as usize], expected, "thread {thread} {mode:?}");
            }
        }
    }
}

/// Waits for the lanes of the warp that come here, which a warp cannot do in the middle of a call.
const MEET: &str = ".func meet(.reg .u64 out) { PRAGMA .reg .b32 %r<4>; .reg .b64 %d<2>;
     mov.u32 %r1, %tid.x; mov.u32 %r3, %laneid; mad.wide.u32 %d1, %r1, 4, out;
     shfl.sync.bfly.b32 %r2, %r1, 1, 31, 3; st.global.u32 [%d1+1024], %r2; ret; }";

#[test]
fn a_helper_that_waits_after_a_speculated_check_leaves_warps_whole() {
    let body = "mov.u32 %r1, %tid.x; ld.global.u32 %r2, [%d1+4092]; setp.lt.u32 %p1, %r1, %r2; @%p1 call meet, (%d1);
         mad.wide.u32 %d2, %r1, 4, %d1; st.global.u32 [%d2], %r1; ret;";
    let with = |pragma: &str| Loaded::new(&MEET.replace("PRAGMA", pragma), body);
    let (cold, plain) = (with(".pragma \"cold\";"), with(""));
    let text = |loaded: &Loaded| loaded.program.llvm_text("k", [64, 1, 1], &Mode::default(), false).unwrap();
    assert!(text(&cold).contains("<32 x i32>") && !text(&plain).contains("<32 x i32>"));
    for mode in modes() {
        for loaded in [&cold, &plain] {
            for caught in [0, 2] {
                // Often enough that code stops speculating, and must still be right.
                for _ in 0..6 {
                    loaded.device.memory.write(loaded.out, &[0; 4 * WORDS]);
                    loaded.device.memory.write(loaded.out + 4092, &u32::to_le_bytes(caught));
                    let params = loaded.out.to_le_bytes();
                    let request =
                        LaunchRequest { grid: [2, 1, 1], block: [64, 1, 1], ..LaunchRequest::of("k", &params) };
                    // SAFETY: the kernel only accesses `out`.
                    unsafe { loaded.program.launch(&request, &mode) }.unwrap();
                    let words = loaded.words();
                    assert!(words[..64].iter().copied().eq(0..64));
                    let met = if caught == 0 { [0, 0] } else { [1, 0] };
                    assert_eq!(words[256..258], met, "{mode:?}");
                }
            }
        }
    }
}

/// A load, a store of a tool, and the same load again; for one thread, so that text is short.
#[test]
fn loads_move_past_stores_to_memory_of_tools() {
    let loads = |role: &str| {
        let loaded = Loaded::new(
            "",
            &format!(
                "ld.global.u32 %r1, [%d1]; ld.global.u64 %d2, [%d1+8];\nst.global.u32 [%d2], %r1; //@ 9 racecheck.{role}\n\
                 ld.global.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; st.global.u32 [%d1+4], %r1; ret;"
            ),
        );
        let mode = Mode { width: Width::Thread, ..Mode::default() };
        loaded.program.llvm_text("k", [1, 1, 1], &mode, true).unwrap().matches(" load i32").count()
    };
    assert_eq!(loads("shadow") + 1, loads("clone"), "the second load is of no use if the store is elsewhere");
}

/// Stores through its parameter, as generic and as global, and beyond its local memory.
#[test]
fn a_confined_kernel_reaches_nothing_else_of_the_process() {
    let mut word = Box::new(5_u32);
    let outside = &raw mut *word as u64;
    for instruction in ["st.u32 [%d1], 9;", "st.global.u32 [%d1], 9;", "atom.global.add.u32 %r1, [%d1], 4;"] {
        let loaded = Loaded::new("", &format!("{instruction} ret;"));
        for mode in modes().map(|mode| Mode { confine: true, ..mode }) {
            let result = loaded.launch_with(outside, 1, 32, &mode);
            let Err(LaunchError::Fault(fault)) = result else { panic!("{result:?}") };
            assert_eq!(fault.kind, FaultKind::IllegalAddress { address: outside }, "{mode:?}");
            // SAFETY: the word is this test's, and no kernel runs.
            assert_eq!(unsafe { std::ptr::read_volatile(&raw const *word) }, 5, "{mode:?}");
            loaded.launch(1, 32, &mode).unwrap();
            assert_ne!(loaded.words()[0], 0);
        }
    }
    let local = Loaded::new("", ".local .u32 room[4]; mov.u32 %r1, %tid.x; st.local.u32 [room+1048576], %r1; ret;");
    for mode in modes().map(|mode| Mode { confine: true, ..mode }) {
        let result = local.launch(1, 32, &mode);
        let is_caught =
            matches!(&result, Err(LaunchError::Fault(fault)) if matches!(fault.kind, FaultKind::IllegalAddress { .. }));
        assert!(is_caught, "{result:?}");
    }
}

#[test]
fn what_cannot_be_confined_is_refused() {
    let loaded = Loaded::new(
        "",
        ".shared .align 16 .b8 s[64]; cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], 64; ret;",
    );
    let result = loaded.launch(1, 32, &Mode { confine: true, ..Mode::default() });
    let is_named = matches!(&result, Err(LaunchError::Unsupported(why)) if why.contains("cannot be confined"));
    assert!(is_named, "{result:?}");
}

/// Generic addresses of shared memory, local memory, constants and variables, and the last bytes of an allocation.
#[test]
fn a_confined_kernel_reaches_what_is_its_own() {
    let loaded = Loaded::new(
        ".global .u32 g = 3; .const .u32 c = 4;",
        ".shared .u32 s; .local .u32 l;
         st.shared.u32 [s], 1; st.local.u32 [l], 2;
         cvta.shared.u64 %d2, s; ld.u32 %r1, [%d2]; mov.u64 %d3, l; cvta.local.u64 %d3, %d3; ld.u32 %r2, [%d3];
         mov.u64 %d4, g; cvta.global.u64 %d4, %d4; ld.u32 %r3, [%d4]; mov.u64 %d5, c; cvta.const.u64 %d5, %d5; ld.u32 %r4, [%d5];
         mov.u32 %r5, %tid.x; mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r1, 10, %r3; mad.lo.u32 %r1, %r1, 10, %r4;
         mad.wide.u32 %d6, %r5, 4, %d1; st.global.u32 [%d6+3968], %r1; ret;",
    );
    for mode in modes() {
        loaded.launch(2, 32, &Mode { confine: true, ..mode }).unwrap();
        assert!(loaded.words()[WORDS - 32..].iter().all(|&word| word == 1234));
    }
}
