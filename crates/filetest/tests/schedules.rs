//! Kernels whose threads wait for each other end with the same result in every schedule.
//!
//! `SCHEDULES=1000` tries more of them than a usual run does.

use std::path::Path;
use std::time::Duration;

use cpu::{Mode, Tier, Width};
use device::LaunchRequest;
use filetest::engine::{CpuDevice, Interpreter};
use interp::{Config, Schedule};

/// Files of `tests/ptx/run`.
const WAITING: &[&str] = &[
    "bar",
    "bar_after_threads_have_exited",
    "bar_in_both_arms",
    "bar_red_in_both_arms",
    "bar_warp_sync",
    "barrier_cluster",
    "decoupled_look_back",
    "grid_barrier",
    "mask_of_the_lanes_below",
    "mask_without_the_lane",
    "mbarrier",
    "members_of_two_rounds",
    "producer_consumer",
    "shfl_with_members_from_several_paths",
    "spin_beside_a_collective",
    "spin_lock_between_blocks",
    "spin_lock_within_a_warp",
];

#[test]
fn waiting_kernels_end_in_every_schedule() {
    let schedules = std::env::var("SCHEDULES").map_or(20, |value| value.parse().expect("SCHEDULES is a number"));
    for name in WAITING {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/ptx/run/{name}.ptx"));
        for seed in 0..schedules {
            // From a change of threads after every instruction to long turns.
            let schedule = Schedule::Random { longest: [1, 3, 10, 100][seed as usize % 4] };
            let config = Config { seed, schedule, ..Config::default() };
            let engine = Interpreter { name: format!("seed {seed}"), config };
            if let Err(error) = filetest::commands::agrees(&path, &engine) {
                panic!("{name}: {error:#}");
            }
        }
    }
}

/// Warps, and threads on their own, that give way before any access to memory.
#[test]
fn waiting_kernels_end_in_every_schedule_of_the_device() {
    let schedules = std::env::var("SCHEDULES").map_or(8, |value| value.parse().expect("SCHEDULES is a number"));
    for name in WAITING {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/ptx/run/{name}.ptx"));
        for seed in 0..schedules {
            let mode = Mode {
                width: if seed % 2 == 0 { Width::Warp } else { Width::Thread },
                tier: Tier::Baseline,
                seed,
                schedule: if seed % 8 < 4 { cpu::Schedule::Random } else { cpu::Schedule::Pct },
                preempt: seed % 4 < 2,
                timeout: Some(Duration::from_secs(20)),
                ..Mode::default()
            };
            if let Err(error) = filetest::commands::agrees(&path, &CpuDevice::new("device", mode.clone())) {
                panic!("{name}, {mode:?}: {error:#}");
            }
        }
    }
}

#[test]
fn a_schedule_of_the_device_repeats() {
    let text = "
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 out) {
            .reg .b32 %r<6>; .reg .b64 %d<3>;
            mov.u32 %r1, %tid.x;
            mov.u32 %r3, %ctaid.x;
            mad.lo.u32 %r1, %r3, 96, %r1;
            ld.param.u64 %d1, [out];
            atom.global.add.u32 %r2, [%d1], 1;
            bar.sync 0;
            mad.wide.u32 %d2, %r1, 4, %d1;
            st.global.u32 [%d2+4], %r2;
            ret;
        }";
    let module = ptx::parse(text).module;
    let tickets = |seed, width, schedule| {
        let device = cpu::Device::new(16 << 20).expect("there is memory");
        let program = cpu::Program::load(&device, module.clone()).expect("the module can be loaded");
        let out = device.memory.allocate(385 * 4, 4).expect("there is memory");
        let mode = Mode { width, seed, schedule, preempt: true, tier: Tier::Baseline, ..Mode::default() };
        let params = out.to_le_bytes();
        let request = LaunchRequest { grid: [4, 1, 1], block: [96, 1, 1], ..LaunchRequest::of("k", &params) };
        // SAFETY: the kernel only writes the allocation that it is given.
        unsafe { program.launch(&request, &mode) }.expect("the kernel ends");
        let mut bytes = vec![0; 385 * 4];
        assert!(device.memory.read(out, &mut bytes));
        bytes
    };
    for width in [Width::Thread, Width::Warp] {
        for schedule in [cpu::Schedule::Random, cpu::Schedule::Pct] {
            let first = tickets(5, width, schedule);
            for _ in 0..100 {
                assert_eq!(first, tickets(5, width, schedule));
            }
            assert!((6..16).any(|seed| tickets(seed, width, schedule) != first), "other seeds give other orders");
        }
    }
}

/// What the words of a buffer hold after a launch of four warps, which starts with zeros.
struct Race {
    device: std::sync::Arc<cpu::Device>,
    program: cpu::Program,
}

impl Race {
    fn new(body: &str) -> Self {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<9>;\n{body}\n}}"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let device = cpu::Device::new(16 << 20).expect("there is memory");
        let program = cpu::Program::load(&device, parsed.module).expect("the module can be loaded");
        Self { device, program }
    }

    fn run(&self, schedule: cpu::Schedule, seed: u64, preempt: bool) -> [u32; 4] {
        let memory = self.device.memory.allocate(64, 64).expect("there is memory");
        self.device.memory.write(memory, &[0; 64]);
        let mode = Mode { seed, schedule, preempt, tier: Tier::Baseline, ..Mode::default() };
        let params = memory.to_le_bytes();
        let request = LaunchRequest { block: [128, 1, 1], ..LaunchRequest::of("k", &params) };
        // SAFETY: the kernels only access the allocation that they are given.
        unsafe { self.program.launch(&request, &mode) }.expect("the kernel ends");
        let mut bytes = [0; 16];
        assert!(self.device.memory.read(memory, &mut bytes));
        self.device.memory.free(memory);
        std::array::from_fn(|word| u32::from_le_bytes(bytes[4 * word..][..4].try_into().expect("four bytes")))
    }
}

/// Warps increment a counter eight times, without atomics.
const COUNTER: &str = "
    ld.param.u64 %d1, [p];
    mov.u32 %r1, 0;
loop:
    ld.volatile.global.u32 %r2, [%d1];
    add.u32 %r2, %r2, 1;
    st.volatile.global.u32 [%d1], %r2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra loop;
    ret;";

#[test]
fn a_racy_counter_has_several_outcomes_under_preemption() {
    let race = Race::new(COUNTER);
    for schedule in [cpu::Schedule::Random, cpu::Schedule::Pct] {
        let outcomes = |seeds: std::ops::Range<u64>, preempt| {
            seeds.map(|seed| race.run(schedule, seed, preempt)[0]).collect::<std::collections::BTreeSet<u32>>()
        };
        // Two preemptions seldom hit, of those that PCT makes.
        let seeds = if schedule == cpu::Schedule::Random { 8 } else { 64 };
        assert!(outcomes(0..seeds, true).len() >= 2, "{schedule:?}");
        assert_eq!(outcomes(0..seeds, false), [32].into(), "{schedule:?}: nobody gives way between load and store");
    }
}

#[test]
fn accesses_of_tools_are_not_preempted() {
    let tagged: String = COUNTER
        .lines()
        .map(
            |line| {
                if line.contains("volatile") { format!("{line} //@ 3 racecheck.log\n") } else { format!("{line}\n") }
            },
        )
        .collect();
    let race = Race::new(&tagged);
    for seed in 0..32 {
        assert_eq!(race.run(cpu::Schedule::Random, seed, true)[0], 32, "seed {seed}");
    }
}

/// The first warp writes 1 and then 2. The second reads twice.
const TWO_PREEMPTIONS: &str = "
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    setp.eq.u32 %p2, %r2, 1;
    @%p1 bra writer;
    @%p2 bra reader;
    ret;
writer:
    st.volatile.global.u32 [%d1], 1;
    st.volatile.global.u32 [%d1], 2;
    ret;
reader:
    ld.volatile.global.u32 %r4, [%d1];
    ld.volatile.global.u32 %r5, [%d1];
    st.global.u32 [%d1+4], %r4;
    st.global.u32 [%d1+8], %r5;
    ret;";

/// The reader sees 1 and then 2 only if the writer is preempted between its accesses and then the reader between its own.
/// Of four warps the writer must be before the reader (1 ÷ 2), and both change points must be right: 2 ÷ k² if k steps are
/// assumed, which are 8, 12 to 16, 20 to 32 and so on, for a twelfth of the seeds each. That is one seed in about 500, so that
/// 4,000 seeds miss it with a probability of about 1 ÷ 3,000. `SCHEDULES=40000` tries more, and says how many find it.
#[test]
#[allow(clippy::print_stdout, reason = "who asks for more seeds is told how many find it")]
fn priorities_find_a_bug_that_needs_two_preemptions() {
    let seeds = std::env::var("SCHEDULES").map_or(4000, |value| value.parse().expect("SCHEDULES is a number"));
    let race = Race::new(TWO_PREEMPTIONS);
    let found = |seed: &u64| race.run(cpu::Schedule::Pct, *seed, true)[1..3] == [1, 2];
    let found: Vec<u64> = (0..seeds).filter(found).collect();
    println!("{} of {seeds} seeds find it, the first is {:?}", found.len(), found.first());
    assert!(!found.is_empty());
    // Without preemption it cannot be.
    assert!((0..100).all(|seed| race.run(cpu::Schedule::Pct, seed, false)[1..3] != [1, 2]));
}

#[test]
fn a_schedule_repeats() {
    let text = "
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 out) {
            .reg .b32 %r<4>; .reg .b64 %d<3>;
            mov.u32 %r1, %tid.x;
            ld.param.u64 %d1, [out];
            atom.global.add.u32 %r2, [%d1], 1;
            mad.wide.u32 %d2, %r1, 4, %d1;
            st.global.u32 [%d2+4], %r2;
            ret;
        }";
    let module = ptx::parse(text).module;
    let tickets = |seed| {
        let config = Config { seed, schedule: Schedule::Random { longest: 2 }, ..Config::default() };
        let mut machine = interp::Machine::new(&module, config).expect("the module can be loaded");
        let out = machine.allocate(65 * 4, 4);
        let params = out.to_le_bytes();
        let launch =
            interp::Launch { kernel: "k", grid: [1; 3], block: [64, 1, 1], dynamic_shared: 0, params: &params };
        machine.launch(&launch).expect("the kernel ends");
        machine.read(out, 65 * 4).expect("the buffer is there").to_vec()
    };
    assert_eq!(tickets(5), tickets(5));
    assert_ne!(tickets(5), tickets(6), "another seed gives another order");
}
