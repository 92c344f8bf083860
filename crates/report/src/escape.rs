//! Text that comes from a program, made safe to show.

use std::fmt::Write;

/// Longer texts are cut: names come from the program.
const MOST_LETTERS: usize = 4000;

/// The text on one line, without anything that could steer a terminal or change the order of what is read: control
/// characters, marks of direction and invisible ones are shown as `\u{1b}`. What is very long is cut, and says so.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len().min(MOST_LETTERS));
    for (count, letter) in text.chars().enumerate() {
        if count == MOST_LETTERS {
            let _ = write!(escaped, "… ({} bytes)", text.len());
            break;
        }
        match letter {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            _ if steers(letter) => escaped.extend(letter.escape_unicode()),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A line of a source file: letter for letter, so that columns stay where they are.
pub(crate) fn blotted(line: &str) -> String {
    line.chars().map(|letter| if letter != '\t' && steers(letter) { '\u{fffd}' } else { letter }).collect()
}

/// Whether a letter does something else than to be seen.
pub(crate) fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(escaped("a\x1b[31m\u{202e}b\nc\u{9b}1m"), "a\\u{1b}[31m\\u{202e}b\\nc\\u{9b}1m");
        assert_eq!(blotted("\tint a;\u{202e}\x1b"), "\tint a;\u{fffd}\u{fffd}");
        assert_eq!(escaped("größer ≥ 数"), "größer ≥ 数");
    }

    #[test]
    fn long_names_are_cut() {
        let shown = escaped(&"x".repeat(1 << 20));
        assert!(shown.ends_with("x… (1048576 bytes)"), "{shown}");
        assert!(shown.len() < 5000);
    }
}
