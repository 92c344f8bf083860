//! What is between marks: on all ways through a function, every statement is inside of a transaction, or none of its
//! executions is.
//!
//! Compilers unroll loops and merge ends, so a transaction may have several ends, and an end several beginnings.

use ::rewrite::{Refusal, RequestKind};
use ptx::analysis::{Block, Cfg, DefUse, Liveness};
use ptx::ir::{FuncId, Function, Module, Reg, StmtId};
use ptx::ops::Effect;
use ptx::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

use super::refusals::refusal;

/// More marks are not looked at, because each beginning is followed to its ends.
const MOST_MARKS: usize = 1024;

/// The transactions of a function.
#[derive(Debug)]
pub(super) struct Regions {
    pub(super) begins: Vec<Begin>,
    pub(super) ends: Vec<StmtId>,
    /// The statements inside, without marks.
    pub(super) inside: Vec<StmtId>,
}

/// A mark at which a transaction begins.
#[derive(Debug)]
pub(super) struct Begin {
    pub(super) stmt: StmtId,
    /// How many bytes of memory a transaction has.
    pub(super) bytes: i64,
    /// The registers that an attempt changes, and that the next one needs as they were.
    pub(super) changed: Vec<Reg>,
}

/// The transactions of a function, if it has any.
pub(super) fn find(module: &Module, func: FuncId) -> Result<Option<Regions>, Refusal> {
    let function = &module.functions[func];
    let marks = marks(module, function)?;
    if marks.is_empty() {
        return Ok(None);
    }
    if marks.len() > MOST_MARKS {
        return Err(refusal("too-many-marks", format!("a function has more than {MOST_MARKS} marks")));
    }
    let cfg = Cfg::of(&module.forms, function);
    if cfg.unknown_targets() > 0 {
        return Err(refusal("unknown-branch", "it has a branch that goes nobody knows where"));
    }
    let walk = Walk { module, function, marks: &marks, cfg: &cfg };
    let is_inside = walk.blocks()?;
    let (mut begins, mut ends, mut inside) = (Vec::new(), Vec::new(), Vec::new());
    let (def_use, mut liveness) = (DefUse::of(&module.forms, function), None);
    for block in cfg.blocks() {
        let Some(&starts_inside) = is_inside.get(&block) else { continue };
        let mut is_here = starts_inside;
        for (place, &stmt) in cfg.statements(block).iter().enumerate() {
            match marks.get(&stmt) {
                Some(RequestKind::TransactionBegin(bytes)) => {
                    let liveness = liveness.get_or_insert_with(|| Liveness::of(&cfg, &def_use));
                    let changed = walk.changed(&def_use, liveness, (block, place));
                    begins.push(Begin { stmt, bytes: *bytes, changed });
                    is_here = true;
                }
                Some(_) => {
                    ends.push(stmt);
                    is_here = false;
                }
                None if is_here => inside.push(stmt),
                None => {}
            }
        }
    }
    Ok(Some(Regions { begins, ends, inside }))
}

fn marks(module: &Module, function: &Function) -> Result<FxHashMap<StmtId, RequestKind>, Refusal> {
    let mut marks = FxHashMap::default();
    let Some(body) = &function.body else { return Ok(marks) };
    for stmt in body.iter() {
        let Some(view) = View::of(&module.forms, body, stmt) else { continue };
        let kind = RequestKind::of(module, function, &view).filter(|kind| kind.is_mark());
        if let Some(kind) = kind {
            if view.inst.guard.is_some() {
                return Err(refusal("conditional-mark", "a mark of a transaction has a condition"));
            }
            marks.insert(stmt, kind);
        }
    }
    Ok(marks)
}

struct Walk<'a> {
    module: &'a Module,
    function: &'a Function,
    marks: &'a FxHashMap<StmtId, RequestKind>,
    cfg: &'a Cfg,
}

impl Walk<'_> {
    /// Whether each block that is reached begins inside of a transaction.
    fn blocks(&self) -> Result<FxHashMap<Block, bool>, Refusal> {
        let (mut known, mut refused) = (FxHashMap::default(), None);
        let mut list = vec![(self.cfg.entry(), false)];
        while let Some((block, is_inside)) = list.pop() {
            match known.insert(block, is_inside) {
                None => {}
                Some(before) if before == is_inside => continue,
                Some(_) => {
                    let reason = "it comes to the same code inside and outside of a transaction";
                    return Err(refusal("two-entries", reason));
                }
            }
            let is_inside = self.pass(block, is_inside, &mut refused);
            list.extend(self.cfg.successors(block).iter().map(|&next| (next, is_inside)));
        }
        refused.map_or(Ok(known), Err)
    }

    /// Whether the end of a block is inside of a transaction, and what is wrong with its marks.
    fn pass(&self, block: Block, mut is_inside: bool, refused: &mut Option<Refusal>) -> bool {
        let mut refuse = |code, reason: &str| _ = refused.get_or_insert_with(|| refusal(code, reason));
        for stmt in self.cfg.statements(block) {
            match self.marks.get(stmt) {
                Some(RequestKind::TransactionBegin(_)) if is_inside => {
                    refuse("nested", "a transaction begins inside of another");
                }
                Some(RequestKind::TransactionBegin(_)) => is_inside = true,
                Some(_) if !is_inside => {
                    refuse("no-begin", "a transaction ends that has not begun");
                }
                Some(_) => is_inside = false,
                None => {}
            }
        }
        let body = self.function.body.as_ref().expect("it has marks");
        let effect = self.cfg.terminator(block).and_then(|stmt| View::of(&self.module.forms, body, stmt)?.effect());
        let leaves = matches!(effect, Some(Effect::Return | Effect::Exit)) || self.cfg.falls_off_end() == Some(block);
        if is_inside && leaves {
            refuse("no-end", "it leaves a function inside of a transaction");
        }
        is_inside
    }

    /// The registers that are read after a beginning, and that what is inside writes.
    fn changed(&self, def_use: &DefUse, liveness: &Liveness, begin: (Block, usize)) -> Vec<Reg> {
        let written = self.written(def_use, begin);
        let (block, place) = begin;
        let mark = self.cfg.statements(block)[place];
        let mut walk = liveness.walk(self.cfg, def_use, block);
        while let Some((stmt, live)) = walk.previous() {
            if stmt == mark {
                let mut changed: Vec<Reg> = written.into_iter().filter(|&reg| live.contains(reg)).collect();
                changed.sort();
                return changed;
            }
        }
        unreachable!("the mark is in its block")
    }

    /// The registers that are written between a beginning and its ends.
    fn written(&self, def_use: &DefUse, (block, place): (Block, usize)) -> FxHashSet<Reg> {
        let (mut written, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let mut list = vec![(block, place + 1)];
        while let Some((block, place)) = list.pop() {
            let rest = &self.cfg.statements(block)[place..];
            let end = rest.iter().position(|stmt| self.marks.contains_key(stmt));
            for &stmt in &rest[..end.unwrap_or(rest.len())] {
                written.extend(def_use.writes(stmt));
            }
            if end.is_none() {
                let next = self.cfg.successors(block).iter().filter(|&&next| seen.insert(next));
                list.extend(next.map(|&next| (next, 0)));
            }
        }
        written
    }
}
