//! Printing of operands.

use super::{Printer, Scope};
use crate::ir::{List, Operand, PairMember, Reg};

impl Printer<'_> {
    pub(super) fn reg(&mut self, scope: &Scope<'_>, reg: Reg) {
        let info = scope.function.regs[reg];
        let group = &scope.function.groups[info.group];
        self.name(group.name);
        if group.count.is_some() {
            self.number(info.number.into());
        }
    }

    /// An operand of an instruction; `zero_offset` if it is an address whose offset of zero was written.
    pub(super) fn inst_operand(&mut self, scope: &Scope<'_>, operand: &Operand, zero_offset: bool) {
        self.operand(scope, operand);
        if zero_offset && self.out.ends_with(']') && has_no_offset(scope, operand) {
            let inside = match *operand {
                // Before what follows the base in a tuple.
                Operand::TupleAddress(_) => {
                    self.out.rfind('[').and_then(|open| Some(open + self.out[open..].find(',')?))
                }
                _ => None,
            };
            self.out.insert_str(inside.unwrap_or(self.out.len() - 1), "+0");
        }
    }

    pub(super) fn operand(&mut self, scope: &Scope<'_>, operand: &Operand) {
        match *operand {
            Operand::Reg(reg) => self.reg(scope, reg),
            Operand::Not(reg) => {
                self.text("!");
                self.reg(scope, reg);
            }
            Operand::Neg(reg) => {
                self.text("-");
                self.reg(scope, reg);
            }
            Operand::Part(reg, part) => {
                self.reg(scope, reg);
                self.text(".");
                self.name(part);
            }
            Operand::Pair(first, second) => {
                self.pair_member(scope, first);
                self.text("|");
                self.pair_member(scope, second);
            }
            Operand::VectorPair(list, second) => {
                self.text("{");
                self.list(scope, list);
                self.text("}|");
                self.pair_member(scope, second);
            }
            Operand::Special(special) => self.text(special.text()),
            Operand::Int(value) => self.signed(value),
            Operand::Hex(value) => {
                self.text("0x");
                self.hexadecimal(value, 1);
            }
            Operand::F32(bits) => {
                self.text("0f");
                self.hexadecimal(bits.into(), 8);
            }
            Operand::F64(bits) => {
                self.text("0d");
                self.hexadecimal(bits, 16);
            }
            Operand::WarpSize => self.text("WARP_SZ"),
            Operand::Symbol(symbol, offset) => {
                self.symbol(Some(scope.function), symbol);
                self.offset(offset);
            }
            Operand::RegAddress(..) | Operand::SymbolAddress(..) | Operand::IntAddress(_) => {
                self.text("[");
                self.address_base(scope, operand);
                self.text("]");
            }
            Operand::TupleAddress(list) => {
                self.text("[");
                self.list(scope, list);
                self.text("]");
            }
            Operand::Element(symbol, index) => {
                self.symbol(Some(scope.function), symbol);
                self.text("[");
                self.signed(index.into());
                self.text("]");
            }
            Operand::Vector(list) => {
                self.text("{");
                self.list(scope, list);
                self.text("}");
            }
            Operand::Arguments(list) => {
                self.text("(");
                self.list(scope, list);
                self.text(")");
            }
            Operand::Sink => self.text("_"),
        }
    }

    /// What stands between brackets, or as a member of a tuple address.
    fn address_base(&mut self, scope: &Scope<'_>, operand: &Operand) {
        match *operand {
            Operand::RegAddress(reg, offset) => {
                self.reg(scope, reg);
                self.offset(offset);
            }
            Operand::SymbolAddress(symbol, offset) => {
                self.symbol(Some(scope.function), symbol);
                self.offset(offset);
            }
            Operand::IntAddress(value) => self.number(value),
            ref operand => self.operand(scope, operand),
        }
    }

    fn list(&mut self, scope: &Scope<'_>, list: List) {
        for (index, operand) in scope.body.operands(list).iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.address_base(scope, operand);
        }
    }

    fn pair_member(&mut self, scope: &Scope<'_>, member: PairMember) {
        match member.reg() {
            Some(reg) => self.reg(scope, reg),
            None => self.text("_"),
        }
    }

    pub(super) fn offset(&mut self, offset: i32) {
        if offset != 0 {
            self.text("+");
            self.signed(offset.into());
        }
    }
}

/// Whether the address has an offset of zero.
fn has_no_offset(scope: &Scope<'_>, operand: &Operand) -> bool {
    match *operand {
        Operand::RegAddress(_, 0) | Operand::SymbolAddress(_, 0) => true,
        Operand::TupleAddress(list) => {
            scope.body.operands(list).first().is_some_and(|first| has_no_offset(scope, first))
        }
        _ => false,
    }
}
