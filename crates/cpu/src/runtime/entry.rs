//! The functions that compiled code calls.
//!
//! No panic may leave them, because compiled code has no way to pass it on: what can go wrong ends the launch.

use super::barrier_ring::{wg_over, wg_synchronise};
use super::collective::Collective;
use super::context::WarpContext;
use super::host;
use super::launch::FaultKind;
use super::matrix::{self, Operands};
use super::mbarrier;
use super::schedule::Arrival;
use super::signals::Activity;
use super::texture;
use super::worker::Worker;
use crate::lower::{HostFunction, Undefined};

/// The names by which compiled code knows the functions, and their addresses.
pub(crate) fn symbols() -> Vec<(String, usize)> {
    [
        ("wg_barrier", wg_barrier as *const () as usize),
        ("wg_synchronise", wg_synchronise as *const () as usize),
        ("wg_over", wg_over as *const () as usize),
        ("wg_collective", wg_collective as *const () as usize),
        ("wg_lanes_not_in_mask", wg_lanes_not_in_mask as *const () as usize),
        ("wg_cycles", wg_cycles as *const () as usize),
        ("wg_nanoseconds", wg_nanoseconds as *const () as usize),
        ("wg_trap", wg_trap as *const () as usize),
        ("wg_misaligned", wg_misaligned as *const () as usize),
        ("wg_bad_target", wg_bad_target as *const () as usize),
        ("wg_undefined", wg_undefined as *const () as usize),
        ("wg_frame", wg_frame as *const () as usize),
        ("wg_stuck", wg_stuck as *const () as usize),
        ("wg_deoptimize", wg_deoptimize as *const () as usize),
        ("wg_misspeculated", wg_misspeculated as *const () as usize),
        ("wg_host_call", wg_host_call as *const () as usize),
        ("wg_preempt", wg_preempt as *const () as usize),
        ("wg_over_budget", wg_over_budget as *const () as usize),
        ("wg_spin", wg_spin as *const () as usize),
        ("wg_spin_in_region", wg_spin_in_region as *const () as usize),
        ("wg_copy_later", wg_copy_later as *const () as usize),
        ("wg_commit_copies", wg_commit_copies as *const () as usize),
        ("wg_wait_for_copies", wg_wait_for_copies as *const () as usize),
        ("wg_matrix", wg_matrix as *const () as usize),
        ("wg_matrix_apart", wg_matrix_apart as *const () as usize),
        ("wg_mbarrier", wg_mbarrier as *const () as usize),
        ("wg_cluster_arrive", wg_cluster_arrive as *const () as usize),
        ("wg_cluster_wait", wg_cluster_wait as *const () as usize),
        ("wg_stack_overflow", wg_stack_overflow as *const () as usize),
        ("wg_texture", wg_texture as *const () as usize),
        ("wg_texture_apart", wg_texture_apart as *const () as usize),
        ("memset", libc::memset as *const () as usize),
        ("memcpy", libc::memcpy as *const () as usize),
        ("memmove", libc::memmove as *const () as usize),
    ]
    .map(|(name, address)| (name.to_owned(), address))
    .to_vec()
}

/// Leaves the kernel for the runtime.
pub(super) fn runtime<T>(run: impl FnOnce(&Worker<'_>) -> T) -> T {
    let worker = Worker::current();
    worker.landing.during(Activity::Runtime, || run(worker))
}

/// The line of the PTX is in the low bits, what is asked for in the high ones.
fn split(what: u32) -> (u32, u32) {
    (what >> 24, what & 0xff_ffff)
}

pub(super) extern "C" fn wg_barrier(_: *mut WarpContext, what: u32, id: u32, count: u32, lanes: u32, yes: u32) -> u32 {
    let (kind, line) = split(what);
    let arrival = Arrival { waits: kind != 1, line, id, count, lanes, yes };
    let (yes, count) = runtime(|worker| worker.arrive(arrival));
    match kind {
        2 => yes,
        3 => u32::from(yes == count),
        _ => u32::from(yes != 0),
    }
}

/// The number of bytes written is in the low eight bits of `sizes`, that of bytes read in the next.
extern "C" fn wg_copy_later(_: *mut WarpContext, lane: u32, from: u64, to: u64, sizes: u32) {
    runtime(|worker| worker.copy_later(lane, from, to, sizes as u8, (sizes >> 8) as u8));
}

extern "C" fn wg_commit_copies(_: *mut WarpContext, lanes: u32) {
    runtime(|worker| worker.commit_copies(lanes));
}

/// With -1 for the number of groups that may be left: waits for all that was issued.
extern "C" fn wg_wait_for_copies(_: *mut WarpContext, lanes: u32, groups: u32) {
    runtime(|worker| worker.do_copies(lanes, (groups != u32::MAX).then_some(groups)));
}

/// With -1 for the mask: for whoever is there.
extern "C" fn wg_collective(_: *mut WarpContext, what: u32, mask: u64, a: u64, b: u64, c: u64) -> u64 {
    let (kind, line) = split(what);
    let mask = (mask != u64::MAX).then_some(mask as u32);
    runtime(|worker| match Collective::of(kind) {
        Some(kind) => worker.meet(kind, line, mask, [a, b, c]),
        None => worker.fail(FaultKind::Unsupported { what: format!("collective {kind}") }, line),
    })
}

/// Lanes of a warp are not among those that they name in a collective.
extern "C" fn wg_lanes_not_in_mask(_: *mut WarpContext, line: u32, lanes: u32, masks: *const [u32; 32]) {
    // SAFETY: compiled code passes room on its stack that it has just written.
    let masks = unsafe { &*masks };
    runtime(|worker| worker.tell_lanes_not_in_mask(line, lanes, masks));
}

extern "C" fn wg_cycles(_: *mut WarpContext) -> u64 {
    // SAFETY: all processors that we run on have a counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

extern "C" fn wg_nanoseconds(_: *mut WarpContext) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64)
}

/// The first of some lanes.
fn first_of(lanes: u32) -> u32 {
    if lanes == 0 { 0 } else { lanes.trailing_zeros() }
}

extern "C" fn wg_trap(_: *mut WarpContext, line: u32, lanes: u32) {
    runtime(|worker| worker.fail_in_lane(FaultKind::Trap, line, first_of(lanes)))
}

extern "C" fn wg_misaligned(_: *mut WarpContext, line: u32, address: u64, bytes: u32) {
    runtime(|worker| worker.fail(FaultKind::Misaligned { address, bytes }, line))
}

extern "C" fn wg_bad_target(_: *mut WarpContext, line: u32, lanes: u32) {
    runtime(|worker| worker.fail_in_lane(FaultKind::BadCall, line, first_of(lanes)))
}

extern "C" fn wg_frame(_: *mut WarpContext, words: u64) -> *mut u64 {
    runtime(|worker| worker.frame(words))
}

extern "C" fn wg_deoptimize(_: *mut WarpContext) {
    runtime(|worker| worker.deoptimize())
}

extern "C" fn wg_misspeculated(_: *mut WarpContext) {
    runtime(|worker| worker.launch.kernel.count_misspeculation());
}

extern "C" fn wg_undefined(_: *mut WarpContext, what: u32) {
    let (what, line) = split(what);
    debug_assert_eq!(what, Undefined::BranchIndex as u32, "compiled code knows of nothing else");
    let what = "an indexed branch past the end of its table";
    runtime(|worker| worker.fail(FaultKind::Undefined { what }, line))
}

extern "C" fn wg_stuck(_: *mut WarpContext, line: u32) {
    let what = "lanes of a warp that wait for each other in a function that is not inlined".to_owned();
    runtime(|worker| worker.fail(FaultKind::Unsupported { what }, line))
}

extern "C" fn wg_preempt(_: *mut WarpContext) {
    runtime(|worker| worker.preempt());
}

extern "C" fn wg_over_budget(_: *mut WarpContext) {
    runtime(|worker| worker.fail(FaultKind::OverBudget { budget: worker.launch.budget }, 0))
}

extern "C" fn wg_spin(_: *mut WarpContext) {
    runtime(|worker| worker.spin());
}

/// The same, where one function runs all warps of the block. Tells whether what is waited for may be one of them.
extern "C" fn wg_spin_in_region(_: *mut WarpContext) -> bool {
    runtime(|worker| {
        worker.spin();
        worker.is_livelocked()
    })
}

extern "C" fn wg_host_call(_: *mut WarpContext, what: u32, lane: u32, arguments: *mut u8) {
    let (function, line) = split(what);
    let functions = [HostFunction::Printf, HostFunction::AssertFail, HostFunction::Malloc, HostFunction::Free];
    runtime(|worker| {
        let Some(&function) = functions.get(function as usize) else {
            worker.fail(FaultKind::Unsupported { what: format!("function {function} of the device") }, line)
        };
        // SAFETY: compiled code passes room for results and arguments of the function.
        let result = unsafe { host::call(worker, function, arguments) };
        if let Err(kind) = result {
            worker.fail_in_lane(kind, line, lane);
        }
    });
}

/// A matrix instruction of a whole warp: the first word of each operand is that of lane 0, and so on.
extern "C" fn wg_matrix(_: *mut WarpContext, line: u32, lanes: u32, first: u64, second: u64, words: *mut u64) {
    let starts =
        std::array::from_fn(
            |lane| {
                if lanes >> lane & 1 != 0 { words.wrapping_add(lane) } else { std::ptr::null_mut() }
            },
        );
    runtime(|worker| {
        let operands = Operands { lanes: starts, stride: 32 };
        // SAFETY: compiled code has room for the words of 32 lanes beside each other.
        let result =
            worker.landing.during(Activity::Reading, || unsafe { matrix::execute([first, second], &operands) });
        if let Err(kind) = result {
            worker.fail(kind, line);
        }
    });
}

/// A matrix instruction of threads that run on their own: when all are there, the first computes for all.
extern "C" fn wg_matrix_apart(context: *mut WarpContext, line: u32, _: u32, first: u64, second: u64, words: *mut u64) {
    let mut all = [0_u64; 32];
    // SAFETY: compiled code passes its own context.
    let lane = unsafe { (*context).first_lane() };
    runtime(|worker| {
        worker.meet(Collective::Operands, line, Some(u32::MAX), [words as u64, (&raw mut all) as u64, 0]);
        if all.iter().position(|&start| start != 0) == Some(lane as usize) {
            let operands = Operands { lanes: all.map(|start| start as *mut u64), stride: 1 };
            // SAFETY: the words are on the stacks of fibres that wait for this one.
            let result =
                worker.landing.during(Activity::Reading, || unsafe { matrix::execute([first, second], &operands) });
            if let Err(kind) = result {
                worker.fail(kind, line);
            }
        }
        worker.meet(Collective::Operands, line, Some(u32::MAX), [0; 3]);
    });
}

/// An operation on a barrier object, for one thread.
extern "C" fn wg_mbarrier(_: *mut WarpContext, what: u32, address: u64, operand: u64) -> u64 {
    let (op, line) = split(what);
    runtime(|worker| {
        // SAFETY: a fault of the access is one of the kernel's.
        let result = worker.landing.during(Activity::Reading, || unsafe { mbarrier::execute(op, address, operand) });
        match result {
            Ok(result) => result,
            Err(kind) => worker.fail(kind, line),
        }
    })
}

extern "C" fn wg_cluster_arrive(_: *mut WarpContext, lanes: u32) {
    runtime(|worker| worker.arrive_at_cluster(lanes));
}

extern "C" fn wg_cluster_wait(_: *mut WarpContext, line: u32, lanes: u32) {
    runtime(|worker| worker.wait_for_cluster(line, lanes));
}

extern "C" fn wg_stack_overflow(_: *mut WarpContext, line: u32) {
    runtime(|worker| worker.fail(FaultKind::StackOverflow, line))
}

/// A texture instruction of a whole warp.
extern "C" fn wg_texture(_: *mut WarpContext, line: u32, lanes: u32, first: u64, second: u64, words: *mut u64) {
    access_texture(line, [first, second], &Operands::beside_each_other(lanes, words));
}

/// A texture instruction of one thread.
extern "C" fn wg_texture_apart(_: *mut WarpContext, line: u32, _: u32, first: u64, second: u64, words: *mut u64) {
    access_texture(line, [first, second], &Operands::of_one(words));
}

fn access_texture(line: u32, what: [u64; 2], operands: &Operands) {
    runtime(|worker| {
        let textures = worker.launch.textures;
        // SAFETY: compiled code has room for the words of its lanes, and images are memory of the program.
        let result = worker.landing.during(Activity::Reading, || unsafe { texture::execute(textures, what, operands) });
        if let Err(kind) = result {
            worker.fail(kind, line);
        }
    });
}
