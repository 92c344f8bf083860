//! Numbers that are speculated not to wrap.
//!
//! PTX computes indices in 32 bits and addresses in 64. A thread's index rises by one from lane to lane; whether its address
//! rises by four depends on whether the index passes the largest number of 32 bits on the way, which almost no program
//! lets happen and few can be proven not to. So vector code speculates that it does not, keeps one number for the warp instead
//! of 32, and checks that number where it is extended. Where the check fails, the warp is deoptimized: threads compute
//! with numbers of their own.

use ptx::analysis::{Cfg, LaneValue, Liveness, Signedness, Uniformity, WrapCheck};
use ptx::ir::{Reg, StmtId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::deopt::is_worth_speculating;
use super::function::Lowering;
use crate::emit::{Emit, Sign};
use crate::llvm::Value;

/// The checks of a function, by the statement before which they are made.
#[derive(Debug, Default)]
pub(crate) struct WrapChecks {
    before: FxHashMap<StmtId, SmallVec<[(Reg, WrapCheck); 1]>>,
}

impl WrapChecks {
    /// The checks that all speculation of the analysis rest on; none if they would cost too much.
    pub(crate) fn of(uniformity: &Uniformity, cfg: &Cfg, liveness: &Liveness) -> Self {
        let mut checks = Self::default();
        if is_worth_speculating(cfg, liveness, uniformity.guards().iter().map(|guard| guard.statement)) {
            for guard in uniformity.guards() {
                checks.before.entry(guard.statement).or_default().push((guard.reg, guard.check));
            }
        }
        checks
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    pub(crate) fn are_before(&self, statement: StmtId) -> bool {
        self.before.contains_key(&statement)
    }
}

impl<'c> Lowering<'_, '_, 'c> {
    /// What is known, or speculated, of a register that the present statement reads.
    pub(crate) fn known_value(&self, reg: Reg) -> Option<&LaneValue> {
        self.known_value_at(self.statement, reg)
    }

    /// The same, of a register that some statement reads.
    pub(crate) fn known_value_at(&self, statement: StmtId, reg: Reg) -> Option<&LaneValue> {
        let uniformity = self.uniformity.as_ref()?;
        Some(uniformity.value(uniformity.read(statement, reg)?)).filter(|value| self.is_known_or_speculated(value))
    }

    /// Whether what is said of a value holds, or is speculated.
    pub(crate) fn is_known_or_speculated(&self, value: &LaneValue) -> bool {
        !value.needs_guard() || self.speculates_no_wrap
    }

    /// Whether a register of so many bits with such a value is kept as one number for the warp.
    pub(crate) fn is_affine(&self, value: &LaneValue, bits: u32) -> bool {
        value.has_one_base() && self.is_known_or_speculated(value) && bits <= 64
    }

    /// Deoptimizes the warp if a register that the present statement reads was misspeculated.
    pub(crate) fn check_wrapping(&mut self) {
        if self.is_scalar_device() {
            return;
        }
        let Some(checks) = self.wrap_checks.before.get(&self.statement).cloned() else { return };
        let scalar = self.scalar();
        let mut wraps = scalar.bool().zero();
        for (reg, check) in checks {
            wraps = scalar.or(wraps, self.wraps(reg, &check));
        }
        self.deoptimize_when(wraps);
    }

    /// Whether the check of a register fails for some lane that executes the present statement.
    fn wraps(&mut self, reg: Reg, check: &WrapCheck) -> Value<'c> {
        let scalar = self.scalar();
        if self.place(reg, false).is_some_and(|place| place.affine.is_some()) {
            let base = self.read_reg(reg, scalar);
            let wraps = is_outside(scalar, base, check);
            if !self.is_guarded() {
                return wraps;
            }
            let active = self.active();
            return scalar.and(wraps, self.any(active));
        }
        if let Some(place) = self.place(reg, false).filter(|place| place.subwarp_affine.is_some()) {
            let groups = place.lanes(self.lanes());
            let emit = self.group_shape(groups);
            let bases = self.read_reg(reg, emit);
            let active = self.active();
            return self.any(emit.and(is_outside(emit, bases, check), self.groups_in(active, groups)));
        }
        // Some lanes share a base, but which they share is unknown: each has what its lane adds taken off again.
        let emit = self.vector();
        let value = self.read_reg(reg, emit);
        let element = value.ty().element();
        let known = self.known_value(reg).copied();
        let offset = |lane: u32| known.map_or(0, |known| known.offset(lane)) as u64;
        let offsets: Vec<_> = (0..self.lanes()).map(|lane| element.constant(offset(lane))).collect();
        let bases = emit.sub(value, Value::vector_constant(&offsets));
        let wraps = is_outside(emit, bases, check);
        let active = self.active();
        self.any(emit.and(wraps, active))
    }
}

/// Whether a base is so near to an end of the numbers that what lanes add to it passes that end.
fn is_outside<'c>(emit: Emit<'_, 'c>, base: Value<'c>, check: &WrapCheck) -> Value<'c> {
    let numbers = 1_i128 << check.bits;
    let (least, greatest) = match check.signedness {
        Signedness::Unsigned => (0, numbers - 1),
        Signedness::Signed => (-numbers / 2, numbers / 2 - 1),
    };
    let (least, greatest) = (least - check.least, greatest - check.greatest);
    if least > greatest {
        return emit.bool().all_ones();
    }
    let from_least = emit.sub(base, base.ty().constant(least as u64));
    let mask = if check.bits < 64 { (1 << check.bits) - 1 } else { u64::MAX };
    let from_least = emit.and_constant(from_least, mask);
    emit.less(Sign::Unsigned, base.ty().constant((greatest - least) as u64), from_least)
}
