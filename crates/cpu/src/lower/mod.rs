//! From PTX to LLVM: one function for a kernel, which runs a warp (or, at width 1, a thread).
//!
//! There is one lowering for both widths. What differs is the shape of values, which `emit` hides, and control flow:
//! at width 1 branches are branches, and at width 32 lanes wait in masks (`layout`, `flow`).
//!
//! | file | holds |
//! |---|---|
//! | `unit` | what the functions of a kernel share |
//! | `function` | one function: its blocks, registers and masks |
//! | `layout`, `reconvergence`, `flow` | in which order blocks run, where lanes wait meanwhile, and where they go |
//! | `subwarp_affine` | registers that have one number for each row of a warp |
//! | `operands` | reading and writing operands, special registers |
//! | `arithmetic`, `conversion` | instructions that compute registers |
//! | `video` | instructions on parts of registers |
//! | `memory`, `contiguous_runs`, `strided`, `vector_access`, `atomics` | accesses |
//! | `sync` | barriers and collectives |
//! | `control` | preemption, counts, budgets |
//! | `warp_loop` | kernels that run all warps of a block in a row |
//! | `region_loops` | kernels that run all warps of a block from barrier to barrier |
//! | `spin` | loops that wait for memory |
//! | `deopt` | lanes of a warp that must wait for each other |
//! | `matrix` | matrices that a warp holds |
//! | `asynchronous` | asynchronous copies and barrier objects |
//! | `stack` | memory that is taken while a function runs |
//! | `texture` | textures and surfaces |
//! | `inactive_lanes` | registers that are right in all lanes, also in those that are not active |
//! | `wrapping` | numbers that are speculated not to wrap |
//! | `lane_buffers` | operands of all lanes in memory |
//! | `calls` | functions of the program, of the device and of the runtime |
//! | `checks` | checks of tools that are speculated to pass |

mod arithmetic;
mod asynchronous;
mod atomics;
mod calls;
mod checks;
mod contiguous_runs;
mod control;
mod conversion;
mod deopt;
mod flow;
mod function;
mod inactive_lanes;
mod lane_buffers;
mod layout;
mod matrix;
mod memory;
mod memory_map;
mod operands;
mod reconvergence;
mod region_loops;
mod spin;
mod stack;
mod strided;
mod subwarp_affine;
mod sync;
mod texture;
mod unit;
mod vector_access;
mod video;
mod warp_loop;
mod wrapping;

pub(crate) use memory_map::{constant_bytes, constant_offsets, param_offsets};
pub use unit::Unsupported;
pub(crate) use unit::{CONSTANTS, ENTRY};
pub(crate) use warp_loop::{has_barriers, loops_over_blocks, loops_over_warps};

use ptx::analysis::CallGraph;
use ptx::entity::Map;
use ptx::ir::{FuncId, Module};
use ptx::ops::{Effect, Op};
use ptx::view::View;

pub(crate) use self::function::Traits;

use self::function::Lowering;
use self::memory_map::MemoryMap;
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
    kernel: FuncId,
    options: &Options,
    llvm: &llvm::Module<'c>,
) -> Result<KernelSummary, Vec<Unsupported>> {
    let graph = CallGraph::of(module);
    let reached = reached(module, &graph, kernel);
    let map = MemoryMap::of(module, &reached).map_err(|error| vec![error])?;
    let builder = Builder::new(llvm.context());
    let sizes = sizes_of(module, kernel, &graph, &reached, &map);
    let mut unit = Unit {
        module,
        llvm,
        builder: &builder,
        options,
        map: &map,
        local_stride: sizes.local,
        graph: &graph,
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
    let traits = match Lowering::new(&mut unit, kernel, warp) {
        Some(lowering) => lowering.run(),
        // Nothing to do.
        None => {
            builder.position_at_end(warp.append_block(context, "end"));
            builder.ret(None);
            Traits::default()
        }
    };
    while let Some(func) = unit.wanted.pop() {
        let function = unit.function(func);
        match Lowering::new(&mut unit, func, function) {
            Some(lowering) => {
                lowering.run();
            }
            // All lanes come back at once.
            None => {
                builder.position_at_end(function.append_block(context, "end"));
                builder.ret(Some(function.param(1)));
            }
        }
    }
    if !unit.refused.is_empty() {
        return Err(unit.refused);
    }
    Ok(KernelSummary { sizes, traits })
}

/// What memory a kernel needs, without lowering it.
pub(crate) fn sizes(module: &Module, kernel: FuncId) -> Result<Sizes, Unsupported> {
    let graph = CallGraph::of(module);
    let reached = reached(module, &graph, kernel);
    let map = MemoryMap::of(module, &reached)?;
    Ok(sizes_of(module, kernel, &graph, &reached, &map))
}

/// The functions that a kernel can reach, itself among them.
fn reached(module: &Module, graph: &CallGraph, kernel: FuncId) -> Vec<FuncId> {
    let has_body = |func: &FuncId| module.functions[*func].body.is_some();
    graph.reachable_from(kernel).iter().filter(has_body).collect()
}

fn sizes_of(module: &Module, kernel: FuncId, graph: &CallGraph, reached: &[FuncId], map: &MemoryMap) -> Sizes {
    // Calls in calls take local memory on top of each other; recursion may take any amount.
    let frames: u64 = reached.iter().map(|&func| map.frame(func).local).sum();
    let local = if reached.iter().any(|&func| graph.is_recursive(func)) { frames.max(64 << 10) } else { frames };
    let grows =
        reached.iter().any(|&func| module.functions[func].body.as_ref().is_some_and(|body| stack::grows(module, body)));
    let local = if grows { local + stack::ROOM } else { local };
    Sizes { dynamic_shared: map.dynamic_shared, local: local.next_multiple_of(16), params: map.frame(kernel).params }
}

/// Whether functions that a kernel calls have places where threads wait for each other. A warp cannot be deoptimized in the
/// middle of a call, so such a kernel is run by single threads. So is one whose stack grows.
pub(crate) fn needs_threads(module: &Module, kernel: FuncId) -> bool {
    let graph = CallGraph::of(module);
    graph.reachable_from(kernel).iter().any(|func| {
        let Some(body) = &module.functions[func].body else { return false };
        stack::grows(module, body)
            || func != kernel
                && !unit::has_pragma(module, body, unit::NOSYNC)
                && (spin::watches_any_memory(module, body)
                    || body.insts().any(|(id, _)| {
                        View::of(&module.forms, body, id).is_some_and(|view| {
                            matches!(view.effect(), Some(Effect::Barrier | Effect::Collective)) || view.is_collective()
                        })
                    }))
    })
}

impl<'a> Lowering<'_, 'a, '_> {
    /// Lowers one instruction, or refuses it.
    pub(crate) fn instruction(&mut self, view: &View<'a>) {
        let Some(op) = view.op() else { return self.refuse() };
        let is_done = match view.effect() {
            _ if matrix::is_matrix(op) => self.matrix(op, view),
            Some(Effect::Load | Effect::Store) if matches!(op, Op::Ld | Op::Ldu | Op::St) => {
                self.load_or_store(op, view)
            }
            Some(Effect::Store) if op == Op::StBulk => self.store_zeros(view),
            Some(Effect::Atomic) if matches!(op, Op::Atom | Op::Red) => self.atomic(op, view),
            Some(Effect::Barrier) => match op {
                // A cluster has one block here.
                Op::BarrierClusterArrive | Op::BarrierClusterWait => self.cluster_barrier(op),
                _ => self.barrier(op, view),
            },
            Some(Effect::Collective) => self.collective(op, view),
            Some(Effect::Fence) => {
                self.fence(view.form.has(ptx::ops::Mod::Cta));
                matches!(op, Op::Fence | Op::Membar | Op::FenceProxy)
            }
            Some(Effect::Call) => self.call(view),
            Some(Effect::Hint) => true,
            Some(Effect::Trap) => true,
            Some(Effect::Control) => match op {
                Op::Nanosleep => {
                    let active = self.active();
                    let any = self.any(active);
                    self.when(any, |this| this.call_spin());
                    true
                }
                _ => matches!(op, Op::Griddepcontrol | Op::Pmevent | Op::Setmaxnreg),
            },
            Some(Effect::AsyncCopy) => self.copy_async(op, view),
            Some(Effect::AsyncGroup) => self.copy_group(op, view),
            Some(Effect::Mbarrier) => self.mbarrier(op, view),
            Some(Effect::Stack) => self.stack(op, view),
            Some(Effect::TextureLoad | Effect::SurfaceStore | Effect::TextureQuery) => self.texture(op, view),
            Some(Effect::Pure) if op == Op::MbarrierPendingCount => self.pending_count(view),
            _ => self.arithmetic(op, view),
        };
        if !is_done {
            self.refuse();
        }
    }
}
