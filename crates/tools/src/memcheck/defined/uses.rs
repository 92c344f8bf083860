//! Where it matters that a value is undefined: where it decides what a thread does, which memory it accesses, or which threads
//! take part.

use ptx::ir::{Guard, Operand, Reg};
use ptx::synchronisation::Synchronisation;
use ptx::types::Type;
use ptx::view::{AccessKind, Callee};
use rewrite::{Access, Call, Sync};

use crate::memcheck::shadows::{Compute, is_defined};
use crate::memcheck::{UNDEFINED_ADDRESS, UNDEFINED_BRANCH, UNDEFINED_MASK};

impl Compute<'_, '_, '_> {
    /// A guard decides whether something happens.
    pub(super) fn decides(&mut self, guard: Option<Guard>) {
        if let Some(guard) = guard {
            self.report(guard.reg, None, UNDEFINED_BRANCH);
        }
    }

    /// An access to memory.
    pub(super) fn addressed(&mut self, access: &Access) {
        if access.access.kind != AccessKind::Read {
            self.decides(access.guard);
        }
        let Some(view) = self.at.editor().view(access.stmt) else { return };
        if let Operand::RegAddress(reg, _) = view.operands()[access.access.address] {
            self.report(reg, access.guard, UNDEFINED_ADDRESS);
        }
    }

    /// A call: whether, and of whom.
    pub(super) fn called(&mut self, call: &Call) {
        self.decides(call.guard);
        if let Callee::Indirect(reg) = call.callee {
            self.report(reg, call.guard, UNDEFINED_ADDRESS);
        }
    }

    /// Threads wait for each other: which of them.
    pub(super) fn synchronised(&mut self, sync: &Sync) {
        let is_effect = !matches!(sync.kind, Synchronisation::Collective { .. });
        if is_effect {
            self.decides(sync.guard);
        }
        let operands = match sync.kind {
            Synchronisation::Barrier { id, count, .. } => [Some(id), count],
            Synchronisation::WarpBarrier { mask } => [Some(mask), None],
            Synchronisation::Collective { mask } => [mask, None],
            _ => [None, None],
        };
        for operand in operands.into_iter().flatten() {
            if let Operand::Reg(reg) = operand {
                self.report(reg, sync.guard, UNDEFINED_MASK);
            }
        }
    }

    /// Reports a register where it is undefined and a guard holds. Then it counts as defined: what follows from it is the same
    /// mistake.
    fn report(&mut self, reg: Reg, guard: Option<Guard>, what: u32) {
        let shadow = self.of_reg(reg);
        let (Operand::Reg(of_reg), Some(origin)) = (shadow, self.shadows.origin) else { return };
        let bits = self.bits(reg);
        let any = self.any32(bits, shadow);
        if is_defined(any) {
            return;
        }
        let bad = self.at.reg(Type::Pred);
        self.at.before().setp(bad.into(), "ne", "b32", [any, 0.into()], guard);
        let site = self.at.instruction_site(0);
        let arguments = [origin.into(), i64::from(site.0).into(), i64::from(what).into()];
        self.at.call(Some(Guard::when(bad)), "warpgrind_undefined_use", &[], &arguments);
        self.at.before().guarded(Guard::when(bad), &format!("mov.b{bits}"), &[of_reg.into(), 0.into()]);
    }
}
