//! `warpgrind cache`: compiled kernels that are kept on disk.

use std::time::SystemTime;

use anyhow::Result;
use cache::Usage;
use report::escaped;
use serde::Serialize;

use crate::{CommandStatus, output};

/// Arguments of `warpgrind cache`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
    /// Write one line of JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand, Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    /// Says where compiled kernels are kept, and how many there are.
    ///
    /// Exits with 1 if none can be kept there.
    Info,
    /// Removes all compiled kernels, and the key that authenticates them.
    Clear,
}

#[derive(Serialize)]
struct Answer {
    directory: String,
    entries: u64,
    bytes: u64,
    /// Seconds since the entry was used that was not used for the longest time.
    oldest_use_seconds: Option<u64>,
    cleared: bool,
}

/// Looks at the cache of the user, or clears it. One that cannot be used is an error that says why.
pub(crate) fn run(args: &Args) -> Result<CommandStatus> {
    let answer = cache::directory_of_user().and_then(|path| {
        let Usage { entries, bytes, oldest_use } = match args.action {
            Action::Info => cache::usage(&path)?,
            Action::Clear => cache::clear(&path)?,
        };
        let age = |time: SystemTime| time.elapsed().map_or(0, |age| age.as_secs());
        Ok(Answer {
            directory: path.display().to_string(),
            entries,
            bytes,
            oldest_use_seconds: oldest_use.map(age),
            cleared: args.action == Action::Clear,
        })
    });
    let answer = match answer {
        Ok(answer) => answer,
        Err(refusal) => {
            output::complain(&format!("compiled kernels are not kept on disk: {refusal}"), "");
            return Ok(CommandStatus::Failure);
        }
    };
    if args.json {
        output::print_json(&answer)?;
    } else {
        output::print(&answer.text())?;
    }
    Ok(CommandStatus::Success)
}

impl Answer {
    fn text(&self) -> String {
        let kernels = if self.entries == 1 { "kernel" } else { "kernels" };
        let held = format!("{} compiled {kernels}, {}", self.entries, size(self.bytes));
        if self.cleared {
            return format!("removed {held}\n");
        }
        let oldest = match self.oldest_use_seconds {
            Some(seconds) => format!("; the least recently used one {}", ago(seconds)),
            None => String::new(),
        };
        format!("{}\n{held}{oldest}\n", escaped(&self.directory))
    }
}

/// `12.3 MiB`
fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4);
    match unit {
        0 => format!("{bytes} bytes"),
        unit => format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * unit)) as f64, units[unit as usize]),
    }
}

/// `3 hours ago`
fn ago(seconds: u64) -> String {
    let (number, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86400 => (seconds / 3600, "hour"),
        _ => (seconds / 86400, "day"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1 << 20), "1.0 MiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
        assert_eq!(ago(1), "1 second ago");
        assert_eq!(ago(7300), "2 hours ago");
    }
}
