//! `--sweep NAME=A,B,…`: runs the program once for each value, with the value for `{NAME}` in its arguments, and reports all runs
//! side by side.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What changes from run to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sweep {
    name: String,
    values: Vec<String>,
}

/// More runs are not one comparison.
const MOST_VALUES: usize = 64;

impl Sweep {
    /// Reads the flag.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (name, values) = text.split_once('=').ok_or("it is NAME=A,B,…, such as block=8x8,16x16")?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("`{name}` is no name: letters, digits, `_` and `-`"));
        }
        let values: Vec<String> = values.split(',').map(str::to_owned).collect();
        if values.iter().any(String::is_empty) {
            return Err("a value is empty".to_owned());
        }
        if values.len() > MOST_VALUES {
            return Err(format!("there are {} values, and at most {MOST_VALUES} are compared", values.len()));
        }
        Ok(Self { name: name.to_owned(), values })
    }

    /// What stands in the arguments of the program for a value.
    fn placeholder(&self) -> String {
        format!("{{{}}}", self.name)
    }

    /// The program with its arguments for each value, and what the run is called; or what is wrong with it.
    pub(super) fn runs(&self, program: &[OsString]) -> Result<Vec<(String, Vec<OsString>)>, String> {
        let placeholder = self.placeholder();
        let has_it = |word: &OsString| !parts(word, &placeholder).is_empty();
        if !program.iter().skip(1).any(has_it) {
            return Err(format!("no argument of the program has `{placeholder}`, which stands for the values"));
        }
        let run = |value: &String| {
            let words = program.iter().enumerate();
            let words =
                words.map(|(nth, word)| if nth == 0 { word.clone() } else { replaced(word, &placeholder, value) });
            (format!("{}={value}", self.name), words.collect())
        };
        Ok(self.values.iter().map(run).collect())
    }
}

/// Where a text occurs in a word.
fn parts(word: &OsStr, text: &str) -> Vec<usize> {
    let (word, text) = (word.as_bytes(), text.as_bytes());
    let mut found = Vec::new();
    let mut at = 0;
    while at + text.len() <= word.len() {
        if &word[at..at + text.len()] == text {
            found.push(at);
            at += text.len();
        } else {
            at += 1;
        }
    }
    found
}

fn replaced(word: &OsStr, text: &str, value: &str) -> OsString {
    let mut bytes = Vec::new();
    let mut end = 0;
    for at in parts(word, text) {
        bytes.extend_from_slice(&word.as_bytes()[end..at]);
        bytes.extend_from_slice(value.as_bytes());
        end = at + text.len();
    }
    bytes.extend_from_slice(&word.as_bytes()[end..]);
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn values_are_put_into_arguments() {
        let sweep = Sweep::parse("block=8x8,16x16").unwrap();
        let runs = sweep.runs(&words("./{block} --block={block}/{block} 3 {bloc}")).unwrap();
        assert_eq!(runs[0], ("block=8x8".to_owned(), words("./{block} --block=8x8/8x8 3 {bloc}")));
        assert_eq!(runs[1], ("block=16x16".to_owned(), words("./{block} --block=16x16/16x16 3 {bloc}")));
        assert!(sweep.runs(&words("./{block} 3")).unwrap_err().contains("`{block}`"));
    }

    #[test]
    fn what_is_no_sweep_is_refused() {
        for text in ["block", "=1,2", "a b=1", "block=1,,2", "block=", &format!("n={}1", "1,".repeat(64))] {
            assert!(Sweep::parse(text).is_err(), "{text}");
        }
    }
}
