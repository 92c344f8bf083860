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
                schedule: cpu::Schedule::Random,
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
    let tickets = |seed, width| {
        let device = cpu::Device::new(16 << 20).expect("there is memory");
        let program = cpu::Program::load(&device, module.clone()).expect("the module can be loaded");
        let out = device.memory.allocate(385 * 4, 4).expect("there is memory");
        let mode = Mode {
            width,
            seed,
            schedule: cpu::Schedule::Random,
            preempt: true,
            tier: Tier::Baseline,
            ..Mode::default()
        };
        let params = out.to_le_bytes();
        let request = LaunchRequest { grid: [4, 1, 1], block: [96, 1, 1], ..LaunchRequest::of("k", &params) };
        // SAFETY: the kernel only writes the allocation that it is given.
        unsafe { program.launch(&request, &mode) }.expect("the kernel ends");
        let mut bytes = vec![0; 385 * 4];
        assert!(device.memory.read(out, &mut bytes));
        bytes
    };
    for width in [Width::Thread, Width::Warp] {
        let first = tickets(5, width);
        for _ in 0..100 {
            assert_eq!(first, tickets(5, width));
        }
        assert!((6..16).any(|seed| tickets(seed, width) != first), "other seeds give other orders");
    }
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
