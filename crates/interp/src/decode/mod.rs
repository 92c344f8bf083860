//! From a module to a program that can be run: every function that a kernel may call, decoded once.

mod arithmetic;
mod atomic;
mod call;
mod collective;
mod compare;
mod control;
mod conversion;
mod float;
mod frame;
mod matrix;
mod memory;
mod operand;
mod video;

use ptx::analysis::CallGraph;
use ptx::entity::Id;
use ptx::ir::{FuncId, Global, Label, Module, Stmt, StmtId, Var};
use ptx::special::RESERVED_SHARED;
use ptx::types::Space;
use ptx::view::View;
use rustc_hash::FxHashMap;

use crate::code::{Code, Inst, Place};
use crate::fault::Refusal;
use operand::InstDecoder;

/// A kernel with all that it may call.
#[derive(Debug)]
pub(crate) struct Program {
    /// The kernel is the first.
    pub functions: Vec<Function>,
    /// Index of a decoded function by its address.
    pub by_address: FxHashMap<u64, u32>,
    /// Where the shared memory is that libraries for kernels keep for themselves; there is some if the kernel asks for it.
    pub reserved_shared: u32,
    /// Bytes of shared memory that are declared with a size, and of what is reserved.
    pub static_shared: u32,
    /// Where dynamic shared memory begins.
    pub dynamic_shared: u32,
    /// Bytes of parameters.
    pub param_bytes: u32,
}

/// A decoded function.
#[derive(Debug)]
pub(crate) struct Function {
    pub id: FuncId,
    pub code: Vec<Inst>,
    /// Register slots.
    pub slots: u32,
    /// Bytes of local memory.
    pub frame_bytes: u32,
    pub frame_align: u32,
    pub params: Vec<Place>,
    pub returns: Vec<Place>,
}

/// Where variables are.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    /// Global and constant variables of the module.
    pub globals: FxHashMap<Global, u64>,
    /// The same of functions.
    pub function_globals: FxHashMap<(FuncId, Var), u64>,
}

/// The address of a function.
pub(crate) fn function_address(id: FuncId) -> u64 {
    crate::memory::window::CODE + 16 * (id.index() as u64 + 1)
}

/// What decoding a program needs to know.
pub(crate) struct Context<'m> {
    pub module: &'m Module,
    pub calls: CallGraph,
    pub addresses: &'m Addresses,
    pub shared: SharedLayout,
    /// Index of each function in the program.
    pub index: FxHashMap<FuncId, u32>,
}

/// Offsets of shared variables.
#[derive(Debug, Default)]
pub(crate) struct SharedLayout {
    pub globals: FxHashMap<Global, u32>,
    pub vars: FxHashMap<(FuncId, Var), u32>,
    pub reserved: u32,
    pub static_bytes: u32,
    pub dynamic: u32,
}

/// Decodes a kernel.
pub(crate) fn program(module: &Module, addresses: &Addresses, kernel: FuncId) -> Result<Program, Refusal> {
    let calls = CallGraph::of(module);
    let mut ids = vec![kernel];
    ids.extend(calls.reachable_from(kernel).iter().filter(|&id| id != kernel && module.functions[id].body.is_some()));
    let index = ids.iter().enumerate().map(|(index, &id)| (id, index as u32)).collect();
    let shared = shared_layout(module, &ids)?;
    let context = Context { module, calls, addresses, shared, index };
    let functions = ids.iter().map(|&id| function(&context, id)).collect::<Result<Vec<_>, _>>()?;
    let by_address = ids.iter().enumerate().map(|(index, &id)| (function_address(id), index as u32)).collect();
    Ok(Program {
        param_bytes: frame::entry_params(module, kernel)?.1,
        functions,
        by_address,
        reserved_shared: context.shared.reserved,
        static_shared: context.shared.static_bytes,
        dynamic_shared: context.shared.dynamic,
    })
}

/// Lays out the shared variables of the module that the functions name, and those that they declare.
fn shared_layout(module: &Module, ids: &[FuncId]) -> Result<SharedLayout, Refusal> {
    let mut layout = SharedLayout::default();
    let mut dynamic_align = 16;
    let mut dynamic = Vec::new();
    let mut place = |variable: &ptx::ir::Variable, layout: &mut SharedLayout| -> Result<Option<u32>, Refusal> {
        let align = variable.alignment().max(1);
        match variable.size() {
            Some(size) if variable.linkage != Some(ptx::types::Linkage::Extern) || size > 0 => {
                let offset = layout.static_bytes.next_multiple_of(align);
                let end = u64::from(offset) + size;
                layout.static_bytes = u32::try_from(end)
                    .map_err(|_| Refusal::variable(module, variable, "shared memory of 4 GiB and more"))?;
                Ok(Some(offset))
            }
            _ => {
                dynamic_align = dynamic_align.max(align);
                Ok(None)
            }
        }
    };
    for (id, variable) in module.globals.iter().filter(|(_, variable)| variable.space == Space::Shared) {
        match place(variable, &mut layout)? {
            Some(offset) => drop(layout.globals.insert(id, offset)),
            None => dynamic.push((None, Some(id), None)),
        }
    }
    for &function in ids {
        for (var, variable) in module.functions[function].vars.iter().filter(|(_, var)| var.space == Space::Shared) {
            match place(variable, &mut layout)? {
                Some(offset) => drop(layout.vars.insert((function, var), offset)),
                None => dynamic.push((Some(function), None, Some(var))),
            }
        }
    }
    layout.reserved = layout.static_bytes.next_multiple_of(16);
    let mut bodies = ids.iter().filter_map(|&function| module.functions[function].body.as_ref());
    if bodies.any(ptx::ir::Body::uses_reserved_shared) {
        layout.static_bytes = layout.reserved + RESERVED_SHARED as u32;
    }
    layout.dynamic = layout.static_bytes.next_multiple_of(dynamic_align);
    for entry in dynamic {
        match entry {
            (_, Some(global), _) => drop(layout.globals.insert(global, layout.dynamic)),
            (Some(function), _, Some(var)) => drop(layout.vars.insert((function, var), layout.dynamic)),
            _ => {}
        }
    }
    Ok(layout)
}

fn function(context: &Context<'_>, id: FuncId) -> Result<Function, Refusal> {
    let module = context.module;
    let source = &module.functions[id];
    let body = source.body.as_ref().expect("only functions with a body are decoded");
    let frame = frame::FrameLayout::of(context, id)?;
    let mut positions: FxHashMap<Label, u32> = FxHashMap::default();
    let mut tables: FxHashMap<Label, ptx::ir::List> = FxHashMap::default();
    let mut statements: Vec<StmtId> = Vec::new();
    for stmt in body.iter() {
        match body.stmt(stmt) {
            Stmt::Inst(_) => statements.push(stmt),
            Stmt::Label(label) => drop(positions.insert(*label, statements.len() as u32)),
            Stmt::BranchTargets(label, list) => drop(tables.insert(*label, *list)),
            Stmt::Unknown(text) => {
                return Err(Refusal::new(module, body.position(stmt), module.text(*text), "is not known"));
            }
            _ => {}
        }
    }
    let mut code = Vec::with_capacity(statements.len() + 1);
    for stmt in statements {
        let view = View::of(&module.forms, body, stmt).expect("only instructions are collected");
        let decoder = InstDecoder::new(context, id, &frame, &positions, &tables, view, stmt)?;
        code.push(instruction(&decoder)?);
    }
    // The end of the text returns.
    let stmt = body.last().unwrap_or_else(|| StmtId::new(0));
    code.push(Inst {
        guard: None,
        code: Code::Ret,
        dests: Default::default(),
        args: Default::default(),
        addresses: Default::default(),
        stmt,
    });
    Ok(Function {
        id,
        code,
        slots: frame.slots,
        frame_bytes: frame.bytes,
        frame_align: frame.align,
        params: frame.params,
        returns: frame.returns,
    })
}

fn instruction(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let families = [
        arithmetic::decode,
        float::decode,
        compare::decode,
        conversion::decode,
        memory::decode,
        atomic::decode,
        control::decode,
        collective::decode,
        matrix::decode,
        video::decode,
        call::decode,
    ];
    for family in families {
        if let Some(inst) = family(decoder)? {
            return Ok(inst);
        }
    }
    Err(decoder.refuse("is not supported by the interpreter"))
}
