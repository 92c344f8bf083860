//! The program's standard output and error, through its own C library, so that what kernels print comes between what the
//! program prints.

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// Writes to standard output.
pub(crate) fn write(bytes: &[u8]) {
    // SAFETY: the C library has set it up before any code of the program runs.
    put(unsafe { stdout }, bytes);
}

/// Writes to standard error.
pub(crate) fn write_error(bytes: &[u8]) {
    // SAFETY: the C library has set it up before any code of the program runs.
    put(unsafe { stderr }, bytes);
}

fn put(stream: *mut libc::FILE, bytes: &[u8]) {
    // SAFETY: a stream of the C library, and bytes that are there. What cannot be written is lost, as with `printf`.
    unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream) };
}
