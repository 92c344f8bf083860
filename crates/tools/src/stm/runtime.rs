//! The functions of the header that transactions call, which are in the program's own module.

use ptx::ir::{FuncId, Function, Module, Param};

/// The functions of the header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runtime {
    pub(super) open: FuncId,
    pub(super) begin: FuncId,
    pub(super) read: FuncId,
    pub(super) write: FuncId,
    pub(super) commit: FuncId,
}

impl Runtime {
    /// Those of a module, if it has all of them as the header does.
    pub(super) fn of(module: &Module) -> Option<Self> {
        let function = |name: &str, has_result: bool, params: &[u32]| {
            let func = module.definition_of(module.function(name)?)?;
            let function = &module.functions[func];
            let bits = |param: &Param| bits_of(function, param);
            let has = function.params.iter().map(bits).eq(params.iter().map(|&bits| Some(bits)));
            let results = function.returns.iter().map(bits).eq(has_result.then_some(Some(32)));
            (has && results && function.body.is_some() && !function.is_entry()).then_some(func)
        };
        Some(Self {
            open: function("warpgrind_tx_open", false, &[64])?,
            begin: function("warpgrind_tx_begin", false, &[64])?,
            read: function("warpgrind_tx_read", true, &[64, 64, 32, 64])?,
            write: function("warpgrind_tx_write", true, &[64, 64, 32, 64])?,
            commit: function("warpgrind_tx_commit", true, &[64])?,
        })
    }

    pub(super) fn functions(self) -> [FuncId; 5] {
        [self.open, self.begin, self.read, self.write, self.commit]
    }
}

fn bits_of(function: &Function, param: &Param) -> Option<u32> {
    match *param {
        Param::Reg(group) => Some(function.groups[group].ty.bits()),
        Param::Var(var) => {
            let variable = &function.vars[var];
            variable.dimensions.is_empty().then(|| variable.ty.bits())
        }
    }
}
