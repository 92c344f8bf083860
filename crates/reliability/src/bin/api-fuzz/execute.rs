//! Makes the calls of a sequence, in this process, whose end the parent watches.
//!
//! What becomes of each call is one byte in a file that both have mapped: the parent sees how far it came, also if this
//! process is no more.

use std::alloc::{Layout, alloc_zeroed};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use anyhow::{Context, Result, bail, ensure};

use crate::sequence::{Argument, Call, End, Memory, Sequence, Slot, Value};

/// What has become of a call.
pub(crate) const BEGUN: u8 = 1;
pub(crate) const SUCCEEDED: u8 = 2;
pub(crate) const FAILED: u8 = 3;

/// What the parent looks for: a child that was forked did not end well.
pub(crate) const FORKED_CHILD: &str = "api-fuzz: the forked child";

/// Calls of a forked child that are made again.
const CALLS_AFTER_FORK: usize = 100;
/// Seconds for them.
const SECONDS_AFTER_FORK: u32 = 15;

/// Names and paths; the first ones make sense.
const TEXTS: [&CStr; 12] =
    [c"k1", c"k2", c"gv", c"k1", c"k3", c"", c"nosuch", c"\x1b[31mx", c"%s%n", c"/dev/null", c"/", c"cuMemAlloc"];

const PTX: &CStr = c".version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 gv[64];
.visible .entry k1(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    ld.global.u32 %r2, [gv];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [gv], %r2;
    ret;
}
.visible .entry k2(.param .u64 p, .param .u32 n) {
    .reg .b32 %r<4>;
    .shared .align 4 .b8 s[256];
    mov.u32 %r1, %tid.x;
    bar.sync 0;
    ret;
}
.visible .entry k3(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

/// Bytes of memory of the host that any call may access.
const HOST_BYTES: usize = 2 << 20;
const HOST_BUFFERS: usize = 4;
/// Bytes behind a pointer that is made for one call.
const SCRATCH_BYTES: usize = 4096;
const SCRATCHES: usize = 64;
const IMAGE_BYTES: usize = 64 << 10;
/// A slot has room for so many values, if a function writes several.
const SLOT_WORDS: usize = 16;

/// More are not passed by any function.
const REGISTERS: usize = 6;
const STACK: usize = 16;

#[rustfmt::skip]
type Entry = unsafe extern "C" fn(
    u64, u64, u64, u64, u64, u64,
    u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64,
) -> u32;

/// What all threads use.
struct Process<'a> {
    calls: &'a [Call],
    functions: HashMap<&'a str, Entry>,
    slots: HashMap<&'a Slot, &'static [AtomicU64]>,
    host: [*mut u8; HOST_BUFFERS],
    images: Vec<*mut u8>,
    progress: &'static [AtomicU8],
    is_verbose: bool,
}

// SAFETY: the pointers are to memory that lives as long as the process; only functions of CUDA access it, and what they do at
// the same time is part of what is tried.
unsafe impl Sync for Process<'_> {}

/// Makes the calls, and ends the process if that is a part of the sequence.
pub(crate) fn execute(sequence: &Sequence, library: &Path, progress: Option<&Path>, is_verbose: bool) -> Result<()> {
    let progress = match progress {
        Some(path) => map(path, sequence.calls.len())?,
        None => Vec::leak((0..sequence.calls.len()).map(|_| AtomicU8::new(0)).collect()),
    };
    let process = Process {
        calls: &sequence.calls,
        functions: functions(&sequence.calls, library)?,
        slots: slots(&sequence.calls),
        host: [(); HOST_BUFFERS].map(|()| zeroed(HOST_BYTES)),
        images: images(),
        progress,
        is_verbose,
    };
    let indices = |thread| (0..process.calls.len()).filter(move |index| sequence.calls[*index].thread == thread);
    // What the first thread does before another makes a call is done before there is another.
    let first = sequence.calls.iter().position(|call| call.thread != 0).unwrap_or(sequence.calls.len());
    std::thread::scope(|scope| {
        let mut scratch = Scratch::new();
        (0..first).for_each(|index| process.call(index, &mut scratch));
        for thread in 1..sequence.threads {
            let (process, indices) = (&process, indices(thread));
            scope.spawn(move || {
                let mut scratch = Scratch::new();
                indices.for_each(|index| process.call(index, &mut scratch));
            });
        }
        indices(0).filter(|index| *index >= first).for_each(|index| process.call(index, &mut scratch));
        match sequence.end {
            End::Return => {}
            End::Exit => std::process::exit(0),
            // SAFETY: it ends the process.
            End::AtOnce => unsafe { libc::_exit(0) },
            End::Fork => process.fork(&mut scratch),
        }
    });
    Ok(())
}

impl Process<'_> {
    fn call(&self, index: usize, scratch: &mut Scratch) {
        let call = &self.calls[index];
        self.progress[index].store(BEGUN, Ordering::Relaxed);
        let result = self.make(call, scratch);
        if self.is_verbose {
            println!("{result} {call}");
        }
        self.progress[index].store(if result == 0 { SUCCEEDED } else { FAILED }, Ordering::Relaxed);
    }

    fn make(&self, call: &Call, scratch: &mut Scratch) -> u32 {
        scratch.used = 0;
        let (mut registers, mut stack) = ([0; REGISTERS], [0; STACK]);
        let (mut in_registers, mut on_stack) = (0, 0);
        for argument in &call.arguments {
            let words = match argument {
                Argument::Word(value) => vec![self.value(value, scratch)],
                Argument::Struct(memory) => self.words(memory, scratch),
            };
            // As x86-64 System V has it: two words in registers if there are as many, everything larger on the stack.
            if words.len() <= 2 && in_registers + words.len() <= REGISTERS {
                registers[in_registers..in_registers + words.len()].copy_from_slice(&words);
                in_registers += words.len();
            } else {
                stack[on_stack..on_stack + words.len()].copy_from_slice(&words);
                on_stack += words.len();
            }
        }
        let [a, b, c, d, e, f] = registers;
        let [g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = stack;
        // SAFETY: the function takes these registers and a part of this stack, and no more; pointers are null or to
        // memory that is large enough for what the call says.
        unsafe {
            self.functions[call.function.as_str()](a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
        }
    }

    fn value(&self, value: &Value, scratch: &mut Scratch) -> u64 {
        match value {
            Value::Number(number) => *number,
            // Where nothing was created there is nothing to add to.
            Value::Slot(slot, by) => match self.slots[slot][0].load(Ordering::Relaxed) {
                0 => 0,
                handle => handle.wrapping_add(*by),
            },
            Value::SlotAddress(slot) => self.slots[slot].as_ptr() as u64,
            Value::Host(buffer, by) => self.host[*buffer] as u64 + *by as u64,
            Value::Text(index) => TEXTS[*index].as_ptr() as u64,
            Value::Image(index) => self.images[*index] as u64,
            Value::Function => nothing as *const () as u64,
            Value::Pointer(memory) => {
                let at = scratch.take();
                self.fill(memory, at, SCRATCH_BYTES, scratch);
                at as u64
            }
        }
    }

    /// A struct that is passed by value.
    fn words(&self, memory: &Memory, scratch: &mut Scratch) -> Vec<u64> {
        let at = scratch.take();
        self.fill(memory, at, SCRATCH_BYTES, scratch);
        // SAFETY: the memory has as many words, and is aligned.
        unsafe { std::slice::from_raw_parts(at.cast::<u64>(), memory.bytes.div_ceil(8)) }.to_vec()
    }

    fn fill(&self, memory: &Memory, at: *mut u8, room: usize, scratch: &mut Scratch) {
        for (offset, bytes, value) in &memory.fields {
            let value = self.value(value, scratch).to_le_bytes();
            assert!(offset + bytes <= room, "a field at {offset} is outside of {room} bytes");
            // SAFETY: the field is within the memory, as was just asserted.
            unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), at.add(*offset), *bytes) };
        }
    }

    /// A child makes calls again, while other threads of this process may be in calls.
    fn fork(&self, scratch: &mut Scratch) {
        // SAFETY: the child makes calls of CUDA, which must return, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: it ends the child if a call does not return.
            unsafe { libc::alarm(SECONDS_AFTER_FORK) };
            let of_this_thread = self.calls.iter().filter(|call| call.thread == 0);
            of_this_thread.rev().take(CALLS_AFTER_FORK).for_each(|call| {
                self.make(call, scratch);
            });
            // SAFETY: it ends the child.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: the status can be written.
        if child > 0 && unsafe { libc::waitpid(child, &raw mut status, 0) } == child && status != 0 {
            eprintln!("{FORKED_CHILD} ended with the status {status:#x}");
        }
    }
}

/// Memory for one call: what pointers of its arguments point to.
struct Scratch {
    start: *mut u8,
    used: usize,
}

impl Scratch {
    fn new() -> Self {
        Self { start: zeroed(SCRATCH_BYTES * SCRATCHES), used: 0 }
    }

    /// Memory that nothing else of the call has.
    fn take(&mut self) -> *mut u8 {
        assert!(self.used < SCRATCHES, "a call has more pointers than any function takes");
        // SAFETY: it is within what was allocated, as was just asserted.
        let at = unsafe { self.start.add(SCRATCH_BYTES * self.used) };
        // SAFETY: as above, and nobody else has a pointer to it during this call.
        unsafe { std::ptr::write_bytes(at, 0, SCRATCH_BYTES) };
        self.used += 1;
        at
    }
}

/// Stays as long as the process.
fn zeroed(bytes: usize) -> *mut u8 {
    let layout = Layout::from_size_align(bytes, 4096).expect("sizes are small");
    // SAFETY: the size is not zero.
    let start = unsafe { alloc_zeroed(layout) };
    assert!(!start.is_null(), "out of memory");
    start
}

/// For `CUhostFn`, `CUoccupancyB2DSize` and all others: the result is no address that anybody uses.
extern "C" fn nothing(_: *mut c_void) -> usize {
    0
}

/// Where calls put what they create.
fn slots(calls: &[Call]) -> HashMap<&Slot, &'static [AtomicU64]> {
    fn visit<'a>(value: &'a Value, slots: &mut HashMap<&'a Slot, &'static [AtomicU64]>) {
        match value {
            Value::Slot(slot, _) | Value::SlotAddress(slot) => {
                slots.entry(slot).or_insert_with(|| Vec::leak((0..SLOT_WORDS).map(|_| AtomicU64::new(0)).collect()));
            }
            Value::Pointer(memory) => memory.fields.iter().for_each(|(_, _, value)| visit(value, slots)),
            _ => {}
        }
    }
    let mut slots = HashMap::new();
    for argument in calls.iter().flat_map(|call| &call.arguments) {
        match argument {
            Argument::Word(value) => visit(value, &mut slots),
            Argument::Struct(memory) => memory.fields.iter().for_each(|(_, _, value)| visit(value, &mut slots)),
        }
    }
    slots
}

/// The functions that are called.
fn functions<'a>(calls: &'a [Call], library: &Path) -> Result<HashMap<&'a str, Entry>> {
    let path = CString::new(library.as_os_str().as_encoded_bytes())?;
    // SAFETY: it runs the constructors of the library, as a program does that loads it.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    if handle.is_null() {
        // SAFETY: after an error there is a text, which stays until the next call of the loader.
        let error = unsafe { CStr::from_ptr(libc::dlerror()) };
        bail!("{}", error.to_string_lossy());
    }
    let mut functions = HashMap::new();
    for call in calls {
        if functions.contains_key(call.function.as_str()) {
            continue;
        }
        let name = CString::new(call.function.as_str())?;
        // SAFETY: the handle is one of the loader's.
        let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
        ensure!(!address.is_null(), "{} has no function {}", library.display(), call.function);
        // SAFETY: the functions take words and return a number of 32 bits; that more is passed than they take harms none
        // in this calling convention.
        functions.insert(call.function.as_str(), unsafe { std::mem::transmute::<*mut c_void, Entry>(address) });
    }
    Ok(functions)
}

/// What modules are loaded from: PTX, and what is none.
fn images() -> Vec<*mut u8> {
    let broken = {
        let mut text = PTX.to_bytes().to_vec();
        text[200] = b'@';
        text
    };
    let mut fatbin = b"\x50\xed\x55\xba\x01\x00\x10\x00\x40\x00\x00\x00\x00\x00\x00\x00".to_vec();
    fatbin.extend([0xff; 200]);
    let texts: [&[u8]; 9] = [
        PTX.to_bytes(),
        b"garbage",
        b"\x7fELF",
        &fatbin,
        b".version 7.0\n.target sm_70\n.visible .entry k(){ret",
        &[b'('; 60_000],
        &broken,
        &[0xff; 1000],
        b"",
    ];
    let copy = |text: &[u8]| {
        let at = zeroed(IMAGE_BYTES);
        // SAFETY: every text is shorter than an image.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), at, text.len()) };
        at
    };
    texts.iter().map(|text| copy(text)).collect()
}

/// Maps a file, which has a byte for each call.
fn map(path: &Path, bytes: usize) -> Result<&'static [AtomicU8]> {
    let file =
        File::options().read(true).write(true).open(path).with_context(|| format!("opening {}", path.display()))?;
    ensure!(file.metadata()?.len() >= bytes as u64, "{} is too short", path.display());
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, which nothing else uses.
    let start =
        unsafe { libc::mmap(std::ptr::null_mut(), bytes.max(1), protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    ensure!(start != libc::MAP_FAILED, "{} cannot be mapped", path.display());
    // SAFETY: it has as many bytes, is never unmapped, and is only accessed by atomic operations.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), bytes) })
}
