//! Registers that hold what they should in all lanes, whoever is active.
//!
//! Lanes that are elsewhere may not have computed a register yet, so what is in their place means nothing. But vector code
//! computes for all lanes at once, and what it computes from numbers that all lanes have is right in all of them. If an
//! address is, then that of a lane that is not active tells those of its neighbours.

use ptx::analysis::Web;
use ptx::ir::StmtId;
use ptx::ops::Effect;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::function::Lowering;

/// What was found out of the registers of a function.
#[derive(Debug, Default)]
pub(crate) struct InactiveLanes {
    known: FxHashMap<Web, bool>,
    /// The statements that write each web, once somebody has asked.
    writers: Option<FxHashMap<Web, SmallVec<[StmtId; 1]>>>,
}

/// Longer chains of instructions are not followed.
const MOST_STEPS: u32 = 64;

impl Lowering<'_, '_, '_> {
    /// Whether a web holds what it should in all lanes, if it does in one.
    pub(crate) fn is_valid_in_inactive_lanes(&mut self, web: Web) -> bool {
        self.is_total_within(web, MOST_STEPS)
    }

    fn is_total_within(&mut self, web: Web, steps: u32) -> bool {
        let Some(steps) = steps.checked_sub(1) else { return false };
        if let Some(&known) = self.inactive_lanes.known.get(&web) {
            return known;
        }
        // What depends on itself is not looked into.
        self.inactive_lanes.known.insert(web, false);
        let is_valid_in_inactive_lanes =
            self.entered.is_all_ones() && (self.is_one_number_in(web) || self.is_computed_by_all(web, steps));
        self.inactive_lanes.known.insert(web, is_valid_in_inactive_lanes);
        is_valid_in_inactive_lanes
    }

    /// Whether a web is kept as one number for all lanes.
    fn is_one_number_in(&mut self, web: Web) -> bool {
        let bits = self.uniformity.as_ref().map(|uniformity| self.register_bits(uniformity.reg_of(web)));
        bits.is_some_and(|bits| self.place_of_web(web, bits).affine.is_some())
    }

    fn is_computed_by_all(&mut self, web: Web, steps: u32) -> bool {
        if self.inactive_lanes.writers.is_none() {
            self.inactive_lanes.writers = Some(self.writers());
        }
        let writers =
            self.inactive_lanes.writers.as_ref().and_then(|writers| writers.get(&web)).cloned().unwrap_or_default();
        !writers.is_empty() && writers.into_iter().all(|statement| self.is_total_in(statement, web, steps))
    }

    /// Whether a statement writes a web in all lanes, from what is right in all of them.
    fn is_total_in(&mut self, statement: StmtId, web: Web, steps: u32) -> bool {
        let (Some(view), Some(block)) = (self.view(statement), self.cfg.block_of(statement)) else { return false };
        let Some(uniformity) = &self.uniformity else { return false };
        let reg = uniformity.reg_of(web);
        if view.inst.guard.is_some() || view.effect() != Some(Effect::Pure) || view.reads_carry() {
            return false;
        }
        let mut reads: SmallVec<[Option<Web>; 4]> = SmallVec::new();
        view.for_each_read(|reg| reads.push(uniformity.read(statement, reg)));
        // Where lanes elsewhere still need the register, only those that are here are written.
        let kept = self.layout.kept_registers(&self.liveness, self.function.regs.len(), block);
        if kept.is_some_and(|kept| kept.contains(reg)) {
            return false;
        }
        reads.into_iter().all(|web| web.is_some_and(|web| self.is_total_within(web, steps)))
    }

    fn writers(&self) -> FxHashMap<Web, SmallVec<[StmtId; 1]>> {
        let mut writers: FxHashMap<Web, SmallVec<[StmtId; 1]>> = FxHashMap::default();
        let Some(uniformity) = &self.uniformity else { return writers };
        for &block in &self.layout.order {
            for &statement in self.cfg.statements(block) {
                for &reg in self.def_use.writes(statement) {
                    if let Some(web) = uniformity.written(statement, reg) {
                        writers.entry(web).or_default().push(statement);
                    }
                }
            }
        }
        writers
    }
}
