//! The addresses that the lanes of a warp access.

use ptx::analysis::LaneValue;

use crate::emit::Emit;
use crate::llvm::Value;

/// The addresses that the lanes access, in the memory of the host.
#[derive(Clone, Debug)]
pub(crate) enum Address<'c> {
    /// The same in all lanes.
    Uniform(Spot<'c>),
    /// The address of the first lane, and what is added for each.
    Affine(Spot<'c>, Vec<i64>),
    /// One for each lane, and what is known of neighbouring ones.
    Vector(Value<'c>, Option<Groups<'c>>),
}

/// One address: a number, and bytes after it. They are kept apart because processors add a constant as they access
/// memory, and LLVM would rather have a register for each sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'c> {
    base: Value<'c>,
    plus: i64,
}

impl<'c> Spot<'c> {
    /// What a number of 64 bits says.
    pub(crate) fn at(base: Value<'c>) -> Self {
        Self { base, plus: 0 }
    }

    /// The same, some bytes further on.
    pub(crate) fn offset(self, bytes: i64) -> Self {
        Self { plus: self.plus.wrapping_add(bytes), ..self }
    }

    /// The same, after another number.
    pub(crate) fn with_base(self, emit: Emit<'_, 'c>, base: Value<'c>) -> Self {
        Self { base: emit.add(base, self.base), ..self }
    }

    pub(crate) fn number(self, emit: Emit<'_, 'c>) -> Value<'c> {
        if self.plus == 0 { self.base } else { emit.add(self.base, self.base.ty().constant(self.plus as u64)) }
    }

    pub(crate) fn pointer(self, emit: Emit<'_, 'c>) -> Value<'c> {
        let pointer = emit.int_to_ptr(self.base, emit.context().pointer());
        if self.plus == 0 { pointer } else { emit.offset(pointer, self.base.ty().constant(self.plus as u64)) }
    }

    /// A number that is a multiple of some bytes only if the address is; the same for many addresses.
    pub(crate) fn alignment(self, emit: Emit<'_, 'c>, bytes: u32) -> Value<'c> {
        if self.plus % i64::from(bytes) == 0 { self.base } else { self.number(emit) }
    }
}

impl<'c> Address<'c> {
    /// Addresses of which the first lane has one, and that differ as lanes of a register do.
    pub(crate) fn affine(base: Value<'c>, affine: &LaneValue, lanes: u32) -> Self {
        if affine.is_uniform() {
            Self::Uniform(Spot::at(base))
        } else {
            Self::Affine(Spot::at(base), (0..lanes).map(|lane| affine.offset(lane)).collect())
        }
    }

    /// The same, some bytes further on.
    pub(crate) fn offset(&self, emit: Emit<'_, 'c>, bytes: i64) -> Self {
        if bytes == 0 {
            return self.clone();
        }
        match self {
            Self::Uniform(spot) => Self::Uniform(spot.offset(bytes)),
            Self::Affine(spot, offsets) => Self::Affine(spot.offset(bytes), offsets.clone()),
            Self::Vector(all, groups) => {
                let all = emit.add(*all, all.ty().constant(bytes as u64));
                Self::Vector(all, groups.map(|groups| groups.offset(bytes)))
            }
        }
    }

    /// After how many lanes addresses repeat, if they do.
    pub(crate) fn period(&self) -> Option<u32> {
        let Self::Affine(_, offsets) = self else { return None };
        let repeats = |lanes: usize| offsets.chunks(lanes).all(|others| *others == offsets[..others.len()]);
        [4, 8, 16].into_iter().find(|&lanes| repeats(lanes)).map(|lanes| lanes as u32)
    }

    /// Whether no two lanes access the same bytes.
    pub(crate) fn is_apart(&self, bytes: u32) -> bool {
        let Self::Affine(_, offsets) = self else { return false };
        let mut sorted = offsets.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[1].abs_diff(pair[0]) >= u64::from(bytes))
    }

    /// Whether each lane accesses what follows the access of the lane before.
    pub(crate) fn is_contiguous(&self, bytes: u32) -> bool {
        match self {
            Self::Affine(_, offsets) => {
                offsets.iter().enumerate().all(|(lane, &offset)| offset == lane as i64 * i64::from(bytes))
            }
            _ => false,
        }
    }
}

/// What is known of addresses that differ from lane to lane: in each aligned group of so many lanes, they rise by so many
/// bytes from one to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Groups<'c> {
    pub(crate) lanes: u32,
    pub(crate) stride: i64,
    /// Whether this holds for lanes that are not active, too.
    pub(crate) is_valid_in_inactive_lanes: bool,
    /// Whether they are computed without anything from memory.
    pub(crate) is_computed: bool,
    /// Those of the first lanes, if they are kept so.
    pub(crate) firsts: Option<Firsts<'c>>,
}

/// A number for the first lane of each group, and bytes after it (see `Spot`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Firsts<'c> {
    pub(crate) numbers: Value<'c>,
    pub(crate) plus: i64,
}

impl<'c> Groups<'c> {
    /// The same, where it is not worth looking whether the addresses are those of one piece.
    pub(crate) fn unlikely_one_piece(self) -> Self {
        Self { is_computed: false, ..self }
    }

    /// The same, with something done to all addresses.
    pub(crate) fn map(self, change: impl FnOnce(Value<'c>) -> Value<'c>) -> Self {
        Self { firsts: self.firsts.map(|firsts| Firsts { numbers: change(firsts.numbers), ..firsts }), ..self }
    }

    /// The same, some bytes further on.
    pub(crate) fn offset(self, bytes: i64) -> Self {
        Self { firsts: self.firsts.map(|firsts| Firsts { plus: firsts.plus.wrapping_add(bytes), ..firsts }), ..self }
    }
}
