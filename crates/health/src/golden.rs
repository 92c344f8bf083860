//! The hashes that results must have: lines of a name and a hash.

use std::collections::BTreeMap;

/// Hashes by the names of kernels and programs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Golden(BTreeMap<String, String>);

/// Why something is no list of hashes.
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// A line is something else.
    #[error(
        "line {0} is not a name and a hash of 64 digits: `warpgrind health --write-golden FILE` writes such a file"
    )]
    Line(usize),
}

impl Golden {
    /// Those of the bundled kernels.
    pub fn bundled() -> Self {
        Self::parse(include_str!("../kernels/golden.txt")).expect("what is bundled was written by us")
    }

    /// Reads lines of a name and a hash.
    pub fn parse(text: &str) -> Result<Self, GoldenError> {
        let mut all = BTreeMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let (name, hash) = line.rsplit_once(' ').ok_or(GoldenError::Line(number + 1))?;
            let is_hash = hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if !is_hash || name.is_empty() {
                return Err(GoldenError::Line(number + 1));
            }
            all.insert(name.to_owned(), hash.to_owned());
        }
        Ok(Self(all))
    }

    /// With those of another list in place of these.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The hash that a result must have, if it is known.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Of what came of a check.
    pub fn of<'a>(results: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        Self(results.map(|(name, hash)| (name.to_owned(), hash.to_owned())).collect())
    }

    /// As it is kept in files.
    pub fn text(&self) -> String {
        self.0.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_are_written() {
        let bundled = Golden::bundled();
        assert_eq!(Golden::parse(&bundled.text()).unwrap(), bundled);
        assert!(crate::kernels::NAMES.iter().all(|name| bundled.get(name).is_some()));
        let other = Golden::parse(&format!("a b {}\n", "0".repeat(64))).unwrap();
        assert_eq!(bundled.with(other).get("a b"), Some("0".repeat(64).as_str()));
        for wrong in ["x", "x y", &format!(" {}", "0".repeat(64)), &format!("x {}", "G".repeat(64))] {
            assert!(Golden::parse(wrong).is_err(), "{wrong}");
        }
    }
}
