//! Asks NVIDIA's assembler how many registers a kernel has, where it is installed.
//!
//! It runs as a process of its own that knows nothing of ours: without the libraries that are loaded before the program's, for a
//! bounded time. What it says is only looked at for one number.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// It is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(20);
/// More than this is not read of what it says.
const MOST_OUTPUT: u64 = 1 << 20;

/// The assembler on the `PATH`, or the one at a path.
fn find(asked: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = asked {
        return Some(path.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join("ptxas")).find(|path| path.is_file())
}

/// Registers of each thread of a kernel on an architecture; nothing if that cannot be asked.
pub(super) fn registers(asked: Option<&Path>, text: &str, kernel: &str, architecture: &str) -> Option<u32> {
    let ptxas = find(asked)?;
    let input = Input::new(text)?;
    let mut command = Command::new(ptxas);
    command.env_clear().arg("-v").args(["-arch", architecture, "-e", kernel, "-o", "/dev/null"]).arg(&input.path);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()?;
    registers_in(&said(child)?)
}

/// What it says, if it ends well and in time.
fn said(mut child: Child) -> Option<String> {
    let errors = child.stderr.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        errors.take(MOST_OUTPUT).read_to_end(&mut text).map(|_| text)
    });
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let text = reader.join().ok()?.ok()?;
    status.success().then(|| String::from_utf8_lossy(&text).into_owned())
}

/// The number in `Used 32 registers`.
fn registers_in(text: &str) -> Option<u32> {
    let (_, after) = text.split_once("Used ")?;
    let (number, _) = after.split_once(" registers")?;
    number.parse().ok().filter(|registers| (1..=255).contains(registers))
}

/// A file with the text, as long as it is needed.
struct Input {
    path: PathBuf,
}

impl Input {
    fn new(text: &str) -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("warpgrind-{}-{number}.ptx", std::process::id()));
        // Nobody else may have made it, and nobody else reads it.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        let input = Self { path };
        file.write_all(text.as_bytes()).ok()?;
        Some(input)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn one_number_is_looked_at() {
        let text = "ptxas info    : 0 bytes gmem\nptxas info    : Used 40 registers, used 1 barriers, 400 bytes smem\n";
        assert_eq!(registers_in(text), Some(40));
        for wrong in ["", "Used", "Used many registers", "Used 0 registers", "Used 999999999999 registers"] {
            assert_eq!(registers_in(wrong), None, "{wrong}");
        }
    }

    /// What comes of an assembler that is a script.
    fn asked(script: &str) -> Option<u32> {
        let directory = std::env::temp_dir().join(format!("warpgrind-test-ptxas-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("ptxas");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let registers = registers(Some(&path), ".version 8.0", "k", "sm_80");
        std::fs::remove_dir_all(&directory).unwrap();
        registers
    }

    #[test]
    fn it_runs_as_a_process_of_its_own() {
        assert_eq!(asked("echo Used 17 registers >&2"), Some(17));
        assert_eq!(
            asked("[ \"$3 $5\" = 'sm_80 k' ] && /bin/grep -q version \"$8\" && echo Used 18 registers >&2"),
            Some(18)
        );
        assert_eq!(asked("echo Used 17 registers >&2; exit 1"), None);
        assert_eq!(asked("[ -z \"$LD_PRELOAD$HOME\" ] && echo Used 19 registers >&2"), Some(19));
        assert_eq!(registers(Some(Path::new("/nowhere/ptxas")), "", "k", "sm_80"), None);
    }
}
