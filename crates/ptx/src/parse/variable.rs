//! Declarations of variables and parameters, and initial values.

use super::{Binding, Error, Ident, Parser};
use crate::ir::{InitValue, Initializer, Item, PointerNote, Symbol, Variable};
use crate::name::Name;
use crate::types::{Linkage, Space, Type};

/// How deep the braces of an initial value may nest.
const MAX_DEPTH: u32 = 64;

impl<'a> Parser<'a> {
    /// Variables of the module, after the word of their state space.
    pub(super) fn global_variables(&mut self, space: Ident<'a>, linkage: Option<Linkage>) -> Result<(), Error> {
        self.variables(space, linkage, |parser, variable| {
            let name = variable.name;
            let global = parser.module.globals.push(variable);
            parser.scopes.bind(name, Binding::Global(global));
            parser.module.items.push(Item::Variable(global));
        })
    }

    /// `.space` and attributes have been read as far as the space: reads declarators up to the semicolon.
    pub(super) fn variables(
        &mut self,
        space: Ident<'a>,
        linkage: Option<Linkage>,
        mut declare: impl FnMut(&mut Self, Variable),
    ) -> Result<(), Error> {
        let template = self.variable_type(space, linkage)?;
        loop {
            let mut variable = template.clone();
            self.declarator(&mut variable)?;
            if self.cursor.eat(b'=') {
                let mut values = Vec::new();
                self.initializer(&mut values, 0)?;
                variable.init = Some(Initializer { values });
            }
            declare(self, variable);
            self.cursor.skip_space();
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.expect(b';', "`,`, `=` or `;`")
    }

    /// Everything between the space and the name.
    pub(super) fn variable_type(&mut self, space: Ident<'a>, linkage: Option<Linkage>) -> Result<Variable, Error> {
        let Some(parsed_space) = Space::parse(space.text) else {
            return Err(self.error_at(space, format!("`.{}` is not a state space", space.text)));
        };
        let mut variable = Variable::scalar(self.module.names.intern("_"), parsed_space, Type::B32);
        variable.linkage = linkage;
        if self.cursor.eat(b'[') {
            variable.bank = Some(self.unsigned32("a bank")?);
            self.cursor.skip_space();
            self.expect(b']', "`]`")?;
        }
        let mut ty = None;
        while self.cursor.peek() == b'.' {
            let word = self.directive_word("a type")?;
            match word.text {
                "align" => variable.align = Some(self.alignment()?),
                "v2" => variable.vector = 2,
                "v4" => variable.vector = 4,
                "v8" => variable.vector = 8,
                "attribute" => variable.attributes.push(self.attribute()?),
                "ptr" => variable.pointer = Some(self.pointer_note()?),
                text => match Type::parse(text) {
                    Some(parsed) => ty = Some(parsed),
                    None => return Err(self.error_at(word, format!("`.{text}` is not a type"))),
                },
            }
            self.cursor.skip_space();
        }
        variable.ty = match ty {
            Some(ty) => ty,
            // `.tex t;` of old modules has no type: it is a handle.
            None if parsed_space == Space::Tex => Type::U64,
            None => return Err(self.expected("a type such as `.b32`")),
        };
        Ok(variable)
    }

    /// Name and dimensions.
    pub(super) fn declarator(&mut self, variable: &mut Variable) -> Result<(), Error> {
        let name = self.ident("the name of a variable")?;
        variable.at = name.at;
        variable.name = self.module.names.intern(name.text);
        self.cursor.skip_space();
        while self.cursor.eat(b'[') {
            let at = self.cursor.position();
            let dimension = if self.cursor.peek() == b']' {
                None
            } else {
                let len = self.integer()?;
                Some(u64::try_from(len).map_err(|_| self.error_since(at, "an array cannot have a negative length"))?)
            };
            variable.dimensions.push(dimension);
            self.cursor.skip_space();
            self.expect(b']', "`]`")?;
        }
        Ok(())
    }

    fn alignment(&mut self) -> Result<u32, Error> {
        let at = self.cursor.position();
        let align = self.unsigned32("an alignment")?;
        if !align.is_power_of_two() {
            return Err(self.error_since(at, format!("an alignment must be a power of two, and {align} is not")));
        }
        Ok(align)
    }

    /// `(…)` of `.attribute`, as written.
    pub(super) fn attribute(&mut self) -> Result<Name, Error> {
        self.expect(b'(', "`(`")?;
        let start = self.cursor.position();
        let mut depth = 1_u32;
        loop {
            match self.cursor.peek() {
                b'(' => depth += 1,
                b')' if depth == 1 => break,
                b')' => depth -= 1,
                b';' | b'{' | b'}' | 0 => return Err(self.expected("`)`")),
                _ => {}
            }
            self.cursor.advance_char();
        }
        let text = self.cursor.text_since(start).trim();
        let name = self.module.names.intern(text);
        self.cursor.eat(b')');
        Ok(name)
    }

    /// What follows `.ptr`.
    fn pointer_note(&mut self) -> Result<PointerNote, Error> {
        let mut note = PointerNote { space: None, align: None };
        while self.cursor.peek() == b'.' {
            let word = self.directive_word("a state space or `.align`")?;
            match word.text {
                "align" => note.align = Some(self.alignment()?),
                text => match Space::parse(text) {
                    Some(space) => note.space = Some(space),
                    None => {
                        return Err(self.error_at(word, format!("`.{text}` is not a state space")));
                    }
                },
            }
            self.cursor.skip_space();
        }
        Ok(note)
    }

    fn initializer(&mut self, values: &mut Vec<InitValue>, depth: u32) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(self.error_here(format!("an initial value is nested more than {MAX_DEPTH} deep")));
        }
        if !self.cursor.eat(b'{') {
            values.push(self.initial_value()?);
            return Ok(());
        }
        values.push(InitValue::Open);
        while !self.cursor.eat(b'}') {
            self.initializer(values, depth + 1)?;
            self.cursor.skip_space();
            if !self.cursor.eat(b',') {
                self.expect(b'}', "`,` or `}`")?;
                break;
            }
        }
        values.push(InitValue::Close);
        Ok(())
    }

    fn initial_value(&mut self) -> Result<InitValue, Error> {
        if self.cursor.at_ident() {
            if self.cursor.eat_word("generic") {
                self.expect(b'(', "`(`")?;
                return self.initial_address(true, None, true);
            }
            return self.initial_address(false, None, false);
        }
        let at = self.cursor.position();
        let operand = self.constant()?.operand();
        self.cursor.skip_space();
        if self.cursor.peek() == b'(' {
            // `0xFF00(symbol)`: the byte of an address that the mask selects.
            let mask = operand.as_int().unwrap_or(0) as u64;
            let byte = mask.trailing_zeros() / 8;
            if byte > 7 || mask != 0xff << (byte * 8) {
                return Err(self.error_since(at, "a mask of an address must be `0xFF` followed by zeros"));
            }
            self.cursor.eat(b'(');
            let generic = self.cursor.eat_word("generic");
            if generic {
                self.expect(b'(', "`(`")?;
            }
            let value = self.initial_address(generic, Some(byte as u8), generic)?;
            self.cursor.skip_space();
            self.expect(b')', "`)`")?;
            return Ok(value);
        }
        Ok(match operand {
            crate::ir::Operand::F32(bits) => InitValue::F32(bits),
            crate::ir::Operand::F64(bits) => InitValue::F64(bits),
            operand => InitValue::Int(operand.as_int().expect("constants are numbers")),
        })
    }

    /// `symbol+4`, and a parenthesis after the symbol or the sum if one is open.
    fn initial_address(&mut self, generic: bool, byte: Option<u8>, mut open: bool) -> Result<InitValue, Error> {
        let name = self.ident("the name of a variable or function")?;
        self.cursor.skip_space();
        if byte.is_none() && !generic && self.cursor.eat(b'=') {
            let field = self.module.names.intern(name.text);
            let value = self.cursor.spelling();
            return Ok(InitValue::Field(field, self.module.names.intern(value)));
        }
        let symbol = self.module_symbol(name);
        if open && self.cursor.eat(b')') {
            open = false;
        }
        let mut offset = 0;
        if matches!(self.cursor.peek(), b'+' | b'-') {
            let negative = self.cursor.peek() == b'-';
            self.cursor.advance();
            self.cursor.skip_space();
            offset = self.offset(negative)?;
            self.cursor.skip_space();
        }
        if open {
            self.expect(b')', "`)`")?;
        }
        Ok(InitValue::Address { symbol, offset, generic, byte })
    }

    fn module_symbol(&mut self, name: Ident<'_>) -> Symbol {
        let name = self.module.names.intern(name.text);
        match self.scopes.get(name) {
            Binding::Global(global) => Symbol::Global(global),
            Binding::Func(func) => Symbol::Func(func),
            Binding::Var(var) => Symbol::Var(var),
            _ => Symbol::Undeclared(name),
        }
    }
}
