//! Random PTX made from the opcode table: every row can come up, with every choice of its modifiers and operands.
//!
//! The choices come from a string of bytes, so that a fuzzer can steer them and a seed can repeat them.

use std::fmt::Write;

use ptx::form::Forms;
use ptx::ops::{self, ModGroup, OperandShape, OperandSpec, OperandType, Row};
use ptx::types::Type;

/// Where choices come from: bytes, and zeros when they are used up.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Choices from bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether the bytes are used up.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound <= 1 {
            return 0;
        }
        let mut value = 0;
        for _ in 0..if bound > 256 { 2 } else { 1 } {
            let (byte, rest) = self.bytes.split_first().map_or((0, self.bytes), |(byte, rest)| (*byte, rest));
            self.bytes = rest;
            value = value << 8 | usize::from(byte);
        }
        value % bound
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// Bytes that depend on a seed alone (SplitMix64), for [`Choices`].
pub fn random_bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    });
    words.flat_map(u64::to_le_bytes).take(len).collect()
}

/// A module with one kernel of random instructions, control flow and scopes.
pub fn module(choices: &mut Choices<'_>) -> String {
    let mut body = String::new();
    let mut labels = 0;
    let mut depth = 0;
    for _ in 0..400 {
        if choices.is_empty() {
            break;
        }
        match choices.below(24) {
            0 => {
                writeln!(body, "L{labels}:").expect("writing to a string");
                labels += 1;
            }
            1 if depth < 8 => {
                body += "{\n.reg .b32 %inner<4>;\n";
                depth += 1;
            }
            2 if depth > 0 => {
                body += "}\n";
                depth -= 1;
            }
            3 => body += ".loc 1 7 3\n",
            4 => body += ".pragma \"nounroll\";\n",
            _ => {
                let row = &ops::rows()[choices.below(ops::rows().len())];
                writeln!(body, "{}", instruction(row, choices)).expect("writing to a string");
            }
        }
    }
    body += &"}\n".repeat(depth);
    // Branches go to these, so that no target is missing whatever labels came up.
    format!(
        "{HEADER}{body}start:\nfinish:\nret;\ntable: .branchtargets start, finish;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n}}\n"
    )
}

const HEADER: &str = "\
.version 9.0
.target sm_100a
.address_size 64
.file 1 \"generated.cu\"
.global .align 16 .b8 array[256];
.extern .func (.param .b32 r) callee(.param .b32 a);
.extern .func plain;
.visible .entry kernel(.param .b64 pointer)
{
.reg .pred %p<9>;
.reg .b16 %h<9>;
.reg .b32 %r<9>;
.reg .b64 %d<9>;
.reg .b128 %q<9>;
.shared .align 16 .b8 tile[1024];
";

/// An instance of a row, with its semicolon.
pub fn instruction(row: &'static Row, choices: &mut Choices<'_>) -> String {
    let mut spelling = row.op.first_word().to_owned();
    for group in &row.modifiers {
        if !group.optional || choices.flip() {
            push_group(&mut spelling, group, choices);
        }
    }
    let mut forms = Forms::default();
    let form = forms.intern(&spelling);
    let form = &forms[form];
    let mut out = String::new();
    if choices.below(8) == 7 {
        out += choices.pick(&["@%p1 ", "@!%p2 "]);
    }
    out += &spelling;
    let mut first = true;
    for spec in &row.operands {
        if spec.optional && !choices.flip() {
            continue;
        }
        out += if first { " " } else { ", " };
        first = false;
        out += &operand(form, spec, choices);
    }
    out.push(';');
    out
}

fn push_group(spelling: &mut String, group: &ModGroup, choices: &mut Choices<'_>) {
    for item in &group.items {
        let words: Vec<&str> = item.words().collect();
        spelling.push('.');
        spelling.push_str(choices.pick(&words));
    }
}

fn operand(form: &ptx::form::Form, spec: &OperandSpec, choices: &mut Choices<'_>) -> String {
    match &spec.shape {
        OperandShape::Address(_) => {
            let forms: &[&str] = &["[%d1]", "[%d2+16]", "[%r3+-8]", "[array+4]", "[tile]", "[64]", "[%d1, {%r1, %r2}]"];
            choices.pick(forms).to_owned()
        }
        OperandShape::Label => choices.pick(&["start", "finish"]).to_owned(),
        OperandShape::Function => "plain".to_owned(),
        OperandShape::Arguments => choices.pick(&["(%r1)", "(%r1, %r2)", "()"]).to_owned(),
        OperandShape::Pair { ty, optional } => {
            let first = value(form, *ty, true, choices);
            if *optional && choices.flip() { first } else { format!("{first}|%p{}", 1 + choices.below(8)) }
        }
        OperandShape::Value { ty, negatable } => {
            let text = value(form, *ty, spec.written, choices);
            if *negatable && text.starts_with('%') && choices.flip() { format!("!{text}") } else { text }
        }
    }
}

/// A value of a type: a register, or where it is read also an immediate.
fn value(form: &ptx::form::Form, ty: OperandType, written: bool, choices: &mut Choices<'_>) -> String {
    let last = || form.types().last().copied();
    let ty = match ty {
        OperandType::Fixed(ty) => Some(ty),
        OperandType::Nth(nth) => form.types().get(usize::from(nth)).copied().or(last()),
        OperandType::Last | OperandType::Packed => last(),
        OperandType::Wide => form.types().first().map(|&ty| if form.has(ops::Mod::Wide) { wide(ty) } else { ty }),
        OperandType::Immediate => return choices.below(32).to_string(),
        OperandType::Any => None,
    };
    let number = 1 + choices.below(8);
    let bits = ty.map_or(32, Type::bits);
    let class = match (ty, bits) {
        (Some(Type::Pred), _) => "p",
        (_, ..=16) => "h",
        (_, ..=32) => "r",
        (_, ..=64) => "d",
        _ => "q",
    };
    let vector = form.vector();
    if vector > 1 && ty.is_some_and(|ty| form.types().contains(&ty)) {
        let elements: Vec<String> = (0..vector).map(|_| format!("%{class}{}", 1 + choices.below(8))).collect();
        return format!("{{{}}}", elements.join(", "));
    }
    if written && choices.below(16) == 15 {
        return "_".to_owned();
    }
    if !written && class != "p" && class != "q" && choices.below(6) == 5 {
        return choices.pick(&["0", "-1", "0x7FFFFFFF", "17"]).to_owned();
    }
    format!("%{class}{number}")
}

fn wide(ty: Type) -> Type {
    Type::bits_of(ty.bits() * 2).unwrap_or(ty)
}
