//! Calls the tools for every instruction of a module.

use ptx::analysis::Provenance;
use ptx::diagnostic::Position;
use ptx::edit::Editor;
use ptx::ir::{
    Directive, DirectiveArg, FuncId, Guard, InitValue, Initializer, Module, Operand, Reg, Stmt, StmtId, Symbol,
    Variable,
};
use ptx::ops::{Effect, Op};
use ptx::types::{Space, Type};
use ptx::view::{AccessBytes, AccessKind, AccessSpace, MemAccess, View};
use rustc_hash::FxHashMap;

use crate::access_group::AccessGroups;
use crate::context::{CONTEXT_VARIABLE, PointerSlot, SITES_VARIABLE};
use crate::cursor::{Cursor, Helpers, KernelContext};
use crate::device_code::DeviceCode;
use crate::error::RewriteError;
use crate::event::{Access, Sync, SyncKind};
use crate::site::Sites;
use crate::tool::Tool;
use crate::votes;

/// Rewrites modules for some tools.
#[derive(Clone, Copy, Debug)]
pub struct Rewriter<'t> {
    tools: &'t [&'t dyn Tool],
}

/// A module that was rewritten.
#[derive(Debug)]
pub struct Rewritten {
    /// The module.
    pub module: Module,
    /// The places that tools look at.
    pub sites: Sites,
    /// What launches of kernels need. Kernels that are not here are as they were.
    pub kernels: FxHashMap<String, KernelPlan>,
}

/// What a launch of a kernel needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelPlan {
    /// Which parameter is the address of the launch context: the last.
    pub context: usize,
    /// The parameters whose objects are looked up.
    pub slots: Vec<PointerSlot>,
    /// How many sites the kernel itself has, without the functions that it calls.
    pub sites: usize,
}

/// Threads of the largest block.
const MOST_THREADS: i64 = 1024;

/// What an instruction of the program gives tools to look at.
enum Event {
    Access(Access),
    Sync(Sync),
}

impl<'t> Rewriter<'t> {
    /// For these tools, which are called in this order.
    pub fn new(tools: &'t [&'t dyn Tool]) -> Self {
        Self { tools }
    }

    /// Rewrites a module.
    pub fn rewrite(&self, mut module: Module) -> Result<Rewritten, RewriteError> {
        for tool in self.tools {
            tool.module(&mut module)?;
        }
        let functions: Vec<FuncId> =
            module.functions.iter().filter(|(_, function)| function.body.is_some()).map(|(func, _)| func).collect();
        let mut helpers = Helpers::default();
        for (tool, code) in std::iter::once(("warpgrind", DeviceCode::RUNTIME))
            .chain(self.tools.iter().filter_map(|tool| Some((tool.name(), tool.device_code()?))))
        {
            let code = code.parse(tool)?;
            let tag = module.tag_named(tool, "device", 0);
            let imported = module.import(&code, tag).map_err(|error| RewriteError::Import { tool, error })?;
            helpers.add(&code, &imported);
        }
        let mut rewritten = Rewritten { module, sites: Sites::default(), kernels: FxHashMap::default() };
        for func in functions {
            self.rewrite_function(&mut rewritten, func, &helpers)?;
        }
        define_sites(&mut rewritten);
        Ok(rewritten)
    }

    fn rewrite_function(&self, rewritten: &mut Rewritten, func: FuncId, helpers: &Helpers) -> Result<(), RewriteError> {
        let (events, groups) = events(&rewritten.module, func);
        let is_kernel = rewritten.module.functions[func].is_entry();
        let name = rewritten.module.text(rewritten.module.functions[func].name).to_owned();
        let shared = rewritten.module.globals.iter().find(|(_, variable)| {
            variable.space == Space::Shared && rewritten.module.text(variable.name) == CONTEXT_VARIABLE
        });
        let shared = shared.map(|(global, _)| Symbol::Global(global)).expect("the runtime brings the variable");
        let sites_before = rewritten.sites.len();
        let params = rewritten.module.functions[func].params.len();
        let has_calls = is_kernel && calls(&rewritten.module, func);
        let is_wide = is_kernel && has_wide_instructions(&rewritten.module, func);
        let mut editor = Editor::new(&mut rewritten.module, func)?;
        let tag = editor.tag("warpgrind", "launch", 0);
        let mut kernel = KernelContext { is_kernel, ..KernelContext::default() };
        for event in &events {
            for tool in self.tools {
                let (Event::Access(Access { stmt, guard, .. }) | Event::Sync(Sync { stmt, guard, .. })) = *event;
                let tag = editor.tag(tool.name(), "check", 0);
                let mut cursor = Cursor {
                    editor: &mut editor,
                    stmt,
                    tag,
                    tool: tool.name(),
                    guard,
                    groups: &groups,
                    sites: &mut rewritten.sites,
                    helpers,
                    kernel: &mut kernel,
                };
                match event {
                    Event::Access(access) => tool.access(&mut cursor, access),
                    Event::Sync(sync) => tool.sync(&mut cursor, sync),
                }
            }
        }
        if let Some((tool, helper)) = kernel.missing_helper {
            return Err(RewriteError::NoHelper { tool, helper });
        }
        if kernel.is_used {
            votes::separate(&mut editor);
            remove_register_counts(&mut editor);
        }
        if !is_kernel {
            // Who calls it has put the address there.
            if let Some(context) = kernel.address {
                editor.at_entry(tag).inst("ld.shared.b64", &[context.into(), Operand::SymbolAddress(shared, 0)]);
            }
            return Ok(());
        }
        if kernel.address.is_none() && !kernel.is_used && !has_calls {
            return Ok(());
        }
        // How many blocks a processor should have at a time, and how many registers are enough, was said of the kernel as it
        // was. Blocks of the size that it allows must still fit.
        let hints = ["minnctapersm", "maxnctapersm", "maxnreg"].map(|name| editor.module_mut().names.intern(name));
        let sizes = ["maxntid", "reqntid"].map(|name| editor.module_mut().names.intern(name));
        let directives = &mut editor.module_mut().functions[func].directives;
        directives.retain(|directive| !hints.contains(&directive.name));
        if !is_wide && !directives.iter().any(|directive| sizes.contains(&directive.name)) {
            // What the kernel is not told would be for the assembler to decide, by the registers that it takes.
            let args = vec![DirectiveArg::Int(MOST_THREADS)];
            directives.push(Directive { name: sizes[0], args, at: Position(0) });
        }
        let context = kernel.address.unwrap_or_else(|| editor.reg(tag, Type::B64));
        let name_of_param = editor.module_mut().names.intern("warpgrind_context_param");
        let var = editor.append_param(Variable::scalar(name_of_param, Space::Param, Type::U64));
        let mut entry = editor.at_entry(tag);
        entry.inst("ld.param.u64", &[context.into(), Operand::SymbolAddress(Symbol::Var(var), 0)]);
        entry.inst("st.shared.b64", &[Operand::SymbolAddress(shared, 0), context.into()]);
        let plan = KernelPlan { context: params, slots: kernel.slots, sites: rewritten.sites.len() - sites_before };
        rewritten.kernels.insert(name, plan);
        Ok(())
    }
}

/// Takes out what a warp says of how many registers are enough for it (`setmaxnreg`): that was said of the code as it was,
/// and the functions of tools need more than the 24 that warps keep which only copy.
fn remove_register_counts(editor: &mut Editor<'_>) {
    for stmt in editor.body().ids() {
        if editor.view(stmt).is_some_and(|view| view.op() == Some(Op::Setmaxnreg)) {
            editor.remove(stmt);
        }
    }
}

/// Gives the table of sites its words, if helpers want it.
fn define_sites(rewritten: &mut Rewritten) {
    let Some(name) = rewritten.module.names.find(SITES_VARIABLE) else { return };
    let Some(table) = rewritten.module.globals.values_mut().find(|variable| variable.name == name) else { return };
    let words: Vec<_> = rewritten.sites.words().map(|word| InitValue::Int(word as i64)).collect();
    table.linkage = None;
    table.dimensions = vec![Some(words.len().max(1) as u64)];
    let list = std::iter::once(InitValue::Open).chain(words).chain([InitValue::Close]);
    table.init = (!rewritten.sites.is_empty()).then(|| Initializer { values: list.collect() });
}

/// Whether a function calls others, which may have been rewritten.
fn calls(module: &Module, func: FuncId) -> bool {
    let body = module.functions[func].body.as_ref().expect("only functions with bodies are rewritten");
    body.ids()
        .into_iter()
        .any(|id| View::of(&module.forms, body, id).is_some_and(|view| view.effect() == Some(Effect::Call)))
}

/// Whether a function has instructions with so many registers that no block of the largest size can execute it: those that
/// load and store the tensor memory, and multiply matrices of a warpgroup.
fn has_wide_instructions(module: &Module, func: FuncId) -> bool {
    /// A thread of such a block has 64.
    const MOST_REGISTERS: usize = 48;
    let body = module.functions[func].body.as_ref().expect("only functions with bodies are rewritten");
    body.ids().into_iter().any(|id| {
        let view = View::of(&module.forms, body, id).filter(|view| view.effect() != Some(Effect::Call));
        view.is_some_and(|view| view.reads().len().max(view.writes().len()) > MOST_REGISTERS)
    })
}

/// What tools are told of a function, in the order of the text.
fn events(module: &Module, func: FuncId) -> (Vec<Event>, AccessGroups) {
    let function = &module.functions[func];
    let body = function.body.as_ref().expect("only functions with bodies are rewritten");
    let provenance = Provenance::of(module, function);
    let mut events = Vec::new();
    let mut earlier = Earlier::default();
    let mut groups = AccessGroups::default();
    for stmt in body.iter() {
        if matches!(body.stmt(stmt), Stmt::Label(_)) {
            earlier = Earlier::default();
            groups.end();
        }
        let Some(view) = View::of(&module.forms, body, stmt) else { continue };
        let guard = view.inst.guard;
        let accesses = view.accesses();
        let is_alone = accesses.len() == 1;
        for (index, access) in accesses.into_iter().enumerate() {
            let operand = view.operands()[access.address];
            // Parameters of calls and kernels are checked by the verifier, and textures by the API.
            let is_memory = match access.space {
                AccessSpace::Generic => true,
                AccessSpace::State(space) => space != Space::Param,
                _ => false,
            };
            let is_address =
                matches!(operand, Operand::RegAddress(..) | Operand::SymbolAddress(..) | Operand::IntAddress(_));
            if is_memory && is_address {
                let covered_by = earlier.find(&operand, guard, &access);
                let pointer = provenance.address(&operand);
                let is_collective = view.is_collective();
                let mut access = Access { stmt, index, access, pointer, guard, is_collective, covered_by, group: None };
                if is_alone && covered_by.is_none() {
                    access.group = groups.add(operand, access);
                }
                events.push(Event::Access(access));
                // Of what lanes do together, not each has to do its part.
                if index == 0 && covered_by.is_none() && !is_collective {
                    earlier.accesses.push((operand, guard, access.access, stmt));
                }
            }
        }
        view.for_each_write(|reg| earlier.forget(reg));
        groups.pass(&view);
        if view.effect() == Some(Effect::Branch) || view.effect() == Some(Effect::Call) {
            earlier = Earlier::default();
        }
        if let Some(kind) = sync_kind(&view) {
            events.push(Event::Sync(Sync { stmt, kind, guard }));
        }
    }
    (events, groups)
}

/// Accesses of a basic block whose addresses have not changed since.
#[derive(Default)]
struct Earlier {
    accesses: Vec<(Operand, Option<Guard>, MemAccess, StmtId)>,
}

/// More accesses than this are not compared with each other.
const MOST_EARLIER: usize = 64;

impl Earlier {
    /// An access to the same bytes, and perhaps more, under the same condition. Where memory may be there only to be read,
    /// one that reads says nothing of one that writes.
    fn find(&self, operand: &Operand, guard: Option<Guard>, access: &MemAccess) -> Option<StmtId> {
        let bytes = |access: &MemAccess| match access.bytes {
            AccessBytes::Fixed(bytes) => bytes,
            AccessBytes::Operand(_) | AccessBytes::Rows(_) | AccessBytes::Unknown => u32::MAX,
        };
        let is_same = |(of_earlier, under, earlier, _): &&(Operand, Option<Guard>, MemAccess, StmtId)| {
            of_earlier == operand
                && *under == guard
                && (covers(earlier.kind, access.kind) || !may_have_permissions(access.space))
                && earlier.space == access.space
                && bytes(access) <= bytes(earlier)
                && bytes(earlier) != u32::MAX
        };
        self.accesses.iter().rev().take(MOST_EARLIER).find(is_same).map(|(.., stmt)| *stmt)
    }

    /// A register gets another value.
    fn forget(&mut self, reg: Reg) {
        let is_other = |(operand, guard, ..): &(Operand, Option<Guard>, MemAccess, StmtId)| {
            !matches!(operand, Operand::RegAddress(base, _) if *base == reg)
                && guard.is_none_or(|guard| guard.reg != reg)
        };
        self.accesses.retain(is_other);
    }
}

/// Whether who may do the first may do the second: nobody writes what he may not read.
fn covers(first: AccessKind, second: AccessKind) -> bool {
    first == second || second == AccessKind::Read
}

/// Whether there may be memory with which not everything may be done: that of blocks and threads is always their own.
fn may_have_permissions(space: AccessSpace) -> bool {
    matches!(space, AccessSpace::Generic | AccessSpace::State(Space::Global))
}

fn sync_kind(view: &View<'_>) -> Option<SyncKind> {
    Some(match view.effect()? {
        Effect::Barrier => SyncKind::Barrier,
        Effect::Collective => SyncKind::Collective,
        Effect::Fence => SyncKind::Fence,
        Effect::Mbarrier | Effect::AsyncGroup => SyncKind::Async,
        _ if view.is_collective() => SyncKind::Collective,
        _ => return None,
    })
}
