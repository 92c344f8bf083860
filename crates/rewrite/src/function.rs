//! Rewrites one function: calls the tools for everything that it does.

use ptx::edit::Editor;
use ptx::ir::{FuncId, Module, Operand, Reg, TagId};
use ptx::ops::Op;
use ptx::special::Special;
use rustc_hash::FxHashMap;

use crate::context::{Layout, context_variable};
use crate::cursor::{Cursor, FunctionContext, Helpers, ProgramIds, State};
use crate::error::{Refusal, RewriteError};
use crate::events::{self, Event};
use crate::instrumentation::{Class, Instrumentation};
use crate::site::Sites;
use crate::virtual_ids::{self, first_statement};
use crate::votes;

/// A tool, and which of its versions is made.
pub(crate) type Chosen<'t> = (&'t dyn Instrumentation, usize);

/// The tool that changes how kernels are launched.
#[derive(Debug)]
struct Change<'t>(Chosen<'t>);

impl ProgramIds for Change<'_> {
    fn tool(&self) -> (&'static str, usize) {
        (self.0.0.name(), self.0.1)
    }

    fn special(&self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
        self.0.0.special(at, special)
    }
}

/// What rewriting a function needs.
pub(crate) struct FunctionRewriter<'a, 't> {
    pub(crate) module: &'a mut Module,
    pub(crate) sites: &'a mut Sites,
    pub(crate) layout: &'a Layout,
    pub(crate) helpers: &'a Helpers,
    pub(crate) tools: &'a [Chosen<'t>],
    pub(crate) surveys: &'a FxHashMap<&'static str, Box<dyn State>>,
}

/// Why a function was not rewritten: it is refused, or a tool is broken.
pub(crate) enum Failure {
    Refused(Refusal),
    Broken(RewriteError),
}

impl FunctionRewriter<'_, '_> {
    /// Rewrites a function, which is a copy of another one, or there once for all.
    pub(crate) fn rewrite(&mut self, func: FuncId, original: FuncId) -> Result<FunctionContext, Failure> {
        let is_kernel = self.module.functions[func].is_entry();
        let mut function = FunctionContext { is_kernel, original: Some(original), ..FunctionContext::default() };
        let refused = |error: &_| Failure::Refused(Refusal::edit(error));
        {
            let mut editor = Editor::new(self.module, func).map_err(|error| refused(&error))?;
            // The others launch kernels as the program does.
            for &(tool, version) in self.tools.iter().filter(|(tool, _)| tool.class() == Class::Change) {
                tool.transform(&mut editor, version).map_err(Failure::Refused)?;
                virtual_ids::replace(&mut editor, &mut function, tool, version, self.layout)
                    .map_err(Failure::Refused)?;
                virtual_ids::scale_barriers(&mut editor, tool.name(), tool.copies(version));
            }
        }
        let is_last = |tool: &dyn Instrumentation| tool.class() == Class::Last;
        for last in [false, true] {
            let called = self.tools.iter().filter(|(tool, version)| is_last(*tool) == last && !tool.is_plain(*version));
            let tools: Vec<Chosen<'_>> = called.copied().collect();
            if last {
                // Their values come before all that others have inserted, also where the function begins: they look at that.
                function.at_entry_of_others = Some(std::mem::take(&mut function.at_entry));
            }
            if !tools.is_empty() {
                self.call_tools(func, &mut function, &tools).map_err(|error| refused(&error))?;
            }
        }
        if let Some((tool, helper)) = function.missing_helper.take() {
            return Err(Failure::Broken(RewriteError::NoHelper { tool, helper }));
        }
        let mut editor = Editor::new(self.module, func).map_err(|error| refused(&error))?;
        if function.is_used {
            votes::separate(&mut editor);
            remove_register_counts(&mut editor);
        }
        if !is_kernel {
            load_context(&mut editor, &function);
        }
        Ok(function)
    }

    /// Tells tools what the function does, as it is now.
    fn call_tools(
        &mut self,
        func: FuncId,
        function: &mut FunctionContext,
        tools: &[Chosen<'_>],
    ) -> Result<(), ptx::edit::EditError> {
        let (events, groups) = events::of_function(self.module, func);
        let mut editor = Editor::new(self.module, func)?;
        let Some(first) = first_statement(&editor) else { return Ok(()) };
        let change = self.tools.iter().find(|(tool, _)| tool.class() == Class::Change).copied().map(Change);
        let tags: Vec<TagId> = tools.iter().map(|(tool, _)| editor.tag(tool.name(), "check", 0)).collect();
        let tagged = || tools.iter().zip(&tags);
        let entry = tagged().map(|tool| (tool, None));
        let events = events.iter().flat_map(|event| tagged().map(move |tool| (tool, Some(event))));
        for ((&(tool, version), &tag), event) in entry.chain(events) {
            let (stmt, guard) = event.map_or((first, None), Event::place);
            let mut cursor = Cursor {
                editor: &mut editor,
                stmt,
                tag,
                tool: tool.name(),
                version,
                layout: self.layout,
                guard,
                ids: change.as_ref().map(|change| change as &dyn ProgramIds),
                groups: &groups,
                sites: self.sites,
                helpers: self.helpers,
                function,
                surveys: self.surveys,
            };
            match event {
                None => tool.entry(&mut cursor),
                Some(Event::Access(access)) => tool.access(&mut cursor, access),
                Some(Event::Sync(sync)) => tool.sync(&mut cursor, sync),
                Some(Event::Call(call)) => tool.call(&mut cursor, call),
                Some(Event::Branch(branch)) => tool.branch(&mut cursor, branch),
                Some(Event::Exit(exit)) => tool.exit(&mut cursor, exit),
                Some(Event::Definition(definition)) => tool.definition(&mut cursor, definition),
                Some(Event::Request(request)) => tool.request(&mut cursor, request),
            }
        }
        Ok(())
    }
}

/// Loads the address of the launch context where a function begins, if tools asked for it: who calls it has put it there.
pub(crate) fn load_context(editor: &mut Editor<'_>, function: &FunctionContext) {
    if let Some(context) = function.address {
        let shared = context_variable(editor.module());
        let tag = editor.tag("warpgrind", "launch", 0);
        editor.at_entry(tag).inst("ld.shared.b64", &[context.into(), Operand::SymbolAddress(shared, 0)]);
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
