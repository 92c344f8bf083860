//! What we have to say to the user of a program, on its standard error.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// What was said before; the same is not said twice.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// How many different sentences are kept apart; after these, nothing more is said.
const MOST_SENTENCES: usize = 1000;
/// Longer sentences are cut: names come from the program.
const LONGEST_SENTENCE: usize = 4000;

thread_local! {
    /// What is said on this thread while somebody listens.
    static HEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Does something, and gives what was said meanwhile on this thread, also what was said before.
pub(crate) fn listen<T>(body: impl FnOnce() -> T) -> (T, Vec<String>) {
    HEARD.set(Some(Vec::new()));
    let result = body();
    (result, HEARD.take().unwrap_or_default())
}

/// Says something, once.
pub(crate) fn say(sentence: &str) {
    HEARD.with_borrow_mut(|heard| {
        if let Some(heard) = heard {
            heard.push(sentence.to_owned());
        }
    });
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() >= MOST_SENTENCES || said.contains(sentence) {
        return;
    }
    said.insert(sentence.to_owned());
    // A program without standard error runs on.
    let _ = std::io::stderr().write_all(format!("warpgrind: {}\n", escaped(sentence)).as_bytes());
}

/// Without what could steer a terminal.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars().take(LONGEST_SENTENCE) {
        match letter {
            '\n' => escaped.push_str("\nwarpgrind:   "),
            // Control characters, and those that change the direction of what follows.
            _ if letter.is_control()
                || matches!(letter, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                escaped.extend(letter.escape_unicode());
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(escaped("a\x1b[31m\u{202e}b\nc"), "a\\u{1b}[31m\\u{202e}b\nwarpgrind:   c");
    }
}
