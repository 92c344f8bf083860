//! The notation of the opcode table: what `{.sat}<rnd>` and `d{|p}, [a]{, policy:b64}` mean.

use super::classes::CLASSES;
use super::modifier::is_shape;
use crate::types::{Space, Type};

/// Modifiers that occur together or not at all.
#[derive(Clone, Debug)]
pub struct ModGroup {
    /// Whether the instruction may lack them.
    pub optional: bool,
    /// The modifiers.
    pub items: Vec<ModItem>,
}

/// One modifier: the words it may be.
#[derive(Clone, Debug)]
pub struct ModItem {
    words: Vec<&'static str>,
    /// Whether it may be any matrix shape, such as `m16n8k16`.
    shape: bool,
}

impl ModItem {
    pub(super) fn accepts(&self, word: &str) -> bool {
        self.words.contains(&word) || (self.shape && is_shape(word))
    }

    /// The words that are accepted; a matrix shape stands for all shapes.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.words.iter().copied().chain(self.shape.then_some("m16n8k16"))
    }
}

impl ModGroup {
    pub(super) fn required_word(word: &'static str) -> Self {
        Self { optional: false, items: vec![ModItem { words: vec![word], shape: false }] }
    }
}

/// One operand of a row.
#[derive(Clone, Debug)]
pub struct OperandSpec {
    /// Its name in the table.
    pub name: &'static str,
    /// Whether the instruction may lack it.
    pub optional: bool,
    /// Whether it is read.
    pub read: bool,
    /// Whether it is written.
    pub written: bool,
    /// What it looks like.
    pub shape: OperandShape,
}

/// What an operand looks like.
#[derive(Clone, Debug)]
pub enum OperandShape {
    /// A register, immediate, symbol or vector of them.
    Value {
        /// Its type.
        ty: OperandType,
        /// Whether `!` may precede it.
        negatable: bool,
    },
    /// Two destinations `d|p`; the second is a predicate.
    Pair {
        /// The type of the first.
        ty: OperandType,
        /// Whether the second may be missing.
        optional: bool,
    },
    /// An address in brackets.
    Address(AddressSpec),
    /// A label.
    Label,
    /// A function, or a register with the address of one.
    Function,
    /// Arguments or results of a call, in parentheses.
    Arguments,
}

/// The type that a value must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandType {
    /// The n-th type among the modifiers.
    Nth(u8),
    /// The last type among the modifiers.
    Last,
    /// The n-th type with twice the width where the instruction is `.wide`.
    Wide,
    /// A type that the modifiers do not change.
    Fixed(Type),
    /// A vector whose elements together have the width of the type, or a scalar of the type.
    Packed,
    /// An immediate.
    Immediate,
    /// Not checked: fragments of matrices, opaque handles.
    Any,
}

/// How an address operand is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressSpec {
    /// Read, written or both; nothing where the effect of the row says it.
    pub mode: Option<AccessMode>,
    /// In which space.
    pub space: SpaceSpec,
    /// How many bytes each thread accesses there.
    pub bytes: ByteSpec,
}

/// The size of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteSpec {
    /// The operand called `size`, or else the size of the type times the elements of a vector.
    Default,
    /// Always this many.
    Fixed(u32),
    /// Not known from the text: the fragments of a matrix.
    Unknown,
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessMode {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Read and written in one step.
    ReadWrite,
    /// Neither: the address is only computed with.
    None,
}

/// The space that an address operand refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceSpec {
    /// The n-th state space among the modifiers, or generic.
    Modifier(u8),
    /// Always this one.
    Fixed(Space),
    /// A tensor described by a tensor map.
    Tensor,
    /// The tensor memory of `tcgen05`.
    TensorMemory,
    /// A texture, sampler or surface.
    Texture,
}

/// Parses the modifier column.
pub(super) fn parse_modifiers(text: &'static str) -> Result<Vec<ModGroup>, String> {
    let mut groups = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('{') {
            let (inner, after) = inner.split_once('}').ok_or("`{` without `}`")?;
            groups.push(ModGroup { optional: true, items: parse_items(inner)? });
            rest = after;
        } else {
            let end = rest[1..].find(['.', '<', '{']).map_or(rest.len(), |found| found + 1);
            groups.push(ModGroup { optional: false, items: parse_items(&rest[..end])? });
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(groups)
}

fn parse_items(mut text: &'static str) -> Result<Vec<ModItem>, String> {
    let mut items = Vec::new();
    while !text.is_empty() {
        if let Some(inner) = text.strip_prefix('<') {
            let (inner, after) = inner.split_once('>').ok_or("`<` without `>`")?;
            let mut item = ModItem { words: Vec::new(), shape: false };
            for word in inner.split('|') {
                if word == "mnk" {
                    item.shape = true;
                } else if let Some((_, words)) = CLASSES.iter().find(|(name, _)| *name == word) {
                    item.words.extend_from_slice(words);
                } else {
                    item.words.push(word);
                }
            }
            items.push(item);
            text = after;
        } else if let Some(inner) = text.strip_prefix('.') {
            let end = inner.find(['.', '<']).unwrap_or(inner.len());
            items.push(ModItem { words: vec![&inner[..end]], shape: false });
            text = &inner[end..];
        } else {
            return Err(format!("expected `.`, `<` or `{{` at `{text}`"));
        }
    }
    Ok(items)
}

/// Parses the operand column.
pub(super) fn parse_operands(text: &'static str) -> Result<Vec<OperandSpec>, String> {
    let mut operands = Vec::new();
    let mut rest = text.trim();
    let mut optional = false;
    while !rest.is_empty() {
        let end = end_of_operand(rest);
        let (part, after) = rest.split_at(end);
        operands.push(parse_operand(part.trim(), optional)?);
        rest = after.trim_start();
        if optional {
            rest = rest.strip_prefix('}').ok_or_else(|| format!("expected `}}` at `{rest}`"))?.trim_start();
            optional = false;
        }
        if let Some(after) = rest.strip_prefix("{,") {
            optional = true;
            rest = after.trim_start();
        } else if let Some(after) = rest.strip_prefix(',') {
            rest = after.trim_start();
        } else if !rest.is_empty() {
            return Err(format!("expected `,` or `{{,` at `{rest}`"));
        }
    }
    Ok(operands)
}

/// Where the operand at the start of `text` ends: at a comma, at `{,`, or at the brace that closes an optional one.
fn end_of_operand(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b'{' if depth == 0 && bytes.get(index + 1) == Some(&b',') => return index,
            b'{' => depth += 1,
            b'}' if depth == 0 => return index,
            b'}' => depth -= 1,
            b',' if depth == 0 => return index,
            _ => {}
        }
    }
    text.len()
}

fn parse_operand(text: &'static str, optional: bool) -> Result<OperandSpec, String> {
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']').ok_or_else(|| format!("`[` without `]` in `{text}`"))?;
        let (name, notes) = inner.split_once(':').unwrap_or((inner, ""));
        let shape = OperandShape::Address(parse_address(notes)?);
        return Ok(OperandSpec { name, optional, read: true, written: false, shape });
    }
    if text == "()" || text == "(d)" {
        let written = text == "(d)";
        return Ok(OperandSpec { name: text, optional, read: !written, written, shape: OperandShape::Arguments });
    }
    let (text, negatable) = text.strip_prefix("{!}").map_or((text, false), |text| (text, true));
    let (text, also_read) = text.strip_prefix('+').map_or((text, false), |text| (text, true));
    let (names, note) = text.split_once(':').unwrap_or((text, ""));
    let (name, pair) = if let Some(name) = names.strip_suffix("{|p}").or_else(|| names.strip_suffix("{|q}")) {
        (name, Some(true))
    } else if let Some(name) = names.strip_suffix("|p").or_else(|| names.strip_suffix("|q")) {
        (name, Some(false))
    } else {
        (names, None)
    };
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("`{name}` is not a name"));
    }
    let written = matches!(name, "d" | "d2" | "p" | "q");
    let shape = match (note, pair) {
        ("label", None) => OperandShape::Label,
        ("func", None) => OperandShape::Function,
        (note, pair) => {
            let ty = match note {
                "" if matches!(name, "p" | "q") => OperandType::Fixed(Type::Pred),
                "" if written => OperandType::Nth(0),
                "" => OperandType::Last,
                "t0" => OperandType::Nth(0),
                "t1" => OperandType::Nth(1),
                "t2" => OperandType::Nth(2),
                "t3" => OperandType::Nth(3),
                "wide" => OperandType::Wide,
                "pack" => OperandType::Packed,
                "imm" => OperandType::Immediate,
                "any" => OperandType::Any,
                name => OperandType::Fixed(Type::parse(name).ok_or_else(|| format!("`{name}` is not a type"))?),
            };
            match pair {
                Some(optional) => OperandShape::Pair { ty, optional },
                None => OperandShape::Value { ty, negatable },
            }
        }
    };
    Ok(OperandSpec { name, optional, read: !written || also_read, written, shape })
}

fn parse_address(notes: &str) -> Result<AddressSpec, String> {
    let mut spec = AddressSpec { mode: None, space: SpaceSpec::Modifier(0), bytes: ByteSpec::Default };
    for note in notes.split_whitespace() {
        match note {
            "r" => spec.mode = Some(AccessMode::Read),
            "w" => spec.mode = Some(AccessMode::Write),
            "rw" => spec.mode = Some(AccessMode::ReadWrite),
            "no" => spec.mode = Some(AccessMode::None),
            "space0" => spec.space = SpaceSpec::Modifier(0),
            "space1" => spec.space = SpaceSpec::Modifier(1),
            "tensor" => spec.space = SpaceSpec::Tensor,
            "tmem" => spec.space = SpaceSpec::TensorMemory,
            "texture" => spec.space = SpaceSpec::Texture,
            "?" => spec.bytes = ByteSpec::Unknown,
            note => match (Space::parse(note), note.parse()) {
                (Some(space), _) => spec.space = SpaceSpec::Fixed(space),
                (None, Ok(bytes)) => spec.bytes = ByteSpec::Fixed(bytes),
                (None, Err(_)) => return Err(format!("`{note}` says nothing about an address")),
            },
        }
    }
    Ok(spec)
}
