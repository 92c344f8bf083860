//! PTX of programs: it is read and linked, and what is wrong with it is said.

use ptx::ir::Stmt;

use super::device;
use crate::error::{CudaError, Result};

/// Reads PTX.
pub(crate) fn read(text: &str) -> Result<ptx::ir::Module> {
    let parsed = ptx::parse(text);
    let complaints = parsed.diagnostics.into_iter().chain(ptx::verify(&parsed.module));
    if let Some(first) = complaints.into_iter().find(|complaint| complaint.severity == ptx::diagnostic::Severity::Error)
    {
        let line = parsed.module.lines.line(first.at);
        crate::refusal::refuse(&format!("line {line} of a module of the program is not PTX: {}", first.message));
        return Err(CudaError::INVALID_PTX);
    }
    if let Some((line, text)) = unknown_opcode(&parsed.module) {
        crate::refusal::refuse(&format!("line {line} of a module of the program: `{text}` is no instruction of PTX"));
        return Err(CudaError::INVALID_PTX);
    }
    Ok(parsed.module)
}

/// The first statement that begins with no opcode that there is: its line and its text. With an opcode that there is, and
/// other modifiers, only the kernel that has it is refused, when it is launched.
fn unknown_opcode(module: &ptx::ir::Module) -> Option<(u32, &str)> {
    let bodies = module.functions.values().filter_map(|function| function.body.as_ref());
    bodies.into_iter().find_map(|body| {
        body.iter().find_map(|id| {
            let text = match body.stmt(id) {
                Stmt::Unknown(text) => module.text(*text),
                Stmt::Inst(inst) => module.forms[inst.form].spelling(),
                _ => return None,
            };
            let opcode = text.split(['.', ' ', '\t', '\n']).next().unwrap_or_default();
            ptx::ops::rows_of(opcode).is_empty().then(|| (module.lines.line(body.position(id)), text))
        })
    })
}

/// An error if a module is for a newer device than this one, as from a driver.
pub(crate) fn check_target(module: &ptx::ir::Module, device: usize) -> Result<()> {
    let capability = device::capability(device);
    let Some(wanted) = architecture(module).filter(|&wanted| wanted > capability) else { return Ok(()) };
    crate::refusal::refuse(&format!(
        "a module of the program is for sm_{wanted}, and the device says that it has compute capability {}: run with \
         --compute-capability {}",
        as_number(capability),
        as_number(wanted)
    ));
    Err(CudaError::INVALID_PTX)
}

/// The number of the architecture that a module is for: 80 for `sm_80`.
pub(crate) fn architecture(module: &ptx::ir::Module) -> Option<u32> {
    let number = |target: &str| target.strip_prefix("sm_")?.trim_end_matches(char::is_alphabetic).parse::<u32>().ok();
    module.target.iter().find_map(|&target| number(module.text(target)))
}

/// 8.0 for 80.
fn as_number(capability: u32) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}

/// Links modules that were read, with their names in messages.
pub(crate) fn link(modules: &[(String, ptx::ir::Module)]) -> Result<ptx::ir::Module> {
    let inputs: Vec<_> = modules.iter().map(|(name, module)| ptx::link::Input { name, module }).collect();
    match ptx::link::link(&inputs, ptx::link::is_provided) {
        Ok(linked) => Ok(linked.module),
        Err(errors) => {
            for error in &errors {
                crate::refusal::refuse(&format!("modules of the program cannot be linked: {error}"));
            }
            let is_undefined = |error: &ptx::link::LinkError| matches!(error, ptx::link::LinkError::Undefined { .. });
            Err(if errors.iter().any(is_undefined) {
                CudaError::SHARED_OBJECT_SYMBOL_NOT_FOUND
            } else {
                CudaError::INVALID_PTX
            })
        }
    }
}
