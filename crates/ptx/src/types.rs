//! The fundamental types of PTX, and the state spaces.

/// Defines a fieldless enum whose variants have a spelling in PTX, with both directions of the mapping.
macro_rules! spelled_enum {
    ($(#[$doc:meta])* $enum:ident { $($(#[$variant_doc:meta])* $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum $enum { $(#[doc = concat!("`", $text, "`")] $(#[$variant_doc])* $variant,)* }

        impl $enum {
            /// Every variant, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// How PTX spells it.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The variant that PTX spells `text`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}
pub(crate) use spelled_enum;

spelled_enum! {
    /// A type of a register, a variable or an instruction, without the leading dot.
    Type {
        Pred "pred",
        B1 "b1", B2 "b2", B4 "b4",
        B8 "b8", B16 "b16", B32 "b32", B64 "b64", B128 "b128", B1024 "b1024",
        U2 "u2", U4 "u4", U8 "u8", U16 "u16", U32 "u32", U64 "u64",
        S2 "s2", S4 "s4", S8 "s8", S16 "s16", S32 "s32", S64 "s64",
        F16 "f16", F32 "f32", F64 "f64", Bf16 "bf16", Tf32 "tf32",
        U8x4 "u8x4", S8x4 "s8x4", U16x2 "u16x2", S16x2 "s16x2",
        F16x2 "f16x2", Bf16x2 "bf16x2", F32x2 "f32x2",
        E4m3 "e4m3", E5m2 "e5m2", E3m2 "e3m2", E2m3 "e2m3", E2m1 "e2m1",
        Ue8m0 "ue8m0", Ue4m3 "ue4m3", S2f6 "s2f6",
        E4m3x2 "e4m3x2", E5m2x2 "e5m2x2", E3m2x2 "e3m2x2", E2m3x2 "e2m3x2", E2m1x2 "e2m1x2",
        Ue8m0x2 "ue8m0x2", S2f6x2 "s2f6x2", Ue4m3x2 "ue4m3x2", Ue5m3x2 "ue5m3x2",
        E4m3x4 "e4m3x4", E5m2x4 "e5m2x4", E3m2x4 "e3m2x4", E2m3x4 "e2m3x4", E2m1x4 "e2m1x4", E2m1x8 "e2m1x8",
        Texref "texref", Samplerref "samplerref", Surfref "surfref",
    }
}

/// What the bits of a type mean, as far as type checking asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// Untyped bits: compatible with every type of the size.
    Bits,
    /// An unsigned integer.
    Unsigned,
    /// A signed integer.
    Signed,
    /// A floating-point number with a register type of its own (`f16`, `f32`, `f64`).
    Float,
    /// A predicate.
    Pred,
    /// Several numbers in one register, or a format that only lives in untyped registers.
    Packed,
    /// An opaque reference to a texture, sampler or surface.
    Opaque,
}

impl Type {
    /// Size in bits. Predicates count as 1, opaque references as 64 (a handle).
    pub const fn bits(self) -> u32 {
        use Type::*;
        match self {
            Pred | B1 => 1,
            B2 | U2 | S2 => 2,
            B4 | U4 | S4 | E2m1 => 4,
            B8 | U8 | S8 | E4m3 | E5m2 | Ue8m0 | Ue4m3 | S2f6 | E2m1x2 => 8,
            E3m2 | E2m3 => 6,
            B16 | U16 | S16 | F16 | Bf16 | E4m3x2 | E5m2x2 | E3m2x2 | E2m3x2 | Ue8m0x2 | S2f6x2 | Ue4m3x2 | Ue5m3x2
            | E2m1x4 => 16,
            B32 | U32 | S32 | F32 | Tf32 | U8x4 | S8x4 | U16x2 | S16x2 | F16x2 | Bf16x2 | E4m3x4 | E5m2x4 | E3m2x4
            | E2m3x4 | E2m1x8 => 32,
            B64 | U64 | S64 | F64 | F32x2 | Texref | Samplerref | Surfref => 64,
            B128 => 128,
            B1024 => 1024,
        }
    }

    /// Size in memory, in bytes; less than a byte counts as one.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The class of the type.
    pub const fn kind(self) -> TypeKind {
        use Type::*;
        match self {
            Pred => TypeKind::Pred,
            B1 | B2 | B4 | B8 | B16 | B32 | B64 | B128 | B1024 => TypeKind::Bits,
            U2 | U4 | U8 | U16 | U32 | U64 => TypeKind::Unsigned,
            S2 | S4 | S8 | S16 | S32 | S64 => TypeKind::Signed,
            F16 | F32 | F64 => TypeKind::Float,
            Texref | Samplerref | Surfref => TypeKind::Opaque,
            _ => TypeKind::Packed,
        }
    }

    /// The untyped register type of a size in bits, if PTX has one.
    pub const fn bits_of(bits: u32) -> Option<Self> {
        match bits {
            1 => Some(Self::Pred),
            8 => Some(Self::B8),
            16 => Some(Self::B16),
            32 => Some(Self::B32),
            64 => Some(Self::B64),
            128 => Some(Self::B128),
            _ => None,
        }
    }
}

spelled_enum! {
    /// A state space in which variables are declared, without the leading dot.
    Space {
        Reg "reg", Sreg "sreg", Const "const", Global "global", Local "local", Param "param", Shared "shared", Tex "tex",
    }
}

spelled_enum! {
    /// How a module-level name is visible to other modules.
    Linkage {
        Visible "visible", Extern "extern", Weak "weak", Common "common",
    }
}
