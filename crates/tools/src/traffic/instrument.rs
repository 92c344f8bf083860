//! What is inserted into kernels.

use ptx::analysis::{
    AddressPattern, AddressShape, Block, BranchUniformity, Cfg, DominatorTree, EdgeKind, LaunchFacts, Loops, Uniformity,
};
use ptx::ir::{Guard, Operand, Reg, StmtId};
use ptx::ops::{Effect, Mod};
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::{Space, Type};
use ptx::view::{AccessBytes, AccessKind, AccessSpace, MemAccess, Order, View};
use rewrite::{Access, Branch, Cursor, KernelVersion, SiteId, Sync};
use rustc_hash::{FxHashMap, FxHashSet};

use super::caches::{BARRIER, Copies, Dependences, TracedKernel};
use super::counters::{AccessOfSite, AccessType, Conflict, Kind, L1Use};
use super::inline::{self, Presence};
use super::{
    CONCURRENT, ROWS_OF_8, ROWS_OF_16, SECTOR_BITS, TRACE_BLOCKS, TRACE_FIRST, TRACE_WINDOW, TRACED, WHOLE_ROWS,
};

/// What is kept of a function while it is rewritten, and of a kernel for its launches.
#[derive(Debug, Default)]
pub(super) struct Function {
    /// Which ways of a branch have code of their own: 1 for those who take it, 2 for those who do not.
    sides: FxHashMap<StmtId, u32>,
    /// Branches at which lanes cannot part.
    uniform: FxHashSet<StmtId>,
    /// How far lanes are from each other at accesses, in bytes, if that is known: by the instruction and its access.
    strides: FxHashMap<(StmtId, usize), i16>,
    /// What requests of whole warps to shared memory come to in the banks, where lanes are not a stride apart.
    conflicts: FxHashMap<(StmtId, usize), Conflict>,
    /// Where the first and the last sector of a request of a whole warp to global memory are, from the address of the first lane, if
    /// there is no gap between them and lanes are not a stride apart.
    spans: FxHashMap<(StmtId, usize), (i64, i64)>,
    /// Instructions that are all executed if one is have the same number.
    groups: FxHashMap<StmtId, u32>,
    /// The last group that is counted, and which lanes were there.
    group: Option<(u32, Presence)>,
    /// Accesses whose lanes do not each have an address.
    not_counted: u64,
    /// The number after that of the last site.
    end_of_sites: u64,
    /// What it writes into traces, if it does.
    traced: Option<TracedFunction>,
}

/// What is kept of a function that writes traces.
#[derive(Clone, Default, Debug)]
struct TracedFunction {
    /// Which of its stores copy global memory.
    copies: Copies,
    /// Which of its instructions need which, if that is known.
    dependences: Option<Dependences>,
    /// Whether each of its instructions is executed once at most.
    is_straight: bool,
    /// How many of its instructions write into the trace.
    records: u64,
}

impl Function {
    /// How many instructions of a kernel, and of functions that it calls, access memory and are not counted.
    pub(super) fn not_counted(version: &KernelVersion) -> u64 {
        version.states::<Self>("traffic").map(|function| function.not_counted).sum()
    }
}

/// What is known of a version that writes traces.
pub(super) fn traced(version: &KernelVersion) -> Option<TracedKernel> {
    let functions: Vec<&TracedFunction> =
        version.states::<Function>("traffic").filter_map(|function| function.traced.as_ref()).collect();
    let records = match functions[..] {
        [] => return None,
        // Lanes that have parted write their own.
        [kernel] if kernel.is_straight => Some(kernel.records * 4),
        _ => None,
    };
    Some(TracedKernel {
        records,
        copies: functions.iter().map(|function| function.copies.clone()).collect(),
        dependences: functions.iter().map(|function| function.dependences.clone()).collect(),
    })
}

/// How many sites a kernel, and functions that it calls, have patterns for.
pub(super) fn sites(version: &KernelVersion) -> u64 {
    version.states::<Function>("traffic").map(|function| function.end_of_sites).max().unwrap_or(0)
}

/// A function begins.
pub(super) fn entry(at: &mut Cursor<'_, '_>) {
    let editor = at.editor();
    let cfg = Cfg::of(&editor.module().forms, editor.function());
    let after = DominatorTree::post_dominators(cfg.graph());
    let is_empty = |block: Block| {
        let only_leaves = |&stmt: &StmtId| {
            let view = editor.view(stmt);
            view.is_none_or(|view| {
                let leaves = matches!(view.effect(), Some(Effect::Branch | Effect::Return | Effect::Exit));
                leaves && view.inst.guard.is_none()
            })
        };
        cfg.statements(block).iter().all(only_leaves)
    };
    let branches =
        cfg.blocks().filter_map(|block| Some((cfg.terminator(block)?, sides(&cfg, &after, block, is_empty)?)));
    let sides = branches.collect();
    let mut function = Function { sides, ..Function::default() };
    let row = match at.version() {
        WHOLE_ROWS => Some(32),
        ROWS_OF_16 => Some(16),
        ROWS_OF_8 => Some(8),
        _ => None,
    };
    if let Some(row) = row {
        function.know_lanes(at, &cfg, row);
    }
    if at.version() == TRACED {
        let editor = at.editor();
        let (module, func) = (editor.module(), editor.func());
        let loops = Loops::of(cfg.graph(), &DominatorTree::dominators(cfg.graph()));
        let has_calls =
            editor.body().ids().into_iter().any(|id| editor.view(id).is_some_and(|view| view.callee().is_some()));
        let is_straight = loops.is_empty() && loops.is_reducible() && !has_calls;
        let (copies, dependences) = (Copies::of(module, func, &cfg), Dependences::of(module, func, &cfg));
        function.traced = Some(TracedFunction { copies, dependences, is_straight, records: 0 });
    }
    *at.state::<Function>() = function;
}

impl Function {
    /// Finds what lanes of a warp have in common where rows of blocks are whole warps, or 16 or 8 threads.
    fn know_lanes(&mut self, at: &mut Cursor<'_, '_>, cfg: &Cfg, row: u32) {
        let editor = at.editor();
        let (module, function) = (editor.module(), editor.function());
        let mut facts = LaunchFacts::of(&module.names, function);
        if row == 32 {
            facts = facts.with_whole_rows();
        } else {
            (facts.block[0], facts.block[2]) = (Some(row), Some(1));
        }
        self.groups = groups(at, cfg);
        let editor = at.editor();
        let (module, function) = (editor.module(), editor.function());
        let uniformity = Uniformity::of(module, function, cfg, &facts);
        let uniform = uniformity.branches().filter(|(_, branch)| branch.uniformity == BranchUniformity::Uniform);
        self.uniform = uniform.filter_map(|(block, _)| cfg.terminator(block)).collect();
        for stmt in editor.body().ids() {
            let Some(view) = editor.view(stmt).filter(|view| view.inst.guard.is_none()) else { continue };
            for (index, access) in view.accesses().iter().enumerate() {
                let shape = AddressPattern::of(&uniformity, stmt, &view, access).map(|pattern| pattern.shape);
                if let Some(conflict) = conflict(&uniformity, stmt, &view, access) {
                    self.conflicts.insert((stmt, index), conflict);
                }
                if let Some(span) = span(&uniformity, stmt, &view, access) {
                    self.spans.insert((stmt, index), span);
                }
                let stride = match (shape, access.bytes) {
                    (Some(AddressShape::Uniform), _) => 0,
                    (Some(AddressShape::Contiguous), AccessBytes::Fixed(bytes)) => i64::from(bytes),
                    (Some(AddressShape::Strided { stride }), _) => stride,
                    _ => continue,
                };
                if let Ok(stride) = i16::try_from(stride) {
                    self.strides.insert((stmt, index), stride);
                }
            }
        }
    }
}

/// The groups of a function: what follows each other in a block, up to where threads may wait, or do something else in between.
fn groups(at: &mut Cursor<'_, '_>, cfg: &Cfg) -> FxHashMap<StmtId, u32> {
    let editor = at.editor();
    let mut groups = FxHashMap::default();
    let mut number = 0;
    for block in cfg.blocks() {
        number += 1;
        for &stmt in cfg.statements(block) {
            groups.insert(stmt, number);
            let goes_on = |view: View<'_>| view.synchronisation().is_none() && view.effect() != Some(Effect::Call);
            number += u32::from(!editor.view(stmt).is_none_or(goes_on));
        }
    }
    groups
}

/// Which lanes are at an instruction, where warps with all lanes are counted by its group. Its first instruction does that.
fn group(at: &mut Cursor<'_, '_>, stmt: StmtId) -> Option<Presence> {
    let function = at.state::<Function>();
    let number = *function.groups.get(&stmt)?;
    if let Some((_, presence)) = function.group.filter(|(last, _)| *last == number) {
        return Some(presence);
    }
    let site = site(at, Kind::Group, None);
    let presence = inline::count_group(at, site);
    at.state::<Function>().group = Some((number, presence));
    Some(presence)
}

/// What lanes come to in the banks that access shared memory, if they are always as far from each other.
fn conflict(uniformity: &Uniformity, stmt: StmtId, view: &View<'_>, access: &MemAccess) -> Option<Conflict> {
    let (AccessSpace::State(Space::Shared), AccessBytes::Fixed(bytes)) = (access.space, access.bytes) else {
        return None;
    };
    Conflict::of(bytes, &distances(uniformity, stmt, view, access)?)
}

/// The first and the last address of lanes that access global memory, from that of the first lane, if they are always as far from
/// each other, and so close that no sector between them is left out.
fn span(uniformity: &Uniformity, stmt: StmtId, view: &View<'_>, access: &MemAccess) -> Option<(i64, i64)> {
    if access.space != AccessSpace::State(Space::Global) {
        return None;
    }
    let distances = distances(uniformity, stmt, view, access)?;
    let mut sorted = distances;
    sorted.sort_unstable();
    let has_gap = sorted.windows(2).any(|pair| pair[1].checked_sub(pair[0]).is_none_or(|gap| gap > 1 << SECTOR_BITS));
    (!has_gap).then(|| (sorted[0] - distances[0], sorted[31] - distances[0]))
}

/// How far lanes are from somewhere, if they are always as far from each other.
fn distances(uniformity: &Uniformity, stmt: StmtId, view: &View<'_>, access: &MemAccess) -> Option<[i64; 32]> {
    let Operand::RegAddress(reg, _) = *view.operands().get(access.address)? else { return None };
    let value = uniformity.value(uniformity.read(stmt, reg)?);
    let is_known = value.has_one_base() && access.lanes >= 32;
    is_known.then(|| std::array::from_fn(|lane| value.offset(lane as u32)))
}

/// Which ways of the branch at the end of a block have code before all lanes are together again.
fn sides(cfg: &Cfg, after: &DominatorTree, block: Block, is_empty: impl Fn(Block) -> bool) -> Option<u32> {
    let edges = cfg.edges(block);
    let meeting = after.immediate(block);
    let has_code = |taken: bool| {
        let target = edges.iter().find(|edge| (edge.kind == EdgeKind::Taken) == taken).map(|edge| edge.target);
        // Compilers make blocks that only lead elsewhere.
        let onwards = |&block: &Block| match cfg.successors(block) {
            &[next] if is_empty(block) => Some(next),
            _ => None,
        };
        let mut way = std::iter::successors(target, onwards).take(cfg.len());
        let leads_there = way.clone().any(|block| Some(block) == meeting);
        let ends = way.any(|block| cfg.successors(block).is_empty() && is_empty(block));
        !leads_there && !ends
    };
    (edges.len() == 2).then(|| u32::from(has_code(true)) | u32::from(has_code(false)) << 1)
}

/// A branch is about to happen.
pub(super) fn branch(at: &mut Cursor<'_, '_>, branch: &Branch) {
    let Some(&sides) = at.state::<Function>().sides.get(&branch.stmt) else { return };
    let is_uniform = at.state::<Function>().uniform.contains(&branch.stmt);
    let presence = if is_uniform { group(at, branch.stmt) } else { None };
    let site = site(at, Kind::Branch { is_grouped: presence.is_some() }, None);
    let rest = match presence {
        Some(presence) => Some(presence.is_partial()),
        None if at.version() == CONCURRENT => None,
        None => Some(inline::count_branch(at, site, branch.guard.reg)),
    };
    let takes = at.reg(Type::B32);
    let (yes, no) = if branch.guard.negated { (0, 1) } else { (1, 0) };
    at.before().inst("selp.b32", &[takes.into(), Operand::Int(yes), Operand::Int(no), branch.guard.reg.into()]);
    call(at, rest, "warpgrind_traffic_branch", takes, site, sides);
}

/// An access is about to take place.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access) {
    let (is_global, is_shared) = match access.access.space {
        AccessSpace::State(Space::Global) => (true, false),
        AccessSpace::State(Space::Shared) => (false, true),
        AccessSpace::Generic => (true, true),
        _ => return,
    };
    let AccessBytes::Fixed(bytes @ 1..=32) = access.access.bytes else {
        at.state::<Function>().not_counted += 1;
        return;
    };
    let guard = guard(at, access.access.lanes);
    let address = address(at, access);
    let is_known = is_global != is_shared && guard.is_none();
    let stride = at.state::<Function>().strides.get(&(access.stmt, access.index)).copied().filter(|_| is_known);
    let l1 = l1_use(at, access);
    let conflict = at.state::<Function>().conflicts.get(&(access.stmt, access.index)).copied();
    let conflict = conflict.filter(|_| is_known && stride.is_none());
    let access_type = access_type(access.access.kind);
    let mut of_site = AccessOfSite { access: access_type, bytes, stride, conflict, l1, is_grouped: false };
    let span = at.state::<Function>().spans.get(&(access.stmt, access.index)).copied();
    let span = span.filter(|_| is_known && stride.is_none());
    let is_counted = if is_global { stride.is_some() || span.is_some() } else { of_site.known_conflict().is_some() };
    let counts_here = is_known && is_counted;
    let presence = if counts_here { group(at, access.stmt) } else { None };
    of_site.is_grouped = presence.is_some();
    if is_global {
        let guard = if is_shared { Some(at.in_space("isspacep.global", address, guard)) } else { guard };
        let site = site(at, Kind::Global(of_site), Some(access));
        trace(at, guard, "warpgrind_traffic_trace", address, site);
        match (&presence, stride, span) {
            (Some(presence), Some(stride), _) => inline::count_global(at, presence, site, address, stride.into()),
            (Some(presence), None, Some(span)) => inline::count_span(at, presence, site, address, span),
            _ => {}
        }
        let guard = presence.map_or(guard, |presence| Some(presence.is_partial()));
        call(at, guard, "warpgrind_traffic_global", address, site, 0);
    }
    if is_shared {
        let guard = if is_global { Some(at.in_space("isspacep.shared", address, guard)) } else { guard };
        let site = site(at, Kind::Shared(of_site), Some(access));
        trace_shared(at, guard, address, site, is_global);
        let guard = presence.map_or(guard, |presence| Some(presence.is_partial()));
        let helper = if is_global { "warpgrind_traffic_generic_shared" } else { "warpgrind_traffic_shared" };
        call(at, guard, helper, address, site, (of_site.unit() / 4).ilog2());
    }
}

/// A barrier is about to be waited at.
pub(super) fn sync(at: &mut Cursor<'_, '_>, sync: &Sync) {
    if matches!(sync.kind, Synchronisation::Barrier { waits: true, .. }) {
        let nowhere = at.at_entry("mov.b64", Type::B64, &[Operand::Int(0)]);
        trace(at, at.guard(), "warpgrind_traffic_trace", nowhere, SiteId(BARRIER));
    }
}

/// Writes what is about to happen into the trace, if the block is traced.
fn trace(at: &mut Cursor<'_, '_>, guard: Option<Guard>, helper: &str, address: Reg, site: SiteId) {
    if at.version() != TRACED {
        return;
    }
    if let Some(traced) = &mut at.state::<Function>().traced {
        traced.records += 1;
    }
    let special = |at: &mut Cursor<'_, '_>, special| at.at_entry("mov.u32", Type::B32, &[Operand::Special(special)]);
    let [z, rows, y] = [Special::CtaidZ, Special::NctaidY, Special::CtaidY].map(|register| special(at, register));
    let row = at.at_entry("mad.lo.u32", Type::B32, &[z.into(), rows.into(), y.into()]);
    let (x, width) = (special(at, Special::CtaidX), special(at, Special::NctaidX));
    let x = at.at_entry("cvt.u64.u32", Type::B64, &[x.into()]);
    let block = at.at_entry("mad.wide.u32", Type::B64, &[row.into(), width.into(), x.into()]);
    let [first, window, blocks] = [TRACE_FIRST, TRACE_WINDOW, TRACE_BLOCKS].map(|word| at.word(word));
    let place = at.at_entry("sub.u64", Type::B64, &[block.into(), first.into()]);
    let place = at.at_entry("min.u64", Type::B64, &[place.into(), window.into()]);
    let place = at.at_entry("shl.b64", Type::B64, &[place.into(), Operand::Int(3)]);
    let place = at.at_entry("add.u64", Type::B64, &[place.into(), blocks.into()]);
    let rows = at.at_entry("ld.global.b64", Type::B64, &[Operand::RegAddress(place, 0)]);
    let is_traced = at.at_entry("setp.ne.b64", Type::Pred, &[rows.into(), Operand::Int(0)]);
    let holds = at.reg(Type::Pred);
    at.and_guard(holds, is_traced, guard);
    call(at, Some(Guard::when(holds)), helper, address, site, 0);
}

/// The same for shared memory, by an address that may be one of any memory.
fn trace_shared(at: &mut Cursor<'_, '_>, guard: Option<Guard>, address: Reg, site: SiteId, is_generic: bool) {
    if at.version() != TRACED {
        return;
    }
    let mut offset = address;
    if is_generic {
        offset = at.reg(Type::B64);
        at.before().inst("cvta.to.shared.u64", &[offset.into(), address.into()]);
    }
    trace(at, guard, "warpgrind_traffic_trace_shared", offset, site);
}

/// What the instruction asks of L1.
fn l1_use(at: &mut Cursor<'_, '_>, access: &Access) -> L1Use {
    let editor = at.editor();
    let has = |word: Mod| editor.view(access.stmt).is_some_and(|view| view.form.has(word));
    if has(Mod::Nc) {
        L1Use::ReadOnly
    } else if has(Mod::Cg) || has(Mod::Cv) || access.access.order != Order::Weak {
        L1Use::Bypassed
    } else {
        L1Use::Default
    }
}

/// Calls a helper, with a site and another number: in the tallies, or as arguments.
fn call(at: &mut Cursor<'_, '_>, guard: Option<Guard>, helper: &str, argument: Reg, site: SiteId, other: u32) {
    if at.version() == CONCURRENT {
        let (helper, site) = (format!("{helper}_at"), Operand::Int(site.0.into()));
        let arguments = [argument.into(), site, Operand::Int(other.into())];
        let count = if helper == "warpgrind_traffic_global_at" { 2 } else { 3 };
        return at.call(guard, &helper, &[], &arguments[..count]);
    }
    let tallies = at.tallies();
    let both = i64::from(site.0) | i64::from(other) << 32;
    at.before().inst("st.global.b64", &[Operand::RegAddress(tallies, 0), Operand::Int(both)]);
    at.call(guard, helper, &[], &[argument.into()]);
}

/// The site of the first of the counters of something; the others follow it.
fn site(at: &mut Cursor<'_, '_>, kind: Kind, access: Option<&Access>) -> SiteId {
    let mut first = None;
    for counter in 0..kind.counters() {
        let word = kind.word(counter);
        let site = match access {
            Some(access) => at.described_site(access, word),
            None => at.instruction_site(word),
        };
        first.get_or_insert(site);
    }
    let first: SiteId = first.expect("all have counters");
    at.state::<Function>().end_of_sites = u64::from(first.0) + kind.counters();
    first
}

fn access_type(kind: AccessKind) -> AccessType {
    match kind {
        AccessKind::Read => AccessType::Load,
        AccessKind::Write => AccessType::Store,
        AccessKind::ReadWrite => AccessType::Atomic,
    }
}

/// Where the instruction is executed by one of the first lanes.
fn guard(at: &mut Cursor<'_, '_>, lanes: u32) -> Option<Guard> {
    if lanes >= 32 {
        return at.guard();
    }
    let lane = at.at_entry("mov.u32", Type::B32, &[Operand::Special(Special::Laneid)]);
    let holds = at.reg(Type::Pred);
    at.before().inst("setp.lt.u32", &[holds.into(), lane.into(), Operand::Int(lanes.into())]);
    at.and_guard(holds, holds, at.guard());
    Some(Guard::when(holds))
}

/// The address of an access, in 64 bits.
fn address(at: &mut Cursor<'_, '_>, access: &Access) -> Reg {
    let address = at.address(access);
    at.widened_address(address)
}
