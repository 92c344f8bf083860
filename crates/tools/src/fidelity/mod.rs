//! Says of a run what it computed exactly, as a GPU does, and what approximately; and whether approximate results reach what
//! decides where the program goes, which memory it accesses, and who waits for whom.
//!
//! Instructions of which [`approximate`] knows that a GPU may give something else are counted where they are executed. Where their
//! results go is found in the text of the kernel ([`reach`]). Calls of CUDA's functions are counted by name, of which
//! [`functions`] has what they do here that they do not on a GPU. What is not run at all is refused by others, and named.

mod approximate;
mod functions;
mod reach;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx::analysis::CallGraph;
use ptx::ir::{FuncId, Module, OriginId};
use ptx::view::View;
use report::{Cell, Row};
use rewrite::{Access, Cursor, Definition, Instrumentation};
use rustc_hash::FxHashMap;
use toolkit::{Host, HostEvent, Instance, LaunchView, Options, SiteCount, Tool};

use reach::Reach;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Fidelity;

impl Instrumentation for Fidelity {
    fn name(&self) -> &'static str {
        "fidelity"
    }

    fn definition(&self, at: &mut Cursor<'_, '_>, definition: &Definition) {
        let is_approximate = at.editor().view(definition.stmt).is_some_and(|view| approximate::reason(&view).is_some());
        if is_approximate {
            count(at);
        }
    }

    /// Reductions write no register.
    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        let view = at.editor().view(access.stmt);
        let is_counted = view
            .is_some_and(|view| access.index == 0 && view.writes().is_empty() && approximate::reason(&view).is_some());
        if is_counted {
            count(at);
        }
    }
}

/// Counts executions of the instruction.
fn count(at: &mut Cursor<'_, '_>) {
    let site = at.instruction_site(0);
    at.call(at.guard(), "warpgrind_count", &[], &[i64::from(site.0).into()]);
}

impl Tool for Fidelity {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Fidelity
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and tells what it computed exactly, as a GPU does, and what approximately"
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(FidelityInstance { host: Arc::clone(host), state: Mutex::default() }))
    }
}

/// The tool in a process.
#[derive(Debug)]
struct FidelityInstance {
    host: Arc<dyn Host>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kernels: BTreeMap<String, Kernel>,
    instructions: BTreeMap<Instruction, u64>,
    calls: BTreeMap<&'static str, u64>,
    unsupported: BTreeMap<&'static str, u64>,
}

/// A kernel that was launched: how many of its instructions are exact and approximate, in the text of it and of the functions
/// that it calls.
#[derive(Debug)]
struct Kernel {
    exact: u64,
    approximate: u64,
    launches: u64,
}

/// An approximate instruction that was executed.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Instruction {
    kernel: String,
    file: String,
    line: u32,
    text: String,
    reason: &'static str,
    control: &'static str,
    addresses: &'static str,
    synchronisation: &'static str,
    stored: bool,
}

impl FidelityInstance {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Instance for FidelityInstance {
    fn wants_calls(&self) -> bool {
        true
    }

    fn on_event(&self, event: &HostEvent<'_>) {
        if let HostEvent::Called { function, is_supported } = *event {
            let mut state = self.state();
            let calls = if is_supported { &mut state.calls } else { &mut state.unsupported };
            *calls.entry(function).or_default() += 1;
        }
    }

    fn on_launch(&self, launch: &LaunchView<'_>) {
        let mut state = self.state();
        if let Some(kernel) = state.kernels.get_mut(launch.kernel) {
            kernel.launches += 1;
            return;
        }
        let Some(kernel) = find(launch.module, launch.kernel) else { return };
        let (mut exact, mut approximate) = (0, 0);
        for func in reachable(launch.module, kernel) {
            let Some(body) = &launch.module.functions[func].body else { continue };
            for view in body.iter().filter_map(|id| View::of(&launch.module.forms, body, id)) {
                match approximate::reason(&view) {
                    Some(_) => approximate += 1,
                    None => exact += u64::from(approximate::computes(&view)),
                }
            }
        }
        state.kernels.insert(launch.kernel.to_owned(), Kernel { exact, approximate, launches: 1 });
    }

    fn on_counts(&self, counts: &[SiteCount<'_>]) {
        let mut known: FxHashMap<&str, FxHashMap<OriginId, Reach>> = FxHashMap::default();
        for SiteCount { site, place, kernel, module, count } in counts {
            let Some(body) = &module.functions[site.func].body else { continue };
            let Some(view) = View::of(&module.forms, body, site.stmt) else { continue };
            let Some(reason) = approximate::reason(&view) else { continue };
            let reach = known.entry(kernel).or_insert_with(|| {
                find(module, kernel).map_or_else(FxHashMap::default, |kernel| reach::of_kernel(module, kernel))
            });
            let reach = reach.get(&body.origin(site.stmt).id).copied().unwrap_or_default();
            let line = place.lines.first();
            let instruction = Instruction {
                kernel: (*kernel).to_owned(),
                file: line.map(|line| line.file.clone()).unwrap_or_default(),
                line: line.map_or(0, |line| line.line),
                text: place.instruction.clone(),
                reason,
                control: reach.answer(Reach::CONTROL),
                addresses: reach.answer(Reach::ADDRESS),
                synchronisation: reach.answer(Reach::SYNCHRONISATION),
                stored: reach.is_stored(),
            };
            let mut state = self.state();
            let executed = state.instructions.entry(instruction).or_default();
            *executed = executed.saturating_add(*count);
        }
    }

    fn finish(&self) {
        let state = std::mem::take(&mut *self.state());
        let text = |text: &str| Cell::Text(text.to_owned());
        for (name, kernel) in &state.kernels {
            let row = Row::new("fidelity", "kernels").with("kernel", Cell::Text(report::demangled(name)));
            let row =
                row.with("exact", Cell::Number(kernel.exact)).with("approximate", Cell::Number(kernel.approximate));
            self.host.row(row.with("launches", Cell::Count(kernel.launches)));
        }
        for (instruction, executed) in &state.instructions {
            let row = Row::new("fidelity", "instructions").with("file", text(&instruction.file));
            let row =
                row.with("line", Cell::Number(instruction.line.into())).with("instruction", text(&instruction.text));
            let row = row.with("control", text(instruction.control)).with("addresses", text(instruction.addresses));
            let row = row.with("synchronisation", text(instruction.synchronisation));
            let row = row.with("stored", text(if instruction.stored { "yes" } else { "no" }));
            let row = row.with("executed", Cell::Count(*executed)).with("why", text(instruction.reason));
            self.host.row(row.with("kernel", Cell::Text(report::demangled(&instruction.kernel))));
        }
        let supported = state.calls.iter().map(|(name, calls)| (name, calls, functions::fidelity(name)));
        let not = |(name, calls)| (name, calls, ("not at all", "it is not supported"));
        for (name, calls, (fidelity, why)) in supported.chain(state.unsupported.iter().map(not)) {
            let row = Row::new("fidelity", "functions").with("function", text(name)).with("fidelity", text(fidelity));
            self.host.row(row.with("calls", Cell::Count(*calls)).with("why", text(why)));
        }
    }
}

fn find(module: &Module, kernel: &str) -> Option<FuncId> {
    let is_it = |function: &ptx::ir::Function| function.is_entry() && module.text(function.name) == kernel;
    module.functions.iter().find(|(_, function)| is_it(function) && function.body.is_some()).map(|(id, _)| id)
}

/// A kernel and all that it may call.
fn reachable(module: &Module, kernel: FuncId) -> Vec<FuncId> {
    let reachable = CallGraph::of(module).reachable_from(kernel);
    module.functions.ids().filter(|&func| func == kernel || reachable.contains(func)).collect()
}
