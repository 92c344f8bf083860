//! The functions that a device provides to kernels: `vprintf`, `malloc`, `free`, and the end of a failed `assert`.

use super::signals::Activity;
use super::worker::Worker;
use crate::abi::calls::HostFunction;
use device::FaultKind;

/// A string in device memory is cut off here.
const LONGEST_STRING: usize = 1 << 20;

/// Calls a function of the device, at a line of the PTX.
///
/// # Safety
/// `arguments` points to the result and the arguments of the function, as its PTX declaration lays them out. Pointers
/// among them are the program's; where they are wrong, the access faults like any other of the kernel.
pub(crate) unsafe fn call(
    worker: &Worker<'_>,
    function: HostFunction,
    line: u32,
    arguments: *mut u8,
) -> Result<(), FaultKind> {
    // SAFETY: the caller's promise; each function reads what its declaration says.
    let word = |offset: usize| unsafe { arguments.add(offset).cast::<u64>().read_unaligned() };
    match function {
        HostFunction::Printf => {
            // `.param .b32 result; .param .b64 format; .param .b64 arguments`
            let (format, list) = (word(8), word(16));
            // SAFETY: as promised by the caller.
            let (text, count) =
                worker.landing.during(Activity::Reading, || unsafe { format_text(&read_string(format), list) });
            worker.launch.output.append(&text);
            // SAFETY: the result is the first of the arguments.
            unsafe { arguments.cast::<u32>().write_unaligned(count) };
        }
        HostFunction::Malloc => {
            let address = worker.launch.heap.allocate(word(8), line);
            // SAFETY: the result is the first of the arguments.
            unsafe { arguments.cast::<u64>().write_unaligned(address) };
        }
        HostFunction::Free => {
            let address = word(0);
            if address != 0 {
                worker.launch.heap.free(address, line);
            }
        }
        HostFunction::AssertFail => {
            // Message, file, line, function, size of a character.
            let text = |offset| {
                // SAFETY: as promised by the caller.
                let bytes = worker.landing.during(Activity::Reading, || unsafe { read_string(word(offset)) });
                String::from_utf8_lossy(&bytes).into_owned()
            };
            // SAFETY: as promised by the caller.
            let line = unsafe { arguments.add(16).cast::<u32>().read_unaligned() };
            let place = format!("{}:{line}: {}", text(8), text(24));
            return Err(FaultKind::Assertion { message: text(0), place });
        }
    }
    Ok(())
}

/// A string of the program.
///
/// # Safety
/// A wrong address faults.
unsafe fn read_string(address: u64) -> Vec<u8> {
    let mut text = Vec::new();
    if address == 0 {
        return b"(null)".to_vec();
    }
    for offset in 0..LONGEST_STRING as u64 {
        // SAFETY: the caller's promise.
        let byte = unsafe { (address.wrapping_add(offset) as *const u8).read_volatile() };
        if byte == 0 {
            break;
        }
        text.push(byte);
    }
    text
}

/// Formats as C does, and counts the arguments, which is what `printf` returns on a device. Arguments lie one after
/// another, each aligned to its size.
///
/// # Safety
/// `list` has the arguments that the format names, or the access faults.
unsafe fn format_text(format: &[u8], list: u64) -> (Vec<u8>, u32) {
    let mut out = Vec::new();
    let mut arguments = Arguments { at: list, count: 0 };
    let mut rest = format;
    while let Some(start) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..start]);
        rest = &rest[start..];
        let Some((spec, tail)) = Spec::parse(rest) else {
            out.push(b'%');
            rest = &rest[1..];
            continue;
        };
        rest = tail;
        // SAFETY: the caller's promise.
        unsafe { spec.print(&mut arguments, &mut out) };
    }
    out.extend_from_slice(rest);
    (out, arguments.count)
}

struct Arguments {
    at: u64,
    count: u32,
}

impl Arguments {
    /// # Safety
    /// There is an argument of this size, or the access faults.
    unsafe fn next(&mut self, bytes: u64) -> u64 {
        self.at = self.at.next_multiple_of(bytes);
        let address = self.at;
        self.at += bytes;
        self.count += 1;
        // SAFETY: the caller's promise.
        unsafe {
            match bytes {
                4 => (address as *const u32).read_unaligned().into(),
                _ => (address as *const u64).read_unaligned(),
            }
        }
    }
}

/// `%-08.3lf`
struct Spec {
    flags: Vec<u8>,
    width: Option<usize>,
    precision: Option<usize>,
    width_is_argument: bool,
    precision_is_argument: bool,
    is_long: bool,
    conversion: u8,
}

impl Spec {
    fn parse(text: &[u8]) -> Option<(Self, &[u8])> {
        let mut at = 1;
        let mut spec = Self {
            flags: Vec::new(),
            width: None,
            precision: None,
            width_is_argument: false,
            precision_is_argument: false,
            is_long: false,
            conversion: 0,
        };
        while let Some(&byte) = text.get(at)
            && b"-+ #0".contains(&byte)
        {
            spec.flags.push(byte);
            at += 1;
        }
        let number = |at: &mut usize| {
            let start = *at;
            while text.get(*at).is_some_and(u8::is_ascii_digit) {
                *at += 1;
            }
            std::str::from_utf8(&text[start..*at]).ok()?.parse::<usize>().ok().map(|number| number.min(4096))
        };
        if text.get(at) == Some(&b'*') {
            spec.width_is_argument = true;
            at += 1;
        } else {
            spec.width = number(&mut at);
        }
        if text.get(at) == Some(&b'.') {
            at += 1;
            if text.get(at) == Some(&b'*') {
                spec.precision_is_argument = true;
                at += 1;
            } else {
                spec.precision = Some(number(&mut at).unwrap_or(0));
            }
        }
        while let Some(&byte) = text.get(at)
            && b"hlLjzt".contains(&byte)
        {
            spec.is_long |= b"lLjzt".contains(&byte);
            at += 1;
        }
        spec.conversion = *text.get(at)?;
        b"diouxXeEfFgGaAcsp%".contains(&spec.conversion).then_some((spec, &text[at + 1..]))
    }

    /// # Safety
    /// The arguments are there, or the access faults.
    unsafe fn print(&self, arguments: &mut Arguments, out: &mut Vec<u8>) {
        // SAFETY: the caller's promise.
        let mut next = |bytes| unsafe { arguments.next(bytes) };
        let has = |flag| self.flags.contains(&flag);
        let mut is_left = has(b'-');
        let mut width = self.width.unwrap_or(0);
        if self.width_is_argument {
            let given = next(4) as u32 as i32;
            is_left |= given < 0;
            width = given.unsigned_abs().min(4096) as usize;
        }
        let precision = if self.precision_is_argument {
            usize::try_from(next(4) as u32 as i32).ok().map(|given| given.min(4096))
        } else {
            self.precision
        };
        let sign = |is_negative: bool| match (is_negative, has(b'+'), has(b' ')) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        let mut may_pad_with_zeros = has(b'0') && !is_left;
        let (prefix, body) = match self.conversion {
            b'%' => (String::new(), b"%".to_vec()),
            b'c' => (String::new(), vec![next(4) as u8]),
            b's' => {
                // SAFETY: the caller's promise.
                let mut text = unsafe { read_string(next(8)) };
                text.truncate(precision.unwrap_or(usize::MAX));
                (String::new(), text)
            }
            b'p' => match next(8) {
                0 => (String::new(), b"(nil)".to_vec()),
                address => (String::new(), format!("{address:#x}").into_bytes()),
            },
            b'd' | b'i' => {
                let value = if self.is_long { next(8) as i64 } else { i64::from(next(4) as u32 as i32) };
                may_pad_with_zeros &= precision.is_none();
                let digits = digits(value.unsigned_abs().to_string(), precision);
                (sign(value < 0).to_owned(), digits.into_bytes())
            }
            b'u' | b'o' | b'x' | b'X' => {
                let value = if self.is_long { next(8) } else { next(4) };
                may_pad_with_zeros &= precision.is_none();
                let (prefix, text) = match self.conversion {
                    b'u' => ("", value.to_string()),
                    b'o' => (if has(b'#') { "0" } else { "" }, format!("{value:o}")),
                    b'x' => (if has(b'#') && value != 0 { "0x" } else { "" }, format!("{value:x}")),
                    _ => (if has(b'#') && value != 0 { "0X" } else { "" }, format!("{value:X}")),
                };
                (prefix.to_owned(), digits(text, precision).into_bytes())
            }
            _ => {
                let value = f64::from_bits(next(8));
                may_pad_with_zeros &= value.is_finite();
                let text = float_text(value.abs(), self.conversion, precision, has(b'#'));
                (sign(value.is_sign_negative()).to_owned(), text.into_bytes())
            }
        };
        let fill = width.saturating_sub(prefix.len() + body.len());
        match (is_left, may_pad_with_zeros) {
            (true, _) => {
                out.extend_from_slice(prefix.as_bytes());
                out.extend_from_slice(&body);
                out.extend(std::iter::repeat_n(b' ', fill));
            }
            (_, true) => {
                out.extend_from_slice(prefix.as_bytes());
                out.extend(std::iter::repeat_n(b'0', fill));
                out.extend_from_slice(&body);
            }
            _ => {
                out.extend(std::iter::repeat_n(b' ', fill));
                out.extend_from_slice(prefix.as_bytes());
                out.extend_from_slice(&body);
            }
        }
    }
}

/// At least as many digits as the precision says; none for a zero with a precision of zero.
fn digits(text: String, precision: Option<usize>) -> String {
    match precision {
        Some(0) if text == "0" => String::new(),
        Some(least) if text.len() < least => format!("{}{text}", "0".repeat(least - text.len())),
        _ => text,
    }
}

/// A number that is not negative, as C prints it.
fn float_text(value: f64, conversion: u8, precision: Option<usize>, alternate: bool) -> String {
    let is_upper = conversion.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match conversion.to_ascii_lowercase() {
            b'f' => {
                let precision = precision.unwrap_or(6);
                let point = if precision == 0 && alternate { "." } else { "" };
                format!("{value:.precision$}{point}")
            }
            b'e' => exponent_text(value, precision.unwrap_or(6)),
            b'a' => hexadecimal_text(value, precision),
            _ => general_text(value, precision.unwrap_or(6).max(1), alternate),
        }
    };
    if is_upper { text.to_uppercase() } else { text }
}

/// `1.500000e+00`
fn exponent_text(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').expect("Rust prints an exponent");
    let exponent: i32 = exponent.parse().expect("Rust prints a number");
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// The shorter of both, without zeros at the end.
fn general_text(value: f64, precision: usize, alternate: bool) -> String {
    let exponent_form = exponent_text(value, precision - 1);
    let exponent: i32 = exponent_form.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let text = if exponent < -4 || exponent >= precision as i32 {
        exponent_form
    } else {
        let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
        format!("{value:.decimals$}")
    };
    if alternate {
        return text;
    }
    let (mantissa, tail) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, format!("e{exponent}")),
        None => (text.as_str(), String::new()),
    };
    if !mantissa.contains('.') {
        return text;
    }
    format!("{}{tail}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

/// `0x1.8p+1`
fn hexadecimal_text(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (mut mantissa, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
    if value == 0.0 {
        return "0x0p+0".to_owned();
    }
    let (mut lead, exponent) = if biased == 0 { (0, -1022) } else { (1, biased - 1023) };
    let mut digits = 13;
    if let Some(precision) = precision.filter(|&precision| precision < 13) {
        let unit = 1_u64 << (52 - 4 * precision);
        let rounded = mantissa + (unit / 2 - 1) + ((mantissa / unit) & 1);
        lead += rounded >> 52;
        mantissa = rounded & ((1 << 52) - 1) & !(unit - 1);
        digits = precision;
    }
    let text = format!("{mantissa:013x}");
    let text = if precision.is_some() { &text[..digits] } else { text.trim_end_matches('0') };
    let point = if text.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{text}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::format_text;

    fn text(format: &str, words: &[u64]) -> String {
        // SAFETY: the words are the arguments.
        let (text, _) = unsafe { format_text(format.as_bytes(), words.as_ptr() as u64) };
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_like_c() {
        assert_eq!(text("%5d|%-5d|%05d|%+d", &[7 | 7 << 32, 7 | 7 << 32]), "    7|7    |00007|+7");
        assert_eq!(text("%llx %lu", &[255, 12]), "ff 12");
        assert_eq!(text("%f %.2f", &[1.5_f64.to_bits(), 2.675_f64.to_bits()]), "1.500000 2.67");
        assert_eq!(text("%e", &[12345.678_f64.to_bits()]), "1.234568e+04");
        assert_eq!(text("%g %g", &[0.0001_f64.to_bits(), 1e10_f64.to_bits()]), "0.0001 1e+10");
        assert_eq!(text("%g", &[100000.0_f64.to_bits()]), "100000");
        assert_eq!(text("%a", &[3.0_f64.to_bits()]), "0x1.8p+1");
        assert_eq!(text("100%% %q", &[]), "100% %q");
    }
}
