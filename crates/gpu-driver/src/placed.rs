//! The PTX of one kernel, for the driver: the functions that it reaches, with the addresses of variables in them as numbers.
//!
//! Constants are variables like others, so `ld.const` becomes `ld.global`: generic addresses of global memory are its
//! addresses, which PTX says of all memory outside of the windows of other state spaces.

use ptx::edit::Editor;
use ptx::entity::Map;
use ptx::ir::{FuncId, Global, Inst, Item, Module, Operand, Stmt, StmtId, Symbol};
use ptx::special::Special;
use ptx::types::{Space, Type};
use ptx::view::View;
use rustc_hash::FxHashSet;

/// What a kernel reaches.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    functions: FxHashSet<FuncId>,
    globals: FxHashSet<Global>,
}

impl Reached {
    /// All that may run, or be read, when a kernel is launched.
    pub(crate) fn of(module: &Module, kernel: FuncId) -> Self {
        let mut reached = Self::default();
        let mut open = vec![kernel];
        while let Some(func) = open.pop() {
            if !reached.functions.insert(func) {
                continue;
            }
            // A declaration stands for the definition of that name.
            let name = module.functions[func].name;
            open.extend(module.functions.iter().filter(|(_, other)| other.name == name).map(|(other, _)| other));
            for item in &module.items {
                if let Item::Alias(alias) = item
                    && alias.alias == func
                {
                    open.push(alias.target);
                }
            }
            if let Some(body) = &module.functions[func].body {
                body.for_each_symbol(|symbol| match symbol {
                    Symbol::Func(func) => open.push(func),
                    Symbol::Global(global) => drop(reached.globals.insert(global)),
                    _ => {}
                });
            }
        }
        reached
    }

    /// Whether code is reached that takes the address of a function, and whether one is called by its address.
    pub(crate) fn code_pointers(&self, module: &Module) -> (bool, bool) {
        let (mut takes, mut calls) = (false, false);
        for body in self.functions.iter().filter_map(|&func| module.functions[func].body.as_ref()) {
            for (_, inst) in body.insts() {
                let is_call = module.forms[inst.form].spelling().split('.').next() == Some("call");
                for operand in body.operands(inst.operands) {
                    takes |= !is_call && matches!(operand, Operand::Symbol(Symbol::Func(_), _));
                    calls |= is_call && matches!(operand, Operand::Reg(_));
                }
            }
        }
        (takes, calls)
    }

    /// Whether code is reached that asks where the blocks of a cooperative launch meet.
    pub(crate) fn meets(&self, module: &Module) -> bool {
        let bodies = self.functions.iter().filter_map(|&func| module.functions[func].body.as_ref());
        let mut views = bodies.flat_map(|body| body.insts().filter_map(|(id, _)| View::of(&module.forms, body, id)));
        views.any(|view| view.specials().any(|special| word_of_meeting(special).is_some()))
    }

    /// Whether a function is reached that another module or the driver has.
    pub(crate) fn calls(&self, module: &Module, names: &[&str]) -> bool {
        let mut reached = self.functions.iter().map(|&func| &module.functions[func]);
        reached.any(|function| function.body.is_none() && names.contains(&module.text(function.name)))
    }
}

/// Why a kernel cannot be handed on.
fn refused(module: &Module, reached: &Reached, addresses: &Map<Global, Option<u64>>) -> Option<String> {
    for &global in &reached.globals {
        let variable = &module.globals[global];
        let name = module.text(variable.name);
        if matches!(variable.ty, Type::Texref | Type::Samplerref | Type::Surfref) {
            return Some(format!("the texture reference `{name}` is not supported by the GPU device"));
        }
        if is_placed(variable.space) && addresses[global].is_none() {
            return Some(format!(
                "the variable `{name}` holds addresses of functions, which the GPU device does not know"
            ));
        }
    }
    for &func in &reached.functions {
        let Some(body) = &module.functions[func].body else { continue };
        for (_, inst) in body.insts() {
            let spelling = module.forms[inst.form].spelling();
            if spelling.starts_with("isspacep.const") {
                return Some(
                    "`isspacep.const` is not supported by the GPU device, whose constants are global memory".to_owned(),
                );
            }
        }
    }
    None
}

/// Where the memory is in which the blocks of a cooperative launch meet, they are told by two registers. Which half of the address
/// is in one of them: how many bytes it is from the lower half.
fn word_of_meeting(special: Special) -> Option<i32> {
    match special {
        Special::Envreg1 => Some(4),
        Special::Envreg2 => Some(0),
        _ => None,
    }
}

/// Where things are that the text of a kernel has the addresses of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses<'a> {
    /// The variables.
    pub(crate) variables: &'a Map<Global, Option<u64>>,
    /// Eight bytes that say where the blocks of a cooperative launch meet; the driver says it if they are nowhere.
    pub(crate) meeting: Option<u64>,
}

/// The text of a kernel, or what of it the GPU device cannot hand on.
pub(crate) fn text(
    module: &Module,
    kernel: FuncId,
    reached: &Reached,
    addresses: Addresses<'_>,
) -> Result<String, String> {
    if let Some(refused) = refused(module, reached, addresses.variables) {
        return Err(refused);
    }
    let mut module = module.with_bodies_of(|func| reached.functions.contains(&func));
    module.items.retain(|item| match item {
        Item::Function(func) => {
            // Other kernels may be named, and are not needed.
            reached.functions.contains(func) && (*func == kernel || !module.functions[*func].is_entry())
        }
        Item::Variable(global) => reached.globals.contains(global) && addresses.variables[*global].is_none(),
        Item::Alias(alias) => reached.functions.contains(&alias.alias),
        Item::Directive(_) => true,
        // Debugging information is about all functions. What is found is looked up in the module that stays here.
        Item::File(_) | Item::Section(..) | Item::Unknown(_) => false,
    });
    // Assemblers want what they are promised.
    let target = std::mem::take(&mut module.target);
    module.target = target.into_iter().filter(|&word| module.text(word) != "debug").collect();
    let mut functions: Vec<FuncId> = reached.functions.iter().copied().collect();
    functions.sort_unstable();
    for func in functions {
        if module.functions[func].body.is_some() {
            place(&mut module, func, addresses)?;
        }
    }
    Ok(ptx::print(&module))
}

/// Writes the addresses of variables into a function.
fn place(module: &mut Module, func: FuncId, addresses: Addresses<'_>) -> Result<(), String> {
    let mut editor = Editor::new(module, func).map_err(|error| error.to_string())?;
    let tag = editor.tag("gpu", "address", 0);
    for id in editor.body().ids() {
        // Lines may name strings of the debugging information.
        if matches!(editor.body().stmt(id), Stmt::Loc(_)) {
            editor.remove(id);
            continue;
        }
        let Stmt::Inst(inst) = *editor.body().stmt(id) else { continue };
        let spelling = editor.module().forms[inst.form].spelling().to_owned();
        if spelling.split('.').any(|word| word == "const") {
            let words: Vec<&str> =
                spelling.split('.').map(|word| if word == "const" { "global" } else { word }).collect();
            let form = editor.form(&words.join("."));
            editor.set_form(id, form);
        }
        place_operands(&mut editor, id, inst, tag, addresses)?;
    }
    Ok(())
}

fn place_operands(
    editor: &mut Editor<'_>,
    id: StmtId,
    inst: Inst,
    tag: ptx::ir::TagId,
    addresses: Addresses<'_>,
) -> Result<(), String> {
    let variables = addresses.variables;
    let address = |global: Global, offset: i32| variables[global].map(|at| at.wrapping_add(offset as i64 as u64));
    let mut lists = vec![inst.operands];
    while let Some(list) = lists.pop() {
        for index in 0..list.len() {
            let operand = editor.body().operands(list)[index];
            let placed = match operand {
                Operand::Symbol(Symbol::Global(global), offset) => address(global, offset).map(Operand::Hex),
                Operand::SymbolAddress(Symbol::Global(global), offset) => match address(global, offset) {
                    None => None,
                    Some(at) => {
                        // There are no numbers as addresses of global memory.
                        let reg = editor.reg(tag, Type::B64);
                        editor.before(id, tag).inst("mov.b64", &[reg.into(), Operand::Hex(at)]);
                        Some(Operand::RegAddress(reg, 0))
                    }
                },
                Operand::Element(Symbol::Global(global), _) if variables[global].is_some() => {
                    return Err("an element of an array by its number is not supported by the GPU device".to_owned());
                }
                Operand::Special(special) => match (addresses.meeting, word_of_meeting(special)) {
                    (Some(meeting), Some(word)) => {
                        let [address, value] = [Type::B64, Type::B32].map(|ty| editor.reg(tag, ty));
                        let mut builder = editor.before(id, tag);
                        builder.inst("mov.b64", &[address.into(), Operand::Hex(meeting)]);
                        builder.inst("ld.global.b32", &[value.into(), Operand::RegAddress(address, word)]);
                        Some(value.into())
                    }
                    _ => None,
                },
                Operand::Vector(inner)
                | Operand::TupleAddress(inner)
                | Operand::Arguments(inner)
                | Operand::VectorPair(inner, _) => {
                    lists.push(inner);
                    None
                }
                _ => None,
            };
            if let Some(placed) = placed {
                editor.body_mut().operands_mut(list)[index] = placed;
            }
        }
    }
    Ok(())
}

/// Whether a variable gets an address of ours.
pub(crate) fn is_placed(space: Space) -> bool {
    matches!(space, Space::Global | Space::Const)
}
