//! Where threads of a warp that is deoptimized can go on, and what is live there.

use ptx::analysis::{Block, Cfg, Liveness, Web};
use ptx::entity::Id;
use ptx::ir::{Reg, StmtId};
use ptx::ops::{Effect, Op};
use ptx::view::View;
use rustc_hash::FxHashMap;

use super::Analyses;

/// A place where a thread can go on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ResumePoint {
    /// The start of a block.
    Block(Block),
    /// A statement in a block, which is executed again.
    Statement(StmtId),
    /// After a barrier of the whole block.
    After(StmtId),
}

impl ResumePoint {
    /// The number by which it is known; never zero, which is the start of the kernel.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Block(block) => 3 * block.index() as u64 + 1,
            Self::Statement(statement) => 3 * statement.index() as u64 + 2,
            Self::After(statement) => 3 * statement.index() as u64 + 3,
        }
    }
}

/// On a misspeculation, all live registers are saved. If there were more than so many such registers
/// for each statement of the function, there is no speculation: the code for what never happens would be longer than the function.
const MOST_LIVE_FOR_EACH_STATEMENT: usize = 4;

/// Whether something is worth speculating on, if the warp is deoptimized before some statements where it does not hold.
pub(crate) fn is_worth_speculating(cfg: &Cfg, liveness: &Liveness, points: impl Iterator<Item = StmtId>) -> bool {
    let statements: usize = cfg.blocks().map(|block| cfg.statements(block).len()).sum();
    let live = |statement| cfg.block_of(statement).map_or(0, |block| liveness.live_in(block).count());
    points.map(live).sum::<usize>() <= MOST_LIVE_FOR_EACH_STATEMENT * statements
}

/// Whether an instruction is a barrier for all threads of the block: `bar.sync 0`.
pub(crate) fn is_whole_barrier(view: &View<'_>) -> bool {
    let is_zero = |operand: &ptx::ir::Operand| matches!(operand, ptx::ir::Operand::Int(0) | ptx::ir::Operand::Hex(0));
    matches!(view.op(), Some(Op::BarSync | Op::BarrierSync))
        && view.inst.guard.is_none()
        && view.operands().len() == 1
        && view.operands().iter().all(is_zero)
}

/// Whether threads may have to wait at an instruction for others.
pub(crate) fn is_rendezvous(view: &View<'_>) -> bool {
    matches!(view.effect(), Some(Effect::Barrier | Effect::Collective)) || view.is_collective()
}

impl Analyses<'_> {
    /// Whether a warp may be deoptimized before a statement.
    pub(crate) fn is_resume_point(&self, statement: StmtId, view: &View<'_>) -> bool {
        is_rendezvous(view)
            || view.op() == Some(Op::Nanosleep)
            || !self.wrap_checks.before(statement).is_empty()
            || self.speculated_checks.contains(statement)
    }

    /// What is live at a point: registers, and whether the carry flag is.
    pub(crate) fn live_at(&self, point: ResumePoint) -> (Vec<Reg>, bool) {
        match point {
            ResumePoint::Block(block) => {
                (self.liveness.live_in(block).collect(), self.liveness.is_carry_live_in(block))
            }
            // A barrier reads and writes no registers.
            ResumePoint::Statement(statement) | ResumePoint::After(statement) => {
                let block = self.cfg.block_of(statement).expect("the statement is in a block");
                let mut walk = self.liveness.walk(&self.cfg, &self.def_use, block);
                while let Some((other, _)) = walk.previous() {
                    if other == statement {
                        break;
                    }
                }
                let live = walk.live_before();
                (live.iter().collect(), live.contains_carry())
            }
        }
    }

    /// The web that a register belongs to at a point where it is live: that of a read which can be reached from there.
    pub(crate) fn web_at(&self, point: ResumePoint, reg: Reg) -> Option<Web> {
        let entry_webs = self.entry_webs.get_or_init(|| self.webs_at_entries());
        match point {
            ResumePoint::Block(block) => entry_webs.get(&(block, reg)).copied(),
            ResumePoint::Statement(statement) | ResumePoint::After(statement) => {
                let (block, first) = self.cfg.place_of(statement)?;
                self.web_from(entry_webs, block, first, reg)
            }
        }
    }

    /// The webs of the registers that are live at the start of each block.
    fn webs_at_entries(&self) -> FxHashMap<(Block, Reg), Web> {
        let mut webs = FxHashMap::default();
        // Blocks come after those that they lead to, so once is enough, except for what only the next iteration of a loop
        // reads.
        loop {
            let before = webs.len();
            for &block in self.layout.order.iter().rev() {
                for reg in self.liveness.live_in(block) {
                    if !webs.contains_key(&(block, reg))
                        && let Some(web) = self.web_from(&webs, block, 0, reg)
                    {
                        webs.insert((block, reg), web);
                    }
                }
            }
            if webs.len() == before {
                return webs;
            }
        }
    }

    /// Where each register is read or written in a block: code that tools insert makes blocks of thousands of statements.
    fn uses_in_blocks(&self) -> FxHashMap<(Block, Reg), Vec<u32>> {
        let mut uses: FxHashMap<(Block, Reg), Vec<u32>> = FxHashMap::default();
        for &block in &self.layout.order {
            for (place, &statement) in self.cfg.statements(block).iter().enumerate() {
                for &reg in self.def_use.reads(statement).iter().chain(self.def_use.writes(statement)) {
                    let places = uses.entry((block, reg)).or_default();
                    if places.last() != Some(&(place as u32)) {
                        places.push(place as u32);
                    }
                }
            }
        }
        uses
    }

    /// The web of a register at a statement of a block, as far as those at the starts of the blocks after it are known.
    fn web_from(&self, webs: &FxHashMap<(Block, Reg), Web>, block: Block, first: usize, reg: Reg) -> Option<Web> {
        let uniformity = self.uniformity.as_ref()?;
        let uses = self.uses.get_or_init(|| self.uses_in_blocks());
        let in_block = uses.get(&(block, reg)).map_or(&[][..], Vec::as_slice);
        let from_first = in_block.partition_point(|&place| (place as usize) < first);
        for &place in &in_block[from_first..] {
            let statement = self.cfg.statements(block)[place as usize];
            if let Some(web) = uniformity.read(statement, reg) {
                return Some(web);
            }
            if self.def_use.writes(statement).contains(&reg) {
                // Where a guard does not hold, the old value stays, in the same place.
                let is_guarded = self.view(statement).is_some_and(|view| view.inst.guard.is_some());
                return if is_guarded { uniformity.written(statement, reg) } else { None };
            }
        }
        self.cfg.successors(block).iter().find_map(|&next| webs.get(&(next, reg)).copied())
    }

    /// The places at which code of width 1 can be entered.
    pub(crate) fn resume_points(&self) -> Vec<ResumePoint> {
        let mut points = Vec::new();
        for &block in &self.layout.order {
            points.push(ResumePoint::Block(block));
            for &statement in self.cfg.statements(block) {
                let Some(view) = self.view(statement) else { continue };
                if self.is_resume_point(statement, &view) {
                    points.push(ResumePoint::Statement(statement));
                }
                if is_whole_barrier(&view) {
                    points.push(ResumePoint::After(statement));
                }
            }
        }
        points
    }
}
