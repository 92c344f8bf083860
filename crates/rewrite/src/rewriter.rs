//! Makes versions of the kernels of a module.
//!
//! **The original always stays.** A version is a copy of the kernel and of all functions that it calls, under other names
//! (`k$$memcheck`), so a kernel that a tool refuses runs as it was while the others of its module are checked, a launch
//! can choose, and what a program asks of its kernels is answered by the original.
//!
//! Functions that are called through pointers cannot be copied: their addresses are in memory, where all versions find the
//! same. They are rewritten in place, by the tools that only look. A kernel that may call them is launched with a context
//! also where it is not checked.

use std::sync::Arc;

use ptx::analysis::{BitSet, CallGraph, CallKind};
use ptx::diagnostic::Position;
use ptx::edit::{Editor, SelfCalls};
use ptx::entity::Id;
use ptx::ir::{Directive, DirectiveArg, FuncId, InitValue, Initializer, Module, Operand, Symbol, Variable};
use ptx::ops::Effect;
use ptx::types::{Space, Type};
use ptx::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::{Layout, SITES_VARIABLE, context_variable};
use crate::cursor::{FunctionContext, Helpers, State};
use crate::device_code::DeviceCode;
use crate::error::{Refusal, RewriteError};
use crate::function::{Chosen, Failure, FunctionRewriter, load_context};
use crate::instrumentation::{Class, Instrumentation};
use crate::kernel_view::KernelView;
use crate::program_view::ProgramView;
use crate::shape::LaunchShape;
use crate::site::Sites;
use crate::version::{KernelVersion, KernelVersions, Original, States};
use crate::virtual_ids;

/// Rewrites modules for some tools.
#[derive(Clone, Debug)]
pub struct Rewriter<'t> {
    tools: Vec<&'t dyn Instrumentation>,
    layout: Layout,
}

/// A module that was rewritten.
#[derive(Debug)]
pub struct Rewritten {
    /// The module: all that it had, and versions of its kernels.
    pub module: Module,
    /// The places that tools look at.
    pub sites: Sites,
    /// What there is of each kernel.
    pub kernels: FxHashMap<String, KernelVersions>,
}

/// A version that tools offer to make of a kernel.
struct Offer {
    /// Which version of each tool it has.
    choice: Vec<usize>,
    /// What its name ends in.
    label: String,
    /// Why one of the tools does not make it of this kernel, if so.
    refusal: Option<Refusal>,
}

/// More versions of one kernel are not made.
const MOST_VERSIONS: usize = 128;

impl<'t> Rewriter<'t> {
    /// For these tools. Those that change the program are called before those that look, whatever their order here.
    pub fn new(tools: &[&'t dyn Instrumentation]) -> Result<Self, RewriteError> {
        let mut tools = tools.to_vec();
        tools.sort_by_key(|tool| tool.class());
        let mut changes = tools.iter().filter(|tool| tool.class() == Class::Change);
        if let (Some(first), Some(second)) = (changes.next(), changes.next()) {
            return Err(RewriteError::TwoChange { first: first.name(), second: second.name() });
        }
        let words = tools.iter().flat_map(|tool| tool.words().iter().map(|word| (tool.name(), *word)));
        Ok(Self { layout: Layout::new(words), tools })
    }

    /// The tools, in the order in which they are called.
    pub fn tools(&self) -> &[&'t dyn Instrumentation] {
        &self.tools
    }

    /// Where launch contexts have the words of these tools.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Rewrites a module: all of its kernels.
    pub fn rewrite(&self, module: Module) -> Result<Rewritten, RewriteError> {
        self.rewrite_kernels(module, |_| true, |_| true)
    }

    /// Rewrites one kernel of a module, whose call graph this is. The result has all functions and variables of the module
    /// with the same ids, and then the versions of this kernel for which `is_wanted` holds, which is given the version of each
    /// tool; only functions that it may call have their bodies.
    ///
    /// The kernels of a large library are many, and programs launch few of them.
    pub fn rewrite_kernel(
        &self,
        module: &Module,
        calls: &CallGraph,
        kernel: FuncId,
        is_wanted: impl Fn(&[usize]) -> bool,
    ) -> Result<Rewritten, RewriteError> {
        let reached = self.reached(module, calls, kernel);
        // What is called through a pointer may be a function whose address only another kernel has taken.
        let needs_all = reached.iter().any(|func| calls_through_pointer(calls, func));
        let part = module.with_bodies_of(|func| needs_all || func == kernel || reached.contains(func));
        self.rewrite_kernels(part, |func| func == kernel, is_wanted)
    }

    /// The functions that a kernel may call, also by what tools insert.
    fn reached(&self, module: &Module, calls: &CallGraph, kernel: FuncId) -> BitSet<FuncId> {
        let mut reached = calls.reachable_from(kernel);
        let callees = |func| self.tools.iter().flat_map(move |tool| tool.callees(module, func));
        let of_tools: Vec<FuncId> = reached.iter().flat_map(callees).collect();
        for callee in of_tools {
            reached.extend(calls.reachable_from(callee).iter());
        }
        reached
    }

    fn rewrite_kernels(
        &self,
        mut module: Module,
        is_wanted: impl Fn(FuncId) -> bool,
        is_wanted_version: impl Fn(&[usize]) -> bool,
    ) -> Result<Rewritten, RewriteError> {
        let calls = CallGraph::of(&module);
        let with_body = |func: FuncId| module.functions[func].body.is_some();
        let is_kernel = |func: FuncId| module.functions[func].is_entry() && with_body(func);
        let kernels: Vec<FuncId> = module.functions.ids().filter(|&func| is_kernel(func) && is_wanted(func)).collect();
        let in_place = Pointees::of(&module, &calls);
        let offer = |kernel: &FuncId| self.offer(&module, &calls, &in_place, *kernel, &is_wanted_version);
        let offers: Vec<Result<Vec<Offer>, Refusal>> = kernels.iter().map(offer).collect();
        let surveys = self.surveys(&module, &calls, &in_place);
        let functions = module.functions.len();
        let helpers = self.import(&mut module)?;
        let mut work = Work {
            rewriter: self,
            calls: &calls,
            in_place: &in_place,
            rewritten: Rewritten { module, sites: Sites::default(), kernels: FxHashMap::default() },
            helpers: FxHashMap::default(),
            plain_helpers: helpers,
            copies: FxHashMap::default(),
            states: FxHashMap::default(),
            with_context: FxHashSet::default(),
            surveys,
            functions,
        };
        work.rewrite_pointees()?;
        for (kernel, offer) in kernels.into_iter().zip(offers) {
            work.add_kernel(kernel, offer)?;
        }
        define_sites(&mut work.rewritten);
        Ok(work.rewritten)
    }

    /// What tools find of a module.
    fn surveys(
        &self,
        module: &Module,
        calls: &CallGraph,
        in_place: &Pointees,
    ) -> FxHashMap<&'static str, Box<dyn State>> {
        if self.tools.iter().any(|tool| tool.class() == Class::Change) {
            return FxHashMap::default();
        }
        let program = ProgramView { module, calls, in_place: &in_place.functions };
        self.tools.iter().filter_map(|tool| Some((tool.name(), tool.survey(&program)?))).collect()
    }

    /// The versions that all tools together make of a kernel, of those that are wanted.
    fn offer(
        &self,
        module: &Module,
        calls: &CallGraph,
        in_place: &Pointees,
        kernel: FuncId,
        is_wanted: impl Fn(&[usize]) -> bool,
    ) -> Result<Vec<Offer>, Refusal> {
        let calls_through_pointers = in_place.are_called_by(kernel);
        let view = KernelView { module, calls, kernel, calls_through_pointers };
        let mut choices: Vec<(Vec<usize>, String)> = vec![(Vec::new(), String::new())];
        for tool in &self.tools {
            let versions = tool.versions(&view)?;
            let with_version = |(choice, label): &(Vec<usize>, String)| {
                let (choice, label) = (choice.clone(), label.clone());
                versions
                    .iter()
                    .enumerate()
                    .map(move |(number, version)| {
                        let between = if label.is_empty() { "" } else { "$" };
                        let before = if version.is_empty() { "" } else { "_" };
                        let choice = choice.iter().copied().chain([number]).collect();
                        (choice, format!("{label}{between}{}{before}{}", tool.name(), version.replace('-', "_")))
                    })
                    .collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(with_version).collect();
        }
        choices.retain(|(choice, _)| is_wanted(choice));
        if choices.len() > MOST_VERSIONS {
            let reason = format!("the tools would make more than {MOST_VERSIONS} versions of it");
            return Err(Refusal::new("warpgrind", "too-many-versions", reason));
        }
        let refusal = |choice: &[usize]| {
            let mut chosen = self.tools.iter().zip(choice);
            chosen.find_map(|(tool, version)| tool.refuses(*version, &view))
        };
        Ok(choices.into_iter().map(|(choice, label)| Offer { refusal: refusal(&choice), choice, label }).collect())
    }

    /// Takes the functions of tools into a module.
    fn import(&self, module: &mut Module) -> Result<Vec<(&'static str, Helpers)>, RewriteError> {
        let mut all = Vec::new();
        for (tool, code) in std::iter::once(("warpgrind", DeviceCode::RUNTIME))
            .chain(self.tools.iter().filter_map(|tool| Some((tool.name(), tool.device_code()?))))
        {
            let code = code.parse(tool, &self.layout)?;
            let tag = module.tag_named(tool, "device", 0);
            let imported = module.import(&code, tag).map_err(|error| RewriteError::Import { tool, error })?;
            let mut helpers = Helpers::default();
            helpers.add(&code, &imported);
            all.push((tool, helpers));
        }
        Ok(all)
    }

    /// The tools with the versions of a choice.
    fn chosen(&self, choice: &[usize]) -> Vec<Chosen<'t>> {
        self.tools.iter().copied().zip(choice.iter().copied()).collect()
    }
}

/// Functions that may be called through pointers, and those that these call: they are rewritten in place.
struct Pointees {
    functions: BitSet<FuncId>,
    callers: BitSet<FuncId>,
}

impl Pointees {
    fn of(module: &Module, calls: &CallGraph) -> Self {
        let mut functions = BitSet::new(module.functions.len());
        for func in calls.address_taken().filter(|&func| !module.functions[func].is_entry()) {
            functions.extend(calls.reachable_from(func).iter().filter(|&func| module.functions[func].body.is_some()));
        }
        let callers = calls.callers_of(|func| func.is_some_and(|func| calls_through_pointer(calls, func)));
        Self { functions, callers }
    }

    /// Whether a function may call others through a pointer, itself or in one that it calls.
    fn are_called_by(&self, func: FuncId) -> bool {
        self.callers.contains(func)
    }
}

/// Whether a function itself calls others through a pointer.
fn calls_through_pointer(calls: &CallGraph, func: FuncId) -> bool {
    calls.sites(func).iter().any(|site| !matches!(site.kind, CallKind::Direct(_)))
}

/// A module that is being rewritten.
struct Work<'a, 't> {
    rewriter: &'a Rewriter<'t>,
    calls: &'a CallGraph,
    in_place: &'a Pointees,
    rewritten: Rewritten,
    /// The functions of tools as they brought them.
    plain_helpers: Vec<(&'static str, Helpers)>,
    /// The same for each choice, with the ids of the program in them.
    helpers: FxHashMap<Vec<usize>, Helpers>,
    /// Copies of functions for each choice.
    copies: FxHashMap<(FuncId, Vec<usize>), FuncId>,
    /// What tools kept of functions.
    states: FxHashMap<FuncId, Arc<States>>,
    /// Functions that need the launch context.
    with_context: FxHashSet<FuncId>,
    /// What tools have found of the module.
    surveys: FxHashMap<&'static str, Box<dyn State>>,
    /// How many functions the program has.
    functions: usize,
}

impl Work<'_, '_> {
    /// Rewrites the functions that are called through pointers.
    fn rewrite_pointees(&mut self) -> Result<(), RewriteError> {
        // Tools that change the program refuse kernels that call them.
        let looking: Vec<Chosen<'_>> =
            self.rewriter.tools.iter().filter(|tool| tool.class() != Class::Change).map(|&tool| (tool, 0)).collect();
        let helpers = Helpers::all(self.plain_helpers.iter().map(|(_, helpers)| helpers));
        for func in self.in_place.functions.iter().collect::<Vec<_>>() {
            match self.rewrite(func, func, &looking, &helpers) {
                Ok(function) if function.is_used || function.address.is_some() => _ = self.with_context.insert(func),
                Ok(_) => {}
                Err(Failure::Broken(error)) => return Err(error),
                // It stays as it is, half checked at most; kernels that may call it are refused.
                Err(Failure::Refused(refusal)) => self.rewritten.sites.refuse(func, refusal),
            }
        }
        Ok(())
    }

    fn rewrite(
        &mut self,
        func: FuncId,
        original: FuncId,
        tools: &[Chosen<'_>],
        helpers: &Helpers,
    ) -> Result<FunctionContext, Failure> {
        let Rewritten { module, sites, .. } = &mut self.rewritten;
        let (layout, surveys) = (&self.rewriter.layout, &self.surveys);
        FunctionRewriter { module, sites, layout, helpers, tools, surveys }.rewrite(func, original)
    }

    /// Adds a kernel with its versions.
    fn add_kernel(&mut self, kernel: FuncId, offer: Result<Vec<Offer>, Refusal>) -> Result<(), RewriteError> {
        let name = self.rewritten.module.text(self.rewritten.module.functions[kernel].name).to_owned();
        let original = match self.original(kernel, &name) {
            Ok(original) => original,
            Err(refusal) => {
                let original = Original { symbol: name.clone(), context: None };
                let versions =
                    KernelVersions { original, versions: Vec::new(), refused: Vec::new(), refusal: Some(refusal) };
                self.rewritten.kernels.insert(name, versions);
                return Ok(());
            }
        };
        let (mut versions, mut refused) = (Vec::new(), Vec::new());
        let mut refusal = self.refused_pointee(kernel);
        match offer {
            Ok(_) if refusal.is_some() => {}
            Ok(choices) => {
                for Offer { choice, label, refusal: of_choice } in choices {
                    if let Some(of_choice) = of_choice {
                        refused.push((choice, of_choice));
                        continue;
                    }
                    if self.rewriter.chosen(&choice).iter().all(|(tool, version)| tool.is_plain(*version)) {
                        versions.push(KernelVersion::plain(&original, choice));
                        continue;
                    }
                    match self.version(kernel, &choice, &label) {
                        Ok(version) => versions.push(version),
                        Err(Failure::Broken(error)) => return Err(error),
                        Err(Failure::Refused(why)) => {
                            refusal = Some(why);
                            versions.clear();
                            break;
                        }
                    }
                }
            }
            Err(why) => refusal = Some(why),
        }
        self.rewritten.kernels.insert(name, KernelVersions { original, versions, refused, refusal });
        Ok(())
    }

    /// Why a kernel cannot be checked that may call a function through a pointer.
    fn refused_pointee(&self, kernel: FuncId) -> Option<Refusal> {
        let reached = self.calls.reachable_from(kernel);
        reached.iter().find_map(|func| self.rewritten.sites.refusal(func)).cloned()
    }

    /// The kernel as the program has it. If it calls functions that need the launch context, it is a copy with one.
    fn original(&mut self, kernel: FuncId, name: &str) -> Result<Original, Refusal> {
        if !self.calls.reachable_from(kernel).iter().any(|func| self.with_context.contains(&func)) {
            return Ok(Original { symbol: name.to_owned(), context: None });
        }
        let (copy, symbol) = self.copy(kernel, "original")?;
        let params = self.rewritten.module.functions[copy].params.len();
        self.add_context(copy, FunctionContext::default()).map_err(|error| Refusal::edit(&error))?;
        Ok(Original { symbol, context: Some(params) })
    }

    /// Makes a version of a kernel.
    fn version(&mut self, kernel: FuncId, choice: &[usize], label: &str) -> Result<KernelVersion, Failure> {
        let tools = self.rewriter.chosen(choice);
        if !self.helpers.contains_key(choice) {
            let helpers = self.helpers_of(choice)?;
            self.helpers.insert(choice.to_vec(), helpers);
        }
        let helpers = self.helpers[choice].clone();
        // Functions first: what they need, the kernel needs.
        let reached = self.rewriter.reached(&self.rewritten.module, self.calls, kernel);
        let reached: Vec<FuncId> = reached.iter().collect();
        let mut made = Vec::new();
        for &func in &reached {
            let is_copied = func != kernel
                && !self.in_place.functions.contains(func)
                && self.rewritten.module.functions[func].body.is_some();
            if is_copied && !self.copies.contains_key(&(func, choice.to_vec())) {
                let (copy, _) = self.copy(func, label).map_err(Failure::Refused)?;
                self.copies.insert((func, choice.to_vec()), copy);
                made.push(copy);
                let function = self.rewrite(copy, func, &tools, &helpers)?;
                if function.is_used || function.address.is_some() {
                    self.with_context.insert(copy);
                }
                self.states.insert(copy, Arc::new(function.states));
            }
        }
        let (copy, symbol) = self.copy(kernel, label).map_err(Failure::Refused)?;
        let sites_before = self.rewritten.sites.len();
        let is_wide = has_wide_instructions(&self.rewritten.module, copy);
        let function = self.rewrite(copy, kernel, &tools, &helpers)?;
        let sites = self.rewritten.sites.len() - sites_before;
        made.push(copy);
        for func in made {
            self.redirect(func, choice);
        }
        let reaches_context = reached.iter().any(|&func| self.with_context.contains(&self.copy_of(func, choice)));
        let refused = |error: &_| Failure::Refused(Refusal::edit(error));
        self.scale(copy, &tools)?;
        let needs_context = function.is_used || function.address.is_some() || reaches_context;
        let kernel_words = function.kernel_words;
        let (mut context, mut states) = (None, FxHashMap::default());
        if needs_context {
            self.relax_directives(copy, is_wide);
            context = Some(self.rewritten.module.functions[copy].params.len());
            states = self.add_context(copy, function).map_err(|error| refused(&error))?;
        }
        let of_functions = reached.iter().filter_map(|&func| self.states.get(&self.copy_of(func, choice)).cloned());
        let states = std::iter::once(Arc::new(states)).chain(of_functions).collect();
        Ok(KernelVersion { symbol, choice: choice.to_vec(), context, kernel_words, sites, is_plain: false, states })
    }

    /// A copy of a function under another name.
    fn copy(&mut self, func: FuncId, label: &str) -> Result<(FuncId, String), Refusal> {
        let module = &mut self.rewritten.module;
        let original = module.functions[func].name;
        let wanted = format!("{}$${label}", module.text(original));
        let fresh = module.fresh_name(&wanted);
        let symbol = module.text(fresh).to_owned();
        let copy =
            module.clone_function(func, &symbol, SelfCalls::ToCopy, None).map_err(|error| Refusal::edit(&error))?;
        self.rewritten.sites.is_copy(copy, original);
        Ok((copy, symbol))
    }

    /// The function that stands for another one in the versions of a choice.
    fn copy_of(&self, func: FuncId, choice: &[usize]) -> FuncId {
        self.copies.get(&(func, choice.to_vec())).copied().unwrap_or(func)
    }

    /// Makes a function call the copies of a choice. What it calls of tools is of that choice already.
    fn redirect(&mut self, func: FuncId, choice: &[usize]) {
        let (calls, copies, functions) = (self.calls, &self.copies, self.functions);
        let known = |callee: FuncId| {
            // Functions of tools came later than the calls were found.
            let original = (callee.index() < functions).then(|| calls.resolve(callee))?;
            copies.get(&(original, choice.to_vec())).copied()
        };
        self.rewritten.module.redirect_calls(func, known);
    }

    /// The functions of tools for a choice: where a tool changes ids, those of the others see the program's.
    fn helpers_of(&mut self, choice: &[usize]) -> Result<Helpers, Failure> {
        let changing = self.rewriter.chosen(choice).into_iter().find(|(tool, _)| tool.class() == Class::Change);
        let Some((tool, version)) = changing else {
            return Ok(Helpers::all(self.plain_helpers.iter().map(|(_, helpers)| helpers)));
        };
        let others: Vec<Helpers> = self
            .plain_helpers
            .iter()
            .filter(|(owner, _)| *owner != tool.name())
            .map(|(_, helpers)| helpers.clone())
            .collect();
        let own = self.plain_helpers.iter().filter(|(owner, _)| *owner == tool.name()).map(|(_, helpers)| helpers);
        let own = Helpers::all(own);
        let mut all = Helpers::default();
        let label = format!("{}_{version}", tool.name());
        let mut copies: FxHashMap<FuncId, FuncId> = FxHashMap::default();
        for helpers in &others {
            for (name, func) in helpers.iter() {
                let (copy, _) = self.copy(func, &label).map_err(Failure::Refused)?;
                copies.insert(func, copy);
                all.insert(name, copy);
                let mut function = FunctionContext::default();
                let module = &mut self.rewritten.module;
                if module.functions[copy].body.is_none() {
                    continue;
                }
                let mut editor = Editor::new(module, copy).map_err(|error| Failure::Refused(Refusal::edit(&error)))?;
                virtual_ids::replace(&mut editor, &mut function, tool, version, &self.rewriter.layout)
                    .map_err(Failure::Refused)?;
                load_context(&mut editor, &function);
            }
        }
        // Its own functions know of its copies, and see the ids of the device.
        for (name, func) in own.iter() {
            let (copy, _) = self.copy(func, &label).map_err(Failure::Refused)?;
            copies.insert(func, copy);
            all.insert(name, copy);
        }
        for &copy in copies.values() {
            self.rewritten.module.redirect_calls(copy, |callee| copies.get(&callee).copied());
        }
        Ok(all)
    }

    /// Writes into the text of a version how many threads its blocks have.
    fn scale(&mut self, kernel: FuncId, tools: &[Chosen<'_>]) -> Result<(), Failure> {
        let block = |block: [u32; 3]| {
            let mut shape = LaunchShape { grid: [1; 3], block, dynamic_shared: 0, is_cooperative: false };
            for &(tool, version) in tools {
                shape = tool.shape(version, shape)?;
            }
            Ok(shape.block)
        };
        virtual_ids::scale_directives(&mut self.rewritten.module, kernel, block).map_err(Failure::Refused)
    }

    /// How many blocks a processor should have at a time, and how many registers are enough, was said of the kernel as it
    /// was. Blocks of the size that it allows must still fit.
    fn relax_directives(&mut self, kernel: FuncId, is_wide: bool) {
        let module = &mut self.rewritten.module;
        let hints = ["minnctapersm", "maxnctapersm", "maxnreg"].map(|name| module.names.intern(name));
        let sizes = ["maxntid", "reqntid"].map(|name| module.names.intern(name));
        let directives = &mut module.functions[kernel].directives;
        directives.retain(|directive| !hints.contains(&directive.name));
        if !is_wide && !directives.iter().any(|directive| sizes.contains(&directive.name)) {
            // What the kernel is not told would be for the assembler to decide, by the registers that it takes.
            let args = vec![DirectiveArg::Int(virtual_ids::MOST_THREADS.into())];
            directives.push(Directive { name: sizes[0], args, at: Position(0) });
        }
    }

    /// Gives a kernel the parameter with the address of its launch context, which it tells the functions that it calls.
    /// Gives what tools kept of it.
    fn add_context(
        &mut self,
        kernel: FuncId,
        function: FunctionContext,
    ) -> Result<FxHashMap<&'static str, Box<dyn State>>, ptx::edit::EditError> {
        let shared = context_variable(&self.rewritten.module);
        let mut editor = Editor::new(&mut self.rewritten.module, kernel)?;
        let tag = editor.tag("warpgrind", "launch", 0);
        let context = function.address.unwrap_or_else(|| editor.reg(tag, Type::B64));
        let name = editor.module_mut().names.intern("warpgrind_context_param");
        let var = editor.append_param(Variable::scalar(name, Space::Param, Type::U64));
        let mut entry = editor.at_entry(tag);
        entry.inst("ld.param.u64", &[context.into(), Operand::SymbolAddress(Symbol::Var(var), 0)]);
        entry.inst("st.shared.b64", &[Operand::SymbolAddress(shared, 0), context.into()]);
        Ok(function.states)
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
