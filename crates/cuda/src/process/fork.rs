//! A copy of the process, in which the program goes on while the process itself waits.
//!
//! A child of `fork` has one thread, and shares open files and some memory with its parent. So the process is forked only by
//! the program's one thread, while it asks for a launch and all threads of ours sleep, and only if nothing is open that both
//! would change (`obstacle`).

use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use report::Exit;

use super::{life, obstacle};

/// What came of a fork.
#[derive(Debug)]
pub(crate) enum Fork {
    /// This is the child.
    Child(&'static Shared),
    /// This is the parent, and the child has ended.
    Parent(Ended),
}

/// How the child ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    /// Nothing if it took too long.
    pub(crate) exit: Option<Exit>,
    /// What it counted.
    pub(crate) findings: u64,
    /// Whether it came to be a process of its own.
    pub(crate) has_begun: bool,
    /// The sizes of standard output and standard error before.
    pub(crate) written: [u64; 2],
}

/// Memory that the child tells its parent something in.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    has_begun: AtomicU64,
    findings: AtomicU64,
}

impl Shared {
    /// The child is a process of its own.
    pub(crate) fn begin(&self) {
        self.has_begun.store(1, Ordering::Release);
    }

    /// A tool has found something.
    pub(crate) fn count_finding(&self) {
        self.findings.fetch_add(1, Ordering::AcqRel);
    }
}

/// The standard streams of a run whose output is kept, by their names in the session.
const STREAMS: [(RawFd, &str); 2] = [(1, "stdout"), (2, "stderr")];

/// Forks the process, whose output is kept in the session, and waits for the child's end or for some time. What the child prints
/// is in the session under a name. An error is a reason why that cannot be.
pub(crate) fn fork(session: &Path, name: &str, limit: Duration) -> Result<Fork, String> {
    let open = obstacle::look(session)?;
    let failed = |what: &str, error: io::Error| format!("{what} ({error})");
    let mut written = [0; 2];
    let mut files = [-1; 2];
    for (index, (_, stream)) in STREAMS.into_iter().enumerate() {
        let now = fs::metadata(session.join(stream)).map_err(|error| failed("its output is not there", error))?;
        written[index] = now.len();
        let file = fs::File::create_new(session.join(format!("{name}.{stream}")));
        let file = file.map_err(|error| failed("there is no room for its output", error))?;
        files[index] = std::os::fd::IntoRawFd::into_raw_fd(file);
    }
    let close = || {
        // SAFETY: files of ours, which nobody else has.
        files.iter().for_each(|&file| unsafe {
            libc::close(file);
        })
    };
    let shared = shared_page().map_err(|error| failed("there is no memory", error)).inspect_err(|_| close())?;
    // SAFETY: the only thread of the program forks here, and no thread of ours is in the middle of anything; what the child
    // lacks it is told by `life::take_over`.
    let child = unsafe { libc::fork() };
    match child {
        0 => {
            life::take_over();
            for ((stream, _), file) in STREAMS.into_iter().zip(files) {
                // SAFETY: both are descriptors of this process.
                unsafe { libc::dup2(file, stream) };
            }
            close();
            // SAFETY: it only asks the kernel to end the child with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            Ok(Fork::Child(shared))
        }
        child => {
            close();
            let exit = match child {
                -1 => Err(failed("it cannot be forked", io::Error::last_os_error())),
                child => wait(child, limit).map_err(|error| failed("its child was lost", error)),
            };
            open.restore();
            let [findings, has_begun] = [&shared.findings, &shared.has_begun].map(|word| word.load(Ordering::Acquire));
            // SAFETY: the page is ours, and nobody looks at it any more.
            unsafe { libc::munmap(std::ptr::from_ref(shared).cast_mut().cast(), size_of::<Shared>()) };
            Ok(Fork::Parent(Ended { exit: exit?, findings, has_begun: has_begun != 0, written }))
        }
    }
}

fn shared_page() -> io::Result<&'static Shared> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of zeros, at an address that the system chooses.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Shared>(), protection, flags, -1, 0) };
    match page {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        // SAFETY: it is aligned, there is room, and zeros are such a value. It stays until the parent takes it away.
        page => Ok(unsafe { &*page.cast::<Shared>() }),
    }
}

/// Waits for a child, or ends it after some time.
fn wait(child: libc::pid_t, limit: Duration) -> io::Result<Option<Exit>> {
    let deadline = Instant::now() + limit;
    // SAFETY: it only asks for a descriptor of the child, which nobody else waits for.
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) } as RawFd;
    let mut is_late = false;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() && !is_late {
            is_late = true;
            // SAFETY: the child has not been waited for, so the number is still its own.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        if handle >= 0 && !is_late {
            let mut ended = libc::pollfd { fd: handle, events: libc::POLLIN, revents: 0 };
            let time = left.as_millis().clamp(1, i32::MAX as u128) as i32;
            // SAFETY: one descriptor, which is there.
            unsafe { libc::poll(&raw mut ended, 1, time) };
        } else if !is_late {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut status = 0;
        // SAFETY: the status is there to be written.
        match unsafe { libc::waitpid(child, &raw mut status, if is_late { 0 } else { libc::WNOHANG }) } {
            0 => continue,
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => continue,
            ended => {
                let error = (ended == -1).then(io::Error::last_os_error);
                if handle >= 0 {
                    // SAFETY: a descriptor of ours.
                    unsafe { libc::close(handle) };
                }
                return match error {
                    Some(error) => Err(error),
                    None if is_late => Ok(None),
                    None if libc::WIFEXITED(status) => Ok(Some(Exit::Code(libc::WEXITSTATUS(status)))),
                    None => Ok(Some(Exit::Signal(libc::WTERMSIG(status)))),
                };
            }
        }
    }
}

/// Copies the files that the session has links to under `output-N`, as the child has left them, under a name.
pub(crate) fn keep_files(session: &Path, name: &str) -> io::Result<()> {
    for number in 0.. {
        let link = session.join(format!("output-{number}"));
        if fs::symlink_metadata(&link).is_err() {
            break;
        }
        match fs::metadata(&link) {
            Ok(file) if file.is_file() => drop(fs::copy(&link, session.join(format!("{name}.output-{number}")))?),
            _ => {}
        }
    }
    Ok(())
}
