//! Printing of variables, parameters and initial values.

use super::{Printer, Scope};
use crate::ir::{InitValue, Variable};

impl Printer<'_> {
    /// A declaration without its semicolon. Local ones may refer to what their function declares.
    pub(super) fn variable(&mut self, variable: &Variable, scope: Option<&Scope<'_>>) {
        if let Some(linkage) = variable.linkage {
            self.text(".");
            self.text(linkage.text());
            self.text(" ");
        }
        self.text(".");
        self.text(variable.space.text());
        if let Some(bank) = variable.bank {
            self.text("[");
            self.number(bank.into());
            self.text("]");
        }
        for &attribute in &variable.attributes {
            self.text(" .attribute(");
            self.name(attribute);
            self.text(")");
        }
        // A pointer's own alignment stands after `.ptr`, the one of the parameter before the type.
        if let Some(align) = variable.align {
            self.text(" .align ");
            self.number(align.into());
        }
        if variable.vector > 1 {
            self.text(" .v");
            self.number(variable.vector.into());
        }
        self.text(" .");
        self.text(variable.ty.text());
        if let Some(pointer) = variable.pointer {
            self.text(" .ptr");
            if let Some(space) = pointer.space {
                self.text(" .");
                self.text(space.text());
            }
            if let Some(align) = pointer.align {
                self.text(" .align ");
                self.number(align.into());
            }
        }
        self.text(" ");
        self.name(variable.name);
        for dimension in &variable.dimensions {
            self.text("[");
            if let Some(len) = dimension {
                self.number(*len);
            }
            self.text("]");
        }
        if let Some(init) = &variable.init {
            self.text(" = ");
            let mut first = true;
            for value in &init.values {
                if !first && !matches!(value, InitValue::Close) {
                    self.text(", ");
                }
                self.initial_value(value, scope);
                first = matches!(value, InitValue::Open);
            }
        }
    }

    fn initial_value(&mut self, value: &InitValue, scope: Option<&Scope<'_>>) {
        match *value {
            InitValue::Open => self.text("{"),
            InitValue::Close => self.text("}"),
            InitValue::Int(value) => self.signed(value),
            InitValue::F32(bits) => {
                self.text("0f");
                self.hexadecimal(bits.into(), 8);
            }
            InitValue::F64(bits) => {
                self.text("0d");
                self.hexadecimal(bits, 16);
            }
            InitValue::Field(name, value) => {
                self.name(name);
                self.text(" = ");
                self.name(value);
            }
            InitValue::Address { symbol, offset, generic, byte } => {
                if let Some(byte) = byte {
                    self.text("0x");
                    self.hexadecimal(0xff << (8 * u32::from(byte)), 2);
                    self.text("(");
                }
                if generic {
                    self.text("generic(");
                }
                self.symbol(scope.map(|scope| scope.function), symbol);
                if generic {
                    self.text(")");
                }
                self.offset(offset);
                if byte.is_some() {
                    self.text(")");
                }
            }
        }
    }
}
