//! What synchronising instructions wait for, and what they order: the PTX manual, "Parallel Synchronization and
//! Communication" and section 8.

use crate::ir::Operand;
use crate::ops::{Effect, Mod, Op};
use crate::view::{Order, Scope, View};

/// What a synchronising instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Synchronisation {
    /// A barrier of the block. It orders memory among those that take part.
    Barrier {
        /// The number of the barrier.
        id: Operand,
        /// How many threads take part; nothing for all of the block.
        count: Option<Operand>,
        /// Whether the threads wait; else they only arrive.
        waits: bool,
        /// Whether it counts the threads whose predicate holds (`popc`).
        tallies: bool,
    },
    /// `bar.warp.sync`: lanes of a warp wait for each other. It orders memory among them.
    WarpBarrier {
        /// The lanes.
        mask: Operand,
    },
    /// Lanes of a warp exchange values. It orders no memory.
    Collective {
        /// The lanes that take part; nothing for those that happen to be there.
        mask: Option<Operand>,
    },
    /// A fence: orders the accesses of the thread.
    Fence {
        /// How.
        order: FenceOrder,
        /// Among whom.
        scope: Scope,
    },
    /// A fence between ways of accessing memory (`fence.proxy`, `membar.proxy`).
    ProxyFence,
    /// Asynchronous copies of the thread so far become a group.
    CommitCopies,
    /// The thread waits until at most so many of its groups are pending; nothing for until no copy is.
    WaitForCopies {
        /// How many.
        pending: Option<Operand>,
    },
    /// Bulk copies of the thread so far that complete on no object become a group.
    CommitBulkCopies,
    /// The thread waits until at most so many of these groups are pending.
    WaitForBulkCopies {
        /// How many.
        pending: Operand,
        /// Whether it only waits until they have read what they copy.
        of_sources: bool,
    },
    /// An `mbarrier` object is changed or asked: its order is that of the access.
    Mbarrier,
    /// The barrier of the cluster. It orders memory unless it says otherwise.
    Cluster {
        /// Whether the threads wait; else they arrive.
        waits: bool,
        /// Whether it orders memory.
        orders: bool,
    },
    /// Asynchronous work of tensor cores is committed or waited for.
    Tensor,
}

/// How a fence orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FenceOrder {
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
    /// `.sc`, and `membar`
    SequentiallyConsistent,
}

impl View<'_> {
    /// How the instruction synchronises threads, if it does.
    pub fn synchronisation(&self) -> Option<Synchronisation> {
        let effect = self.effect()?;
        Some(match effect {
            Effect::Barrier => self.barrier()?,
            Effect::Fence => self.fence(),
            Effect::Mbarrier => Synchronisation::Mbarrier,
            Effect::AsyncGroup => match self.op()? {
                Op::CpAsyncCommitGroup => Synchronisation::CommitCopies,
                Op::CpAsyncWaitGroup => Synchronisation::WaitForCopies { pending: self.operand_named("n") },
                Op::CpAsyncBulkCommitGroup => Synchronisation::CommitBulkCopies,
                Op::CpAsyncBulkWaitGroup => Synchronisation::WaitForBulkCopies {
                    pending: self.operand_named("n")?,
                    of_sources: self.form.has(Mod::Read),
                },
                Op::CpAsyncWaitAll => Synchronisation::WaitForCopies { pending: None },
                Op::CpAsyncMbarrierArrive => Synchronisation::Mbarrier,
                _ => Synchronisation::Tensor,
            },
            Effect::Collective if self.op() == Some(Op::BarWarpSync) => {
                Synchronisation::WarpBarrier { mask: self.operand_named("mask")? }
            }
            _ if effect == Effect::Collective || self.is_collective() => {
                Synchronisation::Collective { mask: self.operand_named("mask") }
            }
            _ => return None,
        })
    }

    fn barrier(&self) -> Option<Synchronisation> {
        let op = self.op()?;
        Some(match op {
            Op::BarrierClusterArrive | Op::BarrierClusterWait => {
                Synchronisation::Cluster { waits: op == Op::BarrierClusterWait, orders: !self.form.has(Mod::Relaxed) }
            }
            _ => Synchronisation::Barrier {
                id: self.operand_named("a")?,
                count: self.operand_named("b"),
                waits: !matches!(op, Op::BarArrive | Op::BarrierArrive),
                tallies: self.form.has(Mod::Popc),
            },
        })
    }

    fn fence(&self) -> Synchronisation {
        if self.op() != Some(Op::Fence) && !(self.op() == Some(Op::Membar) && self.scope().is_some()) {
            return Synchronisation::ProxyFence;
        }
        let order = match self.order(Effect::Fence) {
            Order::Acquire => FenceOrder::Acquire,
            Order::Release => FenceOrder::Release,
            _ if self.op() == Some(Op::Membar) || self.form.has(Mod::Sc) => FenceOrder::SequentiallyConsistent,
            _ => FenceOrder::AcquireRelease,
        };
        Synchronisation::Fence { order, scope: self.scope().unwrap_or(Scope::System) }
    }

    /// The operand that the table knows by a name.
    fn operand_named(&self, name: &str) -> Option<Operand> {
        self.place_of_operand(name).map(|index| self.operands()[index])
    }

    /// Where the operand is that the table knows by a name.
    pub fn place_of_operand(&self, name: &str) -> Option<usize> {
        self.matched_operands()?.iter().position(|(_, spec)| spec.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(inst: &str) -> Option<Synchronisation> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{ .reg .b32 %r<9>; .reg .pred %p<3>; \
             .reg .b64 %d<3>; {inst} }}"
        );
        let parsed = crate::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let module = parsed.module;
        let body = module.functions.values().next().unwrap().body.as_ref().unwrap();
        let (id, _) = body.insts().next().unwrap();
        View::of(&module.forms, body, id).unwrap().synchronisation()
    }

    #[test]
    fn barriers() {
        let barrier =
            |id, count, waits, tallies| Some(Synchronisation::Barrier { id: Operand::Int(id), count, waits, tallies });
        assert_eq!(of("bar.sync 0;"), barrier(0, None, true, false));
        assert_eq!(of("barrier.sync.aligned 3, 64;"), barrier(3, Some(Operand::Int(64)), true, false));
        assert_eq!(of("bar.arrive 1, 64;"), barrier(1, Some(Operand::Int(64)), false, false));
        assert_eq!(of("bar.red.popc.u32 %r1, 0, %p1;"), barrier(0, None, true, true));
        assert_eq!(of("bar.red.and.pred %p1, 0, %p1;"), barrier(0, None, true, false));
        assert_eq!(
            of("barrier.cluster.arrive.relaxed;"),
            Some(Synchronisation::Cluster { waits: false, orders: false })
        );
        assert_eq!(of("barrier.cluster.wait;"), Some(Synchronisation::Cluster { waits: true, orders: true }));
        assert_eq!(of("bar.warp.sync -1;"), Some(Synchronisation::WarpBarrier { mask: Operand::Int(-1) }));
    }

    #[test]
    fn fences() {
        let fence = |order, scope| Some(Synchronisation::Fence { order, scope });
        assert_eq!(of("membar.gl;"), fence(FenceOrder::SequentiallyConsistent, Scope::Device));
        assert_eq!(of("fence.acq_rel.cta;"), fence(FenceOrder::AcquireRelease, Scope::Block));
        assert_eq!(of("fence.gpu;"), fence(FenceOrder::AcquireRelease, Scope::Device));
        assert_eq!(of("fence.sc.sys;"), fence(FenceOrder::SequentiallyConsistent, Scope::System));
        assert_eq!(of("fence.proxy.async;"), Some(Synchronisation::ProxyFence));
    }

    #[test]
    fn collectives_and_copies() {
        assert_eq!(
            of("vote.sync.all.pred %p1, %p2, 7;"),
            Some(Synchronisation::Collective { mask: Some(Operand::Int(7)) })
        );
        assert_eq!(of("activemask.b32 %r1;"), Some(Synchronisation::Collective { mask: None }));
        assert_eq!(
            of("cp.async.wait_group 2;"),
            Some(Synchronisation::WaitForCopies { pending: Some(Operand::Int(2)) })
        );
        assert_eq!(of("cp.async.wait_all;"), Some(Synchronisation::WaitForCopies { pending: None }));
        let of_sources = |of_sources| Some(Synchronisation::WaitForBulkCopies { pending: Operand::Int(1), of_sources });
        assert_eq!(of("cp.async.bulk.wait_group 1;"), of_sources(false));
        assert_eq!(of("cp.async.bulk.wait_group.read 1;"), of_sources(true));
        assert_eq!(of("cp.async.commit_group;"), Some(Synchronisation::CommitCopies));
        assert_eq!(of("add.u32 %r1, %r1, 1;"), None);
    }
}
