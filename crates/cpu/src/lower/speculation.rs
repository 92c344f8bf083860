//! Checks of what vector code speculates, and the way out where it does not hold.

use ptx::analysis::{Signedness, WrapCheck};
use ptx::ir::Reg;
use ptx::types::Type;
use ptx::view::View;

use super::analysis::{ResumePoint, predicates};
use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;
use crate::emit::{Emit, Sign};
use crate::llvm::Value;

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// Deoptimizes the warp if the comparison at hand holds for a lane that executes it, and writes what is known if not.
    /// Tells whether it knows the comparison.
    pub(crate) fn speculate_none(&mut self, view: &View<'a>, ty: Type) -> bool {
        let operands = view.operands();
        let is_uniform = operands[1..].iter().all(|operand| self.is_uniform(operand));
        let emit = if is_uniform { self.scalar() } else { self.vector() };
        let builder = self.unit.builder;
        // Mostly, a look at the largest is enough.
        let after = match self.may_be_above(view.form, ty, &operands[1], &operands[2]) {
            Some(may_be_above) if !is_uniform => {
                let (some, after) = (self.new_block("some"), self.new_block("compared"));
                builder.branch_if(may_be_above, some, after);
                builder.position_at_end(some);
                Some(after)
            }
            _ => None,
        };
        let (a, b) = (self.read_as(&operands[1], ty, emit), self.read_as(&operands[2], ty, emit));
        let Some(mut caught) = self.compared(view.form, ty, a, b, emit) else { return false };
        if let Some(condition) = operands.get(3) {
            caught = emit.and(caught, self.read(condition, 1, emit));
        }
        if !is_uniform {
            caught = self.masks.any(emit.and(caught, self.masks.running));
        }
        self.deoptimize_when(caught, self.analyses.speculated_checks.is_misspeculation(self.statement));
        if let Some(after) = after {
            builder.branch(after);
            builder.position_at_end(after);
        }
        let none = self.scalar().bool().zero();
        let (first, second) = predicates(&operands[0]);
        if let Some(reg) = first {
            self.write_reg(reg, none, Sign::Unsigned);
        }
        if let Some(reg) = second {
            let rest = match operands.get(3) {
                Some(condition) => self.read(condition, 1, emit),
                None => self.scalar().not(none),
            };
            self.write_reg(reg, rest, Sign::Unsigned);
        }
        true
    }

    /// Deoptimizes the warp if a register that the present statement reads was misspeculated.
    pub(crate) fn check_wrapping(&mut self) {
        let checks = self.analyses.wrap_checks.before(self.statement);
        if self.is_scalar_device() || checks.is_empty() {
            return;
        }
        let scalar = self.scalar();
        let mut wraps = scalar.bool().zero();
        for (reg, check) in checks {
            wraps = scalar.or(wraps, self.wraps(*reg, check));
        }
        self.deoptimize_when(wraps, true);
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
            return scalar.and(wraps, self.masks.any(active));
        }
        if let Some(place) = self.place(reg, false).filter(|place| place.subwarp_affine.is_some()) {
            let groups = place.lanes(self.lanes());
            let emit = self.group_shape(groups);
            let bases = self.read_reg(reg, emit);
            let active = self.active();
            return self.masks.any(emit.and(is_outside(emit, bases, check), self.groups_in(active, groups)));
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
        self.masks.any(emit.and(wraps, active))
    }

    /// Deoptimizes the warp before the present statement where something speculated does not hold, which may count as a
    /// misspeculation.
    fn deoptimize_when(&mut self, is_wrong: Value<'c>, is_misspeculation: bool) {
        let statement = self.statement;
        self.fail_when(is_wrong, |this| {
            if is_misspeculation {
                this.call_runtime(RuntimeFunction::Misspeculated, &[this.warp]);
            }
            this.deoptimize(ResumePoint::Statement(statement));
        });
    }

    /// Saves the state of all lanes, and hands them over to the runtime. What follows does not run.
    pub(crate) fn deoptimize(&mut self, here: ResumePoint) {
        if !self.function.is_entry() {
            return self.call_stuck();
        }
        let frame = self.deopt.new_frame(self.unit);
        let block = match here {
            ResumePoint::Block(block) => block,
            ResumePoint::Statement(statement) | ResumePoint::After(statement) => {
                self.analyses.cfg.block_of(statement).expect("the statement is in a block")
            }
        };
        let pending = self.masks.pending_while(block).into_iter();
        let mut lanes_at = vec![(here, self.masks.running)];
        lanes_at.extend(pending.map(|(other, lanes)| (ResumePoint::Block(other), lanes)));
        self.deopt.save(frame, &lanes_at, &mut self.registers);
        match &mut self.region_loops {
            Some(loops) => loops.go_deoptimize_all(),
            None => self.call_fault(RuntimeFunction::Deoptimize, &[self.warp]),
        }
    }

    /// Where a warp of a kernel in region loops is deoptimized, so are the others of its block.
    pub(crate) fn deoptimize_others(&mut self) {
        let Some(loops) = &mut self.region_loops else { return };
        let (deopt, unit, entered) = (&self.deopt, &*self.unit, self.masks.entered);
        let is_needed = loops.save_others(self.analyses, &mut self.registers, |point, registers| {
            deopt.save(deopt.new_frame(unit), &[(point, entered)], registers);
        });
        if is_needed {
            self.call_fault(RuntimeFunction::Deoptimize, &[self.warp]);
            self.unit.builder.unreachable();
        }
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
