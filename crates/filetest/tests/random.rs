//! Random kernels: that there is everything in them that there should be, that their results do not depend on the schedule,
//! and that all engines agree about some of them. `cpu-random` compares many more.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use filetest::differential::{Comparison, judge};
use filetest::engine::engines;
use filetest::random_kernel::{RandomKernel, generate};

fn kernels(count: u64) -> impl Iterator<Item = (u64, RandomKernel)> {
    (0..count).map(|seed| (seed, generate(seed)))
}

#[test]
fn a_seed_gives_one_kernel() {
    assert_eq!(generate(7).text, generate(7).text);
    assert_ne!(generate(7).text, generate(8).text);
}

/// What must come up in some kernel of a thousand.
#[rustfmt::skip]
const CONSTRUCTS: &[&str] = &[
    // Control flow and calls.
    "bra ", "bra.uni", "brx.idx", "@!%p", "exit;", "ret;", "selp.", "call (c), function_0", ".callprototype", "@%p", "vprintf",
    ".reg .b32 result",
    // Integers.
    "add.cc.", "addc.", "sub.cc", "subc", "mad.lo.cc", "madc.", "mad.wide.", "mul.hi.", "div.s", "rem.u", "min.", "max.", "abs.s",
    "neg.s", "sad.", "bfe.", "bfi.", "bfind.", "popc.", "clz.", "brev.", "shf.", "shl.", "shr.", "prmt.", "lop3.", "dp4a.",
    "dp2a.", "set.", "setp.", "slct.", "cvt.", "fns.", "szext.", "bmsk.", "cvt.pack", "mul24", "vadd",
    // Floating point.
    "fma.r", "mad.r", ".rz.", ".rm.", ".rp.", ".ftz", ".sat", "div.rn.f32", "sqrt.r", "rcp.r", ".f16 ", ".f16x2 ", ".bf16 ",
    ".bf16x2 ", ".f64 ", "copysign", "xorsign", "testp.", ".relu", ".e4m3x2",
    // Memory.
    "ld.global", "st.global", "ld.shared", "st.shared", "ld.local", "st.local", "ld.const", ".nc", "ld.b", "st.b", ".v2.", ".v4.",
    "cp.async", "red.", "atom.", ".cas.", "cvta.shared", "cvta.local", ".volatile", ".relaxed", ".extern .shared",
    // Threads together.
    "bar.sync", "barrier.sync", "bar.arrive", "bar.red.popc", "barrier.red", "bar.sync 4, ", "bar.warp.sync", "shfl.sync.up",
    "shfl.sync.down", "shfl.sync.bfly", "shfl.sync.idx", "vote.sync.all", "vote.sync.any", "vote.sync.uni", "vote.sync.ballot",
    "match.any", "match.all", "redux.sync.add", "redux.sync.min.s32", "redux.sync.xor",
];

#[test]
fn everything_comes_up() {
    let mut missing: Vec<&str> = CONSTRUCTS.to_vec();
    let mut shapes = BTreeMap::new();
    for (_, kernel) in kernels(1000) {
        missing.retain(|construct| !kernel.text.contains(construct));
        *shapes.entry(kernel.block).or_insert(0) += 1;
    }
    assert!(missing.is_empty(), "not found in 1000 kernels: {missing:?}");
    assert!(shapes.len() > 15, "{shapes:?}");
}

#[test]
fn kernels_are_of_the_right_size() {
    let mut sizes: Vec<usize> = kernels(200).map(|(_, kernel)| kernel.instructions).collect();
    sizes.sort_unstable();
    assert!(sizes[0] >= 20 && sizes[199] <= 500, "{} to {} instructions", sizes[0], sizes[199]);
    assert!(sizes[100] <= 170, "half of all have more than {} instructions", sizes[100]);
}

/// A kernel that reads what another thread writes at the same time would be found here.
#[test]
fn no_kernel_depends_on_the_schedule() {
    let mut engines = engines();
    engines.retain(|engine| engine.name().starts_with("interpreter"));
    assert!(engines.len() >= 3);
    for (seed, kernel) in kernels(if cfg!(debug_assertions) { 300 } else { 2000 }) {
        assert_eq!(judge(&kernel.text, &engines), Comparison::Agree, "seed {seed}");
    }
}

#[test]
fn all_engines_agree() {
    const KERNELS: u64 = 60;
    let next = AtomicU64::new(0);
    let differing = Mutex::new(Vec::new());
    let work = || {
        let engines = engines();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= KERNELS {
                return;
            }
            let comparison = judge(&generate(seed).text, &engines);
            if comparison != Comparison::Agree {
                differing.lock().unwrap().push((seed, comparison));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let differing = differing.into_inner().unwrap();
    assert!(differing.is_empty(), "`cpu-random` makes these smaller: {differing:#?}");
}
