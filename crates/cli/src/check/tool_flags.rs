//! The flags that only one tool has: declared by the tool, and handed to its instance.

use clap::{Arg, ArgMatches, Command};
use settings::ToolFlag;
use toolkit::{Flag, Tool};

/// Adds the flags of a tool to its command.
pub(crate) fn add_flags_of_tool(command: Command, tool: &dyn Tool) -> Command {
    tool.flags().iter().fold(command, |command, flag| command.arg(arg(flag)))
}

fn arg(flag: &'static Flag) -> Arg {
    let check = |text: &str| (flag.check)(text).map(|()| text.to_owned());
    Arg::new(flag.name)
        .long(flag.name)
        .value_name(flag.value)
        .help(flag.help)
        .default_value(flag.default)
        .value_parser(check)
        .help_heading("The tool")
}

/// What the user gave for them.
pub(crate) fn flags_of_tool(tool: &dyn Tool, matches: &ArgMatches) -> Vec<ToolFlag> {
    let value = |flag: &Flag| matches.get_one::<String>(flag.name).cloned();
    let flag =
        |flag: &Flag| Some(ToolFlag { tool: tool.name().to_owned(), name: flag.name.to_owned(), value: value(flag)? });
    tool.flags().iter().filter_map(flag).collect()
}
