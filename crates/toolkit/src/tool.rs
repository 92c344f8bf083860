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

/// A flag of a tool: `--NAME VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// What its value is, in the help: `N`.
    pub value: &'static str,
    /// What it does, in a sentence.
    pub help: &'static str,
    /// The value that it has if the user gives none.
    pub default: &'static str,
    /// Says what is wrong with a value, for the user.
    pub check: fn(&str) -> Result<(), String>,
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
}

impl Options {
    /// The value of a flag.
    pub fn get<'a>(&'a self, flag: &'a Flag) -> &'a str {
        self.flags.get(flag.name).map_or(flag.default, String::as_str)
    }
}
