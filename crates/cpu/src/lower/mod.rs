//! From PTX to LLVM: one function for a kernel, which runs a warp (or, at width 1, a thread).
//!
//! There is one lowering for both widths. What differs is the shape of values, which `emit` hides, and control flow:
//! at width 1 branches are branches, and at width 32 lanes wait in masks (`masks`, `flow`).
//!
//! From the bottom to the top:
//!
//! | file | holds |
//! |---|---|
//! | `memory_map` | where variables are |
//! | `analysis` | what is found out about a function before it is lowered |
//! | `unit` | what the functions of a kernel share |
//! | `registers` | where the registers of a function are, and in which shape |
//! | `masks` | which lanes run, which wait where, and which have ended |
//! | `deopt` | how lanes leave a function in its middle, and enter it there as threads |
//! | `region_loops` | kernels that run all warps of a block from barrier to barrier |
//! | `function` | one function: its parts, and what all families of instructions need |
//! | `operands` | reading and writing operands, special registers |
//! | `speculation` | checks of what is speculated, and the way out where it does not hold |
//! | `control` | preemption, counts, budgets, loops that wait for memory |
//! | `arithmetic`, `conversion` | instructions that compute registers |
//! | `video` | instructions on parts of registers |
//! | `address`, `memory`, `contiguous_runs`, `strided`, `vector_access`, `atomics` | accesses |
//! | `confinement` | checks that accesses stay in memory of the device |
//! | `sync` | barriers and collectives |
//! | `matrix` | matrices that a warp holds |
//! | `asynchronous` | asynchronous copies and barrier objects |
//! | `stack` | memory that is taken while a function runs |
//! | `texture` | textures and surfaces |
//! | `lane_buffers` | operands of all lanes in memory |
//! | `calls` | functions of the program, of the device and of the runtime |
//! | `flow` | where lanes go at the end of a block |
//! | `driver` | all blocks of a function, and each instruction to its family |
//! | `warp_loop` | kernels that run all warps of a block in a row |

mod address;
mod analysis;
mod arithmetic;
mod asynchronous;
mod atomics;
mod calls;
mod confinement;
mod contiguous_runs;
mod control;
mod conversion;
mod deopt;
mod driver;
mod flow;
mod function;
mod lane_buffers;
mod masks;
mod matrix;
mod memory;
mod memory_map;
mod operands;
mod pragma;
mod region_loops;
mod registers;
mod speculation;
mod stack;
mod strided;
mod sync;
mod texture;
mod unit;
mod unsupported;
mod vector_access;
mod video;
mod warp_loop;

pub(crate) use confinement::{ARENA, ARENA_END};
pub(crate) use driver::Traits;
pub(crate) use memory_map::{constant_bytes, constant_offsets};
pub(crate) use unit::{CONSTANTS, ENTRY};
pub use unsupported::Unsupported;
pub(crate) use unsupported::refusal;
pub(crate) use warp_loop::{has_barriers, loops_over_blocks, loops_over_warps};

use ptx::analysis::{CallGraph, Cfg, DefUse, Liveness};
use ptx::entity::Map;
use ptx::ir::{FuncId, Module};
use ptx::ops::Effect;
use ptx::view::{Callee, View};

use self::analysis::{SpeculatedChecks, is_rendezvous, watches_any_memory};
use self::driver::lower_function;
use self::memory_map::MemoryMap;
use self::pragma::{NOSYNC, awaits, has_pragma};
use self::unit::Unit;
use crate::llvm::{self, Builder};
use crate::options::Options;

/// What memory a kernel needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    /// Where shared memory starts that the launch adds.
    pub(crate) dynamic_shared: u64,
    /// Bytes of local memory of a thread.
    pub(crate) local: u64,
    /// Bytes of parameters.
    pub(crate) params: u64,
}

/// What the runtime has to know of a kernel that was lowered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KernelSummary {
    pub(crate) sizes: Sizes,
    pub(crate) traits: Traits,
}

/// Fills a module with a kernel and the functions that it calls.
pub(crate) fn lower<'c>(
    module: &Module,
    graph: &CallGraph,
    kernel: FuncId,
    options: &Options,
    llvm: &llvm::Module<'c>,
) -> Result<KernelSummary, Vec<Unsupported>> {
    let reached = reached(module, graph, kernel);
    let map = MemoryMap::of(module, &reached).map_err(|error| vec![error])?;
    let builder = Builder::new(llvm.context());
    let sizes = sizes_of(module, kernel, graph, &reached, &map);
    let mut unit = Unit {
        module,
        llvm,
        builder: &builder,
        options,
        map: &map,
        local_stride: sizes.local,
        frames: frames_of(&reached, &map),
        params: sizes.params,
        graph,
        functions: Map::filled(module.functions.len(), None),
        ends: Map::filled(module.functions.len(), None),
        wanted: Vec::new(),
        refused: Vec::new(),
    };
    let context = llvm.context();
    let entry = llvm.function(ENTRY, context.void(), &[context.pointer()]);
    unit.set_attributes(entry);
    let warp = if warp_loop::loops_over_warps(module, kernel, options) {
        warp_loop::lower(&unit, entry, &sizes)
    } else if warp_loop::goes_on(module, kernel, options) {
        warp_loop::lower_ring(&unit, entry)
    } else {
        entry
    };
    let traits = match lower_function(&mut unit, kernel, warp) {
        Some(traits) => traits,
        // Nothing to do.
        None => {
            builder.position_at_end(warp.append_block(context, "end"));
            builder.ret(None);
            Traits::default()
        }
    };
    while let Some(func) = unit.wanted.pop() {
        let function = unit.function(func);
        if lower_function(&mut unit, func, function).is_none() {
            // All lanes come back at once.
            builder.position_at_end(function.append_block(context, "end"));
            builder.ret(Some(function.param(1)));
        }
    }
    if !unit.refused.is_empty() {
        return Err(unit.refused);
    }
    Ok(KernelSummary { sizes, traits })
}

/// What memory a kernel needs, without lowering it.
pub(crate) fn sizes(module: &Module, graph: &CallGraph, kernel: FuncId) -> Result<Sizes, Unsupported> {
    let reached = reached(module, graph, kernel);
    let map = MemoryMap::of(module, &reached)?;
    Ok(sizes_of(module, kernel, graph, &reached, &map))
}

/// The functions that a kernel can reach, itself among them.
fn reached(module: &Module, graph: &CallGraph, kernel: FuncId) -> Vec<FuncId> {
    let has_body = |func: &FuncId| module.functions[*func].body.is_some();
    graph.reachable_from(kernel).iter().filter(has_body).collect()
}

/// Bytes of local memory that functions take, each once.
fn frames_of(functions: &[FuncId], map: &MemoryMap) -> u64 {
    functions.iter().map(|&func| map.frame(func).local).sum()
}

/// Bytes of local memory that a thread has for calls of functions that call themselves, beyond what the kernel and all
/// functions take once. After the last of these calls there is room for all of them once more.
const RECURSION: u64 = 64 << 10;

fn sizes_of(module: &Module, kernel: FuncId, graph: &CallGraph, reached: &[FuncId], map: &MemoryMap) -> Sizes {
    // Calls in calls take local memory on top of each other; recursion may take any amount.
    let frames = frames_of(reached, map);
    let is_recursive = reached.iter().any(|&func| graph.is_recursive(func));
    let local = if is_recursive { frames + RECURSION + frames } else { frames };
    let grows =
        reached.iter().any(|&func| module.functions[func].body.as_ref().is_some_and(|body| stack::grows(module, body)));
    let local = if grows { local + stack::ROOM } else { local };
    Sizes { dynamic_shared: map.dynamic_shared, local: local.next_multiple_of(16), params: map.frame(kernel).params }
}

/// Whether functions that a kernel calls have places where threads wait for each other. A warp cannot be deoptimized in the
/// middle of a call, so such a kernel is run by single threads. So is one whose stack grows. Where vector code speculates that a
/// function is not called, the function does not count.
pub(crate) fn needs_threads(module: &Module, graph: &CallGraph, kernel: FuncId, speculates: bool) -> bool {
    let waits = |func: FuncId| {
        let Some(body) = &module.functions[func].body else { return false };
        // Who waits for other warps only need not be deoptimized.
        !has_pragma(module, body, NOSYNC)
            && !awaits(module, body)
            && (watches_any_memory(module, body)
                || body
                    .insts()
                    .any(|(id, _)| View::of(&module.forms, body, id).is_some_and(|view| is_rendezvous(&view))))
    };
    let grows = |func: FuncId| module.functions[func].body.as_ref().is_some_and(|body| stack::grows(module, body));
    let reached = graph.reachable_from(kernel);
    if reached.iter().any(grows) {
        return true;
    }
    if !reached.iter().any(|func| func != kernel && waits(func)) {
        return false;
    }
    let Some(callees) = called_by_warps(module, kernel, graph).filter(|_| speculates) else { return true };
    callees.into_iter().any(|callee| graph.reachable_from(callee).iter().any(waits))
}

/// The functions that a kernel calls in vector code that speculates; nothing if they are not known.
fn called_by_warps(module: &Module, kernel: FuncId, graph: &CallGraph) -> Option<Vec<FuncId>> {
    let function = &module.functions[kernel];
    let body = function.body.as_ref()?;
    let cfg = Cfg::of(&module.forms, function);
    let liveness = Liveness::of(&cfg, &DefUse::of(&module.forms, function));
    let checks = SpeculatedChecks::of(module, graph, body, &cfg, &liveness);
    let calls = body.insts().filter_map(|(id, _)| Some((id, View::of(&module.forms, body, id)?)));
    let mut callees = Vec::new();
    for (statement, view) in calls.filter(|(_, view)| view.effect() == Some(Effect::Call)) {
        let Some(Callee::Direct(func)) = view.callee() else { return None };
        if !checks.is_speculated_call(statement) {
            callees.push(graph.resolve(func));
        }
    }
    Some(callees)
}
