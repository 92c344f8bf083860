//! Where the variables of a kernel are: in shared memory, in the local memory of a thread, among parameters.

use ptx::entity::Map;
use ptx::ir::{Body, FuncId, Function, Global, Module, Param, Symbol, Var, Variable};
use ptx::special::RESERVED_SHARED;
use ptx::types::{Linkage, Space};
use rustc_hash::FxHashSet;

use super::unsupported::Unsupported;
use crate::abi::MAX_SHARED;

/// The most local memory that a thread can have.
pub(crate) const MAX_LOCAL: u64 = 512 << 10;
/// The most bytes that parameters can have.
pub(crate) const MAX_PARAMS: u64 = 32764;
/// Bytes of the widest access of one thread.
const WIDEST_ACCESS: u64 = 16;

/// Where the variables of a kernel and of the functions that it can reach are.
#[derive(Clone, Debug)]
pub(crate) struct MemoryMap {
    shared_globals: Map<Global, Option<u64>>,
    frames: Map<FuncId, Option<FrameLayout>>,
    /// Where the shared memory is that libraries for kernels keep for themselves; there is some if the kernel asks for it.
    pub(crate) reserved_shared: u64,
    /// Where shared memory starts that the launch adds.
    pub(crate) dynamic_shared: u64,
}

/// Where the variables of a function are.
#[derive(Clone, Debug)]
pub(crate) struct FrameLayout {
    vars: Map<Var, Option<u64>>,
    /// Bytes of local memory that one call takes.
    pub(crate) local: u64,
    /// Bytes of results and parameters.
    pub(crate) params: u64,
}

/// Gives out addresses one after another.
#[derive(Default)]
struct Cursor(u64);

impl Cursor {
    fn place(&mut self, variable: &Variable) -> Option<u64> {
        self.place_at(variable, u64::from(variable.alignment().max(1)))
    }

    /// In shared memory, where programs keep vectors in arrays of bytes: the first variable of a kernel is aligned for them
    /// on a GPU, whatever it declares, and must be so behind a variable of a tool, too.
    fn place_shared(&mut self, variable: &Variable) -> Option<u64> {
        let widest = if variable.size()? < WIDEST_ACCESS { 1 } else { WIDEST_ACCESS };
        self.place_at(variable, u64::from(variable.alignment()).max(widest))
    }

    fn place_at(&mut self, variable: &Variable, align: u64) -> Option<u64> {
        let start = self.0.checked_next_multiple_of(align)?;
        self.0 = start.checked_add(variable.size()?)?;
        Some(start)
    }
}

impl MemoryMap {
    /// For a kernel and the functions that it can reach, itself among them.
    pub(crate) fn of(module: &Module, reached: &[FuncId]) -> Result<Self, Unsupported> {
        let mut shared = Cursor::default();
        let mut shared_globals = Map::filled(module.globals.len(), None);
        let mut is_dynamic = Vec::new();
        // Kernels of one module have their shared variables side by side; each has room only for what it can reach.
        let bodies = reached.iter().filter_map(|&func| module.functions[func].body.as_ref());
        let named: FxHashSet<Symbol> = bodies.flat_map(Body::symbols).collect();
        let is_named = |global| named.contains(&Symbol::Global(global));
        let shared_variables = module.globals.iter().filter(|(_, variable)| variable.space == Space::Shared);
        for (global, variable) in shared_variables.filter(|&(global, _)| is_named(global)) {
            if variable.linkage == Some(Linkage::Extern) || variable.size().is_none_or(|size| size == 0) {
                is_dynamic.push(global);
            } else {
                let what = || module.text(variable.name).to_owned();
                shared_globals[global] =
                    Some(shared.place_shared(variable).ok_or_else(|| too_large(what(), u64::MAX))?);
            }
        }
        let mut frames: Map<FuncId, Option<FrameLayout>> = Map::filled(module.functions.len(), None);
        let mut dynamic_vars = Vec::new();
        for &func in reached {
            let function = &module.functions[func];
            let mut frame = FrameLayout { vars: Map::filled(function.vars.len(), None), local: 0, params: 0 };
            let mut local = Cursor::default();
            let mut params = Cursor::default();
            for param in function.returns.iter().chain(&function.params) {
                if let Param::Var(var) = *param {
                    frame.vars[var] = params.place(&function.vars[var]);
                } else if let Param::Reg(group) = *param {
                    let bytes = u64::from(function.groups[group].ty.bytes());
                    params.0 = params.0.next_multiple_of(bytes) + bytes;
                }
            }
            for (var, variable) in function.vars.iter() {
                let name = || module.text(variable.name).to_owned();
                match variable.space {
                    Space::Shared if variable.size().is_none_or(|size| size == 0) => dynamic_vars.push((func, var)),
                    Space::Shared => {
                        let at = shared.place_shared(variable).ok_or_else(|| too_large(name(), u64::MAX))?;
                        frame.vars[var] = Some(at);
                    }
                    Space::Local => {
                        let at = local.place(variable).ok_or_else(|| too_large(name(), u64::MAX))?;
                        frame.vars[var] = Some(at);
                    }
                    _ => {}
                }
            }
            frame.local = local.0.next_multiple_of(16);
            frame.params = params.0.next_multiple_of(16);
            check("the local memory of a thread", frame.local, MAX_LOCAL)?;
            check("the parameters", frame.params, MAX_PARAMS.next_multiple_of(16))?;
            frames[func] = Some(frame);
        }
        let mut bodies = reached.iter().filter_map(|&func| module.functions[func].body.as_ref());
        let reserved_shared = shared.0.next_multiple_of(WIDEST_ACCESS);
        if bodies.any(Body::uses_reserved_shared) {
            shared.0 = reserved_shared + RESERVED_SHARED;
        }
        check("the shared memory of a block", shared.0, MAX_SHARED)?;
        let dynamic_shared = shared.0.next_multiple_of(16);
        for global in is_dynamic {
            shared_globals[global] = Some(dynamic_shared);
        }
        for (func, var) in dynamic_vars {
            if let Some(frame) = &mut frames[func] {
                frame.vars[var] = Some(dynamic_shared);
            }
        }
        Ok(Self { shared_globals, frames, reserved_shared, dynamic_shared })
    }

    /// Where a variable of the module is in shared memory.
    pub(crate) fn shared_offset(&self, global: Global) -> Option<u64> {
        self.shared_globals[global]
    }

    /// Where the variables of a function are.
    pub(crate) fn frame(&self, func: FuncId) -> &FrameLayout {
        self.frames[func].as_ref().expect("only functions that can be reached are lowered")
    }
}

impl FrameLayout {
    /// Where a variable is in its space; nothing for one that is only passed to calls.
    pub(crate) fn offset(&self, var: Var) -> Option<u64> {
        self.vars[var]
    }
}

/// Where the constants of a module are, one after the other.
pub(crate) fn constant_offsets(module: &Module) -> Map<Global, Option<u64>> {
    let mut cursor = Cursor::default();
    let place = |variable: &Variable| (variable.space == Space::Const).then(|| cursor.place(variable)).flatten();
    module.globals.values().map(place).collect()
}

/// Bytes that the constants of a module take.
pub(crate) fn constant_bytes(module: &Module) -> u64 {
    let offsets = constant_offsets(module);
    let ends = module.globals.iter().filter_map(|(global, variable)| Some(offsets[global]? + variable.size()?));
    ends.max().unwrap_or(0)
}

/// Where the parameters of a function are that are registers: their offsets follow those of the variables in order.
pub(crate) fn param_offsets(function: &Function) -> Vec<u64> {
    let mut cursor = Cursor::default();
    let mut offsets = Vec::new();
    for param in function.returns.iter().chain(&function.params) {
        match *param {
            Param::Var(var) => offsets.push(cursor.place(&function.vars[var]).unwrap_or(0)),
            Param::Reg(group) => {
                let bytes = u64::from(function.groups[group].ty.bytes());
                let start = cursor.0.next_multiple_of(bytes);
                cursor.0 = start + bytes;
                offsets.push(start);
            }
        }
    }
    offsets
}

fn check(what: &str, bytes: u64, limit: u64) -> Result<(), Unsupported> {
    if bytes > limit { Err(Unsupported::TooLarge { what: what.to_owned(), bytes, limit }) } else { Ok(()) }
}

fn too_large(what: String, bytes: u64) -> Unsupported {
    Unsupported::TooLarge { what, bytes, limit: MAX_SHARED }
}
