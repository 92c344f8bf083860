//! Kernels that run all warps of a block in a row.
//!
//! Where no warp can have to wait for another, the scheduler has nothing to decide between the warps of a block. Then the
//! compiled kernel goes on with the next warp by itself: what the scheduler needs for one takes longer than many a kernel.
//! It goes on with the next block, too, if that takes no more than to clear a few bytes of shared memory.

use ptx::analysis::Cfg;
use ptx::ir::{Body, FuncId, Module};
use ptx::ops::{Effect, Op};
use ptx::view::View;

use super::Sizes;
use super::analysis::{Layout, spinning_blocks};
use super::unit::Unit;
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::llvm::{Attribute, FunctionValue};
use crate::options::{Options, Width};

/// Whether a kernel runs all warps of a block that are left, one after another.
pub(crate) fn loops_over_warps(module: &Module, kernel: FuncId, options: &Options) -> bool {
    let function = &module.functions[kernel];
    let Some(body) = &function.body else { return false };
    if options.width == Width::Thread || options.preempt {
        return false;
    }
    let waits = has(module, body, |view| {
        matches!(view.effect(), Some(Effect::Barrier | Effect::AsyncCopy | Effect::AsyncGroup | Effect::Mbarrier))
            || view.op() == Some(Op::Nanosleep)
    });
    let cfg = Cfg::of(&module.forms, function);
    !waits && spinning_blocks(module, body, &cfg, &Layout::of(&cfg, None).order).is_empty()
}

/// Whether warps that run a kernel may meet at barriers.
pub(crate) fn has_barriers(module: &Module, kernel: FuncId, options: &Options) -> bool {
    let Some(body) = &module.functions[kernel].body else { return false };
    options.width == Width::Warp && has(module, body, |view| view.effect() == Some(Effect::Barrier))
}

/// Whether there is such an instruction in a body.
fn has(module: &Module, body: &Body, is_such: impl Fn(View<'_>) -> bool) -> bool {
    body.insts().any(|(id, _)| View::of(&module.forms, body, id).is_some_and(&is_such))
}

/// Blocks with so many bytes of shared memory, and no more, are run in a row.
const MOST_SHARED: u64 = 64;

/// Whether a kernel that runs warps in a row, and needs such memory, goes on with the next block.
pub(crate) fn loops_over_blocks(sizes: &Sizes) -> bool {
    sizes.local == 0 && sizes.dynamic_shared <= MOST_SHARED
}

/// Whether warps of a kernel may go on with another block together when all have come to their end (see `barrier_ring`).
pub(crate) fn goes_on(module: &Module, kernel: FuncId, options: &Options) -> bool {
    let Some(body) = &module.functions[kernel].body else { return false };
    has_barriers(module, kernel, options)
        && !options.preempt
        && !has(module, body, |view| matches!(view.effect(), Some(Effect::AsyncCopy | Effect::AsyncGroup)))
}

/// Fills the entry of a kernel with a loop that asks the runtime for the next block. Gives the function that runs one warp.
pub(crate) fn lower_ring<'c>(unit: &Unit<'_, 'c>, entry: FunctionValue<'c>) -> FunctionValue<'c> {
    let (context, builder) = (unit.context(), unit.builder);
    let warp = warp_function(unit);
    let [start, each, end] = ["start", "each", "end"].map(|name| entry.append_block(context, name));
    let pointer = entry.param(0);
    builder.position_at_end(start);
    builder.branch(each);
    builder.position_at_end(each);
    builder.call(warp, &[pointer]);
    let over = unit.runtime(RuntimeFunction::Over, context.int(8), &[context.pointer()]);
    let goes_on = builder.call(over, &[pointer]);
    builder.branch_if(unit.scalar().is_zero(goes_on), end, each);
    builder.position_at_end(end);
    builder.ret(None);
    warp
}

/// The function that runs one warp.
fn warp_function<'c>(unit: &Unit<'_, 'c>) -> FunctionValue<'c> {
    let context = unit.context();
    let warp = unit.llvm.function("warp", context.void(), &[context.pointer()]);
    warp.set_private();
    unit.set_attributes(warp);
    // What does not change while a warp runs does from one to the next.
    warp.add_attribute(context, Attribute::NoInline);
    warp
}

/// Fills the entry of a kernel with a loop over warps and blocks. Gives the function that runs one warp.
pub(crate) fn lower<'c>(unit: &Unit<'_, 'c>, entry: FunctionValue<'c>, sizes: &Sizes) -> FunctionValue<'c> {
    let (context, builder) = (unit.context(), unit.builder);
    let warp = warp_function(unit);
    let [start, each, next, over, end] =
        ["start", "each", "next", "over", "end"].map(|name| entry.append_block(context, name));
    let (int, word) = (context.int(32), context.int(64));
    let pointer = entry.param(0);
    let field = |offset: u64| builder.offset(pointer, word.constant(offset));
    let emit = unit.scalar();
    // Goes on with the warp of a thread, after which so many are left in its block.
    let go_on = |thread, left| {
        builder.store(left, field(field!(left)), 4);
        builder.store(thread, field(field!(first_thread)), 4);
        let last = builder.load(int, field(field!(last_lanes)), 4);
        builder.store(builder.select(emit.is_zero(left), last, int.all_ones()), field(field!(lanes)), 4);
        builder.branch(each);
    };
    builder.position_at_end(start);
    builder.branch(each);
    builder.position_at_end(each);
    builder.call(warp, &[pointer]);
    let left = builder.load(int, field(field!(left)), 4);
    builder.branch_if(emit.is_zero(left), over, next);
    builder.position_at_end(next);
    if unit.local_stride != 0 {
        let local = builder.load(context.pointer(), field(field!(local)), 8);
        builder.store(builder.offset(local, word.constant(32 * unit.local_stride)), field(field!(local)), 8);
    }
    let thread = builder.load(int, field(field!(first_thread)), 4);
    go_on(builder.add(thread, int.constant(32)), builder.sub(left, int.constant(1)));
    builder.position_at_end(over);
    if loops_over_blocks(sizes) {
        let block = entry.append_block(context, "block");
        let blocks = builder.load(int, field(field!(blocks_left)), 4);
        builder.branch_if(emit.is_zero(blocks), end, block);
        builder.position_at_end(block);
        builder.store(builder.sub(blocks, int.constant(1)), field(field!(blocks_left)), 4);
        // The next one: its number in each dimension, with a carry.
        let mut carry = int.constant(1);
        for dimension in 0..3 {
            let at = field(field!(block) + 4 * dimension);
            let sum = builder.add(builder.load(int, at, 4), carry);
            let size = builder.load(int, field(field!(grid) + 4 * dimension), 4);
            let is_past = emit.equal(sum, size);
            builder.store(builder.select(is_past, int.zero(), sum), at, 4);
            carry = builder.zext(is_past, int);
        }
        if sizes.dynamic_shared > 0 {
            let shared = builder.load(context.pointer(), field(field!(shared)), 8);
            let zeros = context.int(8 * sizes.dynamic_shared as u32).zero();
            builder.store(zeros, shared, 1);
        }
        go_on(int.zero(), builder.load(int, field(field!(left_of_block)), 4));
    } else {
        builder.branch(end);
    }
    builder.position_at_end(end);
    builder.ret(None);
    warp
}
