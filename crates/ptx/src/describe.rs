//! The IR in words: what `warpgrind ptx effects` prints and test files expect.

use std::fmt::Write;

use crate::analysis::{
    BlockScope, BlockUniformity, Cfg, DefUse, DominatorTree, LaunchFacts, Liveness, Loops, Uniformity,
};
use crate::ir::{Body, Function, Module, Reg, Stmt, StmtId};
use crate::print::print_stmt;
use crate::view::{AccessBytes, AccessKind, AccessSpace, MemAccess, Order, View};

/// Every instruction of a module with its effect, the registers it reads and writes, and its accesses to memory.
pub fn effects(module: &Module) -> String {
    let mut out = String::new();
    for function in module.functions.values() {
        let Some(body) = &function.body else { continue };
        writeln!(out, "{}:", module.text(function.name)).expect("writing to a string");
        for id in body.iter() {
            let line = match body.stmt(id) {
                Stmt::Inst(_) => effect_line(module, function, body, id),
                Stmt::Unknown(text) => format!("  {};\n    unknown", module.text(*text)),
                _ => continue,
            };
            writeln!(out, "{line}").expect("writing to a string");
        }
    }
    out
}

/// Every block of every function with its place in the trees of dominators, its loop, and the registers that are live
/// where it begins; every register with how it varies over the lanes of a warp; and those that do not vary over a block.
pub fn analyses(module: &Module) -> String {
    let mut out = String::new();
    for function in module.functions.values() {
        if function.body.is_some() {
            writeln!(out, "{}:", module.text(function.name)).expect("writing to a string");
            describe_blocks(module, function, &mut out);
        }
    }
    out
}

fn describe_blocks(module: &Module, function: &Function, out: &mut String) {
    let cfg = Cfg::of(&module.forms, function);
    let def_use = DefUse::of(&module.forms, function);
    let dominators = DominatorTree::dominators(cfg.graph());
    let post_dominators = DominatorTree::post_dominators(cfg.graph());
    let loops = Loops::of(cfg.graph(), &dominators);
    let liveness = Liveness::of(&cfg, &def_use);
    let facts = LaunchFacts::of(&module.names, function);
    let uniformity = Uniformity::of(module, function, &cfg, &facts);
    for block in cfg.blocks() {
        let mut line = format!("  {block:?}: {} statements", cfg.statements(block).len());
        let successors: Vec<String> =
            cfg.edges(block).iter().map(|edge| format!("{:?} ({:?})", edge.target, edge.kind)).collect();
        line += &format!("; to {}", if successors.is_empty() { "the end".to_owned() } else { successors.join(", ") });
        if !cfg.is_reachable(block) {
            line += "; unreachable";
        }
        if let Some(above) = dominators.immediate(block) {
            line += &format!("; dominated by {above:?}");
        }
        if let Some(below) = post_dominators.immediate(block) {
            line += &format!("; post-dominated by {below:?}");
        }
        if loops.depth(block) > 0 {
            line += &format!("; loop depth {}", loops.depth(block));
        }
        let mut live: Vec<String> = liveness.live_in(block).map(|reg| reg_name(module, function, reg)).collect();
        live.sort();
        if liveness.is_carry_live_in(block) {
            live.push("carry".to_owned());
        }
        if !live.is_empty() {
            line += &format!("; live {}", live.join(" "));
        }
        if let Some(branch) = uniformity.branch(block) {
            line += &format!("; {:?} branch", branch.uniformity).to_lowercase();
        }
        writeln!(out, "{line}").expect("writing to a string");
    }
    for web in uniformity.webs() {
        let value = uniformity.value(web);
        let reg = uniformity.reg_of(web);
        // The carry flag has the number after the last register.
        let name = if function.regs.get(reg).is_some() { reg_name(module, function, reg) } else { "carry".to_owned() };
        let guard = if value.needs_guard() { ", if a guard holds" } else { "" };
        writeln!(out, "  {name}: {:?}{guard}", value.class()).expect("writing to a string");
    }
    for (scope, whom) in [(BlockScope::Threads, "all threads"), (BlockScope::Lanes, "each lane of all warps")] {
        let uniformity = BlockUniformity::of(module, function, &cfg, &def_use, &facts, scope);
        let regs = function.regs.ids().filter(|&reg| uniformity.is_block_uniform(reg));
        let names: Vec<String> = regs.map(|reg| reg_name(module, function, reg)).collect();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
        writeln!(out, "  the same in {whom} of a block: {names}").expect("writing to a string");
    }
}

fn effect_line(module: &Module, function: &Function, body: &Body, id: StmtId) -> String {
    let view = View::of(&module.forms, body, id).expect("the statement is an instruction");
    let mut line = format!("  {}\n    ", print_stmt(module, function, body, id).replace('\t', ""));
    match view.effect() {
        Some(effect) => write!(line, "{effect:?}").expect("writing to a string"),
        None => line += "unknown",
    }
    let names = |regs: &[Reg]| regs.iter().map(|&reg| reg_name(module, function, reg)).collect::<Vec<_>>().join(" ");
    let (reads, writes) = (view.reads(), view.writes());
    if !writes.is_empty() {
        line += &format!("; writes {}", names(&writes));
    }
    if !reads.is_empty() {
        line += &format!("; reads {}", names(&reads));
    }
    if view.writes_carry() {
        line += "; writes carry";
    }
    if view.reads_carry() {
        line += "; reads carry";
    }
    if view.is_collective() {
        line += "; collective";
    }
    for access in view.accesses() {
        line += "; ";
        line += &describe_access(&view, &access);
    }
    line
}

/// `reads 16 bytes of global memory, acquire at gpu scope`.
fn describe_access(view: &View<'_>, access: &MemAccess) -> String {
    let kind = match access.kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::ReadWrite => "updates",
    };
    let bytes = match access.bytes {
        AccessBytes::Fixed(1) => "1 byte of".to_owned(),
        AccessBytes::Fixed(bytes) => format!("{bytes} bytes of"),
        AccessBytes::Rows(rows) => format!("{} rows of {} bytes of", rows.count, rows.bytes),
        AccessBytes::Operand(_) => "a given number of bytes of".to_owned(),
        AccessBytes::Unknown if matches!(access.space, AccessSpace::Tensor | AccessSpace::Texture) => {
            "part of".to_owned()
        }
        AccessBytes::Unknown => "some bytes of".to_owned(),
    };
    let space = match access.space {
        AccessSpace::Generic => "generic memory".to_owned(),
        AccessSpace::State(space) => format!("{space} memory"),
        AccessSpace::Tensor => "a tensor".to_owned(),
        AccessSpace::TensorMemory => "tensor memory".to_owned(),
        AccessSpace::Texture => "a texture".to_owned(),
    };
    let mut text = format!("{kind} {bytes} {space} at operand {}", access.address);
    if access.lanes < 32 {
        text += &format!(" of the first {} lanes", access.lanes);
    }
    if access.order != Order::Weak {
        text += match access.order {
            Order::Weak => "",
            Order::Volatile => ", volatile",
            Order::Relaxed => ", relaxed",
            Order::Acquire => ", acquire",
            Order::Release => ", release",
            Order::AcquireRelease => ", acquire and release",
        };
    }
    if let Some(scope) = access.scope {
        text += &format!(" at {:?} scope", scope).to_lowercase();
    }
    if access.is_async {
        text += ", later";
    }
    debug_assert!(access.address < view.operands().len(), "an access names an operand of its instruction");
    text
}

/// The name of a register as it is printed.
pub fn reg_name(module: &Module, function: &Function, reg: Reg) -> String {
    let info = function.regs[reg];
    let group = &function.groups[info.group];
    let name = module.text(group.name);
    if group.count.is_some() { format!("{name}{}", info.number) } else { name.to_owned() }
}
