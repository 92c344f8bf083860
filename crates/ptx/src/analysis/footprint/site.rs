//! Instructions in words: where they are, for people.

use crate::ir::{Body, FuncId, Function, Module, Stmt, StmtId};

/// An instruction of a kernel, or the kernel itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    /// The statement; nothing for the kernel as a whole.
    pub statement: Option<StmtId>,
    /// The instruction as printed, or the name of the kernel.
    pub instruction: String,
    /// Line of the PTX text, from 1; 0 if unknown.
    pub line: u32,
    /// File and line of the source, if the text says so.
    pub source: Option<(String, u32)>,
}

impl Site {
    pub(super) fn of_kernel(module: &Module, func: FuncId) -> Self {
        let function = &module.functions[func];
        Self {
            statement: None,
            instruction: module.text(function.name).to_owned(),
            line: module.lines.line(function.at),
            source: None,
        }
    }

    pub(super) fn of_statement(module: &Module, function: &Function, body: &Body, id: StmtId) -> Self {
        let printed = crate::print_stmt(module, function, body, id);
        let text = printed.split("//@").next().unwrap_or(&printed);
        let words: Vec<&str> = text.split_whitespace().collect();
        let location = std::iter::successors(Some(id), |&id| body.previous(id)).find_map(|id| match body.stmt(id) {
            // Line 0 is code that the compiler made up; what is before it is near.
            Stmt::Loc(location) if location.line != 0 => Some(location),
            _ => None,
        });
        let source = location.and_then(|location| {
            let file = module.files.iter().find(|file| file.index == location.file)?;
            Some((module.text(file.path).to_owned(), location.line))
        });
        Self {
            statement: Some(id),
            instruction: words.join(" ").trim_end_matches(';').to_owned(),
            line: module.lines.line(body.position(id)),
            source,
        }
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` ", self.instruction)?;
        match &self.source {
            Some((file, line)) => write!(f, "({}:{line})", file.rsplit('/').next().unwrap_or_default()),
            None => write!(f, "(line {} of the PTX)", self.line),
        }
    }
}
