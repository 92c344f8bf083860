//! The flags that only one tool has: declared by the tool, and handed to its instance.

use clap::{Arg, ArgAction, ArgMatches, Command};
use settings::ToolFlag;
use toolkit::{Flag, FlagValue, Tool};

/// Adds the flags of a tool to its command.
pub(crate) fn add_flags_of_tool(command: Command, tool: &dyn Tool) -> Command {
    tool.flags().iter().fold(command, |command, flag| command.arg(arg(flag)))
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.name).long(flag.name).help(flag.help).help_heading("The tool");
    match flag.value {
        None => arg.action(ArgAction::SetTrue),
        Some(FlagValue { name, default, check }) => arg
            .value_name(name)
            .default_value(default)
            .value_parser(move |text: &str| check(text).map(|()| text.to_owned())),
    }
}

/// What the user gave for them.
pub(crate) fn flags_of_tool(tool: &dyn Tool, matches: &ArgMatches) -> Vec<ToolFlag> {
    let value = |flag: &Flag| match flag.value {
        None => matches.get_flag(flag.name).then(|| Flag::SET.to_owned()),
        Some(_) => matches.get_one::<String>(flag.name).cloned(),
    };
    let flag =
        |flag: &Flag| Some(ToolFlag { tool: tool.name().to_owned(), name: flag.name.to_owned(), value: value(flag)? });
    tool.flags().iter().filter_map(flag).collect()
}
