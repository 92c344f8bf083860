//! Shifts, fields, permutations and tables of bits.

use super::int::{Int, mask};

/// Shifts left; past the width nothing is left.
pub fn shl(bits: u32, a: u128, amount: u32) -> u128 {
    if amount >= bits { 0 } else { a << amount & mask(bits) }
}

/// Shifts right; past the width only signs are left.
pub fn shr(ty: Int, a: u128, amount: u32) -> u128 {
    (ty.value(a) >> amount.min(ty.bits)) as u128 & mask(ty.bits)
}

/// A funnel shift of `b:a` by `c`, clamped to 32 or taken modulo 32.
pub fn funnel_shift(left: bool, wrap: bool, a: u32, b: u32, c: u32) -> u32 {
    let amount = if wrap { c & 31 } else { c.min(32) };
    let both = u64::from(b) << 32 | u64::from(a);
    if left { (both << amount >> 32) as u32 } else { (both >> amount) as u32 }
}

/// The most significant bit that is not a copy of the sign, or all ones if there is none; with `shift_amount`, by how
/// much to shift it to the top.
pub fn bfind(ty: Int, shift_amount: bool, a: u128) -> u32 {
    let value = ty.value(a);
    let value = if value < 0 { !value } else { value } as u128;
    match value {
        0 => u32::MAX,
        _ if shift_amount => ty.bits - 1 - value.ilog2(),
        _ => value.ilog2(),
    }
}

/// Finds the `n`-th bit that is one, counting from `base` upwards for positive `n` and downwards for negative; `n` zero
/// asks whether the bit at `base` is one.
pub fn fns(mask: u32, base: u32, n: i32) -> u32 {
    let step: i64 = if n < 0 { -1 } else { 1 };
    let mut left = n.unsigned_abs();
    let mut position = i64::from(base);
    if n == 0 {
        return if base < 32 && mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    while (0..32).contains(&position) {
        left -= mask >> position & 1;
        if left == 0 {
            return position as u32;
        }
        position += step;
    }
    u32::MAX
}

/// Extracts a field. Bits past the end of the register are copies of its sign, or zeros.
pub fn bfe(ty: Int, a: u128, position: u32, len: u32) -> u128 {
    let (position, len) = (position & 0xff, len & 0xff);
    let top = ty.bits - 1;
    let bit = |index: u32| a >> index & 1;
    let sign = if !ty.signed || len == 0 { 0 } else { bit((position + len - 1).min(top)) };
    (0..ty.bits).fold(0, |result, index| {
        let value = if index < len && position + index <= top { bit(position + index) } else { sign };
        result | value << index
    })
}

/// Inserts the low bits of `a` into `b`.
pub fn bfi(bits: u32, a: u128, b: u128, position: u32, len: u32) -> u128 {
    let (position, len) = (position & 0xff, len & 0xff);
    let mut result = b & mask(bits);
    for index in 0..len.min(bits.saturating_sub(position)) {
        let place = position + index;
        result = result & !(1 << place) | (a >> index & 1) << place;
    }
    result
}

/// A mask of `len` ones from `position` on, both clamped to 32 or taken modulo 32.
pub fn bmsk(wrap: bool, position: u32, len: u32) -> u32 {
    let (position, len) = if wrap { (position & 31, len & 31) } else { (position.min(32), len.min(32)) };
    let ones = (1_u64 << len) - 1;
    (ones << position) as u32
}

/// Extends the low `len` bits with zeros or their sign.
pub fn szext(signed: bool, wrap: bool, a: u32, len: u32) -> u32 {
    let len = if wrap { len & 31 } else { len.min(32) };
    if len == 0 {
        return 0;
    }
    Int { bits: len, signed }.value(a.into()) as u32
}

/// Any function of three bits, as a table.
pub fn lop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |result, row| {
        let pick = |value: u32, bit: u8| if row >> bit & 1 == 1 { value } else { !value };
        result | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

/// How `prmt` chooses bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permute {
    /// By four selectors of four bits, the highest of which asks for the sign.
    Selectors,
    /// `.f4e`
    Forward,
    /// `.b4e`
    Backward,
    /// `.rc8`
    Replicate8,
    /// `.ecl`
    EdgeLeft,
    /// `.ecr`
    EdgeRight,
    /// `.rc16`
    Replicate16,
}

/// Picks four bytes out of `b:a`.
pub fn prmt(mode: Permute, a: u32, b: u32, c: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    let select = c & 3;
    let byte = |index: u32| -> u32 {
        let selector = match mode {
            Permute::Selectors => c >> (4 * index) & 15,
            Permute::Forward => index + select,
            // Byte 0 is the selected one, then downwards around the eight bytes.
            Permute::Backward => (8 + select - index) & 7,
            Permute::Replicate8 => select,
            Permute::EdgeLeft => index.max(select),
            Permute::EdgeRight => index.min(select),
            Permute::Replicate16 => index & 1 | (select & 1) << 1,
        };
        let value = (both >> (8 * (selector & 7))) as u32 & 0xff;
        if selector & 8 == 0 {
            value
        } else if value & 0x80 == 0 {
            0
        } else {
            0xff
        }
    };
    (0..4).fold(0, |result, index| result | byte(index) << (8 * index))
}

#[cfg(test)]
mod tests {
    use super::*;

    const U32: Int = Int { bits: 32, signed: false };
    const S32: Int = Int { bits: 32, signed: true };

    #[test]
    fn shifts_past_the_width() {
        assert_eq!(shl(32, 1, 32), 0);
        assert_eq!(shl(16, 0xffff, 15), 0x8000);
        assert_eq!(shr(U32, 0x8000_0000, 33), 0);
        assert_eq!(shr(S32, 0x8000_0000, 33), 0xffff_ffff);
        assert_eq!(shr(S32, 0x8000_0000, u32::MAX), 0xffff_ffff);
    }

    #[test]
    fn funnels() {
        for amount in 0..70 {
            let (a, b) = (0x8765_4321_u32, 0xfedc_ba98_u32);
            let wrapped = amount & 31;
            assert_eq!(
                funnel_shift(true, true, a, b, amount),
                if wrapped == 0 { b } else { b << wrapped | a >> (32 - wrapped) }
            );
            assert_eq!(
                funnel_shift(false, true, a, b, amount),
                if wrapped == 0 { a } else { b << (32 - wrapped) | a >> wrapped }
            );
        }
        assert_eq!(funnel_shift(true, false, 1, 2, 40), 1);
        assert_eq!(funnel_shift(false, false, 1, 2, 40), 2);
    }

    #[test]
    fn first_bits() {
        assert_eq!(bfind(U32, false, 0), u32::MAX);
        assert_eq!(bfind(S32, false, u128::from(u32::MAX)), u32::MAX);
        assert_eq!(bfind(S32, false, 0xffff_fff0), 3);
        assert_eq!(bfind(U32, true, 0x10), 27);
        assert_eq!(bfind(U32, true, 0), u32::MAX);
    }

    #[test]
    fn nth_bit() {
        assert_eq!(fns(0b1011_0100, 0, 1), 2);
        assert_eq!(fns(0b1011_0100, 2, 2), 4);
        assert_eq!(fns(0b1011_0100, 7, -2), 5);
        assert_eq!(fns(0b1011_0100, 3, 0), u32::MAX);
        assert_eq!(fns(0b1011_0100, 2, 0), 2);
        assert_eq!(fns(1, 0, 2), u32::MAX);
    }

    /// A field by shifting, where it lies within the register.
    #[test]
    fn fields() {
        let a = 0xdead_beef_u32;
        for position in 0..32 {
            for len in 1..=32 - position {
                let shifted = a << (32 - position - len);
                assert_eq!(bfe(U32, a.into(), position, len), u128::from(shifted >> (32 - len)));
                assert_eq!(bfe(S32, a.into(), position, len), u128::from((shifted as i32 >> (32 - len)) as u32));
                let ones = ((1_u64 << len) - 1) as u32;
                let expected = 0x1234_5678 & !(ones << position) | (a & ones) << position;
                assert_eq!(bfi(32, a.into(), 0x1234_5678, position, len), u128::from(expected));
            }
        }
        assert_eq!(bfe(S32, 0x8000_0000, 30, 8), 0xffff_fffe);
        assert_eq!(bfe(S32, 0x8000_0000, 40, 8), 0xffff_ffff);
        assert_eq!(bfe(U32, 0x8000_0000, 40, 8), 0);
        assert_eq!(bfe(S32, u32::MAX.into(), 3, 0), 0);
        assert_eq!(bfi(32, 7, 0, 32, 4), 0);
    }

    #[test]
    fn masks() {
        assert_eq!(bmsk(false, 4, 8), 0xff0);
        assert_eq!(bmsk(false, 0, 40), u32::MAX);
        assert_eq!(bmsk(false, 32, 8), 0);
        assert_eq!(bmsk(true, 33, 34), 0b110);
        assert_eq!(szext(true, false, 0x80, 8), 0xffff_ff80);
        assert_eq!(szext(false, false, 0x180, 8), 0x80);
        assert_eq!(szext(true, false, 5, 0), 0);
    }

    #[test]
    fn tables() {
        let (a, b, c) = (0xf0f0_1234, 0xcccc_5678, 0xaaaa_9abc);
        assert_eq!(lop3(0x80, a, b, c), a & b & c);
        assert_eq!(lop3(0xfe, a, b, c), a | b | c);
        assert_eq!(lop3(0x96, a, b, c), a ^ b ^ c);
        assert_eq!(lop3(0xd8, a, b, c), c & b | !c & a);
    }

    #[test]
    fn bytes() {
        let (a, b) = (0x7766_5544, 0x3322_11f0);
        assert_eq!(prmt(Permute::Selectors, a, b, 0x7410), 0x33f0_5544);
        assert_eq!(prmt(Permute::Selectors, a, b, 0xc8f4), 0xff00_00f0);
        assert_eq!(prmt(Permute::Forward, a, b, 1), 0xf077_6655);
        assert_eq!(prmt(Permute::Backward, a, b, 1), 0x2233_4455);
        assert_eq!(prmt(Permute::Replicate8, a, b, 2), 0x6666_6666);
        assert_eq!(prmt(Permute::EdgeLeft, a, b, 2), 0x7766_6666);
        assert_eq!(prmt(Permute::EdgeRight, a, b, 2), 0x6666_5544);
        assert_eq!(prmt(Permute::Replicate16, a, b, 1), 0x7766_7766);
    }
}
