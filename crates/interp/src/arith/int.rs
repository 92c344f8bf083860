//! Integer arithmetic. Values are `i128`, large enough for every operand as the number it stands for; results are cut
//! to their width by the caller, which is what wrapping means.

/// The type of an integer operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Int {
    /// Width in bits.
    pub bits: u32,
    /// Two's complement.
    pub signed: bool,
}

impl Int {
    /// The number that the low bits stand for.
    pub fn value(self, bits: u128) -> i128 {
        let bits = bits & mask(self.bits);
        if self.signed && bits >> (self.bits - 1) & 1 == 1 { bits as i128 - (1 << self.bits) } else { bits as i128 }
    }

    /// The smallest number.
    pub fn min(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    /// The largest number.
    pub fn max(self) -> i128 {
        if self.signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }

    /// The nearest number of the type.
    pub fn clamp(self, value: i128) -> i128 {
        value.clamp(self.min(), self.max())
    }
}

/// Ones in the low bits.
pub const fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// The upper half of a product of two numbers of a type.
pub fn mul_hi(ty: Int, a: i128, b: i128) -> i128 {
    // The low 128 bits of the product are right for unsigned 64-bit numbers also where `i128` overflows.
    let product = a.wrapping_mul(b);
    if ty.signed { product >> ty.bits } else { (product as u128 >> ty.bits) as i128 }
}

/// A division as the hardware does it: all ones for a division by zero, and the smallest number divided by -1 wraps.
pub fn div(ty: Int, a: i128, b: i128) -> i128 {
    if b == 0 { mask(ty.bits) as i128 } else { a / b }
}

/// The remainder: the dividend for a division by zero.
pub fn rem(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { a % b }
}

/// The product of the low 24 bits of two numbers.
pub fn product24(signed: bool, a: i128, b: i128) -> i128 {
    let ty = Int { bits: 24, signed };
    ty.value(a as u128) * ty.value(b as u128)
}

/// `a + |b - c|` of `sad`, whose first two operands are those that are subtracted.
pub fn sad(a: i128, b: i128, c: i128) -> i128 {
    c + (a - b).abs()
}

/// An addition with carry in: the sum and the carry out.
pub fn add_carry(bits: u32, a: u128, b: u128, carry: bool) -> (u128, bool) {
    let sum = (a & mask(bits)) + (b & mask(bits)) + u128::from(carry);
    (sum & mask(bits), sum >> bits & 1 == 1)
}

/// A subtraction with borrow in: the difference and the borrow out.
pub fn sub_borrow(bits: u32, a: u128, b: u128, borrow: bool) -> (u128, bool) {
    let (a, b) = (a & mask(bits), (b & mask(bits)) + u128::from(borrow));
    (a.wrapping_sub(b) & mask(bits), a < b)
}

/// A dot product of bytes: `c + a.b0 * b.b0 + …`.
pub fn dp4a(a_signed: bool, b_signed: bool, a: u128, b: u128, c: i128) -> i128 {
    let byte = |signed, word: u128, index: u32| Int { bits: 8, signed }.value(word >> (8 * index));
    c + (0..4).map(|index| byte(a_signed, a, index) * byte(b_signed, b, index)).sum::<i128>()
}

/// A dot product of the halfwords of `a` with the low or high two bytes of `b`.
pub fn dp2a(a_signed: bool, b_signed: bool, high: bool, a: u128, b: u128, c: i128) -> i128 {
    let half = |index: u32| Int { bits: 16, signed: a_signed }.value(a >> (16 * index));
    let byte = |index: u32| Int { bits: 8, signed: b_signed }.value(b >> (8 * index));
    let first = if high { 2 } else { 0 };
    c + half(0) * byte(first) + half(1) * byte(first + 1)
}

/// A product of polynomials over one bit, 127 bits wide.
pub fn carryless_product(a: u64, b: u64) -> u128 {
    (0..64).filter(|bit| b >> bit & 1 == 1).fold(0, |product, bit| product ^ u128::from(a) << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S8: Int = Int { bits: 8, signed: true };
    const U8: Int = Int { bits: 8, signed: false };

    #[test]
    fn bytes_have_the_value_that_rust_gives_them() {
        for bits in 0..=255_u8 {
            assert_eq!(U8.value(bits.into()), i128::from(bits));
            assert_eq!(S8.value(bits.into()), i128::from(bits as i8));
            assert_eq!(S8.value(u128::from(bits) | 0xabc00), i128::from(bits as i8));
        }
    }

    #[test]
    fn divisions_of_bytes_are_those_of_rust() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                let (sa, sb) = (a as i8, b as i8);
                let signed = div(S8, sa.into(), sb.into()) as u8;
                let unsigned = div(U8, a.into(), b.into()) as u8;
                assert_eq!(signed, if sb == 0 { 0xff } else { sa.wrapping_div(sb) as u8 });
                assert_eq!(unsigned, a.checked_div(b).unwrap_or(0xff));
                assert_eq!(rem(sa.into(), sb.into()) as u8, if sb == 0 { a } else { sa.wrapping_rem(sb) as u8 });
                assert_eq!(rem(a.into(), b.into()) as u8, a.checked_rem(b).unwrap_or(a));
                assert_eq!(mul_hi(U8, a.into(), b.into()) as u8, ((u16::from(a) * u16::from(b)) >> 8) as u8);
                assert_eq!(mul_hi(S8, sa.into(), sb.into()) as u8, ((i16::from(sa) * i16::from(sb)) >> 8) as u8);
                let carry = a & 1 == 1;
                let (sum, out) = add_carry(8, a.into(), b.into(), carry);
                let wide = u16::from(a) + u16::from(b) + u16::from(carry);
                assert_eq!((sum as u8, out), (wide as u8, wide > 255));
                let (difference, out) = sub_borrow(8, a.into(), b.into(), carry);
                let wide = i16::from(a) - i16::from(b) - i16::from(carry);
                assert_eq!((difference as u8, out), (wide as u8, wide < 0));
            }
        }
    }

    #[test]
    fn upper_halves_of_64_bits() {
        let ty = Int { bits: 64, signed: false };
        assert_eq!(mul_hi(ty, u64::MAX.into(), u64::MAX.into()) as u64, u64::MAX - 1);
        let ty = Int { bits: 64, signed: true };
        assert_eq!(mul_hi(ty, i64::MIN.into(), i64::MIN.into()) as i64, 1 << 62);
        assert_eq!(mul_hi(ty, i64::MIN.into(), 1) as i64, -1);
    }

    #[test]
    fn products_without_carries() {
        assert_eq!(carryless_product(3, 3), 5);
        assert_eq!(carryless_product(u64::MAX, 1 << 63), u128::from(u64::MAX) << 63);
    }
}
