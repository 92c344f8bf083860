//! Which registers of a thread hold something at an instruction: a fault in the register file strikes one of them, or a place
//! that holds nothing.

use ptx::analysis::{Cfg, DefUse, Liveness};
use ptx::ir::{Function, Module, Reg, StmtId};
use ptx::types::TypeKind;
use ptx::view::View;
use rustc_hash::FxHashSet;

/// The registers of a function at one of its instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RegisterFile {
    /// Bits of all registers where most of them hold something.
    pub(super) bits: u64,
    /// Those that hold something here, and how many bits each has, in the order of their numbers.
    pub(super) live: Vec<(Reg, u32)>,
}

/// What a bit of the register file belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    /// A register that holds something, and which of its bits.
    Register(Reg, u32),
    /// Nothing that is read again before it is written.
    Unused,
}

impl RegisterFile {
    /// Of a function before an instruction. Registers that tools brought do not count.
    pub(super) fn of(module: &Module, function: &Function, stmt: StmtId) -> Option<Self> {
        let body = function.body.as_ref()?;
        let mut own = FxHashSet::default();
        for (id, _) in body.insts().filter(|(id, _)| body.origin(*id).tag.is_none()) {
            if let Some(view) = View::of(&module.forms, body, id) {
                view.for_each_write(|reg| _ = own.insert(reg));
            }
        }
        let bits = |reg: Reg| {
            let (group, ty) = (&function.groups[function.regs[reg].group], function.reg_type(reg));
            let is_held = own.contains(&reg) && group.vector == 1 && ty.kind() != TypeKind::Pred;
            (is_held && matches!(ty.bits(), 16 | 32 | 64)).then(|| ty.bits())
        };
        let cfg = Cfg::of(&module.forms, function);
        let def_use = DefUse::of(&module.forms, function);
        let liveness = Liveness::of(&cfg, &def_use);
        let (mut most, mut here) = (0, None);
        for block in cfg.blocks() {
            let mut walk = liveness.walk(&cfg, &def_use, block);
            while let Some((at, _)) = walk.previous() {
                let live = walk.live_before();
                most = most.max(live.iter().filter_map(bits).map(u64::from).sum());
                if at == stmt {
                    let mut live: Vec<(Reg, u32)> = live.iter().filter_map(|reg| Some((reg, bits(reg)?))).collect();
                    live.sort_unstable_by_key(|(reg, _)| *reg);
                    here = Some(live);
                }
            }
        }
        Some(Self { bits: most, live: here? })
    }

    /// What a bit belongs to, of as many as the file has.
    pub(super) fn cell(&self, bit: u64) -> Cell {
        let mut before = 0;
        for &(reg, bits) in &self.live {
            if bit < before + u64::from(bits) {
                return Cell::Register(reg, (bit - before) as u32);
            }
            before += u64::from(bits);
        }
        Cell::Unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_that_are_read_again_hold_something() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
            .visible .entry k(.param .u64 p) {\n.reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred %p;\n\
            ld.param.u64 %d1, [p];\n mov.u32 %r1, 7;\n setp.eq.u32 %p, %r1, 7;\n add.u32 %r2, %r1, 1;\n\
            @%p st.global.u32 [%d1], %r2;\n ret;\n}";
        let module = ptx::parse(text).module;
        let function = module.functions.values().next().unwrap();
        let body = function.body.as_ref().unwrap();
        let statements: Vec<StmtId> = body.insts().map(|(id, _)| id).collect();
        let files: Vec<_> = statements.iter().map(|&stmt| RegisterFile::of(&module, function, stmt).unwrap()).collect();
        let bits = |file: &RegisterFile| file.live.iter().map(|(_, bits)| *bits).collect::<Vec<_>>();
        // Before each instruction; predicates are in a file of their own.
        assert_eq!(
            files.iter().map(bits).collect::<Vec<_>>(),
            [vec![], vec![64], vec![64, 32], vec![64, 32], vec![64, 32], vec![]]
        );
        assert!(files.iter().all(|file| file.bits == 96));
        let reg = files[3].live[1].0;
        assert_eq!(files[3].cell(64), Cell::Register(reg, 0));
        assert_eq!(files[3].cell(95), Cell::Register(reg, 31));
        assert_eq!(files[1].cell(64), Cell::Unused);
    }
}
