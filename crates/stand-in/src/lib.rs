//! Plays NVIDIA's driver in tests. It has the functions that the GPU device calls and no others, and hands what they are asked
//! for to a process that plays the GPU (`gpu/main.rs`), so that
//!
//! - the program cannot access memory of the device, and kernels none of the program: each is in the other's process;
//! - launches and copies go on after the call, and what is copied to the host is there when the stream was waited for;
//! - sizes and addresses of what is mapped are multiples of 2 MiB;
//! - an error of a launch stays, whatever is asked for after it;
//! - PTX is given to NVIDIA's assembler before it is taken, if `WARPGRIND_STAND_IN_PTXAS` names it, and what it says of
//!   registers limits blocks.
//!
//! The environment says what goes wrong: `WARPGRIND_STAND_IN_VERSION` is what it calls itself, `_MEMORY` how many bytes there
//! are, `_OUT_OF_MEMORY_AT` which of the calls that need memory finds none (it makes the file `_FAILED` then),
//! `_DIES_AT_LAUNCH` in the middle of which launch the GPU dies, `_WITHOUT` which function it does not have, `_CAPABILITY` what
//! it can do. `_LOG` is a file to which the name of each function is added that is called.
//!
//! Unsafe: it is called from C.
#![allow(unsafe_code, reason = "it is called from C")]

mod client;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use gpu::Architecture;

use crate::client::Connection;
use crate::wire::Ask;

const SUCCESS: i32 = 0;
const INVALID_VALUE: i32 = 1;
const OUT_OF_MEMORY: i32 = 2;
const NO_DEVICE: i32 = 100;
const INVALID_HANDLE: i32 = 400;
const NOT_FOUND: i32 = 500;
const NOT_READY: i32 = 600;
const NOT_SUPPORTED: i32 = 801;
const UNKNOWN: i32 = 999;

/// The granule of what is mapped.
const GRANULE: u64 = 2 << 20;

/// The error that all calls return from now on.
static STICKY: AtomicI32 = AtomicI32::new(0);

/// What there is.
#[derive(Default)]
struct State {
    /// Reserved addresses: the first, how many.
    reserved: BTreeMap<u64, u64>,
    /// What is mapped: how many bytes, and the memory.
    mapped: BTreeMap<u64, (u64, Arc<Physical>)>,
    handles: BTreeMap<u64, Arc<Physical>>,
    next: u64,
}

struct Physical {
    file: OwnedFd,
    bytes: u64,
    is_of_host: bool,
}

static USED: AtomicU64 = AtomicU64::new(0);

impl Drop for Physical {
    fn drop(&mut self) {
        if !self.is_of_host {
            USED.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(format!("WARPGRIND_STAND_IN_{name}")).ok()?.parse().ok()
}

fn memory() -> u64 {
    static MEMORY: LazyLock<u64> = LazyLock::new(|| setting("MEMORY").unwrap_or(1 << 30));
    *MEMORY
}

/// Functions that need memory of the device, or of the driver's own, each time that they are called.
const ALLOCATE: [&str; 8] = [
    "cuDevicePrimaryCtxRetain",
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemMap",
    "cuMemSetAccess",
    "cuModuleLoadDataEx",
    "cuStreamCreate",
    "cuTexObjectCreate",
];

/// Whether a call is the one that finds no memory.
fn is_out_of_memory(name: &str) -> bool {
    static FAILS_AT: LazyLock<Option<u64>> = LazyLock::new(|| setting("OUT_OF_MEMORY_AT"));
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let Some(fails_at) = *FAILS_AT else { return false };
    let is_it = ALLOCATE.contains(&name) && CALLS.fetch_add(1, Ordering::Relaxed) + 1 == fails_at;
    if is_it && let Some(path) = std::env::var_os("WARPGRIND_STAND_IN_FAILED") {
        let _ = std::fs::write(path, name);
    }
    is_it
}

/// Writes the name of a function down, once; the error that stays, if there is one.
fn called(name: &'static str) -> i32 {
    static CALLED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    if CALLED.lock().unwrap_or_else(PoisonError::into_inner).insert(name)
        && let Some(path) = std::env::var_os("WARPGRIND_STAND_IN_LOG")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        // In one piece: processes write to one file at the same time.
        let _ = file.write_all(format!("{name}\n").as_bytes());
    }
    // What says what an error is works after it.
    match STICKY.load(Ordering::Relaxed) {
        _ if name.starts_with("cuGetError") => SUCCESS,
        SUCCESS if is_out_of_memory(name) => OUT_OF_MEMORY,
        sticky => sticky,
    }
}

/// What a function comes to.
fn code(result: Result<(), i32>) -> i32 {
    result.err().unwrap_or(SUCCESS)
}

/// A number that the GPU answered. What comes of work stays.
fn answer(code: u64) -> Result<(), i32> {
    let code = code as i32;
    if code >= 700 && code != NOT_SUPPORTED {
        let _ = STICKY.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }
    if code == SUCCESS { Ok(()) } else { Err(code) }
}

/// Functions by the names and versions under which `cuGetProcAddress` finds them.
macro_rules! functions {
    ($($since:literal fn $name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "they are as in C")]
            unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
                match called(stringify!($name)) {
                    SUCCESS => {
                        let run = || -> Result<(), i32> { $body };
                        code(run())
                    }
                    sticky => sticky,
                }
            }
        )*

        fn find(name: &str, version: c_int) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) if version >= $since => Some($name as *mut c_void),)*
                _ => None,
            }
        }
    };
}

/// # Safety
/// As NVIDIA documents it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    _flags: u64,
    status: *mut c_int,
) -> c_int {
    // SAFETY: a string that ends with zero.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let is_missing = std::env::var_os("WARPGRIND_STAND_IN_WITHOUT").is_some_and(|without| without == *name);
    let found = find(&name, version).filter(|_| !is_missing);
    // SAFETY: there is room for the answers.
    unsafe {
        *function = found.unwrap_or(std::ptr::null_mut());
        if !status.is_null() {
            *status = found.is_none().into();
        }
    }
    if found.is_some() { SUCCESS } else { NOT_FOUND }
}

/// Sets an answer.
///
/// # Safety
/// There is room for it.
unsafe fn set<T>(to: *mut T, value: T) -> Result<(), i32> {
    if to.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller promises it.
    unsafe { to.write(value) };
    Ok(())
}

/// A kernel, as the program knows it.
struct Kernel {
    module: u64,
    name: String,
    /// Registers, threads, shared and local memory.
    facts: [u64; 4],
}

#[repr(C)]
struct AllocationProperties {
    kind: i32,
    handle_types: i32,
    location: [i32; 2],
    windows: *mut c_void,
    flags: [u8; 8],
}

#[repr(C)]
struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: *mut Connection,
    attributes: *const [u32; 18],
    attribute_count: u32,
}

#[repr(C)]
struct Resource {
    kind: i32,
    address: u64,
    format: u32,
    channels: u32,
    /// Bytes; or elements of a row, rows, and bytes from one to the next.
    size: [u64; 3],
    reserved: [u64; 11],
    flags: u32,
}

#[repr(C)]
struct Texture {
    address: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    level_filter: u32,
    level: [f32; 3],
    border: [f32; 4],
    reserved: [i32; 12],
}

const LINEAR: i32 = 2;
const PITCHED: i32 = 3;
const DEVICE: i32 = 1;
const HOST_NUMA: i32 = 3;

functions! {
    2000 fn cuInit(flags: u32) {
        if flags == 0 { Connection::start() } else { Err(INVALID_VALUE) }
    }
    2020 fn cuDriverGetVersion(version: *mut c_int) {
        // SAFETY: there is room for the answer.
        unsafe { set(version, setting("VERSION").unwrap_or(13000) as c_int) }
    }
    6000 fn cuGetErrorString(error: c_int, text: *mut *const c_char) {
        let _ = error;
        // SAFETY: there is room for the answer.
        unsafe { set(text, c"said by the stand-in".as_ptr()) }
    }
    2000 fn cuDeviceGetCount(count: *mut c_int) {
        // SAFETY: there is room for the answer.
        unsafe { set(count, setting("DEVICES").unwrap_or(1) as c_int) }
    }
    2000 fn cuDeviceGet(device: *mut c_int, number: c_int) {
        if number != 0 {
            return Err(NO_DEVICE);
        }
        // Not the number that it is asked for by.
        // SAFETY: there is room for the answer.
        unsafe { set(device, 5) }
    }
    2000 fn cuDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int) {
        let text = c"Stand-in".to_bytes_with_nul();
        if device != 5 || (bytes as usize) < text.len() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), text.len()) };
        Ok(())
    }
    2000 fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) {
        let capability = setting("CAPABILITY").unwrap_or(90) as c_int;
        let answer = match attribute {
            75 => capability / 10,
            76 => capability % 10,
            13 => 1_500_000,
            16 => 4,
            36 => 1_000_000,
            37 => 256,
            38 => 4 << 20,
            87 => 2,
            91 | 102 => 1,
            97 => Architecture::named(&format!("sm_{capability}")).map_or(48 << 10, Architecture::shared_of_block) as c_int,
            141 => setting("HOST_NUMA").unwrap_or(1) as c_int,
            _ => return Err(INVALID_VALUE),
        };
        if device != 5 {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for the answer.
        unsafe { set(value, answer) }
    }
    3020 fn cuDeviceTotalMem(bytes: *mut usize, device: c_int) {
        let _ = device;
        // SAFETY: there is room for the answer.
        unsafe { set(bytes, memory() as usize) }
    }
    7000 fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) {
        if device != 5 {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for the answer.
        unsafe { set(context, 0x1234) }
    }
    4000 fn cuCtxSetCurrent(context: usize) {
        client::IS_CURRENT.set(context == 0x1234);
        if context == 0x1234 { Ok(()) } else { Err(INVALID_VALUE) }
    }
    3020 fn cuMemGetInfo(free: *mut usize, total: *mut usize) {
        client::check_current()?;
        // SAFETY: there is room for the answers.
        unsafe {
            set(free, memory().saturating_sub(USED.load(Ordering::Relaxed)) as usize)?;
            set(total, memory() as usize)
        }
    }
    10020 fn cuMemGetAllocationGranularity(bytes: *mut usize, properties: *const AllocationProperties, option: c_int) {
        // SAFETY: properties as NVIDIA documents them.
        let location = unsafe { (*properties).location };
        if option != 0 || location != [DEVICE, 5] && location != [HOST_NUMA, 0] {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for the answer.
        unsafe { set(bytes, GRANULE as usize) }
    }
    10020 fn cuMemAddressReserve(address: *mut u64, bytes: usize, align: usize, wanted: u64, flags: u64) {
        let bytes = bytes as u64;
        if bytes == 0 || !bytes.is_multiple_of(GRANULE) || align != 0 && !align.is_power_of_two() || flags != 0 {
            return Err(INVALID_VALUE);
        }
        let start = client::reserve(bytes, (align as u64).max(GRANULE), wanted)?;
        state().reserved.insert(start, bytes);
        // SAFETY: there is room for the answer.
        unsafe { set(address, start) }
    }
    10020 fn cuMemCreate(handle: *mut u64, bytes: usize, properties: *const AllocationProperties, flags: u64) {
        client::check_current()?;
        // SAFETY: properties as NVIDIA documents them.
        let AllocationProperties { kind, handle_types, location, .. } = unsafe { properties.read() };
        let bytes = bytes as u64;
        let is_known = location == [DEVICE, 5] || location == [HOST_NUMA, 0];
        if bytes == 0 || !bytes.is_multiple_of(GRANULE) || kind != 1 || handle_types != 0 || !is_known || flags != 0 {
            return Err(INVALID_VALUE);
        }
        let is_of_host = location[0] == HOST_NUMA;
        if !is_of_host && USED.load(Ordering::Relaxed) + bytes > memory() {
            return Err(OUT_OF_MEMORY);
        }
        // SAFETY: the name ends with zero.
        let file = unsafe { libc::memfd_create(c"stand-in".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(OUT_OF_MEMORY);
        }
        // SAFETY: a new descriptor.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        // SAFETY: the descriptor is open.
        if unsafe { libc::ftruncate(file.as_raw_fd(), bytes as i64) } != 0 {
            return Err(OUT_OF_MEMORY);
        }
        if !is_of_host {
            USED.fetch_add(bytes, Ordering::Relaxed);
        }
        let mut state = state();
        state.next += 1;
        let number = state.next;
        state.handles.insert(number, Arc::new(Physical { file, bytes, is_of_host }));
        // SAFETY: there is room for the answer.
        unsafe { set(handle, number) }
    }
    10020 fn cuMemRelease(handle: u64) {
        state().handles.remove(&handle).map(drop).ok_or(INVALID_VALUE)
    }
    10020 fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64) {
        let mut state = state();
        let bytes = bytes as u64;
        let physical = Arc::clone(state.handles.get(&handle).ok_or(INVALID_VALUE)?);
        let (start, length) = state.reserved.range(..=address).next_back().ok_or(INVALID_VALUE)?;
        let is_reserved = address + bytes <= start + length;
        let before = state.mapped.range(..address + bytes).next_back();
        let is_taken = before.is_some_and(|(start, (length, _))| start + length > address);
        if !is_reserved || is_taken || !address.is_multiple_of(GRANULE) || offset != 0 || bytes != physical.bytes || flags != 0 {
            return Err(INVALID_VALUE);
        }
        let (process, file) = (u64::from(std::process::id()), physical.file.as_raw_fd() as u64);
        answer(client::control()?.ask(Ask::Map, &[address, bytes, process, file], &[])?.numbers[0])?;
        state.mapped.insert(address, (bytes, physical));
        Ok(())
    }
    10020 fn cuMemUnmap(address: u64, bytes: usize) {
        let mut state = state();
        if state.mapped.get(&address).is_none_or(|(length, _)| *length != bytes as u64) {
            return Err(INVALID_VALUE);
        }
        answer(client::control()?.ask(Ask::Unmap, &[address, bytes as u64], &[])?.numbers[0])?;
        let (_, physical) = state.mapped.remove(&address).ok_or(INVALID_VALUE)?;
        if physical.is_of_host { client::hide(address, bytes as u64) } else { Ok(()) }
    }
    10020 fn cuMemSetAccess(address: u64, bytes: usize, access: *const [i32; 3], count: usize) {
        let state = state();
        let Some((length, physical)) = state.mapped.get(&address) else { return Err(INVALID_VALUE) };
        // SAFETY: so many as the caller says.
        let all = unsafe { std::slice::from_raw_parts(access, count) };
        if *length != bytes as u64 || all.iter().any(|access| access[2] != 3) {
            return Err(INVALID_VALUE);
        }
        for [kind, id, _] in all {
            match (*kind, *id) {
                (DEVICE, 5) => {
                    answer(client::control()?.ask(Ask::Allow, &[address, bytes as u64], &[])?.numbers[0])?;
                }
                (HOST_NUMA, _) if physical.is_of_host => client::show(address, bytes as u64, &physical.file)?,
                _ => return Err(INVALID_VALUE),
            }
        }
        Ok(())
    }
    6050 fn cuMemHostRegister(address: *mut c_void, bytes: usize, flags: u32) {
        // The GPU is another process: it cannot have pages that this one has already.
        let _ = (address, bytes, flags);
        Err(NOT_SUPPORTED)
    }
    4000 fn cuMemHostUnregister(address: *mut c_void) {
        let _ = address;
        Err(NOT_SUPPORTED)
    }
    4000 fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: *mut Connection) {
        // SAFETY: a stream that was made here.
        let stream = unsafe { stream.as_ref() }.ok_or(INVALID_HANDLE)?;
        let is_device = |address: u64| {
            let state = state();
            state.reserved.range(..=address).next_back().is_some_and(|(start, length)| address - start < *length)
        };
        match (is_device(from), is_device(to)) {
            (true, true) => stream.send(Ask::Copy, &[from, to, bytes as u64], &[], None),
            (true, false) => stream.send(Ask::Read, &[from, bytes as u64], &[], Some(to)),
            (false, true) => {
                // SAFETY: memory of the program that is good to read.
                let source = unsafe { std::slice::from_raw_parts(from as *const u8, bytes) };
                stream.send(Ask::Write, &[to], source, None)
            }
            (false, false) => {
                stream.finish()?;
                // SAFETY: memory of the program, good to read and to write.
                unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
                Ok(())
            }
        }
    }
    3020 fn cuMemsetD8Async(address: u64, value: u8, count: usize, stream: *mut Connection) {
        client::fill(stream, address, 1, value.into(), count)
    }
    3020 fn cuMemsetD16Async(address: u64, value: u16, count: usize, stream: *mut Connection) {
        client::fill(stream, address, 2, value.into(), count)
    }
    3020 fn cuMemsetD32Async(address: u64, value: u32, count: usize, stream: *mut Connection) {
        client::fill(stream, address, 4, value.into(), count)
    }
    2000 fn cuStreamCreate(stream: *mut *mut Connection, flags: u32) {
        client::check_current()?;
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for the answer. It stays until the process ends.
        unsafe { set(stream, Box::into_raw(Box::new(Connection::new()?))) }
    }
    2000 fn cuStreamSynchronize(stream: *mut Connection) {
        client::check_current()?;
        // SAFETY: a stream that was made here.
        unsafe { stream.as_ref() }.ok_or(INVALID_HANDLE)?.finish()
    }
    2000 fn cuStreamQuery(stream: *mut Connection) {
        // SAFETY: a stream that was made here.
        unsafe { stream.as_ref() }.ok_or(INVALID_HANDLE)?.query()
    }
    2010 fn cuModuleLoadDataEx(module: *mut u64, text: *const c_char, count: u32, options: *const c_int, values: *const *mut c_void) {
        client::check_current()?;
        // SAFETY: a text that ends with zero.
        let text = unsafe { CStr::from_ptr(text) }.to_bytes();
        let answered = client::control()?.ask(Ask::Load, &[], text)?;
        if answered.numbers[0] != 0 {
            let (options, values): (&[c_int], &[*mut c_void]) = match count as usize {
                0 => (&[], &[]),
                // SAFETY: so many options and values as the caller says.
                count => unsafe {
                    (std::slice::from_raw_parts(options, count), std::slice::from_raw_parts(values, count))
                },
            };
            let value = |wanted| options.iter().position(|&option| option == wanted).map(|at| values[at]);
            if let (Some(log), Some(room)) = (value(5), value(6)) {
                let bytes = answered.bytes.len().min((room as usize).saturating_sub(1));
                // SAFETY: the caller says that there is so much room.
                unsafe { std::ptr::copy_nonoverlapping(answered.bytes.as_ptr(), log.cast(), bytes) };
            }
        }
        answer(answered.numbers[0])?;
        // SAFETY: there is room for the answer.
        unsafe { set(module, answered.numbers[1]) }
    }
    2000 fn cuModuleUnload(module: u64) {
        answer(client::control()?.ask(Ask::Unload, &[module], &[])?.numbers[0])
    }
    2000 fn cuModuleGetFunction(function: *mut *mut Kernel, module: u64, name: *const c_char) {
        // SAFETY: a name that ends with zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let answered = client::control()?.ask(Ask::Facts, &[module], name.as_bytes())?;
        answer(answered.numbers[0])?;
        let [_, registers, threads, shared, local, ..] = answered.numbers;
        let kernel = Kernel { module, name, facts: [registers, threads, shared, local] };
        // SAFETY: there is room for the answer. It stays until the process ends.
        unsafe { set(function, Box::into_raw(Box::new(kernel))) }
    }
    2020 fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: *const Kernel) {
        // SAFETY: a function that was made here.
        let [registers, threads, shared, local] = unsafe { function.as_ref() }.ok_or(INVALID_HANDLE)?.facts;
        let answer = match attribute {
            0 => threads,
            1 => shared,
            3 => local,
            4 => registers,
            _ => return Err(INVALID_VALUE),
        };
        // SAFETY: there is room for the answer.
        unsafe { set(value, answer as c_int) }
    }
    9000 fn cuFuncSetAttribute(function: *const Kernel, attribute: c_int, value: c_int) {
        let is_right = !function.is_null() && attribute == 8 && (0..=227 << 10).contains(&value);
        if is_right { Ok(()) } else { Err(INVALID_VALUE) }
    }
    5000 fn cuTexObjectCreate(texture: *mut u64, resource: *const Resource, description: *const Texture, view: *const c_void) {
        client::check_current()?;
        // SAFETY: descriptions as NVIDIA documents them.
        let (resource, description) = unsafe { (resource.read(), description.read()) };
        if !view.is_null() || !matches!(resource.kind, LINEAR | PITCHED) || resource.flags != 0 {
            return Err(INVALID_VALUE);
        }
        let modes = (0..3).map(|place| u64::from(description.address[place] & 3) << (2 * place)).sum();
        let border: Vec<u8> = description.border.iter().flat_map(|colour| colour.to_le_bytes()).collect();
        let numbers = [
            u64::from(resource.kind == PITCHED),
            resource.address,
            resource.format.into(),
            resource.channels.into(),
            resource.size[0],
            resource.size[1],
            resource.size[2],
            modes,
            description.filter.into(),
            description.flags.into(),
        ];
        let answered = client::control()?.ask(Ask::Texture, &numbers, &border)?;
        answer(answered.numbers[0])?;
        // SAFETY: there is room for the answer.
        unsafe { set(texture, answered.numbers[1]) }
    }
    5000 fn cuTexObjectDestroy(texture: u64) {
        answer(client::control()?.ask(Ask::Forget, &[texture], &[])?.numbers[0])
    }
    11060 fn cuLaunchKernelEx(config: *const LaunchConfig, function: *const Kernel, params: *const *mut c_void, extra: *const *mut c_void) {
        // SAFETY: all of it as NVIDIA documents it.
        let (config, kernel, stream) = unsafe {
            let config = config.as_ref().ok_or(INVALID_VALUE)?;
            (config, function.as_ref().ok_or(INVALID_HANDLE)?, config.stream.as_ref().ok_or(INVALID_HANDLE)?)
        };
        if !params.is_null() || extra.is_null() {
            return Err(NOT_SUPPORTED);
        }
        // SAFETY: a list of five, as the GPU device hands it over.
        let params = unsafe {
            if [*extra as usize, *extra.add(2) as usize, *extra.add(4) as usize] != [1, 2, 0] {
                return Err(INVALID_VALUE);
            }
            std::slice::from_raw_parts((*extra.add(1)).cast::<u8>(), *(*extra.add(3)).cast::<usize>())
        };
        let attributes = match config.attribute_count as usize {
            0 => &[],
            // SAFETY: so many as the caller says.
            count => unsafe { std::slice::from_raw_parts(config.attributes, count) },
        };
        let is_cooperative = attributes.iter().any(|attribute| attribute[0] == 2 && attribute[2] == 1);
        let mut numbers = vec![kernel.module];
        numbers.extend(config.grid.iter().chain(&config.block).map(|&size| u64::from(size)));
        numbers.extend([config.shared.into(), is_cooperative.into(), kernel.name.len() as u64]);
        stream.send(Ask::Launch, &numbers, &[kernel.name.as_bytes(), params].concat(), None)
    }
    6000 fn cuGetErrorName(error: c_int, text: *mut *const c_char) {
        let name = match error {
            INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
            OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
            218 => c"CUDA_ERROR_INVALID_PTX",
            700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            710 => c"CUDA_ERROR_ASSERT",
            719 => c"CUDA_ERROR_LAUNCH_FAILED",
            NOT_SUPPORTED => c"CUDA_ERROR_NOT_SUPPORTED",
            UNKNOWN => c"CUDA_ERROR_UNKNOWN",
            _ => return Err(INVALID_VALUE),
        };
        // SAFETY: there is room for the answer.
        unsafe { set(text, name.as_ptr()) }
    }
}
