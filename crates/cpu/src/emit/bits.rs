//! Bits: counting, fields, permutations, logic.

use super::{Emit, Sign};
use crate::llvm::{IntPredicate, Value};

impl<'c> Emit<'_, 'c> {
    /// Number of ones, in 32 bits.
    pub(crate) fn popc(&self, a: Value<'c>) -> Value<'c> {
        self.resize(Sign::Unsigned, self.call1("llvm.ctpop", a.ty(), &[a]), 32)
    }

    /// Number of zeros above the highest one, in 32 bits.
    pub(crate) fn clz(&self, a: Value<'c>) -> Value<'c> {
        let zero_is_fine = self.context().int(1).constant(0);
        self.resize(Sign::Unsigned, self.call1("llvm.ctlz", a.ty(), &[a, zero_is_fine]), 32)
    }

    /// Number of zeros below the lowest one; the width for zero.
    pub(crate) fn ctz(&self, a: Value<'c>) -> Value<'c> {
        let zero_is_fine = self.context().int(1).constant(0);
        self.call1("llvm.cttz", a.ty(), &[a, zero_is_fine])
    }

    pub(crate) fn reverse_bits(&self, a: Value<'c>) -> Value<'c> {
        self.call1("llvm.bitreverse", a.ty(), &[a])
    }

    /// The place of the highest bit that differs from the sign, or how far it is from the top; -1 if there is none.
    pub(crate) fn find_leading(&self, sign: Sign, a: Value<'c>, shift_amount: bool) -> Value<'c> {
        let ty = a.ty();
        let a = match sign {
            Sign::Unsigned => a,
            Sign::Signed => self.xor(a, self.ashr(a, ty.constant(u64::from(ty.bits() - 1)))),
        };
        let zeros = self.clz(a);
        let found = if shift_amount { zeros } else { self.sub(zeros.ty().constant(u64::from(ty.bits() - 1)), zeros) };
        self.select(self.is_zero(a), found.ty().all_ones(), found)
    }

    /// `bfe`: `length` bits from `position` up, extended. Both are taken modulo 256, and fields may reach past the top.
    pub(crate) fn extract_field(&self, sign: Sign, a: Value<'c>, position: Value<'c>, length: Value<'c>) -> Value<'c> {
        let width = a.ty().bits();
        let position = self.and_constant(position, 0xff);
        let length = self.and_constant(length, 0xff);
        let full = length.ty().constant(width.into());
        // Bits past the top are copies of the sign for signed fields, so a signed shift right reads them.
        let moved = self.shift_right(sign, a, position);
        let covers_all = self.icmp(IntPredicate::LLVMIntUGE, length, full);
        match sign {
            Sign::Unsigned => self.and(moved, self.low_mask(width, length)),
            Sign::Signed => {
                let unused = self.select(covers_all, length.ty().zero(), self.sub(full, length));
                let field = self.shift_right(sign, self.shift_left(moved, unused), unused);
                self.select(self.is_zero(length), a.ty().zero(), field)
            }
        }
    }

    /// `bfi`: `b` with `length` bits from `position` up replaced by the low bits of `a`.
    pub(crate) fn insert_field(&self, a: Value<'c>, b: Value<'c>, position: Value<'c>, length: Value<'c>) -> Value<'c> {
        let width = a.ty().bits();
        let position = self.and_constant(position, 0xff);
        let length = self.and_constant(length, 0xff);
        let mask = self.shift_left(self.low_mask(width, length), position);
        let field = self.shift_left(a, position);
        self.or(self.and(field, mask), self.and(b, self.not(mask)))
    }

    /// `length` ones; all of them if there are not so many bits.
    pub(crate) fn low_mask(&self, width: u32, length: Value<'c>) -> Value<'c> {
        let ones = self.int(width).all_ones();
        self.not(self.shift_left(ones, length))
    }

    /// `bmsk`: `length` ones from `position` up. Clamped to the width, or both modulo 32.
    pub(crate) fn mask_of(&self, position: Value<'c>, length: Value<'c>, wraps: bool) -> Value<'c> {
        let (position, length) =
            if wraps { (self.and_constant(position, 31), self.and_constant(length, 31)) } else { (position, length) };
        self.shift_left(self.low_mask(32, length), position)
    }

    /// `szext`: the low bits, extended from a width that is clamped to 32 or taken modulo 32.
    pub(crate) fn extend_from(&self, sign: Sign, a: Value<'c>, width: Value<'c>, wraps: bool) -> Value<'c> {
        let width = if wraps { self.and_constant(width, 31) } else { width };
        match sign {
            Sign::Unsigned => self.and(a, self.low_mask(32, width)),
            Sign::Signed => {
                let full = width.ty().constant(32);
                let is_full = self.icmp(IntPredicate::LLVMIntUGE, width, full);
                let unused = self.select(is_full, width.ty().zero(), self.sub(full, width));
                let field = self.shift_right(sign, self.shift_left(a, unused), unused);
                self.select(self.is_zero(width), a.ty().zero(), field)
            }
        }
    }

    /// `shf`: a shift of the 64 bits `high:low`, of which the upper or the lower half is wanted.
    pub(crate) fn funnel_shift(
        &self,
        left: bool,
        wraps: bool,
        low: Value<'c>,
        high: Value<'c>,
        amount: Value<'c>,
    ) -> Value<'c> {
        let amount = if wraps {
            self.and_constant(amount, 31)
        } else {
            self.int_min(Sign::Unsigned, amount, amount.ty().constant(32))
        };
        let wide = self.or(
            self.resize(Sign::Unsigned, low, 64),
            self.shl(self.resize(Sign::Unsigned, high, 64), self.int(64).constant(32)),
        );
        let amount = self.resize(Sign::Unsigned, amount, 64);
        let moved =
            if left { self.lshr(self.shl(wide, amount), wide.ty().constant(32)) } else { self.lshr(wide, amount) };
        self.resize(Sign::Unsigned, moved, 32)
    }

    /// `lop3`: any function of three bits, given as its table.
    pub(crate) fn logic3(&self, table: u8, a: Value<'c>, b: Value<'c>, c: Value<'c>) -> Value<'c> {
        let mut result = a.ty().zero();
        for row in 0..8 {
            if table >> row & 1 == 0 {
                continue;
            }
            let term = |bit: u32, value| if row >> bit & 1 != 0 { value } else { self.not(value) };
            result = self.or(result, self.and(self.and(term(2, a), term(1, b)), term(0, c)));
        }
        result
    }

    /// `prmt` with a selector in a register: four bytes chosen from eight, with or without sign replication.
    pub(crate) fn permute_bytes(&self, a: Value<'c>, b: Value<'c>, selector: Value<'c>) -> Value<'c> {
        let wide = self.pair(a, b);
        let mut result = a.ty().zero();
        for place in 0..4 {
            let nibble = self.and_constant(self.lshr(selector, selector.ty().constant(place * 4)), 15);
            let byte = self.chosen_byte(wide, self.and_constant(nibble, 7));
            // The top bit of the nibble asks for eight copies of the sign.
            let sign = self.lshr(byte, byte.ty().constant(7));
            let signs = self.sub(byte.ty().zero(), sign);
            let replicates = self.is_not_zero(self.and_constant(nibble, 8));
            let byte = self.select(replicates, self.and_constant(signs, 0xff), byte);
            result = self.or(result, self.shl(byte, byte.ty().constant(place * 8)));
        }
        result
    }

    /// `prmt` in one of its modes, where the selector only tells where to start.
    pub(crate) fn permute_bytes_by(
        &self,
        order: impl Fn(u64) -> [u64; 4],
        a: Value<'c>,
        b: Value<'c>,
        selector: Value<'c>,
    ) -> Value<'c> {
        let wide = self.pair(a, b);
        let selector = self.and_constant(selector, 3);
        let mut result = a.ty().zero();
        for place in 0..4 {
            let mut index = selector.ty().constant(order(0)[place]);
            for start in 1..4 {
                let is_start = self.equal(selector, selector.ty().constant(start));
                index = self.select(is_start, selector.ty().constant(order(start)[place]), index);
            }
            let byte = self.chosen_byte(wide, index);
            result = self.or(result, self.shl(byte, byte.ty().constant(place as u64 * 8)));
        }
        result
    }

    /// `b:a` as one number.
    pub(crate) fn pair(&self, low: Value<'c>, high: Value<'c>) -> Value<'c> {
        let bits = low.ty().bits();
        let low = self.resize(Sign::Unsigned, low, bits * 2);
        let high = self.resize(Sign::Unsigned, high, bits * 2);
        self.or(low, self.shl(high, high.ty().constant(bits.into())))
    }

    /// The byte of a number of 64 bits that an index of 32 bits names, in 32 bits.
    fn chosen_byte(&self, wide: Value<'c>, index: Value<'c>) -> Value<'c> {
        let amount = self.resize(Sign::Unsigned, self.shl(index, index.ty().constant(3)), 64);
        self.and_constant(self.resize(Sign::Unsigned, self.lshr(wide, amount), 32), 0xff)
    }

    /// `dp4a`, `dp2a`: the sum of products of the parts of two registers, each read with its own sign.
    pub(crate) fn dot_product(
        &self,
        parts: &[(u32, u32, u32)],
        signs: (Sign, Sign),
        a: Value<'c>,
        b: Value<'c>,
        c: Value<'c>,
    ) -> Value<'c> {
        let mut sum = c;
        for &(a_bits, a_place, b_place) in parts {
            let x = self.part(signs.0, a, a_place, a_bits);
            let y = self.part(signs.1, b, b_place, 8);
            sum = self.add(sum, self.mul(x, y));
        }
        sum
    }

    /// The bits from a constant place on, extended.
    pub(crate) fn part(&self, sign: Sign, a: Value<'c>, place: u32, bits: u32) -> Value<'c> {
        let width = a.ty().bits();
        let top = self.shl(a, a.ty().constant(u64::from(width - place - bits)));
        let amount = a.ty().constant(u64::from(width - bits));
        match sign {
            Sign::Unsigned => self.lshr(top, amount),
            Sign::Signed => self.ashr(top, amount),
        }
    }

    /// `fns`: the place of the n-th set bit of a mask, counted from a base up (or down for negative n); all ones if there
    /// is none.
    pub(crate) fn find_nth_set(&self, mask: Value<'c>, base: Value<'c>, offset: Value<'c>) -> Value<'c> {
        let ty = mask.ty();
        let mut found = ty.all_ones();
        let mut up = offset;
        let mut down = self.neg(offset);
        let counts_up = self.icmp(IntPredicate::LLVMIntSGT, offset, ty.zero());
        // There is nothing to find from a place on that does not exist.
        let counts_down = self.and(
            self.icmp(IntPredicate::LLVMIntSLT, offset, ty.zero()),
            self.less(Sign::Unsigned, base, ty.constant(32)),
        );
        for place in 0..32 {
            let (rising, falling) = (ty.constant(place), ty.constant(31 - place));
            let is_set = |at| self.is_not_zero(self.and(mask, self.shl(ty.constant(1), at)));
            let hit_up =
                self.and(self.and(counts_up, is_set(rising)), self.icmp(IntPredicate::LLVMIntUGE, rising, base));
            let hit_down =
                self.and(self.and(counts_down, is_set(falling)), self.icmp(IntPredicate::LLVMIntULE, falling, base));
            let one = ty.constant(1);
            found = self.select(self.and(hit_up, self.equal(up, one)), rising, found);
            found = self.select(self.and(hit_down, self.equal(down, one)), falling, found);
            up = self.sub(up, self.zext(hit_up, ty));
            down = self.sub(down, self.zext(hit_down, ty));
        }
        // An offset of zero asks for the bit at the base itself.
        let at_base = self.is_not_zero(self.and_constant(self.shift_right(Sign::Unsigned, mask, base), 1));
        self.select(self.and(self.is_zero(offset), at_base), base, found)
    }

    /// The product of two numbers of 64 bits without carries: its lower or upper half.
    pub(crate) fn carryless_product(&self, a: Value<'c>, b: Value<'c>, is_high: bool) -> Value<'c> {
        let ty = a.ty();
        let mut product = ty.zero();
        for place in u64::from(is_high)..64 {
            let moved = if is_high { self.lshr(a, ty.constant(64 - place)) } else { self.shl(a, ty.constant(place)) };
            let is_set = self.is_not_zero(self.and_constant(b, 1 << place));
            product = self.xor(product, self.select(is_set, moved, ty.zero()));
        }
        product
    }
}
