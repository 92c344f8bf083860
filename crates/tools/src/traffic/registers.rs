//! How many registers kernels have: NVIDIA's assembler says it, where it is installed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use gpu::Architecture;
use ptx::ir::{Item, Module};
use ptx::view::{Callee, View};
use rustc_hash::FxHashSet;
use toolkit::{Host, LaunchView};

/// Asks for the registers of kernels, for each once.
#[derive(Debug)]
pub(super) struct Registers {
    host: Arc<dyn Host>,
    asked: Asked,
    known: Mutex<BTreeMap<(String, &'static str), Option<u32>>>,
}

/// Which assembler.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Asked {
    None,
    OnPath,
    At(PathBuf),
}

impl Registers {
    /// Of the assembler that a flag names.
    pub(super) fn new(flag: &str, host: &Arc<dyn Host>) -> Self {
        let asked = match flag {
            "none" => Asked::None,
            "auto" => Asked::OnPath,
            path => Asked::At(path.into()),
        };
        Self { host: Arc::clone(host), asked, known: Mutex::default() }
    }

    /// Those of each thread of a launch on an architecture, if they are known.
    pub(super) fn of(&self, launch: &LaunchView<'_>, architecture: &Architecture) -> Option<u32> {
        let path = match &self.asked {
            Asked::None => return None,
            Asked::OnPath => None,
            Asked::At(path) => Some(path.as_path()),
        };
        let key = (launch.kernel.to_owned(), architecture.name);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(key).or_insert_with(|| {
            self.host.registers(path, &alone(launch.module, launch.kernel)?, launch.kernel, architecture.name)
        })
    }
}

/// The text of a kernel with what it calls, without its versions and other kernels; nothing if it calls what is not known.
fn alone(module: &Module, kernel: &str) -> Option<String> {
    let mut reached = FxHashSet::default();
    let mut stack = vec![module.function(kernel)?];
    while let Some(func) = stack.pop() {
        let function = &module.functions[func];
        if !reached.insert(function.name) {
            continue;
        }
        let Some(body) = &function.body else { continue };
        for callee in body.iter().filter_map(|id| View::of(&module.forms, body, id)?.callee()) {
            let Callee::Direct(callee) = callee else { return None };
            // It may be a declaration of what is defined elsewhere.
            stack.push(module.function(module.text(module.functions[callee].name))?);
        }
    }
    let mut alone = module.with_bodies_of(|func| reached.contains(&module.functions[func].name));
    alone.items.retain(|item| match item {
        Item::Function(func) => reached.contains(&module.functions[*func].name),
        Item::Variable(_) | Item::File(_) | Item::Directive(_) => true,
        // Lines name inlined functions by their places in it. Other sections describe what is not there.
        Item::Section(name, _) => module.text(*name) == ".debug_str",
        Item::Alias(_) | Item::Unknown(_) => false,
    });
    Some(ptx::print(&alone))
}

#[cfg(test)]
mod tests {
    use super::alone;

    #[test]
    fn kernels_are_asked_for_alone() {
        let text = ".version 8.0 .target sm_80 .address_size 64
            .global .b32 counter;
            .func used() { ret; }
            .func unused() { ret; }
            .visible .entry other() { call unused; ret; }
            .visible .entry k() { call used; ret; }
            .visible .entry through_pointer(.param .u64 f) {
                .reg .b64 %f; ld.param.u64 %f, [f]; p: .callprototype _ (); call %f, p; ret;
            }";
        let module = ptx::parse(text).module;
        let k = alone(&module, "k").unwrap();
        assert!(k.contains("entry k") && k.contains("used()") && k.contains("counter"), "{k}");
        assert!(!k.contains("unused") && !k.contains("other"), "{k}");
        assert!(alone(&module, "through_pointer").is_none() && alone(&module, "nobody").is_none());
    }
}
