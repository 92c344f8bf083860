//! Accesses that stay in the memory of the device, if kernels are compiled so.
//!
//! A device address is a host address, so a kernel that computes a wrong one may read and write anything of the process. Where
//! that must not be, because a tool runs code on purpose that goes wrong, each access is compared with the memory that the
//! thread may access: the arena and, for generic addresses, its own windows of shared memory, local memory and parameters.
//! Anything else ends the launch with a fault, as on a GPU. Shared memory needs no comparison: there is nothing around it that
//! an offset can reach.
//!
//! Instructions that the runtime executes with addresses of the kernel (copies of many bytes, matrices in global memory) are
//! refused. Instructions that tools inserted access memory of their tools, and are not compared: they compute their addresses
//! themselves. What `printf` reads for `%s` is not compared; nothing is written there.

use ptx::ops::Op;
use ptx::types::Space;
use ptx::view::{AccessSpace, View};

use super::address::Address;
use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::emit::Sign;
use crate::llvm::Value;

/// The names by which code knows where the arena begins and ends.
pub(crate) const ARENA: &str = "arena";
pub(crate) const ARENA_END: &str = "arena_end";

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// Ends the launch if a lane accesses so many bytes that are not memory of the device.
    pub(crate) fn confine(&mut self, address: &Address<'c>, space: Option<Space>, bytes: u32) {
        let is_inserted = self.body.origin(self.statement).tag.is_some();
        if !self.unit.options.confine || is_inserted || matches!(space, Some(Space::Shared | Space::Param)) {
            return;
        }
        let emit = self.vector();
        let addresses = self.addresses(address);
        let last = emit.add(addresses, addresses.ty().constant(u64::from(bytes) - 1));
        let is_within = match space {
            Some(Space::Local) => {
                let first = self.is_in_space(Space::Local, addresses);
                emit.and(first, self.is_in_space(Space::Local, last))
            }
            Some(_) => self.is_in_arena(addresses, last),
            None => {
                let mut is_within = self.is_in_arena(addresses, last);
                for space in [Space::Shared, Space::Local] {
                    let first = self.is_in_space(space, addresses);
                    let both = emit.and(first, self.is_in_space(space, last));
                    is_within = emit.or(is_within, both);
                }
                emit.or(is_within, self.is_in_params(addresses, last))
            }
        };
        let active = self.active();
        let outside = emit.and(emit.not(is_within), active);
        let is_any_outside = self.masks.any(outside);
        self.fail_when(is_any_outside, |this| {
            let emit = this.scalar();
            let int = this.unit.context().int(32);
            let lane = emit.and_constant(emit.ctz(this.masks.bits(outside)), 31);
            let address = this.lane_value(addresses, lane);
            let line = int.constant(this.line().into());
            this.call_fault(RuntimeFunction::IllegalAddress, &[this.warp, line, address, lane]);
        });
    }

    /// Whether an instruction accesses memory in a way that is not compared.
    pub(crate) fn escapes_confinement(&self, op: Op, view: &View<'a>) -> bool {
        let is_compared = matches!(op, Op::Ld | Op::Ldu | Op::St | Op::Atom | Op::Red | Op::CpAsync);
        let is_shared = |space| space == AccessSpace::State(Space::Shared);
        self.unit.options.confine && !is_compared && !view.accesses().iter().all(|access| is_shared(access.space))
    }

    /// Whether what begins and ends at these addresses is in the parameters of the kernel.
    fn is_in_params(&self, first: Value<'c>, last: Value<'c>) -> Value<'c> {
        let emit = self.vector();
        let params = self.context_field(field!(params), self.unit.context().pointer());
        let params = emit.broadcast(self.unit.builder.ptr_to_int(params, self.unit.context().int(64)));
        let bytes = first.ty().constant(self.unit.params);
        let is_inside = |address| emit.less(Sign::Unsigned, emit.sub(address, params), bytes);
        emit.and(is_inside(first), is_inside(last))
    }

    /// Whether what begins and ends at these addresses is in the arena.
    fn is_in_arena(&self, first: Value<'c>, last: Value<'c>) -> Value<'c> {
        let emit = self.vector();
        let word = self.unit.context().int(64);
        let bound = |name| emit.broadcast(self.unit.builder.ptr_to_int(self.unit.llvm.external(name), word));
        let (start, end) = (bound(ARENA), bound(ARENA_END));
        let bytes = emit.sub(end, start);
        let is_inside = |address| emit.less(Sign::Unsigned, emit.sub(address, start), bytes);
        emit.and(is_inside(first), is_inside(last))
    }
}
