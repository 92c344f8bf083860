//! IR to PTX text, in the layout that nvcc uses.
//!
//! Everything comes from the IR. What ptxas makes of the printed text is what it makes of the original: that is
//! tested over a large corpus, cubin by cubin.

mod operand;
mod section;
mod variable;

use crate::entity::Id;
use crate::ir::{Body, Directive, DirectiveArg, FileEntry, Function, Inst, Item, List, Module, Param, SourceLocation};
use crate::ir::{Stmt, StmtId, Symbol, Variable};
use crate::name::Name;

/// Prints a module.
pub fn print(module: &Module) -> String {
    let mut printer = Printer { module, out: String::with_capacity(1 << 16), next_origin: 0 };
    printer.module();
    printer.out
}

/// Prints one function of a module, or its declaration.
pub fn print_function(module: &Module, function: &Function) -> String {
    let mut printer = Printer { module, out: String::new(), next_origin: 0 };
    printer.function(function);
    printer.out
}

/// Prints one variable of a module.
pub fn print_variable(module: &Module, variable: &Variable) -> String {
    let mut printer = Printer { module, out: String::new(), next_origin: 0 };
    printer.variable(variable, None);
    printer.out
}

/// Prints one statement of a function without line end or indentation, as messages show it.
pub fn print_stmt(module: &Module, function: &Function, body: &Body, id: StmtId) -> String {
    let mut printer = Printer { module, out: String::new(), next_origin: 0 };
    printer.stmt(&Scope { function, body }, id);
    printer.out
}

struct Printer<'a> {
    module: &'a Module,
    out: String,
    /// The origin that the parser will give to the next instruction if no comment says otherwise.
    next_origin: u32,
}

/// A function while it is printed.
struct Scope<'a> {
    function: &'a Function,
    body: &'a Body,
}

impl<'a> Printer<'a> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, name: Name) {
        let text = self.module.names.text(name);
        self.out.push_str(text);
    }

    /// A decimal number. Written by hand: a third of a text are numbers, and `write!` is slow.
    fn number(&mut self, mut value: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
    }

    fn signed(&mut self, value: i64) {
        if value < 0 {
            self.out.push('-');
        }
        self.number(value.unsigned_abs());
    }

    fn hexadecimal(&mut self, value: u64, digits: u32) {
        let digits = digits.max((64 - value.leading_zeros()).div_ceil(4)).max(1);
        for digit in (0..digits).rev() {
            let nibble = (value >> (digit * 4) & 15) as usize;
            self.out.push(char::from(b"0123456789ABCDEF"[nibble]));
        }
    }

    fn module(&mut self) {
        if let Some((major, minor)) = self.module.version {
            self.text(".version ");
            self.number(major.into());
            self.text(".");
            self.number(minor.into());
            self.text("\n");
        }
        for (index, &name) in self.module.target.iter().enumerate() {
            self.text(if index == 0 { ".target " } else { ", " });
            self.name(name);
        }
        if !self.module.target.is_empty() {
            self.text("\n");
        }
        if let Some(size) = self.module.address_size {
            self.text(".address_size ");
            self.number(size.into());
            self.text("\n");
        }
        for item in &self.module.items {
            self.text("\n");
            self.item(item);
        }
    }

    fn item(&mut self, item: &'a Item) {
        match item {
            Item::Function(id) => self.function(&self.module.functions[*id]),
            Item::Variable(id) => {
                self.variable(&self.module.globals[*id], None);
                self.text(";\n");
            }
            Item::File(index) => self.file(&self.module.files[*index]),
            Item::Section(name, section) => self.section(*name, section),
            Item::Alias(alias) => {
                self.text(".alias ");
                self.name(self.module.functions[alias.alias].name);
                self.text(", ");
                self.name(self.module.functions[alias.target].name);
                self.text(";\n");
            }
            Item::Directive(directive) => {
                self.directive(directive);
                self.text(";\n");
            }
            Item::Unknown(unknown) => {
                self.name(unknown.text);
                self.text(";\n");
            }
        }
    }

    fn file(&mut self, file: &FileEntry) {
        self.text(".file\t");
        self.number(file.index.into());
        self.text(" \"");
        self.name(file.path);
        self.text("\"");
        if let Some((time, size)) = file.stamp {
            self.text(", ");
            self.number(time);
            self.text(", ");
            self.number(size);
        }
        self.text("\n");
    }

    fn directive(&mut self, directive: &Directive) {
        self.text(".");
        self.name(directive.name);
        for (index, arg) in directive.args.iter().enumerate() {
            self.text(if index == 0 { " " } else { ", " });
            match *arg {
                DirectiveArg::Int(value) => self.signed(value),
                DirectiveArg::Word(word) => self.name(word),
                DirectiveArg::Text(text) => {
                    self.text("\"");
                    self.name(text);
                    self.text("\"");
                }
            }
        }
    }

    fn function(&mut self, function: &'a Function) {
        if let Some(linkage) = function.linkage {
            self.text(".");
            self.text(linkage.text());
            self.text(" ");
        }
        self.text(if function.is_entry() { ".entry " } else { ".func " });
        for &attribute in &function.attributes {
            self.text(".attribute(");
            self.name(attribute);
            self.text(") ");
        }
        if !function.returns.is_empty() {
            self.params(function, &function.returns, " ");
            self.text(" ");
        }
        self.name(function.name);
        self.params(function, &function.params, "\n\t");
        for directive in &function.directives {
            self.text("\n");
            self.directive(directive);
            if self.module.names.text(directive.name) == "pragma" {
                self.text(";");
            }
        }
        let Some(body) = &function.body else {
            self.text(";\n");
            return;
        };
        self.text("\n{\n");
        let scope = Scope { function, body };
        for id in body.iter() {
            match body.stmt(id) {
                Stmt::Label(_)
                | Stmt::BranchTargets(..)
                | Stmt::CallTargets(..)
                | Stmt::CallPrototype(..)
                | Stmt::Open
                | Stmt::Close => {}
                _ => self.text("\t"),
            }
            self.stmt(&scope, id);
            self.origin(body, id);
            self.text("\n");
        }
        self.text("}\n");
    }

    fn params(&mut self, function: &Function, params: &[Param], separator: &str) {
        self.text("(");
        for (index, param) in params.iter().enumerate() {
            if index > 0 {
                self.text(",");
            }
            if index > 0 || params.len() > 1 || separator != " " {
                self.text(separator);
            }
            match *param {
                Param::Var(var) => self.variable(&function.vars[var], None),
                Param::Reg(group) => {
                    let group = &function.groups[group];
                    self.text(".reg ");
                    self.reg_type(group);
                    self.name(group.name);
                }
            }
        }
        if !params.is_empty() && separator != " " {
            self.text("\n");
        }
        self.text(")");
    }

    fn reg_type(&mut self, group: &crate::ir::RegGroup) {
        if group.vector > 1 {
            self.text(".v");
            self.number(group.vector.into());
            self.text(" ");
        }
        self.text(".");
        self.text(group.ty.text());
        self.text(" \t");
    }

    fn stmt(&mut self, scope: &Scope<'_>, id: StmtId) {
        match scope.body.stmt(id) {
            Stmt::Inst(inst) => self.inst(scope, inst),
            Stmt::Unknown(text) => {
                self.name(*text);
                self.text(";");
            }
            Stmt::Label(label) => {
                self.name(scope.function.labels[*label].name);
                self.text(":");
            }
            Stmt::Open => self.text("{"),
            Stmt::Close => self.text("}"),
            Stmt::Regs(group) => {
                let group = &scope.function.groups[*group];
                self.text(".reg ");
                self.reg_type(group);
                self.name(group.name);
                if let Some(count) = group.count {
                    self.text("<");
                    self.number(count.into());
                    self.text(">");
                }
                self.text(";");
            }
            Stmt::Var(var) => {
                self.variable(&scope.function.vars[*var], Some(scope));
                self.text(";");
            }
            Stmt::Loc(location) => self.location(location),
            Stmt::Directive(directive) => {
                self.directive(directive);
                self.text(";");
            }
            Stmt::BranchTargets(label, list) => {
                self.name(scope.function.labels[*label].name);
                self.text(": .branchtargets ");
                self.names(scope, *list);
            }
            Stmt::CallTargets(label, list) => {
                self.name(scope.function.labels[*label].name);
                self.text(": .calltargets ");
                self.names(scope, *list);
            }
            Stmt::CallPrototype(label, prototype) => {
                self.name(scope.function.labels[*label].name);
                self.text(": .callprototype ");
                self.prototype_params(&prototype.returns);
                self.text(" ");
                self.name(prototype.name);
                self.text(" ");
                self.prototype_params(&prototype.params);
                for directive in &prototype.directives {
                    self.text(" ");
                    self.directive(directive);
                }
                self.text(";");
            }
        }
    }

    fn names(&mut self, scope: &Scope<'_>, list: List) {
        for (index, operand) in scope.body.operands(list).iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.operand(scope, operand);
        }
        self.text(";");
    }

    fn prototype_params(&mut self, params: &[crate::ir::Variable]) {
        self.text("(");
        for (index, param) in params.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.variable(param, None);
        }
        self.text(")");
    }

    fn location(&mut self, location: &SourceLocation) {
        self.text(".loc\t");
        self.place(location.file, location.line, location.column);
        if let Some(inlined) = &location.inlined {
            self.text(", function_name ");
            self.name(inlined.function_name);
            if inlined.offset != 0 {
                self.text("+");
                self.number(inlined.offset.into());
            }
            self.text(", inlined_at ");
            self.place(inlined.file, inlined.line, inlined.column);
        }
    }

    fn place(&mut self, file: u32, line: u32, column: u32) {
        self.number(file.into());
        self.text(" ");
        self.number(line.into());
        self.text(" ");
        self.number(column.into());
    }

    fn inst(&mut self, scope: &Scope<'_>, inst: &Inst) {
        if let Some(guard) = inst.guard {
            self.text(if guard.negated { "@!" } else { "@" });
            self.reg(scope, guard.reg);
            self.text(" ");
        }
        self.text(self.module.forms[inst.form].spelling());
        let operands = scope.body.operands(inst.operands);
        for (index, operand) in operands.iter().enumerate() {
            self.text(if index == 0 { " \t" } else { ", " });
            self.inst_operand(scope, operand, index < 8 && inst.zero_offsets >> index & 1 != 0);
            if inst.unified && operand.is_address() {
                self.text(".unified");
            }
        }
        self.text(";");
    }

    /// Says whose instruction this is where the parser would not guess it.
    fn origin(&mut self, body: &Body, id: StmtId) {
        if !matches!(body.stmt(id), Stmt::Inst(_) | Stmt::Unknown(_)) {
            return;
        }
        let origin = body.origin(id);
        let ordinal = origin.id.index() as u32;
        if let Some(tag) = origin.tag {
            let tag = self.module.tags[tag];
            self.text(" //@ ");
            self.number(ordinal.into());
            self.text(" ");
            self.name(tag.tool);
            self.text(".");
            self.name(tag.role);
            if tag.copy != 0 {
                self.text("#");
                self.number(tag.copy.into());
            }
        } else {
            if ordinal != self.next_origin {
                self.text(" //@ ");
                self.number(ordinal.into());
            }
            self.next_origin = ordinal + 1;
        }
    }

    fn symbol(&mut self, function: Option<&Function>, symbol: Symbol) {
        let name = match (symbol, function) {
            (Symbol::Global(global), _) => self.module.globals[global].name,
            (Symbol::Func(func), _) => self.module.functions[func].name,
            (Symbol::Var(var), Some(function)) => function.vars[var].name,
            (Symbol::Label(label), Some(function)) => function.labels[label].name,
            (Symbol::Undeclared(name), _) => name,
            (Symbol::Var(_) | Symbol::Label(_), None) => {
                unreachable!("variables of functions and labels are only named within functions")
            }
        };
        self.name(name);
    }
}
