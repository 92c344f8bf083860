//! Which kernels are checked, by their names.

use regex_lite::Regex;

use crate::demangle::{demangled, short_name};

/// Longer names are not compared with regular expressions.
const LONGEST_NAME: usize = 64 << 10;

/// Patterns for names, of which one must fit: `scale` or `kernel_substring=scale` (`kns=`) for a part of the name,
/// `kernel_name=scale` (`kne=`) for all of it, `regex=^scale<` for a regular expression.
#[derive(Clone, Debug)]
pub struct KernelFilter {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
enum Pattern {
    Part(String),
    Whole(String),
    Regex(Regex),
}

/// A pattern that is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FilterError {
    /// A regular expression that is none.
    #[error("`{pattern}` is not a regular expression: {message}")]
    Regex {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// Nothing, which would fit every name.
    #[error("a pattern for names of kernels must not be empty")]
    Empty,
}

impl KernelFilter {
    /// From patterns, one on each line.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let patterns = text.lines().map(Pattern::parse).collect::<Result<Vec<_>, _>>()?;
        if patterns.is_empty() { Err(FilterError::Empty) } else { Ok(Self { patterns }) }
    }

    /// Whether a kernel's name, as the compiler has it or as people read it, fits one of them.
    pub fn matches(&self, kernel: &str) -> bool {
        let names = [kernel.to_owned(), short_name(kernel), demangled(kernel)];
        self.patterns.iter().any(|pattern| names.iter().any(|name| pattern.matches(name)))
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, FilterError> {
        let (kind, pattern) = text.split_once('=').unwrap_or(("", text));
        let (kind, pattern) = match kind {
            "regex" | "kns" | "kernel_substring" | "kne" | "kernel_name" => (kind, pattern),
            // The sign belongs to the name: `operator==`.
            _ => ("kns", text),
        };
        if pattern.is_empty() {
            return Err(FilterError::Empty);
        }
        match kind {
            "regex" => Regex::new(pattern)
                .map(Self::Regex)
                .map_err(|error| FilterError::Regex { pattern: pattern.to_owned(), message: error.to_string() }),
            "kne" | "kernel_name" => Ok(Self::Whole(pattern.to_owned())),
            _ => Ok(Self::Part(pattern.to_owned())),
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Part(part) => name.contains(part.as_str()),
            Self::Whole(whole) => name == whole,
            Self::Regex(regex) => name.len() <= LONGEST_NAME && regex.is_match(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_in_all_their_forms() {
        let fits = |pattern: &str, name: &str| KernelFilter::parse(pattern).expect("a pattern").matches(name);
        let kernel = "_Z5scaleIfEvPT_i";
        for pattern in
            ["scale", "kns=cale<", "kne=scale<float>", "kernel_name=_Z5scaleIfEvPT_i", "regex=^scale<.*>$", "x\nscale"]
        {
            assert!(fits(pattern, kernel), "{pattern}");
        }
        for pattern in ["kne=scale", "regex=^cale", "other", "Scale"] {
            assert!(!fits(pattern, kernel), "{pattern}");
        }
        assert!(fits("operator==", "operator==(int)"));
        for wrong in ["", "regex=(", "kne=", "regex="] {
            assert!(KernelFilter::parse(wrong).is_err(), "{wrong}");
        }
    }
}
