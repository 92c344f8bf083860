//! What came of a check.

use std::time::Duration;

/// Whether the device is well.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// All results are as they must be.
    Good,
    /// They are, but something was not checked.
    Warning,
    /// The check could not be made.
    Unknown,
    /// A result is wrong, or the two copies of a computation differ.
    Bad,
}

/// Whose exit codes are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitStyle {
    /// 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN: Nagios and its kin, and Slurm, for which all but 0 is a failure.
    Nagios,
    /// 0 OK, 1 NonOK, 2 Unknown: plugins of Kubernetes' node-problem-detector.
    NodeProblemDetector,
}

/// What came of a kernel, or of a program of the user's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// How often it ran, and how often the result was not as it must be.
    pub passes: u64,
    /// How often the result was not as it must be.
    pub mismatches: u64,
    /// The hash of its last result; empty if there is none.
    pub hash: String,
}

/// What came of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// What ran.
    pub kernels: Vec<Kernel>,
    /// How often `rmt` found that the two copies of a computation differ.
    pub differences: u64,
    /// What was not checked, and why.
    pub unchecked: Vec<String>,
    /// Why the check could not be made, if so.
    pub failure: Option<String>,
    /// How long it took.
    pub took: Duration,
}

/// Plugins of node-problem-detector are cut there.
const MOST_LETTERS: usize = 80;

impl Outcome {
    /// Whether the device is well.
    pub fn status(&self) -> Status {
        if self.differences > 0 || self.mismatches() > 0 {
            Status::Bad
        } else if self.failure.is_some() || self.passes() == 0 {
            Status::Unknown
        } else if !self.unchecked.is_empty() {
            Status::Warning
        } else {
            Status::Good
        }
    }

    pub(crate) fn passes(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.passes).sum()
    }

    fn mismatches(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.mismatches).sum()
    }

    /// The exit code.
    pub fn exit_code(&self, style: ExitStyle) -> u8 {
        match (style, self.status()) {
            (_, Status::Good) => 0,
            (_, Status::Warning) => 1,
            (ExitStyle::Nagios, Status::Bad) => 2,
            (ExitStyle::Nagios, Status::Unknown) => 3,
            (ExitStyle::NodeProblemDetector, Status::Bad) => 1,
            (ExitStyle::NodeProblemDetector, Status::Unknown) => 2,
        }
    }

    /// A line of at most 80 letters.
    pub fn line(&self) -> String {
        let passes = self.passes();
        let text = match self.status() {
            Status::Good => format!("OK: {passes} results are right in {} s", self.took.as_secs()),
            Status::Warning => format!("WARNING: not all was protected: {}", self.unchecked[0]),
            Status::Unknown => {
                format!("UNKNOWN: {}", self.failure.as_deref().unwrap_or("no kernel came to a result"))
            }
            Status::Bad if self.differences > 0 => {
                format!("CRITICAL: copies of a computation differ {} times", self.differences)
            }
            Status::Bad => {
                let wrong = self.kernels.iter().find(|kernel| kernel.mismatches > 0);
                let name = wrong.map_or("", |kernel| &kernel.name);
                format!("CRITICAL: {} of {passes} results are wrong: {name}", self.mismatches())
            }
        };
        const DEVICE: &str = " (CPU device: tests the processor)";
        let plain: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        match plain.chars().count() + DEVICE.len() <= MOST_LETTERS {
            true => plain + DEVICE,
            false => plain.chars().take(MOST_LETTERS).collect(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn outcome(passes: u64, mismatches: u64) -> Outcome {
        let kernel = Kernel { name: "fp32".to_owned(), passes, mismatches, hash: "0".repeat(64) };
        let took = Duration::from_millis(5040);
        Outcome { kernels: vec![kernel], differences: 0, unchecked: Vec::new(), failure: None, took }
    }

    #[test]
    fn exit_codes_are_those_of_their_styles() {
        let codes = |outcome: &Outcome| {
            [ExitStyle::Nagios, ExitStyle::NodeProblemDetector].map(|style| outcome.exit_code(style))
        };
        assert_eq!(codes(&outcome(5, 0)), [0, 0]);
        assert_eq!(codes(&Outcome { unchecked: vec!["x".to_owned()], ..outcome(5, 0) }), [1, 1]);
        assert_eq!(codes(&outcome(5, 1)), [2, 1]);
        assert_eq!(codes(&Outcome { differences: 1, ..outcome(5, 0) }), [2, 1]);
        assert_eq!(codes(&outcome(0, 0)), [3, 2]);
        let failed = Outcome { failure: Some("no".to_owned()), ..outcome(5, 0) };
        assert_eq!(codes(&failed), [3, 2]);
        // What is known to be wrong is wrong, although not all could be checked.
        assert_eq!(codes(&Outcome { differences: 1, ..failed }), [2, 1]);
    }

    #[test]
    fn a_line_has_80_letters_at_most() {
        assert_eq!(outcome(5, 0).line(), "OK: 5 results are right in 5 s (CPU device: tests the processor)");
        let long = Outcome { failure: Some("\u{1b}[31m\n".repeat(50)), ..outcome(0, 0) };
        let huge = Outcome { differences: u64::MAX, ..outcome(u64::MAX, 1) };
        for outcome in [outcome(5, 1), outcome(0, 0), long, huge] {
            let line = outcome.line();
            assert!(line.chars().count() <= 80 && !line.chars().any(char::is_control), "{line}");
        }
    }
}
