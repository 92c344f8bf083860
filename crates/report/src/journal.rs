//! What a process that is checked writes down, line by line, so that the process that watches it can report it whatever
//! becomes of the first.
//!
//! Each process has a file of its own, and each line is one JSON object. A line that was not written to its end, or that
//! is too long, is not one: the reader skips it and says so. A process that forks starts a new file in the child.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use descriptor::Kept;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::finding::Finding;
use crate::regular_file::open_regular;
use crate::table::Row;
use crate::watch;

/// Longer lines are skipped by the reader.
pub(crate) const LONGEST_LINE: usize = 1 << 20;
/// In lines that would be longer, texts and lists are cut to the first of these lengths with which they are not. Three is
/// the length of a [`Dim`](crate::Dim).
const CUTS: [(usize, usize); 4] = [(4096, 100), (1024, 30), (256, 10), (64, 3)];

/// One line.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The process: its first line.
    Process(Process),
    /// Something was found for the first time; or again, at a thread that comes before the one of the first time, with
    /// the number of times since it was last said.
    Finding(Box<Finding>),
    /// Something that was found before was found again, so many more times since it was last said. The number is that
    /// of the line `Finding` in this file, from 0 on.
    Again(usize, u64),
    /// A row of a table.
    Row(Row),
    /// A kernel was launched for the first time, and some or all of it could not be checked.
    Unchecked {
        /// The kernel; empty if it is all of a module.
        kernel: String,
        /// Why, as a sentence.
        reason: String,
    },
    /// A kernel was launched for the first time that the user does not want to have checked. Unlike [`Line::Unchecked`],
    /// it does not change the verdict.
    Skipped {
        /// The kernel.
        kernel: String,
        /// Why, as a sentence.
        reason: String,
    },
    /// How much was checked so far. The last one counts.
    Coverage(Coverage),
    /// A signal is about to end the process.
    Signal(i32),
    /// The process ended in an orderly way; with what it meant to return, if that is known.
    End,
}

/// What a process has done, apart from its journal: where the file beside the journal begins that ends in `.records`, three
/// numbers of 64 bits. They are memory that the process shares, so they are right whatever ends it, and whatever becomes of
/// the journal.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Launches that have begun.
    pub begun: u64,
    /// Launches that have ended.
    pub ended: u64,
    /// Lines that were to be written to the journal.
    pub lines: u64,
}

impl Counts {
    /// Where the file beside a journal is.
    pub fn path(journal: &Path) -> PathBuf {
        journal.with_extension("records")
    }

    /// What is in the file beside a journal.
    pub(crate) fn read(journal: &Path) -> io::Result<Self> {
        let mut words = [0; 24];
        open_regular(&Self::path(journal))?.read_exact(&mut words)?;
        let [begun, ended, lines] =
            [0, 8, 16].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| words[at + byte])));
        Ok(Self { begun, ended, lines })
    }

    /// Whether some launches have not ended.
    pub(crate) fn is_in_a_kernel(self) -> bool {
        self.begun > self.ended
    }
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
    /// The flags of the command that repeat what kernels did, if they run in a fixed order.
    #[serde(default)]
    pub repeat: Option<String>,
}

/// How much was checked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Coverage {
    /// Kernels that were launched and checked.
    pub kernels: u64,
    /// Launches of them.
    pub launches: u64,
    /// Those of them that ran as they were, because it was proved before that nothing can be found.
    #[serde(default)]
    pub proved_launches: u64,
    /// Launches that were not checked, because nobody wanted it or because it could not be done.
    pub unchecked_launches: u64,
    /// Findings that there was no room for.
    pub lost: u64,
}

/// The file of a process, to be written to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<Kept>,
}

impl Journal {
    /// Starts a new file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create_new(true).append(true).open(path)?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(Kept::new(file)?) })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line, in one piece.
    pub fn write(&self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        if text.len() > LONGEST_LINE {
            let mut value = serde_json::to_value(line)?;
            for (longest_text, longest_list) in CUTS {
                cut(&mut value, longest_text, longest_list);
                text = serde_json::to_vec(&value)?;
                if text.len() <= LONGEST_LINE {
                    break;
                }
            }
        }
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.get().is_err() {
            file.replace(OpenOptions::new().append(true).custom_flags(libc::O_NOFOLLOW).open(&self.path)?)?;
        }
        file.write_all(&text)
    }
}

impl Journal {
    /// The process ends. If nobody is left who would read the file, it goes.
    pub fn leave(&self) {
        if let Some(session) = self.path.parent() {
            watch::clear_if_unwatched(session, &[self.path.clone(), Counts::path(&self.path)]);
        }
    }
}

/// Makes texts and lists shorter. Our lines are nested a few levels deep.
fn cut(value: &mut Value, longest_text: usize, longest_list: usize) {
    match value {
        Value::String(text) if text.len() > longest_text => {
            text.truncate(text.floor_char_boundary(longest_text));
            text.push('…');
        }
        Value::Array(list) => {
            list.truncate(longest_list);
            list.iter_mut().for_each(|value| cut(value, longest_text, longest_list));
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| cut(value, longest_text, longest_list)),
        _ => {}
    }
}
