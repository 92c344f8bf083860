//! Where a Python program is, if this process runs one.
//!
//! CPython's own functions are asked, those of its stable interface, which are looked for among what is loaded. Most
//! modules let go of the interpreter's lock before they call CUDA, so it is taken for as long as it takes to look. Whoever
//! asks holds no lock of ours: another thread may have the interpreter's and wait for us.
//!
//! An interpreter that ends, ends the threads that wait for its lock, in the middle of what they do. So it is told to call
//! us before it ends ([`before_the_end`]), and then nobody waits for it any more.
//!
//! Reading the interpreter's structures, as profilers do from outside, depends on its version; its stable interface
//! does not.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::objects;

/// A call of a Python program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PythonFrame {
    pub(crate) function: Arc<str>,
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
}

/// Longer names are cut.
const LONGEST: usize = 4096;

/// The calls of this thread, from the innermost on, at most so many; none if it runs no Python.
pub(crate) fn frames(most: usize) -> Vec<PythonFrame> {
    thread_local! {
        static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
    }
    if IS_LOOKING.replace(true) {
        return Vec::new();
    }
    LOOKING.fetch_add(1, Ordering::SeqCst);
    let python = interpreter().filter(|_| !ENDS.load(Ordering::SeqCst));
    // SAFETY: the functions are those of the interpreter that is loaded.
    let frames = python.map(|python| unsafe { python.frames(most) });
    LOOKING.fetch_sub(1, Ordering::SeqCst);
    IS_LOOKING.set(false);
    frames.unwrap_or_default()
}

/// Threads that look, and may wait for the interpreter's lock.
static LOOKING: AtomicUsize = AtomicUsize::new(0);
/// Whether the interpreter is about to end.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Waits for those who wait for the interpreter's lock, so that it ends without them.
///
/// # Safety
/// The interpreter calls it, with its lock held.
unsafe extern "C" fn before_the_end(_module: Object, _arguments: Object) -> Object {
    ENDS.store(true, Ordering::SeqCst);
    let Some(python) = interpreter() else { return std::ptr::null_mut() };
    // SAFETY: the lock is held, and held again when this returns; None is an object that stays.
    unsafe {
        let state = (python.let_go)();
        // A process that was forked may have taken over numbers of threads that it does not have.
        let deadline = Instant::now() + Duration::from_secs(1);
        while LOOKING.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        (python.take_again)(state);
        (python.take)(python.none.0);
        python.none.0
    }
}

/// `PyMethodDef`
#[repr(C)]
struct Method {
    name: *const c_char,
    function: unsafe extern "C" fn(Object, Object) -> Object,
    flags: c_int,
    description: *const c_char,
}

// SAFETY: it is only read.
unsafe impl Sync for Method {}

/// What the interpreter is to call before it ends; `METH_NOARGS` is 4.
static BEFORE_THE_END: Method =
    Method { name: c"warpgrind".as_ptr(), function: before_the_end, flags: 4, description: std::ptr::null() };

/// An object that stays as long as the interpreter.
#[derive(Clone, Copy, Debug)]
struct Constant(Object);

// SAFETY: only its address is used without the interpreter's lock.
unsafe impl Send for Constant {}
// SAFETY: only its address is used without the interpreter's lock.
unsafe impl Sync for Constant {}

/// An address in the interpreter, if one is loaded.
pub(crate) fn address() -> Option<usize> {
    interpreter().map(|python| python.get_frame as usize)
}

type Object = *mut c_void;

/// What we need of CPython.
#[derive(Clone, Copy, Debug)]
struct Python {
    is_initialized: unsafe extern "C" fn() -> c_int,
    /// `Py_IsFinalizing`, or as it was called before 3.13.
    is_finalizing: Option<unsafe extern "C" fn() -> c_int>,
    thread_state: unsafe extern "C" fn() -> Object,
    ensure_lock: unsafe extern "C" fn() -> c_int,
    release_lock: unsafe extern "C" fn(c_int),
    /// From 3.10 on.
    collector: Option<(unsafe extern "C" fn() -> c_int, unsafe extern "C" fn() -> c_int)>,
    let_go: unsafe extern "C" fn() -> Object,
    take_again: unsafe extern "C" fn(Object),
    import: unsafe extern "C" fn(*const c_char) -> Object,
    make_function: unsafe extern "C" fn(*const Method, Object, Object) -> Object,
    call: unsafe extern "C" fn(Object, *mut c_void, ...) -> Object,
    none: Constant,
    get_frame: unsafe extern "C" fn() -> Object,
    attribute: unsafe extern "C" fn(Object, *const c_char) -> Object,
    to_long: unsafe extern "C" fn(Object) -> c_long,
    encode: unsafe extern "C" fn(Object, *const c_char, *const c_char) -> Object,
    bytes: unsafe extern "C" fn(Object, *mut *mut c_char, *mut isize) -> c_int,
    take: unsafe extern "C" fn(Object),
    drop: unsafe extern "C" fn(Object),
    fetch_error: unsafe extern "C" fn(*mut Object, *mut Object, *mut Object),
    restore_error: unsafe extern "C" fn(Object, Object, Object),
}

/// The interpreter, if one is loaded. It is looked for again when something was loaded since.
fn interpreter() -> Option<Python> {
    static KNOWN: OnceLock<Python> = OnceLock::new();
    static LOOKED_AT: AtomicU64 = AtomicU64::new(0);
    if let Some(python) = KNOWN.get() {
        return Some(*python);
    }
    let loaded = objects::times_loaded();
    if LOOKED_AT.load(Ordering::Relaxed) == loaded {
        return None;
    }
    // No lock is held: the loader has its own.
    let python = Python::find();
    if let Some(python) = python {
        let _ = KNOWN.set(python);
    }
    LOOKED_AT.store(loaded, Ordering::Relaxed);
    python
}

impl Python {
    fn find() -> Option<Self> {
        Self::find_in(libc::RTLD_DEFAULT).or_else(|| {
            // A program may have loaded it for itself alone.
            let is_python = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with("libpython3"));
            let path = objects::loaded().into_iter().map(|object| object.path).find(|path| is_python(path))?;
            let path = std::ffi::CString::new(path).ok()?;
            // SAFETY: a string; nothing new is loaded, and the library is never let go of.
            let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            (!library.is_null()).then_some(library).and_then(Self::find_in)
        })
    }

    fn find_in(library: *mut c_void) -> Option<Self> {
        let symbol = |name: &CStr| {
            // SAFETY: a library that stays, or all of them.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        /// # Safety
        /// The symbol is a function of this type.
        unsafe fn function<F: Copy>(address: *mut c_void) -> F {
            assert_eq!(size_of::<F>(), size_of::<*mut c_void>(), "pointers of functions are addresses");
            // SAFETY: the caller promises that the symbol is a function of this type, and it has the size of an address.
            unsafe { std::mem::transmute_copy(&address) }
        }
        // SAFETY: the types are those of CPython's manual, "stable ABI".
        unsafe {
            Some(Self {
                is_initialized: function(symbol(c"Py_IsInitialized")?),
                is_finalizing: symbol(c"Py_IsFinalizing")
                    .or_else(|| symbol(c"_Py_IsFinalizing"))
                    .map(|address| function(address)),
                thread_state: function(symbol(c"PyGILState_GetThisThreadState")?),
                ensure_lock: function(symbol(c"PyGILState_Ensure")?),
                release_lock: function(symbol(c"PyGILState_Release")?),
                collector: symbol(c"PyGC_Disable")
                    .zip(symbol(c"PyGC_Enable"))
                    .map(|(disable, enable)| (function(disable), function(enable))),
                let_go: function(symbol(c"PyEval_SaveThread")?),
                take_again: function(symbol(c"PyEval_RestoreThread")?),
                import: function(symbol(c"PyImport_ImportModule")?),
                make_function: function(symbol(c"PyCFunction_NewEx")?),
                call: function(symbol(c"PyObject_CallFunctionObjArgs")?),
                none: Constant(symbol(c"_Py_NoneStruct")?),
                get_frame: function(symbol(c"PyEval_GetFrame")?),
                attribute: function(symbol(c"PyObject_GetAttrString")?),
                to_long: function(symbol(c"PyLong_AsLong")?),
                encode: function(symbol(c"PyUnicode_AsEncodedString")?),
                bytes: function(symbol(c"PyBytes_AsStringAndSize")?),
                take: function(symbol(c"Py_IncRef")?),
                drop: function(symbol(c"Py_DecRef")?),
                fetch_error: function(symbol(c"PyErr_Fetch")?),
                restore_error: function(symbol(c"PyErr_Restore")?),
            })
        }
    }

    /// # Safety
    /// This is the interpreter of the process.
    unsafe fn frames(&self, most: usize) -> Vec<PythonFrame> {
        let mut frames = Vec::new();
        // SAFETY: these may be called at any time, by any thread.
        unsafe {
            // A thread that Python does not know runs none; one that asks for the lock while the interpreter ends would be
            // ended by it.
            let ends = self.is_finalizing.is_some_and(|is_finalizing| is_finalizing() != 0);
            if (self.is_initialized)() == 0 || ends || (self.thread_state)().is_null() {
                return frames;
            }
            let lock = (self.ensure_lock)();
            // From here on the interpreter is ours. Nothing of the program is to run now, so nothing is collected, and an
            // error that it is about to handle is put aside.
            let was_collecting = self.collector.is_some_and(|(disable, _)| disable() != 0);
            let mut error = [std::ptr::null_mut(); 3];
            let [kind, value, traceback] = &mut error;
            (self.fetch_error)(kind, value, traceback);
            static IS_TOLD: AtomicBool = AtomicBool::new(false);
            if !IS_TOLD.swap(true, Ordering::Relaxed) {
                self.ask_for_call_before_the_end();
            }
            let frame = (self.get_frame)();
            if !frame.is_null() {
                (self.take)(frame);
                self.walk(frame, most, &mut frames);
            }
            let [kind, value, traceback] = error;
            // This drops the errors that we made.
            (self.restore_error)(kind, value, traceback);
            if let Some((_, enable)) = self.collector.filter(|_| was_collecting) {
                enable();
            }
            (self.release_lock)(lock);
        }
        frames
    }

    /// `atexit.register(before_the_end)`. Python calls these before it begins to end threads.
    ///
    /// # Safety
    /// The lock is held.
    unsafe fn ask_for_call_before_the_end(&self) {
        // SAFETY: all objects are ours, and dropped once; the list of arguments ends with null.
        unsafe {
            let module = (self.import)(c"atexit".as_ptr());
            if module.is_null() {
                return;
            }
            let register = (self.attribute)(module, c"register".as_ptr());
            let function = (self.make_function)(&raw const BEFORE_THE_END, std::ptr::null_mut(), std::ptr::null_mut());
            if !register.is_null() && !function.is_null() {
                let result = (self.call)(register, function, std::ptr::null_mut::<c_void>());
                self.drop_if_there(result);
            }
            for object in [module, register, function] {
                self.drop_if_there(object);
            }
        }
    }

    /// # Safety
    /// The lock is held, and `frame` is a frame that is dropped here.
    unsafe fn walk(&self, mut frame: Object, most: usize, frames: &mut Vec<PythonFrame>) {
        // SAFETY: all objects are ours, and dropped once; what is asked for by name may be missing, and is null then.
        unsafe {
            while !frame.is_null() {
                if frames.len() < most {
                    let code = (self.attribute)(frame, c"f_code".as_ptr());
                    let name = self.text(code, c"co_qualname").or_else(|| self.text(code, c"co_name"));
                    let (file, line) = (self.text(code, c"co_filename"), self.number(frame, c"f_lineno"));
                    self.drop_if_there(code);
                    if let (Some(function), Some(file)) = (name, file) {
                        frames.push(PythonFrame { function, file, line: line.unwrap_or(0) });
                    }
                }
                let back = if frames.len() < most {
                    (self.attribute)(frame, c"f_back".as_ptr())
                } else {
                    std::ptr::null_mut()
                };
                (self.drop)(frame);
                // The outermost frame is followed by None, which has no code.
                let is_frame = !back.is_null() && self.has(back, c"f_code");
                if !is_frame {
                    self.drop_if_there(back);
                }
                frame = if is_frame { back } else { std::ptr::null_mut() };
            }
        }
    }

    /// # Safety
    /// The lock must be held, and `object` be null or an object that is the caller's to drop.
    unsafe fn drop_if_there(&self, object: Object) {
        if !object.is_null() {
            // SAFETY: the caller's object, with the lock.
            unsafe { (self.drop)(object) };
        }
    }

    /// # Safety
    /// The lock must be held, and `object` be an object.
    unsafe fn has(&self, object: Object, name: &CStr) -> bool {
        // SAFETY: the caller holds the lock and gives an object; the attribute is ours, and dropped once.
        unsafe {
            let value = (self.attribute)(object, name.as_ptr());
            self.drop_if_there(value);
            !value.is_null()
        }
    }

    /// # Safety
    /// The lock must be held, and `object` be an object.
    unsafe fn number(&self, object: Object, name: &CStr) -> Option<u32> {
        // SAFETY: the caller holds the lock and gives an object; the attribute is ours, and dropped once.
        unsafe {
            let value = (self.attribute)(object, name.as_ptr());
            // Lines of code that was made up may be None.
            let number = if value.is_null() { -1 } else { (self.to_long)(value) };
            self.drop_if_there(value);
            u32::try_from(number).ok()
        }
    }

    /// # Safety
    /// The lock must be held, and `object` be null or an object.
    unsafe fn text(&self, object: Object, name: &CStr) -> Option<Arc<str>> {
        if object.is_null() {
            return None;
        }
        // SAFETY: the caller holds the lock and gives an object; the bytes are there as long as theirs is.
        unsafe {
            let text = (self.attribute)(object, name.as_ptr());
            if text.is_null() {
                return None;
            }
            let encoded = (self.encode)(text, c"utf-8".as_ptr(), c"backslashreplace".as_ptr());
            (self.drop)(text);
            if encoded.is_null() {
                return None;
            }
            let (mut start, mut length) = (std::ptr::null_mut(), 0_isize);
            let is_there = (self.bytes)(encoded, &raw mut start, &raw mut length) == 0;
            let text = is_there.then(|| {
                let length = usize::try_from(length).unwrap_or(0).min(LONGEST);
                String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), length)).into()
            });
            (self.drop)(encoded);
            text
        }
    }
}
