//! The stack that grows while a function runs: `alloca` and its relatives.
//!
//! It starts after the variables of the function, in the local memory of the thread. How much of it is taken is one
//! number for each thread, so kernels that have such a stack are run by single threads.

use ptx::ir::{Body, Module};
use ptx::ops::{Effect, Op};
use ptx::view::View;

use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;
use crate::emit::Sign;
use crate::llvm::Value;

/// What a thread can take with `alloca`.
pub(crate) const ROOM: u64 = 32 << 10;

/// Whether a function has a stack that grows.
pub(crate) fn grows(module: &Module, body: &Body) -> bool {
    body.insts()
        .any(|(id, _)| View::of(&module.forms, body, id).is_some_and(|view| view.effect() == Some(Effect::Stack)))
}

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// False if the kernel is run by warps.
    pub(crate) fn stack(&mut self, op: Op, view: &View<'a>) -> bool {
        let Some(taken) = self.taken else { return false };
        let emit = self.scalar();
        let word = emit.int(64);
        let operands = view.operands();
        let bottom = self.stack_bottom();
        let top = emit.add(bottom, emit.load(word, taken, 8));
        let (result, new_top) = match op {
            Op::Stacksave => (Some(top), None),
            Op::Stackrestore => (None, Some(self.read(&operands[0], 64, emit))),
            _ => {
                let size = self.read(&operands[1], 64, emit);
                let align = operands.get(2).and_then(|operand| operand.as_int()).unwrap_or(8).max(1) as u64;
                let start = emit.and_constant(emit.add(top, word.constant(align - 1)), !(align - 1));
                (Some(start), Some(emit.add(start, size)))
            }
        };
        if let Some(new_top) = new_top {
            let active = self.active();
            let end = word.constant(self.unit.local_stride);
            let is_over = emit.or(emit.less(Sign::Unsigned, end, new_top), emit.less(Sign::Unsigned, new_top, bottom));
            let line = emit.int(32).constant(self.line().into());
            self.fail_when(emit.and(is_over, active), |this| {
                this.call_fault(RuntimeFunction::StackOverflow, &[this.warp, line])
            });
            self.when(active, |this| {
                let emit = this.scalar();
                emit.store(emit.sub(new_top, bottom), taken, 8);
            });
        }
        if let Some(result) = result {
            self.write(&operands[0], result, Sign::Unsigned);
        }
        true
    }

    /// Where the stack of this call starts in local memory.
    fn stack_bottom(&self) -> Value<'c> {
        let local = self.unit.map.frame(self.func).local;
        self.unit.builder.add(self.frame, self.frame.ty().constant(local))
    }

    /// Where the variables of a function start that this one calls.
    pub(crate) fn next_frame(&self) -> Value<'c> {
        let builder = self.unit.builder;
        let bottom = self.stack_bottom();
        match self.taken {
            None => bottom,
            Some(taken) => {
                let taken = builder.load(bottom.ty(), taken, 8);
                // Variables are aligned in their frames.
                let aligned = builder.and(builder.add(taken, taken.ty().constant(15)), taken.ty().constant(!15));
                builder.add(bottom, aligned)
            }
        }
    }
}
