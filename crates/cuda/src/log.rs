//! What we have to say to the user of a program, on its standard error.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// What was said before; the same is not said twice.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// How many different sentences are kept apart; after these, nothing more is said.
const MOST_SENTENCES: usize = 1000;
/// More lines of one are not shown.
const MOST_LINES: usize = 100;

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
    // While the process ends, a thread may have lost it already; then nobody listens.
    let _ = HEARD.try_with(|heard| {
        if let Some(heard) = &mut *heard.borrow_mut() {
            heard.push(sentence.to_owned());
        }
    });
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() >= MOST_SENTENCES || said.contains(sentence) {
        return;
    }
    said.insert(sentence.to_owned());
    // A program without standard error runs on.
    let _ = std::io::stderr().write_all(lines(sentence).as_bytes());
}

/// Without what could steer a terminal, and with our name on each line.
fn lines(sentence: &str) -> String {
    let lines: Vec<String> = sentence.lines().take(MOST_LINES).map(report::escaped).collect();
    format!("warpgrind: {}\n", lines.join("\nwarpgrind:   "))
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(lines("a\x1b[31m\u{202e}b\nc"), "warpgrind: a\\u{1b}[31m\\u{202e}b\nwarpgrind:   c\n");
    }
}
