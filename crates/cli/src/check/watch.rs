//! Running the program and waiting for its end, and that of the processes that it has left behind.
//!
//! The program is in the group of this process and has the terminal: what the terminal sends, both receive, and only the
//! program acts on it. What somebody sends to this process alone is handed on.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use report::{Exit, Session};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use settings::Settings;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::progress::Observer;

/// What would end this process, and is the program's to decide.
const SIGNALS: [c_int; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
/// How long processes that have not used CUDA are waited for: they may be about to.
const GRACE: Duration = Duration::from_secs(1);
/// How often processes that were left behind are looked at.
const INTERVAL: Duration = Duration::from_millis(20);

enum Event {
    /// The program has ended, and is still to be asked how.
    Ended,
    Signal(Origin),
}

/// How the program ended.
pub(crate) struct Watched {
    pub(crate) exit: Exit,
    /// Processes of the program that still run.
    pub(crate) running: BTreeSet<u32>,
}

/// Catches signals from now on, so that a report is made whatever happens.
pub(crate) struct Watcher {
    sender: Sender<Event>,
    events: Receiver<Event>,
}

impl Watcher {
    pub(crate) fn new() -> io::Result<Self> {
        let (sender, events) = mpsc::channel();
        // What was ignored when we were started, as under nohup, the program is to ignore, too; and it would not, if we
        // had a handler when it starts.
        let ignored = ignored_signals();
        let mut signals = SignalsInfo::<WithOrigin>::new(SIGNALS.into_iter().filter(|signal| !ignored(*signal)))?;
        let to = sender.clone();
        std::thread::spawn(move || {
            for origin in &mut signals {
                if to.send(Event::Signal(origin)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { sender, events })
    }

    /// Starts the program.
    pub(crate) fn start(self, command: &mut Command) -> io::Result<Watching> {
        let child = command.spawn()?;
        let id = Pid::from_child(&child);
        let to = self.sender.clone();
        std::thread::spawn(move || {
            // It stays a zombie until we have asked how it ended, so that its number is not given to another one.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(id), options) {}
            // Nobody listens when we are about to end.
            let _ = to.send(Event::Ended);
        });
        Ok(Watching { child, events: self.events })
    }
}

/// A program that runs.
pub(crate) struct Watching {
    child: Child,
    events: Receiver<Event>,
}

impl Watching {
    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for it, and then for `patience` for processes of it that use CUDA.
    pub(crate) fn wait(
        mut self,
        directory: &Path,
        session: &mut Session,
        patience: Duration,
        progress: &mut dyn Observer,
    ) -> io::Result<Watched> {
        let status = self.wait_for_program(session, progress)?;
        let exit = match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        };
        let running = self.wait_for_others(directory, session, patience, progress);
        progress.clear();
        Ok(Watched { exit, running })
    }

    fn wait_for_program(&mut self, session: &mut Session, progress: &mut dyn Observer) -> io::Result<ExitStatus> {
        loop {
            let event = match progress.interval() {
                Some(interval) => self.events.recv_timeout(interval),
                None => self.events.recv().map_err(RecvTimeoutError::from),
            };
            match event {
                Ok(Event::Ended) => return self.child.wait(),
                Ok(Event::Signal(origin)) => self.hand_on(&origin),
                Err(RecvTimeoutError::Timeout) => {
                    // What cannot be read now is an error in the end.
                    let _ = session.poll();
                    progress.show(session, None);
                }
                // The threads only end when we do.
                Err(RecvTimeoutError::Disconnected) => return self.child.wait(),
            }
        }
    }

    fn hand_on(&self, origin: &Origin) {
        // The terminal has sent it to the program as well; and what the program sends to its own group, it has.
        let from_terminal = origin.cause == Cause::Kernel;
        let from_program = origin.process.is_some_and(|process| u32::try_from(process.pid) == Ok(self.child.id()));
        if !from_terminal
            && !from_program
            && let Some(signal) = Signal::from_named_raw(origin.signal)
        {
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(Pid::from_child(&self.child), signal);
        }
    }

    fn wait_for_others(
        &self,
        directory: &Path,
        session: &mut Session,
        patience: Duration,
        progress: &mut dyn Observer,
    ) -> BTreeSet<u32> {
        let since = Instant::now();
        loop {
            let _ = session.poll();
            let running = processes_of(directory);
            let writing = session.unfinished().filter(|id| running.contains(id)).count();
            let limit = if writing > 0 { patience } else { GRACE.min(patience) };
            if running.is_empty() || since.elapsed() >= limit {
                return running;
            }
            if since.elapsed() >= GRACE {
                progress.show(session, Some(writing));
            }
            match self.events.recv_timeout(INTERVAL) {
                // Whoever is tired of waiting gets the report now.
                Ok(Event::Signal(_)) => return running,
                Ok(Event::Ended) | Err(_) => {}
            }
        }
    }
}

/// The processes that write to our directory, or would if they used CUDA: those whose settings name it.
fn processes_of(directory: &Path) -> BTreeSet<u32> {
    const LARGEST_ENVIRONMENT: u64 = 8 << 20;
    let is_in_session = |variable: &[u8]| {
        let value = variable.strip_prefix(settings::VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        let settings = value.and_then(|value| Settings::decode(value).ok());
        settings.is_some_and(|settings| settings.tools.session.as_deref() == Some(directory))
    };
    let has_it = |id: &u32| {
        let mut environment = Vec::new();
        let file = File::open(format!("/proc/{id}/environ"));
        let read = file.and_then(|file| file.take(LARGEST_ENVIRONMENT).read_to_end(&mut environment));
        read.is_ok() && environment.split(|&byte| byte == 0).any(is_in_session)
    };
    let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeSet::new() };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(has_it).collect()
}

/// A process that may yet use CUDA, with its program: it has loaded our library, or carries a runtime or kernels in itself.
/// What else a program leaves behind, such as a daemon, is no concern of the report.
pub(super) fn user_of_cuda(id: u32) -> Option<(u32, String)> {
    let program = std::fs::read_link(format!("/proc/{id}/exe")).ok()?;
    let has_library = || {
        let maps = std::fs::read(format!("/proc/{id}/maps")).unwrap_or_default();
        maps.split(|&byte| byte == b'\n').any(|line| line.ends_with(b"libwarpgrind_cuda.so"))
    };
    let has_kernels = || {
        let file = File::open(format!("/proc/{id}/exe")).ok()?;
        Some(program::runtime::has_kernels(&program::Elf::read(&file).ok()?))
    };
    (has_library() || has_kernels() == Some(true)).then(|| (id, program.display().to_string()))
}

/// Which signals this process ignores.
fn ignored_signals() -> impl Fn(c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    move |signal| mask >> (signal - 1) & 1 == 1
}
