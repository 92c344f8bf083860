//! Launches of which one may have gone wrong instead of the last: the driver had them at the same time.

use std::fmt;

/// Kernels that are named at most.
const MOST_NAMED: usize = 4;

/// Launches before one, none of which was waited for.
#[derive(Debug, Default)]
pub(crate) struct Before<'a> {
    /// Other kernels than the last, the latest first.
    others: Vec<&'a str>,
    launches: usize,
}

impl<'a> Before<'a> {
    /// Of kernels by the names of their launches, in their order.
    pub(crate) fn new(last: &str, before: impl DoubleEndedIterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        for name in before.rev() {
            found.launches += 1;
            if name != last && !found.others.contains(&name) {
                found.others.push(name);
            }
        }
        found
    }

    /// Whether there are none, so that it was the last.
    pub(crate) fn is_empty(&self) -> bool {
        self.launches == 0
    }
}

/// What is said behind the last kernel.
impl fmt::Display for Before<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        write!(f, " (or one of the {} launched right before it", self.launches)?;
        for (place, name) in self.others.iter().take(MOST_NAMED).enumerate() {
            write!(f, "{}`{}`", if place == 0 { ", also of " } else { ", " }, report::demangled(name))?;
        }
        f.write_str(if self.others.len() > MOST_NAMED { ", …)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(last: &str, before: &[&str]) -> String {
        format!("kernel `{last}`{}", Before::new(last, before.iter().copied()))
    }

    #[test]
    fn who_it_can_have_been_is_named() {
        assert_eq!(said("a", &[]), "kernel `a`");
        assert_eq!(said("a", &["a", "a"]), "kernel `a` (or one of the 2 launched right before it)");
        assert_eq!(
            said("a", &["b", "c", "b", "a"]),
            "kernel `a` (or one of the 4 launched right before it, also of `b`, `c`)"
        );
        assert_eq!(
            said("a", &["1", "2", "3", "4", "5"]),
            "kernel `a` (or one of the 5 launched right before it, also of `5`, `4`, `3`, `2`, …)"
        );
    }
}
