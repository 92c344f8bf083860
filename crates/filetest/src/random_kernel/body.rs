//! The body of a function while it is written: its lines and its registers.

use std::fmt::Write;

use super::choose::Choose;
use super::facts::Facts;

/// What a register holds. Floats are kept apart from integers, because which bits a NaN has is nobody's business.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Pred,
    B16,
    B32,
    B64,
    F32,
    F64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
}

pub(super) const CLASSES: [Class; 10] = [
    Class::Pred,
    Class::B16,
    Class::B32,
    Class::B64,
    Class::F32,
    Class::F64,
    Class::F16,
    Class::Bf16,
    Class::F16x2,
    Class::Bf16x2,
];

impl Class {
    /// The class that holds values of a type.
    pub(super) fn of_type(ty: &str) -> Option<Self> {
        Some(match ty {
            "pred" => Self::Pred,
            "u8" | "s8" | "b8" | "u16" | "s16" | "b16" => Self::B16,
            "u32" | "s32" | "b32" | "u16x2" | "s16x2" => Self::B32,
            "u64" | "s64" | "b64" => Self::B64,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f16x2" => Self::F16x2,
            "bf16x2" => Self::Bf16x2,
            _ => return None,
        })
    }

    /// The class of twice the width.
    pub(super) fn wide(self) -> Self {
        match self {
            Self::B16 => Self::B32,
            _ => Self::B64,
        }
    }

    /// Names of registers, and the type they are declared with.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Pred => ("%p", ".pred"),
            Self::B16 => ("%h", ".b16"),
            Self::B32 => ("%r", ".b32"),
            Self::B64 => ("%d", ".b64"),
            Self::F32 => ("%f", ".f32"),
            Self::F64 => ("%g", ".f64"),
            Self::F16 => ("%x", ".b16"),
            Self::Bf16 => ("%y", ".b16"),
            Self::F16x2 => ("%u", ".b32"),
            Self::Bf16x2 => ("%v", ".b32"),
        }
    }

    fn index(self) -> usize {
        self as usize
    }

    pub(super) fn is_float(self) -> bool {
        self as usize >= Self::F32 as usize
    }
}

/// A function body.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) choose: Choose,
    pub(super) facts: Facts,
    pub(super) lines: Vec<String>,
    /// How many registers hold values between statements, by class.
    pool: [u32; 10],
    /// How many registers there are, those of the pool included.
    registers: [u32; 10],
    /// Registers with names of their own.
    named: Vec<(&'static str, String)>,
    labels: u32,
    pub(super) instructions: usize,
    /// What labels begin with, so that functions do not share them.
    prefix: String,
}

impl Body {
    pub(super) fn new(choose: Choose, prefix: &str) -> Self {
        Self {
            choose,
            facts: Facts::default(),
            lines: Vec::new(),
            pool: [0; 10],
            registers: [0; 10],
            named: Vec::new(),
            labels: 0,
            instructions: 0,
            prefix: prefix.to_owned(),
        }
    }

    /// Gives a class so many registers that statements choose from.
    pub(super) fn set_pool(&mut self, class: Class, count: u32) {
        self.pool[class.index()] = count;
        self.registers[class.index()] = count;
    }

    pub(super) fn pool(&self, class: Class) -> u32 {
        self.pool[class.index()]
    }

    pub(super) fn has(&self, class: Class) -> bool {
        self.pool(class) > 0
    }

    /// Writes an instruction.
    pub(super) fn put(&mut self, text: impl AsRef<str>) {
        self.instructions += 1;
        self.lines.push(format!("\t{};", text.as_ref()));
    }

    /// Writes a line that is no instruction.
    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    pub(super) fn label(&mut self, label: &str) {
        self.lines.push(format!("{label}:"));
    }

    pub(super) fn new_label(&mut self) -> String {
        self.labels += 1;
        format!("{}{}", self.prefix, self.labels)
    }

    /// A register for a moment.
    pub(super) fn temp(&mut self, class: Class) -> String {
        self.registers[class.index()] += 1;
        format!("{}{}", class.names().0, self.registers[class.index()])
    }

    /// Declares a register with a name.
    pub(super) fn named(&mut self, ty: &'static str, name: &str) -> String {
        self.named.push((ty, name.to_owned()));
        name.to_owned()
    }

    /// The n-th register of the pool, from 1.
    pub(super) fn nth(&self, class: Class, nth: u32) -> String {
        format!("{}{nth}", class.names().0)
    }

    /// A register of the pool.
    pub(super) fn reg(&mut self, class: Class) -> String {
        let nth = 1 + self.choose.below(self.pool(class));
        self.nth(class, nth)
    }

    /// A register of the pool, or an immediate.
    pub(super) fn source(&mut self, class: Class) -> String {
        if self.choose.percent(16)
            && let Some(immediate) = self.immediate(class)
        {
            return immediate;
        }
        self.reg(class)
    }

    fn immediate(&mut self, class: Class) -> Option<String> {
        let word = self.choose.word();
        let near = self.choose.pick(&[0_i64, 1, 2, 3, 7, 31, 32, -1, -2, 255, 127, -128]);
        let is_near = self.choose.percent(60);
        Some(match class {
            Class::B16 if is_near => near.to_string(),
            Class::B16 => (word as i16).to_string(),
            Class::B32 if is_near => near.to_string(),
            Class::B32 => format!("{:#x}", word as u32),
            Class::B64 if is_near => near.to_string(),
            Class::B64 => format!("{word:#x}"),
            Class::F32 if is_near => format!("0f{:08X}", (near as f32).to_bits()),
            Class::F32 => format!("0f{:08X}", word as u32),
            Class::F64 if is_near => format!("0d{:016X}", (near as f64).to_bits()),
            Class::F64 => format!("0d{word:016X}"),
            _ => return None,
        })
    }

    /// A guard for an instruction, now and then.
    pub(super) fn guard(&mut self) -> String {
        if self.choose.percent(12) {
            let negation = self.choose.pick(&["", "!"]);
            return format!("@{negation}{} ", self.reg(Class::Pred));
        }
        String::new()
    }

    /// The bits of a float, where all NaNs have become one; others as they are.
    pub(super) fn bits_of(&mut self, class: Class, register: &str) -> String {
        match class {
            Class::F32 | Class::F64 => {
                let (ty, bits, nan, int) = match class {
                    Class::F32 => ("f32", "b32", "0x7fffffff", Class::B32),
                    _ => ("f64", "b64", "0x7fffffffffffffff", Class::B64),
                };
                let (is_nan, raw) = (self.temp(Class::Pred), self.temp(int));
                self.put(format!("testp.notanumber.{ty} {is_nan}, {register}"));
                self.put(format!("mov.{bits} {raw}, {register}"));
                self.put(format!("selp.{bits} {raw}, {nan}, {raw}, {is_nan}"));
                raw
            }
            Class::F16 | Class::Bf16 => {
                let (is_nan, raw) = (self.temp(Class::Pred), self.temp(Class::B16));
                let ty = if class == Class::F16 { "f16" } else { "bf16" };
                self.put(format!("setp.nan.{ty} {is_nan}, {register}, {register}"));
                self.put(format!("selp.b16 {raw}, 0x7fff, {register}, {is_nan}"));
                raw
            }
            Class::F16x2 | Class::Bf16x2 => {
                let element = if class == Class::F16x2 { Class::F16 } else { Class::Bf16 };
                let (low, high, all) = (self.temp(Class::B16), self.temp(Class::B16), self.temp(Class::B32));
                self.put(format!("mov.b32 {{{low}, {high}}}, {register}"));
                let (low, high) = (self.bits_of(element, &low), self.bits_of(element, &high));
                self.put(format!("mov.b32 {all}, {{{low}, {high}}}"));
                all
            }
            Class::Pred => {
                let bit = self.temp(Class::B32);
                self.put(format!("selp.b32 {bit}, 1, 0, {register}"));
                bit
            }
            _ => register.to_owned(),
        }
    }

    /// The declarations of all registers.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        for class in CLASSES {
            let (name, ty) = class.names();
            let count = self.registers[class.index()];
            if count > 0 {
                writeln!(text, "\t.reg {ty} {name}<{}>;", count + 1).expect("writing to a string");
            }
        }
        for (ty, name) in &self.named {
            writeln!(text, "\t.reg {ty} {name};").expect("writing to a string");
        }
        text
    }
}
