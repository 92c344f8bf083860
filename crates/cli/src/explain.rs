//! `warpgrind explain`: what the code of a finding means.

use anyhow::Result;
use report::{Explanation, escaped};

use crate::{CommandStatus, output};

/// Arguments of `warpgrind explain`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The code, such as `memcheck::out-of-bounds` or `out-of-bounds`; without one, all are listed.
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// Prints the explanation.
pub(crate) fn run(args: &Args, all: &[Explanation]) -> Result<CommandStatus> {
    let list = |listed: &[&Explanation]| -> String {
        listed.iter().map(|known| format!("  {}: {}\n", known.name(), known.title)).collect()
    };
    let everything: Vec<&Explanation> = all.iter().collect();
    let Some(code) = &args.code else {
        output::print(&list(&everything))?;
        return Ok(CommandStatus::Success);
    };
    match report::explain(all, code) {
        Ok(found) => {
            for known in found {
                let text = known.text.trim();
                output::print(&format!("{}: {}\n\n{text}\n", known.name(), known.title))?;
            }
            Ok(CommandStatus::Success)
        }
        Err(near) => {
            let (words, listed) =
                if near.is_empty() { ("these are known", everything) } else { ("did you mean", near) };
            let listed = if listed.is_empty() { String::new() } else { format!("; {words}:\n{}", list(&listed)) };
            output::complain(&format!("no tool has a code `{}`", escaped(code)), listed.trim_end());
            Ok(CommandStatus::Failure)
        }
    }
}
