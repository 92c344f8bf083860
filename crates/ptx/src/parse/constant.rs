//! Constants and constant expressions.
//!
//! An expression is replaced by its value: PTX computes it in 64 bits while it is read, so nothing is lost.

use super::{Error, Parser};
use crate::ir::Operand;

/// How deep parentheses and unary operators may nest.
const MAX_DEPTH: u32 = 64;

/// The value of a constant expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Constant {
    /// A signed or unsigned integer; which of them decides how `/`, `%`, `>>` and comparisons work.
    Int {
        bits: u64,
        unsigned: bool,
        hexadecimal: bool,
    },
    /// The bits of a single-precision literal, which takes part in no computation.
    F32(u32),
    F64(f64),
}

impl Constant {
    pub(super) fn operand(self) -> Operand {
        match self {
            // Beyond the signed range the sign would change the value that a 64-bit comparison sees.
            Self::Int { bits, hexadecimal: true, .. } => Operand::Hex(bits),
            Self::Int { bits, unsigned: true, .. } if bits > i64::MAX as u64 => Operand::Hex(bits),
            Self::Int { bits, .. } => Operand::Int(bits as i64),
            Self::F32(bits) => Operand::F32(bits),
            Self::F64(value) => Operand::F64(value.to_bits()),
        }
    }

    fn signed(value: i64) -> Self {
        Self::Int { bits: value as u64, unsigned: false, hexadecimal: false }
    }
}

impl Parser<'_> {
    /// Parses a constant expression.
    pub(super) fn constant(&mut self) -> Result<Constant, Error> {
        self.conditional(0)
    }

    /// Parses a constant expression whose value must be an integer.
    pub(super) fn integer(&mut self) -> Result<i64, Error> {
        let at = self.cursor.position();
        match self.constant()? {
            Constant::Int { bits, .. } => Ok(bits as i64),
            _ => Err(self.error_since(at, "expected an integer, found a floating-point number")),
        }
    }

    /// Parses a constant expression whose value must fit into 32 unsigned bits.
    pub(super) fn unsigned32(&mut self, what: &'static str) -> Result<u32, Error> {
        let at = self.cursor.position();
        let value = self.integer()?;
        u32::try_from(value).map_err(|_| self.error_since(at, format!("{what} must be between 0 and 4294967295")))
    }

    /// Parses an offset of an address, which ptxas keeps in 32 signed bits (and takes unsigned ones modulo 2^32).
    pub(super) fn offset(&mut self, negative: bool) -> Result<i32, Error> {
        let at = self.cursor.position();
        let value = self.conditional(0)?;
        let Constant::Int { bits, .. } = value else {
            return Err(self.error_since(at, "expected an integer offset, found a floating-point number"));
        };
        let value = if negative { (bits as i64).wrapping_neg() } else { bits as i64 };
        match value {
            -0x8000_0000..=0x7fff_ffff => Ok(value as i32),
            0x8000_0000..=0xffff_ffff => Ok(value as u32 as i32),
            _ => Err(self.error_since(at, format!("the offset {value} does not fit into 32 bits"))),
        }
    }

    fn conditional(&mut self, depth: u32) -> Result<Constant, Error> {
        let condition = self.binary(depth, 0)?;
        self.cursor.skip_space();
        if !self.cursor.eat(b'?') {
            return Ok(condition);
        }
        let depth = self.deeper(depth)?;
        let then = self.conditional(depth)?;
        self.cursor.skip_space();
        self.expect(b':', "`:` of a conditional expression")?;
        let otherwise = self.conditional(depth)?;
        Ok(if is_true(condition) { then } else { otherwise })
    }

    /// Precedence climbing over the binary operators.
    fn binary(&mut self, depth: u32, minimum: u8) -> Result<Constant, Error> {
        let at = self.cursor.position();
        let mut left = self.unary(depth)?;
        loop {
            self.cursor.skip_space();
            let Some((operator, precedence)) = self.peek_operator() else {
                return Ok(left);
            };
            if precedence < minimum {
                return Ok(left);
            }
            let depth = self.deeper(depth)?;
            self.cursor.eat_text(operator);
            let right = self.binary(depth, precedence + 1)?;
            left = apply(operator, left, right)
                .ok_or_else(|| self.error_since(at, format!("`{operator}` cannot be computed for these values")))?;
        }
    }

    fn peek_operator(&self) -> Option<(&'static str, u8)> {
        // The address `a|b` of a pair and the end of an operand are not operators of expressions; `|` and `^` are, but
        // only after a number, where a pair cannot be.
        const OPERATORS: &[(&str, u8)] = &[
            ("||", 1),
            ("&&", 2),
            ("|", 3),
            ("^", 4),
            ("&", 5),
            ("==", 6),
            ("!=", 6),
            ("<<", 8),
            (">>", 8),
            ("<=", 7),
            (">=", 7),
            ("<", 7),
            (">", 7),
            ("+", 9),
            ("-", 9),
            ("*", 10),
            ("/", 10),
            ("%", 10),
        ];
        if !matches!(
            self.cursor.peek(),
            b'|' | b'&' | b'^' | b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%'
        ) {
            return None;
        }
        OPERATORS.iter().copied().find(|(text, _)| self.cursor.clone().eat_text(text))
    }

    fn unary(&mut self, depth: u32) -> Result<Constant, Error> {
        let at = self.cursor.position();
        match self.cursor.peek() {
            b'0'..=b'9' => self.number(),
            b'+' | b'-' | b'~' | b'!' => {
                let operator = self.cursor.peek();
                self.cursor.advance();
                self.cursor.skip_space();
                let depth = self.deeper(depth)?;
                let value = self.unary(depth)?;
                match (operator, value) {
                    (b'+', value) => Ok(value),
                    (b'-', Constant::Int { bits, .. }) => Ok(Constant::signed((bits as i64).wrapping_neg())),
                    (b'-', Constant::F64(value)) => Ok(Constant::F64(-value)),
                    (b'-', Constant::F32(bits)) => Ok(Constant::F32(bits ^ 0x8000_0000)),
                    (b'~', Constant::Int { bits, unsigned, hexadecimal }) => {
                        Ok(Constant::Int { bits: !bits, unsigned, hexadecimal })
                    }
                    (b'!', value) => Ok(Constant::signed(i64::from(!is_true(value)))),
                    _ => Err(self.error_since(at, "`~` needs an integer")),
                }
            }
            b'(' => {
                self.cursor.eat(b'(');
                let depth = self.deeper(depth)?;
                if self.cursor.eat_text(".s64") || self.cursor.eat_text(".u64") {
                    let unsigned = self.cursor.text_since(at).contains('u');
                    self.expect(b')', "`)` after a type")?;
                    return match self.unary(depth)? {
                        Constant::Int { bits, hexadecimal, .. } => Ok(Constant::Int { bits, unsigned, hexadecimal }),
                        Constant::F64(value) if unsigned => {
                            Ok(Constant::Int { bits: value as u64, unsigned, hexadecimal: false })
                        }
                        Constant::F64(value) => Ok(Constant::signed(value as i64)),
                        Constant::F32(_) => {
                            Err(self.error_since(at, "a single-precision constant cannot be converted"))
                        }
                    };
                }
                let value = self.conditional(depth)?;
                self.cursor.skip_space();
                self.expect(b')', "`)` or an operator")?;
                Ok(value)
            }
            _ if self.cursor.eat_word("WARP_SZ") => Ok(Constant::signed(32)),
            _ => Err(self.expected("a number")),
        }
    }

    /// Parses a number.
    pub(super) fn number(&mut self) -> Result<Constant, Error> {
        let at = self.cursor.position();
        let text = self.cursor.number_text();
        number(text).ok_or_else(|| {
            let shown = &text[..text.len().min(60)];
            self.error_since(at, format!("`{shown}` is not a number that fits into 64 bits"))
        })
    }

    fn deeper(&mut self, depth: u32) -> Result<u32, Error> {
        if depth >= MAX_DEPTH {
            return Err(self.error_here(format!("a constant expression is nested more than {MAX_DEPTH} deep")));
        }
        Ok(depth + 1)
    }
}

fn number(text: &str) -> Option<Constant> {
    let bytes = text.as_bytes();
    let int = |digits: &str, radix, hexadecimal| {
        let (digits, unsigned) = match digits.strip_suffix(['U', 'u']) {
            Some(digits) => (digits, true),
            None => (digits, false),
        };
        let bits = u64::from_str_radix(digits, radix).ok()?;
        Some(Constant::Int { bits, unsigned: unsigned || bits > i64::MAX as u64, hexadecimal })
    };
    match bytes {
        // The frequent case first.
        _ if bytes.len() <= 9 && bytes.iter().all(u8::is_ascii_digit) && (bytes[0] != b'0' || bytes.len() == 1) => {
            let value = bytes.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
            Some(Constant::Int { bits: value, unsigned: false, hexadecimal: false })
        }
        [b'0', b'f' | b'F', hex @ ..] if hex.len() == 8 => {
            Some(Constant::F32(u32::from_str_radix(&text[2..], 16).ok()?))
        }
        [b'0', b'd' | b'D', hex @ ..] if hex.len() == 16 => {
            Some(Constant::F64(f64::from_bits(u64::from_str_radix(&text[2..], 16).ok()?)))
        }
        [b'0', b'x' | b'X', ..] => int(&text[2..], 16, true),
        [b'0', b'b' | b'B', ..] => int(&text[2..], 2, false),
        _ if text.contains('.') => text.parse().ok().map(Constant::F64),
        [b'0', b'0'..=b'9', ..] => int(&text[1..], 8, false),
        _ => int(text, 10, false),
    }
}

fn is_true(value: Constant) -> bool {
    match value {
        Constant::Int { bits, .. } => bits != 0,
        Constant::F32(bits) => f32::from_bits(bits) != 0.0,
        Constant::F64(value) => value != 0.0,
    }
}

/// Nothing where PTX does not define the value.
fn apply(operator: &str, left: Constant, right: Constant) -> Option<Constant> {
    use Constant::{F64, Int};
    let truth = |value: bool| Some(Constant::signed(i64::from(value)));
    match (left, right) {
        (Int { bits: a, unsigned: ua, hexadecimal: ha }, Int { bits: b, unsigned: ub, hexadecimal: hb }) => {
            let unsigned = ua || ub;
            let int = |bits| Some(Int { bits, unsigned, hexadecimal: ha && hb });
            let (sa, sb) = (a as i64, b as i64);
            match operator {
                "+" => int(a.wrapping_add(b)),
                "-" => int(a.wrapping_sub(b)),
                "*" => int(a.wrapping_mul(b)),
                "/" if unsigned => int(a.checked_div(b)?),
                "/" => int(sa.checked_div(sb)? as u64),
                "%" if unsigned => int(a.checked_rem(b)?),
                "%" => int(sa.checked_rem(sb)? as u64),
                "<<" => Some(Int {
                    bits: a.checked_shl(u32::try_from(b).ok()?).unwrap_or(0),
                    unsigned: ua,
                    hexadecimal: ha,
                }),
                ">>" if ua => int(a.checked_shr(u32::try_from(b).ok()?).unwrap_or(0)),
                ">>" => int((sa >> b.min(63)) as u64),
                "&" => int(a & b),
                "|" => int(a | b),
                "^" => int(a ^ b),
                "&&" => truth(a != 0 && b != 0),
                "||" => truth(a != 0 || b != 0),
                "==" => truth(a == b),
                "!=" => truth(a != b),
                "<" => truth(if unsigned { a < b } else { sa < sb }),
                "<=" => truth(if unsigned { a <= b } else { sa <= sb }),
                ">" => truth(if unsigned { a > b } else { sa > sb }),
                ">=" => truth(if unsigned { a >= b } else { sa >= sb }),
                _ => None,
            }
        }
        (F64(a), F64(b)) => match operator {
            "+" => Some(F64(a + b)),
            "-" => Some(F64(a - b)),
            "*" => Some(F64(a * b)),
            "/" => Some(F64(a / b)),
            "==" => truth(a == b),
            "!=" => truth(a != b),
            "<" => truth(a < b),
            "<=" => truth(a <= b),
            ">" => truth(a > b),
            ">=" => truth(a >= b),
            _ => None,
        },
        _ => None,
    }
}
