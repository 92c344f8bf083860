//! Functions: header and parameters, and the registers and labels that their statements name.

use rustc_hash::FxHashMap;

use super::{Binding, Error, Ident, NumberedRegs, Parser};
use crate::diagnostic::{Diagnostic, Position};
use crate::entity::{Id, Map};
use crate::ir::{
    Body, Function, FunctionKind, GroupId, Item, Label, LabelInfo, Operand, Param, Reg, RegGroup, RegInfo,
};
use crate::ir::{Symbol, Variable};
use crate::name::Name;
use crate::types::{Linkage, Space};

/// How deep braces may nest.
pub(super) const MAX_DEPTH: u32 = 500;

/// A function while its text is being read.
pub(super) struct Unfinished {
    pub(super) function: Function,
    pub(super) body: Body,
    /// The registers of each group that were used so far.
    used: Map<GroupId, UsedRegs>,
    /// Names that may be labels which come later.
    pending: Vec<PendingLabel>,
    /// Where the names of each open scope start in `pending`.
    pending_marks: Vec<usize>,
}

/// A place in the operand pool that holds a name which is not yet known to be a label.
struct PendingLabel {
    operand: u32,
    name: Name,
}

/// The ids of the registers of a group, by number. Dense while the numbers are about as many as the registers that
/// are used; a number far beyond that goes to the map, so that `%r4000000000` costs no more than its text.
#[derive(Clone, Default)]
struct UsedRegs {
    dense: Vec<u32>,
    sparse: FxHashMap<u32, Reg>,
}

const UNUSED: u32 = u32::MAX;

impl UsedRegs {
    fn get_or_insert(&mut self, number: u32, used: usize, make: impl FnOnce() -> Reg) -> Reg {
        let index = number as usize;
        if let Some(&id) = self.dense.get(index)
            && id != UNUSED
        {
            return Reg::new(id as usize);
        }
        if index >= 4 * used + 256 {
            return *self.sparse.entry(number).or_insert_with(make);
        }
        if let Some(&reg) = self.sparse.get(&number) {
            return reg;
        }
        if index >= self.dense.len() {
            self.dense.resize(index + 1, UNUSED);
        }
        let reg = make();
        self.dense[index] = reg.index() as u32;
        reg
    }
}

impl<'a> Parser<'a> {
    /// A function or kernel; the cursor is after `.entry` or `.func`.
    pub(super) fn function(&mut self, linkage: Option<Linkage>, is_entry: bool, at: Position) -> Result<(), Error> {
        let kind = if is_entry { FunctionKind::Entry } else { FunctionKind::Func };
        let mut unfinished = Unfinished {
            function: Function {
                kind,
                name: self.module.names.intern("_"),
                linkage,
                attributes: Vec::new(),
                returns: Vec::new(),
                params: Vec::new(),
                directives: Vec::new(),
                vars: Map::new(),
                groups: Map::new(),
                regs: Map::new(),
                labels: Map::new(),
                body: None,
                at,
            },
            body: Body::new(),
            used: Map::new(),
            pending: Vec::new(),
            pending_marks: Vec::new(),
        };
        // Parameters are known in the header and the body, and nowhere else.
        self.scopes.open();
        let depth = self.scopes.depth();
        let result = self.header_and_body(&mut unfinished);
        while self.scopes.depth() >= depth {
            self.scopes.close();
        }
        // Functions are known from their header on, also within their own body.
        let Unfinished { function, .. } = unfinished;
        let name = function.name;
        let id = self.module.functions.push(function);
        self.scopes.bind(name, Binding::Func(id));
        self.module.items.push(Item::Function(id));
        result
    }

    fn header_and_body(&mut self, unfinished: &mut Unfinished) -> Result<(), Error> {
        while self.cursor.peek() == b'.' {
            let word = self.directive_word("`.attribute`")?;
            if word.text != "attribute" {
                return Err(self.error_at(word, format!("expected the name of the function, found `.{}`", word.text)));
            }
            let attribute = self.attribute()?;
            unfinished.function.attributes.push(attribute);
        }
        if self.cursor.peek() == b'(' {
            unfinished.function.returns = self.params(unfinished)?;
        }
        let name = self.ident("the name of a function")?;
        unfinished.function.name = self.module.names.intern(name.text);
        // The function itself can be called and its address taken within its body.
        self.scopes.bind(unfinished.function.name, Binding::Func(self.module.functions.next_id()));
        self.cursor.skip_space();
        if self.cursor.peek() == b'(' {
            unfinished.function.params = self.params(unfinished)?;
        }
        while self.cursor.peek() == b'.' {
            let word = self.directive_word("a directive such as `.maxntid`, `{`, or `;`")?;
            let directive = if word.text == "pragma" { self.directive_args(word)? } else { self.directive_list(word)? };
            unfinished.function.directives.push(directive);
            self.cursor.skip_space();
        }
        if self.cursor.eat(b';') {
            return Ok(());
        }
        let open = self.cursor.position();
        self.expect(b'{', "`{`, `;`, or a directive such as `.maxntid`")?;
        unfinished.pending_marks.push(0);
        let closed = self.statements(unfinished);
        // What is not closed ends here, so that its labels are found.
        while !unfinished.pending_marks.is_empty() {
            self.resolve_labels(unfinished);
        }
        unfinished.function.body = Some(std::mem::take(&mut unfinished.body));
        if closed {
            Ok(())
        } else {
            Err(Diagnostic::error(open, 1, "the body that begins here is never closed").into())
        }
    }

    fn params(&mut self, unfinished: &mut Unfinished) -> Result<Vec<Param>, Error> {
        let mut params = Vec::new();
        self.expect(b'(', "`(`")?;
        while !self.cursor.eat(b')') {
            let space = self.directive_word("`.param` or `.reg`")?;
            let mut variable = self.variable_type(space, None)?;
            self.declarator(&mut variable)?;
            params.push(if variable.space == Space::Reg {
                Param::Reg(self.declare_regs(
                    unfinished,
                    RegGroup {
                        name: variable.name,
                        ty: variable.ty,
                        vector: variable.vector,
                        count: None,
                        at: variable.at,
                    },
                ))
            } else {
                let name = variable.name;
                let var = unfinished.function.vars.push(variable);
                self.scopes.bind(name, Binding::Var(var));
                Param::Var(var)
            });
            self.cursor.skip_space();
            if !self.cursor.eat(b',') {
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(params)
    }

    /// Parameters without a function: those of `.callprototype`.
    pub(super) fn prototype_params(&mut self) -> Result<Vec<Variable>, Error> {
        let mut params = Vec::new();
        self.expect(b'(', "`(`")?;
        while !self.cursor.eat(b')') {
            let space = self.directive_word("`.param` or `.reg`")?;
            let mut variable = self.variable_type(space, None)?;
            self.declarator(&mut variable)?;
            params.push(variable);
            self.cursor.skip_space();
            if !self.cursor.eat(b',') {
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(params)
    }

    /// `.reg .b32 %r<10>, a, b;` after `.reg`. Calls `declared` for each group.
    pub(super) fn registers(
        &mut self,
        unfinished: &mut Unfinished,
        space: Ident<'a>,
        mut declared: impl FnMut(&mut Unfinished, GroupId),
    ) -> Result<(), Error> {
        let template = self.variable_type(space, None)?;
        loop {
            let name = self.ident("the name of a register")?;
            self.cursor.skip_space();
            let count = if self.cursor.eat(b'<') {
                let count = self.number_of_registers()?;
                Some(count)
            } else {
                None
            };
            let group = RegGroup {
                name: self.module.names.intern(name.text),
                ty: template.ty,
                vector: template.vector,
                count,
                at: name.at,
            };
            let group = self.declare_regs(unfinished, group);
            declared(unfinished, group);
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.expect(b';', "`,` or `;`")
    }

    fn number_of_registers(&mut self) -> Result<u32, Error> {
        let at = self.cursor.position();
        let text = self.cursor.number_text_or_empty();
        let count = text.parse().map_err(|_| self.error_since(at, "expected a number of registers"))?;
        self.cursor.skip_space();
        self.expect(b'>', "`>`")?;
        Ok(count)
    }

    fn declare_regs(&mut self, unfinished: &mut Unfinished, group: RegGroup) -> GroupId {
        let id = unfinished.function.groups.push(group);
        unfinished.used.push(UsedRegs::default());
        let binding = if group.count.is_some() { Binding::Regs(id) } else { Binding::Reg(id, None) };
        self.scopes.bind(group.name, binding);
        id
    }

    /// The register that an identifier names, if it names one.
    pub(super) fn find_reg(&mut self, unfinished: &mut Unfinished, ident: Ident<'_>) -> Option<Reg> {
        if let Some((prefix, number)) = ident.numbered()
            && let Some(NumberedRegs { group, depth }) = self.find_group(prefix)
            && number < unfinished.function.groups[group].count.expect("a numbered group has a count")
            && !self.is_hidden(ident, depth)
        {
            let regs = &mut unfinished.function.regs;
            let used = regs.len();
            let make = || regs.push(RegInfo { group, number });
            return Some(unfinished.used[group].get_or_insert(number, used, make));
        }
        let name = self.module.names.find(ident.text)?;
        match self.scopes.get(name) {
            Binding::Reg(_, Some(reg)) => Some(reg),
            Binding::Reg(group, None) => {
                let reg = unfinished.function.regs.push(RegInfo { group, number: 0 });
                self.scopes.refine(name, Binding::Reg(group, Some(reg)));
                Some(reg)
            }
            _ => None,
        }
    }

    /// The declaration `%r<n>` that a prefix belongs to.
    fn find_group(&mut self, prefix: &str) -> Option<NumberedRegs> {
        if let Some(regs) = self.scopes.recent_group(prefix) {
            return Some(regs);
        }
        let name = self.module.names.find(prefix)?;
        self.scopes.find_group(prefix, name)
    }

    /// Whether a scope within the first `depth` ones declares this very name, as `.reg .pred %p1` hides one of
    /// `.reg .pred %p<9>`. Code of `__syncthreads_or` does so.
    fn is_hidden(&self, ident: Ident<'_>, depth: u32) -> bool {
        self.scopes.depth() > depth
            && self.module.names.find(ident.text).is_some_and(|name| self.scopes.is_bound_within(name, depth))
    }

    /// Defines a label here.
    pub(super) fn define_label(&mut self, unfinished: &mut Unfinished, ident: Ident<'_>) -> Label {
        let name = self.module.names.intern(ident.text);
        let label = unfinished.function.labels.push(LabelInfo { name, at: ident.at });
        self.scopes.bind(name, Binding::Label(label, self.scopes.depth()));
        label
    }

    pub(super) fn open_scope(&mut self, unfinished: &mut Unfinished) {
        self.scopes.open();
        unfinished.pending_marks.push(unfinished.pending.len());
    }

    pub(super) fn close_scope(&mut self, unfinished: &mut Unfinished) {
        self.resolve_labels(unfinished);
        self.scopes.close();
    }

    /// Gives the names that this scope used, and that are labels defined in it, their labels. The others may be
    /// labels of an enclosing scope.
    fn resolve_labels(&mut self, unfinished: &mut Unfinished) {
        let depth = self.scopes.depth();
        let mark = unfinished.pending_marks.pop().expect("every scope has a mark");
        let mut kept = mark;
        for index in mark..unfinished.pending.len() {
            let PendingLabel { operand, name } = unfinished.pending[index];
            match self.scopes.get(name) {
                Binding::Label(label, label_depth) if label_depth == depth => {
                    unfinished.body.set_pooled(operand, Operand::Symbol(Symbol::Label(label), 0));
                }
                _ => {
                    unfinished.pending.swap(kept, index);
                    kept += 1;
                }
            }
        }
        unfinished.pending.truncate(kept);
    }

    /// Remembers the operands that were just stored and hold names which may become labels.
    pub(super) fn remember_labels(&mut self, unfinished: &mut Unfinished, list: crate::ir::List) {
        for index in list.range() {
            if let Operand::Symbol(Symbol::Undeclared(name), 0) =
                unfinished.body.operands(list)[index - list.range().start]
            {
                unfinished.pending.push(PendingLabel { operand: index as u32, name });
            }
        }
    }
}
