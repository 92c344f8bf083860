//! Where a kernel finds its parameters.

use ptx::ir::{Function, Param};

/// Where each parameter of a kernel is among the bytes of all, and how many it has. Nothing has to be compiled to know it.
pub fn param_layout(kernel: &Function) -> Vec<(u64, u64)> {
    let mut end = 0_u64;
    let place = |param: &Param| {
        let (bytes, align) = match *param {
            Param::Var(var) => (kernel.vars[var].size().unwrap_or(0), u64::from(kernel.vars[var].alignment())),
            Param::Reg(group) => (kernel.groups[group].ty.bytes().into(), kernel.groups[group].ty.bytes().into()),
        };
        let start = end.checked_next_multiple_of(align.max(1)).unwrap_or(end);
        end = start.saturating_add(bytes);
        (start, bytes)
    };
    kernel.params.iter().map(place).collect()
}
