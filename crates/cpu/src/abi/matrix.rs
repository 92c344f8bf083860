//! Matrix instructions, as two numbers of 64 bits.

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum MatrixKind {
    Mma,
    /// `mma.m8n8k4` of halves: four multiplications, each by two groups of four lanes.
    QuadPairs,
    WmmaMma,
    /// `wmma.load`
    LoadFragment,
    /// `wmma.store`
    StoreFragment,
    Ldmatrix,
    Stmatrix,
    Movmatrix,
}

/// What the elements of a matrix are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Element {
    F16,
    Bf16,
    /// The upper 19 bits of a single; the others are ignored.
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    U4,
    S4,
    U8,
    S8,
    S32,
    B1,
}

/// A matrix instruction, as compiled code hands it over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MatrixOp {
    pub(crate) kind: MatrixKind,
    /// Of the matrices d, a, b, c; of fragments only the first.
    pub(crate) elements: [Element; 4],
    /// m, n, k; of fragments their rows and columns; of `ldmatrix` and the like the number of matrices comes first.
    pub(crate) shape: [u16; 3],
    /// Registers of each lane for d, a, b, c; of fragments only the first.
    pub(crate) registers: [u8; 4],
    /// Transposed (`ldmatrix`), row by row in memory (fragments), or row by row in registers (the first factor).
    pub(crate) flag: bool,
    /// Row by row in registers (the second factor).
    pub(crate) second_flag: bool,
    /// Sums of integers are held at the limits.
    pub(crate) saturates: bool,
    /// Bits are compared, not multiplied.
    pub(crate) xor: bool,
    /// How sums of doubles are rounded: nearest, down, up, toward zero, as the processor numbers them.
    pub(crate) rounding: u8,
}

const ELEMENTS: [Element; 13] = [
    Element::F16,
    Element::Bf16,
    Element::Tf32,
    Element::F32,
    Element::F64,
    Element::E4m3,
    Element::E5m2,
    Element::U4,
    Element::S4,
    Element::U8,
    Element::S8,
    Element::S32,
    Element::B1,
];

const KINDS: [MatrixKind; 8] = [
    MatrixKind::Mma,
    MatrixKind::QuadPairs,
    MatrixKind::WmmaMma,
    MatrixKind::LoadFragment,
    MatrixKind::StoreFragment,
    MatrixKind::Ldmatrix,
    MatrixKind::Stmatrix,
    MatrixKind::Movmatrix,
];

impl MatrixOp {
    /// The two numbers that stand for it in compiled code.
    pub(crate) fn words(self) -> [u64; 2] {
        let elements = self.elements.iter().rev().fold(0, |word, &element| word << 4 | element as u64);
        let shape = self.shape.iter().rev().fold(0, |word, &size| word << 12 | u64::from(size));
        let registers = self.registers.iter().rev().fold(0, |word, &count| word << 8 | u64::from(count));
        let flags = [self.flag, self.saturates, self.xor, self.second_flag]
            .iter()
            .rev()
            .fold(0, |word, &flag| word << 1 | u64::from(flag));
        [self.kind as u64 | elements << 8 | shape << 24, registers | flags << 32 | u64::from(self.rounding) << 40]
    }

    pub(crate) fn of([first, second]: [u64; 2]) -> Self {
        let flag = |nth: u32| second >> (32 + nth) & 1 != 0;
        Self {
            kind: KINDS[(first & 0xff) as usize],
            elements: std::array::from_fn(|nth| ELEMENTS[(first >> (8 + 4 * nth) & 15) as usize]),
            shape: std::array::from_fn(|nth| (first >> (24 + 12 * nth) & 0xfff) as u16),
            registers: std::array::from_fn(|nth| (second >> (8 * nth)) as u8),
            flag: flag(0),
            saturates: flag(1),
            xor: flag(2),
            second_flag: flag(3),
            rounding: (second >> 40) as u8 & 3,
        }
    }
}

impl Element {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::B1 => 1,
            Self::U4 | Self::S4 => 4,
            Self::E4m3 | Self::E5m2 | Self::U8 | Self::S8 => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 | Self::F32 | Self::S32 => 32,
            Self::F64 => 64,
        }
    }

    /// How many fit into a register.
    pub(crate) fn per_register(self) -> u32 {
        self.bits().max(32) / self.bits()
    }
}
