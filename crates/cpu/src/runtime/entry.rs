//! The functions that compiled code calls.
//!
//! No panic may leave them, because compiled code has no way to pass it on: what can go wrong ends the launch.

use std::arch::naked_asm;
use std::mem::offset_of;

use super::fibre::switch;
use super::host;
use super::matrix::{self, Operands};
use super::mbarrier;
use super::schedule::Arrival;
use super::signals::Activity;
use super::texture;
use super::worker::Worker;
use crate::abi::calls::{HostFunction, RuntimeFunction, Undefined, split_line};
use crate::abi::collective::Collective;
use crate::abi::context::{Progress, WarpContext};
use device::FaultKind;

/// The names by which compiled code knows the functions, and their addresses.
pub(crate) fn symbols() -> Vec<(String, usize)> {
    let symbol = |&function: &RuntimeFunction| (function.symbol().to_owned(), implementation(function) as usize);
    RuntimeFunction::ALL.iter().map(symbol).collect()
}

fn implementation(function: RuntimeFunction) -> *const () {
    match function {
        RuntimeFunction::Barrier => wg_barrier as *const (),
        RuntimeFunction::Synchronise => wg_synchronise as *const (),
        RuntimeFunction::Over => wg_over as *const (),
        RuntimeFunction::Collective => wg_collective as *const (),
        RuntimeFunction::LanesNotInMask => wg_lanes_not_in_mask as *const (),
        RuntimeFunction::Cycles => wg_cycles as *const (),
        RuntimeFunction::Nanoseconds => wg_nanoseconds as *const (),
        RuntimeFunction::Trap => wg_trap as *const (),
        RuntimeFunction::Misaligned => wg_misaligned as *const (),
        RuntimeFunction::IllegalAddress => wg_illegal_address as *const (),
        RuntimeFunction::BadTarget => wg_bad_target as *const (),
        RuntimeFunction::Undefined => wg_undefined as *const (),
        RuntimeFunction::Frame => wg_frame as *const (),
        RuntimeFunction::Stuck => wg_stuck as *const (),
        RuntimeFunction::Deoptimize => wg_deoptimize as *const (),
        RuntimeFunction::Misspeculated => wg_misspeculated as *const (),
        RuntimeFunction::HostCall => wg_host_call as *const (),
        RuntimeFunction::Preempt => wg_preempt as *const (),
        RuntimeFunction::OverBudget => wg_over_budget as *const (),
        RuntimeFunction::Spin => wg_spin as *const (),
        RuntimeFunction::SpinInRegion => wg_spin_in_region as *const (),
        RuntimeFunction::Await => wg_await as *const (),
        RuntimeFunction::CopyLater => wg_copy_later as *const (),
        RuntimeFunction::CommitCopies => wg_commit_copies as *const (),
        RuntimeFunction::WaitForCopies => wg_wait_for_copies as *const (),
        RuntimeFunction::CopyMasked => wg_copy_masked as *const (),
        RuntimeFunction::Matrix => wg_matrix as *const (),
        RuntimeFunction::MatrixOfThread => wg_matrix_apart as *const (),
        RuntimeFunction::Mbarrier => wg_mbarrier as *const (),
        RuntimeFunction::ClusterArrive => wg_cluster_arrive as *const (),
        RuntimeFunction::ClusterWait => wg_cluster_wait as *const (),
        RuntimeFunction::StackOverflow => wg_stack_overflow as *const (),
        RuntimeFunction::Texture => wg_texture as *const (),
        RuntimeFunction::TextureOfThread => wg_texture_apart as *const (),
        RuntimeFunction::Memset => libc::memset as *const (),
        RuntimeFunction::Memcpy => libc::memcpy as *const (),
        RuntimeFunction::Memmove => libc::memmove as *const (),
    }
}

extern "C" fn wg_barrier(_: *mut WarpContext, what: u32, id: u32, count: u32, lanes: u32, yes: u32) -> u32 {
    let (kind, line) = split_line(what);
    let arrival = Arrival { waits: kind != 1, line, id, count, lanes, yes };
    let (yes, count) = Worker::enter(|worker| worker.arrive(arrival));
    match kind {
        2 => yes,
        3 => u32::from(yes == count),
        _ => u32::from(yes != 0),
    }
}

/// Lanes of a warp come to barrier 0, and so will all of their block: goes on with the next warp of the ring, or asks the
/// scheduler if there is none.
///
/// # Safety
/// The warp runs.
#[unsafe(naked)]
unsafe extern "C" fn wg_synchronise(context: *mut WarpContext, line: u32, lanes: u32) {
    // The last one of a ring goes on at once.
    naked_asm!(
        "mov rax, [rdi + {next}]",
        "test rax, rax",
        "jz {without_ring}",
        "cmp rax, rdi",
        "je 2f",
        "mov [rdi + {line}], esi",
        "mov [rdi + {arrived}], edx",
        "mov rcx, [rdi + {current}]",
        "mov [rcx], rax",
        "mov rsi, [rax + {saved}]",
        "add rdi, {saved}",
        "jmp {switch}",
        "2:",
        "ret",
        switch = sym switch,
        without_ring = sym without_ring,
        next = const offset_of!(WarpContext, next),
        line = const offset_of!(WarpContext, line),
        arrived = const offset_of!(WarpContext, arrived),
        current = const offset_of!(WarpContext, current),
        saved = const offset_of!(WarpContext, saved),
    )
}

extern "C" fn without_ring(context: *mut WarpContext, line: u32, lanes: u32) {
    wg_barrier(context, line, 0, 0, lanes, 0);
}

/// A warp has come to the end of the kernel. Tells whether it goes on with another block.
///
/// # Safety
/// The warp runs.
unsafe extern "C" fn wg_over(context: *mut WarpContext) -> bool {
    // SAFETY: contexts are boxed with their fibres, which live as long as the launch does; only this OS thread uses them, and
    // nothing of them is borrowed across a switch.
    unsafe {
        if (*context).next.is_null() {
            return false;
        }
        (*context).progress = Progress::IsOver;
        let ring = (*context).shared_ring;
        (*ring).over += 1;
        if (*ring).over == (*ring).warps {
            if !Worker::enter(|worker| worker.go_on_with_ring()) {
                return false;
            }
            if (*ring).first != context {
                give_turn(context, (*ring).first);
            }
        }
        // Until all are over, each passes its turn on; without a ring, it ends.
        while (*context).progress == Progress::IsOver && !(*context).next.is_null() {
            give_turn(context, (*context).next);
        }
        (*context).progress == Progress::Runs
    }
}

/// Goes on with a warp, until another one gives the turn back.
///
/// # Safety
/// The first runs, the other is in its ring.
unsafe fn give_turn(context: *mut WarpContext, to: *mut WarpContext) {
    // SAFETY: as the caller promises; who has no turn is saved.
    unsafe {
        (*(*context).current).set(to);
        switch(&raw mut (*context).saved, (*to).saved);
    }
}

/// The number of bytes written is in the low eight bits of `sizes`, that of bytes read in the next.
extern "C" fn wg_copy_later(_: *mut WarpContext, lane: u32, from: u64, to: u64, sizes: u32) {
    Worker::enter(|worker| worker.copy_later(lane, from, to, sizes as u8, (sizes >> 8) as u8));
}

extern "C" fn wg_commit_copies(_: *mut WarpContext, lanes: u32) {
    Worker::enter(|worker| worker.commit_copies(lanes));
}

/// With -1 for the number of groups that may be left: waits for all that was issued.
extern "C" fn wg_wait_for_copies(_: *mut WarpContext, lanes: u32, groups: u32) {
    Worker::enter(|worker| worker.do_copies(lanes, (groups != u32::MAX).then_some(groups)));
}

/// Copies those bytes of each 16 that the mask has a bit for.
extern "C" fn wg_copy_masked(to: *mut u8, from: *const u8, bytes: u64, mask: u64) {
    for nth in (0..bytes as usize).filter(|nth| mask >> (nth % 16) & 1 != 0) {
        // SAFETY: the kernel may access what it copies; where nothing is mapped, a fault ends the launch.
        unsafe { to.add(nth).write(from.add(nth).read()) };
    }
}

/// With -1 for the mask: for whoever is there.
extern "C" fn wg_collective(_: *mut WarpContext, what: u32, mask: u64, a: u64, b: u64, c: u64) -> u64 {
    let (kind, line) = split_line(what);
    let mask = (mask != u64::MAX).then_some(mask as u32);
    Worker::enter(|worker| match Collective::of(kind) {
        Some(kind) => worker.meet(kind, line, mask, [a, b, c]),
        None => worker.fail(FaultKind::Unsupported { what: format!("collective {kind}") }, line),
    })
}

/// Lanes of a warp are not among those that they name in a collective.
extern "C" fn wg_lanes_not_in_mask(_: *mut WarpContext, line: u32, lanes: u32, masks: *const [u32; 32]) {
    // SAFETY: compiled code passes room on its stack that it has just written.
    let masks = unsafe { &*masks };
    Worker::enter(|worker| worker.tell_lanes_not_in_mask(line, lanes, masks));
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
    Worker::enter(|worker| worker.fail_in_lane(FaultKind::Trap, line, first_of(lanes)))
}

extern "C" fn wg_misaligned(_: *mut WarpContext, line: u32, address: u64, bytes: u32) {
    Worker::enter(|worker| worker.fail(FaultKind::Misaligned { address, bytes }, line))
}

extern "C" fn wg_illegal_address(_: *mut WarpContext, line: u32, address: u64, lane: u32) {
    Worker::enter(|worker| worker.fail_in_lane(FaultKind::IllegalAddress { address }, line, lane))
}

extern "C" fn wg_bad_target(_: *mut WarpContext, line: u32, lanes: u32) {
    Worker::enter(|worker| worker.fail_in_lane(FaultKind::BadCall, line, first_of(lanes)))
}

extern "C" fn wg_frame(_: *mut WarpContext, words: u64) -> *mut u64 {
    Worker::enter(|worker| worker.frame(words))
}

extern "C" fn wg_deoptimize(_: *mut WarpContext) {
    Worker::enter(|worker| worker.deoptimize())
}

extern "C" fn wg_misspeculated(_: *mut WarpContext) {
    Worker::enter(|worker| worker.launch.kernel.misspeculations.count());
}

extern "C" fn wg_undefined(_: *mut WarpContext, what: u32) {
    let (what, line) = split_line(what);
    debug_assert_eq!(what, Undefined::BranchIndex as u32, "compiled code knows of nothing else");
    let what = "an indexed branch past the end of its table";
    Worker::enter(|worker| worker.fail(FaultKind::Undefined { what }, line))
}

extern "C" fn wg_stuck(_: *mut WarpContext, line: u32) {
    let what = "lanes of a warp that wait for each other in a function that is not inlined".to_owned();
    Worker::enter(|worker| worker.fail(FaultKind::Unsupported { what }, line))
}

extern "C" fn wg_preempt(_: *mut WarpContext) {
    Worker::enter(|worker| worker.preempt());
}

extern "C" fn wg_over_budget(_: *mut WarpContext, lanes: u32) {
    Worker::enter(|worker| {
        worker.fail_in_lane(FaultKind::OverBudget { budget: worker.launch.budget }, 0, first_of(lanes))
    })
}

extern "C" fn wg_spin(_: *mut WarpContext) {
    Worker::enter(|worker| worker.spin());
}

/// The same, where it is known that another warp or block has to run first.
extern "C" fn wg_await(_: *mut WarpContext) {
    Worker::enter(|worker| worker.await_others());
}

/// The same, where one function runs all warps of the block. Tells whether what is waited for may be one of them.
extern "C" fn wg_spin_in_region(_: *mut WarpContext) -> bool {
    Worker::enter(|worker| {
        worker.spin();
        worker.is_livelocked()
    })
}

extern "C" fn wg_host_call(_: *mut WarpContext, what: u32, lane: u32, arguments: *mut u8) {
    let (function, line) = split_line(what);
    Worker::enter(|worker| {
        let Some(function) = HostFunction::of(function) else {
            worker.fail(FaultKind::Unsupported { what: format!("function {function} of the device") }, line)
        };
        // SAFETY: `fill_arguments` of the lowering has made room for results and arguments of the function. Pointers among
        // them are the kernel's, as in `execute_matrix`.
        let result = unsafe { host::call(worker, function, line, arguments) };
        if let Err(kind) = result {
            worker.fail_in_lane(kind, line, lane);
        }
    });
}

/// A matrix instruction of a whole warp: the first word of each operand is that of lane 0, and so on.
extern "C" fn wg_matrix(_: *mut WarpContext, line: u32, lanes: u32, first: u64, second: u64, words: *mut u64) {
    Worker::enter(|worker| {
        // SAFETY: `call_with_words` of the lowering has made room for the words of 32 lanes, and waits.
        let operands = unsafe { Operands::of_warp(lanes, words) };
        execute_matrix(worker, line, [first, second], &operands);
    });
}

/// A matrix instruction of threads that run on their own: when all are there, the first computes for all.
extern "C" fn wg_matrix_apart(context: *mut WarpContext, line: u32, _: u32, first: u64, second: u64, words: *mut u64) {
    let mut all = [0_u64; 32];
    // SAFETY: compiled code passes its own context.
    let lane = unsafe { (*context).first_lane() };
    Worker::enter(|worker| {
        worker.meet(Collective::Operands, line, Some(u32::MAX), [words as u64, (&raw mut all) as u64, 0]);
        if all.iter().position(|&start| start != 0) == Some(lane as usize) {
            // SAFETY: each thread has brought what `call_with_words` made room for, and waits for this one below.
            let operands = unsafe { Operands::of_threads(all.map(|start| start as *mut u64)) };
            execute_matrix(worker, line, [first, second], &operands);
        }
        worker.meet(Collective::Operands, line, Some(u32::MAX), [0; 3]);
    });
}

fn execute_matrix(worker: &Worker<'_>, line: u32, what: [u64; 2], operands: &Operands) {
    // SAFETY: the operands have the words of the instruction. Addresses among them are the kernel's, for whose accesses the
    // caller of `Program::launch` answers; where nothing is mapped, `Activity::Reading` ends the launch.
    let result = worker.landing.during(Activity::Reading, || unsafe { matrix::execute(what, operands) });
    if let Err(kind) = result {
        worker.fail(kind, line);
    }
}

/// An operation on a barrier object, for one thread.
extern "C" fn wg_mbarrier(_: *mut WarpContext, what: u32, address: u64, operand: u64) -> u64 {
    let (op, line) = split_line(what);
    Worker::enter(|worker| {
        // SAFETY: the address is the kernel's, as in `execute_matrix`.
        let result = worker.landing.during(Activity::Reading, || unsafe { mbarrier::execute(op, address, operand) });
        match result {
            Ok(result) => result,
            Err(kind) => worker.fail(kind, line),
        }
    })
}

extern "C" fn wg_cluster_arrive(_: *mut WarpContext, lanes: u32) {
    Worker::enter(|worker| worker.arrive_at_cluster(lanes));
}

extern "C" fn wg_cluster_wait(_: *mut WarpContext, line: u32, lanes: u32) {
    Worker::enter(|worker| worker.wait_for_cluster(line, lanes));
}

extern "C" fn wg_stack_overflow(_: *mut WarpContext, line: u32) {
    Worker::enter(|worker| worker.fail(FaultKind::StackOverflow, line))
}

/// A texture instruction of a whole warp.
extern "C" fn wg_texture(_: *mut WarpContext, line: u32, lanes: u32, first: u64, second: u64, words: *mut u64) {
    // SAFETY: as in `wg_matrix`.
    access_texture(line, [first, second], &unsafe { Operands::of_warp(lanes, words) });
}

/// A texture instruction of one thread.
extern "C" fn wg_texture_apart(_: *mut WarpContext, line: u32, _: u32, first: u64, second: u64, words: *mut u64) {
    let mut lanes = [std::ptr::null_mut(); 32];
    lanes[0] = words;
    // SAFETY: `call_with_words` of the lowering has made room for the words of one thread, and waits.
    access_texture(line, [first, second], &unsafe { Operands::of_threads(lanes) });
}

fn access_texture(line: u32, what: [u64; 2], operands: &Operands) {
    Worker::enter(|worker| {
        let textures = worker.launch.textures;
        // SAFETY: the operands have the words of the instruction, and `Textures::create` was promised that images are in
        // memory that kernels may access; where nothing is mapped, `Activity::Reading` ends the launch.
        let result = worker.landing.during(Activity::Reading, || unsafe { texture::execute(textures, what, operands) });
        if let Err(kind) = result {
            worker.fail(kind, line);
        }
    });
}
