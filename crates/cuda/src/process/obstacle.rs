//! What stands in the way of a fork: what the program would share with its copy, or the copy would lack.

use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use super::mappings::Mapping;

/// How long threads of ours may take to go to sleep.
const PATIENCE: Duration = Duration::from_secs(1);
/// The names of threads of ours, as far as the system keeps them: of streams, of the compiler, for handlers of signals.
const OURS: [&str; 3] = ["warpgrind-strea", "warpgrind-compi", "warpgrind"];

/// Files that are open, with where they are read next: a child moves that for its parent, too.
#[derive(Debug, Default)]
pub(super) struct OpenFiles {
    offsets: Vec<(RawFd, i64)>,
}

impl OpenFiles {
    /// Files are read from where they were.
    pub(super) fn restore(&self) {
        for &(descriptor, offset) in &self.offsets {
            // SAFETY: it only changes where a file is read next.
            unsafe { libc::lseek(descriptor, offset, libc::SEEK_SET) };
        }
    }
}

/// Looks for obstacles. An error is the first one, as a sentence.
pub(super) fn look(session: &Path) -> Result<OpenFiles, String> {
    signals()?;
    threads()?;
    mappings(session)?;
    descriptors(session)
}

/// Signals and timers do not reach a child, and that of its end would reach the program.
fn signals() -> Result<(), String> {
    // SAFETY: all of them only ask, and write where there is room.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut action);
        if action.sa_sigaction != libc::SIG_DFL || action.sa_flags & libc::SA_NOCLDWAIT != 0 {
            return Err("the program handles SIGCHLD".to_owned());
        }
        let mut child: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        if libc::waitid(libc::P_ALL, 0, &raw mut child, options) == 0 {
            return Err("the program has child processes".to_owned());
        }
        for timer in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
            let mut value: libc::itimerval = std::mem::zeroed();
            libc::getitimer(timer, &raw mut value);
            if value.it_value.tv_sec != 0 || value.it_value.tv_usec != 0 {
                return Err("the program has set a timer".to_owned());
            }
        }
    }
    match fs::read("/proc/self/timers") {
        Ok(timers) if !timers.is_empty() => Err("the program has set a timer".to_owned()),
        _ => Ok(()),
    }
}

/// A child has the thread that forks, and no other. Those of ours it does not miss, if they are in the middle of nothing.
fn threads() -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    let failed = |error: io::Error| format!("the threads of the program cannot be told ({error})");
    // SAFETY: it only asks.
    let own = unsafe { libc::gettid() }.to_string();
    'again: loop {
        for entry in fs::read_dir("/proc/self/task").map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.file_name().is_some_and(|name| name == own.as_str()) {
                continue;
            }
            // One that has ended meanwhile is none.
            let Ok(stat) = fs::read_to_string(path.join("stat")) else { continue };
            let Some((name, state)) = name_and_state(&stat) else { continue };
            let is_ours = OURS.contains(&name);
            match (is_ours, state) {
                (_, 'X' | 'Z') | (true, 'S') => {}
                (true, _) if Instant::now() > deadline => return Err("a thread of Warpgrind's is at work".to_owned()),
                (false, _) if Instant::now() > deadline => return Err("the program has several threads".to_owned()),
                // It goes to sleep, or gets its name: one that has just begun has that of the program.
                _ => {
                    std::thread::sleep(Duration::from_micros(200));
                    continue 'again;
                }
            }
        }
        return Ok(());
    }
}

/// The name and the state of a thread.
fn name_and_state(stat: &str) -> Option<(&str, char)> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    Some((name, rest.trim_start().chars().next()?))
}

/// Memory that both processes would write to. What is ours of it, the child gives up.
fn mappings(session: &Path) -> Result<(), String> {
    let maps = fs::read_to_string("/proc/self/maps")
        .map_err(|error| format!("the memory of the program cannot be told ({error})"))?;
    let session = session.to_string_lossy();
    let is_shared = |mapping: &Mapping<'_>| mapping.is_writable() && mapping.is_shared();
    let is_ours =
        |mapping: Mapping<'_>| mapping.name.contains(&*session) || mapping.name.contains("/memfd:warpgrind-start");
    match Mapping::all(&maps).filter(is_shared).any(|mapping| !is_ours(mapping)) {
        true => Err("the program has memory that processes share".to_owned()),
        false => Ok(()),
    }
}

/// Open files have one place at which they are read or written next, for both processes.
fn descriptors(session: &Path) -> Result<OpenFiles, String> {
    /// The number of devices such as `/dev/null`.
    const MEMORY_DEVICES: u32 = 1;
    let failed = |error: io::Error| format!("the open files of the program cannot be told ({error})");
    let mut open = OpenFiles::default();
    for entry in fs::read_dir("/proc/self/fd").map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(number) = path.file_name().and_then(|name| name.to_str()?.parse::<RawFd>().ok()) else { continue };
        // That of the directory itself is closed by now.
        let (Ok(target), Ok(status)) = (fs::read_link(&path), fs::metadata(&path)) else { continue };
        let stream = match number {
            1 => Some("stdout"),
            2 => Some("stderr"),
            _ => None,
        };
        if let Some(stream) = stream {
            match is_file(&status, &session.join(stream)) {
                true => continue,
                false => return Err(format!("the program has redirected its {stream}")),
            }
        }
        // SAFETY: it only asks.
        let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
        let is_read = flags & libc::O_ACCMODE == libc::O_RDONLY;
        let file = status.file_type();
        match () {
            () if file.is_dir() || (file.is_file() && is_read) => {
                // SAFETY: it only asks.
                open.offsets.push((number, unsafe { libc::lseek(number, 0, libc::SEEK_CUR) }));
            }
            () if file.is_char_device() && libc::major(status.rdev()) == MEMORY_DEVICES => {}
            // Journals, which the child does not write to.
            () if file.is_file() && target.starts_with(session) => match target.file_name() {
                Some(name) if name != "stdout" && name != "stderr" => {}
                _ => return Err(format!("the program has its output open twice, as descriptor {number}")),
            },
            // Memory that nothing is written to by its descriptor; where it is mapped is looked at apart.
            () if target.as_os_str().as_encoded_bytes().starts_with(b"/memfd:warpgrind") => {}
            () => return Err(format!("descriptor {number} of the program is {}", kind(&status))),
        }
    }
    Ok(open)
}

/// Whether a descriptor is of a file.
fn is_file(descriptor: &fs::Metadata, file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|file| (file.dev(), file.ino()) == (descriptor.dev(), descriptor.ino()))
}

/// What a descriptor is, in words.
fn kind(descriptor: &fs::Metadata) -> &'static str {
    let kind = descriptor.file_type();
    match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () if kind.is_file() => "a file that is written to",
        () => "something that both processes would share",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_threads_may_have_brackets() {
        assert_eq!(name_and_state("12 (a) b (c)) S 1 2"), Some(("a) b (c)", 'S')));
        assert_eq!(name_and_state("12 (warpgrind-stream) R 1"), Some(("warpgrind-stream", 'R')));
        assert_eq!(name_and_state("12"), None);
    }

    #[test]
    fn a_process_with_other_threads_is_not_forked() {
        let (end, is_over) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || is_over.recv());
        assert_eq!(threads(), Err("the program has several threads".to_owned()));
        drop(end);
        let _ended = other.join();
    }

    #[test]
    fn files_are_read_from_where_they_were() {
        use std::io::{Read, Seek};
        let mut file = fs::File::open("/proc/self/exe").expect("it is there");
        let mut bytes = [0; 10];
        file.read_exact(&mut bytes).expect("it has more");
        let open = OpenFiles { offsets: vec![(std::os::fd::AsRawFd::as_raw_fd(&file), 10)] };
        file.read_exact(&mut bytes).expect("it has more");
        open.restore();
        assert_eq!(file.stream_position().expect("it is a file"), 10);
    }
}
