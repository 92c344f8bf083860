//! The way to the GPU: a connection for each stream, and one for everything else.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::wire::{Ask, Message};
use crate::{INVALID_HANDLE, NOT_READY, OUT_OF_MEMORY, STICKY, UNKNOWN, answer};

thread_local! {
    /// Whether this thread has the context.
    pub(crate) static IS_CURRENT: Cell<bool> = const { Cell::new(false) };
}

/// Calls need a context.
pub(crate) fn check_current() -> Result<(), i32> {
    const INVALID_CONTEXT: i32 = 201;
    if IS_CURRENT.get() { Ok(()) } else { Err(INVALID_CONTEXT) }
}

/// A connection.
pub(crate) struct Connection {
    channel: Mutex<Channel>,
}

struct Channel {
    stream: UnixStream,
    /// Answers that are still to come, and where bytes of them go.
    pending: VecDeque<Option<(u64, u64)>>,
    /// What came of those that were taken before the stream was waited for.
    result: Result<(), i32>,
}

/// As many answers may wait in a connection. Beyond, who asks for more waits: else both sides would wait for room.
const MOST_PENDING: usize = 64;

static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
static CONTROL: OnceLock<Connection> = OnceLock::new();

/// The GPU is gone: everything fails from now on.
fn gone<T>(_error: T) -> i32 {
    let _ = STICKY.compare_exchange(0, UNKNOWN, Ordering::Relaxed, Ordering::Relaxed);
    UNKNOWN
}

/// The connection for everything that is not in a stream.
pub(crate) fn control() -> Result<&'static Connection, i32> {
    const NOT_INITIALIZED: i32 = 3;
    CONTROL.get().ok_or(NOT_INITIALIZED)
}

impl Connection {
    /// Starts the GPU.
    pub(crate) fn start() -> Result<(), i32> {
        static STARTED: Mutex<()> = Mutex::new(());
        let _alone = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        if CONTROL.get().is_some() {
            return Ok(());
        }
        let name = format!("warpgrind-stand-in-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name).map_err(gone)?;
        let listener = UnixListener::bind_addr(&address).map_err(gone)?;
        let mut command = Command::new(program().ok_or_else(|| gone(()))?);
        // Nothing of what Warpgrind asks of the program's processes.
        command.env_clear().stdin(Stdio::from(OwnedFd::from(listener))).stdout(Stdio::null());
        command.envs(std::env::vars_os().filter(|(name, _)| {
            name.as_encoded_bytes().starts_with(b"WARPGRIND_STAND_IN") || name == "PATH" || name == "HOME"
        }));
        command.spawn().map_err(gone)?;
        let _ = ADDRESS.set(address);
        let _ = CONTROL.set(Self::new()?);
        Ok(())
    }

    pub(crate) fn new() -> Result<Self, i32> {
        let address = ADDRESS.get().ok_or(INVALID_HANDLE)?;
        let stream = UnixStream::connect_addr(address).map_err(gone)?;
        Ok(Self { channel: Mutex::new(Channel { stream, pending: VecDeque::new(), result: Ok(()) }) })
    }

    /// Asks for something and waits for the answer.
    pub(crate) fn ask(&self, ask: Ask, numbers: &[u64], bytes: &[u8]) -> Result<Message, i32> {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers: Vec<u64> = [ask as u64].into_iter().chain(numbers.iter().copied()).collect();
        Message::new(&numbers, bytes).write(&mut channel.stream).map_err(gone)?;
        Message::read(&mut channel.stream).map_err(gone)
    }

    /// Asks for something, and does not wait. What comes of it is known when the stream is waited for.
    pub(crate) fn send(&self, ask: Ask, numbers: &[u64], bytes: &[u8], to: Option<u64>) -> Result<(), i32> {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        if channel.pending.len() >= MOST_PENDING {
            channel.receive()?;
        }
        let count = numbers.get(1).copied().unwrap_or(0);
        let numbers: Vec<u64> = [ask as u64].into_iter().chain(numbers.iter().copied()).collect();
        Message::new(&numbers, bytes).write(&mut channel.stream).map_err(gone)?;
        channel.pending.push_back(to.map(|to| (to, count)));
        Ok(())
    }

    /// Waits for all that was asked for.
    pub(crate) fn finish(&self) -> Result<(), i32> {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        while !channel.pending.is_empty() {
            channel.receive()?;
        }
        std::mem::replace(&mut channel.result, Ok(()))
    }

    /// Whether all that was asked for is done, and what came of it.
    pub(crate) fn query(&self) -> Result<(), i32> {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        while !channel.pending.is_empty() {
            if !channel.has_answer() {
                return Err(NOT_READY);
            }
            channel.receive()?;
        }
        std::mem::replace(&mut channel.result, Ok(()))
    }
}

impl Channel {
    /// Whether there is something to read: an answer, or the end of the connection.
    fn has_answer(&self) -> bool {
        let mut waited = libc::pollfd { fd: self.stream.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open.
        unsafe { libc::poll(&mut waited, 1, 0) != 0 }
    }

    /// Takes the next answer.
    fn receive(&mut self) -> Result<(), i32> {
        let Some(to) = self.pending.pop_front() else { return Ok(()) };
        let message = Message::read(&mut self.stream).map_err(gone)?;
        let done = answer(message.numbers[0]);
        match to {
            Some((to, count)) if done.is_ok() && message.bytes.len() as u64 == count => {
                // SAFETY: memory of the program that is good to write until the stream was waited for.
                unsafe { std::ptr::copy(message.bytes.as_ptr(), to as *mut u8, message.bytes.len()) };
            }
            Some(_) => {}
            None => print(&message.bytes),
        }
        self.result = self.result.and(done);
        Ok(())
    }
}

/// What kernels print goes to the standard output of the program, among what it prints itself.
fn print(bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    // SAFETY: null stands for all streams of C.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(bytes);
    let _ = stdout.flush();
}

/// Fills memory in a stream.
pub(crate) fn fill(stream: *mut Connection, address: u64, bytes: u64, value: u64, count: usize) -> Result<(), i32> {
    // SAFETY: a stream that was made here.
    let stream = unsafe { stream.as_ref() }.ok_or(INVALID_HANDLE)?;
    stream.send(Ask::Fill, &[address, bytes, value, count as u64], &[], None)
}

/// The program that plays the GPU: beside this library, or where it was built.
fn program() -> Option<PathBuf> {
    const NAME: &str = "warpgrind-stand-in-gpu";
    if let Some(path) = std::env::var_os("WARPGRIND_STAND_IN_GPU") {
        return Some(path.into());
    }
    // SAFETY: it is filled in if it is found.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address of this library, and room for the answer.
    if unsafe { libc::dladdr(program as *const () as *const _, &mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string that ends with zero.
    let own = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) }.to_str().ok()?;
    let directories = std::path::Path::new(own).ancestors().skip(1).take(2);
    directories.map(|directory| directory.join(NAME)).find(|path| path.is_file())
}

/// Addresses that neither process uses. The program's has nothing behind them.
pub(crate) fn reserve(bytes: u64, align: u64, wanted: u64) -> Result<u64, i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    for attempt in 0..16 {
        let hint = if attempt == 0 { wanted } else { 0 };
        let all = bytes + align;
        // SAFETY: a new mapping at addresses that nothing uses.
        let base = unsafe { libc::mmap(hint as *mut _, all as usize, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(OUT_OF_MEMORY);
        }
        let start = (base as u64).next_multiple_of(align);
        let asked = control()?.ask(Ask::Reserve, &[start, bytes], &[])?;
        if asked.numbers[0] == 0 {
            return Ok(start);
        }
        // The addresses stay reserved here, so that the next are others.
    }
    Err(OUT_OF_MEMORY)
}

/// Lets the program access memory of the host.
pub(crate) fn show(address: u64, bytes: u64, file: &OwnedFd) -> Result<(), i32> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    replace(address, bytes, protection, libc::MAP_SHARED, file.as_raw_fd())
}

/// Takes it away.
pub(crate) fn hide(address: u64, bytes: u64) -> Result<(), i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    replace(address, bytes, libc::PROT_NONE, flags, -1)
}

fn replace(address: u64, bytes: u64, protection: i32, flags: i32, file: i32) -> Result<(), i32> {
    // SAFETY: addresses that were reserved here.
    let at = unsafe { libc::mmap(address as *mut _, bytes as usize, protection, flags | libc::MAP_FIXED, file, 0) };
    if at as u64 == address { Ok(()) } else { Err(OUT_OF_MEMORY) }
}
