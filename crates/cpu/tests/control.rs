//! What tools can ask of a launch: late copies, and to be told what happens.

use std::sync::{Arc, Mutex};

use cpu::{Device, Mode, Program, Tier, Width};
use device::{Fault, FaultKind, LaneNotInMask, LaunchError, LaunchRequest, Observer, Waiter};

fn device() -> Arc<Device> {
    Device::new(64 << 20).unwrap()
}

fn program(device: &Arc<Device>, text: &str) -> Program {
    let parsed = ptx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    Program::load(device, parsed.module).unwrap()
}

/// All ways to compile and run.
fn modes() -> impl Iterator<Item = Mode> {
    [Width::Thread, Width::Warp]
        .into_iter()
        .flat_map(|width| [Tier::Baseline, Tier::Optimised].map(|tier| Mode { width, tier, ..Mode::default() }))
}

fn launch(program: &Program, block: u32, mode: &Mode, diary: &Arc<Diary>) -> Result<(), LaunchError> {
    let observer: Option<Arc<dyn Observer>> = Some(Arc::clone(diary) as Arc<dyn Observer>);
    let request = LaunchRequest { grid: [2, 1, 1], block: [block, 1, 1], observer, ..LaunchRequest::of("k", &[]) };
    // SAFETY: the kernels access nothing.
    unsafe { program.launch(&request, mode) }.map(drop)
}

/// Each thread copies its word to shared memory in two groups of which it waits for the first, and reads both.
const COPIES: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	.shared .align 16 .b8 buffer[512];
	ld.param.u64 %d1, [data];
	mov.u32 %r1, %tid.x;
	mul.lo.u32 %r2, %r1, 4;
	cvt.u64.u32 %d2, %r2;
	add.u64 %d1, %d1, %d2;
	mov.u32 %r3, buffer;
	add.u32 %r3, %r3, %r2;
	cp.async.ca.shared.global [%r3], [%d1], 4;
	cp.async.commit_group;
	cp.async.ca.shared.global [%r3+256], [%d1], 4;
	cp.async.commit_group;
	cp.async.wait_group 1;
	ld.shared.u32 %r4, [%r3];
	ld.shared.u32 %r5, [%r3+256];
	mad.lo.u32 %r6, %r5, 1000, %r4;
	cp.async.wait_all;
	st.global.u32 [%d1], %r6;
	ret;
}";

/// Threads loop so many times as their number says, between barriers.
const ROUNDS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<3>;
	.reg .pred %p;
	mov.u32 %r1, %tid.x;
	bar.sync 0;
loop:
	sub.u32 %r1, %r1, 1;
	setp.gt.s32 %p, %r1, 0;
	@%p bra loop;
	bar.sync 0;
	ret;
}";

#[derive(Debug, Default)]
struct Counts(Mutex<Vec<([u32; 3], Vec<u64>)>>);

impl Observer for Counts {
    fn executed(&self, block: [u32; 3], instructions: &[u64]) {
        self.0.lock().unwrap().push((block, instructions.to_vec()));
    }
}

#[test]
fn instructions_of_each_thread_are_told() {
    let program = program(&device(), ROUNDS);
    for mode in modes() {
        let mode = Mode { count: true, ..mode };
        let counts = Arc::new(Counts::default());
        let observer: Option<Arc<dyn Observer>> = Some(Arc::clone(&counts) as Arc<dyn Observer>);
        let request = LaunchRequest { grid: [2, 1, 1], block: [70, 1, 1], observer, ..LaunchRequest::of("k", &[]) };
        // SAFETY: the kernel accesses nothing.
        let launched = unsafe { program.launch(&request, &mode) }.unwrap();
        let expected: Vec<u64> = (0..70).map(|thread: u64| 4 + 3 * thread.max(1)).collect();
        let told = counts.0.lock().unwrap().clone();
        assert_eq!(told, [([0; 3], expected.clone()), ([1, 0, 0], expected.clone())], "{mode:?}");
        assert_eq!(launched.instructions, 2 * expected.iter().sum::<u64>(), "{mode:?}");
    }
}

#[test]
fn counted_kernels_keep_their_region_loops() {
    let program = program(&device(), ROUNDS);
    let mode = Mode { count: true, ..Mode::default() };
    let text = program.llvm_text("k", [64, 1, 1], &mode, false).unwrap();
    assert!(text.contains("region"), "{text}");
    let request = LaunchRequest { grid: [3, 1, 1], block: [64, 1, 1], ..LaunchRequest::of("k", &[]) };
    // SAFETY: the kernel accesses nothing.
    let launched = unsafe { program.launch(&request, &mode) }.unwrap();
    assert_eq!(launched.instructions, 3 * (0..64).map(|thread: u64| 4 + 3 * thread.max(1)).sum::<u64>());
}

#[test]
fn copies_are_done_late() {
    let device = device();
    let program = program(&device, COPIES);
    for mode in modes() {
        for (late_copies, expected) in [(false, 7007), (true, 7)] {
            let data = device.memory.allocate(4 * 64, 256).unwrap();
            device.memory.write(data, &7_u32.to_le_bytes().repeat(64));
            let mode = Mode { late_copies, ..mode.clone() };
            // One block: the second one would copy what the first wrote.
            let params = data.to_le_bytes();
            let request = LaunchRequest { block: [64, 1, 1], ..LaunchRequest::of("k", &params) };
            // SAFETY: the kernel only accesses the allocation that it is given.
            unsafe { program.launch(&request, &mode) }.unwrap();
            let mut bytes = [0; 256];
            device.memory.read(data, &mut bytes);
            for word in bytes.chunks(4) {
                assert_eq!(u32::from_le_bytes(word.try_into().unwrap()), expected, "{mode:?}");
            }
            device.memory.free(data);
        }
    }
}

#[derive(Debug, Default)]
struct Diary {
    lines: Mutex<Vec<String>>,
}

impl Diary {
    fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    /// How often something was noted.
    fn count(&self, what: &str) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.contains(what)).count()
    }
}

impl Observer for Diary {
    fn waits(&self, waiter: &Waiter) {
        self.note(format!("waits at {:?} line {}", waiter.barrier, waiter.line));
    }

    fn lane_not_in_mask(&self, lane: &LaneNotInMask) {
        self.note(format!("{:?} names {:x} at line {}", lane.thread, lane.mask, lane.line));
    }

    fn deadlock(&self, waiters: &[Waiter]) {
        self.note(format!("deadlock of {}", waiters.len()));
    }

    fn fault(&self, fault: &Fault) {
        self.note(format!("fault: {}", fault.kind));
    }

    fn ends(&self, block: [u32; 3]) {
        self.note(format!("ends {block:?}"));
    }
}

fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n{body}\n\tret;\n}}"
    )
}

#[test]
fn waits_and_ends_are_told() {
    let device = device();
    let program = program(&device, &kernel("\tbar.sync 3;"));
    for mode in modes() {
        let diary = Arc::new(Diary::default());
        let units = 64 / mode.width.lanes() as usize;
        launch(&program, 64, &mode, &diary).unwrap();
        // The last one of each block does not wait.
        assert_eq!(diary.count("waits at Some(3) line 8"), 2 * (units - 1), "{diary:?}");
        assert_eq!(diary.count("ends ["), 2);
        assert_eq!(diary.count("fault"), 0);
    }
}

#[test]
fn faults_and_deadlocks_are_told() {
    let device = device();
    let trap = program(&device, &kernel("\ttrap;"));
    let stuck = program(
        &device,
        &kernel("\tmov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1, %r1, 32;\n\t@%p1 bar.sync 1, 64;\n\t@!%p1 bar.sync 2, 64;"),
    );
    for mode in modes() {
        let diary = Arc::new(Diary::default());
        let result = launch(&trap, 32, &mode, &diary);
        assert!(matches!(result, Err(LaunchError::Fault(Fault { kind: FaultKind::Trap, .. }))), "{result:?}");
        assert_eq!(diary.count("fault: trap"), 1);
        let result = launch(&stuck, 64, &mode, &diary);
        assert!(
            matches!(result, Err(LaunchError::Fault(Fault { kind: FaultKind::Deadlock { .. }, .. }))),
            "{result:?}"
        );
        assert_eq!(diary.count("deadlock"), 1, "{diary:?}");
    }
}

#[test]
fn lanes_that_are_not_among_those_they_name_are_told() {
    let device = device();
    let program = program(
        &device,
        &kernel(
            "\tmov.u32 %r1, %lanemask_lt;\n\tbar.warp.sync 0x7fffffff;\n\tvote.sync.ballot.b32 %r2, 1, %r1;\n\tbar.warp.sync -1;",
        ),
    );
    for mode in modes() {
        let diary = Arc::new(Diary::default());
        launch(&program, 64, &mode, &diary).unwrap();
        // Two blocks of two warps.
        assert_eq!(diary.count("[31, 0, 0] names 7fffffff at line 9"), 2, "{diary:?}");
        assert_eq!(diary.count("names 7fffffff at line 9"), 4, "{diary:?}");
        assert_eq!(diary.count("[35, 0, 0] names 7 at line 10"), 2, "{diary:?}");
        assert_eq!(diary.count("at line 10"), 128);
        assert_eq!(diary.count("at line 11"), 0);
    }
}
