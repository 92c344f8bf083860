//! Copies of regions.

use rustc_hash::{FxHashMap, FxHashSet};

use super::builder::{Builder, Point};
use super::copy::Renaming;
use super::editor::Editor;
use super::error::EditError;
use crate::ir::{Function, Label, Operand, Param, Reg, SourceLocation, Stmt, StmtId, Symbol, TagId, Var};
use crate::ops::Effect;
use crate::types::{Space, Type};

/// Which registers the copy of a region works with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registers {
    /// The same ones: the copy is the same code at another place.
    Shared,
    /// Fresh ones for those that the region writes. Where a value from before the region may be used, the copy begins
    /// by taking it over, so the copy computes what the region would and leaves the registers of the region alone.
    Fresh,
    /// Fresh ones for all, also for those that are only read. Nothing is taken over.
    Separate,
}

/// What came of copying a region.
#[derive(Clone, Debug, Default)]
pub struct Copied {
    /// Each copied statement and its copy, in order. Declarations and braces are not copied.
    pub statements: Vec<(StmtId, StmtId)>,
    /// The labels of the region and their copies.
    pub labels: FxHashMap<Label, Label>,
    /// The registers that were exchanged, and for what.
    pub regs: FxHashMap<Reg, Reg>,
}

/// The statements of a region that have copies.
struct ClonedRegion {
    /// In order, with the statement outside the region that control goes on to, although no branch says so.
    statements: Vec<(StmtId, Option<StmtId>)>,
}

impl Editor<'_> {
    /// Copies statements of this function, in their order, to another place in it.
    ///
    /// The function is made flat first. Labels in the region get copies, and branches in the copy go to these. Where
    /// control falls through to a statement that is left out in the middle of the region, the copy branches there;
    /// after the last statement, the copy goes on with whatever follows it.
    /// The copy is entered at its top only: a branch from elsewhere into it would miss what [`Registers::Fresh`] does.
    pub fn clone_region(
        &mut self,
        region: &[StmtId],
        to: Point,
        registers: Registers,
        tag: TagId,
    ) -> Result<Copied, EditError> {
        let mut to = self.flatten_around(to)?;
        let region = self.region(region)?;
        let mut renaming = Renaming { vars: self.copy_call_params(&region), ..Renaming::default() };
        let mut taken_over = Vec::new();
        if registers != Registers::Shared {
            taken_over = self.choose_regs(&region, registers, tag, &mut renaming)?;
        }
        self.choose_labels(&region, &mut renaming);
        let mut exits = FxHashMap::default();
        for target in region.statements.iter().filter_map(|&(_, falls_out_to)| falls_out_to) {
            exits.insert(target, self.split_before(target, tag)?);
            if to == Point::Before(target) {
                to = Point::Before(self.body().previous(target).expect("the label was put before it"));
            }
        }
        let resumed = self.location_at(to);
        let first = region.statements.first().map(|&(id, _)| id);
        let location = first.and_then(|first| self.location(first).copied()).filter(|&first| Some(first) != resumed);

        let mut builder = self.at(to, tag);
        if let Some(location) = location {
            builder.location(location);
        }
        for reg in taken_over {
            let spelling = copy_spelling(builder.editor().function(), reg);
            builder.inst(&spelling, &[renaming.reg(reg).into(), reg.into()]);
        }
        let statements = copy_statements(&mut builder, &region, &renaming, &exits, tag);
        if let (Some(resumed), Some(&(_, last))) = (resumed, statements.last())
            && builder.editor().location(last) != Some(&resumed)
        {
            builder.location(resumed);
        }
        Ok(Copied { statements, labels: renaming.labels, regs: renaming.regs })
    }

    /// The source location in force at a place, if it matters to what follows.
    fn location_at(&self, point: Point) -> Option<SourceLocation> {
        let (before, next) = match point {
            Point::Before(id) => (self.body().previous(id), Some(id)),
            Point::After(id) => (Some(id), self.body().next(id)),
            Point::End => return None,
        };
        match self.body().stmt(next?) {
            Stmt::Loc(_) => None,
            _ => self.location(before?).copied(),
        }
    }

    /// Walks the region and finds out where control leaves it without a branch.
    fn region(&self, ids: &[StmtId]) -> Result<ClonedRegion, EditError> {
        let body = self.body();
        let is_copied =
            |id: &StmtId| !matches!(body.stmt(*id), Stmt::Open | Stmt::Close | Stmt::Regs(_) | Stmt::Var(_));
        let ids: Vec<StmtId> = ids.iter().copied().filter(is_copied).collect();
        let mut statements = Vec::with_capacity(ids.len());
        let mut goes_on = true;
        for (index, &id) in ids.iter().enumerate() {
            match body.stmt(id) {
                Stmt::Inst(_) => goes_on = self.view(id).is_some_and(|view| !view.ends_flow()),
                Stmt::Label(_) | Stmt::Unknown(_) => goes_on = true,
                _ => {}
            }
            let mut falls_out_to = None;
            let mut next = body.next(id);
            while let Some(&wanted) = ids.get(index + 1)
                && next != Some(wanted)
            {
                let between = next.ok_or(EditError::RegionOutOfOrder)?;
                // Source locations and labels that are left out do not matter: control passes them.
                if goes_on && matches!(body.stmt(between), Stmt::Inst(_) | Stmt::Unknown(_)) {
                    falls_out_to.get_or_insert(between);
                }
                next = body.next(between);
            }
            statements.push((id, falls_out_to));
        }
        Ok(ClonedRegion { statements })
    }

    /// Gives labels that are defined in the region a copy. A branch table that is elsewhere but lists labels of the
    /// region cannot serve the copy of its branch.
    fn choose_labels(&mut self, region: &ClonedRegion, renaming: &mut Renaming) {
        for &(id, _) in &region.statements {
            if let Stmt::Label(label)
            | Stmt::BranchTargets(label, _)
            | Stmt::CallTargets(label, _)
            | Stmt::CallPrototype(label, _) = *self.body().stmt(id)
            {
                let base = self.module.text(self.function().labels[label].name).to_owned();
                let copy = self.label(&base);
                renaming.labels.insert(label, copy);
            }
        }
        let tables: Vec<Label> = region
            .statements
            .iter()
            .filter_map(|&(id, _)| self.view(id)?.branch_table())
            .filter(|table| !renaming.labels.contains_key(table))
            .collect();
        for table in tables {
            self.copy_table(table, renaming);
        }
    }

    /// Copies a branch table beside the original, if it lists labels that have copies.
    fn copy_table(&mut self, table: Label, renaming: &mut Renaming) {
        let is_it = |id: &StmtId| matches!(self.body().stmt(*id), Stmt::BranchTargets(label, _) if *label == table);
        let Some(id) = self.body().iter().find(is_it) else { return };
        let Stmt::BranchTargets(_, list) = *self.body().stmt(id) else { return };
        let mut lists_copied = false;
        self.body().for_each_operand(list, &mut |operand| {
            lists_copied |=
                matches!(operand, Operand::Symbol(Symbol::Label(label), _) if renaming.labels.contains_key(&label));
        });
        if !lists_copied || renaming.labels.contains_key(&table) {
            return;
        }
        let base = self.module.text(self.function().labels[table].name).to_owned();
        let copy = self.label(&base);
        renaming.labels.insert(table, copy);
        let stmt = self.body().stmt(id).clone();
        let (at, origin) = (self.body().position(id), self.body().origin(id));
        let body = self.body_mut();
        let stmt = renaming.stmt(None, body, &stmt).expect("a table can be copied");
        body.insert_after(id, stmt, at, origin);
    }

    /// Chooses fresh registers. Returns those whose value has to be taken over.
    fn choose_regs(
        &mut self,
        region: &ClonedRegion,
        registers: Registers,
        tag: TagId,
        renaming: &mut Renaming,
    ) -> Result<Vec<Reg>, EditError> {
        // Ordered by their first occurrence, so that the same region always gives the same text.
        let mut chosen = Vec::new();
        let mut is_chosen = FxHashSet::default();
        for &(id, _) in &region.statements {
            if let Stmt::Unknown(text) = self.body().stmt(id) {
                return Err(EditError::Unreadable { text: self.module.text(*text).to_owned() });
            }
            let Some(view) = self.view(id) else { continue };
            let mut choose = |reg| {
                if is_chosen.insert(reg) {
                    chosen.push(reg);
                }
            };
            if registers == Registers::Separate {
                view.for_each_read(&mut choose);
            }
            view.for_each_write(choose);
        }
        for &reg in &chosen {
            let fresh = self.reg_like(tag, reg);
            renaming.regs.insert(reg, fresh);
        }
        if registers == Registers::Separate {
            return Ok(Vec::new());
        }
        let before = self.used_from_before(region);
        Ok(chosen.into_iter().filter(|reg| before.contains(reg)).collect())
    }

    /// The registers whose value at the start of the region it may use, or leave as it is. All but those that are
    /// written before they are read, and before the first branch, after which a write may be jumped over.
    fn used_from_before(&self, region: &ClonedRegion) -> FxHashSet<Reg> {
        let mut written = FxHashSet::default();
        let mut used = FxHashSet::default();
        let mut is_straight = true;
        for &(id, _) in &region.statements {
            let Some(view) = self.view(id) else { continue };
            view.for_each_read(|reg| {
                if !written.contains(&reg) {
                    used.insert(reg);
                }
            });
            let always_writes = is_straight && view.inst.guard.is_none();
            view.for_each_write(|reg| {
                if always_writes {
                    written.insert(reg);
                } else if !written.contains(&reg) {
                    used.insert(reg);
                }
            });
            is_straight &= view.effect() != Some(Effect::Branch) && view.effect().is_some();
        }
        used
    }

    /// Copies the `.param` variables of call sequences that are wholly in the region, so that no two calls share one.
    fn copy_call_params(&mut self, region: &ClonedRegion) -> FxHashMap<Var, Var> {
        let mut places: FxHashMap<Var, Vec<usize>> = FxHashMap::default();
        for (index, &(id, _)) in region.statements.iter().enumerate() {
            self.for_each_call_param(id, |var| places.entry(var).or_default().push(index));
        }
        if places.is_empty() {
            return FxHashMap::default();
        }
        let inside: FxHashSet<StmtId> = region.statements.iter().map(|&(id, _)| id).collect();
        for id in self.body().iter().filter(|id| !inside.contains(id)) {
            self.for_each_call_param(id, |var| _ = places.remove(&var));
        }
        // Control that leaves the copy in the middle of a sequence goes on with the original's variables.
        let goes_through = |&(id, falls_out_to): &(StmtId, Option<StmtId>)| {
            let is_branch = self.view(id).is_some_and(|view| view.effect() == Some(Effect::Branch));
            falls_out_to.is_none() && !is_branch && !matches!(self.body().stmt(id), Stmt::Label(_))
        };
        places.retain(|_, places| {
            let (first, last) = (places[0], places[places.len() - 1]);
            region.statements[first..last].iter().all(goes_through)
        });
        let mut vars: Vec<Var> = places.into_keys().collect();
        vars.sort_unstable();
        vars.into_iter().map(|var| (var, self.variable(self.function().vars[var].clone()))).collect()
    }

    /// Calls `each` with the `.param` variables that a statement names, but not with parameters of the function.
    fn for_each_call_param(&self, id: StmtId, mut each: impl FnMut(Var)) {
        let function = self.function();
        let Some(inst) = self.body().inst(id) else { return };
        self.body().for_each_operand(inst.operands, &mut |operand| {
            if let Operand::Symbol(Symbol::Var(var), _) | Operand::SymbolAddress(Symbol::Var(var), _) = operand
                && function.vars[var].space == Space::Param
                && !function.params.iter().chain(&function.returns).any(|param| *param == Param::Var(var))
            {
                each(var);
            }
        });
    }
}

/// Inserts the copies. Returns each statement with its copy.
fn copy_statements(
    builder: &mut Builder<'_, '_>,
    region: &ClonedRegion,
    renaming: &Renaming,
    exits: &FxHashMap<StmtId, Label>,
    tag: TagId,
) -> Vec<(StmtId, StmtId)> {
    let mut statements = Vec::with_capacity(region.statements.len());
    for &(id, falls_out_to) in &region.statements {
        let editor = builder.editor();
        let stmt = editor.body().stmt(id).clone();
        let stmt = renaming.stmt(None, editor.body_mut(), &stmt).expect("declarations and braces were left out");
        let (at, origin) = (editor.body().position(id), editor.body().origin(id));
        let origin = editor.module_mut().copied_origin(origin, tag);
        statements.push((id, builder.stmt_from(stmt, at, origin)));
        if let Some(target) = falls_out_to {
            builder.branch(None, exits[&target]);
        }
    }
    statements
}

/// The instruction that copies a register to one of the same type.
fn copy_spelling(function: &Function, reg: Reg) -> String {
    let group = &function.groups[function.regs[reg].group];
    match (group.ty, group.vector) {
        (Type::Pred, _) => "mov.pred".to_owned(),
        // `mov` does not take bytes.
        (ty, 1) if ty.bits() == 8 => "cvt.u8.u8".to_owned(),
        (ty, 1) => format!("mov.b{}", ty.bits()),
        (ty, vector) => format!("mov.v{vector}.b{}", ty.bits()),
    }
}
