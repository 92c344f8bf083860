//! Numbers of 16 bits and fewer, in singles.

/// A number of a format with so many bits of exponent and fraction.
pub(crate) fn small(bits: u64, exponent_bits: u32, fraction_bits: u32, has_specials: bool) -> f32 {
    let fraction = bits & ((1 << fraction_bits) - 1);
    let field = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = if has_specials && field == (1 << exponent_bits) - 1 {
        if fraction == 0 { f32::INFINITY } else { f32::NAN }
    } else {
        let (units, exponent) = if field == 0 { (fraction, 1) } else { (fraction | 1 << fraction_bits, field as i32) };
        units as f32 * 2_f32.powi(exponent - bias - fraction_bits as i32)
    };
    if bits >> (exponent_bits + fraction_bits) & 1 != 0 { -magnitude } else { magnitude }
}

/// The number that a half is.
pub(crate) fn half_to_single(bits: u16) -> f32 {
    small(bits.into(), 5, 10, true)
}

/// The nearest half of a single.
pub(crate) fn single_to_half(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = (value.to_bits() >> 16 & 0x8000) as u16;
    let magnitude = value.to_bits() & 0x7fff_ffff;
    let rounded = if magnitude < 0x3880_0000 {
        // Subnormal: in units of the smallest, which a single counts exactly.
        (value.abs() * 2_f32.powi(24)).round_ties_even() as u32
    } else {
        let odd = magnitude >> 13 & 1;
        ((magnitude + 0xfff + odd) >> 13).wrapping_sub(112 << 10).min(0x7c00)
    };
    sign | rounded as u16
}
