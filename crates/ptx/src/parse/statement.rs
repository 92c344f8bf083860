//! Statements of a body.

use super::function::{MAX_DEPTH, Unfinished};
use super::operand::Operands;
use super::{Binding, Error, Ident, Parser};
use crate::diagnostic::{Diagnostic, Position};
use crate::entity::Id;
use crate::ir::{
    CallPrototype, Guard, InlinedAt, InsertedBy, Inst, List, Operand, Origin, OriginId, SourceLocation, Stmt,
};
use crate::ops;

impl<'a> Parser<'a> {
    /// Statements up to the brace that closes the body. Returns whether there is one.
    pub(super) fn statements(&mut self, unfinished: &mut Unfinished) -> bool {
        let outer = self.scopes.depth();
        loop {
            self.cursor.skip_space();
            let start = self.cursor.position();
            match self.cursor.peek() {
                b'}' => {
                    self.cursor.advance();
                    if self.scopes.depth() == outer {
                        return true;
                    }
                    self.close_scope(unfinished);
                    self.push(unfinished, Stmt::Close, start);
                }
                b'{' if self.scopes.depth() - outer >= MAX_DEPTH => {
                    let message = format!("braces are nested more than {MAX_DEPTH} deep; what is inside is left out");
                    self.report(Diagnostic::error(start, 1, message));
                    self.cursor.skip_braces();
                }
                b'{' => {
                    self.cursor.advance();
                    self.open_scope(unfinished);
                    self.push(unfinished, Stmt::Open, start);
                }
                b';' => self.cursor.advance(),
                b'.' if self.at_module_item() => {
                    let name = self.module.names.text(unfinished.function.name);
                    let message = format!("expected `}}`: the body of `{name}` is not closed before this");
                    self.report(Diagnostic::error(start, 0, message));
                    self.close_scopes(unfinished, outer);
                    return true;
                }
                0 if self.cursor.is_at_end() => {
                    self.close_scopes(unfinished, outer);
                    return false;
                }
                _ => {
                    if let Err(error) = self.statement(unfinished) {
                        self.report(*error);
                        if std::mem::take(&mut self.is_line) {
                            self.cursor.skip_line();
                        } else {
                            self.cursor.skip_statement();
                        }
                        if self.cursor.position() == start {
                            self.cursor.advance_char();
                        }
                    }
                }
            }
        }
    }

    /// Ends all scopes within the body, where the text forgot to.
    fn close_scopes(&mut self, unfinished: &mut Unfinished, outer: u32) {
        let at = self.cursor.position();
        while self.scopes.depth() > outer {
            self.close_scope(unfinished);
            self.push(unfinished, Stmt::Close, at);
        }
    }

    /// Whether a directive comes next that only modules have.
    fn at_module_item(&self) -> bool {
        let mut probe = self.cursor.clone();
        probe.advance();
        matches!(
            probe.ident().map(|word| word.text),
            Some("visible" | "extern" | "weak" | "entry" | "func" | "version" | "target" | "section" | "file")
        )
    }

    fn push(&mut self, unfinished: &mut Unfinished, stmt: Stmt, at: Position) {
        // What is no instruction belongs to the instruction that comes next.
        let origin = Origin::original(OriginId::new(self.module.origins as usize));
        unfinished.body.push(stmt, at, origin);
    }

    fn statement(&mut self, unfinished: &mut Unfinished) -> Result<(), Error> {
        let start = self.cursor.position();
        match self.cursor.peek() {
            b'.' => self.body_directive(unfinished),
            b'@' => {
                let guard = self.guard(unfinished)?;
                self.instruction(unfinished, Some(guard), start)
            }
            _ => {
                let mut probe = self.cursor.clone();
                let ident = probe.ident().ok_or_else(|| self.expected("a statement"))?;
                if probe.peek() == b':' && !probe.eat_text("::") {
                    probe.advance();
                    self.cursor = probe;
                    return self.label(unfinished, ident);
                }
                if matches!(probe.peek(), b' ' | b'\t' | b'\n' | b'\r') {
                    probe.skip_space();
                    if probe.peek() == b':' {
                        probe.advance();
                        self.cursor = probe;
                        return self.label(unfinished, ident);
                    }
                }
                self.instruction(unfinished, None, start)
            }
        }
    }

    /// A label, or one of the lists that carry a label.
    fn label(&mut self, unfinished: &mut Unfinished, ident: Ident<'a>) -> Result<(), Error> {
        let label = self.define_label(unfinished, ident);
        self.cursor.skip_space();
        if self.cursor.peek() == b'.' {
            let mut probe = self.cursor.clone();
            probe.advance();
            let word = probe.ident().map(|word| word.text);
            if let Some("branchtargets" | "calltargets" | "callprototype") = word {
                probe.skip_space();
                self.cursor = probe;
                let stmt = match word {
                    Some("branchtargets") => Stmt::BranchTargets(label, self.names(unfinished)?),
                    Some("calltargets") => Stmt::CallTargets(label, self.names(unfinished)?),
                    _ => Stmt::CallPrototype(label, Box::new(self.prototype()?)),
                };
                self.push(unfinished, stmt, ident.at);
                return Ok(());
            }
        }
        self.push(unfinished, Stmt::Label(label), ident.at);
        Ok(())
    }

    /// Labels or functions between commas, up to the semicolon.
    fn names(&mut self, unfinished: &mut Unfinished) -> Result<List, Error> {
        let mut operands = Vec::new();
        loop {
            let name = self.ident("a name")?;
            operands.push(self.symbol_operand(name, 0));
            self.cursor.skip_space();
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.expect(b';', "`,` or `;`")?;
        let list = unfinished.body.list(&operands);
        self.remember_labels(unfinished, list);
        Ok(list)
    }

    fn prototype(&mut self) -> Result<CallPrototype, Error> {
        let returns = if self.cursor.peek() == b'(' { self.prototype_params()? } else { Vec::new() };
        let name = self.ident("`_`")?;
        let name = self.module.names.intern(name.text);
        self.cursor.skip_space();
        let params = if self.cursor.peek() == b'(' { self.prototype_params()? } else { Vec::new() };
        let mut directives = Vec::new();
        while self.cursor.peek() == b'.' {
            let word = self.directive_word("`.noreturn`, or `;`")?;
            directives.push(self.directive_list(word)?);
            self.cursor.skip_space();
        }
        self.expect(b';', "`;`")?;
        Ok(CallPrototype { returns, name, params, directives })
    }

    fn guard(&mut self, unfinished: &mut Unfinished) -> Result<Guard, Error> {
        self.cursor.eat(b'@');
        let negated = self.cursor.eat(b'!');
        let ident = self.ident("a predicate register")?;
        self.cursor.skip_space();
        match self.find_reg(unfinished, ident) {
            Some(reg) => Ok(Guard { reg, negated }),
            None => Err(self.error_at(ident, format!("`{}` is not a declared register", ident.text))),
        }
    }

    fn instruction(&mut self, unfinished: &mut Unfinished, guard: Option<Guard>, start: Position) -> Result<(), Error> {
        if !self.cursor.at_ident() {
            return Err(self.expected("an instruction"));
        }
        let opcode_at = self.cursor.position();
        let spelling = self.cursor.spelling();
        self.cursor.skip_space();
        let form = if self.cursor.peek() == b'.' {
            // Blanks between opcode and modifiers.
            let mut joined = spelling.to_owned();
            while self.cursor.peek() == b'.' {
                joined.push_str(self.cursor.spelling());
                self.cursor.skip_space();
            }
            self.module.forms.intern(&joined)
        } else {
            self.module.forms.intern(spelling)
        };
        let mut inst = Inst { guard, form, operands: List::default(), unified: false, zero_offsets: 0 };
        let mut operands = Operands::new();
        if let Err(error) = self.operands(unfinished, &mut inst, &mut operands) {
            // A word that is no opcode may be followed by anything.
            let word = spelling.split('.').next().unwrap_or_default();
            if guard.is_none() && ops::rows_of(word).is_empty() {
                return self.unknown_statement(unfinished, opcode_at);
            }
            return Err(error);
        }
        inst.operands = unfinished.body.list(&operands);
        if operands.iter().any(|operand| matches!(operand, Operand::Symbol(..))) {
            self.remember_labels(unfinished, inst.operands);
        }
        let origin = self.origin();
        unfinished.body.push(Stmt::Inst(inst), start, origin);
        Ok(())
    }

    fn unknown_statement(&mut self, unfinished: &mut Unfinished, start: Position) -> Result<(), Error> {
        let text = self.cursor.unknown_statement(start);
        let text = self.module.names.intern(&text);
        self.expect(b';', "`;`")?;
        let origin = self.origin();
        unfinished.body.push(Stmt::Unknown(text), start, origin);
        Ok(())
    }

    /// The origin of the instruction that was just read: the next number, or what a comment after it says.
    fn origin(&mut self) -> Origin {
        let next = self.module.origins;
        let annotated = self.cursor.annotation().and_then(|text| self.parse_origin(text));
        let origin = annotated.unwrap_or(Origin::original(OriginId::new(next as usize)));
        // Numbers go on from the last original one: the printer counts in the same way.
        if origin.tag.is_none() {
            self.module.origins = origin.id.index() as u32 + 1;
        }
        origin
    }

    /// `17` or `17 memcheck.check#2`.
    fn parse_origin(&mut self, text: &str) -> Option<Origin> {
        let mut words = text.split_ascii_whitespace();
        let id: u32 = words.next()?.parse().ok()?;
        if id > u32::MAX / 2 {
            return None;
        }
        let origin = Origin::original(OriginId::new(id as usize));
        let Some(tag) = words.next() else {
            return Some(origin);
        };
        let (tool, rest) = tag.split_once('.')?;
        let (role, copy) = rest.split_once('#').unwrap_or((rest, "0"));
        let inserted_by = InsertedBy {
            tool: self.module.names.intern(tool),
            role: self.module.names.intern(role),
            copy: copy.parse().ok()?,
        };
        Some(origin.tagged(self.module.tag(inserted_by)))
    }

    fn body_directive(&mut self, unfinished: &mut Unfinished) -> Result<(), Error> {
        let start = self.cursor.position();
        let word = self.directive_word("a directive")?;
        match word.text {
            "reg" => {
                let origin = Origin::original(OriginId::new(self.module.origins as usize));
                self.registers(unfinished, word, |unfinished, group| {
                    unfinished.body.push(Stmt::Regs(group), start, origin);
                })
            }
            "loc" => {
                self.is_line = true;
                let location = self.location()?;
                self.is_line = false;
                self.push(unfinished, Stmt::Loc(Box::new(location)), start);
                Ok(())
            }
            "local" | "shared" | "param" | "global" | "const" => {
                let origin = Origin::original(OriginId::new(self.module.origins as usize));
                self.variables(word, None, |parser, variable| {
                    let name = variable.name;
                    let var = unfinished.function.vars.push(variable);
                    parser.scopes.bind(name, Binding::Var(var));
                    unfinished.body.push(Stmt::Var(var), start, origin);
                })
            }
            _ => {
                let directive = self.directive_args(word)?;
                self.push(unfinished, Stmt::Directive(Box::new(directive)), start);
                Ok(())
            }
        }
    }

    /// What follows `.loc`; it has no semicolon.
    fn location(&mut self) -> Result<SourceLocation, Error> {
        let [file, line, column] = self.three_numbers()?;
        let mut inlined = None;
        self.cursor.skip_space();
        if self.cursor.eat(b',') {
            if !self.cursor.eat_word("function_name") {
                return Err(self.expected("`function_name`"));
            }
            let name = self.ident("a label in `.debug_str`")?;
            let function_name = self.module.names.intern(name.text);
            self.cursor.skip_space();
            let offset = if self.cursor.eat(b'+') { self.plain_number()? } else { 0 };
            self.cursor.skip_space();
            self.expect(b',', "`,` and `inlined_at`")?;
            if !self.cursor.eat_word("inlined_at") {
                return Err(self.expected("`inlined_at`"));
            }
            let [file, line, column] = self.three_numbers()?;
            inlined = Some(InlinedAt { function_name, offset, file, line, column });
        }
        Ok(SourceLocation { file, line, column, inlined })
    }

    fn three_numbers(&mut self) -> Result<[u32; 3], Error> {
        let mut numbers = [0; 3];
        for number in &mut numbers {
            self.cursor.skip_space();
            *number = self.plain_number()?;
        }
        Ok(numbers)
    }

    /// A number that is not the start of an expression.
    fn plain_number(&mut self) -> Result<u32, Error> {
        let at = self.cursor.position();
        if !self.cursor.at_digit() {
            return Err(self.expected("a number"));
        }
        let text = self.cursor.number_text();
        text.parse().map_err(|_| self.error_since(at, format!("`{:.60}` is not a number of 32 bits", text)))
    }
}
