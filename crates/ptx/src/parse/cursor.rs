//! Reading bytes: white space, comments, identifiers, numbers.
//!
//! There is no separate token stream. An opcode with its modifiers is one hash look-up, and the number of a register
//! is found while its name is scanned, so that tokens in between would only be taken apart again.

use crate::diagnostic::Position;

/// A place in the text from which to read on.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Classes of bytes.
mod class {
    /// May begin or continue an identifier; digits only continue one.
    pub(super) const NAME: u8 = 1;
    pub(super) const DIGIT: u8 = 2;
    pub(super) const SPACE: u8 = 4;
    /// May occur in opcode and modifiers: names, digits, `.` and `:`.
    pub(super) const SPELLING: u8 = 8;

    pub(super) const TABLE: [u8; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let c = byte as u8;
            let mut class = 0;
            if c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%') {
                class |= NAME;
            }
            if c.is_ascii_digit() {
                class |= DIGIT;
            }
            if matches!(c, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) {
                class |= SPACE;
            }
            if c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b':' | b'$' | b'%') {
                class |= SPELLING;
            }
            table[byte] = class;
            byte += 1;
        }
        table
    };
}

fn is(byte: u8, classes: u8) -> bool {
    class::TABLE[byte as usize] & classes != 0
}

/// An identifier, with the place where a number at its end begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ident<'a> {
    pub(super) text: &'a str,
    pub(super) at: Position,
    digits: u32,
}

impl<'a> Ident<'a> {
    /// `("%r", 12)` for `%r12`: what a register declared by `%r<13>` is called. Nothing for `%r`, `%r01`, or a number
    /// that no declaration can reach.
    pub(super) fn numbered(&self) -> Option<(&'a str, u32)> {
        let (prefix, digits) = self.text.split_at(self.digits as usize);
        match digits.as_bytes() {
            [] => None,
            [b'0', _, ..] => None,
            digits if digits.len() <= 9 => {
                Some((prefix, digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))))
            }
            _ => None,
        }
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn position(&self) -> Position {
        Position(self.at as u32)
    }

    pub(super) fn text_since(&self, from: Position) -> &'a str {
        &self.text[from.0 as usize..self.at]
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The next byte; 0 at the end of the text.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes().get(self.at).copied().unwrap_or(0)
    }

    fn peek_at(&self, offset: usize) -> u8 {
        self.bytes().get(self.at + offset).copied().unwrap_or(0)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Skips a byte that is known to be ASCII.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Skips a character, whatever it is.
    pub(super) fn advance_char(&mut self) {
        self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
    }

    /// Takes the byte, and the space after it, if it is next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && byte != 0;
        if found {
            self.at += 1;
            self.skip_space();
        }
        found
    }

    /// Takes the characters if they are next.
    pub(super) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.bytes()[self.at..].starts_with(text.as_bytes());
        if found {
            self.at += text.len();
            self.skip_space();
        }
        found
    }

    /// Takes an identifier if it is the next word.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let after = self.at + word.len();
        let ends = self.bytes().get(after).is_none_or(|&byte| !is(byte, class::NAME | class::DIGIT));
        ends && self.eat_text(word)
    }

    /// Skips white space and comments. An unterminated comment reaches to the end of the text.
    #[inline]
    pub(super) fn skip_space(&mut self) {
        // Mostly there is nothing, or one blank between operands.
        if self.peek() == b' ' {
            self.at += 1;
        }
        if is(self.peek(), class::SPACE) || self.peek() == b'/' {
            self.skip_more_space();
        }
    }

    fn skip_more_space(&mut self) {
        let bytes = self.bytes();
        loop {
            while self.at < bytes.len() && is(bytes[self.at], class::SPACE) {
                self.at += 1;
            }
            if self.peek() != b'/' {
                return;
            }
            match self.peek_at(1) {
                b'/' => self.skip_line(),
                b'*' => {
                    let rest = &self.text[self.at + 2..];
                    self.at = rest.find("*/").map_or(self.text.len(), |found| self.at + 2 + found + 2);
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, but neither the end of the line nor comments.
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Skips to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.bytes()[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// Whether an identifier comes next.
    pub(super) fn at_ident(&self) -> bool {
        is(self.peek(), class::NAME)
    }

    pub(super) fn at_digit(&self) -> bool {
        self.peek().is_ascii_digit()
    }

    /// Reads an identifier without the space after it.
    pub(super) fn ident(&mut self) -> Option<Ident<'a>> {
        let bytes = self.bytes();
        let start = self.at;
        if !is(self.peek(), class::NAME) {
            return None;
        }
        let mut at = start;
        let mut digits = start;
        while at < bytes.len() {
            let class = class::TABLE[bytes[at] as usize];
            at += 1;
            if class & class::NAME != 0 {
                digits = at;
            } else if class & class::DIGIT == 0 {
                at -= 1;
                break;
            }
        }
        self.at = at;
        Some(Ident { text: &self.text[start..at], at: Position(start as u32), digits: (digits - start) as u32 })
    }

    /// Reads an opcode with its modifiers: everything up to white space, a comma or the like.
    pub(super) fn spelling(&mut self) -> &'a str {
        let bytes = self.bytes();
        let start = self.at;
        while self.at < bytes.len() && is(bytes[self.at], class::SPELLING) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Reads a number of a few decimal digits that ends an operand, which most numbers are.
    #[inline]
    pub(super) fn plain_decimal(&mut self) -> Option<u32> {
        let bytes = &self.bytes()[self.at..];
        let mut value = 0;
        for (index, &byte) in bytes.iter().enumerate().take(9) {
            match byte {
                b'0'..=b'9' => value = value * 10 + u32::from(byte - b'0'),
                b',' | b';' | b']' | b'}' if index > 0 && (bytes[0] != b'0' || index == 1) => {
                    self.at += index;
                    return Some(value);
                }
                _ => return None,
            }
        }
        None
    }

    /// Reads a run of letters, digits, `.` and `_` that begins with a digit: the characters of a number.
    pub(super) fn number_text(&mut self) -> &'a str {
        let bytes = self.bytes();
        let start = self.at;
        let is_hexadecimal = bytes[self.at..].starts_with(b"0x") || bytes[self.at..].starts_with(b"0X");
        while self.at < bytes.len() {
            let byte = bytes[self.at];
            // The sign of an exponent: `1.5e-3`.
            let is_exponent = !is_hexadecimal
                && matches!(byte, b'+' | b'-')
                && matches!(bytes[self.at - 1], b'e' | b'E')
                && bytes[start..self.at].contains(&b'.');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || is_exponent) {
                break;
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Like [`Self::number_text`]; empty where no digit comes next.
    pub(super) fn number_text_or_empty(&mut self) -> &'a str {
        if self.at_digit() { self.number_text() } else { "" }
    }

    /// Reads a string; returns what is between the quotes. Nothing if it does not end on its line.
    pub(super) fn string(&mut self) -> Option<&'a str> {
        let bytes = self.bytes();
        let start = self.at + 1;
        let mut at = start;
        loop {
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                b'\n' => return None,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(&self.text[start..at])
    }

    /// What to call the next thing in a message, and how long it is.
    pub(super) fn next_for_message(&self) -> (&'a str, u32) {
        if self.is_at_end() {
            return ("the end of the text", 1);
        }
        let mut probe = self.clone();
        let text = if probe.at_ident() || probe.at_digit() || probe.peek() == b'.' {
            let text = probe.spelling();
            &text[..text.len().min(60)]
        } else {
            let len = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
            &self.text[self.at..self.at + len]
        };
        (text, text.len() as u32)
    }

    /// Skips to after the next semicolon, or to before a brace: where the next statement may begin. Strings, comments
    /// and vectors are stepped over.
    pub(super) fn skip_statement(&mut self) {
        loop {
            self.skip_space();
            match self.peek() {
                0 if self.is_at_end() => return,
                b'{' if self.at_vector() => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('}').expect("a vector is closed") + 1;
                }
                b'{' | b'}' => return,
                b';' => {
                    self.at += 1;
                    return;
                }
                b'"' => {
                    if self.string().is_none() {
                        self.at += 1;
                    }
                }
                _ => self.advance_char(),
            }
        }
    }

    /// Goes to the semicolon that ends a statement which nobody can read, and returns the statement without comments.
    pub(super) fn unknown_statement(&mut self, start: Position) -> String {
        self.at = start.0 as usize;
        self.unknown_text(b";")
    }

    /// Reads a directive that nobody knows, from its dot on: up to the semicolon or the end of the line.
    pub(super) fn unknown_directive(&mut self, start: Position) -> String {
        self.at = start.0 as usize;
        let text = self.unknown_text(b";\n");
        if self.peek() == b';' {
            self.at += 1;
        }
        text
    }

    /// The text up to one of some bytes, or to the end. A comment counts as a space: it could hold such a byte, and
    /// printed on one line it would swallow what follows.
    fn unknown_text(&mut self, ends: &[u8]) -> String {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let mut text = String::new();
        let (mut at, mut kept) = (0, 0);
        while at < bytes.len() && !ends.contains(&bytes[at]) {
            let comment = match (bytes[at], bytes.get(at + 1)) {
                (b'/', Some(b'/')) => rest[at..].find('\n').unwrap_or(rest.len() - at),
                (b'/', Some(b'*')) => rest[at..].find("*/").map_or(rest.len() - at, |end| end + 2),
                _ => {
                    at += 1;
                    continue;
                }
            };
            text += &rest[kept..at];
            text.push(' ');
            at += comment;
            kept = at;
        }
        text += &rest[kept..at];
        self.at += at;
        text.truncate(text.trim_end().len());
        text
    }

    /// Whether the brace that comes next opens a vector and not a scope: it closes within the statement.
    fn at_vector(&self) -> bool {
        let rest = &self.bytes()[self.at + 1..];
        rest.iter().find(|byte| matches!(byte, b'{' | b'}' | b';')) == Some(&b'}')
    }

    /// Skips a block in braces, whatever is in it. Returns whether it was closed.
    pub(super) fn skip_braces(&mut self) -> bool {
        let mut depth = 0_u64;
        loop {
            match self.peek() {
                0 if self.is_at_end() => return false,
                b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' => {
                    self.at += 1;
                    depth -= 1;
                    if depth == 0 {
                        return true;
                    }
                }
                _ => self.skip_statement(),
            }
            self.skip_space();
        }
    }

    /// What follows a statement on its line as `//@ …`, if there is such a comment.
    pub(super) fn annotation(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        if !self.bytes()[self.at..].starts_with(b"//@") {
            return None;
        }
        let start = self.at + 3;
        self.skip_line();
        Some(self.text[start..self.at].trim())
    }
}
