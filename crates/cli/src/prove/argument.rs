//! Arguments of a launch in words: `x:f32[1024]`, `n:s32=1024`, `x`.

use anyhow::{Context, Result, bail};

/// What a kernel is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Argument {
    /// A buffer: its name and size in bytes.
    Buffer(String, u64),
    /// The buffer that an earlier argument is.
    Again(String),
    /// Bytes.
    Value(Vec<u8>),
}

/// Reads arguments, separated by commas.
pub(super) fn parse(text: &str) -> Result<Vec<Argument>> {
    let arguments = text.split(',').map(str::trim).filter(|argument| !argument.is_empty());
    arguments.map(|argument| argument_of(argument).with_context(|| format!("argument `{argument}`"))).collect()
}

fn argument_of(text: &str) -> Result<Argument> {
    let Some((name, rest)) = text.split_once(':') else { return Ok(Argument::Again(text.to_owned())) };
    let (shape, value) = rest.split_once('=').map_or((rest, None), |(shape, value)| (shape, Some(value)));
    if let Some((element, length)) = shape.split_once('[') {
        let length: u64 = length.strip_suffix(']').context("expected `]`")?.parse().context("length")?;
        // What is in a buffer does not matter: proofs hold whatever it is.
        let size = length.checked_mul(element_of(element)?.bytes as u64).context("too large")?;
        return Ok(Argument::Buffer(name.to_owned(), size));
    }
    let (element, length) = match shape.split_once('(') {
        Some((element, length)) => {
            (element, length.strip_suffix(')').context("expected `)`")?.parse().context("length")?)
        }
        None => (shape, 1),
    };
    let element = element_of(element)?;
    let value = value.context("expected a value: NAME:TYPE=VALUE")?;
    let list = value.strip_prefix('{').map(|rest| rest.strip_suffix('}').context("expected `}`")).transpose()?;
    let values: Vec<&str> = list.unwrap_or(value).split_whitespace().collect();
    if values.is_empty() {
        bail!("expected a value");
    }
    let mut bytes = Vec::new();
    for place in 0..length {
        bytes.extend(element.value(values[place % values.len()])?);
    }
    Ok(Argument::Value(bytes))
}

#[derive(Clone, Copy)]
struct Element {
    is_float: bool,
    bytes: usize,
}

fn element_of(text: &str) -> Result<Element> {
    let bytes = match text.get(1..) {
        Some("8") => 1,
        Some("16") => 2,
        Some("32") => 4,
        Some("64") => 8,
        _ => 0,
    };
    match (text.get(..1), bytes) {
        (Some("u" | "s" | "b"), 1..) => Ok(Element { is_float: false, bytes }),
        (Some("f"), 4 | 8) => Ok(Element { is_float: true, bytes }),
        _ => bail!("`{text}` is none of the types u8 to u64, s8 to s64, b8 to b64, f32 and f64"),
    }
}

impl Element {
    fn value(self, text: &str) -> Result<Vec<u8>> {
        let wrong = || format!("`{text}` is not a number of the type");
        if self.is_float {
            let value: f64 = text.parse().with_context(wrong)?;
            return Ok(if self.bytes == 4 {
                (value as f32).to_le_bytes().to_vec()
            } else {
                value.to_le_bytes().to_vec()
            });
        }
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let magnitude = match digits.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let value = sign * magnitude.with_context(wrong)?;
        let bits = 8 * self.bytes as u32;
        if value < -(1_i128 << (bits - 1)) || value >= 1_i128 << bits {
            bail!("{}", wrong());
        }
        Ok(value.to_le_bytes()[..self.bytes].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_numbers_and_structures() {
        let parsed = parse("x:f32[4], n:s16=-1, x, s:u8(3)={1 2}, a:f32=2").unwrap();
        assert_eq!(parsed[0], Argument::Buffer("x".to_owned(), 16));
        assert_eq!(parsed[1], Argument::Value(vec![0xff, 0xff]));
        assert_eq!(parsed[2], Argument::Again("x".to_owned()));
        assert_eq!(parsed[3], Argument::Value(vec![1, 2, 1]));
        assert_eq!(parsed[4], Argument::Value(2_f32.to_le_bytes().to_vec()));
    }

    #[test]
    fn what_is_no_argument_is_refused() {
        for text in ["x:f33[4]", "x:f32[4", "n:s32", "n:u8=256", "n:u8=x", "n:s32={}"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
