//! Variables, parameters, their initial values, and directives with arguments.

use super::operand::Symbol;
use crate::diagnostic::Position;
use crate::name::Name;
use crate::types::{Linkage, Space, Type};

/// A declared variable or parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Its name; `_` in prototypes.
    pub name: Name,
    /// Where it lives.
    pub space: Space,
    /// The element type.
    pub ty: Type,
    /// 2, 4 or 8 for `.v2`, `.v4`, `.v8`; 1 otherwise.
    pub vector: u8,
    /// `.align`, in bytes.
    pub align: Option<u32>,
    /// Array dimensions; `None` stands for `[]`.
    pub dimensions: Vec<Option<u64>>,
    /// Initial value.
    pub init: Option<Initializer>,
    /// `.visible`, `.extern`, `.weak`, `.common`.
    pub linkage: Option<Linkage>,
    /// `.attribute(.managed)` and the like, as written between the parentheses.
    pub attributes: Vec<Name>,
    /// `.ptr .global .align 16` of a kernel parameter.
    pub pointer: Option<PointerNote>,
    /// Bank number of `.const[3]`, from before PTX 2.2.
    pub bank: Option<u32>,
    /// Where it is declared.
    pub at: Position,
}

/// What a kernel parameter that is a pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PointerNote {
    /// The state space pointed to; generic if not given.
    pub space: Option<Space>,
    /// Alignment of what is pointed to.
    pub align: Option<u32>,
}

impl Variable {
    /// A scalar variable.
    pub fn scalar(name: Name, space: Space, ty: Type) -> Self {
        Self {
            name,
            space,
            ty,
            vector: 1,
            align: None,
            dimensions: Vec::new(),
            init: None,
            linkage: None,
            attributes: Vec::new(),
            pointer: None,
            bank: None,
            at: Position::NONE,
        }
    }

    /// An array of bytes.
    pub fn bytes(name: Name, space: Space, len: u64, align: u32) -> Self {
        Self { align: Some(align), dimensions: vec![Some(len)], ..Self::scalar(name, space, Type::B8) }
    }

    /// Size in bytes: nothing where a dimension is open (`[]`) and no initial value closes it, or on overflow.
    pub fn size(&self) -> Option<u64> {
        let element = u64::from(self.ty.bytes()) * u64::from(self.vector);
        let mut elements = 1_u64;
        for (index, dimension) in self.dimensions.iter().enumerate() {
            let len = match dimension {
                Some(len) => *len,
                None if index == 0 => self.init.as_ref()?.outer_len(),
                None => return None,
            };
            elements = elements.checked_mul(len)?;
        }
        elements.checked_mul(element)
    }

    /// Alignment in bytes: as declared, or that of the type.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or(self.ty.bytes() * u32::from(self.vector))
    }
}

/// The initial value of a variable: a flat list, with marks where braces open and close.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Initializer {
    /// The values.
    pub values: Vec<InitValue>,
}

impl Initializer {
    /// Number of values or sub-lists between the outermost braces.
    fn outer_len(&self) -> u64 {
        let mut depth = 0;
        let mut len = 0;
        for value in &self.values {
            match value {
                InitValue::Open => {
                    len += u64::from(depth == 1);
                    depth += 1;
                }
                InitValue::Close => depth -= 1,
                _ => len += u64::from(depth == 1),
            }
        }
        len
    }
}

/// One element of an [`Initializer`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InitValue {
    /// `{`
    Open,
    /// `}`
    Close,
    /// An integer.
    Int(i64),
    /// The bits of a 32-bit float.
    F32(u32),
    /// The bits of a 64-bit float.
    F64(u64),
    /// `filter_mode = linear`: a property of a sampler.
    Field(Name, Name),
    /// The address of a variable or function plus an offset.
    Address {
        /// Whose address.
        symbol: Symbol,
        /// Offset in bytes.
        offset: i32,
        /// Whether it is written `generic(symbol)`.
        generic: bool,
        /// The byte of the address that is wanted: 2 for `0xFF0000(symbol)`.
        byte: Option<u8>,
    },
}

/// A directive with its arguments: `.maxntid 256, 1, 1`, `.pragma "nounroll"`.
#[derive(Clone, PartialEq, Debug)]
pub struct Directive {
    /// The name without the dot.
    pub name: Name,
    /// The arguments, between commas.
    pub args: Vec<DirectiveArg>,
    /// Where it stands.
    pub at: Position,
}

/// An argument of a [`Directive`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectiveArg {
    /// A number.
    Int(i64),
    /// A string, without its quotes and as escaped in the text.
    Text(Name),
    /// Anything else, as written.
    Word(Name),
}
