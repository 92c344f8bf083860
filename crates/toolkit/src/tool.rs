//! A tool, as the command and the libraries know it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use report::Explanation;
use rewrite::Instrumentation;
use settings::ApiErrors;

use crate::host::Host;
use crate::instance::Instance;

/// A tool.
pub trait Tool: Debug + Send + Sync {
    /// What it inserts into kernels.
    fn instrumentation(&self) -> &'static dyn Instrumentation;

    /// Its name, which is its command, too.
    fn name(&self) -> &'static str {
        self.instrumentation().name()
    }

    /// What it does, in one sentence: the help of its command.
    fn about(&self) -> &'static str;

    /// Whether it is for tests and measurements, so that users are not told of it.
    fn is_hidden(&self) -> bool {
        false
    }

    /// What it needs that only the CPU device has, if it is asked for this; nothing if it runs on a GPU, too.
    fn needs_cpu(&self, _options: &Options) -> Option<&'static str> {
        None
    }

    /// Whether the command of its name is not the one that all tools have, but made for it.
    fn has_own_command(&self) -> bool {
        false
    }

    /// The flags that its command has besides those of all tools.
    fn flags(&self) -> &'static [Flag] {
        &[]
    }

    /// What its findings mean.
    fn explanations(&self) -> &'static [Explanation] {
        &[]
    }

    /// Begins its work in a process. If it cannot, it says why in a sentence, and nothing is checked.
    fn start(&self, options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String>;
}

/// A flag of a tool: `--NAME`, or `--NAME VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub help: &'static str,
    /// What values it has; nothing if it is there or not.
    pub value: Option<FlagValue>,
}

/// The value of a flag.
#[derive(Clone, Copy, Debug)]
pub struct FlagValue {
    /// What it is, in the help: `N`.
    pub name: &'static str,
    /// The value that it has if the user gives none.
    pub default: &'static str,
    /// Says what is wrong with a value, for the user.
    pub check: fn(&str) -> Result<(), String>,
}

impl FlagValue {
    /// Whether a value is one of some names; else what to say of it.
    pub fn one_of(value: &str, names: &[&str]) -> Result<(), String> {
        if names.contains(&value) { Ok(()) } else { Err(format!("it is one of {}", names.join(", "))) }
    }
}

impl Flag {
    /// Checkers leave out what a proof says before a launch, unless the user wants to see what they find by themselves.
    pub const NO_PROVE: Self = Self {
        name: "no-prove",
        help: "Check launches also where it is proved that nothing can be found",
        value: None,
    };

    /// What a flag without a value has for one if it is there.
    pub const SET: &'static str = "yes";
}

/// What the user asks of a tool.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Values of its own flags; those that are not here have their default.
    pub flags: BTreeMap<String, String>,
    /// Whether memory is reported that was never freed.
    pub leak_check: bool,
    /// Which calls that return an error are reported.
    pub api_errors: ApiErrors,
    /// Whether a launch with findings ends with an error, as it would on a GPU; else the program goes on.
    pub stop_on_error: bool,
}

impl Options {
    /// The value of a flag.
    pub fn get<'a>(&'a self, flag: &'a Flag) -> &'a str {
        let default = flag.value.map_or("", |value| value.default);
        self.flags.get(flag.name).map_or(default, String::as_str)
    }

    /// Whether a flag without a value is there.
    pub fn has(&self, flag: &Flag) -> bool {
        self.get(flag) == Flag::SET
    }
}
