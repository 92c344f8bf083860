//! Names of files in which `%p` stands for the number of the program's process and `%q{NAME}` for a variable of the
//! environment, as in Valgrind and compute-sanitizer.

use std::path::PathBuf;
use std::str::FromStr;

/// The name of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FilePattern {
    /// What is between the numbers of the process.
    parts: Vec<String>,
}

impl FilePattern {
    /// The file for this process.
    pub(crate) fn path(&self, process: u32) -> PathBuf {
        self.parts.join(&process.to_string()).into()
    }
}

impl FromStr for FilePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = vec![String::new()];
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            let part = parts.last_mut().expect("there is one at all times");
            part.push_str(before);
            rest = if let Some(after) = after.strip_prefix('%') {
                part.push('%');
                after
            } else if let Some(after) = after.strip_prefix('p') {
                parts.push(String::new());
                after
            } else if let Some((name, after)) = after.strip_prefix("q{").and_then(|after| after.split_once('}')) {
                part.push_str(&std::env::var(name).map_err(|_| format!("there is no variable `{name}`"))?);
                after
            } else {
                return Err("`%` is followed by `p`, `q{NAME}` or `%`".to_owned());
            };
        }
        parts.last_mut().expect("there is one at all times").push_str(rest);
        if text.is_empty() { Err("a file has a name".to_owned()) } else { Ok(Self { parts }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let path = |text: &str| text.parse::<FilePattern>().map(|pattern| pattern.path(42).display().to_string());
        assert_eq!(path("a.log").as_deref(), Ok("a.log"));
        assert_eq!(path("%p/a%%b.%p").as_deref(), Ok("42/a%b.42"));
        let home = std::env::var("PATH").expect("everybody has one");
        assert_eq!(path("x%q{PATH}y"), Ok(format!("x{home}y")));
        for wrong in ["%", "%x", "%q{", "%q{NO_SUCH_VARIABLE_HERE}", ""] {
            assert!(path(wrong).is_err(), "{wrong}");
        }
    }
}
