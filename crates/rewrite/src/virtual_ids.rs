//! Ids that a kernel sees in place of those that it has: a tool that changes the shape of launches hides that from the
//! program.
//!
//! Special registers are replaced wherever an operand can stand, also in braces and among arguments. Barriers that say how
//! many threads come get as many as come now, and those that count predicates give the count of the program.

use ptx::edit::Editor;
use ptx::ir::{FuncId, List, Operand, Reg, StmtId};
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::Type;
use rustc_hash::FxHashMap;

use crate::access_group::AccessGroups;
use crate::context::Layout;
use crate::cursor::{Cursor, FunctionContext, Helpers};
use crate::error::Refusal;
use crate::instrumentation::Instrumentation;
use crate::site::Sites;

/// Replaces the special registers of a function by those that a tool gives for them.
pub(crate) fn replace(
    editor: &mut Editor<'_>,
    function: &mut FunctionContext,
    tool: &dyn Instrumentation,
    version: usize,
    layout: &Layout,
) -> Result<(), Refusal> {
    let uses = uses(editor);
    if uses.is_empty() {
        return Ok(());
    }
    let Some(first) = first_statement(editor) else { return Ok(()) };
    let tag = editor.tag(tool.name(), "ids", 0);
    let (mut sites, helpers, groups) = (Sites::default(), Helpers::default(), AccessGroups::default());
    let surveys = FxHashMap::default();
    let mut regs: FxHashMap<Special, Option<Reg>> = FxHashMap::default();
    for (special, _, _) in &uses {
        if regs.contains_key(special) {
            continue;
        }
        let mut cursor = Cursor {
            editor,
            stmt: first,
            tag,
            tool: tool.name(),
            version,
            layout,
            guard: None,
            ids: None,
            groups: &groups,
            sites: &mut sites,
            helpers: &helpers,
            function,
            surveys: &surveys,
        };
        let reg = tool.special(&mut cursor, *special);
        if reg.is_some() && matches!(special, Special::Tid | Special::Ntid | Special::Ctaid | Special::Nctaid) {
            let reason = format!("it reads {} as a vector", special.text());
            return Err(Refusal::new(tool.name(), "vector-id", reason));
        }
        regs.insert(*special, reg);
    }
    for (special, list, index) in uses {
        if let Some(reg) = regs[&special] {
            editor.body_mut().operands_mut(list)[index] = reg.into();
        }
    }
    Ok(())
}

/// The statement before which the program's own part of a function begins: what is inserted there is after all values
/// that are computed at entry.
pub(crate) fn first_statement(editor: &Editor<'_>) -> Option<StmtId> {
    use ptx::ir::Stmt;
    let body = editor.body();
    let is_code = |stmt: &StmtId| matches!(body.stmt(*stmt), Stmt::Inst(_) | Stmt::Label(_));
    let is_own = |stmt: &StmtId| body.origin(*stmt).tag.is_none();
    body.iter().find(|stmt| is_code(stmt) && is_own(stmt))
}

/// Where special registers stand: in which list of operands, and at which place of it.
fn uses(editor: &Editor<'_>) -> Vec<(Special, List, usize)> {
    let mut uses = Vec::new();
    for id in editor.body().ids() {
        let mut lists: Vec<List> = editor.view(id).map(|view| view.inst.operands).into_iter().collect();
        while let Some(list) = lists.pop() {
            for index in 0..list.len() {
                match editor.body().operands(list)[index] {
                    Operand::Special(special) => uses.push((special, list, index)),
                    Operand::Vector(inner)
                    | Operand::VectorPair(inner, _)
                    | Operand::TupleAddress(inner)
                    | Operand::Arguments(inner) => lists.push(inner),
                    _ => {}
                }
            }
        }
    }
    uses
}

/// Lets so many threads come to barriers for each thread of the program.
pub(crate) fn scale_barriers(editor: &mut Editor<'_>, tool: &str, copies: u32) {
    if copies == 1 {
        return;
    }
    let tag = editor.tag(tool, "barrier", 0);
    for id in editor.body().ids() {
        let Some(view) = editor.view(id) else { continue };
        let Some(Synchronisation::Barrier { count, tallies, .. }) = view.synchronisation() else { continue };
        let (place, guard, results) = (view.place_of_operand("b"), view.inst.guard, view.writes());
        if let (Some(place), Some(count)) = (place, count) {
            let scaled = match count.as_int() {
                Some(count) => Operand::Int(count.saturating_mul(copies.into())),
                None => {
                    let scaled = editor.reg(tag, Type::B32);
                    editor.before(id, tag).inst("mul.lo.u32", &[scaled.into(), count, i64::from(copies).into()]);
                    scaled.into()
                }
            };
            editor.set_operand(id, place, scaled);
        }
        if tallies {
            for reg in results {
                editor.after(id, tag).inst_if(guard, "div.u32", &[reg.into(), reg.into(), i64::from(copies).into()]);
            }
        }
    }
}

/// Threads of the largest block.
pub(crate) const MOST_THREADS: u32 = 1024;

/// What is written into the text of versions, for the assembler: the threads of a block.
pub(crate) fn scale_directives(
    module: &mut ptx::ir::Module,
    func: FuncId,
    shape: impl Fn([u32; 3]) -> Result<[u32; 3], Refusal>,
) -> Result<(), Refusal> {
    use ptx::ir::DirectiveArg;
    let [exact, most] = ["reqntid", "maxntid"].map(|name| module.names.intern(name));
    for directive in &mut module.functions[func].directives {
        if directive.name != exact && directive.name != most {
            continue;
        }
        let mut block = [1; 3];
        for (size, arg) in block.iter_mut().zip(&directive.args) {
            if let DirectiveArg::Int(value) = arg {
                *size = u32::try_from(*value).unwrap_or(u32::MAX);
            }
        }
        let scaled = match shape(block) {
            Ok(scaled) => scaled,
            // The kernel may be launched with fewer, and launches with too many are refused when they come.
            Err(_) if directive.name == most => [MOST_THREADS, 1, 1],
            Err(refusal) => return Err(refusal),
        };
        if scaled == block {
            continue;
        }
        let args = match directive.name == exact {
            true => scaled.to_vec(),
            // Only their number counts.
            false => vec![scaled.iter().product()],
        };
        directive.args = args.into_iter().map(|size| DirectiveArg::Int(size.into())).collect();
    }
    Ok(())
}
