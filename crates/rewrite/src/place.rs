//! Where an instruction is, in words that people know: source lines, and the functions that were inlined.

use ptx::ir::{Body, FuncId, Guard, InlinedAt, Item, Module, SectionItem, SourceLocation, Stmt, StmtId};
use report::{Place, SourceLine};

use crate::site::{SiteId, Sites};

/// Deeper inlining is cut.
const MOST_LINES: usize = 32;

impl Sites {
    /// Where a site is, for people. The kernel is the one that was launched, which may have called the function.
    pub fn place(&self, module: &Module, id: SiteId, kernel: &str) -> Option<Place> {
        self.get(id).map(|site| self.of_statement(module, site.func, site.stmt, site.guard, kernel))
    }

    /// Where a site is, whichever kernel executes it: the function that it is in stands for the kernel.
    pub fn place_in_function(&self, module: &Module, id: SiteId) -> Option<Place> {
        let site = self.get(id)?;
        let name = module.text(self.name_in_program(module, site.func));
        Some(self.of_statement(module, site.func, site.stmt, site.guard, name))
    }

    /// Where an instruction is that a device names by the line of its text; nothing if none of the user's is there.
    pub fn place_of_line(&self, module: &Module, line: u32, kernel: &str) -> Option<Place> {
        // Copies have the same lines.
        let originals = module.functions.iter().filter(|(func, _)| !self.has_copy(*func));
        let mut found = originals.flat_map(|(func, function)| {
            let body = function.body.as_ref();
            let is_it = move |body: &Body, id: StmtId| {
                module.lines.line(body.position(id)) == line && body.origin(id).tag.is_none()
            };
            body.into_iter().flat_map(move |body| {
                body.insts().filter(move |&(id, _)| is_it(body, id)).map(move |(id, inst)| (func, id, inst.guard))
            })
        });
        let (func, stmt, guard) = found.next()?;
        // A tool may have changed the guard.
        let guard = self.iter().find(|site| (site.func, site.stmt) == (func, stmt)).map_or(guard, |site| site.guard);
        let mut place = self.of_statement(module, func, stmt, guard, kernel);
        if found.next().is_some() {
            // Which of them it was is not known.
            place.instruction.clear();
        }
        Some(place)
    }

    fn of_statement(&self, module: &Module, func: FuncId, stmt: StmtId, guard: Option<Guard>, kernel: &str) -> Place {
        let function = &module.functions[func];
        let body = function.body.as_ref().expect("statements are in functions with bodies");
        let printed = ptx::print_stmt(module, function, body, stmt);
        // Without the guard of a tool, and without what the printer says to itself.
        let text = printed.split("//@").next().unwrap_or(&printed).trim();
        let bare = if text.starts_with('@') {
            text.split_once(char::is_whitespace).map_or(text, |(_, rest)| rest)
        } else {
            text
        };
        let guard = guard.map_or(String::new(), |guard| {
            let not = if guard.negated { "!" } else { "" };
            format!("@{not}{} ", ptx::describe::reg_name(module, function, guard.reg))
        });
        let bare: Vec<&str> = bare.split_whitespace().collect();
        let mut lines = lines(module, body, stmt);
        let name = module.text(self.name_in_program(module, func));
        // The function that a kernel called is the one that the last line is in.
        if let Some(last) = lines.last_mut().filter(|_| name != kernel) {
            last.function = Some(name.to_owned());
        }
        Place {
            kernel: kernel.to_owned(),
            instruction: format!("{guard}{}", bare.join(" ")),
            instruction_line: module.lines.line(body.position(stmt)),
            lines,
        }
    }
}

/// The source lines of a statement, from the innermost on.
fn lines(module: &Module, body: &Body, id: StmtId) -> Vec<SourceLine> {
    let before = |id: StmtId| {
        std::iter::successors(Some(id), |&id| body.previous(id)).find_map(|id| match body.stmt(id) {
            // Line 0 is code that the compiler made up; what is before it is near.
            Stmt::Loc(location) if location.line != 0 => Some((id, **location)),
            _ => None,
        })
    };
    let mut lines = Vec::new();
    let mut current = if module.files.is_empty() { None } else { before(id) };
    while let Some((at, location)) = current.filter(|_| lines.len() < MOST_LINES) {
        lines.push(SourceLine {
            file: file(module, location.file),
            line: location.line,
            column: location.column,
            function: location.inlined.and_then(|inlined| function_name(module, &inlined)),
        });
        current = location.inlined.and_then(|inlined| caller(body, at, &inlined));
    }
    lines
}

/// The place that code was inlined into: the last `.loc` before it that names the same line says what that one was
/// inlined into.
fn caller(body: &Body, at: StmtId, inlined: &InlinedAt) -> Option<(StmtId, SourceLocation)> {
    let is_it = |location: &SourceLocation| {
        (location.file, location.line, location.column) == (inlined.file, inlined.line, inlined.column)
    };
    let found = std::iter::successors(body.previous(at), |&id| body.previous(id)).take(4096).find_map(|id| match body
        .stmt(id)
    {
        Stmt::Loc(location) if is_it(location) => Some((id, **location)),
        _ => None,
    });
    let plain = SourceLocation { file: inlined.file, line: inlined.line, column: inlined.column, inlined: None };
    Some(found.unwrap_or((at, plain)))
}

fn file(module: &Module, index: u32) -> String {
    let entry = module.files.iter().find(|file| file.index == index);
    entry.map_or_else(|| format!("file {index}"), |file| module.text(file.path).to_owned())
}

/// The name of an inlined function: a string in the section for strings.
fn function_name(module: &Module, inlined: &InlinedAt) -> Option<String> {
    let section = module.items.iter().find_map(|item| match item {
        Item::Section(name, section) if module.text(*name).ends_with("debug_str") => Some(section),
        _ => None,
    })?;
    let mut start = 0_usize;
    for item in &section.items {
        match *item {
            SectionItem::Label(label) if label == inlined.function_name => {
                let bytes = section.bytes.get(start + inlined.offset as usize..)?;
                let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()).min(4096);
                return Some(String::from_utf8_lossy(&bytes[..end]).into_owned());
            }
            SectionItem::Bytes(count) => start += count as usize,
            SectionItem::Label(_) | SectionItem::Data(..) => {}
        }
    }
    None
}
