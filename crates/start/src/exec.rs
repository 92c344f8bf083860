//! Child processes: the functions that start programs, in front of those of the C library.
//!
//! What is to be run is looked at first. A program that we can get in front of gets the environment of the run, also if its
//! parent has made a new one for it; one whose loader would stumble over us gets an environment without us. All of this
//! happens between `fork` or `vfork` and `exec`, where no memory may be allocated and no lock be taken.
//!
//! `system` and `popen` need nothing: they start the shell with the environment of this process.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::FromRawFd;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

use program::Kind;

use crate::{environment, identity, message, run};

type Strings = *const *const c_char;
type Execv = unsafe extern "C" fn(*const c_char, Strings) -> c_int;
type Execve = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;
type Fexecve = unsafe extern "C" fn(c_int, Strings, Strings) -> c_int;
type Spawn =
    unsafe extern "C" fn(*mut libc::pid_t, *const c_char, *const c_void, *const c_void, Strings, Strings) -> c_int;

unsafe extern "C" {
    static environ: Strings;
}

/// The functions after ours. They are looked up when the process starts, because that takes a lock.
struct Next {
    execv: Execv,
    execvp: Execv,
    execve: Execve,
    execvpe: Execve,
    fexecve: Fexecve,
    posix_spawn: Spawn,
    posix_spawnp: Spawn,
}

static NEXT: OnceLock<Next> = OnceLock::new();

/// Whether children are left alone.
static IGNORES_CHILDREN: AtomicBool = AtomicBool::new(true);

/// What was said already, in memory that children share: one sentence of each kind is enough.
static SAID: AtomicPtr<AtomicU8> = AtomicPtr::new(null_mut());

/// Runs when we are loaded, before the program.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = prepare;

extern "C" fn prepare() {
    if !identity::is_in_program() {
        return;
    }
    let Some(run) = run::get() else { return };
    if !environment::note(run) {
        return;
    }
    if valgrind::is_there() && !environment::is_ready_for_valgrind() {
        message::say(&[b"Valgrind does not see what the program allocates, unless a tool starts it: `warpgrind memcheck valgrind ...`"]);
    }
    next();
    if !run.traces_children {
        environment::remove_from_own();
        return;
    }
    // SAFETY: a new mapping that stays. It begins with zeros, and an atomic byte has no other demands. It is memory with a name,
    // so that it can be told from what the program shares.
    unsafe {
        let file = libc::memfd_create(c"warpgrind-start".as_ptr(), libc::MFD_CLOEXEC);
        if file >= 0 {
            let size = size_of::<AtomicU8>();
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            if libc::ftruncate(file, size as libc::off_t) == 0 {
                let page = libc::mmap(null_mut(), size, protection, libc::MAP_SHARED, file, 0);
                if page != libc::MAP_FAILED {
                    SAID.store(page.cast(), Ordering::Release);
                }
            }
            libc::close(file);
        }
    }
    IGNORES_CHILDREN.store(false, Ordering::Release);
}

fn next() -> &'static Next {
    NEXT.get_or_init(|| {
        // SAFETY: each is the C library's function of that name, or one in front of it with the same signature.
        unsafe {
            Next {
                execv: std::mem::transmute::<*mut c_void, Execv>(next_definition(c"execv")),
                execvp: std::mem::transmute::<*mut c_void, Execv>(next_definition(c"execvp")),
                execve: std::mem::transmute::<*mut c_void, Execve>(next_definition(c"execve")),
                execvpe: std::mem::transmute::<*mut c_void, Execve>(next_definition(c"execvpe")),
                fexecve: std::mem::transmute::<*mut c_void, Fexecve>(next_definition(c"fexecve")),
                posix_spawn: std::mem::transmute::<*mut c_void, Spawn>(next_definition(c"posix_spawn")),
                posix_spawnp: std::mem::transmute::<*mut c_void, Spawn>(next_definition(c"posix_spawnp")),
            }
        }
    })
}

fn next_definition(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    let function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if function.is_null() {
        message::give_up(&[b"the C library has no function ", name.to_bytes()]);
    }
    function
}

/// What is to be run.
#[derive(Clone, Copy)]
enum Program<'a> {
    /// The file at this path.
    Path(&'a CStr),
    /// The first of this name in `PATH`.
    Name(&'a CStr),
    /// An open file.
    Open(c_int),
}

/// Calls `run` with the environment that is right for the program.
///
/// # Safety
/// `environment` must be null, or a list of C strings that ends with null.
unsafe fn prepared(program: Program<'_>, environment: Strings, run: impl FnOnce(Strings) -> c_int) -> c_int {
    if IGNORES_CHILDREN.load(Ordering::Acquire) {
        return run(environment);
    }
    // SAFETY: each thread has an `errno`, which shall be what `run` makes of it.
    let errno = unsafe { *libc::__errno_location() };
    let kind = kind_of(program);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    let name = match program {
        Program::Path(path) | Program::Name(path) => path.to_bytes(),
        Program::Open(_) => b"a program",
    };
    // SAFETY: the caller promises that the list is one.
    unsafe {
        match kind {
            Ok(Kind::Bits32) => {
                say_once(
                    1,
                    name,
                    b" is a program of 32 bits, so it runs without Warpgrind, and so does what it starts",
                );
                environment::without_us(environment, run)
            }
            Ok(Kind::Musl) => {
                say_once(2, name, b" is linked with musl, so it runs without Warpgrind, and so does what it starts");
                environment::without_us(environment, run)
            }
            Ok(Kind::OtherProcessor(_)) => environment::without_us(environment, run),
            // It takes no notice of us, but what it starts may.
            Ok(Kind::Static { has_kernels: true }) => {
                say_once(
                    4,
                    name,
                    b" is linked statically, so its kernels run without Warpgrind; link it without -static",
                );
                environment::with_us(environment, run)
            }
            // What cannot be looked at can still be run, or run as a script by the shell.
            _ => environment::with_us(environment, run),
        }
    }
}

fn say_once(bit: u8, name: &[u8], sentence: &[u8]) {
    // SAFETY: it is null, or the page that stays.
    let said = unsafe { SAID.load(Ordering::Acquire).as_ref() };
    if said.is_none_or(|said| said.fetch_or(bit, Ordering::Relaxed) & bit == 0) {
        message::say(&[name, sentence]);
    }
}

fn kind_of(program: Program<'_>) -> Result<Kind> {
    match program {
        Program::Path(path) => Kind::following_scripts(&open(path)?, open),
        Program::Name(name) if name.to_bytes().contains(&b'/') => Kind::following_scripts(&open(name)?, open),
        Program::Name(name) => Kind::following_scripts(&search(name)?, open),
        Program::Open(descriptor) => {
            // SAFETY: the caller's descriptor is not closed, because the file is not dropped.
            let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
            Kind::following_scripts(&file, open)
        }
    }
}

/// Opens without waiting, whatever is at the path.
fn open(path: &CStr) -> Result<File> {
    // SAFETY: the path is a C string, and the descriptor is new.
    unsafe {
        match libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY) {
            -1 => Err(Error::from_raw_os_error(*libc::__errno_location())),
            descriptor => Ok(File::from_raw_fd(descriptor)),
        }
    }
}

/// Opens the first program of this name in `PATH`.
fn search(name: &CStr) -> Result<File> {
    // SAFETY: the value is a C string that nobody changes meanwhile, as `execvp` has to rely on, too.
    let path = unsafe {
        let value = libc::getenv(c"PATH".as_ptr());
        if value.is_null() { c"/bin:/usr/bin" } else { CStr::from_ptr(value) }
    };
    for directory in path.to_bytes().split(|&byte| byte == b':') {
        let mut candidate = [0; libc::PATH_MAX as usize];
        let directory = if directory.is_empty() { b"." } else { directory };
        let Some(length) = join(&mut candidate, directory, name.to_bytes()) else { continue };
        let candidate = CStr::from_bytes_with_nul(&candidate[..length]).expect("neither part contains a zero");
        // SAFETY: the path is a C string.
        let is_program = unsafe {
            let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
            libc::access(candidate.as_ptr(), libc::X_OK) == 0
                && libc::stat(candidate.as_ptr(), status.as_mut_ptr()) == 0
                && status.assume_init().st_mode & libc::S_IFMT == libc::S_IFREG
        };
        if is_program {
            return open(candidate);
        }
    }
    Err(Error::from_raw_os_error(libc::ENOENT))
}

/// Puts a path together, with a zero at its end; nothing if it is too long.
fn join(buffer: &mut [u8], directory: &[u8], name: &[u8]) -> Option<usize> {
    let length = directory.len() + name.len() + 2;
    let buffer = buffer.get_mut(..length)?;
    buffer[..directory.len()].copy_from_slice(directory);
    buffer[directory.len()] = b'/';
    buffer[directory.len() + 1..length - 1].copy_from_slice(name);
    Some(length)
}

/// # Safety
/// As `execve` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: *const c_char, arguments: Strings, environment: Strings) -> c_int {
    // SAFETY: the caller promises what the C library asks for.
    unsafe {
        prepared(Program::Path(CStr::from_ptr(path)), environment, |environment| {
            (next().execve)(path, arguments, environment)
        })
    }
}

/// # Safety
/// As `execv` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execv(path: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller promises what the C library asks for.
    unsafe {
        prepared(Program::Path(CStr::from_ptr(path)), environ, |environment| {
            if environment == environ {
                (next().execv)(path, arguments)
            } else {
                (next().execve)(path, arguments, environment)
            }
        })
    }
}

/// # Safety
/// As `execvp` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvp(name: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller promises what the C library asks for.
    unsafe {
        prepared(Program::Name(CStr::from_ptr(name)), environ, |environment| {
            if environment == environ {
                (next().execvp)(name, arguments)
            } else {
                (next().execvpe)(name, arguments, environment)
            }
        })
    }
}

/// # Safety
/// As `execvpe` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(name: *const c_char, arguments: Strings, environment: Strings) -> c_int {
    // SAFETY: the caller promises what the C library asks for.
    unsafe {
        prepared(Program::Name(CStr::from_ptr(name)), environment, |environment| {
            (next().execvpe)(name, arguments, environment)
        })
    }
}

/// # Safety
/// As `fexecve` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fexecve(descriptor: c_int, arguments: Strings, environment: Strings) -> c_int {
    // SAFETY: the caller promises what the C library asks for.
    unsafe {
        prepared(Program::Open(descriptor), environment, |environment| {
            (next().fexecve)(descriptor, arguments, environment)
        })
    }
}

/// # Safety
/// As `posix_spawn` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawn(
    pid: *mut libc::pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller promises what the C library asks for.
    unsafe {
        prepared(Program::Path(CStr::from_ptr(path)), environment, |environment| {
            (next().posix_spawn)(pid, path, actions, attributes, arguments, environment)
        })
    }
}

/// # Safety
/// As `posix_spawnp` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawnp(
    pid: *mut libc::pid_t,
    name: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller promises what the C library asks for.
    unsafe {
        prepared(Program::Name(CStr::from_ptr(name)), environment, |environment| {
            (next().posix_spawnp)(pid, name, actions, attributes, arguments, environment)
        })
    }
}

// `execl`, `execlp` and `execle` take any number of arguments: six are in registers, which are put on the stack here, and
// the others are where the caller has put them, after the return address.
macro_rules! variadic {
    ($name:ident, $function:ident) => {
        /// # Safety
        /// As the function of this name of the C library.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> c_int {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "subq $56, %rsp",
                ".cfi_def_cfa_offset 64",
                "movq %rdi, (%rsp)",
                "movq %rsi, 8(%rsp)",
                "movq %rdx, 16(%rsp)",
                "movq %rcx, 24(%rsp)",
                "movq %r8, 32(%rsp)",
                "movq %r9, 40(%rsp)",
                "movq %rsp, %rdi",
                "leaq 64(%rsp), %rsi",
                "call {function}",
                "addq $56, %rsp",
                ".cfi_def_cfa_offset 8",
                "ret",
                ".cfi_endproc",
                function = sym $function,
                options(att_syntax)
            )
        }
    };
}
variadic!(execl, execl_with);
variadic!(execlp, execlp_with);
variadic!(execle, execle_with);

/// The arguments of a variadic function.
#[derive(Clone, Copy)]
struct Variadic {
    registers: *const *const c_char,
    stack: *const *const c_char,
}

impl Variadic {
    /// # Safety
    /// There must be so many arguments.
    unsafe fn get(self, index: usize) -> *const c_char {
        // SAFETY: six are in the first list, the others in the second.
        unsafe { if index < 6 { *self.registers.add(index) } else { *self.stack.add(index - 6) } }
    }

    /// How many come before the null that ends the arguments of the program, the path among them.
    ///
    /// # Safety
    /// There must be one.
    unsafe fn count(self) -> usize {
        let mut count = 1;
        // SAFETY: the caller promises a null, after which we do not go.
        while !unsafe { self.get(count) }.is_null() {
            count += 1;
        }
        count
    }

    /// Calls `run` with the path and the arguments of the program as a list, on the stack: there is no other memory here.
    ///
    /// # Safety
    /// The arguments must be C strings that end with null.
    unsafe fn with_list(self, run: impl FnOnce(*const c_char, Strings) -> c_int) -> c_int {
        const MOST: usize = 1024;
        // SAFETY: the caller promises it.
        let count = unsafe { self.count() };
        let mut list = [std::ptr::null(); MOST];
        if count > MOST {
            // SAFETY: each thread has an `errno`.
            unsafe { *libc::__errno_location() = libc::E2BIG };
            return -1;
        }
        for (index, argument) in list[..count - 1].iter_mut().enumerate() {
            // SAFETY: there are so many.
            *argument = unsafe { self.get(index + 1) };
        }
        // SAFETY: the path is the first.
        run(unsafe { self.get(0) }, list.as_ptr())
    }
}

unsafe extern "C" fn execl_with(registers: Strings, stack: Strings) -> c_int {
    // SAFETY: the caller of `execl` promises what the C library asks for.
    unsafe { Variadic { registers, stack }.with_list(|path, arguments| execv(path, arguments)) }
}

unsafe extern "C" fn execlp_with(registers: Strings, stack: Strings) -> c_int {
    // SAFETY: the caller of `execlp` promises what the C library asks for.
    unsafe { Variadic { registers, stack }.with_list(|name, arguments| execvp(name, arguments)) }
}

unsafe extern "C" fn execle_with(registers: Strings, stack: Strings) -> c_int {
    let all = Variadic { registers, stack };
    // SAFETY: the caller of `execle` promises what the C library asks for: the environment after the null.
    unsafe {
        let environment = all.get(all.count() + 1).cast();
        all.with_list(|path, arguments| execve(path, arguments, environment))
    }
}
