//! `warpgrind.toml`: defaults for flags, found in the working directory or above it.
//!
//! Keys are names of flags, and what they say becomes arguments in front of the user's, so that a value is read, checked and
//! explained in one place only: by the flag. What the command line says counts.
//!
//! Whoever can write to a directory above ours could leave a file there that has us overwrite what is ours. So a file counts
//! only if it belongs to us, to root, or to the owner of the directory that we were started in.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use ptx::diagnostic::printable;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::check::FilePattern;

/// The name of the file.
const NAME: &str = "warpgrind.toml";
/// Larger files are no settings.
const LARGEST: u64 = 1 << 20;
/// The flag with which no file is read. Commands that have it have their settings from files.
const NO_CONFIG: &str = "no_config";

/// The file that counts here.
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    text: String,
}

impl SettingsFile {
    /// The one in the working directory, or the nearest above it.
    pub(crate) fn find() -> Result<Option<Self>> {
        let Ok(here) = std::env::current_dir() else { return Ok(None) };
        here.ancestors().find_map(|directory| Self::read(directory.join(NAME), &here).transpose()).transpose()
    }

    fn read(path: PathBuf, here: &Path) -> Result<Option<Self>> {
        let shown = printable(&path.display().to_string()).to_string();
        let status = match std::fs::metadata(&path) {
            Ok(status) => status,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("reading {shown}")),
        };
        let owners = [rustix::process::geteuid().as_raw(), 0, std::fs::metadata(here)?.uid()];
        if !owners.contains(&status.uid()) {
            bail!("{shown} belongs to another user, so it is not read: remove it, or start with --no-config");
        }
        if !status.is_file() {
            bail!("{shown} is not a file: rename it, or start with --no-config");
        }
        let mut text = String::new();
        let file = File::open(&path).with_context(|| format!("reading {shown}"))?;
        file.take(LARGEST + 1).read_to_string(&mut text).with_context(|| format!("reading {shown}"))?;
        if text.len() as u64 > LARGEST {
            bail!("{shown} has more than {} MiB and is no file of settings", LARGEST >> 20);
        }
        Ok(Some(Self { path, text }))
    }

    /// The arguments that it stands for, of a command that was given these.
    pub(crate) fn arguments(&self, all: &Command, name: &str, given: &ArgMatches) -> Result<Vec<OsString>> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, error.message())
        })?;
        let commands: Vec<&Command> = all.get_subcommands().filter(|command| has_settings(command)).collect();
        let chosen = commands.iter().find(|command| command.get_name() == name);
        let mut settings: Vec<(&Arg, &Spanned<DeValue<'_>>)> = Vec::new();
        let mut of_table: Vec<(&Arg, &Spanned<DeValue<'_>>)> = Vec::new();
        for (key, value) in table.get_ref() {
            let at = key.span().start;
            let key = key.get_ref().as_ref();
            if let DeValue::Table(inner) = value.get_ref() {
                let Some(command) = commands.iter().find(|command| command.get_name() == key) else {
                    let names =
                        commands.iter().filter(|command| !command.is_hide_set()).map(|command| command.get_name());
                    bail!(self.unknown(at, key, "command", names.collect()));
                };
                for (key, value) in inner {
                    let arg = self.flag(&[command], key)?;
                    if command.get_name() == name {
                        of_table.push((arg, value));
                    }
                }
                continue;
            }
            self.flag(&commands, table.get_ref().get_key_value(key).expect("it was just seen").0)?;
            // Other commands may have flags that this one has not.
            settings.extend(chosen.and_then(|command| flag_of(command, key)).map(|arg| (arg, value)));
        }
        settings.retain(|(arg, _)| of_table.iter().all(|(other, _)| other.get_id() != arg.get_id()));
        settings.extend(of_table);
        let is_given = |arg: &Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let mut arguments = Vec::new();
        for (arg, value) in settings {
            let is_against = |given: &Arg| chosen.is_some_and(|command| do_conflict(command, arg, given));
            let arguments_of_flag = self.argument(arg, value)?;
            let mut others = chosen.iter().flat_map(|command| command.get_arguments()).filter(|other| is_given(other));
            if !is_given(arg) && !others.any(is_against) {
                arguments.extend(arguments_of_flag);
            }
        }
        Ok(arguments)
    }

    /// The flag of the first of these commands that has it.
    fn flag<'a>(&self, commands: &[&'a Command], key: &Spanned<toml::de::DeString<'_>>) -> Result<&'a Arg> {
        let name = key.get_ref().as_ref();
        if let Some(arg) = commands.iter().find_map(|command| flag_of(command, name)) {
            return Ok(arg);
        }
        let names = commands.iter().flat_map(|command| command.get_arguments()).filter_map(Arg::get_long);
        bail!(self.unknown(key.span().start, name, "flag", names.collect()))
    }

    /// A setting as arguments.
    fn argument(&self, arg: &Arg, value: &Spanned<DeValue<'_>>) -> Result<Vec<OsString>> {
        let name = arg.get_long().unwrap_or_default();
        let at = value.span().start;
        let is_list = matches!(arg.get_action(), ArgAction::Append);
        match (arg.get_action(), value.get_ref()) {
            (ArgAction::SetTrue, DeValue::Boolean(true)) => Ok(vec![format!("--{name}").into()]),
            (ArgAction::SetTrue, DeValue::Boolean(false)) => Ok(Vec::new()),
            (ArgAction::SetTrue, _) => bail!(self.error(at, &format!("`{name}` is true or false"))),
            (_, DeValue::Array(values)) if is_list => {
                values.iter().map(|value| self.word(arg, value)).collect::<Result<_>>()
            }
            (_, DeValue::Array(_)) => bail!(self.error(at, &format!("`{name}` has one value, and not a list"))),
            _ => Ok(vec![self.word(arg, value)?]),
        }
    }

    /// `--name=value`.
    fn word(&self, arg: &Arg, value: &Spanned<DeValue<'_>>) -> Result<OsString> {
        let name = arg.get_long().unwrap_or_default();
        let text = match value.get_ref() {
            DeValue::String(text) => text.as_ref().to_owned(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Boolean(answer) if arg.get_possible_values().iter().any(|value| value.get_name() == "yes") => {
                if *answer { "yes" } else { "no" }.to_owned()
            }
            _ => bail!(
                self.error(value.span().start, &format!("`{name}` is a string or a number, as on the command line"))
            ),
        };
        let mut word = OsString::from(format!("--{name}="));
        if matches!(arg.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath) && !text.is_empty() {
            let directory = self.path.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
            // In these names, `%` means something.
            let is_pattern = arg.get_value_parser().type_id() == std::any::TypeId::of::<FilePattern>();
            let directory = if is_pattern { directory.replace('%', "%%") } else { directory };
            word.push(Path::new(&directory).join(text));
        } else {
            word.push(text);
        }
        Ok(word)
    }

    fn unknown(&self, at: usize, name: &str, what: &str, names: Vec<&str>) -> anyhow::Error {
        let near = names.iter().map(|known| (report::distance(name, known), known)).min();
        let near = near.filter(|(distance, known)| distance * 3 <= known.len());
        let near = near.map_or_else(String::new, |(_, known)| format!("; did you mean `{known}`?"));
        let list =
            if what == "flag" { "`warpgrind COMMAND --help` lists them" } else { "`warpgrind --help` lists them" };
        let kind = if what == "flag" { "no flag" } else { "no command that runs programs" };
        self.error(at, &format!("there is {kind} `{}`{near} ({list})", report::escaped(name)))
    }

    /// What is wrong, with the line.
    fn error(&self, at: usize, message: &str) -> anyhow::Error {
        let line = 1 + self.text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count();
        anyhow::anyhow!("{}:{line}: {message}", self.path.display())
    }
}

/// Whether a command has its settings from files.
pub(crate) fn has_settings(command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.get_id() == NO_CONFIG)
}

/// Whether the user wants no file to be read.
pub(crate) fn is_switched_off(given: &ArgMatches) -> bool {
    given.get_flag(NO_CONFIG)
}

/// Whether two flags exclude each other. Only one of them says so.
fn do_conflict(command: &Command, one: &Arg, other: &Arg) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|excluded| excluded.get_id() == other.get_id())
    };
    excludes(one, other) || excludes(other, one)
}

fn flag_of<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let is_setting = |arg: &&Arg| {
        arg.get_id() != NO_CONFIG
            && !matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpLong | ArgAction::Version)
    };
    command.get_arguments().filter(is_setting).find(|arg| arg.get_long() == Some(name))
}
