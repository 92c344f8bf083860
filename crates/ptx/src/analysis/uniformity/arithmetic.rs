//! Integer arithmetic on [`LaneValue`]s.
//!
//! Addition, subtraction and multiplication by a constant never ask whether something wraps, because the formula holds
//! modulo 2^bits. Extension, right shifts and masks look at the value as one integer: they keep the formula if nothing
//! wraps, which is proven here or demanded as a [`WrapCheck`] of the base.

use smallvec::SmallVec;

use super::value::{ALL_BITS, LANE_BITS, LaneValue, Signedness, low_mask, mask, sign_extend};
use super::value::{signed_max, signed_min};
use crate::ir::Reg;

/// A condition on the base of a value: `base + offset` stays within the low `bits` bits for all offsets of the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrapCheck {
    /// Of how many low bits of the base this is asked.
    pub bits: u32,
    /// How they are read.
    pub signedness: Signedness,
    /// The least offset of a lane from its base, at most zero.
    pub least: i128,
    /// The greatest offset of a lane from its base, at least zero.
    pub greatest: i128,
}

impl WrapCheck {
    /// Whether it holds for a base.
    pub fn holds(&self, base: u64) -> bool {
        let bits = self.bits as u8;
        let (base, limits) = match self.signedness {
            Signedness::Unsigned => (i128::from(base & mask(bits)), (0, i128::from(mask(bits)))),
            Signedness::Signed => {
                (i128::from(sign_extend(bits, base)), (signed_min(bits).into(), signed_max(bits).into()))
            }
        };
        base + self.least >= limits.0 && base + self.greatest <= limits.1
    }
}

/// The checks of an operand that the formula of a result depends on.
#[derive(Debug)]
pub(super) struct Checks {
    /// The register whose base would be checked; other operands cannot be.
    reg: Option<Reg>,
    needed: SmallVec<[WrapCheck; 2]>,
}

impl Checks {
    /// Checks of a register, or none if there is no register.
    pub(super) fn of(reg: Option<Reg>) -> Self {
        Self { reg, needed: SmallVec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.needed.is_empty()
    }

    /// The register with the checks of its base.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Reg, WrapCheck)> {
        self.reg.into_iter().flat_map(|reg| self.needed.iter().map(move |&check| (reg, check)))
    }

    /// Demands that a value does not wrap in its low bits. False if it cannot be checked, would wrap for most bases, or is
    /// not even regular in pairs of lanes: a check that fails costs more than it gains.
    fn demand(&mut self, value: &LaneValue, bits: u8, signedness: Signedness) -> bool {
        let (least, greatest) = value.offsets();
        let check = WrapCheck { bits: bits.into(), ..value.wrap_check(signedness) };
        let is_worthwhile =
            if value.known >= bits { check.holds(value.low) } else { 2 * (greatest - least) < 1_i128 << bits };
        let is_demanded = self.reg.is_some() && is_worthwhile && value.free & 1 == 0;
        if is_demanded {
            self.needed.push(check);
        }
        is_demanded
    }
}

impl LaneValue {
    /// The condition on the base under which [`LaneValue::no_wrap`] holds if it is not proven.
    pub fn wrap_check(&self, signedness: Signedness) -> WrapCheck {
        let (least, greatest) = self.offsets();
        WrapCheck { bits: self.bits(), signedness, least, greatest }
    }

    /// An unknown function of other values.
    pub(in crate::analysis) fn function_of(bits: u32, operands: &[Self]) -> Self {
        let free = operands.iter().fold(0, |bits, operand| bits | operand.dependence());
        let needs_guard = free != ALL_BITS && operands.iter().any(|operand| operand.needs_guard);
        Self { needs_guard, ..Self::varying_in(bits, free) }
    }

    pub(in crate::analysis) fn add(self, other: Self) -> Self {
        let sum = self.combine(other, i64::wrapping_add, u64::wrapping_add);
        let (a, b) = (self.unsigned, other.unsigned);
        let unsigned = wrap_range(u128::from(a.0) + u128::from(b.0), u128::from(a.1) + u128::from(b.1), sum.bits);
        let (a, b) = (self.signed, other.signed);
        let signed = (i128::from(a.0) + i128::from(b.0), i128::from(a.1) + i128::from(b.1));
        sum.with_ranges(unsigned, signed)
    }

    pub(super) fn sub(self, other: Self) -> Self {
        let difference = self.combine(other, i64::wrapping_sub, u64::wrapping_sub);
        let (a, b) = (self.unsigned, other.unsigned);
        // Shifted up by 2^bits, so that it is not negative.
        let seam = 1_u128 << difference.bits;
        let unsigned = wrap_range(
            seam + u128::from(a.0) - u128::from(b.1),
            seam + u128::from(a.1) - u128::from(b.0),
            difference.bits,
        );
        let (a, b) = (self.signed, other.signed);
        let signed = (i128::from(a.0) - i128::from(b.1), i128::from(a.1) - i128::from(b.0));
        difference.with_ranges(unsigned, signed)
    }

    pub(super) fn neg(self) -> Self {
        Self::number(self.bits(), 0).sub(self)
    }

    pub(super) fn not(self) -> Self {
        Self::number(self.bits(), u64::MAX).sub(self)
    }

    /// The low half of the product.
    pub(super) fn mul(self, other: Self) -> Self {
        let (one, other) = match (self.constant(), other.constant()) {
            (_, Some(_)) => (self, other),
            (Some(_), _) => (other, self),
            // The product with an unknown number has unknown coefficients, also if the number is the same in all lanes.
            _ => (self.forget_form(), other.forget_form()),
        };
        let bits = one.bits;
        let factor = i128::from(other.constant().map_or(0, |number| sign_extend(bits, number)));
        let coefficients = one.coefficients.map(|coefficient| reduce(i128::from(coefficient) * factor, bits));
        // (l1 + x·2^k1)·(l2 + y·2^k2), where l1 and l2 may have zeros of their own.
        let known_of_one = u32::from(one.known) + other.low_zeros();
        let known_of_other = u32::from(other.known) + one.low_zeros();
        let known = known_of_one.min(known_of_other).min(bits.into()) as u8;
        let low = one.low.wrapping_mul(other.low) & low_mask(known);
        let free = one.free | other.free;
        let needs_guard = (one.needs_guard || other.needs_guard) && free != ALL_BITS;
        let unsigned = if u128::from(one.unsigned.1) * u128::from(other.unsigned.1) <= u128::from(mask(bits)) {
            (one.unsigned.0 * other.unsigned.0, one.unsigned.1 * other.unsigned.1)
        } else {
            (0, mask(bits))
        };
        let corners = [
            i128::from(one.signed.0) * i128::from(other.signed.0),
            i128::from(one.signed.0) * i128::from(other.signed.1),
            i128::from(one.signed.1) * i128::from(other.signed.0),
            i128::from(one.signed.1) * i128::from(other.signed.1),
        ];
        let least = corners.into_iter().min().expect("there are four corners");
        let greatest = corners.into_iter().max().expect("there are four corners");
        Self { free, needs_guard, known, low, coefficients, ..one }.with_ranges(unsigned, (least, greatest))
    }

    /// Shifted left by a constant; shifts by the width or more make zero.
    pub(super) fn shl(self, amount: u64) -> Self {
        match amount {
            0..64 if amount < self.bits.into() => self.mul(Self::number(self.bits(), 1 << amount)),
            _ => Self::number(self.bits(), 0),
        }
    }

    /// Shifted right by a constant: the floor of the quotient.
    pub(super) fn shr(self, amount: u64, signedness: Signedness, checks: &mut Checks) -> Self {
        let bits = self.bits;
        let amount = match signedness {
            Signedness::Unsigned if amount >= bits.into() => return Self::number(self.bits(), 0),
            Signedness::Signed => amount.min(u64::from(bits) - 1) as u8,
            Signedness::Unsigned => amount as u8,
        };
        if amount == 0 {
            return self;
        }
        let high = self.without_low_bits(amount, checks);
        // Multiples of 2^amount of which none wraps can be divided one by one.
        let high = if self.never_wraps(signedness)
            || high.never_wraps(signedness)
            || (high.free & 1 == 0 && checks.demand(&self, bits, signedness))
        {
            high
        } else {
            high.forget_form()
        };
        let shifted = Self {
            known: high.known - amount,
            low: high.low >> amount,
            needs_guard: (high.needs_guard || !checks.is_empty()) && high.free != ALL_BITS,
            coefficients: high.coefficients.map(|coefficient| coefficient >> amount),
            ..Self::varying_in(self.bits(), high.free)
        };
        match signedness {
            Signedness::Unsigned => shifted.with_range(self.unsigned.0 >> amount, self.unsigned.1 >> amount),
            Signedness::Signed => {
                let signed = (i128::from(self.signed.0 >> amount), i128::from(self.signed.1 >> amount));
                shifted.with_ranges((0, mask(bits)), signed)
            }
        }
    }

    /// Bitwise and with a constant.
    pub(super) fn and(self, constant: u64, checks: &mut Checks) -> Self {
        let constant = constant & mask(self.bits);
        let mut sum = Self::number(self.bits(), 0);
        let mut rest = constant;
        if (constant & !(constant << 1)).count_ones() > MAX_FIELDS {
            sum = Self::function_of(self.bits(), &[self]);
            rest = 0;
        }
        while rest != 0 {
            let start = rest.trailing_zeros() as u8;
            let end = start + (rest >> start).trailing_ones() as u8;
            rest &= !low_mask(end);
            // A field is what is below its end without what is below its start.
            let below_end = self.low_bits(end, checks);
            let field = if start == 0 { below_end } else { below_end.without_low_bits(start, checks) };
            sum = sum.add(field);
        }
        // Zeros of the mask are known bits too, as far as they follow the ones that were known.
        let mut known = if sum.free == self.free { self.known } else { sum.known };
        while known < self.bits && constant >> known & 1 == 0 {
            known += 1;
        }
        let low = if sum.free == self.free { self.low & constant } else { sum.low };
        let needs_guard = (sum.needs_guard || !checks.is_empty()) && sum.free != ALL_BITS;
        Self { needs_guard, known, low: low & low_mask(known), ..sum }.with_range(0, constant.min(self.unsigned.1))
    }

    /// Bitwise or with a constant: each bit that is set is added unless it was there.
    pub(super) fn or(self, constant: u64, checks: &mut Checks) -> Self {
        let constant_value = Self::number(self.bits(), constant);
        self.add(constant_value).sub(self.and(constant, checks)).with_range(constant & mask(self.bits), u64::MAX)
    }

    /// Bitwise exclusive or with a constant: each bit that is set is added, or taken away if it was there.
    pub(super) fn xor(self, constant: u64, checks: &mut Checks) -> Self {
        let constant_value = Self::number(self.bits(), constant);
        let common = self.and(constant, checks);
        let greatest = low_mask((64 - (self.unsigned.1 | constant & mask(self.bits)).leading_zeros()) as u8);
        self.add(constant_value).sub(common).sub(common).with_range(0, greatest)
    }

    /// Whether no bit can be set in both, so that or, exclusive or and addition are the same.
    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        let is_below = |small: &Self, large: &Self| {
            let bits = 64 - small.unsigned.1.leading_zeros();
            large.multiple_of().trailing_zeros() >= bits || bits == 0
        };
        is_below(self, other) || is_below(other, self)
    }

    /// The value in a wider register.
    pub(super) fn extend(self, bits: u32, signedness: Signedness, checks: &mut Checks) -> Self {
        let bits = bits.min(64) as u8;
        if bits <= self.bits {
            return self;
        }
        let narrow = if self.never_wraps(signedness) || checks.demand(&self, self.bits, signedness) {
            self
        } else {
            self.forget_form()
        };
        let (known, low) = match (narrow.known == narrow.bits, signedness) {
            (true, Signedness::Unsigned) => (bits, narrow.low),
            (true, Signedness::Signed) => (bits, sign_extend(narrow.bits, narrow.low) as u64 & mask(bits)),
            (false, _) => (narrow.known, narrow.low),
        };
        let needs_guard = (narrow.needs_guard || !checks.is_empty()) && narrow.free != ALL_BITS;
        let coefficients = narrow.coefficients;
        let wide = Self { needs_guard, known, low, coefficients, ..Self::varying_in(bits.into(), narrow.free) };
        match signedness {
            Signedness::Unsigned => wide.with_range(self.unsigned.0, self.unsigned.1),
            Signedness::Signed => wide.with_ranges((0, mask(bits)), (self.signed.0.into(), self.signed.1.into())),
        }
    }

    /// The low bits of the value as a narrower register.
    pub(super) fn truncate(self, bits: u32) -> Self {
        let bits = bits.clamp(1, 64) as u8;
        if bits >= self.bits {
            return self;
        }
        let known = self.known.min(bits);
        let narrow = Self {
            needs_guard: self.needs_guard,
            known,
            low: self.low & low_mask(known),
            coefficients: self.coefficients.map(|coefficient| reduce(coefficient.into(), bits)),
            ..Self::varying_in(bits.into(), self.free)
        };
        // A range that is short enough stays in one piece, unless a seam of the narrower numbers is in it.
        let mut range = narrow;
        for (least, greatest) in [self.unsigned, (self.signed.0 as u64, self.signed.1 as u64)] {
            if greatest.wrapping_sub(least) <= mask(bits) {
                let ends = (least & mask(bits), greatest & mask(bits));
                let signed_ends = (sign_extend(bits, ends.0), sign_extend(bits, ends.1));
                range.unsigned = if ends.0 <= ends.1 { ends } else { range.unsigned };
                range.signed = if signed_ends.0 <= signed_ends.1 { signed_ends } else { range.signed };
            }
        }
        range.tightened()
    }

    /// The `bits` low bits of the value, in a register of the same width.
    pub(super) fn low_bits(self, bits: u8, checks: &mut Checks) -> Self {
        if bits >= self.bits {
            return self;
        }
        if let Some(high) = self.common_high_bits(bits) {
            return self.sub(high);
        }
        let known = self.known.min(bits);
        let coefficients = self.coefficients.map(|coefficient| reduce(coefficient.into(), bits));
        let low = Self { known, low: self.low & low_mask(known), coefficients, ..self };
        let is_constant = coefficients == [0; LANE_BITS];
        let fits = is_constant || low.fits_low(known) || checks.demand(&low, bits, Signedness::Unsigned);
        let low = if fits { low } else { low.forget_form() };
        let needs_guard = (self.needs_guard || !checks.is_empty()) && low.free != ALL_BITS;
        let unsigned = (0, low_mask(bits));
        Self { needs_guard, unsigned, signed: (signed_min(self.bits), signed_max(self.bits)), ..low }.tightened()
    }

    /// The value with its `bits` low bits set to zero.
    fn without_low_bits(self, bits: u8, checks: &mut Checks) -> Self {
        if let Some(high) = self.common_high_bits(bits) {
            return high;
        }
        let low = self.low_bits(bits, checks);
        let high = self.sub(low);
        let (known, low) = if low.free == self.free {
            (self.known.max(bits), self.low & !low_mask(bits))
        } else {
            // The coefficients that were forgotten may have set bits above.
            (high.known.max(bits), high.low & !low_mask(bits))
        };
        Self { known, low, ..high }.tightened()
    }

    /// The value with its `bits` low bits set to zero, if the range says that this is one number.
    fn common_high_bits(&self, bits: u8) -> Option<Self> {
        let high = self.unsigned.0 & !low_mask(bits);
        (self.unsigned.1 & !low_mask(bits) == high).then(|| Self::number(self.bits(), high))
    }

    fn combine(self, other: Self, coefficient: fn(i64, i64) -> i64, number: fn(u64, u64) -> u64) -> Self {
        debug_assert_eq!(self.bits, other.bits, "the operands of an instruction have its width");
        let free = self.free | other.free;
        let (one, other) = (self.forget(other.free), other.forget(self.free));
        let known = one.known.min(other.known);
        let mut coefficients = [0; LANE_BITS];
        for (bit, sum) in coefficients.iter_mut().enumerate() {
            *sum = reduce(coefficient(one.coefficients[bit], other.coefficients[bit]).into(), one.bits);
        }
        let low = number(one.low, other.low) & low_mask(known);
        let needs_guard = (self.needs_guard || other.needs_guard) && free != ALL_BITS;
        Self { free, needs_guard, known, low, coefficients, ..Self::varying_in(one.bits(), free) }
    }

    /// The same with these ranges; a signed one that does not fit is none.
    fn with_ranges(self, unsigned: (u64, u64), signed: (i128, i128)) -> Self {
        let (min, max) = (signed_min(self.bits), signed_max(self.bits));
        let fits = signed.0 >= min.into() && signed.1 <= max.into();
        let signed = if fits { (signed.0 as i64, signed.1 as i64) } else { (min, max) };
        Self { unsigned, signed, ..self }.tightened()
    }
}

/// A mask with more runs of ones than this is an unknown function.
const MAX_FIELDS: u32 = 3;

/// A coefficient modulo 2^bits, with its sign.
fn reduce(coefficient: i128, bits: u8) -> i64 {
    if bits >= 64 { coefficient as i64 } else { (coefficient % (1_i128 << bits)) as i64 }
}

/// A range of sums below 2^(bits+1), modulo 2^bits.
fn wrap_range(least: u128, greatest: u128, bits: u8) -> (u64, u64) {
    let seam = 1_u128 << bits;
    if greatest < seam {
        (least as u64, greatest as u64)
    } else if least >= seam && greatest < 2 * seam {
        ((least - seam) as u64, (greatest - seam) as u64)
    } else {
        (0, mask(bits))
    }
}
