//! Rust source to words and signs, without comments: enough to find modules, imports and paths in sources that compile.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A keyword or a name; `r#type` is the word `type`.
    Word,
    /// A string, character, number or lifetime, as it was written.
    Literal,
    /// `::`, or any other single character.
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind,
    pub(crate) text: &'s str,
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if let Some(length) = comment(rest) {
            (None, length)
        } else if let Some(length) = quoted(rest) {
            (Some(Kind::Literal), length)
        } else if let Some(name) = rest.strip_prefix("r#") {
            (Some(Kind::Word), 2 + word(name))
        } else if first.is_ascii_digit() {
            (Some(Kind::Literal), word(rest))
        } else if word(rest) > 0 {
            (Some(Kind::Word), word(rest))
        } else {
            (Some(Kind::Sign), if rest.starts_with("::") { 2 } else { first.len_utf8() })
        };
        let (text, after) = rest.split_at(length);
        if let Some(kind) = kind {
            let text = if kind == Kind::Word { text.trim_start_matches("r#") } else { text };
            tokens.push(Token { kind, text, line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Length of the comment that the text begins with; those in `/* */` nest.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    Some(at)
}

/// Length of the string, character or lifetime that the text begins with, with its prefix.
fn quoted(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| {
            let rest = if prefix.ends_with('r') { rest.trim_start_matches('#') } else { rest };
            rest.starts_with('"') || (rest.starts_with('\'') && matches!(*prefix, "b" | ""))
        })
    })?;
    let rest = &text[prefix.len()..];
    let length = if prefix.ends_with('r') {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        let body = hashes + 1;
        rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len())
    } else if rest.starts_with('"') {
        escaped(rest, '"')
    } else if is_lifetime(rest) {
        1 + word(&rest[1..])
    } else {
        escaped(rest, '\'')
    };
    Some(prefix.len() + length)
}

/// `'a`, where `'a'` and `'\n'` are characters.
fn is_lifetime(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.next() != Some('\'')
}

fn escaped(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        tokens(source).iter().filter(|token| token.is_word()).map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_strings_hold_no_words() {
        assert_eq!(words("a // b\n/* c /* d */ e */ f \"g \\\" h\" i"), ["a", "f", "i"]);
        assert_eq!(words(r####"a r#"b " c"# d br##"e"# f"## g b"h" c"i" j"####), ["a", "d", "g", "j"]);
    }

    #[test]
    fn lifetimes_end_where_characters_go_on() {
        assert_eq!(words("a<'b> c '\"' d '\\'' e b'\"' f 'g' h"), ["a", "c", "d", "e", "f", "h"]);
    }

    #[test]
    fn raw_names_are_names() {
        assert_eq!(words("r#type raw b br r"), ["type", "raw", "b", "br", "r"]);
    }

    #[test]
    fn lines_are_counted_within_strings_and_comments() {
        let lines: Vec<_> = tokens("\"\n\n\" /* \n */ a\nb").iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(lines[1..], [("a", 4), ("b", 5)]);
    }
}
