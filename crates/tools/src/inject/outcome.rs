//! What comes of a fault.

use toolkit::{TrialEnd, Tried};

/// What came of a fault in a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Outcome {
    /// Nothing: memory is as it should be, and so is what was printed. What was hit was never looked at.
    NeverRead,
    /// Nothing, although it was looked at.
    Masked,
    /// Memory, or what was printed, is wrong, and nobody noticed.
    Corruption,
    /// The device ended the launch.
    Fault,
    /// A thread executed far more than it should have, or threads wait for each other.
    Hang,
    /// A tool noticed, and ended the launch.
    Detected,
    /// A tool noticed, and all is as it should be.
    Recovered,
    /// The trial did not take place as it should have: it does not count.
    Invalid,
}

impl Outcome {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NeverRead => "never-read",
            Self::Masked => "masked",
            Self::Corruption => "sdc",
            Self::Fault => "fault",
            Self::Hang => "hang",
            Self::Detected => "detected",
            Self::Recovered => "recovered",
            Self::Invalid => "invalid",
        }
    }

    /// Whether the rest of the program may differ.
    pub(super) fn is_followed(self) -> bool {
        !matches!(self, Self::NeverRead | Self::Masked | Self::Recovered | Self::Invalid)
    }

    /// Of a trial that took place, in which a fault has struck or not; and what is to be said of it.
    pub(super) fn of(tried: &Tried, has_struck: bool) -> (Self, String) {
        match &tried.end {
            TrialEnd::NotRun(reason) => (Self::Invalid, reason.clone()),
            TrialEnd::Hung(reason) => (Self::Hang, reason.clone()),
            TrialEnd::Faulted(reason) => (Self::Fault, reason.clone()),
            TrialEnd::Stopped => (Self::Detected, String::new()),
            TrialEnd::Done => match (&tried.difference, tried.prints_differ) {
                (Some(_), _) | (None, true) if tried.findings > 0 => (Self::Detected, String::new()),
                (Some((object, offset)), _) => (Self::Corruption, format!("{object}, offset {offset}")),
                (None, true) => (Self::Corruption, "what was printed".to_owned()),
                (None, false) if tried.findings > 0 => (Self::Recovered, String::new()),
                (None, false) if !has_struck => (Self::NeverRead, String::new()),
                (None, false) => (Self::Masked, String::new()),
            },
        }
    }
}
