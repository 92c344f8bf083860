//! What a process that is checked writes down, line by line, so that the process that watches it can report it whatever
//! becomes of the first.
//!
//! Each process has a file of its own, and each line is one JSON object. A line that was not written to its end, or that
//! is too long, is not one: the reader skips it and says so.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

/// One line.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The process: its first line.
    Process(Process),
    /// Something was found for the first time.
    Finding(Box<Finding>),
    /// Something that was found before was found again, so many more times since it was last said. The number is that
    /// of the line `Finding` in this file, from 0 on.
    Again(usize, u64),
    /// A kernel was launched for the first time, and some or all of it was not checked.
    Unchecked {
        /// The kernel.
        kernel: String,
        /// Why, as a sentence.
        reason: String,
    },
    /// How much was checked so far. The last one counts.
    Coverage(Coverage),
    /// The process ended in an orderly way; with what it meant to return, if that is known.
    End,
}

/// A process that is checked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// The program.
    pub program: String,
    /// The tools that are on.
    pub tools: Vec<String>,
    /// The seed of the schedule, if kernels run in a fixed order.
    pub seed: Option<u64>,
}

/// How much was checked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Coverage {
    /// Kernels that were launched and checked.
    pub kernels: u64,
    /// Launches of them.
    pub launches: u64,
    /// Launches that were not checked, because nobody wanted it or because it could not be done.
    pub unchecked_launches: u64,
    /// Findings that there was no room for.
    pub lost: u64,
}

/// The file of a process, to be written to.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<File>,
}

impl Journal {
    /// Starts a new file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create_new(true).append(true).open(path)?;
        Ok(Self { file: Mutex::new(file) })
    }

    /// Writes a line, in one piece.
    pub fn write(&self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&text)
    }
}
