//! Sentences on standard error, written without allocating memory: also between `fork` and `exec`.

const MAX_BYTES: usize = 1024;

/// Says a sentence that is put together from parts. Control characters in it, which may come from the name of a file,
/// are replaced.
pub(crate) fn say(parts: &[&[u8]]) {
    let mut line = [0; MAX_BYTES];
    let mut length = 0;
    let all = [b"warpgrind: ".as_slice()].into_iter().chain(parts.iter().copied()).flatten();
    for (target, &byte) in line[..MAX_BYTES - 1].iter_mut().zip(all) {
        *target = if byte < 0x20 || byte == 0x7f { b'?' } else { byte };
        length += 1;
    }
    line[length] = b'\n';
    // SAFETY: the buffer is as long as it is said to be. Nobody can be told that standard error is gone.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), length + 1) };
}

/// Says a sentence and ends the process, with the exit code for "the tool did not run".
pub(crate) fn give_up(parts: &[&[u8]]) -> ! {
    say(parts);
    // SAFETY: ends the process.
    unsafe { libc::_exit(87) }
}
