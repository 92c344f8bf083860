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

use super::Analyses;

/// What was found out of the registers of a function.
#[derive(Debug, Default)]
pub(crate) struct InactiveLanes {
    known: FxHashMap<Web, bool>,
    /// The statements that write each web, once somebody has asked.
    writers: Option<FxHashMap<Web, SmallVec<[StmtId; 1]>>>,
}

/// Longer chains of instructions are not followed.
const MOST_STEPS: u32 = 64;

impl InactiveLanes {
    /// Whether a web holds what it should in all lanes, if it does in one, in a function that all lanes enter.
    pub(crate) fn are_valid(&mut self, analyses: &Analyses<'_>, web: Web) -> bool {
        self.are_valid_within(analyses, web, MOST_STEPS)
    }

    fn are_valid_within(&mut self, analyses: &Analyses<'_>, web: Web, steps: u32) -> bool {
        let Some(steps) = steps.checked_sub(1) else { return false };
        if let Some(&known) = self.known.get(&web) {
            return known;
        }
        // What depends on itself is not looked into.
        self.known.insert(web, false);
        let are_valid = analyses.is_affine_web(web) || self.are_computed(analyses, web, steps);
        self.known.insert(web, are_valid);
        are_valid
    }

    fn are_computed(&mut self, analyses: &Analyses<'_>, web: Web, steps: u32) -> bool {
        let writers = self.writers.get_or_insert_with(|| writers(analyses)).get(&web).cloned().unwrap_or_default();
        !writers.is_empty() && writers.into_iter().all(|statement| self.are_written(analyses, statement, web, steps))
    }

    /// Whether a statement writes a web in all lanes, from what is right in all of them.
    fn are_written(&mut self, analyses: &Analyses<'_>, statement: StmtId, web: Web, steps: u32) -> bool {
        let (Some(view), Some(block)) = (analyses.view(statement), analyses.cfg.block_of(statement)) else {
            return false;
        };
        let Some(uniformity) = &analyses.uniformity else { return false };
        let reg = uniformity.reg_of(web);
        if view.inst.guard.is_some() || view.effect() != Some(Effect::Pure) || view.reads_carry() {
            return false;
        }
        let mut reads: SmallVec<[Option<Web>; 4]> = SmallVec::new();
        view.for_each_read(|reg| reads.push(uniformity.read(statement, reg)));
        // Where lanes elsewhere still need the register, only those that are here are written.
        let kept = analyses.kept_registers(block);
        if kept.is_some_and(|kept| kept.contains(reg)) {
            return false;
        }
        reads.into_iter().all(|web| web.is_some_and(|web| self.are_valid_within(analyses, web, steps)))
    }
}

fn writers(analyses: &Analyses<'_>) -> FxHashMap<Web, SmallVec<[StmtId; 1]>> {
    let mut writers: FxHashMap<Web, SmallVec<[StmtId; 1]>> = FxHashMap::default();
    let Some(uniformity) = &analyses.uniformity else { return writers };
    for &block in &analyses.layout.order {
        for &statement in analyses.cfg.statements(block) {
            for &reg in analyses.def_use.writes(statement) {
                if let Some(web) = uniformity.written(statement, reg) {
                    writers.entry(web).or_default().push(statement);
                }
            }
        }
    }
    writers
}
