//! Functions of the CUDA runtime that kernels call.

use super::lane::Lane;
use crate::code::{Call, Host};
use crate::fault::FaultKind;
use crate::memory::{Window, from_bytes};

impl Lane<'_> {
    pub(crate) fn call_host(&mut self, host: Host, call: &Call) -> Result<(), FaultKind> {
        let arguments: Vec<u64> = call
            .arguments
            .iter()
            .map(|&place| {
                let bytes = self.read_place(place);
                from_bytes(&bytes[..bytes.len().min(8)]) as u64
            })
            .collect();
        let argument = |index: usize| arguments.get(index).copied().ok_or(FaultKind::Signature);
        let result = match host {
            Host::Vprintf => {
                let format = self.c_string(argument(0)?)?;
                let text = self.format(&format, argument(1)?)?;
                self.output.push_str(&text.text);
                text.arguments
            }
            Host::Assertfail => {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                return Err(FaultKind::Assertion {
                    message: text(self.c_string(argument(0)?)?),
                    file: text(self.c_string(argument(1)?)?),
                    line: argument(2)? as u32,
                    function: text(self.c_string(argument(3)?)?),
                });
            }
            Host::Malloc => {
                let size = argument(0)?;
                // A heap as large as that of CUDA by default; null when it is used up.
                if *self.heap + size > self.grid.config.heap_bytes || size == 0 {
                    0
                } else {
                    *self.heap += size;
                    self.memory.allocate(false, size, 16)
                }
            }
            Host::Free => {
                let address = argument(0)?;
                if address != 0 {
                    self.memory.free(address).ok_or(FaultKind::Free(address))?;
                }
                0
            }
        };
        if let Some(&place) = call.results.first() {
            self.write_place(place, &result.to_le_bytes());
        }
        Ok(())
    }

    /// The bytes of a string up to its zero.
    fn c_string(&self, address: u64) -> Result<Vec<u8>, FaultKind> {
        let mut bytes = Vec::new();
        loop {
            let byte = self.load(Window::Generic, address.wrapping_add(bytes.len() as u64), 1)?[0];
            if byte == 0 {
                return Ok(bytes);
            }
            bytes.push(byte);
        }
    }

    /// `printf` by the rules of C. The arguments lie after each other, aligned to their sizes.
    fn format(&self, format: &[u8], mut address: u64) -> Result<Formatted, FaultKind> {
        let mut text = Vec::new();
        let mut count = 0;
        let mut rest = format;
        while let [first, after @ ..] = rest {
            rest = after;
            if *first != b'%' {
                text.push(*first);
                continue;
            }
            if let [b'%', after @ ..] = rest {
                text.push(b'%');
                rest = after;
                continue;
            }
            let (mut spec, after) = Spec::parse(rest);
            rest = after;
            let mut next = |size: u64| -> Result<u64, FaultKind> {
                let at = address.next_multiple_of(size);
                address = at + size;
                count += 1;
                Ok(from_bytes(self.load(Window::Generic, at, size as u32)?) as u64)
            };
            if spec.width_is_argument {
                let width = next(4)? as i32;
                spec.left |= width < 0;
                spec.width = width.unsigned_abs() as usize;
            }
            if spec.precision_is_argument {
                spec.precision = usize::try_from(next(4)? as i32).ok();
            }
            let size = if spec.long { 8 } else { 4 };
            let piece = match spec.conversion {
                b'd' | b'i' => {
                    let value = next(size)?;
                    let value = if spec.long { value as i64 } else { i64::from(value as i32) };
                    spec.integer(value < 0, value.unsigned_abs(), 10)
                }
                b'u' => spec.integer(false, next(size)?, 10),
                b'x' | b'X' => spec.integer(false, next(size)?, 16),
                b'o' => spec.integer(false, next(size)?, 8),
                b'c' => spec.pad(vec![next(4)? as u8]),
                b'p' => spec.pad(match next(8)? {
                    0 => b"(nil)".to_vec(),
                    address => format!("{address:#x}").into_bytes(),
                }),
                b's' => {
                    let mut bytes = self.c_string(next(8)?)?;
                    bytes.truncate(spec.precision.unwrap_or(usize::MAX));
                    spec.pad(bytes)
                }
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => spec.float(f64::from_bits(next(8)?)),
                // An unknown conversion prints as it is, and takes nothing.
                other => vec![b'%', other],
            };
            text.extend(piece);
        }
        Ok(Formatted { text: String::from_utf8_lossy(&text).into_owned(), arguments: count })
    }
}

struct Formatted {
    text: String,
    arguments: u64,
}

/// One conversion of a format.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    width_is_argument: bool,
    precision: Option<usize>,
    precision_is_argument: bool,
    long: bool,
    conversion: u8,
}

impl Spec {
    fn parse(text: &[u8]) -> (Self, &[u8]) {
        let mut spec = Self::default();
        let mut rest = text;
        let next = |rest: &mut &[u8]| -> u8 {
            let byte = rest.first().copied().unwrap_or(0);
            *rest = rest.get(1..).unwrap_or(&[]);
            byte
        };
        let number = |rest: &mut &[u8]| -> usize {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let value = String::from_utf8_lossy(&rest[..digits]).parse().unwrap_or(0);
            *rest = &rest[digits..];
            value
        };
        loop {
            match rest.first() {
                Some(b'-') => spec.left = true,
                Some(b'+') => spec.plus = true,
                Some(b' ') => spec.space = true,
                Some(b'#') => spec.alternate = true,
                Some(b'0') => spec.zero = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        if rest.first() == Some(&b'*') {
            spec.width_is_argument = true;
            next(&mut rest);
        } else {
            spec.width = number(&mut rest).min(4096);
        }
        if rest.first() == Some(&b'.') {
            next(&mut rest);
            if rest.first() == Some(&b'*') {
                spec.precision_is_argument = true;
                next(&mut rest);
            } else {
                spec.precision = Some(number(&mut rest).min(4096));
            }
        }
        while let Some(b'l' | b'h' | b'z' | b'j' | b't') = rest.first() {
            spec.long |= rest[0] != b'h';
            next(&mut rest);
        }
        spec.conversion = next(&mut rest);
        (spec, rest)
    }

    fn pad(&self, body: Vec<u8>) -> Vec<u8> {
        self.pad_signed(Vec::new(), body, false)
    }

    fn pad_signed(&self, sign: Vec<u8>, body: Vec<u8>, may_fill: bool) -> Vec<u8> {
        let missing = self.width.saturating_sub(sign.len() + body.len());
        let fill = |byte| vec![byte; missing];
        match (self.left, may_fill && self.zero) {
            (true, _) => [sign, body, fill(b' ')].concat(),
            (false, true) => [sign, fill(b'0'), body].concat(),
            (false, false) => [fill(b' '), sign, body].concat(),
        }
    }

    fn sign(&self, negative: bool) -> Vec<u8> {
        let sign: &[u8] = match (negative, self.plus, self.space) {
            (true, ..) => b"-",
            (_, true, _) => b"+",
            (_, _, true) => b" ",
            _ => b"",
        };
        sign.to_vec()
    }

    fn integer(&self, negative: bool, magnitude: u64, radix: u32) -> Vec<u8> {
        let digits = match (radix, self.conversion) {
            (16, b'X') => format!("{magnitude:X}"),
            (16, _) => format!("{magnitude:x}"),
            (8, _) => format!("{magnitude:o}"),
            _ => magnitude.to_string(),
        };
        let digits = match self.precision {
            Some(0) if magnitude == 0 => String::new(),
            Some(precision) => format!("{}{digits}", "0".repeat(precision.saturating_sub(digits.len()))),
            None => digits,
        };
        let mut sign = if matches!(self.conversion, b'd' | b'i') { self.sign(negative) } else { Vec::new() };
        if self.alternate && magnitude != 0 {
            match self.conversion {
                b'x' => sign.extend(b"0x"),
                b'X' => sign.extend(b"0X"),
                b'o' => sign.extend(b"0"),
                _ => {}
            }
        }
        self.pad_signed(sign, digits.into_bytes(), self.precision.is_none())
    }

    fn float(&self, value: f64) -> Vec<u8> {
        let magnitude = value.abs();
        let precision = self.precision.unwrap_or(6);
        let mut body = match self.conversion.to_ascii_lowercase() {
            _ if !value.is_finite() => (if value.is_nan() { "nan" } else { "inf" }).to_owned(),
            b'f' => format!("{magnitude:.precision$}"),
            b'e' => exponential(magnitude, precision),
            b'g' => self.general(magnitude, precision.max(1)),
            _ => hexadecimal(magnitude),
        };
        if self.alternate && value.is_finite() && !body.contains('.') {
            body.push('.');
        }
        if self.conversion.is_ascii_uppercase() {
            body.make_ascii_uppercase();
        }
        self.pad_signed(self.sign(value.is_sign_negative()), body.into_bytes(), value.is_finite())
    }

    fn general(&self, magnitude: f64, precision: usize) -> String {
        let scientific = exponential(magnitude, precision - 1);
        let exponent: i32 = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
        let trim = |text: &str| {
            if self.alternate || !text.contains('.') {
                return text.to_owned();
            }
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        if exponent < -4 || exponent >= precision as i32 {
            let (mantissa, exponent) = scientific.split_once('e').expect("it was made with an exponent");
            return format!("{}e{exponent}", trim(mantissa));
        }
        let digits = (precision as i32 - 1 - exponent) as usize;
        trim(&format!("{magnitude:.digits$}"))
    }
}

/// `1.5e+00`, where Rust writes `1.5e0`.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').expect("Rust writes an exponent");
    let exponent: i32 = exponent.parse().expect("Rust writes a number");
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// `0x1.8p+1`
fn hexadecimal(magnitude: f64) -> String {
    let bits = magnitude.to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (lead, exponent) = match (field, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, field - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(format: &str, value: f64) -> String {
        String::from_utf8(Spec::parse(&format.as_bytes()[1..]).0.float(value)).unwrap()
    }

    fn integer(format: &str, value: i64) -> String {
        let spec = Spec::parse(&format.as_bytes()[1..]).0;
        let radix = if matches!(spec.conversion, b'x' | b'X') { 16 } else { 10 };
        String::from_utf8(spec.integer(value < 0, value.unsigned_abs(), radix)).unwrap()
    }

    #[test]
    fn numbers_print_as_in_c() {
        assert_eq!(float("%f", 1.5), "1.500000");
        assert_eq!(float("%8.2f", -1.555), "   -1.55");
        assert_eq!(float("%08.2f", -1.5), "-0001.50");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%g", 100000.0), "100000");
        assert_eq!(float("%g", 1e6), "1e+06");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 0.00001), "1e-05");
        assert_eq!(float("%G", f64::INFINITY), "INF");
        assert_eq!(float("%a", 3.0), "0x1.8p+1");
        assert_eq!(integer("%5d", -42), "  -42");
        assert_eq!(integer("%-5d|", 42), "42   ");
        assert_eq!(integer("%05d", -42), "-0042");
        assert_eq!(integer("%+d", 42), "+42");
        assert_eq!(integer("%#x", 255), "0xff");
        assert_eq!(integer("%.5d", 42), "00042");
        assert_eq!(integer("%#010x", 255), "0x000000ff");
    }
}
