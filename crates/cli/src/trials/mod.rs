//! Trials of faults in a program: the half outside of its process, which `inject` and `campaign` share.
//!
//! A program is run once to count the places at which a model can strike, and then for any run of trials, with that count: a
//! trial is a function of the program, the places, the model, the seed and its number.

mod followed;
mod launch_flags;
mod on_gpu;
mod places;
mod process;
mod progress;
mod protection;
mod ran;
mod trial;
mod verdict;

use std::time::Duration;

use anyhow::Result;
use settings::ToolFlag;

pub(crate) use self::followed::Followed;
pub(crate) use self::launch_flags::LaunchFlags;
pub(crate) use self::places::{Launch, launches, text_of};
pub(crate) use self::process::{How, Runner};
pub(crate) use self::progress::Progress;
pub(crate) use self::protection::Protection;
pub(crate) use self::ran::Ran;
pub(crate) use self::trial::Trial;
pub(crate) use self::verdict::{Expected, Verdict};

/// The tool in the program's process.
pub(crate) const TOOL: &str = "inject";

/// What is tried.
pub(crate) struct Faults<'a> {
    pub(crate) runner: Runner<'a>,
    pub(crate) model: &'a str,
    pub(crate) patience: u64,
    pub(crate) protection: Option<Protection>,
    /// Which faults strike the protected kernel, too.
    pub(crate) strikes: Strikes,
}

/// Which faults strike the protected kernel, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strikes {
    /// Those that corrupt something silently in the kernel as it is.
    Effective,
    /// All.
    All,
}

/// Which trials, and what becomes of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Which {
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// Whether the program goes on with what the fault left behind.
    pub(crate) stays: bool,
    /// How long the rest of the program may take with a fault, in a process that is forked for each that changes something.
    pub(crate) follows: Option<Duration>,
}

fn flag(name: &str, value: String) -> ToolFlag {
    ToolFlag { tool: TOOL.to_owned(), name: name.to_owned(), value }
}

impl Faults<'_> {
    fn flags(&self) -> Vec<ToolFlag> {
        vec![
            flag("model", self.model.to_owned()),
            flag("fault-seed", self.runner.seed().to_string()),
            flag("patience", self.patience.to_string()),
        ]
    }

    /// Runs the program without faults, and counts places. If it cannot be started, the user has been told, and this is the exit
    /// code.
    pub(crate) fn count_places(&self) -> Result<Result<Ran, u8>> {
        match tools::inject::needs_protection(self.model) {
            true => self.run_protected(self.flags(), How::default()),
            false => self.runner.run(&[TOOL], self.flags(), How::default()),
        }
    }

    /// Runs trials in a program whose launches have so many places: in one process, or on a GPU in a process each.
    pub(crate) fn run(&self, places: &str, which: Which, how: How<'_>) -> Result<Result<Ran, u8>> {
        match self.runner.is_on_gpu() {
            true => self.run_each(places, which, how),
            false => self.run_protected(self.flags_of(places, which), how),
        }
    }

    /// What the tool is told of trials.
    fn flags_of(&self, places: &str, which: Which) -> Vec<ToolFlag> {
        let mut flags = self.flags();
        flags.push(flag("places", places.to_owned()));
        flags.extend([flag("first", which.first.to_string()), flag("trials", which.count.to_string())]);
        flags.extend(which.stays.then(|| flag("stays", toolkit::Flag::SET.to_owned())));
        flags.extend(which.follows.map(|limit| flag("follows", limit.as_millis().to_string())));
        // What a program is told of a launch, and when, must not depend on how a fault is followed.
        let is_followed = which.stays || which.follows.is_some();
        flags.extend(is_followed.then(|| flag("on-caller", toolkit::Flag::SET.to_owned())));
        flags
    }

    /// Runs the program with what protects kernels, if anything does.
    fn run_protected(&self, mut flags: Vec<ToolFlag>, how: How<'_>) -> Result<Result<Ran, u8>> {
        let Some(protection) = &self.protection else { return self.runner.run(&[TOOL], flags, how) };
        flags.push(flag("protected", toolkit::Flag::SET.to_owned()));
        flags.extend((self.strikes == Strikes::All).then(|| flag("always", toolkit::Flag::SET.to_owned())));
        flags.extend(protection.flag());
        self.runner.run(&[protection.tool, TOOL], flags, how)
    }
}
