//! Launches of parts of a grid, and in the orders that a launch can ask for.

use std::sync::Arc;

use cpu::{Device, Mode, Program, Tier, Width};
use device::{Blocks, LaunchError, LaunchRequest, Order};

/// Each thread takes a ticket when it begins, after a barrier, and after a collective of its warp, and notes its block.
const TICKETS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<12>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ctaid.y;
    mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r2, %r3, %r4, %r2;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mad.wide.u32 %d2, %r3, 16, %d1;
    atom.global.add.u32 %r5, [%d1], 1;
    st.global.u32 [%d2+16], %r5;
    bar.sync 0;
    atom.global.add.u32 %r6, [%d1], 1;
    st.global.u32 [%d2+20], %r6;
    shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1;
    atom.global.add.u32 %r8, [%d1], 1;
    st.global.u32 [%d2+24], %r8;
    mov.u32 %r9, %nctaid.y;
    mad.lo.u32 %r9, %r9, 100, %r4;
    st.global.u32 [%d2+28], %r9;
    ret;
}";

const GRID: [u32; 3] = [3, 2, 1];
const THREADS: usize = 64;

struct Run {
    device: Arc<Device>,
    program: Program,
}

/// What a thread wrote: its three tickets, and the grid that it saw.
type Thread = [u32; 4];

impl Run {
    fn new() -> Self {
        let device = Device::new(64 << 20).unwrap();
        let parsed = ptx::parse(TICKETS);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let program = Program::load(&device, parsed.module).unwrap();
        Self { device, program }
    }

    /// What the threads of each block wrote; nothing for blocks that did not run.
    fn launch(&self, blocks: Blocks<'_>, order: Order, mode: &Mode) -> Vec<Option<Vec<Thread>>> {
        let bytes = 16 + 6 * THREADS * 16;
        let out = self.device.memory.allocate(bytes as u64, 256).unwrap();
        self.device.memory.write(out, &vec![0; bytes]);
        let params = out.to_le_bytes();
        let request = LaunchRequest {
            grid: GRID,
            block: [THREADS as u32, 1, 1],
            blocks,
            order,
            ..LaunchRequest::of("k", &params)
        };
        // SAFETY: the kernel only accesses the allocation that it is given.
        unsafe { self.program.launch(&request, mode) }.unwrap();
        let mut written = vec![0; bytes];
        self.device.memory.read(out, &mut written);
        self.device.memory.free(out);
        let words: Vec<u32> =
            written.chunks_exact(4).skip(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let threads: Vec<Thread> = words.chunks_exact(4).map(|words| words.try_into().unwrap()).collect();
        let block = |threads: &[Thread]| (threads[0][3] != 0).then(|| threads.to_vec());
        threads.chunks_exact(THREADS).map(block).collect()
    }
}

/// The blocks that ran, in the order in which they began.
fn begun(blocks: &[Option<Vec<Thread>>]) -> Vec<usize> {
    let mut begun: Vec<(u32, usize)> = blocks
        .iter()
        .enumerate()
        .filter_map(|(block, threads)| Some((threads.as_ref()?.iter().map(|thread| thread[0]).min()?, block)))
        .collect();
    begun.sort_unstable();
    begun.into_iter().map(|(_, block)| block).collect()
}

fn modes() -> impl Iterator<Item = Mode> {
    [(Width::Thread, 1), (Width::Warp, 1), (Width::Warp, 3)]
        .map(|(width, threads)| Mode { width, threads, tier: Tier::Baseline, ..Mode::default() })
        .into_iter()
}

#[test]
fn a_part_of_the_blocks_runs_and_sees_the_whole_grid() {
    let run = Run::new();
    for mode in modes() {
        for (blocks, expected) in [
            (Blocks::All, vec![0, 1, 2, 3, 4, 5]),
            (Blocks::Range(1, 4), vec![1, 2, 3]),
            (Blocks::Range(4, 100), vec![4, 5]),
            (Blocks::Range(2, 2), vec![]),
            (Blocks::List(&[5, 0, 17, 3]), vec![0, 3, 5]),
            (Blocks::List(&[]), vec![]),
        ] {
            let written = run.launch(blocks, Order::Free, &mode);
            let ran: Vec<usize> = (0..6).filter(|&block| written[block].is_some()).collect();
            assert_eq!(ran, expected, "{blocks:?} {mode:?}");
            assert!(written.iter().flatten().flatten().all(|thread| thread[3] == 203), "{blocks:?} {mode:?}");
        }
    }
}

#[test]
fn blocks_of_a_list_begin_in_its_order_unless_another_is_asked_for() {
    let run = Run::new();
    let list = Blocks::List(&[4, 1, 5, 0]);
    for mode in modes() {
        if mode.threads == 1 {
            assert_eq!(begun(&run.launch(list, Order::Free, &mode)), [4, 1, 5, 0], "{mode:?}");
        }
        for order in [Order::Ascending, Order::Serial, Order::Warps] {
            assert_eq!(begun(&run.launch(list, order, &mode)), [0, 1, 4, 5], "{order:?} {mode:?}");
            assert_eq!(begun(&run.launch(Blocks::All, order, &mode)), [0, 1, 2, 3, 4, 5], "{order:?} {mode:?}");
        }
    }
}

#[test]
fn serial_threads_run_by_their_numbers_between_barriers() {
    let run = Run::new();
    for mode in modes() {
        for (block, threads) in run.launch(Blocks::All, Order::Serial, &mode).iter().enumerate() {
            let threads = threads.as_ref().unwrap();
            let before = (block * 3 * THREADS) as u32;
            for phase in [0, 1, 2] {
                // What is after a barrier comes after all that is before it. A collective parts only threads of its warp.
                let mut by_ticket: Vec<usize> = (0..THREADS).collect();
                by_ticket.sort_unstable_by_key(|&thread| threads[thread][phase]);
                assert!(by_ticket.iter().copied().eq(0..THREADS), "phase {phase} {by_ticket:?} {mode:?}");
            }
            assert!(threads.iter().map(|thread| thread[0]).eq(before..before + THREADS as u32), "{mode:?}");
            // After the barrier, a warp has its turns on both sides of the collective before the next one has any.
            let last = threads[..32].iter().map(|thread| thread[2]).max();
            assert!(last < threads[32..].iter().map(|thread| thread[1]).min(), "{mode:?}");
        }
    }
}

#[test]
fn warps_run_by_their_numbers_between_barriers() {
    let run = Run::new();
    for mode in modes() {
        for threads in run.launch(Blocks::All, Order::Warps, &mode).iter().flatten() {
            let tickets =
                |warp: usize, phase: usize| threads[32 * warp..][..32].iter().map(move |thread| thread[phase]);
            // After the barrier, too: the warp that comes to it last does not go on first.
            assert!(tickets(0, 0).max() < tickets(1, 0).min(), "{mode:?}");
            assert!(tickets(0, 2).max() < tickets(1, 1).min(), "{mode:?}");
        }
    }
}

#[test]
fn a_random_order_is_that_of_its_seed() {
    let run = Run::new();
    let order = |seed| Order::Random { seed, preempt: true };
    for mode in modes() {
        let first = run.launch(Blocks::All, order(3), &mode);
        assert_eq!(first, run.launch(Blocks::All, order(3), &mode), "{mode:?}");
        assert!((4..12).any(|seed| run.launch(Blocks::All, order(seed), &mode) != first), "{mode:?}");
    }
}

#[test]
fn a_part_of_a_cooperative_launch_is_refused() {
    let run = Run::new();
    let request = LaunchRequest {
        grid: GRID,
        is_cooperative: true,
        blocks: Blocks::Range(0, 2),
        ..LaunchRequest::of("k", &[0; 8])
    };
    // SAFETY: the kernel is refused.
    let error = unsafe { run.program.launch(&request, &Mode::default()) }.unwrap_err();
    assert!(matches!(&error, LaunchError::Invalid(why) if why.contains("cooperative")), "{error}");
}
