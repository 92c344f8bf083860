//! `warpgrind ptx effects`.

use anyhow::Result;
use ptx::describe;
use ptx::entity::Id;
use ptx::ir::{Body, Function, Module, StmtId};
use ptx::view::{AccessBytes, AccessSpace, View};
use serde::Serialize;

use super::{Common, for_each_source};
use crate::{CommandStatus, output};

/// An instruction as JSON.
#[derive(Serialize)]
struct Effects<'a> {
    file: &'a str,
    function: &'a str,
    /// The ordinal of the instruction in the module.
    id: usize,
    line: u32,
    text: String,
    known: bool,
    effect: Option<String>,
    reads: Vec<String>,
    writes: Vec<String>,
    reads_carry: bool,
    writes_carry: bool,
    collective: bool,
    accesses: Vec<Access>,
}

#[derive(Serialize)]
struct Access {
    kind: String,
    space: String,
    /// Nothing where the number of bytes is not known from the text.
    bytes: Option<u32>,
    order: String,
    scope: Option<String>,
    operand: usize,
    asynchronous: bool,
}

pub(super) fn run(common: &Common) -> Result<CommandStatus> {
    for_each_source(&common.path, |source| {
        let module = &source.parsed.module;
        if !common.json {
            return output::print(&describe::effects(module));
        }
        for function in module.functions.values() {
            let Some(body) = &function.body else { continue };
            for (id, _) in body.insts() {
                output::print_json(&effects(&source.name, module, function, body, id))?;
            }
        }
        Ok(())
    })
}

fn effects<'a>(file: &'a str, module: &'a Module, function: &'a Function, body: &Body, id: StmtId) -> Effects<'a> {
    let view = View::of(&module.forms, body, id).expect("the statement is an instruction");
    let lower = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let name = |&reg: &ptx::ir::Reg| describe::reg_name(module, function, reg);
    let accesses = view.accesses().into_iter().map(|access| Access {
        kind: lower(&access.kind),
        space: match access.space {
            AccessSpace::State(space) => space.text().to_owned(),
            other => lower(&other),
        },
        bytes: match access.bytes {
            AccessBytes::Fixed(bytes) => Some(bytes),
            _ => None,
        },
        order: lower(&access.order),
        scope: access.scope.map(|scope| lower(&scope)),
        operand: access.address,
        asynchronous: access.is_async,
    });
    Effects {
        file,
        function: module.text(function.name),
        id: body.origin(id).id.index(),
        line: module.lines.line(body.position(id)),
        text: ptx::print_stmt(module, function, body, id).replace('\t', ""),
        known: view.form.is_known(),
        effect: view.effect().map(|effect| lower(&effect)),
        reads: view.reads().iter().map(name).collect(),
        writes: view.writes().iter().map(name).collect(),
        reads_carry: view.reads_carry(),
        writes_carry: view.writes_carry(),
        collective: view.is_collective(),
        accesses: accesses.collect(),
    }
}
