//! Elements of buffers: their types, how they are written and compared, and which of them are interesting.

use std::fmt::Write;

use anyhow::{Context, Result};
use interp::arith::format::{BF16, F16, F32, F64, Format, Number, Round};

/// The type of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    kind: Kind,
    bits: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Unsigned,
    Signed,
    Hex,
    Float(Format),
}

impl Element {
    /// The type with this name.
    pub fn parse(text: &str) -> Option<Self> {
        let float = |format: Format| Some(Self { kind: Kind::Float(format), bits: format.bits() });
        match text {
            "f16" => return float(F16),
            "bf16" => return float(BF16),
            "f32" => return float(F32),
            "f64" => return float(F64),
            _ => {}
        }
        let (kind, bits) = text.split_at_checked(1)?;
        let kind = match kind {
            "u" => Kind::Unsigned,
            "s" => Kind::Signed,
            "b" => Kind::Hex,
            _ => return None,
        };
        let bits = bits.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
        Some(Self { kind, bits })
    }

    /// Size in bytes.
    pub fn bytes(self) -> usize {
        self.bits as usize / 8
    }

    /// The element for an index.
    pub fn from_index(self, index: u64) -> u64 {
        match self.kind {
            Kind::Float(format) => format.pack(Number::from_int(index.into()), Round::NearestEven),
            _ => index,
        }
    }

    /// The format of a float.
    pub fn format(self) -> Option<Format> {
        match self.kind {
            Kind::Float(format) => Some(format),
            _ => None,
        }
    }

    /// Values at which things go wrong: around zero, at the ends, at signs, and a few ordinary ones. There are always
    /// sixteen, so that pairs and triples of them are easily made.
    pub fn edges(self) -> [u64; 16] {
        let Kind::Float(format) = self.kind else {
            let max = u64::MAX >> (64 - self.bits);
            let min_signed = 1 << (self.bits - 1);
            let alternating = 0x5a5a_5a5a_5a5a_5a5a & max;
            return [
                0,
                1,
                max,
                min_signed,
                min_signed - 1,
                min_signed + 1,
                2,
                max - 1,
                7,
                31,
                32,
                max / 255 * 0x80,
                0x33 ^ alternating,
                alternating,
                !alternating & max,
                max >> (self.bits / 2),
            ];
        };
        let one = format.one();
        let sign = format.sign();
        let smallest_normal = 1 << format.fraction_bits;
        let number = |value: f64| format.pack(Number::from_f64(value), Round::NearestEven);
        [
            0,
            sign,
            one,
            one | sign,
            1,
            (smallest_normal - 1) | sign,
            smallest_normal,
            format.largest(),
            format.largest() | sign,
            format.infinity(),
            format.infinity() | sign,
            format.infinity() | (smallest_normal / 2),
            number(1.5),
            number(-2.5),
            number(0.333),
            number(1000.25),
        ]
    }

    /// The bits of each element.
    pub fn elements(self, bytes: &[u8]) -> Vec<u64> {
        let element = |chunk: &[u8]| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        bytes.chunks_exact(self.bytes()).map(element).collect()
    }

    /// An element in words.
    pub fn print(self, bits: u64) -> String {
        match self.kind {
            Kind::Unsigned => bits.to_string(),
            Kind::Signed => ((bits << (64 - self.bits)) as i64 >> (64 - self.bits)).to_string(),
            Kind::Hex => format!("{bits:0width$x}", width = self.bytes() * 2),
            Kind::Float(format) => print_float(format, bits),
        }
    }

    /// Whether two elements are the same: any NaN is any other, and floats may be off by some units in the last place.
    pub fn agree(self, left: u64, right: u64, tolerance: Tolerance) -> bool {
        let Kind::Float(format) = self.kind else {
            return left == right;
        };
        if format.is_nan(left) || format.is_nan(right) {
            return format.is_nan(left) && format.is_nan(right);
        }
        // Neighbours have neighbouring numbers, and both zeros the same.
        let place = |bits: u64| {
            let magnitude = (bits & (format.sign() - 1)) as i128;
            if bits & format.sign() == 0 { magnitude } else { -magnitude }
        };
        if left == right {
            return true;
        }
        let value = |bits: u64| f64::from_bits(F64.pack(format.unpack(bits), Round::NearestEven));
        let ulps = (place(left) - place(right)).unsigned_abs();
        (tolerance.ulps > 0 && ulps <= tolerance.ulps.into())
            || (value(left) - value(right)).abs() <= tolerance.absolute && tolerance.absolute > 0.0
    }
}

/// How far two floats may be apart and still count as the same.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tolerance {
    /// Units in the last place.
    pub ulps: u64,
    /// An absolute distance.
    pub absolute: f64,
}

impl Tolerance {
    /// `2ulp`, `1e-6`, or `2ulp~1e-6` for either.
    pub fn parse(text: &str) -> Result<Self> {
        let mut tolerance = Self::default();
        for part in text.split('~') {
            match part.strip_suffix("ulp") {
                Some(ulps) => tolerance.ulps = ulps.parse().context("units in the last place")?,
                None => tolerance.absolute = part.parse().context("a distance")?,
            }
        }
        Ok(tolerance)
    }
}

/// The fewest digits that are read back as the same bits.
fn print_float(format: Format, bits: u64) -> String {
    let value = f64::from_bits(F64.pack(format.unpack(bits), Round::NearestEven));
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() || format == F64 {
        return format!("{value:?}");
    }
    for digits in 0..20 {
        let text = format!("{value:.digits$e}");
        let parsed: f64 = text.parse().expect("Rust reads what it writes");
        if format.pack(Number::from_f64(parsed), Round::NearestEven) == bits {
            return format!("{parsed:?}");
        }
    }
    format!("{value:?}")
}

/// The bits of an element as written: a decimal or hexadecimal integer, a float.
pub fn parse_value(element: Element, text: &str) -> Result<u64> {
    let bad = || format!("`{text}` is not a value");
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).with_context(bad);
    }
    match element.kind {
        Kind::Float(format) => {
            let value: f64 = text.parse().with_context(bad)?;
            Ok(format.pack(Number::from_f64(value), Round::NearestEven))
        }
        Kind::Hex => u64::from_str_radix(text, 16).with_context(bad),
        _ => {
            let value: i128 = text.parse().with_context(bad)?;
            Ok(value as u64 & u64::MAX >> (64 - element.bits))
        }
    }
}

/// A buffer in words: runs of equal elements are written once, lines are broken.
pub fn print_elements(name: &str, words: &[String]) -> String {
    let mut text = format!("{name}:");
    let mut width = text.len();
    let mut rest = words;
    while let [first, ..] = rest {
        let run = rest.iter().take_while(|word| *word == first).count();
        let word = if run > 1 { format!("{first}*{run}") } else { first.clone() };
        if width + 1 + word.len() > 116 {
            text += "\n ";
            width = 1;
        }
        write!(text, " {word}").expect("writing to a string");
        width += 1 + word.len();
        rest = &rest[run..];
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_read_back() {
        for name in ["f16", "bf16", "f32", "f64"] {
            let element = Element::parse(name).unwrap();
            for bits in element.edges() {
                let text = element.print(bits);
                let again = parse_value(element, &text).unwrap();
                assert!(element.agree(bits, again, Tolerance::default()), "{name} {bits:#x} {text}");
            }
        }
        assert_eq!(Element::parse("f16").unwrap().print(0x2e66), "0.1");
    }

    #[test]
    fn tolerance_counts_neighbours() {
        let single = Element::parse("f32").unwrap();
        let one = u64::from(1_f32.to_bits());
        let (exact, two) = (Tolerance::default(), Tolerance::parse("2ulp").unwrap());
        assert!(single.agree(one, one + 2, two));
        assert!(!single.agree(one, one + 3, two));
        assert!(single.agree(0x8000_0001, 1, two));
        assert!(!single.agree(0x8000_0000, 0, exact));
        assert!(single.agree(0x7fc0_0000, 0xffc0_0001, exact));
        assert!(single.agree(one, one + 3, Tolerance::parse("2ulp~1e-6").unwrap()));
    }

    #[test]
    fn runs_are_written_once() {
        let words: Vec<String> = ["0", "0", "0", "1"].map(str::to_owned).to_vec();
        assert_eq!(print_elements("out", &words), "out: 0*3 1\n");
    }
}
