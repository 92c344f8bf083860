//! Text as it stands in a page: nothing in it is markup, and nothing steers.

use crate::escape::{blotted, escaped};

/// Words of a program on one line, of an element or of an attribute in quotation marks, in HTML or SVG.
pub fn text(words: &str) -> String {
    entities(&escaped(words))
}

/// A line of a source file, letter for letter.
pub(super) fn code(line: &str) -> String {
    entities(&blotted(line))
}

/// Several lines of our own.
pub(super) fn lines(words: &str) -> String {
    words.lines().map(code).collect::<Vec<_>>().join("\n")
}

fn entities(words: &str) -> String {
    let mut text = String::with_capacity(words.len() + words.len() / 8);
    for letter in words.chars() {
        match letter {
            '&' => text += "&amp;",
            '<' => text += "&lt;",
            '>' => text += "&gt;",
            '"' => text += "&quot;",
            '\'' => text += "&#39;",
            _ => text.push(letter),
        }
    }
    text
}
