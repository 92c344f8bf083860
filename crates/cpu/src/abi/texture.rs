//! Texture and surface instructions, as two numbers of 64 bits.

use device::texture::Geometry;

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum TextureKind {
    Sample,
    /// `tld4`
    Gather,
    /// `suld`
    Load,
    /// `sust`
    Store,
    /// `sured`
    Reduce,
    /// `txq` and `suq`
    Query,
}

/// What the kernel gets from a texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum ResultKind {
    /// Four words.
    Words,
    /// Four numbers of 16 bits.
    Halves,
    /// Two words with two numbers of 16 bits each.
    PackedHalves,
}

/// Where the level comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum LodKind {
    Base,
    Level,
    Gradients,
}

/// What happens outside of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Outside {
    Trap,
    Clamp,
    Zero,
}

/// How a surface is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Reduction {
    Add,
    Min,
    Max,
    And,
    Or,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Query {
    Width,
    Height,
    Depth,
    ArraySize,
    Levels,
    Samples,
    DataType,
    Order,
    IsNormalised,
    FilterMode,
    AddressMode0,
    AddressMode1,
    AddressMode2,
}

/// A texture instruction, as compiled code hands it over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TextureOp {
    pub(crate) kind: TextureKind,
    pub(crate) geometry: Geometry,
    pub(crate) result: ResultKind,
    pub(crate) lod: LodKind,
    pub(crate) outside: Outside,
    pub(crate) reduction: Reduction,
    pub(crate) query: Query,
    /// Whether coordinates are integers.
    pub(crate) by_integers: bool,
    pub(crate) is_signed: bool,
    /// Of `tld4`.
    pub(crate) component: u8,
    /// Bytes of an element of `suld` and the like.
    pub(crate) bytes: u8,
    /// Elements of `suld` and the like.
    pub(crate) elements: u8,
}

/// The words of a lane: what the kernel gives is always at the same place.
pub(crate) mod word {
    pub(crate) const HANDLE: usize = 0;
    pub(crate) const LAYER: usize = 1;
    pub(crate) const COORDINATES: usize = 2;
    /// The level, or two gradients.
    pub(crate) const LOD: usize = 5;
    pub(crate) const OFFSETS: usize = 11;
    /// What is stored.
    pub(crate) const DATA: usize = 5;
    /// Results come after as many words.
    pub(crate) const INPUTS: usize = 14;
}

const KINDS: [TextureKind; 6] = [
    TextureKind::Sample,
    TextureKind::Gather,
    TextureKind::Load,
    TextureKind::Store,
    TextureKind::Reduce,
    TextureKind::Query,
];
const GEOMETRIES: [Geometry; 7] = [
    Geometry::Line,
    Geometry::Plane,
    Geometry::Volume,
    Geometry::Lines,
    Geometry::Planes,
    Geometry::Cube,
    Geometry::Cubes,
];
const RESULTS: [ResultKind; 3] = [ResultKind::Words, ResultKind::Halves, ResultKind::PackedHalves];
const LODS: [LodKind; 3] = [LodKind::Base, LodKind::Level, LodKind::Gradients];
const OUTSIDES: [Outside; 3] = [Outside::Trap, Outside::Clamp, Outside::Zero];
const REDUCTIONS: [Reduction; 5] = [Reduction::Add, Reduction::Min, Reduction::Max, Reduction::And, Reduction::Or];
const QUERIES: [Query; 13] = [
    Query::Width,
    Query::Height,
    Query::Depth,
    Query::ArraySize,
    Query::Levels,
    Query::Samples,
    Query::DataType,
    Query::Order,
    Query::IsNormalised,
    Query::FilterMode,
    Query::AddressMode0,
    Query::AddressMode1,
    Query::AddressMode2,
];

impl TextureOp {
    /// The two numbers that stand for it in compiled code.
    pub(crate) fn words(self) -> [u64; 2] {
        let geometry = GEOMETRIES.iter().position(|&other| other == self.geometry).unwrap_or(0);
        let first = [
            self.kind as u8,
            geometry as u8,
            self.result as u8,
            self.lod as u8,
            self.outside as u8,
            self.reduction as u8,
            self.query as u8,
            self.component,
        ];
        let second = [u8::from(self.by_integers), u8::from(self.is_signed), self.bytes, self.elements, 0, 0, 0, 0];
        [u64::from_le_bytes(first), u64::from_le_bytes(second)]
    }

    pub(crate) fn of([first, second]: [u64; 2]) -> Self {
        let (first, second) = (first.to_le_bytes(), second.to_le_bytes());
        Self {
            kind: KINDS[usize::from(first[0])],
            geometry: GEOMETRIES[usize::from(first[1])],
            result: RESULTS[usize::from(first[2])],
            lod: LODS[usize::from(first[3])],
            outside: OUTSIDES[usize::from(first[4])],
            reduction: REDUCTIONS[usize::from(first[5])],
            query: QUERIES[usize::from(first[6])],
            component: first[7],
            by_integers: second[0] != 0,
            is_signed: second[1] != 0,
            bytes: second[2],
            elements: second[3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_survives_compiled_code() {
        let op = TextureOp {
            kind: TextureKind::Reduce,
            geometry: Geometry::Cubes,
            result: ResultKind::PackedHalves,
            lod: LodKind::Gradients,
            outside: Outside::Zero,
            reduction: Reduction::Or,
            query: Query::AddressMode2,
            by_integers: true,
            is_signed: false,
            component: 3,
            bytes: 8,
            elements: 4,
        };
        assert_eq!(TextureOp::of(op.words()), op);
    }
}
