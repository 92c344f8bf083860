//! PTX of programs: it is read and linked, and what is wrong with it is said.

use crate::error::{CudaError, Result};

/// Reads PTX.
pub(crate) fn read(text: &str) -> Result<ptx::ir::Module> {
    let parsed = ptx::parse(text);
    let complaints = parsed.diagnostics.into_iter().chain(ptx::verify(&parsed.module));
    if let Some(first) = complaints.into_iter().find(|complaint| complaint.severity == ptx::diagnostic::Severity::Error)
    {
        let line = parsed.module.lines.line(first.at);
        crate::log::say(&format!("line {line} of a module of the program is not PTX: {}", first.message));
        return Err(CudaError::INVALID_PTX);
    }
    Ok(parsed.module)
}

/// Links modules that were read, with their names in messages.
pub(crate) fn link(modules: &[(String, ptx::ir::Module)]) -> Result<ptx::ir::Module> {
    let inputs: Vec<_> = modules.iter().map(|(name, module)| ptx::link::Input { name, module }).collect();
    match ptx::link::link(&inputs, ptx::link::is_provided) {
        Ok(linked) => Ok(linked.module),
        Err(errors) => {
            for error in &errors {
                crate::log::say(&format!("modules of the program cannot be linked: {error}"));
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
