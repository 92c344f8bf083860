//! What a program asks of tools inside of its kernels: `include/warpgrind/requests.h`.
//!
//! A request is a `mov` to a register with a name of its own, which the header declares in inline assembly and nobody reads. So
//! it costs a GPU nothing: the assembler removes it. From how the register is called follows what is asked, and the value is
//! what it is asked for.

use ptx::analysis::{Block, Cfg};
use ptx::entity::Map;
use ptx::ir::{FuncId, Function, Guard, Module, Operand, Reg, StmtId};
use ptx::ops::Op;
use ptx::view::View;
use rustc_hash::FxHashSet;

/// A request by an instruction of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The instruction.
    pub stmt: StmtId,
    /// What is asked.
    pub kind: RequestKind,
    /// The guard that the instruction had in the program.
    pub guard: Option<Guard>,
}

/// What a program asks of tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// To check accesses from here on, or not to.
    Checks(bool),
    /// What this thread has done comes before what a thread does after [`RequestKind::HappensAfter`] of the same address.
    HappensBefore(Reg),
    /// See [`RequestKind::HappensBefore`].
    HappensAfter(Reg),
    /// A transaction begins here (`include/warpgrind/transactional.cuh`), which has so many bytes of memory.
    TransactionBegin(i64),
    /// The transaction ends here.
    TransactionEnd,
}

impl RequestKind {
    /// What an instruction asks, if it does.
    pub fn of(module: &Module, function: &Function, view: &View<'_>) -> Option<Self> {
        if view.op() != Some(Op::Mov) {
            return None;
        }
        let &[Operand::Reg(target), value] = view.operands() else { return None };
        let name = module.text(function.groups[function.regs[target].group].name);
        // Registers of the same name have a number where braces were removed.
        let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let name = if unnumbered.len() < name.len() { unnumbered.strip_suffix('_')? } else { name };
        match (name.strip_prefix("warpgrind_")?, value) {
            ("checks", Operand::Int(value)) => Some(Self::Checks(value != 0)),
            ("happens_before", Operand::Reg(address)) => Some(Self::HappensBefore(address)),
            ("happens_after", Operand::Reg(address)) => Some(Self::HappensAfter(address)),
            ("transaction_begin", Operand::Int(bytes)) => Some(Self::TransactionBegin(bytes)),
            ("transaction_end", _) => Some(Self::TransactionEnd),
            _ => None,
        }
    }

    /// Whether it says that something comes before something else.
    pub fn is_order(self) -> bool {
        matches!(self, Self::HappensBefore(_) | Self::HappensAfter(_))
    }

    /// Whether it marks where a transaction begins or ends.
    pub fn is_mark(self) -> bool {
        matches!(self, Self::TransactionBegin(_) | Self::TransactionEnd)
    }

    /// Whether a function of a module asks this of tools.
    pub fn is_asked_in(module: &Module, func: FuncId, is_meant: impl Fn(Self) -> bool) -> bool {
        let function = &module.functions[func];
        let Some(body) = &function.body else { return false };
        let mut views = body.iter().filter_map(|id| View::of(&module.forms, body, id));
        views.any(|view| Self::of(module, function, &view).is_some_and(&is_meant))
    }
}

/// The instructions of a function that are not to be checked: on all ways to them the last that was asked is not to check.
pub(crate) fn unchecked(module: &Module, func: FuncId) -> FxHashSet<StmtId> {
    let mut found = FxHashSet::default();
    if !RequestKind::is_asked_in(module, func, |kind| kind == RequestKind::Checks(false)) {
        return found;
    }
    let function = &module.functions[func];
    let body = function.body.as_ref().expect("something was found in it");
    let cfg = Cfg::of(&module.forms, function);
    let asked = |id: StmtId| match RequestKind::of(module, function, &View::of(&module.forms, body, id)?)? {
        RequestKind::Checks(is_checked) => Some(is_checked),
        _ => None,
    };
    let last_asked = |block: Block| cfg.statements(block).iter().rev().find_map(|&id| asked(id));
    let last: Map<Block, Option<bool>> = cfg.blocks().map(last_asked).collect();
    // Whether the end of a block is checked: at first what is asked for, and not otherwise; then what comes in.
    let mut is_checked: Map<Block, bool> = last.values().map(|last| last.unwrap_or(false)).collect();
    let comes_in = |is_checked: &Map<Block, bool>, block: Block| {
        block == cfg.entry() || cfg.predecessors(block).iter().any(|&before| is_checked[before])
    };
    loop {
        let changed: Vec<Block> = cfg
            .blocks()
            .filter(|&block| !is_checked[block] && last[block].is_none() && comes_in(&is_checked, block))
            .collect();
        if changed.is_empty() {
            break;
        }
        changed.into_iter().for_each(|block| is_checked[block] = true);
    }
    for block in cfg.blocks() {
        let mut is_here = comes_in(&is_checked, block);
        for &id in cfg.statements(block) {
            is_here = asked(id).unwrap_or(is_here);
            if !is_here {
                found.insert(id);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a kernel that are not checked, by the values that they store.
    fn unchecked_stores(body: &str) -> Vec<i64> {
        let off = "{ .reg .b32 warpgrind_checks; mov.b32 warpgrind_checks, 0; }";
        let on = "{ .reg .b32 warpgrind_checks; mov.b32 warpgrind_checks, 1; }";
        let body = body.replace("OFF", off).replace("ON", on);
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{ .reg .b64 %a;\n\
             .reg .pred %p; ld.param.u64 %a, [p]; setp.eq.u64 %p, %a, 0; {body} ret; }}"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let (module, func) = (&parsed.module, parsed.module.function("k").unwrap());
        let body = module.functions[func].body.as_ref().unwrap();
        let unchecked = unchecked(module, func);
        let stored = |id: StmtId| View::of(&module.forms, body, id)?.operands().get(1)?.as_int();
        let is_store = |id: &StmtId| {
            View::of(&module.forms, body, *id).is_some_and(|view| view.op() == Some(Op::St)) && unchecked.contains(id)
        };
        body.iter().filter(is_store).filter_map(stored).collect()
    }

    fn store(value: u32) -> String {
        format!("st.global.u32 [%a], {value};")
    }

    #[test]
    fn what_is_between_requests_is_not_checked() {
        let [one, two, three] = [1, 2, 3].map(store);
        assert_eq!(unchecked_stores(&format!("{one} OFF {two} ON {three}")), [2]);
        assert_eq!(unchecked_stores(&format!("{one} {two} {three}")), [0_i64; 0]);
        assert_eq!(unchecked_stores(&format!("{one} OFF {two} {three}")), [2, 3]);
    }

    #[test]
    fn one_way_with_checks_is_enough() {
        let [one, two, three, four] = [1, 2, 3, 4].map(store);
        // Only one side asks.
        let one_side = format!("@%p bra OTHER; OFF {one} bra JOIN; OTHER: {two} JOIN: {three}");
        assert_eq!(unchecked_stores(&one_side), [1]);
        let both_sides = format!("@%p bra OTHER; OFF {one} bra JOIN; OTHER: OFF {two} JOIN: {three}");
        assert_eq!(unchecked_stores(&both_sides), [1, 2, 3]);
        // A loop that asks at its end is entered with checks.
        let in_loop = format!("AGAIN: {one} OFF {two} @%p bra AGAIN; {three} ON {four}");
        assert_eq!(unchecked_stores(&in_loop), [2, 3]);
        let around_loop = format!("OFF AGAIN: {one} {two} @%p bra AGAIN; {three} ON {four}");
        assert_eq!(unchecked_stores(&around_loop), [1, 2, 3]);
    }
}
