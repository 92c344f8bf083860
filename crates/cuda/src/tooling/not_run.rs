//! What did not run, and so was not checked.

use report::{Counts, Journal, Line, Process};

use super::ToolHost;
use super::api_errors::note_finding;
use super::services::create_journal;

/// More are not named; one alone makes a run one that is not clean.
const MOST: usize = 1000;

impl ToolHost {
    /// Something that the program asked for was not run: a kernel, or all of a module if there is no name.
    pub(crate) fn could_not_run(&self, kernel: &str, reason: &str) {
        // The error that the call returns is no mistake of the program.
        note_finding();
        let mut state = self.services.state();
        let what = (kernel.to_owned(), reason.to_owned());
        if state.not_run.len() < MOST && state.not_run.insert(what) {
            self.services.write(&Line::Unchecked { kernel: kernel.to_owned(), reason: reason.to_owned() });
        }
    }
}

/// CUDA could not start in this process, so there is nobody else who could say that nothing was checked.
pub(crate) fn did_not_start(asked: &settings::Tools, reason: &str) {
    let journal = asked.session.as_deref().map(create_journal);
    let Some(Ok(journal)) = journal else { return };
    let process = Process {
        id: std::process::id(),
        program: std::env::current_exe().map_or_else(|_| String::new(), |path| path.display().to_string()),
        tools: asked.names.clone(),
        seed: None,
        repeat: None,
    };
    let unchecked = Line::Unchecked { kernel: String::new(), reason: reason.to_owned() };
    // What cannot be written makes the journal one that cannot be read, which is not clean either.
    let _ = write(&journal, &[Line::Process(process), unchecked, Line::End]);
}

fn write(journal: &Journal, lines: &[Line]) -> std::io::Result<()> {
    let counts = [0, 0, lines.len() as u64].map(u64::to_le_bytes).concat();
    std::fs::write(Counts::path(journal.path()), counts)?;
    lines.iter().try_for_each(|line| journal.write(line))
}
