//! What is known of a register in the 32 lanes of a warp.

/// Lanes of a warp.
pub const LANES: u32 = 32;

/// Bits of a lane's number.
pub(super) const LANE_BITS: usize = 5;

/// A set of bits of the lane's number: the n-th bit stands for the n-th bit.
pub(super) type LaneBits = u8;

/// All bits of the lane's number.
pub(super) const ALL_BITS: LaneBits = (1 << LANE_BITS) - 1;

/// The value of a register in the lanes of a warp.
///
/// It is a sum over the bits of the lane's number, in integers of the register's width, which wrap:
///
/// ```text
/// value(lane) = base + c0·(lane & 1) + c1·(lane>>1 & 1) + … + c4·(lane>>4 & 1)
/// ```
///
/// Equal in all lanes is `c = 0, 0, 0, 0, 0`; `tid.x` is `1, 2, 4, 8, 16`; `tid.y` in a block that is 16 wide is
/// `0, 0, 0, 0, 1`; `laneid & 3` is `1, 2, 0, 0, 0`; and `laneid ^ 1` is `-1, 2, 4, 8, 16`. Sums of such values,
/// multiples, shifts and masks are of the form again, which none of the usual special cases (uniform; one stride for
/// the warp; one stride for each half of it) is closed under.
///
/// A bit without a coefficient is *free*: the value depends on it in an unknown way. There is one base for each setting
/// of the free bits, and the value is `base + …` with the base of the lane. If all bits are free, nothing is known but
/// the range and the low bits.
///
/// Everything said here holds for the lanes that are active at an instruction. The range and the low bits hold for all
/// 32 lanes of the formula, whether active or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneValue {
    /// Width of the register; predicates have 1, and more than 64 counts as 64.
    pub(super) bits: u8,
    /// The free bits.
    pub(super) free: LaneBits,
    /// Whether the formula holds only if the guards hold on which it was built.
    pub(super) needs_guard: bool,
    /// How many low bits of the bases are known.
    pub(super) known: u8,
    /// The known low bits.
    pub(super) low: u64,
    /// Least and greatest value, read as an unsigned integer.
    pub(super) unsigned: (u64, u64),
    /// Least and greatest value, read as a signed integer.
    pub(super) signed: (i64, i64),
    /// Zero for free bits. Modulo 2^bits; of the two numbers next to zero that stand for the same, the one with the sign
    /// that the program computed with is kept, because proofs that nothing wraps depend on it.
    pub(super) coefficients: [i64; LANE_BITS],
}

/// How a value varies over the lanes of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// The same in all active lanes.
    Uniform,
    /// `base + lane·stride`, modulo 2 to the width of the register. The stride is not zero.
    Affine {
        /// Difference from one lane to the next.
        stride: i64,
    },
    /// `base + lane·stride` within each aligned group of 2, 4, 8 or 16 lanes, with a base for each group. The stride may
    /// be zero: equal in each group. `threadIdx.y` is so in blocks that are 16 wide.
    Grouped {
        /// Lanes of a group.
        lanes: u32,
        /// Difference from one lane to the next in the group.
        stride: i64,
    },
    /// Anything.
    Vector,
}

/// Whether a value can be extended to a wider register lane by lane as one number: whether `base + …` never wraps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NoWrap {
    /// It never wraps.
    Proven,
    /// It may wrap for some bases; a comparison of the base with a constant tells.
    NeedsGuard,
}

/// How an integer is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signedness {
    /// From 0.
    Unsigned,
    /// Two's complement.
    Signed,
}

impl LaneValue {
    /// How the value varies over the lanes.
    pub fn class(&self) -> Class {
        let stride = self.coefficients[0];
        let is_regular = |bit: usize| {
            self.free & 1 << bit == 0 && self.wrap_signed(self.coefficients[bit]) == self.wrap_signed(stride << bit)
        };
        match (0..LANE_BITS).take_while(|&bit| is_regular(bit)).count() {
            0 => Class::Vector,
            LANE_BITS if self.is_equal_modulo(stride, 0) => Class::Uniform,
            LANE_BITS => Class::Affine { stride: self.wrap_signed(stride) },
            bits => Class::Grouped { lanes: 1 << bits, stride: self.wrap_signed(stride) },
        }
    }

    /// Whether the value is the same in all active lanes.
    pub fn is_uniform(&self) -> bool {
        self.dependence() == 0
    }

    /// The value, if it is the same constant in all lanes and whenever it is computed. Its low bits, if it is narrower
    /// than 64 bits.
    pub fn constant(&self) -> Option<u64> {
        (self.unsigned.0 == self.unsigned.1).then_some(self.unsigned.0)
    }

    /// Whether [`LaneValue::class`] and [`LaneValue::offset`] hold only in executions in which the guards hold that
    /// [`Uniformity::guards`](super::Uniformity::guards) lists: some value on the way wrapped, or may have.
    pub fn needs_guard(&self) -> bool {
        self.needs_guard
    }

    /// Whether `base + offset` stays in the range of the register in all 32 lanes, so that the value can be extended,
    /// shifted right or compared as a whole.
    pub fn no_wrap(&self, signedness: Signedness) -> NoWrap {
        if self.never_wraps(signedness) { NoWrap::Proven } else { NoWrap::NeedsGuard }
    }

    /// What has to be added to the base of a lane to get its value, modulo 2 to the width. Lanes that agree in the bits
    /// of [`LaneValue::base_lane`] have the same base.
    pub fn offset(&self, lane: u32) -> i64 {
        let bits = self.coefficients.iter().enumerate().filter(|&(bit, _)| lane >> bit & 1 != 0);
        self.wrap_signed(bits.fold(0_i64, |sum, (_, &coefficient)| sum.wrapping_add(coefficient)))
    }

    /// The lane whose value is the base of a lane: 0 if there is one base for the warp, the lane itself if nothing is
    /// known.
    pub fn base_lane(&self, lane: u32) -> u32 {
        lane & u32::from(self.free)
    }

    /// Whether one base is enough for the warp: the value is a scalar plus a constant for each lane.
    pub fn has_one_base(&self) -> bool {
        self.free == 0
    }

    /// The largest power of two of which the value is a multiple in every lane.
    pub fn multiple_of(&self) -> u64 {
        let mut zeros = self.low_zeros();
        for coefficient in self.coefficients {
            zeros = zeros.min(coefficient.trailing_zeros());
        }
        1 << zeros.min(63)
    }

    /// Least and greatest value in any lane, read as unsigned.
    pub fn range(&self) -> (u64, u64) {
        self.unsigned
    }

    /// Least and greatest value in any lane, read as signed.
    pub fn signed_range(&self) -> (i64, i64) {
        self.signed
    }

    /// Width in bits.
    pub fn bits(&self) -> u32 {
        self.bits.into()
    }

    /// The low bits that all bases have in common: how many are known, and what they are.
    pub fn low_bits_of_base(&self) -> (u32, u64) {
        (self.known.into(), self.low)
    }

    /// Something that is the same in all lanes.
    pub(in crate::analysis) fn uniform(bits: u32) -> Self {
        Self::varying_in(bits, 0)
    }

    /// Anything.
    pub(super) fn vector(bits: u32) -> Self {
        Self::varying_in(bits, ALL_BITS)
    }

    /// Something that depends on these bits of the lane's number.
    pub(super) fn varying_in(bits: u32, free: LaneBits) -> Self {
        let bits = bits.clamp(1, 64) as u8;
        Self {
            bits,
            free,
            needs_guard: false,
            known: 0,
            low: 0,
            unsigned: (0, mask(bits)),
            signed: (signed_min(bits), signed_max(bits)),
            coefficients: [0; LANE_BITS],
        }
    }

    /// A number, of which the bits are taken that fit.
    pub(in crate::analysis) fn number(bits: u32, value: u64) -> Self {
        Self::uniform(bits).with_range(value & mask(bits.clamp(1, 64) as u8), value & mask(bits.clamp(1, 64) as u8))
    }

    /// The same, known to be between two values, both included.
    pub(super) fn with_range(self, least: u64, greatest: u64) -> Self {
        Self { unsigned: (self.unsigned.0.max(least), self.unsigned.1.min(greatest)), ..self }.tightened()
    }

    /// The same, with `low` as the `known` low bits of its bases.
    pub(super) fn with_low(self, known: u32, low: u64) -> Self {
        let known = known.min(self.bits.into()) as u8;
        Self { known, low: low & low_mask(known), ..self }.tightened()
    }

    /// The bits of the lane's number on which the value depends.
    pub(super) fn dependence(&self) -> LaneBits {
        (0..LANE_BITS).filter(|&bit| self.coefficients[bit] != 0).fold(self.free, |bits, bit| bits | 1 << bit)
    }

    /// The bits on which the value depends whether guards hold or not.
    pub(super) fn certain_dependence(&self) -> LaneBits {
        if self.needs_guard { ALL_BITS } else { self.dependence() }
    }

    /// How many low bits of the bases are known to be zero.
    pub(super) fn low_zeros(&self) -> u32 {
        if self.low == 0 { self.known.into() } else { self.low.trailing_zeros() }
    }

    /// The same with more free bits. A constant depends on none, whichever way it came.
    pub(super) fn forget(self, bits: LaneBits) -> Self {
        if self.constant().is_some() { self } else { self.forget_also_of_constants(bits) }
    }

    /// The same where some lanes may have come another way.
    pub(super) fn forget_also_of_constants(mut self, bits: LaneBits) -> Self {
        for bit in 0..LANE_BITS {
            let coefficient = self.coefficients[bit];
            if bits & 1 << bit != 0 && coefficient != 0 {
                // What the lanes had in common with the base is now all that the bases have in common.
                self.known = self.known.min(coefficient.trailing_zeros() as u8);
                self.coefficients[bit] = 0;
            }
        }
        self.low &= low_mask(self.known);
        self.free |= bits;
        // Where nothing is said of the lanes, there is nothing that a guard could change.
        self.needs_guard &= self.free != ALL_BITS;
        self
    }

    /// Only the bits that the value depends on, as the result of an unknown function of it has them.
    pub(super) fn forget_form(self) -> Self {
        self.forget(self.dependence())
    }

    /// What is true of both.
    pub(super) fn join(self, other: Self) -> Self {
        debug_assert_eq!(self.bits, other.bits, "registers do not change their width");
        let different = (0..LANE_BITS)
            .filter(|&bit| !self.is_equal_modulo(self.coefficients[bit], other.coefficients[bit]))
            .fold(self.free | other.free, |bits, bit| bits | 1 << bit);
        let (one, two) = (self.forget(different), other.forget(different));
        let known = one.known.min(two.known).min((one.low ^ two.low).trailing_zeros().min(64) as u8);
        Self {
            free: different,
            needs_guard: (one.needs_guard || two.needs_guard) && different != ALL_BITS,
            known,
            low: one.low & low_mask(known),
            unsigned: (one.unsigned.0.min(two.unsigned.0), one.unsigned.1.max(two.unsigned.1)),
            signed: (one.signed.0.min(two.signed.0), one.signed.1.max(two.signed.1)),
            ..one
        }
    }

    /// One of two values, chosen by something that depends on these bits of the lane's number.
    pub(super) fn either(self, other: Self, choice: LaneBits) -> Self {
        self.join(other).forget(choice)
    }

    /// The same without a range, to end a series of ever larger ones.
    pub(super) fn widened(self) -> Self {
        Self { unsigned: (0, mask(self.bits)), signed: (signed_min(self.bits), signed_max(self.bits)), ..self }
            .tightened()
    }

    /// Least and greatest sum of coefficients.
    pub(super) fn offsets(&self) -> (i128, i128) {
        self.coefficients.iter().fold((0, 0), |(least, greatest), &coefficient| {
            (least + i128::from(coefficient.min(0)), greatest + i128::from(coefficient.max(0)))
        })
    }

    pub(super) fn never_wraps(&self, signedness: Signedness) -> bool {
        let (least, greatest) = self.offsets();
        if least == 0 && greatest == 0 {
            return true;
        }
        // The known low bits hold all that the lanes add: nothing is carried into the other bits.
        let sign_is_apart = signedness == Signedness::Unsigned || self.known < self.bits;
        if sign_is_apart && self.fits_low(self.known) {
            return true;
        }
        if signedness == Signedness::Signed && self.known == self.bits {
            let base = i128::from(self.wrap_signed(self.low as i64));
            let limits = i128::from(signed_min(self.bits))..=i128::from(signed_max(self.bits));
            return limits.contains(&(base + least)) && limits.contains(&(base + greatest));
        }
        // Go from the base to a lane by changing one bit of the lane's number at a time. Each step changes the value by at
        // most the width of the range, and by the coefficient modulo 2^bits. If both are small enough, they are equal.
        let width = match signedness {
            Signedness::Unsigned => i128::from(self.unsigned.1) - i128::from(self.unsigned.0),
            Signedness::Signed => i128::from(self.signed.1) - i128::from(self.signed.0),
        };
        self.coefficients.iter().all(|&coefficient| width + i128::from(coefficient).abs() < 1_i128 << self.bits)
    }

    /// Whether the `bits` low bits of the bases are known, and adding offsets to them carries nothing out of them.
    pub(super) fn fits_low(&self, bits: u8) -> bool {
        let (least, greatest) = self.offsets();
        let low = i128::from(self.low & low_mask(bits));
        bits <= self.known && low + least >= 0 && low + greatest < 1_i128 << bits
    }

    /// Draws conclusions from one fact to the others.
    pub(super) fn tightened(mut self) -> Self {
        let bits = self.bits;
        if self.free == 0 && !self.needs_guard && self.known == bits && self.fits_low(bits) {
            let (least, greatest) = self.offsets();
            let low = i128::from(self.low);
            self.unsigned = ((low + least) as u64, (low + greatest) as u64);
            self.signed = (signed_min(bits), signed_max(bits));
        }
        // Both ranges describe the same bits; where one does not cross its seam, the other follows.
        if self.unsigned.1 <= signed_max(bits) as u64 || self.unsigned.0 > signed_max(bits) as u64 {
            let from_unsigned = (sign_extend(bits, self.unsigned.0), sign_extend(bits, self.unsigned.1));
            self.signed = intersect(self.signed, from_unsigned);
        }
        if self.signed.0 >= 0 || self.signed.1 < 0 {
            let from_signed = (self.signed.0 as u64 & mask(bits), self.signed.1 as u64 & mask(bits));
            self.unsigned = intersect(self.unsigned, from_signed);
        }
        if self.unsigned.0 == self.unsigned.1 {
            // A constant is one in all lanes, whatever the formula says.
            self.free = 0;
            self.needs_guard = false;
            self.coefficients = [0; LANE_BITS];
            self.known = bits;
            self.low = self.unsigned.0;
        }
        self
    }

    /// A coefficient as a signed number of the register's width.
    fn wrap_signed(&self, coefficient: i64) -> i64 {
        sign_extend(self.bits, coefficient as u64 & mask(self.bits))
    }

    fn is_equal_modulo(&self, one: i64, other: i64) -> bool {
        (one as u64 ^ other as u64) & mask(self.bits) == 0
    }
}

/// The numbers that are in both ranges; the first range if there are none, which only dead code has.
fn intersect<T: Ord + Copy>(one: (T, T), other: (T, T)) -> (T, T) {
    let both = (one.0.max(other.0), one.1.min(other.1));
    if both.0 <= both.1 { both } else { one }
}

/// The greatest unsigned number of a width.
pub(super) fn mask(bits: u8) -> u64 {
    low_mask(bits)
}

/// A mask of so many low bits.
pub(super) fn low_mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

pub(super) fn signed_max(bits: u8) -> i64 {
    (low_mask(bits) >> 1) as i64
}

pub(super) fn signed_min(bits: u8) -> i64 {
    -signed_max(bits) - 1
}

/// The number that the low bits stand for, read as signed.
pub(super) fn sign_extend(bits: u8, value: u64) -> i64 {
    let unused = 64 - u32::from(bits);
    (value << unused) as i64 >> unused
}
