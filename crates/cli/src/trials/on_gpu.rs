//! Trials on a GPU, a process for each. After a fault the context of a process does nothing more, and a kernel that hangs is ended
//! only by the end of its process: so it is there for one fault, and ends with it if the GPU is lost.

use std::time::Duration;

use anyhow::Result;
use report::{Cell, Exit, Row};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::process::How;
use super::ran::Ran;
use super::{Faults, Strikes, TOOL, Trial, Which, flag};

/// Signals by which somebody ends all of it.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

impl Faults<'_> {
    /// Runs trials, each in a process. What they told is put together; how the program ended is as in the first of them.
    pub(super) fn run_each(&self, places: &str, which: Which, mut how: How<'_>) -> Result<Result<Ran, u8>> {
        let mut all: Option<Ran> = None;
        for number in which.first..which.first.saturating_add(which.count) {
            let only = Which { first: number, count: 1, follows: None, ..which };
            let mut ran = match self.run_one(places, only, how.limit)? {
                Ok(ran) => ran,
                Err(code) => return Ok(Err(code)),
            };
            let is_ended = matches!(ran.exit, Exit::Signal(signal) if ENDING.contains(&signal));
            if how.exit.is_some_and(|exit| exit != ran.exit)
                && how_left(&ran).is_none()
                && !is_ended
                && let Some(row) = trial_in(&mut ran.rows).filter(|row| row.text("outcome") != "invalid")
            {
                set(row, "outcome", "invalid");
                set(row, "note", "the program did not go on as it should after the trial");
            }
            if let (Some(progress), Some(row)) = (&mut how.observer, ran.rows("trials").next()) {
                progress.count(Trial::of(row).last_outcome());
                progress.tell();
            }
            match &mut all {
                None => all = Some(ran),
                Some(all) => all.add(ran),
            }
            if is_ended {
                break;
            }
        }
        if let Some(progress) = how.observer {
            crate::check::Observer::clear(progress);
        }
        let all = match all {
            Some(all) => all,
            // Nothing is asked for.
            None => return self.run_protected(self.flags_of(places, which), How::default()),
        };
        Ok(Ok(Ran { is_of_many: !which.stays, ..all }))
    }

    /// Runs a trial. If the GPU is lost with what the fault does to the kernel as it is, what it does to the protected one is found
    /// by another process.
    fn run_one(&self, places: &str, only: Which, limit: Option<Duration>) -> Result<Result<Ran, u8>> {
        let flags = self.flags_of(places, only);
        let mut ran = match self.run_protected(flags.clone(), How { limit, ..How::default() })? {
            Ok(ran) => ran,
            Err(code) => return Ok(Err(code)),
        };
        ran.is_late |= how_left(&ran) == Some("late");
        let is_tried_again = self.protection.is_some() && (only.stays || self.strikes == Strikes::All);
        let first = ran.rows("trials").next().cloned();
        let Some(first) = first.filter(|row| is_tried_again && is_left_out(row)) else { return Ok(Ok(ran)) };
        let flags = flags.into_iter().chain([flag("alone-known", toolkit::Flag::SET.to_owned())]).collect();
        let mut again = match self.run_protected(flags, How { limit, ..How::default() })? {
            Ok(ran) => ran,
            Err(code) => return Ok(Err(code)),
        };
        again.is_late |= how_left(&again) == Some("late");
        if let Some(row) = trial_in(&mut again.rows) {
            let told = std::mem::replace(row, first);
            set(row, "protected", told.text("protected"));
            set(row, "protected_note", told.text("protected_note"));
        }
        Ok(Ok(again))
    }
}

/// Whether a fault did not strike the protected kernel, because the GPU was lost before.
fn is_left_out(row: &Row) -> bool {
    row.text("protected").is_empty() && matches!(row.text("outcome"), "fault" | "hang")
}

/// How the process left the program before its end, if it did: the GPU was lost, or a kernel hung.
fn how_left(ran: &Ran) -> Option<&str> {
    ran.rows("ends").map(|row| row.text("how")).find(|how| ["left", "late"].contains(how))
}

/// What is told of the trial.
fn trial_in(rows: &mut [Row]) -> Option<&mut Row> {
    rows.iter_mut().find(|row| row.tool == TOOL && row.table == "trials")
}

/// Sets a text of a row.
fn set(row: &mut Row, column: &str, text: &str) {
    for (_, cell) in row.cells.iter_mut().filter(|(name, _)| name == column) {
        *cell = Cell::Text(text.to_owned());
    }
}

impl Ran {
    /// With what another process told.
    fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.has_findings |= other.has_findings;
        for gap in other.unchecked {
            if !self.unchecked.contains(&gap) {
                self.unchecked.push(gap);
            }
        }
    }
}
