//! Operands.

use smallvec::SmallVec;

use super::constant::Constant;
use super::function::Unfinished;
use super::{Binding, Error, Ident, Parser};
use crate::ir::{Inst, Operand, PairMember, Symbol};
use crate::ops::Effect;
use crate::special::Special;

/// The operands of one instruction.
pub(super) type Operands = SmallVec<[Operand; 8]>;

impl<'a> Parser<'a> {
    /// The rest of an instruction after its opcode, up to and with the semicolon. `operands` are the instruction's,
    /// not yet in the pool.
    pub(super) fn operands(
        &mut self,
        unfinished: &mut Unfinished,
        inst: &mut Inst,
        operands: &mut Operands,
    ) -> Result<(), Error> {
        // A statement that could not be read may have left it after.
        self.has_zero_offset = false;
        if self.cursor.peek() == b';' {
            self.cursor.advance();
            return Ok(());
        }
        let is_call = self.module.forms[inst.form].effect() == Some(Effect::Call);
        loop {
            let operand = match self.cursor.peek() {
                b'(' if is_call => {
                    self.cursor.eat(b'(');
                    Operand::Arguments(self.operand_list(unfinished, b')', "`,` or `)`")?)
                }
                _ => self.operand(unfinished)?,
            };
            if std::mem::take(&mut self.has_zero_offset) && operands.len() < 8 {
                inst.zero_offsets |= 1 << operands.len();
            }
            operands.push(operand);
            match self.cursor.peek() {
                b';' => {
                    // The annotation after it is on the same line, so the space stays.
                    self.cursor.advance();
                    return Ok(());
                }
                b',' => {
                    self.cursor.eat(b',');
                }
                b'.' if operand.is_address() && self.cursor.eat_text(".unified") => {
                    inst.unified = true;
                    match self.cursor.peek() {
                        b';' => {
                            self.cursor.advance();
                            return Ok(());
                        }
                        _ => self.expect(b',', "`,` or `;`")?,
                    }
                }
                _ => return Err(self.expected("`,` or `;`")),
            }
        }
    }

    /// One operand, and the space after it.
    fn operand(&mut self, unfinished: &mut Unfinished) -> Result<Operand, Error> {
        if let Some(value) = self.cursor.plain_decimal() {
            return Ok(Operand::Int(value.into()));
        }
        let operand = match self.cursor.peek() {
            b'{' => {
                self.cursor.eat(b'{');
                let list = self.operand_list(unfinished, b'}', "`,` or `}`")?;
                return Ok(match self.pair_second(unfinished)? {
                    Some(second) => Operand::VectorPair(list, second),
                    None => Operand::Vector(list),
                });
            }
            b'[' => return self.address(unfinished),
            b'!' => {
                self.cursor.eat(b'!');
                if !self.cursor.at_ident() {
                    // `!0` is an expression.
                    let Constant::Int { bits, .. } = self.constant()? else {
                        return Err(self.expected("a predicate register"));
                    };
                    Operand::Int(i64::from(bits == 0))
                } else {
                    Operand::Not(self.reg(unfinished, "a predicate register")?)
                }
            }
            b'-' => {
                let mut probe = self.cursor.clone();
                probe.eat(b'-');
                if probe.at_ident() {
                    self.cursor = probe;
                    Operand::Neg(self.reg(unfinished, "a register or a number")?)
                } else {
                    self.constant()?.operand()
                }
            }
            b'0'..=b'9' | b'+' | b'~' | b'(' => self.constant()?.operand(),
            _ => match self.cursor.ident() {
                Some(ident) => self.named_operand(unfinished, ident)?,
                None => return Err(self.expected("an operand")),
            },
        };
        self.cursor.skip_space();
        Ok(operand)
    }

    fn reg(&mut self, unfinished: &mut Unfinished, expected: &'static str) -> Result<crate::ir::Reg, Error> {
        let ident = self.ident(expected)?;
        match self.find_reg(unfinished, ident) {
            Some(reg) => Ok(reg),
            None => Err(self.error_at(ident, format!("`{}` is not a declared register", ident.text))),
        }
    }

    /// Operands between commas up to the closing bracket, and the space after it.
    fn operand_list(
        &mut self,
        unfinished: &mut Unfinished,
        close: u8,
        expected: &'static str,
    ) -> Result<crate::ir::List, Error> {
        let mut operands = Operands::new();
        while !self.cursor.eat(close) {
            if matches!(self.cursor.peek(), b'{' | b'[') {
                return Err(self.expected("a register or a number"));
            }
            operands.push(self.operand(unfinished)?);
            if !self.cursor.eat(b',') {
                self.expect(close, expected)?;
                break;
            }
        }
        let list = unfinished.body.list(&operands);
        self.remember_labels(unfinished, list);
        Ok(list)
    }

    fn named_operand(&mut self, unfinished: &mut Unfinished, ident: Ident<'a>) -> Result<Operand, Error> {
        if ident.text == "_" {
            return Ok(match self.pair_second(unfinished)? {
                Some(second) => Operand::Pair(PairMember::SINK, second),
                None => Operand::Sink,
            });
        }
        if let Some(reg) = self.find_reg(unfinished, ident) {
            return match self.cursor.peek() {
                b'.' => {
                    self.cursor.advance();
                    let part = self.ident("a part such as `x` or `b0`")?;
                    Ok(Operand::Part(reg, self.module.names.intern(part.text)))
                }
                b'|' | b' ' | b'\t' => Ok(match self.pair_second(unfinished)? {
                    Some(second) => Operand::Pair(reg.into(), second),
                    None => Operand::Reg(reg),
                }),
                _ => Ok(Operand::Reg(reg)),
            };
        }
        if ident.text == "WARP_SZ" {
            return Ok(Operand::WarpSize);
        }
        if ident.text.starts_with('%') {
            if self.cursor.peek() == b'.' {
                let mut probe = self.cursor.clone();
                probe.advance();
                if probe.ident().is_some()
                    && let Some(special) = Special::parse(probe.text_since(ident.at))
                {
                    self.cursor = probe;
                    return Ok(Operand::Special(special));
                }
            }
            if let Some(special) = Special::parse(ident.text) {
                return Ok(Operand::Special(special));
            }
            return Err(self.error_at(ident, format!("`{}` is not a declared register", ident.text)));
        }
        self.cursor.skip_space();
        let operand = match self.cursor.peek() {
            b'[' => {
                self.cursor.eat(b'[');
                let Operand::Symbol(symbol, _) = self.symbol_operand(ident, 0) else { unreachable!("made above") };
                let index = self.offset(false)?;
                self.cursor.skip_space();
                self.expect(b']', "`]`")?;
                Operand::Element(symbol, index)
            }
            b'+' | b'-' => {
                let offset = self.signed_offset()?;
                self.symbol_operand(ident, offset)
            }
            _ => self.symbol_operand(ident, 0),
        };
        Ok(operand)
    }

    /// `|q` after a first destination.
    fn pair_second(&mut self, unfinished: &mut Unfinished) -> Result<Option<PairMember>, Error> {
        self.cursor.skip_space();
        if !self.cursor.eat(b'|') {
            return Ok(None);
        }
        if self.cursor.eat_word("_") {
            return Ok(Some(PairMember::SINK));
        }
        let reg = self.reg(unfinished, "a predicate register or `_`")?;
        self.cursor.skip_space();
        Ok(Some(reg.into()))
    }

    /// `+4` or `-4`.
    fn signed_offset(&mut self) -> Result<i32, Error> {
        let negative = self.cursor.peek() == b'-';
        self.cursor.advance();
        self.cursor.skip_space();
        if let Some(value) = self.cursor.plain_decimal() {
            return Ok(if negative { -(value as i32) } else { value as i32 });
        }
        self.offset(negative)
    }

    /// A name that is no register.
    pub(super) fn symbol_operand(&mut self, ident: Ident<'_>, offset: i32) -> Operand {
        let name = self.module.names.intern(ident.text);
        let symbol = match self.scopes.get(name) {
            Binding::Var(var) => Symbol::Var(var),
            Binding::Global(global) => Symbol::Global(global),
            Binding::Func(func) => Symbol::Func(func),
            // Labels are found at the end of their scope, where all of them are known.
            Binding::Label(..) | Binding::Nothing | Binding::Reg(..) | Binding::Regs(_) => Symbol::Undeclared(name),
        };
        Operand::Symbol(symbol, offset)
    }

    /// `[…]`, and the space after it.
    fn address(&mut self, unfinished: &mut Unfinished) -> Result<Operand, Error> {
        self.cursor.eat(b'[');
        let first = self.address_base(unfinished)?;
        if self.cursor.eat(b']') {
            return Ok(first);
        }
        if self.cursor.peek() != b',' {
            return Err(self.expected("`]`, `,` or an offset"));
        }
        let mut parts: Operands = smallvec::smallvec![first];
        while self.cursor.eat(b',') {
            let part = if self.cursor.peek() == b'[' {
                return Err(self.expected("a register, a number or `{`"));
            } else {
                self.operand(unfinished)?
            };
            parts.push(part);
        }
        self.expect(b']', "`,` or `]`")?;
        let list = unfinished.body.list(&parts);
        Ok(Operand::TupleAddress(list))
    }

    /// `%rd1+8`, `buffer-4` or `64`, and the space after it.
    fn address_base(&mut self, unfinished: &mut Unfinished) -> Result<Operand, Error> {
        let Some(ident) = self.cursor.ident() else {
            let at = self.cursor.position();
            let Constant::Int { bits, .. } = self.constant()? else {
                return Err(self.error_since(at, "an address must be an integer"));
            };
            self.cursor.skip_space();
            return Ok(Operand::IntAddress(bits));
        };
        let reg = self.find_reg(unfinished, ident);
        if !matches!(self.cursor.peek(), b']' | b'+') {
            self.cursor.skip_space();
        }
        let offset = match self.cursor.peek() {
            b'+' | b'-' => {
                let offset = self.signed_offset()?;
                self.has_zero_offset = offset == 0;
                self.cursor.skip_space();
                offset
            }
            _ => 0,
        };
        if let Some(reg) = reg {
            return Ok(Operand::RegAddress(reg, offset));
        }
        if ident.text.starts_with('%') {
            return Err(self.error_at(ident, format!("`{}` is not a declared register", ident.text)));
        }
        match self.symbol_operand(ident, offset) {
            Operand::Symbol(symbol, offset) => Ok(Operand::SymbolAddress(symbol, offset)),
            _ => unreachable!("symbol_operand makes symbols"),
        }
    }
}
