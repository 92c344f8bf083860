//! The functions that compiled code calls.
//!
//! No panic may leave them, because compiled code has no way to pass it on: what can go wrong ends the launch.

use super::collective::Collective;
use super::context::WarpContext;
use super::host;
use super::launch::FaultKind;
use super::schedule::Arrival;
use super::worker::Worker;
use crate::lower::HostFunction;

/// The names by which compiled code knows the functions, and their addresses.
pub(crate) fn symbols() -> Vec<(String, usize)> {
    [
        ("wg_barrier", wg_barrier as *const () as usize),
        ("wg_collective", wg_collective as *const () as usize),
        ("wg_cycles", wg_cycles as *const () as usize),
        ("wg_nanoseconds", wg_nanoseconds as *const () as usize),
        ("wg_trap", wg_trap as *const () as usize),
        ("wg_misaligned", wg_misaligned as *const () as usize),
        ("wg_bad_target", wg_bad_target as *const () as usize),
        ("wg_take_apart", wg_take_apart as *const () as usize),
        ("wg_host_call", wg_host_call as *const () as usize),
        ("wg_spin", wg_spin as *const () as usize),
        ("memset", libc::memset as *const () as usize),
        ("memcpy", libc::memcpy as *const () as usize),
        ("memmove", libc::memmove as *const () as usize),
    ]
    .map(|(name, address)| (name.to_owned(), address))
    .to_vec()
}

/// The line of the PTX is in the low bits, what is asked for in the high ones.
fn split(what: u32) -> (u32, u32) {
    (what >> 24, what & 0xff_ffff)
}

extern "C" fn wg_barrier(_: *mut WarpContext, what: u32, id: u32, count: u32, lanes: u32, yes: u32) -> u32 {
    let (kind, site) = split(what);
    let (yes, count) = Worker::current().arrive(Arrival { waits: kind != 1, site, id, count, lanes, yes });
    match kind {
        2 => yes,
        3 => u32::from(yes == count),
        _ => u32::from(yes != 0),
    }
}

extern "C" fn wg_collective(_: *mut WarpContext, what: u32, members: u64, a: u64, b: u64, c: u64) -> u64 {
    let (kind, site) = split(what);
    let worker = Worker::current();
    match Collective::of(kind) {
        Some(kind) => worker.meet(kind, site, members as u32, [a, b, c]),
        None => worker.fail(FaultKind::Unsupported { what: format!("collective {kind}") }, site),
    }
}

extern "C" fn wg_cycles(_: *mut WarpContext) -> u64 {
    // SAFETY: all processors that we run on have a counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

extern "C" fn wg_nanoseconds(_: *mut WarpContext) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64)
}

extern "C" fn wg_trap(_: *mut WarpContext, site: u32, _lanes: u32) {
    Worker::current().fail(FaultKind::Trap, site)
}

extern "C" fn wg_misaligned(_: *mut WarpContext, site: u32, _lane: u32, address: u64, bytes: u32) {
    Worker::current().fail(FaultKind::Misaligned { address, bytes }, site)
}

extern "C" fn wg_bad_target(_: *mut WarpContext, site: u32, _lanes: u32) {
    Worker::current().fail(FaultKind::BadCall, site)
}

extern "C" fn wg_take_apart(_: *mut WarpContext, site: u32) {
    let what = "lanes of a warp that wait for each other at different places".to_owned();
    Worker::current().fail(FaultKind::Unsupported { what }, site)
}

extern "C" fn wg_spin(_: *mut WarpContext) {
    Worker::current().spin();
}

extern "C" fn wg_host_call(context: *mut WarpContext, what: u32, lane: u32, arguments: *mut u8) {
    let (function, site) = split(what);
    let worker = Worker::current();
    let functions = [HostFunction::Printf, HostFunction::AssertFail, HostFunction::Malloc, HostFunction::Free];
    let Some(&function) = functions.get(function as usize) else {
        worker.fail(FaultKind::Unsupported { what: format!("function {function} of the device") }, site)
    };
    // SAFETY: compiled code passes its own context and room for results and arguments of the function.
    let result = unsafe { host::call(worker.launch, &*context, lane, function, arguments) };
    if let Err(kind) = result {
        worker.fail(kind, site);
    }
}
