//! Where the registers, variables and parameters of a function are.

use ptx::entity::Map;
use ptx::ir::{FuncId, Function, FunctionKind, GroupId, Module, Param, Reg, Var, Variable};
use ptx::types::{Space, Type};
use rustc_hash::FxHashMap;

use super::Context;
use crate::code::{Dest, Place, Slot};
use crate::fault::Refusal;

/// The layout of a function's registers and local memory.
#[derive(Debug)]
pub(crate) struct FrameLayout {
    /// First slot of each register; vectors take one slot per element.
    pub first_slot: Map<Reg, Slot>,
    pub slots: u32,
    /// Offsets of local variables, and of parameters that are no kernel's.
    pub vars: FxHashMap<Var, u32>,
    /// Offsets of the parameters of a kernel.
    pub entry_params: FxHashMap<Var, u32>,
    pub bytes: u32,
    pub align: u32,
    pub params: Vec<Place>,
    pub returns: Vec<Place>,
}

impl FrameLayout {
    pub(crate) fn of(context: &Context<'_>, id: FuncId) -> Result<Self, Refusal> {
        let module = context.module;
        let function = &module.functions[id];
        let mut slots = 0;
        let first_slot = function
            .regs
            .values()
            .map(|reg| {
                let slot = slots;
                slots += u32::from(function.groups[reg.group].vector.max(1));
                slot
            })
            .collect();
        let entry_params = entry_params(module, id)?.0;
        let mut frame = Self {
            first_slot,
            slots,
            vars: FxHashMap::default(),
            entry_params,
            bytes: 0,
            align: 16,
            params: Vec::new(),
            returns: Vec::new(),
        };
        for (var, variable) in function.vars.iter() {
            let is_local = matches!(variable.space, Space::Local | Space::Param);
            if is_local && !frame.entry_params.contains_key(&var) {
                frame.place(module, var, variable)?;
            }
        }
        if function.kind == FunctionKind::Func {
            frame.params = function.params.iter().map(|param| frame.param(function, *param)).collect();
            frame.returns = function.returns.iter().map(|param| frame.param(function, *param)).collect();
        }
        Ok(frame)
    }

    fn place(&mut self, module: &Module, var: Var, variable: &Variable) -> Result<(), Refusal> {
        let size = variable.size().ok_or_else(|| Refusal::variable(module, variable, "a variable without a size"))?;
        let align = variable.alignment().max(1);
        let offset = self.bytes.next_multiple_of(align);
        let end = u64::from(offset) + size;
        if end > 1 << 24 {
            return Err(Refusal::variable(module, variable, "more than 16 MiB of local memory"));
        }
        self.bytes = end as u32;
        self.align = self.align.max(align);
        self.vars.insert(var, offset);
        Ok(())
    }

    fn param(&self, function: &Function, param: Param) -> Place {
        match param {
            Param::Var(var) => {
                let size = function.vars[var].size().unwrap_or(0) as u32;
                Place::Frame { offset: self.vars[&var], size }
            }
            Param::Reg(group) => Place::Register(self.register_of(function, group)),
        }
    }

    /// The only register of a group; one that nobody uses has no place.
    fn register_of(&self, function: &Function, group: GroupId) -> Dest {
        let used = function.regs.iter().find(|(_, info)| info.group == group);
        used.map_or(Dest::Sink, |(reg, _)| Dest::Reg { slot: self.first_slot[reg], bits: bits_of(function, reg) })
    }
}

/// Width of a register, or of one of its elements.
pub(crate) fn bits_of(function: &Function, reg: Reg) -> u8 {
    match function.reg_type(reg) {
        Type::Pred => 1,
        ty => ty.bits() as u8,
    }
}

/// Offsets of a kernel's parameters, and their size together; nothing for other functions.
pub(crate) fn entry_params(module: &Module, id: FuncId) -> Result<(FxHashMap<Var, u32>, u32), Refusal> {
    let function = &module.functions[id];
    let mut offsets = FxHashMap::default();
    let mut bytes = 0_u32;
    if function.kind != FunctionKind::Entry {
        return Ok((offsets, 0));
    }
    for param in &function.params {
        let Param::Var(var) = *param else {
            return Err(Refusal::new(module, function.at, module.text(function.name), "has a parameter in a register"));
        };
        let variable = &function.vars[var];
        let size = variable.size().filter(|&size| size <= 1 << 16);
        let size = size.ok_or_else(|| Refusal::variable(module, variable, "a parameter without a size"))?;
        let offset = bytes.next_multiple_of(variable.alignment().max(1));
        offsets.insert(var, offset);
        bytes = offset + size as u32;
    }
    Ok((offsets, bytes))
}
